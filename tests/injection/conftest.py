"""A vault with a human's folders around it, and retain in it, in this process, with an engine that obeys sources."""

from __future__ import annotations

import io
import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cli.main import run
from compiler.model import engine_names
from compiler.workers import pool
from tests.injection.judge import harm_in_print, harm_to_files
from tests.sandbox.tree import Scanner, Tree

OBEDIENT = Path(__file__).with_name("obedient_worker.py")


@dataclass
class Scene:
    """`base` is all that is looked at: the vault, a personal vault, a home, and the folder that exports go to."""

    base: Path
    capture: pytest.CaptureFixture[str]
    patch: pytest.MonkeyPatch
    port: int
    added: dict[str, bytes] = field(default_factory=dict)  # by their path below the base
    _scanner: Scanner | None = None
    _before: Tree = field(default_factory=dict)

    @property
    def vault(self) -> Path:
        return self.base / "vault"

    def places(self) -> dict[str, str]:
        """What the orders of sources may name."""
        named = {"base": self.base, "vault": self.vault, "home": self.base / "home", "port": self.port}
        return {key: str(value) for key, value in named.items()}

    def found(self) -> None:
        """Make the vault, with something of the human's in every folder."""
        personal = self.base / "personal"
        for folder in (personal, self.base / "out", self.base / "home"):
            folder.mkdir(exist_ok=True)
        (personal / "secret.md").write_text("a secret\n", encoding="utf-8")
        (self.base / "home/.bashrc").write_text("# mine\n", encoding="utf-8")
        self.told("init", str(self.vault), "--personal", str(personal), codes=(0,))
        self.patch.chdir(self.vault)
        (self.vault / "insights").mkdir(exist_ok=True)
        (self.vault / "insights/mine.md").write_text("mine alone\n", encoding="utf-8")

    def look(self) -> None:
        """From here on every change is judged."""
        self._scanner = Scanner(str(self.base))
        self._before = self._scanner.scan()

    def harm(self) -> list[str]:
        """What was changed since and should not have been."""
        assert self._scanner is not None
        return harm_to_files(self._before, self._scanner.scan(), str(self.base), self.added)

    def told(self, *words: str, codes: tuple[int, ...] = (0, 1), stdin: str = "") -> str:
        """What one command prints on standard output; nothing that it prints may act."""
        self.patch.setattr("sys.stdin", io.StringIO(stdin))
        self.capture.readouterr()
        code = run(list(words))
        said = self.capture.readouterr()
        assert code in codes, (words, code, said.err[-2_000:])
        assert harm_in_print([said.out, said.err]) == [], words
        return said.out

    def json(self, *words: str) -> Any:
        return json.loads(self.told(*words, "--json"))

    def add(self, name: str, data: bytes) -> None:
        """Put a source into raw/ by hand, whatever its name."""
        path = self.vault / "raw/articles" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.added[f"vault/raw/articles/{name}"] = data


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Something on this machine that a model could be told to call."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        yield server


@pytest.fixture
def scene(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    listener: socket.socket,
) -> Scene:
    """A vault whose engine `obedient` runs in the real reading process, shut in as that one is."""
    base = tmp_path / "base"
    base.mkdir()
    for name, below in (("HOME", ""), ("XDG_CONFIG_HOME", ".config"), ("XDG_STATE_HOME", ".local/state")):
        monkeypatch.setenv(name, str(base / "home" / below))
    monkeypatch.setitem(engine_names.VERSIONS, "obedient", "obedient/1")
    monkeypatch.setattr(pool, "PROGRAM", (str(OBEDIENT),))
    scene = Scene(base, capsys, monkeypatch, listener.getsockname()[1])
    scene.found()
    return scene


def called(listener: socket.socket) -> bool:
    """Whether anybody called."""
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True
