"""An open question of the inbox: what is offered, what it would replace, and the files that a decision changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from vault.ids import mint
from vault.inbox.events import Choice
from vault.log.ledger import Event
from vault.vault import Vault

HALF = 4  # characters of an id that identify the question; as many more identify the versions


@dataclass(frozen=True, slots=True)
class View:
    """Two texts to compare. `part` is the id of a card that can be decided on its own, else ""."""

    title: str
    mine: str
    offered: str
    part: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One question to the user, with at least one view. `digest` is of the offered version, `state` of both versions.

    `kind` is article, topic, summary, deck, names or anki; `since` an instant, or "". `concept` is the concept's id,
    under which a prompt finds the reason of a rejection. `note` is a remark for the user.
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
        """Return eight characters: the first half identifies the question, the second the versions of both sides."""
        return self.stem + mint("inbox-state", f"{self.digest}\x1f{self.state}")[:HALF]

    @property
    def stem(self) -> str:
        """Return the first half of the id."""
        return mint("inbox", f"{self.kind}\x1f{self.path or self.about}")[:HALF]

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the ids of the cards that can be decided on their own."""
        return tuple(view.part for view in self.views if view.part)


@dataclass(frozen=True, slots=True)
class Change:
    """One file that a decision changes: its bytes before and after; None is no file."""

    path: str
    before: bytes | None
    after: bytes | None


class Source(Protocol):
    """A kind of questions. Files are compared with the disk again before anything is written."""

    kinds: tuple[str, ...]
    messages: Mapping[Choice, str]  # what a choice does, where it isn't what it does for pages

    def items(self, vault: Vault, decided: Sequence[Event]) -> Iterable[Item]:
        """Return all open questions; `decided` are the events of the decisions ledger, ordered. Reads only."""
        ...

    def changes(self, vault: Vault, item: Item, choice: Choice, parts: Sequence[str]) -> Sequence[Change]:
        """Return the files that a decision on `parts` of an item changes, in order; none where the ledger is enough."""
        ...

    def facts(self, item: Item, parts: Sequence[str]) -> Mapping[str, object]:
        """Return further fields of the decision's event."""
        ...
