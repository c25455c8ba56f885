"""Long work behind its screen: the very commands as processes, heard, left, cancelled; their results with ways on."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from textual.message_pump import MessagePump
from textual.pilot import Pilot

from tests.builders import DOCUMENTS
from tests.tui.conftest import PATIENCE_S, until
from tui.app import RetainApp
from tui.context import Context
from tui.process.jobs import Jobs, WorkMoved
from tui.screen import Go
from tui.screens.work import WorkScreen, words_of
from tui.state.job_state import after, begun, ended
from tui.views.work import WorkView
from tui.widgets.bars import TopBar
from tui.widgets.notice import Notice
from tui.widgets.path_input import PathInput, completions
from vault.vault import Vault, open_vault

HERE = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-c", f"import sys; sys.path.insert(0, {str(HERE)!r}); from cli.main import main; main()")
Settled = Callable[[Pilot[int]], Awaitable[None]]
Compare = Callable[..., bool]
TIDES = """# Tides

The tide is the regular rise and fall of the sea that is caused by the pull of the Moon and the Sun.
The tide is higher when the Moon and the Sun pull in one line, because their forces then add up.

## How tides are predicted

Harbours predict the tide from long records, since the tide returns with the motions of the Moon and the Sun.
"""
PRODUCTS = ("wiki", "learning/flashcards", "learning/gaps.md")


def run(*words: str) -> None:
    subprocess.run([*PROGRAM, *words], check=True, capture_output=True)


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault with two documents, and nothing made of them yet."""
    root = tmp_path_factory.mktemp("grown") / "v"
    run("init", str(root), "--no-git")
    run("--vault", str(root), "add", str(DOCUMENTS))
    return root


@pytest.fixture
def full(grown: Path, tmp_path: Path) -> Vault:
    root = tmp_path / "v"
    shutil.copytree(grown, root)
    return open_vault(str(root), None, root)


def app_on(vault: Vault, start: str = "work", program: tuple[str, ...] = PROGRAM) -> RetainApp:
    return RetainApp(Context(vault, lambda: datetime.now(UTC), program=program), start)


def held(gate: Path) -> tuple[str, ...]:
    """The program, which begins once there is a file `gate`."""
    waits = f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.01)\n"
    return (*PROGRAM[:2], waits + PROGRAM[2])


async def over(app: RetainApp, pilot: Pilot[int]) -> None:
    """Waits until the work has ended and the screen says so."""
    reader = app.context.jobs._reader
    await until(pilot, lambda: reader is None or not reader.is_alive(), "the end of the work")


def said(app: RetainApp) -> str:
    return str(app.screen.query_one(WorkView).content)


class Listener(MessagePump):
    """Is told of the work, and cancels it at a step."""

    def __init__(self, jobs: Jobs, step: str) -> None:
        super().__init__()
        self.jobs, self.step = jobs, step
        self.told = 0

    def post_message(self, message: object) -> bool:
        assert isinstance(message, WorkMoved)
        self.told += 1
        stage = self.jobs.state.stage if self.jobs.state is not None else None
        if stage is not None and stage.name == self.step:
            self.jobs.cancel()
        return True


async def test_a_compile_runs_is_seen_at_the_head_of_other_screens_and_leads_on(full: Vault, tmp_path: Path) -> None:
    app = app_on(full, program=held(tmp_path / "gate"))
    async with app.run_test() as pilot:
        await pilot.press("2")
        assert app.context.jobs.running
        await pilot.press("h")
        assert app.screen.NAME == "home"  # type: ignore[attr-defined]
        (tmp_path / "gate").touch()
        await over(app, pilot)
        assert app.screen.query_one(TopBar).job == "compiling done"
        app.screen.post_message(Go("work"))
        await pilot.pause()
        assert re.search(r"Compiled in.*\b[1-9]\d* created.*offline: no cost", said(app), re.DOTALL)
        await pilot.press("g")
        await pilot.pause()
        assert app.screen.NAME == "gaps"  # type: ignore[attr-defined]
        assert app.context.jobs.state is None
        assert app.screen.query_one(TopBar).job == ""


@pytest.fixture(scope="module")
def whole(grown: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same vault, compiled without a break."""
    root = tmp_path_factory.mktemp("whole") / "v"
    shutil.copytree(grown, root)
    run("--vault", str(root), "compile")
    return root


@pytest.mark.torture
@pytest.mark.parametrize("step", ["source", "save"])
def test_a_compile_cancelled_midway_is_finished_by_the_next_to_the_same_bytes(
    full: Vault, whole: Path, step: str
) -> None:
    jobs = Jobs()
    jobs.watch(Listener(jobs, step))
    jobs.start(PROGRAM, full.root, ("compile",), {}, lambda: datetime.now(UTC))
    assert jobs._reader is not None
    jobs._reader.join(PATIENCE_S)
    jobs.end()
    assert jobs.state is not None and jobs.state.stopping and jobs.state.code is not None
    run("--vault", str(full.root), "compile")
    assert _bytes(full.root) == _bytes(whole)


def _bytes(root: Path) -> dict[str, bytes]:
    files = [p for part in PRODUCTS for p in ([root / part] if (root / part).is_file() else (root / part).rglob("*"))]
    # The chronicle names each run; a write that was broken off may leave a hidden file for a later sweep.
    kept = [p for p in files if p.is_file() and p.name != "_log.md" and not p.name.startswith(".retain-tmp-")]
    return {str(p.relative_to(root)): _undated(p.read_bytes()) for p in kept}


def _undated(data: bytes) -> bytes:
    """Without the day on which it was made, which may have ended meanwhile."""
    today = datetime.now(UTC).date()
    for day in (today, today - timedelta(days=1)):
        data = data.replace(day.isoformat().encode(), b"today")
    return data


async def test_work_that_is_leaving_with_the_app_is_ended(full: Vault) -> None:
    app = app_on(full)
    async with app.run_test() as pilot:
        await pilot.press("2")
    app.context.jobs.end()
    process = app.context.jobs._process
    assert process is not None and process.poll() is not None


async def test_a_file_is_added_by_its_completed_name_and_then_compiled(full: Vault, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "tides.md").write_text(TIDES, encoding="utf-8")
    app = app_on(full)
    async with app.run_test() as pilot:
        await pilot.press("1")
        typed = app.screen.query_one(PathInput)
        typed.value = f"{tmp_path}/pap"
        await pilot.press("tab", "tab")
        assert typed.value == f"{folder}/tides.md"
        await pilot.press("enter")
        await over(app, pilot)
        assert "1 file" in said(app)
        assert re.search(r"Added to the vault as +1\nraw/articles/tides.md", said(app))
        await pilot.press("m")
        assert app.context.jobs.state is not None and app.context.jobs.state.words == ("compile",)
        await over(app, pilot)
    assert (full.root / "wiki/summaries/tides.md").exists()
    assert (full.root / "wiki/concepts/tide.md").exists()


async def test_what_goes_wrong_is_named_with_the_way_on(vault: Vault, clock: Callable[[], datetime]) -> None:
    app = RetainApp(Context(vault, clock, program=PROGRAM), "home")
    async with app.run_test() as pilot:
        app.screen.post_message(Go("work", "import /nowhere/deck.apkg"))
        await until(pilot, lambda: app.context.jobs.state is not None, "the start of the work")
        await over(app, pilot)
        assert "there is no such file" in said(app) and "/nowhere/deck.apkg" in said(app)
        await pilot.press("n", *"jjjjj", "enter")
        await over(app, pilot)
        assert "not enough reviews" in said(app)


async def test_cards_are_exported_to_anki_by_a_number(vault: Vault, tmp_path: Path) -> None:
    app, out = app_on(vault), tmp_path.parent / f"{tmp_path.name}.apkg"
    async with app.run_test() as pilot:
        await pilot.press("4")
        typed = app.screen.query_one(PathInput)
        assert typed.value == f"~/{tmp_path.name}.apkg"
        typed.value = str(out)
        await pilot.press("enter")
        await over(app, pilot)
        assert re.search(rf"Exported in .*notes +4\nfile +{re.escape(str(out))}\n", said(app), re.DOTALL)
        await pilot.press("n", "4")
        typed.value = str(vault.root / "raw/deck.apkg")
        await pilot.press("enter")
        await over(app, pilot)
        assert "Exporting failed." in said(app) and "raw/deck.apkg" in said(app)
    assert out.is_file()
    out.unlink()


async def test_what_a_compile_noticed_is_listed(vault: Vault, clock: Callable[[], datetime], settled: Settled) -> None:
    app = RetainApp(Context(vault, clock), "work")
    rows = ",".join(
        f'{{"path": "raw/{n}.pdf", "line": 0, "reason": "no text on 1 of {n} pages", "hint": "[b]"}}'
        for n in range(1, 33)
    )
    output = f'{{"sources": {{"read": 32}}, "notices": [{rows}]}}'.encode()
    app.context.jobs.state = ended(begun(("compile",), clock()), 0, output, clock())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert "Notices  32\nraw/1.pdf: no text on 1 of 1 pages\n  [b]\n" in said(app)
        assert "raw/30.pdf" in said(app) and "raw/31.pdf" not in said(app) and "and 2 more" in said(app)
        await pilot.press("j", "j")
        assert app.screen.query_one("#work").scroll_y == 2


async def test_two_works_at_once_are_refused_in_words(vault: Vault, tmp_path: Path) -> None:
    app = app_on(vault, program=held(tmp_path / "never"))
    async with app.run_test() as pilot:
        await pilot.press("2")
        screen = app.screen
        assert isinstance(screen, WorkScreen)
        screen._begin(("optimize",))
        assert "another job is running" in str(screen.query_one(Notice).content)
        await pilot.press("c")
        await over(app, pilot)
        assert app.context.jobs.state is not None and app.context.jobs.state.stopping
    app.context.jobs.end()


def test_the_words_of_a_place_become_those_of_a_command() -> None:
    assert words_of("compile") == ("compile",)
    assert words_of("import 'my deck.apkg'") == ("import", "anki", "my deck.apkg")
    assert words_of("import ~/Notes") == ("import", "cards", "~/Notes")
    assert words_of("sync") == ("sync", "anki")
    assert words_of("export ~/deck.apkg") == ("export", "anki", "~/deck.apkg")
    assert words_of("add --fills febc2 -- 'it''s'") == ("add", "--fills", "febc2", "--", "its")
    assert words_of("add 'broken") == ("add 'broken",)


def test_names_that_a_terminal_would_not_show_as_they_are_are_not_offered(tmp_path: Path) -> None:
    for name in ("deck.apkg", "notes.md", "\x1b[31mred.apkg", "a\u202eb.apkg", ".hidden.apkg"):
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    assert completions(f"{tmp_path}/", (".apkg",)) == [f"{tmp_path}/deck.apkg", f"{tmp_path}/folder/"]
    assert completions(f"{tmp_path}/.h") == [f"{tmp_path}/.hidden.apkg"]
    assert completions("https://example.org/") == completions("/no/such/") == completions("") == []


COLOURS = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
SIZES = pytest.mark.parametrize("size", [(80, 24), (140, 45)], ids=["80x24", "140x45"])


@SIZES
def test_at_work(
    snap_compare: Compare, vault: Vault, clock: Callable[[], datetime], settled: Settled, size: tuple[int, int]
) -> None:
    app = RetainApp(Context(vault, clock, environment=COLOURS), "work")
    began = clock() - timedelta(seconds=95)
    state = begun(("compile",), began)
    for event in (
        {"event": "source", "done": 20, "of": 20, "path": "raw/a.pdf"},
        {"event": "finding", "path": "raw/papers/b.pdf", "line": 3, "reason": "a table was left out", "hint": "see it"},
        {"event": "compose", "done": 34, "of": 136, "path": "wiki/concepts/\x1b[31mred.md", "usd": 0.04},
    ):
        state = after(state, event, began)
    app.context.jobs.state = state
    assert snap_compare(app, run_before=settled, terminal_size=size)


def test_no_thread_is_left_once_the_work_has_ended(vault: Vault, clock: Callable[[], datetime]) -> None:
    jobs = Jobs()
    jobs.start(PROGRAM, vault.root, ("optimize",), {}, clock)
    jobs.end()
    assert jobs._reader is not None and jobs._reader not in threading.enumerate()


async def test_cards_of_another_program_are_imported_and_what_cannot_be_read_is_named(
    vault: Vault, tmp_path: Path
) -> None:
    table = tmp_path.parent / f"{tmp_path.name}.csv"
    table.write_text("front,back\nWhat is a halyard?,A rope\nWhat is a bight?,\nWhat is a cleat?,A fitting\n")
    app = app_on(vault)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("3")
        app.screen.query_one(PathInput).value = str(table)
        await pilot.press("enter")
        await until(pilot, lambda: app.context.jobs.state is not None, "the start of the work")
        await over(app, pilot)
        shown = said(app)
        assert "Finished with problems" in shown and "2 created" in shown and f"{table.name}:3" in shown, shown
