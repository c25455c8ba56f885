"""Numbers by which a trained model judges terms, definitions and questions: grammar, structure, statistics, form.

None of them knows a word of any field: words count by how common they are in general text; by themselves only those of
grammar (pronouns, determiners, conjunctions) and the nouns and adjectives of complements ("a process", "an important
part") that the training found in many fields.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from compiler.engines.extractive.definitions import PATTERNS, Definition
from compiler.engines.extractive.frequency import frequency
from compiler.engines.extractive.phrases import DEICTIC, PERSONAL, THIRD, determiner_of
from compiler.engines.extractive.questions import FORMS, Question
from compiler.engines.extractive.sentence import Sentence, root_of
from compiler.engines.extractive.terms import Terms
from compiler.language import names

if TYPE_CHECKING:
    from spacy.tokens import Doc

Features = dict[str, float]
_HEDGES = frozenset(
    "may might could can should would often usually sometimes perhaps probably also however even just only".split()
)
_CHAPTER = frozenset(
    "chapter section figure table example lecture lesson exercise page book course tutorial article paper".split()
)
_EVERYDAY = 5.0  # Zipf frequency from which a word says little: "thing", "part", "used"
_WORD = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")
_SYMBOL = re.compile(r"[=<>{}\\/|_^$~*#@+\[\]]")


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters."""
    return [w.lower() for w in _WORD.findall(text)]


def _count(words: list[str], of: frozenset[str]) -> int:
    return sum(w in of for w in words)


def text_features(text: str, prefix: str, language: str) -> Features:
    """Return what the form of a text says: length, pronouns, symbols, how common its words are."""
    words = words_of(text)
    zipf = [frequency(w, language) for w in words if len(w) > 2] or [0.0]
    return {
        f"{prefix}.words": len(words),
        f"{prefix}.characters": len(text),
        f"{prefix}.deictic": _count(words, DEICTIC),
        f"{prefix}.personal": _count(words, PERSONAL),
        f"{prefix}.third": _count(words, THIRD),
        f"{prefix}.hedges": _count(words, _HEDGES),
        f"{prefix}.chapter": _count(words, _CHAPTER),
        f"{prefix}.symbols": len(_SYMBOL.findall(text)),
        f"{prefix}.digits": sum(c.isdigit() for c in text),
        f"{prefix}.capitals": sum(w[:1].isupper() for w in text.split()[1:]),
        f"{prefix}.commas": text.count(",") + text.count("，") + text.count("、"),
        f"{prefix}.brackets": text.count("(") + text.count("（"),
        f"{prefix}.quotes": sum(text.count(c) for c in "\"“”‘'"),
        f"{prefix}.colons": text.count(":") + text.count(";") + text.count("—") + text.count("–"),
        f"{prefix}.commonest": max(zipf),
        f"{prefix}.rarest": min(zipf),
        f"{prefix}.common": sum(zipf) / len(zipf),
        f"{prefix}.unknown": sum(z == 0 for z in zipf),
        f"{prefix}.first_the": float(words[:1] == ["the"]),
        f"{prefix}.first_a": float(words[:1] in (["a"], ["an"])),
        f"{prefix}.negations": _count(words, frozenset({"not", "no", "never", "without"})),
    }


def term_features(name: str, terms: Terms) -> Features:
    """Return what the name's form and its places in the document say of it."""
    term, n = terms.get(name), max(terms.sentences, 1)
    title = names.key(terms.title, terms.language)
    key = names.key(name, terms.language)
    return {
        **text_features(name, "term", terms.language),
        "term.count": math.log1p(term.count),
        "term.share": term.count / n,
        "term.subjects": math.log1p(term.subjects),
        "term.sections": math.log1p(len(term.sections)),
        "term.inside": math.log1p(term.inside),
        "term.c_value": math.log1p(max(term.count - term.inside / 2, 0)) * math.log2(1 + len(name.split())),
        "term.labels": math.log1p(terms.times(f"{name}:") + terms.times(f"{name}：")),
        "term.acronym": float(names.is_acronym(name)),
        "term.capital": float(name[:1].isupper()),
        "term.in_title": float(bool(key) and f" {key} " in f" {title} "),
        "term.gerund": float(name.partition(" ")[0].lower().endswith("ing")),
        "term.plural": float(name.endswith("s") and not name.endswith("ss")),
        **{
            f"term.{kind}": math.log1p(term.marks[kind])
            for kind in ("heading", "title", "emphasis", "link", "term", "code")
        },
    }


def form_features(text: str, doc: Doc | None, language: str) -> Features:
    """Return what a sentence's words and parse say: its tense, its length, whether it stands alone."""
    out = {
        **text_features(text, "sentence", language),
        "sentence.ended": float(text.rstrip()[-1:] in ".!?。！？"),
        "sentence.question": float(text.rstrip().endswith(("?", "？"))),
        "sentence.lower": float(text[:1].islower()),
    }
    if doc is not None:
        root, first = root_of(doc), doc[0]
        out |= {
            "parse.one_root": float(root is not None),
            "parse.past": float(root is not None and root.tag_ == "VBD"),
            "parse.verb": float(root is not None and root.pos_ in ("VERB", "AUX")),
            "parse.proper": sum(t.pos_ == "PROPN" for t in doc) / len(doc),
            "parse.clauses": sum(t.dep_ in ("ccomp", "advcl", "relcl", "conj", "parataxis") for t in doc),
            "parse.first_connective": float(first.pos_ in ("CCONJ", "SCONJ", "ADV")),
            "parse.first_pronoun": float(first.pos_ == "PRON"),
        }
    return out


def place_features(sentence: Sentence) -> Features:
    """Return where a sentence stands in its document and what is marked in it."""
    return {
        "sentence.position": min(sentence.position, 5),
        "sentence.item": float(sentence.is_item),
        "sentence.opens": float(sentence.opens),
        "sentence.entry": float(bool(sentence.entry)),
        "sentence.depth": len(sentence.headings),
        "sentence.quotation": float(sentence.has("quotation")),
        **{
            f"sentence.{kind}": sum(m.kind == kind for m in sentence.marks)
            for kind in ("code", "math", "link", "emphasis", "citation")
        },
    }


def definition_features(
    definition: Definition, sentence: Sentence, doc: Doc | None, terms: Terms, number: int
) -> Features:
    """Return what is known of a definition: of its term, its words and its grammar.

    `number` counts the sentences of the document from 0.
    """
    first = terms.get(definition.term).first
    out = {
        **term_features(definition.term, terms),
        **form_features(sentence.text, doc, terms.language),
        **place_features(sentence),
        **text_features(definition.meaning, "meaning", terms.language),
        **{f"pattern.{p}": float(definition.pattern == p) for p in PATTERNS},
        "domain": float(bool(definition.domain)),
        "term.quoted": float(_is_quoted(definition.term, sentence.text)),
        "entries": math.log1p(terms.entries[sentence.headings]),
        "first_mention": float(first == number),
        "after_first_mention": math.log1p(max(number - first, 0)) if first >= 0 else 0.0,
        "meaning.covers": len(definition.meaning) / max(len(sentence.text), 1),
        "meaning.term": float(_names(definition.meaning, definition.term, terms.language)),
        "heading.term": float(
            bool(sentence.headings) and _names(sentence.headings[-1], definition.term, terms.language)
        ),
    }
    if doc is not None:
        out |= _grammar(definition, doc, terms.language)
    return out


def _is_quoted(term: str, text: str) -> bool:
    """Return whether a text has a term in quotation marks."""
    has_marks = any(mark in text for mark in '"“„«「')  # few have; a pattern for each term takes long to compile
    return has_marks and bool(re.search(rf"[\"“„«「]{re.escape(term)}[\"”“»」]", text, re.I))


def _names(text: str, name: str, language: str) -> bool:
    if language == "zh":
        return bool(name) and name in text
    key = names.key(name, language)
    return bool(key) and f" {key} " in f" {names.key(text, language)} "


def _grammar(definition: Definition, doc: Doc, language: str) -> Features:
    """Return what the parse says of the head of the term and of the noun that says its kind."""
    out: Features = {}
    if definition.head >= 0:
        head = doc[definition.head]
        found = determiner_of(head)
        out |= {
            f"head.{d or 'bare'}": float(found == d)
            for d in ("", "a", "the", "this", "each", "any", "our", "some", "its")
        }
        out |= {
            "head.proper": float(head.pos_ == "PROPN"),
            "head.plural": float(head.tag_ in ("NNS", "NNPS")),
            "head.relative": float(any(c.dep_ in ("relcl", "acl") for c in head.rights)),
            "head.prepositions": sum(c.dep_ == "prep" for c in head.rights),
            "head.at": min(head.left_edge.i, 10),
            "head.coordinated": float(any(c.dep_ == "conj" for c in head.children)),
        }
    if definition.kind >= 0:
        kind = doc[definition.kind]
        found = determiner_of(kind)
        out |= {
            f"kind.{d or 'bare'}": float(found == d) for d in ("", "a", "the", "one", "this", "another", "its", "our")
        }
        out |= {
            "kind.frequency": frequency(kind.lower_, language),
            "kind.proper": float(kind.pos_ == "PROPN"),
            "kind.plural": float(kind.tag_ in ("NNS", "NNPS")),
            "kind.relative": float(any(c.dep_ == "relcl" for c in kind.subtree)),
            "kind.participle": float(any(c.dep_ == "acl" for c in kind.subtree)),
            "kind.prepositions": sum(c.dep_ == "prep" for c in kind.rights),
            "kind.of": float(any(c.lower_ == "of" for c in kind.rights)),
            "kind.adjectives": sum(c.dep_ == "amod" for c in kind.lefts),
            "kind.superlative": float(any(c.tag_ in ("JJS", "RBS") for c in kind.subtree)),
            "kind.comparative": float(any(c.tag_ in ("JJR", "RBR") for c in kind.lefts)),
            "kind.conjuncts": sum(c.dep_ == "conj" for c in kind.subtree),
        }
        out[f"kind.noun={kind.lemma_.lower()}"] = 1.0
        out |= {f"kind.adjective={c.lemma_.lower()}": 1.0 for c in kind.lefts if c.dep_ == "amod"}
        if definition.head >= 0:
            head = doc[definition.head]
            out["agree"] = float((head.tag_ in ("NNS", "NNPS")) == (kind.tag_ in ("NNS", "NNPS")))
            out["same_head"] = float(head.lemma_ == kind.lemma_)
    return out


def _stems(words: set[str]) -> set[str]:
    """Return the beginnings of the longer words: those of "encrypts" and "encryption" are equal."""
    return {w[:5] for w in words if len(w) > 3}


def likely(title: float, definition: float) -> Features:
    """Return how likely a question is about a term and from a definition, as the other two models say."""
    return {"likely.title": title, "likely.definition": definition}


def question_features(question: Question, sentence: str, doc: Doc | None, language: str, pattern: str = "") -> Features:
    """Return what is known of a question: of its form, its words, and the sentence that answers it.

    `pattern` is that of the definition that it asks for, "" if it asks for none.
    """
    asked, answered = set(words_of(question.question)), set(words_of(question.answer))
    return {
        **form_features(sentence, doc, language),
        **text_features(question.about, "about", language),
        **text_features(question.question, "question", language),
        **text_features(question.answer, "answer", language),
        **{f"form.{f}": float(question.form == f) for f in FORMS},
        **{f"pattern.{p}": float(pattern == p) for p in PATTERNS},
        "overlap": len(asked & answered) / max(len(answered), 1),
        "overlap.stems": len(_stems(asked) & _stems(answered)) / max(len(_stems(answered)), 1),
        "answer.content": sum(len(w) > 3 and frequency(w, language) < _EVERYDAY for w in answered),
        "question.content": sum(len(w) > 3 and frequency(w, language) < _EVERYDAY for w in asked),
        "answer.names_term": float(_names(question.answer, question.about, language)),
        "question.names_term": float(_names(question.question, question.about, language)),
        "answer.covers": len(question.answer) / max(len(sentence), 1),
        "language.parsed": float(doc is not None),
    }
