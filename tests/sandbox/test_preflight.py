"""What keeps a cage from being built: the human's files standing inside it under another name."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandbox.den import Den, dig
from vault.errors import Refused
from vault.files.write_scopes import AGENT_FOLDERS
from vault.sandbox import preflight
from vault.sandbox.mounts import Mount, mounts, names_of, points_below

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no cage on Windows")


@pytest.fixture
def den(tmp_path: Path) -> Den:
    return dig(tmp_path)


def look(den: Den, *rw: Path, table: tuple[Mount, ...] | None = None) -> preflight.CheckedPaths:
    folders = [den.vault / folder for folder in AGENT_FOLDERS]
    return preflight.check_paths(den.vault, folders, rw, [den.personal, den.state], table)


def refused(den: Den, *rw: Path, table: tuple[Mount, ...] | None = None) -> str:
    with pytest.raises(Refused) as caught:
        look(den, *rw, table=table)
    assert caught.value.where and caught.value.hint
    return f"{caught.value.where}: {caught.value.what}"


def test_a_plain_vault_is_good_ground(den: Den) -> None:
    ground = look(den, den.other)
    assert ground.writable == (*(str(den.vault / folder) for folder in AGENT_FOLDERS), str(den.other))
    assert ground.hidden == (str(den.personal), str(den.state))
    assert [Path(p).stat().st_ino for p in ground.writable] == [inode for _, inode in ground.identities]


# --- the vault's folders --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", AGENT_FOLDERS)
def test_a_folder_of_the_agents_that_is_a_link_is_refused(den: Den, folder: str) -> None:
    path = den.vault / folder
    path.rename(den.other / "moved")
    path.symlink_to(den.vault / "insights")
    assert "a link or not a folder" in refused(den)
    path.unlink()
    (den.other / "moved").rename(path)
    assert look(den)


def test_a_link_on_the_way_to_a_folder_is_refused(den: Den) -> None:
    (den.vault / "learning").rename(den.other / "learning")
    (den.vault / "learning").symlink_to(den.other / "learning")
    assert "a link or not a folder" in refused(den)


def test_a_folder_that_is_missing_or_a_file_is_refused(den: Den) -> None:
    (den.vault / "output/note.md").unlink()
    (den.vault / "output").rmdir()
    assert "a link or not a folder" in refused(den)
    (den.vault / "output").write_text("")
    assert "a link or not a folder" in refused(den)


def test_notes_that_lead_into_the_agents_folders_are_refused_and_other_links_are_not(den: Den) -> None:
    (den.vault / "shortcut").symlink_to(den.vault / "wiki")
    assert look(den)
    (den.vault / "insights/note.md").unlink()
    (den.vault / "insights").rmdir()
    (den.vault / "insights").symlink_to(den.vault / "wiki")
    assert "insights is a link that points here" in refused(den)


def test_what_is_mounted_in_or_on_an_agents_folder_is_refused(den: Den) -> None:
    whole = Mount("8:1", "/", "/")
    base = str(den.vault)
    assert look(den, table=(whole,))
    assert "something else is mounted" in refused(den, table=(whole, Mount("8:2", "/", f"{base}/wiki/disk")))
    assert "insights is mounted here" in refused(den, table=(whole, Mount("8:1", f"{base}/insights", f"{base}/wiki")))
    below = Mount("8:1", f"{base}/raw/articles", f"{base}/output")
    assert "raw is mounted here" in refused(den, table=(whole, below))
    assert look(den, table=(whole, Mount("8:2", "/", f"{base}/wiki"))), "a disk of its own is no harm"


@pytest.mark.skipif(os.getuid() != 0 or sys.platform != "linux", reason="only root can mount, on Linux")
def test_a_folder_of_the_humans_that_is_really_mounted_there_is_refused(den: Den) -> None:
    script = """
import sys
from pathlib import Path
from vault.errors import Refused
from vault.sandbox.preflight import check_paths
from vault.files.write_scopes import AGENT_FOLDERS
base = Path(sys.argv[1])
folders = [base / "vault" / folder for folder in AGENT_FOLDERS]
try:
    check_paths(base / "vault", folders, map(Path, sys.argv[2:]), [base / "personal", base / "state"])
except Refused as error:
    print(error.what)
"""
    python = [sys.executable, "-c", script, str(den.base)]

    def said(mount: str, *rw: Path) -> str:
        words = ["unshare", "-m", "sh", "-ec", f'{mount}; exec "$@"', "sh", *python, *map(str, rw)]
        root = Path(__file__).resolve().parents[2]
        done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True, timeout=600)
        return done.stdout

    vault = den.vault
    assert said("true", den.other) == ""
    assert "under another name" in said(f"mount --bind {vault}/insights {vault}/wiki")
    assert "is mounted" in said(f"mount --bind {vault}/raw/articles {vault}/wiki")
    assert "overlaps" in said(f"mount --bind {den.base} {den.other}", den.other)
    assert "overlaps" in said(f"mount --bind {den.personal} {den.other}", den.other)
    assert "overlaps" in said(f"mount --bind {den.personal} {vault}/wiki")


# --- what is added --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *("vault", "vault/insights", "vault/insights/note.md", "vault/raw", "vault/ledger", "vault/learning"),
        *("vault/.git", "vault/.git/hooks", "vault/.claude", "vault/.obsidian", "vault/.retain", "vault/retain.toml"),
        *("personal", "personal/note.md", "state", "state/note.md", "."),
    ],
)
def test_no_part_of_what_is_the_humans_can_be_added(den: Den, name: str) -> None:
    assert look(den, den.other)
    assert "--rw: " in refused(den, den.base / name)
    (den.base / "link").symlink_to(den.base / name)
    assert "--rw: " in refused(den, den.base / "link"), "nor by a link"


@pytest.mark.parametrize(
    "path", ["/", "/proc", "/proc/sys", "/sys", "/dev/shm", "/run", "/tmp", "/etc", "/home", "/usr"]
)
def test_no_place_of_the_whole_system_can_be_added(den: Den, path: str) -> None:
    if Path(path).exists():
        assert "--rw: this" in refused(den, Path(path))


@pytest.mark.parametrize(
    ("path", "systems"),
    [
        ("/run/media/me/stick", False),
        ("/run/media/me/stick/work", False),
        ("/run/media/me", True),
        ("/run/media", True),
        ("/run/mediation/me/stick", True),
        ("/run/user/1000/bus", True),
        ("/media/me/stick", False),
    ],
)
def test_a_disk_that_was_plugged_in_is_the_users(path: str, systems: bool) -> None:
    assert preflight._is_system_path(path) is systems


def test_the_home_folder_cannot_be_added_but_one_in_it_can(den: Den, own_home: Path) -> None:
    (own_home / ".agent").mkdir()
    assert str(own_home / ".agent") in look(den, own_home / ".agent").writable
    assert "your whole home" in refused(den, own_home)


def test_the_code_that_the_human_runs_next_cannot_be_added(den: Den) -> None:
    for path in (Path(preflight.__file__), Path(sys.prefix), Path(sys.executable).parent, Path(os.__file__).parent):
        assert "--rw: " in refused(den, path)


def test_another_vault_cannot_be_added(den: Den) -> None:
    assert look(den, den.other)
    (den.other / "retain.toml").write_text("")
    assert "is inside a vault" in refused(den, den.other)
    below = den.other / "wiki"
    below.mkdir()
    assert "is inside a vault" in refused(den, below)


def test_what_is_not_there_or_no_file_cannot_be_added(den: Den) -> None:
    assert "no such file" in refused(den, den.base / "nothing")
    os.mkfifo(den.other / "pipe")
    assert "neither a file nor a folder" in refused(den, den.other / "pipe")


def test_an_agents_folder_may_be_named_once_more(den: Den) -> None:
    assert len(look(den, den.vault / "wiki").writable) == len(AGENT_FOLDERS)


# --- what is hidden -------------------------------------------------------------------------------------------------


def test_a_personal_vault_that_is_not_there_is_refused_as_it_could_come(den: Den) -> None:
    (den.personal / "note.md").unlink()
    den.personal.rmdir()
    assert "does not exist" in refused(den)


def test_a_personal_vault_where_an_agent_writes_is_refused(den: Den) -> None:
    with pytest.raises(Refused, match="overlaps"):
        preflight.check_paths(den.vault, [den.vault / "wiki"], (), [den.vault / "wiki"])
    (den.vault / "wiki/mine").mkdir()
    with pytest.raises(Refused, match="overlaps"):
        preflight.check_paths(den.vault, [den.vault / "wiki"], (), [den.vault / "wiki/mine"])


def test_a_vault_inside_what_is_hidden_is_refused(den: Den) -> None:
    with pytest.raises(Refused, match="the vault is inside a folder"):
        preflight.check_paths(den.vault, (), (), [den.base])


def test_what_is_hidden_is_hidden_under_each_of_its_names(den: Den) -> None:
    second = den.base / "second"
    second.mkdir()
    table = (Mount("8:1", "/", "/"), Mount("8:1", str(den.personal), str(second)), Mount("8:2", "/", str(den.other)))
    assert look(den, table=table).hidden == (str(den.personal), str(second), str(den.state))


# --- hard links -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theirs", ["vault/insights", "vault/raw/articles", "vault/.git/hooks", "vault", "personal"])
@pytest.mark.parametrize("ours", ["vault/wiki", "vault/learning/flashcards", "other"])
def test_a_hard_link_to_a_file_of_the_humans_is_refused(den: Den, theirs: str, ours: str) -> None:
    note = den.base / theirs / "a-note"
    note.write_text("mine")
    deep = den.base / ours / "deep/er"
    deep.mkdir(parents=True)
    assert look(den, den.other)
    (deep / "linked").hardlink_to(note)
    assert f"the same file as {note}" in refused(den, den.other)


def test_hard_links_among_what_an_agent_may_write_or_to_elsewhere_are_no_harm(den: Den) -> None:
    (den.vault / "wiki/again").hardlink_to(den.vault / "wiki/note.md")
    (den.vault / "output/again").hardlink_to(den.vault / "wiki/note.md")
    (den.other / "again").hardlink_to(den.vault / "wiki/note.md")
    assert look(den, den.other)


def test_a_single_file_that_is_added_is_looked_at_too(den: Den) -> None:
    (den.other / "linked").hardlink_to(den.vault / "insights/note.md")
    assert "a hard link" in refused(den, den.other / "linked")


def test_a_pipe_is_refused_wherever_an_agent_may_write(den: Den) -> None:
    for folder in (den.vault / "wiki", den.vault / "learning/flashcards", den.other):
        pipe = folder / "pipe"
        os.mkfifo(pipe)
        assert "a named pipe" in refused(den, den.other)
        pipe.unlink()
        assert look(den, den.other)


def test_a_socket_is_refused_in_the_vault_and_left_alone_in_a_folder_of_the_agents(
    den: Den, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, door in ((den.vault / "wiki", True), (den.other, False)):
        monkeypatch.chdir(folder)  # names of sockets are short
        with socket.socket(socket.AF_UNIX) as line:
            line.bind("s")
            assert "a socket" in refused(den, den.other) if door else look(den, den.other)
        (folder / "s").unlink()


@pytest.mark.skipif(os.getuid() != 0, reason="device nodes are made by root alone")
def test_a_device_is_refused_wherever_an_agent_may_write(den: Den) -> None:
    try:
        os.mknod(den.other / "null", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("root may make no device nodes on this machine")
    assert "a device" in refused(den, den.other)


# --- open files -----------------------------------------------------------------------------------------------------


def streams(den: Den, path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    free = os.open(os.devnull, os.O_RDWR)
    try:
        preflight.check_standard_streams(look(den), (free, handle, free))
    finally:
        os.close(handle)
        os.close(free)


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY, os.O_RDWR | os.O_APPEND])
@pytest.mark.skipif(sys.platform != "linux", reason="the path of an open file is asked for in /proc")
def test_a_standard_stream_that_is_a_file_of_the_humans_is_refused(den: Den, flags: int) -> None:
    streams(den, den.vault / "wiki/note.md", flags)
    streams(den, den.other / "note.md", flags)
    for path in (den.vault / "insights/note.md", den.vault / "retain.toml", den.personal / "note.md"):
        with pytest.raises(Refused, match="standard output is connected to this file") as caught:
            streams(den, path, flags)
        assert "cat" in caught.value.hint


def test_a_standard_stream_that_is_a_folder_is_refused(den: Den) -> None:
    with pytest.raises(Refused, match="standard output is an open folder"):
        streams(den, den.other, os.O_RDONLY)


# --- the table of mounts --------------------------------------------------------------------------------------------

_TABLE = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 8:1 /home/me/notes /mnt/again rw,relatime shared:1 - ext4 /dev/sda1 rw
31 22 8:1 /home/me/notes/deep\\040er /srv/part rw - ext4 /dev/sda1 rw
32 22 8:2 / /home/me/disk rw - ext4 /dev/sdb1 rw
33 22 8:2 /x /mnt/x\\134y rw - ext4 /dev/sdb1 rw
broken line
"""


def test_each_name_of_a_folder_is_found_in_the_table() -> None:
    table = mounts(_TABLE)
    assert len(table) == 5 and table[4].point == "/mnt/x\\y" and table[2].root == "/home/me/notes/deep er"
    assert names_of("/home/me/notes", table) == ("/home/me/notes", "/mnt/again", "/srv/part")
    assert names_of("/home/me/notes/a", table) == ("/home/me/notes/a", "/mnt/again/a")
    assert names_of("/home/me/disk/x/y", table) == ("/home/me/disk/x/y", "/mnt/x\\y/y")
    assert names_of("/home/me", table) == ("/home/me", "/mnt/again", "/srv/part")
    assert points_below("/home/me", table) == ["/home/me/disk"]


@pytest.mark.skipif(sys.platform != "linux", reason="the table is Linux's")
def test_the_real_table_can_be_read() -> None:
    assert any(mount.point == "/" for mount in mounts())


def test_names_that_are_not_utf_8_survive() -> None:
    table = mounts("1 1 8:1 / /mnt/\udcff\\040b rw - ext4 x rw")
    assert os.fsencode(table[0].point) == b"/mnt/\xff b"
