"""Cards that ask what something is, what it is called, what it stands for, which kinds it has."""

from __future__ import annotations

import re

from compiler.engines.extractive.grammar.asides import apposition_in, entry_in, named_after, naming_in
from compiler.engines.extractive.grammar.clauses import Clause
from compiler.engines.extractive.grammar.definitions import Definition, definition_in
from compiler.engines.extractive.questions.question import AIM_ANSWER, Ask, Matter, ask, flat, tidy
from compiler.language import names

_LATE_CUT = re.compile(
    r"(?:, (?:which|where|who|whose|so that|such as|for example|for instance|e\.g\.|as|but|although|though|while|"
    r"whereas|with)\b|; |: |, (?:and|or) )"
)
_EXAMPLE = re.compile(r"\s*[:;—–]\s*(?:for example|for instance|e\.g\.).*$", re.DOTALL)
_TOO_SHORT = 3  # words


def definitional(text: str, clause: Clause | None, matter: Matter) -> list[Ask | None]:
    """The definitional cards one sentence supports."""
    found = (definition_in(clause) if clause else None) or entry_in(text)
    cards: list[Ask | None] = []
    if found and matter.is_named(found.term):
        cards += _of(found, matter)
    else:
        inside = next((d for k in sorted(matter.keys) if (d := apposition_in(text, k) or named_after(text, k))), None)
        cards += _of(inside, matter) if inside else []
        naming = naming_in(text)
        if naming and matter.is_named(naming.term):
            asked = f"{naming.body.rstrip('.')}. What {naming.verb} called"
            cards.append(ask("definitional", asked, naming.name, 4.2, matter, reverse=True))
    if clause:
        cards += _kinds(clause, matter)
    return [*cards, *_expansions(text, matter)]


def _of(found: Definition, matter: Matter) -> list[Ask | None]:
    term = matter.lower(re.sub(r"\s*\([^()]*\)", "", found.term).strip("\"“”*' "))
    if found.shape == "alias":
        return [ask("definitional", f"What is another name for {term}", found.body, 3.0, matter)]
    body = _TRAILING.sub("", shortened(_one_predicate(found.body)))
    if len(body.split()) < _TOO_SHORT or _is_circular(found, body):
        return []
    if found.shape == "means":
        refers = "do" if found.verb == "are" else "does"
        question = (
            f"What {refers} {term} mean" if found.body.split()[0].endswith("ing") else f"What {found.verb} {term}"
        )
        return [ask("definitional", question, body, 6.0, matter)]
    if found.shape == "task":
        return [ask("definitional", f"What is the {found.verb} of {term}", body, 5.0, matter)]
    if found.shape == "seen":
        return [ask("definitional", f"What can {term} be {_SEEN.get(found.verb, found.verb)} as", body, 4.0, matter)]
    if found.shape in ("called", "refer"):
        described = matter.lower(body)
        return [
            ask("definitional", f"What {found.verb} {term}", body, 5.5, matter),
            ask("definitional", f"What is the term for {described}", found.name, 4.0, matter, reverse=True),
        ]
    if found.shape == "entry":
        term = _entry_term(found, body, matter)
    verb = "are" if found.shape == "entry" and _is_plural(found) else found.verb
    verb = "are" if _LATIN_PLURAL.search(term) else verb
    score = {"is": 6.0, "entry": 6.0, "apposition": 4.5}[found.shape]
    return [ask("definitional", f"What {verb} {term}", body, score + _worth(body), matter)]


_TRAILING = re.compile(r", (?:basically|essentially|simply|really|respectively|too|really)$")


def _one_predicate(body: str) -> str:
    """`body` without a second predicate of the sentence's subject; a relative clause keeps its own."""
    return body if re.search(r"\b(?:that|which|who|where|whose)\b", body) else object_only(body)


_LATIN_PLURAL = re.compile(
    r"\b(?:automata|phenomena|criteria|lemmata|corpora|matrices|vertices|indices|hypotheses|nuclei|"
    r"stimuli|genera|strata|bacteria|algae|fungi|axes|appendices|loci|schemata|stigmata|taxa|quanta|ova)$",
    re.IGNORECASE,
)
_SEEN = {"of": "thought of"}


_COUNTABLE = frozenset({"a", "an", "another", "anything", "any", "one"})


def _entry_term(found: Definition, body: str, matter: Matter) -> str:
    """An entry's bare name with the article it takes: "a cue" where the entry says "anything that ..."."""
    term = matter.with_article(found.term)
    is_bare = term == matter.lower(found.term) and not _ABSTRACT.search(found.name)
    if is_bare and body.split()[0].casefold() in _COUNTABLE:
        return f"{'an' if found.name[0].casefold() in 'aeiou' else 'a'} {term}"
    return term


_ABSTRACT = re.compile(r"(?:ing|ion|ment|ness|ity|ism|ance|ence|y|[^s]s)$")


def _is_plural(found: Definition) -> bool:
    last = found.name.split()[-1].casefold()
    return names.key(last) != last and found.body.split()[0].casefold() not in ("a", "an", "the")


def _worth(body: str) -> float:
    """A definition that names a genus and what sets it apart is worth more than a remark in the same form."""
    first = body.split()[0].casefold()
    differs = bool(re.search(r"\b(?:that|which|who|whose|where|in which|by which|of|used|for)\b", body))
    return (
        (0.5 if first in ("a", "an", "the", "any") else 0.0)
        + (0.5 if differs else -0.5)
        + min(len(body.split()), 12) / 24
    )


def _is_circular(found: Definition, body: str) -> bool:
    """From "The attention model is an attention model ..." and bodies that say no more than the name."""
    named, said = set(flat(found.name).split()), flat(body).split()
    rest = [w for w in said if w not in named and len(w) > 2]
    return len(rest) < 2


def shortened(body: str, aim: int = AIM_ANSWER) -> str:
    """`body` up to a place where it may end, if it is longer than `aim`; as it is if there is no such place."""
    body = tidy(_EXAMPLE.sub("", body))
    if len(body) <= aim:
        return body
    cuts = [m.start() for m in _LATE_CUT.finditer(body) if 50 <= m.start() <= aim + 20]
    cut = body[: cuts[-1]] if cuts else body
    return cut if cut.count("(") == cut.count(")") else body


_NEXT_VERB = re.compile(
    r",?\s+and (?:\w+ly )?(?:is|are|was|were|has|have|can|could|may|will|remains?|does|do|makes?|allows?|helps?|"
    r"requires?)\b.*$",
    re.DOTALL,
)


def object_only(text: str) -> str:
    """`text` without a second predicate at its end: "bread and cakes, and is sold warm" gives "bread and cakes"."""
    return _NEXT_VERB.sub("", text)


_KINDS = re.compile(
    r"^there are (?P<many>two|three|four|five|several)\s+(?P<what>(?:\w+[\s-]){0,3}?(?:types|kinds|forms|classes|"
    r"categories|varieties|variants|families|parts|components|phases|stages|steps|elements) "
    r"(?:of|in)\s+(?P<of>[^:,.]+?))\s*[:,–—]\s*(?P<list>.+)$",
    re.IGNORECASE,
)
_HAS_KINDS = re.compile(
    r"^(?:has|have|comes? in|consists? of|is made up of|is divided into|are divided into|falls? into|includes?|"
    r"involves?)\s+(?P<many>two|three|four|five)\s+(?P<what>(?:\w+[\s-]){0,2}?\w+s)\s*[:–—]\s*(?P<list>.+)$",
    re.IGNORECASE,
)


def _kinds(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "There are three types of X: a, b and c"; "X has two parts: ..."."""
    whole = tidy(clause.text.rstrip(".!"))
    if match := _KINDS.match(whole):
        return [ask("definitional", f"What {match['many']} {match['what']} are there", match["list"], 4.5, matter)]
    if matter.is_named(clause.subject) and (match := _HAS_KINDS.match(clause.predicate)):
        plural = clause.words[clause.verb].low in ("have", "are", "fall", "come", "consist")
        helper = "do" if plural else "does"
        question = f"Which {match['many']} {match['what']} {helper} {matter.lower(clause.subject)} have"
        return [ask("definitional", question, match["list"], 4.0, matter)]
    return []


def _expansions(text: str, matter: Matter) -> list[Ask | None]:
    """What an acronym of the concept stands for, where the sentence spells it out."""
    cards = []
    for short, long in names.acronym_pairs(text):
        if matter.is_named(short) and matter.is_named(long):
            cards.append(ask("definitional", f"What does {short} stand for", long, 2.5, matter))
    return cards
