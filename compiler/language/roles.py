"""Who does what to whom: the same words with subject and object or a direction swapped."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import lru_cache

from compiler.language.comparisons import THAN, TIMES, comparisons, contradicts_evidence, is_comparative
from compiler.language.lexicon import words
from compiler.language.opposites import opposite_words, same_side, word_has_opposite
from compiler.language.tokens import Token, main_clauses, phrases, sentences, stems, tokens

_WINDOW = 6  # content words on each side of a verb
_FROM_CJK = re.compile(r"从(?P<a>[^，。；从]{2,6}?)(?:[送流升降增减移运传])?[到至往](?P<b>[^，。；]{2,6})")
_AUXILIARY = words("roles_auxiliary")
_BEING = frozenset("is are was were be been being wird werden wurde wurden".split())
_LEADS = words("roles_leads")
_ENGLISH_ARTICLES = frozenset("a an the".split())
_BY = frozenset("by von vom durch".split())
_OPENS = words("roles_opens")
_SUBJECTS = frozenset("it they he she which who that we sie er es".split())
_KINDS = frozenset("part kind type example subset member species form cause result consequence special".split())


def sides_fault(words: str, evidence: Sequence[str]) -> str:
    """Return what shows that words turn round who does what to whom; "" if nothing does."""
    own = [s for s in sentences(words) if not _is_run_of(s, evidence)]
    there = [c for text in evidence for c in comparisons(text)]
    if any(contradicts_evidence(c, there) for said in own for c in comparisons(said)):
        return "compares the other way round"
    if any(_direction_reversed(said, evidence) for said in own):
        return "says it from the other to the one"
    units = [u for text in evidence for u in sentences(text)]
    for said in own:
        for unit in _nearest(said, units):
            if _says_opposite(said, unit) or any(
                _says_opposite(a, b) for a in phrases(said) for b in _nearest(a, phrases(unit))
            ):
                return "says the opposite"
            if _parts_crossed(said, unit) or _verb_sides_swapped(said, unit):
                return "says it with the sides swapped"
    return _sentences_crossed(words, evidence) if own else ""


def _is_run_of(said: str, evidence: Sequence[str]) -> bool:
    """Return whether the evidence has these very words in one run, but for articles."""
    return any(f" {_without_articles(said)} " in f" {_without_articles(text)} " for text in evidence)


@lru_cache(maxsize=1 << 12)
def _without_articles(text: str) -> str:
    """Return the words of a text in lower case without articles."""
    return " ".join(t.word for t in tokens(text) if t.word not in ("a", "an", "the"))


def _nearest(said: str, units: Sequence[str]) -> list[str]:
    """Return the sentences of the evidence that share the most words with what is said."""
    wanted = frozenset(stems(tokens(said)))
    shares = [len(wanted & frozenset(stems(tokens(u)))) for u in units]
    most = max(shares, default=0)
    return [u for u, n in zip(units, shares, strict=True) if n == most][:3] if most > 1 else []


# Directions


def _says_opposite(said: str, unit: str) -> bool:
    """Return whether one word of the statement is replaced by its opposite, with the same words around it."""
    mine, theirs = tokens(said), tokens(unit)
    words, others = {t.word for t in mine}, {t.word for t in theirs}
    compares = bool(THAN & (words | others))  # then `turned` has judged what is compared
    for n, token in enumerate(mine):
        if not word_has_opposite(token.word) or token.word in others or (compares and is_comparative(token.word)):
            continue
        against = [m for m, t in enumerate(theirs) if opposite_words(token.word, t.word) and t.word not in words]
        alike = any(same_side(token.word, t.word) for t in theirs)
        if against and not alike and any(_same_surroundings(mine, n, theirs, m) for m in against):
            return True
    return False


def _same_surroundings(mine: Sequence[Token], n: int, theirs: Sequence[Token], m: int) -> bool:
    """Return whether the same words are around two tokens, and on the same sides."""
    left, right = _around(mine, n)
    before, after = _around(theirs, m)
    straight = len(left & before) + len(right & after)
    crossed = len((left & after) - before) + len((right & before) - after)
    return straight > crossed and bool(right & after or (left & before and not (right and after)))


def _around(found: Sequence[Token], at: int) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems before and after a token."""
    left = [t.stem for t in found[:at] if t.content][-_WINDOW:]
    right = [t.stem for t in found[at + 1 :] if t.content][:_WINDOW]
    return frozenset(left), frozenset(right)


def _direction_reversed(words: str, evidence: Sequence[str]) -> bool:
    """Return whether `words` lead from b to a where the evidence leads from a to b."""
    there = {pair for text in evidence for pair in _routes(text)}
    return any((b, a) in there and (a, b) not in there and a != b for a, b in _routes(words))


@lru_cache(maxsize=1 << 12)
def _routes(text: str) -> tuple[tuple[str, str], ...]:
    """Return (from, to) of every "from a to b" in a text."""
    found = [(m["a"][:2], m["b"][:2]) for m in _FROM_CJK.finditer(text)]
    row = tokens(text)
    for n, token in enumerate(row):
        if token.word not in ("from", "von", "vom", "aus"):
            continue
        to = next(
            (m for m in range(n + 1, min(n + 8, len(row))) if row[m].word in ("to", "auf", "zu", "nach", "into")), 0
        )
        if to and (start := _first_stem(row[n + 1 : to])) and (end := _first_stem(row[to + 1 : to + 5])):
            found.append((start, end))
    back = [  # to b from a
        (end, start)
        for n, token in enumerate(row)
        if token.word in ("to", "into")
        for m in range(n + 2, min(n + 6, len(row)))
        if row[m].word == "from" and (start := _first_stem(row[n + 1 : m])) and (end := _first_stem(row[m + 1 : m + 4]))
    ]
    return tuple(found + back)


def _first_stem(row: Sequence[Token]) -> str:
    """Return the first stem that carries content; "" if there is none."""
    return next((t.stem for t in row if t.content), "")


# Sides


def _verb_sides_swapped(said: str, unit: str) -> bool:
    """Return whether a verb that both have is between the same words, the other way round."""
    mine, theirs = tokens(_unfronted(said)), tokens(_unfronted(unit))
    for n, token in enumerate(mine):
        if not token.content or sum(t.stem == token.stem for t in mine) > 1:
            continue
        where = [m for m, t in enumerate(theirs) if t.stem == token.stem and t.content]
        if len(where) != 1:
            continue
        verbs = _looks_like_verb(mine, n), _looks_like_verb(theirs, where[0])
        if True in verbs and False not in verbs and _subject_and_object_swapped(mine, n, theirs, where[0]):
            return True
    return False


def _unfronted(sentence: str) -> str:
    """Return the sentence with an opening clause ("When it rains, ...") moved behind the rest."""
    front, _, rest = sentence.partition(", ")
    opens = front.split(" ", 1)[0].casefold() in _OPENS
    return f"{rest.rstrip('.')} {front}" if rest and opens else sentence


def _looks_like_verb(found: Sequence[Token], at: int) -> bool | None:
    """Return whether a word is a verb by its ending and neighbours; None if only its neighbours suggest it."""
    word = found[at].word
    before = found[at - 1].word if at else ""
    after = found[at + 1].word if at + 1 < len(found) else ""
    if word in _KINDS:
        return after == "of" and before in _AUXILIARY | {"a", "an", "the"}
    if found[at].text[:1].isupper() or word[:1].isdigit() or len(word) < 3 or not at or after in _AUXILIARY:
        return False
    if before in _AUXILIARY or before.endswith("ly"):
        return True
    if not found[at - 1].content and before not in _SUBJECTS:
        return False
    return True if word.endswith(("s", "ed", "t")) or after in _LEADS else None


def _subject_and_object_swapped(mine: Sequence[Token], n: int, theirs: Sequence[Token], m: int) -> bool:
    """Return whether the words before and after a verb are exchanged in the other sentence."""
    left, right = _roles(mine, n)
    before, after = _roles(theirs, m)
    if not left or not right or not before or not after:
        return False
    crossed = (
        left[-1] in after
        and left[-1] not in before
        and ((right[0] in before and right[0] not in after) or (before[-1] in right and before[-1] not in left))
    )
    if _is_passive(mine, n) == _is_passive(theirs, m):
        return crossed and not _german_order(mine, theirs)
    if not any(t.word in _BY for t in (mine if _is_passive(mine, n) else theirs)):
        return False  # "is associated with" is "associated with"
    return left[-1] in before and left[-1] not in after and right[0] in after and right[0] not in before


def _roles(found: Sequence[Token], at: int) -> tuple[list[str], list[str]]:
    """Return the stems before and after a verb, within its own clause."""
    left, right = list(found[:at]), list(found[at + 1 :])
    for n, token in enumerate(right):
        if token.word in TIMES or token.word in THAN:
            right = right[:n]
            break
    for n in range(len(left) - 1, -1, -1):
        if left[n].word in TIMES or left[n].word in THAN:
            left = left[n + 1 :]
            break
    by = next((n for n, t in enumerate(left) if t.word in _BY and _is_passive(found, at)), None)
    if by is not None:
        left, right = left[:by], [*left[by + 1 :], *right]
    return _content_stems(left)[-_WINDOW:], _content_stems(right)[:_WINDOW]


def _content_stems(found: Sequence[Token]) -> list[str]:
    """Return the stems that carry content, without numbers and adverbs."""
    return [t.stem for t in found if t.content and not t.word[:1].isdigit() and not t.word.endswith("ly")]


def _german_order(mine: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """Return whether German word order may explain the difference, as its cases tell who does what."""
    row = {t.word for t in (*mine, *theirs)}
    return bool(row & {"der", "die", "das", "ein", "eine", "im", "ist"}) and not {"der", "den"} <= {
        t.word for t in mine
    }


def _is_passive(found: Sequence[Token], at: int) -> bool:
    """Return whether the verb is passive."""
    if found[at].word.endswith(("ing", "s")):
        return False
    if found[at].word.endswith(("ed", "en")) and at + 1 < len(found) and found[at + 1].word in _BY:
        return True  # inspired by
    for n in range(at - 1, max(-1, at - 5), -1):
        if found[n].word in _BEING:
            return True
        if found[n].word in _ENGLISH_ARTICLES or found[n].word == "to":
            return False  # is a trick to reduce
    return False


def _parts_crossed(said: str, unit: str) -> bool:
    """Return whether two parts of a sentence exchange what they say."""
    return _exchange_words(phrases(said), phrases(unit)) or _exchange_words(main_clauses(said), main_clauses(unit))


def _sentences_crossed(words: str, evidence: Sequence[str]) -> str:
    """Return a reason if two sentences say of each other's subject what the evidence says of their own; else ""."""
    units = [u for text in evidence for u in sentences(text)]
    if len(units) > 1 and (_exchange_words(phrases(words), units) or _exchange_words(sentences(words), units)):
        return "says of the one what holds of the other"
    return ""


def _exchange_words(said: Sequence[str], units: Sequence[str]) -> bool:
    """Return whether two statements exchange a word with each other and keep another."""
    mine = [_word_stems(s) for s in said][:12]
    theirs = [_word_stems(u) for u in units][:40]
    for a, b in itertools.pairwise(mine):
        one, two = _most_similar(a, theirs), _most_similar(b, theirs)
        if one is None or two is None:
            continue
        if one == two:  # each may be nearer to its own
            others = [t for t in theirs if t != one]
            two = _most_similar(b, others)
            if two is None:
                continue
        if (a & two - one) and (b & one - two) and (a & one - two) and (b & two - one):
            return True
    return False


def _word_stems(text: str) -> frozenset[str]:
    """Return the stems without single letters."""
    return frozenset(s for s in stems(tokens(text)) if len(s) > 1 or not s.isascii() or s.isdigit())


def _most_similar(wanted: frozenset[str], among: Sequence[frozenset[str]]) -> frozenset[str] | None:
    """Return the set that shares the most with `wanted`; None if none shares anything."""
    best = max(among, key=lambda t: len(wanted & t), default=None)
    return best if best is not None and wanted & best else None
