"""The commands `card postpone` and `card advance`."""

from __future__ import annotations

from collections.abc import Callable

import click

from cli import output
from cli.options import combine, dry_run_option, vault_json_options
from cli.review.review import event_json
from cli.workspace import opened_desk, render_saved
from learning.cards import actions
from learning.cards.shift import Shift, advanced, postponed, shifting
from learning.cards.workspace import Desk
from vault.model.markdown import unescape
from vault.text.formatting import plural, short_line

_SHOWN = 20
_options = combine(
    click.option("--count", required=True, type=click.IntRange(1, 9999), metavar="N", help="The number of cards."),
    dry_run_option,
    vault_json_options,
)


@click.command()
@_options
def postpone(count: int, dry_run: bool, vault_dir: str | None, as_json: bool) -> int:
    """Postpone the due cards for which a delay matters least. Each card is postponed by up to a tenth of its interval
    (at least a day).

    --dry-run shows which; one `retain undo` undoes all of it.

    \b
    Examples:
      retain card postpone --count 20 --dry-run
      retain card postpone --count 20
    """
    return _shift(opened_desk(vault_dir, read_only=dry_run), count, postponed, dry_run=dry_run, as_json=as_json)


@click.command()
@_options
def advance(count: int, dry_run: bool, vault_dir: str | None, as_json: bool) -> int:
    """Bring forward cards that are due later, so that they are due today. Those with the lowest chance of recall come
    first.

    --dry-run shows which; one `retain undo` undoes all of it.

    \b
    Examples:
      retain card advance --count 20 --dry-run
      retain card advance --count 20
    """
    return _shift(opened_desk(vault_dir, read_only=dry_run), count, advanced, dry_run=dry_run, as_json=as_json)


def _shift(desk: Desk, count: int, choose: Callable[[Desk, int], list[Shift]], *, dry_run: bool, as_json: bool) -> int:
    """Give the cards that `choose` returns another day, unless it is a dry run; print them."""
    shifts = choose(desk, count)
    action = shifting(desk, [] if dry_run else shifts, via="cli")
    if action.events:
        render_saved(actions.do(desk, action).vault)
    if as_json:
        cards, events = [_json(each) for each in shifts], [event_json(event) for event in action.events]
        output.show_json({"cards": cards, "events": events})
        return output.DONE
    output.show_first([_line(desk, each) for each in shifts], _SHOWN)
    done = "postponed" if choose is postponed else "advanced to today"
    words = f"{plural(len(shifts), 'card')} {f'would be {done}' if dry_run else done}"
    output.show(f"{words}{'' if dry_run else '; `retain undo` undoes this'}" if shifts else "no matching cards")
    return output.DONE


def _line(desk: Desk, each: Shift) -> str:
    """Return a card, its day before and after, and the chance of recall on both."""
    before, after = each.chances
    question = short_line(unescape(desk.cards[each.card].card.question), 50)
    return f"{each.card}  {each.due} -> {each.to}  recall {before:.0%} -> {after:.0%}  {question}"


def _json(each: Shift) -> dict[str, object]:
    """Return a shift as a JSON object."""
    days = {"id": each.card, "due": each.due.isoformat(), "to": each.to.isoformat()}
    return days | {"recall": [round(chance, 4) for chance in each.chances]}
