"""The folders in which coding agents keep their settings: `--rw` opens none of them, only a named folder inside.

What is in them is run or trusted when the agent starts again, outside the sandbox. No names inside are relied on.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from vault.files.write_scopes import is_within, refusal
from vault.sandbox.mounts import Mount, names_of

# Name, folder in the home folder, and the variable of the environment that names another one.
_HOSTS = (
    ("Claude Code", ".claude", "CLAUDE_CONFIG_DIR"),
    ("Codex", ".codex", "CODEX_HOME"),
    ("Codex and others", ".agents", ""),
)
_FILES = (("Claude Code", ".claude.json"),)  # settings that lie beside the folder
_HINT = "give one folder in it, or give the agent its own settings folder with CLAUDE_CONFIG_DIR or CODEX_HOME"


def folders() -> dict[str, str]:
    """Return the absolute path, without links, of every folder of settings, and the name of its host."""
    found = {}
    for host, name, variable in _HOSTS:
        given = os.environ.get(variable, "") if variable else ""
        for place in (str(Path.home() / name), given):
            if os.path.isabs(place):
                found[os.path.realpath(place)] = host
    return found


def opened(paths: Sequence[Path]) -> dict[str, str]:
    """Return those of the paths given to `--rw` that lie in a host's folder, without links, and the host's name."""
    real = [os.path.realpath(path) for path in paths]
    return {path: host for path in real for folder, host in folders().items() if is_within(path, folder)}


def check(path: str, table: Sequence[Mount]) -> None:
    """Raise Refused if `path` (absolute, without links) is or holds a host's folder, or is one of its files."""
    for folder, host in folders().items():
        for name in names_of(folder, table):
            if is_within(name, path) or (is_within(path, name) and not os.path.isdir(path)) or _is_same(path, name):
                raise refusal(path, f"--rw: {host} keeps its settings there and acts on them", hint=_HINT)
    for host, name in _FILES:
        file = str(Path.home() / name)
        if path == os.path.realpath(file) or _is_same(path, file):
            raise refusal(path, f"--rw: {host} keeps its settings there and acts on them", hint=_HINT)


def _is_same(path: str, other: str) -> bool:
    """Whether the two are one file or folder, as under another mount or as a hard link."""
    try:
        status, theirs = os.stat(path), os.stat(other)
    except OSError:
        return False
    return os.path.samestat(status, theirs)
