"""Rights that an agent took from what it wrote: the owner has them again, and no daily command ends by them."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from learning.cards.workspace import open_desk
from tests.compiler.agent_scene import DECK, OTHER, PAGE, Scene, kept, quarantined
from vault.errors import Refused
from vault.files import folder
from vault.files.permissions import calm, give_back, set_mode


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_settling_gives_the_owner_his_rights_back(scene: Scene) -> None:
    def work() -> None:
        scene.write(PAGE, "<b>cheese</b>")
        for path in (PAGE, DECK, "wiki/concepts", "learning/flashcards", "wiki", "output"):
            (scene.root / path).chmod(0)

    settled = scene.agent(work)
    assert quarantined(settled) == {PAGE} and not kept(settled)
    assert mode(scene.root / "wiki") & 0o700 == 0o700 and mode(scene.root / "learning/flashcards") & 0o700 == 0o700
    assert mode(scene.root / DECK) & 0o400
    assert scene.compile().failures == [] and scene.verify().clean


def test_only_what_lies_below_the_folders_is_touched_and_only_what_is_ours(tmp_path: Path) -> None:
    (tmp_path / "in/deep").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    for name in ("out/file", "out/linked", "in/own", "in/deep/read-only"):
        (tmp_path / name).write_text(name)
    (tmp_path / "in/link").symlink_to(tmp_path / "out")
    (tmp_path / "in/file").symlink_to(tmp_path / "out/file")
    os.link(tmp_path / "out/linked", tmp_path / "in/linked")
    (tmp_path / "in/deep/read-only").chmod(0o444)
    for name in ("out/file", "out/linked", "out", "in/own", "in/deep"):
        (tmp_path / name).chmod(0)
    give_back(tmp_path, ["in", "not-there"])
    found = {name: mode(tmp_path / name) for name in ("in/own", "in/deep", "in/deep/read-only", "out")}
    (tmp_path / "out").chmod(0o700)
    found |= {name: mode(tmp_path / name) for name in ("out/file", "out/linked")}
    assert found == {
        "in/own": 0o400,
        "in/deep": 0o700,
        "in/deep/read-only": 0o444,
        "out": 0,
        "out/file": 0,
        "out/linked": 0,
    }


def _denied(*_: object, **__: object) -> Any:
    raise PermissionError(13, "Permission denied")


def test_a_folder_of_decks_that_cannot_be_listed_is_named(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.begin()
    real, shut = os.scandir, {str(scene.root / Path(DECK).parent), str(scene.root / "wiki/concepts")}
    with monkeypatch.context() as patch:  # as for anyone but root, whom no mode stops
        patch.setattr(os, "scandir", lambda path: _denied() if str(path) in shut else real(path))
        (deck,) = scene.vault.decks()
        with pytest.raises(Refused, match="cannot be listed"):
            scene.vault.paths("wiki/concepts", ".md")
        found = open_desk(scene.vault, scene.now()).diagnostics
    assert deck.diagnostics[0].code == "unreadable" and "chmod u+rwx" in deck.diagnostics[0].hint
    assert any(d.code == "unreadable" for d in found)


def test_a_deck_that_cannot_be_read_is_named_and_the_others_are_shown(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = folder.read_at

    def some_denied(handle: int, name: str, path: str, **options: Any) -> Any:
        return _denied() if path == DECK else real(handle, name, path, **options)

    monkeypatch.setattr(folder, "read_at", some_denied)
    found = {deck.path: deck for deck in scene.vault.decks()}
    assert [d.code for d in found[DECK].diagnostics] == ["unreadable"]
    assert any(deck.cards for deck in found.values())
    scene.begin()
    assert open_desk(scene.vault, scene.now()).cards


def test_modes_that_an_agent_set_are_taken_back_and_told_in_one_line(scene: Scene) -> None:
    new, plain = "output/t.py", "output/r.md"
    (scene.root / PAGE).chmod(0o640)
    (scene.root / "wiki/topics").mkdir(exist_ok=True)
    (scene.root / "wiki/topics").chmod(0o555)  # the human's own choice
    before = {path: mode(scene.root / path) for path in ("wiki", PAGE, OTHER, "wiki/_index.md", "wiki/topics", DECK)}

    def work() -> None:
        (scene.root / "wiki").chmod(0o777)
        (scene.root / PAGE).chmod(0o777)
        (scene.root / OTHER).chmod(0)
        (scene.root / "wiki/_index.md").chmod(0o4755)
        (scene.root / "wiki/topics").chmod(0o700)
        (scene.root / DECK).unlink()
        scene.write(new, b"\x7fELF")
        (scene.root / new).chmod(0o4755)
        scene.write(plain, "# R\n")
        (scene.root / plain).chmod(0o600)
        (scene.root / "output/odd").mkdir()
        scene.write("output/odd/r.md", "# R\n")
        (scene.root / "output/odd").chmod(0o1777)

    settled = scene.agent(work)
    assert {path: mode(scene.root / path) for path in before} == before
    assert mode(scene.root / new) == 0o644 and mode(scene.root / plain) == 0o600
    assert mode(scene.root / "output/odd") == 0o755
    (found,) = settled.findings
    assert found.code == "modes-changed" and "and 4 more" in found.message and "\n" not in found.message


def test_a_program_that_saves_by_another_name_sets_no_mode(scene: Scene) -> None:
    report = scene.root / "output/reports/r.md"
    scene.agent(lambda: scene.write("output/reports/r.md", "# R\n"))
    assert mode(report) == 0o644

    def save() -> None:
        report.with_suffix(".new").write_text("# R\n\nMore.\n")
        report.with_suffix(".new").chmod(0o600)
        report.with_suffix(".new").rename(report)

    assert scene.agent(save).findings == [] and mode(report) == 0o644


def test_what_was_closed_to_its_owner_is_so_again_and_what_it_held_is_back(scene: Scene) -> None:
    folder = scene.root / "output/mine"
    scene.write("output/mine/r.md", "# Mine\n")
    folder.chmod(0o555)
    assert scene.agent(lambda: None).clean and mode(folder) == 0o555

    def work() -> None:
        folder.chmod(0o755)
        (folder / "r.md").unlink()
        folder.chmod(0o555)

    settled = scene.agent(work)
    assert (folder / "r.md").read_text() == "# Mine\n" and mode(folder) == 0o555 and settled.findings == []


def test_no_mode_is_set_through_a_link_or_of_what_has_another_name(tmp_path: Path) -> None:
    (tmp_path / "output").mkdir()
    (tmp_path / "insights").mkdir()
    for name in ("insights/mine", "output/own", "output/linked"):
        (tmp_path / name).write_text("x")
    os.link(tmp_path / "output/linked", tmp_path / "output/same")
    (tmp_path / "output/link").symlink_to(tmp_path / "insights/mine")
    (tmp_path / "output/folder").symlink_to(tmp_path / "insights")
    for name in ("output/link", "output/linked", "output/folder", "output/folder/mine", "output/none", "insights"):
        assert not set_mode(tmp_path, name, 0o600)
    assert mode(tmp_path / "insights/mine") == mode(tmp_path / "output/linked") == 0o644
    assert set_mode(tmp_path, "output/own", 0o600) and not set_mode(tmp_path, "output/own", 0o600)


def test_the_mode_of_what_is_new_follows_the_umask() -> None:
    assert calm(0o4777, 0o022) == 0o644 and calm(0o777, 0o002) == 0o664 and calm(0o666, 0o077) == 0o600
    assert calm(0, 0o022) == 0o400
    assert calm(0o7777, 0o022, is_folder=True) == 0o755 and calm(0, 0o022, is_folder=True) == 0o700
