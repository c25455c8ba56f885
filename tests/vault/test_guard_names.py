"""Names made to mislead, many thousands of them, on this disk and on one to which case and composition mean nothing.

What must not change is looked at from outside. Beside the writer stands a naive one, which looks for `insights` in the
path: on the second kind of disk it must be seen to fail, or the battery proves nothing.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from itertools import islice
from pathlib import Path
from types import ModuleType

import pytest

from vault.errors import Refused, RetainError
from vault.files.folder import sha256_hex
from vault.files.guard import Guard, Scope

SEED = 20261122
MINE, NEW = b"my own thought\n", b"machine text\n"
Folding = Callable[..., AbstractContextManager[Path]]
Count = Callable[[int, int], int]
Tally = Callable[[str, str], None]


def _beside(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


hostile_paths: Callable[[int, int], Iterable[str]] = _beside("hostile_names").hostile_paths

# Each hand, and what it may not change; the last two take any name that a human may give: only the folder is known.
HANDS = (Scope.AGENT, Scope.PUBLISHER, Scope.LOG, Scope.ADD, Scope.INSIGHT, Scope.PERSONAL)
_THEIRS = {
    Scope.ADD: ("insights", "personal"),
    Scope.INSIGHT: ("raw", "personal"),
}


def make(root: Path) -> Path:
    """A vault, with a personal vault in it that no hand may write."""
    for folder in ("insights/deep", "raw/deep", "personal/deep", "wiki/concepts", "output", "learning/flashcards"):
        (root / folder).mkdir(parents=True)
    (root / "ledger").mkdir()
    (root / ".retain/work").mkdir(parents=True)
    for folder in ("insights", "raw", "personal"):
        for name in ("mine.md", "deep/mine.md"):
            (root / folder / name).write_bytes(MINE)
    (root / "retain.toml").write_bytes(MINE)
    (root / "AGENTS.md").write_bytes(MINE)
    return root


def picture(root: Path, folders: Iterable[str]) -> dict[str, bytes]:
    """All that lies in the folders of `root`, and what lies at and beside its top."""
    found = {path.name: b"" for place in (root, root.parent) for path in place.iterdir()}
    for folder in folders:
        for place, names, files in os.walk(root / folder):
            found |= {f"{place}/{name}": b"" for name in names}
            found |= {f"{place}/{name}": Path(place, name).read_bytes() for name in files}
    return found | {name: (root / name).read_bytes() for name in ("retain.toml", "AGENTS.md")}


def tried(root: Path, backing: Path, scope: Scope, paths: Iterable[str]) -> tuple[int, int]:
    """(written, refused) of a write to each path; asserts that nothing of the human's changed on the way."""
    personal = scope is Scope.PERSONAL
    forbidden = [root / name for name in (("insights", "raw", "personal") if personal else ("personal",))]
    theirs = _THEIRS.get(scope, ("insights", "raw", "personal"))
    guard = Guard(root, scope, forbidden=forbidden)
    before = picture(backing, theirs)
    written = refused = 0
    todo = iter(paths)
    while batch := list(islice(todo, 250)):
        for number, path in enumerate(batch):
            expect = sha256_hex(MINE) if number % 3 == 0 and scope.replaces else None
            try:
                guard.write(path, NEW, expect=expect)
                written += 1
            except RetainError:
                refused += 1
        after = picture(backing, theirs)
        changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        if personal:  # at its root a human may have notes of any name
            changed = {name for name in changed if "/" in name or name in before}
        assert not changed, f"{scope.name} changed {sorted(changed)[:3]} by one of {batch!r} (seed {SEED})"
    return written, refused


def naively_written(root: Path, backing: Path, paths: Iterable[str]) -> int:
    """How many files of the human's a writer changes or makes that looks for their folders' names in the path."""
    before = picture(backing, ("insights", "raw"))
    for path in paths:
        target = Path(os.path.normpath(root / path)) if "\0" not in path else root
        if root in target.parents and not {"insights", "raw"} & set(target.relative_to(root).parts):
            with suppress(OSError, UnicodeEncodeError):
                target.write_bytes(NEW)
    after = picture(backing, ("insights", "raw"))
    inside = {
        name for name in before.keys() | after.keys() if f"{backing}/insights/" in name or f"{backing}/raw/" in name
    }
    return sum(before.get(name) != after.get(name) for name in inside)


def battery(root: Path, backing: Path, count: int) -> str:
    """Runs the names through every hand; the figures in words."""
    each = count // len(HANDS)
    written = refused = 0
    for number, scope in enumerate(HANDS):
        done = tried(root, backing, scope, hostile_paths(SEED + number, each))
        written, refused = written + done[0], refused + done[1]
        assert done[1] > 0, f"{scope.name} refused nothing"
    for scope, path in (
        (Scope.AGENT, "wiki/control.md"),
        (Scope.ADD, "raw/control.md"),
        (Scope.INSIGHT, "insights/c.md"),
    ):
        assert Guard(root, scope).write(path, NEW, expect=None), "the control"
    assert written > 0
    return f"{each * len(HANDS):,} names: {written:,} harmless ones written, {refused:,} refused, 0 escaped"


def test_no_name_of_many_reaches_what_is_the_humans(tmp_path: Path, torture: Count, tally: Tally) -> None:
    root = make(tmp_path / "vault")
    figures = battery(root, root, torture(100_000, 3_000))
    tally("hostile names, this disk", figures)


def test_nor_on_a_disk_to_which_case_and_composition_mean_nothing(
    tmp_path: Path, folding: Folding, torture: Count, tally: Tally
) -> None:
    row = "hostile names, a disk without case or composition"
    if sys.platform != "linux" or not Path("/dev/fuse").exists():
        tally(row, "not run: no such disk can be mounted here")
    with folding() as disk:
        root, backing = disk / "vault", tmp_path / "backing/vault"
        make(backing)
        figures = battery(root, backing, torture(100_000, 3_000))
        escaped = naively_written(root, backing, hostile_paths(SEED, 3_000))
        assert escaped > 0, "the naive writer was not led astray: this disk is not what it should be"
        tally(row, f"{figures}; a naive writer changed {escaped} of the human's files in 3,000")


ALIASES = ["Insights", "INSIGHTS", "iNsIgHtS", "ｉｎｓｉｇｈｔｓ", "INSIGHTS/Deep", "insights/DEEP"]


@pytest.mark.parametrize("lacking", [(), ("no-exchange", "no-link")], ids=["all calls", "like FAT"])
def test_a_folder_by_another_spelling_is_known_for_what_it_is(
    tmp_path: Path, folding: Folding, lacking: tuple[str, ...]
) -> None:
    """No rule of names stands in the way here: the hand takes any, and only the folder's identity tells."""
    with folding(*lacking) as disk:
        make(tmp_path / "backing/vault")
        root, mine = disk / "vault", tmp_path / "backing/vault/insights"
        guard = Guard(root, Scope.PERSONAL, forbidden=[root / "insights"])
        for alias in ALIASES:
            assert (root / alias).samefile(root / "insights") or "/" in alias
            for name in ("mine.md", "new.md", "new folder/new.md"):
                with pytest.raises(Refused, match="your own folders under another name"):
                    guard.write(f"{alias}/{name}", NEW, expect=None)
                with pytest.raises(Refused, match="your own folders under another name"):
                    guard.makedirs(f"{alias}/made")
        assert sorted(p.name for p in mine.rglob("*")) == ["deep", "mine.md", "mine.md"]
        assert guard.write("Elsewhere/new.md", NEW, expect=None)


@pytest.mark.parametrize("lacking", [(), ("no-exchange",), ("no-link",), ("no-exchange", "no-link")])
def test_on_such_a_disk_files_are_written_replaced_and_removed_whole(
    tmp_path: Path, folding: Folding, lacking: tuple[str, ...]
) -> None:
    composed = unicodedata.normalize("NFC", "wiki/concepts/über.md")
    with folding(*lacking) as disk:
        make(tmp_path / "backing/vault")
        guard, lying = Guard(disk / "vault", Scope.AGENT), tmp_path / "backing/vault/wiki/concepts"
        assert guard.write(composed, MINE, expect=None)
        assert (disk / "vault" / unicodedata.normalize("NFD", composed)).read_bytes() == MINE
        with pytest.raises(RetainError):
            guard.write("wiki/concepts/ÜBER.md", NEW, expect=None)
        assert guard.write(composed, NEW, expect=sha256_hex(MINE))
        assert [p.read_bytes() for p in lying.iterdir()] == [NEW]
        guard.remove(composed, expect=sha256_hex(NEW))
        assert not list(lying.iterdir())


def test_the_folding_disk_is_the_disk_it_says_it_is(folding: Folding) -> None:
    with folding() as disk:
        (disk / "Übung").mkdir()
        (disk / "Übung/a.md").write_bytes(b"one")
        for spelling in ("übung", "ÜBUNG", unicodedata.normalize("NFD", "Übung")):
            assert (disk / spelling / "A.MD").read_bytes() == b"one"
        subprocess.run(["mv", str(disk / "übung/A.md"), str(disk / "übung/b.md")], check=True)
        assert [p.name for p in (disk / "ÜBUNG").iterdir()] == ["b.md"]
        assert [p.name for p in disk.iterdir()] == ["Übung"]
