"""The stage of one level: a vault with a human's notes, a personal vault, a home, and what else must stay as it is."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
AGENT = ("wiki", "output", "learning/flashcards", ".retain/work")
NOTE = b"# Spacing\n\nWhat I think about it myself, in my own words.\n" * 40
HELD = b"# held\n\nAnother note of mine, which a program outside has open.\n"


@dataclass(frozen=True, slots=True)
class Scene:
    """Where all of it is. `free` is what the level lets an agent write; `canaries` are what nobody may learn."""

    base: Path
    temp: Path  # below /tmp, for programs outside
    level: str
    secret: str
    canaries: tuple[bytes, ...]

    @property
    def vault(self) -> Path:
        return self.base / "vault"

    @property
    def insights(self) -> Path:
        return self.vault / "insights"

    @property
    def note(self) -> Path:
        return self.insights / "spacing.md"

    @property
    def personal(self) -> Path:
        return self.base / "personal"

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def free(self) -> tuple[str, ...]:
        names = (".retain/work",) if self.level == "worker" else AGENT
        return tuple(str(self.vault / name) for name in names)

    @property
    def work(self) -> Path:
        return Path(self.free[0])

    @property
    def code(self) -> Path:
        return self.vault / ".attack"

    def config(self) -> Path:
        return self.home / ".config/retain"

    def state(self) -> Path:
        return self.home / ".local/state/retain"

    def place(self, told: dict[str, Any], card: str) -> dict[str, Any]:
        """What the attackers are told."""
        return {
            "level": self.level,
            "base": str(self.base),
            "vault": str(self.vault),
            "insights": str(self.insights),
            "note": str(self.note),
            "work": str(self.work),
            "personal": str(self.personal),
            "secret": str(self.personal / self.secret),
            "home": str(self.home),
            "config": str(self.config()),
            "state": str(self.state()),
            "tools": str(self.base / "tools"),
            "site": str(self.base / "site"),
            "python": os.path.realpath(sys.executable),
            "retain": str(HERE.parents[1] / "vault/files/guard.py"),
            "card": card,
            "temp": str(self.temp),
            "deputy": told,
        }

    def environment(self) -> dict[str, str]:
        """The environment of a human at a desktop, with a home of the scene's own."""
        door = f"{self.temp}/run"
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_STATE_HOME": str(self.home / ".local/state"),
            "XDG_RUNTIME_DIR": door,
            "PYTHONDONTWRITEBYTECODE": "1",
        }


def build(template: Path, base: Path, level: str) -> Scene:
    """A fresh scene at `base`, its vault a copy of `template`."""
    canaries = tuple(f"canary-{name}-{secrets.token_hex(8)}".encode() for name in ("text", "name", "home", "process"))
    text, name, kept, process = canaries
    body = text + b"\n" + b"." * secrets.randbelow(1000)
    sized = f"canary-size-{len(body)}-end".encode()
    temp = Path(tempfile.mkdtemp(prefix="retain-attacks-", dir="/tmp"))
    scene = Scene(base, temp, level, f"{name.decode()}.md", (*canaries, sized))
    base.mkdir(parents=True, exist_ok=True)
    shutil.copytree(template, scene.vault, symlinks=True)
    _write(scene.personal / scene.secret, body)
    _vault(scene)
    _home(scene, kept)
    _others(scene, process)
    return scene


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _vault(scene: Scene) -> None:
    for folder in (*AGENT, "insights/empty", "raw/articles"):
        (scene.vault / folder).mkdir(parents=True, exist_ok=True)
    _write(scene.vault / "raw/articles/source.md", b"# A source\n\nWhat somebody wrote.\n")
    (scene.vault / "raw/articles/link").symlink_to("../../insights")
    _write(scene.insights / "held.md", HELD)
    _write(scene.insights / "café.md".encode().decode(), b"# A note with an accent\n")
    _write(scene.vault / ".claude/settings.json", b"{}\n")
    _write(scene.vault / ".obsidian/app.json", b"{}\n")
    for log in ("learning/reviews.jsonl", "ledger/ids.jsonl", "ledger/decisions.jsonl", "learning/gaps.md"):
        path = scene.vault / log
        if not path.exists():
            _write(path, b"")
    _write(scene.note, b"# Older\n\nWhat I thought before.\n")
    _git(scene, "init", "-q", "--template=")
    _git(scene, "add", "insights/spacing.md", "insights/held.md", "AGENTS.md")
    _git(scene, "commit", "-q", "-m", "first")
    scene.note.write_bytes(NOTE)
    _git(scene, "commit", "-q", "-a", "-m", "second")
    with suppress(OSError):
        os.setxattr(scene.note, "user.kept", b"1")
    code = scene.code / "tests/sandbox"
    code.mkdir(parents=True)
    shutil.copy(HERE / "attacker.py", code)
    shutil.copytree(HERE / "attacks", code / "attacks", ignore=shutil.ignore_patterns("__pycache__"))


def _git(scene: Scene, *arguments: str) -> None:
    """git, where there is one; without it, its attacks are not tried."""
    if shutil.which("git") is None:
        return
    names = {
        f"GIT_{who}_{what}": word
        for who in ("AUTHOR", "COMMITTER")
        for what, word in (("NAME", "a"), ("EMAIL", "a@b.c"))
    }
    env = {"PATH": os.environ.get("PATH", os.defpath), "GIT_CONFIG_GLOBAL": "/dev/null", **names}
    env["GIT_CONFIG_SYSTEM"] = "/dev/null"
    subprocess.run(["git", *arguments], cwd=scene.vault, env=env, check=True, capture_output=True, timeout=600)


def _home(scene: Scene, kept: bytes) -> None:
    _write(scene.home / ".bashrc", b"# mine\n")
    _write(scene.home / ".ssh/authorized_keys", b"")
    _write(scene.home / ".claude/settings.json", b"{}\n")
    _write(scene.config() / "config.toml", b"# " + kept + b"\n" + _personal(scene))
    _write(scene.state() / "copies.sqlite3", b"SQLite format 3\0" + kept)


def _personal(scene: Scene) -> bytes:
    """The user's settings name the personal vault of this vault's id."""
    import tomllib

    data = tomllib.loads((scene.vault / "retain.toml").read_text(encoding="utf-8"))
    return f"[vaults.{data['vault']['id']}]\npersonal = {json.dumps(str(scene.personal))}\n".encode()


def _others(scene: Scene, process: bytes) -> None:
    _write(scene.base / "site/vault/guard.py", b"# a copy of retain's guard\n")
    tool = scene.base / "tools/set-user-id-tee"
    tool.parent.mkdir()
    shutil.copyfile(os.path.realpath(shutil.which("tee") or "/usr/bin/tee"), tool)
    tool.chmod(0o4755)
    (scene.temp / "run").mkdir(mode=0o700)
    _write(scene.temp / "private.txt", process)
    _write(scene.temp / "orders.txt", b"")
