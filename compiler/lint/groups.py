"""Groups of articles that link each other and have no topic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.concepts.topics import FEWEST, MOST
from compiler.lint.wiki import Wiki
from vault.text.formatting import plural

Found = Iterator[tuple[str, int, str, str]]
_LINKS = 2  # other members that each member links, or is linked from
_SHOWN = 6  # titles in a finding


def suggested_topics(wiki: Wiki) -> Found:
    """Yield groups of articles in which each is linked with two others, and of which no topic has one."""
    titles = {page.stem: page.title for page in wiki.articles}
    placed = {stem for topic in wiki.topics for stem in topic.targets}
    for group in _groups(_linked(wiki, titles.keys() - placed)):
        if FEWEST <= len(group) <= MOST:
            names = ", ".join(titles[stem] for stem in sorted(group)[:_SHOWN])
            more = f" and {len(group) - _SHOWN} more" if len(group) > _SHOWN else ""
            what = f"{plural(len(group), 'article')} link to each other but have no topic: {names}{more}"
            remedy = "add a source that gives an overview, or write a page in wiki/topics/ that links to them"
            yield f"{min(group)}.md", 0, what, remedy


def _linked(wiki: Wiki, among: set[str]) -> dict[str, set[str]]:
    """Return the articles that each of these links or is linked from."""
    linked: dict[str, set[str]] = {stem: set() for stem in among}
    for page in wiki.articles:
        for other in page.targets & among if page.stem in among else ():
            if other != page.stem:
                linked[page.stem].add(other)
                linked[other].add(page.stem)
    return linked


def _groups(linked: Mapping[str, set[str]]) -> list[set[str]]:
    """Return the groups in which each member is linked with `_LINKS` others of the group, the first by name first."""
    left = {stem: set(others) for stem, others in linked.items()}
    while loose := [stem for stem, others in left.items() if len(others) < _LINKS]:
        for stem in loose:
            for other in left.pop(stem):
                if other in left:
                    left[other].discard(stem)
    groups: list[set[str]] = []
    seen: set[str] = set()
    for stem in sorted(left):
        if stem not in seen:
            group, waiting = {stem}, [stem]
            while waiting:
                new = left[waiting.pop()] - group
                group |= new
                waiting += new
            seen |= group
            groups.append(group)
    return groups
