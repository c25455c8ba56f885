"""What an agent may ask retain for: only to read. Beside each command that is let through stands one that is not."""

from __future__ import annotations

import importlib
from pathlib import Path

import click
import pytest

from cli import main, output
from cli.agent_commands import AGENT_COMMANDS, OPTIONS, VALUED, may_run
from cli.command_list import COMMANDS

MAY = [
    "agent help",
    "agent help formats",
    "verify",
    "verify --json --progress none",
    "trace k7q2m9xd3f",
    "trace -- --a-word",
    "status --json",
    "--vault x status",
    "--vault=x status",
    "log",
    "log --rejected --json",
    "due --tag applied --json",
    "card show k7q2m9xd3f",
    "card show --vault x k7q2m9xd3f",
    "gaps",
    "gaps list --kind learner --all --limit 3",
    "gaps plan",
    "gaps plan --limit 30",
    "inbox",
    "inbox list --json",
    "inbox show 7k2m9xd3",
    "guard status",
    "agent next",
    "agent next --count 20 --type check --as claude-2 --json --wait 5 --minutes 3",
    "agent show read-3f9a1c2b4d5e",
    "agent submit --order read-3f9a1c2b4d5e -",
    "agent submit --as=claude-2 .retain/work/orders/read-3f9a1c2b4d5e.answer.txt",
    "agent ask why",
    "agent status --vault x",
    "mcp",
    "guard hook claude-code",
    "doctor --json",
    "--version",
    "--help",
    "rate -h",
    "card flag --help",
]
MAY_NOT = [
    "upgrade",
    "upgrade --dry-run",
    "",
    "agent",
    "agent rate k7q2m9xd3f",
    "agent next --file-back",
    "--as x rate k7q2m9xd3f good",
    "--order x rate k7q2m9xd3f good",
    "verify -",
    "ask why",
    "lint --fix",
    "lint --rule orphan --fix",
    "ask why --engine claude",
    "mcp --unknown",
    "compile",
    "rebuild",
    "init there",
    "add x.md",
    "review",
    "rate k7q2m9xd3f good",
    "undo",
    "card",
    "card suspend k7q2m9xd3f",
    "card resume k7q2m9xd3f",
    "card flag k7q2m9xd3f",
    "--vault x card bury k7q2m9xd3f",
    "gaps plan 4m8x1v6tqc",
    "gaps plan --limit 3 4m8x1v6tqc",
    "gaps plan -- 4m8x1v6tqc",
    "gaps ignore 4m8x1v6tqc",
    "gaps resolve 4m8x1v6tqc",
    "log restore",
    "log restore --list",
    "--vault x log accept",
    "inbox accept 7k2m9xd3",
    "inbox keep --all",
    "inbox reject 7k2m9xd3 --because no",
    "inbox --json undo",
    "inbox list --because no",
    "insight",
    "export anki deck.apkg",
    "guard run -- bash",
    "guard audit --restore",
    "guard reject wiki/x.md",
    "doctor --accept",
    "doctor --fix=all",
    "rate k7q2m9xd3f good --at --help",
    "rate --version",
    "rate -- --help",
    "--vault --help rate k7q2m9xd3f good",
    "--vault status",
    "-V status",
]


@pytest.mark.parametrize("line", MAY)
def test_an_agent_may(line: str) -> None:
    assert may_run(line.split())


@pytest.mark.parametrize("line", MAY_NOT)
def test_an_agent_may_not(line: str) -> None:
    assert not may_run(line.split())


def _parameters(words: list[str]) -> list[click.Parameter]:
    module, _, name = COMMANDS[words[0]][0].partition(":")
    command = getattr(importlib.import_module(module), name)
    for word in words[1:]:
        command = command.get_command(click.Context(command), word)
    assert isinstance(command, click.Command)
    return command.params


@pytest.mark.parametrize("name", AGENT_COMMANDS)
def test_a_command_of_the_list_exists_and_its_options_are_known_to_it(name: str) -> None:
    for parameter in _parameters(name.split()):
        for option in parameter.opts if isinstance(parameter, click.Option) else ():
            flag = isinstance(parameter, click.Option) and parameter.is_flag
            assert option not in (VALUED if flag else OPTIONS), f"{name} {option}: it takes a word, or none"


def test_in_a_cage_the_humans_commands_are_refused_and_the_others_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(["init", str(tmp_path / "v"), "--no-git"]) == 0
    monkeypatch.chdir(tmp_path / "v")
    assert main.run(["gaps", "ignore", "4m8x1v6tqc"]) == output.USAGE  # no such gap: it was let through
    monkeypatch.setenv("RETAIN_CAGED", "1")
    capsys.readouterr()
    assert main.run(["gaps", "ignore", "4m8x1v6tqc"]) == output.REFUSED
    said = capsys.readouterr().err
    assert "`retain gaps`" in said and "sandbox" in said and "ask the user to run it outside" in said
    assert main.run(["status", "--json"]) == 0
    assert main.run(["rate", "--help"]) == 0
