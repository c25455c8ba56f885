"""English definitions: which words of a sentence name a thing and which say what it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from compiler.engines.extractive.grammar.clauses import Clause, end_of_clause
from compiler.engines.extractive.grammar.tagger import Token
from compiler.language import lexicon as generic
from compiler.language import names

Shape = Literal["is", "means", "called", "entry", "apposition", "alias", "refer", "seen", "named", "task"]


@dataclass(frozen=True, slots=True)
class Definition:
    """`term` is the name as it stands, article and all; `body` says what it is; `verb` is "is" or "are".

    Shape "alias" says only that `body` is another name of `term`.
    """

    term: str
    body: str
    shape: Shape
    verb: str = "is"
    aliases: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return names.bare(self.term)


NEVER_HEADS = frozenset(
    # "X is the reason for": says something of X, not what it is
    "reason result consequence cause question issue choice option matter fact point key goal aim challenge "
    "advantage disadvantage drawback benefit success failure improvement lot bit answer solution trade-off "
    "tradeoff compromise bottleneck mistake first second third last start beginning end topic subject focus "
    "exception contribution motivation pity shame must limitation strength weakness necessity prerequisite "
    "requirement factor candidate winner argument reminder sign indication evidence default standard norm trend "
    "mainstay interest scenario approach concern priority tip opposite same reality possibility danger risk hope "
    "explanation relative guide".split()
)
POOR_HEADS = frozenset(
    # no definition without a relative clause: "X is an example", but "a worked example is a problem that is shown ..."
    "problem example idea thing way case part step difference one ones rule instance alternative assumption "
    "concept".split()
)
POOR_ADJECTIVES = frozenset(
    "good bad better best worse worst great important key main major crucial critical common popular natural "
    "useful powerful reasonable necessary essential significant serious straightforward "
    "active interesting difficult hard easy same only first second third last next obvious typical promising "
    "classic classical recent well-known famous favorite favourite perfect ideal attractive "
    "convenient viable notable noteworthy prominent valid proper fair nice clear effective related efficient "
    "appealing dominant building poor rare frequent relative".split()
)
_CALLED = frozenset({"called", "termed", "named", "known", "dubbed", "labeled", "labelled", "referred"})
_POST = frozenset({"PREP", "WH", "VBN", "VBG", "TO", "SUB"})
_SAME_AS = re.compile(
    r"\b(?:also|sometimes|often|commonly|otherwise|alternatively|usually|frequently|or)\s+(?:called|known as|"
    r"referred to as|termed|named|abbreviated(?: as)?)\b"
)


def definition_in(clause: Clause) -> Definition | None:
    """What the main clause defines, if it does."""
    if clause.front and not _is_domain(clause):
        return None
    return (
        _alias(clause)
        or _task(clause)
        or _called(clause)
        or _refers(clause)
        or _is(clause)
        or _seen(clause)
        or _means(clause)
    )


def _is_domain(clause: Clause) -> bool:
    """Whether what stands in front only says where the word is used: "In linguistics, a phoneme is ..."."""
    if not clause.front:
        return True
    first, *rest = clause.words[clause.front[0] : clause.front[1]]
    if first.low != "in" or not 0 < len(rest) <= 3 or rest[-1].low.rstrip("s") in _NO_DOMAINS:
        return False
    return all(w.tag in ("NOUN", "ADJ", "VBG") for w in rest)


def _is_generic(head: Token) -> bool:
    return generic.singular(head.low) in generic.GENERIC | {
        "metric",
        "dataset",
        "algorithm",
        "rule",
        "criterion",
        "tool",
    }


_NO_DOMAINS = frozenset(
    {"scenario", "case", "setting", "example", "word", "general", "practice", "addition", "contrast", "experiment"}
)


def _is(clause: Clause) -> Definition | None:
    words, verb = clause.words, clause.verb
    if words[verb].low not in ("is", "are") or not is_term(clause.subject):
        return None
    at = verb + 1
    while (
        at < clause.end and words[at].tag == "ADV" and words[at].low in ("simply", "essentially", "basically", "just")
    ):
        at += 1
    if words[verb - 1].tag == "NOT" or (at < clause.end and words[at].tag == "NOT"):
        return None
    return (
        Definition(clause.subject, clause.slice(at, end_of_clause(clause, at)), "is", words[verb].low)
        if _is_body(clause, at)
        else None
    )


def _is_body(clause: Clause, at: int) -> bool:
    """Whether the tokens from `at` say what something is: a kind of thing, and what tells this one apart."""
    words, end = clause.words, clause.end
    if at >= end:
        return False
    first = words[at]
    article = first.tag in ("DET", "NUM") and first.low in ("a", "an", "the", "any", "one", "two", "three")
    i = at + 1 if article else at
    if first.low in ("the", "any", "one") and i < end and words[i].low in ("of", "most", "more", "same", "only"):
        return first.low == "one" and i + 3 < end and _has_post(words, i + 3, end)
    if first.low == "the" and words[clause.start].low in ("a", "an") and _is_generic(words[clause.subject_end - 1]):
        return False  # "A common measure is the mean of ...": an instance
    adjectives: list[str] = []
    head: Token | None = None
    while i < end and words[i].tag in ("ADJ", "NOUN", "VBN", "VBG", "ADV", "NUM", "CC", "POSS", "COMMA", "STOP"):
        if words[i].tag == "NOUN" or (words[i].tag == "VBG" and article and _governs(words, i + 1, end)):
            head = words[i]
        elif head is not None:
            break
        else:
            adjectives.append(words[i].low)
        i += 1
    if head is None:
        return first.low in ("how", "what") and end - at >= 4
    if head.text.isupper() and len(head.text) > 5:
        return False
    if head.low in NEVER_HEADS or (head.low in POOR_HEADS and not _narrows(words, i)):
        return False
    if any(a in POOR_ADJECTIVES for a in adjectives[:2]) and (
        "related" in adjectives or not {"but", "yet"} & set(adjectives)
    ):
        return False
    if len(head.text) == 1 or (not article and not _may_stand_bare(head, clause, words[at])):
        return False
    return _has_post(words, i, end)


def _governs(words: tuple[Token, ...], at: int, end: int) -> bool:
    """Whether a noun in -ing goes on with "of", or with a particle and "of": "the folding away of a sail"."""
    low = [w.low for w in words[at : min(at + 2, end)]]
    return low[:1] == ["of"] or (len(low) == 2 and low[0] in _PARTICLES and low[1] == "of")


_PARTICLES = frozenset("away up out off down back in on over together apart forth through".split())


def _narrows(words: tuple[Token, ...], at: int) -> bool:
    """Whether an empty head is given content at once: "a problem that is ...", "the problem of finding ..."."""
    if words[at - 1].low == "difference":
        return any(w.low == "between" for w in words[at : at + 4])
    return (
        any(w.tag == "WH" for w in words[at : at + 5])
        or (at + 1 < len(words) and words[at].low == "of" and words[at + 1].tag == "VBG")
        or (words[at - 1].low == "difference" and _is_measured(words[at : at + 5]))
    )


def _is_measured(words: Sequence[Token]) -> bool:
    """ "(the difference) in height between ...": a quantity, not a remark that two things differ."""
    return bool(words) and words[0].low == "in" and any(w.low == "between" for w in words[2:])


_TASK = re.compile(r"^the (?P<what>task|problem) of (?P<of>.+)$", re.IGNORECASE)


def _task(clause: Clause) -> Definition | None:
    """From "The task of X is to ...", which says what X is."""
    match = _TASK.match(clause.subject)
    at = clause.verb + 1
    if not match or not is_term(match["of"]) or not clause.is_be or clause.end - at < 5 or clause.words[at].tag != "TO":
        return None
    return Definition(match["of"], clause.slice(at, end_of_clause(clause, at)), "task", match["what"].casefold())


_MASS = re.compile(
    r"(?:tion|sion|ment|ness|ity|ism|ance|ence|ure|age|ledge|ing|ship|phy|logy|cy|memory|data|information|evidence|"
    r"text|speech|language|noise)$"
)


def _may_stand_bare(head: Token, clause: Clause, first: Token) -> bool:
    """Whether a predicate noun needs no article: a plural after "are", a mass noun, the subject's own noun again."""
    if first.tag not in ("NOUN", "ADJ", "VBN", "VBG") or first.low in ("due", "able", "likely"):
        return False
    if clause.words[clause.verb].low == "are":
        return head.low.endswith("s") and not head.low.endswith(("ss", "ous"))
    return bool(_MASS.search(head.low)) or head.low == clause.words[clause.subject_end - 1].low


def _has_post(words: tuple[Token, ...], at: int, end: int) -> bool:
    """Whether something follows the head noun that tells this one apart, of at least three words."""
    return end - at >= 6 or (end - at >= 3 and any(w.tag in _POST for w in words[at : at + 3]))


_SEEN_AS = re.compile(
    r"^(?:can|may|could) (?:also |then |thus |often )?be (?:viewed|seen|thought of|understood|regarded|interpreted|"
    r"described|considered|defined) as "
)


def _seen(clause: Clause) -> Definition | None:
    """From "X can be viewed as a function from ..."."""
    match = _SEEN_AS.match(clause.predicate) if is_term(clause.subject) else None
    if not match:
        return None
    body = clause.predicate[match.end() :]
    at = next(
        i
        for i in range(clause.verb, clause.end)
        if clause.words[i].start >= clause.words[clause.verb].start + match.end()
    )
    if len(body.split()) < 5 or clause.words[at + 1].low in POOR_ADJECTIVES:
        return None
    return Definition(clause.subject, clause.slice(at, end_of_clause(clause, at)), "seen", match[0].split()[-2])


_MEANS = {
    "means": "mean",
    "mean": "mean",
    "denotes": "denote",
    "denote": "denote",
    "describes": "describe",
    "signifies": "signify",
}


def _means(clause: Clause) -> Definition | None:
    """From "X refers to Y", "X means Y", "X is defined as Y", "The term X denotes Y"."""
    words, verb = clause.words, clause.verb
    subject = re.sub(
        r"^(?:the\s+)?(?:term|word|phrase|expression|notion|concept)(?:\s+of)?\s+",
        "",
        clause.subject,
        flags=re.IGNORECASE,
    )
    if not is_term(subject):
        return None
    low = [w.low for w in words[verb : verb + 4]]
    if low[:2] in (["refers", "to"], ["refer", "to"]):
        at = verb + 2
    elif low[:3] in (["is", "defined", "as"], ["are", "defined", "as"]):
        at = verb + 3
    elif (subject != clause.subject and words[verb].low in _MEANS) or (
        words[verb].low in ("means", "mean", "denotes", "denote") and low[1:2] != ["that"]
    ):
        at = verb + 1
    else:
        return None
    if clause.end - at < 3 or words[at].tag not in ("DET", "NOUN", "ADJ", "VBG", "NUM", "WH", "PRON", "VBN", "POSS"):
        return None
    if at + 1 < clause.end and (words[at + 1].low in ("same",) or words[at].low in ("it", "they")):
        return None
    plural = "are" if words[verb].low in ("refer", "mean", "denote", "are") else "is"
    return Definition(subject, clause.slice(at, end_of_clause(clause, at)), "means", plural)


def _called(clause: Clause) -> Definition | None:
    """From "The process of ... is called X", "Cells that ... are known as X"."""
    words = clause.words
    at = clause.main_verb()
    if not clause.is_passive() or words[at].low not in _CALLED or words[clause.verb].low not in ("is", "are"):
        return None
    if any(w.low in ("not", "also") for w in words[clause.verb : at]):
        return None
    start = at + 1
    if words[at].low in ("known", "referred"):
        while start < clause.end and words[start].low in ("to", "as"):
            start += 1
        if start == at + 1:
            return None
    term = _leading_name(clause, start)
    subject = clause.subject
    if not term or len(subject.split()) < 4 or not _is_descriptive(clause):
        return None
    if words[clause.verb].low == "are" and names.key(term) == term.casefold().replace("-", " "):
        return None  # "Relations that ... are called coordinating" gives no noun
    return Definition(term, subject, "called", words[clause.verb].low)


def _is_descriptive(clause: Clause) -> bool:
    """Whether the subject describes a thing ("cells that fire together") and doesn't merely point to one."""
    words = clause.words[clause.start : clause.subject_end]
    if words[0].tag == "PRON" or words[0].low in ("this", "these", "such", "its", "their", "both", "each"):
        return False
    return any(w.tag in ("WH", "PREP", "VBG", "VBN") for w in words[1:]) or words[0].tag == "VBG"


def _refers(clause: Clause) -> Definition | None:
    """From "We call/refer to a model that ... (as) X"."""
    words = clause.words
    if clause.words[clause.start].low not in ("we", "one", "linguists", "researchers", "psychologists", "people"):
        return None
    at = clause.main_verb()
    if words[at].low == "call":
        found = next((i for i in range(clause.end - 1, at + 4, -1) if is_term(clause.slice(i, clause.end))), None)
        body_end = _longest_name_start(clause, at, found) if found else None
        if body_end and body_end - at > 4 and any(w.tag in ("WH", "PREP") for w in words[at + 1 : body_end]):
            return Definition(clause.slice(body_end, clause.end), clause.slice(at + 1, body_end), "refer")
    if words[at].low == "define":
        as_ = next((i for i in range(at + 2, clause.end - 4) if words[i].low == "as"), None)
        name = clause.slice(at + 1, as_).strip("\"“”'‘’ ") if as_ else ""
        if as_ and is_term(name) and words[as_ + 1].tag in ("DET", "NOUN", "ADJ"):
            return Definition(name, clause.slice(as_ + 1, clause.end), "is")
    if words[at].low == "refer" and words[at + 1].low == "to":
        marks = [i for i in range(at + 3, clause.end - 1) if words[i].low == "as"]
        if marks and marks[-1] - at > 5 and is_term(clause.slice(marks[-1] + 1, clause.end)):
            return Definition(clause.slice(marks[-1] + 1, clause.end), clause.slice(at + 2, marks[-1]), "refer")
    return None


def _longest_name_start(clause: Clause, at: int, found: int) -> int:
    start = found
    while start - 1 > at + 3 and clause.words[start - 1].tag in ("NOUN", "ADJ", "DET", "VBG"):
        if not is_term(clause.slice(start - 1, clause.end)):
            break
        start -= 1
        if clause.words[start].tag == "DET":
            break
    return start


def _alias(clause: Clause) -> Definition | None:
    """From "X is also called Y", "X is abbreviated as Y"."""
    if not is_term(clause.subject) or not clause.is_be:
        return None
    match = _SAME_AS.match(clause.slice(clause.verb + 1, clause.end))
    if not match:
        return None
    offset = clause.words[clause.verb + 1].start + match.end() if clause.verb + 1 < clause.end else 0
    start = next((i for i in range(clause.verb + 1, clause.end) if clause.words[i].start >= offset), clause.end)
    other = _leading_name(clause, start)
    if not other or names.key(other) == names.key(clause.subject):
        return None
    return Definition(clause.subject, other, "alias", clause.words[clause.verb].low, (names.bare(other),))


def _leading_name(clause: Clause, start: int) -> str:
    """The name that begins at token `start`: up to a preposition, comma or clause, quotes dropped; "" if it is none."""
    words, end = clause.words, start
    while end < clause.end and (
        words[end].tag in ("DET", "ADJ", "NOUN", "VBG", "VBN", "NUM", "POSS", "VB") or words[end].text in "\"“”'‘’*"
    ):
        if words[end].tag == "VBN" and end > start and words[end - 1].tag == "NOUN":
            break
        end += 1
    if end + 1 < clause.end and words[end].low == "of" and words[end + 1].tag in ("NOUN", "ADJ"):
        longer = end + 1
        while longer < clause.end and words[longer].tag in ("ADJ", "NOUN"):
            longer += 1
        if longer == clause.end:
            end = longer
    text = clause.slice(start, end).strip("\"“”'‘’* ")
    return text if text and is_term(text) else ""


# "the string Paris": a word spoken of as a word, which no article is about
_MENTIONED = re.compile(
    r"[Tt]he (?:string|word|verb|noun|adjective|name|letter|token|sentence|phrase|suffix|prefix) [A-Z]\w*$"
)


def is_term(text: str) -> bool:
    return (
        names.is_name(text)
        and not _MENTIONED.match(text)
        and not text.casefold().startswith(("this ", "that ", "these ", "those ", "such "))
    )
