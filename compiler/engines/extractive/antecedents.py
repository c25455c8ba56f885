"""What "it", "they" and "this method" mean at the start of a sentence, where the sentence before leaves no doubt."""

from __future__ import annotations

import re
from dataclasses import dataclass

from compiler.engines.extractive.grammar.clauses import Clause
from compiler.engines.extractive.grammar.definitions import Definition
from compiler.engines.extractive.questions.inversion import is_plural
from compiler.engines.extractive.questions.question import Matter, flat
from compiler.engines.extractive.sentences import Sentence
from compiler.language import lexicon, names

MAX_QUOTE = 600
_PRONOUN = re.compile(r"(?P<it>It|They|Its|Their)\s+(?=\w)")
_THIS = re.compile(r"(?P<this>This|These) (?P<noun>[a-z]+)\s+(?=\w)")
# "The downside is that ..." right after a sentence about X: the downside of X.
_TRAIT = re.compile(
    r"(?P<trait>(?:The|One|A|Another) (?:\w+ )?(?:downside|drawback|disadvantage|advantage|benefit|limitation|"
    r"strength|weakness|goal|aim|purpose|idea|intuition))"
    r" is (?=that|to\b)"
)
_REASON = re.compile(r"(?:This|That) is (?:mainly |largely |partly |probably )?because (?P<why>\S.*)$", re.DOTALL)
# "It is possible to", "It follows that": stands for what comes after, not before
_EMPTY_IT = re.compile(
    r"It(?:['’]s| \w+)(?: \w+){0,3}? (?:that|to|for|whether|how|why|if)\b(?<!used to)(?<!used for)(?<!applied "
    r"to)(?<!attributed to)"
)
_REFERS_BACK = re.compile(
    r"It \w+(?: \w+)? (?:used|applied|designed|intended|meant|related|similar|limited|equivalent|suited|linked|tied|"
    r"due|prone|known|able|sensitive|trained|easy|hard|difficult|useful)\b"
)


@dataclass(frozen=True, slots=True)
class Antecedent:
    """The subject of an earlier sentence, as it may stand again; `start` is where the words that name it begin."""

    subject: str
    plural: bool
    genus: str
    start: int
    block: int


def antecedent_of(clause: Clause, definition: Definition | None, start: int, block: int) -> Antecedent | None:
    """What a later pronoun would mean: the clause's subject, if that is one plain name."""
    subject = re.sub(r"\s*\([^()]*\)", "", clause.subject)
    if not names.is_name(subject) or len(subject.split()) > 6:
        return None
    genus = definition.body.split() if definition else []
    head = next((w for w in genus[1:6] if w.casefold().rstrip("s") in _GENERA), "")
    return Antecedent(subject, is_plural(clause), head.casefold(), start, block)


_GENERA = frozenset(
    "method technique approach procedure strategy algorithm model effect principle theory process mechanism "
    "phenomenon function measure system rule law hypothesis schedule task finding technique network layer".split()
)


def resolved(sentence: Sentence, before: Antecedent | None) -> str:
    """The sentence with its first pronoun replaced by the name it means; "" where that is in doubt."""
    if before is None or before.block != sentence.block or sentence.end - before.start > MAX_QUOTE:
        return ""
    text = sentence.text
    if match := _THIS.match(text):
        told = lexicon.singular(match["noun"]) in flat(before.subject).split() or match["noun"] == before.genus
        agrees = (match["this"] == "These") == before.plural
        return _put(before.subject, text[match.end() :]) if told and agrees else ""
    if match := _TRAIT.match(text):
        return f"{match['trait']} of {Matter(before.subject).lower(before.subject)} is {text[match.end() :]}"
    match = _PRONOUN.match(text)
    if not match or (match["it"] in ("They", "Their")) != before.plural:
        return ""
    if _EMPTY_IT.match(text) and not _REFERS_BACK.match(text):
        return ""
    subject = before.subject
    if match["it"] in ("Its", "Their"):
        subject += "’" if subject.endswith("s") else "’s"
    return _put(subject, text[match.end() :])


def with_reason(sentence: Sentence, last: Sentence | None) -> str:
    """From "A. This is because B." as one sentence; "" if it is not of that form."""
    match = _REASON.match(sentence.text)
    if not match or last is None or last.block != sentence.block or sentence.end - last.start > MAX_QUOTE:
        return ""
    return f"{last.text.rstrip('.')}, because {match['why']}"


def _put(subject: str, rest: str) -> str:
    return f"{subject[:1].upper()}{subject[1:]} {rest}"
