"""What Claude Code and Codex run or believe when they start again: the table, and what of `--rw` stays shut.

They write their sessions beside their settings. So of a folder that `--rw` adds, what is there of the settings stays
read-only; what comes of it where the cage cannot forbid it, and what the host itself must write, `host_return` sees to.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from vault.clean import clean_line
from vault.errors import RetainError
from vault.guard import Guard, Scope
from vault.jail.mounts import mounts, names_of, within
from vault.jail.shut import NOTHING, Shut

_SCRIPTS = ("*.sh", "*.bash", "*.zsh", "*.py", "*.js", "*.mjs", "*.cjs", "*.ts", "*.rb", "*.pl", "*.ps1", ".env*")
_FOLDERS = ("hooks*", "rules*", "skills*", "agents*", "plugins*", "commands*", "prompts*")
_TOOLS = ("mcp.json", "mcp-servers", ".mcp*", "bin", "lib", "scripts", "tools", "node_modules", "package.json")


@dataclass(frozen=True, slots=True)
class Host:
    """One host. Names are those right in its folder, without case, with `*` for any characters.

    `shut` is run or believed later; `fresh` are folders whose files running shells read; `rewritten` the host writes
    at each run, though programs are named in it; `own` are for its sessions, where nothing else could be made.
    """

    name: str
    folder: str
    variable: str
    shut: tuple[str, ...]
    fresh: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()
    own: tuple[str, ...] = ()


CLAUDE = Host(
    "Claude Code",
    ".claude",
    "CLAUDE_CONFIG_DIR",
    (
        *("settings*.json", "managed-settings*", "remote-settings*", "claude*.md", "output-styles", "statusline*"),
        *("workflows", "keybindings.json", "scheduled*", "local", "chrome", *_FOLDERS, *_TOOLS, *_SCRIPTS),
    ),
    fresh=("shell-snapshots", "session-env"),
    rewritten=(".claude.json", ".config.json"),
    own=("projects",),
)
_CODEX = Host(
    "Codex",
    ".codex",
    "CODEX_HOME",
    (
        *("*.toml", "instructions.md", "automations", "vendor_imports", "packages", "models_cache.json"),
        *(*_FOLDERS, *_TOOLS, *_SCRIPTS),
    ),
    fresh=("shell_snapshots",),
    own=("sessions", "log"),
)
_SHARED = Host("Codex and others", ".agents", "", (*_FOLDERS, *_TOOLS, *_SCRIPTS))
HOSTS = (CLAUDE, _CODEX, _SHARED)


@dataclass(frozen=True, slots=True)
class Home:
    """The folder of a host, in `base` that `--rw` adds; both without links."""

    host: Host
    base: str
    folder: str

    def is_shut(self, name: str) -> bool:
        return any(fnmatchcase(name.casefold(), pattern) for pattern in self.host.shut)


@dataclass(frozen=True, slots=True)
class Split:
    """What of what `--rw` adds stays `shut`; all else is granted.

    `opened` are (path, host) of what the user opened by its very name; `files` those that a host rewrites.
    """

    shut: Shut = NOTHING
    homes: tuple[Home, ...] = ()
    files: tuple[str, ...] = ()
    opened: tuple[tuple[str, str], ...] = ()


def split(rw: Sequence[Path]) -> Split:
    """What of the paths that `--rw` names stays shut, and what else is to be watched."""
    places = [os.path.realpath(path) for path in rw]
    known = list(_known())
    homes = [Home(host, base, folder) for host, folder in known for base in places if within(folder, base)]
    files = [os.path.join(home.folder, name) for home in homes for name in home.host.rewritten]
    files += [path for path in map(os.path.realpath, _rewritten_beside()) if path in places]
    files += [path for path in places if any(path == os.path.join(f, n) for h, f in known for n in h.rewritten)]
    opened = [(path, host.name) for path in places for host, folder in known if _opens(path, host, folder)]
    return Split(_shut(homes, places), tuple(homes), tuple(dict.fromkeys(files)), tuple(opened))


def _known() -> Iterator[tuple[Host, str]]:
    """Each host, and every name of its folder; it need not be there."""
    table = mounts()
    for host in HOSTS:
        given = os.environ.get(host.variable, "") if host.variable else ""
        for place in dict.fromkeys((str(Path.home() / host.folder), given)):
            if os.path.isabs(place):
                yield from ((host, name) for name in names_of(os.path.realpath(place), table))


def _rewritten_beside() -> Iterator[str]:
    """Those of the files that lie beside the folder of their host, in the home folder."""
    yield str(Path.home() / CLAUDE.rewritten[0])


def _opens(path: str, host: Host, folder: str) -> bool:
    if path == folder or not within(path, folder):
        return False
    return Home(host, folder, folder).is_shut(os.path.relpath(path, folder).split(os.sep)[0])


def _shut(homes: Iterable[Home], places: Sequence[str]) -> Shut:
    closed: dict[str, None] = {}
    fresh: dict[str, None] = {}
    names = []
    ways: set[str] = set()
    for home in homes:
        names += [(home.folder, pattern) for pattern in (*home.host.shut, *home.host.fresh)]
        for name in names_in(home.folder):
            path = os.path.join(home.folder, name)
            real = os.path.realpath(path)  # a link is watched itself; what it leads to is shut if it could be written
            if home.is_shut(name) and any(within(real, each) for each in places) and os.path.exists(real):
                closed[real] = None
            elif name in home.host.fresh and os.path.isdir(path) and real == path:
                fresh[path] = None
        ways |= {home.base, home.folder, *_between(home.folder, home.base)} if os.path.isdir(home.folder) else set()
    for path in places:  # named by itself
        closed.pop(path, None)
        fresh.pop(path, None)
    ways |= {way for path in (*closed, *fresh) for base in places if within(path, base) for way in _between(path, base)}
    ways = {way for way in ways if not any(within(way, path) for path in closed)}
    return Shut(tuple(closed), tuple(fresh), tuple(sorted(ways)), tuple(dict.fromkeys(names)))


def names_in(folder: str) -> list[str]:
    with suppress(OSError):
        return sorted(os.listdir(folder))
    return []


def _between(path: str, base: str) -> Iterator[str]:
    """The folders that lead from `base` to `path`, neither among them."""
    return (str(above) for above in Path(path).parents if within(str(above), base) and str(above) != base)


def make_own(home: Home) -> None:
    """The folders of a host's sessions, where it could not make them itself; a host that has none yet gets none."""
    if os.path.isdir(home.folder):
        for name in home.host.own:
            with suppress(RetainError):
                Guard(Path(home.folder), Scope.RESTORE_PERSONAL).makedirs(name)


def said_before(parted: Split) -> list[str]:
    """What is said of it before the agent starts."""
    lines = [
        f"what {host} runs or believes later stays shut in {plain(folder)}"
        for host, folder in dict.fromkeys((home.host.name, home.folder) for home in parted.homes)
    ]
    lines += [
        f"YOU OPENED {plain(path)}: what it writes there, {host} runs or believes later, with all your rights"
        for path, host in parted.opened
    ]
    return lines


def plain(text: str) -> str:
    return clean_line(text.encode("utf-8", "replace").decode())
