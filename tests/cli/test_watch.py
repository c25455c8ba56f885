"""`retain compile --watch` as a process: it compiles at the start and after changes, and goes on after what fails."""

from __future__ import annotations

import importlib.util
import json
import os
import pty
import select
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from queue import Queue
from typing import IO, Any

import pytest

from cli.main import run as run_here
from compiler.agent_session import begin, settle
from tests.builders import make_vault
from tests.commands import SCRIPT, Run
from vault.locks import lock
from vault.vault import open_vault

PATIENCE_S = 120
NEW = "# Anchors\n\nAn anchor is a weight that holds a ship in its place. An anchor has flukes that hold.\n"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A vault without documents."""
    return make_vault(tmp_path / "vault", {}).root


class Watching:
    """A running `retain compile --watch`; its lines on stdout and stderr are read as they come."""

    def __init__(self, vault: Path, *options: str, env: dict[str, str] | None = None) -> None:
        command = [SCRIPT, "compile", "--watch", "--debounce", "0.2", *options]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, cwd=vault, text=True, env=os.environ | (env or {}), **pipes)
        self.out: Queue[str] = Queue()
        self.err: Queue[str] = Queue()
        for stream, lines in ((self.process.stdout, self.out), (self.process.stderr, self.err)):
            threading.Thread(target=_read, args=(stream, lines), daemon=True).start()

    def line(self) -> str:
        return self.out.get(timeout=PATIENCE_S)

    def report(self) -> Any:
        return json.loads(self.line())

    def said(self, words: str) -> str:
        """Wait for a line with these words on stderr."""
        while words not in (line := self.err.get(timeout=PATIENCE_S)):
            pass
        return line

    def interrupted(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE_S)


def _read(stream: IO[str], lines: Queue[str]) -> None:
    """Put the lines of a stream into a queue, and close it at its end."""
    with stream:
        for line in stream:
            lines.put(line)


@contextmanager
def watching(vault: Path, *options: str, env: dict[str, str] | None = None) -> Iterator[Watching]:
    started = Watching(vault, *options, env=env)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.wait()


def test_it_reports_each_compile_goes_on_after_a_bad_source_and_ends_with_ctrl_c(vault: Path) -> None:
    with watching(vault, "--json") as told:
        first = told.report()
        assert first["written"] and first["sources"]["read"] == 0
        (vault / "raw/articles/broken.pdf").write_bytes(b"%PDF-1.7\nnothing of it")
        second = told.report()
        assert [each["path"] for each in second["failures"]] == ["raw/articles/broken.pdf"]
        (vault / "raw/articles/broken.pdf").unlink()
        (vault / "raw/articles/anchors.md").write_text(NEW)
        third = told.report()
        assert third["failures"] == [] and third["sources"]["read"] == 1
        assert third["at"] > second["at"] > first["at"] and third["suggested"] >= 0
        assert told.interrupted() == 130 and told.out.empty()
        told.said("interrupted")


def test_a_line_for_each_compile_at_a_terminal(vault: Path) -> None:
    master, slave = pty.openpty()
    command = [SCRIPT, "compile", "--watch", "--debounce", "0.2"]
    process = subprocess.Popen(command, cwd=vault, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    seen = ""

    def until(words: str) -> None:
        nonlocal seen
        while words not in seen:
            assert select.select([master], [], [], PATIENCE_S)[0], seen
            seen += os.read(master, 4096).decode()

    try:
        until("  nothing new\r\n")
        (vault / "raw/blob.bin").write_bytes(b"a\0b")
        until("  sources 1 recorded")
        process.send_signal(signal.SIGINT)
        until("interrupted; everything saved so far is kept")
        assert process.wait(PATIENCE_S) == 130
    finally:
        process.kill()
        os.close(master)


def test_while_another_compile_runs_it_waits_and_tries_again(vault: Path) -> None:
    with lock(vault, "publish", purpose="compiling"):
        (vault / "raw/blob.bin").write_bytes(b"a\0b")
        told = Watching(vault, "--wait", "0")
        told.said("not compiled: .retain/locks/publish.lock: locked by")
    try:
        assert "sources 1 recorded" in told.line()  # and nothing has changed since
        assert told.interrupted() == 130
    finally:
        told.process.kill()
        told.process.wait()


def test_while_an_agent_works_it_waits_and_says_so_once(vault: Path) -> None:
    opened, at = open_vault(str(vault), None, vault), datetime(2026, 11, 22, 9, tzinfo=UTC)
    run = begin(opened, ["claude"], at)
    with watching(vault) as told:
        told.said("the changes made by an agent run have not been checked yet")
        settle(opened, run, at)
        assert told.line().endswith("  nothing new\n")
        assert not any("have not been checked yet" in line for line in told.err.queue)
        assert told.interrupted() == 130


def test_a_model_that_cannot_be_had_is_reported_and_asked_again_after_the_next_change(vault: Path) -> None:
    (vault / "raw/articles/rope.md").write_text("# Rope\n\nA halyard is a rope that hoists a sail.\n")
    with watching(vault, "--json", "--engine", "claude", env={"ANTHROPIC_API_KEY": ""}) as told:
        assert "key" in told.report()["not_compiled"]
        (vault / "raw/articles/anchors.md").write_text(NEW)
        assert "key" in told.report()["not_compiled"]
        assert told.interrupted() == 130 and told.out.empty()


@pytest.mark.parametrize("more", [["raw/x.md"], ["--dry-run"], ["--renew"]])
def test_what_does_not_go_with_it_is_refused(run: Run, vault: Path, more: list[str]) -> None:
    told = run("compile", "--watch", *more, cwd=vault)
    assert told.code == 2 and "--watch" in told.stderr
    assert run("compile", "--debounce", "1", cwd=vault).code == 2


def test_without_the_package_the_error_names_the_command_that_installs_it(
    vault: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(vault)
    there = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "watchfiles" else there(name, *more)
    )
    assert run_here(["compile", "--watch"]) == 2
    assert "pip install '.[watch]'" in capsys.readouterr().err
