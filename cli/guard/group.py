"""`retain guard`: the group of commands that shut an agent in and watch over what is the human's."""

from __future__ import annotations

import click

from cli.command_list import LateGroup

# command -> (where it is, its one line of help): listing them must not load them.
COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("cli.guard.run:run", "Run a coding agent that can write only what an agent may write."),
    "status": ("cli.guard.status:status", "What is guarded here, how well, and since when."),
    "audit": (
        "cli.guard.audit:audit",
        "What changed in the human's folders since the last look; restore or accept it.",
    ),
    "reject": ("cli.guard.reject:reject", "Take back a page or card that an agent wrote and that was kept."),
    "hook": ("cli.hosts.hook:hook", "What the hooks of coding agents and git call; not for people."),
}


@click.group(cls=LateGroup, table=COMMANDS, unlisted=frozenset({"hook"}))
def guard() -> None:
    """Shut agents in, and see what changed behind your back.

    \b
    Examples:
      retain guard run -- claude
      retain guard run --rw ~/.claude/projects --require full -- claude
      retain guard status
      retain guard audit --restore
    """
