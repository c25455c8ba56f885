"""`retain guard reject`: take back pages that an agent wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli import output
from cli.environment import here, now
from cli.options import json_option, opened, settle_left_over, vault_option
from cli.workspace import render_if_stale
from vault.errors import NotFound

if TYPE_CHECKING:
    from compiler.agents.record import KeptPage
    from vault.vault import Vault


@click.command()
@click.argument("pages", nargs=-1, required=True, metavar="PATH...")
@vault_option
@json_option
def reject(pages: tuple[str, ...], vault_dir: str | None, as_json: bool) -> int:
    """Take back pages with an agent's text.

    The machine's own version is there again at once; a page that was the agent's alone goes. What you edited since
    stays. The decision is in the ledger, so that no later compile or rebuild brings the page back.

    \b
    Example:
      retain guard reject wiki/concepts/spacing-effect.md
    """
    from compiler.agents.record import reject as take_back
    from compiler.build.compile import Options, compile_vault

    vault = opened(vault_dir)
    settle_left_over(vault)
    done: list[KeptPage] = []
    unknown: list[NotFound] = []
    for each in pages:
        try:
            done.append(take_back(vault, _vault_path(vault.root, each), now()))
        except NotFound as error:
            unknown.append(error)
    if not done:
        raise unknown[0]
    built = compile_vault(vault, Options(), now(), lambda event: None)
    render_if_stale(vault)
    if as_json:
        rejected = [{"id": "", "path": page.path, "what": "page"} for page in done]
        output.show_json({"rejected": rejected, "written": built.written})
    else:
        for page in done:
            output.show(f"the page {page.path} {_outcome(vault, page.path)}")
    output.found(built.failures)
    if unknown:
        raise unknown[0]  # only now: what was taken back is built by now
    return output.FINDINGS if built.failures else output.DONE


def _outcome(vault: Vault, path: str) -> str:
    """What became of the page, as it is after the build."""
    from vault.model.frontmatter import human_edited

    data = vault.read_bytes(path)
    if data is None:
        return "is gone"
    edited = human_edited(data.decode("utf-8", "replace"))
    return "stays as it is: you have edited it since" if edited else "is as retain had it"


def _vault_path(root: Path, given: str) -> str:
    """A page's path in the vault, given as that or as a path from here; anything else as it is."""
    whole = (here() / given).absolute()
    is_path = "/" in given or whole.is_file()
    return whole.relative_to(root).as_posix() if is_path and whole.is_relative_to(root) else given
