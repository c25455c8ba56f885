"""English questions that a sentence answers by its grammar, each with the words of the sentence that answer it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from compiler.engines.extractive.definitions import Definition
from compiler.engines.extractive.phrases import (
    NOUNS,
    auxiliaries_of,
    capital,
    essence,
    is_negated,
    is_whole,
    lowered,
    name_of,
    points_elsewhere,
    subject_of,
    subtree_text,
    text_of,
    trimmed,
)
from compiler.engines.extractive.sentence import root_of
from compiler.model.requests import CardKindName

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

# Nouns that stand for a relation: "the purpose of X is Y" can be asked for.
RELATIONAL = frozenset(
    "advantage aim benefit cause challenge consequence disadvantage downside drawback effect function goal importance"
    " limitation objective opposite origin problem purpose reason result risk role task use".split()
)
_CONDITIONS = frozenset({"if", "when", "once", "whenever"})
_REASONS = frozenset({"because", "since"})
_CONTRASTS = frozenset({"whereas", "while"})
_PARTS = {
    "consist": "of",
    "comprise": "",
    "contain": "",
    "compose": "of",
    "make": "of",
    "divide": "into",
    "classify": "into",
    "characterize": "by",
    "characterise": "by",
}
_RESULTS = {"cause": "", "lead": "to", "result": "in", "produce": "", "trigger": ""}
_NEEDS = {"depend": "on", "rely": "on", "require": "", "need": ""}
_TABLES: tuple[tuple[dict[str, str], str, CardKindName], ...] = (
    (_PARTS, "parts", "relational"),
    (_RESULTS, "result", "mechanistic"),
    (_NEEDS, "need", "relational"),
)
_LINKING = frozenset({"then", "thus", "therefore", "hence", "also", "however", "instead", "moreover", "furthermore"})
_POINTS = re.compile(
    r"\b(?:we|our|us|you|your|I|my|here|above|below|following|former|latter|previous(?:ly)?|these|those|this|such)\b"
    r"|\b(?:figure|table|chapter|section|example|exercise|equation)\b|\w;,|https?:|[$\\{}#]",
    re.IGNORECASE,
)
_POINTING = re.compile(r"\b(?:this|these|such an?|our|we|us)\b", re.IGNORECASE)  # in a meaning
_NOT = re.compile(r"\bn[’']t\b")
_GAP = re.compile(r"\s*,(?:\s*,)+")
_CITED = re.compile(r"\s*\([^()]*(?:\b(?:1[5-9]|20)\d\d[a-z]?\b|\blink\b|\bsee\b|\bcf\b|\be\.g\b)[^()]*\)|\s*\(\s*\)")
_ENDS = re.compile(r"([.!?])[.\"”]?\.$")
FORMS = (
    "definition",
    "term",
    "condition",
    "reason",
    "purpose",
    "means",
    "relation",
    "parts",
    "result",
    "cause",
    "need",
    "contrast",
    "occasion",
    "long form",
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its answer; `form` names the rule, `about` the noun phrase of which it asks, "" if unknown."""

    form: str
    kind: CardKindName
    question: str
    answer: str
    about: str = ""


def from_definition(definition: Definition) -> Iterator[Question]:
    """Yield the questions for the meaning of a term, and for the term of a meaning."""
    term, meaning = definition.term, essence(definition.meaning)
    if _POINTING.search(meaning):
        return
    domain = f"{capital(definition.domain)}, " if definition.domain else ""
    be = ("were" if definition.plural else "was") if definition.past else ("are" if definition.plural else "is")
    named = f"{definition.article} {term}" if definition.article else term
    yield Question("definition", "definitional", capital(f"{domain}what {be} {named}?"), f"{capital(meaning)}.", term)
    opens = meaning.partition(" ")[0]
    inside = meaning if opens.isupper() and len(opens) > 1 else meaning[:1].lower() + meaning[1:]
    asked = capital(f"{domain}what is the term for {inside}?")
    yield Question("term", "definitional", asked, f"{capital(term)}.", term)


def questions_in(doc: Doc) -> Iterator[Question]:
    """Yield the questions that the sentence answers and that need none of its neighbours."""
    root = root_of(doc)
    if root is None or root.pos_ not in ("VERB", "AUX"):
        return
    yield from _listed(root)
    subject = subject_of(root)
    if subject is None or subject.dep_ == "csubj" or subject.pos_ == "PRON" or points_elsewhere(subject.subtree):
        return
    about = name_of(subject)
    for found in _asked(root, subject):
        question, answer = _clean(found.question), _ENDS.sub(r"\1", _clean(found.answer))
        if is_whole(question.removesuffix(" for?")) and is_whole(answer) and not _POINTS.search(f"{question} {answer}"):
            yield replace(found, question=question, answer=answer, about=found.about or about)


def _clean(text: str) -> str:
    """Return a text without the commas that a clause left behind when it was taken out."""
    return _GAP.sub(",", _CITED.sub("", text)).replace(" ,", ",").replace(":,", ":").replace(";,", ";")


def _asked(root: Token, subject: Token) -> Iterator[Question]:
    for clause in root.children:
        if clause.dep_ == "advcl":
            yield from _adverbial(root, subject, clause)
        elif clause.dep_ == "prep" and clause.lower_ == "by":
            yield from _means(root, subject, clause)
    yield from _relation(root, subject)
    yield from _used_for(root, subject)
    yield from _objects(root, subject)
    yield from _unlike(root, subject)


def _adverbial(root: Token, subject: Token, clause: Token) -> Iterator[Question]:
    """Yield the question for a clause with a conjunction: a condition, a reason, a purpose, a contrast."""
    opens = clause.left_edge
    first = opens.lower_ if opens.dep_ in ("mark", "advmod") and opens.head == clause else ""
    said, after = trimmed(text_of(clause.subtree)), opens.i > root.i
    comma = after and opens.nbor(-1).text == ","
    other = subject_of(clause)
    if first in _CONDITIONS and other is not None:
        asked = f"what happens {lowered(said, opens)}?"
        yield Question("condition", "mechanistic", capital(asked), f"{capital(statement(root, [clause]))}.")
        if first in ("when", "if") and after and (asked := inverted(root, subject, [clause])):
            yield Question("occasion", "mechanistic", f"When {asked}?", f"{capital(said)}.")
    elif first in _REASONS and (first == "because" or comma) and not (after and opens.nbor(-1).dep_ == "neg"):
        if asked := inverted(root, subject, [clause]):
            yield Question("reason", "mechanistic", f"Why {asked}?", f"Because {said[len(first) :].strip()}.")
    elif first in _CONTRASTS and comma and other is not None and other.pos_ in NOUNS:
        one = lowered(subtree_text(subject), subject.left_edge)
        asked = f"How {_do(subject)} {one} differ from {lowered(subtree_text(other), other.left_edge)}?"
        yield Question("contrast", "relational", asked, f"{capital(statement(root, [clause]))}, {said}.")
    elif after and _is_purpose(clause) and root.lemma_ == "use" and root.tag_ == "VBN":
        asked = inverted(root, subject, [clause])
        yield from [Question("purpose", "applied", f"What {asked} for?", f"{capital(said)}.")] if asked else ()


def _is_purpose(clause: Token) -> bool:
    """Return whether a clause is an infinitive with "to"."""
    return clause.tag_ == "VB" and any(c.lower_ == "to" and c.dep_ == "aux" for c in clause.lefts)


def _used_for(root: Token, subject: Token) -> Iterator[Question]:
    """ "X is used for Y"."""
    used = root.lemma_ == "use" and root.tag_ == "VBN"
    by = next((c for c in root.rights if c.dep_ == "prep" and c.lower_ == "for"), None) if used else None
    said = next((c for c in by.rights if c.dep_ in ("pobj", "pcomp")), None) if by is not None else None
    if by is not None and said is not None and (asked := inverted(root, subject, [by])):
        yield Question("purpose", "applied", f"What {asked} for?", f"{capital(subtree_text(said))}.")


def _means(root: Token, subject: Token, by: Token) -> Iterator[Question]:
    """ "X does Y by doing Z": how?"""
    doing = next((c for c in by.rights if c.dep_ == "pcomp" and c.tag_ == "VBG"), None)
    if doing is not None and by.i > root.i and (asked := inverted(root, subject, [by])):
        yield Question("means", "mechanistic", f"How {asked}?", f"{capital(trimmed(text_of(by.subtree)))}.")


def _relation(root: Token, subject: Token) -> Iterator[Question]:
    """ "The purpose of X is Y": a noun that stands for a relation, with what it is of."""
    if root.lemma_ != "be" or subject.lemma_ not in RELATIONAL or is_negated(root) or auxiliaries_of(root):
        return
    of = next((c for c in subject.rights if c.dep_ == "prep" and c.lower_ in ("of", "for", "with")), None)
    said = next((c for c in root.rights if c.dep_ in ("attr", "acomp", "ccomp", "xcomp", "advcl")), None)
    if of is None or said is None:
        return
    answer = trimmed(text_of(root.doc[said.left_edge.i : root.right_edge.i + 1])).removeprefix("that ")
    asked = f"What {root.lower_} {lowered(subtree_text(subject), subject.left_edge)}?"
    thing = next((c for c in of.rights if c.dep_ == "pobj"), None)
    about = name_of(thing) if thing is not None else ""
    yield Question("relation", "relational", asked, f"{capital(answer)}.", about)


def _objects(root: Token, subject: Token) -> Iterator[Question]:
    """Yield the questions for what verbs of parts, results and needs say of their subject."""
    if is_negated(root):
        return
    passive = root.tag_ == "VBN" and any(a.dep_ == "auxpass" for a in root.lefts)
    for table, form, kind in _TABLES:
        if root.lemma_ not in table:
            continue
        particle = table[root.lemma_]
        at = next((c for c in root.rights if c.lower_ == particle), None) if particle else root
        said = next((c for c in at.rights if c.dep_ in ("dobj", "pobj")), None) if at is not None else None
        if said is None or (passive and not particle):
            continue
        if not passive and root.lemma_ in ("compose", "make", "divide", "classify"):
            continue
        if any(not t.is_punct for t in root.doc[said.right_edge.i + 1 :]):  # what follows would be left hanging
            continue
        if asked := inverted(root, subject, [said]):
            yield Question(form, kind, f"What {asked}?", f"{capital(subtree_text(said))}.")
        if form == "result" and not passive and (effect := _third_person(root)):
            asked = " ".join(filter(None, ("What", effect, particle, subtree_text(said))))
            yield Question("cause", "mechanistic", f"{asked}?", f"{capital(subtree_text(subject))}.")


def _listed(root: Token) -> Iterator[Question]:
    """ "There are two kinds of X: A and B."."""
    said = next((c for c in root.rights if c.dep_ == "attr"), None)
    if root.lemma_ != "be" or said is None or not any(c.dep_ == "expl" for c in root.lefts):
        return
    number = next((c for c in said.lefts if c.dep_ == "nummod"), None)
    head, colon, items = root.doc[number.i :].text.partition(":") if number is not None else ("", "", "")
    if colon and "," not in head and is_whole(head) and is_whole(items) and not _POINTS.search(head + items):
        yield Question("parts", "relational", f"What are the {head}?", f"{capital(trimmed(items))}.", name_of(said))


_STANDS_FOR = {"de": "Wofür steht {}?", "zh": "{} 的全称是什么？"}


def long_form(short: str, long: str, language: str) -> Question:
    """Return the question for the words that an acronym stands for."""
    words = long.removesuffix("s") if long.endswith("s") and not long.endswith(("ss", "us", "is", "ics")) else long
    asked = _STANDS_FOR.get(language, "What does {} stand for?").format(short)
    return Question("long form", "definitional", asked, f"{capital(words)}.", short)


def _third_person(verb: Token) -> str:
    """Return the verb with its auxiliaries as it follows "what": "causes", "can lead"; "" if that isn't known."""
    if helpers := auxiliaries_of(verb):
        return " ".join([_written(helpers[0]), *(t.text for t in helpers[1:]), verb.text])
    if verb.tag_ in ("VBZ", "VBD"):
        return verb.text
    if verb.tag_ != "VBP":
        return ""
    return verb.lemma_ + ("es" if verb.lemma_.endswith(("s", "sh", "ch", "x")) else "s")


def _unlike(root: Token, subject: Token) -> Iterator[Question]:
    """ "Unlike X, Y ...": how does Y differ from X?"""
    unlike = next((c for c in root.lefts if c.lower_ == "unlike" and c.i < subject.i), None)
    other = next((c for c in unlike.rights if c.dep_ == "pobj"), None) if unlike is not None else None
    if unlike is None or other is None or other.pos_ not in NOUNS:
        return
    one = lowered(subtree_text(subject), subject.left_edge)
    asked = f"How {_do(subject)} {one} differ from {subtree_text(other)}?"
    yield Question("contrast", "relational", asked, f"{capital(statement(root, [unlike]))}.")


def _do(subject: Token) -> str:
    plural = subject.tag_ in ("NNS", "NNPS") or any(c.dep_ == "conj" for c in subject.children)
    return "do" if plural else "does"


def statement(root: Token, without: Sequence[Token]) -> str:
    """Return the main clause of the sentence without the clauses of `without` and without words that link it."""
    out = {t.i for w in [*without, *links(root)] for t in w.subtree}
    return trimmed(text_of(t for t in root.subtree if t.i not in out))


def links(root: Token) -> list[Token]:
    """Return the phrases that only link a sentence to others: "however", "for example", "as stated above"."""
    found = []
    for child in root.children:
        words = [t.lower_ for t in child.subtree]
        before = child.i < root.i
        if (child.dep_ == "advmod" and words[-1] in _LINKING and len(words) == 1) or (
            before
            and (
                child.dep_ in ("cc", "intj")
                or (child.dep_ == "advmod" and len(words) == 1 and child.nbor().text == ",")
                or (words[0] == "as" and child.dep_ in ("advcl", "prep"))
                or words[:2] in (["for", "example"], ["for", "instance"])
            )
        ):
            found.append(child)
    return found


def inverted(root: Token, subject: Token, without: Sequence[Token]) -> str:
    """Return the main clause in the order of a question, without the clauses of `without`: "do cells divide".

    "" where the clause has what cannot be asked for: a phrase before the subject, a second clause beside it.
    """
    out = {t.i for w in [*without, *links(root)] for t in w.subtree}
    if any(t.i not in out and not t.is_punct for t in root.doc[: subject.left_edge.i]):
        return ""
    second = ("conj", "parataxis", "ccomp")
    rest = [c for c in root.subtree if c.i not in out]
    if any(c.lower_ == "but" or (c.dep_ == "mark" and c.lower_ in _CONTRASTS) for c in rest):
        return ""
    if any(c.dep_ in second and c.i not in out and subject_of(c) is not None for c in root.rights):
        return ""
    helpers = auxiliaries_of(root)
    negation = next((c for c in root.children if c.dep_ == "neg"), None)
    one = lowered(subtree_text(subject), subject.left_edge)
    between = [
        t
        for t in root.doc[subject.right_edge.i + 1 : root.i]
        if t not in helpers and t != negation and not t.is_punct and t.i not in out
    ]
    tail = text_of(t for t in root.subtree if t.i > root.i and t.i not in out and t != negation)
    not_ = "not" if negation is not None else ""
    if helpers:
        words = [_written(helpers[0]), one, not_, *(t.text for t in helpers[1:]), text_of(between), root.text, tail]
    elif root.lemma_ == "be":
        words = [root.lower_, one, not_, text_of(between), tail]
    else:
        do = {"VBZ": "does", "VBD": "did", "VBP": "do"}.get(root.tag_, "")
        if not do:
            return ""
        words = [do, one, not_, text_of(between), root.lemma_, tail]
    return trimmed(_NOT.sub("not", " ".join(" ".join(words).split())))


def _written(auxiliary: Token) -> str:
    """Return an auxiliary in full: "ca" of "can't" is "can"."""
    full = {"ca": "can", "wo": "will", "'s": "is", "’s": "is", "'re": "are", "'ll": "will", "'ve": "have"}
    return full.get(auxiliary.lower_, auxiliary.lower_)
