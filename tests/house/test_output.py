"""All that is printed passes cli/report.py, which makes it clean: nothing else in the command line may print."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("cli", "compiler", "learning", "templates", "tui", "vault")
OUTLET = "cli/report.py"
# Where else something goes to a terminal or a pipe, and why nothing of a document's is in it uncleaned.
LET_THROUGH = {
    ("cli/main.py", "print"): "the version, which is ours",
    ("cli/main.py", "sys.stdout"): "set up and closed, not written to",
    ("cli/main.py", "sys.stderr"): "set up and closed, not written to",
    ("cli/app.py", "sys.stdout"): "asked whether it is a terminal",
    ("cli/plain.py", "sys.stdout"): "the lines of a review: cleaned in _say, the one place that writes them",
    ("tui/jobs.py", "sys.stderr"): "a sentence of ours, always the same, after the app has left the terminal",
    ("compiler/engines/claude_line.py", "logging"): "what the library would tell of prompts is kept quiet",
    ("cli/quizzing.py", "sys.stdout"): "asked whether it is a terminal",
    ("compiler/readers/pictures.py", "warnings"): "turned into errors",
    ("compiler/readers/xlsx.py", "warnings"): "switched off",
}
_PRINTERS = {"print", "pprint", "breakpoint"}
_CLICKS = {"echo", "secho", "echo_via_pager", "prompt", "confirm", "progressbar", "pause", "edit", "launch", "clear"}
_STREAMS = {"stdout", "stderr", "__stdout__", "__stderr__"}
_MODULES = {"logging", "warnings", "getpass", "pprint", "readline", "curses"}


def outlets(path: str, tree: ast.Module) -> Iterator[tuple[str, int]]:
    """What could print in a module, and its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in _PRINTERS:
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            whole = f"{node.value.id}.{node.attr}"
            if (
                (node.value.id == "sys" and node.attr in _STREAMS)
                or (node.value.id == "click" and node.attr in _CLICKS)
                or whole in ("traceback.print_exc", "traceback.print_exception", "traceback.print_stack")
            ):
                yield whole, node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module in ("sys", "click", *_MODULES):
            names = {alias.name for alias in node.names} & (_STREAMS | _CLICKS | _PRINTERS)
            yield from ((f"{node.module}.{name}", node.lineno) for name in sorted(names))
        elif isinstance(node, ast.Import):
            yield from ((a.name, node.lineno) for a in node.names if a.name.split(".")[0] in _MODULES)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            bare_show = node.func.attr == "show" and not node.args
            if bare_show and isinstance(node.func.value, ast.Name) and node.func.value.id == "error":
                yield "error.show", node.lineno


def _found() -> dict[tuple[str, str], int]:
    paths = [p for package in PACKAGES for p in sorted((ROOT / package).rglob("*.py"))]
    named = ((p.relative_to(ROOT).as_posix(), ast.parse(p.read_text(encoding="utf-8"))) for p in paths)
    return {(path, what): line for path, tree in named if path != OUTLET for what, line in outlets(path, tree)}


def test_nothing_is_printed_but_by_the_one_that_cleans() -> None:
    found = _found()
    strange = [f"{path}:{line}: {what}" for (path, what), line in found.items() if (path, what) not in LET_THROUGH]
    assert strange == [], "print through cli/report.py, or say in LET_THROUGH why not"


def test_what_is_let_through_is_there() -> None:
    assert LET_THROUGH.keys() - _found().keys() == set()


@pytest.mark.parametrize(
    "mutant",
    [
        "print(title)",
        "click.echo(title)",
        "click.secho(title, fg='red')",
        "sys.stdout.write(title)",
        "out = sys.stderr",
        "from sys import stdout",
        "from click import echo",
        "click.confirm(f'delete {path}?')",
        "error.show()",
        "import logging",
        "traceback.print_exc()",
        "show = print",
    ],
)
def test_the_check_catches_a_mutant(mutant: str) -> None:
    assert list(outlets("cli/mutant.py", ast.parse(mutant)))


def test_the_check_lets_the_outlet_itself_be_used() -> None:
    fine = "report.say(title)\nreport.show(title)\nreport.usage(error)\nerror.show(words)\nscreen.show()"
    assert not list(outlets("cli/fine.py", ast.parse(fine)))
