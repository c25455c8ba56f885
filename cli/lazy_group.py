"""A group that knows its commands by name, lists them without loading any, and loads the one that is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

# command -> (where it is, as "module:name"; its one line of help)
Table = Mapping[str, tuple[str, str]]


class LateGroup(click.Group):
    """`unlisted` commands can be called and are not listed."""

    def __init__(self, *args: Any, table: Table, unlisted: frozenset[str] = frozenset(), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table, self.unlisted = table, unlisted

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in self.table if name not in self.unlisted]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.table:
            return None
        module, _, name = self.table[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.table[name][1]) for name in self.list_commands(ctx)])
