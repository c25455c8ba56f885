"""Rules on names: articles that may be one concept."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import pairwise

from rapidfuzz import fuzz

from compiler.language.names import key
from compiler.lint.wiki import Page, Wiki
from compiler.replies.knowledge import title_key
from vault.inbox.listing import decisions
from vault.inbox.names import Names
from vault.log.ledger import IDS

Found = Iterator[tuple[str, int, str, str]]
_ALIKE = 90  # of 100, from which on two names are spellings of one
_DOUBTFUL = 80  # from which on a reader is asked
_SHORT = 6  # letters of a name below which spellings say nothing


def near_duplicates(wiki: Wiki) -> Found:
    """Yield pairs of articles whose names are one but for spelling, or that a model takes for one."""
    judged = wiki.judged_names
    for page, beside, alike in _neighbours(wiki, _DOUBTFUL):
        names = frozenset((title_key(page.title), title_key(beside.title)))
        if names in judged.same or (alike >= _ALIKE and not judged.judged_different(names)):
            by = "a model takes it for one with" if names in judged.same else "its name is nearly that of"
            both = shlex.join([page.title, beside.title])
            merge = f"`retain concept merge {both}`, or the same with `--never` if they differ"
            yield page.path, 0, f"{by} {beside.path}", merge


def doubtful_pairs(wiki: Wiki) -> Iterator[tuple[Page, Page]]:
    """Yield the pairs of articles with names alike of which nobody has said whether they are one concept."""
    judged = wiki.judged_names
    for page, beside, _ in _neighbours(wiki, _DOUBTFUL):
        names = frozenset((title_key(page.title), title_key(beside.title)))
        if names not in judged.same and not judged.judged_different(names):
            yield page, beside


def _neighbours(wiki: Wiki, least: float) -> Iterator[tuple[Page, Page, float]]:
    """Yield the articles beside each other in the alphabet whose names are so much alike, from 0 to 100."""
    keys = sorted((key(page.title), page.path, page) for page in wiki.articles)
    apart = wiki.decided_different
    for (name, _, page), (other, _, beside) in pairwise(keys):
        alike = 100.0 if name == other else fuzz.ratio(name, other) if min(len(name), len(other)) >= _SHORT else 0.0
        if name and alike >= least and not _numbered_apart(name, other) and frozenset((name, other)) not in apart:
            yield page, beside, alike


def _numbered_apart(one: str, other: str) -> bool:
    """Return whether two names differ in a number, as versions do."""
    return [c for c in one if c.isdigit()] != [c for c in other if c.isdigit()]


def suspected(wiki: Wiki) -> Found:
    """Yield pairs of concepts that the compiler or a model takes for one, and that wait for the user."""
    for item in Names().items(wiki.vault, decisions(wiki.vault)):
        yes, no = f"`retain inbox accept {item.id}`", f"`retain inbox keep {item.id}`"
        yield IDS, 0, f"{item.about} may be one concept", f"{yes} makes them one, {no} keeps them two"
