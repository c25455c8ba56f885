"""Checks by rule, for models too small to check: a sentence stays if it is one that it cites, word for word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from compiler.gates.gates import literal_fault
from compiler.language.tokens import CJK, WORD
from compiler.protocol.citations import Shown, citations_in
from compiler.protocol.replies import CheckReply, CheckVerdict
from compiler.protocol.requests import CheckItem, CheckRequest, Request
from compiler.replies.asker import Answered, Backend, Failed, KeepsNotes
from compiler.replies.journal import SMALL
from vault.log.ledger import Event
from vault.text.formatting import fold

ENGINE = "literal/1"
_ARTICLES = {"a", "an", "the"}


@dataclass(frozen=True, slots=True)
class LiteralChecks:
    """A backend whose checks are done by rule, and everything else by another backend."""

    backend: Backend

    @property
    def name(self) -> str:
        """Return the name of the other backend."""
        return self.backend.name

    def opened(self, notes: Sequence[Event], note: Callable[[Event], None]) -> None:
        """Pass notes on to the other backend, if it keeps any."""
        if isinstance(self.backend, KeepsNotes):
            self.backend.opened(notes, note)

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[int, Answered | Failed]]:
        """Yield (index, answer) as they come."""
        others: list[tuple[int, Request]] = []
        for n, request in enumerate(requests):
            if isinstance(request, CheckRequest):
                yield n, Answered(literal_reply(request), ENGINE)
            else:
                others.append((n, request))
        if others:
            for k, answer in self.backend.answers([request for _, request in others]):
                if isinstance(answer, Answered):
                    answer = replace(answer, engine=f"{answer.engine}{SMALL}")
                yield others[k][0], answer


def literal_reply(request: CheckRequest) -> CheckReply:
    """Return a verdict on each item of a request: "ok", or "drop" with the reason."""
    shown = Shown(request.documents)
    return CheckReply(verdicts=tuple(_verdict(item, _evidence(item, shown)) for item in request.items))


def _evidence(item: CheckItem, shown: Shown) -> list[str]:
    cited = [c for cite in citations_in(f"[{'; '.join(item.places)}]") for c in cite.items]
    return [quote.words for c in cited for quote in shown.quotes(c)[0]]


def _verdict(item: CheckItem, evidence: Sequence[str]) -> CheckVerdict:
    why = "an inference that cannot be checked" if item.mark else _fault(item, evidence)
    return CheckVerdict(item=item.key, verdict="drop" if why else "ok", why=why)


def _fault(item: CheckItem, evidence: Sequence[str]) -> str:
    """Return why an item does not say what its evidence says in the evidence's own words; "" if it does."""
    if item.answer:
        return literal_fault(fold(item.answer), evidence, "the evidence") or literal_fault(
            fold(item.text), [*evidence, item.about], "the evidence"
        )
    said = _words(item.text)
    return (
        "" if said and said in [_words(text) for text in evidence] else "it is not a verbatim quote from the evidence"
    )


def _words(text: str) -> list[str]:
    """Return the words of a sentence but for articles: "rarely", "may" or "only" changes what is said."""
    return [word for word in WORD.findall(CJK.sub(r" \g<0> ", fold(text)).casefold()) if word not in _ARTICLES]
