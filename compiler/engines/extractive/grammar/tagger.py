"""Words of a sentence with the part each plays, as far as closed lists, endings and neighbours tell."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from compiler.engines.extractive.grammar import verbs
from compiler.language import lexicon


@dataclass(frozen=True, slots=True)
class Token:
    """`text[start:end]` of the sentence; `tag` is one of the names in `TAGS`."""

    text: str
    start: int
    end: int
    tag: str

    @property
    def low(self) -> str:
        return self.text.casefold()


# BEN is "be", "been" or "being"; INF a base form after "to", a modal or "do"; VB one that stands with a plural subject.
TAGS = (
    "DET PRON POSS PREP CC SUB WH BE HAVE DO MODAL NOT TO ADV ADJ NOUN NUM BEN VB VBZ VBD "
    "VBN VBG INF OPEN CLOSE COMMA STOP"
).split()

_TOKEN = re.compile(
    r"\$(?![\s\d$])[^$\n]{1,90}(?<!\s)\$(?!\d)|(?:e\.g\.|i\.e\.|et al\.|etc\.|cf\.|vs\.|[A-Z]\.(?=[A-Z]\.|\s[A-Z]))"
    r"|\d+(?:[.,]\d+)*(?:st|nd|rd|th|%|[a-zA-Z]+)?(?:-[^\W_]+)*"
    r"|[^\W\d_]+(?:['’](?:s|t|re|ve|ll|d|m)\b)?(?:(?:--|[-‐‑–/&.+'’])[^\W_]+)*[+#]{0,2}|--+|[,;:.!?()\[\]{}\"“”„«»–—]|\S"
)

CLOSED: dict[str, str] = {}
for _tag, _words in {
    "DET": "the a an each every either neither some any no all both many much most few several another such what "
    "which whose this that these those more fewer less enough certain various",
    "PRON": "i you he she it we they me him us them itself themselves himself herself ourselves oneself one ones "
    "something anything everything nothing someone anyone everyone nobody none others",
    "POSS": "my your his her its our their",
    "PREP": "of in on at by for with from into onto over under between among through throughout within without against "
    "across along around behind beside beyond during except inside near outside per toward towards upon via "
    "about above below unlike like as despite including regarding concerning rather beneath amid amongst alongside "
    "given",
    "CC": "and or but nor yet plus &",
    "SUB": "because since while whereas although though if unless until when whenever where wherever once after before "
    "than so whether lest",
    "WH": "who whom why how whatever whichever whoever",
    "BE": "is are was were am 's isn't aren't wasn't weren't",
    "BEN": "be been being",
    "HAVE": "has have had having",
    "DO": "does do did",
    "MODAL": "can could may might must shall should will would cannot can't won't couldn't shouldn't wouldn't",
    "NOT": "not n't never",
    "TO": "to",
    "ADV": "also only just even still often usually typically generally commonly always sometimes frequently rarely "
    "seldom hardly barely very quite too almost nearly already again soon then thus hence therefore however "
    "moreover furthermore nevertheless nonetheless instead meanwhile otherwise consequently accordingly likewise "
    "indeed perhaps maybe away together apart here there now later earlier further ahead back forth everywhere "
    "altogether somewhat rather well far once twice ever yet elsewhere thereby therein instead besides first "
    "second third finally next last up down out off much little alone else merely simply",
    "NUM": "two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty seventy "
    "eighty ninety hundred thousand million billion dozen",
    "ADJ": "good better best bad worse worst new old big small large long short high low early late fast slow easy "
    "hard different similar same main major minor other own important useful able unable likely unlikely possible "
    "impossible necessary sufficient common rare single whole entire full empty free true false simple complex "
    "deep wide strong weak great less clear main final prior next last first second third previous following "
    "higher lower larger smaller longer shorter faster slower greater fewer deeper easier harder stronger weaker "
    "closer later earlier bigger wider narrower cheaper richer poorer better safer simpler rich poor safe cheap "
    "sparse dense soft random open close raw online offline human modern due subject akin worth prone "
    "quick ready familiar certain sure slow steep robust vague popular clever precise exact accurate correct wrong "
    "bare scarce "
    "positive negative mere aware alike alone awake dead afraid quiet loud sharp smooth rough tight loose thin "
    "thick flat",
}.items():
    for _word in _words.split():
        CLOSED.setdefault(_word, _tag)
CLOSED["rather"] = "ADV"
CLOSED["once"] = "SUB"

_ADJECTIVE_END = re.compile(r"(?:ous|able|ible|less|ful|ical|ive|ial|ual|nal|ral|tal|cal|bal|mal|ary|ic|ish|lar)$")
_NOUN_END = re.compile(r"(?:tion|sion|ment|ness|ity|ism|ance|ence|ship|hood|ology|graphy|ture|acy|ist|eer|logy|dom)s?$")
_NOUNS = frozenset(
    "objective derivative perspective alternative narrative initiative motive relative representative signal "
    "interval retrieval proposal goal material trial tutorial potential logic heuristic metric topic music "
    "traffic arithmetic statistic characteristic vocabulary dictionary library summary boundary glossary variable "
    "table cable syllable seed feed speed need bed embedding embeddings learning training meaning setting finding "
    "understanding thing things string strings reading readings hearing beginning building buildings king ring "
    "spring rehearsal recall total adjective individual principal general original capital proposal arrival "
    "removal approval grammar scalar nonterminal terminal constant hundred kindred animal article particle "
    "example people children men women data criteria phenomena schema".split()
)
_ALSO_ADJECTIVES = frozenset(
    "complete open clear direct separate correct exact mean secure narrow smooth free empty dry warm cool calm slow "
    "abstract moderate elaborate appropriate alternate approximate duplicate subject perfect present elicit".split()
)
_OPENERS = {"(": "OPEN", "[": "OPEN", "{": "OPEN", ")": "CLOSE", "]": "CLOSE", "}": "CLOSE", ",": "COMMA"}
_BEFORE_NOUN = {"DET", "POSS", "ADJ", "NUM"}


@lru_cache(maxsize=256)  # several rules look at one sentence, one after the other
def tokens(sentence: str) -> tuple[Token, ...]:
    """The tagged words and marks of one sentence."""
    found = [(m[0], m.start(), m.end()) for m in _TOKEN.finditer(sentence)]
    lows = [t[0].casefold().replace("’", "'") for t in found]
    tags = [_first_guess(low, text) for low, (text, _, _) in zip(lows, found, strict=True)]
    for i, low in enumerate(lows):
        tags[i] = _in_context(i, low, lows, tags)
    return tuple(Token(text, start, end, tag) for (text, start, end), tag in zip(found, tags, strict=True))


def _first_guess(low: str, text: str) -> str:
    if tag := CLOSED.get(low):
        return tag
    if tag := _OPENERS.get(low):
        return tag
    if low[0] == "$" and len(low) > 2:
        return "NOUN"  # a formula
    if not low[0].isalnum():
        return "STOP"
    if low[0].isdigit():
        return "NUM"
    if readings := verbs.forms(low):
        return ("A:" if verbs.may_be_noun(readings[0].lemma) else "V:") + readings[0].tag
    if "-" in low and (head := low.rsplit("-", 1)[-1]) and (readings := verbs.forms(head)):
        if readings[0].tag in ("VBN", "VBD"):
            return "ADJ"
        if readings[0].tag == "VBG":
            return "VBG"
    if text[0].isupper() and any(c.isupper() for c in text[1:]):
        return "NOUN"
    if low in lexicon.ADJECTIVES:
        return "ADJ"
    if low in _NOUNS or _NOUN_END.search(low):
        return "NOUN"
    if low.endswith("ly") and len(low) > 4:
        return "ADV"
    if _ADJECTIVE_END.search(low):
        return "ADJ"
    if low.endswith("ing") and len(low) > 5:
        return "VBG"
    if low.endswith("ed") and len(low) > 4:
        return "VBN"
    return "NOUN"


def _neighbour(tags: list[str], i: int, step: int, skip: tuple[str, ...] = ("ADV",)) -> str:
    """The tag of the next word on that side, adverbs and, to the left, brackets left out."""
    at = _neighbour_at(tags, i, step, skip)
    return tags[at] if 0 <= at < len(tags) else ""


def _neighbour_at(tags: list[str], i: int, step: int, skip: tuple[str, ...] = ("ADV",)) -> int:
    i += step
    while 0 <= i < len(tags):
        if step < 0 and tags[i] == "CLOSE" and "OPEN" in tags[:i]:
            i = max(j for j in range(i) if tags[j] == "OPEN") - 1
        elif tags[i] in skip:
            i += step
        else:
            break
    return i


def _in_context(i: int, low: str, lows: list[str], tags: list[str]) -> str:
    tag = tags[i]
    before, after = _neighbour(tags, i, -1, ("ADV", "NOT")), _neighbour(tags, i, 1)
    if low == "that":
        return _that(i, lows, tags)
    if low == "which" or (low in ("what", "whose") and tag == "DET"):
        return "WH"
    if tag[1:2] == ":":
        return _verb(i, low, before, after, tags, lows)
    if tag == "ADV" and low in ("first", "second", "third", "next", "last") and before in ("DET", "POSS"):
        return "ADJ"
    if tag == "PREP" and low == "like" and before in ("MODAL", "TO"):
        return "INF"
    if tag == "DO" and before in ("TO", "MODAL"):
        return "INF"
    if low in ("one", "ones") and (after in ("NOUN", "ADJ") or after[1:2] == ":"):
        return "NUM"
    if low in ("before", "after", "since", "until", "than", "once") and after.endswith("VBG"):
        return "PREP"
    if low == "near" and after == "NOUN" and before not in ("VB", "BE", "BEN"):
        return "ADJ"
    if low == "so" and after in ("ADJ", "ADV"):
        return "ADV"
    return tag


def _that(i: int, lows: list[str], tags: list[str]) -> str:
    """What "that" is: a determiner ("that method"), or as what opens a clause ("that maps", "that the model")."""
    after = tags[i + 1] if i + 1 < len(tags) else ""
    before = tags[i - 1] if i else ""
    if i == 0:
        return "DET"
    if before in ("PREP", "CC") and lows[i - 1] not in ("in", "except") and after not in ("BE", "MODAL"):
        return "DET"
    return "WH"


def _verb(i: int, low: str, before: str, after: str, tags: list[str], lows: list[str]) -> str:
    readings = verbs.forms(low)
    if (
        low in _ALSO_ADJECTIVES
        and after in ("NOUN", "ADJ", "A:VB", "A:VBZ")
        and before not in ("NOUN", "TO", "MODAL", "DO", "PRON", "WH")
    ):
        return "ADJ"
    kinds = {r.tag for r in readings}
    noun = any(verbs.may_be_noun(r.lemma) for r in readings)
    if "VBG" in kinds:
        return "NOUN" if low in _NOUNS and not (before == "PREP" and after in ("DET", "POSS", "ADJ")) else "VBG"
    if kinds <= {"VBD", "VBN"}:
        return _past(i, before, after, tags)
    if "VB" in kinds and _asks_for_infinitive(before, after, noun, tags[i - 2] if i > 1 else ""):
        return "INF"
    if before in ("HAVE", "BE", "BEN") and "VBN" in kinds:
        return "VBN"
    if (
        before in _BEFORE_NOUN
        or before in ("PREP", "BE", "BEN")
        or (before == "VBG" and noun and not ("VBZ" in kinds and after in ("DET", "WH", "POSS", "PRON")))
    ):
        return "NOUN" if noun or before in ("DET", "POSS", "NUM") else _unlikely(kinds)
    if "VBD" in kinds and before in ("NOUN", "PRON"):
        return "VBD"
    if "VBZ" in kinds:
        return _third_person(i, before, after, noun, tags)
    return _base(before, after, noun, lows[max(0, _neighbour_at(tags, i, -1, ("ADV", "NOT")))])


def _asks_for_infinitive(before: str, after: str, noun: bool, governs: str) -> bool:
    """Whether "to", a modal or "do" stands before; "leads to use of" has a noun, "allows us to focus on" a verb."""
    if before in ("MODAL", "DO"):
        return True
    is_object = noun and after in ("PREP", "STOP", "CC", "") and governs not in ("NOUN", "PRON", "CLOSE")
    return before == "TO" and not is_object


def _unlikely(kinds: set[str]) -> str:
    return "VB" if "VB" in kinds else "VBZ" if "VBZ" in kinds else "VBN"


_OBJECT = {"DET", "POSS", "ADJ", "NOUN", "NUM", "PRON", "WH", "VBG", "VBN", "TO"}


def _third_person(i: int, before: str, after: str, noun: bool, tags: list[str]) -> str:
    if not noun:
        return "VBZ"
    if i == 0 or before in ("VBZ", "VBD", "VB", "COMMA", "CC", ""):
        return "NOUN"
    if after == "A:VB" and i + 2 < len(tags) and tags[i + 2] in ("DET", "ADV", "ADJ", "POSS", "TO", "WH"):
        return "NOUN"
    if after == "V:VB" or (i and tags[i - 1] == "ADV" and before == "NOUN"):
        return "NOUN" if after == "V:VB" else "VBZ"
    following = tags[i + 1] if i + 1 < len(tags) else ""
    if before in ("NOUN", "WH", "PRON", "CLOSE", "VBG") and (
        after in _OBJECT
        or after == "V:VBG"
        or (after[1:2] == ":" and not any(_is_finite(t) for t in tags[i + 2 :]))
        or following == "ADV"
        or (after in ("PREP", "SUB", "COMMA", "STOP", "") and before in ("WH", "PRON", "CLOSE"))
    ):
        return "VBZ"
    return "NOUN"


def _base(before: str, after: str, noun: bool, previous: str) -> str:
    if before in ("WH", "PRON"):
        return "VB"
    plural = before == "NOUN" and previous.endswith("s") and not previous.endswith("ss")
    if plural and (not noun or after in ("DET", "POSS", "PRON", "ADJ", "TO", "WH")):
        return "VB"
    return "NOUN" if noun or not before else "VB"


def _past(i: int, before: str, after: str, tags: list[str]) -> str:
    """What a form in -ed is: finite before an object ("trained a model"), else a participle ("trained on text")."""
    if before in ("BE", "BEN", "HAVE", "DET", "POSS", "ADJ", "PREP", "NUM", ""):
        return "VBN"
    if before in ("PRON", "WH"):
        return "VBD"
    if before in ("NOUN", "CLOSE"):
        if after in ("DET", "POSS", "PRON", "WH") or not _finite_later(i, tags):
            return "VBD"
        return "VBN"
    return "VBN"


def _finite_later(i: int, tags: list[str]) -> bool:
    return any(
        _is_finite(tags[j]) or (tags[j] == "V:VB" and tags[j - 1] not in ("TO", "MODAL", "DO", "ADV"))
        for j in range(i + 1, len(tags))
    )


def _is_finite(tag: str) -> bool:
    return tag in ("BE", "MODAL", "DO", "HAVE", "VBZ", "VBD", "V:VBZ")
