"""Noun phrases and clauses of a parsed English sentence, as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Token

NOUNS = frozenset({"NOUN", "PROPN"})
SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj"})
_NAME_PARTS = frozenset({"compound", "amod", "nmod", "punct", "npadvmod"})
_JOINERS = frozenset("-‐‑–/’'")
_DETERMINERS = frozenset({"det", "predet"})
_AUXILIARIES = frozenset({"aux", "auxpass"})
_MAX_OF = 3  # words after "of" that still belong to a name: "law of large numbers"


def subject_of(verb: Token) -> Token | None:
    """Return the head of the subject of a verb, which stands before it; None if there is none.

    Of two the last: the small parser makes two subjects of a compound it does not know ("block cipher").
    """
    return next((c for c in reversed(list(verb.lefts)) if c.dep_ in SUBJECTS), None)


def text_of(tokens: Iterable[Token]) -> str:
    """Return the words of tokens in their order, spaced as in the sentence."""
    ordered = sorted(tokens, key=lambda t: t.i)
    return "".join(t.text_with_ws for t in ordered).strip()


def subtree_text(head: Token, without: Iterable[Token] = ()) -> str:
    """Return the phrase of which `head` is the head, without the phrases of `without`; end punctuation is cut."""
    out = {t.i for w in without for t in w.subtree}
    return trimmed(text_of(t for t in head.subtree if t.i not in out))


def trimmed(phrase: str) -> str:
    """Return a phrase without punctuation at its ends; brackets that have a partner stay."""
    phrase = phrase.strip().strip(",;:.–—- ")
    for left, right in ("()", "[]", "“”", '""'):
        if phrase.endswith(right) and phrase.count(left) < phrase.count(right):
            phrase = phrase[:-1].rstrip()
        if phrase.startswith(left) and phrase.count(right) < phrase.count(left):
            phrase = phrase[1:].lstrip()
    return phrase.rstrip(",;:.–— ")


def name_tokens(head: Token) -> list[Token]:
    """Return the tokens of a noun phrase that make a name: modifiers before the head, and a short "of" phrase."""
    doc, first, last = head.doc, head.i, head.i
    for child in head.lefts:
        if child.dep_ in _NAME_PARTS and child.dep_ not in ("punct", "poss", "nummod"):
            first = min(first, child.left_edge.i)
    while (
        first and doc[first - 1].pos_ in NOUNS and doc[first - 1].dep_ == head.dep_ and doc[first - 1].head == head.head
    ):
        first -= 1
    while first and _is_joined(doc[first - 1], doc[first]):
        first -= 1
    while last + 1 < len(doc) and _is_joined(doc[last], doc[last + 1]):
        last += 1
    tokens = [t for t in doc[first : last + 1] if t.dep_ not in _DETERMINERS]
    following = doc[last + 1] if last + 1 < len(doc) else None
    if following is not None and following.lower_ == "of" and following.head == head:
        phrase = list(following.subtree)
        if phrase[-1].i == last + len(phrase) and len(phrase) <= _MAX_OF + 1 and phrase[-1].pos_ in NOUNS:
            tokens += phrase
    return tokens


def _is_joined(left: Token, right: Token) -> bool:
    """Return whether a hyphen or slash joins two tokens to one word ("non-repudiation")."""
    if left.whitespace_ or (left.is_alpha and right.is_alpha):
        return False
    return (left.text in _JOINERS and right.text[:1].isalnum()) or (right.text in _JOINERS and left.text[-1:].isalnum())


def name_of(head: Token) -> str:
    """Return the name that a noun phrase gives, without determiners; "" if it gives none."""
    if head.pos_ not in NOUNS and head.tag_ != "VBG":
        return ""
    tokens = name_tokens(head)
    while tokens and tokens[0].pos_ in ("PUNCT", "DET", "PRON", "NUM", "PART", "SYM", "ADV", "SPACE"):
        tokens = tokens[1:]
    if not tokens or tokens[-1].i - tokens[0].i + 1 != len(tokens) or not tokens[-1].text[-1:].isalnum():
        return ""  # something stands between its words
    following = tokens[-1].nbor() if tokens[-1].i + 1 < len(head.doc) else None
    if following is not None and (
        following.pos_ in ("NUM", "X") or (following.pos_ == "PROPN" and following.head == head)
    ):
        return ""  # the name goes on
    return lowered(text_of(tokens), tokens[0]) if tokens[0].i == 0 else text_of(tokens)


def is_bare(head: Token) -> bool:
    """Return whether a noun phrase is its name alone: no clause or other phrase after it narrows its meaning."""
    last = name_tokens(head)[-1]
    return all(c.dep_ in ("punct", "cc", "conj", "appos") or c.i <= last.i for c in head.rights)


def determiner_of(head: Token) -> str:
    """Return "a", "the", "this", "each" ... or "" for a noun without determiner."""
    found = next((c.lower_ for c in head.lefts if c.dep_ in ("det", "poss", "nummod", "predet")), "")
    return "a" if found == "an" else found


def auxiliaries_of(verb: Token) -> list[Token]:
    """Return the auxiliaries of a verb in order."""
    return [c for c in verb.lefts if c.dep_ in _AUXILIARIES]


def is_negated(verb: Token) -> bool:
    """Return whether the verb has a negation of its own."""
    return any(c.dep_ == "neg" for c in verb.children)


_ASIDE = re.compile(r"\s*[(\[（][^()\[\]（）]*[)\]）]")
_TAIL = re.compile(
    r",\s+(?:which|who|where|whose|but|so|although|while|whereas|thus|thereby|including|such as)\b.*$", re.S
)
_HEDGE = re.compile(
    r"^(?:just|simply|basically|essentially|usually|often|generally|typically|also|dabei|auch)\s+"
    r"|^the (?:term|name|word) (?:used )?(?:for|given to)\s+",
    re.I,
)
_ALSO = re.compile(r",\s+(?:(?:also|sometimes|often|otherwise)\s+)?(?:known as|called|referred to as|termed)\b[^,]*")
_LONG = 20  # words from which what only adds to a meaning is cut


def essence(meaning: str) -> str:
    """Return a meaning without asides, hedges and, where it is long, without what is added after a comma."""
    short = _ALSO.sub("", _HEDGE.sub("", _ASIDE.sub("", meaning))).strip()
    if short.endswith(":"):  # what it announced was an aside
        short = short.rpartition(",")[0] or short
    if len(short.split()) > _LONG:
        cut = _TAIL.sub("", short)
        short = cut if len(cut.split()) >= _LONG // 3 else short
    return trimmed(short)


def lowered(phrase: str, first: Token) -> str:
    """Return a phrase as it is written inside a sentence: its first letter small unless it is a name's."""
    keeps = first.pos_ == "PROPN" or first.text[1:] != first.text[1:].lower() or first.text == "I"
    return phrase if keeps else phrase[:1].lower() + phrase[1:]


def capital(phrase: str) -> str:
    """Return a phrase with a capital letter first."""
    return phrase[:1].upper() + phrase[1:]


# Words that point at other sentences, at the writer or reader, and at what was named before.
DEICTIC = frozenset(
    "this that these those here above below following previous former latter next earlier later now today such same"
    " aforementioned".split()
)
PERSONAL = frozenset("i we you our us your my me one's let's".split())
THIRD = frozenset("it its they them their he his she her".split())
_UNFINISHED = frozenset(
    "a an the of to in for with by and or but that which as if when because from on at is are".split()
)


def points_elsewhere(tokens: Iterable[Token]) -> bool:
    """Return whether a phrase points at other sentences, at the writer or at the reader."""
    return any(
        (t.lower_ in DEICTIC and t.dep_ in ("det", "nsubj", "nsubjpass", "dobj", "pobj", "amod", "predet", "advmod"))
        or t.lower_ in PERSONAL
        or t.lower_ in THIRD
        for t in tokens
    )


def is_whole(text: str) -> bool:
    """Return whether a phrase is complete: its brackets and marks have partners, and it doesn't break off."""
    pairs = all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}", "“”", "「」", "（）", "《》"))
    marks = all(text.count(c) % 2 == 0 for c in '"`*$')
    words = text.rstrip(" .?!").split()
    return (
        pairs
        and marks
        and bool(words)
        and words[-1].lower() not in _UNFINISHED
        and "[…]" not in text
        and "[link]" not in text
    )
