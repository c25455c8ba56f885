"""A prompt for the Messages API, and how an answer's text becomes a value of the wanted shape, where one is wanted."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from vault.log.grading import Cancelled, Cost
from vault.text.formatting import clean_line


class Form(BaseModel):
    """The shape of an answer that a model gives as JSON."""

    model_config = ConfigDict(extra="forbid", frozen=True)


R = TypeVar("R", bound=Form)
_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
_MAX_REPORTED_ERRORS = 5  # of one reply


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One turn of the conversation."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is sent.

    `max_tokens` bounds the answer, thinking included; one that is cut off there may take `longer_max_tokens` once.
    `cached` ("5m", "1h") has the server cache the system prompt for so long; `effort` is how much the model may think.
    """

    system: str
    messages: tuple[ChatMessage, ...]
    max_tokens: int = 2_000
    longer_max_tokens: int = 0
    cached: Literal["", "5m", "1h"] = ""
    effort: Literal["", "low", "medium", "high"] = ""


@dataclass(frozen=True, slots=True)
class JsonPrompt(Prompt, Generic[R]):
    """A prompt whose answer is a JSON object of the shape `reply`."""

    reply: type[R] = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Answer(Generic[R]):
    """A reply of the wanted shape, and the tokens it took."""

    value: R
    cost: Cost


class ModelClient(Protocol):
    """Sends prompts to one model; `name` is "claude/1 MODEL"."""

    @property
    def name(self) -> str: ...

    def ask(self, prompt: JsonPrompt[R], cancelled: Cancelled) -> Answer[R]:
        """Return the model's answer. Raises: ModelUnavailable."""
        ...


class InvalidReply(Exception):
    """A reply has another shape; the text says what is wrong with it, for the model to read.

    `is_object` is whether it was a JSON object at all, so that the model can be asked to correct it.
    """

    def __init__(self, problem: str, *, is_object: bool = False) -> None:
        super().__init__(problem)
        self.is_object = is_object


def parse_reply(text: str, shape: type[R]) -> R:
    """Return the reply in `text`: all of it, or the first JSON object inside it. Raises: InvalidReply."""
    value = _first_object(text)
    try:
        return shape.model_validate_json(json.dumps(value))
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, e['loc'])) or 'reply'}: {e['msg']}" for e in error.errors()]
        problem = clean_line("; ".join(problems[:_MAX_REPORTED_ERRORS]))
        raise InvalidReply(problem, is_object=True) from error
    except (ValueError, RecursionError) as error:
        raise InvalidReply("the reply is not valid JSON") from error


def _first_object(text: str) -> object:
    fence = _FENCE.search(text)
    for candidate in (text, fence[1] if fence else "", text[text.find("{") :] if "{" in text else ""):
        try:
            value, _ = json.JSONDecoder().raw_decode(candidate.lstrip())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    raise InvalidReply("the reply contains no JSON object")
