"""Who does what to whom: the same words with their sides swapped, or with the direction of a comparison turned."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import lru_cache

from compiler.language.comparisons import THAN, TIMES, comparisons, is_comparative, turned
from compiler.language.opposites import opposite_words, same_side, word_has_opposite
from compiler.language.tokens import Token, pieces, sayings, sentences, stems, tokens

_WINDOW = 6  # content words on each side of a verb
_FROM_CJK = re.compile(r"从(?P<a>[^，。；从]{2,6}?)(?:[送流升降增减移运传])?[到至往](?P<b>[^，。；]{2,6})")
_AUXILIARY = frozenset(
    """is are was were be been being has have had can could may might must shall should will would do does did not to
    cannot wird werden wurde wurden ist sind war kann muss""".split()
)
_BEING = frozenset("is are was were be been being wird werden wurde wurden".split())
_LEADS = frozenset(
    "the a an its their his her this that by from into on to all der die das den dem ein eine einen".split()
)
_ENGLISH_ARTICLES = frozenset("a an the".split())
_BY = frozenset("by von vom durch".split())
_OPENS = frozenset(
    """in on at by for with as when because if after before since while during from under unlike over without within to
    through among between until once unless bei mit wenn weil nach vor im als ohne durch seit während""".split()
)
_SUBJECTS = frozenset("it they he she which who that we sie er es".split())
_KINDS = frozenset("part kind type example subset member species form cause result consequence special".split())


def sides_fault(words: str, evidence: Sequence[str]) -> str:
    """What tells that words turn round who does what to whom; "" if nothing does."""
    own = [s for s in sentences(words) if not _stands(s, evidence)]
    there = [c for text in evidence for c in comparisons(text)]
    if any(turned(c, there) for said in own for c in comparisons(said)):
        return "compares the other way round"
    if any(_exchanged(said, evidence) for said in own):
        return "says it from the other to the one"
    units = [u for text in evidence for u in sentences(text)]
    for said in own:
        for unit in _nearest(said, units):
            if _opposite(said, unit) or any(_opposite(a, b) for a in pieces(said) for b in _nearest(a, pieces(unit))):
                return "says the opposite"
            if _parted(said, unit) or _swapped(said, unit):
                return "says it with the sides swapped"
    return _crossed(words, evidence) if own else ""


def _stands(said: str, evidence: Sequence[str]) -> bool:
    """Whether the evidence has these very words in one run, but for articles: nothing in them can be turned round."""
    return any(f" {_unbroken(said)} " in f" {_unbroken(text)} " for text in evidence)


@lru_cache(maxsize=1 << 12)
def _unbroken(text: str) -> str:
    return " ".join(t.word for t in tokens(text) if t.word not in ("a", "an", "the"))


def _nearest(said: str, units: Sequence[str]) -> list[str]:
    wanted = frozenset(stems(tokens(said)))
    shares = [len(wanted & frozenset(stems(tokens(u)))) for u in units]
    most = max(shares, default=0)
    return [u for u, n in zip(units, shares, strict=True) if n == most][:3] if most > 1 else []


# Directions


def _opposite(said: str, unit: str) -> bool:
    """Whether one word of `said` stands for its opposite in `unit`, with the same words round it."""
    mine, theirs = tokens(said), tokens(unit)
    words, others = {t.word for t in mine}, {t.word for t in theirs}
    compares = bool(THAN & (words | others))  # then `turned` has judged what is compared
    for n, token in enumerate(mine):
        if not word_has_opposite(token.word) or token.word in others or (compares and is_comparative(token.word)):
            continue
        against = [m for m, t in enumerate(theirs) if opposite_words(token.word, t.word) and t.word not in words]
        alike = any(same_side(token.word, t.word) for t in theirs)
        if against and not alike and any(_same_round(mine, n, theirs, m) for m in against):
            return True
    return False


def _same_round(mine: Sequence[Token], n: int, theirs: Sequence[Token], m: int) -> bool:
    """Whether what follows is the same, or what goes before and nothing is on the other side."""
    left, right = _around(mine, n)
    before, after = _around(theirs, m)
    straight = len(left & before) + len(right & after)
    crossed = len((left & after) - before) + len((right & before) - after)
    return straight > crossed and bool(right & after or (left & before and not (right and after)))


def _around(found: Sequence[Token], at: int) -> tuple[frozenset[str], frozenset[str]]:
    left = [t.stem for t in found[:at] if t.content][-_WINDOW:]
    right = [t.stem for t in found[at + 1 :] if t.content][:_WINDOW]
    return frozenset(left), frozenset(right)


def _exchanged(words: str, evidence: Sequence[str]) -> bool:
    """Whether `words` lead from b to a where the evidence leads from a to b."""
    there = {pair for text in evidence for pair in _ways(text)}
    return any((b, a) in there and (a, b) not in there and a != b for a, b in _ways(words))


@lru_cache(maxsize=1 << 12)
def _ways(text: str) -> tuple[tuple[str, str], ...]:
    found = [(m["a"][:2], m["b"][:2]) for m in _FROM_CJK.finditer(text)]
    row = tokens(text)
    for n, token in enumerate(row):
        if token.word not in ("from", "von", "vom", "aus"):
            continue
        to = next(
            (m for m in range(n + 1, min(n + 8, len(row))) if row[m].word in ("to", "auf", "zu", "nach", "into")), 0
        )
        if to and (start := _first(row[n + 1 : to])) and (end := _first(row[to + 1 : to + 5])):
            found.append((start, end))
    back = [  # to b from a
        (end, start)
        for n, token in enumerate(row)
        if token.word in ("to", "into")
        for m in range(n + 2, min(n + 6, len(row)))
        if row[m].word == "from" and (start := _first(row[n + 1 : m])) and (end := _first(row[m + 1 : m + 4]))
    ]
    return tuple(found + back)


def _first(row: Sequence[Token]) -> str:
    return next((t.stem for t in row if t.content), "")


# Sides


def _swapped(said: str, unit: str) -> bool:
    """Whether a verb that both have stands between the same words, the other way round."""
    mine, theirs = tokens(_unfronted(said)), tokens(_unfronted(unit))
    for n, token in enumerate(mine):
        if not token.content or sum(t.stem == token.stem for t in mine) > 1:
            continue
        where = [m for m, t in enumerate(theirs) if t.stem == token.stem and t.content]
        if len(where) != 1:
            continue
        verbs = _verb(mine, n), _verb(theirs, where[0])
        if True in verbs and False not in verbs and _other_way(mine, n, theirs, where[0]):
            return True
    return False


def _unfronted(sentence: str) -> str:
    """The sentence with what opens it before a comma ("When it rains, ...") put behind."""
    front, _, rest = sentence.partition(", ")
    opens = front.split(" ", 1)[0].casefold() in _OPENS
    return f"{rest.rstrip('.')} {front}" if rest and opens else sentence


def _verb(found: Sequence[Token], at: int) -> bool | None:
    """Whether a word looks like a verb by its ending and its neighbours, or joins as "part of" does; None: no noun."""
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


def _other_way(mine: Sequence[Token], n: int, theirs: Sequence[Token], m: int) -> bool:
    left, right = _roles(mine, n)
    before, after = _roles(theirs, m)
    if not left or not right or not before or not after:
        return False
    crossed = (
        left[-1] in after
        and left[-1] not in before
        and ((right[0] in before and right[0] not in after) or (before[-1] in right and before[-1] not in left))
    )
    if _passive(mine, n) == _passive(theirs, m):
        return crossed and not _german_order(mine, theirs)
    if not any(t.word in _BY for t in (mine if _passive(mine, n) else theirs)):
        return False  # "is associated with" is "associated with"
    return left[-1] in before and left[-1] not in after and right[0] in after and right[0] not in before


def _roles(found: Sequence[Token], at: int) -> tuple[list[str], list[str]]:
    """What stands before a verb and what after it, as far as a comparison; who does it stands after a passive."""
    left, right = list(found[:at]), list(found[at + 1 :])
    for n, token in enumerate(right):
        if token.word in TIMES or token.word in THAN:
            right = right[:n]
            break
    for n in range(len(left) - 1, -1, -1):
        if left[n].word in TIMES or left[n].word in THAN:
            left = left[n + 1 :]
            break
    by = next((n for n, t in enumerate(left) if t.word in _BY and _passive(found, at)), None)
    if by is not None:
        left, right = left[:by], [*left[by + 1 :], *right]
    return _heads(left)[-_WINDOW:], _heads(right)[:_WINDOW]


def _heads(found: Sequence[Token]) -> list[str]:
    return [t.stem for t in found if t.content and not t.word[:1].isdigit() and not t.word.endswith("ly")]


def _german_order(mine: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """Whether German may have turned the sentence only: its cases, not its order, say who does it."""
    row = {t.word for t in (*mine, *theirs)}
    return bool(row & {"der", "die", "das", "ein", "eine", "im", "ist"}) and not {"der", "den"} <= {
        t.word for t in mine
    }


def _passive(found: Sequence[Token], at: int) -> bool:
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


def _parted(said: str, unit: str) -> bool:
    return _across(pieces(said), pieces(unit)) or _across(sayings(said), sayings(unit))


def _crossed(words: str, evidence: Sequence[str]) -> str:
    """What is said of two in two sentences, each of the other."""
    units = [u for text in evidence for u in sentences(text)]
    if len(units) > 1 and (_across(pieces(words), units) or _across(sentences(words), units)):
        return "says of the one what holds of the other"
    return ""


def _across(said: Sequence[str], units: Sequence[str]) -> bool:
    """Whether two things that are said exchange a word with each other, and keep another."""
    mine = [_named(s) for s in said][:12]
    theirs = [_named(u) for u in units][:40]
    for a, b in itertools.pairwise(mine):
        one, two = _best(a, theirs), _best(b, theirs)
        if one is None or two is None:
            continue
        if one == two:  # each may be nearer to its own
            others = [t for t in theirs if t != one]
            two = _best(b, others)
            if two is None:
                continue
        if (a & two - one) and (b & one - two) and (a & one - two) and (b & two - one):
            return True
    return False


def _named(text: str) -> frozenset[str]:
    """The stems, without the letters of formulas."""
    return frozenset(s for s in stems(tokens(text)) if len(s) > 1 or not s.isascii() or s.isdigit())


def _best(wanted: frozenset[str], among: Sequence[frozenset[str]]) -> frozenset[str] | None:
    best = max(among, key=lambda t: len(wanted & t), default=None)
    return best if best is not None and wanted & best else None
