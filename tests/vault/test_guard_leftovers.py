"""What a killed process leaves under a temporary name may be somebody's edit: a sweep never removes one."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from vault.errors import EditedMeanwhile, RetainError
from vault.files import replace as replacing
from vault.files.folder import sha256_hex
from vault.files.guard import Guard, Scope
from vault.files.leftovers import edited_file, marked_name, temporary_name
from vault.files.write_scopes import DEPTH, TEMP_PREFIX, is_conflict_copy

OLD, NEW, EDIT = b"the old words\n", b"the new words\n", b"edited by the human\n"
PAGE = "wiki/concepts/kv-cache.md"
Watched = Callable[[Callable[[int, str], None]], AbstractContextManager[Any]]


class Killed(BaseException):
    """What ends a process at once: nothing after it runs, as far as the disk is concerned."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("insights", "raw", "wiki/concepts"):
        (tmp_path / "vault" / folder).mkdir(parents=True)
    return tmp_path / "vault"


def contents(root: Path) -> set[bytes]:
    return {p.read_bytes() for p in root.rglob("*") if p.is_file()}


def leftovers(root: Path) -> list[Path]:
    return sorted(root.rglob(f"{TEMP_PREFIX}*"))


def save_beside(path: Path, data: bytes) -> None:
    other = path.with_name("other")
    other.write_bytes(data)
    other.replace(path)


def swept(root: Path) -> tuple[list[str], list[str]]:
    """(removed, rescued) by a sweep for which nothing is too young."""
    guard = Guard(root, Scope.AGENT)
    return guard.sweep(older_than_s=-1), guard.rescued


@pytest.mark.parametrize("data", [EDIT, b"x" * 300_000, OLD + NEW], ids=["short", "long", "both"])
@pytest.mark.parametrize("name", ["kv-cache.md", "ein-sehr-" + "langer-" * 30 + "name.md", "ohne-endung"])
def test_an_edit_found_under_a_temporary_name_gets_a_name_to_be_found_by(root: Path, name: str, data: bytes) -> None:
    folder = root / "wiki/concepts"
    (folder / name).write_bytes(NEW)
    (folder / marked_name(name, ours=NEW, expect=sha256_hex(OLD))).write_bytes(data)
    days = {date.today()}
    removed, rescued = swept(root)
    days.add(date.today())  # midnight may have passed
    assert not removed and not leftovers(root)
    (path,) = rescued
    assert (
        is_conflict_copy(path)
        and any(f".conflict-{day}" in path for day in days)
        and (root / path).read_bytes() == data
    )
    assert (folder / name).read_bytes() == NEW
    assert swept(root) == ([], []), "and there it stays"


@pytest.mark.parametrize("data", [NEW, OLD, b""], ids=["ours", "what was replaced", "nothing"])
def test_what_is_nobodys_edit_is_removed(root: Path, data: bytes) -> None:
    leftover = root / "wiki/concepts" / marked_name("kv-cache.md", ours=NEW, expect=sha256_hex(OLD))
    leftover.write_bytes(data)
    assert swept(root) == ([f"wiki/concepts/{leftover.name}"], [])


def test_what_only_ever_held_our_own_bytes_is_removed_whatever_it_holds(root: Path) -> None:
    (root / "wiki" / temporary_name()).write_bytes(EDIT)
    (root / "wiki" / temporary_name()).symlink_to(root / "insights")
    removed, rescued = swept(root)
    assert len(removed) == 2 and not rescued and (root / "insights").is_dir()


def test_a_second_name_of_a_file_is_removed_and_the_file_stays(root: Path) -> None:
    (root / PAGE).write_bytes(EDIT)
    os.link(root / PAGE, (root / PAGE).with_name(marked_name("kv-cache.md", ours=NEW, expect=None)))
    removed, rescued = swept(root)
    assert len(removed) == 1 and not rescued
    assert (root / PAGE).read_bytes() == EDIT and (root / PAGE).stat().st_nlink == 1


def test_a_file_that_was_being_deleted_when_it_was_edited_is_named_beside_it(root: Path) -> None:
    (root / PAGE).with_name(marked_name("kv-cache.md", ours=b"", expect=sha256_hex(OLD))).write_bytes(EDIT)
    removed, (path,) = swept(root)
    assert not removed and is_conflict_copy(path) and (root / path).read_bytes() == EDIT


def test_names_that_we_never_made_are_left_where_they_are(root: Path) -> None:
    digits = "0" * 12
    for odd in ("..", "x\u202ey", "a\nb"):
        (root / "wiki" / f"{TEMP_PREFIX}{digits}-{digits[:-1]}1-{digits[:-1]}2-{odd}").write_bytes(EDIT)
    removed, rescued = swept(root)
    assert not removed and not rescued and len(leftovers(root)) == 3
    assert (root / "insights").is_dir() and not list((root / "insights").iterdir())


def test_a_name_tells_an_edit_from_our_own_bytes_and_fits_every_disk() -> None:
    for name in ("a.md", "ü" * 120 + ".md", "." + "x" * 200, "x" * 255, "." * 9, "a." + "e" * 200):
        marked = marked_name(name, ours=NEW, expect=sha256_hex(OLD))
        assert len(marked.encode()) <= 143 and edited_file(marked, EDIT), name
        assert not any(edited_file(marked, data) for data in (NEW, OLD, b""))
    assert edited_file(marked_name("a.md", ours=NEW, expect=None), EDIT) == "a.md"
    assert edited_file(temporary_name(), EDIT) is None


# --- a kill at every call, while somebody edits ----------------------------------------------------------------------


def replace(root: Path) -> object:
    return Guard(root, Scope.AGENT).write(PAGE, NEW, expect=sha256_hex(OLD))


def remove(root: Path) -> None:
    Guard(root, Scope.AGENT).remove(PAGE, expect=sha256_hex(OLD))


def create(root: Path) -> object:
    return Guard(root, Scope.AGENT).write(PAGE, NEW, expect=None)


def without_calls(patch: pytest.MonkeyPatch, *, links: bool) -> None:
    """As on a disk that exchanges no names; without `links`, that has no second names for a file either."""

    def no_link(*args: object, **kwargs: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    patch.setattr(replacing, "rename_call", lambda: None)
    if not links:
        patch.setattr(os, "link", no_link)


def calls_of(action: Callable[[Path], object], root: Path, before: bytes | None, watched: Watched) -> int:
    reset(root, before)
    with watched(lambda n, name: None) as disk:
        action(root)
    return len(disk.made)


def reset(root: Path, before: bytes | None) -> None:
    for path in (root / "wiki/concepts").iterdir():
        path.unlink()
    if before is not None:
        (root / PAGE).write_bytes(before)


@pytest.mark.parametrize("saves", ["beside", "in place"])
@pytest.mark.parametrize(("action", "before"), [(replace, OLD), (remove, OLD), (create, None)])
def test_an_edit_survives_a_kill_at_any_later_call(
    root: Path,
    watched: Watched,
    action: Callable[[Path], object],
    before: bytes | None,
    saves: str,
    torture: Callable[[int, int], int],
    tally: Callable[[str, str], None],
) -> None:
    """The edit lands before one call, the process dies before another: after a sweep the edit is there, by a name."""
    count = calls_of(action, root, before, watched)
    deaths, stride = 0, torture(1, 3)
    for edited in range(1, count + 1):
        for died in range(edited + edited % stride, count + 1, stride):
            reset(root, before)

            def step(n: int, name: str, edited: int = edited, died: int = died) -> None:
                if n == edited:
                    save_beside(root / PAGE, EDIT) if saves == "beside" else (root / PAGE).write_bytes(EDIT)
                if n >= died:  # nothing works any more: what runs on leaves no trace
                    raise Killed

            try:
                with watched(step):
                    action(root)
            except Killed:
                deaths += 1
            except RetainError:
                pass  # it was noticed before the death
            swept(root)
            where = f"edited before call {edited}, killed before call {died}"
            assert EDIT in contents(root), f"{where}: the edit is gone"
            assert not leftovers(root), where
    assert deaths > count, "the deaths are real"
    tally(f"an edit, then a kill, in {action.__name__} (saved {saves})", f"{deaths} deaths: 0 edits lost")


@pytest.mark.parametrize("links", [True, False], ids=["no exchange", "neither exchange nor links"])
@pytest.mark.parametrize(("action", "before"), [(create, None), (remove, OLD)])
def test_on_a_lesser_disk_an_edit_before_any_call_is_not_overwritten(
    root: Path,
    watched: Watched,
    monkeypatch: pytest.MonkeyPatch,
    action: Callable[[Path], object],
    before: bytes | None,
    links: bool,
) -> None:
    without_calls(monkeypatch, links=links)
    count = calls_of(action, root, before, watched)
    for edited in range(1, count + 1):
        reset(root, before)

        def step(n: int, name: str, edited: int = edited) -> None:
            if n == edited and name != "rename":  # between looking and renaming such a disk leaves no room for us
                save_beside(root / PAGE, EDIT)
            elif n == edited:
                (root / PAGE).write_bytes(EDIT)

        with watched(step) as disk:
            monkeypatch.setattr(replacing, "rename_call", lambda: None)
            with suppress(EditedMeanwhile):
                action(root)
        last = disk.made[edited - 1]
        assert EDIT in contents(root) or last == "rename", f"an edit before call {edited} ({last}) is gone"
        swept(root)


@pytest.mark.parametrize("edits", [1, 2])
def test_edits_in_the_moment_of_the_exchange_are_all_there_afterwards(root: Path, watched: Watched, edits: int) -> None:
    """Each is saved as our file and theirs are exchanged; after the swap back, what we hold gets a name of its own."""
    saved: list[bytes] = []

    def step(n: int, name: str) -> None:
        if name == "exchange" and len(saved) < edits:
            saved.append(b"edit %d\n" % (len(saved) + 1))
            save_beside(root / PAGE, saved[-1])

    reset(root, OLD)
    with watched(step), pytest.raises(EditedMeanwhile):
        replace(root)
    if not saved:
        pytest.skip("this system exchanges no names")
    assert (root / PAGE).read_bytes() == b"edit 1\n"
    assert contents(root) == set(saved) and not leftovers(root)


def test_an_edit_into_our_own_file_in_that_moment_is_kept_beside_the_other(root: Path, watched: Watched) -> None:
    """One program saved before the exchange, another one wrote into ours after it: neither is lost."""
    exchanges: list[int] = []

    def step(n: int, name: str) -> None:
        if name == "exchange":
            exchanges.append(n)
            if len(exchanges) == 1:
                save_beside(root / PAGE, EDIT)
            else:
                (root / PAGE).write_bytes(b"into ours\n")

    reset(root, OLD)
    with watched(step), pytest.raises(EditedMeanwhile):
        replace(root)
    if not exchanges:
        pytest.skip("this system exchanges no names")
    assert (root / PAGE).read_bytes() == EDIT
    assert contents(root) == {EDIT, b"into ours\n"} and not leftovers(root)


@pytest.mark.skipif(sys.platform != "linux", reason="Python knows extended attributes on Linux alone")
def test_replacing_keeps_the_attributes_of_the_user_where_the_disk_has_some(root: Path) -> None:
    reset(root, OLD)
    try:
        os.setxattr(root / PAGE, "user.retain.tag", b"mine")
    except OSError:
        pytest.skip("this disk keeps no extended attributes")
    assert replace(root)
    assert os.getxattr(root / PAGE, "user.retain.tag") == b"mine"
    assert (root / PAGE).read_bytes() == NEW


@pytest.mark.skipif(sys.platform != "linux", reason="Python knows extended attributes on Linux alone")
def test_a_disk_without_attributes_stops_no_write(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_here(*args: object, **kwargs: object) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    for name in ("listxattr", "setxattr"):
        monkeypatch.setattr(os, name, none_here)
    reset(root, OLD)
    assert replace(root) and (root / PAGE).read_bytes() == NEW


def test_what_another_process_sweeps_in_the_same_moment_does_not_end_the_sweep(root: Path, watched: Watched) -> None:
    for name in ("a.md", "b.md", "c.md"):
        (root / "wiki/concepts" / marked_name(name, ours=NEW, expect=sha256_hex(OLD))).write_bytes(NEW)
    gone: list[str] = []

    def step(n: int, name: str) -> None:
        if name == "unlink" and not gone:
            gone.append(name)
            for path in leftovers(root)[:2]:
                path.rename(root / path.name.removeprefix(TEMP_PREFIX))

    with watched(step):
        removed, rescued = swept(root)
    assert gone and len(removed) in (1, 2) and not rescued and not leftovers(root)


def test_a_sweep_goes_as_deep_as_this_hand_writes_and_no_deeper(root: Path, stack_up: Callable[[Path], None]) -> None:
    """An agent can stack up folders by the thousand; where no file of ours can be, none is looked for."""
    deepest = "/".join(("wiki", *["d"] * (DEPTH - 2)))
    Guard(root, Scope.AGENT).write(f"{deepest}/a.md", NEW, expect=None)
    stack_up(root / deepest)
    left = f"{deepest}/{marked_name('a.md', ours=NEW, expect=sha256_hex(OLD))}"
    for path in (left, f"{deepest}/d/{temporary_name()}", f"wiki/{temporary_name()}"):
        (root / path).write_bytes(NEW)
    removed, rescued = swept(root)
    assert left in removed and len(removed) == 2 and not rescued


@pytest.mark.parametrize("links", [None, True, False], ids=["exchanging", "linking", "renaming"])
@pytest.mark.parametrize(("action", "before", "after"), [(create, None, NEW), (replace, OLD, NEW), (remove, OLD, None)])
def test_a_sweep_at_any_moment_leaves_alone_what_is_in_use(
    root: Path,
    watched: Watched,
    monkeypatch: pytest.MonkeyPatch,
    action: Callable[[Path], object],
    before: bytes | None,
    after: bytes | None,
    links: bool | None,
) -> None:
    if links is not None:
        without_calls(monkeypatch, links=links)
    reset(root, before)
    sweeping, sweeps = False, 0

    def sweep(number: int, name: str) -> None:
        nonlocal sweeping, sweeps
        if not sweeping:
            sweeping, guard = True, Guard(root, Scope.AGENT)
            assert guard.sweep() == guard.rescued == []
            sweeping, sweeps = False, sweeps + 1

    with watched(sweep):
        action(root)
    assert sweeps > 10 and not leftovers(root)
    assert ((root / PAGE).read_bytes() if (root / PAGE).exists() else None) == after
