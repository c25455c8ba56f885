"""The words that make bubblewrap build a cage: from a plan to arguments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vault.sandbox.mounts import within

# Laid over with an empty folder of the cage's own: where programs leave sockets, keys and files for each other.
PRIVATE = ("/tmp", "/var/tmp", "/run")  # noqa: S108
# What is looked up by name in those: how to find hosts, and where one kind of system keeps its programs.
LOOKED_UP = ("/etc/resolv.conf", "/run/current-system", "/run/opengl-driver")
TEMPORARY, RUNTIME = "/tmp", "/tmp/runtime"  # noqa: S108 (the cage's own)


@dataclass(frozen=True, slots=True)
class Plan:
    """A cage as bubblewrap builds it. All paths are absolute and without links.

    `needed` are (name, what is shown there) pairs of what is seen, read-only, though it may lie in a private place;
    `links` are (name, target) pairs of links that are made anew there; `hidden` is shown empty, read-only.
    """

    writable: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    needed: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    private: tuple[str, ...] = PRIVATE
    network: bool = True


def arguments(plan: Plan) -> list[str]:
    """What stands between `bwrap` and `--`. The order counts: what comes later lies over what came before."""
    words = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--as-pid-1", "--die-with-parent"]
    words += [] if plan.network else ["--unshare-net"]
    # What is left is for making mounts private, which bubblewrap doesn't; `enter` gives it up then, for good.
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
    # In /proc, too, there is what root may write though it has given up every right.
    words += ["--remount-ro", "/proc", "--chdir", "/"]
    return words


def private_places() -> tuple[str, ...]:
    """Those of them that this system has as folders of their own."""
    return tuple(place for place in PRIVATE if os.path.isdir(place) and not os.path.islink(place))


def _covered(path: str, private: Sequence[str]) -> bool:
    return any(within(path, place) and path != place for place in private)


def _outermost(paths: Iterable[str]) -> list[str]:
    """Those that lie in none of the others."""
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not any(within(path, folder) for folder in kept):
            kept.append(path)
    return kept
