"""Numbers, dates and names in words that their evidence does not have."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from compiler.language.detection import reads_as_german, sentence_language
from compiler.language.lexicon import NO_NAME_STARTS
from compiler.language.lexicon import words as words_in
from compiler.language.quantities import MONTHS, Day, Number, Value, quantities
from compiler.language.tokens import CJK, FUNCTION_WORDS, folded_stem, sentences, tokens

_IDENTIFIER = re.compile(
    r"(?<![\w.])(?:[A-Za-z]\+\+|[A-Z]#|\.NET\b"  # C++, F#
    r"|[A-Za-z]+[-‐]?\d[\w.-]*\w|[A-Za-z]+[-‐]?\d"  # GPT-3, ResNet-50
    r"|[A-Za-z]*[a-z][A-Z]\w*|\w+_\w+"  # OpenAI, snake_case
    r"|(?:[A-Z]\.){2,}|[A-Z][A-Z&]+s?)(?!\w)",  # U.S., CFCs, XIV
    re.ASCII,
)
_CAPITAL = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*")
_JOINS = frozenset("of the de la le van von der den du and und".split())
_DERIVED = ("an", "ese", "ish", "ch", "ss", "ic", "ean", "er", "i")  # French, Chinese: of a name, not the name
_FORMULA = re.compile(r"\b[A-Za-z]+(?:[_^][A-Za-z0-9]+)+|\b[A-Za-z]\d+\b")
# Figures that are no part of a longer number: of 50Hz, n-1, T_27, 80/3, 18 100.10; not of 2,500, 10^6, 10:30
_DIGITS = re.compile(r"([\w)\]}])?([-−])?(?<![\d.,:^])(?<!minus )(\d{1,30}(?:\.\d{1,30})?)(?![.,:^]?\d)")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_POWER = re.compile(r"\b[A-Za-z]\^\d+\b")
_PAIRED = re.compile(r"[ /&-]|,? (?:and|und|&) |, ")  # key-value, key and value
_KNOWN_SHORT = {
    "usa": "united states", "us": "united states", "uk": "united kingdom", "eu": "european union",
    "un": "united nations",
    "ddr": "deutsche demokratische republik", "ai": "artificial intelligence",
}  # fmt: skip
_DAYS_AND_MONTHS = frozenset(map(str.casefold, MONTHS)) | frozenset(
    "monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag"
    " sonntag".split()
)
_PLAIN_STARTS = (
    FUNCTION_WORDS
    | _DAYS_AND_MONTHS
    | frozenset(
        "according unlike like after before until yet most both whereas unless upon via per despite given".split()
    )
)
_OPENERS = NO_NAME_STARTS | words_in("facts_openers")  # plain words before a name: Compare Newton
_CENTURY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)[- ]centur|(\d{1,2})\. jahrhundert|(\d{1,2})世纪", re.IGNORECASE)


def quantity_fault(words: str, evidence: Sequence[str]) -> str:
    """Return what is wrong with a number or date of `words` (missing, other unit or bound); "" if nothing is."""
    said, there = quantities(words), _numbers_in(evidence)
    days = [d for text in evidence for d in quantities(text).days]
    values = _numeric_values(there, days, evidence)
    for day in said.days:
        if not any(_same_day(day, other, values) for other in days):
            return f"does not contain {day.text}"
    for number in said.numbers:
        if fault := _number_fault(number, there, values, words):
            return fault
    return ""


def _numbers_in(evidence: Sequence[str]) -> list[Number]:
    """Return all numbers of the evidence."""
    return [n for text in evidence for n in quantities(text).numbers]


def _numeric_values(there: Iterable[Number], days: Iterable[Day], evidence: Sequence[str]) -> frozenset[Value]:
    """Return every value that the evidence's numbers, dates and ranges of years name."""
    found: set[Value] = {v for n in there for v in n.values}
    for n in there:  # 1/1836 says 1836, too
        found |= {Fraction(v.denominator) for v in n.values if isinstance(v, Fraction) and v.numerator == 1}
    for day in days:
        found |= {Fraction(n) for n in (day.year, day.day) if n is not None}
    for text in evidence:
        for start, end in re.findall(r"\b(\d{2})\d{2}\s?[-–/]\s?(\d{2})\b(?!-)", text):  # 1914-18
            found.add(Fraction(f"{start}{end}"))
        for before, sign, figures in _DIGITS.findall(text):
            found.add(-Fraction(figures) if sign else Fraction(figures))
            if before and sign:  # n-1 takes 1 away
                found.add(Fraction(figures))
    return frozenset(found)


def _same_day(said: Day, other: Day, values: frozenset[Value]) -> bool:
    """Return whether a date of the words agrees with one of the evidence as far as both say."""
    if said.month != other.month or (said.day is not None and said.day != other.day):
        return False
    return said.year is None or said.year == other.year or (other.year is None and Fraction(said.year) in values)


def _number_fault(number: Number, there: Sequence[Number], values: frozenset[Value], words: str) -> str:
    """Return what is wrong with one number; "" if the evidence has it."""
    if not number.values & values:
        parts = re.findall(r"\d{1,30}", number.text)
        if "," in number.text and not _THOUSANDS.search(number.text) and all(Fraction(n) in values for n in parts):
            return ""  # two numbers with a comma between them: min(8-1,8-2)
        if number.spelled and not _contradicted(number, there):
            return ""  # small numbers also count what stands side by side: that is for a check to say
        if number.unit == "decade" and _in_decade(number, values):
            return ""
        if _CENTURY.search(words) and _in_century(number, values):
            return ""
        return f"does not contain {number.text}"
    same = [n for n in there if n.values & number.values]
    others = {n.unit for n in same}
    if number.unit and same and not others & {"", "decade", number.unit}:  # "60s" may be seconds
        return f"gives {number.text} in another unit"
    if number.bound and same and all(n.bound and n.bound != number.bound for n in same):
        limits = ("minimum", "maximum") if number.bound == "least" else ("maximum", "minimum")
        return f"gives {number.text} as a {limits[0]} instead of a {limits[1]}"
    return ""


def _contradicted(number: Number, there: Sequence[Number]) -> bool:
    """Return whether the evidence counts the same with another number, or the number is no small one."""
    if number.part:
        return any(n.part for n in there)
    if any(isinstance(v, Fraction) and v > 12 for v in number.values):
        return True
    return (
        bool(number.noun)
        and any(n.noun == number.noun or (number.unit and n.unit == number.unit) for n in there if not n.part)
    ) or any(n.spelled and not n.noun and not number.noun for n in there)


def _in_decade(number: Number, values: frozenset[Value]) -> bool:
    """Return whether the evidence has a year of the decade."""
    return any(0 <= y - v < 10 for v in number.values if isinstance(v, Fraction) for y in _years(values))


def _in_century(number: Number, values: frozenset[Value]) -> bool:
    """Return whether the evidence has a year of the century."""
    return any(Fraction((y - 1) // 100 + 1) in number.values for y in _years(values))


def _years(values: frozenset[Value]) -> list[int]:
    """Return the values that may be years."""
    return [int(v) for v in values if isinstance(v, Fraction) and v.denominator == 1 and 1000 <= v <= 2200]


def name_fault(words: str, evidence: Sequence[str], names: Sequence[str] = ()) -> str:
    """Return the name in `words` that neither the evidence nor `names` has, as a reason; "" if there is none."""
    there = _Known.of((*evidence, *names))
    foreign = in_another_language(words, evidence)
    for identifier in identifiers(words):
        if not there.has_identifier(identifier) and not (foreign and identifier.isalpha() and not there.identifiers):
            return f"does not mention {identifier}"
    for power in _POWER.findall(words):  # where the evidence has none, it may say quadratic
        if any("^" in f for f in there.formulas) and not there.has_identifier(power):
            return f"does not contain {power}"
    if foreign and "zh" in {sentence_language(words), *_languages(tuple(evidence))}:
        return ""  # names are spelled in other letters there: for a check to compare
    for run in capitalized_names(words):
        if foreign and words.find(run[0]) == 0 and sentence_language(words) == "de":
            continue  # an adjective that opens the sentence, and its noun
        strange = [w for w in run if not there.has_word(w)]
        if (
            strange == [run[0]]
            and len(run) > 1
            and (run[0].casefold() in _OPENERS or (words.startswith(run[0]) and reads_as_german(words)))
        ):
            continue  # Compare Newton, Viele Segel: a plain word that opens the sentence, and a name or noun
        if strange and not there.has_initials(run):
            return f"does not mention {strange[0]}"
    return ""


def in_another_language(words: str, evidence: Iterable[str]) -> bool:
    """Return whether none of the evidence is in the language of `words`, as far as both are known."""
    mine, theirs = sentence_language(words), _languages(tuple(evidence))
    return bool(mine) and "" not in theirs and mine not in theirs


@lru_cache(maxsize=256)
def _languages(texts: tuple[str, ...]) -> frozenset[str]:
    """Return the languages of some texts."""
    return frozenset(map(sentence_language, texts))


@lru_cache(maxsize=1 << 12)
def identifiers(text: str) -> tuple[str, ...]:
    """Return acronyms, names with a number or a sign in them, and names in camel case."""
    return tuple(dict.fromkeys(m[0] for m in _IDENTIFIER.finditer(text)))


def capitalized_names(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of each name in capitals; no single word at a sentence's start, and no single German noun."""
    in_german = reads_as_german(text)
    least = 2 if in_german else 1
    named = frozenset(identifiers(text))
    for sentence in sentences(text):
        run: list[str] = []
        for first, word, follows in _capitalized_words(sentence, in_german):
            if word and word not in named and (run or not first or follows):
                run.append(word)
            else:
                if len(run) >= least:
                    yield tuple(run)
                run = []
        if len(run) >= least:
            yield tuple(run)


def _capitalized_words(sentence: str, in_german: bool) -> Iterator[tuple[bool, str, bool]]:
    """Yield (whether it opens the sentence, the word if part of a name else "", whether a capital follows at once)."""
    found = list(_CAPITAL.finditer(sentence))
    for n, match in enumerate(found):
        word = match[0].replace("’", "'").removesuffix("'s").removesuffix("'")
        nearer = found[n + 1] if n + 1 < len(found) else None
        follows = bool(nearer and nearer[0][0].isupper() and sentence[match.end() : nearer.start()] == " ")
        follows = follows and nearer is not None and nearer[0].casefold() not in _DAYS_AND_MONTHS
        follows = follows and nearer is not None and not _IDENTIFIER.fullmatch(nearer[0])  # Query KV: a plain word
        if word.casefold() in _JOINS and not word[0].isupper():
            if nearer and nearer[0][0].isupper() and not in_german:
                continue  # House of Lords: what joins a name is no word of it
            yield n == 0, "", False
            continue
        proper = word[0].isupper() and word != "I" and not CJK.match(word)
        plain = word.casefold() in (_PLAIN_STARTS if n == 0 else _DAYS_AND_MONTHS)
        opens = n == 0 or sentence[: match.start()].rstrip().endswith((":", "“", '"', "„"))
        yield opens, word if proper and not plain else "", follows


class _Known:
    """The words of some texts, in all forms in which a name may be repeated."""

    def __init__(self, texts: Sequence[str]) -> None:
        joined = "\n".join(texts)
        self.folded = re.sub(r"[\s-]+", " ", joined.casefold().replace("’", "'"))
        self.squeezed = re.sub(r"[\W_]+", "", self.folded)
        self.stems = {t.stem for t in tokens(joined)} | {t.word for t in tokens(joined)}
        self.heads = {s[:4] for s in self.stems if len(s) >= 4}
        self.identifiers = {i.casefold().replace(".", "") for i in identifiers(joined)}
        said = [w for w in _CAPITAL.findall(joined.replace("-", " ")) if w.casefold() not in _JOINS]
        self.initials = " ".join(w[0] for w in said).casefold()
        self.pairs = {a[0] + b[0] for a, b in _word_pairs(joined)}
        self.formulas = frozenset(_FORMULA.findall(joined))
        self.spelled = {re.sub(r"[_^]", "", f).casefold() for f in self.formulas}

    @staticmethod
    @lru_cache(maxsize=256)
    def of(texts: Sequence[str]) -> _Known:
        """Return the forms of these texts; cached."""
        return _Known(texts)

    def has_identifier(self, name: str) -> bool:
        """Return whether the texts have an identifier, in some spelling or spelled out."""
        bare = name.casefold().replace(".", "")
        single = bare.removesuffix("s")
        if {bare, single, f"{single}s"} & self.identifiers or _KNOWN_SHORT.get(bare, "\0") in self.folded:
            return True
        there = self.folded.replace(" ", "-")
        if re.search(rf"(?<![^\W\d_]){re.escape(name.casefold())}(?![\w+#]|[-.]\d)", there):  # kHz in 20khz
            return True
        if re.search(rf"(?<!\w){re.escape(name.casefold().replace('-', ' '))}(?![\w+#]|[-.]\d)", self.folded):
            return True
        if re.sub(r"[_^]", "", bare) in self.spelled:
            return True
        if re.search(r"[_^]", bare) and re.sub(r"[\W_]+", "", bare) in self.squeezed:
            return True  # SS_X, where the text of a PDF has SSX
        if name.isalpha() and not name.isupper() and len(single) > 5 and single in self.squeezed:
            return True  # TensorProto and tensor proto
        letters = [c for c in single if c.isalpha()]
        if len(letters) != len(single):
            return False
        if len(single) == 2:  # KV and key-value: so short that only words that stand as a pair count
            return single in self.pairs and single not in _KNOWN_SHORT
        return len(letters) >= 3 and " ".join(letters) in self.initials

    def has_initials(self, run: Sequence[str]) -> bool:
        """Return whether the texts have the acronym of these words."""
        return len(run) > 1 and "".join(w[0] for w in run).casefold() in self.identifiers

    def has_word(self, word: str) -> bool:
        """Return whether the texts have the word or one that it is made from: Rome for Roman, not Kent for Kenya."""
        low = word.casefold()
        if low in self.stems or folded_stem(low) in self.stems or re.sub(r"[\W_]+", "", low) in self.squeezed:
            return True
        if low.endswith(_DERIVED) and len(low) > 4:
            return True  # for a check to say
        return len(low) >= 5 and any(
            h == low[:4] and _same_beginning(low, s) for s in self.stems if len(s) >= 4 and (h := s[:4]) in self.heads
        )


def _word_pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield content words that are a pair: side by side, or joined by "and", a comma or a hyphen."""
    row = [t for t in tokens(text) if t.word not in _JOINS]
    for a, b in itertools.pairwise(row):
        if a.content and b.content and _PAIRED.fullmatch(text, a.start + len(a.text), b.start):
            yield a.word, b.word


def _same_beginning(a: str, b: str) -> bool:
    """Return whether two words are alike but for their endings."""
    same = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        same += 1
    return same >= 4 and same >= min(len(a), len(b)) - 2
