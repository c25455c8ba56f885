"""A compile with a model, seen from outside: what it asks, what it publishes, and what stays."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.model.report import Report
from compiler.protocol.requests import CheckRequest, ReadRequest, WriteRequest
from compiler.replies.asker import Waiting
from compiler.verification.verify import verify
from tests.builders import vault_with_sources
from tests.compiler.conftest import new_vault
from tests.compiler.scripted import Rewriter, Scripted
from tests.compiler.test_build import products, silent, tree
from vault.model.article import sentences, without_page_links
from vault.model.card import parse_deck
from vault.model.frontmatter import read_properties
from vault.vault import Vault

MORNING = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
MITOSIS = """# Mitosis

Mitosis is a process in which one cell becomes two equal cells.
Chromosomes line up because spindle fibres pull them to the middle of the cell.

A spindle is a structure of fibres that pulls chromosomes apart.
The spindle is used to part the copies of each chromosome.
"""
MEIOSIS = """# Meiosis

Meiosis is a division that halves the number of chromosomes.
Unlike mitosis, meiosis gives four cells rather than two.

A spindle is a structure that forms anew in both divisions.
"""
FOUR = "Unlike mitosis, meiosis gives four cells rather than two."
DIVISION = "Meiosis is a division that halves the number of chromosomes. [1:1a]"  # as the rules write it
MEIOSIS_PAGE, SPINDLE_PAGE = "wiki/concepts/meiosis.md", "wiki/concepts/spindle.md"


@pytest.fixture
def cells(tmp_path: Path) -> Vault:
    return vault_with_sources(tmp_path / "vault", {"mitosis.md": MITOSIS, "meiosis.md": MEIOSIS})


def compiled(vault: Vault, backend: Scripted | None, at: datetime = MORNING, **options: int) -> Report:
    engine = "claude" if backend is not None else "journal"
    return compile_vault(vault, Options(engine=engine, **options), at, silent, backend=backend)  # type: ignore[arg-type]


def saying(**changes: Mapping[str, str]) -> Rewriter:
    """What the rules answer, with other words in the answers to requests of some types."""

    def reword(type_: str, answer: str) -> str:
        for old, new in changes.get(type_, {}).items():
            answer = answer.replace(old, new)
        return answer

    return reword


def text(vault: Vault, path: str) -> str:
    return (vault.root / path).read_text(encoding="utf-8")


def said(vault: Vault, path: str) -> str:
    """The text of an article without the links to others."""
    return without_page_links(text(vault, path))


def source(vault: Vault, name: str, words: str) -> None:
    (vault.root / "raw/articles" / name).write_text(words, encoding="utf-8")


def ids_of(vault: Vault) -> dict[str, str]:
    """The ids of pages and cards by path and question."""
    pages = {str(p): read_properties(p.read_text()).text("id") for p in (vault.root / "wiki/concepts").glob("*.md")}
    decks = (parse_deck(p.read_text(), p.name) for p in sorted((vault.root / "learning/flashcards").glob("*.md")))
    return pages | {card.question: str(card.id) for deck in decks for card in deck.cards}


# --- what is published ------------------------------------------------------------------------------------------------


def test_a_model_compiles_a_vault_in_four_requests_and_it_verifies(cells: Vault) -> None:
    backend = Scripted()
    report = compiled(cells, backend)
    assert backend.counts() == {"read": 1, "settle": 1, "write": 1, "check": 1}
    assert report.articles["created"] == 3 and report.cards["created"] == 3 and report.topics["created"] == 1
    assert report.cost["input_tokens"] == 100 * len(backend.asked) and not report.rejections and not report.notices
    verdict = verify(cells, silent)
    assert verdict.clean and verdict.sentences > 10 and verdict.verified == verdict.claims == 7
    assert FOUR in said(cells, MEIOSIS_PAGE) and "[[wiki/summaries/meiosis#^c-" in text(cells, MEIOSIS_PAGE)
    assert "generator: journal/2" in text(cells, "learning/flashcards/meiosis.md")
    assert "What is meant by meiosis?" in text(cells, "learning/flashcards/meiosis.md")
    summary = text(cells, "wiki/summaries/meiosis.md")
    assert "Meiosis is a division" in summary.partition("## Claims")[0] and f"> {FOUR}" in summary
    topic = text(cells, "wiki/topics/meiosis-and-others.md")
    assert all(f"wiki/concepts/{name}|" in topic for name in ("meiosis", "mitosis", "spindle"))


def test_the_small_documents_compile_too(tmp_path: Path) -> None:
    vault = new_vault(tmp_path / "vault")
    report = compiled(vault, Scripted())
    assert report.claims["added"] > 5 and report.cards["created"] >= 2 and verify(vault, silent).clean


def test_a_term_of_one_line_stands_among_the_concepts_without_a_page(cells: Vault) -> None:
    compiled(cells, Scripted(reword=saying(read={"CONCEPT Spindle | page": "CONCEPT Spindle | line"})))
    listed = text(cells, "wiki/_concepts.md")
    assert not (cells.root / SPINDLE_PAGE).exists() and verify(cells, silent).clean
    (line,) = [line for line in listed.split("\n") if "Spindle" in line]
    assert "A spindle is a structure that forms anew in both divisions. [[wiki/summaries/" in line
    settling = saying(settle={"CLUSTER": "LINE 3\nCLUSTER"})  # likewise where SETTLE decides it
    other = vault_with_sources(cells.root.parent / "other", {"mitosis.md": MITOSIS, "meiosis.md": MEIOSIS})
    compiled(other, Scripted(reword=settling))
    assert {p.name for p in (other.root / "wiki/concepts").iterdir()} == {"meiosis.md", "spindle.md"}


def test_names_that_settle_joins_are_one_page_with_the_others_as_aliases(tmp_path: Path) -> None:
    documents = {
        "one.md": "# Softmax\n\nA softmax is a map from scores to shares that sum to one.\n",
        "two.md": "# Normalised exponential\n\nThe normalised exponential is a usual last step of classifiers.\n",
    }
    joining = saying(settle={"CLUSTER": "SAME 1 = 2\nCLUSTER"})
    vault = vault_with_sources(tmp_path / "vault", documents)
    compiled(vault, Scripted(reword=joining))
    (page,) = (vault.root / "wiki/concepts").iterdir()
    properties = read_properties(page.read_text())
    assert {properties.text("title"), *properties.texts("aliases")} == {"Softmax", "Normalised exponential"}
    assert "sum to one" in page.read_text() and "last step" in page.read_text() and verify(vault, silent).clean


def test_terms_and_open_questions_are_on_the_agenda_and_stay_under_their_ids(cells: Vault) -> None:
    reword = saying(
        read={"SUM 1": "TERM chromosome | 1:1, 2:1\nSUM 1"},
        write={"=== CARDS Meiosis": "=== OPEN Meiosis\n- Why are there two divisions? [1:1b]\n=== CARDS Meiosis"},
    )
    report = compiled(cells, Scripted(reword=reword))
    agenda = text(cells, "learning/gaps.md")
    assert report.gaps["structural"] == 1 and report.gaps["epistemic"] == 1
    assert "chromosome" in agenda and "It is used in 2 sources" in agenda and "Why are there two divisions?" in agenda
    assert len(re.findall(r"\[\[wiki/summaries/m\w+iosis", agenda)) >= 1 or "wiki/summaries" in agenda
    source(cells, "other.md", "# Osmosis\n\nOsmosis is a flow of water through a membrane.\n")
    compiled(cells, Scripted(reword=reword), MORNING + HOUR)
    kept = re.findall(r"<!-- gap (\w+)|\^g-(\w+)", agenda)
    assert kept == re.findall(r"<!-- gap (\w+)|\^g-(\w+)", text(cells, "learning/gaps.md"))
    source(cells, "third.md", "# Chromosome\n\nA chromosome is a thread of genes in the cell.\n")
    assert compiled(cells, Scripted(reword=reword), MORNING + 2 * HOUR).gaps["filled"] == 1


def test_steps_are_marked_on_the_page_and_make_it_at_most_medium(cells: Vault) -> None:
    steps = (
        f"{DIVISION}\nTwo such divisions give 2 × 4 = 8 cells. [derived 1:1b]"
        "\nCounted, these are eight. [computed: the cells in a drawing; 1:1b]"
    )
    source(cells, "x.md", "# Egg\n\nMeiosis is a division from which an egg comes.\n")
    source(cells, "y.md", "# Skin\n\nMitosis is a process that renews the skin every month.\n")
    reword = saying(write={DIVISION: steps})
    compiled(cells, Scripted(reword=reword))
    page = text(cells, MEIOSIS_PAGE)
    marks = {s.text: s.mark for s in sentences(page)}
    assert marks["Two such divisions give 2 × 4 = 8 cells."] == "derived"
    assert marks["Counted, these are eight."] == "computed: the cells in a drawing" and marks[FOUR] == ""
    assert "8 cells. *derived* [[wiki/summaries/" in page and verify(cells, silent).clean
    for summary in (cells.root / "wiki/summaries").iterdir():
        summary.write_text(summary.read_text().replace("authority: 1", "authority: 3"))
    compiled(cells, None, MORNING + HOUR)
    confidence = {
        p.stem: read_properties(p.read_text()).text("confidence") for p in (cells.root / "wiki/concepts").iterdir()
    }
    assert confidence["meiosis"] == "medium" and "high" in confidence.values()


def test_an_equation_that_is_wrong_is_not_published_even_as_a_step(cells: Vault) -> None:
    wrong = f"{DIVISION}\nTwo such divisions give 2 × 4 = 9 cells. [derived 1:1b]"
    backend = Scripted(reword=saying(write={DIVISION: wrong}))
    report = compiled(cells, backend)
    assert "9 cells" not in text(cells, MEIOSIS_PAGE) and FOUR in said(cells, MEIOSIS_PAGE)
    assert any("the result is 8" in r.reason for r in report.rejections)


SORTING = """# Sorting

Insertion sort is a method that puts elements in order one by one. It needs these steps:

1. Take the next element.
2. Move it left while the one before is larger.

```python
def insert(row, at):
    while at and row[at - 1] > row[at]:
        row[at - 1], row[at] = row[at], row[at - 1]
```

| method | memory |
|---|---|
| insertion sort | constant |
| merge sort | linear |

Its cost is

$$
n (n - 1) / 2
$$

in the worst case.
"""


def test_listings_tables_formulas_and_lists_stand_on_the_page(tmp_path: Path) -> None:
    vault = vault_with_sources(tmp_path / "vault", {"sorting.md": SORTING})
    table = "@keep 1:3\n\n| | memory |\n|---|---|\n| by insertion | constant | [1:3b]\n| by merging | linear | [1:3c]\n"
    backend = Scripted(reword=saying(write={"@keep 1:3": table}))
    compiled(vault, backend)
    page = text(vault, "wiki/concepts/insertion-sort.md")
    assert "```python\ndef insert(row, at):\n    while at and row[at - 1] > row[at]:" in page
    assert re.search(r"\| insertion sort \| constant \| \[\[wiki/summaries/sorting#\^c-\w{10}\\\|1\]\] \|", page)
    assert re.search(r"\| by insertion \| constant \| \[\[", page) and "|  | memory |  |" in page.replace("–", "")
    assert "n (n - 1) / 2" in page and re.search(r"^1\. Take the next element\. \[\[", page, re.MULTILINE)
    assert next(s.text for s in sentences(page)).startswith("Insertion sort is a method")
    verdict = verify(vault, silent)
    assert verdict.clean, (verdict.uncited, verdict.unverified, verdict.unsupported)
    before = tree(vault)
    shutil.rmtree(vault.root / "wiki")
    compiled(vault, None, MORNING + timedelta(days=1), fresh=True)
    assert tree(vault) == before


def test_links_to_other_pages_stand_in_sentences_and_below_them_and_links_to_none_are_words(cells: Vault) -> None:
    linked = "Meiosis is a division that halves the number of [[Chromosome|chromosomes]] on a [[spindle]]. [1:1a,c]"
    backend = Scripted(reword=saying(write={DIVISION: f"{linked}\nSee [[Mitosis]] and [[Nothing at all]]."}))
    compiled(cells, backend)
    page = text(cells, MEIOSIS_PAGE)
    assert "the number of chromosomes on a [[wiki/concepts/spindle|spindle]]." in page
    assert "- [[wiki/concepts/mitosis|Mitosis]]" in page and "Nothing at all" not in page
    assert verify(
        cells, silent
    ).clean and "Meiosis is a division that halves the number of chromosomes on a spindle." in [
        s.text for s in sentences(page)
    ]


@pytest.mark.parametrize("address", ["see [keys](http://evil.example)", "see www.evil.example", "see <b>x</b>"])
def test_a_sentence_with_an_address_that_its_evidence_lacks_is_refused_whatever_a_check_says(
    cells: Vault, address: str
) -> None:
    report = compiled(cells, Scripted(reword=saying(write={". [1:1": f", {address}. [1:1"})))
    pages = [p.read_text() for p in (cells.root / "wiki").rglob("*.md")]
    assert report.rejections and not [p for p in pages if "evil" in p or "<b>" in p]


# --- what is asked, and what not --------------------------------------------------------------------------------------


def test_nothing_is_asked_twice_and_a_rebuild_asks_nobody(cells: Vault) -> None:
    compiled(cells, Scripted())
    before = tree(cells)
    again = Scripted()
    assert compiled(cells, again, MORNING + HOUR).nothing_new and not again.asked
    shutil.rmtree(cells.root / ".retain")
    for folder in ("wiki", "learning/flashcards"):
        shutil.rmtree(cells.root / folder)
    compiled(cells, None, MORNING + timedelta(days=1), fresh=True)
    assert tree(cells) == before


def test_an_edited_sentence_costs_three_requests_and_leaves_the_rest_byte_for_byte(cells: Vault) -> None:
    compiled(cells, Scripted())
    before, ids = tree(cells), ids_of(cells)
    source(cells, "meiosis.md", MEIOSIS.replace("four cells rather than two", "five cells rather than two"))
    # A model that says everything in other words when asked again: only what is new may change.
    backend = Scripted(reword=saying(write={"gives five": "yields five", "A spindle is": "Notably, a spindle is"}))
    compiled(cells, backend, MORNING + HOUR)
    counts = backend.counts()
    assert max(counts.values()) == 1 and set(counts) <= {"read", "write", "check"}
    (read,) = [r for r in backend.asked if isinstance(r, ReadRequest)]
    assert [d.title for d in read.documents] == ["Meiosis"]
    (write,) = [r for r in backend.asked if isinstance(r, WriteRequest)]
    assert all(any(not s.gone for s in task.present) and task.new for task in write.concepts)
    now = tree(cells)
    moved = {
        p
        for p in now | before
        if now.get(p) != before.get(p) and p.startswith(("wiki/concepts/", "wiki/topics/", "learning/fl"))
    }
    assert "meiosis yields five cells" in text(cells, MEIOSIS_PAGE) and FOUR not in said(cells, MEIOSIS_PAGE)
    assert (
        MEIOSIS_PAGE in moved
        and "wiki/concepts/mitosis.md" not in moved
        and "learning/flashcards/mitosis.md" not in moved
    )
    assert "Notably" not in text(cells, MEIOSIS_PAGE)
    assert ids_of(cells) == ids and verify(cells, silent).clean


def test_white_space_costs_nothing(cells: Vault) -> None:
    compiled(cells, Scripted())
    before = products(tree(cells))
    source(cells, "meiosis.md", MEIOSIS.replace(" gives ", "\ngives  "))
    backend = Scripted()
    compiled(cells, backend, MORNING + HOUR)
    changed = {p for p, d in products(tree(cells)).items() if before.get(p) != d}
    assert not backend.asked and not {p for p in changed if p.startswith(("wiki/concepts", "learning/flash"))}


def test_a_new_document_is_read_alone_and_with_the_names_that_are_known(cells: Vault) -> None:
    (cells.root / "raw/articles/meiosis.md").unlink()
    compiled(cells, Scripted())
    before = tree(cells)
    source(cells, "osmosis.md", "# Osmosis\n\nOsmosis is a flow of water through a membrane.\n")
    backend = Scripted()
    compiled(cells, backend, MORNING + HOUR)
    (read,) = [r for r in backend.asked if isinstance(r, ReadRequest)]
    assert [d.title for d in read.documents] == ["Osmosis"] and {"Mitosis", "Spindle"} <= set(read.known)
    assert (cells.root / "wiki/concepts/osmosis.md").exists() and verify(cells, silent).clean
    same = [p for p in before if p.startswith(("wiki/concepts/", "learning/flashcards/"))]
    assert same and all(tree(cells)[p] == before[p] for p in same)
    (write,) = [r for r in backend.asked if isinstance(r, WriteRequest)]
    assert [task.title for task in write.concepts] == ["Osmosis"]


def test_a_deleted_document_takes_what_rests_on_it_and_its_return_brings_it_back(cells: Vault) -> None:
    compiled(cells, Scripted())
    before, ids = products(tree(cells)), ids_of(cells)
    (cells.root / "raw/articles/meiosis.md").unlink()
    backend = Scripted()
    report = compiled(cells, backend, MORNING + HOUR)
    assert set(backend.counts()) <= {"write", "check"}  # for a page that opened with words of that document
    assert report.cards["suspended"] >= 1 and verify(cells, silent).clean
    assert not (cells.root / MEIOSIS_PAGE).exists() and "forms anew" not in text(cells, SPINDLE_PAGE)
    assert "pulls chromosomes apart" in text(cells, SPINDLE_PAGE)
    assert f'"{ids["What is meant by meiosis?"]}"' in text(cells, "ledger/ids.jsonl")
    source(cells, "meiosis.md", MEIOSIS)
    back = Scripted()
    compiled(cells, back, MORNING + 2 * HOUR)
    assert "read" not in back.counts() and ids_of(cells).items() >= ids.items() and verify(cells, silent).clean
    same = ("wiki/concepts/meiosis.md", "learning/flashcards/meiosis.md", "wiki/concepts/mitosis.md")
    assert all(products(tree(cells))[p] == before[p] for p in same)


def test_a_renamed_document_costs_nothing(cells: Vault) -> None:
    compiled(cells, Scripted())
    ids = ids_of(cells)
    (cells.root / "raw/articles/meiosis.md").rename(cells.root / "raw/articles/reduction.md")
    backend = Scripted()
    compiled(cells, backend, MORNING + HOUR)
    assert not backend.asked and ids_of(cells) == ids and verify(cells, silent).clean


def test_the_order_in_which_documents_come_plays_no_part(tmp_path: Path) -> None:
    documents = {"mitosis.md": MITOSIS, "meiosis.md": MEIOSIS, "third.md": MITOSIS.replace("Mitosis", "Cytokinesis")}
    found = []
    for seed in range(3):
        vault = vault_with_sources(tmp_path / str(seed), {})
        order = sorted(documents)
        random.Random(seed).shuffle(order)
        for n, name in enumerate(order):
            source(vault, name, documents[name])
            compiled(vault, Scripted(), MORNING + n * HOUR)
        claims = {
            line
            for p in (vault.root / "wiki/summaries").iterdir()
            for line in p.read_text().splitlines()
            if line.startswith("^c-")
        }
        found.append(({p.name for p in (vault.root / "wiki/concepts").iterdir()}, len(claims)))
    assert found[0] == found[1] == found[2]


# --- what a second reader says ----------------------------------------------------------------------------------------


SURER = "Meiosis always halves all the chromosomes."


def verdicts(verdict: str, words: str = SURER) -> Scripted:
    """A model that says more of meiosis than its passage does, and a second reader who says that of the words."""

    def said(type_: str, request: str) -> str:
        number = re.search(rf"^(\d+)\. .*{re.escape(words)}", request, re.MULTILINE)
        return f"{number[1]} {verdict}" if type_ == "check" and number else "OK"

    return Scripted(reword=saying(write={DIVISION: f"{SURER} [1:1a]"}), verdicts=said)


def test_a_sentence_that_the_reader_mends_is_published_as_mended(cells: Vault) -> None:
    backend = verdicts("FIX Meiosis halves the number of chromosomes. [1:1a]")
    compiled(cells, backend)
    page = text(cells, MEIOSIS_PAGE)
    assert "Meiosis halves the number of chromosomes." in page and SURER not in page
    assert verify(cells, silent).clean
    again = Scripted()
    compiled(cells, again, MORNING + HOUR, fresh=True)
    assert not again.asked and text(cells, MEIOSIS_PAGE) == page


def test_a_sentence_that_the_reader_drops_is_not_published_and_named(cells: Vault) -> None:
    report = compiled(cells, verdicts("DROP it says always"))
    assert SURER not in said(cells, MEIOSIS_PAGE) and FOUR in said(cells, MEIOSIS_PAGE)
    rejection, *others = [r for r in report.rejections if r.gate == "check"]
    assert {r.words for r in others} <= {SURER}  # two pages say it
    assert rejection.words == SURER and rejection.reason == "it says always"
    assert rejection.said_by == "scripted/1" and rejection.path == "raw/articles/meiosis.md"


def test_a_correction_that_says_what_no_passage_says_is_not_published(cells: Vault) -> None:
    report = compiled(cells, verdicts("FIX Meiosis halves 46 chromosomes."))
    page = text(cells, MEIOSIS_PAGE)
    assert "46" not in page and SURER not in page
    assert any(r.gate == "check" and "46" in r.reason for r in report.rejections)


def test_cards_are_mended_and_dropped_likewise(cells: Vault) -> None:
    card = "What is meant by meiosis?"
    compiled(cells, verdicts("FIX Q: What does meiosis halve? A: The number of chromosomes.", card))
    deck = text(cells, "learning/flashcards/meiosis.md")
    assert "Q: What does meiosis halve?\nA: The number of chromosomes.\n" in deck and card not in deck
    other = vault_with_sources(cells.root.parent / "other", {"meiosis.md": MEIOSIS})
    report = compiled(other, verdicts("DROP nobody needs it", card))
    assert not (other.root / "learning/flashcards/meiosis.md").exists()
    assert [r.reason for r in report.rejections] == ["nobody needs it"]


def test_a_check_asks_what_does_not_say_by_itself_what_it_is_about_and_shows_the_passages(cells: Vault) -> None:
    backend = verdicts("OK")
    compiled(cells, backend)
    (check,) = [r for r in backend.asked if isinstance(r, CheckRequest)]
    asked = {(item.about, item.text) for item in check.items}
    assert SURER in {words for _, words in asked} and ("Meiosis", "What is meant by meiosis?") in asked
    # Word for word as its source has it, it needs no check on the page that it names, but on another one.
    assert ("Meiosis", FOUR) not in asked and ("Spindle", FOUR) in asked
    assert {d.title for d in check.documents} == {"Meiosis", "Mitosis"}
    assert SURER in said(cells, MEIOSIS_PAGE) and verify(cells, silent).clean


# --- where nobody answers ---------------------------------------------------------------------------------------------


def failing(type_: str) -> Scripted:
    return Scripted(broken=lambda r: "the model declined" if r.type == type_ else "")


@pytest.mark.parametrize("type_", ["read", "settle", "write", "check"])
def test_where_a_model_has_no_answer_rules_stand_in_and_it_is_asked_again(cells: Vault, type_: str) -> None:
    report = compiled(cells, failing(type_))
    assert [n for n in report.notices if n.code == "stood-in"] and verify(cells, silent).clean
    assert FOUR in said(cells, MEIOSIS_PAGE) and len(list((cells.root / "wiki/concepts").glob("*.md"))) >= 2
    again = Scripted()
    report = compiled(cells, again, MORNING + HOUR)
    assert again.counts()[type_] == 1 and not [n for n in report.notices if n.code == "stood-in"]
    assert verify(cells, silent).clean
    assert again.counts().total() <= 4 and compiled(cells, again, MORNING + 2 * HOUR).nothing_new


@pytest.mark.parametrize("type_", ["read", "settle", "write", "check"])
def test_where_a_model_had_no_answer_a_rebuild_gives_the_same_bytes(cells: Vault, type_: str) -> None:
    model = failing(type_)
    compiled(cells, model)
    assert model.counts()[type_] == 1
    before = tree(cells)
    for size in (40_000, 300):
        compiled(cells, None, MORNING + HOUR, fresh=True, part_bytes=size)
        assert tree(cells) == before


def test_nothing_of_an_update_that_nobody_wrote_is_lost(cells: Vault) -> None:
    compiled(cells, Scripted())
    before = {p: d for p, d in tree(cells).items() if p.startswith(("wiki/concepts", "learning/flashcards"))}
    source(cells, "osmosis.md", "# Osmosis\n\nOsmosis is a flow of water through a spindle.\n")
    compiled(cells, failing("write"), MORNING + HOUR)
    now = tree(cells)
    assert all(now.get(p) == d for p, d in before.items() if "spindle" not in p) and verify(cells, silent).clean


def test_an_answer_of_which_nothing_can_be_used_is_asked_for_once_more_and_then_no_more(cells: Vault) -> None:
    backend = Scripted(reword=lambda type_, answer: "I would rather not." if type_ == "write" else answer)
    compiled(cells, backend)
    assert backend.counts()["write"] == 2 and verify(cells, silent).clean
    asked = len(backend.asked)
    compiled(cells, backend, MORNING + HOUR, fresh=True)
    assert len(backend.asked) == asked


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_a_build_that_ends_early_keeps_what_it_paid_for_and_publishes_nothing(cells: Vault, after: int) -> None:
    first = Scripted(fail_after=after)
    with pytest.raises(Waiting) as stopped:
        compiled(cells, first)
    assert stopped.value.requests and not list((cells.root / "wiki").rglob("*.md")) and len(first.asked) == after
    second = Scripted()
    compiled(cells, second, MORNING + HOUR)
    assert len(second.asked) == 4 - after and verify(cells, silent).clean


def test_without_anybody_to_ask_open_questions_are_an_error_that_says_what_to_do(cells: Vault) -> None:
    with pytest.raises(Waiting, match=r"in this vault ha(s|ve) no answer"):
        compiled(cells, None)
    assert not list((cells.root / "wiki").rglob("*.md"))


def test_a_dry_run_names_what_it_would_ask_and_writes_nothing(cells: Vault) -> None:
    before = tree(cells)
    report = compiled(cells, Scripted(), dry_run=True)
    assert [r.type for r in report.open] == ["read"] and tree(cells) == before


def test_documents_without_words_are_not_asked_about(tmp_path: Path) -> None:
    vault = vault_with_sources(tmp_path / "vault", {"empty.md": "# Nothing\n"})
    backend = Scripted()
    compiled(vault, backend)
    assert not backend.asked and (vault.root / "wiki/summaries/empty.md").exists()


def test_many_documents_are_read_in_parts_of_the_size_that_is_asked_for(tmp_path: Path) -> None:
    documents = {
        f"{n}.md": MITOSIS.replace("itosis", f"itosis{n}").replace("spindle", f"spindle{n}") for n in range(12)
    }
    vault = vault_with_sources(tmp_path / "vault", documents)
    backend = Scripted()
    compile_vault(vault, Options(engine="claude", part_bytes=1_000), MORNING, silent, backend=backend)
    reads = [r for r in backend.asked if isinstance(r, ReadRequest)]
    assert 4 <= len(reads) <= 6 and verify(vault, silent).clean
    covered = [b.key for r in reads for d in r.documents for p in d.passages for b in p.blocks]
    assert len(covered) == len(set(covered))
