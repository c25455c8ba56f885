"""What a sentence explains in passing, as a claim of its own: "... X, a Y that does Z, ..." says that X is a Y."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.engines.extractive.grammar.asides import apposition_in, named_after
from compiler.engines.extractive.grammar.clauses import parse
from compiler.engines.extractive.grammar.definitions import Definition
from compiler.engines.extractive.grammar.standalone import stands_alone
from compiler.language import lexicon, names
from compiler.model.requests import ExtractedClaim
from vault.model.claim import ClaimKind

MAX_SENTENCE = 600
_PROMISING = re.compile(
    r", (?:which (?:is|are|means?|refers?)|an?|also|called|known|termed) |[—–]|--|\((?:i\.e|an? |the )"
    r"|\b(?:called|known as|termed|referred to as) "
)
_IN_BRACKETS = re.compile(
    r"(?P<term>(?:[\w-]+ ){0,4}[\w-]+) \((?:i\.e\.,? )?(?P<body>(?:an?|the) [a-z][^()]{12,160})\)"
)


def explained_in_passing(sentence: str, start: int) -> Iterator[tuple[ExtractedClaim, Definition]]:
    """Claims that quote only the part of `sentence` that explains; `start` is the sentence's place in its segment."""
    if len(sentence) > MAX_SENTENCE or not _PROMISING.search(sentence):
        return
    for found in (apposition_in(sentence), named_after(sentence), _bracketed(sentence)):
        if found is None or not _tells(found):
            continue
        said = _statement(found)
        span = _span(sentence, found)
        if span is None or not stands_alone(said):
            continue
        quote = sentence[span[0] : span[1]]
        yield (
            ExtractedClaim(
                kind=ClaimKind.DEFINITION, quote=quote, statement=said, about=(found.name,), start=start + span[0]
            ),
            found,
        )
        return


_TELLS_APART = re.compile(r"\b(?:that|which|whose|where|who|of|for|used|between|to|in|with|by)\b")
_SOMEBODY = re.compile(
    r"^an? (?:[\w-]+ )*(?:researcher|organi[sz]ation|company|firm|professor|scientist|author|university|city|country|"
    r"man|woman|person|story|song|film|novel)\b"
)


_PRAISED = frozenset("strategy approach way solution idea option choice alternative trick remedy".split())


def _tells(found: Definition) -> bool:
    """Whether the words say what kind of thing a name stands for, and are no sentence, person or scrap themselves."""
    first, last = found.name.split()[0].casefold(), found.name.split()[-1].casefold()
    if first in lexicon.GENERIC_ADJECTIVES or "?" in found.body or _SOMEBODY.match(found.body):
        return False
    if found.verb == "is" and names.key(last) != last and not found.name.isupper():
        return False
    if len(found.name.split()) == 2 and last in _PRAISED and lexicon.looks_adjective(first):
        return False
    told = _TELLS_APART.search(found.body)
    return told is not None and not (parse(f"{found.body}.") and not re.search(r"\b(?:that|which|where)\b", found.body))


def _statement(found: Definition) -> str:
    term = found.term.strip()
    return f"{term[:1].upper()}{term[1:]} {found.verb} {found.body.strip().rstrip('.,;:')}."


def _span(sentence: str, found: Definition) -> tuple[int, int] | None:
    """From the first of the two parts, name and body, to the end of the other."""
    body, term = sentence.find(found.body), sentence.find(found.term)
    if body < 0 or term < 0:
        return None
    end = max(body + len(found.body), term + len(found.term))
    return min(body, term), end + (sentence[end : end + 1] == ")")


def _bracketed(sentence: str) -> Definition | None:
    """From "a query vector (a vector that asks for ...)"."""
    for match in _IN_BRACKETS.finditer(sentence):
        if match.start() and sentence[match.start() - 1] in "'’-":
            continue
        parts = match["term"].split()
        for first in range(len(parts)):
            term = " ".join(parts[first:])
            if names.is_name(term) and (first == 0 or parts[first - 1].casefold() in ("a", "an", "the")):
                if len(match["body"].split()) >= 4 and re.search(
                    r"\b(?:that|which|of|for|used|where)\b", match["body"]
                ):
                    return Definition(term, match["body"], "apposition", "is")
                break
    return None
