"""The command `search`: find passages of sources, articles, claims and cards by words, and cards by memory state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cli import output
from cli.environment import now
from cli.options import opened, vault_json_options
from cli.workspace import opened_desk
from learning.search.query import Word, parse
from vault.text.formatting import clean_line
from vault.vault import Vault

if TYPE_CHECKING:
    from compiler.search.search import Hit, Results
    from learning.search.records import Record

SHOWN = 5  # of each kind, unless --limit says otherwise
HEADS = {
    "passage": "Passages of your sources",
    "article": "Articles",
    "topic": "Topics",
    "answer": "Answers to your questions",
    "claim": "Claims",
    "summary": "Sources",
    "card": "Cards",
}


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--limit", default=SHOWN, show_default=True, type=click.IntRange(0), help="Maximum results of each kind.")
@click.option(
    "--kind", "kinds", multiple=True, type=click.Choice([*HEADS]), help="Only results of this kind (repeatable)."
)
@vault_json_options
def search(words: tuple[str, ...], limit: int, kinds: tuple[str, ...], vault_dir: str | None, as_json: bool) -> int:
    """Search passages, articles, claims and cards by words, and cards by memory state.

    The best matches come first. A word that is not found anywhere is ignored and reported; "quoted words" match as a
    phrase, and a minus excludes a word. With a filter, only cards are searched, and all terms must match: state: is:
    kind: topic: concept: tag: id: path: and numbers: due ivl lapses reps difficulty stability recall added rated, with
    < > or =.

    Passages are also ranked by meaning if an embedding model is set in your user settings (config.toml): [search] model
    = "FOLDER OR NAME". This needs the extra `semantic`: `pip install '.[semantic]'` in the checkout. See docs/model.md.

    \b
    Examples:
      retain search how does spacing help memory
      retain search '"forgetting curve" -Ebbinghaus' --kind passage
      retain search 'kind:applied is:leech topic:memory'
      retain search 'lapses>3 -is:suspended' --json
    """
    query = " ".join(words)
    parsed = parse(query)
    if all(isinstance(term, Word) for term in parsed.terms):
        return _search_texts(opened(vault_dir), query, kinds or tuple(HEADS), limit, as_json)
    return _search_cards(query, limit, vault_dir, as_json)


def _search_texts(vault: Vault, query: str, kinds: tuple[str, ...], limit: int, as_json: bool) -> int:
    """Search by words, and print what is found."""
    from compiler.build.search import with_search_index
    from compiler.search.likeness import chosen_likeness
    from compiler.search.search import results_as_json
    from compiler.search.search import search as found_in

    with output.Progress(None) as narrator:
        likeness = chosen_likeness(narrator)
        results = with_search_index(
            vault, lambda index: found_in(index, query, kinds, limit, likeness), now(), narrator
        )
    if as_json:
        output.show_json(results_as_json(results))
    else:
        _show(results)
    return output.DONE


def _show(results: Results) -> None:
    """Print the hits, grouped by kind, the query's words in bold type."""
    from compiler.search.search import snippet

    if results.unknown:
        output.say(f"not found anywhere: {', '.join(map(clean_line, results.unknown))}")
    if not results:
        output.say("no matches")
    for kind, hits in results.hits.items():
        if not hits:
            continue
        output.show(HEADS[kind])
        for hit in hits:
            text, marks = snippet(hit, results.words)
            output.show(f"  {_place(hit)}")
            output.show_marked(f"    {text}", [(start + 4, end + 4) for start, end in marks])


def _place(hit: Hit) -> str:
    """Return where a hit is, in one line."""
    entry = hit.entry
    line = f":{entry.line}" if entry.line else ""
    about = entry.place if entry.kind in ("passage", "claim") else entry.title
    return f"{clean_line(entry.path)}{line}  {clean_line(about)}".rstrip()


# --- cards by filters ------------------------------------------------------------------------------------------------


def _search_cards(query: str, limit: int, vault_dir: str | None, as_json: bool) -> int:
    """Search cards by memory state and words, and print what is found."""
    from learning.search.records import Records
    from learning.search.search import find

    desk = opened_desk(vault_dir, read_only=True)
    records = Records(desk)
    for _ in records.refresh():
        pass
    found = find(parse(query), records, desk.now, scope="both")
    cards = [_card(record) for n in found.cards[:limit] if (record := records.record(n)) is not None]
    named = [records.article(n) for n in found.articles[:limit]]
    articles = [{"title": title, "path": path, "line": 1} for path, title in named]
    if as_json:
        counts = {"cards": len(found.cards), "articles": len(found.articles)}
        output.show_json({"found": counts, "cards": cards, "articles": articles})
        return output.DONE
    lines = [f"{each['path']}:{each['line']}  {clean_line(str(each['title']))}" for each in articles]
    lines += [f"{each['path']}:{each['line']}  {clean_line(str(each['question']))}" for each in cards]
    output.show("\n".join(lines))
    more = len(found) - len(cards) - len(articles)
    if not found:
        output.say("no matches")
    elif more:
        output.say(f"and {more} more (--limit shows them)")
    return output.DONE


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
