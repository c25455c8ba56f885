"""The words of the screen for searches of sources, wiki and cards."""

from __future__ import annotations

from collections.abc import Sequence

from vault.text.formatting import clean_line, plural

TITLE = "Search"
HINT = "words from sources, wiki and cards; a filter such as is:leech lists cards"
ASK = "Type what to search for and press enter."
NOTHING = "Nothing found."
READING = "searching …"
STEPS = {"indexing": "indexing", "embed": "preparing search by meaning"}  # by the events that report them
HEADS = {
    "passage": "Source passages",
    "article": "Articles",
    "topic": "Topics",
    "claim": "Claims",
    "summary": "Sources",
    "card": "Cards",
}


def step(event: str, done: int, total: int) -> str:
    """Return `indexing 3 of 20`."""
    return f"{STEPS[event]} {done:,} of {total:,}"


def found(count: int, unknown: Sequence[str]) -> str:
    """Return `12 results`, and the words that are nowhere."""
    missing = f" · not found anywhere: {', '.join(map(clean_line, unknown))}" if unknown else ""
    return plural(count, "result") + missing
