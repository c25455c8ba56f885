"""Where the app is to open and no vault can be opened: the first run asks what to do, on a terminal alone."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cli import output
from cli.environment import here, now
from cli.options import opened, settle_left_over
from vault.errors import Damaged, Refused, RetainError, SchemaTooNew, VaultNotFound

if TYPE_CHECKING:
    from vault.vault import Vault


def vault_or_first_run(vault_dir: str | None, program: Sequence[str], *, terminal: bool) -> tuple[Vault, str] | int:
    """The vault to open and the screen that the first run asked for ("" if it was not needed); else the exit code.

    Without a terminal, raises what `opened` raises. A vault that is damaged, refused or of a newer schema is said on
    a screen first, and keeps its exit code.
    """
    try:
        return _settled(vault_dir), ""
    except (VaultNotFound, Damaged, SchemaTooNew, Refused) as error:
        if not terminal:
            raise
        return _begun(vault_dir, tuple(program), error)


def _settled(vault_dir: str | None) -> Vault:
    vault = opened(vault_dir)
    settle_left_over(vault)
    return vault


def _begun(vault_dir: str | None, program: tuple[str, ...], error: RetainError) -> tuple[Vault, str] | int:
    from templates import example
    from tui.preferences import of_user
    from tui.screens.first_run import Start, first_run

    def opens() -> Vault:
        return _settled(vault_dir)

    chosen = first_run(
        Start(here(), error, program, dict(os.environ), now, example(), lambda: opens().root, of_user().theme)
    )
    if chosen is not None:
        return _settled(str(chosen.root)), chosen.start
    if isinstance(error, VaultNotFound):
        return output.DONE
    raise error
