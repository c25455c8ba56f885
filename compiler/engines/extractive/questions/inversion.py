"""Sentences turned into questions: the inverted clause, its agreement, and which clause a reason belongs to."""

from __future__ import annotations

import itertools
import re

from compiler.engines.extractive.grammar.clauses import Clause, end_of_clause, parse_part, split_clauses, verb_first
from compiler.engines.extractive.questions.question import Matter
from compiler.language import names

_ATTACHES_ELSEWHERE = re.compile(
    r"\b(?:explains? why|means that|is why|reasons?|argu(?:e|es|ed) that|claim(?:s|ed)? that|say(?:s)? that|"
    r"suggests? that|shows? that|believe[sd]? that|think|thought|note[sd]? that|found that|find that|says? how)\b",
    re.IGNORECASE,
)


_FOCUS = frozenset(
    {
        "precisely",
        "mainly",
        "largely",
        "partly",
        "mostly",
        "primarily",
        "simply",
        "only",
        "just",
        "exactly",
        "chiefly",
        "probably",
        "presumably",
        "perhaps",
        "in",
        "part",
    }
)


def question_of(head: str, clause: Clause, matter: Matter) -> str:
    """The clause as a question after `head` ("Why does X ..."), what stood in front kept there; "" if unsure."""
    subject = clause.subject
    if not subject or is_pronoun(subject) or clause.words[clause.end - 1].tag == "NOT" or _has_second_verb(clause):
        return ""
    asked = _TURNING.sub("", verb_first(clause, matter.lower(subject)))
    if not asked or _ATTACHES_ELSEWHERE.search(asked):
        return ""
    front = clause.fronted
    if not front:
        return f"{head} {asked}"
    if front.casefold().startswith("as in "):
        return f"{head} {asked}"
    if front.split()[0].casefold() in (
        "because",
        "since",
        "by",
        "to",
        "unlike",
        "if",
        "as",
        "although",
        "though",
        "while",
        "whereas",
    ):
        return ""
    return f"{front}, {head[0].lower()}{head[1:]} {asked}"


def _has_second_verb(clause: Clause) -> bool:
    """Whether the subject has two verbs ("avoids work and counts words"), of which a question could turn only one."""
    words = clause.words[clause.verb : clause.end]
    return any(a.tag == "CC" and b.tag in ("VBZ", "VBD") for a, b in itertools.pairwise(words))


# Words that tie a sentence to the one before it; a question stands alone.


_TURNING = re.compile(
    r"\b(?:also|therefore|thus|hence|however|moreover|likewise|furthermore|additionally|then|accordingly|indeed|"
    r"nevertheless),?\s"
)


def is_pronoun(subject: str) -> bool:
    first = subject.split()[0].casefold()
    return first in (
        "it",
        "they",
        "we",
        "he",
        "she",
        "one",
        "this",
        "these",
        "those",
        "that",
        "you",
        "i",
        "there",
        "both",
        "each",
        "such",
        "some",
        "others",
        "many",
        "its",
        "their",
        "another",
        "most",
    )


def last_coordinate(clause: Clause, end: int) -> Clause | None:
    """The clause right before token `end`: the main clause, or the last joined to it by "and", "but", ";", ":"."""
    main = clause.until(_trim(clause, end))
    start = clause.verb + 1
    joined: Clause | None = None
    while True:
        cut = end_of_clause(main, start)
        marks = [i for i in split_clauses(main, frozenset({":"}), start) if i < cut]
        if marks:
            cut = marks[0]
        if cut >= main.end:
            return joined or main
        after = cut + 1 + (main.words[cut].tag == "COMMA")
        joined = parse_part(main, after, main.end)
        if joined is None:
            return None
        start = joined.verb + 1


def _trim(clause: Clause, end: int) -> int:
    while end - 1 > clause.verb and (
        clause.words[end - 1].tag == "COMMA"
        or clause.words[end - 1].low in _FOCUS
        or clause.words[end - 1].text in "–—"
    ):
        end -= 1
    return end


def is_plural(clause: Clause) -> bool:
    """Whether the clause's subject is plural, by its verb if that shows it, else by its head noun."""
    verb = clause.words[clause.verb]
    if verb.low in ("are", "were", "have", "do") or verb.tag == "VB":
        return True
    if verb.tag in ("MODAL", "VBD"):
        head = re.split(r"\s(?:of|in|for|that|which|with|on)\s", clause.subject)[0].split()[-1].casefold()
        return " and " in clause.subject or (names.key(head) != head and not head.endswith("ss"))
    return False


def does(clause: Clause) -> str:
    """The helping verb that agrees with the clause's subject: "does" or "do"."""
    return "do" if is_plural(clause) else "does"


def own(clause: Clause, matter: Matter) -> float:
    """What a card gains from asking about the concept itself and not about something that goes with it."""
    return 1.0 if matter.is_named(clause.subject) else 0.3 if matter.is_in(clause.subject) else 0.0
