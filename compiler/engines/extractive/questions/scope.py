"""What a card leans on and does not hold: a symbol, a thing "the" points to, the field that a bare word belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from compiler.engines.extractive.grammar.tagger import Token, tokens
from compiler.engines.extractive.questions.question import flat
from compiler.language import lexicon, names

_SYMBOL = re.compile(r"(?<![\w'’.-])(?:[b-hj-z]\d?|[B-HJ-Z]|i)(?![\w'’.+#-])")
_GLUED = re.compile(
    r"(?<![\w'’.-])(?!(?:by|my|vs|th|nd|rd|st|km|kg|cm|mm|ml|lb|ft|hr|hz|pm|tv|pc)\b)[b-df-hj-np-tv-z]{2}(?![\w'’.-])"
)
_WITH_LETTER = re.compile(
    r"\b(?:vitamins?|types?|class|hepatitis|plan|grade|group|team|vector|model|appendix) [A-Z]\b", re.IGNORECASE
)
_WRITER = re.compile(r"\b(?:we|us|our|ours|you|your)\b", re.IGNORECASE)
_OTHER = re.compile(r"\bthe (?:other|remaining|corresponding|said) [a-z]+")
# After these words a noun phrase says itself which thing it means.
_TIED = frozenset({"PREP", "WH", "VBN", "VBG", "POSS", "OPEN"})
_SELF_EVIDENT = frozenset(
    "world sun earth moon sky sea wind air past present future brain body blood eye heart web internet opposite same "
    "most least best worst first last only whole rest number amount following case ability right left top bottom "
    "other others field literature human reader learner user speaker".split()
)
# Words for a part played in a text: which one is meant is told where it was first named.
_ROLES = frozenset(
    "solution objective criterion argmax argmin formula expression equation parameter variable estimate constraint "
    "assumption model method approach algorithm system function procedure technique problem result example figure "
    "table proof theorem definition notation information".split()
)
_ASKING = frozenset("what how why when where which who".split())
_HOLLOW = frozenset(
    "does have been used useful complete done called important possible necessary goal purpose benefit advantage "
    "drawback limitation problem idea role happens happen main help work works needed particularly especially".split()
)


def leans_on_page(question: str, answer: str, known: Iterable[str]) -> bool:
    """Whether the card speaks of symbols, of its author, or of things it has not introduced.

    `known` are names that need no introduction.
    """
    card = f"{question} {answer}"
    plain = _WITH_LETTER.sub("", card)
    for name in sorted(known, key=len, reverse=True):
        plain = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "name", plain)
    if _SYMBOL.search(plain) or _GLUED.search(plain) or _WRITER.search(card) or _OTHER.search(answer):
        return True
    keys = {names.key(n) for n in known}
    asked = tokens(question.rstrip("?") + ".")
    told = tokens(answer)
    return any(_points(p, "", keys) for p in _definites(asked)) or any(
        _points(p, flat(question), keys) for p in _definites(told)
    )


def _definites(found: tuple[Token, ...]) -> Iterator[tuple[list[Token], str]]:
    """Each phrase "the ..." that nothing after it ties down, with what stands before it in lower case."""
    for i, word in enumerate(found):
        if word.low != "the":
            continue
        end = i + 1
        while end < len(found) and found[end].tag in ("ADJ", "NOUN", "VBN", "VBG", "NUM", "ADV"):
            if found[end].tag in ("VBN", "VBG") and end > i + 1 and found[end - 1].tag == "NOUN":
                break
            end += 1
        if end == i + 1 or (end < len(found) and (found[end].tag in _TIED or found[end].low == "that")):
            continue
        yield list(found[i + 1 : end]), flat(" ".join(w.text for w in found[:i]))


def _points(phrase: tuple[list[Token], str], said: str, known: set[str]) -> bool:
    """Whether the phrase means one thing of several and none was named before."""
    inside, before = phrase
    head = lexicon.singular(inside[-1].low)
    if head not in _ROLES or any(w.low in _SELF_EVIDENT for w in inside):
        return False
    capitals = [w.text[0].isupper() for w in inside[:-1]]
    if (capitals and all(capitals)) or names.key(" ".join(w.text for w in inside)) in known:
        return False
    return f" {head} " not in f" {said} {before} "


_SCOPED = re.compile(r"(?:In|For|During|Under|With) [^,]+, ")


GENERAL = re.compile(r"(?:ing|[tsx]ion|ment|ity|ness|ance|ence|ism)s?$", re.IGNORECASE)  # names of what is done
_ENDS = re.compile(
    r"^When (?:is|are) \w+ (?:complete|completed|finished|done|over|possible|correct|zero)\?$|^How can \w+ be \w+\?$"
)


def lacks_field(question: str, title: str, aliases: Iterable[str], defined: bool) -> bool:
    """Whether an everyday word is asked about as if there were one of it: "When is parsing complete?".

    `defined` says that the vault tells what the word means.
    """
    name = next((n for n in (title, *aliases) if f" {flat(n)} " in f" {flat(question)} "), title)
    if " " in name or "-" in name or not name[1:].islower() or not GENERAL.search(name):
        return False
    rest = [w for w in flat(question).split() if w != flat(name) and w not in _ASKING and w not in lexicon.DETERMINERS]
    telling = [w for w in rest if len(w) > 3 and w not in _HOLLOW]
    ends = bool(_ENDS.search(question))
    return (ends or not defined) and (ends or not telling) and not _SCOPED.match(question)
