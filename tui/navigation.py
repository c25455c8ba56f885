"""From screen to screen: a screen says where the human wants to go, and the app goes there."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from tui.context import Context
    from tui.screen import Page

# Where each screen is: it is loaded when it is asked for, so that whoever starts with a card waits for no other.
PLACES = {
    "settings": "tui.screens.settings:SettingsScreen",
    "home": "tui.screens.home:HomeScreen",
    "review": "tui.screens.review:ReviewScreen",
    "gaps": "tui.screens.gaps:GapsScreen",
    "inbox": "tui.screens.inbox:InboxScreen",
    "stats": "tui.screens.stats:StatsScreen",
    "article": "tui.screens.article:ArticleScreen",
    "browse": "tui.screens.browse:BrowseScreen",
    "practise": "tui.screens.practice:PractiseScreen",
    "edit": "tui.screens.edit:EditScreen",
    "work": "tui.screens.work:WorkScreen",
    "quiz": "tui.screens.quiz:QuizScreen",
}


@dataclass
class Go(Message):
    """To the screen `where` (a key of PLACES); `about` is what it shall show: an article's path, a card's id.

    `sender` is the screen that asks. One that is no longer in front when this is read was left by an earlier key.
    """

    where: str
    about: str = ""
    sender: Page | None = None


@dataclass
class Back(Message):
    """To the screen below; home where there is none. `sender` as with `Go`."""

    sender: Page


def screen(where: str, context: Context, about: str = "") -> Page:
    """A new screen of that kind."""
    module, _, name = PLACES[where].partition(":")
    made: Page = getattr(import_module(module), name)(context, about)
    return made
