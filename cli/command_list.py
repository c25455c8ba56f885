"""The tables of commands with their modules and one-line help, and the click group that loads a command on demand."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem

from cli.terminal import bold

# command -> ("module:name", help in one line): listing the commands does not load them
Table = Mapping[str, tuple[str, str]]
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("cli.maintenance.init:init", "Create a vault, or add one to an existing notes folder."),
    "add": ("cli.build.add:add", "Copy files, folders or a web page into raw/."),
    "compile": ("cli.build.compile:compile_", "Update wiki, cards and gaps from raw/."),
    "review": ("cli.review.review:review", "Start today's reviews."),
    "due": ("cli.review.review:due", "List due and new cards."),
    "catch-up": ("cli.review.plans:catch_up", "Clear a backlog by doing the same number of reviews each day."),
    "pause": ("cli.review.plans:pause", "Pause reviews until a date, for example for a vacation."),
    "rate": ("cli.review.review:rate", "Record one review of a card."),
    "undo": ("cli.review.review:undo", "Undo the last action on a card."),
    "card": (
        "cli.review.card:card",
        "Add, show, edit, delete, list, suggest, suspend, resume, bury, flag, tag, reschedule, postpone or advance"
        " cards.",
    ),
    "optimize": ("cli.review.optimize:optimize", "Optimize FSRS parameters using your review history."),
    "simulate": (
        "cli.review.simulate:simulate",
        "Forecast the workload by retention or number of new cards.",
    ),
    "quiz": ("cli.review.quiz:quiz", "Let a language model quiz you on a topic."),
    "gaps": ("cli.wiki.gaps:gaps", "List, plan, resolve, ignore or reopen gaps."),
    "inbox": ("cli.wiki.inbox:inbox", "Decide on proposed changes: list, show, accept, keep, reject, undo."),
    "concept": ("cli.wiki.concept:concept", "Rename, merge, split, alias, list or show concepts."),
    "stats": ("cli.review.stats:stats", "Show retention, the forecast and weak concepts."),
    "ask": ("cli.wiki.ask:ask", "Answer a question from the wiki, with citations."),
    "search": ("cli.wiki.search:search", "Search passages, articles, claims and cards."),
    "daily": ("cli.build.daily:daily", "Compile, check what changed, and show what is due today."),
    "status": ("cli.maintenance.status:status", "Show what the vault contains."),
    "verify": ("cli.wiki.verify:verify", "Check every quote, citation and card against the sources."),
    "lint": ("cli.wiki.lint:lint", "Check the wiki, its cards and links for problems."),
    "trace": ("cli.wiki.trace:trace", "Trace a card, sentence or claim back to its source."),
    "log": ("cli.maintenance.log:log", "List compiles, questions and checks; rejected claims; coverage."),
    "insight": ("cli.wiki.insight:insight", "Write your own note on a concept; agents cannot change it."),
    "guard": ("cli.command_list:guard", "Run agents in a sandbox; audit and restore your files."),
    "agent": (
        "cli.agent.commands:agent",
        "Compile a vault as a coding agent: next, show, submit, ask, status, release.",
    ),
    "mcp": ("cli.agent.mcp_server:mcp", "Serve the vault to a coding agent over MCP, on stdin and stdout."),
    "engine": ("cli.maintenance.engine:engine", "Show, try and choose the model used for compiling."),
    "doctor": ("cli.maintenance.doctor:doctor", "Show what protects this vault, and check it for problems."),
    "upgrade": ("cli.maintenance.upgrade:upgrade", "Update AGENTS.md and the schema version of an older vault."),
    "export": ("cli.exchange.export:export", "Export cards to other programs, or training data for a model."),
    "import": ("cli.exchange.import_:import_", "Import cards and reviews from Anki and other programs."),
    "sync": ("cli.exchange.sync:sync", "Sync cards and reviews with a running Anki."),
    "rebuild": ("cli.build.compile:rebuild", "Rebuild all generated files from scratch."),
    "completion": ("cli.shell:completion", "Print the completion script for bash, zsh or fish."),
}


class _HelpFormatter(click.HelpFormatter):
    """Help with headings in bold type on a terminal."""

    def write_heading(self, heading: str) -> None:
        super().write_heading(bold(heading, sys.stdout))

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, args, bold("Usage:", sys.stdout) + " " if prefix is None else prefix)


class _HelpContext(click.Context):
    formatter_class = _HelpFormatter


def _with_help(command: click.Command) -> click.Command:
    """Return the command, whose help and that of its own commands has headings in bold type."""
    command.context_class = _HelpContext
    if isinstance(command, click.Group):
        for below in command.commands.values():
            _with_help(below)
    return command


class LateGroup(click.Group):
    """A click group that lists its commands without loading them; `unlisted` ones can be called but are not listed."""

    context_class = _HelpContext

    def __init__(self, *args: Any, table: Table, unlisted: frozenset[str] = frozenset(), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table, self.unlisted = table, unlisted

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in self.table if name not in self.unlisted]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command and return the command; None for an unknown name."""
        if cmd_name not in self.table:
            return None
        module, _, name = self.table[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), name)
        assert isinstance(command, click.Command)
        return _with_help(command)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands and options that begin with `incomplete`, without loading a command."""
        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        found = [CompletionItem(name, help=self.table[name][1]) for name in names]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that `args` begin with. Raises NoSuchCommand, which names similar ones."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            names = self.list_commands(ctx)
            raise click.exceptions.NoSuchCommand(error.command_name, possibilities=names, ctx=ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.table[name][1]) for name in self.list_commands(ctx)])


# command -> (where it is, its one line of help): listing them must not load them.
GUARD_COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("cli.guard.run:run", "Run a coding agent that can write only to the agents' folders."),
    "status": ("cli.guard.status:status", "Show the sandbox level, the last scan, and unfinished runs."),
    "audit": (
        "cli.guard.audit:audit",
        "List changes in your folders since the last scan; restore or accept them.",
    ),
    "reject": ("cli.guard.reject:reject", "Reject a page written by an agent."),
    "hook": ("cli.hosts.hook:hook", "Check a tool call; called by hooks of coding agents and git."),
}


@click.group(cls=LateGroup, table=GUARD_COMMANDS, unlisted=frozenset({"hook"}))
def guard() -> None:
    """Run agents in a sandbox; audit and restore your files.

    \b
    Examples:
      retain guard run -- claude
      retain guard run --rw ~/.claude/projects --require full -- claude
      retain guard status
      retain guard audit --restore
    """
