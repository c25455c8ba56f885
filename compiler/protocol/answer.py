"""ANSWER: a question answered from numbered claims."""

from __future__ import annotations

import re

from compiler.protocol.faults import Fault
from compiler.protocol.plain_text import plain_words
from compiler.protocol.replies import AnswerReply, AnswerSentence
from compiler.protocol.requests import AnswerRequest
from vault.text.formatting import clean_line, fold

_CITE = re.compile(r"\[\s*(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\s*\]")
_MISSING = re.compile(r"^[\s>*-]*MISSING\b\**:?\s*(.*)$")


def render(request: AnswerRequest) -> str:
    """Return the request as text, without the instructions of its type."""
    out = [f"QUESTION {clean_line(request.question)}", ""]
    for n, claim in enumerate(request.claims, 1):
        said = "" if fold(claim.words) == fold(claim.quote) else f" (that is: {clean_line(claim.words)})"
        out.append(f"[{n}] {clean_line(claim.quote)}{said} ({clean_line(claim.source)})")
    return "\n".join(out)


def parse(request: AnswerRequest, text: str) -> tuple[AnswerReply, list[Fault]]:
    """Return the sentences of an answer with the claims that they cite, what is missing, and its faults."""
    faults: list[Fault] = []
    sentences: list[AnswerSentence] = []
    missing = ""
    for number, line in enumerate(text.split("\n"), 1):
        if match := _MISSING.match(line):
            missing = fold(plain_words(match[1]))[:2_000]
            continue
        at = 0
        for cite in _CITE.finditer(line):
            said = plain_words(line[at : cite.start()]).lstrip(".-* ")
            at = cite.end()
            numbers = [int(n) for n in re.findall(r"\d+", cite[1])]
            if wrong := [n for n in numbers if not 1 <= n <= len(request.claims)]:
                faults.append(Fault(number, said, f"there is no claim {wrong[0]}", ""))
            elif any(c.isalnum() for c in said):
                ids = tuple(dict.fromkeys(request.claims[n - 1].id for n in numbers))
                sentences.append(AnswerSentence(text=said[:2_000], cites=ids))
        rest = plain_words(line[at:]).lstrip(".-* ")
        if any(c.isalnum() for c in rest):
            faults.append(
                Fault(number, rest, "the sentence cites nothing", "end it with the number of a claim, as [3]")
            )
    if not sentences and not missing:
        faults.append(Fault(0, "", "the answer says nothing", "write MISSING and what the claims do not tell"))
    return AnswerReply(sentences=tuple(sentences), missing=missing), faults
