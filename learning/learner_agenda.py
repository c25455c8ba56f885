"""The learner's part of `learning/gaps.md`: gathered from log, cards and wiki as of the last event, and written there.

The other parts of that page are the compiler's, which carries this one over as it stands.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from learning.desk import Desk, Placed, last_event, prerequisites
from learning.learner_gaps import (
    MANY,
    RECENT,
    WINDOW,
    CardRecord,
    Need,
    Subject,
    Trial,
    Twin,
    as_gap,
    gap_id,
    is_in_trouble,
    most_pressing,
)
from learning.mastery import is_known
from learning.near_copy import tokens
from learning.placed import concept_of
from learning.promotion import concept_of as named_by
from learning.promotion import decisions_of, short
from learning.replay import only, replay
from vault import ledger
from vault.agenda import Gap, GapKind, GapStatus, parse_agenda, render_agenda
from vault.agent_run import at_work
from vault.article import sentences
from vault.clean import clean_line
from vault.errors import Damaged, EditedMeanwhile, Refused
from vault.guard import Scope, sha256_hex
from vault.ids import CardId, GapId
from vault.ledger import Event
from vault.log_event import Flag, LogEvent, Resume, Suspend
from vault.log_scan import ScannedLog
from vault.markdown import unescape
from vault.note import read_properties
from vault.review_columns import ReviewColumns
from vault.store import CONCEPTS, GAPS, Vault
from vault.wikilink import links, note_link

MOST = 50  # subjects on the agenda: more would be read by nobody
ALIKE = 0.8  # of the words of two questions or answers, which are then nearly the same
CROWD = 200  # cards
LEAST_WORDS = 4  # of a question or answer; anything shorter is like too much
_REASON = 80  # characters
_TRIES = 5  # an editor or another command may save the page just then
_STATUS = {"resolve": GapStatus.RESOLVED, "ignore": GapStatus.IGNORED, "plan": GapStatus.PLANNED}


def save_learner_gaps(desk: Desk, now: datetime) -> None:
    """Brings the learner's part of the agenda up to date, the human's ticks on it taken into the ledger first.

    `now` dates only the ticks. While the work of an agent is not settled the page is left alone: a tick may be the
    agent's. Raises: WriteFailed, Refused.
    """
    guard = desk.vault.guard(Scope.LOG)
    for last_try in (*[False] * (_TRIES - 1), True):
        old = guard.read(GAPS)
        if at_work(desk.vault):  # asked after the reading, as for the promotion queue
            return
        page = parse_agenda((old or b"").decode("utf-8", "replace"))
        before = [replace(gap, line=0) for gap in page if gap.kind is GapKind.LEARNER]
        others = [gap for gap in page if gap.kind is not GapKind.LEARNER]
        after = learner_gaps(desk, others, _with_ticks(desk.vault, before, now))
        if before == after:
            return
        try:
            text = render_agenda([*others, *after]).encode()
            guard.write(GAPS, text, expect=None if old is None else sha256_hex(old))
        except EditedMeanwhile:
            if last_try:
                raise
        else:
            return


def _with_ticks(vault: Vault, before: Iterable[Gap], now: datetime) -> list[Event]:
    """The decisions in the ledger, once the ticks of the page are among them."""
    decided = decisions_of(vault)
    ticked = [gap for gap in before if gap.open and gap.ticked]
    if not ticked:
        return decided
    at = ledger.after(decided, now)
    events: list[Event] = [
        {"v": 1, "type": "gap", "gap": gap.id, "decision": "resolve", "at": at, "via": "tick"} for gap in ticked
    ]
    vault.guard(Scope.LOG).append(ledger.DECISIONS, b"".join(map(ledger.encode, events)))
    return [*decided, *events]


def learner_gaps(desk: Desk, others: Sequence[Gap], decided: Iterable[Event] = ()) -> list[Gap]:
    """The learner's gaps as of the last event, the most pressing first. `others` are the gaps of the wiki.

    What the human resolved comes back when it is forgotten anew; what is ignored does not.
    """
    decisions = _decisions(decided)
    gaps = []
    for subject in _subjects(desk, others):
        status, at_ms = decisions.get(gap_id(subject.concept), (GapStatus.OPEN, 0))
        if status is GapStatus.RESOLVED and is_in_trouble(again := _since(subject, at_ms)):
            gaps.append(as_gap(again))
        else:
            gaps.append(replace(as_gap(subject), status=status))
    return sorted(gaps, key=lambda gap: not gap.open)  # as the page has them


def _decisions(decided: Iterable[Event]) -> dict[GapId, tuple[GapStatus, int]]:
    """The last decision on each gap and when it was made, in Unix milliseconds; "reopen" takes one back."""
    out: dict[GapId, tuple[GapStatus, int]] = {}
    for event in ledger.ordered(e for e in decided if e.get("type") == "gap"):
        gap, decision = GapId(str(event.get("gap"))), str(event.get("decision"))
        if decision in _STATUS:
            out[gap] = (_STATUS[decision], _ms(ledger.parse_instant(str(event["at"]))))
        elif decision == "reopen":
            out.pop(gap, None)
    return out


def _since(subject: Subject, at_ms: int) -> Subject:
    """`subject` with the trials that came after that instant alone."""
    return replace(
        subject,
        cards=tuple(replace(c, trials=tuple(t for t in c.trials if t.at_ms > at_ms)) for c in subject.cards),
    )


def _ms(at: datetime) -> int:
    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


# --- gathering --------------------------------------------------------------------------------------------------------


def _subjects(desk: Desk, others: Sequence[Gap]) -> list[Subject]:
    """The concepts in trouble, the most pressing first, with all that the rules look at."""
    last = last_event(desk)
    if last is None:
        return []
    calendar = desk.scheduler.calendar
    start, recent = (_ms(calendar.start(calendar.day(last) - days + 1)) for days in (WINDOW, RECENT))
    log = desk.past.scanned()
    cards = _candidates(desk, log.reviews, start)
    if not cards:
        return []
    gathered = _Gathered(desk, others, log, (start, recent), [placed for mine in cards.values() for placed in mine])
    found = {s.concept: (s, mine) for mine in cards.values() if (s := gathered.subject(mine)) and is_in_trouble(s)}
    worst = most_pressing([subject for subject, _ in found.values()])[:MOST]
    return [gathered.completed(*found[subject.concept]) for subject in worst]


def _rows_since(columns: ReviewColumns, start: int) -> Iterator[int]:
    """The reviews that happened at `start` (Unix milliseconds) or later."""
    rows, clocks = range(bisect_left(columns.at_ms, start), len(columns)), columns.clocks
    return (row for row in rows if clocks.get(row, start) >= start)


def _candidates(desk: Desk, columns: ReviewColumns, start: int) -> dict[str, list[Placed]]:
    """By concept the cards of those that were not recalled often enough since `start` to be looked at."""
    failed: Counter[int] = Counter()
    for row in _rows_since(columns, start):
        if columns.rating[row] == 1:
            failed[columns.card[row]] += 1
    by_concept: Counter[str] = Counter()
    for number, times in failed.items():
        card = columns.cards[number]
        if card in desk.cards:
            concept = concept_of(desk.place(card).path)
            by_concept[concept] += max(times, MANY) if desk.state(card).leech else times
    wanted = {concept for concept, times in by_concept.items() if times >= MANY}
    out: dict[str, list[Placed]] = {}
    for card in desk.cards if wanted else ():
        concept = concept_of(desk.place(card).path)
        if concept in wanted and (placed := desk.cards.get(card)) is not None:
            out.setdefault(concept, []).append(placed)
    return out


@dataclass(slots=True)
class _Marks:
    """What the human said of the cards: why they were flagged, and which were suspended and not resumed."""

    flags: dict[CardId, str]
    suspended: set[CardId]


def _marks(events: Iterable[LogEvent], cards: Collection[CardId]) -> _Marks:
    marks = _Marks({}, set())
    for event in events:
        if isinstance(event, Flag) and event.card in cards:
            marks.flags[event.card] = event.reason
        elif isinstance(event, Suspend) and event.card in cards:
            marks.suspended.add(event.card)
        elif isinstance(event, Resume):
            marks.suspended.discard(event.card)
    return marks


class _Gathered:
    """What the subjects have in common, read once. `since`: where the window begins, and where its latest part does."""

    def __init__(
        self,
        desk: Desk,
        others: Sequence[Gap],
        log: ScannedLog,
        since: tuple[int, int],
        cards: Sequence[Placed],
    ) -> None:
        self.desk = desk
        ids = {placed.id for placed in cards}
        self.marks = _marks(log.others, ids)
        self.trials = _trials(desk, only(log.reviews, ids), *since)
        self.twins = _Twins(desk, log.reviews, since[0])
        self.needs = prerequisites(desk.vault.read_bytes("wiki/_graph.md") or b"")
        self.articles = frozenset(desk.vault.paths(CONCEPTS, ".md"))
        self.gaps: dict[str, list[Gap]] = defaultdict(list)  # by the article that they mention
        for gap in others:
            for link in links(" ".join(gap.mentions)) if gap.open else ():
                self.gaps[f"{link.target}.md"].append(gap)
        self.decks: dict[str, list[CardId]] = defaultdict(list)
        for card in desk.cards:
            self.decks[concept_of(desk.place(card).path)].append(card)

    def subject(self, cards: Sequence[Placed]) -> Subject | None:
        """The concept of those cards and their trials; None if none of them is asked for any more."""
        first = cards[0]
        records = tuple(self._record(placed) for placed in cards if self._counts(placed))
        if not records:
            return None
        return Subject(
            concept=named_by(first.deck) or first.concept,
            title=short(first.title),
            link="",
            cards=records,
            wanted=self.desk.scheduler.rules.retention,
        )

    def completed(self, subject: Subject, cards: Sequence[Placed]) -> Subject:
        """`subject` with all that causes are told by, which takes longer to find."""
        first, by_id = cards[0], {placed.id: placed for placed in cards}
        there = first.article in self.articles
        around = self.gaps[first.article]
        whole = replace(
            subject,
            link=note_link(first.article if there else first.deck.path, subject.title),
            cards=tuple(self._looked_at(record, by_id[record.card]) for record in subject.cards),
            has_article=there,
            needs=tuple(self._need(stem) for stem in sorted(self.needs.get(first.concept, ()))),
            unexplained=tuple(gap.what for gap in around if gap.kind is GapKind.STRUCTURAL),
            lacks=tuple((gap.missing, gap.fill) for gap in around if gap.kind is GapKind.EPISTEMIC),
        )
        return _with_article(whole, self.desk.vault, first.article) if there else whole

    def _looked_at(self, record: CardRecord, placed: Placed) -> CardRecord:
        twin = self.twins.of(placed) if record.forgotten else None
        return replace(record, words=len(tokens(unescape(placed.card.answer))), twin=twin)

    def _counts(self, placed: Placed) -> bool:
        return not self.desk.state(placed.id).retracted and placed.id not in self.marks.suspended

    def _record(self, placed: Placed) -> CardRecord:
        state = self.desk.state(placed.id)
        return CardRecord(
            placed.id,
            tuple(self.trials.get(placed.id, ())),
            leech=state.leech,
            flagged=placed.id in self.marks.flags,
            reason=clean_line(self.marks.flags.get(placed.id, ""))[:_REASON],
        )

    def _need(self, stem: str) -> Need:
        cards = [card for card in self.decks.get(stem, ()) if not self.desk.state(card).retracted]
        path = f"{CONCEPTS}/{stem}.md"
        title = short(self.desk.place(cards[0]).title) if cards else stem.replace("-", " ")
        known = sum(is_known(self.desk.state(card)) for card in cards)
        return Need(title, note_link(path, title), path in self.articles, len(cards), known)


def _with_article(subject: Subject, vault: Vault, path: str) -> Subject:
    """`subject` with what its article holds; one that cannot be read says nothing against it."""
    with suppress(Damaged, Refused):
        text = vault.read_text(path) or ""
        properties = read_properties(text)
        return replace(
            subject,
            sentences=sum(1 for _ in sentences(text)),
            sources=len(properties.texts("sources")),
            confidence=properties.text("confidence"),
        )
    return replace(subject, sentences=None)


def _trials(desk: Desk, columns: ReviewColumns, start: int, recent: int) -> dict[CardId, list[Trial]]:
    """The reviews since `start` that put a memory to the test, by card."""
    seen = replay(columns, desk.scheduler, desk.changes)
    out: dict[CardId, list[Trial]] = defaultdict(list)
    when_ms = columns.when_ms
    for row in seen.tried():
        at = when_ms[row]
        if at >= start:
            trial = Trial(at, columns.rating[row] > 1, seen.predicted[row], at >= recent)
            out[columns.cards[columns.card[row]]].append(trial)
    return out


class _Twins:
    """Cards that were reviewed since `start`, found by the words of their questions and answers."""

    def __init__(self, desk: Desk, columns: ReviewColumns, start: int) -> None:
        self.words: dict[tuple[CardId, str], frozenset[str]] = {}
        self.holders: dict[tuple[str, str], list[CardId]] = defaultdict(list)
        self.desk = desk
        met = {columns.card[row] for row in _rows_since(columns, start)}
        for card in sorted(columns.cards[number] for number in met):
            placed = desk.cards.get(card)
            for part, said in _parts(placed) if placed and not desk.state(card).retracted else ():
                self.words[card, part] = said
                for word in said:
                    self.holders[part, word].append(card)

    def of(self, placed: Placed) -> Twin | None:
        """The card that is most like it; of equals the one whose id comes first."""
        best: tuple[float, CardId, str] | None = None
        for part, said in _parts(placed):
            rare = sorted(said, key=lambda word: (len(self.holders[part, word]), word))
            # Of two sets that share so much, one has a word of the other's among those that most cards lack. A word
            # of hundreds of cards tells of a pattern that they are made by, not of a twin.
            few = (self.holders[part, word] for word in rare[: len(said) - int(ALIKE * len(said)) + 1])
            near = {card for holders in few if len(holders) <= CROWD for card in holders}
            for card in sorted(near - {placed.id}):
                other = self.words[card, part]
                share = len(said & other) / len(said | other)
                if share >= ALIKE and (best is None or share > best[0]):
                    best = share, card, part
        if best is None:
            return None
        twin = self.desk.cards[best[1]]
        return Twin(twin.id, short(twin.title), best[2], note_link(twin.deck.path, short(twin.title)))


def _parts(placed: Placed) -> list[tuple[str, frozenset[str]]]:
    """The words of its question and its answer, as far as they are enough to tell it from others."""
    both = (("question", placed.card.question), ("answer", placed.card.answer))
    found = [(part, frozenset(tokens(unescape(text)))) for part, text in both]
    return [(part, said) for part, said in found if len(said) >= LEAST_WORDS]
