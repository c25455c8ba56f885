"""The learner's part of `learning/gaps.md`: computed from log, cards and wiki as of the last event, and written.

The other parts of that page are the compiler's, which carries this one over as it stands.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from learning.agenda.gap_decisions import decisions_of
from learning.agenda.gap_rules import (
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
from learning.cards.workspace import Desk, last_event
from learning.memory.predictions import replay
from learning.stats.mastery import is_known
from learning.store.card_text import PARTS, Catalogue, Shelf, catalogue
from learning.store.graph import GRAPH, prerequisites
from learning.store.near_copy import tokens
from learning.store.placed import article_of
from vault.audit.agent_runs import at_work
from vault.errors import Damaged, Refused
from vault.files.guard import Scope
from vault.ids import CardId, GapId
from vault.layout import CONCEPTS, GAPS
from vault.log import ledger
from vault.log.events import Flag, LogEvent, Resume, Suspend
from vault.log.ledger import Event
from vault.log.review_columns import ReviewColumns
from vault.log.review_log import unix_ms
from vault.model.article import sentences
from vault.model.frontmatter import read_properties
from vault.model.gaps import Gap, GapKind, GapStatus, parse_agenda, render_agenda
from vault.model.markdown import unescape
from vault.model.wikilink import links, note_link
from vault.text.formatting import clean_line, short_title
from vault.vault import Vault

MOST = 50  # subjects on the agenda: more would be read by nobody
ALIKE = 0.8  # of the words of two questions or answers, which are then nearly the same
CROWD = 200  # cards
_REASON = 80  # characters
_TRIES = 5  # an editor or another command may save the page just then
_STATUS = {"resolve": GapStatus.RESOLVED, "ignore": GapStatus.IGNORED, "plan": GapStatus.PLANNED}


def save_learner_gaps(desk: Desk, now: datetime, cards: Catalogue | None = None) -> None:
    """Update the learner's part of the agenda; the user's ticks on it are first recorded in the ledger.

    `now` dates only the ticks; `cards` is the desk's catalogue, if the caller has it. While the work of an agent is not
    settled the page is left alone: a tick may be the agent's. Raises: WriteFailed, Refused.
    """
    cards = cards or catalogue(desk.cards)

    def updated(old: bytes | None) -> bytes | None:
        if at_work(desk.vault):  # asked after the reading, as for the promotion queue
            return None
        page = parse_agenda((old or b"").decode("utf-8", "replace"))
        before = [replace(gap, line=0) for gap in page if gap.kind is GapKind.LEARNER]
        others = [gap for gap in page if gap.kind is not GapKind.LEARNER]
        after = learner_gaps(desk, others, _with_ticks(desk.vault, before, now), cards)
        return None if before == after else render_agenda([*others, *after]).encode()

    desk.vault.guard(Scope.LOG).update(GAPS, updated, tries=_TRIES)


def _with_ticks(vault: Vault, before: Iterable[Gap], now: datetime) -> list[Event]:
    """Return the decisions in the ledger, with the ticks of the page recorded among them."""
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


def learner_gaps(
    desk: Desk, others: Sequence[Gap], decided: Iterable[Event] = (), cards: Catalogue | None = None
) -> list[Gap]:
    """Return the learner's gaps as of the last event, the most pressing first. `others` are the gaps of the wiki.

    What the user resolved comes back when it is forgotten again; what is ignored does not.
    """
    decisions = _decisions(decided)
    gaps = []
    for subject in _subjects(desk, others, cards or catalogue(desk.cards)):
        status, at_ms = decisions.get(gap_id(subject.concept), (GapStatus.OPEN, 0))
        if status is GapStatus.RESOLVED and is_in_trouble(again := _since(subject, at_ms)):
            gaps.append(as_gap(again))
        else:
            gaps.append(replace(as_gap(subject), status=status))
    return sorted(gaps, key=lambda gap: not gap.open)  # as the page has them


def _decisions(decided: Iterable[Event]) -> dict[GapId, tuple[GapStatus, int]]:
    """Return the last decision on each gap and its Unix milliseconds; "reopen" voids the one before."""
    out: dict[GapId, tuple[GapStatus, int]] = {}
    for event in ledger.ordered(e for e in decided if e.get("type") == "gap"):
        gap, decision = GapId(str(event.get("gap"))), str(event.get("decision"))
        if decision in _STATUS:
            out[gap] = (_STATUS[decision], unix_ms(ledger.parse_instant(str(event["at"]))))
        elif decision == "reopen":
            out.pop(gap, None)
    return out


def _since(subject: Subject, at_ms: int) -> Subject:
    """Return `subject` with only the trials after that instant."""
    return replace(
        subject,
        cards=tuple(replace(c, trials=tuple(t for t in c.trials if t.at_ms > at_ms)) for c in subject.cards),
    )


# --- gathering --------------------------------------------------------------------------------------------------------


def _subjects(desk: Desk, others: Sequence[Gap], cards: Catalogue) -> list[Subject]:
    """Return the concepts in trouble, the most pressing first, with all that the rules look at."""
    last = last_event(desk)
    if last is None:
        return []
    calendar = desk.scheduler.calendar
    start, recent = (unix_ms(calendar.start(calendar.day(last) - days + 1)) for days in (WINDOW, RECENT))
    met = _reviewed_since(desk, start)
    concepts = _candidates(desk, cards, met)
    if not concepts:
        return []
    gathered = _Gathered(desk, cards, others, (start, recent), concepts)
    found = {s.concept: (s, rows) for rows in concepts.values() if (s := gathered.subject(rows)) and is_in_trouble(s)}
    worst = most_pressing([subject for subject, _ in found.values()])[:MOST]
    twins = _NearDuplicates(desk, cards, met, [c.card for s in worst for c in s.cards if c.forgotten])
    return [gathered.completed(*found[subject.concept], twins) for subject in worst]


def _reviewed_since(desk: Desk, start: int) -> dict[CardId, int]:
    """Return the cards that were reviewed at `start` (Unix milliseconds) or later, and how often they failed since."""
    met = {}
    for card, (at, when, _, _, rating) in desk.past.reviews_of_each():
        if at[-1] < start:
            continue
        first = bisect_left(at, start)
        rows = [row for row in range(first, len(at)) if when[row] >= start]
        if rows:
            met[card] = sum(rating[row] == 1 for row in rows)
    return met


def _candidates(desk: Desk, cards: Catalogue, met: Mapping[CardId, int]) -> dict[str, list[int]]:
    """Return by concept the cards, as rows of the catalogue, of concepts whose cards in `met` failed often enough."""
    times = {card: failed for card, failed in met.items() if failed}
    by_concept: Counter[str] = Counter()
    rows: dict[str, list[int]] = defaultdict(list)
    for shelf in cards.shelves:
        mine = range(shelf.first, shelf.end)
        rows[shelf.stem] += mine
        for card in times.keys() & cards.ids[shelf.first : shelf.end]:
            by_concept[shelf.stem] += max(times[card], MANY) if desk.state(card).leech else times[card]
    return {stem: mine for stem, mine in rows.items() if by_concept[stem] >= MANY}


@dataclass(slots=True)
class _Marks:
    """The marks of the user on cards: why they were flagged, and which are suspended."""

    flags: dict[CardId, str]
    suspended: set[CardId]


def _marks(events: Iterable[LogEvent], cards: Collection[CardId]) -> _Marks:
    """Return the marks on `cards`."""
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
    """What all subjects need, read once. `since`: where the window begins, and where its latest part does."""

    def __init__(
        self,
        desk: Desk,
        cards: Catalogue,
        others: Sequence[Gap],
        since: tuple[int, int],
        concepts: Mapping[str, Sequence[int]],
    ) -> None:
        self.desk, self.cards = desk, cards
        ids = {cards.ids[row] for rows in concepts.values() for row in rows}
        self.marks = _marks(desk.past.marks(), ids)
        self.trials = _trials(desk, desk.past.reviews(ids), *since)
        self.needs = prerequisites(desk.vault.read_bytes(GRAPH) or b"")
        self.articles = frozenset(desk.vault.paths(CONCEPTS, ".md"))
        self.gaps: dict[str, list[Gap]] = defaultdict(list)  # by the article that they mention
        for gap in others:
            for link in links(" ".join(gap.mentions)) if gap.open else ():
                self.gaps[f"{link.target}.md"].append(gap)
        self.shelves: dict[str, list[Shelf]] = defaultdict(list)
        for shelf in cards.shelves:
            self.shelves[shelf.stem].append(shelf)
        self.shelf_of = {shelf.first: shelf for stem in concepts for shelf in self.shelves[stem]}

    def subject(self, rows: Sequence[int]) -> Subject | None:
        """Return the concept of those cards with their trials; None if none of them is asked any more."""
        shelf = self.shelf_of[rows[0]]
        records = tuple(self._record(id_) for row in rows if self._counts(id_ := self.cards.ids[row]))
        if not records:
            return None
        return Subject(
            concept=shelf.named or shelf.stem,
            title=short_title(shelf.title),
            link="",
            cards=records,
            wanted=self.desk.scheduler.rules.retention,
        )

    def completed(self, subject: Subject, rows: Sequence[int], twins: _NearDuplicates) -> Subject:
        """Return `subject` with all that causes are recognized by, which takes longer to find."""
        shelf = self.shelf_of[rows[0]]
        article = article_of(shelf.stem)
        there = article in self.articles
        around = self.gaps[article]
        whole = replace(
            subject,
            link=note_link(article if there else shelf.path, subject.title),
            cards=tuple(self._with_text(record, twins) for record in subject.cards),
            has_article=there,
            needs=tuple(self._need(stem) for stem in sorted(self.needs.get(shelf.stem, ()))),
            unexplained=tuple(gap.what for gap in around if gap.kind is GapKind.STRUCTURAL),
            lacks=tuple((gap.missing, gap.fill) for gap in around if gap.kind is GapKind.EPISTEMIC),
        )
        return _with_article(whole, self.desk.vault, article) if there else whole

    def _with_text(self, record: CardRecord, twins: _NearDuplicates) -> CardRecord:
        """Return the record with the length of the card's answer and its near duplicate."""
        placed = self.desk.cards.get(record.card)
        if placed is None:  # gone in this very moment
            return record
        twin = twins.of(record.card) if record.forgotten else None
        return replace(record, words=len(tokens(unescape(placed.card.answer))), twin=twin)

    def _counts(self, card: CardId) -> bool:
        """Return whether the card can be asked."""
        return not self.desk.state(card).retracted and card not in self.marks.suspended

    def _record(self, card: CardId) -> CardRecord:
        """Return the card's trials and marks."""
        state = self.desk.state(card)
        return CardRecord(
            card,
            tuple(self.trials.get(card, ())),
            leech=state.leech,
            flagged=card in self.marks.flags,
            reason=clean_line(self.marks.flags.get(card, ""))[:_REASON],
        )

    def _need(self, stem: str) -> Need:
        """Return a needed concept with its cards."""
        shelves = self.shelves.get(stem, ())
        ids = [card for shelf in shelves for card in self.cards.ids[shelf.first : shelf.end]]
        cards = [card for card in ids if not self.desk.state(card).retracted]
        path = article_of(stem)
        title = short_title(self.desk.place(cards[0]).title) if cards else stem.replace("-", " ")
        known = sum(is_known(self.desk.state(card)) for card in cards)
        return Need(title, note_link(path, title), path in self.articles, len(cards), known)


def _with_article(subject: Subject, vault: Vault, path: str) -> Subject:
    """Return `subject` with what its article holds; without, where that cannot be read."""
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
    """Return the reviews since `start` that tested a memory, by card."""
    seen = replay(columns, desk.scheduler, desk.changes)
    out: dict[CardId, list[Trial]] = defaultdict(list)
    when_ms = columns.when_ms
    for row in seen.tried():
        at = when_ms[row]
        if at >= start:
            trial = Trial(at, columns.rating[row] > 1, seen.predicted[row], at >= recent)
            out[columns.cards[columns.card[row]]].append(trial)
    return out


class _NearDuplicates:
    """Cards that were reviewed since and whose question or answer is nearly that of a `wanted` card.

    They are found by numbers that stand for words, among the cards that share one with a wanted card: no deck is read.
    """

    def __init__(self, desk: Desk, cards: Catalogue, met: Collection[CardId], wanted: Sequence[CardId]) -> None:
        self.desk, self.cards = desk, cards
        rows = {card: row for row, card in enumerate(cards.ids)}
        self.rows = {card: rows[card] for card in wanted if card in rows}
        asked = [
            {word for row in self.rows.values() for word in cards.words_of(row, part)} for part in range(len(PARTS))
        ]
        self.holders: list[dict[int, list[int]]] = [defaultdict(list), defaultdict(list)]
        near = [rows[card] for card in sorted(met) if card in rows and not desk.state(card).retracted]
        for row in near if wanted else ():
            for part, words in enumerate(asked):
                for word in words.intersection(cards.words_of(row, part)):
                    self.holders[part][word].append(row)

    def of(self, card: CardId) -> Twin | None:
        """Return the card that is most like `card`; of equals the one whose id comes first; None if none is."""
        best: tuple[float, int, str] | None = None
        for part, name in enumerate(PARTS):
            said = set(self.cards.words_of(self.rows[card], part))
            for row in self._near(self.rows[card], part):
                other = self.cards.words_of(row, part)
                common = len(said.intersection(other))
                share = common / (len(said) + len(other) - common)
                if share >= ALIKE and (best is None or share > best[0]):
                    best = share, row, name
        if best is None:
            return None
        _, row, part_name = best
        shelf = self.cards.shelf_of(row)
        return Twin(
            self.cards.ids[row], short_title(shelf.title), part_name, note_link(shelf.path, short_title(shelf.title))
        )

    def _near(self, row: int, part: int) -> list[int]:
        """Return the rows that share a rare word with it, by their ids."""
        said = self.cards.words_of(row, part)
        rare = sorted(said, key=lambda word: (len(self.holders[part][word]), word))
        # Of two sets that share so much, one has a word of the other's among those that most cards lack. A word
        # of hundreds of cards tells of a pattern that they are made by, not of a twin.
        few = (self.holders[part][word] for word in rare[: len(said) - int(ALIKE * len(said)) + 1])
        near = {other for holders in few if len(holders) <= CROWD for other in holders}
        return sorted(near - {row}, key=self.cards.ids.__getitem__)
