"""Mechanistic cards that ask what a thing does: what it enables, causes, needs, and is caused by."""

from __future__ import annotations

from compiler.engines.extractive.grammar.clauses import Clause, end_of_clause, split_clauses
from compiler.engines.extractive.questions.definitional import object_only, shortened
from compiler.engines.extractive.questions.inversion import does, own, question_of
from compiler.engines.extractive.questions.question import Ask, Matter, ask


def effects(clause: Clause, matter: Matter) -> list[Ask | None]:
    """The cards about what the subject does that one sentence supports."""
    return [
        *_enables(clause, matter),
        *_effects(clause, matter),
        *_caused(clause, matter),
        *_does(clause, matter),
    ]


_ENABLING = {"allow", "enable", "force", "cause", "encourage", "lead", "require", "permit", "help"}


def _enables(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "X allows Y to Z": what X allows Y to do."""
    main = clause.until(end_of_clause(clause, clause.verb + 1))
    lemma, at = main.lemma(), main.main_verb()
    if lemma not in _ENABLING or main.is_passive() or not matter.is_named(main.subject):
        return []
    first = at + 1 if lemma == "help" else at + 2
    to = next(
        (i for i in range(first, main.end - 1) if main.words[i].tag == "TO" and main.words[i + 1].tag == "INF"), None
    )
    if to is None or any(main.words[i].tag in ("COMMA", "WH", "SUB", "PREP") for i in range(at + 1, to)):
        return []
    asked = question_of("What", main.until(to), matter)
    return (
        [
            ask(
                "mechanistic",
                f"{asked} to do",
                shortened(main.slice(to + 1, main.end)),
                5.0 + own(main, matter),
                matter,
            )
        ]
        if asked
        else []
    )


_EFFECTS = frozenset(
    "cause prevent avoid eliminate reduce increase require minimize maximize measure predict estimate compute "
    "store encode contain comprise learn produce generate output return determine capture model represent exploit "
    "control improve strengthen weaken promote favour favor train activate harm damage preserve protect affect "
    "penalize approximate optimize select assign expose delay enlarge need describe assume".split()
)
_WEAKER_EFFECTS = frozenset(
    "use involve define specify identify indicate express reflect impose ignore employ exploit denote "
    "summarize quantify characterize detect resolve restrict extract link".split()
)
_PARTICLE_EFFECTS = {
    "lead": "to",
    "result": "in",
    "depend": "on",
    "consist": "of",
    "rely": "on",
    "contribute": "to",
    "correspond": "to",
    "aim": "at",
    "rest": "on",
}
_OBJECT_START = frozenset({"DET", "NOUN", "ADJ", "VBG", "VBN", "NUM", "WH", "ADV", "POSS"})


def _may_lead(clause: Clause) -> bool:
    """Whether what stands in front, if anything, may open the question too: "In the decoder, what does X do?"."""
    return not clause.front or clause.words[clause.front[0]].low in (
        "in",
        "during",
        "for",
        "at",
        "on",
        "within",
        "after",
        "before",
    )


def _effects(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "X reduces Y": what X reduces; "X depends on Y", "X leads to Y", "X consists of Y"."""
    main = clause.until(end_of_clause(clause, clause.verb + 1))
    at, lemma = main.main_verb(), main.lemma()
    if (
        not _may_lead(main)
        or not matter.is_named(main.subject)
        or main.is_passive()
        or main.words[at].tag in ("VBG", "VBD")
    ):
        return []
    particle = _PARTICLE_EFFECTS.get(lemma, "")
    start = at + 1
    if particle:
        if start >= main.end or main.words[start].low != particle:
            return []
        start += 1
    elif lemma not in _EFFECTS | _WEAKER_EFFECTS:
        return []
    end = _end_of_object(main, start)
    if (
        end - start < 2
        or main.words[start].tag not in _OBJECT_START
        or main.words[start].low in ("that", "this", "how", "not", "both")
    ):
        return []
    asked = question_of("What", main.until(start), matter)
    answer = shortened(object_only(main.slice(start, end)), 160)
    base = 2.4 if lemma in _WEAKER_EFFECTS else 3.2
    return [ask("mechanistic", asked, answer, base + min(len(answer.split()), 10) / 10, matter)] if asked else []


_FINITE_AGAIN = frozenset({"VBZ", "VBD", "BE", "HAVE", "MODAL", "DO"})


def _end_of_object(clause: Clause, start: int) -> int:
    stop = split_clauses(
        clause,
        frozenset(
            {
                "because",
                "since",
                "so",
                "whereas",
                "while",
                "although",
                "though",
                "unless",
                "which",
                "when",
                "if",
                "but",
                ":",
            }
        ),
        start,
    )
    second = (
        i
        for i in range(start, clause.end - 1)
        if clause.words[i].tag == "CC" and clause.words[i + 1].tag in _FINITE_AGAIN
    )
    end = min([*stop[:1], next(second, clause.end)])
    while end > start and clause.words[end - 1].tag in ("COMMA", "CC"):
        end -= 1
    if end < clause.end and clause.words[end].low == "which" and clause.words[end - 1].tag in ("PREP",):
        return clause.end
    return end


_BY = frozenset(
    {
        "caused",
        "determined",
        "controlled",
        "produced",
        "influenced",
        "affected",
        "driven",
        "triggered",
        "limited",
        "governed",
        "represented",
        "parameterized",
        "measured",
        "replaced",
        "reduced",
        "prevented",
        "evaluated",
        "solved",
        "augmented",
        "handled",
        "increased",
        "improved",
        "followed",
        "computed",
        "given",
        "obtained",
        "generated",
        "motivated",
        "harmed",
        "strengthened",
    }
)


def _caused(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "X is caused by Y": by what X is caused."""
    main = clause.until(end_of_clause(clause, clause.verb + 1))
    at = main.main_verb()
    if main.front or not main.is_passive() or main.words[at].low not in _BY or not matter.is_named(main.subject):
        return []
    if at + 2 >= main.end or main.words[at + 1].low != "by" or main.words[at + 2].tag in ("VBG", "ADV"):
        return []
    end = _end_of_object(main, at + 2)
    asked = question_of("What", main.until(at + 1), matter)
    return (
        [ask("mechanistic", f"{asked} by", shortened(main.slice(at + 2, end), 160), 3.8, matter)]
        if asked and end - at > 3
        else []
    )


_DOING = frozenset(
    "store keep map convert transform encode decode multiply divide combine assign select split merge compare "
    "compute measure learn generate add normalize weigh scale project replace remove process attend return track "
    "cache sum average rank search retrieve maintain estimate read write ask repeat spread break treat bind "
    "strengthen present produce update sample factor decompose separate shift collapse".split()
)


def _does(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "X stores keys and values for reuse": what X does."""
    main = clause.until(end_of_clause(clause, clause.verb + 1))
    verb = main.words[main.verb]
    if not _may_lead(main) or verb.tag not in ("VBZ", "VB") or not matter.is_named(main.subject):
        return []
    answer = shortened(main.slice(main.verb, _end_of_object(main, main.verb + 1)))
    if main.lemma() not in _DOING or len(answer.split()) < 4 or main.subject_end != main.verb:
        return []
    asked = f"What {does(main)} {matter.lower(main.subject)} do"
    if main.front:
        asked = f"{main.fronted}, {asked[0].lower()}{asked[1:]}"
    return [ask("mechanistic", asked, answer, 3.5 + min(len(answer.split()), 12) / 12 - bool(main.front), matter)]
