"""What an edit redoes is exactly what rested on the changed words, and a dry run names it before."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from benchmarks.blast_radius import FAMILIES, State, run
from compiler.build.compile import Options, compile_vault
from compiler.verification.verify import verify
from tests.batteries import TORTURE
from tests.builders import vault_with_sources
from tests.compiler.scripted import Scripted, Whimsical
from tests.compiler.test_build import silent, tree
from tests.compiler.test_journaled import MEIOSIS, MITOSIS, MORNING, compiled
from vault.text.formatting import fold
from vault.vault import Vault

HOUR = timedelta(hours=1)
# Rules read a sentence with its neighbours: one that is moved may be taken otherwise; and where a second source says
# the same, a sentence cites both. A model reads paragraphs: one that is split in two is written about again, and a
# claim goes with the last sentence that cites it.
LEAST = {"extractive": {}, "journal": {"claims": 0.9, "added": 0.8, "articles": 0.8}}


@pytest.mark.parametrize("family", FAMILIES if TORTURE else ("journal",))
def test_many_edits_redo_what_rested_on_the_changed_words_and_nothing_else(tmp_path: Path, family: str) -> None:
    done, named, findings = run(family, tmp_path / "vault", rounds=1, terms=10, seed=5)
    assert findings == 0
    for level, score in done.items():
        assert score.due > 3 and score.recall == 1.0, f"{level}: {score.wrong}"
        assert score.precision >= LEAST[family].get(level, 0.97), f"{level}: {score.wrong}"
    for level, score in named.items():
        assert score.precision >= LEAST[family].get(level, 0.97), f"{level}: {score.wrong}"
        if level != "articles" or family == "extractive":  # which article a new sentence joins only the answer tells
            assert score.recall >= LEAST[family].get(level, 1.0), f"{level}: {score.wrong}"


@pytest.fixture
def cells(tmp_path: Path) -> Vault:
    return vault_with_sources(tmp_path / "vault", {"mitosis.md": MITOSIS, "meiosis.md": MEIOSIS})


def test_a_dry_run_of_the_rules_names_claim_sentence_card_and_gap_and_writes_nothing(cells: Vault) -> None:
    compile_vault(cells, Options(), MORNING, silent)
    (cells.root / "raw/articles/meiosis.md").write_text(MEIOSIS.replace("four cells", "five cells"))
    before = tree(cells)
    blast = compile_vault(cells, Options(dry_run=True), MORNING + HOUR, silent).blast
    assert blast is not None and tree(cells) == before
    assert [(c.what, c.was[-30:]) for c in blast.claims] == [("changed", "gives four cells rather than two."[-30:])]
    (page,) = blast.articles
    assert page.path == "wiki/concepts/meiosis.md" and "four" in page.gone[0] and "five" in page.new[0]
    assert [c.what for c in blast.cards] == ["changed"] and blast.unchanged > 3
    assert json.loads(json.dumps(blast.as_json()))["claims"][0]["what"] == "changed"


def test_a_dry_run_with_a_model_names_what_would_be_asked_and_what_waits_for_the_answer(cells: Vault) -> None:
    compiled(cells, Scripted())
    text = MEIOSIS.replace("four cells", "five cells").replace("that forms anew", "that grows anew")
    (cells.root / "raw/articles/meiosis.md").write_text(text)
    before = tree(cells)
    report = compiled(cells, None, MORNING + HOUR, dry_run=True)
    blast = report.blast
    assert blast is not None and tree(cells) == before and [r.type for r in report.open] == ["read"]
    assert {c.what for c in blast.claims} == {"changed"} and len(blast.claims) == 2
    assert {p.path for p in blast.passages} == {"raw/articles/meiosis.md"}
    assert any("five cells" in p.words for p in blast.passages)
    touched = {a.path: (a.what, len(a.gone)) for a in blast.articles if a.path.startswith("wiki/concepts")}
    assert touched["wiki/concepts/meiosis.md"] == touched["wiki/concepts/spindle.md"] == ("updated", 2)
    assert "wiki/concepts/mitosis.md" not in touched
    assert {c.what for c in blast.cards} <= {"changed", "suspended", "asked"} and json.dumps(blast.as_json())


def test_a_source_that_is_deleted_takes_its_sole_claims_and_leaves_shared_articles(cells: Vault) -> None:
    for family in ("extractive", "claude"):
        shutil.rmtree(cells.root / ".retain", ignore_errors=True)
        (cells.root / "raw/articles/meiosis.md").write_text(MEIOSIS)
        backend = Scripted() if family == "claude" else None
        compile_vault(cells, Options(engine=family), MORNING, silent, backend=backend)
        before = State.of(cells)
        (cells.root / "raw/articles/meiosis.md").unlink()
        blast = compile_vault(cells, Options(engine=family, dry_run=True), MORNING + HOUR, silent).blast
        compile_vault(cells, Options(engine=family), MORNING + HOUR, silent, backend=backend)
        after = State.of(cells)
        sole = {i for i, (path, *_) in before.claims.items() if path.endswith("meiosis.md")}
        assert sole and after.claims.keys() == before.claims.keys() - sole
        assert blast is not None and {c.id for c in blast.claims} == sole
        assert {c.what for c in blast.claims} == {"retracted"}
        spindle = (cells.root / "wiki/concepts/spindle.md").read_text()
        assert "structure of fibres" in spindle and "forms anew" not in spindle
        assert not (cells.root / "wiki/concepts/meiosis.md").exists()
        assert verify(cells, silent).clean


# --- real documents ---------------------------------------------------------------------------------------------------

_SOURCES = ("d2l", "flash-attention-readme.md", "hf-course-transformer-architectures.mdx", "clips", "de", "zh")


def _changed(vault: Vault, state: State, wanted: int) -> set[str]:
    """Change one word in so many quotes, as they stand in the files; gives the claims that hold the changed words."""
    due: set[str] = set()
    changed: list[tuple[str, str]] = []  # path, three words of which the middle one was changed
    for path, quote, _ in sorted(state.claims.values()):
        source, words = vault.root / path, quote.split()
        text = source.read_text(encoding="utf-8")
        at = next((n for n in range(1, len(words) - 1) if words[n].isalpha() and len(words[n]) > 7), 0)
        three = " ".join(words[at - 1 : at + 2])
        once = text.count(three) == fold(text).count(three) == 1
        if at and once and len(changed) < wanted and path not in [p for p, _ in changed[-2:]]:
            source.write_text(text.replace(three, three.replace(words[at], "unlikely")), encoding="utf-8")
            changed.append((path, three))
    assert len(changed) == wanted
    for path, three in changed:
        due |= {i for i, (p, quote, _) in state.claims.items() if p == path and f" {three} " in f" {quote} "}
    return due


def _articles(state: State) -> set[str]:
    return {id_ for id_, _, _ in state.said}


def _lost(before: State, after: State) -> set[tuple[str, str, tuple[str, ...]]]:
    """The sentences that went from articles that are still there: of a concept of which too little is left, all go."""
    return {s for s, n in before.said.items() if after.said.get(s, 0) < n and s[0] in _articles(after)}


@pytest.mark.torture
@pytest.mark.real_data
@pytest.mark.parametrize("family", FAMILIES)
def test_ten_facts_changed_in_real_sources_and_one_source_deleted_redo_what_rested_on_them(
    tmp_path: Path, shared_data: Path, family: str
) -> None:
    vault = vault_with_sources(tmp_path / "vault", {})
    raw = vault.root / "raw/articles"
    for name in _SOURCES:
        there = shared_data / "corpus-attention/raw" / name
        (shutil.copytree if there.is_dir() else shutil.copyfile)(there, raw / name)

    def build(hour: int) -> State:
        backend = Whimsical() if family == "journal" else None
        engine = "claude" if backend is not None else family
        compile_vault(vault, Options(engine=engine), MORNING + hour * HOUR, silent, backend=backend)
        verdict = verify(vault, silent)
        assert verdict.clean, (verdict.unverified, verdict.uncited, verdict.unsupported)
        return State.of(vault)

    before = build(0)
    due = _changed(vault, before, 10)
    after = build(1)
    moved = {i for i, said in before.claims.items() if after.claims.get(i, ("", "", ""))[1:] != said[1:]}
    assert moved == due, {i: (before.claims[i], after.claims.get(i)) for i in moved ^ due}
    assert _lost(before, after) == {s for s in before.said if due & set(s[2]) and s[0] in _articles(after)}
    (raw / "hf-course-transformer-architectures.mdx").unlink()
    left = build(2)
    sole = {i for i, (path, *_) in after.claims.items() if path.endswith("architectures.mdx")}
    assert sole and left.claims.keys() == after.claims.keys() - sole
    assert {s for s in _lost(after, left) if not sole & set(s[2])} == set()
