"""The form of a card in free words: of its kind, about one idea, understandable without its source."""

from __future__ import annotations

import re
from collections.abc import Sequence

from compiler.language.lexicon import pattern
from compiler.language.tokens import CJK, FUNCTION_WORDS, folded_stem, stems, tokens
from compiler.model.requests import CardKindName
from vault.text.formatting import fold

SENTENCES = 2  # of an answer, at most
ITEMS = 3  # that an answer lists, at most, unless the question asks for more
_NUMBERS = {w: n for n, w in enumerate("zero one two three four five six seven eight nine ten".split())} | {
    w: n for n, w in enumerate("null eins zwei drei vier fünf sechs sieben acht neun zehn".split())
}
_LIMITS = (  # nouns that make "What is the ... of X?" ask for more than what X is
    "limit|drawback|disadvantage|advantage|condition|purpose|reason|cause|effect|role|difference|relation|result"
    "|consequence|step|function|mechanism|use|benefit|risk|requirement|zweck|grund|wirkung|folge|vorteil|nachteil|grenze"
)
_WHAT = re.compile(
    rf"(?:what|who) (?:is|are|was|were) (?!.*\b(?:{_LIMITS}))(?!the (?:next|first|last)\b)[^,]{{1,60}}(?<! for)\?"
    rf"|what (?:does|do) .{{1,40}} (?:mean|refer to|stand for)\?|define .*|what is meant by .*"
    rf"|was (?:ist|sind|bedeutet|heißt)\b(?!.*(?:{_LIMITS}))[^,]{{1,60}}\?|was versteht man unter .*"
    r"|什么是[^，,]{1,20}？?\??|[^，,]{1,20}(?:是什么|是什么意思|指什么)[？?]",
    re.IGNORECASE,
)
_WHY = pattern("card_form_why")
_WORKS = pattern("card_form_works")
_WHEN = pattern("card_form_when")
_ADVISES = pattern("card_form_advises")
_RELATES = pattern("card_form_relates")
_SETS_APART = pattern("card_form_sets_apart")
_ASKS_AGAIN = pattern("card_form_asks_again")
_POINTS = pattern("card_form_points")
_PRONOUN = pattern("card_form_pronoun")
_EXPLETIVE = pattern("card_form_expletive")
_VERBS = frozenset(
    stems(
        tokens(
            "happens happen work works mean means make makes matter store stores look looks see does kontrollieren gibt"
            " heißt bedeutet passiert strengthens causes use used need needs change changes improve improves grow"
        )
    )
)
_WH_NOUN = pattern("card_form_wh_noun")
_LIST_ENDS = re.compile(r",|;|、|\s(?:and|or|und|oder|sowie)\s|和|以及|及", re.IGNORECASE)
_MANY_ASKED = pattern("card_form_many_asked")


def kind_fault(kind: CardKindName, question: str) -> str:
    """Return why a question plainly belongs to another kind of card; "" if it does not."""
    asks = fold(question)
    what, why, when = _WHAT.fullmatch(asks), _WHY.match(asks), _WHEN.match(asks)
    relates = bool(_RELATES.search(asks))
    if kind == "definitional":
        if why or when or _SETS_APART.search(asks):
            return "a definitional card asks what something is"
    elif kind == "mechanistic":
        if what or (when and _ADVISES.search(asks)) or (_SETS_APART.search(asks) and not why):
            return "a mechanistic card asks how or why"
    elif kind == "relational":
        if (what and not relates) or _WORKS.fullmatch(asks) or (when and _ADVISES.search(asks)):
            return "a relational card connects or compares two things"
    elif (what and not relates) or _WORKS.fullmatch(asks) or (why and not _ADVISES.search(asks)):
        return "an applied card asks when or for what"
    return ""


def ideas_fault(question: str, answer: str) -> str:
    """Return why a card asks for more than one idea; "" if it does not."""
    if question.count("?") + question.count("？") > 1 or _ASKS_AGAIN.search(question):
        return "it asks two things at once"
    sentences = [s for s in re.split(r"(?<=[.!?])\s+(?=[^\sa-z])|[。！？]", fold(answer)) if s.strip()]
    if len(sentences) > SENTENCES:
        return f"its answer has more than {SENTENCES} sentences"
    listed = max((_longest_list(s) for s in sentences), default=0)
    lines = sum(bool(re.match(r"\s*(?:[-*•]|\d+[.)])\s", line)) for line in answer.splitlines())
    if max(listed, lines) > max(ITEMS, _number_asked(question)):
        return f"its answer lists more than {ITEMS} things"
    return ""


def _longest_list(sentence: str) -> int:
    """Return how many short things the sentence lists one after the other."""
    parts = [len([t for t in tokens(p) if t.content]) for p in _LIST_ENDS.split(sentence) if p and p.strip()]
    longest = 4 if CJK.search(sentence) else 2
    most = run = 0
    for n, size in enumerate(parts):
        inner = 0 < n < len(parts) - 1
        run = run + 1 if size <= (longest if inner else longest + 2) else 0
        most = max(most, run)
    return most


def _number_asked(question: str) -> int:
    """Return how many things the question asks for by number; 0 if it names none."""
    match = _MANY_ASKED.search(question)
    if match is None:
        return 0
    if match[2]:
        return "一二三四五六七八九十".find(match[2]) + 1 or 10
    said = match[1].casefold()
    return int(said[:3]) if said.isdigit() else _NUMBERS.get(said, 0)


def contained_fault(question: str, answer: str, names: Sequence[str]) -> str:
    """Return why a card can't be understood without its source; "" if it can."""
    named = " ".join(names).casefold()
    for text in (question, answer):
        match = _POINTS.search(text)
        if match and match[0].casefold().split()[-1] not in named:
            return f"it points at something outside itself: {match[0]}"
    if pronoun := _dangling_pronoun(fold(question)):
        return f"nothing before {pronoun} says what it stands for"
    return ""


def _dangling_pronoun(question: str) -> str:
    """Return the first pronoun of the question before which nothing is named; "" if there is none."""
    plain = _EXPLETIVE.sub(" ", question)
    for match in _PRONOUN.finditer(plain):
        before = _WH_NOUN.sub(" ", plain[: match.start()])
        nouns = [t for t in tokens(before) if t.content and t.stem not in _VERBS and t.word not in FUNCTION_WORDS]
        if match[0][0].isascii() and match[0] in ("er", "sie", "ihn", "ihm", "ihnen", "ihre", "ihren"):
            nouns = [t for t in nouns if t.text[:1].isupper() and t.start > 0]
        if not nouns:
            return match[0]
    return ""


# The same card twice

_ASKING = frozenset(
    stems(
        tokens(
            "happen happens mean meant means meaning call called name named term word define definition describe"
            " explain make makes let lets cause causes because reason refer refers do done one use used should"
            " look looks get heißt bedeutet nennt versteht Grund 什么 为什么 怎 如何"
        )
    )
) | {folded_stem(w) for w in ("what", "which", "why", "how", "when")}


def asked(question: str) -> frozenset[str]:
    """Return the stems of what a question is about, without those of asking."""
    return frozenset(stems(tokens(question))) - _ASKING


def manner(question: str) -> str:
    """Return how a question asks: "why" for reasons and ways, "when" for conditions, else "what"."""
    asks = fold(question)
    return "when" if _WHEN.match(asks) else "why" if _WHY.match(asks) else "what"


def alike(a: frozenset[str], b: frozenset[str]) -> float:
    """Return the share in [0, 1] of the stems of both that are common."""
    return len(a & b) / len(a | b) if a or b else 1.0
