"""Write `docs/commands.md` from the help texts of the commands.

usage: python docs/commands.py   (from a checkout, with retain installed; `make docs` runs it)
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from cli.main import retain_group

PAGE = Path(__file__).resolve().with_name("commands.md")
WIDTH = 100
HEAD = """# Commands

Written by `make docs` from the help texts; `retain COMMAND -h` prints the same.

Exit codes: 0 done, 1 done with findings, 2 wrong usage, 3 refused or damaged, 4 model unavailable, 125 no sandbox of
the required level (`guard run`), 70 a defect of retain (with a trace in a file), 130 interrupted. Data goes to
stdout, everything else to stderr.
"""


def render() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for context in _contexts(retain_group(), None, "retain"):
        level = "##" if context.parent is None or context.parent.parent is None else "###"
        parts.append(f"{level} {context.command_path}\n\n```text\n{click.unstyle(context.get_help())}\n```\n")
    return "\n".join(parts)


def _contexts(command: click.Command, parent: click.Context | None, name: str) -> Iterator[click.Context]:
    """Yield the context of the command and of all that are listed below it."""
    settings = {**command.context_settings, "max_content_width": WIDTH}
    context = click.Context(command, parent=parent, info_name=name, terminal_width=WIDTH, **settings)
    yield context
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            inner = command.get_command(context, below)
            assert inner is not None
            yield from _contexts(inner, context, below)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
