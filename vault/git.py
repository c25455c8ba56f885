"""Run git so that no setting of a repository and no variable of the environment starts a program.

A vault may be an archive of somebody else with its `.git`. Its configuration is overridden on the command line. Git's
filters cannot be, as they may have any name: so only commands are run that read no file of the working tree.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Literal

from vault.errors import GitFailed

Command = Literal["init", "rev-parse", "check-ignore"]

_TIMEOUT_S = 60  # as when a file that the configuration names is a pipe
# Where git finds the user's own settings and stops searching; every other GIT_* variable is removed.
_KEPT = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES"})
_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",  # missing objects are not fetched from a remote; git before 2.45 may not know it
    "GIT_ALLOW_PROTOCOL": "none",  # nor from anywhere, by any protocol
    "GIT_PAGER": "cat",
    "GIT_ATTR_NOSYSTEM": "1",
    "LC_ALL": "C",
}
_SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.attributesFile": os.devnull,
    "core.sshCommand": "false",
    "core.gitProxy": "",
    "core.askPass": "",
    "core.editor": "false",
    "core.pager": "cat",
    "credential.helper": "",
    "gpg.program": "false",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",  # a folder that only looks like a repository is none
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}


def is_installed() -> bool:
    """Return whether git is installed."""
    return _program() is not None


def is_repository(folder: Path) -> bool:
    """Return whether git takes the folder for a part of a repository."""
    try:
        git(folder, "rev-parse", "--git-dir")
    except GitFailed:
        return False
    return True


def repository_around(folder: Path) -> Path | None:
    """Return the top folder of the repository that a folder is in; None if it is the top itself, or in none."""
    try:
        top = Path(git(folder, "rev-parse", "--show-toplevel"))
    except GitFailed:
        return None
    return None if top.resolve() == folder.resolve() else top


def git(folder: Path, command: Command, *arguments: str) -> str:
    """Return what git prints in that folder, less the last newline. Raises: GitFailed."""
    program = _program()
    if program is None:
        raise GitFailed("git is not installed")
    words = [program, "--no-pager", "--no-replace-objects"]
    words += [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
    inherited = {name: value for name, value in os.environ.items() if _is_harmless(name)}
    try:
        done = subprocess.run(
            [*words, command, *arguments],
            cwd=folder,
            env={**inherited, **_ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        reason = "timeout" if isinstance(error, subprocess.TimeoutExpired) else "git failed"
        raise GitFailed(f"git {command}: {reason}", where=str(folder)) from error
    return os.fsdecode(done.stdout).removesuffix("\n")


def _is_harmless(name: str) -> bool:
    return not name.startswith("GIT_") or name in _KEPT


def _program() -> str | None:
    """Return git by its absolute path: a relative one, as from `.` in PATH, could be a file of the vault."""
    found = shutil.which("git")
    return found if found is not None and Path(found).is_absolute() else None
