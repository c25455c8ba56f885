"""A folder with a document of every kind becomes a wiki, and each claim can be followed to its place by hand.

How a place is followed is written here anew, with nothing of the readers: as a person would, who opens the file.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
import unicodedata
import zipfile
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

import openpyxl
import pptx
import pytest

from compiler.build.compile import Options, compile_vault
from compiler.model.report import Report
from compiler.readers.formats import READERS
from compiler.verification.verify import verify
from vault.config.settings import Settings, render_settings
from vault.ids import ulid
from vault.layout import CONCEPTS, FLASHCARDS, SUMMARIES
from vault.model.claim import Claim
from vault.model.exhibit import ASSETS, ExhibitKind, is_copy, lines_of
from vault.model.summary import head_of, parse_summary
from vault.vault import Vault, open_vault

ROOT = Path(__file__).resolve().parents[2]
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
NO_WORDS = {"datasets/heights.csv"}  # numbers only: read, and nothing is claimed from them
LINES = 12  # a claim stands within so many lines from where its place says that its paragraph begins


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Vault, Report]:
    root = tmp_path_factory.mktemp("kinds") / "vault"
    shutil.copytree(ROOT / "examples/kinds", root / "raw")
    (root / "insights").mkdir()
    settings = Settings(vault_id=ulid(1_763_700_000_000, b"0123456789"), name="kinds")
    (root / "retain.toml").write_text(render_settings(settings))
    vault = open_vault(str(root), None, root)
    return vault, compile_vault(vault, Options(), NOON, lambda event: None)


def claims_of(vault: Vault) -> dict[str, list[Claim]]:
    """Path below raw/ -> the claims of its summary."""
    found = {}
    for path in vault.paths(SUMMARIES, ".md"):
        summary = parse_summary(vault.read_text(path) or "", path)
        found[head_of(summary).source.removeprefix("raw/")] = [located.claim for located in summary.claims]
    return found


def letters(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if c.isalnum())


def at_place(path: Path, place: str) -> str:
    """What a person finds in the file who goes to `place`."""
    match path.suffix:
        case ".pdf":
            page = re.fullmatch(r"p\. (\d+)", place)
            assert page
            return subprocess.run(
                ["pdftotext", "-f", page[1], "-l", page[1], path, "-"], capture_output=True, text=True, check=True
            ).stdout
        case ".csv":
            with path.open(newline="") as handle:
                return " ".join(list(csv.reader(handle))[int(place.removeprefix("row ")) - 1])
        case ".xlsx":
            sheet, row = re.fullmatch(r"(.*), row (\d+)", place).groups()  # type: ignore[union-attr]
            return " ".join(str(cell.value) for cell in openpyxl.load_workbook(path)[sheet][int(row)])
        case ".pptx":
            number = int(re.match(r"slide (\d+)", place)[1])  # type: ignore[index]
            slide = pptx.Presentation(str(path)).slides[number - 1]
            notes = slide.notes_slide.notes_text_frame.text if slide.has_notes_slide else ""
            return (
                notes if ", notes" in place else " ".join(s.text_frame.text for s in slide.shapes if s.has_text_frame)
            )
        case ".docx" | ".epub":
            return _under_heading(path, place)
        case ".ipynb":
            cell = re.search(r"cell (\d+)$", place)
            assert cell
            return "".join(json.loads(path.read_text())["cells"][int(cell[1]) - 1]["source"])
        case ".json":
            name, message = re.fullmatch(r"(.*) \(2026-11-20\), message (\d+)(?: \(assistant\))?", place).groups()  # type: ignore[union-attr]
            chat = next(c for c in json.loads(path.read_text()) if c["name"] == name)
            return str(chat["chat_messages"][int(message) - 1]["text"])
        case _:
            line = re.search(r"line (\d+)$", place)
            assert line, place
            return "\n".join(path.read_text().splitlines()[int(line[1]) - 1 :][:LINES])


def _under_heading(path: Path, place: str) -> str:
    """The paragraph, or the row of the table, that a place in a zipped text names below its heading."""
    with zipfile.ZipFile(path) as parts:
        names = [n for n in parts.namelist() if n == "word/document.xml" or re.search(r"/c\d+\.xhtml$", n)]
        markup = "".join(parts.read(name).decode() for name in names)
    heading, where = place.split(", ", 1)
    blocks = re.split(r"(?=<(?:w:)?(?:p|h1|tbl|tr)\b)", markup)
    words = [re.sub(r"<[^<>]*>", "", block) for block in blocks]
    at = max(n for n, w in enumerate(words) if w.strip() == heading)
    row = re.fullmatch(r"table 1, row (\d+)", where)
    if row:
        rows = [n for n, block in enumerate(blocks) if n > at and re.match(r"<w:tr\b", block)]
        ends = [*rows[1:], len(blocks)]
        return " ".join(words[rows[int(row[1]) - 1] : ends[int(row[1]) - 1]])
    paragraph = re.fullmatch(r"paragraph (\d+)", where)
    assert paragraph, place
    return [w for w in words[at + 1 :] if w.strip()][int(paragraph[1]) - 1]


def test_a_document_of_every_kind_is_read_and_claims_something(compiled: tuple[Vault, Report]) -> None:
    vault, report = compiled
    assert report.failures == []
    claims = claims_of(vault)
    files = {p.relative_to(ROOT / "examples/kinds").as_posix() for p in (ROOT / "examples/kinds").rglob("*.*")}
    read = {p for p in files if not p.endswith(".png")}
    assert set(claims) == read
    assert {path for path, found in claims.items() if not found} == NO_WORDS
    kinds = {
        head_of(parse_summary(vault.read_text(p) or "", p)).reader.partition("/")[0]
        for p in vault.paths(SUMMARIES, ".md")
    }
    assert kinds == set(READERS) - {"text"}  # a plain text is among the other examples


@pytest.mark.parametrize(
    ("concept", "kind", "shown"),
    [
        ("tidal-bulge", ExhibitKind.PICTURE, "The Earth with a bulge of water towards the Moon and one away from it"),
        ("tidal-range", ExhibitKind.FORMULA, r"R = h_{\text{high}} - h_{\text{low}}"),
    ],
)
def test_what_a_document_shows_reaches_the_claim_the_article_and_the_card(
    compiled: tuple[Vault, Report], concept: str, kind: ExhibitKind, shown: str
) -> None:
    vault, report = compiled
    assert [n for n in report.notices if n.code == "picture"] == []
    [exhibit] = {e for c in claims_of(vault)["articles/tides.md"] for e in c.exhibits if e.kind is kind}
    assert shown == (exhibit.note if kind is ExhibitKind.PICTURE else exhibit.content)
    for path in (f"{CONCEPTS}/{concept}.md", f"{FLASHCARDS}/{concept}.md"):
        assert lines_of(exhibit)[0] in (vault.read_text(path) or "").splitlines(), path
    if kind is ExhibitKind.PICTURE:
        assert vault.paths(ASSETS, ".png") == [exhibit.content]
        copied = (vault.root / exhibit.content).read_bytes()
        assert is_copy(exhibit.content, copied)
        assert copied == (ROOT / "examples/kinds/images/two-bulges.png").read_bytes()


def test_every_claim_stands_where_its_place_says(compiled: tuple[Vault, Report]) -> None:
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed (Debian: poppler-utils)")
    vault, _ = compiled
    followed: dict[str, int] = defaultdict(int)
    for path, claims in claims_of(vault).items():
        for claim in claims:
            there = at_place(ROOT / "examples/kinds" / path, claim.locator)
            there = there.replace("\\dr{}", "dead reckoning")  # what this document's own macro stands for
            unseen = {".tex": r"\\(?:cite|begin|end)\{\w+\}|\\\w+|%.*", ".html": r"<[^<>]*>", ".mdx": r"<[^<>]*>"}
            plain = re.sub(unseen.get(Path(path).suffix, r"\Z"), "", there)
            assert letters(claim.quote) in letters(plain), f"{path}: {claim.locator}: {claim.quote}"
            followed[path] += 1
    assert sum(followed.values()) >= 40


def test_the_wiki_of_every_kind_is_borne_out_whole(compiled: tuple[Vault, Report]) -> None:
    vault, _ = compiled
    verdict = verify(vault, lambda event: None)
    assert (verdict.unverified, verdict.uncited, verdict.unsupported) == ([], [], [])
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed (Debian: poppler-utils)")
    checker = ROOT / "tests/independent_check.py"
    done = subprocess.run([sys.executable, str(checker), str(vault.root)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
