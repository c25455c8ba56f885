"""What the ledgers say of agents' work: pages and cards that were kept, and which of them the human took back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from vault import ledger
from vault.ledger import Event
from vault.store import Vault

REPLIES = "ledger/replies"
REJECT = "agent-reject"  # the type of the decision by which a human takes a page or card back
_PAGE = b'"type":"page"'
_FILE = b'"type":"file"'
_PATH = re.compile(r"wiki/(?:concepts|topics)/[^/]+\.md")


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page of an agent's that passed: `text` is its body. `title` is that of a new page, "" for a machine's one."""

    id: str
    path: str
    title: str
    text: str
    base: str
    run: str
    at: str

    @property
    def is_new(self) -> bool:
        """Whether no page of the machine's stood there."""
        return not self.base


def page_event(page: KeptPage) -> Event:
    head: Event = {"v": 1, "type": "page", "id": page.id, "path": page.path, "title": page.title, "base": page.base}
    return head | {"text": page.text, "run": page.run, "at": page.at}


def kept_pages(vault: Vault, decided: Iterable[Event]) -> dict[str, KeptPage]:
    """Path -> the page that an agent last wrote there and that no human has taken back, by path."""
    rejected = rejections(decided, "path")
    found: dict[str, KeptPage] = {}
    for page in sorted(_pages(vault), key=lambda p: (p.at, p.run, p.id)):
        if page.at > rejected.get(page.path, ""):
            found[page.path] = page
    return dict(sorted(found.items()))


def _pages(vault: Vault) -> Iterator[KeptPage]:
    for path in vault.paths(REPLIES, ".jsonl"):
        for event in _events(vault, path, _PAGE):
            keys = ("id", "path", "title", "text", "base", "run", "at")
            fields = [event.get(key) for key in keys]
            if event["type"] == "page" and all(isinstance(f, str) for f in fields) and _PATH.fullmatch(event["path"]):
                yield KeptPage(*map(str, fields))


def _events(vault: Vault, path: str, type_: bytes) -> list[Event]:
    """The events of a file whose line holds `type_`: most are of other types, and long."""
    lines = [line for line in (vault.read_bytes(path) or b"").split(b"\n") if type_ in line]
    return ledger.decode(b"\n".join(lines), path)[0]


def files_of_agents(vault: Vault) -> frozenset[tuple[str, str]]:
    """Path and SHA-256 of every file in output/ as some run of an agent's left it."""
    events = (event for path in vault.paths(REPLIES, ".jsonl") for event in _events(vault, path, _FILE))
    return frozenset((str(e.get("path")), str(e.get("sha256"))) for e in events if e["type"] == "file")


def rejections(decided: Iterable[Event], key: str) -> dict[str, str]:
    """Path or card -> the instant at which the human last took it back."""
    found: dict[str, str] = {}
    for event in decided:
        what = event.get(key)
        if event.get("type") == REJECT and isinstance(what, str):
            found[what] = max(found.get(what, ""), str(event.get("at")))
    return found


def alive_events(events: Sequence[Event], decided: Iterable[Event]) -> list[Event]:
    """`events` of the ids less what an agent made of cards that the human took back."""
    rejected = rejections(decided, "card")
    return [e for e in events if not (is_agents(e) and str(e.get("at")) <= rejected.get(str(e.get("id")), ""))]


def is_agents(event: Event) -> bool:
    """Whether an event gives a card the words of an agent."""
    return event.get("by") == "agent" and event.get("of") == "card" and event.get("type") in ("birth", "change")


def agents_cards(events: Sequence[Event], ids: ledger.Ids) -> dict[str, Event]:
    """Card id -> the event that gave it the words it has, of those living that an agent wrote. `events` in order."""
    words: dict[str, Event] = {}
    for event in events:
        if event.get("of") == "card" and event.get("type") in ("birth", "change"):
            words[str(event.get("id"))] = event
    return {id_: event for id_, event in words.items() if is_agents(event) and ids.alive(id_)}


def counted(vault: Vault) -> dict[str, int]:
    """How many pages and cards of agents' stand in the vault."""
    decided = vault.ledger_events(ledger.DECISIONS)[0]
    data = vault.read_bytes(ledger.IDS) or b""
    cards = 0
    if b'"by":"agent"' in data:
        events = ledger.ordered(ledger.decode(data, ledger.IDS)[0])
        cards = len(agents_cards(alive_events(events, decided), ledger.fold(events)))
    return {"pages": len(kept_pages(vault, decided)), "cards": cards}
