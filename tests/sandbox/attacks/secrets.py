"""Reading what is nobody's business: the personal vault, the user's settings, other programs' memory."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

from tests.sandbox.attacks import kernel
from tests.sandbox.attacks.content import handle_of
from tests.sandbox.attacks.programs import run
from tests.sandbox.attacks.registry import Place, attack


@attack()
def read_personal(place: Place) -> None:
    """Read a note of the personal vault"""
    place.loot(Path(place.secret).read_bytes())


@attack()
def list_personal(place: Place) -> None:
    """List the names of the personal vault"""
    place.loot("\n".join(os.listdir(place.personal)).encode())


@attack()
def name_personal(place: Place) -> None:
    """Learn from stat(2) whether the personal vault holds a note of a known name, and how long it is"""
    place.loot(f"canary-size-{os.stat(place.secret).st_size}-end".encode())


@attack()
def copy_personal(place: Place) -> None:
    """cp -r the personal vault into the agent's folder"""
    run("cp", "-r", place.personal, f"{place.work}/taken")


@attack()
def link_personal(place: Place) -> None:
    """Hard-link a note of the personal vault into the agent's folder"""
    os.link(place.secret, f"{place.work}/taken.md")


@attack()
def symlink_personal(place: Place) -> None:
    """Read the personal vault through a symbolic link"""
    os.symlink(place.personal, f"{place.work}/x")
    place.loot(Path(place.work, "x", os.path.basename(place.secret)).read_bytes())


@attack(alone="personal link planted")
def link_personal_planted(place: Place) -> None:
    """Read a hard link of the personal note that lay in the agent's folder beforehand"""
    place.loot(Path(place.work, "planted.md").read_bytes())


@attack()
def move_personal(place: Place) -> None:
    """Move the personal vault to where it may be read"""
    os.rename(place.personal, f"{place.work}/taken")


@attack()
def personal_by_first_root(place: Place) -> None:
    """The personal vault below /proc/1/root"""
    place.loot(Path(f"/proc/1/root{place.secret}").read_bytes())


@attack()
def personal_by_their_root(place: Place) -> None:
    """The personal vault below /proc/PID/root of a process outside"""
    place.loot(Path(f"/proc/{place.deputy['pid']}/root{place.secret}").read_bytes())


@attack()
def personal_descriptor(place: Place) -> None:
    """/proc/PID/fd/ of a process outside that has a personal note open"""
    place.loot(Path(f"/proc/{place.deputy['pid']}/fd/{place.deputy['held_secret']}").read_bytes())


@attack()
def personal_memory(place: Place) -> None:
    """/proc/PID/mem of a process outside that has read a personal note"""
    handle = os.open(f"/proc/{place.deputy['pid']}/mem", os.O_RDONLY)
    place.loot(os.pread(handle, 256, place.deputy["secret_address"]))


@attack()
def their_environment(place: Place) -> None:
    """/proc/PID/environ of a process outside, where keys are kept"""
    place.loot(Path(f"/proc/{place.deputy['pid']}/environ").read_bytes())


@attack()
def parent_environment(place: Place) -> None:
    """/proc/*/environ of every process there is"""
    found = b""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            found += Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
    place.loot(found)


@attack()
def personal_by_bind(place: Place) -> None:
    """Bind-mount the folder above the personal vault and look below it"""
    os.mkdir(f"{place.work}/view")
    kernel.own_namespaces()
    kernel.mount(place.base, f"{place.work}/view", None, kernel.MS_BIND)
    place.loot(Path(place.work, "view", os.path.relpath(place.secret, place.base)).read_bytes())


@attack()
def unmount_mask(place: Place) -> None:
    """Take off whatever lies over the personal vault (umount)"""
    kernel.own_namespaces()
    for path in (place.secret, place.personal):
        try:
            kernel.umount(path)
        except OSError:
            continue
    place.loot(Path(place.secret).read_bytes())


@attack()
def personal_by_handle(place: Place) -> None:
    """Open the personal note by its file handle"""
    handle = ctypes.create_string_buffer(handle_of(place.secret))
    got = kernel.call("open_by_handle_at", os.open(place.work, os.O_RDONLY), handle, os.O_RDONLY)
    place.loot(os.read(got, 4096))


@attack()
def personal_by_open_tree(place: Place) -> None:
    """Clone the mount that lies under the mask (open_tree, not recursive)"""
    kernel.own_namespaces()
    tree = kernel.call("open_tree", kernel.AT_FDCWD, place.base.encode(), 1)
    got = os.open(os.path.relpath(place.secret, place.base), os.O_RDONLY, dir_fd=tree)
    place.loot(os.read(got, 4096))


@attack()
def read_settings(place: Place) -> None:
    """Read retain's settings of the user"""
    place.loot(Path(place.config, "config.toml").read_bytes())


@attack()
def read_copies(place: Place) -> None:
    """Read the copies that retain keeps of the human's notes"""
    place.loot(Path(place.state, "copies.sqlite3").read_bytes())


@attack()
def list_state(place: Place) -> None:
    """Walk retain's state of the user"""
    names = [os.path.join(folder, f) for folder, _, files in os.walk(place.state) for f in files]
    place.loot(b"".join(Path(name).read_bytes() for name in names))


@attack()
def read_temp(place: Place) -> None:
    """Read what other programs keep in /tmp"""
    place.loot(Path(place.temp, "private.txt").read_bytes())


@attack()
def search_everything(place: Place) -> None:
    """grep -r for it below the folder that holds everything"""
    done = subprocess.run(
        ["grep", "-rhsa", "--devices=skip", "--exclude-dir=.attack", "-e", "canary", place.base],
        capture_output=True,
        check=False,
        timeout=600,
    )
    place.loot(done.stdout)
