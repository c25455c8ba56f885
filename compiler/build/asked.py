"""The gaps that questions to the wiki leave: what its sources lack of their answers."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.cards.gaps import OpenGap
from compiler.query.questions import Asked, asked_questions
from vault.ids import digest12
from vault.model.gaps import GapKind
from vault.model.wikilink import note_link
from vault.text.formatting import truncate
from vault.vault import Vault

_RANK = 2  # after contradictions and what articles leave open
_LONGEST = 300  # characters of what is missing


@dataclass(frozen=True, slots=True)
class QuestionGaps:
    """The gaps that are open, the most asked ones first, and the keys of those that a later answer filled."""

    open: tuple[OpenGap, ...] = ()
    filled: frozenset[str] = frozenset()


def question_gaps(vault: Vault) -> QuestionGaps:
    """Return the gaps that the questions to a vault leave. A later answer of which nothing is missing fills one."""
    asked = asked_questions(vault)
    lacking = sorted((each for each in asked if each.lacking), key=lambda each: (-each.times, each.question))
    filled = frozenset(_key(each) for each in asked if each.texts and not each.lacking)
    return QuestionGaps(tuple(map(_gap, lacking)), filled)


def _gap(asked: Asked) -> OpenGap:
    return OpenGap(
        key=_key(asked),
        kind=GapKind.EPISTEMIC,
        what=asked.question,
        missing=truncate(asked.lacking, _LONGEST).removesuffix("."),
        fill="a source that answers it",
        mentions=(note_link(asked.filed, asked.question),) if asked.filed else (),
        weight=asked.times,
        rank=_RANK,
    )


def _key(asked: Asked) -> str:
    return f"{GapKind.EPISTEMIC}:question:{digest12(asked.key)}"
