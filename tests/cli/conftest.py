"""The command line as a user runs it, in a folder of its own; in this process, which costs a tenth of a new one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import DOCUMENTS, NEEDY
from tests.commands import Result, Run, retain, retain_process
from tests.in_process import every_candidate


@pytest.fixture(scope="module", autouse=True)
def unweighed() -> Iterator[None]:
    """The embedded engine takes every candidate."""
    with every_candidate():
        yield


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """`run("due", "--json", cwd=...)`: one command line, with no vault in its environment."""

    def call(*arguments: str, cwd: Path = tmp_path, stdin: str = "", env: dict[str, str] | None = None) -> Result:
        return retain(*arguments, cwd=cwd, stdin=stdin, env=env)

    return call


@pytest.fixture
def run_process(tmp_path: Path) -> Run:
    """As `run`, by the installed script in a process of its own: for tests whose subject is the process."""

    def call(*arguments: str, cwd: Path = tmp_path, stdin: str = "", env: dict[str, str] | None = None) -> Result:
        return retain_process(*arguments, cwd=cwd, stdin=stdin, env=env)

    return call


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault made with the commands alone, from two documents; copied for each test."""
    root = tmp_path_factory.mktemp("made-once")
    assert retain("init", "vault", "--no-git", cwd=root).code == 0
    vault = root / "vault"
    assert retain("add", *(str(p) for p in sorted(DOCUMENTS.iterdir())), cwd=vault).code == 0
    with every_candidate():  # a fixture of the session is made before those of the module
        assert retain("compile", cwd=vault).code == 0
    return vault


@pytest.fixture
def compiled(tmp_path: Path, made_once: Path) -> Path:
    """A vault of two documents, compiled, of the test's own."""
    shutil.copytree(made_once, tmp_path / "vault")
    return tmp_path / "vault"


@pytest.fixture
def needy(run: Run, compiled: Path) -> Path:
    """A compiled vault with documents that use a term without saying what it is."""
    for path, text in NEEDY.items():
        (compiled / path).write_text(text)
    assert run("compile", cwd=compiled).code == 0
    return compiled
