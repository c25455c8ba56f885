"""The ledgers: append-only JSON lines on what was created, renamed, changed and retired."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from itertools import groupby
from typing import Any, TypeGuard

import msgspec

from vault.diagnostic import Diagnostic
from vault.ids import free_slug, slug, vault_digest

IDS = "ledger/ids.jsonl"
DECISIONS = "ledger/decisions.jsonl"
BUILDS = "ledger/builds.jsonl"
EDITS = "ledger/edits.jsonl"
DELETE, RESTORE = "delete", "restore"  # types of its events: a card was deleted, and put back
QUESTIONS = "ledger/questions.jsonl"
NOTES = "learning/anki/notes.jsonl"  # not in `ledger/`: what another program did

Event = dict[str, Any]
_PARSE = msgspec.json.Decoder().decode
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT[0-2]\d:[0-5]\d:[0-5]\d\.\d{3}Z")
_NOUNS = {"source", "concept", "topic", "claim", "card", "gap", "dispute", "doubt"}
_TYPES = ("birth", "rename", "reanchor", "change", "merge", "retire", "revive")
FAR = "3000"  # from this year on an instant is nobody's clock
_ORDER = {type_: n for n, type_ in enumerate(_TYPES)}  # within one instant


def instant(at: datetime) -> str:
    """Return `at` (aware) as the ledgers and the review log write it: UTC, milliseconds, Z."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_instant(text: str) -> datetime:
    """Return the aware UTC instant in `text`. Raises ValueError for anything else."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"no time zone in {text!r}")
    return at.astimezone(UTC)


def day_of(text: str, zone: tzinfo) -> str:
    """Return the date of an instant on the zone's clock, as YYYY-MM-DD; of a text that is none, its beginning."""
    return minute_of(text, zone)[:10]


def minute_of(text: str, zone: tzinfo) -> str:
    """Return an instant on the zone's clock, as YYYY-MM-DD HH:MM; a text that is none as it is."""
    try:
        return parse_instant(text).astimezone(zone).isoformat(" ", "minutes")[:16]
    except (ValueError, OverflowError):
        return text


def after(events: Iterable[Event], at: datetime) -> str:
    """Return the instant `at`, or a millisecond after the latest of `events` should the clock have been set back.

    No clock is set back by thousands of years: an event of `FAR` or later pushes nothing.
    """
    latest = max((each for e in events if _is_instant(each := e.get("at")) and each < FAR), default="")
    return max(instant(at), instant(parse_instant(latest) + timedelta(milliseconds=1)) if latest else "")


def _is_instant(value: object) -> TypeGuard[str]:
    """Return whether `value` is an instant as `instant` writes it: then the order of texts is the order of time."""
    return isinstance(value, str) and _is_written_instant(value)


@lru_cache(4096)  # a command writes many lines of one instant
def _is_written_instant(text: str) -> bool:
    try:
        return _INSTANT.fullmatch(text) is not None and bool(parse_instant(text))
    except (ValueError, OverflowError):
        return False  # the 99th of a month


def encode(event: Event) -> bytes:
    """Return one line of a ledger, with its newline."""
    return (json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def note_event(vault_id: str, type_: str, card: str, second: int, **facts: object) -> Event:
    """Return an event of `NOTES` on a card's note in Anki, as of a Unix second before `FAR`."""
    at = instant(datetime.fromtimestamp(second, UTC))
    return {"v": 1, "type": type_, "card": card, "at": at, "vault": vault_digest(vault_id), **facts}


def decode(data: bytes, path: str) -> tuple[list[Event], list[Diagnostic]]:
    """Return the events of a ledger's bytes, repeated lines once, and a diagnostic for each line that cannot be read.

    Lines of a union merge may come in any order and twice; conflict markers and torn lines are named and skipped.
    """
    events: list[Event] = []
    found: list[Diagnostic] = []
    seen: set[bytes] = set()
    for number, line in enumerate(data.split(b"\n"), 1):
        line = line.strip()
        if not line or line in seen:
            continue
        seen.add(line)
        try:
            event = _PARSE(line)
        except (ValueError, RecursionError):
            event = None
        if isinstance(event, dict) and isinstance(event.get("type"), str) and _is_instant(event.get("at")):
            events.append(event)
        else:
            found.append(
                Diagnostic(
                    path,
                    number,
                    "ledger-line",
                    "this line is not a valid ledger record",
                    "restore it from git, or delete it",
                )
            )
    return events, found


@dataclass(frozen=True, slots=True)
class Birth:
    """What a thing was when its id was created; `name` and `slug` follow when it is renamed.

    `key` finds it again; `slug` is the stem of its file, or "".
    """

    noun: str
    id: str
    at: str
    key: str
    name: str = ""
    slug: str = ""


@dataclass(slots=True)
class Ids:
    """The fold of `ledger/ids.jsonl`: what exists, under which key, since when, last changed when."""

    births: dict[str, Birth] = field(default_factory=dict)
    keys: dict[tuple[str, str], str] = field(default_factory=dict)  # (noun, present key) -> id
    present_key: dict[str, str] = field(default_factory=dict)
    retired: dict[str, str] = field(default_factory=dict)  # id -> instant
    merged: dict[str, str] = field(default_factory=dict)  # id -> the id it became
    changed: dict[str, Event] = field(default_factory=dict)  # id -> its last change event
    quotes: dict[str, str] = field(default_factory=dict)  # claim id -> the words it was last found in
    named: dict[str, dict[str, str]] = field(default_factory=dict)  # id -> each name it ever had, and its slug then
    _slugs: dict[tuple[str, str], str] = field(default_factory=dict)  # (noun, casefolded slug) -> whose it is

    def apply(self, event: Event) -> None:
        """Add one event; one that is invalid (of a newer version, say) is ignored."""
        noun, id_, type_, at = (event.get(k) for k in ("of", "id", "type", "at"))
        if noun not in _NOUNS or not isinstance(id_, str) or not isinstance(at, str):
            return
        if isinstance(event.get("quote"), str):
            self.quotes[id_] = event["quote"]
        if type_ == "birth" and id_ not in self.births:
            key, name, given = (str(event.get(k, "")) for k in ("key", "name", "slug"))
            self.births[id_] = Birth(noun, id_, at, key, name, self._own_slug(noun, id_, given))
            if name:
                self.named[id_] = {name: self.births[id_].slug}
            self._rekey(noun, id_, key)
        elif id_ not in self.births:
            return
        elif type_ in ("rename", "reanchor"):
            self._rekey(noun, id_, str(event.get("key", "")))
            if isinstance(event.get("name"), str):
                self._rename(id_, event["name"], str(event.get("slug", "")))
        elif type_ == "change":
            self.changed[id_] = event
        elif type_ == "retire":
            self.retired[id_] = at
        elif type_ == "revive":
            self.retired.pop(id_, None)
            self.merged.pop(id_, None)
        elif type_ == "merge":
            self.merged[id_] = str(event.get("into", ""))

    def _own_slug(self, noun: str, id_: str, given: str) -> str:
        """Return `given`, or another where two clones gave it to two things: the later one's has part of its id."""
        if not given or slug(given) != given:
            return slug(given) if given else ""
        taken = self.slugs(noun) if self._slugs.get((noun, given.casefold()), id_) != id_ else set()
        own = free_slug(given, id_, taken)
        self._slugs[noun, own.casefold()] = id_
        return own

    def _rename(self, id_: str, name: str, given: str) -> None:
        """Give a thing a new name and the stem of its file; id and creation stay."""
        born = self.births[id_]
        own = self._own_slug(born.noun, id_, given) or born.slug
        self.births[id_] = replace(born, name=name, slug=own)
        self.named.setdefault(id_, {born.name: born.slug})[name] = own

    def _rekey(self, noun: str, id_: str, key: str) -> None:
        """Give a thing another key."""
        old = self.present_key.get(id_)
        if old is not None and self.keys.get((noun, old)) == id_:
            del self.keys[noun, old]
        self.present_key[id_] = key
        self.keys.setdefault((noun, key), id_)

    def alive(self, id_: str) -> bool:
        """Return whether the thing exists and is not retired."""
        return id_ in self.births and id_ not in self.retired and id_ not in self.merged

    def slugs(self, noun: str) -> set[str]:
        """Return the casefolded slugs ever given to a noun: one is never given twice, so that old links stay right."""
        return {own for of, own in self._slugs if of == noun}

    def slugs_of(self, id_: str) -> set[str]:
        """Return the casefolded slugs that this thing has or had."""
        return {own for (_, own), owner in self._slugs.items() if owner == id_}

    def former_slugs(self, noun: str) -> dict[str, str]:
        """Return the slugs of a noun that no file has since a rename, and whose they were."""
        return {own: id_ for (of, own), id_ in self._slugs.items() if of == noun and own != self.births[id_].slug}

    def first_name(self, id_: str) -> str:
        """Return the name at creation."""
        return next(iter(self.named.get(id_, ())), "")

    def changed_at(self, id_: str) -> str:
        """Return the instant of the last change, else of the creation; of a change that was undone, that of the one
        before.
        """
        event = self.changed.get(id_)
        as_of = event.get("as_of") if event else None
        return as_of if _is_instant(as_of) else str(event["at"]) if event else self.births[id_].at


def strings(value: object) -> list[str]:
    """Return the strings of a list in an event; [] for anything else."""
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def ordered(events: Iterable[Event]) -> list[Event]:
    """Return `events` by (at, type, id): the order in which every machine folds them."""
    found: list[Event] = []
    for _, alike in groupby(sorted(events, key=_rank), _rank):
        same = list(alike)
        # Spelling an event out is slow, and only those that nothing else tells apart need it.
        found += sorted(same, key=lambda event: json.dumps(event, sort_keys=True)) if len(same) > 1 else same
    return found


def _rank(event: Event) -> tuple[str, int, str]:
    """Return the sort key of an event."""
    return str(event.get("at")), _ORDER.get(str(event.get("type")), len(_ORDER)), str(event.get("id"))


def deleted_cards(events: Iterable[Event]) -> set[str]:
    """Return the cards that the user deleted with retain and that did not come back, by the events of EDITS and IDS."""
    deleted: set[str] = set()
    of_cards = (e for e in events if e.get("type") in (DELETE, RESTORE) or e.get("of") == "card")
    for event in ordered(of_cards):
        if event["type"] == DELETE:
            deleted.update(strings(event.get("cards")))
        elif event["type"] == RESTORE:
            deleted.difference_update(strings(event.get("cards")))
        elif event["type"] in ("birth", "revive"):
            deleted.discard(str(event.get("id")))
    return deleted


def fold(events: Iterable[Event]) -> Ids:
    """Return the state after `events`, which may come in any order."""
    ids = Ids()
    for event in ordered(events):
        ids.apply(event)
    return ids
