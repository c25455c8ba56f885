"""Names that a segment borrows: what it cites, links to, or lists as known, without having to explain it.

Such a name never becomes an article by being borrowed; it says what a reader may have to read up elsewhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from compiler.engines.extractive.grammar.commonplace import is_common
from compiler.engines.extractive.grammar.tagger import Token, tokens
from compiler.language import lexicon, names
from compiler.model.requests import ExtractRequest, Span, Term

_FURNITURE = re.compile(
    r"^(?:[\dA-Z][\d.]*\s+)?(?:references?|bibliography|works cited|literature(?: cited)?|literatur(?:verzeichnis)?|"
    r"quellen(?:verzeichnis)?|acknowledge?ments?|danksagung|about the authors?|authors?|contributors?|licen[sc]e|"
    r"citation|citing|credits?|(?:table of )?contents|index|author contributions?|funding|installation|"
    r"参考文献|致谢|目录)\W*$",
    re.IGNORECASE,
)
_SKIPPED = frozenset({"title", "code", "math", "question"})
_GONE = "\0"  # stands for what is skipped; no name holds it
_YEAR = r"(?:1[89]|20)\d\d[a-z]?"
_CITES = re.compile(
    rf"\s?\((?:(?:see(?: also)?|e\.g\.|cf\.),? )?[A-ZÀ-Þ][^()]{{1,300}}?{_YEAR}[^()]{{0,300}}\)"
    r"|\s?\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,9}\](?!\()"
    r"|\s?\[[^\[\]@]{0,40}@[^\[\]]{2,200}\]"
    rf"|\s(?=[A-ZÀ-Þ][\w’'-]+(?:, [A-ZÀ-Þ][\w’'-]+)*,? et al\.?,? \(?{_YEAR}\b)"
)
_CUT = re.compile(r"[.;:!?。；：]\s|\n\n|[,(\[)\]“”\"|，、（）\0]|\s[–—-]\s")  # no name goes on beyond it
_SHORT_TAIL = re.compile(r"\s?\(([A-Za-z][\w/&.-]{1,11})\)$")
_LIST = re.compile(
    r"(?:\bsuch as|\be\.g\.,?|\bincluding|\blike|\bz\. ?B\.|\bwie etwa)\s+(?=[A-Z])(?P<items>[^.;:!?\n\0]{5,400})"
)
_LISTED = re.compile(r",\s*(?:and|or|und|oder)\s+|,\s*|\s+(?:and|or|und|oder)\s+|\s/\s")
_BRACKETS = re.compile(r"\s?[(\[][^()\[\]]*[)\]]")
_SAID_WITH = (  # "the Needle in a Haystack benchmark": the word after it says that it is a name
    "benchmark|dataset|data set|corpus|treebank|leaderboard|library|framework|package|toolkit|algorithm|optimizer|"
    "kernel|estimator|divergence|distance|distribution|inequality|theorem|law|equation|test|loss|criterion|"
    "initialization|normalization|regularization|sampling|process|system|effect|machine|network|transform"
)
_CAPITALS = re.compile(
    rf"(?<![.!?:;•|\n\0] )(?<![\w\n\0(.-])(?P<name>[A-ZÀ-Þ][^\W\d_]+(?:[-–][A-ZÀ-Þ][^\W\d_]+)*"
    rf"(?: (?:(?:in|of) (?:(?:a|the) )?)?[A-ZÀ-Þ][^\W\d_]+){{0,3}}) (?P<kind>{_SAID_WITH})s?\b"
)
_FOLDED_KIND = frozenset(
    "benchmark dataset corpus leaderboard library framework package toolkit algorithm system".split()
)
_MARKED = re.compile(r"(?<![\w@#./:\\-])(?=[^\W\d_]*[A-ZÀ-Þ])[^\W_]{2,24}(?:-[^\W_]{1,12}){0,2}(?![\w@(/]|\.\w|://)")
_INNER = frozenset("of in a the and for on with to".split())
_TAILS = frozenset(  # what a thing is, said after its name: "the Adam algorithm"
    "paper architecture benchmark algorithm framework library package variant dataset corpus series toolkit system "
    "technique strategy method approach tool project database software program website platform suite family "
    "announcement notebook repo repository code demo video post blog docs documentation page tutorial talk "
    "implementation model predecessor".split()
)
_KINDS = _TAILS | frozenset("layer mechanism function task".split())
_SURNAME = re.compile(r"(?:Mc|Mac|La|O['’])[A-Z][a-z]+$")
_LOOSE = frozenset("so-called widely various numerous other many such several".split())
_NO_SUBJECT = frozenset(
    "acl acm aaai arxiv cvpr deepmind emnlp facebook gmbh google harvard iclr icml ieee ijcai inc kaggle linkedin ltd "
    "meta microsoft mit naacl neurips nips nvidia openai oxford cambridge press princeton stanford twitter university "
    "wikipedia yale youtube conference department institute journal lab laboratory proceedings team workshop "
    "et figure table section chapter appendix equation algorithm author authors readme faq news".split()
)
_PLACES = frozenset(
    "africa african america american arabic argentina asia asian australia australian austria austrian basque belgium "
    "berlin boston brazil brazilian britain british california canada canadian catalan china chinese croatian czech "
    "danish denmark dutch egypt english estonian europe european finland finnish france french german germany greece "
    "greek hebrew hindi hungarian iceland india indian indonesia iran iraq ireland irish israel italian italy japan "
    "japanese korea korean latin latvian lithuanian london mexico nigeria norway norwegian paris persian poland polish "
    "portugal portuguese romania romanian russia russian scotland serbian singapore slavic slovak spain spanish "
    "swahili sweden swedish swiss switzerland taiwan thai thailand tokyo turkey turkish ukraine ukrainian urdu vietnam "
    "vietnamese york".split()
)
_TECHNICAL = re.compile(r"(?:ization|isation|ation|ition|ction|ision|ism|ering|ning|ling|ding|ping|sis|ference)$")
_PLAIN_HEADS = frozenset(
    "distribution operation representation annotation reservation relation information situation section question "
    "attention application combination direction function connection condition computation implementation notation "
    "introduction publication communication explanation education generation population meaning beginning setting "
    "decision "
    "finding training decision reasoning understanding analysis evaluation contribution reading hearing"
    .split()
)  # fmt: skip
MAX_BEFORE = 120  # characters before a citation that may be the name
ENOUGH_IN_SEGMENT = 2


def borrowed_terms(request: ExtractRequest) -> Iterator[Term]:
    """The names that the segment borrows, once each; "cited" where one place is enough to ask what it is.

    A name that is only "named" is worth asking for where it is named again elsewhere; one that the segment names
    several times stands here as often, up to `ENOUGH_IN_SEGMENT`.
    """
    if any(_FURNITURE.match(h.strip()) for h in request.headings):
        return
    text = _prose(request)
    strong = dict.fromkeys(n for n in (*_cited(text, request), *_linked(request)) if _may_be_asked(n, request.language))
    for name in strong:
        yield Term(name=name, signal="cited")
    weak = Counter(n for n in _named(text, request) if n not in strong and _may_be_asked(n, request.language))
    for name, times in weak.items():
        yield from [Term(name=name, signal="named")] * min(times, ENOUGH_IN_SEGMENT)


def is_marked(word: str) -> bool:
    """Whether a word is a name by its letters alone: "RetNet", "FP8", "GPT-2"; not "Mamba", nor "Multi-Head"."""
    return any(_is_marked_piece(piece) for piece in word.split("-"))


def _is_marked_piece(piece: str) -> bool:
    capitals = sum(c.isupper() for c in piece)
    return capitals > 1 or (capitals == 1 and len(piece) > 2 and any(c.isdigit() for c in piece))


def _prose(request: ExtractRequest) -> str:
    """The segment's text, as long as it is, less headings, code and formulas."""
    text = request.text
    for mark in request.marks:
        if mark.kind in _SKIPPED and mark.end > mark.start:
            text = text[: mark.start] + _GONE * (mark.end - mark.start) + text[mark.end :]
    return text


def _may_be_asked(name: str, language: str) -> bool:
    """Whether the name could be one to read up: no organisation, place or person, nothing generic."""
    parts = [p for p in re.split(r"[\s-]+", name) if p]
    lowered = [p.casefold().removesuffix("'s").removesuffix("’s") for p in parts]
    if not parts or not names.is_name(name, language) or any(p in _NO_SUBJECT for p in lowered):
        return False
    if lowered[0] in _PLACES or (len(parts) == 1 and lowered[0] in _TAILS) or _SURNAME.match(name):
        return False
    if re.search(r"\.\w{1,4}$", name) or (len(parts) > 1 and name.isupper() and "-" not in name):
        return False
    plain = [p.istitle() and not is_common(low) for p, low in zip(parts, lowered, strict=True)]
    return len(parts) == 1 or not all(plain) or "-" in name  # "Ada Lovelace" is somebody


def _cited(text: str, request: ExtractRequest) -> Iterator[str]:
    """The name right before each place where works are cited."""
    places = [m.start() for m in _CITES.finditer(text)]
    places += [m.end for m in request.marks if m.kind == "citation"]
    for at in sorted(places):
        before = text[max(0, at - MAX_BEFORE) : at].rstrip(" *_")
        if name := _name_before(before, request.language):
            yield name


def _name_before(before: str, language: str) -> str:
    """The name with which the words end; "" if they end with none."""
    tail = _SHORT_TAIL.search(before)
    if tail and (pairs := names.acronym_pairs(before[-MAX_BEFORE:])):
        return pairs[-1][1] if pairs[-1][0] in tail[1] or tail[1] in pairs[-1][1] else ""
    cut = max((m.end() for m in _CUT.finditer(before)), default=0)
    if cut and before[cut - 1] == _GONE:
        return ""  # "$n$-gram models"
    words_ = before[cut:]
    found = tokens(words_)
    if not found:
        return ""
    begins = cut == 0 or before[cut - 1].isspace()  # a capital there may be a sentence's
    end = len(found)
    while end > 1 and lexicon.singular(found[end - 1].low) in _TAILS:
        end -= 1
    start = _capitals(found, end, begins)
    if start is None and language in ("", "en"):
        start = _noun_phrase(found, end)
    if start is not None and language == "de" and not is_marked(found[start].text):
        start = end - 1  # there every noun has a capital
    return names.bare(words_[found[start].start : found[end - 1].end]) if start is not None else ""


def _capitals(found: tuple[Token, ...], end: int, begins: bool) -> int | None:
    """Where the run of capitalised words begins that ends before `end`; None if there is none to go by."""
    if not _is_capital(found[end - 1]):
        last = lexicon.singular(found[end - 1].low)
        if end < 2 or not (
            _is_capital(found[end - 2]) and found[end - 1].tag == "NOUN" and last not in lexicon.GENERIC
        ):
            return _capitals(found, end - 1, begins) if end > 1 and last in _KINDS else None
        if end == 2 and begins and not is_marked(found[0].text) and is_common(found[0].low):
            return None
    start = end - 1
    while start > 0 and (_is_capital(found[start - 1]) or _is_inner(found, start - 1)):
        start -= 1
    first = found[start]
    while start < end - 1 and (first.low in _INNER or _is_opener(first, start == 0)):
        start += 1
        first = found[start]
    lone = start == end - 1 and not is_marked(first.text)
    if lone and ((start == 0 and begins) or (is_common(first.low) and start == 0) or _is_author(found, start)):
        return None
    return start


def _is_capital(token: Token) -> bool:
    return token.text[:1].isupper() or is_marked(token.text)


def _is_inner(found: tuple[Token, ...], at: int) -> bool:
    """Whether a small word stands inside a name in capitals: "Needle in a Haystack"."""
    if found[at].low not in _INNER or found[at].low in ("and", "to"):
        return False
    back = at - 1
    while back > 0 and found[back].low in ("a", "the"):
        back -= 1
    return back >= 0 and found[at].text.islower() and _is_capital(found[back])


def _is_opener(token: Token, first: bool) -> bool:
    return first and token.tag in ("DET", "PREP", "SUB", "ADV", "POSS", "PRON", "WH", "CC", "VBG", "NUM")


def _is_author(found: tuple[Token, ...], at: int) -> bool:
    """Whether a capitalised word follows "&", "and" or "by" as an author's name does: "Zaremba & Sutskever"."""
    return at > 0 and (found[at - 1].low in ("&", "by") or (found[at - 1].low == "and" and _is_capital(found[at - 2])))


def _noun_phrase(found: tuple[Token, ...], end: int) -> int | None:
    """Where the noun phrase of two or three words begins whose head names a method: "position interpolation"."""
    head = found[end - 1]
    last = lexicon.singular(head.low)
    if head.tag not in ("NOUN", "VBG") or last in _PLAIN_HEADS or last in lexicon.GENERIC:
        return None
    start = end - 1
    while start > 0 and found[start - 1].tag in ("NOUN", "ADJ"):
        start -= 1
    while start < end and (found[start].low in lexicon.GENERIC_ADJECTIVES | lexicon.PASSING | _LOOSE):
        start += 1
    long_enough = 2 <= end - start <= 3
    return start if long_enough and (_TECHNICAL.search(last) or last in ("network", "attention")) else None


def _linked(request: ExtractRequest) -> Iterator[str]:
    """Link texts that are names and lead out of the document; a link to a note by its name asks for that note."""
    for mark in request.marks:
        if mark.kind != "link" or not mark.leads:
            continue
        text = request.text[mark.start : mark.end]
        name = names.bare(text) if mark.leads == "note" else "" if text.endswith(("'s", "’s")) else _of_link(text)
        if name:
            yield name


def _of_link(text: str) -> str:
    """The name that a link's words give: "Llama" for "Meta's Llama Series"; "" if they give none."""
    parts = re.split(r"['’]s\s+", names.bare(text))[-1].split()
    while len(parts) > 1 and lexicon.singular(parts[-1].casefold()) in _TAILS:
        parts.pop()
    while len(parts) > 1 and parts[0].casefold() in lexicon.NO_NAME_STARTS | lexicon.GENERIC_ADJECTIVES:
        parts.pop(0)
    if len(parts) > 2 and is_marked(parts[-1]) and not any(is_marked(p) for p in parts[:-1]):
        parts = parts[-1:]  # "Hugging Face SmolLM"
    marked = any(is_marked(p) for p in parts)
    short = len(parts) <= 2 and parts[0][:1].isupper() and not is_common(parts[0].casefold())
    name = " ".join(parts)
    return name if len(name) > 2 and len(parts) <= 3 and (marked or short) else ""


def _named(text: str, request: ExtractRequest) -> Iterator[str]:
    """Names by their letters, names in a list of such, and emphasised terms of several words."""
    for match in _MARKED.finditer(text):
        if is_marked(match[0]) and not _is_shouted(match, text):
            yield _singular_mark(match[0])
    for match in _CAPITALS.finditer(text):
        first = match["name"].split()[0].casefold()
        if first not in lexicon.NOT_ALONE and (" " in match["name"] or not is_common(first.split("-")[0])):
            kind = lexicon.singular(match["kind"])
            yield match["name"] if kind in _FOLDED_KIND else f"{match['name']} {kind}"
    for match in _LIST.finditer(text):
        yield from _listed(match["items"])
    for mark in request.marks:
        if mark.kind == "emphasis" and _is_term(words_ := names.bare(request.text[mark.start : mark.end]), mark):
            yield words_


def _is_shouted(match: re.Match[str], text: str) -> bool:
    """Whether the capitals are those of an ordinary word, or of a whole line."""
    word = match[0]
    if not word.isupper() or any(c.isdigit() for c in word):
        return False
    around = text[max(0, match.start() - 20) : match.end() + 20].replace(word, "").split()
    return is_common(word.casefold()) or sum(w.isupper() and len(w) > 2 for w in around) > 1


def _singular_mark(word: str) -> str:
    """ "LSTM" for "LSTMs"."""
    return word[:-1] if word.endswith("s") and word[:-1].isupper() and len(word) > 3 else word


def _listed(items: str) -> Iterator[str]:
    """The items of "such as A, B and C", if most are capitalised names."""
    parts = [names.bare(p) for p in _LISTED.split(_BRACKETS.sub("", items))]
    found = [p for p in parts if p and len(p.split()) <= 4 and all(w[:1].isupper() or w in _INNER for w in p.split())]
    if len(found) >= 2 and len(found) * 3 >= len(parts) * 2:
        yield from found


def _is_term(words_: str, mark: Span) -> bool:
    parts = words_.split()
    return 2 <= len(parts) <= 4 and words_.islower() and mark.end - mark.start <= names.MAX_CHARS
