"""Settling that is killed, at any step, and begun again: the same end, and nothing half; and whatever bytes come."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler.agent_decks import DeckJudge
from compiler.agent_inert import acting, acting_in_output, unreadable
from compiler.agent_manifest import take_manifest
from compiler.agent_output import file_fault
from compiler.agent_pages import judge_page
from compiler.agent_settling import carry_out
from compiler.agent_summaries import summary_faults
from compiler.agent_world import World
from tests.compiler.agent_scene import DECK, OTHER, PAGE, SOUND, TESTING, Scene
from vault.agent_run import all_runs
from vault.clearing import take_away
from vault.copies import Copies
from vault.errors import WriteFailed
from vault.guard import Guard
from vault.store import open_vault
from vault.user import state_folder


class Killed(BaseException):
    """What no code of ours catches, as a kill is."""


def work(scene: Scene) -> None:
    """Something of every kind."""
    scene.add(PAGE, f"{SOUND} {scene.claim('every successful')} {scene.claim('instead of')}")
    scene.add(
        DECK, f"Q: When does it help little?\nA: When the learner recalls nothing.\n> {scene.claim('recalls nothing')}"
    )
    scene.write(OTHER, "cheese")
    scene.write("output/reports/r.md", "# R\n")
    scene.write("output/x.exe", b"\0")
    scene.write("wiki/notes/mine/x.md", "x")
    (scene.root / "wiki/_index.md").unlink()
    (scene.root / "wiki/topics-link").symlink_to(scene.root / "insights")


def _counting(monkeypatch: pytest.MonkeyPatch, strike: Callable[[], None]) -> None:
    """Calls `strike` before and after each step that changes anything, in the vault or beside it."""

    def around(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            strike()
            result = real(*args, **kwargs)
            strike()
            return result

        return call

    for name in ("write", "append", "remove"):
        monkeypatch.setattr(Guard, name, around(getattr(Guard, name)))
    monkeypatch.setattr("compiler.agent_settling.take_away", around(take_away))
    monkeypatch.setattr(Copies, "put_all", around(Copies.put_all))


@pytest.fixture
def begun(scene: Scene) -> Iterator[Scene]:
    """A run whose agent has ended and whose work waits."""
    scene.begin()
    work(scene)
    yield scene


def _again(scene: Scene, root: Path, kept: Path) -> Scene:
    """The same vault and state as when the agent ended, in the same places."""
    state = state_folder(scene.vault.settings.vault_id)
    for here, there in ((scene.root, root), (state, kept)):
        shutil.rmtree(here)
        shutil.copytree(there, here, symlinks=True)
    return Scene(open_vault(str(scene.root), None, scene.root), scene.clock, scene.run)


def test_settling_killed_anywhere_and_begun_again_ends_the_same(
    begun: Scene,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    torture: Callable[[int, int], int],
    tally: Callable[[str, str], None],
) -> None:
    state = state_folder(begun.vault.settings.vault_id)
    shutil.copytree(begun.root, tmp_path / "root", symlinks=True)
    shutil.copytree(state, tmp_path / "state")
    clean = begun.settle()
    wanted = begun.tree()
    assert clean.kept and clean.quarantined and clean.restored
    step, killed = torture(1, 5), 0
    for at in range(1, 10_000, step):
        scene = _again(begun, tmp_path / "root", tmp_path / "state")
        scene.clock = begun.clock.replace(minute=begun.clock.minute - 1)
        left = at

        def strike() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise Killed

        with monkeypatch.context() as patched:
            _counting(patched, strike)
            try:
                settled = scene.settle()
            except Killed:
                killed += 1
            else:
                assert settled.as_json() == clean.as_json()
                break
        scene.clock = begun.clock.replace(minute=begun.clock.minute - 1)
        scene.settle()
        assert scene.tree() == wanted, f"killed at step {at}"
        assert not all_runs(scene.vault)
        assert not [p for p in scene.root.rglob("*") if p.is_symlink()]
    assert killed > 5
    tally(
        "an agent's work settled, killed at every step and begun again", f"{killed} kills, {killed} times the same end"
    )


def test_a_full_disk_is_named_and_nothing_is_half(begun: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    wrote = Guard.write
    left = 4

    def write(self: Guard, path: str, data: bytes, **more: Any) -> bool:
        nonlocal left
        left -= 1
        if left == 0:
            raise WriteFailed("not written: the disk is full", where=path)
        return wrote(self, path, data, **more)

    with monkeypatch.context() as patched:
        patched.setattr(Guard, "write", write)
        with pytest.raises(WriteFailed, match="full"):
            begun.settle()
    settled = begun.settle()
    assert settled.kept and begun.text(OTHER) != "cheese" and settled.findings == ()


def test_an_edit_between_judging_and_writing_stays(begun: Scene, monkeypatch: pytest.MonkeyPatch) -> None:

    def late(*args: Any) -> Any:
        begun.write(OTHER, "the human was quicker")
        return carry_out(*args)

    monkeypatch.setattr("compiler.agent_work.carry_out", late)
    settled = begun.settle()
    assert begun.text(OTHER) == "the human was quicker"
    assert [f.path for f in settled.findings] == [OTHER]


# --- whatever bytes come --------------------------------------------------------------------------------------------

_MARKS = "[[ ]] | #^c- ` ``` ~~~ $ $$ \\ < > <% %> <!-- --> ![ ]( Q: A: # ^ %% {{ :: |---| [!human] [!quote]".split()
_WORDS = ["wiki/summaries/testing", "recall", "1", "not", "^c-ckwfecvb08", "<!-- card y1d9qwjt17 9d3dc0 -->", "é", "中"]
_LINES = ["---\n", "> ", "- ", "## Applied\n", "\n", "\n\n", "\r\n", " ", "\t", "id: x\n", "<<<<<<< a\n", "=======\n"]
_ODD = ["\0", "\u202e", "\ufeff", "\ud7ff", ">>>>>>> b\n"]
_PIECES = st.sampled_from([*_MARKS, *_WORDS, *_LINES, *_ODD])
_TEXTS = st.lists(_PIECES, max_size=60).map("".join)
_BYTES = st.one_of(st.binary(max_size=200), _TEXTS.map(lambda t: t.encode("utf-8", "surrogatepass")))


@pytest.fixture
def world(scene: Scene) -> Iterator[World]:
    with Copies.open(scene.vault.settings.vault_id) as copies:
        yield World(scene.vault, take_manifest(scene.vault, copies), copies)


_FEW = settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])


@_FEW
@given(data=_BYTES, whole=st.booleans())
def test_no_bytes_keep_the_judge_from_judging(world: World, data: bytes, whole: bool) -> None:
    before = b"" if whole else world.must(PAGE)
    pages = frozenset({PAGE})
    for path in (PAGE, "wiki/topics/new.md"):
        verdict = judge_page(path, before + data, world, pages)
        assert verdict.faults or verdict.body
    deck = b"" if whole else world.must(DECK)
    judged = DeckJudge(world, "01M817SG700PX4QH549DG9WXHP", "2026-11-22T09:00:00.000Z").judge({DECK: deck + data}, [])
    assert all(text.endswith("\n") for text in judged.texts.values())
    assert summary_faults(world.text(f"{TESTING}.md"), data, f"{TESTING}.md", world)
    for name in ("x.md", "x.svg", "x.csv", "x"):
        file_fault(f"output/{name}", data)


@_FEW
@given(text=_TEXTS)
def test_no_text_keeps_the_scan_from_ending(text: str) -> None:
    unreadable(text)
    acting([(n, line) for n, line in enumerate(text.split("\n"))])
    acting_in_output(text)


@_FEW
@given(inside=st.sampled_from(["<script>x</script>", "<img src=x>", "<% x %>"]), around=st.tuples(_TEXTS, _TEXTS))
def test_a_line_with_html_among_words_acts_wherever_it_stands(inside: str, around: tuple[str, str]) -> None:
    quiet = [part.replace("`", "").replace("$", "").replace("[[", "").replace("<!--", "") for part in around]
    line = f"{quiet[0]}{inside}{quiet[1]}".replace("\n", " ").replace("\\", "")
    assert acting([(1, line)]) is not None


def test_hostile_lines_are_judged_in_no_time_that_grows(world: World) -> None:
    """Each of these would take minutes if one of the patterns went back and forth over it."""
    marks = "[[ - > <a ![ | x^ [[wiki/summaries/ Q: a:".split()
    lines = [*((f"{mark} " if mark in "->|" else mark) * (18_000 // (len(mark) + 1)) for mark in marks)]
    lines += ["`" * 400 + "x" * 9_000, "$" * 400 + "\\" * 9_000]
    text = "# Retrieval practice\n\n" + "\n".join(lines)
    assert judge_page(PAGE, text.encode(), world, frozenset()).faults
    acting_in_output(text * 3)
