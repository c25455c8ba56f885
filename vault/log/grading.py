"""Requests to a grader and a tutor and their replies: values that engines and screens share.

A grader holds a typed answer against the words of the card; a tutor asks on a topic and points to its articles.
Neither writes anything: whatever they suggest, the human rates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from vault.log.events import Rating

Cancelled = Callable[[], bool]  # whether the caller no longer waits


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens sent to and received from a model, over all calls that an answer took."""

    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Cost) -> Cost:
        """Return the sum."""
        return Cost(self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens)


@dataclass(frozen=True, slots=True)
class GradeRequest:
    """A typed answer to be graded: `answer` is the user's, `reference` the card's, `support` the quotes behind it. All
    plain text.
    """

    question: str
    reference: str
    answer: str
    support: tuple[str, ...] = ()
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """One thing that the answer should say: `words` name it, `quote` is in the reference or its support.

    `said` are the human's words that say it; "" where it is missing.
    """

    words: str
    quote: str
    said: str = ""


@dataclass(frozen=True, slots=True)
class Grade:
    """A suggested rating; with `suggested` None the grader abstains, and `why` gives the reason."""

    met: tuple[Point, ...] = ()
    missed: tuple[Point, ...] = ()
    suggested: Rating | None = None
    why: str = ""
    engine: str = ""
    cost: Cost = Cost()


class Speaker(StrEnum):
    """Who speaks in a quiz."""

    TUTOR = "tutor"
    LEARNER = "learner"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message in a quiz. `article` is the path that the tutor pointed to with it; "" without."""

    speaker: Speaker
    words: str
    article: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """An article that the quiz is about: its path, title, plain text and the questions that its cards ask."""

    path: str
    title: str
    text: str
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuizRequest:
    """A request for the next turn of a quiz on `topic`; with `last`, for what was right and what was missing."""

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
    """Grades typed answers. `name` is "engine/version model"; `place` is the endpoint where it is not the usual one."""

    @property
    def name(self) -> str: ...

    @property
    def place(self) -> str: ...

    def grade(self, request: GradeRequest, cancelled: Cancelled) -> Grade:
        """Return a grade for the answer. Raises: ModelUnavailable."""
        ...


class Tutor(Protocol):
    """Asks questions on a topic."""

    @property
    def name(self) -> str: ...

    @property
    def place(self) -> str: ...

    def turn(self, request: QuizRequest, cancelled: Cancelled) -> QuizReply:
        """Return the tutor's next turn. Raises: ModelUnavailable."""
        ...
