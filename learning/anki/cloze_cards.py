"""The cards of one imported cloze as the text they were made of: `The {{c1::mitochondrion}} makes {{c2::ATP}}.`

An import keeps the cards as Anki showed them: gaps in brackets in the question, filled and bold in the answer. Their
text is put together again, and counts only if the same cards come of it: so a card that was edited is never changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from learning.anki.html_to_markdown import marked
from vault.model.cloze import numbers_in, with_deletions

_GAP = re.compile(r"\*\*\\\[([^\n]{1,300}?)\\\]\*\*")
_NO_HINT = "..."
_BOLD = "**"


@dataclass(frozen=True, slots=True, order=True)
class _Span:
    """Words that a card hides: from `start`, and longer ones before those inside them."""

    start: int
    length: int  # negative
    number: int
    hint: str

    @property
    def end(self) -> int:
        return self.start - self.length


def cloze_text(cards: Mapping[int, tuple[str, str]]) -> tuple[str, str] | None:
    """Return the text with deletions, and what each answer shows below it; None if the cards are of no such text.

    `cards` are questions and answers in Markdown, by the number of what they hide.
    """
    spans: list[_Span] = []
    texts: set[tuple[str, str]] = set()
    bold: set[int] = set()
    for number, (question, answer) in cards.items():
        if (filled := _filled(question, answer)) is None:
            return None
        texts.add((filled.text, filled.below))
        bold |= filled.bold
        spans += [_Span(start, start - end, number, hint) for start, end, hint in filled.gaps]
    if len(texts) != 1:
        return None
    text, below = texts.pop()
    made = _with_deletions(text, sorted(spans), sorted(bold))
    whole = made is not None and numbers_in(made) == sorted(cards)
    if made is None or not whole or any(_shown(made, n, below) != card for n, card in cards.items()):
        return None
    return made, below.strip("\n")


@dataclass(slots=True)
class _Filled:
    """The text of a card with its gaps filled, without marks of bold; where these are outside the gaps; what the answer
    shows below it; and start, end and hint of each gap.
    """

    text: str = ""
    bold: set[int] = field(default_factory=set)
    below: str = ""
    gaps: list[tuple[int, int, str]] = field(default_factory=list)

    def add(self, piece: str, *, is_gap: bool) -> None:
        """Add a piece of the answer."""
        for number, part in enumerate(piece.split(_BOLD)):
            if number and not is_gap:
                self.bold.add(len(self.text))
            self.text += part


def _filled(question: str, answer: str) -> _Filled | None:
    """Return the text of a card; None if the answer is not the question with its gaps filled. A gap ends where the text
    after it comes first.
    """
    before, *rest = _GAP.split(question)
    if not rest or not answer.startswith(before):
        return None
    filled, at = _Filled(), len(before)
    filled.add(before, is_gap=False)
    for hint, after in zip(rest[::2], rest[1::2], strict=True):
        end = -1
        for mark in (_BOLD, "") if answer.startswith(_BOLD, at) else ("",):
            start, ending = at + len(mark), mark + after
            end = answer.find(ending, start + 1) if ending else len(answer)
            if end >= 0:
                break
        if end < 0:
            return None
        begun = len(filled.text)
        filled.add(answer[start:end], is_gap=True)
        filled.gaps.append((begun, len(filled.text), "" if hint == _NO_HINT else hint))
        filled.add(after, is_gap=False)
        at = end + len(ending)
    filled.below = answer[at:]
    return None if filled.below and not filled.below.startswith("\n") else filled


def _with_deletions(text: str, spans: list[_Span], bold: list[int]) -> str | None:
    """Return the text with deletions at `spans` and marks at `bold`, both in order; None where two spans overlap.

    Where a mark and a deletion are at one place, the mark is inside.
    """
    out: list[str] = []
    open_: list[_Span] = []
    at = 0

    def copy(until: int, *, with_last: bool) -> None:
        nonlocal at
        while bold and (bold[0] < until or (with_last and bold[0] == until)):
            out.append(text[at : bold[0]] + _BOLD)
            at = bold.pop(0)
        out.append(text[at:until])
        at = until

    def close(until: int) -> None:
        while open_ and open_[-1].end <= until:
            span = open_.pop()
            copy(span.end, with_last=True)
            out.append((f"::{span.hint}" if span.hint else "") + "}}")

    for span in spans:
        close(span.start)
        if open_ and span.end > open_[-1].end:
            return None
        copy(span.start, with_last=False)
        out.append(f"{{{{c{span.number}::")
        open_.append(span)
    close(len(text))
    copy(len(text), with_last=True)
    return "".join(out)


def _shown(text: str, number: int, below: str) -> tuple[str, str]:
    """Return question and answer as an import of the text would make them."""
    question, _ = with_deletions(text, number, lambda _, hint: rf"**\[{hint or _NO_HINT}\]**")
    answer, _ = with_deletions(text, number, lambda words, _: marked(words, _BOLD))
    return question, answer + below
