"""What an agent destroys comes back whatever its size, and what cannot come back is named; what it leaves is small."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from compiler import agent_session
from compiler.agents import manifest
from compiler.agents.manifest import KEPT
from tests.compiler.agent_scene import PAGE, Scene, kept, quarantined, why
from vault.audit.blobs import Copies
from vault.errors import Refused
from vault.files import empty_folder

BIG = b"slides" * (KEPT // 6) + b"more than is looked into at once"
ONE, TWO = "output/slides/one.pptx", "output/slides/two.pptx"


@pytest.fixture(autouse=True)
def gone(scene: Scene) -> Iterator[None]:
    """No vault is left: pytest itself can't remove folders so deep, should a test fail."""
    yield
    subprocess.run(["rm", "-rf", str(scene.root)], check=True)


def _report(scene: Scene) -> str:
    return "\n".join(path.read_text() for path in scene.root.glob("output/quarantine/*/report.md"))


def test_large_files_of_the_humans_come_back_byte_for_byte(scene: Scene) -> None:
    scene.write(ONE, BIG)
    scene.write(TWO, BIG + b"2")
    scene.write("wiki/assets/a.png", BIG + b"3")

    def work() -> None:
        for path in (ONE, "wiki/assets/a.png"):
            os.truncate(scene.root / path, 0)
        (scene.root / TWO).unlink()

    settled = scene.agent(work)
    assert (scene.root / ONE).read_bytes() == BIG and (scene.root / TWO).read_bytes() == BIG + b"2"
    assert (scene.root / "wiki/assets/a.png").read_bytes() == BIG + b"3"
    assert quarantined(settled) == {ONE} and "the user's version was kept" in why(settled)
    assert {r.path for r in settled.restored} == {TWO, "wiki/assets/a.png"} and not settled.findings


def test_what_is_lost_is_named_and_never_said_to_be_back(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.write(ONE, BIG)
    scene.write(TWO, BIG)
    monkeypatch.setattr(Copies, "has", lambda self, sha256: False)

    def work() -> None:
        os.truncate(scene.root / ONE, 0)
        (scene.root / TWO).unlink()

    settled = scene.agent(work)
    assert {found.path for found in settled.lost} == {ONE, TWO} and not settled.clean
    assert "stays" not in why(settled) and not settled.restored
    report = _report(scene)
    assert f"Lost: `{ONE}`" in report and f"Lost: `{TWO}`" in report and "except those listed as lost" in report


def test_no_agent_is_started_beside_what_could_not_be_put_back(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.agent(lambda: scene.write(TWO, BIG))
    scene.write(ONE, BIG + b"mine")
    for module in (manifest, agent_session):
        monkeypatch.setattr(module, "LARGEST", KEPT)
    with pytest.raises(Refused, match="could not be undone") as refused:
        scene.begin()
    assert refused.value.where == ONE
    (scene.root / ONE).unlink()
    assert scene.agent(lambda: None).clean  # what is an agent's own may be large


def test_what_cannot_be_read_cannot_be_kept(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.write(ONE, b"x")
    monkeypatch.setattr(manifest._File, "read", lambda file: (None, ""))
    monkeypatch.setattr(os, "access", lambda *_, **__: False)  # as for anyone but root, whom no mode stops
    with pytest.raises(Refused, match="no copy"):
        scene.begin()


def test_the_work_folder_is_emptied_whatever_an_agent_left_there(scene: Scene) -> None:
    work = scene.root / ".retain/work"
    work.mkdir(parents=True, exist_ok=True)
    mode = work.stat().st_mode

    def leave() -> None:
        os.mkfifo(work / "pipe")
        scene.write(".retain/work/.git/config", "[core]\nfsmonitor = x\n")
        scene.write(".retain/work/\x1b[2J", "x")
        (work / "link").symlink_to(scene.root / "insights")
        _nest(work, 1_500)
        (work / ".git").chmod(0)
        work.chmod(0)

    settled = scene.agent(leave)
    assert not list(work.iterdir())
    assert work.stat().st_mode == mode and (scene.root / "insights/mine.md").exists()
    assert [found.code for found in settled.findings] == ["modes-changed"]


def _nest(folder: Path, deep: int, file: str = "") -> None:
    handle = os.open(folder, os.O_RDONLY)
    for _ in range(deep):
        os.mkdir("d", dir_fd=handle)
        below = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    if file:
        os.close(os.open(file, os.O_CREAT | os.O_WRONLY, dir_fd=handle))
    os.close(handle)


@pytest.mark.parametrize("place", ["output", "output/reports", "wiki/concepts", "learning/flashcards"])
def test_folders_without_end_go(scene: Scene, place: str) -> None:
    (scene.root / place).mkdir(exist_ok=True)
    scene.write(f"{place}/.keep", "x")
    before = scene.tree()
    settled = scene.agent(lambda: _nest(scene.root / place, 1_500, "deep.md"))
    assert not (scene.root / place / "d").exists() and scene.tree("ledger/replies", "output/quarantine") == before
    assert "too deeply" in why(settled) and "removed" in why(settled)
    assert scene.compile().failures == []


def test_a_nest_of_folders_that_are_not_deep_goes_in_silence(scene: Scene) -> None:
    settled = scene.agent(lambda: _nest(scene.root / "output", 20))
    assert not (scene.root / "output/d").exists() and settled.clean


def test_folders_go_whose_content_was_set_aside_and_those_stay_that_hold_what_is_kept(scene: Scene) -> None:
    def work() -> None:
        scene.write("output/.git/hooks/pre-commit", "x")
        scene.write("output/deep/er/r.md", "# R\n")
        scene.write("output/deep/bad/r.exe", "x")

    settled = scene.agent(work)
    assert kept(settled) == {("file", "output/deep/er/r.md")}
    assert not scene.there("output/.git") and not scene.there("output/deep/bad") and scene.there("output/deep/er/r.md")


def test_emptying_enters_nothing_of_the_humans_and_nothing_outside(scene: Scene, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine").write_text("x")
    shutil.move(scene.root / "insights", scene.root / "output/insights")
    (scene.root / "insights").symlink_to(scene.root / "output/insights")
    scene.write("output/a/b", "x")
    (scene.root / "output/link").symlink_to(outside)
    found = empty_folder.empty(scene.root, "output")
    assert found.left == 1 and (scene.root / "output/insights/mine.md").exists() and (outside / "mine").exists()
    assert [p.name for p in (scene.root / "output").iterdir()] == ["insights"]
    for path in ("insights", "wiki/../insights", "", "raw", "output/insights"):
        with pytest.raises(Refused):
            empty_folder.empty(scene.root, path)
    assert empty_folder.empty(scene.root, "wiki", identity=(1, 1)).files == 0 and scene.there(PAGE)


def test_many_files_share_a_few_in_quarantine(scene: Scene) -> None:
    def work() -> None:
        for number in range(700):
            scene.write(f"output/many/f{number}.exe", f"number {number}")

    settled = scene.agent(work)
    assert len(settled.quarantined) == 700 and not scene.there("output/many")
    files = [path for path in scene.root.glob("output/quarantine/**/*") if path.is_file()]
    assert len(files) == 202
    texts = {path: (scene.root / path).read_text() for path in {one.where for one in settled.quarantined}}
    for number, one in enumerate(sorted(settled.quarantined, key=lambda one: int(one.path[13:-4]))):
        assert f"`{one.path}`" in texts[one.where] and f"\nnumber {number}\n" in texts[one.where]
    assert "You may delete this folder" in _report(scene)
