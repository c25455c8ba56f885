"""Questions in the app: a conversation with its sources, filed answers, a model in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from compiler.model.requests import Sentence
from compiler.query.answer import Answer
from compiler.query.answer_json import answer_as_json, answer_in
from compiler.query.retrieve import Known, passage_key
from tests.builders import copy_vault
from tests.compiler.messages_server import MessagesServer, error, said, serving
from tests.compiler.scripted_model import answering
from tests.tui.conftest import until
from tui.app import RetainApp
from tui.context import Context
from tui.screen import Page
from tui.screens.ask import AskScreen
from tui.views.ask import QuestionList, SourceList, TurnView
from tui.views.evidence import SupportPanel
from tui.widgets.bars import TopBar
from tui.widgets.notice import Notice
from vault.config.engine import COMPILING
from vault.ids import SourceId
from vault.log.ledger import QUESTIONS
from vault.model.claim import Claim, ClaimKind
from vault.vault import Vault

HERE = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-c", f"import sys; sys.path.insert(0, {str(HERE)!r}); from cli.main import main; main()")
EVIL = "Yeast [red]fungus[/] \x1b]0;t\x07 is [bold] a fungus that makes dough rise in the warm."
SLEEP = """# Sleep and memory

Slow-wave sleep is the deepest stage of sleep.
Slow-wave sleep strengthens memory because the hippocampus replays the day to the cortex.

Consolidation is the process by which a new memory becomes stable.
Consolidation takes hours, and a part of it happens during slow-wave sleep.
"""
CELLS = "# Cells\n\nMitosis is the division of a cell.\n\nIt takes one hour.\n"
QUESTION = "What is consolidation?"
Settled = Callable[[Pilot[int]], Awaitable[None]]
Compare = Callable[..., bool]


def retain(*words: str) -> None:
    subprocess.run([*PROGRAM, *words], check=True, capture_output=True)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault with three documents, compiled; one of them is hostile."""
    root = tmp_path_factory.mktemp("compiled") / "v"
    retain("init", str(root), "--no-git")
    for name, text in (("sleep", SLEEP), ("cells", CELLS), ("yeast", f"# Yeast\n\n{EVIL}\n")):
        (root / f"raw/{name}.md").write_text(text, encoding="utf-8")
    retain("--vault", str(root), "compile")
    return root


@pytest.fixture
def full(compiled: Path, tmp_path: Path) -> Vault:
    return copy_vault(compiled, tmp_path / "v")


def app_on(vault: Vault, start: str = "ask", clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> RetainApp:
    return RetainApp(Context(vault, clock, program=PROGRAM), start)


async def ask(pilot: Pilot[int], words: str = "") -> None:
    """Types a question and waits until it is answered, or that it is not is said."""
    screen = asking(pilot.app)
    if words:
        field(screen).value = words
    await pilot.press("enter")
    await until(pilot, lambda: not screen._question, "an answer")


def asking(app: object) -> AskScreen:
    screen = app.screen  # type: ignore[attr-defined]
    assert isinstance(screen, AskScreen)
    return screen


def field(screen: Page) -> Input:
    return screen.query_one("#ask-question", Input)


def answers(app: RetainApp) -> list[str]:
    return [str(view.content) for view in app.screen.query(TurnView)]


def sources(app: RetainApp) -> list[str]:
    return [str(option.prompt) for option in app.screen.query_one(SourceList).options]


def notice(app: RetainApp) -> str:
    shown = app.screen.query_one(Notice)
    return str(shown.content) if shown.display else ""


def hint(app: RetainApp) -> str:
    return str(app.screen.query_one("#ask-hint", Static).content)


def recorded(vault: Vault) -> list[dict[str, object]]:
    return [json.loads(line) for line in (vault.read_bytes(QUESTIONS) or b"").splitlines()]


# --- answers ----------------------------------------------------------------------------------------------------------


async def test_a_question_from_home_is_answered_by_quotes_with_their_sources_beside_them(full: Vault) -> None:
    app = app_on(full, "home")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, AskScreen), "the screen")
        assert app.focused is field(asking(app)) and "ctrl+f saves" in hint(app)
        await ask(pilot, QUESTION)
        (answer,) = answers(app)
        assert answer.startswith(f"{QUESTION}\nQuoted from your sources\n[1] “") and "becomes stable." in answer
        assert sources(app)[0].startswith("[1] raw/sleep.md, ") and "→ Consolidation" in sources(app)[0]
        assert app.screen.query_one("#ask-side").region.y > app.screen.query_one("#ask-talk").region.y
        assert field(asking(app)).value == ""
    assert [event["question"] for event in recorded(full)] == [QUESTION]


async def test_the_sources_stand_at_the_side_where_there_is_room(full: Vault) -> None:
    app = app_on(full)
    async with app.run_test(size=(140, 45)) as pilot:
        await ask(pilot, QUESTION)
        side, talk = (app.screen.query_one(name).region for name in ("#ask-side", "#ask-talk"))
        assert side.x >= talk.right and side.y == talk.y


async def test_a_follow_up_is_about_the_answer_before_it_and_a_new_conversation_is_not(full: Vault) -> None:
    app = app_on(full)
    async with app.run_test() as pilot:
        await ask(pilot, QUESTION)
        await ask(pilot, "how many hours does it take?")
        assert "raw/sleep.md" in sources(app)[0] and len(answers(app)) == 2
        await pilot.press("ctrl+n")
        await pilot.pause()
        assert answers(app) == [] and field(asking(app)).has_focus
        await ask(pilot, "how many hours does mitosis take?")
    first, second, third = recorded(full)
    assert second["after"] == first["id"] and "after" not in third


async def test_what_the_sources_do_not_say_is_said(full: Vault) -> None:
    app = app_on(full)
    async with app.run_test() as pilot:
        await ask(pilot, "Who won the football match in Bern?")
        assert "football" in answers(app)[0] and sources(app) == []
        await pilot.press("tab")
        assert field(asking(app)).has_focus and "no sources" in notice(app)
        await pilot.press("ctrl+f")
        await until(pilot, lambda: "no answer to save" in notice(app), "a refusal")
    assert not list(full.root.glob("wiki/answers/*"))


async def test_an_earlier_question_is_offered_with_its_day_and_shows_what_changed(full: Vault) -> None:
    yesterday = datetime.now(UTC) - timedelta(days=1)
    app = app_on(full, clock=lambda: yesterday)
    async with app.run_test() as pilot:
        await ask(pilot, QUESTION)
    (full.root / "raw/sleep.md").write_text(SLEEP.replace("becomes stable", "becomes firm"), encoding="utf-8")
    retain("--vault", str(full.root), "compile")
    app = app_on(full)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.screen.query_one(QuestionList).option_count, "the questions")
        await pilot.press("up")
        day = yesterday.astimezone(full.settings.zone).date().isoformat()
        assert field(asking(app)).value == QUESTION and hint(app) == f"asked on {day}: answered"
        await pilot.press("down", "tab", "enter")
        await until(pilot, lambda: answers(app), "an answer")
        assert (
            f"Changed since {day}\n+ " in answers(app)[0] and "becomes stable." in answers(app)[0].partition("\n- ")[2]
        )


async def test_a_quote_is_shown_in_the_words_of_the_source_with_its_signs(full: Vault, settled: Settled) -> None:
    said = r"A capstan needs $HOME and ${PATH} set, ~/bin first, $x_{i}~y$ and \frac{1}{2} kept."
    (full.root / "raw/capstan.txt").write_text(f"Capstan\n\n{said}\n", encoding="utf-8")
    retain("--vault", str(full.root), "compile")
    app = app_on(full)
    async with app.run_test() as pilot:
        await ask(pilot, "What does a capstan need?")
        await pilot.press("tab", "enter")
        await settled(pilot)
        assert said in str(app.screen.query_one("#quotes", Static).content)
        assert said in answers(app)[0]


async def test_sources_are_walked_through_shown_in_their_surroundings_and_lead_to_pages(
    full: Vault, settled: Settled
) -> None:
    app = app_on(full)
    async with app.run_test() as pilot:
        await ask(pilot, "How do sleep, mitosis and yeast work?")
        assert len(sources(app)) > 1
        await pilot.press("tab")
        await pilot.press("j", "enter")
        panel = app.screen.query_one(SupportPanel)
        listed = app.screen.query_one(SourceList)
        source = asking(app)._sources[1]
        assert (listed.highlighted, panel.display, panel.looked_at) == (1, True, source.evidence)
        await pilot.press("k")
        await pilot.pause()
        assert panel.looked_at is asking(app)._sources[0].evidence
        await pilot.press("escape")
        assert (panel.display, listed.has_focus) == (False, True)
        page = asking(app)._sources[0].pages[0]
        await pilot.press("a")
        await settled(pilot)
        assert isinstance(app.screen, Page) and app.screen.NAME == "article"
        assert app.screen.query_one(TopBar).status == page.partition("#")[0]
        await pilot.press("escape")
        await settled(pilot)
        assert len(answers(app)) == 1, "the conversation is still there"
        await pilot.press("escape")
        assert field(asking(app)).has_focus


async def test_the_answer_that_is_selected_shows_its_sources(full: Vault) -> None:
    app = app_on(full)
    async with app.run_test() as pilot:
        await ask(pilot, QUESTION)
        await ask(pilot, "What is the division of a cell?")
        assert "raw/cells.md" in sources(app)[0]
        await pilot.press("shift+up")
        await pilot.pause()
        assert "raw/sleep.md" in sources(app)[0]
        assert [view.has_class("-chosen") for view in app.screen.query(TurnView)] == [True, False]


async def test_an_answer_is_filed_named_and_opened(full: Vault, settled: Settled) -> None:
    app = app_on(full)
    async with app.run_test() as pilot:
        await ask(pilot, QUESTION)
        await pilot.press("ctrl+f")
        page = "wiki/answers/what-is-consolidation.md"
        await until(pilot, lambda: page in notice(app), "the page")
        assert "to undo, delete the file" in notice(app) and f"Saved as {page}" in answers(app)[0]
        assert "becomes stable" in (full.read_text(page) or "")
        await pilot.press("ctrl+o")
        await settled(pilot)
        assert app.screen.query_one(TopBar).status == page
    first, filed = recorded(full)
    assert filed["type"] == "again" and filed["of"] == first["id"] and filed["filed"] == page


async def test_an_empty_vault_says_what_to_do_first(bare: Vault) -> None:
    app = app_on(bare)
    async with app.run_test() as pilot:
        nothing = app.screen.query_one("#ask-nothing", Static)
        await until(pilot, lambda: "no sources" in str(nothing.content), "a word on that")
        assert "add a document" in str(nothing.content)


async def test_a_vault_whose_questions_cannot_be_recorded_answers(full: Vault) -> None:
    (full.root / QUESTIONS).unlink(missing_ok=True)
    (full.root / QUESTIONS).mkdir()
    app = app_on(full)
    async with app.run_test() as pilot:
        await ask(pilot, QUESTION)
        await ask(pilot, "how many hours does it take?")
        assert len(answers(app)) == 2 and "raw/sleep.md" in sources(app)[0]


async def test_words_of_documents_and_questions_are_inert(full: Vault) -> None:
    app = app_on(full)
    async with app.run_test() as pilot:
        await ask(pilot, "What is [bold]yeast\x1b]0;t\x07?")
        await pilot.press("tab")
        await pilot.press("enter")
        await pilot.pause()
        shown = "".join([*answers(app), *sources(app), str(app.screen.query_one("#quotes", Static).content)])
        assert "[red]fungus[/]" in shown and "[bold]yeast" in shown
        assert not {"\x1b", "\x07", "\u202e"} & set(shown)


async def test_what_is_waited_for_can_be_given_up_and_its_question_stays(full: Vault) -> None:
    app = app_on(full)
    async with app.run_test() as pilot:
        field(asking(app)).value = QUESTION
        screen = asking(app)
        screen.action_enter()  # and esc before the answer can have come
        screen.action_back()
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        assert answers(app) == [] and field(screen).value == QUESTION
        await ask(pilot)
        assert len(answers(app)) == 1
    assert len(recorded(full)) == 1, "an answer that nobody waited for is not recorded"


# --- a model or an agent answers -------------------------------------------------------------------------------------


@pytest.fixture
def configured(own_home: Path) -> Iterator[tuple[MessagesServer, Callable[[str], None]]]:
    """A server of a model, and what configures the engine that answers."""
    with serving(said({})) as server:
        server.answer = answering

        def configure(engine: str) -> None:
            models = "".join(f'{role} = "m"\n' for role in COMPILING)
            folder = own_home / ".config/retain"
            folder.mkdir(parents=True, exist_ok=True)
            text = f'[engine]\nbase_url = "{server.url}"\nkey_env = "TEST_KEY"\ncompile = "{engine}"\n'
            (folder / "config.toml").write_text(f"{text}[engine.models]\n{models}")

        yield server, configure


Configured = tuple[MessagesServer, Callable[[str], None]]


async def test_a_model_answers_through_a_process_and_its_sentences_are_filed(
    full: Vault, configured: Configured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", "key")
    server, configure = configured
    configure("claude")
    app = app_on(full)
    async with app.run_test() as pilot:
        await ask(pilot, QUESTION)
        assert notice(app) == ""
        (answer,) = answers(app)
        assert server.asked and "[1]" in answer and "Quoted" not in answer
        assert "raw/sleep.md" in sources(app)[0] and app.screen.query_one(TopBar).job == ""
        await ask(pilot, "how many hours does it take?")
        await pilot.press("ctrl+f")
        await until(pilot, lambda: "wiki/answers/" in notice(app), "the page")
    lines = recorded(full)
    assert lines[1]["after"] == lines[0]["id"]
    assert lines[2]["type"] == "again" and lines[2]["of"] == lines[1]["id"]
    retain("--vault", str(full.root), "verify")


async def test_a_follow_up_to_a_model_belongs_to_its_own_conversation(
    full: Vault, configured: Configured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", "key")
    configured[1]("claude")
    app = app_on(full)
    async with app.run_test() as pilot:
        await ask(pilot, QUESTION)
        retain("--vault", str(full.root), "ask", "--engine", "extractive", "What is mitosis?")
        await ask(pilot, "how many hours does it take?")
        assert "raw/sleep.md" in sources(app)[0] and notice(app) == ""
    first, elsewhere, follow_up = recorded(full)
    assert elsewhere["question"] == "What is mitosis?" and follow_up["after"] == first["id"]


def test_an_answer_that_rests_on_words_that_are_no_claim_is_read_as_the_command_printed_it() -> None:
    words = "Naps of 90 minutes help."
    key = passage_key("raw/a.md", words)
    claim = Claim(key, SourceId(""), ClaimKind.FACT, words, locator="line 2")
    known = Known(claim, "wiki/summaries/a.md", 0, "A", "raw/a.md", is_claim=False)
    answer = Answer("Do naps help?", (Sentence(text="Naps help.", cites=(key,)),), (known,), "How much.", "model")
    assert answer_in(json.loads(json.dumps(answer_as_json(answer)))) == answer


async def test_a_model_that_fails_is_named_in_a_line_and_the_question_stays(
    full: Vault, configured: Configured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", "key")
    server, configure = configured
    configure("claude")
    server.answer = lambda _: error(404, "not_found_error", "no such model")
    app = app_on(full)
    async with app.run_test() as pilot:
        await ask(pilot, QUESTION)
        assert "no such model" in notice(app) and field(asking(app)).value == QUESTION


async def test_a_model_can_be_stopped_or_left_and_its_answer_is_there_afterwards(
    full: Vault, configured: Configured, settled: Settled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", "key")
    server, configure = configured
    configure("claude")
    server.hold = threading.Event()
    app = app_on(full, "home")
    async with app.run_test() as pilot:
        try:
            await pilot.press("a")
            await until(pilot, lambda: isinstance(app.screen, AskScreen), "the screen")
            field(asking(app)).value = QUESTION
            await pilot.press("enter")
            await until(pilot, lambda: server.asked, "a request")
            pending = app.screen.query_one("#ask-pending", Static)
            await until(pilot, lambda: f"sent to {server.url} · " in str(pending.content), "a word on that")
            await pilot.press("escape")
            await until(pilot, lambda: not asking(app)._question, "the end")
            assert answers(app) == [] and field(asking(app)).value == QUESTION and notice(app) == "Stopped."
            await pilot.press("enter")
            await until(pilot, lambda: len(server.asked) > 1, "a request")
            asking(app).leave()
            await settled(pilot)
            assert "asking" in app.screen.query_one(TopBar).job
        finally:
            server.hold.set()
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, AskScreen) and answers(app), "the answer")
        assert "[1]" in answers(app)[0] and app.context.jobs.state is None


async def test_an_order_for_an_agent_is_named(full: Vault, configured: Configured) -> None:
    configured[1]("agent")
    app = app_on(full)
    async with app.run_test() as pilot:
        await ask(pilot, QUESTION)
        assert "`retain agent next`" in notice(app) and field(asking(app)).value == QUESTION
        (extract,) = answers(app)
        assert (
            extract.startswith(f"{QUESTION}\nExcerpts from the sources (no answer yet).")
            and "becomes stable." in extract
        )
        assert sources(app)[0].startswith("[1] raw/sleep.md")
        await ask(pilot, QUESTION)
        assert len(answers(app)) == 2
    assert recorded(full) == [] and len(list(full.root.glob(".retain/work/questions/*.json"))) == 1


@pytest.mark.parametrize("size", [(80, 24), (140, 45)], ids=["80x24", "140x45"])
def test_a_conversation_looks_as_it_should(
    snap_compare: Compare, full: Vault, clock: Callable[[], datetime], size: tuple[int, int]
) -> None:
    app = app_on(full, clock=clock)

    async def run(pilot: Pilot[int]) -> None:
        field(asking(pilot.app)).cursor_blink = False
        await ask(pilot, QUESTION)
        await ask(pilot, "how many hours does it take?")
        await pilot.press("tab")
        await pilot.press("enter")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()

    assert snap_compare(app, run_before=run, terminal_size=size)
