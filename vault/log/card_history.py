"""What the logs say of a card: its words from the first to the last, why it was retired, and what the user reported as
wrong and did not undo."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path

from vault.ids import ALPHABET, CardId
from vault.log import ledger
from vault.log.events import Flag
from vault.log.ledger import Event
from vault.log.review_log import Line, line_events, live, log_files
from vault.text.formatting import clean_line

_ID = re.compile(rf"[{ALPHABET}]{{10}}")
MOST_WAS = 2_000  # characters of what a card said before, as the ledger keeps it
_WORDS = ("birth", "change")  # the events that give a card words
UNWANTED = ("wrong", "not worth knowing")  # reasons for which a card is not to be asked; others want it better
_FLAGS = (b'"type":"flag"', b'"type":"undo"')


@dataclass(frozen=True, slots=True)
class Version:
    """What a card said since `at`: plain text that the sources gave. `how` it came of the version before.

    `how` is "cosmetic", "reworded" or "fact", and "" for the first version and where the ledger does not say.
    """

    at: datetime
    question: str
    answer: str
    how: str = ""


@dataclass(frozen=True, slots=True)
class PastCard:
    """A card as the ledger last knew it; `versions` are one or more, the oldest first.

    `retired_at` is the ledger's instant, and "" for a card that lives.
    """

    id: str
    concept: str  # its title
    kind: str
    versions: tuple[Version, ...]
    cites: tuple[str, ...]
    retired_at: str
    reason: str

    @property
    def last(self) -> Version:
        return self.versions[-1]

    def fate(self, zone: tzinfo) -> str:
        """Return what became of it, in a line, with the date in the zone."""
        if not self.retired_at:
            return "removed from its deck (reason unknown)"
        why = clean_line(self.reason) or "reason unknown"
        return f"retired {ledger.minute_of(self.retired_at, zone)}: {why}"

    def retired(self) -> dict[str, str | None]:
        """When and why it was retired, as `--json` prints it."""
        return {"at": self.retired_at or None, "reason": self.reason or None}


def history(data: bytes, card: str) -> tuple[Version, ...]:
    """The versions of a card in the bytes of `ledger/ids.jsonl`, the oldest first, each other than the one before."""
    return _versions(_events(data, "card", card))


def history_json(versions: Iterable[Version]) -> list[dict[str, str | None]]:
    """Return the versions as `--json` prints them."""
    return [
        {"at": ledger.instant(v.at), "how": v.how or None, "question": v.question, "answer": v.answer} for v in versions
    ]


def past_card(data: bytes, card: str) -> PastCard | None:
    """What the bytes of `ledger/ids.jsonl` know of a card, wherever it stands; None if they know none of its words."""
    events = _events(data, "card", card) if _ID.fullmatch(card) else []
    versions = _versions(events)
    if not versions:
        return None
    last = next(e for e in reversed(events) if e["type"] in _WORDS)
    end = next((e for e in reversed(events) if e["type"] in ("retire", "revive")), {})
    gone = end if end.get("type") == "retire" else {}
    concept = str(last.get("concept", ""))
    names = [str(e["name"]) for e in _events(data, "concept", concept) if e["type"] == "birth" and e.get("name")]
    cites = last.get("cites")
    return PastCard(
        card,
        names[0] if names else concept,
        str(last.get("kind", "")),
        versions,
        tuple(map(str, cites)) if isinstance(cites, list) else (),
        str(gone.get("at", "")),
        str(gone.get("reason", "")),
    )


def _events(data: bytes, noun: str, id_: str) -> list[Event]:
    """The events of one thing, in order."""
    mark = f'"{id_}"'.encode()
    events, _ = ledger.decode(b"\n".join(line for _, line in lines_with(data, mark)), ledger.IDS)
    return ledger.ordered(e for e in events if e.get("of") == noun and e.get("id") == id_)


def _versions(events: Iterable[Event]) -> tuple[Version, ...]:
    out: list[Version] = []
    for event in events:
        if event["type"] in _WORDS:
            with suppress(ValueError):
                _take(out, event)
    return tuple(out)


def _take(out: list[Version], event: Event) -> None:
    """Adds what an event says to the versions, what it says was before first, should no line tell of that."""
    at = ledger.parse_instant(str(event["at"]))
    question, answer, how = (event.get(key) for key in ("q", "a", "how"))
    if not isinstance(question, str) or not isinstance(answer, str):
        return
    was = event.get("was")
    if not out and isinstance(was, dict) and isinstance(was.get("q"), str) and isinstance(was.get("a"), str):
        out.append(Version(at, was["q"], was["a"]))
    if not out or (out[-1].question, out[-1].answer) != (question, answer):
        out.append(Version(at, question, answer, how if isinstance(how, str) and out else ""))


def lines_with(data: bytes, mark: bytes) -> Iterator[tuple[int, bytes]]:
    """(where it begins, the line) of every line of `data` that holds `mark`, in order."""
    at = data.find(mark)
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        yield start, data[start:end]
        at = data.find(mark, end)


def flags_of(root: Path) -> dict[CardId, str]:
    """Return flagged card -> the last reason given, "" for none, from the reviews of the vault at `root`.

    Raises: Refused, Damaged or SchemaTooNew, as the log is read.
    """
    found = []
    for path, data in log_files(root):
        if not any(word in data for word in _FLAGS):
            continue
        for number, line in enumerate(data.split(b"\n"), 1):
            if any(word in line for word in _FLAGS):
                found += line_events(line, Line(path, number), set(), [])
    return {event.card: event.reason for event in live(found) if isinstance(event, Flag)}
