"""`retain guard run --rw ~/.claude`: a caged agent writes its sessions, and nothing that its host runs or believes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from cli.main import run as retain
from tests.jail.den import LEVELS, need
from vault.jail import host_settings
from vault.jail import level as levels
from vault.jail.host_return import settle, take_down
from vault.jail.level import Level, Standing
from vault.jail.seatbelt import profile
from vault.jail.shut import Shut
from vault.user import state_folder

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
        ".claude.json": json.dumps({"numStartups": 1, "mcpServers": {"mine": {"command": "mine"}}}),
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
    monkeypatch.setattr(levels, "standing", lambda: Standing(level, ()))


def guard_run(home: Path, script: str, *rw: str) -> int:
    words = [word for each in rw for word in ("--rw", str(home / each))]
    return retain(["guard", "run", *words, "--", "sh", "-c", f"cd {home}; {script}"])


def files(folder: Path) -> dict[str, str]:
    found = (p for p in sorted(folder.rglob("*")) if p.is_file() and ".local" not in p.relative_to(folder).parts)
    return {str(p.relative_to(folder)): p.read_text() for p in found}


# --- the line that is recommended -----------------------------------------------------------------------------------


@AT_EACH
def test_a_host_that_only_keeps_its_sessions_is_told_nothing(
    vault: Path, home: Path, level: Level, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    at(level, monkeypatch)
    data = json.loads((home / ".claude.json").read_text())
    there = {"hasTrustDialogAccepted": True, "mcpServers": {}, "allowedTools": [], "lastCost": 1}
    data |= {"numStartups": 2, "projects": {str(vault): there}}
    script = f"""set -e
    mkdir -p .claude/projects/q && echo s >.claude/projects/q/s.jsonl && echo s >>.claude/projects/p/old.jsonl
    echo h >>.claude/history.jsonl
    cat >.claude.json <<'END'\n{json.dumps(data)}\nEND"""
    assert guard_run(home, script, ".claude", ".claude.json") == 0
    told = capfd.readouterr().err
    assert "what Claude Code runs or believes later stays shut" in told and "also" not in told
    assert (home / ".claude/projects/q/s.jsonl").read_text() == "s\n"
    assert (home / ".claude/projects/p/old.jsonl").read_text() == "{}\ns\n"
    assert json.loads((home / ".claude.json").read_text()) == data
    assert not list((state_folder(vault_id(vault)) / "hosts").glob("*"))


def vault_id(vault: Path) -> str:
    from vault.store import open_vault

    return open_vault(str(vault), None, vault).settings.vault_id


EVIL = """
for name in settings.json CLAUDE.md hooks/mine.sh skills/s/SKILL.md hooks/new.sh skills/new.md shell-snapshots/live.sh
do echo evil >>.claude/$name; done
for name in settings.local.json statusline.sh CLAUDE.local.md; do echo evil >.claude/$name; done
mkdir -p .claude/agents .claude/plugins/p && echo evil >.claude/agents/a.md; echo evil >.claude/plugins/p/x
ln -s projects/evil .claude/commands
rm -f .claude/settings.json; mv .claude/hooks .claude/was; mv .claude/skills .claude/projects/skills
echo evil >.claude/projects/e; mv .claude/projects/e .claude/settings.json; ln .claude/settings.json .claude/projects/l
mv .claude .gone; rm -rf .claude/hooks
echo evil >>.codex/config.toml; echo evil >.codex/deep.config.toml; echo evil >>.codex/AGENTS.md
mkdir .codex/prompts && echo evil >.codex/prompts/p.md; echo evil >.codex/hooks.json; echo evil >.codex/.env
echo s >.claude/projects/p/s.jsonl && echo s >.codex/sessions/2026/s.jsonl && exit 0
"""


@AT_EACH
def test_nothing_that_a_host_runs_or_believes_lasts(
    vault: Path, home: Path, level: Level, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    at(level, monkeypatch)
    before = files(home)
    code = guard_run(home, f"exec 2>/dev/null; {EVIL}", ".claude", ".codex", ".claude.json")
    told = capfd.readouterr().err
    after = files(home)
    new = {name for name in after if name not in before}
    sessions = {".claude/projects/p/s.jsonl", ".codex/sessions/2026/s.jsonl"}
    assert sessions <= new, told
    assert {name: after[name] for name in before} == before
    left = {name for name in new - sessions if ".from-cage-" not in name}
    assert not {name for name in left if not name.startswith(".claude/projects/")}, told
    assert not (home / ".claude/commands").is_symlink()
    if level is Level.LANDLOCK:
        assert code == 0, told
        return
    assert code == 1
    for name in (".claude/settings.local.json", ".claude/agents", ".claude/commands", ".codex/hooks.json"):
        assert f"the agent also made {home / name}" in told


@AT_EACH
def test_servers_put_into_the_file_that_the_host_rewrites_do_not_last(
    vault: Path, home: Path, level: Level, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    at(level, monkeypatch)
    evil = {"e": {"command": "evil"}}
    other = {"mcpServers": evil, "hasTrustDialogAccepted": True, "lastCost": 2}
    data = {"numStartups": 2, "mcpServers": evil, "apiKeyHelper": "evil", "projects": {"/other": other}}
    (home / ".claude.json").chmod(0o600)
    script = f"cat >.claude.json <<'END'\n{json.dumps(data)}\nEND"
    assert guard_run(home, script, ".claude", ".claude.json") == 1
    assert json.loads((home / ".claude.json").read_text()) == {
        "numStartups": 2,
        "mcpServers": {"mine": {"command": "mine"}},
        "projects": {"/other": {"lastCost": 2}},
    }
    assert (home / ".claude.json").stat().st_mode & 0o777 == 0o600
    told = capfd.readouterr().err
    assert "mcpServers, apiKeyHelper, mcpServers of /other, hasTrustDialogAccepted of /other): put back" in told
    kept = next((state_folder(vault_id(vault)) / "hosts").glob("*.left"))
    assert json.loads(kept.read_text()) == data and str(kept) in told


@AT_EACH
def test_a_file_of_the_host_that_makes_no_sense_any_more_is_as_it_was(
    vault: Path, home: Path, level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(level, monkeypatch)
    before = (home / ".claude.json").read_bytes()
    for text in ("{", "[]", '{"mcpServers": ' * 3000, ""):
        assert guard_run(home, f"printf %s '{text}' >.claude.json", ".claude.json") == 1
        assert (home / ".claude.json").read_bytes() == before


def test_the_command_s_own_code_stays_and_a_fresh_host_can_be_started(
    vault: Path, own_home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (own_home / ".claude").mkdir()
    assert guard_run(own_home, "mkdir -p .claude/projects && echo s >.claude/projects/s", ".claude") == 0
    assert guard_run(own_home, "echo evil >.claude/settings.json; exit 7", ".claude") == 7
    assert not (own_home / ".claude/settings.json").exists()
    assert guard_run(own_home, "true", ".claude", ".codex") == 125  # as any folder that is not there
    assert guard_run(own_home, "true") == 0


@AT_EACH
def test_a_host_s_folder_in_what_is_added_cannot_be_exchanged(
    vault: Path, home: Path, level: Level, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    at(level, monkeypatch)
    (home / "all/deep").mkdir(parents=True)
    (home / ".claude").rename(home / "all/deep/claude")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "all/deep/claude"))
    before = files(home / "all")
    script = """mv all/deep all/x; mv all/deep/claude all/deep/y; mkdir -p all/deep/claude
    echo evil >all/deep/claude/settings.json; echo '{"mcpServers": {"e": 1}}' >all/deep/claude/.claude.json
    echo s >all/deep/claude/projects/s; exit 0"""
    code = guard_run(home, f"exec 2>/dev/null; {script}", "all")
    after = files(home / "all")
    assert after.pop("deep/claude/projects/s") == "s\n"
    assert json.loads(after.pop("deep/claude/.claude.json", "{}")) == {}
    assert after == before and code == (0 if level is Level.LANDLOCK else 1)


@pytest.mark.parametrize("level", [Level.FULL, Level.BUBBLEWRAP], ids=str)
def test_a_link_among_the_settings_is_one_again(
    vault: Path, home: Path, level: Level, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    at(level, monkeypatch)
    (home / ".claude/own").mkdir()
    (home / ".claude/settings.json").rename(home / ".claude/own/s.json")
    (home / ".claude/settings.json").symlink_to("own/s.json")
    script = "echo evil >>.claude/own/s.json; rm .claude/settings.json; echo evil >.claude/settings.json"
    assert guard_run(home, script, ".claude") == 1
    assert (home / ".claude/settings.json").readlink() == Path("own/s.json")
    assert (home / ".claude/settings.json").read_text() == '{"model": "x"}\n'
    assert "put back" in capfd.readouterr().err


@AT_EACH
def test_what_is_named_by_itself_is_granted_and_said_aloud(
    vault: Path, home: Path, level: Level, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    at(level, monkeypatch)
    script = "echo own >.claude/settings.json && echo own >.claude/skills/s/SKILL.md && ! echo x >.claude/skills/x"
    named = (".claude", ".claude/settings.json", ".claude/skills/s")
    assert guard_run(home, script, *named) == 0, capfd.readouterr().err
    assert (home / ".claude/settings.json").read_text() == (home / ".claude/skills/s/SKILL.md").read_text() == "own\n"
    told = capfd.readouterr().err
    assert f"YOU OPENED {home}/.claude/settings.json" in told and f"YOU OPENED {home}/.claude/skills/s" in told


def test_a_second_name_of_a_settings_file_is_refused(
    vault: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    os.link(home / ".claude/settings.json", home / ".claude/projects/s")
    os.link(home / ".claude/hooks/mine.sh", home / ".claude/hooks/too.sh")  # both stay shut: no harm
    assert guard_run(home, "true", ".claude") == 125
    assert "hard link" in capfd.readouterr().err
    (home / ".claude/projects/s").unlink()
    assert guard_run(home, "true", ".claude") == 0


def test_what_a_killed_run_left_is_put_right_by_the_next_command(
    vault: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    parted = host_settings.split([home / ".claude", home / ".claude.json"])
    from datetime import UTC, datetime

    take_down(vault_id(vault), "x", parted, Level.FULL, [vault])
    (home / ".claude/settings.local.json").write_text("{}")
    (home / ".claude.json").write_text('{"hooks": {"SessionStart": []}, "env": {"A": "b"}}')
    lines = settle(vault_id(vault), "x", datetime(2026, 1, 2, tzinfo=UTC))
    assert len(lines) == 2 and (home / ".claude/settings.local.json.from-cage-20260102T000000").exists()
    assert json.loads((home / ".claude.json").read_text())["mcpServers"] == {"mine": {"command": "mine"}}
    assert settle(vault_id(vault), "x", datetime(2026, 1, 3, tzinfo=UTC)) == []


def test_where_a_new_folder_of_a_host_became_a_link_the_link_goes_and_nothing_behind_it(
    vault: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/settings.json").write_text("mine\n")
    (home / "all").mkdir()
    monkeypatch.setenv("CODEX_HOME", str(home / "all/codex"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "all/claude"))
    assert guard_run(home, f"ln -s {tmp_path}/mine all/claude", "all") == 1
    assert files(tmp_path / "mine") == {"settings.json": "mine\n"}
    assert [p.name.startswith("claude.from-cage-") for p in (home / "all").iterdir()] == [True]


def test_the_profile_of_macos_denies_what_is_there_and_what_may_come() -> None:
    shut = Shut(
        ("/u/.claude/hooks",), ("/u/.claude/shell-snapshots",), ("/u/.claude",), (("/u/.claude", "settings*.json"),)
    )
    lines = profile(["/u/.claude", "/u/.claude/hooks/mine"], [], network=True, shut=shut).splitlines()
    granted = lines.index('(allow file-write* (subpath "/u/.claude"))')
    denied = [
        '(deny file-write* (subpath "/u/.claude/hooks"))',
        '(deny file-write* (subpath "/u/.claude/shell-snapshots"))',
        '(deny file-write* (regex #"^/[uU]/.[cC][lL][aA][uU][dD][eE]/[sS][eE][tT][tT][iI][nN][gG][sS][^/]*.'
        '[jJ][sS][oO][nN](/|$)"))',
        '(deny file-write-unlink (literal "/u/.claude"))',
    ]
    again = len(lines) - 1 - lines[::-1].index('(allow file-write* (subpath "/u/.claude/hooks/mine"))')
    assert all(granted < lines.index(each) < again for each in denied)
