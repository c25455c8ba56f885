"""Practice shows every card until it is recalled, can be taken back, and leaves no byte on the disk."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from learning.cards.workspace import open_desk, rate
from learning.memory.state import Phase
from learning.review import practice as practices
from learning.review.plan import Mode, Plan, plan_of, planned_desk
from learning.review.practice import BETWEEN, Practice
from learning.review.practice_session import PracticeSession
from learning.review.study_session import StudySession
from vault.errors import NotFound, UsageError
from vault.ids import CardId
from vault.log.events import Rating, Review
from vault.log.review_log import read_log
from vault.vault import Vault

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
CARDS = st.lists(st.integers(0, 30).map(lambda n: CardId(f"c{n:09}")), max_size=25)


class PracticeAgainstAList(RuleBasedStateMachine):
    """The naive half has the cards in one list, the first of it on the table, and copies it before each rating."""

    @initialize(cards=CARDS, until=st.booleans())
    def begin(self, cards: list[CardId], until: bool) -> None:
        self.practice = practices.begin(cards, until_recalled=until)
        self.list, self.until = list(dict.fromkeys(cards)), until
        self.before: list[list[CardId]] = []

    @precondition(lambda self: self.list)
    @rule(rating=st.sampled_from(Rating))
    def rate(self, rating: Rating) -> None:
        self.before.append(list(self.list))
        self.practice = practices.rate(practices.reveal(self.practice), rating)
        card, *self.list = self.list
        if self.until and rating is Rating.AGAIN:
            self.list.insert(BETWEEN, card)

    @rule()
    def undo(self) -> None:
        if not self.before:
            with pytest.raises(NotFound):
                practices.undo(self.practice)
            return
        self.practice, recall = practices.undo(self.practice)
        self.list = self.before.pop()
        assert recall.card == self.list[0] and not self.practice.revealed

    @precondition(lambda self: self.list)
    @rule()
    def drop(self) -> None:
        self.practice = practices.drop(self.practice)
        self.list = self.list[1:]

    @invariant()
    def both_hold_the_same_cards(self) -> None:
        table = [] if self.practice.current is None else [self.practice.current]
        assert [*table, *self.practice.rest] == self.list
        assert self.practice.left == len(self.list)


TestPracticeAgainstAList = PracticeAgainstAList.TestCase
TestPracticeAgainstAList.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


@given(CARDS)
def test_a_practice_ends_when_each_card_was_recalled(cards: list[CardId]) -> None:
    practice, shown = practices.begin(cards, until_recalled=True), 0
    while practice.current is not None:
        shown += 1
        practice = practices.rate(practices.reveal(practice), Rating.AGAIN if shown % 3 == 0 else Rating.GOOD)
        assert shown < 200
    assert practice.recalled == len(set(cards))


def test_no_rating_before_the_answer_and_nothing_to_undo_at_the_beginning() -> None:
    practice = practices.begin([CardId("a")], until_recalled=True)
    with pytest.raises(UsageError):
        practices.rate(practice, Rating.GOOD)
    with pytest.raises(NotFound):
        practices.undo(practice)
    with pytest.raises(UsageError):
        practices.reveal(Practice((), until_recalled=True))


def files(root: Path) -> dict[str, bytes]:
    """Every file that is no cache."""
    found = (path for path in root.rglob("*") if path.is_file() and ".retain" not in path.parts)
    return {str(path): path.read_bytes() for path in found}


@pytest.mark.parametrize("mode", [Mode.CRAM, Mode.PREVIEW])
def test_practice_leaves_every_byte_as_it_was(vault: Vault, mode: Mode) -> None:
    rate(open_desk(vault, NOON - timedelta(days=3)), next(iter(open_desk(vault, NOON).cards)), Rating.GOOD, via="cli")
    before = files(vault.root)
    practising = PracticeSession.at(vault, lambda: NOON, Plan(mode))
    assert practising.left
    ratings = [Rating.AGAIN, Rating.EASY, Rating.GOOD]
    for number in range(200):
        if practising.table() is None:
            break
        assert practising.reveal() and practising.revealed
        practising.rate(ratings[number % 3])
        if number % 5 == 0:
            practising.undo()
    assert practising.table() is None and not practising.left
    assert practising.done_so_far().rated and practising.state(CardId("none")).phase is Phase.NEW
    assert files(vault.root) == before


@given(
    st.sampled_from(Mode),
    st.integers(0, 9999),
    st.integers(1, 9999),
    st.text(st.characters(categories=["L", "N", "P", "Zs"])),
)
def test_a_plan_is_what_its_text_says(mode: Mode, limit: int, days: int, tag: str) -> None:
    plan = Plan(mode, " ".join(tag.split()), limit, days if mode is Mode.AHEAD else 0)
    assert plan_of(str(plan)) == plan


@pytest.mark.parametrize(
    "text",
    ["x", "cram ", "cram limit:", "cram limit:-1", "ahead", "cram days:2", "review limit:99999", "CRAM", " cram"],
)
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        plan_of(text)


def test_a_preview_has_new_cards_alone_and_a_cram_all_of_them_the_most_nearly_forgotten_first(vault: Vault) -> None:
    cards = list(open_desk(vault, NOON).cards)
    for days, card in ((9, cards[1]), (2, cards[0])):
        rate(open_desk(vault, NOON - timedelta(days=days)), card, Rating.EASY, via="cli")
    desk = open_desk(vault, NOON)
    previewed = [item.card for item in planned_desk(desk, Plan(Mode.PREVIEW)).queue.today]
    assert set(previewed) == set(cards) - set(cards[:2])
    crammed = [item.card for item in planned_desk(desk, Plan(Mode.CRAM)).queue.today]
    assert set(crammed) == set(cards) and crammed[0] == cards[1]
    assert len(planned_desk(desk, Plan(Mode.CRAM, limit=2)).queue.today) == 2


def test_learning_ahead_schedules_with_the_time_that_has_passed(vault: Vault) -> None:
    card = next(iter(open_desk(vault, NOON).cards))
    desk, _ = rate(open_desk(vault, NOON), card, Rating.EASY, via="cli")
    days = desk.state(card).interval_days
    later = NOON + timedelta(days=2)
    soon = [item.card for item in planned_desk(open_desk(vault, later), Plan(Mode.AHEAD, days=1)).queue.today]
    assert card not in soon
    study_session = StudySession.at(vault, lambda: later, None, plan=Plan(Mode.AHEAD, days=days))
    assert [item.card for item in study_session.desk.queue.today] == [card]
    assert study_session.table() is not None and study_session.reveal()
    before = study_session.state(card)
    study_session.rate(Rating.GOOD)
    assert study_session.state(card) == study_session.desk.scheduler.review(card, before, Rating.GOOD, later)
    assert [type(event) for event in read_log(vault.root).events] == [Review, Review]


def test_a_limit_holds_for_the_whole_sitting_whatever_others_write_meanwhile(vault: Vault) -> None:
    study_session = StudySession.at(vault, lambda: NOON, None, plan=Plan(limit=2))
    assert study_session.left == 2
    assert study_session.table() is not None and study_session.reveal()
    study_session.rate(Rating.EASY)
    elsewhere = next(c for c in study_session.desk.cards if c not in set(study_session.session.to_come()))
    rate(open_desk(vault, NOON), elsewhere, Rating.EASY, via="cli")
    assert study_session.table() is not None
    assert study_session.left == 1


def test_a_topic_holds_the_cards_of_its_concepts_and_one_that_is_not_there_is_named(vault: Vault) -> None:
    desk = open_desk(vault, NOON)
    stem = next(iter(desk.cards.values())).concept
    (vault.root / "wiki/topics").mkdir(exist_ok=True)
    page = f"# The topic\n\n- [[wiki/concepts/{stem}|It]]\n"
    (vault.root / "wiki/topics/the-topic.md").write_text(page, encoding="utf-8")
    found = planned_desk(open_desk(vault, NOON, tag="topic:The topic"), Plan(Mode.CRAM, "topic:The topic")).queue.today
    assert {desk.cards[item.card].concept for item in found} == {stem}
    with pytest.raises(NotFound, match="no topic"):
        open_desk(vault, NOON, tag="topic:Another")
