"""Messages with which a screen asks the app to show another one."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message
from textual.screen import Screen


@dataclass
class Go(Message):
    """Show the screen `where` (a key of `tui.places.PLACES`); `about` is an article's path or a card's id.

    `sender` is the screen that asks. The app ignores it if that screen is no longer in front: an earlier key left it.
    """

    where: str
    about: str = ""
    sender: Screen[None] | None = None


@dataclass
class Back(Message):
    """Show the screen below, or home if there is none. `sender` as with `Go`."""

    sender: Screen[None]
