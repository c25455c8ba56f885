"""Rules on links: those that lead nowhere or could lead to several notes, and pages that nothing leads to."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from os.path import normpath

from compiler.language.mentions import places
from compiler.lint.wiki import Page, Wiki, heading_key
from compiler.pages.indexes import INDEX, LOG
from vault.layout import CONCEPTS
from vault.log.entries import entries_in, log_title
from vault.log.ledger import BUILDS
from vault.model.markdown import escape
from vault.text.formatting import clean_line, plural

Found = Iterator[tuple[str, int, str, str]]
MANY = 2  # notes that name what no note explains
_CODE = re.compile(r"`[^`]*`|\$[^$]*\$")
_HYPHEN = re.compile(r"[-/_.]$")
_WIKI = ("wiki/", "learning/", "insights/", "output/", "raw/")


def broken(wiki: Wiki) -> Found:
    """Yield links into the vault that lead nowhere."""
    yield from _broken_file_links(wiki)
    pages = (*wiki.pages, *wiki.answers, *wiki.indexes, *wiki.notes)
    by_stem, moved = {page.stem: page for page in pages}, _moved(wiki)
    for page in pages:
        for line, link in page.links:
            target = link.target or page.stem
            if not target.startswith(_WIKI):
                known = target.casefold() in wiki.names or wiki.vault.note_path(target)
                if page.path.startswith("wiki/") and not known:
                    yield page.path, line, f"{clean_line(str(link))} links to a file that does not exist", _remedy(page)
                continue  # by name, as Obsidian resolves it
            to = by_stem.get(target.removesuffix(".md"))
            if to is None and not _is_there(wiki, target) and not wiki.vault.note_path(target):
                new = moved.get(target.removesuffix(".md"))
                remedy = f"it is now {new}: change the link" if new else _remedy(page)
                yield page.path, line, f"{clean_line(str(link))} links to a file that does not exist", remedy
            elif to is not None and link.anchor and not _has(to, link.anchor):
                yield (
                    page.path,
                    line,
                    f"{clean_line(str(link))} links to a heading or claim that does not exist in that note",
                    _remedy(page),
                )


def _broken_file_links(wiki: Wiki) -> Found:
    """Yield links of notes and pages to files of notes, from their own folder or the vault's, that are not there."""
    for page in (*wiki.articles, *wiki.topics, *wiki.answers, *wiki.notes):
        folder = page.path.rpartition("/")[0]
        for line, link in page.file_links:
            from_page = normpath(f"{folder}/{link}")
            if ":" in link or link.startswith("/") or from_page.startswith(".."):
                continue  # an address, or a note outside the vault
            if not _is_there(wiki, from_page) and not _is_there(wiki, normpath(link)):
                yield (
                    page.path,
                    line,
                    f"the link to {clean_line(link)} points to a file that does not exist",
                    _remedy(page),
                )


def _moved(wiki: Wiki) -> dict[str, str]:
    """Return where pages of concepts that were renamed are now: vault paths without `.md`."""
    births, former = wiki.ids.births, wiki.ids.former_slugs("concept")
    return {f"{CONCEPTS}/{old}": f"{CONCEPTS}/{births[id_].slug}" for old, id_ in former.items() if births[id_].slug}


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
        return "change the link in your note"
    return "run `retain compile`; if you edited the page, change the link yourself"


def ambiguous(wiki: Wiki) -> Found:
    """Yield links without a folder whose name several notes have."""
    named: dict[str, set[str]] = defaultdict(set)
    for page in (*wiki.pages, *wiki.notes):
        named[page.stem.rpartition("/")[2].casefold()].add(page.path)
    for page in (*wiki.articles, *wiki.topics, *wiki.notes):
        for line, link in page.links:
            others = named.get(link.target.casefold(), set()) if "/" not in link.target else set()
            if len(others) > 1:
                what = f"{clean_line(str(link))} is ambiguous: {' or '.join(sorted(others))}"
                yield page.path, line, what, "add the folder to the link"


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
            remedy = "link to it, or add the name that other pages use as an alias: `retain concept alias`"
            yield page.path, 0, "no article, topic or note links to it", remedy


def unindexed(wiki: Wiki) -> Found:
    """Yield articles, topics, answers and pages of sources that the catalogue does not list."""
    catalogue = next((page for page in wiki.indexes if page.path == INDEX), None)
    if catalogue is None:
        if wiki.pages and INDEX not in wiki.unreadable:
            yield INDEX, 0, "the index no longer exists", "run `retain compile`"
        return
    new = _filed_since_the_last_compile(wiki)
    for page in (*wiki.pages, *wiki.answers):
        title = log_title(page.properties.text("question"))
        if page.stem not in catalogue.targets and not (page.path in wiki.answer_pages and title in new):
            yield page.path, 0, f"{INDEX} does not list it", "run `retain compile`"


def _filed_since_the_last_compile(wiki: Wiki) -> set[str]:
    """Return the questions whose answers were filed after the last compile: the page of the log does not have them."""
    shown = next((page.text for page in wiki.indexes if page.path == LOG), "")
    entries = entries_in(wiki.vault.ledger_events(BUILDS)[0])
    return {e.title for e in entries if e.kind == "question" and f"question | {escape(e.title)}\n" not in shown}


def unexplained(wiki: Wiki) -> Found:
    """Yield names of which no note is there, and that the links of several notes lead to."""
    by_name: dict[str, dict[str, tuple[int, str]]] = defaultdict(dict)
    for page in wiki.notes:
        for line, link in page.links:
            name = link.target.strip()
            if name and "/" not in name and name.casefold() not in wiki.names:
                by_name[name.casefold()].setdefault(page.path, (line, name))
    for naming in by_name.values():
        if len(naming) >= MANY:
            path, (line, name) = next(iter(naming.items()))
            what = f"{plural(len(naming), 'note')} link to “{clean_line(name)}”, but there is no such note"
            yield path, line, what, "write the note, or add a source about it: `retain add FILE`"


def one_way(wiki: Wiki) -> Found:
    """Yield links between articles of which the other one names this one without a link."""
    for page, other, line, name in _unlinked(wiki):
        if page.stem in other.targets:
            what = f"it mentions “{name}” without a link, although that article links here"
            yield page.path, line, what, f"make it a link: [[{other.stem}|{name}]]"


def suggested(wiki: Wiki) -> Found:
    """Yield places where an article or topic names another article and no link joins the two."""
    for page, other, line, name in _unlinked(wiki):
        if page.stem not in other.targets:
            yield page.path, line, f"it mentions “{name}” without a link", f"make it a link: [[{other.stem}|{name}]]"


def _unlinked(wiki: Wiki) -> Iterator[tuple[Page, Page, int, str]]:
    """Yield (page, article that it names and does not link, line of the first place, the name there)."""
    titled = [(page, page.title) for page in wiki.articles if _is_specific(page.title)]
    longer = [title.casefold() for _, title in titled]
    for page in (*wiki.articles, *wiki.topics):
        text = _masked(page)
        lowered = text.casefold()
        for other, title in titled:
            name = title.casefold()
            if other is page or name not in lowered or other.stem in page.targets:
                continue
            masks = [t for t in (*longer, page.title.casefold()) if name in t and t != name]
            where = next(_occurrences(lowered, name, masks), None)
            if where is not None and len(lowered) == len(text):
                line = text.count("\n", 0, where) + 1
                yield page, other, line, text[where : where + len(name)]


def _occurrences(lowered: str, name: str, longer: list[str]) -> Iterator[int]:
    """Yield where a name stands by itself, and not in a longer one."""
    inside = [range(start, end) for each in longer for start, end in places(lowered, each)]
    for start, _ in places(lowered, name):
        if not any(start in span for span in inside) and not _HYPHEN.search(lowered[max(0, start - 1) : start]):
            yield start


def _is_specific(title: str) -> bool:
    """Return whether a title means its subject wherever it is written: of several words, or no common word."""
    return len(title.split()) > 1 or not title.isascii() or any(c.isupper() or c.isdigit() for c in title[1:])


def _masked(page: Page) -> str:
    """Return the sentences of a page on their lines, without links, code, formulas, headings and properties."""
    lines = [""] * (page.text.count("\n") + 1)
    for sentence in page.sentences:
        lines[sentence.line - 1] += f" {_CODE.sub(' ', sentence.text)}"
    return "\n".join(lines)
