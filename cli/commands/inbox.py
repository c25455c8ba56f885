"""What waits for the human's word: inbox list, show, accept, keep, reject, undo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from cli import output
from cli.environment import now
from cli.options import json_option, opened, settle_left_over, vault_option

if TYPE_CHECKING:
    from vault.inbox.events import Choice
    from vault.inbox.items import Item, View

_TOLD = {
    "accept": "accepted: the machine's words stand there now",
    "keep": "kept as it is, until there is something else to propose",
    "reject": "kept as it is; the reason is in the ledger, where the next prompt finds it",
}


_all_option = click.option("--all", "everything", is_flag=True, help="All pages and cards that wait.")
_kind_option = click.option(
    "--kind", default="", metavar="KIND", help="With --all: only these (article, deck, names ...)."
)


@click.group(invoke_without_command=True)
@vault_option
@json_option
@click.pass_context
def inbox(context: click.Context, vault_dir: str | None, as_json: bool) -> None:
    """What waits for your word: the machine's versions of pages and cards that you edited, names in doubt.

    What you edited is never overwritten: look at what the machine would write instead, then accept it, keep yours, or
    reject it and say why. Every decision can be taken back.

    \b
    Examples:
      retain inbox
      retain inbox show 7k2m9xd3
      retain inbox accept 7k2m9xd3
      retain inbox accept 7k2m9xd3 --card k7q2m9xd3f     one card of a deck
      retain inbox reject 7k2m9xd3 --because "the second sentence is too long"
      retain inbox keep --all --kind deck
      retain inbox undo
    """
    if context.invoked_subcommand is None:
        context.invoke(list_, vault_dir=vault_dir, as_json=as_json)


@inbox.command("list")
@vault_option
@json_option
def list_(vault_dir: str | None, as_json: bool) -> None:
    """All that waits, with the ids that the other commands take."""
    from vault.inbox.listing import items

    vault = opened(vault_dir)
    found = items(vault)
    if as_json:
        output.show_json({"inbox": [_as_json(item) for item in found]})
        return
    for item in found:
        where = f" ({item.path})" if item.path else ""
        output.show(f"{item.id}  {item.kind:8}{item.about}{where}")
        output.show(f"          {_how_much(item)}, since {item.since[:10]}" + (f"; {item.note}" if item.note else ""))
    if not found:
        output.show("nothing waits for you")


@inbox.command()
@click.argument("names", nargs=-1, required=True, metavar="ID|PATH...")
@vault_option
@json_option
def show(names: tuple[str, ...], vault_dir: str | None, as_json: bool) -> None:
    """What differs, sentence by sentence: - is yours, + is the machine's. A deck is shown card by card.

    \b
    Examples:
      retain inbox show 7k2m
      retain inbox show wiki/concepts/spacing-effect.md --json
    """
    from vault.inbox.listing import find

    vault = opened(vault_dir)
    found = [find(vault, name) for name in names]
    if as_json:
        output.show_json({"inbox": [_as_json(i) | {"views": [_view_json(v) for v in i.views]} for i in found]})
        return
    for item in found:
        output.show(f"{item.id}  {item.kind}  {item.about}  {item.path}".rstrip())
        if item.note:
            output.show(f"  note: {item.note}")
        for view in item.views:
            _show_view(view)


def _show_view(view: View) -> None:
    from vault.text.diff import LEFT_OUT, compared

    if view.part:
        output.show(f"  card {view.part}")
    found = compared(view.mine, view.offered)
    for row in found.rows:
        words = f"({row.words} the same)" if row.mark == LEFT_OUT else row.words
        output.show(f"    {' ' if row.mark == LEFT_OUT else row.mark} {words}")
    if not found.rows:
        output.show("      the same words")
    if not found.whole:
        output.show("      and more: too long to be compared to its end")


@inbox.command()
@click.argument("names", nargs=-1, metavar="[ID]...")
@_all_option
@_kind_option
@click.option("--card", default="", metavar="CARD", help="Only this card of a deck.")
@vault_option
@json_option
def accept(
    names: tuple[str, ...], everything: bool, kind: str, card: str, vault_dir: str | None, as_json: bool
) -> None:
    """Put the machine's version in place of yours. Yours is kept for `retain inbox undo`.

    Of a deck, only the cards that you had reworded are replaced. Properties that you added to a page stay.

    \b
    Examples:
      retain inbox accept 7k2m9xd3
      retain inbox accept 7k2m9xd3 --card k7q2m9xd3f
    """
    _decide("accept", names, everything, kind, card, "", vault_dir, as_json)


@inbox.command()
@click.argument("names", nargs=-1, metavar="[ID]...")
@_all_option
@_kind_option
@click.option("--card", default="", metavar="CARD", help="Only this card of a deck.")
@vault_option
@json_option
def keep(names: tuple[str, ...], everything: bool, kind: str, card: str, vault_dir: str | None, as_json: bool) -> None:
    """Yours stays, and this version is not proposed again.

    \b
    Examples:
      retain inbox keep 7k2m9xd3
      retain inbox keep --all
    """
    _decide("keep", names, everything, kind, card, "", vault_dir, as_json)


@inbox.command()
@click.argument("names", nargs=-1, metavar="[ID]...")
@click.option("--because", required=True, metavar="WORDS", help="What is wrong with it; the next prompt hears it.")
@_all_option
@_kind_option
@click.option("--card", default="", metavar="CARD", help="Only this card of a deck.")
@vault_option
@json_option
def reject(
    names: tuple[str, ...], because: str, everything: bool, kind: str, card: str, vault_dir: str | None, as_json: bool
) -> None:
    """As keep, and say why: whoever writes about this concept next is told.

    \b
    Examples:
      retain inbox reject 7k2m9xd3 --because "too many details of the experiment"
    """
    _decide("reject", names, everything, kind, card, because, vault_dir, as_json)


def _decide(
    word: str,
    names: Sequence[str],
    everything: bool,
    kind: str,
    card: str,
    reason: str,
    vault_dir: str | None,
    as_json: bool,
) -> None:
    from vault.errors import UsageError
    from vault.inbox.decisions import decide
    from vault.inbox.events import Choice
    from vault.inbox.listing import SOURCES
    from vault.text.sanitize import clean_line

    if bool(names) == everything or (kind and not everything):
        raise UsageError("say which: the ids of what is meant, or --all", hint="`retain inbox` lists them")
    kinds = [each for source in SOURCES for each in source.kinds]
    if kind and kind not in kinds:
        raise UsageError(f"no such kind: {clean_line(kind)[:40]}", hint=f"there is: {', '.join(kinds)}")
    vault = opened(vault_dir)
    settle_left_over(vault)
    choice = Choice(word)
    done = decide(vault, None if everything else names, choice, now(), reason=reason, part=card, kind=kind)
    if as_json:
        output.show_json({"decided": [_as_json(item) | {"decision": word} for item in done]})
        return
    for item in done:
        output.show(f"{item.id}  {item.about}: {_outcome(item, choice)}")
    if not done:
        output.show("nothing waits for you")


def _outcome(item: Item, choice: Choice) -> str:
    from vault.inbox.listing import source_of

    return source_of(item.kind).messages.get(choice, _TOLD[choice])


@inbox.command()
@vault_option
@json_option
def undo(vault_dir: str | None, as_json: bool) -> None:
    """Take the last decision of the inbox back; called again, the one before.

    What was accepted gives your text back byte for byte, unless the file was changed since: then nothing happens.
    """
    from vault.inbox.decisions import undo as take_back

    vault = opened(vault_dir)
    settle_left_over(vault)
    done = take_back(vault, now())
    if as_json:
        told = {"id": "", "path": done.path, "line": 0, "reason": done.decision, "restored": list(done.restored)}
        output.show_json({"undone": [told]})
        return
    output.show(f"{done.decision} taken back: {done.path or done.about}")
    for path in done.restored:
        output.show(f"  as it was: {path}")


def _how_much(item: Item) -> str:
    from vault.text.diff import compared

    found = [compared(view.mine, view.offered) for view in item.views]
    cards = f"{output.number(len(item.parts), 'card')}, " if item.parts else ""
    return f"{cards}{sum(f.removed for f in found)} of yours against {sum(f.added for f in found)}"


def _as_json(item: Item) -> dict[str, Any]:
    from vault.text.diff import compared

    found = [compared(view.mine, view.offered) for view in item.views]
    return {
        "id": item.id,
        "path": item.path,
        "line": 0,
        "reason": item.note,
        "kind": item.kind,
        "about": item.about,
        "since": item.since,
        "removed": sum(f.removed for f in found),
        "added": sum(f.added for f in found),
        "cards": list(item.parts),
    }


def _view_json(view: View) -> dict[str, Any]:
    from vault.text.diff import LEFT_OUT, compared

    found = compared(view.mine, view.offered)
    rows = [{"mark": row.mark, "words": row.words} for row in found.rows if row.mark != LEFT_OUT]
    return {"card": view.part, "title": view.title, "mine": view.mine, "offered": view.offered, "rows": rows}
