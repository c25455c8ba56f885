"""Run a `retain` command line in this process, or the installed script where the process itself is the subject."""

from __future__ import annotations

import importlib
import json
import os
import pty
import subprocess
import sys
import tempfile
import termios
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from cli import main
from cli.command_list import COMMANDS

SCRIPT = str(Path(sys.executable).parent / "retain")  # made by installing the project
TIMEOUT_S = 600
SELF_RESTRICTING = ("ask", "mcp")  # these commands give up rights of their process, which nothing brings back


@dataclass(frozen=True, slots=True)
class Result:
    """What a command did: its exit code and all that it wrote on stdout and stderr."""

    code: int
    stdout: str
    stderr: str

    def json(self) -> Any:
        """Return the JSON value on stdout."""
        return json.loads(self.stdout)


Run = Callable[..., Result]


def retain(*arguments: str, cwd: Path, stdin: str = "", env: Mapping[str, str] | None = None) -> Result:
    """Run one command line in this process, as a process started in `cwd` with `env` would.

    The file descriptors 0, 1 and 2 are exchanged too, so that programs which the command starts are captured.
    Nothing of the caller's `RETAIN...` variables is seen. Not for several threads at once. A command that restricts its
    own process for good runs in a copy of this one, which has loaded all that it needs.
    """
    restricts = next((word for word in arguments if word in COMMANDS), "") in SELF_RESTRICTING
    with _streams(stdin) as (out, err):
        with _place(cwd, _environment(env)):
            code = _in_copy(list(arguments)) if restricts else main.run(list(arguments))
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        return Result(code, _written(out), _written(err))


def _in_copy(arguments: list[str]) -> int:
    """Run one command line in a fork of this process; return its exit code.

    What it loads is loaded here first, so that the next copy has it.
    """
    for name in ("cli.wiki.ask", "compiler.query.answer"):
        importlib.import_module(name)
    with warnings.catch_warnings():  # the copy has this thread alone, and starts no program of the others
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 70
    try:
        code = main.run(arguments)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except BaseException:  # noqa: BLE001 (the copy ends here, and the test is to see why)
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def retain_process(*arguments: str, cwd: Path, stdin: str = "", env: Mapping[str, str] | None = None) -> Result:
    """Run the installed script in a process of its own."""
    done = subprocess.run(
        [SCRIPT, *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        env=_environment(env),
        timeout=TIMEOUT_S,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def on_terminal(*arguments: str, cwd: Path, columns: int = 80, typed: str = "", **env: str) -> str:
    """Return what the installed script shows on a terminal of that width, with what is typed ahead."""
    main, other = pty.openpty()
    termios.tcsetwinsize(other, (24, columns))
    os.write(main, typed.encode())
    variables = {name: value for name, value in _environment(env).items() if name not in ("COLUMNS", "LINES")}
    shown = b""
    with subprocess.Popen([SCRIPT, *arguments], cwd=cwd, stdin=other, stdout=other, stderr=other, env=variables):
        os.close(other)
        with suppress(OSError):  # EIO: no process has the terminal any more
            while block := os.read(main, 4096):
                shown += block
    os.close(main)
    return shown.decode().replace("\r\n", "\n")


def _environment(more: Mapping[str, str] | None) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("RETAIN")} | dict(more or {})


@contextmanager
def _place(cwd: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Exchange the working directory and the environment, and put both back."""
    before, variables = Path.cwd(), dict(os.environ)
    os.chdir(cwd)
    _exchange_environment(environment)
    try:
        yield
    finally:
        os.chdir(before)
        _exchange_environment(variables)


def _exchange_environment(variables: Mapping[str, str]) -> None:
    for name in os.environ.keys() - variables.keys():
        del os.environ[name]
    os.environ.update(variables)


@contextmanager
def _streams(stdin: str) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Exchange the standard streams and their descriptors; gives the files that hold what is written."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode())
        given.seek(0)
        streams = sys.stdin, sys.stdout, sys.stderr
        for stream in streams[1:]:
            stream.flush()
        originals = [os.dup(number) for number in range(3)]
        try:
            for number, file in enumerate((given, out, err)):
                os.dup2(file.fileno(), number)
            with (
                open(0, encoding="utf-8", closefd=False) as sys.stdin,
                open(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False) as sys.stdout,
                open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False) as sys.stderr,
            ):
                yield out, err
        finally:
            sys.stdin, sys.stdout, sys.stderr = streams
            for number, original in enumerate(originals):
                os.dup2(original, number)
                os.close(original)


def _written(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()
