"""A quiz held by a model: it asks, follows up and points to the article; code removes what gives answers away."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field

from compiler.engines.claude.messages import ChatMessage, Form, JsonPrompt, ModelClient
from compiler.engines.grading.grader import Quoted, Short, configured_client, gives_away, is_quoted
from compiler.replies.prompts import data, prompt
from vault.log.grading import Cancelled, Cost, Point, QuizReply, QuizRequest, Reading, Speaker, Turn, Tutor
from vault.text.formatting import normal

Spoken = Annotated[str, Field(max_length=2_000), AfterValidator(normal)]
_MAX_CHARS = 16_000  # of all articles together that a model is sent
_SENTENCE = re.compile(r"[^.!?。！？]+(?:[.!?。！？]+[\"'”’)]*\s*|$)")


class QuizPoint(Form):
    point: Short
    quote: Quoted


class QuizTurn(Form):
    says: Spoken
    article: Short = ""
    ended: bool = False
    right: Annotated[tuple[QuizPoint, ...], Field(max_length=10)] = ()
    missing: Annotated[tuple[QuizPoint, ...], Field(max_length=10)] = ()


def quiz_prompt(request: QuizRequest) -> JsonPrompt[QuizTurn]:
    """Return what is sent: the instructions, and the articles and all turns so far as data."""
    share = _MAX_CHARS // max(1, len(request.readings))
    articles = [{"title": r.title, "text": r.text[:share], "questions": r.questions[:20]} for r in request.readings]
    messages = [ChatMessage("user", data({"topic": request.topic, "articles": articles}))]
    messages += map(_message, request.turns)
    if request.last:
        end = data({"learner": "", "end": True})
        if messages[-1].role == "user":
            end = f"{messages.pop().text}\n{end}"
        messages.append(ChatMessage("user", end))
    return JsonPrompt(prompt("quiz").text, tuple(messages), reply=QuizTurn)


def _message(turn: Turn) -> ChatMessage:
    if turn.speaker is Speaker.LEARNER:
        return ChatMessage("user", data({"learner": turn.words}))
    return ChatMessage("assistant", turn.words or "See the article.")


def turn_of(request: QuizRequest, reply: QuizTurn, cost: Cost) -> QuizReply:
    """Return the turn without sentences that give the answer away and points that no article supports."""
    texts = [reading.text for reading in request.readings]
    ended = reply.ended or request.last
    words = reply.says if ended else _without_answers(reply.says, request)
    article = _path(reply.article, request.readings)
    if words.strip() != reply.says.strip() and not article and len(request.readings) == 1:
        article = request.readings[0].path
    turn = Turn(Speaker.TUTOR, words.strip(), article)
    if not ended:
        return QuizReply(turn, cost=cost)
    right, missing = (
        tuple(Point(each.point, each.quote) for each in points if is_quoted(each.quote, texts))
        for points in (reply.right, reply.missing)
    )
    return QuizReply(turn, True, right, missing, cost)


def _without_answers(says: str, request: QuizRequest) -> str:
    texts = [reading.text for reading in request.readings]
    known = [turn.words for turn in request.turns if turn.speaker is Speaker.LEARNER]
    known += [question for reading in request.readings for question in reading.questions]
    return "".join(each for each in _SENTENCE.findall(says) if not gives_away(each, texts, known))


def _path(title: str, readings: tuple[Reading, ...]) -> str:
    return next((r.path for r in readings if r.title.casefold() == title.casefold()), "")


class ModelTutor:
    """A Tutor that asks a model."""

    def __init__(self, client: ModelClient, place: str = "") -> None:
        self._client, self._place = client, place

    @property
    def name(self) -> str:
        return f"{self._client.name} {prompt('quiz').version}"

    @property
    def place(self) -> str:
        return self._place

    def turn(self, request: QuizRequest, cancelled: Cancelled) -> QuizReply:
        """Return the tutor's next turn. Raises: ModelUnavailable."""
        answer = self._client.ask(quiz_prompt(request), cancelled)
        return turn_of(request, answer.value, answer.cost)


def configured_tutor(environment: Mapping[str, str]) -> Tutor:
    """Return what asks the questions of a quiz. Raises: ModelUnavailable where none is configured; Damaged settings."""
    client, place = configured_client("quiz", environment)
    return ModelTutor(client, place)
