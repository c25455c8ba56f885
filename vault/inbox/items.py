"""What waits for the human's word, from whatever source it comes, and the ids by which it is decided.

A source says what waits, and which files a decision changes; what is decided is done in `vault.inbox.decisions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

from vault.diagnostic import Diagnostic
from vault.errors import NotFound, RetainError
from vault.ids import mint
from vault.inbox.events import Choice
from vault.log import ledger
from vault.log.ledger import Event
from vault.text.sanitize import clean_line
from vault.vault import Vault

# Where questions come from, in the order in which they are listed. A new kind is named here, and loaded when asked for.
SOURCES = ("vault.inbox.pages:Pages", "vault.inbox.pages:Decks", "vault.inbox.names:Names")
_HALF = 4  # characters of an id that say which item it is; as many more say how it stands


@dataclass(frozen=True, slots=True)
class View:
    """Two texts to be looked at side by side. `part` is what can be decided on its own: a card's id; else ""."""

    title: str
    mine: str
    offered: str
    part: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One question to the human, with at least one view. `digest` is of what is offered, `state` of both sides.

    `kind` is article, topic, summary, deck or one of another source's; `since` an instant, or "". `concept` is the id
    of what it is about, under which a prompt finds the reason of a rejection. `note` is what else is to be known.
    """

    kind: str
    path: str
    about: str
    since: str
    digest: str
    state: str
    views: tuple[View, ...]
    concept: str = ""
    note: str = ""

    @property
    def id(self) -> str:
        """Eight characters: another question has another first half, another version of either side another second."""
        return self.stem + mint("inbox-state", f"{self.digest}\x1f{self.state}")[:_HALF]

    @property
    def stem(self) -> str:
        return mint("inbox", f"{self.kind}\x1f{self.path or self.about}")[:_HALF]

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(view.part for view in self.views if view.part)


@dataclass(frozen=True, slots=True)
class Change:
    """One file that a decision changes, from these bytes to those; None is no file."""

    path: str
    before: bytes | None
    after: bytes | None


class Source(Protocol):
    """Where questions come from. What it gives is compared with the disk again before anything is written."""

    kinds: tuple[str, ...]
    told: Mapping[Choice, str]  # what a choice means for them, where it isn't what it means for pages

    def items(self, vault: Vault, decided: Sequence[Event]) -> Iterable[Item]:
        """All that waits; reads only. `decided` are the events of the ledger of decisions, ordered."""
        ...

    def changes(self, vault: Vault, item: Item, choice: Choice, parts: Sequence[str]) -> Sequence[Change]:
        """The files that a decision on `parts` of an item changes, in that order; none where the ledger is enough."""
        ...

    def facts(self, item: Item, parts: Sequence[str]) -> Mapping[str, object]:
        """What else the decision's event is to hold."""
        ...


def items(vault: Vault) -> list[Item]:
    """All that waits, by kind and path. Reads only."""
    return among(vault, decided_in(vault))


def waiting(vault: Vault) -> tuple[int, list[Diagnostic]]:
    """How much waits; 0 and why where that cannot be told, as whoever asks has other things to tell."""
    try:
        return len(items(vault)), []
    except RetainError as error:
        return 0, [Diagnostic(error.where, 0, "inbox", error.what, error.hint)]


def find(vault: Vault, name: str) -> Item:
    """The item with this id, or the only one whose id begins so, or whose path it is. Raises: NotFound."""
    found = items(vault)
    for asked in ([i for i in found if i.id == name], [i for i in found if i.path and name in (i.path, i.path[:-3])]):
        if asked:
            return asked[0]
    begun = [i for i in found if len(name) >= _HALF and i.id.startswith(name)]
    if len(begun) == 1:
        return begun[0]
    raise _unknown(name, found)


def source_of(kind: str) -> Source:
    """Whose items of that kind are."""
    return next(source for source in sources() if kind in source.kinds)


def sources() -> tuple[Source, ...]:
    """One of each."""
    named = (place.partition(":") for place in SOURCES)
    return tuple(getattr(import_module(module), name)() for module, _, name in named)


def among(vault: Vault, decided: Sequence[Event]) -> list[Item]:
    """All that waits, where these are the events of the ledger of decisions."""
    found = [item for source in sources() for item in source.items(vault, decided)]
    order = {kind: n for n, kind in enumerate(k for source in sources() for k in source.kinds)}
    return sorted(found, key=lambda item: (order[item.kind], item.path, item.about))


def decided_in(vault: Vault) -> list[Event]:
    """The events of the ledger of decisions, ordered."""
    return ledger.ordered(vault.ledger_events(ledger.DECISIONS)[0])


def exactly(name: str, found: Sequence[Item]) -> Item:
    """The item with this very id: how both sides stand is in it, so nobody decides on what they have not seen."""
    item = next((i for i in found if i.id == name), None)
    if item is not None:
        return item
    raise _unknown(name, found)


def _unknown(name: str, found: Sequence[Item]) -> NotFound:
    shown = clean_line(name)[:80]
    same = next((i for i in found if len(name) == 2 * _HALF and i.stem == name[:_HALF]), None)
    if same is not None:
        hint = f"look at it again: `retain inbox show {same.id}`"
        return NotFound(f"{shown} is not as it was shown: one side has changed since", where=same.path, hint=hint)
    begun = [i.id for i in found if name and i.id.startswith(name)]
    if begun:
        return NotFound(f"an id is needed in full, and {shown} is not one", hint=f"there is {', '.join(begun[:5])}")
    return NotFound(f"nothing with the id {shown} waits in the inbox", hint="`retain inbox` lists what does")
