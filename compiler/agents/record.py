"""What the ledgers record of agents' work: the pages that were kept, and which of them the user rejected."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from vault.audit.agent_runs import refuse_beside_agents
from vault.errors import NotFound
from vault.files.guard import Scope
from vault.locks import lock
from vault.log import ledger
from vault.log.ledger import Event
from vault.text.formatting import clean_line
from vault.vault import Vault

REPLIES = "ledger/replies"
_REJECT = "agent-reject"  # the type of the decision by which a user takes a page back (in old vaults also a card)
_PATH = re.compile(r"wiki/(?:concepts|topics|answers)/[^/]+\.md")
_KEYS = ("id", "path", "title", "text", "base", "run", "at")


@dataclass(frozen=True, slots=True)
class KeptPage:
    """An article with an agent's text: `text` is its body, `base` the SHA-256 of the machine's article below it.

    `base` is "" where there was none; `title` is that of such a new article, else "".
    """

    id: str
    path: str
    title: str
    text: str
    base: str
    run: str
    at: str

    @property
    def is_new(self) -> bool:
        """Whether no article of the machine's was there."""
        return not self.base


def page_event(page: KeptPage) -> Event:
    return {"v": 1, "type": "page", **asdict(page)}


def kept_pages(vault: Vault, decided: Iterable[Event]) -> dict[str, KeptPage]:
    """Return by path the page that an agent last wrote there and that no user has taken back."""
    rejected = _rejections(decided, "path")
    kept: dict[str, KeptPage] = {}
    for page in sorted(_pages(vault), key=lambda p: (p.at, p.run, p.id)):
        if page.at > rejected.get(page.path, ""):
            kept[page.path] = page
    return dict(sorted(kept.items()))


def _pages(vault: Vault) -> Iterator[KeptPage]:
    for event in _events(vault, "page"):
        fields = [event.get(key) for key in _KEYS]
        if all(isinstance(f, str) for f in fields) and _PATH.fullmatch(str(event["path"])):
            yield KeptPage(*map(str, fields))


def files_of_agents(vault: Vault) -> frozenset[tuple[str, str]]:
    """Return path and SHA-256 of every file in output/ as some run of an agent's left it."""
    return frozenset((str(e.get("path")), str(e.get("sha256"))) for e in _events(vault, "file"))


def _events(vault: Vault, type_: str) -> Iterator[Event]:
    """Yield the events of one type in ledger/replies/; most lines there are of other types, and long."""
    mark = f'"type":"{type_}"'.encode()
    for path in vault.paths(REPLIES, ".jsonl"):
        lines = [line for line in (vault.read_bytes(path) or b"").split(b"\n") if mark in line]
        yield from (e for e in ledger.decode(b"\n".join(lines), path)[0] if e["type"] == type_)


def _rejections(decided: Iterable[Event], key: str) -> dict[str, str]:
    """Return by path or card the instant at which a user last took it back."""
    found: dict[str, str] = {}
    for event in decided:
        what = event.get(key)
        if event.get("type") == _REJECT and isinstance(what, str):
            found[what] = max(found.get(what, ""), str(event.get("at")))
    return found


def alive_events(events: Sequence[Event], decided: Iterable[Event]) -> list[Event]:
    """Return the `events` of the ids without what agents made of cards, in old vaults, and a user took back."""
    rejected = _rejections(decided, "card")

    def is_rejected(event: Event) -> bool:
        by_agent = event.get("by") == "agent" and event.get("of") == "card"
        return by_agent and str(event.get("at")) <= rejected.get(str(event.get("id")), "")

    return [event for event in events if not is_rejected(event)]


def count_pages(vault: Vault) -> int:
    """Return how many articles of the vault have an agent's text."""
    return len(kept_pages(vault, vault.ledger_events(ledger.DECISIONS)[0]))


def reject(vault: Vault, name: str, at: datetime) -> KeptPage:
    """Take back the agent's page at a vault path; the next build puts the machine's article there. Return the page.

    Raises: NotFound where there is none; LockHeld; Refused while an agent's work is not recorded.
    """
    with lock(vault.root, "publish", purpose="undoing an agent's changes"):
        refuse_beside_agents(vault)
        decided = ledger.ordered(vault.ledger_events(ledger.DECISIONS)[0])
        pages = kept_pages(vault, decided)
        page = pages.get(name if name.endswith(".md") else f"{name}.md")
        if page is None:
            hint = "`retain status --json` shows how many there are; they are stored in ledger/replies/"
            raise NotFound(f"there is no page written by an agent at {clean_line(name)[:80]}", hint=hint)
        others = [vault.ledger_events(path)[0] for path in (ledger.IDS, ledger.BUILDS)]
        known: list[Event] = [{"at": each.at} for each in pages.values()]
        # Never before what is taken back, should the clock have been set back since.
        instant = ledger.after([*others[0], *others[1], *decided, *known], at)
        decision: Event = {"v": 1, "type": _REJECT, "at": instant, "via": "cli", "path": page.path}
        vault.guard(Scope.LOG).append(ledger.DECISIONS, ledger.encode(decision))
    return page
