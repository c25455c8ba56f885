"""The templates are the formats' documentation: what they show, the code reads, and would write itself."""

from __future__ import annotations

import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

import templates
from compiler.cards import decks
from learning.memory.fold import fold
from learning.memory.scheduler import Scheduler
from learning.memory.state import Rules
from learning.pages.review_page import Row, render_page
from learning.store.card_text import card_cell, concept_cell, label
from vault.ids import CardId
from vault.log.events import Rating, Review, Stamp
from vault.model import article
from vault.model.card import CardKind, parse_deck, render_card
from vault.model.claim import ClaimKind
from vault.model.frontmatter import OURS, body_of, human_edited, read_properties
from vault.model.gaps import GapStatus, parse_agenda, render_agenda
from vault.model.summary import parse_summary
from vault.model.wikilink import citations, links

ROOT = Path(templates.__file__).parent
PAGES = sorted(path.name for path in ROOT.glob("*.md") if path.name not in ("AGENTS.md", "skill.md"))
SUMMARY = "wiki/summaries/the-spacing-effect"


def test_there_is_one_template_for_each_file_type() -> None:
    assert set(PAGES) == {
        "summary.md",
        "concept.md",
        "topic.md",
        "flashcards.md",
        "review-queue.md",
        "gaps.md",
        "report.md",
        "slides.md",
        "insight.md",
    }


@pytest.mark.parametrize("name", PAGES)
def test_a_template_has_properties_that_can_be_read(name: str) -> None:
    properties = read_properties(templates.read(name))
    assert properties.values and not properties.problems


@pytest.mark.parametrize("name", PAGES)
def test_every_citation_of_a_template_leads_to_a_claim_of_the_summary_template(name: str) -> None:
    summary = parse_summary(templates.read("summary.md"), f"{SUMMARY}.md")
    text = templates.read(name)
    for cited in citations(text):
        assert cited.summary == SUMMARY and summary.claim(cited.claim) is not None
    if name in ("concept.md", "topic.md", "report.md", "slides.md"):
        sources = read_properties(text).texts("sources")
        assert {c.place for c in citations(text)} <= set(range(1, len(sources) + 1))
        assert [link.target for link in links(sources[0])] == [SUMMARY]


def test_the_summary_template_is_read_whole_and_shows_four_kinds_of_claim() -> None:
    summary = parse_summary(templates.read("summary.md"), f"{SUMMARY}.md")
    assert not summary.diagnostics
    kinds = {located.claim.kind for located in summary.claims}
    assert kinds == {ClaimKind.DEFINITION, ClaimKind.MECHANISM, ClaimKind.RELATION, ClaimKind.APPLICATION}


@pytest.mark.parametrize("name", ["concept.md", "topic.md", "report.md", "slides.md"])
def test_every_sentence_of_an_article_template_is_cited(name: str) -> None:
    text = "".join(line for line in templates.read(name).splitlines(keepends=True) if not line.startswith("- Which"))
    found = [s for s in article.sentences(text) if s.text.strip("-")]
    assert found and all(s.cites for s in found)


@pytest.mark.parametrize("name", ["concept.md", "topic.md"])
def test_an_article_template_is_the_machines_own_and_uses_known_keys(name: str) -> None:
    text = templates.read(name)
    assert not human_edited(text)
    assert set(read_properties(text).values) <= OURS
    assert read_properties(text).text("freshness") in article.FRESHNESS_DAYS


def test_the_flashcards_template_shows_each_kind_once_and_every_byte_is_as_the_machine_writes_it() -> None:
    text = templates.read("flashcards.md")
    deck = parse_deck(text, "learning/flashcards/spacing-effect.md")
    assert not deck.diagnostics and [card.kind for card in deck.cards] == list(CardKind)
    for card in deck.cards:
        assert card.id and card.support and not card.human_edited
        assert text[card.start : card.end] + "\n" == render_card(card)


def test_the_flashcards_template_belongs_to_the_concept_template() -> None:
    deck = read_properties(templates.read("flashcards.md"))
    concept = read_properties(templates.read("concept.md"))
    assert deck.text("concept") == concept.text("id")
    assert set(deck.values) == decks.KEYS


def test_the_gaps_template_is_read_whole_and_written_the_same() -> None:
    text = templates.read("gaps.md")
    gaps = parse_agenda(text)
    assert len(gaps) == text.count("^g-") and render_agenda(gaps) == text
    assert {gap.status for gap in gaps} > {GapStatus.OPEN, GapStatus.FILLED, GapStatus.IGNORED}


def test_the_review_queue_template_is_what_three_reviews_of_its_cards_give() -> None:
    def review(day: int, card: str, rating: Rating) -> Review:
        at = datetime(2026, 11, day, 9, 30, tzinfo=UTC)
        return Review(Stamp(f"{day}{card}", at), CardId(card), rating)

    first, second = "h5x0c7k2pm", "k7q2m9xd3f"
    events = [review(18, first, Rating.EASY), review(20, first, Rating.GOOD), review(21, second, Rating.EASY)]
    scheduler = Scheduler(Rules())
    path = "learning/flashcards/spacing-effect.md"
    deck = parse_deck(templates.read("flashcards.md"), path)
    concept = concept_cell("wiki/concepts/spacing-effect.md", label(deck.title))
    rows = [
        Row(card.id, concept, card_cell(path, label(card.question)), card.kind or "") for card in deck.cards if card.id
    ]
    page = render_page(rows, fold(events, scheduler), scheduler, events[-1].at)
    assert page == templates.read("review-queue.md")


def test_a_slide_stands_between_two_rules() -> None:
    slides = body_of(templates.read("slides.md")).split("\n---\n")
    assert len(slides) == 3 and all(slide.lstrip().startswith("#") for slide in slides)


def test_the_insight_template_says_nothing_in_the_humans_name() -> None:
    body = body_of(templates.read("insight.md"))
    assert re.fullmatch(r"\s*%%.*%%\s*", body, re.DOTALL)


@pytest.mark.parametrize(
    ("path", "merge"),
    [
        ("learning/reviews.jsonl", "union"),
        ("learning/reviews-2025.jsonl", "union"),
        ("ledger/ids.jsonl", "union"),
        ("ledger/edits.jsonl", "union"),
        ("learning/anki/notes.jsonl", "union"),
        ("ledger/replies/01M7YQ1WHVB8Y923KQT94BC7Z3.jsonl", "union"),
        ("learning/_review.md", "union"),
        ("learning/gaps.md", "union"),
        ("wiki/_index.md", "union"),
        ("wiki/_log.md", "union"),
        ("wiki/concepts/spacing-effect.md", "unspecified"),
        ("learning/flashcards/spacing-effect.md", "unspecified"),
        ("insights/mine.md", "unspecified"),
    ],
)
def test_git_merges_logs_and_rendered_pages_by_union_and_human_pages_never(
    tmp_path: Path, path: str, merge: str
) -> None:
    assert _attribute(tmp_path, path, "merge") == merge


def test_git_never_converts_the_bytes_of_a_source(tmp_path: Path) -> None:
    assert _attribute(tmp_path, "raw/articles/notes.md", "text") == "unset"


def _attribute(folder: Path, path: str, name: str) -> str:
    subprocess.run(["git", "init", "-q", folder], check=True)
    (folder / ".gitattributes").write_text(templates.read("gitattributes"))
    shown = subprocess.run(
        ["git", "-C", folder, "check-attr", name, path], check=True, capture_output=True, text=True
    ).stdout
    return shown.rsplit(": ", 1)[1].strip()


def test_git_leaves_out_the_cache_and_nothing_that_matters(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text(templates.read("gitignore"))
    kept = ["ledger/ids.jsonl", "learning/reviews.jsonl", "wiki/_index.md", "raw/images/a.png", "retain.toml"]
    asked = [".retain/cache/x", ".retain/locks/publisher.lock", *kept]
    run = subprocess.run(["git", "-C", tmp_path, "check-ignore", *asked], check=False, capture_output=True, text=True)
    assert run.stdout.split() == asked[:2]


def test_the_schema_is_found_beside_the_package_or_in_it() -> None:
    assert templates.read("AGENTS.md").startswith("# AGENTS.md")
