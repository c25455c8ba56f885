"""How far words may be trusted: by the independent sources on which they rest, and who wrote them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from vault.model.frontmatter import Properties
from vault.model.wikilink import links

S = TypeVar("S", bound=str)


def independent(sources: Iterable[S], origin: Callable[[S], S], authority: Callable[[S], int]) -> dict[S, int]:
    """Return the independent sources among these, each with its authority.

    A copy counts as its original (`origin`), which has the higher authority of both then.
    """
    found: dict[S, int] = {}
    for source in sources:
        original = origin(source)
        found[original] = max(found.get(original, 0), authority(source), authority(original))
    return found


def confidence(authority: Mapping[S, int], engine: str) -> str:
    """Return the base confidence of words of `engine` on independent sources (`independent`); of hearsay alone, "low".

    A source of authority 0 is hearsay.
    """
    trusted = [number for number in authority.values() if number > 0]
    if authority and not trusted:
        return "low"
    if len(trusted) >= 3 or (len(trusted) == 2 and max(trusted) >= 2):
        return "medium" if engine.startswith("agent/") else "high"
    return {0: "speculative", 1: "low", 2: "medium"}[len(trusted)]


def independent_pages(pages: Iterable[str], properties_of: Callable[[str], Properties | None]) -> dict[str, int]:
    """Return the pages of independent sources among these vault paths, each with the authority that it states.

    `properties_of` returns the properties of the page of a source, None for one that is not there.
    """

    def authority(path: str) -> int:
        properties = properties_of(path)
        number = properties.text("authority") if properties is not None else ""
        return int(number) if number.isdecimal() else 1

    return independent(pages, lambda path: original_page(path, properties_of), authority)


def original_page(path: str, properties_of: Callable[[str], Properties | None]) -> str:
    """Return the page of the source that the one at `path` repeats; itself if it repeats none that is there.

    Of pages that repeat each other, it is always the same.
    """
    seen = [path]
    while (properties := properties_of(path)) is not None:
        link = next(links(properties.text("copy_of")), None)
        if link is None or properties_of(f"{link.target}.md") is None:
            return path
        path = f"{link.target}.md"
        if path in seen:
            return min(seen[seen.index(path) :])
        seen.append(path)
    return path
