"""The first run: create a vault, try the example, or adopt a folder; or show why a vault cannot be opened.

An app of its own, as there is no vault yet: what it does is done by the commands that do it elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from textual.app import App, ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList, Static

from tui import theme
from tui.help import HelpScreen
from tui.keys import ANYWHERE, APP, FIRST_RUN, Key, bindings
from tui.process.jobs import Jobs
from tui.state.folder_survey import Survey, survey
from tui.strings import first_run as strings
from tui.text import content
from tui.views.work import WorkView
from tui.widgets.bars import KeyBar, TopBar
from tui.widgets.grouped_list import Menu, move_cursor
from tui.widgets.notice import Notice
from tui.widgets.path_input import PathInput, whole
from vault.config.settings import FILE
from vault.errors import RetainError, VaultNotFound

_FINE = (0, 1)  # exit codes after which it goes on: one document that cannot be read stops nothing


@dataclass(frozen=True, slots=True)
class Choice:
    """The vault to open, and the first screen."""

    root: Path
    start: str = "home"


@dataclass(frozen=True, slots=True)
class Start:
    """Where it is run, and what went wrong there. `example` is the folder of the example's documents; `opens` tries to
    open the vault again, and raises what is wrong with it still."""

    folder: Path
    problem: RetainError
    program: tuple[str, ...]
    environment: Mapping[str, str]
    clock: Callable[[], datetime]
    example: Path
    opens: Callable[[], Path]
    theme: str = "auto"

    @property
    def is_new(self) -> bool:
        return isinstance(self.problem, VaultNotFound)


class FirstRunApp(App[Choice]):
    CSS_PATH = ["../theme.tcss", "first_run.tcss"]  # noqa: RUF012
    TITLE = "retain"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [*bindings(APP, priority=True), *bindings(ANYWHERE), *bindings(FIRST_RUN)]  # noqa: RUF012
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-low"), (32, "-tall")]  # noqa: RUF012

    @dataclass
    class Seen(Message):
        """The folder has been counted."""

        survey: Survey

    def __init__(self, start: Start) -> None:
        super().__init__()
        self._start = start
        self.jobs = Jobs()
        self._step = "menu" if start.is_new else "problem"
        self._todo: list[tuple[Path | None, tuple[str, ...]]] = []
        self._choice: Choice | None = None
        self._problem = start.problem
        for each in theme.ALL:
            self.register_theme(each)
        self.theme = theme.preferred(start.environment, start.theme)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme.VARIABLES

    def compose(self) -> ComposeResult:
        yield TopBar(strings.TITLE if self._start.is_new else strings.TITLE_PROBLEM)
        with VerticalScroll(id="first", can_focus=False), Vertical(classes="column"):
            yield Static(markup=False, id="first-head")
            yield Static(markup=False, id="first-about")
            yield Menu(strings.MENU, 22)
            with Vertical(id="first-form"):
                yield Static(markup=False, id="ask-folder")
                yield PathInput(id="folder")
                yield Static(content.plain(strings.ASK_PERSONAL), markup=False, id="ask-personal")
                yield PathInput(id="personal")
                yield Static(content.plain(strings.HOW, content.DIM), markup=False)
            yield WorkView()
        yield Notice()
        yield KeyBar(())

    def on_mount(self) -> None:
        self.jobs.watch(self)
        self.set_interval(1.0, self._show_work)
        self._show()

    # --- what is shown ----------------------------------------------------------------------------------------------

    def _show(self) -> None:
        step = self._step
        self.query_one(TopBar).show_status(str(self._start.folder))
        self.query_one(Menu).display = step == "menu"
        self.query_one("#first-form").display = step in ("new", "example")
        self.query_one(WorkView).display = step == "work"
        for name in ("#ask-personal", "#personal"):
            self.query_one(name).display = step == "new"
        head, about = self._words()
        self.query_one("#first-head", Static).update(content.line(head, "bold"))
        self.query_one("#first-about", Static).update(about)
        self.query_one("#first-about").display = bool(about.plain)
        if step == "menu":
            self.query_one(Menu).focus()
        self.query_one(KeyBar).show(key for key in FIRST_RUN if self.offers(key))
        self._show_work()

    def _words(self) -> tuple[str, Content]:
        match self._step:
            case "problem":
                return strings.PROBLEM, _problem(self._problem)
            case "menu":
                return strings.HELLO, content.plain(strings.ABOUT)
            case "adopt":
                return strings.MENU["adopt"][0][3:], content.plain(strings.LOOKING, content.DIM)
            case "work":
                words = self.jobs.state.name if self.jobs.state is not None else ""
                return strings.STEPS.get(words, strings.TITLE), Content("")
        return strings.MENU[self._step][0][3:], Content("")

    def _show_work(self) -> None:
        if self._step == "work" and self.jobs.state is not None:
            self.query_one(WorkView).show(self.jobs.state, self._start.clock())

    def offers(self, key: Key) -> bool:
        match key.action:
            case "choose":
                return self._step not in ("problem", "work")
            case "again":
                return self._step == "problem"
            case "back":
                return self._step not in ("problem", "menu")
        return key.action == "quit" and self._step in ("problem", "menu")

    # --- choices and input ------------------------------------------------------------------------------------------

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        self.action_take(message.option_id or "")

    async def on_key_bar_chosen(self, message: KeyBar.Chosen) -> None:
        await self.run_action(message.action)

    def action_choose(self) -> None:
        menu = self.query_one(Menu)
        if self._step == "adopt":
            self._do_adopt()
        elif self._step == "menu" and menu.highlighted is not None:
            self.action_take(menu.get_option_at_index(menu.highlighted).id or "")

    def action_take(self, what: str) -> None:
        if self._step != "menu":
            return
        if what == "quit":
            self.exit()
            return
        self._step = what
        self.query_one(Notice).clear()
        self._show()
        if what == "adopt":
            self.run_worker(self._look, thread=True, exclusive=True)
        else:
            self._ask(what)

    def _ask(self, what: str) -> None:
        asked = strings.ASK_FOLDER if what == "new" else strings.ASK_EXAMPLE
        self.query_one("#ask-folder", Static).update(content.plain(asked))
        folder = self.query_one("#folder", PathInput)
        folder.value = strings.DEFAULT_NEW if what == "new" else strings.DEFAULT_EXAMPLE
        folder.cursor_position = len(folder.value)
        folder.focus()

    def _look(self) -> None:
        self.post_message(self.Seen(survey(self._start.folder)))

    def on_first_run_app_seen(self, message: Seen) -> None:
        if self._step == "adopt":
            self.query_one("#first-about", Static).update(_adopting(message.survey))

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        typed = {asked.id: asked.value.strip() for asked in self.query(PathInput)}
        if self._step == "new" and message.input.id == "folder":
            self.query_one("#personal", PathInput).focus()
        elif typed["folder"]:
            root = self._whole(typed["folder"])
            own = ("--personal", str(self._whole(typed["personal"] or ""))) if typed["personal"] else ()
            if self._step == "example":
                self._make_example(root)
            else:
                self._run([(None, ("init", *own, "--", str(root)))], Choice(root))

    def _whole(self, typed: str) -> Path:
        path = Path(whole(typed))
        return path if Path(typed).is_absolute() or typed.startswith("~") else self._start.folder / typed

    def _make_example(self, root: Path) -> None:
        choice = Choice(root, "review")
        if (root / FILE).is_file():  # it was made before: its reviews are kept
            self.exit(choice)
            return
        add = (root, ("add", "--", str(self._start.example)))
        self._run([(None, ("init", "--", str(root))), add, (root, ("compile",))], choice)

    def _do_adopt(self) -> None:
        root = self._start.folder
        self._run([(None, ("init", "--adopt", "--", str(root)))], Choice(root))

    # --- doing it ---------------------------------------------------------------------------------------------------

    def _run(self, todo: list[tuple[Path | None, tuple[str, ...]]], choice: Choice) -> None:
        self._todo, self._choice, self._step = todo, choice, "work"
        self._next()

    def _next(self) -> None:
        """Start the next command; after the last, open the vault."""
        if not self._todo:
            self.exit(self._choice)
            return
        root, words = self._todo.pop(0)
        start = self._start
        try:
            self.jobs.start(start.program, root, words, start.environment, start.clock)
        except RetainError as error:
            self.query_one(Notice).show_error(error)
        self._show()

    def on_work_moved(self) -> None:
        state = self.jobs.state
        if state is None or self._step != "work":
            return
        if not state.running and state.code in _FINE and not state.stopping and state.error is None:
            self.jobs.forget()
            self._next()
        else:
            self._show()

    async def action_back(self) -> None:
        if self._step in ("problem", "menu"):
            return
        if self.jobs.running:
            self.jobs.cancel()
            return
        self.jobs.forget()
        self._step = "menu"
        self._show()

    def action_again(self) -> None:
        """Try to open the vault again."""
        if self._step != "problem":
            return
        try:
            self.exit(Choice(self._start.opens()))
        except RetainError as error:
            self._problem = error
            self._show()

    async def action_quit(self) -> None:
        self.exit()

    def action_interrupt(self) -> None:
        self.exit()

    def action_toggle_dark(self) -> None:
        self.theme = theme.other(self.theme)

    async def action_help(self) -> None:
        if isinstance(self.screen, HelpScreen):
            self.screen.dismiss()
        else:
            await self.push_screen(HelpScreen(FIRST_RUN, {}))

    def action_move(self, rows: int) -> None:
        menu = self.query_one(Menu)
        if menu.display:
            move_cursor(menu, rows)

    def _fatal_error(self) -> None:
        """End after an unexpected error without printing local variables; `first_run` raises the error."""
        self._close_messages_no_wait()


def _problem(error: RetainError) -> Content:
    where = [content.line(error.where, content.DIM), Content("")] if error.where else []
    hint = [Content(""), content.line(error.hint)] if error.hint else []
    how = [Content(""), content.plain(strings.PROBLEM_HOW, content.DIM)]
    return Content("\n").join([*where, content.line(error.what, "bold $text-error"), *hint, *how])


def _adopting(seen: Survey) -> Content:
    rows = [content.plain(strings.found(seen)), Content(""), content.plain(strings.WOULD_ADD)]
    rows += [Content.assemble("  ", content.plain(row, "$text-accent")) for row in strings.ADDS]
    rows += [] if seen.git else [Content.assemble("  ", content.plain(strings.WOULD_GIT))]
    rows += [Content(""), content.plain(strings.WOULD_NOT), Content(""), content.plain(strings.ADOPT_HOW, content.DIM)]
    return Content("\n").join(rows)


def first_run(start: Start) -> Choice | None:
    """Run the first-run app; return the vault to open, None if the user left. Raises: any unexpected error."""
    app = FirstRunApp(start)
    try:
        choice = app.run()
    finally:
        app.jobs.end()
    if app._exception is not None:
        raise app._exception
    return choice
