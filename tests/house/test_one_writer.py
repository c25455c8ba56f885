"""Only `vault/guard.py` opens anything for writing: proved on the syntax tree of every file of every package.

Its two hands, which open nothing for writing, are reached through it alone: one asks the kernel for folders without
links, the other gives finished files their names and takes names away.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("cli", "compiler", "learning", "templates", "tui", "vault")

# The one writer; its hands, which nobody else imports; and who is let through for what, with the reason.
WRITER = "vault/guard.py"
HANDS = {
    "vault/beneath.py": {"ctypes"},  # openat2, which Python has no name for: it opens folders, to read
    # link, rename, exchange of names (by ctypes), and the empty file that holds a name where a disk has none of these
    "vault/replacing.py": {"os.link", "os.rename", "os.mknod", "unlink", "ctypes"},
}
LET_THROUGH = {
    # What `guard audit --restore` does beside the guard's own writes: what stands in a file's place.
    "vault/restoring.py": {"os.rename", "rmdir", "unlink"},
    "vault/jail/kernel.py": {"ctypes"},  # the calls of Landlock and of the filter, which only take rights away
    "vault/copies_database.py": {"sqlite3"},  # SQLite writes its own file, which the guard makes, outside every vault
    "compiler/readers/pdf_lines.py": {"ctypes"},  # pypdfium2's own C interface; it opens documents from memory
    "compiler/readers/office.py": {
        "ZipFile 'w'"
    },  # vetted parts, packed anew in memory for a library that unpacks them
    # A database and an archive made in memory; the bytes go to the temporary path that the guard's export_file gave.
    "learning/anki.py": {"sqlite3", "ZipFile 'w'", "write_bytes"},
    "learning/search_segment.py": {"sqlite3"},  # made in memory; its bytes are the guard's to write; else read only
    "learning/anki_read.py": {"sqlite3"},  # a database copied into memory, by a connection that may only read
    "cli/host_files.py": {"the command /bin/sh"},  # the line of a hook, as text: it makes every failure exit code 2
    "vault/jail/processes.py": {"os.posix_spawn"},  # starts the caged command, with files closed and none opened
    # Links, pipes and emptied folders in the way of a restored file, or left by an agent: taken away or renamed by
    # name, below folders opened without links; what holds bytes stays, under a name that tells.
    "vault/clearing.py": {"rmdir", "unlink"},
    "vault/emptying.py": {"rmdir", "unlink"},  # the same for a whole folder: what an agent left in .retain/work
    "vault/modes.py": {"chmod"},  # the owner's rights on his own files, where an agent took them; no bytes
    # Modes, owners, times and attributes as they were before a run whose sandbox could not forbid them; no bytes.
    "vault/metadata.py": {"chmod", "os.chown", "os.utime", "os.removexattr", "os.setxattr"},
    # What `doctor` tries inside the jail, so that it is seen to fail there; and the one write that must succeed.
    "vault/jail/trial.py": {"O_WRONLY", "O_CREAT", "O_EXCL", "os.link", "unlink"},
    # Settings of Claude Code and Codex that an agent made: renamed by name, below folders opened without links.
    "vault/jail/host_return.py": {"os.rename", "os.symlink"},
    "cli/main.py": {"O_RDWR"},  # /dev/null in the place of a stream that is closed
    "vault/jail/proof.py": {"O_RDWR"},  # /dev/null in the place of its own streams
    "vault/jail/cage.py": {"tempfile", "shutil.rmtree"},  # an agent's own temporary folder, gone when the agent is
}

_WRITING_MODULES = {
    *("tempfile", "shelve", "dbm", "sqlite3", "mmap", "ctypes", "_ctypes", "cffi", "filelock", "fileinput"),
    *("posix", "nt", "_io", "_pyio"),
}
_READING_SHUTIL = {"get_terminal_size", "which", "disk_usage"}
_OS = set(
    re.findall(
        r"\w+",
        """rename renames replace remove unlink rmdir removedirs mkdir makedirs mkfifo mknod link symlink truncate
        chmod fchmod lchmod chown fchown lchown chflags lchflags utime setxattr removexattr copy_file_range sendfile
        splice system popen posix_spawn posix_spawnp startfile""",
    )
)
_METHODS = set(
    re.findall(
        r"\w+",
        """write_text write_bytes touch mkdir rmdir unlink hardlink_to symlink_to chmod lchmod extractall
        write_to_file copy_into move_into urlretrieve dump_stats dictConfig fileConfig getoutput getstatusoutput
        keylog_filename POSIX_SPAWN_OPEN""",
    )
)
_WRITE_FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_EXCL", "O_TMPFILE"}
_OPENERS = {"open", "FileIO", "ZipFile", "TarFile", "GzipFile", "BZ2File", "LZMAFile", "PyZipFile"}
_HANDLERS = {"FileHandler", "RotatingFileHandler", "TimedRotatingFileHandler", "WatchedFileHandler"}
_FUNCTIONS = {"urlretrieve", "dictConfig", "fileConfig", "getoutput", "getstatusoutput"}
_MODE = re.compile(r"(?=.*[wax+])[rwaxbtU+]{1,4}([:|].*)?")
_LOOKERS = {"getattr", "methodcaller", "attrgetter"}
_SHELLS = re.compile(r"(.*/)?(sh|bash|zsh|dash|ksh|fish|env|xargs|busybox|cmd|cmd\.exe|powershell|pwsh)")
_TOOLS = re.compile(r"(.*/)?(cp|mv|rm|rmdir|ln|tee|dd|touch|install|rsync|truncate|mkdir|mkfifo|sed|patch|tar|unzip)")

Finding = tuple[int, str]


class _Detector(ast.NodeVisitor):
    """Collects (line, name) of whatever could write, wherever it is mentioned: called, passed on or imported."""

    def __init__(self, origin: dict[str, str] | None = None) -> None:
        self.found: list[Finding] = []
        self.origin = origin or {}  # what each imported name is, wherever in the file it is imported
        self.assigned: dict[str, ast.expr] = {}  # what each name of the module is set to, once for all
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
            if (
                module.split(".")[0] in _WRITING_MODULES
                or (alias.name == "*" and module in ("os", "shutil", "pathlib"))
                or alias.name in _HANDLERS | _FUNCTIONS
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
        elif last == "basicConfig" and any(k.arg in ("filename", None) for k in node.keywords):
            self._note(node, "a log file")
        if any(k.arg == "shell" and not _is_false(k.value) for k in node.keywords):
            self._note(node, "a shell")
        if name.startswith("os.") and last.startswith(("exec", "spawn")):
            self._check_command(node, node.args[last.startswith("spawn") :])
        if name.startswith("subprocess.") and node.args and isinstance(node.args[0], ast.Tuple):
            self._check_command(node, node.args[0].elts)
        self.generic_visit(node)

    def visit_List(self, node: ast.List) -> None:
        self._check_command(node, node.elts)
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
        parts = [n for f in flags for n in self._spelt_out(f, 0)]
        if any(isinstance(n, ast.Constant) and isinstance(n.value, int) and n.value for n in parts):
            self._note(node, "os.open by number")
        # `os` and `getattr` spell out a flag; any other name might be anything
        unknown = [n for n in parts if isinstance(n, ast.Name) and n.id not in ("os", "getattr")]
        unknown = [n for n in unknown if not self.origin.get(n.id, "").startswith("os.")]
        if unknown or any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            self._note(node, "os.open with unknown flags")

    def _spelt_out(self, node: ast.expr, depth: int) -> Iterator[ast.AST]:
        """Every node of an expression, the names of the module replaced by what they are set to."""
        if isinstance(node, ast.Name) and node.id in self.assigned and depth < 32:
            yield from self._spelt_out(self.assigned[node.id], depth + 1)
            return
        yield node
        for below in ast.iter_child_nodes(node):
            if isinstance(below, ast.expr) and not (isinstance(node, ast.IfExp) and below is node.test):
                yield from self._spelt_out(below, depth + 1)

    def _check_command(self, node: ast.AST, words: list[ast.expr]) -> None:
        """A command that is written out: a shell with `-c`, or a program that is there to write."""
        said = [w.value if isinstance(w, ast.Constant) and isinstance(w.value, str) else "" for w in words]
        first = next((word for word in said if word), "")
        if (_SHELLS.fullmatch(first) and {"-c", "/c", "-Command"} & set(said)) or (
            len(said) > 2 and said[0] == first and _TOOLS.fullmatch(first)
        ):
            self._note(node, f"the command {first}")

    def _check_mode(self, node: ast.Call, name: str, last: str) -> None:
        of_path = name.startswith("?") or name.split(".")[0] not in (
            "open",
            "builtins",
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


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _writers(source: str) -> list[Finding]:
    tree = ast.parse(source)
    imports = _Detector()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.visit(node)
    detector = _Detector(imports.origin)
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            detector.assigned |= _assigned(statement.targets[0], statement.value)
    detector.visit(tree)
    return detector.found


def _assigned(target: ast.expr, value: ast.expr) -> dict[str, ast.expr]:
    if isinstance(target, ast.Name):
        return {target.id: value}
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return {t.id: v for t, v in zip(target.elts, value.elts, strict=False) if isinstance(t, ast.Name)}
    return {}


def _imported(source: str) -> set[str]:
    """The modules that a file imports, anywhere in it, by statement or by name."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value.partition(":")[0])
    return found


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
        if what not in LET_THROUGH.get(name, set()) | HANDS.get(name, set())
    ]
    assert not found, "only vault/guard.py may do this:\n" + "\n".join(found)


def test_the_writers_hands_are_reached_through_the_guard_alone() -> None:
    hands = {name.removesuffix(".py").replace("/", ".") for name in HANDS}
    users = {name for name, source in _files() if hands & _imported(source)}
    assert users == {WRITER}


@pytest.mark.parametrize(
    "line",
    [
        "import vault.replacing",
        "from vault.replacing import install",
        "from vault import clean, replacing as r",
        "import importlib; importlib.import_module('vault.replacing')",
        "def f():\n    from vault import beneath",
    ],
)
def test_whoever_imports_a_hand_of_the_writer_is_seen(line: str) -> None:
    assert {"vault.replacing", "vault.beneath"} & _imported(line)


def test_who_is_let_through_is_there_and_needs_it() -> None:
    files = dict(_files())
    for name, what in (LET_THROUGH | HANDS).items():
        unused = what - {each for _, each in _writers(files.get(name, ""))}
        assert not unused, f"{name} is let through for what it doesn't do: {sorted(unused)}"


def test_the_walk_sees_every_package_and_the_guard_itself_writes() -> None:
    files = dict(_files())
    shipped = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert {name.split("/")[0] for name in files} == set(PACKAGES) == set(shipped["packages"])
    found = {what for _, what in _writers(files[WRITER])}
    assert {"os.rename", "unlink", "mkdir", "O_CREAT", "O_APPEND", "O_RDWR"} <= found
    opening = {"O_CREAT", "O_APPEND", "O_RDWR", "O_WRONLY", "os.open by number", "os.open with unknown flags"}
    for hand in HANDS:
        assert not opening & {what for _, what in _writers(files[hand])}


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
    "import os; os.open('x', flags)",
    "import os; os.open('x', *how)",
    "import os; os.open('x', **how)",
    "import os; mode = 577; os.open('x', mode)",
    "import builtins; builtins.open('x', 'w')",
    "import builtins as b; b.open('x', mode='a')",
    "import _io; _io.open('x', 'w')",
    "import ctypes; ctypes.CDLL(None).syscall(2, b'x', 577)",
    "from ctypes import CDLL; CDLL(None).open(b'x', 577)",
    "import importlib; importlib.import_module('ctypes')",
    "from ctypes.util import find_library",
    "import os; os.posix_spawn('x', ['x'], {}, file_actions=[(0, 1, 'y', 577, 0)])",
    "actions = [(os.POSIX_SPAWN_OPEN, 1, 'y', 577, 0)]; import os",
    "import os; os.splice(3, 4, 10)",
    "import os; os.sendfile(3, 4, 0, 10)",
    "import os; os.copy_file_range(3, 4, 10)",
    "import os; os.chflags('x', 1)",
    "import os; os.spawnlp(os.P_WAIT, 'cp', 'cp', 'a', 'b')",
    "import os; os.execlp('sh', 'sh', '-c', 'echo > x')",
    "import subprocess; subprocess.run('echo x > y', shell=True)",
    "import subprocess; subprocess.run(line, shell=shell)",
    "import subprocess; subprocess.run(['sh', '-c', 'echo x > y'])",
    "import subprocess; subprocess.Popen(('/bin/bash', '-e', '-c', 'echo x > y'))",
    "import subprocess; subprocess.check_call(['cp', a, b])",
    "import subprocess; subprocess.run(['/usr/bin/tee', '-a', name])",
    "import subprocess; subprocess.getoutput('echo x > y')",
    "import subprocess; subprocess.run(['true'], stdout=open('x', 'w'))",
    "from subprocess import getstatusoutput as g; g('echo > x')",
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
    "path.open('r+')",
    "path.open(mode='r+b')",
    "Path.open(path, 'w'); from pathlib import Path",
    "path.copy_into(folder)",
    "path.move_into(folder)",
    "import shutil; shutil.copy('a', 'b')",
    "import shutil as s; s.copytree('a', 'b')",
    "from shutil import copy2 as c; c('a', 'b')",
    "import shutil; shutil.unpack_archive('a')",
    "import sqlite3 as db; db.connect('x')",
    "from sqlite3 import connect",
    "import logging; logging.basicConfig(filename='x')",
    "import logging.config; logging.config.dictConfig({})",
    "import logging.handlers; logging.handlers.RotatingFileHandler('x')",
    "from logging import FileHandler as F; F('x')",
    "import urllib.request; urllib.request.urlretrieve('a', 'b')",
    "context.keylog_filename = 'x'",
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
    "import os; FLAGS = os.O_RDONLY | getattr(os, 'O_NOFOLLOW', 0); os.open('x', FLAGS | os.O_CLOEXEC)",
    "from os import O_RDONLY; import os; os.open('x', O_RDONLY)",
    "import subprocess; subprocess.run(['git', 'status'], shell=False)",
    "import subprocess; subprocess.run([sys.executable, '-c', 'pass'])",
    "words = ['cp', 'mv']; names = ('sh', 'bash', 'zsh'); pair = ('touch', 1)",
    "import logging; logging.basicConfig(level=10)",
    "import os; os.execvp(command[0], command)",
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
