"""A quiz held by a model: it asks, follows up and points to the article; code sees to it that it gives nothing away."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from compiler.engines.claude.messages import Ask, Said
from compiler.engines.claude.messages import Speaker as Asked
from compiler.engines.grading.grader import Quoted, Short
from compiler.engines.grading.quotes import gives_away, stands
from compiler.model.requests import Model
from compiler.replies.prompts import data, prompt
from vault.log.grading import Cancelled, Cost, Point, QuizReply, QuizRequest, Reading, Speaker, Turn
from vault.text.sanitize import normal

Spoken = Annotated[str, Field(max_length=2_000), AfterValidator(normal)]
MOST = 16_000  # characters of all articles together that a model is sent
_SENTENCE = re.compile(r"[^.!?。！？]+(?:[.!?。！？]+[\"'”’)]*\s*|$)")


class QuizPoint(Model):
    point: Short
    quote: Quoted


class QuizTurn(Model):
    says: Spoken
    article: Short = ""
    ended: bool = False
    right: Annotated[tuple[QuizPoint, ...], Field(max_length=10)] = ()
    missing: Annotated[tuple[QuizPoint, ...], Field(max_length=10)] = ()


def asked(request: QuizRequest) -> Ask[QuizTurn]:
    """What is sent: the prompt, the articles and all that was said, each as data."""
    share = MOST // max(1, len(request.readings))
    articles = [{"title": r.title, "text": r.text[:share], "questions": r.questions[:20]} for r in request.readings]
    said = [Said("user", data({"topic": request.topic, "articles": articles}))]
    said += [_said(turn) for turn in request.turns]
    if request.last:
        end = data({"learner": "", "end": True})
        said = (
            [*said[:-1], Said("user", f"{said[-1].words}\n{end}")]
            if said[-1].role == "user"
            else [*said, Said("user", end)]
        )
    return Ask(prompt("quiz").text, tuple(said), QuizTurn)


def _said(turn: Turn) -> Said:
    if turn.speaker is Speaker.LEARNER:
        return Said("user", data({"learner": turn.words}))
    return Said("assistant", turn.words or "Look at the article.")


def turn_of(request: QuizRequest, reply: QuizTurn, cost: Cost) -> QuizReply:
    """The tutor's turn without sentences that give the answer away, and without points that no article bears out."""
    texts = [reading.text for reading in request.readings]
    ended = reply.ended or request.last
    words = reply.says if ended else _kept(reply.says, request)
    article = _path(reply.article, request.readings)
    if words.strip() != reply.says.strip() and not article and len(request.readings) == 1:
        article = request.readings[0].path
    turn = Turn(Speaker.TUTOR, words.strip(), article)
    if not ended:
        return QuizReply(turn, cost=cost)
    right, missing = (
        tuple(Point(each.point, each.quote) for each in points if stands(each.quote, texts))
        for points in (reply.right, reply.missing)
    )
    return QuizReply(turn, True, right, missing, cost)


def _kept(says: str, request: QuizRequest) -> str:
    texts = [reading.text for reading in request.readings]
    known = [turn.words for turn in request.turns if turn.speaker is Speaker.LEARNER]
    known += [question for reading in request.readings for question in reading.questions]
    return "".join(each for each in _SENTENCE.findall(says) if not gives_away(each, texts, known))


def _path(title: str, readings: tuple[Reading, ...]) -> str:
    return next((r.path for r in readings if r.title.casefold() == title.casefold()), "")


class ModelTutor:
    """A Tutor that asks a model."""

    def __init__(self, speaker: Asked, place: str = "") -> None:
        self._speaker, self._place = speaker, place

    @property
    def name(self) -> str:
        return f"{self._speaker.name} {prompt('quiz').version}"

    @property
    def place(self) -> str:
        return self._place

    def turn(self, request: QuizRequest, cancelled: Cancelled) -> QuizReply:
        """Raises: ModelUnavailable."""
        answer = self._speaker.ask(asked(request), cancelled)
        return turn_of(request, answer.value, answer.cost)
