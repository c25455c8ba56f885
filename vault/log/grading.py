"""What a grader and a tutor are asked, and what they answer: values that engines and screens share.

A grader holds a typed answer against the words of the card; a tutor asks on a topic and points to its articles.
Neither writes anything: whatever they suggest, the human rates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from vault.log.events import Rating

Cancelled = Callable[[], bool]  # whether whoever asked has gone on meanwhile


@dataclass(frozen=True, slots=True)
class Cost:
    """What a model was sent and has said, in tokens; of all calls that an answer took."""

    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens)


@dataclass(frozen=True, slots=True)
class GradeRequest:
    """`answer` is the human's own; `reference` the card's, and `support` the quotes behind that. All plain text."""

    question: str
    reference: str
    answer: str
    support: tuple[str, ...] = ()
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """One thing that the answer should say: `words` name it, `quote` stands in the reference or its support.

    `said` are the human's words that say it; "" where it is missing.
    """

    words: str
    quote: str
    said: str = ""


@dataclass(frozen=True, slots=True)
class Grade:
    """`suggested` None: the grader abstains, and `why` says so."""

    met: tuple[Point, ...] = ()
    missed: tuple[Point, ...] = ()
    suggested: Rating | None = None
    why: str = ""
    engine: str = ""
    cost: Cost = Cost()


class Speaker(StrEnum):
    TUTOR = "tutor"
    LEARNER = "learner"


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said in a quiz. `article` is the path that the tutor pointed to with it; "" without."""

    speaker: Speaker
    words: str
    article: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """An article that the quiz is about: its path, its title, its plain text and the questions that its cards ask."""

    path: str
    title: str
    text: str
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuizRequest:
    """The next turn of a quiz on `topic`; with `last`, the one that says what was right and what was missing."""

    topic: str
    readings: tuple[Reading, ...]
    turns: tuple[Turn, ...] = ()
    last: bool = False


@dataclass(frozen=True, slots=True)
class QuizReply:
    """The tutor's turn. `right` and `missing` are filled when the quiz has `ended`; each point quotes an article."""

    turn: Turn
    ended: bool = False
    right: tuple[Point, ...] = ()
    missing: tuple[Point, ...] = ()
    cost: Cost = Cost()


class Grader(Protocol):
    """`name` is "engine/version model"; `place` names the endpoint where it is not the usual one."""

    @property
    def name(self) -> str: ...

    @property
    def place(self) -> str: ...

    def grade(self, request: GradeRequest, cancelled: Cancelled) -> Grade:
        """Raises: ModelUnavailable."""
        ...


class Tutor(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def place(self) -> str: ...

    def turn(self, request: QuizRequest, cancelled: Cancelled) -> QuizReply:
        """Raises: ModelUnavailable."""
        ...
