"""The screens by name, and the command palette: keys of the current screen, the other screens, the themes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from textual.app import App, SystemCommand
from textual.screen import Screen

from tui import keymap
from tui.context import Context
from tui.keys import ANYWHERE, SCREENS, Key
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

_ANYWHERE = {key.id for key in ANYWHERE}


def new_screen(where: str, context: Context, about: str = "") -> Page:
    """Return a new screen of the kind `where`, a key of PLACES."""
    module, _, name = PLACES[where].partition(":")
    made: Page = getattr(import_module(module), name)(context, about)
    return made


def commands(app: App[int], screen: Screen[Any], apply_theme: Callable[[str], None]) -> Iterator[SystemCommand]:
    """Yield the commands for `screen`, its own first, each once, without those that do nothing now.

    `apply_theme` sets a theme.
    """
    if isinstance(screen, Page):
        own = [key for key in (*SCREENS[screen.NAME], *ANYWHERE) if key.description and screen.offers(key)]
        yield from _keys(app, screen, own)
        yield from _places(screen, own)
    for name in THEMES:
        words, about = strings.THEMES[name]
        yield SystemCommand(f"{strings.THEME}: {words}", about, partial(apply_theme, name))
    if not isinstance(screen, Page) or all(key.action != "quit" for key in own):
        yield SystemCommand(strings.QUIT, strings.QUIT_ABOUT, partial(app.exit, 0))


def _keys(app: App[int], page: Page, own: Sequence[Key]) -> Iterator[SystemCommand]:
    for key in keymap.with_user_keys(own, page.context.preferences.keys):
        where = app if key.id in _ANYWHERE else page
        shown = f"{key.display}: {key.meaning}" if key.meaning else key.display
        yield SystemCommand(key.label, shown, _doing(where, key.action), discover=bool(key.words))


def _doing(where: Page | App[int], action: str) -> Callable[[], Any]:
    return partial(where.run_action, action)


def _places(page: Page, own: Sequence[Key]) -> Iterator[SystemCommand]:
    """Yield the other screens, without those to which a key of this one leads."""
    named = {key.words for key in own}
    led_to = {page.NAME, *(key.action.removeprefix("go('").removesuffix("')") for key in own)}
    for place in PLACES:
        words, about = strings.PLACES.get(place, ("", ""))
        if words and place not in led_to and words not in named:
            yield SystemCommand(words, about, partial(page.post_message, Go(place)))
