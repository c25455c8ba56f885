"""verify is shown planted faults, one at a time, and must name each; a sound vault has none."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.verification.trace import trace
from compiler.verification.verify import verify
from tests.builders import NEEDY, copy_vault
from vault.errors import NotFound
from vault.layout import GAPS
from vault.model.card import parse_deck
from vault.model.gaps import parse_agenda
from vault.vault import Vault

CHECKER = Path(__file__).parents[1] / "independent_check.py"
SUMMARY = "wiki/summaries/testing.md"
ARTICLE = "wiki/concepts/retrieval-practice.md"
DECK = "learning/flashcards/retrieval-practice.md"
CLAIM = re.compile(r"\^c-([0-9a-z]{10})")


def silent(event: dict[str, object]) -> None:
    assert event["event"]


@pytest.fixture
def compiled(tmp_path: Path, compiled_once: Path) -> Vault:
    return copy_vault(compiled_once, tmp_path / "vault")


def test_a_compiled_vault_is_borne_out_whole(compiled: Vault) -> None:
    verdict = verify(compiled, silent)
    assert verdict.clean
    assert verdict.claims == verdict.verified > 5 and verdict.sentences > 5 and verdict.cards > 3


def replaced(path: str, old: str, new: str) -> Callable[[Path], None]:
    def plant(root: Path) -> None:
        text = (root / path).read_text()
        assert old in text
        (root / path).write_text(text.replace(old, new, 1))

    return plant


def rewritten(path: str, pattern: str, new: str) -> Callable[[Path], None]:
    def plant(root: Path) -> None:
        text = (root / path).read_text()
        changed = re.sub(pattern, new, text, count=1, flags=re.DOTALL | re.MULTILINE)
        assert changed != text
        (root / path).write_text(changed)

    return plant


def removed(path: str) -> Callable[[Path], None]:
    return lambda root: (root / path).unlink()


def appended(path: str, text: str) -> Callable[[Path], None]:
    def plant(root: Path) -> None:
        (root / path).write_text((root / path).read_text() + text)

    return plant


def copied(source: str, target: str) -> Callable[[Path], None]:
    def plant(root: Path) -> None:
        (root / target).write_bytes((root / source).read_bytes())

    return plant


def garbled(path: str) -> Callable[[Path], None]:
    def plant(root: Path) -> None:
        (root / path).write_bytes(b"\xff\xfe bad")

    return plant


def doubled(path: str) -> Callable[[Path], None]:
    """A claim's block stands twice, under one id."""

    def plant(root: Path) -> None:
        text = (root / path).read_text()
        block = re.search(r"> \[!quote\].*?\n\n\^c-[0-9a-z]{10}", text, re.DOTALL)
        assert block is not None
        (root / path).write_text(f"{text}\n{block[0]}\n")

    return plant


def together(*plants: Callable[[Path], None]) -> Callable[[Path], None]:
    def plant(root: Path) -> None:
        for each in plants:
            each(root)

    return plant


BLEACH = "Drinking bleach cures forgetting within 3 days."
BANANAS = "Bananas cause amnesia."
MAKES = "every successful recall makes"
ACT = "Retrieval practice is the act"
RAW = "raw/articles/testing.md"
SUMMARY_FAULTS = [
    (
        "its quote is changed",
        "does not occur",
        replaced(SUMMARY, "> Retrieval practice strengthens", "> Retrieval practice shortens"),
    ),
    (
        "a word of the quote is misspelt",
        "does not occur",
        replaced(SUMMARY, f"> {ACT}", "> Retrieval practise is the act"),
    ),
    ("its kind is none", "cannot be read", replaced(SUMMARY, "> mechanism · current", "> miracle · current")),
    ("the raw file is gone", "cannot be read", removed(RAW)),
    (
        "the raw file says something else",
        "does not occur",
        replaced(RAW, "instead of reading it", "rather than reading it"),
    ),
    ("the raw file is another", "has changed since it was compiled", appended(RAW, "\nOne more line.\n")),
    ("the source lies in insights", "cannot be read", replaced(SUMMARY, f"source: {RAW}", "source: insights/mine.md")),
    ("the source lies outside", "cannot be read", replaced(SUMMARY, f"source: {RAW}", "source: raw/../../outside.md")),
    ("two claims share an id", "another claim has this id", doubled(SUMMARY)),
    ("it is not text", "not UTF-8", garbled(SUMMARY)),
    (
        "a statement is forged",
        "does not contain 3",
        rewritten(SUMMARY, r"> \[!quote\] [A-Z]\w+$", f"> [!quote] {BLEACH}"),
    ),
    (
        "a statement says what its quote does not",
        "does not support it",
        rewritten(SUMMARY, r"> \[!quote\] [A-Z]\w+$", f"> [!quote] {BANANAS}"),
    ),
    (
        "its place is none",
        "there is no ",
        rewritten(SUMMARY, r"^(> mechanism · current · )[^\n]*$", rf"\1{BANANAS}"),
    ),
]
SENTENCE_FAULTS = [
    (ARTICLE, "nothing is cited", "cites nothing", appended(ARTICLE, "\nRetrieval practice cures every illness.\n")),
    (
        ARTICLE,
        "the claim is none",
        "claim 0000000000 is not in",
        rewritten(ARTICLE, r"#\^c-[0-9a-z]{10}\|1", "#^c-0000000000|1"),
    ),
    (ARTICLE, "the summary no longer exists", "is not in wiki/summaries/", removed(SUMMARY)),
    (
        ARTICLE,
        "the number is wrong",
        "citation 7 does not refer to",
        rewritten(ARTICLE, r"(#\^c-[0-9a-z]{10})\|1", r"\1|7"),
    ),
    (
        ARTICLE,
        "a number came in",
        "does not contain 42",
        replaced(ARTICLE, "the act of recalling an", "the act of recalling 42"),
    ),
    (
        ARTICLE,
        "a negation came in",
        "does not contain never",
        replaced(ARTICLE, "practice strengthens", "practice never strengthens"),
    ),
    (ARTICLE, "it says something else", "does not support it", replaced(ARTICLE, MAKES, "every failed recall makes")),
    (
        SUMMARY,
        "its prose lost a citation",
        "does not support it",
        rewritten(SUMMARY, rf"^({ACT}[^\n]*?\.) \[\[[^\]]*\]\]", r"\1"),
    ),
    (
        ARTICLE,
        "its claim is forged to say it",
        "not supported by its source",
        together(
            rewritten(SUMMARY, r"> \[!quote\] [A-Z]\w+$", f"> [!quote] {BLEACH}"),
            rewritten(ARTICLE, rf"{ACT}[^\n]*?\.(?= \[\[)", BLEACH),
        ),
    ),
    (SUMMARY, "it looks like the line of the source", "cites nothing", appended(SUMMARY, f"\nSource: {BANANAS}\n")),
    (SUMMARY, "a block is none of a claim", "cites nothing", appended(SUMMARY, f"\n> [!quote] {BANANAS}\n> x\n")),
    *(
        (ARTICLE, what, "cites nothing", appended(ARTICLE, f"\n{text}\n"))
        for what, text in {
            "in a quote": f"> {BANANAS}",
            "in a claim's block": f"> [!quote] {BANANAS}\n> {BANANAS}\n>\n> fact · current\n\n^c-7f3a9c1e2k",
            "beside a link": "- [[wiki/concepts/x|X]] is caused by bananas.",
            "in a table": f"| a |\n|---|\n| {BANANAS} |",
            "in a fence": f"```\n{BANANAS}\n```",
        }.items()
    ),
]
CARD_FAULTS = [
    (
        DECK,
        "another answer",
        "does not support it",
        rewritten(DECK, r"^A: .*?$", "A: Elliptic curves encrypt passwords."),
    ),
    (DECK, "a number came in", "does not contain 1885", rewritten(DECK, r"^A: (.*?)\.?$", r"A: \1 since 1885.")),
    (DECK, "nothing is cited", "cites nothing", rewritten(DECK, r"^> \[\[wiki/summaries[^\n]*\n", "")),
    (
        DECK,
        "the claim is none",
        "is not in wiki/summaries/",
        rewritten(DECK, r"#\^c-[0-9a-z]{10}\|", "#^c-0000000000|"),
    ),
    (
        DECK,
        "the question tells",
        "contains its answer",
        rewritten(DECK, r"^Q: .*?\nA: (.*?)\.?$", r"Q: Is it \1?\nA: \1."),
    ),
    (DECK, "it dangles", "refers to something", rewritten(DECK, r"^Q: .*?$", "Q: What does this method do?")),
    ("learning/flashcards/twin.md", "it stands twice", "its id is in", copied(DECK, "learning/flashcards/twin.md")),
    (DECK, "no answer", "no answer", appended(DECK, "\nQ: a question without its answer\n")),
    (DECK, "the article is gone", "does not belong to any wiki article", removed(ARTICLE)),
]
FAULTS = [
    *(("unverified", SUMMARY, *fault) for fault in SUMMARY_FAULTS),
    *(("uncited", *fault) for fault in SENTENCE_FAULTS),
    *(("unsupported", *fault) for fault in CARD_FAULTS),
]


@pytest.mark.parametrize(
    ("list_name", "path", "what", "reason", "plant"), FAULTS, ids=[f"{f[0]}: {f[2]}" for f in FAULTS]
)
def test_a_planted_fault_is_named(
    compiled: Vault, list_name: str, path: str, what: str, reason: str, plant: Callable[[Path], None]
) -> None:
    plant(compiled.root)
    findings = getattr(verify(compiled, silent), list_name)
    assert any(f["path"] == path and reason in f["reason"] for f in findings), f"{what}: {findings}"


def test_a_humans_remark_is_marked_and_needs_no_citation(compiled: Vault) -> None:
    for path in (ARTICLE, SUMMARY):
        appended(path, f"\n> [!human]\n> {BANANAS}\n")(compiled.root)
    assert verify(compiled, silent).clean


def test_a_card_of_the_humans_own_needs_no_support(compiled: Vault) -> None:
    appended(DECK, "\nQ: What do I make of it?\nA: I had better try.\n")(compiled.root)
    assert verify(compiled, silent).clean


def independently(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(CHECKER), str(root)], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("wrong", "plant"),
    [
        ("", lambda root: None),
        ("not in raw/articles", rewritten(SUMMARY, rf"^(> {ACT} of recalling a)n", r"\1m")),
        ("not in raw/articles", rewritten(SUMMARY, rf"^> ({ACT}) [^\n]*", r"> \1 instead of reading it again")),
        ("no verified claim", rewritten(DECK, r"#\^c-[0-9a-z]{10}\|", "#^c-0000000000|")),
        ("not cited", appended(ARTICLE, f"\n{BANANAS}\n")),
        ("not cited", appended(ARTICLE, f"\n> {BANANAS}\n")),
        ("", appended(ARTICLE, f"\n> [!human] Mine\n> {BANANAS}\n")),
    ],
)
def test_the_independent_check_names_what_is_forged(compiled: Vault, wrong: str, plant: Callable[[Path], None]) -> None:
    plant(compiled.root)
    done = independently(compiled.root)
    assert wrong in done.stdout and done.returncode == bool(wrong), done.stdout + done.stderr


def test_the_independent_check_lets_a_quote_go_on_only_at_the_top_of_the_next_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(CHECKER.parent)  # as where it is run as a program
    stands_in = runpy.run_path(str(CHECKER))["stands_in"]
    filler = [f"line{n}ofthepagethatgoesonandonforawhile" for n in range(60)]
    pages = [[*filler, "recallis", "1anote", "17"], ["chaptertwo", "goodforyou", *filler, "badforyou"]]
    assert stands_in("recallisgoodforyou", [pages])
    for stitched in (
        "recallisbadforyou",
        "recallisforyou",
        "recalgoodforyou",
        "line3ofgoodforyou",
        "goodforyourecallis",
    ):
        assert not stands_in(stitched, [pages]), stitched


def test_trace_of_a_gap_says_what_is_missing_and_where_it_is_asked(compiled: Vault) -> None:
    for path, text in NEEDY.items():
        (compiled.root / path).write_text(text, encoding="utf-8")
    compile_vault(compiled, Options(), datetime(2026, 11, 22, 9, tzinfo=UTC), lambda event: None)
    gap = next(g for g in parse_agenda((compiled.root / GAPS).read_text(encoding="utf-8")) if g.mentions)
    for wanted in (gap.id, f"^g-{gap.id}"):
        found = trace(compiled, wanted)
        assert (found.path, found.line, found.steps) == (GAPS, gap.line, ())
        assert gap.what in found.what and gap.missing in found.what and gap.mentions[0] in found.what


def test_trace_leads_from_card_sentence_and_claim_to_the_words_in_the_file(compiled: Vault) -> None:
    card = parse_deck((compiled.root / DECK).read_text(), DECK).cards[0]
    assert card.id is not None
    raw = (compiled.root / "raw/articles/testing.md").read_text()
    for wanted in (card.id, card.support[0].claim, f"^c-{card.support[0].claim}", "the ACT of recalling"):
        found = trace(compiled, wanted)
        assert found.steps[0].source == "raw/articles/testing.md"
        assert found.steps[0].claim.quote in raw and found.steps[0].claim.locator == "Retrieval practice, line 3"
    with pytest.raises(NotFound, match="no such card, claim or sentence"):
        trace(compiled, "0000000000")
