"""Whatever becomes of the human's files is found at the next look, and put back byte for byte."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vault.human_vaults import FOLDERS, Two, fill, two_vaults
from vault.audit.changes import ChangeKind, compare
from vault.audit.database import newest
from vault.audit.scanner import PERSONAL, VAULT, FileState, Key, Scan, Scanner, roots_of, shown
from vault.audit.watcher import Audit, AuditReport, confirm, key_of
from vault.config.settings import Settings
from vault.config.user import CONFIG, config_folder
from vault.errors import LockHeld, NotFound, Refused, WriteFailed
from vault.files.folder import FileKind
from vault.files.guard import Scope
from vault.vault import Vault


@pytest.fixture
def two(tmp_path: Path) -> Two:
    return two_vaults(tmp_path)


@pytest.fixture
def filled(two: Two) -> Two:
    fill(two, Random(1))
    assert two.look().first
    return two


def whats(two: Two) -> dict[str, ChangeKind]:
    return {shown(change.key): change.what for change in two.look().changes}


def is_well(look: AuditReport) -> bool:
    """Return whether nothing changed and everything could be read."""
    return not (look.changes or look.unreachable or look.scan.unread)


# --- the comparison, which is pure ----------------------------------------------------------------------------------

KEYS = st.builds(
    Key, st.just(VAULT), st.sampled_from(["insights/a", "insights/b", "insights/c", "raw/a", "raw/b", "raw/c"])
)
SEENS = st.builds(
    FileState,
    st.just(FileKind.FILE),
    st.sampled_from("pqr"),
    st.integers(0, 1),
    st.sampled_from([0o600, 0o644]),
    st.just(1),
    st.integers(1, 4),
    st.just(0),
    st.just(0),
)
STATES = st.dictionaries(KEYS, SEENS, max_size=6)


@settings(max_examples=60)
@given(STATES, STATES)
def test_each_difference_is_told_just_once_and_nothing_else(
    known: dict[Key, FileState], now: dict[Key, FileState]
) -> None:
    changes = compare(known, Scan(files=now))
    touched = [key for change in changes for key in change.keys]
    assert len(touched) == len(set(touched))
    differing = {
        k
        for k in known | now
        if (a := known.get(k)) is None or (b := now.get(k)) is None or a[:2] != b[:2] or a.mode != b.mode
    }
    assert set(touched) == differing
    for change in changes:
        assert (change.was, change.now) == (known.get(change.keys[0]), now.get(change.key))
        if change.what is ChangeKind.MOVED:
            assert change.was is not None and change.now is not None
            assert change.was.sha256 == change.now.sha256


@settings(max_examples=40)
@given(STATES, STATES, st.sampled_from(["insights", "raw"]))
def test_what_could_not_be_looked_at_is_not_taken_for_gone(
    known: dict[Key, FileState], now: dict[Key, FileState], hidden: str
) -> None:
    seen = {key: one for key, one in now.items() if not key.path.startswith(f"{hidden}/")}
    for look in (Scan(seen, unreachable={Key(VAULT, hidden): "why"}), Scan(seen, unread={Key(VAULT, hidden): "why"})):
        changes = compare(known, look)
        assert not [c for c in changes if any(key.path.startswith(f"{hidden}/") for key in c.keys)]
    assert compare(known, Scan(seen, unread={Key(PERSONAL, ""): "why"})) == compare(known, Scan(seen))


def test_of_two_that_are_alike_the_very_same_file_is_the_one_that_moved() -> None:
    def seen(ino: int) -> FileState:
        return FileState(FileKind.FILE, "p", 1, 0o644, 1, ino, 0, 0)

    a, b, x, y = (Key(VAULT, f"raw/{name}") for name in "abxy")
    changes = compare({a: seen(1), b: seen(2)}, Scan(files={x: seen(2), y: seen(1)}))
    assert {(change.origin, change.key) for change in changes} == {(a, y), (b, x)}


def test_empty_files_are_alike_and_none_is_taken_for_another() -> None:
    known = {Key(VAULT, "raw/a"): FileState(FileKind.FILE, "e", 0, 0o644, 1, 1, 0, 0)}
    now = {Key(VAULT, "raw/b"): FileState(FileKind.FILE, "e", 0, 0o644, 1, 2, 0, 0)}
    assert {c.what for c in compare(known, Scan(files=now))} == {ChangeKind.VANISHED, ChangeKind.APPEARED}


# --- the battery ----------------------------------------------------------------------------------------------------

Mutation = Callable[[Two, Random, list[Path]], set[Path]]


def change(two: Two, chance: Random, files: list[Path]) -> set[Path]:
    path = chance.choice(files)
    path.write_bytes(path.read_bytes()[::-1] + b"?" if path.stat().st_size else b"!")
    return {path}


def same_size_same_time(two: Two, chance: Random, files: list[Path]) -> set[Path]:
    """What only the bytes tell: as long as before, and dated back."""
    path = chance.choice([file for file in files if file.stat().st_size > 2])
    before = path.stat()
    data = bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    return {path}


def append(two: Two, chance: Random, files: list[Path]) -> set[Path]:
    path = chance.choice(files)
    with path.open("ab") as file:
        file.write(chance.randbytes(chance.randrange(1, 50)))
    return {path}


def truncate(two: Two, chance: Random, files: list[Path]) -> set[Path]:
    path = chance.choice([file for file in files if file.stat().st_size])
    os.truncate(path, chance.randrange(path.stat().st_size))
    return {path}


def delete(two: Two, chance: Random, files: list[Path]) -> set[Path]:
    path = chance.choice(files)
    path.unlink()
    return {path}


def rename(two: Two, chance: Random, files: list[Path]) -> set[Path]:
    path = chance.choice(files)
    new = path.with_name(f"renamed {chance.randrange(10**9)}")
    path.rename(new)
    return {path, new}


def move(two: Two, chance: Random, files: list[Path]) -> set[Path]:
    path = chance.choice(files)
    new = two.place(chance.choice(FOLDERS)) / f"deep {chance.randrange(10**9)}" / path.name
    new.parent.mkdir(parents=True)
    path.rename(new)
    return {path, new}


def swap(two: Two, chance: Random, files: list[Path]) -> set[Path]:
    one, other = chance.sample(files, 2)
    aside = one.with_name("swapping")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)
    return {one, other}


def add(two: Two, chance: Random, files: list[Path]) -> set[Path]:
    path = two.place(chance.choice(FOLDERS)) / f"new {chance.randrange(10**9)}.md"
    path.write_bytes(chance.randbytes(chance.randrange(50)))
    return {path}


def mode(two: Two, chance: Random, files: list[Path]) -> set[Path]:
    path = chance.choice(files)
    path.chmod(chance.choice([m for m in (0o644, 0o600, 0o777, 0o4755) if m != stat.S_IMODE(path.stat().st_mode)]))
    return {path}


def by_a_link(two: Two, chance: Random, files: list[Path]) -> set[Path]:
    path, other = chance.sample(files, 2)
    path.unlink()
    path.symlink_to(chance.choice([other, Path("/etc/passwd"), path]))
    return {path}


def by_a_folder(two: Two, chance: Random, files: list[Path]) -> set[Path]:
    path = chance.choice(files)
    path.unlink()
    path.mkdir()
    if chance.random() < 0.5:
        (path / "inside.md").write_bytes(b"inside")
        return {path, path / "inside.md"}
    return {path}


def by_a_pipe(two: Two, chance: Random, files: list[Path]) -> set[Path]:
    path = chance.choice(files)
    path.unlink()
    os.mkfifo(path)
    return {path}


def folder_by_a_link(two: Two, chance: Random, files: list[Path]) -> set[Path]:
    """A whole folder copied elsewhere and replaced by a link there: every path still leads to equal bytes."""
    folder = two.place(chance.choice(["raw/articles", "raw/repos/x/.github", "personal/journal", "personal/.obsidian"]))
    held = {path for path in files if folder in path.parents}
    elsewhere = two.base / f"elsewhere {chance.randrange(10**9)}"
    shutil.move(folder, elsewhere)
    folder.symlink_to(elsewhere)
    return held | {folder}


def folder_by_a_file(two: Two, chance: Random, files: list[Path]) -> set[Path]:
    folder = two.place("personal/journal")
    held = {path for path in files if folder in path.parents}
    shutil.rmtree(folder)
    folder.write_bytes(b"not a folder")
    return held | {folder}


MUTATIONS: tuple[Mutation, ...] = (
    *(change, same_size_same_time, append, truncate, delete, rename, move, swap, add, mode),
    *(by_a_link, by_a_folder, by_a_pipe, folder_by_a_link, folder_by_a_file),
)


def test_every_change_made_behind_the_humans_back_is_found_and_put_back(
    two: Two, torture: Callable[[int, int], int], tally: Callable[[str, str], None]
) -> None:
    tries = torture(1_000, 60)
    seed = 20261122
    chance = Random(seed)
    fill(two, chance)
    assert two.look().first
    good = two.tree()
    files = [Path(path) for path in sorted(good)]
    found = restored = 0
    for number in range(tries):
        mutate = MUTATIONS[number % len(MUTATIONS)]
        touched = mutate(two, chance, files)
        really = {path for path in touched if good.get(str(path)) != two.tree().get(str(path))}
        look = two.look(quick=number % 2 == 1)
        names = {
            str(two.place("personal" if k.place == PERSONAL else "") / k.path) for c in look.changes for k in c.keys
        }
        assert names == {str(path) for path in really}, (seed, number, mutate.__name__)
        found += 1
        outcome = two.restore(look.changes)
        assert not outcome.left, (seed, number, mutate.__name__, outcome.left)
        assert two.tree() == good, (seed, number, mutate.__name__)
        restored += 1
    assert not two.look().changes
    tally(
        "Audit: changes at random", f"{found} of {tries} found, {restored} of {tries} restored byte for byte, mode too"
    )


def test_what_was_deleted_or_altered_comes_back_and_a_restore_can_be_undone(
    two: Two, torture: Callable[[int, int], int], tally: Callable[[str, str], None]
) -> None:
    tries = torture(200, 10)
    chance = Random(22)
    fill(two, chance)
    two.look()
    good = two.tree()
    for number in range(tries):
        for path in chance.sample(sorted(good), chance.randrange(1, len(good))):
            Path(path).unlink() if chance.random() < 0.5 else Path(path).write_bytes(chance.randbytes(60))
        harmed = two.tree()
        two.restore(two.look().changes)
        assert two.tree() == good, number
        two.undo()
        assert {path: now[:2] for path, now in two.tree().items()} == {path: now[:2] for path, now in harmed.items()}
        two.undo()
        assert two.tree() == good, number
    tally("Audit: delete or alter, restore, undo, restore", f"{tries} of {tries} equal each time")


def test_times_set_back_are_noticed_by_the_quick_look_which_would_not_if_it_trusted_them(filled: Two) -> None:
    path = next(Path(p) for p, (_, data, _) in filled.tree().items() if len(data) > 40)
    _age(filled)
    before = path.stat()
    path.write_bytes(path.read_bytes()[::-1])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert len(filled.look(quick=True).changes) == 1
    with Audit.open(filled.vault) as audit:
        known = audit.known.files()
    gullible = {
        key: seen._replace(ctime_ns=path.stat().st_ctime_ns) if path.name in key.path else seen
        for key, seen in known.items()
    }
    look = Scanner(now_ns=2**62, trusted=gullible).scan(roots_of(filled.vault))
    assert not compare(known, look), "a look that trusted these times would have seen nothing"


def _age(two: Two) -> None:
    """Takes the human's files down as if they had not changed for long, so that the quick look trusts their times."""
    with Audit.open(two.vault) as audit:
        look = Scanner(now_ns=2**62).scan(roots_of(two.vault))
        audit.known.restamp(look.files)


# --- what a look sees and leaves out --------------------------------------------------------------------------------


def test_nothing_is_written_in_either_vault_by_a_look(filled: Two) -> None:
    def everything() -> dict[str, tuple[int, int]]:
        return {str(p): (p.lstat().st_mtime_ns, p.lstat().st_size) for p in filled.base.rglob("*")}

    before = everything()
    filled.look()
    filled.look(quick=True)
    assert everything() == before


def test_what_programs_keep_for_themselves_is_left_out(filled: Two) -> None:
    for name in (".git/config", ".trash/a.md", ".DS_Store", ".obsidian/workspace.json", "journal/.git/HEAD"):
        path = filled.personal / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    (filled.personal / ".obsidian/plugins").mkdir()
    (filled.personal / ".obsidian/plugins/main.js").write_bytes(b"run me")
    assert whats(filled) == {shown(Key(PERSONAL, ".obsidian/plugins/main.js")): ChangeKind.APPEARED}


def test_hostile_names_are_seen_shown_harmlessly_and_those_that_are_no_text_too(filled: Two) -> None:
    names = [b"line\nbreak.md", b"esc\x1b[31m.md", b"caf\xe9.md", "‮gpj.md".encode(), b"-rf", b"a\\..\\b"]
    insights = os.fsencode(filled.root / "insights")
    for name in names:
        with open(insights + b"/" + name, "wb") as file:
            file.write(name)
    look = filled.look()
    assert len(look.changes) == len(names)
    assert all(shown(c.key).encode() for c in look.changes), "each can be shown"
    outcome = filled.accept(look.changes)
    assert len(outcome.done) + len(outcome.left) == len(names)
    unfit = [key for key, _ in outcome.left]
    assert [os.fsencode(key.path) for key in unfit] == [b"insights/caf\xe9.md"]


def test_a_link_is_known_as_what_it_says_and_never_followed(filled: Two, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    (filled.root / "insights/link").symlink_to(outside)
    filled.accept(filled.look().changes)
    (outside / "more").write_bytes(b"more")
    assert not filled.look().changes
    (filled.root / "insights/link").unlink()
    (filled.root / "insights/link").symlink_to("/etc")
    look = filled.look()
    assert [c.what for c in look.changes] == [ChangeKind.CHANGED]
    outcome = filled.restore(look.changes)
    assert outcome.left and "link" in outcome.left[0][1]
    assert (filled.root / "insights/link").readlink() == Path("/etc")


def test_a_tree_too_deep_is_named_and_the_rest_is_seen(filled: Two) -> None:
    deep = filled.root / "raw" / "/".join("d" * 70)
    deep.mkdir(parents=True)
    (deep / "x").write_bytes(b"x")
    (filled.root / "raw/z.md").write_bytes(b"z")
    look = filled.look()
    assert [shown(c.key) for c in look.changes] == ["raw/z.md"]
    assert len(look.scan.unread) == 1 and not is_well(look)


def test_a_file_too_large_to_be_kept_is_known_by_its_digest(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("vault.audit.blobs", "vault.audit.scanner", "vault.audit.watcher"):
        monkeypatch.setattr(f"{module}.LARGEST", 1_000)
    path = two.root / "raw/large.bin"
    path.write_bytes(b"x" * 5_000)
    two.look()
    path.write_bytes(b"y" * 5_000)
    look = two.look()
    assert [c.what for c in look.changes] == [ChangeKind.CHANGED]
    assert "too large" in two.restore(look.changes).left[0][1]
    assert path.read_bytes() == b"y" * 5_000
    assert two.accept(look.changes).done and not two.look().changes


def test_what_is_too_large_to_be_kept_is_never_taken_away(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("vault.audit.blobs", "vault.audit.scanner", "vault.audit.watcher"):
        monkeypatch.setattr(f"{module}.LARGEST", 1_000)
    grown, new = two.root / "raw/data.bin", two.root / "raw/new.bin"
    grown.write_bytes(b"small")
    two.look()
    grown.write_bytes(b"y" * 5_000)
    new.write_bytes(b"z" * 5_000)
    before = two.tree()
    outcome = two.restore(two.look().changes)
    assert not outcome.done and [why for _, why in outcome.left if "too large to back up" not in why] == []
    assert len(outcome.left) == 2 and two.tree() == before
    changes = two.look().changes
    new.write_bytes(b"Z" * 5_000)
    assert [key.path for key in two.accept(changes).done] == ["raw/data.bin"], "the other one changed meanwhile"


# --- not to be reached is not to be gone ----------------------------------------------------------------------------


@pytest.mark.parametrize("gone", ["missing", "empty", "a file", "a link"])
@pytest.mark.parametrize("which", ["personal", "insights"])
def test_a_folder_that_cannot_be_reached_is_not_taken_for_deleted(filled: Two, gone: str, which: str) -> None:
    folder = filled.place(which)
    away = filled.base / "away"
    folder.rename(away)
    if gone == "empty":
        folder.mkdir()
    elif gone == "a file":
        folder.write_bytes(b"")
    elif gone == "a link":
        folder.symlink_to(away)
    look = filled.look()
    assert not look.changes and not is_well(look)
    assert [key.path or key.place for key in look.unreachable] == [which]
    if gone != "missing":
        folder.unlink() if not folder.is_dir() or folder.is_symlink() else folder.rmdir()
    away.rename(folder)
    assert is_well(filled.look())


@pytest.mark.parametrize("top", ["insights", "raw"])
def test_a_folder_that_is_a_link_is_not_said_to_be_well_from_the_first_look_on(two: Two, top: str) -> None:
    two.place(top).rename(two.base / "away")
    two.place(top).symlink_to(two.base / "away")
    for _ in range(2):
        look = two.look()
        assert not is_well(look) and look.unreachable == {Key(VAULT, top): "it was replaced by a link"}


def test_a_vault_of_neither_insights_nor_a_known_personal_vault_is_not_said_to_be_well(two: Two) -> None:
    shutil.rmtree(two.root / "insights")
    assert is_well(two.look()), "the personal vault is known"
    lost = replace(two, vault=Vault(two.root, Settings(vault_id="01JD0000000000000000000001", name="v")))
    for _ in range(2):
        assert "no personal vault is set" in lost.look().unreachable[Key(VAULT, "insights")]
    (two.root / "insights").mkdir()
    assert is_well(lost.look())


def test_with_force_a_folder_that_was_deleted_is_restored_but_never_under_a_missing_mount(filled: Two) -> None:
    good = filled.tree()
    shutil.rmtree(filled.root / "insights")
    look = filled.look(force=True)
    assert {c.what for c in look.changes} == {ChangeKind.VANISHED}
    assert not filled.restore(look.changes).left
    assert filled.tree() == good
    shutil.rmtree(filled.personal)
    look = filled.look(force=True)
    outcome = filled.restore(look.changes)
    assert len(outcome.left) == len(look.changes) and not filled.personal.exists()
    filled.personal.mkdir()
    assert not filled.restore(filled.look(force=True).changes).left
    assert filled.tree() == good


def test_with_force_a_folder_that_is_gone_for_good_is_forgotten(filled: Two) -> None:
    shutil.rmtree(filled.root / "insights")
    look = filled.look(force=True)
    assert not filled.accept(look.changes).left
    assert is_well(filled.look())
    (filled.root / "insights").mkdir()
    (filled.root / "insights/forged.md").write_bytes(b"x")
    assert whats(filled) == {"insights/forged.md": ChangeKind.APPEARED}


@pytest.mark.parametrize("place", ["vault/wiki/state", "vault/.retain/x", "vault/insights", "personal/.state"])
def test_copies_are_never_kept_inside_a_vault(two: Two, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(two.base / place))
    with pytest.raises(Refused, match="XDG_STATE_HOME"):
        two.look()
    assert not list(two.base.rglob("*.sqlite3"))


@pytest.mark.parametrize("call", ["open", "scandir"])
def test_what_the_system_will_not_let_us_read_is_named_and_not_taken_for_gone(
    filled: Two, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    real, refused = getattr(os, call), filled.root / ("raw/articles" if call == "scandir" else "raw/articles/locked")
    (filled.root / "raw/articles/locked").write_bytes(b"x")
    filled.accept(filled.look().changes)
    there = refused.stat()

    def guarded(path: int | str, *rest: int, **named: int) -> object:
        handle = path if call == "scandir" else named.get("dir_fd")
        status = os.fstat(handle) if isinstance(handle, int) else None
        if call == "open" and path == "locked":
            raise PermissionError(13, "Permission denied")
        if call == "scandir" and status is not None and (status.st_dev, status.st_ino) == (there.st_dev, there.st_ino):
            raise OSError(5, "Input/output error")
        return real(path, *rest, **named)

    with monkeypatch.context() as patch:
        patch.setattr(os, call, guarded)
        look = filled.look()
    assert not look.changes and not is_well(look)
    assert [shown(key) for key in look.scan.unread] == [str(refused.relative_to(filled.root))]
    assert is_well(filled.look())


def test_all_files_of_a_folder_deleted_one_by_one_are_deleted(filled: Two) -> None:
    good = filled.tree()
    for path in (filled.root / "insights").iterdir():
        path.unlink()
    look = filled.look()
    assert look.changes and not look.unreachable
    filled.restore(look.changes)
    assert filled.tree() == good


def test_a_personal_vault_named_later_gets_a_first_look_of_its_own(two: Two) -> None:
    config = config_folder() / CONFIG
    text = config.read_bytes()
    config.unlink()
    two.vault = type(two.vault)(two.vault.root, two.vault.settings)
    (two.root / "insights/a.md").write_bytes(b"a")
    assert two.look().files == 1
    config.write_bytes(text)
    two.vault = type(two.vault)(two.vault.root, two.vault.settings)
    (two.personal / "mine.md").write_bytes(b"mine")
    look = two.look()
    assert look.begun == (Key(PERSONAL, ""),) and is_well(look) and look.files == 2
    (two.personal / "mine.md").unlink()
    two.restore(two.look().changes)
    assert (two.personal / "mine.md").read_bytes() == b"mine"


def test_insights_that_were_not_there_at_first_are_new_when_they_come(two: Two) -> None:
    (two.root / "insights").rmdir()
    two.look()
    (two.root / "insights").mkdir()
    (two.root / "insights/forged.md").write_bytes(b"as if you had written it")
    assert whats(two) == {"insights/forged.md": ChangeKind.APPEARED}


# --- accepting, confirming, restoring -------------------------------------------------------------------------------


def test_what_was_accepted_is_known_and_comes_back_as_it_was_accepted(filled: Two) -> None:
    path = filled.root / "insights/new.md"
    path.write_bytes(b"one")
    filled.accept(filled.look().changes)
    assert is_well(filled.look())
    path.write_bytes(b"two")
    filled.restore(filled.look().changes)
    assert path.read_bytes() == b"one"


def test_what_changes_after_the_look_is_neither_accepted_nor_overwritten(filled: Two) -> None:
    path = filled.root / "insights/new.md"
    path.write_bytes(b"one")
    look = filled.look()
    path.write_bytes(b"two")
    assert "changed again" in filled.accept(look.changes).left[0][1]
    filled.accept(filled.look().changes)
    path.write_bytes(b"three")
    look = filled.look()
    path.write_bytes(b"four")
    assert filled.restore(look.changes).left
    assert path.read_bytes() == b"four"


def test_a_change_stays_unconfirmed_and_its_good_day_stands_look_after_look(filled: Two) -> None:
    path = filled.root / "insights/new.md"
    path.write_bytes(b"one")
    filled.accept(filled.look().changes)
    filled.look()
    path.write_bytes(b"two")
    days = [filled.look().changes[0].good for _ in range(3)]
    assert len(set(days)) == 1
    filled.restore(filled.look().changes)
    filled.look()
    path.write_bytes(b"three")
    assert filled.look().changes[0].good > days[0]


def test_what_a_command_of_the_human_wrote_is_confirmed_and_nothing_else(filled: Two) -> None:
    mine, other, own = filled.root / "insights/mine.md", filled.root / "insights/other.md", filled.personal / "own.md"
    for path in (mine, other, own):
        path.write_bytes(path.name.encode())
    confirm(filled.vault, ["insights/mine.md", own, "insights/gone.md"], filled.now())
    assert whats(filled) == {"insights/other.md": ChangeKind.APPEARED}
    mine.unlink()
    own.unlink()
    filled.restore(tuple(c for c in filled.look().changes if c.what is ChangeKind.VANISHED))
    assert (mine.read_bytes(), own.read_bytes()) == (b"mine.md", b"own.md")


def test_confirming_before_the_first_look_makes_nothing(two: Two) -> None:
    (two.root / "insights/a.md").write_bytes(b"a")
    confirm(two.vault, ["insights/a.md"], two.now())
    assert not newest(two.vault.settings.vault_id).exists()


def test_there_is_nothing_to_undo_at_first(filled: Two) -> None:
    with pytest.raises(NotFound):
        filled.undo()


def test_a_path_of_neither_vault_is_no_file_of_ours(two: Two, tmp_path: Path) -> None:
    assert key_of(two.vault, "insights/a.md") == Key(VAULT, "insights/a.md")
    assert key_of(two.vault, two.root / "raw/b") == Key(VAULT, "raw/b")
    assert key_of(two.vault, two.personal) == Key(PERSONAL, "")
    with pytest.raises(NotFound):
        key_of(two.vault, tmp_path / "elsewhere")


def test_a_private_note_is_never_readable_for_others_while_it_is_restored(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = two.personal / "private.md"
    path.write_bytes(b"private")
    path.chmod(0o600)
    two.look()
    path.unlink()
    seen = []
    real = os.fsync

    def watching(handle: int) -> None:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode) and status.st_size == 7:
            seen.append(stat.S_IMODE(status.st_mode))
        real(handle)

    monkeypatch.setattr(os, "fsync", watching)
    two.restore(two.look().changes)
    assert seen and all(mode & 0o077 == 0 for mode in seen)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_no_other_scope_writes_in_the_personal_vault_even_where_it_is_mounted_or_linked(filled: Two) -> None:
    for scope in set(Scope) - {Scope.PERSONAL, Scope.RESTORE_PERSONAL}:
        assert filled.vault.guard(scope)._forbidden == (filled.personal,)
    assert filled.vault.guard(Scope.PERSONAL).root == filled.personal


def test_a_first_look_that_fails_leaves_no_half_knowledge(filled: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    other = two_vaults(filled.base / "other", vault_id="01JD0000000000000000000009")
    fill(other, Random(2))
    from vault.audit.blobs import Copies

    real, count = Copies.put, iter(range(100))

    def full(copies: Copies, data: bytes) -> str:
        if next(count) == 5:
            raise WriteFailed("not written: the disk is full")
        return real(copies, data)

    with monkeypatch.context() as patch:
        patch.setattr(Copies, "put", full)
        with pytest.raises(WriteFailed):
            other.look()
    assert other.look().first


def test_another_process_that_looks_is_waited_for_or_told(filled: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault.audit.database.WAIT_S", 0.0)
    other = sqlite3.connect(newest(filled.vault.settings.vault_id), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LockHeld):
        filled.look()
    other.close()


def test_looks_follow_one_another(filled: Two) -> None:
    lasts = [filled.look().last for _ in range(3)]
    assert all(a is not None and b is not None and a.at < b.at for a, b in pairwise(lasts))
