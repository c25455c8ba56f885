"""What a model is sent for each typed request: the prompt of its type, one JSON value, and how its reply comes back.

What all requests of a type have in common stands first and is the same byte for byte, so that a server which keeps the
beginnings of prompts reads it once; what differs is one message. Checks are small and many: twenty go in one question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from compiler.engines.claude.prices import guessed
from compiler.model.requests import (
    REPLY_TO,
    ROLE_OF,
    AnswerRequest,
    CardsRequest,
    CheckReply,
    CheckRequest,
    ComposeRequest,
    ExtractRequest,
    Model,
    Reply,
    Request,
    Text,
    Verdict,
)
from compiler.replies.prompts import data, prompt

CHECKS = "checks"  # the question that holds several requests of type check
BUNDLE = 20  # checks in one question
MOST_TOKENS = {  # of an answer, a model's thoughts included
    "extract": 8_000,
    "compose": 8_000,
    "cards": 6_000,
    "match": 2_000,
    "reconcile": 2_000,
    CHECKS: 4_000,
    "answer": 4_000,
}
LARGER = 3  # times as many where an answer was cut off for its length
# What an answer takes as a rule, for estimates: tokens of its own, and for each token of what it is about.
_OWN, _SHARE = {"extract": 150, "compose": 200, "cards": 250}, {"extract": 0.8, "compose": 0.6, "cards": 0.4}
_EACH_CHECK, _OTHER = 60, 120
_FIRST = (
    "title",
    "aliases",
    "language",
    "headings",
    "known",
    "reasons",
    "question",
)  # of a request, the steadiest first
_NEVER = {"type", "marks", "source", "concept"}
_SEVERAL = (
    "\n\nSeveral requests come at once, as `requests`, each with a number `n`. Judge each by itself alone, and give"
    " `verdicts`: one for every `n`, with `n`, `entailed` and `why`."
)


class CheckVerdict(Model):
    n: int
    entailed: Verdict
    why: Text = ""


class CheckVerdicts(Model):
    verdicts: tuple[CheckVerdict, ...]


SHAPES: Mapping[str, type[BaseModel]] = {**REPLY_TO, CHECKS: CheckVerdicts}


@dataclass(frozen=True, slots=True)
class Question:
    """One question for a model: `of` which type, for which requests (by their index), and the words of the message."""

    of: str
    requests: tuple[int, ...]
    words: str

    @property
    def role(self) -> str:
        return ROLE_OF.get(self.of, "check")


def questions(requests: Sequence[Request]) -> Iterator[Question]:
    """The questions that put all of `requests`, those in need of most words first."""
    checks = [(n, r) for n, r in enumerate(requests) if isinstance(r, CheckRequest)]
    alone = [Question(r.type, (n,), data(body(r))) for n, r in enumerate(requests) if not isinstance(r, CheckRequest)]
    yield from sorted(alone, key=lambda q: -len(q.words))
    for start in range(0, len(checks), BUNDLE):
        yield bundle(checks[start : start + BUNDLE])


def bundle(checks: Sequence[tuple[int, CheckRequest]]) -> Question:
    """One question for several checks."""
    listed = [{"n": n, **body(request)} for n, (_, request) in enumerate(checks, 1)]
    return Question(CHECKS, tuple(n for n, _ in checks), data({"requests": listed}))


def system(of: str) -> str:
    """What stands before every question of that type. Raises: Damaged, of the user's own version of a prompt."""
    return prompt("check").text + _SEVERAL if of == CHECKS else prompt(of).text


def body(request: Request) -> dict[str, Any]:
    """The request as a model sees it: without ids of ours and without what says nothing, the steady parts first."""
    said = request.model_dump(mode="json", exclude_defaults=True, exclude=_NEVER)
    if isinstance(request, ExtractRequest):
        said["standing"] = [{"quote": c["quote"]} for c in said.get("standing", ())]
        said.pop("offered", None)
    if isinstance(request, ComposeRequest | CardsRequest | AnswerRequest):
        said["claims"] = [_claim(claim) for claim in said["claims"]]
    ordered = [*(key for key in _FIRST if key in said), *(key for key in said if key not in _FIRST)]
    return {key: said[key] for key in ordered if said[key] not in ("", [], None)}


def _claim(claim: dict[str, Any]) -> dict[str, Any]:
    if claim["words"] == claim["quote"]:
        del claim["words"]
    return {key: value for key, value in claim.items() if value}


def schema(of: str) -> dict[str, Any]:
    """The JSON schema of a reply, without what only our own rules can fill."""
    made = SHAPES[of].model_json_schema()
    for part in made.get("$defs", {}).values():
        part.get("properties", {}).pop("start", None)
    return made


def replies(question: Question, value: BaseModel) -> dict[int, Reply]:
    """The reply to each of the question's requests that the value answers."""
    if not isinstance(value, CheckVerdicts):
        assert isinstance(value, REPLY_TO[question.of])
        return {question.requests[0]: value}
    count = len(question.requests)
    said = {v.n: CheckReply(entailed=v.entailed, why=v.why) for v in value.verdicts if 1 <= v.n <= count}
    return {question.requests[n - 1]: reply for n, reply in said.items()}


# --- estimates, which ask nobody --------------------------------------------------------------------------------------


def asked_tokens(question: Question) -> int:
    """About how many tokens the question sends, its schema with it."""
    return guessed(question.words) + guessed(system(question.of)) + guessed(str(schema(question.of))) + 50


def answered_tokens(question: Question) -> tuple[int, int]:
    """About how many tokens the answer takes, without and with much thinking."""
    if question.of == CHECKS:
        low = _EACH_CHECK * len(question.requests)
    else:
        low = int(_OWN.get(question.of, _OTHER) + _SHARE.get(question.of, 0.0) * guessed(question.words))
    low = min(low, MOST_TOKENS[question.of])
    return low, min(3 * low + 300, MOST_TOKENS[question.of])
