"""Questions for the words that an author emphasised: the sentence with a gap in their place."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.engines.extractive.questions import Question
from compiler.engines.extractive.sentence import Sentence
from compiler.model.requests import CardKindName

FORM = "emphasis cloze"  # suggested, never queued by its score: blind readers kept too few
_GAP = "___"
_ASKED = {"en": "What fills the gap?", "de": "Was gehört in die Lücke?", "zh": "空白处应填什么？"}
_SHORTEST = 40  # characters of a sentence
_TERM = range(4, 60)  # characters of a term ...
_SHARE = 1 / 3  # ... and at most so much of its sentence


def clozes(sentence: Sentence, kind: CardKindName, language: str) -> Iterator[Question]:
    """Yield a question for each emphasised term of a sentence that leaves enough words around it."""
    text, asked = sentence.text, _ASKED.get(language)
    if asked is None or len(text) < _SHORTEST:
        return
    for mark in sentence.marks:
        size = mark.end - mark.start
        if mark.kind == "emphasis" and size in _TERM and size < _SHARE * len(text):
            words = text[mark.start : mark.end]
            gapped = f"{text[: mark.start]}{_GAP}{text[mark.end :]}".strip()
            yield Question(FORM, kind, f"{gapped} {asked}", f"{words}.", words)
