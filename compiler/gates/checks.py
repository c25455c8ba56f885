"""Verdicts of a model on whether words follow from quotes, where rules alone cannot tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from compiler.gates.entailment import names_around
from compiler.gates.gates import Entailed, card_words, form_fault, judge_card, needs_check
from compiler.language.lexicon import pattern
from compiler.model.requests import CardsReply, CheckReply, CheckRequest, ClaimView, ComposeReply, rests
from compiler.replies.asker import Asker
from compiler.replies.journal import Journal
from vault.text.formatting import fold

_POINTING = pattern("checks_pointing")
Pair = tuple[str, tuple[str, ...]]  # words, and the evidence that is to bear them out
Stated = tuple[str, str, str]  # what a claim states, its quote, and where that stands


@dataclass(slots=True)
class Verdicts:
    """Verdicts by words and evidence; a call returns the verdict, or None where there is none."""

    known: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, journal: Journal) -> Verdicts:
        """Return the verdicts of a journal; the latest on each pair counts."""
        found: dict[str, bool] = {}
        for entry in journal.entries:
            reply = entry.value() if entry.of == "check" else None
            if isinstance(reply, CheckReply):
                found[entry.rests] = reply.entailed == "yes"
        return cls(found)

    def __call__(self, words: str, evidence: Sequence[str]) -> bool | None:
        return self.known.get(rests(_request(words, evidence)))

    def around(self, context: str) -> Entailed:
        """Return a lookup of verdicts for quotes in `context`, as the same quote may mean another thing elsewhere."""
        return lambda words, evidence: self.known.get(
            rests(_request(words, evidence, _needed_context(words, evidence, context)))
        )

    def settle(self, pairs: Iterable[Pair], asker: Asker, *, judged: bool = False) -> None:
        """Have the pairs checked that rules cannot judge, all of them if `judged`. Raises what the asker raises."""
        soft = [pair for pair in pairs if judged or needs_check(*pair)]
        self._ask([_request(words, evidence) for words, evidence in soft], asker)

    def settle_statements(self, stated: Iterable[Stated], asker: Asker) -> None:
        """Have statements checked that rules alone cannot judge, each with the words around its quote."""
        soft = [each for each in stated if needs_check(each[0], each[1:2], names_around(each[2]))]
        wanted = [
            _request(words, (quote,), _needed_context(words, (quote,), context)) for words, quote, context in soft
        ]
        self._ask(wanted, asker)

    def _ask(self, wanted: Sequence[CheckRequest], asker: Asker) -> None:
        """Ask for the verdicts that are wanted and remember them."""
        for request, reply in zip(wanted, asker.ask(wanted, "check"), strict=True):
            if isinstance(reply, CheckReply):
                self.known[rests(request)] = reply.entailed == "yes"
            elif asker.dry:  # what waits for an answer is not refused yet
                self.known.setdefault(rests(request), True)


def _needed_context(words: str, evidence: Sequence[str], context: str) -> str:
    """Return `context` if the words take something from it that a quote only points at, else ""."""
    if not needs_check(words, evidence):
        return context  # a name that no quote has
    pointing = {found.casefold() for quote in evidence for found in _POINTING.findall(quote)}
    return context if pointing - {found.casefold() for found in _POINTING.findall(words)} else ""


def _request(words: str, evidence: Sequence[str], context: str = "") -> CheckRequest:
    """Return the request to check a pair, in one form however the pair is put."""
    return CheckRequest(words=fold(words), evidence=tuple(dict.fromkeys(fold(e) for e in evidence)), context=context)


def pairs_of_article(reply: ComposeReply, views: Sequence[ClaimView]) -> list[Pair]:
    """Return each sentence of an article with the quotes that it cites."""
    claims = {v.id: v for v in views}
    said = [s for section in reply.sections for paragraph in section.paragraphs for s in paragraph]
    return [(s.text, _evidence(s.cites, claims)) for s in said if s.cites and all(c in claims for c in s.cites)]


def pairs_of_cards(reply: CardsReply, views: Sequence[ClaimView], names: Sequence[str]) -> list[Pair]:
    """Return each card that rules alone cannot judge, with the quotes that it cites; `names` are the concept's."""
    claims = {v.id: v for v in views}
    cited = [(c, _evidence(c.cites, claims)) for c in reply.cards if c.cites and all(i in claims for i in c.cites)]
    return [(card_words(c), e) for c, e in cited if not form_fault(c, names) and judge_card(c, names, e).needs_check]


def _evidence(cites: Sequence[str], claims: dict[str, ClaimView]) -> tuple[str, ...]:
    """Return the quotes and words of the cited claims."""
    return tuple(t for c in cites for t in (claims[c].quote, claims[c].words))
