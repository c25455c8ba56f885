"""Cloze deletions as Anki writes them: `The {{c1::mitochondrion::organelle}} makes {{c2::ATP}}.`

The number names the card that hides the words; what follows a second `::` is a hint. Deletions may be nested.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

_NUMBERS = r"\d{1,3}(?:,\d{1,3}){0,9}"
_MARK = re.compile(rf"\{{\{{[cC]({_NUMBERS})::|::|\}}\}}")
_DEEPEST = 8  # deletions in each other
DELETION = re.compile(rf"\{{\{{[cC]{_NUMBERS}::")
Show = Callable[[str, str], str]  # of the words and the hint of a deletion: what is shown in its place


@dataclass(slots=True)
class _Open:
    """A deletion being parsed: how it begins, its numbers, its parts between `::`."""

    mark: str
    numbers: frozenset[int]
    parts: list[list[str]] = field(default_factory=lambda: [[]])

    @property
    def words(self) -> str:
        return "".join(self.parts[0])

    @property
    def hint(self) -> str:
        return "".join(self.parts[1]) if len(self.parts) > 1 else ""


def with_deletions(text: str, number: int, show: Show) -> tuple[str, list[str]]:
    """Return `text` with what `show` returns for the deletions of that number and the words of all others; and the
    words of the former.
    """
    hidden: list[str] = []

    def shown(deletion: _Open) -> str:
        if number not in deletion.numbers:
            return deletion.words
        hidden.append(deletion.words)
        return show(deletion.words, deletion.hint)

    return _parsed(text, shown), hidden


def numbers_in(text: str) -> list[int]:
    """Return the numbers of the deletions in `text`, ascending; one that is never closed is none, nor is number 0."""
    found: set[int] = set()

    def note(deletion: _Open) -> str:
        found.update(deletion.numbers)
        return deletion.words

    _parsed(text, note)
    return sorted(found - {0})


def leaves_open(text: str) -> bool:
    """Return whether a deletion in `text` is never closed."""
    closed = 0

    def count(deletion: _Open) -> str:
        nonlocal closed
        closed += 1
        return deletion.words

    _parsed(text, count)
    return closed < len(DELETION.findall(text))


def _parsed(text: str, shown: Callable[[_Open], str]) -> str:
    """Return the text with what `shown` returns in place of each deletion."""
    out: list[str] = []
    open_: list[_Open] = []
    at = 0

    def put(words: str) -> None:
        (open_[-1].parts[-1] if open_ else out).append(words)

    for mark in _MARK.finditer(text):
        put(text[at : mark.start()])
        at = mark.end()
        if mark[1] and len(open_) < _DEEPEST:
            open_.append(_Open(mark[0], frozenset(map(int, mark[1].split(",")))))
        elif mark[0] == "::" and open_ and len(open_[-1].parts) == 1:
            open_[-1].parts.append([])
        elif mark[0] == "}}" and open_:
            put(shown(open_.pop()))
        else:
            put(mark[0])
    put(text[at:])
    while open_:  # never closed: it is no deletion, but words
        left = open_.pop()
        put(left.mark + "::".join("".join(part) for part in left.parts))
    return "".join(out)


def with_marks(text: str, start: str, hint: str, end: str) -> str:
    """Return `text` with other marks around its deletions: `start` has `{}` for the numbers, `hint` precedes a hint."""

    def shown(deletion: _Open) -> str:
        said = f"{hint}{deletion.hint}" if len(deletion.parts) > 1 else ""
        return f"{start.format(deletion.mark[3:-2])}{deletion.words}{said}{end}"

    return _parsed(text, shown)


def parts_of(text: str) -> list[tuple[str, int, str]] | None:
    """Return the text as (words, number, hint), the number 0 for words that no card hides; None where deletions are in
    each other or have several numbers.
    """
    parts: list[tuple[str, int, str]] = []

    def hold(deletion: _Open) -> str:
        number = min(deletion.numbers) if len(deletion.numbers) == 1 else -1
        parts.append((deletion.words, number, deletion.hint))
        return f"\ue010{len(parts) - 1}\ue011"

    shown = _parsed(re.sub("[\ue010\ue011]", "", text), hold)
    if any("\ue010" in words + hint or number < 0 for words, number, hint in parts):
        return None
    pieces = re.split("\ue010(\\d+)\ue011", shown)
    found = [(piece, 0, "") if n % 2 == 0 else parts[int(piece)] for n, piece in enumerate(pieces)]
    return [part for part in found if part[0]]


def front(text: str, number: int) -> str:
    """Return the question of a cloze card in Markdown: its deletions are `[...]`, or the hint in brackets."""
    return with_deletions(text, number, lambda _, hint: f"**[{hint.strip() or '...'}]**")[0]


def back(text: str, number: int) -> str:
    """Return the answer of a cloze card: the words that its question hides, each once."""
    return ", ".join(dict.fromkeys(words.strip() for words in with_deletions(text, number, lambda w, _: w)[1]))
