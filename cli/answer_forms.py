"""The options of `ask` for the form of an answer."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import click

from cli.environment import here
from cli.options import combine
from compiler.forms.plot import no_matplotlib
from compiler.forms.write import FORMS, Wanted, check_out, names_of
from vault.errors import UsageError
from vault.vault import Vault

form_options = combine(
    click.option(
        "--as",
        "form",
        type=click.Choice(FORMS),
        help="Save the answer as a page, a comparison table, Marp slides, a chart of numbers (PNG and SVG),"
        " an Obsidian canvas, or a one-screen HTML page.",
    ),
    click.option(
        "--out", metavar="FILE", help="Where in output/ to save it (with --as; default: named after the question)."
    ),
    click.option("--things", metavar="A,B", help="The articles to compare, by title (with --as table)."),
)


def wanted_form(vault: Vault, form: str | None, out: str | None, things: str | None) -> Wanted | None:
    """Return the form that the options name; None for none.

    Raises: UsageError where they do not fit together, or the form cannot be made, whatever the answer.
    """
    if form is None:
        if out or things:
            raise UsageError(f"{'--out' if out else '--things'} needs --as FORMAT", hint=f"add --as {'|'.join(FORMS)}")
        return None
    if things and form != "table":
        raise UsageError("--things can be used only with --as table", hint="add --as table")
    if form == "chart" and importlib.util.find_spec("matplotlib") is None:
        raise no_matplotlib()
    names = tuple(names_of(things or ""))
    if things is not None and len({name.casefold() for name in names}) < 2:
        raise UsageError("a table compares two or more articles", hint='give --things "FIRST,SECOND"')
    return Wanted(form, check_out(form, _in_vault(vault, out)) if out else "", names)


def _in_vault(vault: Vault, out: str) -> str:
    """Return a file as the vault names it: what begins with output/ is in the vault, the rest in the working folder."""
    if out.startswith("output/"):
        return os.path.normpath(out)
    full = Path(os.path.normpath(here() / Path(out).expanduser()))
    root = vault.root.resolve()
    return full.relative_to(root).as_posix() if full.is_relative_to(root) else out
