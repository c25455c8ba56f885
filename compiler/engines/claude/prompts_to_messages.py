"""What a model is sent for each typed request: the system prompt of its type and one JSON value; and its reply.

All questions of a type begin with the same bytes, so that the server's prompt cache works; what differs is one message.
Checks are small and many: twenty go into one question.
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
BUNDLE_SIZE = 20  # checks in one question
MAX_TOKENS = {  # of an answer, a model's thoughts included
    "extract": 8_000,
    "compose": 8_000,
    "cards": 6_000,
    "match": 2_000,
    "reconcile": 2_000,
    CHECKS: 4_000,
    "answer": 4_000,
}
LARGER = 3  # times as many where an answer was cut off for its length
# The usual tokens of an answer, for estimates: a base, and a share for each token of the question.
_BASE_TOKENS, _SHARE = {"extract": 150, "compose": 200, "cards": 250}, {"extract": 0.8, "compose": 0.6, "cards": 0.4}
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
    """One question for a model: its type, the indexes of the requests that it asks, and the text of its message."""

    type: str
    requests: tuple[int, ...]
    text: str

    @property
    def role(self) -> str:
        """Which of the user's models answers: "extract", "write" or "check"."""
        return ROLE_OF.get(self.type, "check")


def questions(requests: Sequence[Request]) -> Iterator[Question]:
    """Yield the questions that ask all of `requests`, the longest first."""
    checks = [(n, r) for n, r in enumerate(requests) if isinstance(r, CheckRequest)]
    alone = [Question(r.type, (n,), data(body(r))) for n, r in enumerate(requests) if not isinstance(r, CheckRequest)]
    yield from sorted(alone, key=lambda q: -len(q.text))
    for start in range(0, len(checks), BUNDLE_SIZE):
        yield bundle(checks[start : start + BUNDLE_SIZE])


def bundle(checks: Sequence[tuple[int, CheckRequest]]) -> Question:
    """Return one question for several checks, given with their indexes."""
    listed = [{"n": n, **body(request)} for n, (_, request) in enumerate(checks, 1)]
    return Question(CHECKS, tuple(n for n, _ in checks), data({"requests": listed}))


def system(type_: str) -> str:
    """Return the system prompt of a type. Raises: Damaged, for the user's own version of a prompt."""
    return prompt("check").text + _SEVERAL if type_ == CHECKS else prompt(type_).text


def body(request: Request) -> dict[str, Any]:
    """Return the request as a model sees it: without our ids and empty fields, those that vary least first."""
    fields = request.model_dump(mode="json", exclude_defaults=True, exclude=_NEVER)
    if isinstance(request, ExtractRequest):
        fields["standing"] = [{"quote": c["quote"]} for c in fields.get("standing", ())]
        fields.pop("offered", None)
    if isinstance(request, ComposeRequest | CardsRequest | AnswerRequest):
        fields["claims"] = [_claim(claim) for claim in fields["claims"]]
    ordered = [*(key for key in _FIRST if key in fields), *(key for key in fields if key not in _FIRST)]
    return {key: fields[key] for key in ordered if fields[key] not in ("", [], None)}


def _claim(claim: dict[str, Any]) -> dict[str, Any]:
    if claim["words"] == claim["quote"]:
        del claim["words"]
    return {key: value for key, value in claim.items() if value}


def schema(type_: str) -> dict[str, Any]:
    """Return the JSON schema of a reply, without fields that only our own rules can fill."""
    result = SHAPES[type_].model_json_schema()
    for part in result.get("$defs", {}).values():
        part.get("properties", {}).pop("start", None)
    return result


def replies(question: Question, value: BaseModel) -> dict[int, Reply]:
    """Return the replies that `value` holds, by the index of the request."""
    if not isinstance(value, CheckVerdicts):
        assert isinstance(value, REPLY_TO[question.type])
        return {question.requests[0]: value}
    count = len(question.requests)
    verdicts = {v.n: CheckReply(entailed=v.entailed, why=v.why) for v in value.verdicts if 1 <= v.n <= count}
    return {question.requests[n - 1]: reply for n, reply in verdicts.items()}


# --- estimates ---


def asked_tokens(question: Question) -> int:
    """Return about how many tokens the question sends, its schema included."""
    return guessed(question.text) + guessed(system(question.type)) + guessed(str(schema(question.type))) + 50


def answered_tokens(question: Question) -> tuple[int, int]:
    """Return about how many tokens the answer takes, without and with much thinking."""
    if question.type == CHECKS:
        low = _EACH_CHECK * len(question.requests)
    else:
        low = int(_BASE_TOKENS.get(question.type, _OTHER) + _SHARE.get(question.type, 0.0) * guessed(question.text))
    low = min(low, MAX_TOKENS[question.type])
    return low, min(3 * low + 300, MAX_TOKENS[question.type])
