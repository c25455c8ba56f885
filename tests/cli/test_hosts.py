"""`retain init --host`: what is written for Claude Code and Codex, to the letter, and what is left to the human."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from cli import main, output
from cli.agent.commands import agent
from cli.command_list import COMMANDS
from cli.hosts.host_config import CLAUDE, CODEX, SKILLS, HostFile, claude_settings, hook_command, missing, program
from vault.errors import Refused
from vault.files.write_scopes import AGENT_FOLDERS

GOLDEN = """{
  "permissions": {
    "deny": [
      "Edit(/@/insights/**)",
      "Edit(/@/raw/**)",
      "Edit(/@/ledger/**)",
      "Edit(/@/learning/anki/**)",
      "Edit(/@/.git/**)",
      "Edit(/@/.retain/cache/**)",
      "Edit(/@/.retain/locks/**)",
      "Edit(/@/.claude/**)",
      "Edit(/@/.codex/**)",
      "Edit(/@/.agents/**)",
      "Edit(/@/.obsidian/**)",
      "Edit(/@/.vscode/**)",
      "Edit(/@/retain.toml)",
      "Edit(/@/AGENTS.md)",
      "Edit(/@/CLAUDE.md)",
      "Edit(/@/.mcp.json)",
      "Edit(/@/.gitignore)",
      "Edit(/@/.gitattributes)",
      "Edit(/@/learning/_review.md)",
      "Edit(/@/learning/gaps.md)",
      "Edit(/@/learning/reading-list.md)",
      "Edit(/@/learning/reviews*.jsonl)",
      "Edit(/@/.retain/*.sqlite3*)"
    ],
    "blockReadsOutsideWorkingDirectories": true,
    "blockWritesOutsideWorkingDirectories": true
  },
  "sandbox": {
    "enabled": true,
    "failIfUnavailable": true,
    "allowUnsandboxedCommands": false,
    "filesystem": {
      "denyWrite": [
        "/@/insights",
        "/@/raw",
        "/@/ledger",
        "/@/.git",
        "/@/.claude",
        "/@/.codex",
        "/@/.agents",
        "/@/retain.toml",
        "/@/AGENTS.md",
        "/@/.gitignore",
        "/@/.gitattributes",
        "/@/learning/reviews.jsonl"
      ],
      "allowRead": @PLACES@
    }
  },
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": @COMMAND@,
            "timeout": 60,
            "onFailure": "block"
          }
        ]
      }
    ]
  }
}
"""


def init(*arguments: str) -> int:
    return main.run(["init", *arguments])


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A new vault in a repository of its own, with the files for both hosts."""
    assert init(str(tmp_path / "v"), "--host", "claude-code", "--host", "codex") == 0
    return tmp_path / "v"


def settings(vault: Path) -> dict[str, Any]:
    found = json.loads((vault / CLAUDE).read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def test_the_settings_of_claude_code_are_these(vault: Path) -> None:
    text = (vault / CLAUDE).read_text(encoding="utf-8")
    places = settings(vault)["sandbox"]["filesystem"]["allowRead"]
    shown = json.dumps(places, indent=2).replace("\n", "\n" + " " * 6)
    command = json.dumps(hook_command("claude-code", vault))
    assert text == GOLDEN.replace("@PLACES@", shown).replace("@COMMAND@", command).replace("@", str(vault))
    assert f"/{sys.prefix}" in places


def test_the_settings_of_codex_are_these_and_name_no_place_of_this_machine(vault: Path) -> None:
    text = (vault / CODEX).read_text(encoding="utf-8")
    found = tomllib.loads(text)
    assert str(vault) not in text and sys.prefix not in text
    assert found["default_permissions"] == "retain-vault" and "sandbox_mode" not in found
    profile = found["permissions"]["retain-vault"]
    assert profile["extends"] == ":read-only"
    roots = profile["filesystem"][":workspace_roots"]
    assert roots.pop(".") == "read"
    assert set(roots.values()) == {"write"} and set(roots) == set(AGENT_FOLDERS)


def test_what_names_this_machine_is_not_committed(vault: Path) -> None:
    listed = subprocess.run(
        ["git", "status", "--short", "-uall"], cwd=vault, capture_output=True, text=True, check=True
    )
    assert CLAUDE not in listed.stdout and all(path in listed.stdout for path in (CODEX, *SKILLS.values()))


def test_both_hosts_get_the_skill_in_the_form_that_they_read(vault: Path) -> None:
    texts = {(vault / path).read_text(encoding="utf-8") for path in SKILLS.values()}
    (text,) = texts
    head, _, body = text.removeprefix("---\n").partition("\n---\n")
    fields = dict(line.split(": ", 1) for line in head.split("\n"))
    assert fields["name"] == "retain" and 40 < len(fields["description"]) <= 1_024
    assert len(text.splitlines()) <= 150 and str(vault) not in text
    for line in re.findall(r"`retain (agent [^`]+|verify|trace ID|compile[^`]*)`", body):
        name = line.split()[1] if line.startswith("agent") else line.split()[0]
        assert name in {*agent.commands, *COMMANDS}, line
        options = {option for each in agent.commands.values() for param in each.params for option in param.opts}
        assert {word for word in line.split() if word.startswith("--")} <= options | {"--engine"}, line


def test_the_personal_vault_is_named_in_no_file_of_the_vault(tmp_path: Path) -> None:
    own, vault = tmp_path / "diary-of-mine", tmp_path / "v"
    assert init(str(vault), "--personal", str(own), "--host", "claude-code", "--host", "codex") == 0
    for path in vault.rglob("*"):
        assert not path.is_file() or b"diary-of-mine" not in path.read_bytes(), path


def test_the_command_of_the_hook_blocks_and_lets_through_under_a_real_shell(vault: Path) -> None:
    command = settings(vault)["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    for path, code in (("wiki/a.md", 0), ("insights/a.md", 2)):
        call = json.dumps({"tool_name": "Write", "tool_input": {"file_path": path}, "cwd": str(vault)})
        done = subprocess.run(["sh", "-c", command], input=call, cwd="/", capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr


def test_a_program_that_is_gone_breaks_or_is_killed_blocks_under_a_real_shell(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """127, 126, 1, 70 and a signal would each let the call through: the shell makes 2 of them."""
    for number, body in enumerate([None, "not a script", "exit 1", "exit 70", "kill -9 $$", "exit 2", "exit 0"]):
        script = tmp_path / f"bin {number}" / "retain"
        script.parent.mkdir()
        if body is not None:
            script.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
            script.chmod(0o644 if body == "not a script" else 0o755)
        monkeypatch.setattr("cli.hosts.host_config.program", lambda script=script: [str(script)])
        command = hook_command("claude-code", vault)
        for line in (["sh", "-c", command], shlex.split(command)):  # with a shell of the host's own, or without
            done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            assert done.returncode == (0 if body == "exit 0" else 2), body


def test_a_second_time_nothing_is_written_and_what_has_changed_is_brought_up_to_date(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: (vault / path).stat().st_mtime_ns for path in (CLAUDE, CODEX, *SKILLS.values())}
    assert init(str(vault), "--host", "codex", "--host", "claude-code", "--host", "codex") == 0
    assert {path: (vault / path).stat().st_mtime_ns for path in before} == before
    (vault / ".obsidian").mkdir()
    capsys.readouterr()
    assert init(str(vault), "--host", "claude-code") == 0
    assert f"{CLAUDE} updated" in capsys.readouterr().err
    assert f"/{vault}/.obsidian" in settings(vault)["sandbox"]["filesystem"]["denyWrite"]


@pytest.mark.parametrize(
    ("path", "text", "lacks"),
    [
        (CLAUDE, '{"permissions": {"deny": ["Bash(curl *)"]}, "model": "x"}', "sandbox.failIfUnavailable: true"),
        (CLAUDE, "{", "not JSON"),
        (CLAUDE, "[]", "permissions.deny: "),
        (CODEX, 'sandbox_mode = "read-only"\n', 'default_permissions = "retain-vault"'),
        (SKILLS["codex"], "---\nname: mine\n---\n", "name: retain"),
    ],
)
def test_a_file_of_the_humans_stays_and_what_it_lacks_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], path: str, text: str, lacks: str
) -> None:
    vault = tmp_path / "v"
    assert init(str(vault)) == 0
    (vault / path).parent.mkdir(parents=True, exist_ok=True)
    (vault / path).write_text(text, encoding="utf-8")
    capsys.readouterr()
    assert init(str(vault), "--host", "claude-code", "--host", "codex") == output.FINDINGS
    out, err = capsys.readouterr()
    assert (vault / path).read_text(encoding="utf-8") == text
    assert f"{path} is your own file and was not changed" in err and lacks in err and path in out
    assert {CLAUDE, CODEX} - {path} <= {
        each.relative_to(vault).as_posix() for each in vault.rglob("*") if each.is_file()
    }, "the others are written all the same"


def test_a_human_who_takes_our_file_over_keeps_it(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = settings(vault) | {"model": "mine"}
    (vault / CLAUDE).write_text(json.dumps(mine), encoding="utf-8")
    capsys.readouterr()
    assert init(str(vault), "--host", "claude-code") == 0
    assert "your own file and needs no changes" in capsys.readouterr().err
    assert settings(vault)["model"] == "mine"
    mine["hooks"] = {}
    (vault / CLAUDE).write_text(json.dumps(mine), encoding="utf-8")
    assert init(str(vault), "--host", "claude-code") == output.FINDINGS
    assert "hooks.PreToolUse" in capsys.readouterr().err


def test_what_is_missing_is_told_by_name() -> None:
    file = HostFile("x.json", '{"a": {"b": [1, 2], "c": true}}')
    assert missing(file, b'{"a": {"b": [2], "c": true}}') == ["a.b: 1"]
    assert missing(file, b'{"a": 1}') == ["a.b: 1", "a.b: 2", "a.c: true"]
    assert missing(file, b'{"z": 0, "a": {"c": true, "b": [2, 3, 1]}}') == []


def test_print_shows_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert init(str(tmp_path / "v"), "--host", "claude-code", "--host", "codex", "--print") == 0
    out = capsys.readouterr().out
    assert "failIfUnavailable" in out and "default_permissions" in out and f"/{tmp_path}/v/insights/**" in out
    assert not (tmp_path / "v").exists()
    assert init(str(tmp_path / "v"), "--print") == output.USAGE


def test_a_link_in_the_place_of_the_settings_is_not_followed(tmp_path: Path) -> None:
    vault = tmp_path / "v"
    assert init(str(vault)) == 0
    (tmp_path / "elsewhere").mkdir()
    (vault / ".claude").symlink_to(tmp_path / "elsewhere")
    assert init(str(vault), "--host", "claude-code") == output.REFUSED
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_folder_that_the_rules_cannot_name_is_refused(tmp_path: Path) -> None:
    for name in ("a*b", "a[b]", "a(b)", "a{b}"):
        with pytest.raises(Refused):
            claude_settings(tmp_path / name)
    assert claude_settings(tmp_path / "ein Ordner, mit Umlauten äöü")


@pytest.mark.parametrize("hook", ["git-pre-commit", "git-commit-msg"])
def test_the_git_hooks_of_an_earlier_version_let_every_commit_pass(tmp_path: Path, hook: str) -> None:
    assert main.run(["guard", "hook", hook, "--vault", str(tmp_path / "gone"), "--", ".git/COMMIT_EDITMSG"]) == 0


def test_the_program_is_named_by_an_absolute_path_that_runs() -> None:
    words = program()
    assert Path(words[0]).is_absolute()
    done = subprocess.run([*words, "--version"], capture_output=True, text=True, check=True, cwd="/")
    assert done.stdout.startswith("retain, version")
