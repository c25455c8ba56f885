"""The whole way on documents that no one here wrote."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.model.report import Report
from compiler.verification.verify import verify
from tests.compiler.conftest import unpacked
from vault.config.settings import Settings, render_settings
from vault.ids import ulid
from vault.layout import CONCEPTS
from vault.model.card import CardKind
from vault.model.wikilink import citations
from vault.vault import Vault, open_vault

pytestmark = pytest.mark.real_data
CHECKER = Path(__file__).parents[1] / "independent_check.py"
MORNING = datetime(2026, 11, 21, 9, tzinfo=UTC)


@pytest.fixture(scope="module", autouse=True)
def unweighed() -> None:
    """The embedded engine chooses as it is shipped: what it shows of these documents has to be borne out."""


def silent(event: dict[str, object]) -> None:
    assert event["event"]


def vault_of(folder: Path, root: Path) -> Vault:
    """A vault whose raw/articles is `folder`."""
    shutil.copytree(folder, root / "raw/articles")
    (root / "insights").mkdir()
    settings = Settings(vault_id=ulid(1_763_700_000_000, b"0123456789"), name="real")
    (root / "retain.toml").write_text(render_settings(settings))
    return open_vault(str(root), None, root)


def independently_checked(vault: Vault) -> None:
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed (Debian: poppler-utils)")
    done = subprocess.run([sys.executable, str(CHECKER), str(vault.root)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def corpus(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Vault, Report]:
    vault = vault_of(shared_data / "corpus-attention/raw", tmp_path_factory.mktemp("corpus") / "vault")
    return vault, compile_vault(vault, Options(), MORNING, silent)


@pytest.mark.torture
def test_real_documents_become_a_wiki_that_is_borne_out_whole(corpus: tuple[Vault, Report]) -> None:
    vault, report = corpus
    assert report.failures == []
    assert report.sources["read"] == 23 and report.sources["recorded"] == 2
    verdict = verify(vault, silent)
    assert verdict.clean, (verdict.unverified[:3], verdict.uncited[:3], verdict.unsupported[:3])
    assert verdict.claims > 500 and verdict.cards > 10
    independently_checked(vault)


@pytest.mark.torture
def test_every_concept_has_claims_and_no_two_cards_have_one_answer(corpus: tuple[Vault, Report]) -> None:
    vault, _ = corpus
    for path in vault.paths(CONCEPTS, ".md"):
        assert citations(vault.read_text(path) or ""), f"{path} rests on nothing"
    cards = [c for d in vault.decks() for c in d.cards]
    answers = Counter(c.answer.casefold() for c in cards)
    assert answers.most_common(1)[0][1] == 1
    assert CardKind.DEFINITIONAL in {c.kind for c in cards}  # a kind that no sentence supports is not forced


def test_documents_that_break_naive_readers_are_read_or_named(shared_data: Path, tmp_path: Path) -> None:
    folder = unpacked(shared_data / "nasty.tar.gz", tmp_path / "unpacked") / "nasty"
    expected = json.loads((folder / "expected.json").read_text())
    vault = vault_of(folder, tmp_path / "vault")
    before = sorted(p for p in vault.root.rglob("*") if "insights" in p.parts)
    report = compile_vault(vault, Options(), MORNING, silent)
    failed = {d.path.rsplit("/", 1)[-1]: d.message for d in report.failures}
    noticed = {d.path.rsplit("/", 1)[-1]: d.message for d in report.notices}
    named = {*failed, *noticed}
    assert {"empty.md", "only-whitespace.md", "picture-named.md", "image-only.pdf"} == set(failed)
    assert "only pictures" in failed["image-only.pdf"] and "PNG" in failed["picture-named.md"]
    for each in expected:
        if each["kind"] in ("frontmatter", "empty", "wrong type", "pdf") or each["file"].startswith("mixed"):
            assert each["file"] in named, f"{each['file']} is passed over in silence"
    # Five names hold the same bytes: one source, whatever the names are made of.
    same = [each["file"] for each in expected if each["kind"] == "file name"]
    slugs = {p.stem for p in (vault.root / "wiki/summaries").glob("*.md")}
    assert len(same) == 5 and "hash-brackets-pipe" in slugs and "leading-dash" not in slugs
    for path in (vault.root / "wiki").rglob("*.md"):
        assert "\ufffd\ufffd" not in path.read_text(), f"{path} holds what could not be decoded"
    injected = (vault.root / "wiki/summaries/injection-invisible.md").read_text()
    assert "ignore" not in injected.casefold()
    assert sorted(p for p in vault.root.rglob("*") if "insights" in p.parts) == before
    assert verify(vault, silent).clean
    independently_checked(vault)
