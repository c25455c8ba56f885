"""`retain guard`: commands that run agents in a sandbox and audit the user's files."""

from __future__ import annotations

import click

from cli.command_list import LateGroup

# command -> (where it is, its one line of help): listing them must not load them.
COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("cli.guard.run:run", "Run a coding agent that can write only what an agent may write."),
    "status": ("cli.guard.status:status", "Show the sandbox level, the last scan, and unfinished runs."),
    "audit": (
        "cli.guard.audit:audit",
        "List changes in your folders since the last scan; restore or accept them.",
    ),
    "reject": ("cli.guard.reject:reject", "Reject a page that an agent wrote and that was kept."),
    "hook": ("cli.hosts.hook:hook", "Called by the hooks of coding agents and git."),
}


@click.group(cls=LateGroup, table=COMMANDS, unlisted=frozenset({"hook"}))
def guard() -> None:
    """Run agents in a sandbox; audit and restore your files.

    \b
    Examples:
      retain guard run -- claude
      retain guard run --rw ~/.claude/projects --require full -- claude
      retain guard status
      retain guard audit --restore
    """
