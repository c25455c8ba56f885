"""English sentences that say what a term means: the term, what is said of it, and the pattern by which it is said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from compiler.engines.extractive.phrases import (
    DEICTIC,
    NOUNS,
    PERSONAL,
    THIRD,
    auxiliaries_of,
    determiner_of,
    is_bare,
    is_negated,
    is_whole,
    lowered,
    name_of,
    name_tokens,
    subject_of,
    subtree_text,
    text_of,
    trimmed,
)
from compiler.engines.extractive.sentence import Sentence, root_of
from compiler.engines.extractive.terms import heading_name
from compiler.language import lexicon

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

PATTERNS = ("copula", "means", "called", "apposition", "lead", "entry", "heading")
_MEANING = {"mean": "", "denote": "", "designate": "", "signify": "", "refer": "to", "represent": ""}
_DEFINING = {"define": "as", **_MEANING}  # the first in the passive
_NAMING = {"call": "", "term": "", "dub": "", "know": "as", "refer": "to"}
_TERM = re.compile(r"^(?:term|word|phrase|concept) (?=\w)")
_MODALS = frozenset({"MD"})
_POINTING = DEICTIC | PERSONAL | THIRD
_PLURAL = ("NNS", "NNPS")
_LONGEST_HEADING = 6  # words of one that names a term
_SHORTEST = 2  # words of what is said of the term


@dataclass(frozen=True, slots=True)
class Definition:
    """`term` as it is written, without determiner; `meaning` what is said of it, "a contract by which ...".

    `article` is the one the term is asked for with, "" for none. `domain` is a phrase before the subject that limits it
    ("In statistics"), "" if there is none. `head` is the index of the token that is the head of the term, `kind` that
    of the head of the meaning; -1 where there is no token. `plural` and `past` are as the sentence speaks of the term.
    """

    term: str
    meaning: str
    pattern: str
    article: str = ""
    domain: str = ""
    head: int = -1
    kind: int = -1
    plural: bool = False
    past: bool = False


def definitions_in(doc: Doc, sentence: Sentence) -> Iterator[Definition]:
    """Yield what the sentence defines, the most explicit pattern first."""
    for found in _found(doc, sentence):
        kind = doc[found.kind] if found.kind >= 0 else None
        if (
            is_whole(found.meaning)
            and (kind is None or determiner_of(kind) not in _POINTING)
            and found.meaning.split()[0].lower() not in _POINTING
        ):
            head = doc[found.head] if found.head >= 0 else None
            plural = head is not None and (head.tag_ in _PLURAL or (head.head.lower_ in ("are", "were")))
            yield replace(found, plural=found.plural or plural)


def _found(doc: Doc, sentence: Sentence) -> Iterator[Definition]:
    yield from _lead(doc, sentence)
    yield from _entry(doc, sentence)
    yield from _under_heading(doc, sentence)
    root = root_of(doc)
    if root is None:
        return
    if root.lemma_ == "be":
        yield from _copula(root)
    yield from _meaning(root)
    for token in doc:
        if token.pos_ == "VERB" and token.lemma_ in _NAMING:
            yield from _called(token)
        elif token.dep_ == "appos":
            yield from _apposition(token)
        elif token.dep_ == "relcl" and token.lemma_ == "be":
            yield from _which_is(token)


def _copula(root: Token) -> Iterator[Definition]:
    """ "X is a N that ..."."""
    subject, kind = subject_of(root), next((c for c in root.rights if c.dep_ == "attr"), None)
    if subject is None or kind is None or kind.pos_ not in NOUNS or is_negated(root) or _is_modal(root):
        return
    if not is_bare(subject) or _is_limited(root, subject):
        return
    term, meaning = name_of(subject), _to_the_end(root, kind)
    if term and len(meaning.split()) >= _SHORTEST:
        yield Definition(
            term,
            meaning,
            "copula",
            _article(subject),
            _domain(root, subject),
            subject.i,
            kind.i,
            past=root.tag_ == "VBD",
        )


def _to_the_end(root: Token, said: Token) -> str:
    """Return the words of a clause from a complement on, without clauses that are only joined to it; "" where one of
    these begins within the words, as in "a rest after flour and water | are mixed", which the parser took apart.
    """
    joined = [c for c in root.rights if c.dep_ in ("conj", "advcl", "ccomp", "parataxis") and c != said]
    if not all(_begins_a_clause(c.left_edge) for c in joined):
        return ""
    joined += [c for c in root.rights if c.dep_ == "cc" and any(j.dep_ == "conj" for j in joined)]
    rest = said.doc[said.left_edge.i :]
    return trimmed(text_of(t for t in rest if root.is_ancestor(t) and not _in_any(t, joined)))


def _begins_a_clause(first: Token) -> bool:
    """Return whether a word can be the first of a joined clause: after a comma or "and", or a conjunction itself."""
    before = first.nbor(-1)
    return before.is_punct or before.dep_ == "cc" or first.dep_ in ("mark", "cc") or _is_opening(first)


def _is_opening(word: Token) -> bool:
    """Return whether a word begins clauses: "when", "to", "using"; or "that", which is often taken for a pronoun."""
    return word.tag_ in ("WRB", "WDT", "WP", "WP$", "IN", "TO", "VBG") or word.lower_ == "that"


def _meaning(root: Token) -> Iterator[Definition]:
    """ "X refers to Y", "X means Y", "X is defined as Y"."""
    passive = root.lemma_ == "define"
    if root.lemma_ not in _DEFINING or is_negated(root) or root.tag_ not in (("VBN",) if passive else ("VBZ", "VBP")):
        return
    subject = subject_of(root)
    if subject is None or subject.dep_ != ("nsubjpass" if passive else "nsubj") or _is_modal(root):
        return
    if not is_bare(subject) or _is_limited(root, subject):
        return
    particle = _DEFINING[root.lemma_]
    at: Token | None = root
    if particle:
        at = next((c for c in root.rights if c.lower_ == particle), None)
    said = (
        next((c for c in at.rights if c.dep_ in ("dobj", "pobj", "ccomp", "pcomp")), None) if at is not None else None
    )
    term = name_of(subject)
    if _TERM.match(term):  # "the term entropy"
        term = _TERM.sub("", term)
    if said is None or not term:
        return
    meaning = _to_the_end(root, said)
    if len(meaning.split()) >= _SHORTEST:
        yield Definition(term, meaning, "means", _article(subject), _domain(root, subject), subject.i, said.i)


def _called(verb: Token) -> Iterator[Definition]:
    """ "N that ... is called X", "N, known as X,": the noun phrase is the meaning, the name the term."""
    particle = _NAMING[verb.lemma_]
    if verb.tag_ != "VBN" or is_negated(verb):
        return
    name = _given_name(verb, particle)
    if name is None:
        return
    term = name_of(name)
    if verb.dep_ == "ROOT":
        subject = next((c for c in verb.lefts if c.dep_ == "nsubjpass"), None)
        thing, without = subject, []
    elif verb.dep_ in ("acl", "relcl") and verb.head.pos_ in NOUNS:
        thing, without = verb.head, [verb]
    else:
        return
    if thing is None or thing.pos_ not in NOUNS or not term or name.i == thing.i or not is_bare(name):
        return
    meaning = subtree_text(thing, without)
    if len(meaning.split()) >= _SHORTEST:
        yield Definition(term, lowered(meaning, thing.left_edge), "called", _article(name), "", name.i, thing.i)


def _given_name(verb: Token, particle: str) -> Token | None:
    """Return the head of the name that a naming verb gives."""
    if particle == "as":
        by = next((c for c in verb.rights if c.lower_ == "as"), None)
        return next((c for c in by.rights if c.dep_ == "pobj"), None) if by is not None else None
    if particle == "to":
        to = next((c for c in verb.rights if c.lower_ == "to"), None)
        by = next((c for c in (*(to.rights if to is not None else ()), *verb.rights) if c.lower_ == "as"), None)
        return next((c for c in by.rights if c.dep_ == "pobj"), None) if by is not None else None
    return next((c for c in verb.rights if c.dep_ in ("oprd", "attr", "dobj") and c.pos_ in NOUNS), None)


def _apposition(said: Token) -> Iterator[Definition]:
    """ "X, a N that ..., ..."."""
    head = said.head
    between = head.doc[head.i + 1 : said.left_edge.i]
    if head.pos_ not in NOUNS or said.pos_ not in NOUNS or said.i < head.i or not any(t.text in ",(" for t in between):
        return
    in_brackets = any(t.text == "(" for t in between)
    term, meaning = name_of(head), subtree_text(said)
    meaning = meaning if in_brackets else meaning.partition(",")[0]
    if term and determiner_of(said) in ("a", "the") and len(meaning.split()) > _SHORTEST:
        yield Definition(term, meaning, "apposition", _article(head), "", head.i, said.i)


def _which_is(verb: Token) -> Iterator[Definition]:
    """ "X, which is a N that ..."."""
    which, said = subject_of(verb), next((c for c in verb.rights if c.dep_ == "attr"), None)
    head = verb.head
    if (
        which is None
        or which.i == 0
        or which.lower_ != "which"
        or which.nbor(-1).text != ","
        or said is None
        or said.pos_ not in NOUNS
    ):
        return
    term, meaning = name_of(head), subtree_text(said).partition(",")[0]
    if term and not is_negated(verb) and determiner_of(said) in ("a", "the") and len(meaning.split()) > _SHORTEST:
        yield Definition(term, meaning, "apposition", _article(head), "", head.i, said.i)


def _lead(doc: Doc, sentence: Sentence) -> Iterator[Definition]:
    """ "**Term**: a N that ...": an emphasised name opens the paragraph, and a phrase without a verb follows."""
    if sentence.position != 0:
        return
    mark = next(
        (m for m in sentence.marks if m.kind in ("emphasis", "term") and m.start <= 2 and m.end > m.start), None
    )
    if mark is None:
        return
    name, rest = sentence.text[: mark.end].strip(" *:.–—-"), sentence.text[mark.end :]
    said = rest.lstrip(" ")
    if said[:1] not in (":", "–", "—", "-") and not sentence.text[: mark.end].rstrip().endswith(":"):
        return
    meaning = trimmed(said.lstrip(":–—- "))
    if name and len(meaning.split()) > _SHORTEST:
        after = next((t.i for t in doc if t.idx >= mark.end and t.pos_ not in ("PUNCT", "SPACE")), -1)
        kind = next((t.i for t in doc[after:] if t.pos_ in NOUNS), -1) if after >= 0 else -1
        words = [t for t in doc if t.idx < mark.end and t.is_alpha]
        plural = bool(words) and words[-1].tag_ in _PLURAL
        yield Definition(name, meaning, "lead", kind=kind, plural=plural)


_PLAIN_ENTRY = re.compile(r"([^\W\d_][\w’'/ -]{1,50}?)(?: ?\([\w -]+\))?\s*(?::|\s[–—-])\s+(?=(?:an?|the|any)\s)", re.I)


def _entry(doc: Doc, sentence: Sentence) -> Iterator[Definition]:
    """ "Term: a N that ..." without emphasis, a line of its own."""
    found = _PLAIN_ENTRY.match(sentence.text) if sentence.position == 0 and not sentence.has("emphasis") else None
    if found is None:
        return
    said = [t for t in doc if t.idx >= found.end()]
    if _is_phrase(said):
        words = [t for t in doc if t.idx < found.end(1)]
        yield _from_phrase(found[1].strip(), said, "entry", plural=words[-1].tag_ in _PLURAL)


def _under_heading(doc: Doc, sentence: Sentence) -> Iterator[Definition]:
    """ "A N that ..." as the first line under a heading that names the term."""
    name = heading_name(sentence.headings[-1]) if sentence.headings else ""
    if not sentence.opens or not name[-1:].isalnum() or len(name.split()) > _LONGEST_HEADING:
        return
    root = root_of(doc)
    if root is None or root.pos_ not in NOUNS:
        return
    last = lexicon.singular(name.split()[-1].lower())
    if any(t.lemma_.lower() == last for t in doc):  # then the line says something of the term
        return
    if doc[0].lower_ in ("a", "an", "the", "any") and _is_phrase(said := list(doc)):
        yield _from_phrase(name, said, "heading", plural=last != name.split()[-1].lower())


def _is_phrase(words: Sequence[Token]) -> bool:
    """Return whether the words are a noun phrase: no verb in them makes a statement but in a relative clause."""
    finite = [t for t in words if t.tag_ in ("VBZ", "VBP", "VBD", "MD")]
    inside = [t for t in finite if any(a.dep_ in ("relcl", "acl", "advcl") for a in (t, *t.ancestors))]
    return len(words) > _SHORTEST + 1 and len(inside) == len(finite)


def _from_phrase(name: str, said: Sequence[Token], pattern: str, plural: bool = False) -> Definition:
    kind = next((t.i for t in said if t.pos_ in NOUNS and t.dep_ != "compound"), -1)
    return Definition(name, trimmed(text_of(said)), pattern, kind=kind, plural=plural)


def _article(head: Token) -> str:
    """Return the article that a question for the term needs: its own, "a" or "the"."""
    tokens = name_tokens(head)
    before = tokens[0].nbor(-1).lower_ if tokens and tokens[0].i else ""
    own = tokens[0].lower_ if tokens else ""
    return next((word for word in (own, before) if word in ("a", "an", "the")), "")


def _domain(root: Token, subject: Token) -> str:
    """Return the adjunct before the subject: "In economics"."""
    found = next(
        (c for c in root.lefts if c.dep_ == "prep" and c.lower_ in ("in", "within", "for") and c.i < subject.i), None
    )
    return subtree_text(found) if found is not None and found.left_edge.i == 0 else ""


_LIMITING = frozenset({"no", "neither", "few", "some", "many", "most"})  # before the subject
_HARDLY = frozenset({"rarely", "seldom", "hardly", "scarcely", "never", "almost", "once", "longer", "sometimes"})
_CONDITIONS = frozenset({"if", "unless", "when", "provided"})


def _is_limited(root: Token, subject: Token) -> bool:
    """Return whether a sentence says of its subject what holds of some, seldom, or under a condition."""
    before = [c for c in root.lefts if c.dep_ == "prep" and c.i < subject.i]
    if any(c.lower_ in _LIMITING for phrase in (subject, *before) for c in phrase.subtree):
        return True
    for child in root.children:
        if child.dep_ == "advmod" and child.lower_ in _HARDLY:
            return True
        if child.dep_ == "advcl" and any(c.lower_ in _CONDITIONS for c in child.lefts):
            return True
    return False


def _is_modal(verb: Token) -> bool:
    return any(a.tag_ in _MODALS for a in auxiliaries_of(verb))


def _in_any(token: Token, clauses: list[Token]) -> bool:
    return any(c == token or c.is_ancestor(token) for c in clauses)
