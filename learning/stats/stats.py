"""Figures computed from log, memory states and cards: what `retain stats` and the app's screens show."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from learning.history.day_sums import KNOWN_DAYS, MATURE_DAYS, DaySums, day_sums, week_of
from learning.memory.predictions import Replay, replay
from learning.memory.scheduler import Scheduler
from learning.memory.state import PHASES, UNSEEN, CardEvent, Phase, Remembered
from learning.stats import activity, mastery, retention
from learning.stats.activity import YEAR, Activity, Day, Growth
from learning.stats.mastery import Group, Mastery, Studied, is_known, known_by_week
from learning.stats.planned import planned
from learning.stats.retention import Calibration, RecallWeek, Retention
from vault.ids import CardId
from vault.log.review_columns import ReviewColumns

FORECAST_DAYS = 30
WEEK = 7
WEEKS = 53  # of recall, this one included
SHOWN = 10  # cards and concepts that a list of the worst holds


@dataclass(frozen=True, slots=True)
class Phases:
    """Cards by phase, each in one of the first six; `flagged`, `changed` and `leeches` count across them.

    `young` and `mature` are in review, with less than 21 days planned, or more.
    """

    new: int = 0
    learning: int = 0
    relearning: int = 0
    young: int = 0
    mature: int = 0
    suspended: int = 0  # by the human, or as a leech
    retracted: int = 0  # what they say no longer holds; those in no deck any more, if they were reviewed
    flagged: int = 0
    changed: int = 0
    leeches: int = 0

    @property
    def total(self) -> int:
        """Return all that may be studied."""
        return self.new + self.learning + self.relearning + self.young + self.mature


@dataclass(frozen=True, slots=True)
class Coming:
    """Reviews that are planned for a study day; overdue ones are today's."""

    day: date
    reviews: int


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A card and how often it was not recalled, of so many tries."""

    card: CardId
    concept: str
    title: str
    tries: int
    forgotten: int


@dataclass(frozen=True, slots=True)
class Week:
    """What changed in the last seven study days, today included. The counts of cards are the ledger's.

    `added` cards were made, `met` seen for the first time, `changed` ask for a fact that is another now, `reworded`
    say the same in other words, `retracted` no longer hold. `mastered` are the titles of concepts that became known.
    """

    reviews: int = 0
    added: int = 0
    met: int = 0
    changed: int = 0
    reworded: int = 0
    retracted: int = 0
    new_leeches: int = 0
    forgotten: tuple[Forgotten, ...] = ()
    mastered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CardNews:
    """A ledger event on a card: added, changed, reworded or retracted, at an instant."""

    card: CardId
    what: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Stats:
    """All figures as of `as_of`. `days` is the window of `calibration`; `activity` and growth go back to the start."""

    as_of: datetime
    today: date
    days: int
    desired: float
    phases: Phases
    retention: tuple[Retention, ...]
    calibration: Calibration
    activity: Activity
    growth: tuple[Growth, ...]
    forecast: tuple[Coming, ...]
    concepts: tuple[Mastery, ...]
    topics: tuple[Group, ...]
    tags: tuple[Group, ...]
    leeches: tuple[Forgotten, ...]
    week: Week
    recall: tuple[RecallWeek, ...] = ()  # of the last year, this week the last one
    known: tuple[int, ...] = ()  # cards at the end of each week of `growth`


@dataclass(frozen=True, slots=True)
class Material:
    """What figures are computed from. `states` by card; `topics` name the stems of their concepts.

    `reviews` returns those of some cards, or of all; `due` the cards that fall due before an instant and may be shown,
    with when they do; `sums` those over all reviews, where they are known otherwise than by a replay of all.
    """

    cards: Sequence[Studied]
    reviews: Callable[[Collection[CardId] | None], ReviewColumns]
    states: Mapping[CardId, Remembered]
    topics: Mapping[str, tuple[str, ...]]
    due: Callable[[datetime], Iterable[tuple[CardId, datetime]]] = lambda _: ()
    sums: Callable[[Callable[[], None]], DaySums] | None = None
    news: Sequence[CardNews] = ()
    leech_threshold: int = 0  # lapses; 0 for never
    changes: Sequence[CardEvent] = ()
    paused: Collection[int] = ()  # study days, as ordinals, that do not interrupt a streak
    narrowed: bool = False  # to some of the cards; `states` are of all

    def is_leech(self, state: Remembered) -> bool:
        """Return whether the card was forgotten so often that more reviews of the same kind will not help."""
        return state.leech and not state.retracted


def stats_of(material: Material, scheduler: Scheduler, now: datetime, *, days: int = YEAR) -> Stats:
    """Return the figures at `now`; `days` study days, today included, are the window of the calibration."""
    return with_reviews(stats_of_states(material, scheduler, now, days=days), material, scheduler)


def stats_of_states(material: Material, scheduler: Scheduler, now: datetime, *, days: int = YEAR) -> Stats:
    """Return the figures that need no review: cards, forecast, mastery. The others are empty."""

    today = scheduler.calendar.day(now)
    concepts = mastery.mastery(material.cards, material.states, scheduler.chances(now))
    return Stats(
        as_of=now,
        today=date.fromordinal(today),
        days=days,
        desired=scheduler.rules.retention,
        phases=phases(material),
        retention=(),
        calibration=retention.Calibration(0, None, None, None, None),
        activity=Activity(),
        growth=(),
        forecast=forecast(material, scheduler, now),
        concepts=concepts,
        topics=mastery.grouped(concepts, material.topics),
        tags=mastery.grouped(concepts, mastery.by_tag(material.cards)),
        leeches=(),
        week=Week(),
    )


def with_reviews(
    stats: Stats, material: Material, scheduler: Scheduler, beat: Callable[[], None] = lambda: None
) -> Stats:
    """Return `stats` with what the reviews tell. `beat` as for `replay`."""
    calendar, today = scheduler.calendar, stats.today.toordinal()
    mine = {card.card for card in material.cards}
    if material.sums is not None:
        sums = material.sums(beat)
    else:
        every = material.reviews(mine if material.narrowed else None)
        sums = day_sums(replay(every, scheduler, material.changes, beat), calendar)
    since = today - WEEK + 1
    beat()
    near = {card.card: card for card in _looked_at(material, since)}
    seen = replay(material.reviews(near.keys()), scheduler, material.changes, beat, predicted=False)
    done = activity.activity(sums, today, material.paused)
    growth = activity.growth(done)
    states = ((card, state) for card, state in material.states.items() if card in mine or not material.narrowed)
    known = Counter(week_of(state.last_day) for _, state in states if is_known(state))
    return replace(
        stats,
        activity=done,
        growth=growth,
        retention=retention.true_retention(sums, today),
        calibration=retention.calibration(sums, today - stats.days + 1),
        leeches=leeches(material, near, seen),
        week=week(material, near, seen, done.since(since), (since, calendar.start(since)), stats.concepts),
        recall=retention.weekly(sums, today, WEEKS),
        known=known_by_week(sums, growth, known),
    )


def _looked_at(material: Material, since: int) -> Iterator[Studied]:
    """Yield the cards whose reviews are looked at one by one: leeches, and those reviewed on `since` or later."""
    for card in material.cards:
        state = material.states.get(card.card)
        if state is not None and (state.last_day >= since or material.is_leech(state)):
            yield card


def phases(material: Material) -> Phases:
    """Return the cards counted by phase."""
    names: Counter[str] = Counter()
    flagged = changed = leeches = 0
    for card in material.cards:
        state = material.states.get(card.card, UNSEEN)
        names[_phase_name(state)] += 1
        if not state.retracted:
            flagged += state.flagged
            changed += state.changed
            leeches += material.is_leech(state)
    if not material.narrowed:  # of what stands in no deck any more, nobody here knows concept and tags
        here = {card.card for card in material.cards}
        names["retracted"] += sum(s.retracted and s.reps > 0 and c not in here for c, s in material.states.items())
    return Phases(**names, flagged=flagged, changed=changed, leeches=leeches)


def _phase_name(state: Remembered) -> str:
    """Return the field of Phases in which a card counts."""
    if state.retracted or state.suspended:
        return "retracted" if state.retracted else "suspended"
    if state.phase is Phase.REVIEW:
        return "mature" if state.interval_days >= MATURE_DAYS else "young"
    return str(state.phase)


def forecast(material: Material, scheduler: Scheduler, now: datetime) -> tuple[Coming, ...]:
    """Return what is planned for each of the coming days, today's first; reviews that follow from these are not
    counted.
    """
    calendar, today = scheduler.calendar, scheduler.calendar.day(now)
    due = (at for _, at in material.due(calendar.start(today + FORECAST_DAYS)))
    count = planned(due, calendar, today, FORECAST_DAYS, material.paused)
    return tuple(Coming(date.fromordinal(today + n), reviews) for n, reviews in enumerate(count))


def leeches(material: Material, near: Mapping[CardId, Studied], seen: Replay) -> tuple[Forgotten, ...]:
    """Return the cards that keep being forgotten despite many reviews, the most forgotten first."""
    wanted = {id_: card for id_, card in near.items() if material.is_leech(material.states[id_])}
    return _forgotten(wanted, seen, 0) if wanted else ()


def _forgotten(cards: Mapping[CardId, Studied], seen: Replay, since: int) -> tuple[Forgotten, ...]:
    """Return those of `cards` that failed on study day `since` or later, by how often; a card counts once a day."""
    tries: dict[int, list[int]] = {}
    for row in seen.tried():
        if seen.day[row] >= since:
            one = tries.setdefault(seen.columns.card[row], [0, 0])
            one[0] += 1
            one[1] += seen.columns.rating[row] == 1
    out = []
    for number, (tried, failed) in tries.items():
        card = cards.get(seen.columns.cards[number])
        if card is not None and failed:
            out.append(Forgotten(card.card, card.concept, card.title, tried, failed))
    return tuple(sorted(out, key=lambda f: (-f.forgotten, -f.forgotten / f.tries, f.title.casefold(), f.card)))


def week(
    material: Material,
    near: Mapping[CardId, Studied],
    seen: Replay,
    days: Sequence[Day],
    begin: tuple[int, datetime],
    concepts: Iterable[Mastery],
) -> Week:
    """Return what is new on these days; `near` has the cards reviewed on them, `begin` says when the first began."""
    since, start = begin
    news = Counter(what for _, what in {(n.card, n.what) for n in material.news if n.at >= start})
    before = {card: one for card, one in _before(seen, since).items() if card in near}
    return Week(
        reviews=sum(day.reviews for day in days),
        added=news["added"],
        met=sum(day.new for day in days),
        changed=news["changed"],
        reworded=news["reworded"],
        retracted=news["retracted"],
        new_leeches=sum(_is_new_leech(material, card, one) for card, one in before.items()),
        forgotten=_forgotten(near, seen, since)[:SHOWN],
        mastered=_mastered({near[card].concept for card, one in before.items() if not one.known}, concepts),
    )


@dataclass(frozen=True, slots=True)
class _Before:
    """A card when the week began: whether it was known, and how often it lapsed since."""

    known: bool
    lapsed: int


def _before(seen: Replay, since: int) -> dict[CardId, _Before]:
    """Return the cards that were reviewed since."""

    in_review = PHASES.index(Phase.REVIEW)
    found: dict[CardId, _Before] = {}
    for row in range(bisect_left(seen.day, since), len(seen.day)):
        card = seen.columns.cards[seen.columns.card[row]]
        reviewed = seen.phase[row] == in_review
        one = found.get(card) or _Before(reviewed and seen.stability[row] >= KNOWN_DAYS, 0)
        found[card] = _Before(one.known, one.lapsed + (reviewed and seen.columns.rating[row] == 1))
    return found


def _is_new_leech(material: Material, card: CardId, before: _Before) -> bool:
    """Return whether the card became a leech since."""
    state = material.states[card]
    return material.is_leech(state) and state.lapses - before.lapsed < material.leech_threshold


def _mastered(gained: Collection[str], concepts: Iterable[Mastery]) -> tuple[str, ...]:
    """Return the titles of the concepts that are known now, among those with a card that was not."""
    return tuple(sorted((c.title for c in concepts if c.known and c.concept in gained), key=str.casefold))
