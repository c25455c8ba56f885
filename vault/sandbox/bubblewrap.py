"""The arguments of bubblewrap for a sandbox."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vault.files.write_scopes import is_within

# Replaced by empty folders: where programs leave sockets, keys and files for each other.
PRIVATE = ("/tmp", "/var/tmp", "/run")  # noqa: S108
# What is needed from those: name resolution, and NixOS programs.
LOOKED_UP = ("/etc/resolv.conf", "/run/current-system", "/run/opengl-driver")
TEMPORARY, RUNTIME = "/tmp", "/tmp/runtime"  # noqa: S108 (the sandbox's own)


@dataclass(frozen=True, slots=True)
class Plan:
    """A sandbox as bubblewrap sets it up. All paths are absolute and without links.

    `needed` are (name, target) pairs of what is visible, read-only, even in a private folder; `links` are pairs of a
    link that is created there and its target; `hidden` folders are empty and read-only.
    """

    writable: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    needed: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    private: tuple[str, ...] = PRIVATE
    network: bool = True


def arguments(plan: Plan) -> list[str]:
    """Return the arguments between `bwrap` and `--`; later mounts cover earlier ones."""
    words = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--as-pid-1", "--die-with-parent"]
    words += [] if plan.network else ["--unshare-net"]
    # These two make mounts private, which bubblewrap doesn't; `init_process` then drops them.
    words += ["--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP"]
    words += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for place in plan.private:
        words += ["--perms", "1777", "--tmpfs", place]
    words += ["--perms", "0700", "--dir", RUNTIME]
    for name, target in plan.links:
        words += ["--symlink", target, name]
    shown = {name: path for name, path in plan.needed if _covered(name, plan.private)}
    for name in _outermost(shown):
        words += ["--ro-bind", shown[name], name]
    for path in plan.writable:
        words += ["--bind", path, path]
    for path in plan.hidden:
        words += ["--perms", "0555", "--tmpfs", path, "--remount-ro", path]
    # Root may write some files in /proc even without capabilities.
    words += ["--remount-ro", "/proc", "--chdir", "/"]
    return words


def private_places() -> tuple[str, ...]:
    """Return the private folders that this system has, if they are no links."""
    return tuple(place for place in PRIVATE if os.path.isdir(place) and not os.path.islink(place))


def _covered(path: str, private: Sequence[str]) -> bool:
    return any(is_within(path, place) and path != place for place in private)


def _outermost(paths: Iterable[str]) -> list[str]:
    """Return the paths that are in none of the others."""
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not any(is_within(path, folder) for folder in kept):
            kept.append(path)
    return kept
