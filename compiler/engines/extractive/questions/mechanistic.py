"""Cards that ask why and how: causes, means, purposes, conditions, ideas."""

from __future__ import annotations

import re

from compiler.engines.extractive.grammar.clauses import Clause, end_of_clause, split_clauses
from compiler.engines.extractive.questions.definitional import shortened
from compiler.engines.extractive.questions.effects import effects
from compiler.engines.extractive.questions.inversion import is_plural, is_pronoun, last_coordinate, own, question_of
from compiler.engines.extractive.questions.question import AIM_ANSWER, Ask, Matter, ask, instead_of_pronoun, tidy

_PURPOSE = frozenset(
    "prevent avoid reduce ensure improve make obtain capture keep allow enable increase minimize maximize compute "
    "produce form get account help handle learn speed encourage stabilize control limit simplify facilitate "
    "preserve maintain find measure estimate test determine generate create predict represent combine provide "
    "protect compensate guide select choose exploit force save strengthen decide".split()
)
_NO_PURPOSE = frozenset(
    "used use said known thought believed expected supposed assumed required needed allowed able likely trained "
    "designed forced asked told found shown seen considered taken applied due related similar equal compared "
    "applied linked tied attributed reduced limited subject said guaranteed encouraged tuned set".split()
)


def mechanistic(clause: Clause, matter: Matter) -> list[Ask | None]:
    """The mechanistic cards one sentence supports."""
    return [
        *_because(clause, matter),
        *_fronted(clause, matter),
        *_by_doing(clause, matter),
        *_purpose(clause, matter),
        *effects(clause, matter),
        *_explains(clause, matter),
        *_inside(clause, matter),
    ]


def _reason(clause: Clause, main: Clause, start: int, matter: Matter) -> str:
    """The words of the reason from token `start`, up to where it may end, its "it" or "they" named."""
    text = clause.slice(start, clause.end)
    if len(text) > AIM_ANSWER:
        text = clause.slice(start, end_of_clause(clause, start + 2))
    return instead_of_pronoun(shortened(text), matter.lower(main.subject), is_plural(main))


def _because(clause: Clause, matter: Matter) -> list[Ask | None]:
    cards: list[Ask | None] = []
    for i in split_clauses(clause, frozenset({"because", "since"}))[:1]:
        word, before = clause.words[i].low, clause.words[i - 1]
        if i + 2 >= clause.end or before.tag == "NOT" or before.low in ("not", "that"):
            continue
        if word == "since" and (
            before.tag != "COMMA" or clause.words[i + 1].tag in ("NUM",) or clause.words[i + 1].low == "then"
        ):
            continue
        main = last_coordinate(clause, i)
        question = question_of("Why", main, matter) if main else ""
        if not main or not question:
            continue
        start = i + 2 if clause.words[i + 1].low == "of" else i + 1
        reason = _reason(clause, main, start, matter)
        cards.append(
            ask(
                "mechanistic",
                question,
                ("Because of " if start == i + 2 else "Because ") + matter.lower(reason),
                6.0 + own(main, matter),
                matter,
            )
        )
    return cards


def _fronted(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "Because A, B" and "When A, B": why B; when B; what happens when A."""
    if not clause.front:
        return []
    first, front = clause.words[clause.front[0]].low, clause.fronted
    bare = Clause(clause.text, clause.words, None, clause.start, clause.subject_end, clause.verb, clause.end)
    if len(split_clauses(bare, frozenset({"because", ";", "whereas"}))):
        return []
    main = bare.until(end_of_clause(bare, bare.verb + 1))
    rest = front.split(maxsplit=1)[-1]
    if first in ("because", "since"):
        return [
            ask(
                "mechanistic",
                question_of("Why", main, matter),
                "Because " + matter.lower(rest),
                6.0 + own(main, matter),
                matter,
            )
        ]
    if first == "by" and clause.words[clause.front[0] + 1].tag in ("VBG", "ADV"):
        return [ask("mechanistic", question_of("How", main, matter), front, 5.5 + own(main, matter), matter)]
    if first in ("when", "if", "once", "whenever", "as") and 3 < clause.front[1] - clause.front[0] < 15:
        if first == "as" or clause.words[clause.verb].tag == "VBD":
            return []
        told = re.sub(r"^then\s+", "", clause.slice(clause.start, main.end))
        condition = front[0].lower() + front[1:]
        return [
            ask(
                "mechanistic",
                f"What happens {condition}",
                shortened(told),
                4.0 + (0.7 if matter.is_in(front) else 0),
                matter,
            )
        ]
    return []


def _by_doing(clause: Clause, matter: Matter) -> list[Ask | None]:
    cards: list[Ask | None] = []
    for i in split_clauses(clause, frozenset({"by"}))[:2]:
        after = i + 1
        if after < clause.end and clause.words[after].tag == "ADV":
            after += 1
        if after + 1 >= clause.end or clause.words[after].tag != "VBG" or clause.words[i - 1].tag == "COMMA":
            continue
        main = last_coordinate(clause, i)
        if not main or not _is_attached(main):
            continue
        question = question_of("How", main, matter)
        if not question:
            continue
        means = shortened(clause.slice(i, end_of_clause(clause, after + 1)))
        cards.append(ask("mechanistic", question, means, 5.5 + own(main, matter), matter))
        break
    return cards


def _is_attached(main: Clause) -> bool:
    """Whether what follows tells of the main verb: no clause stands between, and the verb is of doing, not of being."""
    between = main.words[main.verb + 1 : main.end]
    return main.lemma() != "be" and not any(w.tag == "WH" for w in between)


def _purpose(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "... in order to B", "X is scaled to prevent B": why A."""
    cards: list[Ask | None] = []
    for i in split_clauses(clause, frozenset({"to"})):
        low = [w.low for w in clause.words[max(0, i - 2) : i]]
        if i + 1 >= clause.end or clause.words[i + 1].tag != "INF":
            continue
        ordered = low in (["in", "order"], ["so", "as"])
        cut = i - 2 if ordered else i
        main = last_coordinate(clause, cut)
        if not main or main.main_verb() >= cut or not _is_attached(main):
            continue
        if not ordered and not (
            main.is_passive()
            and main.main_verb() == cut - 1
            and clause.words[cut - 1].low not in _NO_PURPOSE
            and clause.words[i + 1].low in _PURPOSE
        ):
            continue
        question = question_of("Why", main, matter)
        if question:
            cards.append(
                ask(
                    "mechanistic",
                    question,
                    shortened(clause.slice(i, end_of_clause(clause, i + 2))),
                    5.0 + own(main, matter),
                    matter,
                )
            )
        break
    return cards


_EXPLAINS = re.compile(r"^explains? why\s+(?P<what>.+)$", re.IGNORECASE)


def _explains(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "X explains why A": what explains why A."""
    main = clause.until(end_of_clause(clause, clause.verb + 2))
    match = _EXPLAINS.match(main.predicate)
    if not match or not matter.is_named(main.subject) or main.front:
        return []
    return [
        ask("mechanistic", f"What does {matter.lower(main.subject)} explain", "Why " + tidy(match["what"]), 3.5, matter)
    ]


def _inside(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "In X, A happens": what happens in X."""
    front = clause.fronted
    if not front.casefold().startswith("in ") or not matter.is_named(front[3:]) or is_pronoun(clause.subject):
        return []
    if clause.words[clause.verb].tag in ("VBD", "HAVE"):
        return []
    told = clause.slice(clause.start, end_of_clause(clause, clause.verb + 1))
    if len(told.split()) < 6:
        return []
    return [ask("mechanistic", f"What happens in {matter.lower(front[3:])}", shortened(told, 220), 3.6, matter)]
