"""Definitions that stand beside the main clause: glossary entries, appositions, "this is known as"."""

from __future__ import annotations

import re

from compiler.engines.extractive.grammar import verbs
from compiler.engines.extractive.grammar.clauses import FINITE, parse
from compiler.engines.extractive.grammar.definitions import (
    NEVER_HEADS,
    POOR_ADJECTIVES,
    POOR_HEADS,
    Definition,
    is_term,
)
from compiler.engines.extractive.grammar.tagger import Token, tokens
from compiler.language import names

_ENTRY = re.compile(r"^(?P<term>[^\n–—:.;!?]{2,60}?)\s*(?:\s[–—-]\s|:\s+|\s?—\s?)(?P<body>\S.*)$", re.DOTALL)


def entry_in(sentence: str) -> Definition | None:
    """A glossary entry ("Term – what it is", "Term: what it is"); no heading before a sentence, no label of data."""
    match = _ENTRY.match(sentence)
    if not match or not is_term(match["term"]) or any(t.tag in FINITE for t in tokens(match["term"])):
        return None
    body = match["body"].strip()
    words = tokens(body)
    if len(words) < 5 or words[0].tag not in _ENTRY_STARTS or words[0].low in _NO_ENTRY_STARTS:
        return None
    if match["term"][0].islower() or not any(w.tag in ("PREP", "WH", "DET", "TO", "SUB") for w in words):
        return None
    capitals = sum(w.text[0].isupper() for w in words)
    if capitals * 2 > len(words) or verbs.lemma(words[0].low, "VB") or not any(w.tag == "NOUN" for w in words[:6]):
        return None
    clause = parse(re.split(r"[;.]", body, maxsplit=1)[0] + ".")
    if clause is not None and not clause.front:
        return None
    return Definition(match["term"].strip(), body.rstrip("."), "entry")


_ENTRY_STARTS = frozenset({"DET", "NOUN", "ADJ", "VBG", "VBN", "PRON", "NUM", "ADV"})
_NO_ENTRY_STARTS = frozenset(
    "e.g. i.e. see it this these those they we you if when use how why what i he she that there its their no not "
    "yes only also".split()
)


def apposition_in(sentence: str, wanted: str = "") -> Definition | None:
    """What a sentence explains in passing ("..., X, which is the ..."); with `wanted`, the name whose key it is."""
    words = tokens(sentence)
    for i in range(1, len(words) - 5):
        found = _opening(words, i)
        if found is None or words[i - 1].tag not in ("NOUN", "VBG"):
            continue
        at, end, plural = found
        if (names.key(words[i - 1].text) != words[i - 1].low) != plural and not words[i - 1].text.isupper():
            continue
        if end - at < 5 or not _names_a_genus(words, at, end, plural):
            continue
        body = sentence[words[at].start : words[end - 1].end]
        for start in _name_starts(words, i):
            term = sentence[words[start].start : words[i - 1].end]
            if is_term(term) and (not wanted or names.key(term) == wanted):
                return Definition(term, body, "apposition", "are" if plural else "is")
    return None


def _opening(words: tuple[Token, ...], i: int) -> tuple[int, int, bool] | None:
    """(first token of the body, its end, plural) where token `i` opens an explanation of the word before it."""
    following = words[i + 1]
    if words[i].tag == "COMMA" and following.low == "which" and words[i + 2].low in _WHICH_IS:
        at = i + 3 + (words[i + 2].low in ("refers", "refer") and words[i + 3].low == "to")
        return at, _end_of_body(words, at), words[i + 2].low in ("are", "mean", "refer")
    if following.low not in ("a", "an", "the"):
        return None
    if words[i].text in ("—", "–", "--"):
        end = _end_of_body(words, i + 1)
        head = next((w for w in words[i + 2 : end] if w.tag == "NOUN"), None)
        return None if head is None or head.low in _OF_THE_WHOLE else (i + 1, end, False)
    if words[i].tag == "COMMA" and following.low != "the":
        end = _end_of_body(words, i + 1)
        if any(w.tag == "WH" for w in words[i + 3 : min(end, i + 8)]) and not any(
            w.tag in FINITE for w in words[i + 2 : i + 4]
        ):
            return i + 1, end, False
    return None


# "... — a phenomenon known as": explains the whole sentence, not its last word.
_OF_THE_WHOLE = frozenset(
    "phenomenon process generalization practice approach strategy problem result finding property distinction "
    "assumption idea combination tradeoff trade-off procedure step task fact trend situation case operation "
    "difference challenge".split()
)
_WHICH_IS = frozenset({"is", "are", "means", "mean", "refers", "refer"})


def _end_of_body(words: tuple[Token, ...], at: int) -> int:
    """Where the relative clause ends: at the next comma that opens no list of its own, or at the end."""
    for i in range(at, len(words)):
        if words[i].tag == "COMMA" and (i + 1 >= len(words) or not _goes_on(words, i + 1)):
            last = _last_of_list(words, i + 1) if i + 1 < len(words) else 0
            return _end_of_body(words, last) if last else i
        if words[i].text in (";", ".", ":", "—", "–", "--") and i > at:
            return i
    return len(words)


def _last_of_list(words: tuple[Token, ...], at: int) -> int:
    """Where the last part of "A, a B, ..., and a C" begins, if a list goes on at token `at`; else 0."""
    if words[at].tag != "DET":
        return 0
    for i in range(at, len(words) - 1):
        relative = words[i - 1].tag == "WH" or words[i - 1].low == "that"
        if (words[i].tag in FINITE and not relative) or words[i].text in (";", ".", ":", "—", "–", "--"):
            return 0
        if words[i].low in ("and", "or") and words[i - 1].tag == "COMMA":
            return i + 1 if words[i + 1].tag in ("DET", "NOUN", "ADJ") else 0
    return 0


def _goes_on(words: tuple[Token, ...], at: int) -> bool:
    """Whether the phrase before a comma goes on at token `at`: "... in some directions, but not in all"."""
    if words[at].low == "but" and at + 1 < len(words):
        return words[at + 1].tag in ("ADJ", "NOUN", "PREP", "NOT")
    return words[at].tag in ("ADJ", "NOUN", "WH", "PREP")


def _names_a_genus(words: tuple[Token, ...], at: int, end: int, plural: bool) -> bool:
    """Whether the tokens say what kind of thing something is ("the time between ...")."""
    first = words[at]
    if first.tag == "VBG":
        return words[at - 1].low in ("means", "mean", "to")
    if first.low not in ("a", "an", "the", "any") and not (plural and first.tag in ("NOUN", "ADJ")):
        return False
    head = next((w for w in words[at + 1 : end] if w.tag not in ("ADJ", "ADV", "VBN")), None)
    return head is not None and head.low not in NEVER_HEADS | POOR_HEADS and words[at + 1].low not in POOR_ADJECTIVES


def _name_starts(words: tuple[Token, ...], end: int) -> list[int]:
    """Where a name that ends before token `end` may begin: the longest run of nouns and adjectives first."""
    start = end - 1
    while start > 0 and (
        words[start - 1].tag in ("NOUN", "ADJ", "VBN")
        or (start > 1 and words[start - 1].tag == "VBG" and words[start - 2].tag in ("DET", "PREP", "NOUN"))
    ):
        start -= 1
    starts = list(range(start, end))
    if start and words[start - 1].tag == "DET" and words[start - 1].low in ("a", "an", "the"):
        starts[0] = start - 1
    return starts


_NAMING = re.compile(
    r"^(?P<what>.+?)(?:\s*[.;—–]\s*(?P<this>this|these)(?: (?P<noun>"
    r"benefit|effect|phenomenon|finding|design|approach|technique|strategy|process|procedure|problem|property|"
    r"constraint|"
    r"method|idea|principle|issue|condition|criterion|situation|practice|trick|step|operation|combination|error))?|"
    r",\s*which)"
    r" (?:is|are) (?:(?:also|sometimes|often|commonly|usually|generally|therefore|typically) )?"
    r"(?:known as|called|referred to as|termed)\s+(?P<term>[^,.;:()—–]+?)\s*(?:\([^)]*\))?\s*(?:$|[.,;:—–]|"
    r"\bbecause\b|\bsince\b)",
    re.IGNORECASE | re.DOTALL,
)
_NAMED_AFTER = re.compile(
    r",?\s+(?:(?:also|sometimes|often|commonly|usually) )?(?P<how>known as|called|termed|referred to "
    r"as)\s+(?P<term>(?:an?\s|the\s)?[^,.;:()—–]+?)(?=\s*(?:$|[.,;:()—–]))",
    re.IGNORECASE,
)


def naming_in(words: str) -> Definition | None:
    """What a sentence names: in "A is B; this is known as X", X is the name of what stands before "this"."""
    match = _NAMING.match(words)
    if not match or not is_term(match["term"]):
        return None
    what = match["what"].strip()
    if len(what.split()) < 5 or what.count("(") != what.count(")"):
        return None
    this = " ".join(w for w in ("are these" if match["this"] == "These" else "is this", match["noun"]) if w)
    return Definition(match["term"].strip("\"“”'‘’* "), what, "named", this)


def named_after(sentence: str, wanted: str = "") -> Definition | None:
    """What a noun phrase before "called X" says of X: "... a set of hypotheses, called a beam"."""
    for match in _NAMED_AFTER.finditer(sentence):
        term = match["term"].strip("\"“”'‘’* ")
        if not is_term(term) or (wanted and names.key(term) != wanted):
            continue
        comma = match[0].lstrip().startswith(",") or sentence[match.start()] == ","
        words = tokens(sentence[: match.start()])
        start = _phrase_before(words)
        if start is None or len(words) - start < (3 if comma else 5):
            continue
        body = sentence[words[start].start : words[-1].end]
        plural = (
            names.key(words[-1].text) != words[-1].low
            if "of" not in body.split()
            else body.split()[0].casefold() not in ("a", "an", "the")
        )
        if (words[start].low in ("a", "an")) == (names.key(term) != term.casefold() and term.casefold().endswith("s")):
            continue
        return Definition(term, body, "apposition", "are" if plural else "is")
    return None


def _phrase_before(words: tuple[Token, ...]) -> int | None:
    """Where the noun phrase at the end of `words` begins: at its article, or at the first word of a bare plural."""
    at = len(words)
    while at > 0 and (words[at - 1].tag in ("NOUN", "ADJ", "VBN", "NUM") or words[at - 1].low in ("of", "and", "or")):
        at -= 1
    if at > 0 and words[at - 1].low in ("a", "an", "the"):
        return at - 1 if words[at - 1].low != "the" else None
    while at < len(words) and words[at].low in ("of", "and", "or"):
        at += 1
    ends_plural = bool(words) and words[-1].low.endswith("s")
    return (
        at
        if at < len(words) and ends_plural and words[at - 1].tag in ("PREP", "VBZ", "TO", "INF", "VB", "VBG")
        else None
    )
