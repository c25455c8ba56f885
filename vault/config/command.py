"""The program that compiles: a command of the user's, with its environment and limits, in the table [engine].

[engine]
command = ["claude", "-p"]            # takes a prompt on standard input and prints the answer
command_check = ["llm", "-m", "x"]    # another one, or a fresh agent, for what is checked
command_env = ["ANTHROPIC_API_KEY"]   # variables that it gets beside PATH, HOME, USER, locale and TMPDIR
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vault.config.toml_file import TomlFile

PATIENCE_S = 600.0  # where the settings name none: an agent takes minutes
CONCURRENCY = 2
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_MOST = 64  # arguments


@dataclass(frozen=True, slots=True)
class CommandSettings:
    """`arguments` start the program; `check`, if not empty, the one that checks. `patience` is in seconds."""

    arguments: tuple[str, ...]
    check: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    patience: float = PATIENCE_S
    concurrency: int = CONCURRENCY

    def of_role(self, role: str) -> tuple[str, ...]:
        """Return the arguments of the program that answers for a role."""
        return self.check if role == "check" and self.check else self.arguments


def read_command(file: TomlFile, table: Mapping[str, Any], numbers: Mapping[str, float]) -> CommandSettings | None:
    """Return the command in the table [engine]; None if there is none. Raises: Damaged, with file and line."""
    arguments = _arguments(file, table, "command")
    check = _arguments(file, table, "command_check")
    variables = file.strings(table, "command_env")
    if not all(_VARIABLE.fullmatch(name) for name in variables):
        raise file.wrong("command_env", "command_env must be a list of variable names")
    if not arguments:
        if check:
            raise file.wrong("command_check", "command_check requires `command` to be set")
        return None
    return CommandSettings(
        arguments,
        check,
        variables,
        numbers.get("patience", PATIENCE_S),
        int(numbers.get("concurrency", CONCURRENCY)),
    )


def _arguments(file: TomlFile, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return a program and its arguments. Raises: Damaged."""
    found = file.strings(table, key)
    if not found:
        return ()
    if len(found) > _MOST or any("\0" in word for word in found) or not found[0].strip():
        raise file.wrong(key, f'{key} must be a program and its arguments, like ["claude", "-p"]')
    if "/" in found[0] and not found[0].startswith("/"):  # it runs in a folder of its own
        raise file.wrong(key, f"{key} must begin with the name of a program on your PATH, or with an absolute path")
    return found
