"""A page of the wiki for a reader: its text, its confidence, what links to it, how well its cards are known.

Only what is in `wiki/`, or the text of a source, is ever read, wherever a link says that it leads.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime

from learning.agenda.gap_decisions import read_agenda
from learning.cards.workspace import read_desk
from learning.stats.mastery import Mastery, Studied, mastery
from learning.store.graph import GRAPH, relations
from vault.errors import NotFound, RetainError
from vault.files.write_scopes import split
from vault.inbox.suggestions import offered
from vault.layout import CONCEPTS, FLASHCARDS, SUMMARIES, TOPICS
from vault.model.article import is_stale, lowered
from vault.model.frontmatter import body_of, read_properties
from vault.model.markdown import unescape
from vault.model.wikilink import Wikilink, links
from vault.text.formatting import clean_line
from vault.vault import Vault

INDEX = "wiki/_index.md"
LARGEST = 2 << 20  # characters of a page that is shown; what is beyond is said
MOST_BACKLINKS = 40
_FOLDERS = (CONCEPTS, TOPICS, SUMMARIES, "wiki")
_TEXTS = ("md", "markdown", "txt", "text")
_OPENS = "only wiki pages and source texts can be opened here"
_COMES = "`retain compile` writes the page once a source explains its subject"
_TITLE = re.compile(r"^# +(.+?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ArticlePage:
    """`confidence` is what the page claims now: its own, one less where it is `stale`; "" where it names none.

    `base` is the one in the file, `updated` a date as the file has it, `sources` how many it rests on.
    """

    path: str
    title: str
    kind: str
    body: str
    confidence: str = ""
    base: str = ""
    stale: bool = False
    updated: str = ""
    sources: int = 0

    @property
    def stem(self) -> str:
        """Return the stem of the page's file."""
        return self.path.rsplit("/", 1)[-1].removesuffix(".md")

    @property
    def is_concept(self) -> bool:
        """Return whether it is the article of a concept."""
        return self.path.startswith(f"{CONCEPTS}/")


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another page: its vault path and its title."""

    path: str
    title: str


@dataclass(frozen=True, slots=True)
class PageContext:
    """What a vault holds about a page: `mastery` is None where it has no cards; `gaps` are sentences."""

    mastery: Mastery | None = None
    needs: tuple[Neighbour, ...] = ()
    related: tuple[Neighbour, ...] = ()
    backlinks: tuple[Neighbour, ...] = ()
    more_backlinks: int = 0
    gaps: tuple[str, ...] = ()
    suggested: int = 0  # cards to keep or drop


def link_path(vault: Vault, to: str, base: str = "") -> str:
    """Return the vault path that a link `to` means, seen from the page `base`; "" where it means none that may be read.

    A bare name is looked for among the pages, as Obsidian does. That a file is there is not said.
    """
    bare = clean_line(to.partition("#")[0])
    if not bare:
        return base
    if bare.startswith(("./", "../")):
        bare = posixpath.normpath(posixpath.join(posixpath.dirname(base), bare))
    if "/" not in bare:
        return _by_name(vault, bare) or vault.note_path(bare)
    if (
        not (vault.root / bare).exists()
        and not (vault.root / f"{bare}.md").exists()
        and (note := vault.note_path(bare))
    ):
        return note
    path = bare if bare.rpartition(".")[2].lower() in _TEXTS else f"{bare}.md"
    return path if may_read(vault, path) else ""


def may_read(vault: Vault, path: str) -> bool:
    """Return whether the reader opens such a path: a plain one, in `wiki/`, or of a source that is a text."""
    try:
        parts = split(path.removeprefix("../"))
    except RetainError:
        return False
    known = path.rpartition(".")[2].lower() in _TEXTS and "\\" not in path and clean_line(path) == path
    return known and ((len(parts) > 1 and path.startswith("wiki/")) or vault.is_source(path))


def _by_name(vault: Vault, name: str) -> str:
    """Return the path of the page with that name; "" if there is none."""
    wanted = name.removesuffix(".md").casefold()
    slug = re.sub(r"[\s_]+", "-", wanted)
    for folder in _FOLDERS:
        for path in vault.paths(folder, ".md"):
            if path.rsplit("/", 1)[-1].removesuffix(".md").casefold() in (wanted, slug):
                return path
    return ""


def read_page(vault: Vault, path: str, today: date) -> ArticlePage:
    """Return the page at a vault path. Raises: NotFound; Refused and Damaged as its file gives them."""
    if not may_read(vault, path):
        raise NotFound("not a page of the wiki", where=clean_line(path)[:80], hint=_OPENS)
    text = vault.read_text(path)
    if text is None:
        raise NotFound("there is no such page yet", where=path, hint=_COMES)
    return page_of(path, text, today)


def page_of(path: str, text: str, today: date) -> ArticlePage:
    """Return the page in the text of a file."""
    properties = read_properties(text)
    body = body_of(text)
    heading = _TITLE.search(body[:4000])
    title = properties.text("title") or (unescape(heading[1]) if heading else path.rsplit("/", 1)[-1])
    base, updated = properties.text("confidence"), properties.text("updated")
    stale = is_stale(updated, properties.text("freshness"), today)
    kind = properties.text("type") or ("source" if path.startswith("raw/") else "")
    sources = len(properties.texts("sources"))
    return ArticlePage(path, clean_line(title), kind, body, lowered(base, stale), base, stale, updated, sources)


# --- how it stands in the vault ---------------------------------------------------------------------------------------


def page_context(vault: Vault, page: ArticlePage, now: datetime) -> PageContext:
    """Return what the vault holds about a page. Reads every page of the wiki; what cannot be read is left out."""
    needs, related = neighbours(vault.read_bytes(GRAPH) or b"", page.path)
    linking = list(backlinks(vault, page.path))
    known: Mastery | None = None
    gaps: tuple[str, ...] = ()
    with suppress(RetainError):
        known = mastery_of(vault, page, now) if page.is_concept else None
    with suppress(RetainError):
        gaps = gaps_of(vault, page)
    suggested = 0
    with suppress(RetainError):
        suggested = len(offered(vault).about(page.path)) if page.is_concept else 0
    rest = max(0, len(linking) - MOST_BACKLINKS)
    return PageContext(known, needs, related, tuple(linking[:MOST_BACKLINKS]), rest, gaps, suggested)


def mastery_of(vault: Vault, page: ArticlePage, now: datetime) -> Mastery | None:
    """Return how well the page's cards are known at `now`; None if it has none. Raises as the review log is read."""

    deck = vault.deck(f"{FLASHCARDS}/{page.stem}.md")
    cards = [Studied(c.id, page.stem, page.title, c.kind or "") for c in (deck.cards if deck else ()) if c.id]
    if not cards:
        return None
    desk = read_desk(vault)
    chance = desk.scheduler.chances(now)
    states = {each.card: desk.state(each.card) for each in cards}
    return next(iter(mastery(cards, states, chance)), None)


def gaps_of(vault: Vault, page: ArticlePage) -> tuple[str, ...]:
    """Return what the reading agenda says is missing about the page."""

    target = page.path.removesuffix(".md")
    name = page.title.casefold()
    found = []
    for gap in read_agenda(vault):
        about = any(link.target == target for mention in gap.mentions for link in links(mention))
        if gap.open and (gap.what.casefold() == name or about):
            found.append(f"{gap.what}: {gap.missing}")
    return tuple(found)


def neighbours(graph: bytes, path: str) -> tuple[tuple[Neighbour, ...], tuple[Neighbour, ...]]:
    """Return what the concept at `path` needs, and what else it relates to, from the text of `_graph.md`."""
    rows = (row for row in relations(graph) if row.concept.target == path.removesuffix(".md"))
    row = next(rows, None)
    if row is None:
        return (), ()
    needs = tuple(map(_neighbour, row.needs))
    paths = {each.path for each in needs}
    return needs, tuple(each for each in map(_neighbour, row.related) if each.path not in paths)


def _neighbour(link: Wikilink) -> Neighbour:
    """Return the page that the link leads to."""
    return Neighbour(f"{link.target}.md", link.alias or link.target.rsplit("/", 1)[-1])


def backlinks(vault: Vault, path: str) -> Iterator[Neighbour]:
    """Yield the concept and topic pages that link to the page at `path`, by path."""
    name = re.escape(path.removesuffix(".md").encode())
    wanted = re.compile(rb"\[\[" + name + rb"(?:\.md)?(?:#[^\]|]*)?(?:\\?\||\]\])")
    for folder in (CONCEPTS, TOPICS):
        for other in vault.paths(folder, ".md"):
            with suppress(RetainError):
                data = vault.read_bytes(other) or b""
                if other != path and wanted.search(data):
                    yield Neighbour(other, _title(data) or other.rsplit("/", 1)[-1].removesuffix(".md"))


def _title(data: bytes) -> str:
    """Return the title in a page's bytes; "" without one."""
    found = _TITLE.search(data[:6000].decode(errors="replace"))
    return clean_line(unescape(found[1])) if found else ""
