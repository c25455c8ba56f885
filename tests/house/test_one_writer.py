"""Only `vault/guard.py` opens for writing, makes, renames or deletes: proved on the syntax tree of every file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("cli", "compiler", "learning", "templates", "tui", "vault")

# The one writer, and who is let through for what, with the reason.
WRITER = "vault/guard.py"
LET_THROUGH = {
    "compiler/readers/pdf_lines.py": {"ctypes"},  # pypdfium2's own C interface; it opens documents from memory
    "compiler/readers/office.py": {
        "ZipFile 'w'"
    },  # vetted parts, packed anew in memory for a library that unpacks them
    # A database and an archive made in memory; the bytes go to the temporary path that the guard's export_file gave.
    "learning/anki.py": {"sqlite3", "ZipFile 'w'", "write_bytes"},
}

_WRITING_MODULES = {"tempfile", "shelve", "dbm", "sqlite3", "mmap", "ctypes", "filelock", "fileinput", "posix", "nt"}
_READING_SHUTIL = {"get_terminal_size", "which", "disk_usage"}
_OS = set(
    re.findall(
        r"\w+",
        """rename renames replace remove unlink rmdir removedirs mkdir makedirs mkfifo mknod link symlink truncate
        chmod fchmod lchmod chown fchown lchown utime setxattr removexattr copy_file_range sendfile system popen""",
    )
)
_METHODS = set(
    re.findall(
        r"\w+",
        """write_text write_bytes touch mkdir rmdir unlink hardlink_to symlink_to chmod lchmod extractall
        write_to_file""",
    )
)
_WRITE_FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_EXCL", "O_TMPFILE"}
_OPENERS = {"open", "FileIO", "ZipFile", "TarFile", "GzipFile", "BZ2File", "LZMAFile", "PyZipFile"}
_HANDLERS = {"FileHandler", "RotatingFileHandler", "TimedRotatingFileHandler", "WatchedFileHandler"}
_MODE = re.compile(r"(?=.*[wax+])[rwaxbtU+]{1,4}([:|].*)?")
_LOOKERS = {"getattr", "methodcaller", "attrgetter"}

Finding = tuple[int, str]


class _Detector(ast.NodeVisitor):
    """Collects (line, name) of whatever could write, wherever it is mentioned: called, passed on or imported."""

    def __init__(self, origin: dict[str, str] | None = None) -> None:
        self.found: list[Finding] = []
        self.origin = origin or {}  # what each imported name is, wherever in the file it is imported
        self._called: set[ast.expr] = set()

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            top = alias.name.split(".")[0]
            self.origin[alias.asname or top] = alias.name if alias.asname else top
            if top in _WRITING_MODULES:
                self._note(node, top)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        for alias in node.names:
            origin = f"{module}.{alias.name}"
            self.origin[alias.asname or alias.name] = origin
            if module.split(".")[0] in _WRITING_MODULES or (
                alias.name == "*" and module in ("os", "shutil", "pathlib")
            ):
                self._note(node, origin)
            self._check_name(node, origin)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in _METHODS | _WRITE_FLAGS | _HANDLERS:
            self._note(node, node.attr)
        else:
            self._check_name(node, self._dotted(node))
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in _WRITE_FLAGS:
            self._note(node, node.id)
        if node.id == "open" and node not in self._called and isinstance(node.ctx, ast.Load):
            self._note(node, "open")
        if isinstance(node.ctx, ast.Load) and "." in self.origin.get(node.id, ""):
            self._check_name(node, self.origin[node.id])

    def visit_Call(self, node: ast.Call) -> None:
        self._called.add(node.func)
        name = self._dotted(node.func)
        last = name.rsplit(".", 1)[-1]
        if name == "os.open":
            self._check_flags(node)
        elif last in _OPENERS:
            self._check_mode(node, name, last)
        elif last == "replace" and len(node.args) == 1 and not node.keywords:
            self._note(node, "Path.replace")  # str.replace takes two, dataclasses.replace takes keywords
        elif last == "rename" and len(node.args) == 1 and not node.keywords:
            self._note(node, "Path.rename")
        elif last in _LOOKERS:
            self._check_lookup(node)
        elif last in ("__import__", "import_module"):
            self._check_import(node)
        self.generic_visit(node)

    def _dotted(self, node: ast.expr) -> str:
        """The full name of what an expression mentions, with imports resolved; "?.x" for a method of something."""
        if isinstance(node, ast.Name):
            return self.origin.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            return f"{self._dotted(node.value)}.{node.attr}"
        return "?"

    def _check_name(self, node: ast.AST, name: str) -> None:
        module, _, last = name.rpartition(".")
        if (module == "os" and last in _OS | _WRITE_FLAGS) or (module == "shutil" and last not in _READING_SHUTIL):
            self._note(node, name)

    def _check_flags(self, node: ast.Call) -> None:
        flags = node.args[1:2] + [k.value for k in node.keywords if k.arg == "flags"]
        numbers = [n for f in flags for n in ast.walk(f) if isinstance(n, ast.Constant) and isinstance(n.value, int)]
        if any(n.value for n in numbers):
            self._note(node, "os.open by number")

    def _check_mode(self, node: ast.Call, name: str, last: str) -> None:
        of_path = name.startswith("?") or name.split(".")[0] not in (
            "open",
            "io",
            "codecs",
            "gzip",
            "bz2",
            "lzma",
            "tarfile",
        )
        first = 0 if of_path and last == "open" else 1
        given = [*node.args[first:], *(k.value for k in node.keywords if k.arg == "mode")]
        for value in given:
            if isinstance(value, ast.Constant):
                if isinstance(value.value, str) and _MODE.fullmatch(value.value):
                    self._note(node, f"{last} {value.value!r}")
            elif not of_path or (isinstance(value, ast.Name) and value.id in ("mode", "flags")):
                self._note(node, f"{last} in an unknown mode")
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            self._note(node, f"{last} with unknown arguments")

    def _check_lookup(self, node: ast.Call) -> None:
        words = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        distinct = _METHODS | _WRITE_FLAGS | _OS - {"replace", "remove", "link", "system"}
        of_module = bool(node.args) and self._dotted(node.args[0]) in ("os", "shutil", "pathlib", "pathlib.Path", "io")
        if set(words) & (distinct | (_OS | {"open"} if of_module else set())) or (of_module and not words):
            self._note(node, "a writer by its name")

    def _check_import(self, node: ast.Call) -> None:
        words = {a.value for a in node.args if isinstance(a, ast.Constant)}
        if words & (_WRITING_MODULES | {"os", "shutil", "io", "pathlib"}):
            self._note(node, "a writer's module by its name")

    def _note(self, node: ast.AST, what: str) -> None:
        self.found.append((getattr(node, "lineno", 0), what))


def _writers(source: str) -> list[Finding]:
    tree = ast.parse(source)
    imports = _Detector()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.visit(node)
    detector = _Detector(imports.origin)
    detector.visit(tree)
    return detector.found


def _files() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def test_nobody_but_the_guard_writes() -> None:
    found = [
        f"{name}:{line}: {what}"
        for name, source in _files()
        if name != WRITER
        for line, what in _writers(source)
        if what not in LET_THROUGH.get(name, set())
    ]
    assert not found, "only vault/guard.py may do this:\n" + "\n".join(found)


def test_the_walk_sees_every_package_and_the_guard_itself_writes() -> None:
    files = dict(_files())
    assert {name.split("/")[0] for name in files} == set(PACKAGES)
    found = {what for _, what in _writers(files[WRITER])}
    assert {"os.rename", "os.link", "unlink", "mkdir", "O_CREAT", "ctypes"} <= found


# One line each that writes behind the guard's back; the detector must see it even deep inside real code.
MUTANTS = [
    "open('x', 'w')",
    "open('x', 'a')",
    "open('x', 'r+b')",
    "open('x', mode='xb')",
    "open('x', mode)",
    "open(*args)",
    "opener = open",
    "list(map(open, names, modes))",
    "io.open('x', 'wb'); import io",
    "from io import open as o; o('x', 'w')",
    "import codecs; codecs.open('x', 'w')",
    "import gzip; gzip.open('x', 'wb')",
    "import io; io.FileIO('x', 'w')",
    "import zipfile; zipfile.ZipFile('x', 'w')",
    "from zipfile import ZipFile; ZipFile('x', mode='a')",
    "import tarfile; tarfile.open('x', 'w:gz')",
    "archive.extractall('there')",
    "import os; os.open('x', os.O_WRONLY)",
    "import os; os.open('x', os.O_CREAT | os.O_RDWR)",
    "from os import O_APPEND, open as o; o('x', O_APPEND)",
    "import os; os.open('x', 65)",
    "import os; os.open('x', flags=1)",
    "import os; os.open('x', getattr(os, 'O_CREAT'))",
    "import os; os.rename('a', 'b')",
    "import os as o; o.replace('a', 'b')",
    "from os import replace; replace('a', 'b')",
    "from os import unlink as forget; forget('a')",
    "import os; os.remove('a')",
    "import os; os.makedirs('a')",
    "import os; os.symlink('a', 'b')",
    "import os; os.link('a', 'b')",
    "import os; os.truncate('a', 0)",
    "import os; os.chmod('a', 0)",
    "import os; os.utime('a')",
    "import os; each = map(os.remove, names)",
    "import os; getattr(os, name)('a')",
    "import os; getattr(os, 'remove')('a')",
    "from os import *",
    "import posix; posix.unlink('a')",
    "__import__('os').remove('a')",
    "import importlib; importlib.import_module('shutil').rmtree('a')",
    "import shutil; shutil.move('a', 'b')",
    "import shutil; shutil.rmtree('a')",
    "from shutil import copyfile",
    "import tempfile",
    "from tempfile import NamedTemporaryFile",
    "import sqlite3",
    "import mmap",
    "import ctypes",
    "from pathlib import Path; Path('x').write_text('')",
    "path.write_bytes(b'')",
    "path.open('w')",
    "path.open(mode='ab')",
    "path.open(mode)",
    "path.touch()",
    "path.mkdir(parents=True)",
    "path.unlink(missing_ok=True)",
    "path.rmdir()",
    "path.rename(other)",
    "path.replace(other)",
    "path.symlink_to(other)",
    "path.hardlink_to(other)",
    "path.chmod(0)",
    "from operator import methodcaller; methodcaller('write_text', '')(path)",
    "getattr(path, 'write_bytes')(b'')",
    "import logging; logging.FileHandler('x')",
    "package.write_to_file('x')",
]

INNOCENT = [
    "open('x')",
    "open('x', 'rb')",
    "open('x', encoding='utf-8')",
    "path.open()",
    "path.open('rb')",
    "self._block.open(kind)",
    "with os.fdopen(opened, 'rb', buffering=0) as file: pass",
    "import os; os.open('x', os.O_RDONLY | getattr(os, 'O_DIRECTORY', 0))",
    "import os; os.stat('x'); os.listdir('x'); os.scandir('x'); os.fsync(3)",
    "'a'.replace('b', 'c'); names.remove('a'); file.write('x')",
    "from dataclasses import replace; replace(card, answer='x')",
    "import dataclasses; dataclasses.replace(card, answer='x')",
    "moment.replace(tzinfo=None); moment.replace(hour=1, minute=2)",
    "import shutil; shutil.get_terminal_size()",
    "import zipfile; zipfile.ZipFile('x'); zipfile.ZipFile(file, 'r')",
    "guard.write('a', b'', expect=None); guard.makedirs('a'); guard.remove('a', expect='b')",
    "getattr(settings, name)",
    "ledger.rename(old, new)",
    "session.link",
]


@pytest.mark.parametrize("line", MUTANTS)
def test_the_detector_sees_each_way_to_write(line: str) -> None:
    host = (ROOT / "vault" / "clean.py").read_text(encoding="utf-8")
    anchor = '"""`text` with every control'
    assert anchor in host and not _writers(host)
    mutant = host.replace(anchor, "\n    ".join([*line.split("; "), anchor]), 1)
    assert _writers(mutant if "import *" not in line else line)


@pytest.mark.parametrize("line", INNOCENT)
def test_the_detector_lets_reading_be(line: str) -> None:
    assert not _writers(line)
