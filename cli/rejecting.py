"""`retain guard reject`: the human takes back a page or card of an agent's that passed the gates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli import report
from cli.opening import here, json_option, now, opened, settle_left_over, vault_option
from cli.review_page import render_if_stale
from vault.errors import NotFound

if TYPE_CHECKING:
    from compiler.agent_reject import Rejected
    from vault.store import Vault

_KEY = {"page": "path", "card": "id"}


@click.command()
@click.argument("what", nargs=-1, required=True, metavar="PATH|CARD...")
@vault_option
@json_option
def reject(what: tuple[str, ...], vault_dir: str | None, as_json: bool) -> int:
    """Take back pages or cards that an agent wrote and that passed the gates.

    The machine's own version is there again at once; a page or card that was the agent's alone goes. What you edited
    since stays. The decision is in the ledger, so that no later compile or rebuild brings it back.

    \b
    Examples:
      retain guard reject wiki/concepts/spacing-effect.md
      retain guard reject k7q2m9xd3f
    """
    from compiler.agent_reject import reject as take_back
    from compiler.build import Options, compile_vault

    vault = opened(vault_dir)
    settle_left_over(vault)
    done: list[Rejected] = []
    unknown: list[NotFound] = []
    for each in what:
        try:
            done.append(take_back(vault, _vault_path(vault.root, each), now()))
        except NotFound as error:
            unknown.append(error)
    if not done:
        raise unknown[0]
    built = compile_vault(vault, Options(), now(), lambda event: None)
    render_if_stale(vault)
    if as_json:
        rejected = [{"id": "", "path": "", "what": r.what} | {_KEY[r.what]: r.name} for r in done]
        report.show_json({"rejected": rejected, "written": built.written})
    else:
        for taken in done:
            report.show(f"the {taken.what} {taken.name} {_outcome(vault, taken)}")
    report.found(built.failures)
    if unknown:
        raise unknown[0]  # only now: what was taken back is built by now
    return report.FINDINGS if built.failures else report.DONE


def _outcome(vault: Vault, rejected: Rejected) -> str:
    """What became of it, as it lies there after the build."""
    from vault.note import human_edited

    if rejected.what == "card":
        return "is gone" if rejected.was_new else "is as retain had it"
    data = vault.read_bytes(rejected.name)
    if data is None:
        return "is gone"
    edited = human_edited(data.decode("utf-8", "replace"))
    return "stays as it is: you have edited it since" if edited else "is as retain had it"


def _vault_path(root: Path, given: str) -> str:
    """A page's path in the vault, given as that or as a path from here; anything else as it is."""
    whole = (here() / given).absolute()
    is_path = "/" in given or whole.is_file()  # else it is a card, or a page by its name in the vault
    return whole.relative_to(root).as_posix() if is_path and whole.is_relative_to(root) else given
