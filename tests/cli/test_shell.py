"""The shell: completion, suggestions for what was mistyped, errors as JSON, rows broken at the terminal's width."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cli.main import retain_group
from cli.terminal import wrapped
from tests.commands import SCRIPT, Run, on_terminal


def contexts(command: click.Command, parent: click.Context | None, name: str) -> Iterator[click.Context]:
    """Yield the context of the command and of all that are below it, hidden ones too."""
    context = click.Context(command, parent=parent, info_name=name, **command.context_settings)
    yield context
    if isinstance(command, click.Group):
        for below in dict.fromkeys([*command.list_commands(context), *command.commands]):
            inner = command.get_command(context, below)
            assert inner is not None
            yield from contexts(inner, context, below)


@pytest.mark.parametrize("context", contexts(retain_group(), None, "retain"), ids=lambda c: c.command_path)
def test_the_help_of_every_command_has_an_example_of_it(context: click.Context) -> None:
    examples = click.unstyle(context.get_help()).partition("Example")[2]
    assert "retain" in examples
    if not isinstance(context.command, click.Group) and not context.command.hidden:
        assert context.command_path.rpartition(" ")[2] in examples


def completed(line: str, cwd: Path, shell: str = "bash") -> list[str]:
    """Return what is proposed for the last word of a command line."""
    words = line.split(" ")
    env = {**os.environ, "_RETAIN_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run([SCRIPT], cwd=cwd, env=env, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_commands_options_and_ids_of_the_vault_are_completed(run: Run, compiled: Path, tmp_path: Path) -> None:
    assert completed("retain com", compiled) == ["plain,compile", "plain,completion"]
    assert completed("retain guard st", compiled) == ["plain,status"]
    assert "plain,--dry-run" in completed("retain compile --d", compiled)
    assert completed("retain rate k7q2m9xd3f g", compiled) == ["plain,good"]
    cards = {card["id"] for card in run("due", "--json", cwd=compiled).json()["new"]}
    assert {line.removeprefix("plain,") for line in completed("retain card show ", compiled)} == cards
    (compiled / "wiki/concepts/x$(touch trap).md").write_text("# X\n")
    stems = {p.stem for p in (compiled / "wiki/concepts").iterdir() if "$" not in p.name}
    assert {line.removeprefix("plain,") for line in completed("retain concept rename ", compiled)} == stems
    assert completed("retain add ./", compiled) == ["file,./"]
    assert completed("retain card show ", tmp_path) == [""]  # no vault, and no message into the line being typed


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_printed_script_is_one_that_the_shell_can_read(run: Run, shell: str, tmp_path: Path) -> None:
    done = run("completion", shell)
    assert done.code == 0 and "_RETAIN_COMPLETE" in done.stdout
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "script"
    script.write_text(done.stdout)
    subprocess.run([program, "-n", str(script)], check=True)


def test_bash_completes_with_the_printed_script(run: Run, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(run("completion", "bash").stdout)
    ask = (
        f"source {script}; COMP_WORDS=(retain sta); COMP_CWORD=1; "
        '_retain_completion retain; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    env = {**os.environ, "PATH": f"{Path(SCRIPT).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", ask], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["status", "stats"] or done.stdout.split() == ["stats", "status"]


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [(("comple",), "compile"), (("guard", "stat"), "status"), (("concept", "renam"), "rename")],
)
def test_a_mistyped_command_is_answered_with_the_one_meant(run: Run, arguments: tuple[str, ...], meant: str) -> None:
    done = run(*arguments)
    assert done.code == 2 and "Did you mean" in done.stderr and f"'{meant}'" in done.stderr
    assert "Did you mean '--json'?" in run("compile", "--jsn").stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("due", "--json"), 2), (("rate", "--json"), 2), (("comple", "--json"), 2), (("compile", "--jsn", "--json"), 2)],
)
def test_with_json_an_error_is_one_json_object_on_stderr(run: Run, arguments: tuple[str, ...], code: int) -> None:
    done = run(*arguments)
    error = json.loads(done.stderr)
    assert done.code == code and done.stdout == "" and error["event"] == "error"
    assert error["what"] and error["hint"]


def test_a_file_named_json_after_two_dashes_asks_for_no_json(run: Run, compiled: Path) -> None:
    done = run("add", "--", "--json", cwd=compiled)
    assert done.code == 2 and done.stderr.startswith("retain: --json: no such file or folder")


def test_rows_fit_the_terminal_and_are_bold_or_red_there_alone(run: Run, compiled: Path, tmp_path: Path) -> None:
    escape = re.compile(r"\x1b\[[0-9;]*[mK]")
    for command in (["due"], ["-h"]):
        shown = on_terminal(*command, cwd=compiled, columns=60, TERM="xterm", NO_COLOR="")
        assert max(len(line) for line in escape.sub("", shown).splitlines()) <= 60, command
    assert "\x1b[1mUsage:" in on_terminal("-h", cwd=tmp_path, TERM="xterm", NO_COLOR="")
    assert "\x1b[1;31mretain:" in on_terminal("due", cwd=tmp_path, TERM="xterm", NO_COLOR="")
    for plain in (
        on_terminal("due", cwd=tmp_path, TERM="xterm", NO_COLOR="1"),
        on_terminal("-h", cwd=tmp_path, TERM="xterm", NO_COLOR="1"),
        run("due").stderr,
        run("-h").stdout,
    ):
        assert "\x1b" not in plain


def test_a_row_that_continues_a_line_is_indented_and_no_word_is_broken() -> None:
    line = "  k7q2m9xd3f  " + "word " * 20
    rows = wrapped(line, 40).split("\n")
    assert len(rows) > 1 and all(len(row) <= 40 for row in rows) and all(row.startswith("    ") for row in rows[1:])
    assert " ".join(rows).split() == line.split()
    assert wrapped("x" * 90, 40) == "x" * 90
    assert wrapped("| a | " + "b" * 60 + " | c |", 40).count("\n") == 0
    assert wrapped("漢字 " * 20, 40).split("\n")[0] == "漢字 漢字 漢字 漢字 漢字 漢字 漢字 漢字"
