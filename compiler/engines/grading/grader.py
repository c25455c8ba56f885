"""Typed answers graded by a model: it names the points with quotes, and code checks them.

A model may say anything, and an answer or a card may ask it to. So a grade counts only where every point quotes the
card or its support, every point that is met quotes the learner, and the rating fits the points; otherwise no rating is
suggested.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from compiler.engines.claude.client import Claude
from compiler.engines.claude.messages import ChatMessage, Form, JsonPrompt, ModelClient
from compiler.replies.prompts import data, prompt
from vault.config import engine
from vault.log.events import Rating
from vault.log.grading import Cancelled, Cost, Grade, Grader, GradeRequest, Point
from vault.text.formatting import clean_line, normal


def _line(text: str) -> str:
    return clean_line(normal(text))


Short = Annotated[str, Field(max_length=400), AfterValidator(_line)]
Quoted = Annotated[str, Field(max_length=1_000), AfterValidator(_line)]
_RATINGS = {"again": Rating.AGAIN, "hard": Rating.HARD, "good": Rating.GOOD}
UNGROUNDED = "The model's feedback does not quote the card, so its rating is ignored."
UNFITTING = "The model's rating does not match its own feedback, so it is ignored."
_SEPARATORS = re.compile(r"[\W_]+")
_MEANINGFUL = re.compile(r"[^\W\d_]{4}|\d|[\u3040-\u30ff\u3400-\u9fff]")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_clients: dict[tuple[str, str, str], Claude] = {}  # creating one takes seconds, and it learns what its server supports
_RUN = 7  # words in a row that nobody repeats by chance


class GradedPoint(Form):
    point: Short
    quote: Quoted
    met: bool
    said: Quoted = ""


class GradeReply(Form):
    points: Annotated[tuple[GradedPoint, ...], Field(max_length=12)]
    rating: Literal["again", "hard", "good", "unsure"]
    why: Short = ""


def grade_prompt(request: GradeRequest) -> JsonPrompt[GradeReply]:
    """Return what is sent: the instructions, and the card and the answer as data."""
    card = {
        "question": request.question,
        "kind": request.kind,
        "reference": request.reference,
        "support": request.support,
        "answer": request.answer,
    }
    return JsonPrompt(prompt("grade").text, (ChatMessage("user", data(card)),), reply=GradeReply)


def grade_of(request: GradeRequest, reply: GradeReply, engine: str, cost: Cost) -> Grade:
    """Return the grade if its quotes and its rating hold, else one without a rating that says why."""
    points = [(each, Point(each.point, each.quote, each.said if each.met else "")) for each in reply.points]
    met = tuple(point for each, point in points if each.met)
    missed = tuple(point for each, point in points if not each.met)
    texts = (request.reference, *request.support)
    grounded = all(is_quoted(each.quote, texts) for each in reply.points)
    if not grounded or not all(is_quoted(point.said, [request.answer]) for point in met):
        return Grade(why=UNGROUNDED, engine=engine, cost=cost)
    rating = _RATINGS.get(reply.rating)
    if rating is not None and not _fits(rating, len(met), len(missed)):
        return Grade(met, missed, None, UNFITTING, engine, cost)
    return Grade(met, missed, rating, reply.why, engine, cost)


def _fits(rating: Rating, met: int, missed: int) -> bool:
    if rating is Rating.AGAIN:
        return missed > 0
    return met > 0 and (missed == 0 or rating is Rating.HARD)


class ModelGrader:
    """A Grader that asks a model; `place` names its server if that is not the default one."""

    def __init__(self, client: ModelClient, place: str = "") -> None:
        self._client, self._place = client, place

    @property
    def name(self) -> str:
        return f"{self._client.name} {prompt('grade').version}"

    @property
    def place(self) -> str:
        return self._place

    def grade(self, request: GradeRequest, cancelled: Cancelled) -> Grade:
        """Return the model's grade. Raises: ModelUnavailable."""
        answer = self._client.ask(grade_prompt(request), cancelled)
        return grade_of(request, answer.value, self.name, answer.cost)


def folded(text: str) -> str:
    """Return the words of a text in lower case, separated by one space."""
    return _SEPARATORS.sub(" ", normal(text).casefold()).strip()


def is_quoted(quote: str, texts: Iterable[str]) -> bool:
    """Return whether `quote` is a run of words of one of the texts and more than a filler word."""
    words = folded(quote)
    wholes = [folded(text) for text in texts]
    if not words or not (_MEANINGFUL.search(words) or words in wholes):
        return False
    return any(f" {words} " in f" {whole} " or (bool(_HAN.search(words)) and words in whole) for whole in wholes)


def gives_away(sentence: str, texts: Iterable[str], known: Iterable[str]) -> bool:
    """Return whether a sentence repeats seven words in a row of the texts that are not in `known`."""
    words = folded(sentence).split()
    wholes, known_texts = [f" {folded(text)} " for text in texts], [f" {folded(text)} " for text in known]
    for at in range(len(words) - _RUN + 1):
        run = f" {' '.join(words[at : at + _RUN])} "
        if any(run in whole for whole in wholes) and not any(run in each for each in known_texts):
            return True
    return False


def configured_grader(environment: Mapping[str, str]) -> Grader:
    """Return what grades typed answers. Raises: ModelUnavailable where none is configured; Damaged settings."""
    client, place = configured_client("grade", environment)
    return ModelGrader(client, place)


def configured_client(role: str, environment: Mapping[str, str]) -> tuple[Claude, str]:
    """Return the client that the user has configured for a role, and the place of its server. Raises: as above."""
    settings = engine.of_user()
    model, key = settings.model(role), settings.key(environment)
    identity = (settings.base_url, model, key)
    if identity not in _clients:
        _clients[identity] = Claude(settings, model, key)
    return _clients[identity], settings.place
