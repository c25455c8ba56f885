"""The help: the keys of the screen below, in groups."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widget import Widget

from tui import keymap
from tui.keys import EVERYWHERE, HELP, Key, bindings
from tui.strings import app as strings
from tui.text import content

Group = tuple[str, list[Key]]
_BETWEEN, _SHORT = ", ", 8


class HelpScreen(ModalScreen[None]):
    """The keys of another screen, shown above it."""

    CSS_PATH = "help.tcss"
    BINDINGS = bindings(HELP)  # type: ignore[assignment]

    def __init__(self, keys: Sequence[Key], moved: dict[str, str]) -> None:
        super().__init__()
        here = groups(keymap.with_user_keys(keys, moved), strings.HERE)
        everywhere = groups(keymap.with_user_keys(EVERYWHERE, moved), strings.EVERYWHERE)
        self._left, self._right = halves([*here, *everywhere])

    def compose(self) -> ComposeResult:
        with Vertical(id="help"), VerticalScroll(id="help-body"), Horizontal(id="help-columns"):
            for half in (self._left, self._right):
                yield HelpColumn(half)

    def on_mount(self) -> None:
        box = self.query_one("#help")
        box.border_title, box.border_subtitle = "Keys", "esc closes"

    def on_click(self) -> None:
        self.dismiss()

    def action_close(self) -> None:
        self.dismiss()

    def action_scroll(self, rows: int) -> None:
        self.query_one("#help-body").scroll_relative(y=rows, animate=False)


def groups(keys: Iterable[Key], otherwise: str) -> list[Group]:
    """Group the keys under their headings, in order of first appearance."""
    found: dict[str, list[Key]] = {}
    for key in keys:
        found.setdefault(key.group or otherwise, []).append(key)
    return list(found.items())


def halves(all_groups: Sequence[Group]) -> tuple[list[Group], list[Group]]:
    """Split the groups into two columns of about the same height."""
    heights = [len(keys) + 2 for _, keys in all_groups]
    cuts = range(1, len(all_groups) + 1)
    cut = min(cuts, key=lambda at: (max(sum(heights[:at]), sum(heights[at:])), at))
    return list(all_groups[:cut]), list(all_groups[cut:])


class HelpColumn(Widget):
    """One column of groups; a long description wraps beside its key."""

    def __init__(self, half: Sequence[Group]) -> None:
        super().__init__(classes="help-half")
        self._half = half

    def render(self) -> Content:
        return Content("\n").join(_rows(self._half, self.content_size.width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(_rows(self._half, width))


def _rows(half: Sequence[Group], width: int) -> list[Content]:
    pressed = max((len(_pressed(key)) for _, keys in half for key in keys), default=0) + 2
    rows: list[Content] = []
    for heading, keys in half:
        rows += [Content("")] * bool(rows) + [content.plain(heading, "bold $text-primary")]
        for key in keys:
            rows += _row(key, pressed, max(12, width - pressed))
    return rows


def _row(key: Key, pressed: int, room: int) -> list[Content]:
    first, *more = textwrap.wrap(key.description, room) or [""]
    name = content.plain(_pressed(key).ljust(pressed), "bold $text-accent")
    return [Content.assemble(name, content.plain(first)), *(content.plain(" " * pressed + line) for line in more)]


def _pressed(key: Key) -> str:
    """Return the key as people write it, with a second one if both are short."""
    first, *others = key.keys.split(",")
    names = list(dict.fromkeys([key.shown or keymap.display_name(first), *map(keymap.display_name, others)]))
    both = _BETWEEN.join(names[:2])
    return both if len(both) <= _SHORT else names[0]
