"""The rule on text of decks that cannot be read as cards, or not as their author meant it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from compiler.lint.wiki import Wiki
from vault.model.card import Card, Deck, names_card, without_fences
from vault.model.cloze import leaves_open
from vault.model.fences import code_blocks

Found = Iterator[tuple[str, int, str, str]]
Fault = tuple[int, str, str]  # line, what is wrong, remedy
_CODE = re.compile(r"`[^`\n]+`|\$[^$\n]+\$")
_OBSIDIAN = re.compile(r"(?<!\S)%%|%%(?!\S)")
_MISTYPED = re.compile(r"(?:[ \t]*(?:[-*+>][ \t]+)?\*{0,2}Q\*{0,2} ?[:;.]\*{0,2}|[ \t]+Q:|q:)[ \t]+\S.*\?\*{0,2}[ \t]*")


def damaged(wiki: Wiki) -> Found:
    """Yield what is in a deck and cannot be read as a card, or not as its author meant it."""
    for deck in wiki.decks:
        faults = [(d.line, d.message, d.hint or "fix it, or restore the deck from git") for d in deck.diagnostics]
        plain = without_fences(deck.text)
        lines = plain.split("\n")
        faults += [*_open_code(deck.text.split("\n")), *_open_comments(plain), *_mistyped(lines)]
        for card in {card.start: card for card in deck.cards}.values():
            faults += _in_card(lines, deck, card)
        for fault in faults:
            yield deck.path, *fault


def _open_code(lines: Sequence[str]) -> Iterator[Fault]:
    """Yield the first code block that is never closed, or closed after a card's comment and so perhaps too late."""
    for first, last in code_blocks(lines):
        if not last:
            yield first, "this code block is never closed, so it hides the text below", "close it with ```"
            return
        if any(map(names_card, lines[first:last])):
            what = "this code block may be closed too late: the comment of a card is in it"
            yield first, what, "end it with ``` above the comment, unless the comment is part of the code"
            return


def _open_comments(plain: str) -> Iterator[Fault]:
    """Yield the HTML comments that are never closed in the text of a deck without code."""
    hidden = _without_code(plain)
    start = hidden.find("<!--", max(hidden.rfind("-->") - 3, 0))  # `<!-->` is not closed by its own end
    if start >= 0:
        what = "this comment is never closed, so Obsidian hides the text below"
        yield plain.count("\n", 0, start) + 1, what, "close it with `-->`"


def _mistyped(lines: Sequence[str]) -> Iterator[Fault]:
    """Yield the lines that look like questions, and whose tag is not written as one."""
    for number, line in enumerate(lines, 1):
        if _MISTYPED.fullmatch(line) and not line.startswith("Q:"):
            yield number, "this looks like a question, but is not read as one", "begin the line with `Q: `"


def _in_card(deck_lines: Sequence[str], deck: Deck, card: Card) -> Iterator[Fault]:
    """Yield what is wrong within the block of a card."""
    lines = deck_lines[card.line - 1 : card.line + deck.text.count("\n", card.start, card.end)]
    words = _without_code("\n".join(lines))
    if card.is_cloze and leaves_open(words):
        yield (
            card.line,
            "a cloze deletion in this card is never closed, so its words are not hidden",
            "close it with `}}`",
        )
    if len(_OBSIDIAN.findall(words)) % 2:
        what = "this card has a comment that is never closed, so Obsidian hides the text below"
        yield card.line, what, "close it with `%%`, or write `\\%%`"
    answers = [number for number, line in enumerate(lines, card.line) if line.startswith("A:")]
    if len(answers) > 1 and not card.is_cloze:
        yield answers[1], "a second answer (A:) in one card", "put a line `Q: ...` above it, or begin it with `\\A:`"


def _without_code(text: str) -> str:
    """Return `text` with blanks in place of code and formulas within lines."""
    return _CODE.sub(lambda code: " " * len(code[0]), text)
