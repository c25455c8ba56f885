"""The first run: whatever lies in the folder, there is a screen that says what can be done, and a way out."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from textual.pilot import Pilot
from textual.widgets import Static

import templates
from cli import output
from cli.main import run as command
from tests.builders import DOCUMENTS
from tests.tui.conftest import until
from tui.screens.first_run import Choice, FirstRunApp, Start
from tui.state.folder_survey import MOST, Survey, survey
from tui.views.work import WorkView
from tui.widgets.path_input import PathInput
from vault.errors import Damaged, RetainError, SchemaTooNew, VaultNotFound
from vault.vault import open_vault

HERE = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-c", f"import sys; sys.path.insert(0, {str(HERE)!r}); from cli.main import main; main()")
COLOURS = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
Compare = Callable[..., bool]
NONE_HERE = VaultNotFound(
    "no retain.toml in this folder or its parent folders",
    where="/somewhere",
    hint="create a vault with `retain init DIR`",
)


@pytest.fixture(autouse=True)
def config(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(own_home / ".local/share"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "here"
    made.mkdir()
    return made


@pytest.fixture
def begin(folder: Path, clock: Callable[[], datetime]) -> Iterator[Callable[..., FirstRunApp]]:
    """The app in that folder, with what went wrong there."""
    made: list[FirstRunApp] = []

    def begin(problem: RetainError = NONE_HERE, shown: Path = folder) -> FirstRunApp:
        def opens() -> Path:
            return open_vault(str(folder), None, folder).root

        app = FirstRunApp(Start(shown, problem, PROGRAM, {**os.environ, **COLOURS}, clock, DOCUMENTS, opens))
        made.append(app)
        return app

    yield begin
    for app in made:
        app.jobs.end()


async def over(app: FirstRunApp, pilot: Pilot[Choice]) -> None:
    """Waits until all that was begun has ended, which leads to a vault: one piece of work begins the next."""
    await until(pilot, lambda: app.return_value is not None, "a vault to open")


def words(app: FirstRunApp, name: str) -> str:
    return str(app.query_one(name, Static).content)


async def test_a_vault_is_made_in_the_folder_that_is_named(begin: Callable[..., FirstRunApp], folder: Path) -> None:
    app = begin()
    async with app.run_test() as pilot:
        assert words(app, "#first-head") == "There is no vault in this folder yet."
        await pilot.press("1", "enter", "enter")
        await over(app, pilot)
    assert app.return_value == Choice(folder / "my-vault")
    assert open_vault(str(folder / "my-vault"), None, folder).settings.name == "my-vault"


async def test_a_personal_vault_is_made_beside_it_when_one_is_named(
    begin: Callable[..., FirstRunApp], folder: Path
) -> None:
    app = begin()
    async with app.run_test() as pilot:
        await pilot.press("enter", "enter")
        app.query_one("#personal", PathInput).value = "own-notes"
        await pilot.press("enter")
        await over(app, pilot)
    assert (folder / "own-notes").is_dir() and not (folder / "my-vault/insights").exists()


async def test_the_example_is_made_and_its_review_opens(begin: Callable[..., FirstRunApp], folder: Path) -> None:
    app = begin()
    async with app.run_test() as pilot:
        await pilot.press("2", "enter")
        await over(app, pilot)
    root = folder / "retain-example"
    assert app.return_value == Choice(root, "review")
    assert list((root / "learning/flashcards").glob("*.md"))
    again = begin()
    async with again.run_test() as pilot:  # its reviews are kept
        await pilot.press("2", "enter")
        await over(again, pilot)
    assert again.return_value == Choice(root, "review")


async def test_adopting_says_first_what_is_there_and_changes_none_of_it(
    begin: Callable[..., FirstRunApp], folder: Path
) -> None:
    (folder / ".obsidian").mkdir()
    (folder / "Note.md").write_text("mine", encoding="utf-8")
    (folder / ".gitignore").write_text("mine too\n", encoding="utf-8")
    app = begin()
    async with app.run_test() as pilot:
        await pilot.press("3")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert words(app, "#first-about").startswith("An Obsidian vault with 2 files, including 1 note.")
        assert sorted(p.name for p in folder.iterdir()) == [".gitignore", ".obsidian", "Note.md"]
        await pilot.press("enter")
        await over(app, pilot)
    assert app.return_value == Choice(folder)
    assert (folder / "Note.md").read_text() == "mine" and (folder / ".gitignore").read_text() == "mine too\n"
    assert (folder / "retain.toml").exists()


async def test_what_cannot_be_made_is_named_and_the_choice_comes_back(
    begin: Callable[..., FirstRunApp], folder: Path
) -> None:
    (folder / "my-vault").mkdir()
    (folder / "my-vault/Note.md").write_text("mine", encoding="utf-8")
    app = begin()
    async with app.run_test() as pilot:
        await pilot.press("1", "enter", "enter")
        await until(pilot, lambda: app.jobs.state is not None and not app.jobs.running, "the end of the work")
        told = str(app.query_one(WorkView).content)
        assert "the folder is not empty" in told and "--adopt adds the vault" in told
        await pilot.press("escape")
        assert words(app, "#first-head") == "There is no vault in this folder yet."
        await pilot.press("q")
    assert app.return_value is None
    assert [p.name for p in (folder / "my-vault").iterdir()] == ["Note.md"]


async def test_a_vault_that_cannot_be_opened_says_why_and_opens_once_it_is_mended(
    begin: Callable[..., FirstRunApp], folder: Path
) -> None:
    command(["init", str(folder), "--no-git"])
    settings = folder / "retain.toml"
    good = settings.read_text()
    settings.write_text("x = [", encoding="utf-8")
    app = begin(Damaged("not TOML: [bold]\x1b[31mred", where="retain.toml", hint="mend it"))
    async with app.run_test() as pilot:
        assert "not TOML: [bold]\ufffd[31mred" in words(app, "#first-about")
        await pilot.press("1", "2", "escape", "r")
        assert "fix it, or restore it from git" in words(app, "#first-about")
        settings.write_text(good, encoding="utf-8")
        await pilot.press("r")
    assert app.return_value == Choice(folder)


async def test_leaving_what_cannot_be_opened_gives_no_choice(begin: Callable[..., FirstRunApp]) -> None:
    app = begin(SchemaTooNew("a newer retain made this vault", where="retain.toml:3", hint="update retain"))
    async with app.run_test() as pilot:
        assert words(app, "#first-head") == "This vault cannot be opened."
        await pilot.press("question_mark", "question_mark", "q")
    assert app.return_value is None


def test_without_a_terminal_it_stays_the_named_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("RETAIN_VAULT", raising=False)
    with CliRunner().isolation():
        assert command([]) == command(["review"]) == output.USAGE


def test_a_folder_of_thousands_of_files_is_counted_no_further_than_needed(folder: Path) -> None:
    assert survey(folder) == Survey() and survey(folder).empty
    for number in range(3):
        (folder / f"{number}.md").touch()
    assert survey(folder) == Survey(notes=3)
    assert survey(Path("/no/such/folder")) == Survey()
    assert MOST >= 10_000


def test_the_example_stands_where_a_checkout_or_a_wheel_has_it() -> None:
    assert {".md", ".html", ".txt"} == {p.suffix for p in templates.example().iterdir()}


SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 45)], ids=["80x24", "140x45"])


@SIZES
def test_welcome(snap_compare: Compare, begin: Callable[..., FirstRunApp], size: tuple[int, int]) -> None:
    assert snap_compare(begin(shown=Path("/home/you/reading")), terminal_size=size)


@SIZES
def test_adopting(snap_compare: Compare, begin: Callable[..., FirstRunApp], size: tuple[int, int]) -> None:
    app = begin(shown=Path("/home/you/reading"))

    async def run(pilot: Pilot[Choice]) -> None:
        await pilot.press("3")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()

    assert snap_compare(app, run_before=run, terminal_size=size)


@SIZES
def test_problem(snap_compare: Compare, begin: Callable[..., FirstRunApp], size: tuple[int, int]) -> None:
    newer = SchemaTooNew("this vault has schema 9; this retain knows 2", where="retain.toml:3", hint="update retain")
    assert snap_compare(begin(newer, Path("/home/you/reading")), terminal_size=size)
