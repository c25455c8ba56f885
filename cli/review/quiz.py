"""The command `quiz`: answer a model's questions about a topic."""

from __future__ import annotations

import os
import sys

import click

from cli.environment import now
from cli.options import finish_interrupted_runs, opened, vault_option
from cli.review.launcher import START_AGAIN
from compiler.engines.grading.tutor import configured_tutor
from learning.review.quiz_material import readings
from vault.errors import UsageError


@click.command()
@click.argument("topic", required=False, default="", metavar="[TOPIC]")
@vault_option
def quiz(topic: str, vault_dir: str | None) -> int:
    """Let a language model quiz you on a topic or concept, and see what your answers left out. No card is rated.

    Needs a language model in your user settings (config.toml): [engine] use = "claude" and [engine.models] quiz =
    "NAME". The topic's articles and your answers are sent to it.

    \b
    Examples:
      retain quiz "spacing effect"
      retain quiz
    """
    vault = opened(vault_dir)
    configured_tutor(os.environ)  # without one, it is said here, before the terminal is taken over
    if topic:
        readings(vault, topic)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("a quiz needs a terminal", hint="`retain review --plain` reviews in plain text")
    finish_interrupted_runs(vault)
    from tui.app import run_app
    from tui.context import Context
    from tui.preferences import of_user

    return run_app(Context(vault, now, "", START_AGAIN, preferences=of_user()), "quiz", topic)
