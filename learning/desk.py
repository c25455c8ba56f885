"""The learner's desk: cards, log and memory of a vault at one instant, and what the human's commands do there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from learning import stats
from learning.adopt import adopt_cards
from learning.card_events import card_events
from learning.memory import CardEvent, MemoryState, Phase, Rules, Scheduler, fold, rules_of, scheduler_for
from learning.queue import Item, Limits, Queue, build_queue, done_today
from learning.review_page import Row, render_page
from vault import ledger
from vault.agent_run import at_work, held_back, judged_decks
from vault.card import Card, Deck
from vault.clean import clean_line
from vault.diagnostic import Diagnostic
from vault.errors import Damaged, EditedMeanwhile, NotFound, Refused, WriteFailed
from vault.guard import Scope, sha256_hex
from vault.ids import CardId
from vault.log_event import CardMark, Flag, LogEvent, Rating, Review, Stamp, Undo
from vault.markdown import unescape
from vault.review_log import Log, LogWriter, by_time, last_undoable, live, read_log
from vault.store import CONCEPTS, FLASHCARDS, REVIEW_PAGE, Vault
from vault.wikilink import links

_GRAPH = "wiki/_graph.md"
_NEEDS = re.compile(r"- (\[\[[^\[\]]*\]\]) needs ((?:\[\[[^\[\]]*\]\](?:, )?)+)")
_PAUSED = re.compile(rb"^learning:[ \t]*(?:false|no|off)[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
_FRONT_END = re.compile(rb"^---[ \t]*\r?$", re.MULTILINE)
_TRIES = 10  # other commands may render the page just then
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Placed:
    """A card and the deck it stands in. `concept` is the deck's stem, which the concept's article shares."""

    id: CardId
    card: Card
    deck: Deck
    concept: str

    @property
    def title(self) -> str:
        """The concept's name in plain words."""
        return clean_line(unescape(self.deck.title))

    @property
    def kind(self) -> str:
        return self.card.kind.value if self.card.kind else ""

    @property
    def article(self) -> str:
        return f"{CONCEPTS}/{self.concept}.md"


@dataclass(frozen=True, slots=True)
class Desk:
    """All that a review needs, as of `now`; `cards` in the order of the decks."""

    vault: Vault
    now: datetime
    tag: str
    cards: Mapping[CardId, Placed]
    log: Log
    changes: tuple[CardEvent, ...]
    scheduler: Scheduler
    states: Mapping[CardId, MemoryState]
    queue: Queue
    diagnostics: tuple[Diagnostic, ...] = ()

    def state(self, card: CardId) -> MemoryState:
        """What is remembered of the card; NEW if nothing is."""
        return self.states.get(card, MemoryState())

    def card(self, id_: str) -> Placed:
        """The card with that id. Raises: NotFound."""
        found = self.cards.get(CardId(id_))
        if found is None:
            raise NotFound(f"no card has the id {clean_line(id_)}", hint="`retain due --json` lists the ids")
        return found

    def writer(self, via: str) -> LogWriter:
        """The hand that adds to this vault's log; `via` says whose it is ("cli", "tui", "plain")."""
        zone = self.scheduler.calendar.zone
        return LogWriter(self.vault.guard(Scope.LOG), self.log.events, zone=zone, via=via)

    @property
    def today(self) -> dict[str, int]:
        """How many cards today has room for, and the minutes they will take."""
        new = sum(self.state(item.card).phase is Phase.NEW for item in self.queue.today)
        due = len(self.queue.today) - new
        return {"due": due, "new": new, "minutes": stats.minutes(due, new, self.log.events)}


def open_desk(vault: Vault, now: datetime, *, tag: str = "") -> Desk:
    """The desk at `now`; with `tag`, its queue holds only cards with that tag or kind, or of that concept.

    Cards that a human wrote by hand get their ids on the way. What cannot be read is among the diagnostics, and the
    rest stands. Raises: SchemaTooNew; Refused or Damaged where the log or the ledger cannot be read at all.
    """
    log = read_log(vault.root)  # first: where a newer retain wrote it, nothing may be written
    decks = list(judged_decks(vault))
    found = [*vault.notices, *_waiting(vault)]
    try:
        decks = decks if at_work(vault) else adopt_cards(vault, decks, now)  # an agent's new cards are not a human's
    except (WriteFailed, Refused) as problem:
        found.append(Diagnostic(problem.where, 0, "card-without-id", problem.what, "some cards wait for their ids"))
    return _read_desk(vault, decks, log, now, tag, found)


def _waiting(vault: Vault) -> list[Diagnostic]:
    """What is said of decks that nobody is shown before an agent's work is judged."""
    count = len(held_back(vault)) if at_work(vault) else 0
    if not count:
        return []
    what = f"{'1 deck' if count == 1 else f'{count} decks'} changed since an agent began; their cards wait"
    return [Diagnostic(FLASHCARDS, 0, "decks-wait", what, "they are back when the agent's work is judged")]


def _read_desk(vault: Vault, decks: list[Deck], log: Log, now: datetime, tag: str, found: list[Diagnostic]) -> Desk:
    cards, repeats = _place(decks)
    found += [*(d for deck in decks for d in deck.diagnostics), *repeats, *log.diagnostics]
    changes = card_events(vault.read_bytes(ledger.IDS) or b"")
    return _reckoned(Desk(vault, now, tag, cards, log, changes, Scheduler(Rules()), {}, Queue(), tuple(found)))


def _place(decks: Iterable[Deck]) -> tuple[dict[CardId, Placed], list[Diagnostic]]:
    """Every card that has an id, where it stands first; another place is named."""
    cards: dict[CardId, Placed] = {}
    found: list[Diagnostic] = []
    for deck in decks:
        concept = deck.path.rsplit("/", 1)[-1].removesuffix(".md")
        for card in deck.cards:
            if card.id is None:
                continue
            first = cards.setdefault(card.id, Placed(card.id, card, deck, concept))
            if first.deck is not deck:
                what = f"card {card.id} stands in {first.deck.path} too, and is taken from there"
                found.append(Diagnostic(deck.path, card.line, "card-id-repeated", what, "delete one of the two"))
    return cards, found


def _reckoned(desk: Desk) -> Desk:
    """`desk` with memory and queue made anew from its log."""
    settings = desk.vault.settings
    rules = rules_of(settings)
    scheduler = scheduler_for(rules, desk.log.events)
    states = fold(desk.log.events, scheduler, desk.changes)
    queue = build_queue(
        _items(desk),
        states,
        desk.now,
        calendar=rules.calendar,
        limits=Limits(settings.new_per_day, settings.reviews_per_day),
        done=done_today(desk.log.events, rules.calendar, desk.now),
        prerequisites=prerequisites(desk.vault.read_bytes(_GRAPH) or b""),
    )
    return replace(desk, scheduler=scheduler, states=states, queue=queue)


def _items(desk: Desk) -> list[Item]:
    """The cards that may be queued, in the order of the decks."""
    tag = desk.tag.removeprefix("#").casefold()
    paused: dict[str, bool] = {}
    tagged: dict[str, bool] = {}
    items = []
    for id_, placed in desk.cards.items():
        path = placed.deck.path
        if path not in paused:
            paused[path] = _is_paused(desk.vault, placed)
            tagged[path] = not tag or tag in _names(placed)
        if not paused[path] and (tagged[path] or tag == placed.kind):
            items.append(Item(id_, placed.concept, placed.kind))
    return items


def _names(placed: Placed) -> set[str]:
    tags = placed.deck.properties.texts("tags")
    return {placed.concept.casefold(), placed.title.casefold(), *(t.removeprefix("#").casefold() for t in tags)}


def _is_paused(vault: Vault, placed: Placed) -> bool:
    """Whether `learning: false` in the front matter of deck or article keeps the deck out of the queue."""
    with suppress(Refused, Damaged):  # an article that cannot be read says nothing
        article = vault.read_bytes(placed.article) or b""
        return any(_PAUSED.search(_front(data)) for data in (article, placed.deck.text.encode()))
    return False


def _front(data: bytes) -> bytes:
    end = _FRONT_END.search(data, 4) if data.startswith(b"---") else None
    return data[: end.start()] if end else b""


def prerequisites(graph: bytes) -> dict[str, set[str]]:
    """Concept to the concepts it needs, by the stems of their articles, as the text of `_graph.md` has it."""
    needs: dict[str, set[str]] = {}
    for line in graph.decode(errors="replace").splitlines():
        if (found := _NEEDS.match(line)) is not None:
            concept, *_ = links(found[1])
            stems = {link.target.rsplit("/", 1)[-1] for link in links(found[2])}
            needs.setdefault(concept.target.rsplit("/", 1)[-1], set()).update(stems)
    return needs


# --- what a human command does --------------------------------------------------------------------------------------


def after(desk: Desk, *events: LogEvent) -> Desk:
    """`desk` once these events are in the log."""
    together = tuple(sorted((*desk.log.events, *events), key=by_time))
    return _reckoned(replace(desk, log=replace(desk.log, events=together)))


def rate(
    desk: Desk, id_: str, rating: Rating, *, via: str, dated: datetime | None = None, ms: int = 0
) -> tuple[Desk, Review]:
    """Puts a rating on disk, at `dated` if the human says when.

    Raises: NotFound; ClockWentBackwards if `dated` is before the card's last review; WriteFailed.
    """
    placed, writer = desk.card(id_), desk.writer(via)
    event = Review(writer.stamp(desk.now, dated), placed.id, rating, ms)
    state = desk.state(placed.id)
    desk.scheduler.review(placed.id, state, rating, event.at)  # refuses what lies before the last review
    writer.write(event)
    return after(desk, event), event


def mark(desk: Desk, id_: str, kind: type[CardMark], *, via: str, reason: str = "") -> tuple[Desk, CardMark]:
    """Puts a Suspend, Resume, Bury or Flag of the card on disk. Raises: NotFound, WriteFailed."""
    placed, writer = desk.card(id_), desk.writer(via)
    stamp: Stamp = writer.stamp(desk.now)
    event = Flag(stamp, placed.id, reason) if kind is Flag else kind(stamp, placed.id)
    writer.write(event)
    return after(desk, event), event


def undo(desk: Desk, *, via: str) -> tuple[Desk, Undo, LogEvent]:
    """Voids the latest event that a human's command wrote; gives it, too. Raises: NotFound, WriteFailed."""
    voided = last_undoable(desk.log.events)
    if voided is None:
        raise NotFound("nothing in the review log is left to undo")
    writer = desk.writer(via)
    event = Undo(writer.stamp(desk.now), voided.id)
    writer.write(event)
    return after(desk, event), event, voided


def last_event(desk: Desk) -> datetime | None:
    """The instant of the last thing that happened to a card and still counts."""
    reviewed = (event.at for event in live(desk.log.events))
    return max((*reviewed, *(change.at for change in desk.changes)), default=None)


def save_review_page(desk: Desk) -> bool:
    """Renders `learning/_review.md`; False if it was right already. Raises: WriteFailed, Refused."""
    articles = set(desk.vault.paths(CONCEPTS, ".md"))
    titles: dict[str, str] = {}
    rows = []
    for placed in desk.cards.values():
        path = placed.deck.path
        if path not in titles:
            titles[path] = placed.title
        article = placed.article if placed.article in articles else ""
        rows.append(Row(placed.id, path, article, titles[path], placed.kind, placed.card.question))
    page = render_page(rows, desk.states, desk.scheduler, last_event(desk)).encode()
    guard = desk.vault.guard(Scope.LOG)
    for last_try in (*[False] * (_TRIES - 1), True):
        old = guard.read(REVIEW_PAGE)
        try:
            return guard.write(REVIEW_PAGE, page, expect=None if old is None else sha256_hex(old))
        except EditedMeanwhile:  # another command has just rendered it
            if last_try:
                raise
    raise AssertionError("the last try gives or raises")


def read_desk(vault: Vault) -> Desk:
    """The desk of a page that knows no clock: nothing is adopted, and its queue is of no day. Raises as `read_log`."""
    return _read_desk(vault, list(judged_decks(vault)), read_log(vault.root), _NO_TIME, "", [])
