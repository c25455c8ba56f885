"""The rule on text of decks that cannot be read as cards, or not as their author meant it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.lint.wiki import Wiki
from vault.model.card import Card, Deck, open_fence, without_fences
from vault.model.cloze import leaves_open

Found = Iterator[tuple[str, int, str, str]]
Fault = tuple[int, str, str]  # line, what is wrong, remedy
_CODE = re.compile(r"`[^`\n]+`|\$[^$\n]+\$")
_OBSIDIAN = re.compile(r"(?<!\S)%%|%%(?!\S)")
_MISTYPED = re.compile(r"(?:[ \t]*(?:[-*+>][ \t]+)?\*{0,2}Q\*{0,2} ?[:;.]\*{0,2}|[ \t]+Q:|q:)[ \t]+\S.*\?\*{0,2}[ \t]*")


def damaged(wiki: Wiki) -> Found:
    """Yield what is in a deck and cannot be read as a card, or not as its author meant it."""
    for deck in wiki.decks:
        faults = [(d.line, d.message, d.hint or "fix it, or restore the deck from git") for d in deck.diagnostics]
        if line := open_fence(deck.text):
            faults.append((line, "this code block is never closed, so it hides the text below", "close it with ```"))
        plain = without_fences(deck.text)
        faults += [*_open_comments(plain), *_mistyped(plain)]
        for card in {card.start: card for card in deck.cards}.values():
            faults += _in_card(plain, deck, card)
        for fault in faults:
            yield deck.path, *fault


def _open_comments(plain: str) -> Iterator[Fault]:
    """Yield the HTML comments that are never closed in the text of a deck without code."""
    hidden = _without_code(plain)
    for mark in re.finditer("<!--", hidden):
        if "-->" not in hidden[mark.end() :]:
            what = "this comment is never closed, so Obsidian hides the text below"
            yield plain.count("\n", 0, mark.start()) + 1, what, "close it with `-->`"
            return


def _mistyped(plain: str) -> Iterator[Fault]:
    """Yield the lines that look like questions, and whose tag is not written as one."""
    for number, line in enumerate(plain.split("\n"), 1):
        if _MISTYPED.fullmatch(line) and not line.startswith("Q:"):
            yield number, "this looks like a question, but is not read as one", "begin the line with `Q: `"


def _in_card(plain: str, deck: Deck, card: Card) -> Iterator[Fault]:
    """Yield what is wrong within the block of a card."""
    lines = plain.split("\n")[card.line - 1 : card.line + deck.text.count("\n", card.start, card.end)]
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
