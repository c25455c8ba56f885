"""Landlock on this kernel and as on older ones: what it refuses, beside the same act before."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox.acts import ACROSS, ON_A_FOLDER, TEXT
from tests.sandbox.shut_in import Results, acted, need_landlock
from vault.errors import Refused
from vault.sandbox import landlock

THEIRS = [f"{name}, theirs" for name in ON_A_FOLDER]
MINE = [f"{name}, mine" for name in ON_A_FOLDER]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("landlock")


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture(scope="module")
def results(base: Path, port: int) -> Results:
    need_landlock()
    names = [*THEIRS, *MINE, *ACROSS, "make device", "null", "fork", "spawn", "thread", "connect", "unix"]
    return acted(base, {"landlock": {"writable": [str(base / "after/mine")]}}, names, port=port)


@pytest.mark.parametrize("name", [*THEIRS, *ACROSS])
def test_what_is_not_granted_is_refused_and_was_not_before(results: Results, name: str) -> None:
    before, after = results[name]
    assert before == ""
    assert after in ("EACCES", "EXDEV")  # the second is what a move or link between two folders is told


@pytest.mark.parametrize("name", [*MINE, "null", "fork", "spawn", "thread", "connect", "unix"])
def test_what_is_granted_or_none_of_its_business_stays_possible(results: Results, name: str) -> None:
    assert results[name] == ("", "")


def test_no_node_of_a_device_is_made_even_where_all_else_may_be(results: Results) -> None:
    before, after = results["make device"]
    assert before in ("", "EPERM")  # the second is what anybody but root is told
    assert after == "EACCES" if not before else after in ("EACCES", "EPERM")


def test_from_outside_nothing_of_theirs_has_changed(base: Path, results: Results) -> None:
    assert results
    for place in (base / "after/theirs").iterdir():
        held = {p.relative_to(place).as_posix() for p in place.rglob("*")}
        assert held == {"note.md", "other.md", "sub"}
        assert (place / "note.md").read_text() == TEXT and (place / "other.md").read_text() == TEXT * 2
    changed = [p for p in (base / "before/theirs").iterdir() if not (p / "note.md").exists()]
    assert changed, "the same acts, free, leave their marks"


@pytest.mark.parametrize("version", range(1, 8))
def test_on_an_older_kernel_the_rights_that_it_knows_are_taken(tmp_path: Path, version: int) -> None:
    need_landlock(version)
    how = {"abi": version, "landlock": {"writable": [str(tmp_path / "after/mine")]}}
    acts = ["create, theirs", "write, theirs", "remove, theirs", "truncate, theirs", "move in", "create, mine"]
    found = acted(tmp_path, how, acts)
    assert all(before == "" for before, _ in found.values())
    assert [found[name][1] for name in acts[:3]] == ["EACCES"] * 3
    assert found["move in"][1] in ("EACCES", "EXDEV") and found["create, mine"][1] == ""
    # Truncation is a right of its own since ABI 3: before, it stays open, so that no level may be claimed.
    assert found["truncate, theirs"][1] == ("EACCES" if version >= 3 else "")


def test_the_rights_that_are_asked_for_are_those_that_the_version_has() -> None:
    every = [landlock._handled(version, reads=True) for version in range(1, 8)]
    assert [rights.bit_length() for rights in every] == [13, 14, 15, 15, 16, 16, 16]
    assert every[-1] == (1 << 16) - 1, "every right that there is"
    reading = landlock._handled(7, reads=True) & ~landlock._handled(7, reads=False)
    assert reading == landlock._READING


def test_places_may_be_given_as_open_handles(tmp_path: Path) -> None:
    need_landlock()
    how = {"landlock": {"writable": [str(tmp_path / "after/mine")], "handles": True}}
    found = acted(tmp_path, how, ["create, mine", "create, theirs"])
    assert found == {"create, mine": ("", ""), "create, theirs": ("", "EACCES")}


def test_a_single_file_can_be_written_but_not_replaced(tmp_path: Path) -> None:
    need_landlock(3)
    granted = [str(tmp_path / "after/theirs" / name) for name in ("0/note.md", "1/other.md", "2/note.md", "2/other.md")]
    acts = ["write, theirs", "truncate, theirs", "rename over, theirs"]
    found = acted(tmp_path, {"landlock": {"writable": granted}}, acts)
    assert found == dict(zip(acts, [("", ""), ("", ""), ("", "EACCES")], strict=True))


def test_what_is_not_named_as_readable_cannot_be_read(tmp_path: Path) -> None:
    need_landlock()
    for name in ("raw", "insights"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "note.md").write_text(TEXT)
    note = {"raw note": f"{tmp_path}/raw/note.md", "insight": f"{tmp_path}/insights/note.md"}
    how = {"landlock": {"writable": [], "readable": [f"{tmp_path}/raw"], "devices": False}}
    found = acted(tmp_path, how, ["read raw", "read insight", "list insights", "null", "create, mine"], **note)
    assert found == {
        "read raw": ("", ""),
        "read insight": ("", "EACCES"),
        "list insights": ("", "EACCES"),
        "null": ("", "EACCES"),
        "create, mine": ("", "EACCES"),
    }


def test_without_network_no_tcp_is_bound_or_connected(tmp_path: Path, port: int) -> None:
    need_landlock(4)
    found = acted(tmp_path, {"landlock": {"writable": [], "network": False}}, ["connect", "listen", "unix"], port=port)
    assert found == {"connect": ("", "EACCES"), "listen": ("", "EACCES"), "unix": ("", "")}


def test_no_signal_and_no_abstract_socket_leads_outside(tmp_path: Path) -> None:
    need_landlock(6)
    name = f"retain-test-{os.getpid()}-{tmp_path.name}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0" + name)
        server.listen(8)
        given = {"abstract": name, "outsider": os.getpid()}
        acts = ["signal", "abstract socket", "own signal"]
        scoped = acted(tmp_path / "scoped", {"landlock": {"writable": []}}, acts, **given)
        free = acted(tmp_path / "free", {"landlock": {"writable": [], "scoped": False}}, acts, **given)
    assert scoped == {"signal": ("", "EPERM"), "abstract socket": ("", "EPERM"), "own signal": ("", "")}
    assert set(free.values()) == {("", "")}


def test_where_there_is_no_landlock_it_says_so_instead_of_going_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    with pytest.raises(Refused, match="no Landlock"):
        landlock.restrict([])


def test_a_place_that_is_not_there_is_an_error_and_nothing_is_restricted(tmp_path: Path) -> None:
    need_landlock()
    with pytest.raises(FileNotFoundError):
        landlock.restrict([tmp_path / "nowhere"])
    (tmp_path / "note.md").write_text(TEXT)


def test_no_handle_is_left_open_by_a_restriction_that_failed(tmp_path: Path) -> None:
    need_landlock()
    with pytest.raises(FileNotFoundError):
        landlock.restrict([tmp_path, tmp_path / "nowhere"])
    assert not [handle for handle in Path("/proc/self/fd").iterdir() if "landlock" in _target(handle)]
    rules = landlock._ruleset(landlock.abi(), landlock._handled(1, reads=False), network=True, scoped=False)
    try:
        assert "landlock" in _target(Path(f"/proc/self/fd/{rules}")), "one that is open would be seen"
    finally:
        os.close(rules)


def _target(handle: Path) -> str:
    try:
        return os.readlink(handle)
    except FileNotFoundError:
        return ""
