"""The command group `inbox`: list, show, accept, keep, reject, undo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from cli import output
from cli.environment import now
from cli.options import combine, opened, opened_to_write, vault_json_options
from cli.shell import inbox_ids
from vault.errors import UsageError
from vault.inbox.decisions import decide
from vault.inbox.decisions import undo as undo_last
from vault.inbox.events import Choice
from vault.inbox.items import Item, View
from vault.inbox.listing import SOURCES, find, items, source_of
from vault.log.ledger import day_of
from vault.text.diff import LEFT_OUT, compare_texts
from vault.text.formatting import clean_line, plural

_OUTCOMES = {
    "accept": "accepted: file replaced with the generated version",
    "keep": "kept: your version is unchanged",
    "reject": "rejected: your version is unchanged; the next prompt quotes the reason",
}


_decision_options = combine(
    click.argument("names", nargs=-1, metavar="[ID]...", shell_complete=inbox_ids),
    click.option("--all", "everything", is_flag=True, help="All items in the inbox."),
    click.option(
        "--kind", default="", metavar="KIND", help="With --all, only items of this kind (article, deck, ...)."
    ),
    click.option("--card", default="", metavar="CARD", help="Only this card of a deck."),
    vault_json_options,
)


@click.group(invoke_without_command=True)
@vault_json_options
@click.pass_context
def inbox(context: click.Context, vault_dir: str | None, as_json: bool) -> None:
    """Decide on proposed changes: list, show, accept, keep, reject, undo.

    Pages and cards that you edited are never overwritten: compare the generated version, then accept it, keep yours, or
    reject it with a reason. The inbox also lists doubtful concept names. Every decision can be undone.

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
@vault_json_options
def list_(vault_dir: str | None, as_json: bool) -> None:
    """List the items to decide on, with their ids.

    \b
    Examples:
      retain inbox list
      retain inbox list --json
    """
    vault = opened(vault_dir)
    found = items(vault)
    if as_json:
        output.show_json({"inbox": [_as_json(item) for item in found]})
        return
    for item in found:
        where = f" ({item.path})" if item.path else ""
        output.show(f"{item.id}  {item.kind:8}{item.about}{where}")
        day = day_of(item.since, vault.settings.zone)
        output.show(f"          {_extent(item)}, since {day}" + (f"; {item.note}" if item.note else ""))
    if not found:
        output.show("the inbox is empty")


@inbox.command()
@click.argument("names", nargs=-1, required=True, metavar="ID|PATH...", shell_complete=inbox_ids)
@vault_json_options
def show(names: tuple[str, ...], vault_dir: str | None, as_json: bool) -> None:
    """Show the differences by sentence: - is your version, + the generated one. Decks are shown card by card.

    \b
    Examples:
      retain inbox show 7k2m
      retain inbox show wiki/concepts/spacing-effect.md --json
    """
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
    """Print the differences between your version and the proposed one."""
    if view.part:
        output.show(f"  card {view.part}")
    found = compare_texts(view.mine, view.offered)
    for row in found.rows:
        words = f"({row.words} unchanged)" if row.mark == LEFT_OUT else row.words
        output.show(f"    {' ' if row.mark == LEFT_OUT else row.mark} {words}")
    if not found.rows:
        output.show("      no differences")
    if not found.whole:
        output.show("      more differences not shown; too long to compare in full")


@inbox.command()
@_decision_options
def accept(**options: Any) -> None:
    """Replace your version with the generated one; `retain inbox undo` restores yours.

    In a deck, only cards that you edited are replaced. Properties that you added to a page are kept.

    \b
    Examples:
      retain inbox accept 7k2m9xd3
      retain inbox accept 7k2m9xd3 --card k7q2m9xd3f
    """
    _decide(Choice.ACCEPT, **options)


@inbox.command()
@_decision_options
def keep(**options: Any) -> None:
    """Keep your version; this proposal is not made again.

    \b
    Examples:
      retain inbox keep 7k2m9xd3
      retain inbox keep --all
    """
    _decide(Choice.KEEP, **options)


@inbox.command()
@click.option(
    "--because",
    required=True,
    metavar="WORDS",
    help="What is wrong with the generated version; quoted in the next prompt.",
)
@_decision_options
def reject(because: str, **options: Any) -> None:
    """Keep your version and give a reason; the next prompt about this concept quotes it.

    \b
    Examples:
      retain inbox reject 7k2m9xd3 --because "too many details of the experiment"
    """
    _decide(Choice.REJECT, reason=because, **options)


def _decide(
    choice: Choice,
    *,
    names: Sequence[str],
    everything: bool,
    kind: str,
    card: str,
    vault_dir: str | None,
    as_json: bool,
    reason: str = "",
) -> None:
    """Decide about items of the inbox and print the result."""
    if bool(names) == everything or (kind and not everything):
        raise UsageError("give the ids, or --all", hint="`retain inbox` lists them")
    kinds = [each for source in SOURCES for each in source.kinds]
    if kind and kind not in kinds:
        raise UsageError(f"no such kind: {clean_line(kind)[:40]}", hint=f"kinds: {', '.join(kinds)}")
    vault = opened_to_write(vault_dir)
    done = decide(vault, None if everything else names, choice, now(), reason=reason, part=card, kind=kind)
    if as_json:
        output.show_json({"decided": [_as_json(item) | {"decision": choice.value} for item in done]})
        return
    for item in done:
        output.show(f"{item.id}  {item.about}: {_outcome(item, choice)}")
    if not done:
        output.show("the inbox is empty")


def _outcome(item: Item, choice: Choice) -> str:
    return source_of(item.kind).messages.get(choice, _OUTCOMES[choice])


@inbox.command()
@vault_json_options
def undo(vault_dir: str | None, as_json: bool) -> None:
    """Undo the last inbox decision. Repeat it to go further back.

    Your text is restored byte for byte. If the file has changed since, nothing happens.

    \b
    Examples:
      retain inbox undo
    """
    vault = opened_to_write(vault_dir)
    done = undo_last(vault, now())
    if as_json:
        row = {"id": "", "path": done.path, "line": 0, "reason": done.decision, "restored": list(done.restored)}
        output.show_json({"undone": [row]})
        return
    output.show(f"undone: {done.decision} of {done.path or done.about}")
    for path in done.restored:
        output.show(f"  restored {path}")


def _extent(item: Item) -> str:
    found = [compare_texts(view.mine, view.offered) for view in item.views]
    cards = f"{plural(len(item.parts), 'card')}, " if item.parts else ""
    return f"{cards}{sum(f.removed for f in found)} of your sentences replaced by {sum(f.added for f in found)}"


def _as_json(item: Item) -> dict[str, Any]:
    found = [compare_texts(view.mine, view.offered) for view in item.views]
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
    found = compare_texts(view.mine, view.offered)
    rows = [{"mark": row.mark, "words": row.words} for row in found.rows if row.mark != LEFT_OUT]
    return {"card": view.part, "title": view.title, "mine": view.mine, "offered": view.offered, "rows": rows}
