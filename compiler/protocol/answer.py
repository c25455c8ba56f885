"""ANSWER: a question answered from numbered claims, `[3]`, and passages of sources, `[2:17b]`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from compiler.protocol.citations import Citation as PassageCitation
from compiler.protocol.citations import Shown, citations_in
from compiler.protocol.documents import lines_of
from compiler.protocol.faults import Fault
from compiler.protocol.plain_text import plain_words
from compiler.protocol.replies import AnswerReply, AnswerSentence, Quote
from compiler.protocol.requests import AnswerRequest
from vault.text.formatting import clean_line, fold

_CITE = re.compile(r"\[\s*(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\s*\]")
_PASSAGE = r"\d{1,3}:\d{1,5}(?:[a-z]{1,2}(?:\s*[-–,]\s*[a-z]{1,2})*)?"
# Claims and passages in one bracket, `[3; 2:17b]` and `[2:17b; 3]`, are read as in two.
_CLAIM_FIRST = re.compile(rf"\[(\s*\d{{1,3}}(?:\s*[;,]\s*\d{{1,3}})*)\s*[;,]\s*(?={_PASSAGE}\s*[\];,])")
_PASSAGE_FIRST = re.compile(
    rf"(\[\s*{_PASSAGE}(?:\s*[;,]\s*{_PASSAGE})*)\s*[;,]\s*(?=\d{{1,3}}(?:\s*[;,]\s*\d{{1,3}})*\s*\])"
)
_MISSING = re.compile(r"^[\s>*-]*MISSING\b\**:?\s*(.*)$")


def render(request: AnswerRequest) -> str:
    """Return the request as text, without the instructions of its type."""
    out = [f"QUESTION {clean_line(request.question)}"]
    for exchange in request.earlier:
        out.append(f"BEFORE {clean_line(exchange.question)}")
        out += [f"  answered: {clean_line(exchange.answer)}"] if exchange.answer else []
    if request.titles:
        out.append(f"OTHER PAGES {' | '.join(map(clean_line, request.titles))}")
    for article in request.articles:
        out += ["", f"ARTICLE {clean_line(article.title)}"]
        out += [f"  {clean_line(line)}" for line in article.text.split("\n")]
    out.append("")
    for n, claim in enumerate(request.claims, 1):
        said = "" if fold(claim.words) == fold(claim.quote) else f" (that is: {clean_line(claim.words)})"
        out.append(f"[{n}] {clean_line(claim.quote)}{said} ({clean_line(claim.source)})")
    return "\n".join([*out, *lines_of(request.documents)])


def parse(request: AnswerRequest, text: str) -> tuple[AnswerReply, list[Fault]]:
    """Return the sentences of an answer with what they cite, what is missing, and its faults."""
    reader = _Reader(request)
    for number, line in enumerate(text.split("\n"), 1):
        if match := _MISSING.match(line):
            reader.missing = fold(plain_words(match[1]))[:2_000]
        else:
            reader.read(number, line)
    reply = AnswerReply(sentences=tuple(reader.sentences), missing=reader.missing)
    if not reply.sentences and not reply.missing:
        what = "write MISSING and what the claims and passages do not say"
        reader.faults.append(Fault(0, "", "the answer contains no cited sentence", what))
    return reply, reader.faults


@dataclass(frozen=True, slots=True)
class _Cited:
    """A citation at `start` to `end` of a line: numbers of claims, or passages."""

    start: int
    end: int
    claims: tuple[int, ...] = ()
    passages: PassageCitation | None = None


def _cited(line: str) -> list[_Cited]:
    """Return the citations of a line in order."""
    claims = (_Cited(m.start(), m.end(), tuple(map(int, re.findall(r"\d+", m[1])))) for m in _CITE.finditer(line))
    passages = (_Cited(cite.start, cite.end, passages=cite) for cite in citations_in(line))
    return sorted([*claims, *passages], key=lambda cite: cite.start)


class _Reader:
    """Reads the lines of one answer."""

    def __init__(self, request: AnswerRequest) -> None:
        self.request, self.shown = request, Shown(request.documents)
        self.sentences: list[AnswerSentence] = []
        self.faults: list[Fault] = []
        self.missing = ""

    def read(self, number: int, line: str) -> None:
        line = _PASSAGE_FIRST.sub(r"\1][", _CLAIM_FIRST.sub(r"[\1][", line))
        at, goes_on = 0, False
        for cite in _cited(line):
            said = plain_words(line[at : cite.start]).lstrip(".-* ")
            at = cite.end
            is_new = any(c.isalnum() for c in said)
            if is_new:
                goes_on = False
            elif not goes_on:
                continue
            sentence = self._sentence(number, said, cite) if is_new else self._more(number, cite)
            goes_on = sentence is not None
            if sentence is not None:
                self.sentences[len(self.sentences) - (not is_new) :] = [sentence]
        rest = plain_words(line[at:]).lstrip(".-* ")
        if any(c.isalnum() for c in rest):
            hint = "end it with the number of a claim, such as [3], or a place in a passage, such as [2:17b]"
            self.faults.append(Fault(number, rest, "the sentence cites nothing", hint))

    def _sentence(self, number: int, said: str, cite: _Cited) -> AnswerSentence | None:
        """Return a sentence with its first citation; None, and a fault, where that is none."""
        ids, quotes, faults = self._evidence(number, said, cite)
        self.faults += faults
        if faults and not (ids or quotes):
            return None
        return AnswerSentence(text=said[:2_000], cites=ids, quotes=quotes)

    def _more(self, number: int, cite: _Cited) -> AnswerSentence:
        """Return the last sentence with one more citation."""
        last = self.sentences[-1]
        ids, quotes, faults = self._evidence(number, last.text, cite)
        self.faults += faults
        cites = tuple(dict.fromkeys((*last.cites, *ids)))
        return last.replaced(cites=cites, quotes=tuple(dict.fromkeys((*last.quotes, *quotes)))[:12])

    def _evidence(self, number: int, said: str, cite: _Cited) -> tuple[tuple[str, ...], tuple[Quote, ...], list[Fault]]:
        """Return the claims and quotes of a citation, and what is wrong with it; of wrong numbers nothing counts."""
        if wrong := [n for n in cite.claims if not 1 <= n <= len(self.request.claims)]:
            return (), (), [Fault(number, said, f"there is no claim {wrong[0]}", "")]
        ids = tuple(dict.fromkeys(self.request.claims[n - 1].id for n in cite.claims))
        quotes, faults = list[Quote](), list[Fault]()
        for item in cite.passages.items if cite.passages is not None else ():
            found, why, hint = self.shown.quotes(item)
            quotes += found
            faults += [Fault(number, item.words or item.label, why, hint)] if why else []
        return ids, tuple(dict.fromkeys(quotes))[:12], faults
