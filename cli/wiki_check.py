"""The wiki as all commands check it: with a thorough look at review log and ledgers."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from cli.log_watch import watched
from vault.vault import Vault

if TYPE_CHECKING:
    from compiler.lint.wiki import Wiki


def wiki_to_check(vault: Vault, at: datetime) -> Wiki:
    """Return what the rules of `retain lint` are to look at, at the instant `at`."""
    from compiler.lint.wiki import Wiki

    return Wiki(watched(vault, thorough=True), at.astimezone(vault.settings.zone).date(), at=at)
