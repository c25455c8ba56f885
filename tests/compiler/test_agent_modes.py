"""Rights that an agent took from what it wrote: the owner has them again, and no daily command ends by them."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from learning.desk import open_desk
from tests.compiler.agent_scene import DECK, PAGE, Scene, kept, quarantined
from vault import folder
from vault.errors import Refused
from vault.modes import give_back


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_settling_gives_the_owner_his_rights_back(scene: Scene) -> None:
    def work() -> None:
        scene.write(PAGE, "cheese")
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

    def some_denied(handle: int, name: str, path: str) -> Any:
        return _denied() if path == DECK else real(handle, name, path)

    monkeypatch.setattr(folder, "read_at", some_denied)
    found = {deck.path: deck for deck in scene.vault.decks()}
    assert [d.code for d in found[DECK].diagnostics] == ["unreadable"]
    assert any(deck.cards for deck in found.values())
    scene.begin()
    assert open_desk(scene.vault, scene.now()).cards
