"""Whether a sentence is about a name, or only mentions it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from compiler.language.lexicon import pattern
from compiler.language.mentions import explains, places

_LOOK_BACK = 80  # characters before a name that may introduce it
_LOOK_ON = 140
# What may stand between the beginning of a clause and its subject: "in the", "many types of", "BART and".
_LEADS_IN = pattern("aboutness_leads_in")
_BEGINS = re.compile(r"(?:^|[;.]\s+|,?\s+(?:while|whereas)\s+|\n)")
_COORDINATED = pattern("aboutness_coordinated")
_INTRODUCES = pattern("aboutness_introduces")
_SECOND = re.compile(r"(?:subtasks|stages|steps|parts|components|types|kinds): [^;:]{2,80},? and (?:an? |the )?$")
_OTHERWISE = re.compile(r"(?:\(|,\s)(?:also |sometimes |or |often |i\.e\.,? )+(?:called |known as )?[“\"*_]*$")
_GOES_ON = pattern("aboutness_goes_on")
_GLOSSED = pattern("aboutness_glossed")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CJK_BEFORE = re.compile(r"(?:称为|叫做|称作|所谓|是指|指的是|定义为)[“\"「《]?$")
_CJK_AFTER = re.compile(r"[”\"」》]?(?:（[^（）]{1,40}）)?(?:是|指|用于|可以|能够|会|将|使|通过|由|包括|允许)")
_CJK_FRONT = 6  # characters of a Chinese sentence before its subject


def is_about(sentence: str, spellings: Iterable[str], longer: Iterable[str] = ()) -> bool:
    """Return whether the sentence is about one of `spellings`: as its subject, or as what it introduces or explains.

    `longer` are names of other things that hold one of them: "long short-term memory" does not speak of memory.
    """
    return bool(lowered := _masked(sentence, longer)) and _is_about_any(lowered, {s.casefold() for s in spellings if s})


def names_only_inside(sentence: str, spellings: Iterable[str], longer: Iterable[str]) -> bool:
    """Return whether the sentence names one of `spellings`, and only inside one of the `longer` names."""
    wanted = [s.casefold() for s in spellings if s]
    plain, masked = sentence.casefold(), _masked(sentence, longer)
    return _names_any(plain, wanted) and not _names_any(masked, wanted)


def _names_any(lowered: str, wanted: Iterable[str]) -> bool:
    """Return whether a text names one of the names."""
    return any(next(places(lowered, name), None) for name in wanted)


def _masked(sentence: str, longer: Iterable[str]) -> str:
    """Return the sentence in lower case with the longer names blanked out."""
    lowered = sentence.casefold()
    for name in longer:
        for start, end in places(lowered, name.casefold()):
            lowered = lowered[:start] + "\0" * (end - start) + lowered[end:]
    return lowered


def _is_about_any(lowered: str, wanted: set[str]) -> bool:
    """Return whether a sentence in lower case is about one of the names."""
    return explains(lowered, wanted) or any(
        _is_subject_at(lowered, start, end) for name in sorted(wanted) for start, end in places(lowered, name)
    )


def _is_subject_at(lowered: str, start: int, end: int) -> bool:
    """Return whether the name at this place is the subject, or is introduced or explained there."""
    before, after = lowered[max(0, start - _LOOK_BACK) : start], lowered[end : end + _LOOK_ON]
    if _CJK.search(lowered[start:end]):
        return start < _CJK_FRONT or bool(_CJK_BEFORE.search(before) or _CJK_AFTER.match(after))
    begun = [m.end() for m in _BEGINS.finditer(before) if m.start() or len(before) == start]
    if any(_LEADS_IN.fullmatch(before[at:]) or _COORDINATED.match(before[at:]) for at in begun):
        return True
    introduced = _INTRODUCES.search(before) or _OTHERWISE.search(before) or _SECOND.search(before)
    return bool(introduced or _GOES_ON.match(after) or _GLOSSED.match(after))
