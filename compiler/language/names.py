"""Names of concepts: which words can be one, when two are the same, and how one is written on a page."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from itertools import product

from compiler.language import lexicon
from compiler.language.lexicon import pattern

MAX_WORDS = 6
MAX_CHARS = 64
MAX_GIVEN = 100  # of a name that a user gives, brackets included

_CJK = r"\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af"
_HAS_CJK = re.compile(f"[{_CJK}]")
_CJK_NAME = re.compile(rf"[{_CJK}A-Za-z0-9\-–·+ ]{{2,24}}")
_ARTICLE = re.compile(r"(?:the|an?|der|die|das|den|dem|des|eine?|einer|einem|einen)\s+(?=\S)", re.IGNORECASE)
_TAIL_PARENS = re.compile(r"(?<=\S)\s*[(（][^()（）]*[)）]\s*$")
_GIVEN_SENSE = re.compile(r"\s*\(([^()]*)\)$")
_NUMBERING = pattern("names_numbering")
_DECORATION = re.compile(r"[\"'`´“”„‘’«»*「」『』《》\u200b]")
_DASH = re.compile(r"[-‐‑‒–—/_]+")
_NOT_KEY = re.compile(r"[^\w\s+#&]")
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[^\W_]+(?:['’.&+#-][^\W_]+)*[+#]{0,2}")
_BAD_CHAR = pattern("names_bad_char")
_CAMEL = re.compile(r"^[a-z]+[A-Z]\w*[a-z]\w*$|^[A-Z][a-z]+(?:[A-Z][a-z]+){2,}$")
_GREEK = re.compile(r"[\u0370-\u03ff\U0001d400-\U0001d7ff]")
_YEAR = re.compile(r"^(?:1[6-9]|20)\d\d[a-z]?$")
_NUMBERED = pattern("names_numbered")

_LABELLED = pattern("names_labelled")
# The ends of fixed phrases and adjectives that lack their noun: "a priori", "a long short-term".
_ENDS_OPEN = re.compile(r"^(?:priori|posteriori|facto|versa|vitro|vivo|situ)$|\s\S+-term$", re.IGNORECASE)


KEYS: dict[tuple[str, str], str] = {}  # of the names that were asked for, by name and language
RECALLED: dict[tuple[str, str], str] = {}  # as an earlier process found them


def key(name: str, language: str = "") -> str:
    """Return the form in which variants of one name are equal: case, articles, hyphens, plural and spelling are folded.

    "" for a name without a letter or digit. `language` other than English keeps endings as they are.
    """
    found = KEYS.get((name, language))
    if found is None:
        known = RECALLED.get((name, language))
        found = KEYS[name, language] = _key(name, language) if known is None else known
    return found


def _key(name: str, language: str) -> str:
    text = unicodedata.normalize("NFC", bare(name)).casefold()
    text = _DECORATION.sub("", text)
    text = _SPACE.sub(" ", _NOT_KEY.sub(" ", _DASH.sub(" ", text.replace(".", "")))).strip()
    if _HAS_CJK.search(text):
        return re.sub(rf"(?<=[{_CJK}]) (?=\S)|(?<=\S) (?=[{_CJK}])", "", text)
    if language not in ("", "en"):
        return text
    text = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
    parts = [lexicon.american(p) for p in text.replace("&", " and ").split()]
    return " ".join(_singular_heads(parts))


def _singular_heads(parts: list[str]) -> list[str]:
    """Return the words of a name with its head nouns in the singular."""
    heads = {len(parts) - 1} | {i - 1 for i, p in enumerate(parts) if p in lexicon.NAME_PREPOSITIONS and i}
    return [lexicon.singular(p) if i in heads else p for i, p in enumerate(parts)]


def bare(name: str) -> str:
    """Return `name` without numbering, article, quotes, closing brackets and end punctuation."""
    return _stripped(_TAIL_PARENS.sub("", bare_but_brackets(name)))


def bare_but_brackets(name: str) -> str:
    """Return `name` without numbering and superfluous blanks."""
    return _NUMBERING.sub("", _SPACE.sub(" ", name).strip())


def _stripped(text: str) -> str:
    """Return `text` without punctuation, articles and a possessive at its ends."""
    text = text.strip(" \t\"'`´“”„‘’«»*_「」『』《》.,;:!?。，：；、").strip()
    text = re.sub(r"['’]s?$", "", text) if not text.isupper() else text
    while match := _ARTICLE.match(text):
        text = text[match.end() :]
    return text


def is_name(name: str, language: str = "") -> bool:
    """Return whether these words could name a concept: a noun phrase, no sentence, label, code or person."""
    text = bare(name)
    if not text or len(text) > MAX_CHARS or _BAD_CHAR.search(text) or _GREEK.search(text):
        return False
    if _HAS_CJK.search(text):
        return bool(_CJK_NAME.fullmatch(text)) and not lexicon.CHINESE_NOT_NAME.search(text)
    if _NUMBERED.match(text) or _LABELLED.match(text) or _ENDS_OPEN.search(text) or _CAMEL.match(text):
        return False
    parts = _WORD.findall(text)
    if not parts or len(parts) > MAX_WORDS or any(_YEAR.match(p) for p in parts):
        return False
    lowered = [p.casefold() for p in parts]
    if sum(len(p) for p in parts) < 2 or parts[0][0].isdigit() or not any(len(p) > 1 for p in parts):
        return False
    if language == "de":
        return _is_german_name(parts, lowered)
    return _is_english_name(parts, lowered)


def could_name(name: str) -> bool:
    """Return whether these words can be the name of a concept for a reader who has understood the text.

    Only the form counts: "key" or "Julia" may be what is taught, which rules that only count words can't know.
    """
    text = bare(name)
    if not text or len(text) > MAX_CHARS or _BAD_CHAR.search(text) or not re.search(r"[^\W\d_]", text):
        return False
    return bool(_HAS_CJK.search(text)) or len(text.split()) <= MAX_WORDS


def unfit(name: str) -> str:
    """Return why a user cannot give a concept this name; "" if they can.

    It becomes a title, a link and the name of a file, and documents must be able to call it so.
    """
    if len(name) > MAX_GIVEN:
        return f"a name can have at most {MAX_GIVEN} characters"
    inner = _GIVEN_SENSE.search(name)
    parts = [name[: inner.start()], inner[1]] if inner else [name]
    for part in parts:
        if not key(part):
            return "a name needs a letter or digit"
        if found := _BAD_CHAR.search(part.strip()):
            return f"{found[0].strip() or 'a full stop'!r} is not allowed in a name"
    return ""


def _is_german_name(parts: list[str], lowered: list[str]) -> bool:
    """Return whether German words could name a concept."""
    if not parts[-1][0].isupper() and len(parts) > 1:
        return False
    if len(parts) == 1 and lowered[0] in lexicon.GERMAN_GENERIC:
        return False
    return not any(w in lexicon.GERMAN_NOT_NAME for w in lowered)


def _is_english_name(parts: list[str], lowered: list[str]) -> bool:
    """Return whether English words could name a concept."""
    first, last = lowered[0], lowered[-1]
    if first in lexicon.NO_NAME_STARTS or last in lexicon.NO_NAME_ENDS or " ".join(lowered) in lexicon.GENERIC_PHRASES:
        return False
    if any(w in lexicon.NO_NAME_HOLDS for w in lowered) or lowered.count("of") > 1:
        return False
    inner = lowered[1:-1]
    if not (lexicon.DETERMINERS | lexicon.LOOSE_PREPOSITIONS).isdisjoint(inner):
        return False
    if "to" in inner and len(lowered) != 3:
        return False
    owned = lexicon.singular(lowered[lowered.index("of") - 1]) if "of" in lowered[1:] else ""
    if owned in lexicon.GENERIC | lexicon.TRANSPARENT:
        return " ".join(lowered) in lexicon.OF_NAMES
    is_symbol = re.fullmatch(r"[a-z]{1,2}\d?", parts[-1]) and parts[-1] not in ("to", "up", "in", "of", "on")
    if len(lowered) > 1 and is_symbol:
        return False
    if first in lexicon.PASSING and lexicon.singular(last) in lexicon.GENERIC and len(parts) == 2:
        return False
    if len(lowered) > 1 and lexicon.singular(first) in lexicon.TRANSPARENT and lowered[1] in lexicon.NAME_PREPOSITIONS:
        return False
    if all(_is_empty(w) for w in lowered) and (len(lowered) == 1 or lexicon.singular(last) in lexicon.WEAK_HEADS):
        return False
    if len(parts) == 1:
        return _is_single_name(parts[0], first)
    if first in lexicon.GIVEN_NAMES and parts[0][0].isupper():
        return False
    if "use" in inner or (len(parts) > 2 and all(p.isupper() for p in parts)):
        return False
    if first in lexicon.GENERIC_ADJECTIVES and all(lexicon.singular(w) in lexicon.GENERIC for w in lowered[1:]):
        return False
    if len(last) == 1 and not last.isdigit() and not parts[-1].isupper():
        return False
    if lexicon.singular(last) in lexicon.EMPTY_HEADS:
        return False
    # "Registering the cache buffers" tells what is done; "learning rate" names something.
    return not (first.endswith("ing") and lowered[1] in lexicon.DETERMINERS)


def _is_empty(word: str) -> bool:
    """Return whether a word names nothing by itself."""
    return (
        lexicon.singular(word) in lexicon.GENERIC
        or len(word) == 1
        or word.isdigit()
        or word in lexicon.NAME_PREPOSITIONS
    )


def _is_single_name(part: str, lowered: str) -> bool:
    """Return whether one English word could name a concept."""
    if len(part) < 2 or lowered in lexicon.NOT_ALONE or (lowered in lexicon.GIVEN_NAMES and part[0].isupper()):
        return False
    if part.isupper() or any(c.isupper() for c in part[1:]):
        return len(part) > 1
    return len(part) > 2 and not lexicon.looks_adjective(lowered)


_PAIR = re.compile(r"\(([^()]{2,60})\)")
_SHORT = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-/&.]?[A-Za-z0-9]+)*s?\.?")


def acronym_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Return (short, long) for every "long form (LF)" and "LF (long form)" in `text`, in order, without repeats.

    After Schwartz & Hearst 2003, but every letter of the short form must begin a word or follow one that does,
    and the first letter must begin the long form, so that "memory management unit (MMU)" keeps its first word.
    """
    found: dict[tuple[str, str], None] = {}
    for match in _PAIR.finditer(text):
        inside, before = match[1].strip(), text[max(0, match.start() - 120) : match.start()].rstrip()
        if pair := _pair_of(inside, before):
            found.setdefault(pair)
    return tuple(found)


def _pair_of(inside: str, before: str) -> tuple[str, str] | None:
    """Return (short, long) of a bracket and the words before it; None if neither abbreviates the other."""
    candidate = re.split(r"[,;]", inside)[0].strip().strip("\"'“”‘’")
    if is_acronym(candidate):
        short = candidate.rstrip(".")
        short = short[:-1] if short.endswith("s") and short[:-1].isupper() else short
        tail = re.split(r"[.;:,!?()\[\]\"“”]\s*(?=\S)", before)[-1].strip("\"'“”‘’ ")
        long = _long_form(short, tail.split())
        return (short, long) if long else None
    previous = before.split()[-1] if before.split() else ""
    if is_acronym(previous):
        short = previous[:-1] if previous.endswith("s") and previous[:-1].isupper() else previous
        long = _long_form(short, candidate.split())
        if long and len(long.split()) == len(candidate.split()):
            return short, long
    return None


_FUNCTION_WORDS = lexicon.DETERMINERS | lexicon.NAME_PREPOSITIONS | {"and", "or"}


def is_acronym(text: str) -> bool:
    """Return whether `text` looks like one: 2-10 characters, no blank, mostly capitals ("NLP", "LSTMs", "GPT-2")."""
    if not 2 <= len(text) <= 10 or not _SHORT.fullmatch(text) or text.casefold() in lexicon.NOT_ACRONYMS:
        return False
    letters = [c for c in text.rstrip("s.") if c.isalpha()]
    return len(letters) >= 2 and sum(c.isupper() for c in letters) * 2 > len(letters)


def _long_form(short: str, before: list[str]) -> str:
    """Return the shortest run of last words whose initials or letters spell `short`; "" if there is none."""
    letters = [c.casefold() for c in short if c.isalpha()]
    limit = min(len(letters) + 5, len(letters) * 2, len(before))
    for inner, size in product((False, True), range(1, limit + 1)):
        run = before[-size:]
        first = run[0].lstrip("\"'“‘*_").casefold()
        if not first.startswith(letters[0]) or first in lexicon.DETERMINERS or first in lexicon.NAME_PREPOSITIONS:
            continue
        if _spells(letters, [p for w in run for p in re.split(r"[-–/]", w.casefold()) if p], inner):
            long = " ".join(run).strip("\"'“”‘’*_ ")
            is_phrase = len(long.split()) > 1 or "-" in long
            return long if is_phrase and long.casefold() != short.casefold() and len(long) > len(short) else ""
    return ""


def _spells(letters: list[str], parts: list[str], inner: bool) -> bool:
    """Return whether `letters` can be read off `parts` in order: of each word the initial and, if `inner`, more.

    Function words may be skipped; any other word must give its initial.
    """
    positions = {0}  # how many letters may have been read so far
    for part in parts:
        following = set(positions) if part in _FUNCTION_WORDS else set()
        for at in positions:
            if at < len(letters) and part.startswith(letters[at]):
                following |= _reachable(letters, at, part) if inner else {at + 1}
        positions = following
    return len(letters) in positions


def _reachable(letters: list[str], at: int, part: str) -> set[int]:
    """Return how many letters can have been read after one word, which gives its initial and any letters after it."""
    reached, place = {at + 1}, 1
    for taken in range(at + 1, len(letters)):
        found = part.find(letters[taken], place)
        if found < 0:
            break
        place = found + 1
        reached.add(taken + 1)
    return reached


def title(variants: Iterable[str], language: str = "") -> str:
    """Return the one way to write a name: the commonest variant in sentence case, singular if any is.

    German keeps its capitals; an acronym wins only where it is used far more than its words.
    """
    counted = Counter(bare(v) for v in variants if bare(v))
    if not counted:
        return ""
    lowered = {p for v in counted for p in _PIECES.split(v) if p.islower()}
    shown = Counter[str]()
    for variant, n in counted.items():
        keeps = language == "de" or re.search("[äöüÄÖÜß]", variant)
        shown[variant[0].upper() + variant[1:] if keeps else _sentence_case(variant, lowered)] += n
    longest = max((n for v, n in shown.items() if not is_acronym(v)), default=0)
    short = {v for v, n in shown.items() if is_acronym(v) and (n > 2 * longest or not longest)}
    if short:
        return min(short, key=lambda v: (-shown[v], v))
    singular = {v for v in shown if key(v, language) == _SPACE.sub(" ", _DASH.sub(" ", v)).casefold()}
    pool = singular or set(shown)
    return min(pool, key=lambda v: (is_acronym(v), -shown[v], -v.count("-"), v))


_PIECES = re.compile(r"[ \-]")


def _sentence_case(variant: str, lowered: set[str]) -> str:
    """Return the variant in sentence case; a word keeps a capital of its own ("KV cache", "Hidden Markov model").

    A capital is a title's, not the word's own, if the whole variant has them or another variant has none there.
    """
    is_title = all(p[0].isupper() or not p[0].isalpha() or p in _FUNCTION_WORDS for p in variant.split())
    out = []
    for i, word in enumerate(variant.split(" ")):
        pieces = word.split("-")
        for j, piece in enumerate(pieces):
            if i == j == 0:
                pieces[0] = piece if any(c.isupper() for c in piece) else piece[:1].upper() + piece[1:]
            elif piece.istitle() and piece not in lexicon.PROPER and (is_title or piece.casefold() in lowered):
                pieces[j] = piece.casefold()
        out.append("-".join(pieces))
    return " ".join(out)
