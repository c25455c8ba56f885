"""Another view of the same files: namespaces, mounts, roots."""

from __future__ import annotations

import os
from pathlib import Path

from tests.sandbox.attacks import kernel
from tests.sandbox.attacks.programs import run
from tests.sandbox.attacks.registry import FORGED, Place, attack


def _folder(place: Place, name: str) -> str:
    path = f"{place.work}/{name}"
    os.mkdir(path)
    return path


@attack()
def bind(place: Place) -> None:
    """Bind-mount insights/ over the agent's folder, in a user namespace"""
    view = _folder(place, "view")
    kernel.own_namespaces()
    kernel.mount(place.insights, view, None, kernel.MS_BIND)
    Path(view, "forged.md").write_bytes(FORGED)


@attack(needs="unshare mount")
def bind_by_programs(place: Place) -> None:
    """unshare -Urm; mount --bind"""
    view = _folder(place, "view")
    script = f"mount --bind '{place.insights}' '{view}' && echo forged > '{view}/forged.md'"
    run("unshare", "-Urm", "sh", "-c", script)


@attack()
def bind_as_root(place: Place) -> None:
    """Bind-mount insights/ over the agent's folder with the rights one has, in a mount namespace of one's own"""
    view = _folder(place, "view")
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount(place.insights, view, None, kernel.MS_BIND)
    Path(view, "forged.md").write_bytes(FORGED)


@attack()
def bind_root(place: Place) -> None:
    """Bind-mount / and look for insights/ below it"""
    view = _folder(place, "view")
    kernel.own_namespaces()
    kernel.mount("/", view, None, kernel.MS_BIND | kernel.MS_REC)
    Path(view + place.insights, "forged.md").write_bytes(FORGED)


@attack()
def overlay(place: Place) -> None:
    """Mount an overlay whose upper folder is insights/"""
    lower, work, merged = (_folder(place, name) for name in ("lower", "work", "merged"))
    kernel.own_namespaces()
    kernel.mount("x", merged, "overlay", 0, f"lowerdir={lower},upperdir={place.insights},workdir={work},userxattr")
    Path(merged, "forged.md").write_bytes(FORGED)


@attack()
def remount(place: Place) -> None:
    """Bind insights/ to itself and remount it writable"""
    kernel.own_namespaces()
    kernel.mount(place.insights, place.insights, None, kernel.MS_BIND)
    kernel.mount("none", place.insights, None, kernel.MS_REMOUNT | kernel.MS_BIND)
    Path(place.insights, "forged.md").write_bytes(FORGED)


@attack()
def remount_attributes(place: Place) -> None:
    """Take read-only off by mount_setattr"""
    kernel.own_namespaces()
    kernel.mount(place.insights, place.insights, None, kernel.MS_BIND)
    clear_read_only = (0).to_bytes(8, "little") + (1).to_bytes(8, "little") + bytes(16)
    kernel.call("mount_setattr", kernel.AT_FDCWD, place.insights.encode(), 0, clear_read_only, 32)
    Path(place.insights, "forged.md").write_bytes(FORGED)


@attack()
def open_tree(place: Place) -> None:
    """Clone the mount below insights/ (open_tree) and write through its descriptor"""
    kernel.own_namespaces()
    clone, recursive = 1, 0x8000
    tree = kernel.call("open_tree", kernel.AT_FDCWD, place.insights.encode(), clone | recursive)
    os.write(os.open("forged.md", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=tree), FORGED)


@attack()
def move_mount(place: Place) -> None:
    """mount --move a view of insights/ to where writing is allowed"""
    view, moved = _folder(place, "view"), _folder(place, "moved")
    kernel.own_namespaces()
    kernel.mount(place.insights, view, None, kernel.MS_BIND)
    kernel.mount(view, moved, None, kernel.MS_MOVE)
    Path(moved, "forged.md").write_bytes(FORGED)


@attack()
def chroot(place: Place) -> None:
    """chroot and climb out"""
    kernel.own_namespaces()
    up = os.open("/", os.O_RDONLY)
    os.chroot(_folder(place, "root"))
    os.fchdir(up)
    os.chroot(".")
    Path(place.insights, "forged.md").write_bytes(FORGED)


@attack()
def pivot(place: Place) -> None:
    """pivot_root into a view of the whole disk"""
    root = _folder(place, "root")
    kernel.own_namespaces()
    kernel.mount("/", root, None, kernel.MS_BIND | kernel.MS_REC)
    os.chdir(root)
    kernel.call("pivot_root", b".", b".")
    kernel.umount(".")
    Path(place.insights, "forged.md").write_bytes(FORGED)


@attack()
def join_first_process(place: Place) -> None:
    """Join the mounts of process 1 (setns, as nsenter does)"""
    kernel.setns(os.open("/proc/1/ns/mnt", os.O_RDONLY))
    Path(place.insights, "forged.md").write_bytes(FORGED)


@attack()
def join_outside(place: Place) -> None:
    """Join the namespaces of a process outside by its pidfd"""
    handle = kernel.call("pidfd_open", place.deputy["pid"], 0)
    kernel.setns(handle, kernel.CLONE_NEWNS)
    Path(place.insights, "forged.md").write_bytes(FORGED)


@attack(needs="nsenter")
def nsenter(place: Place) -> None:
    """nsenter -t 1 -m"""
    run("nsenter", "-t", "1", "-m", "sh", "-c", f"echo forged > '{place.note}'")
