"""What the words of a shell may become, as far as can be told without running it: variables, braces, `~`, wildcards."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from cli.shell_words import UNKNOWN, VARIABLE, braced

_MATCHES, _WORDS = 2_000, 512
_MAGIC = re.compile(f"[*?\\[{UNKNOWN}]")


class ShellPlace:
    """The folder that a shell is in and the variables set in it, as far as its commands have been read."""

    def __init__(self, cwd: str) -> None:
        self.cwd = cwd
        self.variables: dict[str, list[str]] = {}

    def expanded(self, word: str) -> list[str]:
        """The words that `word` may become: braces, `~` and the variables that are known; others leave a mark."""
        words = [word]
        for _ in range(16):
            found = next((v for each in words if (v := VARIABLE.search(each))), None)
            if found is None:
                break
            values = self.value(found[1])
            words = [each.replace(found[0], value) for each in words for value in values][:256]
        return [_home(each) for each in words for each in braced(each)][:_WORDS]

    def value(self, name: str) -> list[str]:
        if name == "PWD":
            return [self.cwd]
        if name in self.variables:
            return self.variables[name] or [""]
        value = os.environ.get(name)
        return [value] if value is not None else [UNKNOWN]

    def go(self, arguments: list[str]) -> None:
        for target in self.expanded(arguments[0]) if arguments else [str(Path.home())]:
            for path in self.matching(target) if not target.startswith(UNKNOWN) else ():
                self.cwd = path

    def matching(self, word: str) -> Iterator[str]:
        """The absolute paths that the word may stand for: itself, and what its wildcards match on disk."""
        path = os.path.join(self.cwd, word.removeprefix("file://"))  # noqa: PTH118 (a text, with wildcards)
        if "\0" in path:
            return
        if not _MAGIC.search(word):
            yield path
            return
        found = [os.sep]
        for part in path.split("/"):
            if not part:
                continue
            if not _MAGIC.search(part):
                found = [os.path.join(each, part) for each in found]  # noqa: PTH118
            elif part == "**":
                found += [below for each in found for below in _folders(each)]
            else:
                found = [name for each in found for name in _globbed(each, part)]
            found = found[:_MATCHES]
        yield from found
        yield path


def _home(word: str) -> str:
    return os.path.expanduser(word) if word.startswith("~") else word  # noqa: PTH111 (a text, with wildcards)


def _globbed(folder: str, pattern: str) -> list[str]:
    plain = pattern.replace(UNKNOWN, "*")
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if fnmatchcase(entry.name, plain)][:_MATCHES]
    except OSError:
        return []


def _folders(top: str) -> list[str]:
    """The folders below `top`, as many as are looked at; none through a link."""
    found: list[str] = []
    for folder, names, _ in os.walk(top):
        found += [os.path.join(folder, name) for name in names]  # noqa: PTH118
        if len(found) >= _MATCHES:
            break
    return found[:_MATCHES]
