"""Lists of English and German words, patterns over them, and the stem, singular and American spelling of a word."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path


def _sections(file: str, joint: str) -> dict[str, str]:
    """Return the sections of a file by name, each on one line, with `joint` between its lines, without comments."""
    sections: dict[str, str] = {}
    for part in re.split(r"^\[(?=\w+\]$)", Path(__file__).with_name(file).read_text("utf-8"), flags=re.M)[1:]:
        name, _, text = part.partition("]\n")
        sections[name] = joint.join(line for line in text.splitlines() if line and not line.startswith("#"))
    return sections


_SECTIONS = _sections("words.txt", " ")
_PATTERNS = _sections("patterns.txt", "")


def pattern(section: str) -> re.Pattern[str]:
    """Return the regular expression of a section of `patterns.txt`."""
    return re.compile(_PATTERNS[section])


def word_list(section: str) -> str:
    """Return a section of `words.txt`, whatever separates its entries."""
    return _SECTIONS[section]


def words(section: str) -> frozenset[str]:
    """Return the words of a section of `words.txt`, which blanks separate."""
    return frozenset(_SECTIONS[section].split())


DETERMINERS = words("determiners")
NAME_PREPOSITIONS = words("name_prepositions")

LOOSE_PREPOSITIONS = words("loose_prepositions")

NO_NAME_STARTS = DETERMINERS | NAME_PREPOSITIONS | words("no_name_starts")
NO_NAME_ENDS = DETERMINERS | NAME_PREPOSITIONS | words("no_name_ends")
NO_NAME_HOLDS = words("no_name_holds")

GENERIC = words("generic")
TRANSPARENT = words("transparent")
PASSING = words("passing")
OF_NAMES = frozenset({"part of speech", "parts of speech", "problem of evil", "cost of capital", "cost of living"})
WEAK_HEADS = words("weak_heads")
EMPTY_HEADS = words("empty_heads")
GENERIC_ADJECTIVES = words("generic_adjectives")
GENERIC_PHRASES = frozenset(word_list("generic_phrases").split(", "))
NOT_ALONE = GENERIC | GENERIC_ADJECTIVES | words("not_alone")
NOT_ACRONYMS = words("not_acronyms")

GIVEN_NAMES = words("given_names")
PROPER = words("proper")

# lemma -> (past, past participle)
IRREGULAR_VERBS = {
    lemma: (past, participle) for lemma, past, participle in map(str.split, word_list("irregular_verbs").split(","))
}
# Irregular form -> lemma; a form that is a verb itself ("lay", "fell") keeps its own meaning.
LEMMAS = {form: verb for verb, past in IRREGULAR_VERBS.items() for form in past if form not in IRREGULAR_VERBS}

_IRREGULAR_PLURALS = dict(pair.split() for pair in word_list("irregular_plurals").split(", "))  # fmt: skip
_UNINFLECTED = words("uninflected")


@cache
def singular(word: str) -> str:
    """Return the singular of an English noun in lower case; a word that looks like no plural comes back as it is."""
    if word in _IRREGULAR_PLURALS:
        return _IRREGULAR_PLURALS[word]
    if len(word) == 3 and word.endswith("s") and word[0] not in "aeiou" and word[1] not in "aeiouy":
        return word[:-1]
    if len(word) < 4 or not word.endswith("s") or word in _UNINFLECTED or word.endswith(("ss", "us", "is", "ics")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word in ("caches", "niches", "aches", "headaches", "axes", "psyches"):
        return word[:-1]
    if word.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=1 << 15)  # a language has few words, and a library says them over and over
def stem(word: str) -> str:
    """Return `word` without its ending, so that "stores", "store" and "stored" are equal."""
    word = word.replace("’", "'").removesuffix("'s")
    for ending in ("ies", "ing", "es", "ed", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


_SPELLING = (
    (re.compile(r"is(ation|e|ed|er|ing)(s?)$"), r"iz\1\2"),
    (re.compile(r"(behavi|col|neighb|lab|hum|fav)our"), r"\1or"),
    (re.compile(r"(mod|lab|canc|trav|chann|sign)ell(ed|ing|er)"), r"\1el\2"),
    (re.compile(r"^(cent|met|theat)re$"), r"\1er"),
)
_ISE = words("ise")


@cache
def american(word: str) -> str:
    """Return the word in American spelling, so that "normalisation" and "normalization" are equal."""
    if len(word) > 5 and word not in _ISE:
        for pattern, to in _SPELLING:
            word = pattern.sub(to, word)
    return word


_ADJECTIVE = re.compile(r"(?:ous|able|ible|less|ful|ical|istic|ional|iest|ish|ly|ed)$")
_NOUNS_LIKE_ADJECTIVES = words("nouns_like_adjectives")
ADJECTIVES = words("adjectives")


def looks_adjective(word: str) -> bool:
    """Return whether a single lower-case word is an adjective, adverb or participle by its ending or by the list."""
    return word in ADJECTIVES or (bool(_ADJECTIVE.search(word)) and word not in _NOUNS_LIKE_ADJECTIVES)


CHINESE_NOT_NAME = re.compile(
    r"^(?:[我你他她它]|这|那|本|该|此|其|每|各|某|一个|一种|一些|如果|因为|所以|但是|然而|可以|我们|他们|它们|什么|如何|怎么|为什么|小结|练习|总结|"
    r"简介|引言|概述|摘要|目录|参考|附录|例子|例如|比如|通过|使用|基于|在|对|与|和|从|将|把|被|由|为|是|有|也|都|就|还|不|没|图|表|第|下面|上面|接下来|"
    r"首先|其次|最后|更|最|很|非常|当|而|并|或|及|所有|任何|许多|大多数|给定|假设|实验|背景|方法|结果|讨论|结论|问题|答案|习题)"
    r"|[的了吗呢吧啊们]$|[是有能会要]$|我们|他们|它们|这个|那个|什么|可以|因此|所以|但是|然而"
)
GERMAN_GENERIC = words("german_generic")
GERMAN_NOT_NAME = words("german_not_name")
