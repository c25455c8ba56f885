"""The places where a text names something, and whether it says there what it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compiler.language.lexicon import pattern

MAX_HITS = 400  # places of one name in one text that are looked at
_AROUND = 90  # characters on either side of a name that may say what it is
_SAYS_AFTER = pattern("mentions_says_after")
# Beside a noun in small letters it may be the whole clause that is meant: "... prior knowledge, a problem that ...".
_APPOSED = pattern("mentions_apposed")
_SAYS_BEFORE = pattern("mentions_says_before")


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
