"""The job screen: choose a command, follow it, cancel it, see its result."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input, OptionList, Static

from tui.context import Context
from tui.keys import WORK, Key
from tui.models import work as strings
from tui.screen import Page
from tui.state.job_state import WorkState
from tui.strings.work import MENU
from tui.text import content
from tui.views.work import WorkView
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.grouped_list import Menu, move_cursor
from tui.widgets.notice import Notice
from tui.widgets.path_input import PathInput, whole
from vault.errors import RetainError

_PACKAGES = (".apkg", ".colpkg")
_ASKED = {
    "add": (strings.ASK_ADD, ()),
    "import": (strings.ASK_IMPORT, ()),
    "export": (strings.ASK_EXPORT, _PACKAGES[:1]),
}
_WITH_ANKI = ("export", "sync")  # commands that name the other program
_HARVEST = ("review", "gaps")  # keys that lead to what was made


class WorkMenu(Menu):
    """The commands that can be run."""

    def action_cursor_up(self) -> None:
        """Stop at the first entry, so that one press too many does not select the last."""
        if self.highlighted:
            super().action_cursor_up()

    def action_cursor_down(self) -> None:
        if self.highlighted is None or self.highlighted < self.option_count - 1:
            super().action_cursor_down()


class WorkScreen(Page, key="work"):
    """Runs a command and shows its progress. `about` is its words: `compile`, `import FILE`, `add --fills GAP FILE`."""

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about)
        self._asking = ""  # the command whose last word is being typed

    def compose(self) -> ComposeResult:
        yield TopBar(strings.TITLE)
        with VerticalScroll(id="work", can_focus=False), Vertical(classes="column"):
            yield Static(markup=False, id="work-head")
            yield WorkMenu(_numbered(MENU), 21)
            with Vertical(id="work-form"):
                yield Static(markup=False, id="work-ask")
                yield PathInput()
                yield Static(content.plain(strings.ASK_HOW), markup=False, id="work-how")
            yield WorkView()
        yield Notice()
        yield KeyBar(())

    def on_mount(self) -> None:
        self.set_interval(1.0, self._tick)
        if self.about in _ASKED and not self.context.jobs.running:
            self.context.jobs.forget()
            self._chosen(self.about)
        elif self.about:
            self._begin(words_of(self.about))
        self._show()

    # --- what is shown ----------------------------------------------------------------------------------------------

    def on_work_moved(self) -> None:
        if self.query(WorkView):
            self._show()

    def _tick(self) -> None:
        """Update the times, also while the job sends no events."""
        if self.context.jobs.running:
            self._show_state()

    def _show_state(self) -> None:
        state = self.context.jobs.state
        if state is not None:
            self.query_one(WorkView).show(state, self.context.clock())

    def _show(self) -> None:
        state = self.context.jobs.state
        menu, form = self.query_one(WorkMenu), self.query_one("#work-form")
        menu.display = state is None and not self._asking
        form.display = state is None and bool(self._asking)
        self.query_one(WorkView).display = state is not None
        if state is None:
            title = MENU[self._asking][0] if self._asking else strings.MENU_TITLE
        else:
            title = MENU[state.name][0] if state.name in MENU else strings.TITLE
        self.query_one("#work-head", Static).update(content.plain(title, "bold"))
        if menu.display:
            menu.focus()
        self._show_state()
        self.query_one(KeyBar).show(key for key in WORK if self.offers(key))

    def offers(self, key: Key) -> bool:
        state = self.context.jobs.state
        running, over = state is not None and state.running, state is not None and not state.running
        match key.action:
            case "choose":
                return state is None
            case "cancel" | "leave":
                return running
            case "compile":
                return over and state is not None and state.name == "add" and state.code == 0
            case "menu":
                return over
        if key.action.startswith("take"):
            return state is None
        return over if key.action.startswith("result") else True

    # --- keys and choices -------------------------------------------------------------------------------------------

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        self._chosen(message.option_id or "")

    def action_choose(self) -> None:
        menu = self.query_one(WorkMenu)
        if menu.display and menu.highlighted is not None:
            self._chosen(menu.get_option_at_index(menu.highlighted).id or "")

    def action_take(self, number: int) -> None:
        """Choose the entry with this number."""
        if self.query_one(WorkMenu).display:
            self._chosen(list(MENU)[number - 1])

    def _chosen(self, name: str) -> None:
        if name not in _ASKED:
            self._begin(_with_program(name))
            self._show()
            return
        self._asking = name
        asked, suffixes = _ASKED[name]
        self.query_one("#work-ask", Static).update(content.plain(asked))
        typed = self.query_one(PathInput)
        typed.value = f"~/{self.context.vault.root.name}.apkg" if name == "export" else ""
        typed.cursor_position = len(typed.value)
        typed.restrict_to(suffixes)
        self._show()
        typed.focus()
        self.call_after_refresh(self._focus_path)  # hiding the menu moves the focus, at a time of Textual's choosing

    def _focus_path(self) -> None:
        """Give the question the focus while it is shown."""
        typed = self.query_one(PathInput)
        if self._asking and not typed.has_focus:
            typed.focus()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        if message.value.strip():
            path = whole(message.value.strip())
            self._begin((*_with_program(self._asking, path), "--", path))
            self._show()

    def _begin(self, words: tuple[str, ...]) -> None:
        """Start a command; if that fails, show the error."""
        context = self.context
        self._asking = ""
        if not words:
            return
        try:
            context.jobs.start(context.program, context.vault.root, words, context.environment, context.clock)
        except RetainError as error:
            self.show_error(error)
        else:
            self.query_one(Notice).clear()

    def action_cancel(self) -> None:
        self.context.jobs.cancel()

    def action_compile(self) -> None:
        if self._over is not None and self._over.name == "add":
            self._begin(("compile",))
            self._show()

    def action_result(self, where: str) -> None:
        if self._over is not None and where in _HARVEST:
            self.context.jobs.forget()
            self.go(where)

    def action_menu(self) -> None:
        if self._over is not None:
            self.context.jobs.forget()
            self._show()

    @property
    def _over(self) -> WorkState | None:
        state = self.context.jobs.state
        return state if state is not None and not state.running else None

    def action_leave(self) -> None:
        if self.context.jobs.running:
            self.action_back()

    def action_back(self) -> None:
        """Close the question or the result; a running job continues."""
        if self._asking:
            self._asking = ""
            self._show()
            return
        self.context.jobs.forget()
        super().action_back()

    def action_move(self, rows: int) -> None:
        menu = self.query_one(WorkMenu)
        if menu.display:
            move_cursor(menu, rows)
        else:
            self.query_one("#work").scroll_relative(y=rows, animate=False)


def _numbered(menu: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Return a menu with the number before each name."""
    return {id_: (f"{n}  {name}", about) for n, (id_, (name, about)) in enumerate(menu.items(), 1)}


def _with_program(name: str, path: str = "") -> tuple[str, ...]:
    """Return the words of a command, with the other program where it needs one: an import, by its file's name."""
    if name == "import":
        return (name, "anki" if path.lower().endswith(_PACKAGES) else "cards")
    return (name, "anki") if name in _WITH_ANKI else (name,)


def words_of(about: str) -> tuple[str, ...]:
    """Return the words of a command for the shell; `import FILE`, `export FILE` and `sync` get the program's name."""
    try:
        words = tuple(shlex.split(about))
    except ValueError:
        words = (about,)
    if words and (words[0] == "import" or words[0] in _WITH_ANKI) and words[1:2] not in (("anki",), ("cards",)):
        return (*_with_program(words[0], words[-1]), *words[1:])
    return words
