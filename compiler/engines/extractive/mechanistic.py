"""Cards that ask why and how: causes, means, effects, conditions, parts."""

from __future__ import annotations

import re

from compiler import names
from compiler.engines.extractive.asking import AIM_ANSWER, Ask, Matter, ask, instead_of_pronoun, tidy
from compiler.engines.extractive.clauses import Clause, end_of_clause, parse_part, split_clauses, verb_first
from compiler.engines.extractive.definitional import shortened

_ATTACHES_ELSEWHERE = re.compile(
    r"\b(?:explains? why|means that|is why|reasons?|argu(?:e|es|ed) that|claim(?:s|ed)? that|say(?:s)? that|suggests? that|shows? that|believe[sd]? that|think|thought|note[sd]? that|found that|find that|says? how)\b",
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
_PURPOSE = frozenset(
    "prevent avoid reduce ensure improve make obtain capture keep allow enable increase minimize maximize compute produce form get account "
    "help handle learn speed encourage stabilize control limit simplify facilitate preserve maintain find measure estimate test determine "
    "generate create predict represent combine provide protect compensate guide select choose exploit force save strengthen decide".split()
)
_NO_PURPOSE = frozenset(
    "used use said known thought believed expected supposed assumed required needed allowed able likely trained designed forced asked told "
    "found shown seen considered taken applied due related similar equal compared applied linked tied attributed reduced limited subject "
    "said guaranteed encouraged tuned set".split()
)


def mechanistic(clause: Clause, matter: Matter) -> list[Ask | None]:
    """The mechanistic cards one sentence supports."""
    return [
        *_because(clause, matter),
        *_fronted(clause, matter),
        *_by_doing(clause, matter),
        *_purpose(clause, matter),
        *_enables(clause, matter),
        *_effects(clause, matter),
        *_caused(clause, matter),
        *_does(clause, matter),
        *_explains(clause, matter),
        *_inside(clause, matter),
    ]


def question_of(head: str, clause: Clause, matter: Matter) -> str:
    """ "Why does X ...": `head`, the inverted clause, and what stood in front of it before; "" if there is no sure way."""
    subject = clause.subject
    if not subject or _is_pronoun(subject) or clause.words[clause.end - 1].tag == "NOT":
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


# Words that tie a sentence to the one before it; a question stands alone.
_TURNING = re.compile(
    r"\b(?:also|therefore|thus|hence|however|moreover|likewise|furthermore|additionally|then|accordingly|indeed|nevertheless),?\s"
)


def _is_pronoun(subject: str) -> bool:
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
    """The clause right before token `end`: the main clause, or the last one joined to it by "and", "but", ";" or ":"."""
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
                6.0 + _own(main, matter),
                matter,
            )
        )
    return cards


def _own(clause: Clause, matter: Matter) -> float:
    """What a card gains from asking about the concept itself and not about something that goes with it."""
    return 1.0 if matter.is_named(clause.subject) else 0.3 if matter.is_in(clause.subject) else 0.0


def _fronted(clause: Clause, matter: Matter) -> list[Ask | None]:
    """ "Because A, B" and "When A, B": why B; when B; what happens when A."""
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
                6.0 + _own(main, matter),
                matter,
            )
        ]
    if first == "by" and clause.words[clause.front[0] + 1].tag in ("VBG", "ADV"):
        return [ask("mechanistic", question_of("How", main, matter), front, 5.5 + _own(main, matter), matter)]
    if first in ("when", "if", "once", "whenever", "as") and clause.front[1] - clause.front[0] > 3:
        if first == "as" or clause.words[clause.verb].tag == "VBD":
            return []
        told = clause.slice(clause.start, main.end)
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
        if (
            after + 1 >= clause.end
            or clause.words[after].tag != "VBG"
            or clause.words[i - 1].tag in ("COMMA", "NOUN")
            and clause.words[i - 1].text == ","
        ):
            continue
        main = last_coordinate(clause, i)
        question = question_of("How", main, matter) if main else ""
        if not main or not question:
            continue
        means = shortened(clause.slice(i, end_of_clause(clause, after + 1)))
        cards.append(ask("mechanistic", question, means, 5.5 + _own(main, matter), matter))
        break
    return cards


def _purpose(clause: Clause, matter: Matter) -> list[Ask | None]:
    """ "... in order to B", "X is scaled to prevent B": why A."""
    cards: list[Ask | None] = []
    for i in split_clauses(clause, frozenset({"to"})):
        low = [w.low for w in clause.words[max(0, i - 2) : i]]
        if i + 1 >= clause.end or clause.words[i + 1].tag != "INF":
            continue
        ordered = low in (["in", "order"], ["so", "as"])
        cut = i - 2 if ordered else i
        main = last_coordinate(clause, cut)
        if not main or main.main_verb() >= cut:
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
                    5.0 + _own(main, matter),
                    matter,
                )
            )
        break
    return cards


_ENABLING = {"allow", "enable", "force", "cause", "encourage", "lead", "require", "permit", "help"}


def _enables(clause: Clause, matter: Matter) -> list[Ask | None]:
    """ "X allows Y to Z": what X allows Y to do."""
    main = clause.until(end_of_clause(clause, clause.verb + 1))
    lemma, at = main.lemma(), main.main_verb()
    if lemma not in _ENABLING or main.is_passive() or not matter.is_named(main.subject):
        return []
    to = next(
        (i for i in range(at + 2, main.end - 1) if main.words[i].tag == "TO" and main.words[i + 1].tag == "INF"), None
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
                5.0 + _own(main, matter),
                matter,
            )
        ]
        if asked
        else []
    )


_EFFECTS = frozenset(
    "cause prevent avoid eliminate reduce increase require minimize maximize measure predict estimate compute store encode contain comprise "
    "learn produce generate output return determine capture model represent exploit control improve strengthen weaken promote favour favor "
    "train activate harm damage preserve protect affect penalize approximate optimize select assign expose delay enlarge need describe assume".split()
)
_WEAKER_EFFECTS = frozenset(
    "provide involve define specify identify indicate express reflect introduce impose ignore support maintain address offer "
    "handle employ exploit target denote summarize quantify characterize detect resolve restrict extract link".split()
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
    """ "X reduces Y": what X reduces; "X depends on Y", "X leads to Y", "X consists of Y"."""
    main = clause.until(end_of_clause(clause, clause.verb + 1))
    at, lemma = main.main_verb(), main.lemma()
    if not _may_lead(main) or not matter.is_named(main.subject) or main.is_passive() or main.words[at].tag == "VBG":
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
    answer = shortened(main.slice(start, end), 160)
    base = 2.4 if lemma in _WEAKER_EFFECTS else 3.2
    return [ask("mechanistic", asked, answer, base + min(len(answer.split()), 10) / 10, matter)] if asked else []


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
    end = stop[0] if stop else clause.end
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
    """ "X is caused by Y": by what X is caused."""
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
    "store keep map convert transform encode decode multiply divide combine assign select split merge compare compute measure learn generate "
    "add normalize weigh scale project replace remove process attend return track cache sum average rank search retrieve maintain estimate "
    "read write ask repeat spread break treat bind strengthen present produce update sample factor decompose separate shift collapse".split()
)


def _does(clause: Clause, matter: Matter) -> list[Ask | None]:
    """ "X stores keys and values for reuse": what X does."""
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


_EXPLAINS = re.compile(r"^explains? why\s+(?P<what>.+)$", re.IGNORECASE)


def _explains(clause: Clause, matter: Matter) -> list[Ask | None]:
    """ "X explains why A": what explains why A."""
    main = clause.until(end_of_clause(clause, clause.verb + 2))
    match = _EXPLAINS.match(main.predicate)
    if not match or not matter.is_named(main.subject) or main.front:
        return []
    return [
        ask("mechanistic", f"What does {matter.lower(main.subject)} explain", "Why " + tidy(match["what"]), 3.5, matter)
    ]


def _inside(clause: Clause, matter: Matter) -> list[Ask | None]:
    """ "In X, A happens": what happens in X."""
    front = clause.fronted
    if not front.casefold().startswith("in ") or not matter.is_named(front[3:]) or _is_pronoun(clause.subject):
        return []
    if clause.words[clause.verb].tag == "VBD":
        return []
    told = clause.slice(clause.start, end_of_clause(clause, clause.verb + 1))
    if len(told.split()) < 6:
        return []
    return [ask("mechanistic", f"What happens in {matter.lower(front[3:])}", shortened(told, 220), 3.6, matter)]
