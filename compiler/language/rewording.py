"""What changed in a statement when its source was edited, and whether it is still the same statement.

A change counts as cosmetic or as a rewording only where that can be shown, word by word; all else is another fact. So
what is overlooked is never a fact, and a doubt costs the learner one look. Pure, and the same on every machine.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import zip_longest

from rapidfuzz import fuzz

from compiler.language import rewording_words as lists
from compiler.language.lexicon import american, pattern
from compiler.language.quantities import NUMBER_WORDS, SCALES, UNITS


class Change(StrEnum):
    """What changed between two wordings of one statement, the smallest change first."""

    COSMETIC = "cosmetic"  # white space, typography, case, spelling, markup
    REWORDED = "reworded"  # the same facts in other words
    FACT = "fact"  # numbers, names, negation, direction ... or more or less than was said before


_RANK = {change: rank for rank, change in enumerate(Change)}

# --- words ----------------------------------------------------------------------------------------------------------

_RAISED = str.maketrans({c: f"^{d}" for c, d in zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True)} | {"⁻": "^-", "⁺": "^+"})
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―", "-"))
_QUOTES = str.maketrans(dict.fromkeys("’‘ʼ`´", "'"))
_VULGAR = re.compile(r"(?<=\d)(?=[¼½¾⅐-⅞])")
_MARKUP = re.compile(r"!?\[([^\]\[]*)\]\([^)\s]*\)|\[\[(?:[^\]\[|]*\|)?([^\]\[|]*)\]\]")
_THOUSANDS = re.compile(r"(?<=\d)[,\u00a0\u2009\u202f '](?=\d{3}(?!\d))")
_MINUS = re.compile(r"(?:(?<=^)|(?<=[\s(=<>]))[-−](?=\d)")
_TOKEN = pattern("rewording_token")
_SIGNS = frozenset("%&/@‰§")  # punctuation that says something; what is no punctuation always does


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number or sign: `text` as written, `said` in one case and spelling."""

    text: str
    said: str
    unit: bool = False  # it follows a number: its case counts


@lru_cache(maxsize=4096)
def tokens(text: str, *, joined: bool = False) -> tuple[Token, ...]:
    """Return the words, numbers and signs of `text` without markup and punctuation; `joined` joins hyphenated words."""
    text = _MARKUP.sub(lambda m: m[1] or m[2] or "", text.replace("\\", ""))
    text = _VULGAR.sub(" ", text.translate(_RAISED).translate(_DASHES))
    text = unicodedata.normalize("NFKC", text).translate(_QUOTES).replace("\u2044", "/")
    text = _MINUS.sub(" − ", _THOUSANDS.sub("", text))
    text = re.sub(r"(?<=[^\W\d_])-(?=[^\W\d_])", "" if joined else " ", text)
    out: list[Token] = []
    for found in _TOKEN.finditer(text):
        token = _token(found, after_number=bool(out) and out[-1].said[:1].isdigit())
        if token is not None:
            out.append(token)
    return tuple(out)


def _token(found: re.Match[str], *, after_number: bool) -> Token | None:
    """Return the token of a match; None for punctuation."""
    written = found[0]
    if number := found["number"] or found["bare"]:
        return Token(written, number + ("th" if found["ordinal"] else ""))
    if found["ratio"]:
        return Token(written, written)
    if found["sign"]:
        kept = written in _SIGNS or unicodedata.category(written)[0] != "P"
        return Token(written, written) if (kept and written not in "^'") or written == "^" else None
    unit = UNITS.get(written, UNITS.get(written.lower(), "") if len(written) > 3 else "")
    if after_number and (unit or len(written) <= 3):
        return Token(written, unit or written, unit=True)
    word = written.casefold().removesuffix("'s") if found["word"] else written
    return Token(written, _TRE.sub(lambda m: m[1] + "er" + _TRE_ENDS[m[2]], american(_plain_letters(word))))


_TRE = re.compile(r"^(cent|met|theat|lit|fib|calib|spect|sab|lust)re(s|d?)$")
_TRE_ENDS = {"": "", "s": "s", "d": "ed"}


def _plain_letters(word: str) -> str:
    """Return `word` in ASCII letters where that cannot make another word of it."""
    if word.isascii():
        return word
    for mark, letters in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("æ", "ae"), ("œ", "oe")):
        word = word.replace(mark, letters)
    bare = "".join(c for c in unicodedata.normalize("NFD", word) if unicodedata.category(c) != "Mn")
    return bare if bare in _WITHOUT_ACCENT else word


_WITHOUT_ACCENT = frozenset("naive naively naivety cafe cafes facade facades role roles cliche cliches regime".split())


def _same_case(one: Token, other: Token) -> bool:
    """Return whether two tokens differ at most as a sentence's start or a heading makes them."""
    a, b = one.text, other.text
    if a == b or a.casefold() != b.casefold():
        return True  # other words are judged by what they say
    if one.unit or other.unit:
        return one.said == other.said
    if a.casefold() in lists.CAPITALS:
        return a.isupper() is b.isupper()
    plain = all(w.islower() or w.isupper() or w.replace("'", "").istitle() for w in (a, b))
    return plain and (len(a) > 1 or a.casefold() in "ai")


# --- what changed ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def classify(old: str, new: str) -> Change:
    """Return what changed from `old` to `new`, two wordings of one statement."""
    if old == new or _is_cosmetic(old, new):
        return Change.COSMETIC
    return Change.REWORDED if _is_reworded(old, new) else Change.FACT


def worst(changes: Iterable[Change]) -> Change:
    """Return the greatest of several changes; cosmetic where there is none."""
    return max(changes, key=_RANK.__getitem__, default=Change.COSMETIC)


def _is_cosmetic(old: str, new: str) -> bool:
    """Return whether two wordings have the same words."""
    for joined in (False, True):
        a, b = tokens(old, joined=joined), tokens(new, joined=joined)
        if [t.said for t in a] == [t.said for t in b]:
            return all(_same_case(x, y) for x, y in zip(a, b, strict=True))
    return False


def _is_reworded(old: str, new: str) -> bool:
    """Return whether two wordings have the same words or synonyms, but for a moved clause or a passive."""
    a, b = meaningful_words(old), meaningful_words(new)
    if not a or not b or (_tense(old) != _tense(new) and None not in (_tense(old), _tense(new))):
        return False
    if not _cases_agree(old, new):
        return False
    b = _aligned(a, b)
    return a == b or _moved_clause(a, b) or _passive(a, b) or _passive(b, a)


def _cases_agree(old: str, new: str) -> bool:
    """Return whether no unit, symbol or name differs in its case alone."""
    written = {t.said: t for t in tokens(old)}
    return all(_same_case(written[t.said], t) for t in tokens(new) if t.said in written)


def _tense(text: str) -> str | None:
    """Return "past" or "present" if "is" and "was" tell, else None."""
    words = set(text.casefold().split())
    past, present = bool(words & lists.PAST), bool(words & lists.PRESENT)
    return "past" if past and not present else "present" if present and not past else None


@lru_cache(maxsize=4096)
def meaningful_words(text: str) -> tuple[str, ...]:
    """Return the words of `text` that carry meaning, each as the first of its synonyms; numbers as digits."""
    plain = _expanded(text)
    words = [t.said for t in tokens(plain)]
    german = bool(lists.GERMAN & set(words))
    empty = lists.EMPTY - {"die", "den"} | (lists.GERMAN_EMPTY if german else frozenset())
    return tuple(_canonical(w) for w in _with_digits(words) if w not in empty)


def _expanded(text: str) -> str:
    """Return `text` without contractions and with fixed phrases as single words."""
    text = re.sub(r"n't\b", " not", text.translate(_QUOTES).replace("can't", "can not").replace("won't", "will not"))
    text = lists.MONTH_FIRST.sub(lambda m: f"{m[2]} {m[1]}", text)
    for each, to in lists.PHRASES:
        text = each.sub(to, text)
    return text


def _with_digits(words: list[str]) -> list[str]:
    """Return `words` with number words as digits, tens and scales multiplied out."""
    out: list[str] = []
    for word in words:
        number = str(NUMBER_WORDS[word]) if word in NUMBER_WORDS else None
        if number is not None and out and re.fullmatch(r"[2-9]0", out[-1]) and len(number) == 1 and number != "0":
            out[-1] = str(int(out[-1]) + int(number))
        elif len(word) > 2 and word in SCALES and out and re.fullmatch(r"\d+(?:\.\d+)?", out[-1]):
            out[-1] = f"{float(out[-1]) * 10 ** SCALES[word]:.10g}"
        else:
            out.append(number or lists.ORDINALS.get(word, word))
    return [f"{float(w):.10g}" if re.fullmatch(r"\d{4,}", w) else w for w in out]


@lru_cache(maxsize=65536)
def _canonical(word: str) -> str:
    """Return the first synonym of the word, whatever its inflection; the word itself if it has none."""
    for form in (lists.IRREGULAR.get(word, word), word, *sorted(_base_forms(word))):
        if form in lists.SYNONYMS:
            return lists.SYNONYMS[form]
    return lists.IRREGULAR.get(word, word)


@lru_cache(maxsize=65536)
def _base_forms(word: str) -> frozenset[str]:
    """Return the words of which `word` may be an inflection."""
    out = {word}
    for ending, bases in (("ies", ("y",)), ("es", ("", "e")), ("s", ("",)), ("ied", ("y",))):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            out |= {word[: -len(ending)] + base for base in bases}
    for ending in ("ed", "ing"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= 3:
            out |= {stem, stem + "e"}
            if stem[-1] == stem[-2]:
                out.add(stem[:-1])
    return frozenset(out)


def _aligned(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    """Return `b` with each word that is an inflection of one of `a` replaced by that."""
    known = {form: word for word in reversed(a) for form in sorted(_base_forms(word)) if not word.isdigit()}
    known |= {w: w for w in a}
    return tuple(next((known[f] for f in (w, *sorted(_base_forms(w))) if f in known), w) for w in b)


def _moved_clause(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Return whether `b` only has a clause of `a` before the rest that was behind it, or the reverse."""
    if len(a) != len(b) or len(a) < 4 or Counter(a) != Counter(b):
        return False
    cuts = (k for k in range(2, len(a) - 1) if a[k:] + a[:k] == b)
    return any(a[k] in lists.LEADS or (a[0] in lists.LEADS and k > 1) for k in cuts)


def _passive(active: tuple[str, ...], passive: tuple[str, ...]) -> bool:
    """Return whether the one says "A verbs B" and the other "B is verbed by A", with the same words behind."""
    if "be" not in passive or "by" not in passive or not 0 < passive.index("be") < passive.index("by"):
        return False
    be, by = passive.index("be"), passive.index("by")
    patient, verb, rest = passive[:be], passive[be + 1 : by], passive[by + 1 :]
    return any(active == rest[:n] + verb + patient + rest[n:] for n in range(1, len(rest) + 1))


# --- whether it is the same statement ---------------------------------------------------------------------------------

SAME_LETTERS = 80  # out of 100: wordings this alike in their letters are of one statement, if it opens alike
SAME_WORDS = 66  # so are those that share so many of their telling words, ...
FEWEST = 3  # ... and at least so many
CLOSE_CALL = 2.0  # a rival this near leaves it in doubt which is which


def likeness(old: str, new: str) -> float:
    """Return how surely `new` is what `old` became, out of 100; 0.0 where they may be two statements."""
    change = classify(old, new)
    if change is not Change.FACT:
        return 100.0 if change is Change.COSMETIC else 99.0
    a, b = _subject_words(old), _subject_words(new)
    b = _aligned(a, b)
    shared = (Counter(a) & Counter(b)).total()
    words = 200 * shared / (len(a) + len(b)) if a and b else 0.0
    letters = fuzz.ratio(old, new)
    if not _one_subject(a, b):
        defines = "be" in meaningful_words(old)[1:4]  # then another subject makes another statement of it
        return letters - 1 if _one_replacement(a, b) and not defines else 0.0
    if letters >= SAME_LETTERS or (words >= SAME_WORDS and shared >= FEWEST):
        return min(98.0, max(letters, words))
    return 0.0


def _subject_words(text: str) -> tuple[str, ...]:
    """Return the meaningful words that say what a statement is about."""
    return tuple(w for w in meaningful_words(text) if w not in lists.NO_SUBJECT)


def _one_subject(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Return whether each text mentions what the other begins with."""
    first, other = (next((w for w in words if not w[0].isdigit()), "") for words in (a, b))
    return bool(first and other) and first in b and other in a


def _one_replacement(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Return whether one or two neighbouring words were replaced, and at least four stayed."""
    same = [x == y for x, y in zip_longest(a, b)]
    if len(a) != len(b) or sum(same) < 4:
        return False
    other = [n for n, alike in enumerate(same) if not alike]
    return len(other) <= 2 and other[-1] - other[0] == len(other) - 1


def successors(gone: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """Return new statement's key -> id of the vanished statement that it continues, by their words.

    Both are of one source. Of two that might as well be meant, neither is taken.
    """
    pairs = sorted(
        ((score, key, id_) for key, id_ in _candidates(gone, new) if (score := likeness(gone[id_], new[key])) > 0),
        key=lambda p: (-p[0], p[1], p[2]),
    )
    by_key: dict[str, list[tuple[float, str]]] = {}
    by_id: dict[str, list[tuple[float, str]]] = {}
    for score, key, id_ in pairs:
        by_key.setdefault(key, []).append((score, id_))
        by_id.setdefault(id_, []).append((score, key))
    out: dict[str, str] = {}
    taken: set[str] = set()
    for score, key, id_ in pairs:
        if key in out or id_ in taken:
            continue
        near = score - CLOSE_CALL
        rivals = [s for s, other in by_key[key] if other != id_ and other not in taken and s > near]
        rivals += [s for s, other in by_id[id_] if other != key and other not in out and s > near]
        if score >= 99 or not rivals:
            out[key] = id_
            taken.add(id_)
    return out


def _candidates(gone: Mapping[str, str], new: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Yield the pairs (key, id) that have about half of their words in common."""
    beginnings = {id_: _word_beginnings(words) for id_, words in gone.items()}
    having: dict[str, set[str]] = {}
    for id_, known in beginnings.items():
        for word in known:
            having.setdefault(word, set()).add(id_)
    for key, words in new.items():
        mine = _word_beginnings(words)
        shared = Counter(id_ for word in mine for id_ in having.get(word, ()))
        for id_, count in shared.items():
            if 4 * count >= len(mine) + len(beginnings[id_]):
                yield key, id_


def _word_beginnings(text: str) -> set[str]:
    """Return the beginnings of the words of `text`: enough to tell what has nothing in common."""
    return {t.said[:4] for t in tokens(text) if t.said not in lists.EMPTY}
