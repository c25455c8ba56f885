"""A cage: what a command that retain starts may write, see and reach, and running the command in it."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vault.errors import Refused
from vault.files.paths import AGENT_FOLDERS
from vault.sandbox import bubblewrap, environment, preflight, processes, seccomp
from vault.sandbox.capabilities import Level
from vault.sandbox.capabilities import bubblewrap as bubblewrap_program
from vault.sandbox.init_process import BOOT
from vault.sandbox.mounts import within


@dataclass(frozen=True, slots=True)
class Cage:
    """What one run of a command may do. `root` is the vault's, `writable` its folders that agents may write.

    `rw` is what the user adds. `personal` and `hidden` are seen by nobody inside; they must be there. Without
    `network`, the internet is out of reach. `level` is how it is enforced; it is not lowered by itself.
    """

    root: Path
    level: Level
    writable: tuple[Path, ...] = tuple(Path(folder) for folder in AGENT_FOLDERS)
    rw: tuple[Path, ...] = ()
    personal: Path | None = None
    hidden: tuple[Path, ...] = ()
    network: bool = True

    @property
    def unseen(self) -> tuple[Path, ...]:
        """All that is hidden."""
        return self.hidden if self.personal is None else (self.personal, *self.hidden)


def run_in_cage(
    cage: Cage,
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    before: Callable[[], None] = lambda: None,
) -> int:
    """Run `command` and give its exit code: 128 + n if signal n ended it, 127 or 126 if it can't be found or run.

    `env` is what it gets, but for a few variables of the cage's own. `before` is called when everything was looked at
    and nothing started yet. No process of the command is left when this returns.
    Raises: Refused, and nothing was started, if what it may write could lead to what is the human's, or if the cage
    can't be built at that level.
    """
    if not command:
        raise Refused("no command to run")
    if cage.level is Level.NONE:
        raise Refused("no cage can be built here")
    ground = preflight.look(cage.root, cage.writable, cage.rw, cage.unseen)
    preflight.check_standard_streams(ground)
    folder = os.path.realpath(cwd)
    if any(within(folder, each) for each in ground.hidden):
        raise Refused("the working directory is hidden from agents", where=folder, hint="start it from another folder")
    before()
    start = _by_landlock if cage.level is Level.LANDLOCK else _in_bubblewrap
    return start(cage, ground, command, folder, env)


@contextmanager
def _temporary_folder() -> Iterator[str]:
    """A folder in the system's place for such, gone with all that is in it at the end."""
    path = os.path.realpath(tempfile.mkdtemp(prefix="retain-cage-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _python() -> list[str]:
    """The words that start `enter`: of Python what is needed for it, and nothing that the environment names."""
    package = str(Path(__file__).resolve().parents[2])
    return [os.path.realpath(sys.executable), "-I", "-S", "-c", BOOT, package]


def _orders(cage: Cage, ground: preflight.Ground, command: Sequence[str], cwd: str) -> dict[str, Any]:
    writable = list(zip(ground.writable, ground.identities, strict=True))
    return {
        "command": [os.fsencode(word) for word in command],
        "cwd": os.fsencode(cwd),
        "writable": [(os.fsencode(path), *identity) for path, identity in writable],
        "readable": None,
        "hidden": [os.fsencode(path) for path in ground.hidden],
        "bubblewrap": cage.level is not Level.LANDLOCK,
        "landlock": cage.level is not Level.BUBBLEWRAP,
        "filter": seccomp.available(),
        # Bubblewrap gives a network of the cage's own, in which its programs may speak to each other.
        "internet": cage.network or cage.level is not Level.LANDLOCK,
        "ignored": processes.ignored(),
    }


def _in_bubblewrap(
    cage: Cage, ground: preflight.Ground, command: Sequence[str], cwd: str, env: Mapping[str, str]
) -> int:
    program = bubblewrap_program()
    if program is None:
        raise Refused("bubblewrap is not installed", hint="install the package bubblewrap")
    private = bubblewrap.private_places()
    inside = environment.marked(env, vault=ground.root, temporary=bubblewrap.TEMPORARY, runtime=bubblewrap.RUNTIME)
    needed, links = _needed(ground, command, cwd, env)
    plan = bubblewrap.Plan(ground.writable, ground.hidden, needed, links, private, cage.network)
    orders = _orders(cage, ground, command, cwd)
    own = [*private, "/dev/shm"]  # noqa: S108 (the cage's own)
    orders["own"] = [os.fsencode(path) for path in own]
    return processes.run([program, *bubblewrap.arguments(plan), "--", *_python()], inside, orders)


def _needed(
    ground: preflight.Ground, command: Sequence[str], cwd: str, env: Mapping[str, str]
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """What must be seen though it may lie in a private place, and the links in such places that lead to it."""
    program = shutil.which(command[0], path=env.get("PATH"))
    names = [ground.root, cwd, _python()[0], _python()[-1], sys.prefix, sys.base_prefix]
    names += [os.path.dirname(program)] if program else []
    names += [os.path.dirname(os.path.realpath(program))] if program else []
    names += [each for each in env.get("PATH", "").split(os.pathsep) if os.path.isabs(each)]
    links = []
    for name in bubblewrap.LOOKED_UP:
        if os.path.islink(name) and within(name, "/run"):
            links.append((name, os.readlink(name)))
        elif os.path.lexists(name):
            names.append(os.path.realpath(name))
    shown = {
        each: os.path.realpath(each) for name in names for each in (os.path.normpath(name), os.path.realpath(name))
    }
    return tuple((name, path) for name, path in shown.items() if os.path.exists(path)), tuple(links)


def _by_landlock(cage: Cage, ground: preflight.Ground, command: Sequence[str], cwd: str, env: Mapping[str, str]) -> int:
    with _temporary_folder() as path:
        inside = environment.marked(env, vault=ground.root, temporary=path, runtime=path)
        orders = _orders(cage, ground, command, cwd)
        orders["own"] = [os.fsencode(path)]
        if ground.hidden:
            needed, _ = _needed(ground, command, cwd, env)
            known = [target for _, target in needed]
            orders["readable"] = [os.fsencode(each) for each in all_but(ground.hidden, known)]
        return processes.run(_python(), inside, orders)


def all_but(hidden: Sequence[str], known: Sequence[str] = ()) -> list[str]:
    """What may be read so that `hidden` isn't: everything beside it, and beside each folder that leads to it.

    Landlock can only allow. So the folders on the way can't be listed, and what is made in them later can't be read.
    Beside a folder on the way that we may not list ourselves, only what `known` lies in can be read.
    """
    found: list[str] = []
    hidden = [path for path in hidden if not any(within(path, other) and path != other for other in hidden)]
    ways = {str(above) for path in hidden for above in Path(path).parents}
    for way in sorted(ways):
        found += [path for path in _beside(way, known) if path not in ways and path not in hidden]
    return found


def _beside(way: str, known: Sequence[str]) -> list[str]:
    """What lies in a folder; of one that may not be listed, what leads to the paths that are known."""
    try:
        with os.scandir(way) as entries:
            # A link is judged by where it leads.
            return [entry.path for entry in entries if not entry.is_symlink()]
    except PermissionError:
        below = (os.path.relpath(path, way) for path in known if within(path, way) and path != way)
        return sorted({os.path.join(way, path.split(os.sep)[0]) for path in below})
