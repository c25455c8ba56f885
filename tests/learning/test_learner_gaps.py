"""Learner gaps: the likely cause by rules that name their numbers, on a page that any command gives back."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.cards.gaps import LACKS_DEFINITION
from compiler.cards.gaps import learner_gaps as copied_gaps
from learning.agenda.gap_decisions import Decision, decide, read_agenda
from learning.agenda.gap_rules import (
    LONG_WORDS,
    CardRecord,
    Cause,
    Need,
    Subject,
    Trial,
    Twin,
    as_gap,
    cause_of,
    diagnose,
    gap_id,
    is_in_trouble,
    most_pressing,
)
from learning.agenda.learner_gaps import learner_gaps, save_learner_gaps
from learning.cards.workspace import read_desk
from vault.errors import NotFound
from vault.files.guard import Scope
from vault.ids import CardId, GapId
from vault.layout import GAPS
from vault.log import ledger
from vault.log.events import CardMark, Flag, LogEvent, Rating, Resume, Review, Stamp, Suspend
from vault.log.review_log import append
from vault.model.gaps import Gap, GapKind, GapStatus, open_gap_counts, parse_agenda, render_agenda
from vault.vault import Vault

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
SOUND = "[[wiki/concepts/x|X]]"


def record(card: str, tries: int, forgotten: int, chance: float = 0.9, **more: object) -> CardRecord:
    trials = tuple(Trial(n, n >= forgotten, chance) for n in range(tries))
    return replace(CardRecord(CardId(card), trials, 10), **more)  # type: ignore[arg-type]


def subject(*cards: CardRecord, **more: object) -> Subject:
    rich = {"sentences": 12, "sources": 3, "confidence": "high"} | more
    return Subject("k3v9m2x7ad", "X", SOUND, cards, **rich)  # type: ignore[arg-type]


def test_trouble_begins_with_three_times_and_twice_what_is_allowed() -> None:
    assert not is_in_trouble(subject(record("a", 2, 2)))
    assert is_in_trouble(subject(record("a", 3, 3)))
    assert is_in_trouble(subject(record("a", 15, 3)))
    assert not is_in_trouble(subject(record("a", 16, 3)))
    assert not is_in_trouble(subject(record("a", 15, 3), wanted=0.85))
    assert is_in_trouble(subject(record("a", 9, 1, leech=True)))


def test_what_was_forgotten_long_ago_and_recalled_since_is_over() -> None:
    old = replace(record("a", 5, 5), trials=tuple(Trial(n, False, 0.9, False) for n in range(5)))
    assert not is_in_trouble(subject(old))
    assert not is_in_trouble(subject(replace(old, leech=True)))
    assert is_in_trouble(subject(old, record("b", 1, 1)))


TWIN = Twin(CardId("zzzzzzzzzz"), "Z", "question", "[[learning/flashcards/z|Z]]")
CAUSES = [
    (subject(record("a", 5, 4, flagged=True, reason="two answers")), Cause.BAD_CARD, "flagged card a (two answers)"),
    (
        subject(record("a", 5, 4, twin=TWIN)),
        Cause.BAD_CARD,
        "its question is almost the same as that of card zzzzzzzzzz (Z)",
    ),
    (subject(record("a", 5, 4, words=LONG_WORDS + 1)), Cause.BAD_CARD, "its answer is 61 words long"),
    (
        subject(record("a", 6, 5, 0.8), record("b", 10, 0)),
        Cause.BAD_CARD,
        "forgotten 5 of 6 times (1.2 predicted), while the concept's other cards were recalled 10 of 10 times",
    ),
    (subject(record("a", 5, 4), has_article=False), Cause.MISSING_SOURCE, "no article"),
    (
        subject(record("a", 5, 4), needs=(Need("Y", "[[y|Y]]", False, 0, 0),)),
        Cause.MISSING_SOURCE,
        "it builds on Y, which has no article",
    ),
    (subject(record("a", 5, 4), unexplained=("Y", "Z")), Cause.MISSING_SOURCE, "relies on Y and 1 more"),
    (subject(record("a", 5, 4), sentences=2), Cause.SHORT_ARTICLE, "2 sentences from 3 sources, with high confidence"),
    (subject(record("a", 5, 4), sentences=4, sources=1, confidence="low"), Cause.SHORT_ARTICLE, "with low confidence"),
    (
        subject(record("a", 5, 4), lacks=(("nothing says what it is", "a source that explains it"),)),
        Cause.MISSING_SOURCE,
        "no sentence says what it is, so you are learning it by rote",
    ),
    (
        subject(record("a", 5, 4), needs=(Need("Y", "[[y|Y]]", True, 3, 1),)),
        Cause.LAPSE,
        "but you know only 1 of the 3 cards on Y, which it builds on",
    ),
    (
        subject(record("a", 5, 4, leech=True)),
        Cause.LAPSE,
        "card a, a leech, was forgotten 4 of 5 times (0.5 predicted)",
    ),
]


@pytest.mark.parametrize(("given_", "cause", "words"), CAUSES, ids=[f"{c}-{n}" for n, (_, c, _) in enumerate(CAUSES)])
def test_each_cause_is_named_with_its_evidence(given_: Subject, cause: Cause, words: str) -> None:
    found = diagnose(given_)
    assert found.cause is cause
    assert words in found.why
    assert found.todo
    gap = as_gap(given_)
    assert (gap.kind, gap.id, cause_of(gap)) == (GapKind.LEARNER, gap_id("k3v9m2x7ad"), cause)
    assert parse_agenda(render_agenda([gap])) == [replace(gap, line=gap_line(gap))]


def test_the_cause_in_a_gap_of_an_earlier_version_is_recognized() -> None:
    gap = as_gap(subject(record("a", 5, 4), sentences=2))
    former = replace(gap, missing=gap.missing.replace("short article", "thin article"))
    assert cause_of(former) == cause_of(gap) == "short article"


def gap_line(gap: Gap) -> int:
    return next(n for n, line in enumerate(render_agenda([gap]).split("\n"), 1) if line.endswith(f"^g-{gap.id}"))


def test_a_card_that_fails_with_all_the_others_is_not_to_blame() -> None:
    assert diagnose(subject(record("a", 6, 5, 0.8), record("b", 6, 4, 0.8))).cause is Cause.LAPSE
    assert diagnose(subject(record("a", 6, 5, 0.3), record("b", 10, 0))).cause is Cause.LAPSE  # as was predicted


def test_what_counts_as_a_basic_lack_is_what_the_compiler_says() -> None:
    for lack in (LACKS_DEFINITION, ("nothing says what it is", "a source that defines it")):  # now and in older vaults
        found = diagnose(replace(subject(record("a", 6, 5, 0.8), record("b", 6, 4, 0.8)), lacks=(lack,)))
        assert found.cause is Cause.MISSING_SOURCE and found.todo == "add a source that defines it"


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.text("ab ", max_size=3)), max_size=8), st.randoms())
def test_the_order_does_not_hang_on_the_order_of_finding(drawn: list[tuple[int, int, str]], chance: object) -> None:
    found = [
        replace(subject(record("a", tries, min(tries, bad))), title=title, concept=f"{n:010}")
        for n, (tries, bad, title) in enumerate(drawn)
    ]
    mixed = list(found)
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    assert most_pressing(found) == most_pressing(mixed)


# --- on the page of a vault -------------------------------------------------------------------------------------------


def put(vault: Vault, *events: LogEvent) -> None:
    append(vault.guard(Scope.LOG), *events)


def reviews(card: str, ratings: Sequence[int], *, start: datetime = NOW, apart: int = 4, mark: int = 0) -> list[Review]:
    """A review every so many days that ends at `start`."""
    first = start - timedelta(days=apart * (len(ratings) - 1))
    return [
        Review(Stamp(f"{card}{mark}{n:015}", first + timedelta(days=apart * n)), CardId(card), Rating(rating))
        for n, rating in enumerate(ratings)
    ]


BAD = (3, 1, 1, 1, 1)


def shown(vault: Vault) -> list[Gap]:
    return [gap for gap in read_agenda(vault) if gap.kind is GapKind.LEARNER]


def test_a_forgotten_concept_comes_on_the_agenda_and_leaves_it_when_it_is_recalled(vault: Vault) -> None:
    save_learner_gaps(read_desk(vault), NOW)
    assert not (vault.root / GAPS).exists()
    put(vault, *reviews("aaaaaaaaa1", BAD))
    save_learner_gaps(read_desk(vault), NOW)
    (gap,) = shown(vault)
    assert (gap.what, gap.id) == ("Spacing effect", gap_id("k3v9m2x7ad"))
    assert gap.missing.startswith("forgotten 4 of 4 times in 90 days; likely a short article: its article has 0 sent")
    assert open_gap_counts((vault.root / GAPS).read_text())["learner"] == 1
    put(vault, *reviews("aaaaaaaaa1", [3] * 12, start=NOW + timedelta(days=120), apart=8, mark=1))
    save_learner_gaps(read_desk(vault), NOW)
    assert shown(vault) == []


def test_the_page_is_the_same_bytes_however_it_came_to_be(vault: Vault) -> None:
    wiki = [
        Gap(GapId("aaaaaaaaaa"), GapKind.STRUCTURAL, "Massing", "named in 2 sources", "a source", ("[[wiki/x|X]]",)),
        Gap(GapId("bbbbbbbbbb"), GapKind.EPISTEMIC, "Y", "nothing says", "a source", (), GapStatus.RESOLVED),
    ]
    page = vault.root / GAPS
    put(vault, *reviews("aaaaaaaaa1", BAD), *reviews("bbbbbbbbb1", BAD))
    page.write_text(render_agenda(wiki))
    save_learner_gaps(read_desk(vault), NOW)
    once = page.read_bytes()
    save_learner_gaps(read_desk(vault), NOW + timedelta(days=400))
    assert page.read_bytes() == once
    carried = [*wiki, *copied_gaps(once.decode(), {})]  # what a build makes of it
    assert render_agenda(carried).encode() == once
    page.write_text(render_agenda(wiki))
    save_learner_gaps(read_desk(vault), NOW)
    assert page.read_bytes() == once


def test_ticks_and_decisions_survive_and_only_new_forgetting_reopens(vault: Vault) -> None:
    put(vault, *reviews("aaaaaaaaa1", BAD), *reviews("bbbbbbbbb1", BAD))
    save_learner_gaps(read_desk(vault), NOW)
    spacing, mixing = (
        next(g.id for g in shown(vault) if g.what == what) for what in ("Spacing effect", "Interleaving")
    )
    decide(vault, mixing, Decision.IGNORE, NOW)
    page = vault.root / GAPS
    page.write_text(page.read_text().replace("- [ ] **Spacing effect**", "- [x] **Spacing effect**"))
    save_learner_gaps(read_desk(vault), NOW + timedelta(hours=1))
    assert {g.what: g.status for g in shown(vault)} == {
        "Spacing effect": GapStatus.RESOLVED,
        "Interleaving": GapStatus.IGNORED,
    }
    ticks = [e for e in vault.ledger_events(ledger.DECISIONS)[0] if e["via"] == "tick"]
    assert [(e["gap"], e["decision"]) for e in ticks] == [(spacing, "resolve")]
    later = NOW + timedelta(days=20)
    put(
        vault,
        *reviews("aaaaaaaaa1", [1, 1], start=later, mark=1),
        *reviews("bbbbbbbbb1", [1, 1, 1], start=later, mark=1),
    )
    save_learner_gaps(read_desk(vault), later)
    assert not any(gap.open for gap in shown(vault))  # twice is not enough, and what is ignored stays so
    put(vault, *reviews("aaaaaaaaa1", [1], start=later + timedelta(days=3), mark=2))
    save_learner_gaps(read_desk(vault), later)
    again = next(g for g in shown(vault) if g.what == "Spacing effect")
    assert again.status is GapStatus.OPEN
    assert again.missing.startswith("forgotten 3 of 3 times")


def test_what_the_human_suspended_is_no_gap_and_what_was_flagged_is_a_bad_card(vault: Vault) -> None:
    put(vault, *reviews("aaaaaaaaa1", BAD))
    at = NOW + timedelta(hours=1)
    put(vault, Flag(Stamp("0" * 26, at), CardId("aaaaaaaaa1"), "what [[kind]] of ^effect?"))
    save_learner_gaps(read_desk(vault), NOW)
    (gap,) = shown(vault)
    assert cause_of(gap) == "bad card"
    assert "what [[kind]] of ^effect?" in gap.missing
    mark: CardMark = Suspend(Stamp("1" * 26, at), CardId("aaaaaaaaa1"))
    put(vault, mark)
    assert learner_gaps(read_desk(vault), []) == []
    put(vault, Resume(Stamp("2" * 26, at + timedelta(hours=1)), CardId("aaaaaaaaa1")))
    assert learner_gaps(read_desk(vault), []) == [replace(gap, line=0)]


def test_two_cards_that_ask_nearly_the_same_are_told_apart_by_their_ids(vault: Vault) -> None:
    deck = vault.root / "learning/flashcards/massing.md"
    deck.write_text(
        "# Massing\n\nQ: Why does massed spacing work at all in class?\nA: It does not.\n<!-- card ccccccccc1 -->\n\n"
        "Q: Why does massed spacing work at all in school?\nA: It seems so.\n<!-- card ccccccccc2 -->\n"
    )
    put(vault, *reviews("ccccccccc1", BAD), *reviews("ccccccccc2", [3, 3]))
    (gap,) = learner_gaps(read_desk(vault), [])
    assert cause_of(gap) == "bad card"
    assert "its question is almost the same as that of card ccccccccc2 (Massing)" in gap.missing


def test_gaps_of_the_wiki_around_a_concept_are_its_missing_sources(vault: Vault) -> None:
    (vault.root / "wiki/concepts/spacing-effect.md").write_text(
        "---\ntype: concept\nconfidence: medium\nsources:\n  - a\n---\n\n# S\n\n" + "It holds. " * 9 + "\n"
    )
    link = "[[wiki/concepts/spacing-effect|Spacing effect]]"
    lean = Gap(GapId("aaaaaaaaaa"), GapKind.STRUCTURAL, "Massing", "named", "a source", (link,))
    put(vault, *reviews("aaaaaaaaa1", BAD), *reviews("bbbbbbbbb1", [3, 3]))
    (gap,) = learner_gaps(read_desk(vault), [lean])
    assert (cause_of(gap), gap.fill) == ("missing source", "add a source that explains Massing")
    (gap,) = learner_gaps(read_desk(vault), [replace(lean, status=GapStatus.IGNORED)])
    assert cause_of(gap) == "short article"  # a paragraph without citations is one sentence
    assert gap.mentions == (link,)


def test_an_article_that_cannot_be_read_is_not_blamed(vault: Vault) -> None:
    (vault.root / "wiki/concepts/spacing-effect.md").write_bytes(b"\xff\xfe")
    put(vault, *reviews("aaaaaaaaa1", BAD))
    (gap,) = learner_gaps(read_desk(vault), [])
    assert cause_of(gap) == "lapse"
    assert gap.missing.endswith("its cards are fine, but its article cannot be read")


def test_a_learners_gap_is_found_by_its_id_like_any_other(vault: Vault, tmp_path: Path) -> None:
    put(vault, *reviews("aaaaaaaaa1", BAD))
    save_learner_gaps(read_desk(vault), NOW)
    id_ = gap_id("k3v9m2x7ad")
    assert decide(vault, id_[:5], Decision.PLAN, NOW).status is GapStatus.PLANNED
    save_learner_gaps(read_desk(vault), NOW)
    assert [g.status for g in shown(vault)] == [GapStatus.PLANNED]
    with pytest.raises(NotFound):
        decide(vault, "zzzzz", Decision.PLAN, NOW)
