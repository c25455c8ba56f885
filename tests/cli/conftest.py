"""The command line as a user runs it: a process of its own, in a folder of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Done]
RETAIN = str(Path(sys.executable).parent / "retain")  # the script that installing the project makes


def retain(*arguments: str, cwd: Path, stdin: str = "", env: dict[str, str] | None = None) -> Done:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RETAIN")} | (env or {})
    done = subprocess.run(
        [RETAIN, *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        env=environment,
        timeout=600,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """`run("due", "--json", cwd=...)`: the installed script in a child process, with no vault in its environment."""

    def call(*arguments: str, cwd: Path = tmp_path, stdin: str = "", env: dict[str, str] | None = None) -> Done:
        return retain(*arguments, cwd=cwd, stdin=stdin, env=env)

    return call


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault made with the commands alone, from two documents; copied for each test."""
    root = tmp_path_factory.mktemp("made-once")
    documents = Path(__file__).parents[1] / "compiler" / "documents"
    assert retain("init", "vault", "--no-git", cwd=root).code == 0
    vault = root / "vault"
    assert retain("add", *(str(p) for p in sorted(documents.iterdir())), cwd=vault).code == 0
    assert retain("compile", cwd=vault).code == 0
    return vault


@pytest.fixture
def compiled(tmp_path: Path, made_once: Path) -> Path:
    """A vault of two documents, compiled, of the test's own."""
    shutil.copytree(made_once, tmp_path / "vault")
    return tmp_path / "vault"
