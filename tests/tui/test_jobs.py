"""Work in a process of its own, when others hold its lines, when other work goes on, and when the app is left."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from datetime import datetime

import pytest

from tests.tui.conftest import PATIENCE_S, until
from tests.tui.test_work import app_on
from tui.process.jobs import ENDING, Jobs
from tui.screen import Page
from tui.state.job_state import begun
from tui.widgets.bars import TopBar
from tui.widgets.notice import Notice
from vault.vault import Vault


def test_work_is_over_when_its_process_is_though_one_that_it_left_behind_keeps_the_line_open(
    vault: Vault, clock: Callable[[], datetime]
) -> None:
    behind = "import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])"
    jobs = Jobs()
    jobs.start((sys.executable, "-c", f"{behind}; print('{{\"pid\": %d}}' % p.pid)"), None, ("optimize",), {}, clock)
    assert jobs._reader is not None
    jobs._reader.join(PATIENCE_S)
    assert jobs.state is not None and jobs.state.code == 0
    os.kill(jobs.state.result["pid"], signal.SIGKILL)


def test_whoever_leaves_while_work_goes_on_is_told_why_the_shell_waits(
    vault: Vault, clock: Callable[[], datetime], capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = Jobs()
    jobs.start((sys.executable, "-c", "import time; time.sleep(600)"), None, ("optimize",), {}, clock)
    jobs.end()
    assert capsys.readouterr().err == f"{ENDING}\n" and not jobs.running


async def test_work_asked_for_while_other_goes_on_is_refused_in_words(
    vault: Vault, clock: Callable[[], datetime]
) -> None:
    app = app_on(vault, "home")
    async with app.run_test() as pilot:
        await pilot.pause()
        app.context.jobs.state = begun(("compile",), clock())
        assert isinstance(app.screen, Page)
        app.screen.go("work", "add -- more.md")
        told = "another job is running"
        await until(pilot, lambda: told in str(app.screen.query_one(Notice).content), told)
        app.context.jobs.state = None


def test_a_running_job_stands_apart_from_the_title() -> None:
    bar = TopBar("Browse")
    bar.show_job("compiling 3 of 20")
    (row,) = bar.rows(bar.state, 80)
    assert row.plain.startswith(" retain  Browse  compiling 3 of 20 ")
