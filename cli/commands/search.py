"""The command `search`: find cards and articles by words and memory state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from cli import output
from cli.options import vault_json_options
from cli.workspace import opened_desk
from learning.search.query import parse
from learning.search.records import Record, Records
from learning.search.search import Found, find
from vault.text.formatting import clean_line

SHOWN = 20  # of each, unless --limit says otherwise


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--limit", default=SHOWN, show_default=True, type=click.IntRange(0), help="How many of each.")
@vault_json_options
def search(words: tuple[str, ...], limit: int, vault_dir: str | None, as_json: bool) -> int:
    """Find cards and articles by words and by memory state.

    All terms must match; a minus negates one. Filters: state: is: kind: topic: concept: tag: id: path:
    and numbers: due ivl lapses reps difficulty stability recall added rated, with < > or =.

    \b
    Examples:
      retain search spacing effect
      retain search 'kind:applied is:leech topic:memory'
      retain search 'lapses>3 -is:suspended "forgetting curve"' --json
    """
    query = parse(" ".join(words))
    desk = opened_desk(vault_dir, read_only=True)
    records = Records(desk)
    for _ in records.refresh():
        pass
    found = find(query, records, desk.now, scope="both")
    _show(found, records, limit, as_json)
    return output.DONE


def _show(found: Found, records: Records, limit: int, as_json: bool) -> None:
    """Print the matches, as text or JSON."""
    cards = [_card(record) for n in found.cards[:limit] if (record := records.record(n)) is not None]
    named = [records.article(n) for n in found.articles[:limit]]
    articles = [{"title": title, "path": path, "line": 1} for path, title in named]
    if as_json:
        counts = {"cards": len(found.cards), "articles": len(found.articles)}
        output.show_json({"found": counts, "cards": cards, "articles": articles})
        return
    output.show("\n".join([*_lines(articles, "title"), *_lines(cards, "question")]))
    more = len(found) - len(cards) - len(articles)
    if not found:
        output.say("no matches")
    elif more:
        output.say(f"and {more} more: --limit shows them")


def _card(record: Record) -> dict[str, Any]:
    state = record.state
    return {
        "id": record.card,
        "concept": record.title,
        "kind": record.kind or None,
        "question": record.question or "",
        "state": "suspended" if state.suspended else str(state.phase),
        "due": state.due.isoformat() if state.due else None,
        "path": record.path,
        "line": record.line,
    }


def _lines(found: Sequence[dict[str, Any]], name: str) -> list[str]:
    return [f"{each['path']}:{each['line']}  {clean_line(str(each[name]))}" for each in found]
