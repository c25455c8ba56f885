"""The table [search] of the user's `config.toml`: what searches use besides words.

    [search]
    model = "~/models/all-MiniLM-L6-v2"  # an embedding model: a folder, or a name that fastembed or model2vec knows
    program = "qmd"                      # a search program; or with its command, as ["qmd", "query"]

None of this is read from a vault, as a vault may come from somebody else.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from vault.config import user
from vault.config.toml_file import TomlFile, parsed

_COMMAND = ("search",)  # of qmd, where the settings name none: by words, without a model


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """`model` compares passages by meaning, a path without "~" or a name, "" for none; `program` and its arguments find
    files, empty for none."""

    model: str = ""
    program: tuple[str, ...] = ()


def search_settings() -> SearchSettings:
    """Return what searches use besides words. Raises: Damaged, with file and line."""
    text, path = user.config_text(), str(user.config_folder() / user.CONFIG)
    if "[search]" not in text:
        return SearchSettings()
    file = TomlFile(text, path)
    table = file.table(parsed(text, path), "search")
    return SearchSettings(_expanded(file.string(table, "model")), _program(file, table.get("program", ())))


def folder_of_program() -> Path | None:
    """Return the folder in the user's cache where the search program has its index; None if there is none.

    Raises: Damaged, with file and line.
    """
    program = search_settings().program
    folder = user.cache_folder("").parent / Path(program[0]).name if program else None
    return folder if folder is not None and folder.is_dir() else None


def _program(file: TomlFile, given: object) -> tuple[str, ...]:
    """Return the program and its arguments. Raises: Damaged."""
    words = (given, *_COMMAND) if isinstance(given, str) and given else given or ()
    if not isinstance(words, (list, tuple)) or not all(isinstance(word, str) and "\0" not in word for word in words):
        raise file.wrong("program", 'program must be a name or path, or a list like ["qmd", "query"]')
    program = tuple(map(str, words))
    return (_expanded(program[0]), *program[1:]) if program else ()


def _expanded(path: str) -> str:
    """Return a path with the home folder for `~`; unchanged for an unknown user, where `Path.expanduser` raises."""
    return os.path.expanduser(path)  # noqa: PTH111
