"""What is asked of a model over the Messages API, and what it answers: the port between prompts and the wire."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from vault.config.engine import EngineSettings
from vault.log.grading import Cancelled, Cost
from vault.text.sanitize import clean_line

R = TypeVar("R", bound=BaseModel)
_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
_MOST_TOLD = 5  # faults of a reply that the model is told of


@dataclass(frozen=True, slots=True)
class Said:
    """`blocks` are documents and pictures that stand before the words, as the Messages API has them."""

    role: Literal["user", "assistant"]
    words: str
    blocks: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Ask(Generic[R]):
    """`reply` is the shape that the answer must have; `most_tokens` bounds it, thoughts included.

    An answer that is cut off there may take `longer` once. `cached` ("5m", "1h") has the server keep what stands before
    the words for so long; `schema` is told in place of the shape's own; `shown` is how many tokens blocks take at most;
    `effort` how much it may think.
    """

    system: str
    said: tuple[Said, ...]
    reply: type[R]
    most_tokens: int = 2_000
    longer: int = 0
    cached: Literal["", "5m", "1h"] = ""
    schema: Mapping[str, Any] | None = None
    shown: int = 0
    effort: Literal["", "low", "medium", "high"] = ""


@dataclass(frozen=True, slots=True)
class Answer(Generic[R]):
    value: R
    cost: Cost


class Speaker(Protocol):
    """`name` is "claude/1 model"."""

    @property
    def name(self) -> str: ...

    def ask(self, asked: Ask[R], cancelled: Cancelled) -> Answer[R]:
        """Raises: ModelUnavailable."""
        ...


_speakers: dict[tuple[str, str, str], Speaker] = {}  # a client takes long to make, and remembers what its server can do


def speaker(settings: EngineSettings, model: str, key: str) -> Speaker:
    """Whoever speaks to that model for this process."""
    known = (settings.base_url, model, key)
    if known not in _speakers:
        from compiler.engines.claude.client import Claude  # it loads the library when it is asked first

        _speakers[known] = Claude(settings, model, key)
    return _speakers[known]


class NotAsAsked(Exception):
    """The reply has another shape; the words say what is wrong with it, for the model's ears.

    `value` tells whether there was a JSON object at all: whoever knows the form can be asked to mend it.
    """

    def __init__(self, wrong: str, *, value: bool = False) -> None:
        super().__init__(wrong)
        self.value = value


def reply_in(text: str, shape: type[R]) -> R:
    """The reply in `text`: all of it, or the first JSON object inside it. Raises: NotAsAsked."""
    return shaped(_object_in(text), shape)


def shaped(value: object, shape: type[R]) -> R:
    """Raises: NotAsAsked."""
    try:
        return shape.model_validate_json(json.dumps(value))
    except (ValidationError, ValueError, RecursionError) as error:
        if not isinstance(error, ValidationError):
            raise NotAsAsked("the reply is no JSON value") from error
        faults = [f"{'.'.join(map(str, e['loc'])) or 'reply'}: {e['msg']}" for e in error.errors()[:_MOST_TOLD]]
        raise NotAsAsked(clean_line("; ".join(faults)), value=True) from error


def _object_in(text: str) -> object:
    fence = _FENCE.search(text)
    for words in (text, fence[1] if fence else "", text[text.find("{") :] if "{" in text else ""):
        try:
            found, _ = json.JSONDecoder().raw_decode(words.lstrip())
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    raise NotAsAsked("the reply holds no JSON object")
