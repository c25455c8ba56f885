"""The open questions of the inbox, listed, counted and found by id."""

from __future__ import annotations

from collections.abc import Sequence

from vault.diagnostic import Diagnostic
from vault.errors import NotFound, RetainError
from vault.inbox.anki_edits import AnkiEdits
from vault.inbox.items import HALF, Item, Source
from vault.inbox.names import Names
from vault.inbox.pages import Decks, Pages
from vault.log import ledger
from vault.log.ledger import Event
from vault.text.formatting import clean_line
from vault.vault import Vault

SOURCES: tuple[Source, ...] = (Pages(), Decks(), Names(), AnkiEdits())  # in the order in which their items are listed


def items(vault: Vault) -> list[Item]:
    """Return all open questions, by kind and path. Reads only."""
    return items_given(vault, decisions(vault))


def waiting(vault: Vault) -> tuple[int, list[Diagnostic]]:
    """Return the number of open questions; 0 and a diagnostic if they cannot be read."""
    try:
        return len(items(vault)), []
    except RetainError as error:
        return 0, [Diagnostic(error.where, 0, "inbox", error.what, error.hint)]


def find(vault: Vault, name: str) -> Item:
    """Return the item with this id, path, or unique beginning of an id. Raises: NotFound."""
    open_items = items(vault)
    by_id = [i for i in open_items if i.id == name]
    by_path = [i for i in open_items if i.path and name in (i.path, i.path[:-3])]
    by_prefix = [i for i in open_items if len(name) >= HALF and i.id.startswith(name)]
    for matches in (by_id, by_path, by_prefix if len(by_prefix) == 1 else []):
        if matches:
            return matches[0]
    raise _unknown(name, open_items)


def source_of(kind: str) -> Source:
    """Return the source of the items of that kind."""
    return next(source for source in SOURCES if kind in source.kinds)


def items_given(vault: Vault, decided: Sequence[Event]) -> list[Item]:
    """Return all open questions, given the events of the decisions ledger."""
    found = [item for source in SOURCES for item in source.items(vault, decided)]
    order = {kind: n for n, kind in enumerate(k for source in SOURCES for k in source.kinds)}
    return sorted(found, key=lambda item: (order[item.kind], item.path, item.about))


def decisions(vault: Vault) -> list[Event]:
    """Return the events of the decisions ledger, ordered."""
    return ledger.ordered(vault.ledger_events(ledger.DECISIONS)[0])


def exact(name: str, found: Sequence[Item]) -> Item:
    """Return the item with this full id, which also identifies the versions that the user saw. Raises: NotFound."""
    item = next((i for i in found if i.id == name), None)
    if item is not None:
        return item
    raise _unknown(name, found)


def _unknown(name: str, found: Sequence[Item]) -> NotFound:
    shown = clean_line(name)[:80]
    same = next((i for i in found if len(name) == 2 * HALF and i.stem == name[:HALF]), None)
    if same is not None:
        hint = f"check it again with `retain inbox show {same.id}`"
        return NotFound(f"{shown} has changed since it was shown", where=same.path, hint=hint)
    begun = [i.id for i in found if name and i.id.startswith(name)]
    if begun:
        return NotFound(
            f"{shown} is not a full id; give the whole id", hint=f"ids that begin with this: {', '.join(begun[:5])}"
        )
    return NotFound(f"no item in the inbox has the id {shown}", hint="`retain inbox` lists the items")
