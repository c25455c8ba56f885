"""The concepts that are ready for a note of the user's own: computed from ledgers, review log and cards, without a
clock.

Three things make a concept a candidate: sources no longer contradict each other on it; an answer that had been learnt
has changed; all four kinds of its cards are remembered. A note that the human wrote on it ends that, and so does the
human's tick, until something new happens to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from learning.cards.workspace import Desk, last_event
from learning.stats.mastery import is_known
from learning.store import placed
from learning.store.card_text import Catalogue, Shelf, catalogue
from vault.ids import ID, CardId, digest12
from vault.layout import CONCEPTS
from vault.log import ledger
from vault.log.events import Rating
from vault.log.ledger import Event
from vault.log.review_log import at_of
from vault.model.card import CardKind
from vault.model.markdown import unescape
from vault.text.formatting import fold, short_title
from vault.vault import Vault

_THREE_DAYS_MS = 3 * 86_400_000  # a study day is never so long, whatever a clock does
_REPLIES, _HEAD = "ledger/replies", 200  # bytes that tell the ledger of an agent's run from replies of a model


class Reason(StrEnum):
    """Why a concept is ready, the strongest reason first."""

    SETTLED = "settled"  # sources contradicted each other on it, and no longer do
    CHANGED = "changed"  # an answer that had been learnt has changed
    STABLE = "stable"  # all four kinds of its cards are known


@dataclass(frozen=True, slots=True)
class Candidate:
    """A concept and why it is ready. `article` is a vault path, "" if there is none.

    `concept` is the id that its deck names, else the deck's stem; `since` the instant of what made it ripe, "" for
    STABLE, which is no single event.
    """

    reason: Reason
    concept: str
    title: str
    article: str
    since: str = ""

    @property
    def mark(self) -> str:
        """Return the block id of its line on the page."""
        return mark_of(self.reason, self.concept)


def mark_of(reason: Reason, concept: str) -> str:
    """Return the block id of a concept's line; characters that a block id cannot hold are replaced."""
    return f"p-{reason}-{concept if ID.fullmatch(concept) else digest12(concept)}"


@dataclass(frozen=True, slots=True)
class Promotion:
    """The candidates that wait and those that the user rejected, each by reason and title; `as_of` the last event."""

    waiting: tuple[Candidate, ...]
    struck: tuple[Candidate, ...]
    as_of: str

    @property
    def concepts(self) -> int:
        """Return how many concepts wait; one may wait for two reasons."""
        return len({candidate.concept for candidate in self.waiting})


def insight_event(concept: str, note: str, at: str, *, sha256: str = "", personal: bool = False) -> Event:
    """Return the ledger event of a user's note. Of a note in the personal vault, `note` is the file's name alone.

    The ledger is for all to read: of what stands in a personal note it keeps no trace, not even a digest.
    """
    where: Event = {"note": note.rsplit("/", 1)[-1], "personal": True} if personal else {"note": note}
    digest = {"sha256": sha256} if sha256 and not personal else {}
    return {"v": 1, "type": "insight", "concept": concept, **where, **digest, "at": at, "via": "cli"}


def strike_event(candidate: Candidate, decision: str, at: str) -> Event:
    """Return the ledger event by which the user rejects a candidate ("strike") or wants it again ("reopen")."""
    what = {"concept": candidate.concept, "reason": candidate.reason.value, "decision": decision}
    return {"v": 1, "type": "promotion", **what, "at": at, "via": "tick"}


def promotion(desk: Desk, decided: Iterable[Event] | None = None, cards: Catalogue | None = None) -> Promotion:
    """Return the candidates of a desk; `decided` are the events of `ledger/decisions.jsonl`, if the caller has them,
    and `cards` the desk's catalogue.

    Raises: Refused, where a ledger cannot be read at all.
    """
    if decided is None:
        decided, _ = desk.vault.ledger_events(ledger.DECISIONS)
    decisions = _Decisions(decided)
    data = desk.vault.read_bytes(ledger.IDS) or b""
    shelf = _Concepts(desk, cards or catalogue(desk.cards))
    found = [*_settled(data, shelf), *_changed(data, shelf, decisions.rejected), *_stable(shelf)]
    found = [one for one in found if not decisions.written(one)]
    found.sort(key=lambda c: (list(Reason).index(c.reason), c.title.casefold(), c.concept))
    waiting = tuple(c for c in found if not decisions.struck(c))
    struck = tuple(c for c in found if decisions.struck(c))
    last = last_event(desk)
    instants = [*(c.since for c in found), decisions.last, ledger.instant(last) if last else ""]
    return Promotion(waiting, struck, max(instants))


class _Decisions:
    """The user's notes and decisions by concept: the latest instant of each."""

    def __init__(self, decided: Iterable[Event]) -> None:
        self._notes: dict[str, str] = {}
        self._strikes: dict[tuple[str, str], tuple[str, str]] = {}
        self.rejected: dict[str, str] = {}  # card or page of an agent's -> when the human took it back
        self.last = ""
        for event in ledger.ordered(decided):
            concept, at = str(event.get("concept", "")), str(event["at"])
            if event["type"] == "insight":
                self._notes[concept] = at
            elif event["type"] == "promotion":
                self._strikes[str(event.get("reason")), concept] = (str(event.get("decision")), at)
            elif event["type"] == "agent-reject":
                self.rejected[str(event.get("card") or event.get("path"))] = at
                continue
            else:
                continue
            self.last = max(self.last, at)

    def written(self, candidate: Candidate) -> bool:
        """Return whether there is a note that is no older than what made the concept ready."""
        return self._notes.get(candidate.concept, "") >= candidate.since and candidate.concept in self._notes

    def struck(self, candidate: Candidate) -> bool:
        """Return whether the user rejected the candidate."""
        decision, at = self._strikes.get((candidate.reason.value, candidate.concept), ("", ""))
        return decision == "strike" and at >= candidate.since


class _Concepts:
    """The concepts of a desk: by the stem of their decks, and those without a deck by their articles."""

    def __init__(self, desk: Desk, cards: Catalogue) -> None:
        self.desk, self.cards = desk, cards
        self.decks: dict[str, list[Shelf]] = defaultdict(list)
        for shelf in cards.shelves:
            self.decks[shelf.stem].append(shelf)
        self.articles = frozenset(desk.vault.paths(CONCEPTS, ".md"))

    def candidate(self, reason: Reason, stem: str, since: str = "", *, id_: str = "", name: str = "") -> Candidate:
        """Return the candidate of a concept."""
        decks = self.decks.get(stem, [])
        title = decks[0].title if decks else name
        concept = id_ or (decks[0].named if decks else "") or stem
        path = f"{CONCEPTS}/{stem}.md"
        return Candidate(reason, concept, short_title(title or stem), path if path in self.articles else "", since)

    def knows(self, stem: str) -> bool:
        """Return whether there is a concept with that stem."""
        return stem in self.decks or f"{CONCEPTS}/{stem}.md" in self.articles

    def rows(self, stem: str) -> list[int]:
        """Return the cards of a concept, as rows of the catalogue."""
        return [row for shelf in self.decks.get(stem, ()) for row in range(shelf.first, shelf.end)]

    def stem_of(self, card: CardId) -> str:
        """Return the stem of a card's deck; "" if it is in none."""
        return placed.concept_of(self.desk.place(card).path)


# --- all four kinds known ---------------------------------------------------------------------------------------------


def _stable(shelf: _Concepts) -> Iterator[Candidate]:
    """Yield the concepts whose cards of all kinds are stable."""
    cards, states = shelf.cards, shelf.desk.states
    kinds = {kind.value for kind in CardKind}
    ripe: dict[str, list[int]] = {}
    for stem in shelf.decks:
        known = [row for row in shelf.rows(stem) if is_known(states.get(cards.ids[row]))]
        if kinds <= {cards.kinds[row] for row in known}:
            ripe[stem] = known
    if not ripe:
        return
    shaky = _not_recalled_since_a_lapse(shelf.desk, {cards.ids[row] for rows in ripe.values() for row in rows})
    for stem, rows in ripe.items():
        if kinds <= {cards.kinds[row] for row in rows if cards.ids[row] not in shaky}:
            yield shelf.candidate(Reason.STABLE, stem)


def _not_recalled_since_a_lapse(desk: Desk, cards: set[CardId]) -> set[CardId]:
    """Return the cards that were forgotten and not recalled on a later study day."""
    day = desk.scheduler.calendar.day
    found = set()
    for card, (_, when, _, _, rating) in desk.past.reviews_of_each(cards):
        lapse = rating.rfind(Rating.AGAIN)
        if lapse < 0 or when[-1] - when[lapse] >= _THREE_DAYS_MS:  # long over
            continue
        if day(at_of(when[lapse])) >= day(at_of(when[-1])):
            found.add(card)
    return found


# --- what had been learnt has changed ---------------------------------------------------------------------------------


def _changed(data: bytes, shelf: _Concepts, rejected: Mapping[str, str]) -> Iterator[Candidate]:
    """Yield the concepts that changed after their cards were first reviewed."""
    cards = shelf.desk.cards
    changes = [({card}, at) for card, at in _answer_changes(data, rejected) if card in cards]
    for stem, at in _pages_of_agents(shelf.desk.vault, rejected):
        changes.append(({shelf.cards.ids[row] for row in shelf.rows(stem)}, at))
    met = _first_reviewed(shelf.desk, {card for some, _ in changes for card in some})
    latest: dict[str, str] = {}
    for some, at in changes:
        stems = {shelf.stem_of(card) for card in some if card in met and ledger.instant(met[card]) <= at}
        latest |= {stem: max(latest.get(stem, ""), at) for stem in stems}
    for stem, at in latest.items():
        yield shelf.candidate(Reason.CHANGED, stem, at)


def _first_reviewed(desk: Desk, cards: set[CardId]) -> dict[CardId, datetime]:
    """Return when each of the cards was first rated."""
    return {card: at_of(when[0]) for card, (_, when, *_) in desk.past.reviews_of_each(cards)}


def _pages_of_agents(vault: Vault, rejected: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (stem of the article, instant) of every page that an agent changed, unless rejected."""
    for path in vault.paths(_REPLIES, ".jsonl"):
        if not _has_a_run(vault, path):
            continue  # the replies of a model: they are many, and pages come of them by a build alone
        for event in _events(vault.read_bytes(path) or b"", b'"page"'):
            page, at = str(event.get("path")), str(event["at"])
            folder, _, name = page.rpartition("/")
            if event["type"] == "page" and event.get("base") and folder == CONCEPTS and at > rejected.get(page, ""):
                yield name.removesuffix(".md"), at


def _has_a_run(vault: Vault, path: str) -> bool:
    """Return whether a line of the ledger records an agent's run for that page."""
    with suppress(OSError), (vault.root / path).open("rb") as file:
        return b'"type":"run"' in file.read(_HEAD)
    return False


def _answer_changes(data: bytes, rejected: Mapping[str, str]) -> list[tuple[CardId, str]]:
    """Return (card, instant) of every change in the ledger after which a card's answer had other words.

    What an agent made of a card and the human took back was no change.
    """
    changed = {str(e.get("id")) for e in _events(data, b'"change"', b'"card"') if e.get("of") == "card"}
    if not changed:
        return []
    answers: dict[str, str] = {}
    found = []
    for event in ledger.ordered(_events(data, b'"card"')):
        id_, answer = str(event.get("id")), event.get("a")
        if event.get("of") != "card" or id_ not in changed or not isinstance(answer, str):
            continue
        if event.get("by") == "agent" and str(event["at"]) <= rejected.get(id_, ""):
            continue
        said = fold(unescape(answer)).casefold().rstrip(".")
        if answers.setdefault(id_, said) != said:
            answers[id_] = said
            if event.get("how") == "cosmetic":
                continue
            found.append((CardId(id_), str(event["at"])))
    return found


# --- a contradiction that is settled ----------------------------------------------------------------------------------


def _settled(data: bytes, shelf: _Concepts) -> Iterator[Candidate]:
    """Yield the concepts of contradictions that were resolved."""
    latest: dict[str, str] = {}
    for concepts, at in _settled_disputes(data):
        latest |= {concept: max(latest.get(concept, ""), at) for concept in concepts}
    if not latest:
        return
    births = ledger.fold(e for e in _events(data, b'"concept"') if e.get("of") == "concept").births
    for concept, at in latest.items():
        birth = births.get(concept)
        if birth is not None and shelf.knows(birth.slug):
            yield shelf.candidate(Reason.SETTLED, birth.slug, at, id_=concept, name=birth.name)


def _settled_disputes(data: bytes) -> Iterator[tuple[list[str], str]]:
    """Yield (concepts, instant) of every contradiction that was open once and is not now."""
    concepts: dict[str, list[str]] = {}
    winners: dict[str, str] = {}  # id -> the claim that weighs more, "" while none does
    settled: dict[str, str] = {}
    for event in ledger.ordered(e for e in _events(data, b'"dispute"') if e.get("of") == "dispute"):
        id_, at = str(event.get("id")), str(event["at"])
        if isinstance(named := event.get("concepts"), list):
            concepts[id_] = [c for c in named if isinstance(c, str)]
        winner = str(event.get("winner", winners.get(id_, "")))
        if event["type"] == "retire" or (event["type"] == "change" and winner and not winners.get(id_)):
            settled[id_] = at
        elif event["type"] == "revive" or (event["type"] == "change" and not winner):
            settled.pop(id_, None)
        winners[id_] = winner
    yield from ((concepts.get(id_, []), at) for id_, at in settled.items())


def _events(data: bytes, *marks: bytes) -> list[Event]:
    """Return the events of a ledger's lines that hold all `marks`; other lines are not parsed, as they are many."""
    lines = [line for line in data.split(b"\n") if all(mark in line for mark in marks)]
    return ledger.decode(b"\n".join(lines), ledger.IDS)[0]


# --- who already wrote ------------------------------------------------------------------------------------------------


def notes_in(decided: Iterable[Event]) -> Mapping[str, Event]:
    """Return the last note that was recorded for each concept."""
    events = ledger.ordered(e for e in decided if e["type"] == "insight" and isinstance(e.get("note"), str))
    return {str(e.get("concept", "")): e for e in events}
