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
_OPENS = pattern("mentions_opens")
_STATES_AFTER = pattern("mentions_states_after")
_GLOSSED_AFTER = pattern("mentions_glossed_after")
_GLOSSES_BEFORE = pattern("mentions_glosses_before")


def places(lowered: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each place where a name is a word of its own, or in the plural."""
    at = lowered.find(name) if name else -1
    for _ in range(MAX_HITS):
        if at < 0:
            return
        end = at + len(name)
        rest = lowered[end : end + 2]
        # "llama-8b" is not "llama"; "seqlen_q" and "seqlen=8" are code
        goes_on = rest[:1].isalnum() or rest[:1] in ("_", "=") or (rest[:1] == "-" and rest[1:].isalnum())
        whole = not goes_on or (rest[0] == "s" and not rest[1:].isalnum()) or not name.isascii()
        if whole and (at == 0 or not (lowered[at - 1].isalnum() or lowered[at - 1] == "_") or not name.isascii()):
            yield at, end
        at = lowered.find(name, end)


def _surroundings(lowered: str, names: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (name, the words before it, the words after it) of each place where a text in lower case has a name."""
    for name in names:
        for start, end in places(lowered, name.lower()):
            yield name, lowered[max(0, start - _AROUND) : start], lowered[end : end + _AROUND]


def explains(lowered: str, names: Iterable[str]) -> bool:
    """Return whether a text in lower case says what one of `names` is, as far as the words beside the name tell."""
    return any(
        _SAYS_AFTER.match(after) or _SAYS_BEFORE.search(before) or (not name.islower() and _APPOSED.match(after))
        for name, before, after in _surroundings(lowered, names)
    )


def clause_explains(lowered: str, names: Iterable[str]) -> bool:
    """Return whether a text in lower case probably explains one of `names`.

    It does where a sentence opens with the name and goes on to say what it is, has or does, and where other words for
    it follow or precede it: "apoptosis (the death of a cell)", "vertices, or nodes".
    """
    return any(
        _GLOSSED_AFTER.match(after)
        or _GLOSSES_BEFORE.search(before)
        or (_STATES_AFTER.match(after) and _OPENS.search(before))
        for _, before, after in _surroundings(lowered, names)
    )
