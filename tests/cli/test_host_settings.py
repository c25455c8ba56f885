"""`retain guard run --rw`: the folders in which Claude Code and Codex keep their settings are not opened."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cli.main import run as retain
from tests.sandbox.den import LEVELS, need
from vault.sandbox import capabilities as levels
from vault.sandbox.capabilities import Level, SandboxSupport

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no other system here to run it on")
AT_EACH = pytest.mark.parametrize("level", LEVELS, ids=str)


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new vault; the working directory is in it, and no host is told to keep its things elsewhere."""
    need(Level.LANDLOCK)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "vault"
    assert retain(["init", str(root), "--no-git"]) == 0
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def home(own_home: Path) -> Path:
    """A home in which Claude Code and Codex were used, with settings of the human's own."""
    files = {
        ".claude/settings.json": '{"model": "x"}\n',
        ".claude/CLAUDE.md": "be good\n",
        ".claude/hooks/mine.sh": "true\n",
        ".claude/skills/s/SKILL.md": "a skill\n",
        ".claude/projects/p/old.jsonl": "{}\n",
        ".claude/shell-snapshots/live.sh": "# of a shell that runs\n",
        ".claude/history.jsonl": "{}\n",
        ".claude.json": '{"mcpServers": {}}\n',
        ".codex/config.toml": 'model = "x"\n',
        ".codex/AGENTS.md": "be good\n",
        ".codex/sessions/2026/old.jsonl": "{}\n",
    }
    for name, text in files.items():
        (own_home / name).parent.mkdir(parents=True, exist_ok=True)
        (own_home / name).write_text(text)
    return own_home


def at(level: Level, monkeypatch: pytest.MonkeyPatch) -> None:
    need(level)
    monkeypatch.setattr(levels, "sandbox_support", lambda: SandboxSupport(level, ()))


def guard_run(home: Path, script: str, *rw: str) -> int:
    words = [word for each in rw for word in ("--rw", str(home / each))]
    return retain(["guard", "run", *words, "--", "sh", "-c", f"cd {home}; {script}"])


def files(folder: Path) -> dict[str, str]:
    found = (p for p in sorted(folder.rglob("*")) if p.is_file() and ".local" not in p.relative_to(folder).parts)
    return {str(p.relative_to(folder)): p.read_text() for p in found}


_CLOSED = (".claude", ".codex", ".agents", ".claude.json", ".claude/settings.json", ".codex/config.toml")


@pytest.mark.parametrize("named", [*_CLOSED, "linked", "l.json"])
def test_a_host_s_folder_and_its_files_are_refused(
    vault: Path, home: Path, named: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (home / ".agents").mkdir()
    (home / "linked").symlink_to(home / ".claude")
    os.link(home / ".claude.json", home / "l.json")
    before = files(home)
    assert guard_run(home, "true", ".claude/projects", named) == 125
    assert "keeps its settings there" in capfd.readouterr().err
    assert files(home) == before


def test_what_holds_a_host_s_folder_is_refused_though_it_was_not_made_yet(
    vault: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (home / "all").mkdir()
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.setenv(variable, str(home / "all/deep"))
        assert guard_run(home, "true", "all") == 125
        assert "keeps its settings there" in capfd.readouterr().err
        monkeypatch.delenv(variable)
    assert guard_run(home, "true", "all") == 0


@AT_EACH
def test_only_the_folder_for_sessions_that_was_named_can_be_written(
    vault: Path, home: Path, level: Level, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    at(level, monkeypatch)
    before = files(home)
    script = """exec 2>/dev/null
    for name in settings.json CLAUDE.md hooks/mine.sh skills/s/SKILL.md new.md shell-snapshots/live.sh history.jsonl
    do echo evil >>.claude/$name; done
    rm -f .claude/settings.json; mv .claude/hooks .claude/was; mv .claude/skills .claude/projects/skills
    echo evil >.claude/projects/e; cp .claude/projects/e .claude/settings.json
    ln .claude/settings.json .claude/projects/l; echo evil >>.claude.json; echo evil >>.codex/config.toml
    echo s >>.claude/projects/p/old.jsonl; echo s >.claude/projects/s.jsonl"""
    assert guard_run(home, script, ".claude/projects") == 0
    own = {".claude/projects/p/old.jsonl": "{}\ns\n", ".claude/projects/s.jsonl": "s\n", ".claude/projects/e": "evil\n"}
    assert files(home) == before | own
    assert f"Warning: {home}/.claude/projects is writable" in capfd.readouterr().err


def test_an_agent_can_have_a_settings_folder_of_its_own(
    vault: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (home / "caged").mkdir()
    before = files(home)
    words = ["--rw", str(home / "caged"), "--", "env", f"CLAUDE_CONFIG_DIR={home}/caged"]
    script = "echo '{}' >$CLAUDE_CONFIG_DIR/.claude.json"
    assert retain(["guard", "run", *words, "sh", "-c", script]) == 0, capfd.readouterr().err
    assert files(home) == before | {"caged/.claude.json": "{}\n"}


def test_a_second_name_of_a_settings_file_in_what_was_named_is_refused(
    vault: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    os.link(home / ".claude/settings.json", home / ".claude/projects/s")
    assert guard_run(home, "true", ".claude/projects") == 125
    assert "hard link" in capfd.readouterr().err
    (home / ".claude/projects/s").unlink()
    assert guard_run(home, "true", ".claude/projects") == 0
