"""The places where a text names something, and whether it says there what it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MAX_HITS = 400  # places of one name in one text that are looked at
_AROUND = 90  # characters on either side of a name that may say what it is
_SAYS_AFTER = re.compile(
    r"s?[\"”’*_]*\s*(?:\([^()]{1,80}\)\s*|\[[^\[\]]{1,30}\]\s*)?"
    r"(?:,?\s*(?:which|that)\s+(?:is|are|stands)\b"
    r"|(?:is|are|was|were)\s+(?:(?:simply|just|essentially|basically|usually|often|thus|probably|perhaps)\s+)?"
    r"(?:an?|the|defined|short for|designed|intended|meant|based on)\b"
    r"|(?:refers?|means?|denotes?|stands? for|describes?|consists? of|computes?|measures?|works? by)\b"
    r"|(?:ist|sind)\s+(?:eine?|der|die|das)\b|是)"
)
# Beside a noun in small letters it may be the whole clause that is meant: "... prior knowledge, a problem that ...".
_APPOSED = re.compile(
    r"(?:\s*\([^()]{1,80}\),?)?\s+which\s+(?!we\b|you\b|they\b)"
    r"|(?:\s*\([^()]{1,80}\))?(?:,\s+eine?\s+|,\s+an?\s+(?=[\w -]{3,60}\b(?:that|which|for|of|with|to)\b))"
)
_SAYS_BEFORE = re.compile(
    r"\b(?:called|known as|termed|named|dubbed|referred to as|defined as|genannt|heißt)\s+(?:an?\s+|the\s+)?"
    r"(?:[\w-][\w -]{2,60} \()?[\"“*_]*$"
)


def places(lowered: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each place where a name is a word of its own, or in the plural."""
    at = lowered.find(name) if name else -1
    for _ in range(MAX_HITS):
        if at < 0:
            return
        end = at + len(name)
        rest = lowered[end : end + 2]
        goes_on = rest[:1].isalnum() or (rest[:1] == "-" and rest[1:].isalnum())  # "llama-8b" is not "llama"
        whole = not goes_on or (rest[0] == "s" and not rest[1:].isalnum()) or not name.isascii()
        if whole and (at == 0 or not lowered[at - 1].isalnum() or not name.isascii()):
            yield at, end
        at = lowered.find(name, end)


def first_mention(lowered: str, names: Iterable[str]) -> int:
    """Return the offset of the first place where a text in lower case names one of `names`; -1 if none does."""
    found = (next(places(lowered, name.lower()), (-1, -1))[0] for name in names)
    return min((at for at in found if at >= 0), default=-1)


def explains(lowered: str, names: Iterable[str]) -> bool:
    """Return whether a text in lower case says what one of `names` is, as far as the words beside the name tell."""
    for name in names:
        for start, end in places(lowered, name.lower()):
            after, before = lowered[end : end + _AROUND], lowered[max(0, start - _AROUND) : start]
            if _SAYS_AFTER.match(after) or _SAYS_BEFORE.search(before):
                return True
            if not name.islower() and _APPOSED.match(after):
                return True
    return False
