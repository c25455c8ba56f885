"""A small vault with two documents, made anew for every test."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from tests.builders import make_vault
from tests.compiler.agent_scene import Scene
from tests.in_process import every_candidate
from vault.vault import Vault

DOCUMENTS = Path(__file__).parent / "documents"


@pytest.fixture(scope="module", autouse=True)
def unweighed(request: pytest.FixtureRequest) -> Iterator[None]:
    """The embedded engine takes every candidate, unless the module is marked `own_weights`."""
    if request.node.get_closest_marker("own_weights"):
        yield
        return
    with every_candidate():
        yield


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return new_vault(tmp_path / "vault")


@pytest.fixture(scope="session")
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small vault after its first compile; copy it, don't touch it."""
    vault = new_vault(tmp_path_factory.mktemp("compiled") / "vault")
    with every_candidate():
        compile_vault(vault, Options(), datetime(2026, 11, 21, 9, tzinfo=UTC), lambda event: None)
    return vault.root


@pytest.fixture
def scene(compiled_once: Path, tmp_path: Path) -> Scene:
    """A compiled vault for an agent to work in."""
    return Scene.copied(compiled_once, tmp_path / "vault")


def unpacked(archive: Path, folder: Path) -> Path:
    """`folder`, with what a tar archive holds in it. Python 3.11 knows no filter before its fourth correction."""
    with tarfile.open(archive) as opened:
        if hasattr(tarfile, "data_filter"):
            opened.extractall(folder, filter="data")
        else:
            opened.extractall(folder)
    return folder


def new_vault(root: Path) -> Vault:
    vault = make_vault(root, {"insights/mine.md": "mine alone\n"})
    for document in DOCUMENTS.iterdir():
        shutil.copyfile(document, root / "raw/articles" / document.name)
    return vault
