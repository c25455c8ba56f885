"""The screens by name, and the command palette: keys of the current screen, the other screens, the themes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

from textual.app import App, SystemCommand
from textual.screen import Screen

from tui import keymap
from tui.context import Context
from tui.keys import ANYWHERE, SCREENS
from tui.preferences import THEMES
from tui.screen import Go, Page
from tui.strings import app as strings

# The module of a screen is imported when it is first shown, so that the app starts fast.
PLACES = {
    "settings": "tui.screens.settings:SettingsScreen",
    "home": "tui.screens.home:HomeScreen",
    "review": "tui.screens.review:ReviewScreen",
    "gaps": "tui.screens.gaps:GapsScreen",
    "inbox": "tui.screens.inbox:InboxScreen",
    "suggest": "tui.screens.suggest:SuggestScreen",
    "stats": "tui.screens.stats:StatsScreen",
    "article": "tui.screens.article:ArticleScreen",
    "browse": "tui.screens.browse:BrowseScreen",
    "practise": "tui.screens.practice:PractiseScreen",
    "edit": "tui.screens.edit:EditScreen",
    "new": "tui.screens.new_card:NewCardScreen",
    "info": "tui.screens.card_info:CardInfoScreen",
    "work": "tui.screens.work:WorkScreen",
    "quiz": "tui.screens.quiz:QuizScreen",
    "search": "tui.screens.search:SearchScreen",
    "ask": "tui.screens.ask:AskScreen",
}


def new_screen(where: str, context: Context, about: str = "") -> Page:
    """Return a new screen of the kind `where`, a key of PLACES."""
    module, _, name = PLACES[where].partition(":")
    made: Page = getattr(import_module(module), name)(context, about)
    return made


def commands(app: App[int], screen: Screen[Any], apply_theme: Callable[[str], None]) -> Iterator[SystemCommand]:
    """Yield the commands for `screen`, without those that do nothing now. `apply_theme` sets a theme."""
    if isinstance(screen, Page):
        yield from _keys(app, screen)
        yield from _places(screen)
    for name in THEMES:
        words, about = strings.THEMES[name]
        yield SystemCommand(f"{strings.THEME}: {words}", about, partial(apply_theme, name))
    yield SystemCommand(strings.QUIT, strings.QUIT_ABOUT, partial(app.exit, 0))


def _keys(app: App[int], page: Page) -> Iterator[SystemCommand]:
    moved = page.context.preferences.keys
    for key in keymap.with_user_keys((*SCREENS[page.NAME], *ANYWHERE), moved):
        if key.description and page.offers(key):
            where = app if key in ANYWHERE else page
            name, about = key.words or key.description, f"{key.display}: {key.description}"
            yield SystemCommand(name, about, _doing(where, key.action), discover=bool(key.words))


def _doing(where: Page | App[int], action: str) -> Callable[[], Any]:
    return partial(where.run_action, action)


def _places(page: Page) -> Iterator[SystemCommand]:
    for place in PLACES:
        if place in strings.PLACES and place != page.NAME:
            words, about = strings.PLACES[place]
            yield SystemCommand(words, about, partial(page.post_message, Go(place)))
