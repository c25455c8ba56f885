"""Starts a command at one level, as retain itself would: `in_sandbox.py LEVEL ORDERS COMMAND...`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from vault.errors import RetainError

REFUSED = 125


def start(word: str, orders: str, command: list[str]) -> int:
    """Run the command at that level; its exit code, or the one of a refusal, whose words go to standard error."""
    try:
        return _start(word, orders, command)
    except RetainError as error:
        sys.stderr.write(f"refused: {error}\n")
        sys.stderr.flush()
        return REFUSED


def _start(word: str, orders: str, command: list[str]) -> int:
    if word == "none":
        os.execv(command[0], command)
    given = json.loads(Path(orders).read_text())
    if word == "worker":
        return _worker(Path(given["vault"], "raw"), command)
    return _caged(word, given, command)


def _worker(raw: Path, command: list[str]) -> int:
    """A worker may start no process: each attack is one, which shuts itself in as the worker does."""
    from tests.sandbox import attacker
    from vault.sandbox.self_sandbox import limit_worker, restrict_worker

    def shut_in() -> None:
        limit_worker()
        restrict_worker(raw)

    attacker.main(command[4:], shut_in)  # after the interpreter, its two options and the script
    return 0


def _caged(word: str, given: dict[str, str], command: list[str]) -> int:
    from vault.sandbox.capabilities import Level
    from vault.sandbox.environment import filtered_environment
    from vault.sandbox.sandbox import Sandbox, run_in_sandbox

    cage = Sandbox(
        root=Path(given["vault"]),
        level=Level[word.partition("-")[0].upper()],
        personal=Path(given["personal"]),
        hidden=(Path(given["config"]), Path(given["state"])),
        network="-" not in word,
    )
    return run_in_sandbox(cage, command, cwd=Path(given["base"]), env=filtered_environment(os.environ))


if __name__ == "__main__":
    sys.exit(start(sys.argv[1], sys.argv[2], sys.argv[3:]))
