"""Rules on names: articles that may be one concept."""

from __future__ import annotations

import math
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from rapidfuzz import fuzz

from compiler.language.names import key
from compiler.language.opposites import contrary
from compiler.lint.wiki import Page, Wiki
from compiler.replies.knowledge import title_key
from vault.inbox.listing import decisions
from vault.inbox.names import Names
from vault.log.ledger import IDS

Found = Iterator[tuple[str, int, str, str]]
_ALIKE = 90  # of 100, from which on two names are spellings of one
_DOUBTFUL = 80  # from which on a reader is asked
_SHORT, _SHORT_WORD = 6, 4  # letters of a name, and of a word, below which spellings say nothing
_SHARED = 0.4  # of the groups of three letters of a name, at least, that one spelt alike has, too


def near_duplicates(wiki: Wiki) -> Found:
    """Yield pairs of articles whose names are one but for spelling, or that a model takes for one."""
    judged = wiki.judged_names
    for page, beside, alike in _alike(wiki):
        names = frozenset((title_key(page.title), title_key(beside.title)))
        if names in judged.same or (alike >= _ALIKE and not judged.judged_different(names)):
            by = "a model considers it the same as" if names in judged.same else "its name is almost the same as"
            both = shlex.join([page.title, beside.title])
            merge = f"run `retain concept merge {both}`, or add `--never` if they differ"
            yield page.path, 0, f"{by} {beside.path}", merge


def doubtful_pairs(wiki: Wiki) -> Iterator[tuple[Page, Page]]:
    """Yield the pairs of articles with names alike of which nobody has said whether they are one concept."""
    judged = wiki.judged_names
    for page, beside, _ in _alike(wiki):
        names = frozenset((title_key(page.title), title_key(beside.title)))
        if names not in judged.same and not judged.judged_different(names):
            yield page, beside


def _alike(wiki: Wiki) -> Iterator[tuple[Page, Page, float]]:
    """Yield pairs of articles with names alike, and how much (100 for equal keys): all from `_ALIKE` on, most from
    `_DOUBTFUL` on.
    """
    pages = sorted(wiki.articles, key=lambda page: (key(page.title), page.path))
    keys, apart = [key(page.title) for page in pages], wiki.decided_different
    for a, b in candidates(keys):
        one, other = keys[a], keys[b]
        alike = 100.0 if one == other else fuzz.ratio(one, other) if min(len(one), len(other)) >= _SHORT else 0.0
        if alike >= _DOUBTFUL and not _mean_two_things(one, other) and frozenset((one, other)) not in apart:
            yield pages[a], pages[b], alike


def candidates(names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of names that may be spelt alike, as sorted pairs of their numbers, without comparing them all.

    Two that are alike to 90 of 100 share two fifths of their groups of three letters or more. So each is compared with
    those that share one of its rarest groups, of which so many are taken that at least one of the shared is among them.
    """
    groups = [_groups(name) for name in names]
    count = Counter(group for each in groups for group in each)
    with_group: dict[str, list[int]] = defaultdict(list)
    found: set[tuple[int, int]] = set()
    for number, each in enumerate(groups):
        rarest = sorted(each, key=lambda group: (count[group], group))
        for group in rarest[: len(each) - math.ceil(_SHARED * len(each)) + 1]:
            found |= {(other, number) for other in with_group[group]}
            with_group[group].append(number)
    return sorted(found)


def _groups(name: str) -> set[str]:
    """Return the groups of three neighbouring letters of a name, its beginning and its end among them."""
    padded = f" {name} "
    return {padded[n : n + 3] for n in range(len(padded) - 2)} if name else set()


def _mean_two_things(one: str, other: str) -> bool:
    """Return whether two names differ in what is no matter of spelling: a number, a short word, an opposite, a prefix.

    Versions differ in a number, types in a letter ("vitamin A"); "synchronous" and "asynchronous" in a prefix.
    """
    if [c for c in one if c.isdigit()] != [c for c in other if c.isdigit()]:
        return True
    words, others = one.split(), other.split()
    if len(words) != len(others):
        return False
    pairs = [(a, b) for a, b in zip(words, others, strict=True) if a != b]
    return any(min(len(a), len(b)) < _SHORT_WORD or contrary(a, b) for a, b in pairs)


def suspected(wiki: Wiki) -> Found:
    """Yield pairs of concepts that the compiler or a model takes for one, and that wait for the user."""
    for item in Names().items(wiki.vault, decisions(wiki.vault)):
        yes, no = f"`retain inbox accept {item.id}`", f"`retain inbox keep {item.id}`"
        yield IDS, 0, f"{item.about} may be the same concept", f"{yes} merges them, {no} keeps them separate"
