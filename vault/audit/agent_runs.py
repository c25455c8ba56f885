"""Runs of agents that are not finished yet: the process, and the agent's folders before it.

One file a run, `runs/<ULID>.json` in the user's state folder of the vault, out of reach of the sandbox. It is deleted
when the agent's work has been checked.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault.config.user import state_folder
from vault.errors import Damaged, Refused, RetainError
from vault.ids import ALPHABET
from vault.process.identity import Process
from vault.text.formatting import clean_line

if TYPE_CHECKING:
    from vault.model.card import Deck
    from vault.vault import Vault

FOLDER = "runs"
_NAME = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}\.json")
_MAX_WORD = 300  # recorded characters of one word of a command
_FLASHCARDS = "learning/flashcards"
SETTLED_BY = "`retain compile`, `rebuild`, `review`, `rate`, `guard run` and `guard reject` check them first"
_ASSUMED_ALIVE_H = 12  # for how long a run on another machine counts as alive
_BROKEN = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)


@dataclass(frozen=True, slots=True)
class Run:
    """One start of an agent. `at` is its instant; `command` is sanitized, each word truncated."""

    id: str
    at: str
    command: tuple[str, ...]
    process: Process

    @property
    def path(self) -> str:
        """Return the path of its record below the state folder."""
        return f"{FOLDER}/{self.id}.json"

    @property
    def may_live(self) -> bool:
        """Return whether the agent may be running. One on another machine is assumed to for some hours."""
        alive = self.process.is_alive
        return self._is_young() if alive is None else alive

    def _is_young(self) -> bool:
        try:
            return time.time() - datetime.fromisoformat(self.at).timestamp() < _ASSUMED_ALIVE_H * 3600
        except (ValueError, OverflowError):
            return False

    @property
    def program(self) -> str:
        """Return the file name of the command."""
        return self.command[0].rsplit("/", 1)[-1] if self.command else ""

    def __str__(self) -> str:
        return f"run {self.id} ({self.program}, {self.process}, since {self.at})"


def cleaned(command: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a command sanitized and truncated."""
    return tuple(clean_line(word.encode("utf-8", "replace").decode())[:_MAX_WORD] for word in command)


def run_json(run: Run) -> dict[str, Any]:
    """Return the run as a JSON object."""
    return {"id": run.id, "at": run.at, "command": list(run.command), "process": asdict(run.process)}


def read_record(vault_id: str, run_id: str) -> dict[str, Any] | None:
    """Return the record of a run; None if it is finished. Raises: Damaged."""
    path = state_folder(vault_id) / FOLDER / f"{run_id}.json"
    try:
        record: dict[str, Any] = json.loads(path.read_bytes())
        if run_in(record).id != run_id or not isinstance(record["manifest"], dict):
            raise ValueError(run_id)
    except FileNotFoundError:
        return None
    except (OSError, *_BROKEN) as error:
        raise unreadable(path) from error
    return record


def unreadable(path: Path) -> Damaged:
    """Return the error of an invalid record of a run, with a command as hint."""
    away = f"`mv {shlex.quote(str(path))} {shlex.quote(f'{path}.broken')}`"
    what_counts = "the agent's changes then count as your edits, so check `git diff` first"
    hint = f"after that agent has finished, {away}; {what_counts}"
    return Damaged("the record of an agent run cannot be read", where=str(path), hint=hint)


def run_in(record: Mapping[str, Any]) -> Run:
    """Return the run of a record. Raises one of `_BROKEN` for an invalid one."""
    found, process = record["run"], record["run"]["process"]
    return Run(
        str(found["id"]),
        clean_line(str(found["at"])),
        cleaned([str(word) for word in found["command"]]),
        Process(_number(process["pid"]), *(clean_line(str(process[key])) for key in ("host", "machine", "started"))),
    )


def _number(pid: Any) -> int:
    """Return the id of one process. Raises ValueError for 0 and less, which stand for groups."""
    if int(pid) <= 0:
        raise ValueError(pid)
    return int(pid)


def all_runs(vault: Vault) -> list[Run]:
    """Return every unfinished run of this vault, oldest first. Raises: Damaged."""
    return [run for run, _ in _records(vault)]


def notes(vault: Vault) -> list[str]:
    """Return the ids of all unfinished runs, readable or not, oldest first. Raises: Damaged."""
    return [name.removesuffix(".json") for name in _names(vault)]


def at_work(vault: Vault) -> bool:
    """Return whether any run is unfinished, readable or not."""
    return open_count(vault) != 0


def open_count(vault: Vault) -> int | None:
    """Return the number of unfinished runs, readable or not; None if the folder can't be read."""
    try:
        return len(_names(vault))
    except Damaged:
        return None


def _names(vault: Vault) -> list[str]:
    try:
        folder = state_folder(vault.settings.vault_id) / FOLDER
        names = [path.name for path in folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError, Refused):
        return []
    except OSError as error:
        what = f"cannot tell whether an agent is running: {(error.strerror or 'it cannot be read').lower()}"
        raise Damaged(
            what, where=str(folder), hint="this must be a folder that you own; check its owner and permissions"
        ) from error
    return sorted(name for name in names if _NAME.fullmatch(name))


def _records(vault: Vault) -> list[tuple[Run, dict[str, Any]]]:
    found = []
    for name in _names(vault):
        record = read_record(vault.settings.vault_id, name.removesuffix(".json"))
        if record is not None:
            found.append((run_in(record), record))
    return found


def refuse_beside_agents(vault: Vault) -> None:
    """Raise Refused while an agent's work is not checked, as its changes can't be distinguished from the user's."""
    for run in all_runs(vault):
        raise Refused(f"the changes made by an agent run have not been checked yet: {run}", hint=_hint(vault, run))


def _hint(vault: Vault, run: Run) -> str:
    if not run.may_live:
        return SETTLED_BY
    if run.process.is_alive:
        return f"wait for the agent to finish, or end process {run.process.pid}"

    note = state_folder(vault.settings.vault_id) / run.path
    return (
        f"wait for the agent to finish. If it crashed, run `retain compile` {_ASSUMED_ALIVE_H} hours or more after the "
        f"agent started, or delete {note}: the agent's changes then count as your edits"
    )


def judged_decks(vault: Vault) -> Iterator[Deck]:
    """Yield every deck except those held back."""
    decks = list(vault.decks())
    held = held_back(vault)  # after they were read: what changes in between is held back as well
    return (deck for deck in decks if deck.path not in held)


def held_back(vault: Vault) -> frozenset[str]:
    """Return the decks that changed since the start of an agent whose work is not checked yet.

    In doubt a deck is held back: one that can't be read, and, if the record of a run can't be read, every one that was
    touched since that run began. Reviewing continues; the command that finishes the run reports the problem.
    """
    try:
        names = _names(vault)
    except Damaged:
        return frozenset()  # no agent can reach that folder
    try:
        paths = vault.paths(_FLASHCARDS, ".md") if names else []
    except Refused:
        return frozenset()  # no deck is read from there either
    held: set[str] = set()
    for name in names:
        files = _files_before(vault, name)
        if files is not None:
            began_ns = _began_ms(name) * 1_000_000
            held |= {path for path in paths if _changed(vault, path, files, began_ns)}
    return frozenset(held)


def _files_before(vault: Vault, name: str) -> Mapping[str, Any] | str | None:
    """Return the recorded files of a run; "" if they can't be read; None if the run is finished by now."""
    try:
        record = read_record(vault.settings.vault_id, name.removesuffix(".json"))
    except RetainError:
        return ""
    if record is None:
        return None
    files = record["manifest"].get("files")
    return files if isinstance(files, dict) else ""


def _began_ms(name: str) -> int:
    """Return the milliseconds since 1970 that the name of a run's record begins with."""
    return functools.reduce(lambda total, digit: total * 32 + ALPHABET.index(digit), name[:10].lower(), 0)


def _changed(vault: Vault, path: str, files: Mapping[str, Any] | str, began_ns: int) -> bool:
    """Return whether the deck may have changed since the run began; True in doubt."""
    try:
        status = (vault.root / path).lstat()
        if isinstance(files, str):
            return status.st_ctime_ns >= began_ns
        before = files[path]
        if [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino] == list(before[1:5]):
            return False
        return hashlib.sha256(vault.read_bytes(path) or b"").hexdigest() != str(before[0])
    except (RetainError, OSError, *_BROKEN):
        return True
