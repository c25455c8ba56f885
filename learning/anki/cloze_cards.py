"""The cards of one imported cloze as the text they were made of: `The {{c1::mitochondrion}} makes {{c2::ATP}}.`

An import keeps the cards as Anki showed them: gaps in brackets in the question, filled and bold in the answer. Their
text is put together again, and counts only if the same cards come of it: so a card that was edited is never changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from vault.model.cloze import numbers_in, with_deletions

_GAP = re.compile(r"\*\*\\\[([^\n]{1,300}?)\\\]\*\*")
_NO_HINT = "..."


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
    for number, (question, answer) in cards.items():
        if (filled := _filled(question, answer)) is None:
            return None
        text, below, gaps = filled
        texts.add((text, below))
        spans += [_Span(start, start - end, number, hint) for start, end, hint in gaps]
    if len(texts) != 1:
        return None
    text, below = texts.pop()
    made = _marked(text, sorted(spans))
    whole = made is not None and numbers_in(made) == sorted(cards)
    if made is None or not whole or any(_shown(made, n, below) != card for n, card in cards.items()):
        return None
    return made, below.strip("\n")


def _filled(question: str, answer: str) -> tuple[str, str, list[tuple[int, int, str]]] | None:
    """Return the text of a card with its gaps filled and without their marks; what the answer shows below it; and
    start, end and hint of each gap. A gap ends where the text after it comes first.
    """
    before, *rest = _GAP.split(question)
    if not rest or not answer.startswith(before):
        return None
    text, at = before, len(before)
    gaps = []
    for hint, after in zip(rest[::2], rest[1::2], strict=True):
        is_bold = answer.startswith("**", at)
        start, mark = (at + 2, "**") if is_bold else (at, "")
        ending = mark + after
        end = answer.find(ending, start + 1) if ending else len(answer)
        if end < 0:
            return None
        gaps.append((len(text), len(text) + end - start, "" if hint == _NO_HINT else hint))
        text, at = text + answer[start:end] + after, end + len(ending)
    below = answer[at:]
    return None if below and not below.startswith("\n") else (text, below, gaps)


def _marked(text: str, spans: list[_Span]) -> str | None:
    """Return the text with deletions at `spans`, which are in order; None where two of them overlap."""
    out: list[str] = []
    open_: list[_Span] = []
    at = 0

    def close(until: int) -> None:
        nonlocal at
        while open_ and open_[-1].end <= until:
            span = open_.pop()
            out.append(text[at : span.end] + (f"::{span.hint}" if span.hint else "") + "}}")
            at = span.end

    for span in spans:
        close(span.start)
        if open_ and span.end > open_[-1].end:
            return None
        out.append(f"{text[at : span.start]}{{{{c{span.number}::")
        at = span.start
        open_.append(span)
    close(len(text))
    return "".join(out) + text[at:]


def _shown(text: str, number: int, below: str) -> tuple[str, str]:
    """Return question and answer as an import of the text would make them."""
    question, _ = with_deletions(text, number, lambda _, hint: rf"**\[{hint or _NO_HINT}\]**")
    answer, _ = with_deletions(text, number, lambda words, _: words if "\n" in words else f"**{words}**")
    return question, answer + below
