"""Every key of the app: one registry feeds the bindings, the bar at the foot of each screen, the help and the docs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.binding import Binding


@dataclass(frozen=True, slots=True)
class Key:
    """`keys` are Textual's names, the first one shown as `shown`; a key without `words` works and is not shown."""

    id: str
    keys: str
    action: str
    words: str = ""
    shown: str = ""

    @property
    def display(self) -> str:
        return self.shown or self.keys.split(",")[0]


HOME = (
    Key("home.review", "enter,space", "review", "Review", "enter"),
    Key("home.gaps", "g", "go('gaps')", "Gaps"),
    Key("home.refresh", "r,f5", "refresh"),
    Key("home.quit", "q", "quit", "Quit"),
)
REVIEW = (
    Key("review.reveal", "space,enter", "reveal", "Answer"),
    Key("review.again", "1", "rate(1)"),
    Key("review.hard", "2", "rate(2)"),
    Key("review.good", "3", "rate(3)"),
    Key("review.easy", "4", "rate(4)"),
    Key("review.undo", "u", "undo", "Undo"),
    Key("review.source", "s", "source", "Source"),
    Key("review.open", "o", "open", "Open"),
    Key("review.bury", "b", "bury", "Bury"),
    Key("review.suspend", "x,exclamation_mark", "suspend", "Suspend", "x"),
    Key("review.down", "down,j", "scroll(1)"),
    Key("review.up", "up,k", "scroll(-1)"),
    Key("review.page_down", "pagedown", "page(1)"),
    Key("review.page_up", "pageup", "page(-1)"),
    Key("review.home", "escape,q", "home", "Home", "esc"),
)
GAPS = (
    Key("gaps.resolve", "r", "decide('resolve')", "Resolve"),
    Key("gaps.ignore", "i", "decide('ignore')", "Ignore"),
    Key("gaps.plan", "p", "decide('plan')", "Plan"),
    Key("gaps.undo", "u", "undo", "Undo"),
    Key("gaps.down", "j", "move(1)"),
    Key("gaps.up", "k", "move(-1)"),
    Key("gaps.back", "escape,q", "back", "Back", "esc"),
)
APP = (
    Key("app.theme", "ctrl+t", "toggle_dark"),
    Key("app.interrupt", "ctrl+c", "interrupt"),
)
# The keys of each screen by its name; those of APP work on all of them.
SCREENS = {"home": HOME, "review": REVIEW, "gaps": GAPS}


def bindings(keys: Iterable[Key], *, priority: bool = False) -> list[Binding]:
    """The keys as Textual binds them, each under its id, so that a keymap may move it."""
    return [
        Binding(key.keys, key.action, key.words, show=False, key_display=key.display, id=key.id, priority=priority)
        for key in keys
    ]
