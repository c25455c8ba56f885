"""Rules on links: those that lead nowhere or could lead to several notes, and pages that nothing leads to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from compiler.lint.wiki import Page, Wiki, heading_key
from vault.layout import CONCEPTS, SUMMARIES, TOPICS
from vault.text.formatting import clean_line

Found = Iterator[tuple[str, int, str, str]]
_WIKI = ("wiki/", "learning/", "insights/", "output/", "raw/")


def broken(wiki: Wiki) -> Found:
    """Yield links into the vault that lead nowhere."""
    by_stem = {page.stem: page for page in (*wiki.pages, *wiki.indexes, *wiki.notes)}
    for page in (*wiki.pages, *wiki.indexes, *wiki.notes):
        for line, link in page.links:
            target = link.target or page.stem
            if not target.startswith(_WIKI):
                continue  # by name, as Obsidian resolves it, or a heading of the note itself
            to = by_stem.get(target.removesuffix(".md"))
            if to is None and not _is_there(wiki, target):
                yield page.path, line, f"{clean_line(str(link))} leads to no file", _remedy(page)
            elif to is not None and link.anchor and not _has(to, link.anchor):
                yield (
                    page.path,
                    line,
                    f"{clean_line(str(link))} leads to no heading or claim of that note",
                    _remedy(page),
                )


def _is_there(wiki: Wiki, target: str) -> bool:
    """Return whether a link leads to a file, with or without `.md`; names with folders above the vault do not."""
    if ".." in target.split("/"):
        return False
    return any((wiki.vault.root / name).is_file() for name in (target, f"{target}.md"))


def _has(page: Page, anchor: str) -> bool:
    """Return whether a note has a block or a heading that a link names; of nested headings the last."""
    if anchor.startswith("^"):
        return anchor[1:] in page.blocks
    return heading_key(anchor.rpartition("#")[2]) in page.headings


def _remedy(page: Page) -> str:
    if page.path.startswith("insights/"):
        return "your note: change the link"
    return "`retain compile` writes the page again, unless you edited it: then change the link"


def ambiguous(wiki: Wiki) -> Found:
    """Yield links without a folder whose name several notes have."""
    named: dict[str, set[str]] = defaultdict(set)
    for page in (*wiki.pages, *wiki.notes):
        named[page.stem.rpartition("/")[2].casefold()].add(page.path)
    for page in (*wiki.articles, *wiki.topics, *wiki.notes):
        for line, link in page.links:
            others = named.get(link.target.casefold(), set()) if "/" not in link.target else set()
            if len(others) > 1:
                what = f"{clean_line(str(link))} could be {' or '.join(sorted(others))}"
                yield page.path, line, what, "write the folder into the link"


def orphans(wiki: Wiki) -> Found:
    """Yield articles that no other article, topic or note links to."""
    named = {
        link.target.removesuffix(".md")
        for page in (*wiki.articles, *wiki.topics, *wiki.notes)
        for _, link in page.links
        if link.target.removesuffix(".md") != page.stem
    }
    by_name = {name.casefold() for name in named}
    for page in wiki.articles:
        if page.stem not in named and page.stem.rpartition("/")[2].casefold() not in by_name:
            remedy = "link to it, or add the name by which others speak of it: `retain concept alias`"
            yield page.path, 0, "no article, topic or note links to it", remedy


def unindexed(wiki: Wiki) -> Found:
    """Yield articles, topics and pages of sources that the index does not list."""
    listed = {link.target.removesuffix(".md") for page in wiki.indexes for _, link in page.links}
    for page in wiki.pages:
        if page.path.startswith((f"{CONCEPTS}/", f"{TOPICS}/", f"{SUMMARIES}/")) and page.stem not in listed:
            yield page.path, 0, "no index lists it", "`retain compile` writes the indexes"
