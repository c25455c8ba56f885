"""Whether a card keeps what its quote says: a list whole, a comparison with both sides, a word that limits."""

from __future__ import annotations

import re

from compiler.engines.extractive.grammar.clauses import FINITE
from compiler.engines.extractive.grammar.standalone import without_pointers
from compiler.engines.extractive.grammar.tagger import Token, tokens

_LIMITS = (
    "primarily|mainly|mostly|largely|chiefly|historically|traditionally|usually|often|typically|sometimes|frequently|"
    "rarely|seldom|partly|in part|only|originally|previously|formerly|commonly|merely|perhaps|occasionally|hardly|"
    "initially|probably|presumably|to some extent|in principle|loosely|roughly|ideally|also"
)
_LIMIT = re.compile(rf"\b(?:{_LIMITS})\b(?! (?:called|known|referred|termed|named|abbreviated|written|said))", re.I)
_TURN = re.compile(r"^\W*(?:but|although|though|however|except|unless|provided|as long as|yet)\b", re.IGNORECASE)
_ADDS = re.compile(
    r"^(?:which|where|who|whose|when|if|so|such|for|e\.g|i\.e|because|since|although|though|but|while|whereas|as|with|"
    r"without|using|making|allowing|leading|thus|thereby|and|or|including|like|rather|instead|unlike|yet|even|"
    r"especially|particularly|however|in|by|on|at|from|after|before|until|unless|depending|regardless|to|namely|"
    r"thanks|due|given|based|known|called|often|usually|sometimes|meaning|giving|resulting|not)\b",
    re.IGNORECASE,
)
_JOINED_VERB = re.compile(r"^,? (?:and|or) (?:then |also )?(?P<verb>[a-z]+)\b")
_COMPARED = frozenset("more less fewer rather other worse else different better sooner later lower higher".split())
_VAGUE = re.compile(
    r"\b(?:better|worse|easier|harder|simpler|greater|superior|inferior|closer|(?:more|less) (?:powerful|useful|"
    r"difficult|general|important|popular|effective|common|complex|complicated|challenging|flexible|expressive))\b"
    r"(?! (?:at|for|in|because|since|when|if|by|on|with)\b)(?! [a-z]+ (?:in|for|on) )",
    re.IGNORECASE,
)
_FRONTED = re.compile(r"(?:Because|Since|When|If|Once|By)\b")
_SPACE = re.compile(r"\s+")


def _parts(answer: str, quote: str) -> tuple[str, str] | None:
    """What stands before and after the answer in the quote; None where the answer was put in other words."""
    said, whole = _SPACE.sub(" ", answer.strip().rstrip(".")), _SPACE.sub(" ", without_pointers(quote))
    at = whole.casefold().find(said.casefold())
    while at < 0 and " " in said:  # "When the ..." of "..., when it": what was changed stands first
        said = said.split(" ", 1)[1]
        at = whole.casefold().find(said.casefold()) if len(said) > 12 else -1
        if len(said) <= 12:
            return None
    return whole[:at], whole[at + len(said) :]


def is_cut(answer: str, quote: str) -> bool:
    """Whether the answer stops inside a list, or holds "than" without what is compared."""
    than = re.search(r"\bthan\b", answer)
    if than and not _compares(tokens(answer[: than.start()])):
        return True
    parts = _parts(answer, quote)
    if parts is None:
        return False
    before, rest = parts
    if not before.strip() or _FRONTED.match(answer):  # "Because A, B": what follows is the main clause
        return False
    clause = re.split(r"[.;:](?=\s|$)", rest, maxsplit=1)[0]
    if clause.startswith(", ") and not _ADDS.match(clause[2:]) and re.search(r"\b(?:and|or)\b", clause):
        return True
    listed = answer.rsplit(", ", 1)
    if re.match(r", (?:and|or) ", clause) and len(listed) == 2 and not _ADDS.match(listed[1]):
        return True  # "A, B" of "A, B, and C"
    if _is_last_part(clause):
        return True
    joined = _JOINED_VERB.match(clause)
    if joined is None:
        return False
    first = next((w for w in tokens(f"to {joined['verb']} it.")[1:2]), None)
    return "," in answer and first is not None and first.tag == "INF"


_LAST_PART = re.compile(r"^, (?:and|or) (?=(?:an?|at|with|in|on|for|by|to) )(?P<part>[^,;]+)")


def _is_last_part(rest: str) -> bool:
    """Whether the last part of a pair follows: ", and a maximum in the other direction"."""
    found = _LAST_PART.match(rest)
    return found is not None and not any(w.tag in FINITE for w in tokens(found["part"] + ".")[:4])


def _compares(found: tuple[Token, ...]) -> bool:
    """Whether a comparative is among the words; "a trawler" is none."""
    return any(
        w.low in _COMPARED
        or (w.low.endswith("er") and (i == 0 or found[i - 1].low not in ("a", "an", "the", "of", "near", "by")))
        for i, w in enumerate(found)
    )


def loses_limit(kind: str, question: str, answer: str, quote: str) -> bool:
    """Whether a word such as "primarily" or a turn such as "but ..." stands in the quote and on neither side."""
    parts = _parts(answer, quote)
    whole = _SPACE.sub(" ", without_pointers(quote))
    reach = whole if parts is None else whole[: len(whole) - len(parts[1])]
    if kind == "definitional" and parts is not None:
        reach = _between(question, reach, parts[0])
    card = f"{question} {answer}".casefold()
    explains = question.startswith(("Why", "How"))
    for match in _LIMIT.finditer(re.sub(r"\([^()]*\)", "", reach)):
        word = match[0].casefold()
        if word == "also" and (kind == "definitional" or explains):
            continue
        if not re.search(rf"\b{word}\b", card):
            return True
    return kind == "applied" and parts is not None and bool(_TURN.match(parts[1]))


def _between(question: str, reach: str, before: str) -> str:
    """The part of `reach` from the term that a definition's question names on; all of it where that isn't found."""
    term = question.rstrip("?").split()[-1]
    at = before.rfind(term)
    return reach[at:] if at >= 0 else reach


def lacks_dimension(answer: str) -> bool:
    """Whether "better than" leaves open in what: nothing tells by what measure, or for which purpose."""
    than = re.search(r"\bthan\b", answer)
    return bool(
        than
        and _VAGUE.search(answer[: than.start()])
        and not re.search(r"\b(?:because|since|in that|at|for|when|if|by|on)\b", answer)
    )


def is_damaged(card: str) -> bool:
    """Whether a hyphen was lost where a line ended: "data-totext"."""
    from compiler.engines.extractive.grammar.commonplace import is_common

    for match in re.finditer(r"\w-(?P<link>to|of|in|on|the|by|and)(?P<rest>[a-z]{3,})\b", card):
        rest, joined = match["rest"], match["link"] + match["rest"]
        if is_common(rest) and not is_common(joined):
            return True
    return False
