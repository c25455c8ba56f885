"""Cards that ask how two named things differ, compare, belong together or rest on each other."""

from __future__ import annotations

import re

from compiler.engines.extractive.grammar.clauses import Clause, end_of_clause, parse_part, split_clauses
from compiler.engines.extractive.questions.definitional import shortened
from compiler.engines.extractive.questions.inversion import does, question_of
from compiler.engines.extractive.questions.question import Ask, Matter, ask, instead_of_pronoun
from compiler.language import names


def relational(clause: Clause, matter: Matter) -> list[Ask | None]:
    """The relational cards one sentence supports; each names two things."""
    return [
        *_differs(clause, matter),
        *_unlike(clause, matter),
        *_likewise(clause, matter),
        *_whereas(clause, matter),
        *_is_kind_of(clause, matter),
        *_compares(clause, matter),
        *_like(clause, matter),
        *_rests_on(clause, matter),
        *_common(clause, matter),
    ]


_NOTION_OF = re.compile(r"^the (?:concept|notion|idea|task|problem|method|technique) of (?=[a-z])", re.IGNORECASE)


def _other(text: str, matter: Matter) -> str:
    """`text` as the name of another thing than the concept; "" if it is none."""
    bare = _NOTION_OF.sub("", re.sub(r"\s*\([^()]*\)", "", text).strip(" ,"))
    if re.fullmatch(r"[a-z]+ing", bare):
        return ""
    return matter.lower(bare) if bare and names.is_name(bare) and not matter.is_named(bare) else ""


def _phrase(clause: Clause, start: int) -> int:
    """Where the noun phrase that begins at token `start` ends, with "of" phrases but no others."""
    at = start
    while at < clause.end and (
        clause.words[at].tag in ("DET", "ADJ", "NOUN", "NUM", "VBG", "VBN", "POSS") or clause.words[at].low == "of"
    ):
        at += 1
    while at > start and clause.words[at - 1].tag not in ("NOUN", "VBG", "NUM"):
        at -= 1
    return at


_DIFFER = re.compile(
    r"^(?:differs?|is different|are different|is distinguished|can be distinguished) from\b", re.IGNORECASE
)


def _differs(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "X differs from Y in that ...": how X differs from Y."""
    if not _DIFFER.match(clause.predicate) or clause.front or not matter.is_in(clause.subject):
        return []
    start = next(i for i in range(clause.verb, clause.end) if clause.words[i].low == "from") + 1
    end = _phrase(clause, start)
    other = _other(clause.slice(start, end), matter)
    if not other or clause.end - end < 3 or not names.is_name(clause.subject):
        return []
    how = clause.slice(end, end_of_clause(clause, end + 1)).lstrip(", ")
    plural = does(clause) == "do"
    subject = matter.lower(clause.subject)
    if match := re.match(r"(in that|because|since|as)\s+(?P<rest>.+)$", how, re.IGNORECASE | re.DOTALL):
        how = f"{match[1]} {instead_of_pronoun(match['rest'], subject, plural)}"
    elif not re.match(r"(?:in|by|only|mainly)\b", how) or len(how.split()) < 6:
        return []
    return [
        ask(
            "relational",
            f"How {does(clause)} {subject} differ from {other}",
            shortened(how, 240),
            6.5,
            matter,
        )
    ]


_SET_APART = re.compile(
    r"^(?:unlike|in contrast (?:to|with)|compared (?:to|with)|contrary to|as opposed to|in comparison (?:to|"
    r"with))\s+(?P<other>.+)$",
    re.IGNORECASE,
)


def _unlike(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "Unlike Y, X ...": how X differs from Y."""
    match = _SET_APART.match(clause.fronted) if clause.front else None
    if not match or not names.is_name(clause.subject):
        return []
    first = re.split(r",|\s(?:that|which|where|who)\s", match["other"])[0]
    other = matter.lower(first) if names.is_name(first) else ""
    if not other or not (matter.is_named(clause.subject) or matter.is_named(first)):
        return []
    told = shortened(clause.slice(clause.start, end_of_clause(clause, clause.verb + 1)), 240)
    subject = matter.lower(clause.subject)
    helper = "compare" if match[0].casefold().startswith(("compared", "in comparison")) else "differ"
    link = "with" if helper == "compare" else "from"
    return [ask("relational", f"How {does(clause)} {subject} {helper} {link} {other}", told, 6.0, matter)]


def _likewise(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "Like Y, X ...": how X is like Y."""
    front = clause.fronted
    if not front.casefold().startswith("like ") or not matter.is_named(clause.subject):
        return []
    other = _other(front[5:], matter)
    told = clause.slice(clause.start, end_of_clause(clause, clause.verb + 1))
    if not other or len(told.split()) < 5:
        return []
    verb = "are" if does(clause) == "do" else "is"
    return [ask("relational", f"How {verb} {matter.lower(clause.subject)} like {other}", told, 4.8, matter)]


def _whereas(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "X does A, whereas Y does B": how X and Y differ."""
    marks = [i for i in split_clauses(clause, frozenset({"whereas", "while"})) if clause.words[i - 1].tag == "COMMA"]
    if len(marks) != 1:
        return []
    second = parse_part(clause, marks[0] + 1, clause.end)
    if not second or second.front or clause.front:
        return []
    if any(w.text in ("--", "—", "–") for w in clause.words[clause.verb : marks[0]]):
        return []  # what is contrasted stands in an insertion
    a, b = clause.subject, second.subject
    if (
        not (names.is_name(a) and names.is_name(b))
        or names.key(a) == names.key(b)
        or not (matter.is_named(a) or matter.is_named(b))
    ):
        return []
    if clause.words[marks[0]].low == "while" and not _is_parallel(clause, second):
        return []
    told = clause.slice(clause.start, clause.end)
    return [
        ask(
            "relational",
            f"How {does(clause)} {matter.lower(a)} differ from {matter.lower(b)}",
            told,
            6.0,
            matter,
        )
    ]


def _is_parallel(first: Clause, second: Clause) -> bool:
    """Whether "while" contrasts: both clauses have the same kind of verb, and neither tells of an event."""
    return "VBD" not in (first.words[first.verb].tag, second.words[second.verb].tag) and first.lemma() != ""


_GENUS = (
    r"(?:an?|one|the) (?:(?:\w+[\s-]){0,2})?(?:special case|special form|type|kind|form|variant|version|instance|"
    r"extension|generali[sz]ation|subset|subclass|member|part|component|"
    r"example|branch|family|class|combination|simplification|relaxation|approximation|opposite|counterpart|inverse|"
    r"dual|alternative|precursor|successor|modification|application|result|product|foundation|basis|prerequisite) "
    r"(?:of|to|for)"
)
_IS_KIND = re.compile(rf"^(?:is|are|serves? as|acts? as) (?P<genus>{_GENUS})\s+(?P<of>.+)$", re.IGNORECASE)


def _is_kind_of(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "X is a special case of Y": what X is a special case of."""
    match = _IS_KIND.match(clause.predicate)
    if not match or clause.front or not matter.is_named(clause.subject):
        return []
    start = next(
        (
            i
            for i in range(clause.verb, clause.end)
            if clause.words[i].start >= clause.words[clause.verb].start + match.start("of")
        ),
        clause.end,
    )
    end = _phrase(clause, start)
    other = _other(clause.slice(start, end), matter)
    if not other or clause.words[start].low in ("all", "this", "these"):
        return []
    verb, subject = ("are" if does(clause) == "do" else "is"), matter.lower(clause.subject)
    genus = next(i for i in range(clause.verb + 1, clause.end) if clause.words[i].low not in ("as",))
    told = clause.slice(genus, end_of_clause(clause, end))
    return [
        ask(
            "relational",
            f"How {verb} {subject} related to {other}",
            f"{clause.subject} {verb} {shortened(told, 180)}",
            4.5,
            matter,
        )
    ]


_COMPARATIVE = re.compile(
    r"^(?:more|less|fewer|better|worse|greater|larger|smaller|higher|lower|\w{3,}er)$", re.IGNORECASE
)
_SURPASS = frozenset({"outperform", "exceed", "surpass", "dominate", "resemble"})


def _compares(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "X is faster than Y", "X outperforms Y": how X compares with Y."""
    if clause.front or not matter.is_named(clause.subject):
        return []
    marks = split_clauses(clause, frozenset({"than"}))
    at = clause.main_verb()
    if clause.lemma() in _SURPASS and clause.words[clause.verb].tag in ("VBZ", "VB", "MODAL"):
        start = at + 1
    elif len(marks) == 1 and _is_compared(clause, at, marks[0]):
        start = marks[0] + 1
    else:
        return []
    end = _phrase(clause, start)
    other = _other(clause.slice(start, end), matter)
    if not other or clause.words[start].tag == "NUM":
        return []
    told = shortened(clause.slice(clause.start, end_of_clause(clause, end)), 240)
    return [
        ask("relational", f"How {does(clause)} {matter.lower(clause.subject)} compare with {other}", told, 4.5, matter)
    ]


def _is_compared(clause: Clause, at: int, than: int) -> bool:
    """Whether the subject itself is compared: "is faster than", "gives a better fit than", and no number."""
    words = clause.words
    if words[than - 1].low in ("rather", "other") or words[than - 1].tag == "NUM" or words[clause.verb].tag == "VBD":
        return False
    if words[than - 2].low in ("nothing", "no", "little", "anything") or words[than + 1].tag in ("NUM", "VBG"):
        return False
    if any(w.text in (":", ";", "(") for w in words[at:than]):
        return False
    reach = 7 if clause.is_be else 5
    return any(_COMPARATIVE.match(w.low) for w in words[max(at + 1, than - reach) : than])


_ALIKE = re.compile(
    r"^(?:is|are) (?:\w+ly )?(?P<how>similar|equivalent|identical|analogous|related|complementary|opposed|equal|"
    r"comparable|akin|linked|tied|connected|inverse|dual|orthogonal|proportional|(?P<like>like))(?(like)| (?:to|with))"
    r"\s+(?P<of>.+)$",
    re.IGNORECASE,
)


def _like(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "X is equivalent to Y (when ...)": how X is related to Y."""
    match = _ALIKE.match(clause.predicate)
    if not match or clause.front or not matter.is_named(clause.subject):
        return []
    at = clause.words[clause.verb].start + match.start("of")
    start = next((i for i in range(clause.verb, clause.end) if clause.words[i].start >= at), clause.end)
    end = _phrase(clause, start)
    other = _other(clause.slice(start, end), matter)
    if not other or (match["how"].casefold() in ("related", "linked", "tied", "connected") and clause.end - end < 4):
        return []
    verb = clause.words[clause.verb].low
    stop = end_of_clause(clause, end)
    told = shortened(clause.slice(clause.start, clause.end if stop - end < 2 else stop), 260)
    return [
        ask(
            "relational",
            f"How {verb} {matter.lower(clause.subject)} related to {other}",
            told,
            4.5 + (clause.end - end > 3),
            matter,
        )
    ]


_RESTS = re.compile(
    r"^(?:(?:is|are) (?:\w+ly )?(?P<passive>based|built|derived|inspired|composed|made up|part|measured|trained) "
    r"(?P<p1>on|from|by|of|as|with)|(?P<active>builds?|extends?|generali[sz]es?|replaces?|resembles?|combines?|"
    r"complements?|supports?|belongs?|underlies|subsumes?)(?: (?P<p2>up on|upon|on|to))?)\s+(?P<of>.+)$",
    re.IGNORECASE,
)


def _rests_on(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "X is based on Y", "X extends Y": what X is based on, what it extends."""
    match = _RESTS.match(clause.predicate)
    if not match or clause.front or not matter.is_named(clause.subject):
        return []
    at = clause.words[clause.verb].start + match.start("of")
    start = next((i for i in range(clause.verb, clause.end) if clause.words[i].start >= at), clause.end)
    end = end_of_clause(clause, start)
    stop = [
        i
        for i in split_clauses(
            clause, frozenset({"because", "since", "which", "so", "whereas", "by", "when", "if", "but"}), start
        )
        if i < end
    ]
    end = stop[0] if stop else end
    answer = clause.slice(start, end)
    is_short = len(answer.split()) < 2 and not answer[:1].isupper()
    if not answer or is_short or clause.words[start].tag not in ("DET", "NOUN", "ADJ", "VBG", "NUM", "VBN"):
        return []
    asked = question_of("What", clause.until(start), matter)
    return [ask("relational", asked, shortened(answer, 160), 4.0, matter)] if asked else []


_BOTH = re.compile(r"^both\s+(?P<a>.+?)\s+and\s+(?P<b>.+)$", re.IGNORECASE)


def _common(clause: Clause, matter: Matter) -> list[Ask | None]:
    """From "Both X and Y ...": what X and Y have in common."""
    match = _BOTH.match(clause.subject)
    if not match or clause.front or not (matter.is_named(match["a"]) or matter.is_named(match["b"])):
        return []
    if not (names.is_name(match["a"]) and names.is_name(match["b"])):
        return []
    told = clause.slice(clause.verb, end_of_clause(clause, clause.verb + 1))
    if len(told.split()) < 4:
        return []
    return [
        ask(
            "relational",
            f"What do {matter.lower(match['a'])} and {match['b']} have in common",
            f"Both {shortened(told, 200)}",
            5.5,
            matter,
        )
    ]
