"""The screens by name. Each module is imported when its screen is first shown, so that the app starts fast."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.context import Context
    from tui.screen import Page

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


def new_screen(where: str, context: Context, about: str = "") -> Page:
    """Return a new screen of the kind `where`, a key of PLACES."""
    module, _, name = PLACES[where].partition(":")
    made: Page = getattr(import_module(module), name)(context, about)
    return made
