"""What all commands share: opening the vault they were pointed at, and the options that every listing has."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from cli import report
from vault.store import Vault, open_vault

F = TypeVar("F", bound=Callable[..., Any])


def vault_option(command: F) -> F:
    """`--vault DIR` on the command itself, as well as before it."""
    return click.option("--vault", "vault_dir", metavar="DIR", help="The vault to work on.")(command)


def json_option(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")(command)


def opened(vault_dir: str | None) -> Vault:
    """The vault that `--vault`, RETAIN_VAULT or the working directory names; what is odd about it is said."""
    context = click.get_current_context(silent=True)
    given = vault_dir or (context.find_root().obj if context is not None else None)
    vault = open_vault(given, os.environ.get("RETAIN_VAULT"), here())
    report.found(vault.notices)
    return vault


def here() -> Path:
    """The working directory; the root of the file system where it is gone, as no vault is found from there."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path("/")


def now() -> datetime:
    """The clock, read at the face alone."""
    return datetime.now(UTC)
