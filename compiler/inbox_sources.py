"""Everything that may wait in the inbox, in the order in which it is listed: a new kind of question is named here."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compiler.inbox import Source


def sources() -> tuple[Source, ...]:
    """One of each."""
    from compiler.inbox_pages import Decks, Pages

    return (Pages(), Decks())
