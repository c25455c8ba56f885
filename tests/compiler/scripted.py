"""A backend that answers by rule, in text, as a model does; it counts, and can be made to fail or say other things."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from compiler.protocol.forms import parse, render
from compiler.protocol.requests import Request
from compiler.replies.asker import Answered, Failed
from tests.compiler.scripted_model import answer_for

_WAYS = ("Notably, ", "In short, ", "Plainly, ", "As a rule, ", "Put simply, ")
_CITED = re.compile(r"^((?:- |\d+\. )?)(?=[A-Z].* \[\d+:\d+)", re.MULTILINE)
Rewriter = Callable[[str, str], str]  # (type of the request, answer) -> another answer


@dataclass
class Scripted:
    """Answers every request. `fail_after` ends it for good after so many; `broken` says why one gets no answer.

    `reword` changes the answers, `verdicts` what CHECK and RECONCILE say to the text of a request.
    """

    name: str = "scripted"
    engine: str = "scripted/1"
    reword: Rewriter = lambda type_, answer: answer
    verdicts: Callable[[str, str], str] | None = None
    tokens: tuple[int, int] = (100, 20)
    usd: float | None = 0.001
    fail_after: int | None = None
    broken: Callable[[Request], str] = lambda request: ""
    asked: list[Request] = field(default_factory=list)
    sent: int = 0  # bytes of all requests
    received: int = 0  # bytes of all answers

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[int, Answered | Failed]]:
        for n, request in enumerate(requests):
            if self.fail_after is not None and len(self.asked) >= self.fail_after:
                yield n, Failed("nobody answers any more", "run it again", final=True)
                return
            self.asked.append(request)
            if why := self.broken(request):
                yield n, Failed(why, tokens=self.tokens, usd=self.usd)
                continue
            put = render(request)
            said = self.said(request.type, put)
            size = len(put.encode("utf-8", "surrogatepass")), len(said.encode("utf-8", "surrogatepass"))
            self.sent, self.received = self.sent + size[0], self.received + size[1]
            reply, faults = parse(request, said)
            refused = tuple(map(str, faults))
            yield n, Answered(reply, self.engine, self.tokens, self.usd, refused=refused, size=size)

    def said(self, type_: str, text: str) -> str:
        """What is answered to a request that reads `text`."""
        if self.verdicts is not None and type_ in ("check", "reconcile"):
            return self.verdicts(type_, text)
        return self.reword(type_, answer_for(type_, text))

    def counts(self) -> Counter[str]:
        return Counter(request.type for request in self.asked)


@dataclass
class Whimsical(Scripted):
    """Says it in other words each time."""

    rng: random.Random = field(default_factory=lambda: random.Random(7))

    def said(self, type_: str, text: str) -> str:
        answer = super().said(type_, text)
        return _CITED.sub(lambda m: m[1] + self.rng.choice(_WAYS), answer) if type_ == "write" else answer
