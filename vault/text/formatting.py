"""Small pieces of text for messages and tables: a number with its noun, and text cut to a width."""

from __future__ import annotations

from vault.text.sanitize import clean_line

_TITLE = 100  # characters; longer ones are sentences


def plural(count: int, noun: str, many: str = "", *, zero: str = "0") -> str:
    """Return `count` with its noun: `1 card`, `2 cards`, `1,024 cards`, `2 copies`.

    `many` is the plural where it is not `noun` and an s. `zero` replaces the number 0, as in `no cards`.
    """
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {many or noun + 's'}" if count else f"{zero} {many or noun + 's'}"


def truncate(text: str, width: int) -> str:
    """Return `text` if it has at most `width` characters, else its beginning and "…", together at most `width`.

    White space before the "…" is dropped.
    """
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def short_line(text: str, width: int) -> str:
    """Return `text` from a document, model or deck as one clean line of at most `width` characters."""
    return truncate(clean_line(text), width)


def short_title(title: str) -> str:
    """Return the title of an article, card or topic as one clean line of at most 100 characters."""
    return short_line(title, _TITLE)
