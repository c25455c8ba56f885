"""A folder that becomes a link in the middle of a write, many thousands of times: nothing gets through.

Beside the writer stands a naive one, which looks where a path leads and then opens it: it must be seen to escape.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from vault.errors import Refused, RetainError
from vault.files.guard import Guard, Scope

MINE, NEW = b"my own thought\n", b"machine text\n"
PLACES = {"wiki/concepts": "../insights", "wiki": "insights"}  # what is swapped for a link, and where that leads
NAIVE_TRIES, PATIENCE = 200_000, 2_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("insights/concepts", "wiki/concepts"):
        (tmp_path / "vault" / folder).mkdir(parents=True)
    (tmp_path / "vault/insights/mine.md").write_bytes(MINE)
    return tmp_path / "vault"


# Exchanges the folder with a link to insights/, as fast as it can, until it is killed.
_SWAPPER = """
import ctypes, os, sys
library = ctypes.CDLL(None, use_errno=True)
exchange = getattr(library, "renameat2", None) or library.renameatx_np
here, place = os.open(sys.argv[1], os.O_RDONLY), os.fsencode(sys.argv[2])
os.symlink(sys.argv[3], "link", dir_fd=here)
print("ready", flush=True)
while exchange(here, b"link", here, place, 2) == 0:
    pass
raise SystemExit(os.strerror(ctypes.get_errno()))
"""


@contextmanager
def swapping(root: Path, place: str) -> Iterator[None]:
    command = [sys.executable, "-I", "-c", _SWAPPER, str(root), place, PLACES[place]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            assert process.stdout.readline() == "ready\n", process.stderr.read()
            yield
            assert process.poll() is None, f"the swapper gave up: {process.stderr.read()}"
        finally:
            process.kill()


def escapes(root: Path) -> list[Path]:
    return [p for p in (root / "insights").rglob("*") if p.is_file() and p != root / "insights/mine.md"]


def naive_write(root: Path, name: str, *, slowly: bool) -> None:
    """What most programs do: look where the path leads, and then open it by its name."""
    path = root / "wiki" / "concepts" / name
    parent = Path(os.path.realpath(path.parent))
    if root / "insights" in (parent, *parent.parents):
        raise Refused("that leads into insights/")
    if slowly:
        os.sched_yield()  # on a machine with no processor to spare nothing else runs between the two
    path.write_bytes(NEW)


def tries_until_the_naive_one_escapes(root: Path) -> int:
    for n in range(NAIVE_TRIES):
        try:
            naive_write(root, f"n{n}.md", slowly=n >= PATIENCE)
        except (RetainError, OSError):
            continue
        if n % 50 == 0 and escapes(root):
            return n + 1
    return NAIVE_TRIES if escapes(root) else 0


def raced(root: Path, tries: int) -> tuple[int, int]:
    """(written, refused) in so many tries of the writer."""
    guard, written = Guard(root, Scope.AGENT), 0
    for n in range(tries):
        with suppress(RetainError):
            written += guard.write(f"wiki/concepts/g{n}.md", NEW, expect=None)
    return written, tries - written


@pytest.mark.parametrize("place", PLACES)
def test_a_folder_swapped_for_a_link_in_the_middle_of_a_write_lets_nothing_through(
    root: Path, place: str, torture: Callable[[int, int], int], tally: Callable[[str, str], None]
) -> None:
    tries = torture(100_000, 2_000) // len(PLACES)
    with swapping(root, place):
        naive = tries_until_the_naive_one_escapes(root)
        for path in escapes(root):
            path.unlink()
        written, refused = raced(root, tries)
    assert naive, "the race is not real here: the naive writer never escaped"
    escaped = escapes(root)
    assert written and refused, f"the folder was never there, or never a link: {written} written, {refused} refused"
    assert not escaped, f"{len(escaped)} writes landed in insights/"
    assert (root / "insights/mine.md").read_bytes() == MINE
    figures = f"{tries:,} tries: {written:,} written, {refused:,} refused, 0 escaped"
    tally(f"{place} swapped for a link", f"{figures}; a naive writer escaped within {naive:,} tries")


def test_a_root_that_another_process_makes_in_the_very_moment_is_written_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "state" / "retain" / "vault"
    look = Path.exists

    def made_meanwhile(path: Path, **follow: bool) -> bool:
        there = look(path, **follow)
        if path == root:
            root.mkdir(parents=True, exist_ok=True)  # as the other process does, once we have looked
        return there

    monkeypatch.setattr(Path, "exists", made_meanwhile)
    Guard(root, Scope.STATE).write("note.json", NEW, expect=None)
    assert (root / "note.json").read_bytes() == NEW
