"""A file or folder to import from, read as untrusted input: bounded, without following links out of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import unquote

from learning.foreign.cards import ForeignCard, Reading
from vault.errors import NotFound, Unreadable
from vault.text.formatting import clean_line

MAX_TEXT = 64 * 1024**2  # bytes of one file
MAX_PICTURE = 100 * 1024**2
MAX_FILES = 50_000
_SKIPPED = frozenset({".git", ".obsidian", ".trash", "node_modules"})


@dataclass(slots=True)
class Tree:
    """What the user named. Paths in it are relative to its folder, with slashes."""

    path: Path
    _names: dict[str, list[Path]] = field(default_factory=dict)  # files by lower-case name, for pictures

    @property
    def is_file(self) -> bool:
        """Return whether one file was named."""
        return not self.path.is_dir()

    @property
    def folder(self) -> Path:
        """Return the folder that was named, or that of the file."""
        return self.path.parent if self.is_file else self.path

    def files(self, suffixes: Sequence[str]) -> list[Path]:
        """Return the files with one of these suffixes, sorted; without hidden folders, and without links that lead out
        of the folder, pipes and devices.
        """
        if self.is_file:
            return [self.path]
        found, root = list[Path](), self.path.resolve()
        for place, folders, names in os.walk(self.path):
            folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.startswith("."))
            paths = (Path(place) / name for name in sorted(names) if name.lower().endswith(tuple(suffixes)))
            found += [path for path in paths if self._inside(path, root)]
            if len(found) > MAX_FILES:
                raise Unreadable(
                    "more than 50,000 files", where=clean_line(str(self.path)), hint="choose a folder inside it"
                )
        return found

    def shown(self, file: Path) -> str:
        """Return the path of a file as messages show it."""
        return clean_line(file.name if self.is_file else file.relative_to(self.path).as_posix())

    def texts(self, reading: Reading, suffixes: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield (path, text) of each file; one that is no UTF-8 is a problem of `reading`."""
        for file in self.files(suffixes):
            data = read_bytes(file, MAX_TEXT)
            try:
                text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
            except UnicodeDecodeError as error:
                line = data.count(b"\n", 0, error.start) + 1
                reading.add_problem(self.shown(file), line, "the file is not UTF-8", "save it as UTF-8")
            else:
                yield self.shown(file), text.replace("\r\n", "\n").replace("\r", "\n")

    def above(self, name: str) -> bytes | None:
        """Return the bytes of a file with that path in the folder or one above it, nearest first; None without one."""
        for folder in (self.folder.absolute(), *self.folder.absolute().parents):
            if (folder / name).is_file():
                return read_bytes(folder / name, MAX_TEXT)
        return None

    def picture(self, name: str, base: str) -> bytes | None:
        """Return the bytes of a file that a card in the file `base` names; None where it is not below the folder.

        A relative path counts from the card's file, then from the folder; a bare name is looked for everywhere, as
        Obsidian does.
        """
        wanted = unquote(name.split("#")[0].split("|")[0]).strip().removeprefix("@/")  # so hashcards names the root
        if not wanted or "://" in wanted or "\0" in wanted:
            return None
        root = self.folder.resolve()
        for start in (root / Path(base).parent, root):
            if (found := self._inside(start / wanted, root)) is not None:
                return read_bytes(found, MAX_PICTURE)
        if not self._names:
            for place, folders, names in os.walk(root):
                folders[:] = [folder for folder in folders if folder not in _SKIPPED]
                for each in names:
                    self._names.setdefault(each.casefold(), []).append(Path(place) / each)
        near = sorted(self._names.get(wanted.rsplit("/", 1)[-1].casefold(), ()), key=lambda p: (len(p.parts), str(p)))
        inside = next((path for path in near if self._inside(path, root)), None)
        return None if inside is None else read_bytes(inside, MAX_PICTURE)

    @staticmethod
    def _inside(path: Path, root: Path) -> Path | None:
        """Return the path with links resolved; None where it is no file below `root`."""
        try:
            real = path.resolve()
            return real if real.is_relative_to(root) and real.is_file() else None
        except (OSError, ValueError, RuntimeError):
            return None


def read_bytes(path: Path, limit: int) -> bytes:
    """Return the bytes of a file. Raises: NotFound, Unreadable, also for one that is larger than `limit`."""
    data = read_head(path, limit + 1)
    if len(data) > limit:
        raise Unreadable(
            f"the file is larger than {limit // 1024**2} MiB", where=clean_line(str(path)), hint="split it"
        )
    return data


def read_head(path: Path, size: int) -> bytes:
    """Return at most `size` bytes from the beginning of a file. Raises: NotFound, Unreadable."""
    shown = clean_line(str(path))
    try:
        with path.open("rb") as file:
            return file.read(size)
    except FileNotFoundError as error:
        raise NotFound("no such file", where=shown) from error
    except OSError as error:
        raise Unreadable(f"the file cannot be read: {error.strerror}", where=shown) from error


def unique_key(card: ForeignCard, seen: dict[str, int]) -> ForeignCard:
    """Return the card with a key that no card before it has: the second with the same words is counted."""
    seen[card.key] = seen.get(card.key, 0) + 1
    return card if seen[card.key] == 1 else replace(card, key=f"{card.key}\x1f{seen[card.key]}")
