"""`retain guard reject`: reject pages that an agent wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli import output
from cli.environment import here, now
from cli.options import finish_interrupted_runs, json_option, opened, vault_option
from cli.workspace import render_if_stale
from compiler.agents.record import reject as reject_page
from compiler.build.compile import Options, compile_vault
from vault.errors import NotFound
from vault.model.frontmatter import human_edited

if TYPE_CHECKING:
    from compiler.agents.record import KeptPage
    from vault.vault import Vault


@click.command()
@click.argument("pages", nargs=-1, required=True, metavar="PATH...")
@vault_option
@json_option
def reject(pages: tuple[str, ...], vault_dir: str | None, as_json: bool) -> int:
    """Reject pages that contain an agent's text.

    The generated version is restored at once; if there is none, the page is deleted. Your later edits are kept. The
    decision is recorded, so later compiles and rebuilds do not bring the page back.

    \b
    Example:
      retain guard reject wiki/concepts/spacing-effect.md
    """
    vault = opened(vault_dir)
    finish_interrupted_runs(vault)
    done: list[KeptPage] = []
    unknown: list[NotFound] = []
    for each in pages:
        try:
            done.append(reject_page(vault, _vault_path(vault.root, each), now()))
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
        raise unknown[0]  # after the build of the others
    return output.FINDINGS if built.failures else output.DONE


def _outcome(vault: Vault, path: str) -> str:
    """Return what became of the page after the build."""
    data = vault.read_bytes(path)
    if data is None:
        return "was deleted"
    edited = human_edited(data.decode("utf-8", "replace"))
    return "is unchanged because you have edited it since" if edited else "was replaced with the generated version"


def _vault_path(root: Path, given: str) -> str:
    """Return the vault path of a page, given as that or as a path from the working directory."""
    whole = (here() / given).absolute()
    is_path = "/" in given or whole.is_file()
    return whole.relative_to(root).as_posix() if is_path and whole.is_relative_to(root) else given
