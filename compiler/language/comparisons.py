"""What is compared with what: faster than, before, 比. The same comparison turned round says the contrary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from compiler.language.tokens import Token, folded_stem, sayings, stems, tokens

_DIMENSIONS = {
    word: (name, sign)
    for name, (up, down) in {
        "amount": ("more mehr exceed", "less fewer weniger"),
        "speed": ("fast quick schnell 快", "slow langsam 慢"),
        "size": ("larg bigg great groß größ 大", "small klein 小"),
        "length": ("long läng lang 长", "short kürz kurz 短"),
        "height": ("high tall höh hoch 高", "low niedr 低"),
        "weight": ("heavi schwer 重", "light leicht 轻"),
        "strength": ("strong stärk stark 强", "weak schwäch schwach 弱"),
        "age": ("old ält alt", "young jüng jung"),
        "worth": ("bett besser 好", "wors schlecht 差"),
        "heat": ("warm hott wärm heiß", "cold cool kält kalt"),
        "depth": ("deep tief 深", "shallow flach 浅"),
        "ease": ("easi simpl einfach", "hard difficult"),
        "cost": ("dear costli teur", "cheap billig"),
        "number": ("多", "少"),
        "frequency": ("common frequent häufig", "rar selten"),
        "width": ("wid thick broad dick breit 宽", "narrow thin dünn 窄"),
        "distance": ("far fern 远", "near clos nah 近"),
    }.items()
    for words, sign in ((up, 1), (down, -1))
    for word in words.split()
}
TIMES = {
    "before": -1, "after": 1, "bevor": -1, "nachdem": 1, "vor": -1, "nach": 1,
}  # fmt: skip
THAN = frozenset(("than", "als"))
_COMPARES_CJK = re.compile(
    r"(?P<left>[^，,。；;\s]{1,16}?)(?P<not>不)?比(?P<right>[^，,。；;\s]{1,12}?)(?:更|要|还)?"
    r"(?P<how>[多少快慢大小高低长短强弱好差重轻远近深浅宽窄])"
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared with what, in which dimension; `sign` +1: `left` has more of it, or comes later."""

    dimension: str
    sign: int
    left: frozenset[str]
    right: frozenset[str]


@lru_cache(maxsize=1 << 12)
def comparisons(text: str) -> tuple[Comparison, ...]:
    """All comparisons that are made in so many words: faster than, before, 比."""
    return tuple([c for s in sayings(text) for c in (*_with_than(s), *_in_time(s))] + list(_in_chinese(text)))


def _with_than(saying: str) -> Iterator[Comparison]:
    found = tokens(re.split(r"[,:]\s", saying)[0] if saying.count(" than ") == 1 else saying)
    if not any(t.word in THAN for t in found):
        found = tokens(saying)
    for n, token in enumerate(found):
        if token.word not in THAN:
            continue
        for back in range(n - 1, max(-1, n - 9), -1):
            if (read := _dimension(found, back, n)) is not None:
                name, sign, used = read
                left = [s for s in _side(found[:n]) if s not in used]
                yield Comparison(name, sign, frozenset(left), frozenset(_side(_until_turn(found[n + 1 :]))))
                break
    yield from _times_as(found)


def _times_as(found: Sequence[Token]) -> Iterator[Comparison]:
    """ "28 times as much heat as": more of it, too."""
    for n, token in enumerate(found):
        if token.word == "as" and n and found[n - 1].word in ("times", "twice"):
            second = next((m for m in range(n + 2, min(n + 6, len(found))) if found[m].word == "as"), 0)
            if second:
                right = _side(_until_turn(found[second + 1 :]))
                yield Comparison("times", 1, frozenset(_side(found[: n - 1])), frozenset(right))


def _side(found: Sequence[Token]) -> list[str]:
    """Content, and whether it is with or without."""
    return [
        t.stem for t in found if (t.content and t.word not in TIMES) or t.word in ("with", "without", "mit", "ohne")
    ]


def _until_turn(rest: Sequence[Token]) -> Sequence[Token]:
    for n, token in enumerate(rest):
        if token.word in ("but", "and", "because", "which", "aber", "und", "weil") or token.word in THAN:
            return rest[:n]
    return rest


def _dimension(found: Sequence[Token], at: int, than: int) -> tuple[str, int, frozenset[str]] | None:
    """(dimension, sign, the stems that name it) of the comparative at `at`; None if there stands none."""
    word = found[at].word
    if word in ("more", "less", "fewer", "mehr", "weniger"):
        between = [t for t in found[at + 1 : than] if t.content]
        sign = 1 if word in ("more", "mehr") else -1
        used = frozenset(t.stem for t in between)
        if len(between) == 1 and (known := _known(between[0].word)):
            return known[0], sign * known[1], used
        return f"more {' '.join(t.stem for t in between[:1])}".rstrip(), sign, frozenset()
    if word.endswith(("er", "se")) and len(word) > 3 and (known := _known(word)):
        return known[0], known[1], frozenset({found[at].stem})
    if word.endswith("er") and len(word) > 4 and word not in _NO_COMPARATIVES:
        return folded_stem(word.removesuffix("er")), 1, frozenset({found[at].stem})
    return None


_NO_COMPARATIVES = frozenset(
    "other rather over under after never water number power order later earlier oder aber".split()
)


def _known(word: str) -> tuple[str, int] | None:
    bare = word.removesuffix("er").removesuffix("e")
    return next((_DIMENSIONS[w] for w in (word, bare, folded_stem(bare)) if w in _DIMENSIONS), None)


def _in_time(saying: str) -> Iterator[Comparison]:
    parts = re.split(r",\s", saying, maxsplit=1)
    found = tokens(saying)
    for n, token in enumerate(found):
        if token.word not in TIMES:
            continue
        before = [t.stem for t in found[:n] if t.content]
        until = saying.find(", ", token.start)
        after = [t.stem for t in found[n + 1 :] if t.content and (t.start < until or until < 0)]
        if not before and len(parts) == 2:
            before = stems(tokens(parts[1]))
        elif not before:
            before, after = after[1:], after[:1]
        yield Comparison("time", TIMES[token.word], frozenset(before), frozenset(after))


def _in_chinese(text: str) -> Iterator[Comparison]:
    for match in _COMPARES_CJK.finditer(text):
        if match["not"]:
            continue
        name, sign = _DIMENSIONS[match["how"]]
        left = match["left"].partition("的")[0]
        yield Comparison(name, sign, frozenset(stems(tokens(left))), frozenset(stems(tokens(match["right"]))))


def turned(said: Comparison, there: Sequence[Comparison]) -> bool:
    """Whether the comparison contradicts one of the evidence, and none bears it out."""
    found = [v for c in there if c.dimension == said.dimension and (v := _agreement(said, c))]
    return bool(found) and max(found) < 0


def _agreement(said: Comparison, other: Comparison) -> int:
    """+1 if both say the same, -1 if they say contraries, 0 if they compare other things."""
    left, right = said.left - said.right, said.right - said.left
    mine, yours = other.left - other.right, other.right - other.left
    straight = 2 * len(right & yours)
    crossed = len(left & yours) + len(right & mine)
    if said.dimension == "time":
        straight = len(left & mine) + len(right & yours)
        if straight + crossed < 2:
            return 0
    if straight == crossed:
        return 0
    return said.sign * other.sign * (1 if straight > crossed else -1)
