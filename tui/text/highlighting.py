"""Syntax highlighting of code in the theme's colours."""

from __future__ import annotations

from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from vault.model.exhibit import LANGUAGES, MAX_CODE

STYLES = {
    "Comment": "$quiet",
    "Keyword": "$text-primary",
    "Literal.Number": "$text-warning",
    "Literal.String": "$text-success",
    "Name.Builtin": "$text-secondary",
    "Name.Class": "bold",
    "Name.Decorator": "$text-secondary",
    "Name.Function": "bold",
    "Name.Tag": "$text-primary",
    "Generic.Deleted": "$text-error",
    "Generic.Inserted": "$text-success",
}


def coloured(code: str, language: str) -> list[tuple[int, int, str]]:
    """Return the styles of clean code as (start, end, style).

    None where it is longer than what a compile ever shows, or in a language that none of its fences name: the lexers
    are patterns, some of them slow on what was made to be.
    """
    language = language.lower()
    if language not in LANGUAGES or len(code) > MAX_CODE:
        return []

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return []
    found = []
    for at, kind, words in lexer.get_tokens_unprocessed(code):
        style = _style(str(kind).removeprefix("Token."))
        if style and words.strip():
            found.append((at, at + len(words), style))
    return found


def _style(kind: str) -> str:
    """Return the style of a token type or of its nearest parent: `Name.Function.Magic` is a `Name.Function`."""
    while kind:
        if kind in STYLES:
            return STYLES[kind]
        kind = kind.rpartition(".")[0]
    return ""
