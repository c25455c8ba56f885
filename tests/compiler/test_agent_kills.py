"""Settling that is killed, at any step, and begun again: the same end, and nothing half; and whatever bytes come."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler.agents.apply import apply
from compiler.agents.articles import Evidence, article_fault, article_text, body_in, unsupported
from compiler.agents.baseline import Baseline
from compiler.agents.inert import file_fault, markdown_fault, unreadable
from compiler.agents.manifest import take_manifest
from compiler.agents.record import KeptPage
from tests.batteries import examples
from tests.compiler.agent_scene import DECK, OTHER, PAGE, SOUND, Scene
from vault.audit.agent_runs import all_runs
from vault.audit.blobs import Copies
from vault.config.user import state_folder
from vault.errors import WriteFailed
from vault.files.cleanup import take_away
from vault.files.guard import Guard
from vault.model.frontmatter import human_edited, read_properties
from vault.vault import open_vault


class Killed(BaseException):
    """What no code of ours catches, as a kill is."""


def work(scene: Scene) -> None:
    """Something of every kind."""
    scene.add(PAGE, f"{SOUND} {scene.claim('every successful')} {scene.claim('instead of')}")
    scene.add(
        DECK, f"Q: When does it help little?\nA: When the learner recalls nothing.\n> {scene.claim('recalls nothing')}"
    )
    scene.write(OTHER, "<b>cheese</b>")
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
    monkeypatch.setattr("compiler.agents.apply.take_away", around(take_away))
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
    assert settled.kept and "cheese" not in begun.text(OTHER) and settled.findings == []


def test_an_edit_between_judging_and_writing_stays(begun: Scene, monkeypatch: pytest.MonkeyPatch) -> None:

    def late(*args: Any) -> Any:
        begun.write(OTHER, "the human was quicker")
        return apply(*args)

    monkeypatch.setattr("compiler.agent_session.apply", late)
    settled = begun.settle()
    assert begun.text(OTHER) == "the human was quicker"
    assert [f.path for f in settled.findings] == [OTHER]


# --- whatever bytes come --------------------------------------------------------------------------------------------

_MARKS = "[[ ]] | #^c- ` ``` ~~~ $ $$ \\ < > <% %> <!-- --> ![ ]( Q: A: # ^ %% {{ :: |---| [!human] [!quote]".split()
_WORDS = ["wiki/summaries/testing", "recall", "1", "not", "^c-ckwfecvb08", "%% card y1d9qwjt17 9d3dc0 %%", "é", "中"]
_LINES = ["---\n", "> ", "- ", "## Applied\n", "\n", "\n\n", "\r\n", " ", "\t", "id: x\n", "<<<<<<< a\n", "=======\n"]
_ODD = ["\0", "\u202e", "\ufeff", "\ud7ff", ">>>>>>> b\n"]
_PIECES = st.sampled_from([*_MARKS, *_WORDS, *_LINES, *_ODD])
_TEXTS = st.lists(_PIECES, max_size=60).map("".join)
_BYTES = st.one_of(st.binary(max_size=200), _TEXTS.map(lambda t: t.encode("utf-8", "surrogatepass")))


@pytest.fixture
def baseline(scene: Scene) -> Iterator[Baseline]:
    with Copies.open(scene.vault.settings.vault_id) as copies:
        yield Baseline(scene.vault, take_manifest(scene.vault, copies), copies)


_FEW = settings(max_examples=examples(120), suppress_health_check=[HealthCheck.function_scoped_fixture])


@_FEW
@given(data=_BYTES, whole=st.booleans())
def test_no_bytes_keep_an_article_from_being_judged(baseline: Baseline, data: bytes, whole: bool) -> None:
    machine = baseline.text(PAGE)
    assert machine is not None
    evidence = Evidence(baseline.claim, baseline.source_link)
    for path, below in ((PAGE, machine), ("wiki/topics/new.md", None)):
        left = data if whole else machine.encode() + data
        if article_fault(path, left, baseline.ids, is_new=below is None) is None:
            page = KeptPage(
                "aaaaaaaaaa", path, "", body_in(left), "x" if below else "", "R", "2026-11-22T09:00:00.000Z"
            )
            text = article_text(page, below, "2026-11-22", evidence)
            assert not human_edited(text) and read_properties(text).problems == ()
            assert int(read_properties(text).text("unsupported")) == len([*unsupported(text, evidence)])
    for name in ("x.md", "x.svg", "x.csv", "x"):
        file_fault(f"output/{name}", data)


@_FEW
@given(text=_TEXTS)
def test_no_text_keeps_the_scan_from_ending(text: str) -> None:
    unreadable(text)
    markdown_fault(text)


def test_hostile_lines_are_judged_in_no_time_that_grows(baseline: Baseline) -> None:
    """Each of these would take minutes if one of the patterns went back and forth over it."""
    marks = "[[ - > <a ![ | x^ [[wiki/summaries/ Q: a:".split()
    lines = [*((f"{mark} " if mark in "->|" else mark) * (18_000 // (len(mark) + 1)) for mark in marks)]
    lines += ["`" * 400 + "x" * 9_000, "$" * 400 + "\\" * 9_000]
    text = "# Retrieval practice\n\n" + "\n".join(lines)
    assert article_fault(PAGE, text.encode(), baseline.ids, is_new=False) is not None
    markdown_fault(text * 3)
    assert len([*unsupported(text * 3, Evidence(baseline.claim, baseline.source_link))])
