"""A wiki as the rules of `retain lint` see it: its pages, summaries and decks, each read once."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from compiler.concepts.decisions import rulings_of
from compiler.replies.journal import Journal
from compiler.replies.knowledge import Knowledge, title_key
from compiler.sources.confidence import original_page
from compiler.sources.inventory import Scan, scan_sources
from compiler.verification.verdict import Verdict
from compiler.verification.verify import unsupported
from vault.errors import Damaged, Refused
from vault.files.write_scopes import is_conflict_copy
from vault.ids import digest12
from vault.layout import ANSWERS, CONCEPTS, GAPS, SUMMARIES, TOPICS
from vault.log.ledger import DECISIONS, IDS, Event, Ids, fold
from vault.model.answer_page import AnswerPage, parse_page
from vault.model.article import CitedSentence, sentences
from vault.model.card import Deck
from vault.model.claim import Claim
from vault.model.frontmatter import Properties, body_of, read_properties
from vault.model.summary import Summary, furniture_of, parse_summary, prose_of
from vault.model.wikilink import Wikilink, citations, links
from vault.text.formatting import clean_line
from vault.text.formatting import fold as fold_space
from vault.vault import Vault

INDEXES = ("wiki/_index.md", "wiki/_concepts.md", "wiki/_graph.md", "wiki/_log.md")
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+)$", re.MULTILINE)
_BLOCK = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*$", re.MULTILINE)
_NOT_KEY = re.compile(r"[\W_]+")
_CODE = re.compile(r"`[^`\n]+`")
_FENCE = re.compile(r"^((?: {0,3}>)*) {0,3}(```+|~~~+)")
_FILE_LINK = re.compile(r"\]\((?:<([^<>#\n]+\.md)(?:#[^<>\n]*)?>|([^\s()<>#]+\.md)(?:#[^\s()<>]*)?)\)")


@dataclass(frozen=True)
class Page:
    """A note: its vault path, its text, and what is in them."""

    path: str
    text: str

    @cached_property
    def properties(self) -> Properties:
        return read_properties(self.text)

    @property
    def stem(self) -> str:
        """Return the vault path without `.md`, as links name it."""
        return self.path.removesuffix(".md")

    @cached_property
    def title(self) -> str:
        return clean_line(self.properties.text("title")) or self.stem.rpartition("/")[2]

    @cached_property
    def links(self) -> tuple[tuple[int, Wikilink], ...]:
        """Return the wikilinks with their 1-based lines, without those in code."""
        return tuple((number, link) for number, line in self._lines if "[[" in line for link in links(line))

    @cached_property
    def file_links(self) -> tuple[tuple[int, str], ...]:
        """Return the links to files of notes, `[words](path.md)`: their 1-based lines and the paths as written."""
        found = ((number, link) for number, line in self._lines if "](" in line for link in _FILE_LINK.findall(line))
        return tuple((number, unquote(angled or bare)) for number, (angled, bare) in found)

    @property
    def _lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines with their 1-based numbers, without code. A fence in a quote ends with it."""
        fence, quoted = "", ""
        for number, line in enumerate(self.text.split("\n"), 1):
            if fence and quoted and not line.lstrip().startswith(">"):
                fence = ""
            mark = _FENCE.match(line)
            if mark:
                fence, quoted = (
                    ("", "") if fence and mark[2].startswith(fence) else (fence or mark[2], quoted or mark[1])
                )
            elif not fence:
                yield number, _CODE.sub("", line)

    @cached_property
    def targets(self) -> frozenset[str]:
        """Return the vault paths and names that the note links to, without `.md`."""
        return frozenset(link.target.removesuffix(".md") for _, link in self.links)

    @cached_property
    def blocks(self) -> frozenset[str]:
        """Return the ids of its blocks."""
        return frozenset(_BLOCK.findall(self.text))

    @cached_property
    def headings(self) -> frozenset[str]:
        """Return the keys of its headings."""
        return frozenset(map(heading_key, _HEADING.findall(self.text)))

    @cached_property
    def sentences(self) -> tuple[CitedSentence, ...]:
        return tuple(sentences(self.text))

    @cached_property
    def cites(self) -> frozenset[str]:
        """Return the ids of the claims that the page cites."""
        return frozenset(str(each.claim) for each in citations(self.text))


@dataclass(frozen=True, slots=True)
class JudgedNames:
    """Which names a model takes for one, by their keys; `asked` are the names of each request."""

    same: frozenset[frozenset[str]]
    asked: tuple[frozenset[str], ...]

    def judged_different(self, names: frozenset[str]) -> bool:
        """Return whether a model was asked about both and did not say that they are one."""
        return names not in self.same and any(names <= each for each in self.asked)


@dataclass(eq=False)
class Wiki:
    """The notes of a vault. `unreadable` are the paths of those that cannot be read; `today` is the study day,
    and `at` the instant, where it is known.
    """

    vault: Vault
    today: date
    unreadable: list[str] = field(default_factory=list)
    at: datetime | None = None

    @cached_property
    def articles(self) -> tuple[Page, ...]:
        return tuple(self._pages(CONCEPTS))

    @cached_property
    def topics(self) -> tuple[Page, ...]:
        return tuple(self._pages(TOPICS))

    @cached_property
    def sources(self) -> tuple[Page, ...]:
        """Return the pages of the sources."""
        return tuple(self._pages(SUMMARIES))

    @cached_property
    def answers(self) -> tuple[Page, ...]:
        """Return the answers that were filed."""
        return tuple(self._pages(ANSWERS))

    @cached_property
    def answer_pages(self) -> dict[str, AnswerPage]:
        """Return the answers that were filed as parsed, by path."""
        return {page.path: parse_page(page.text) for page in self.answers}

    @cached_property
    def indexes(self) -> tuple[Page, ...]:
        return tuple(page for path in INDEXES if (page := self._page(path)) is not None)

    @cached_property
    def agenda(self) -> str:
        """Return the text of the agenda of gaps."""
        page = self._page(GAPS)
        return page.text if page is not None else ""

    @cached_property
    def notes(self) -> tuple[Page, ...]:
        """Return the human's notes in `insights/`, without conflicted copies."""
        found = (path for path in self.insights if path.endswith(".md") and not is_conflict_copy(path))
        return tuple(page for path in found if (page := self._page(path)) is not None)

    @cached_property
    def insights(self) -> tuple[str, ...]:
        """Return the paths of all files in `insights/`, sorted."""
        root = self.vault.root
        return tuple(sorted(p.relative_to(root).as_posix() for p in (root / "insights").rglob("*") if p.is_file()))

    @cached_property
    def source_files(self) -> Scan:
        """Return the files that a compile reads as sources."""
        return scan_sources(self.vault.root, self.vault.notes)

    @cached_property
    def pages(self) -> tuple[Page, ...]:
        """Return the articles, the topics and the pages of the sources."""
        return (*self.articles, *self.topics, *self.sources)

    @cached_property
    def summaries(self) -> dict[str, Summary]:
        """Return the pages of the sources as parsed, by path."""
        return {page.path: parse_summary(page.text, page.path) for page in self.sources}

    def properties_of(self, path: str) -> Properties | None:
        """Return the properties of the page of a source; None if it is not there."""
        return self.summaries[path].properties if path in self.summaries else None

    @cached_property
    def origins(self) -> dict[str, str]:
        """Return for the page of each source that of its original."""
        return {path: original_page(path, self.properties_of) for path in self.summaries}

    @cached_property
    def claims(self) -> dict[str, tuple[Claim, str, int]]:
        """Return each claim by its id, with the path and line of its block."""
        found = ((each, path) for path, summary in self.summaries.items() for each in summary.claims)
        return {str(each.claim.id): (each.claim, path, each.line) for each, path in found}

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the names of all files of the vault, without folder and `.md`, folded: a bare link may mean any."""
        found = set()
        for folder, below, files in os.walk(self.vault.root):
            below[:] = [name for name in below if not name.startswith(".")]
            found |= {name.removesuffix(".md").casefold() for name in files}
            found |= {f"{Path(folder).name}/{name}".removesuffix(".md").casefold() for name in files}
        return frozenset(found)

    @cached_property
    def ids(self) -> Ids:
        """Return what the ledger knows of sources, concepts, claims and cards."""
        return fold(self.id_events)

    @cached_property
    def id_events(self) -> list[Event]:
        return self.vault.ledger_events(IDS)[0]

    @cached_property
    def claims_of_ledger(self) -> dict[str, set[str]]:
        """Return the ids of the claims that the ledger has as current, by the id of their source."""
        found: dict[str, set[str]] = defaultdict(set)
        for id_, birth in self.ids.births.items():
            if birth.noun == "claim" and self.ids.alive(id_):
                found[self.ids.present_key[id_].partition(":")[0]].add(id_)
        return found

    @cached_property
    def page_at(self) -> dict[str, Page]:
        """Return all pages by path."""
        return {page.path: page for page in self.pages}

    @cached_property
    def decks(self) -> tuple[Deck, ...]:
        return tuple(self.vault.decks())

    @cached_property
    def decks_originals_first(self) -> list[Deck]:
        """Return the decks, those last that are not named like their article: they may be copies."""
        return sorted(
            self.decks, key=lambda deck: f"/{deck.path.rpartition('/')[2][:-3]}|" not in deck.properties.text("article")
        )

    @cached_property
    def journal(self) -> Journal:
        """Return the stored replies of models and agents."""
        return Journal.of(self.vault)[0]

    @cached_property
    def judged_pairs(self) -> dict[str, str]:
        """Return what a model said of pairs of statements, by their key: conflict, reported, changed or none."""
        return {key: verdict.verdict for key, verdict in self._knowledge.pairs.items()}

    @cached_property
    def judged_names(self) -> JudgedNames:
        """Return which names a model takes for one, and which it was asked about together."""
        same = {frozenset(map(title_key, pair)) for reply in self._knowledge.settled for pair in reply.same}
        asked = [frozenset(map(title_key, reply.covers)) for reply in self._knowledge.settled]
        return JudgedNames(frozenset(same), tuple(asked))

    @cached_property
    def decided_different(self) -> frozenset[frozenset[str]]:
        """Return the pairs of names, by their keys, that the user said are different."""
        return frozenset(map(frozenset, rulings_of(self.vault.ledger_events(DECISIONS)[0]).apart))

    @cached_property
    def _knowledge(self) -> Knowledge:
        return Knowledge.of(self.journal.entries, retries=True)

    @cached_property
    def unsupported(self) -> Verdict:
        """Return what `retain verify` has against sentences and cards, without reading the sources."""
        texts = {page.path: page.text for page in (*self.articles, *self.topics)}
        proses = {page.path: page.text for page in self._edited_sources}
        return unsupported(
            self.vault, self.summaries.values(), texts, proses, self.answer_pages, self.decks, self.journal
        )

    @cached_property
    def altered(self) -> dict[str, tuple[str, int, str]]:
        """Return the claims whose quote is not the one recorded, by id: path and line, and the quote as recorded."""
        out = {}
        for id_, (claim, path, line) in self.claims.items():
            recorded = self.ids.quotes.get(id_, "")
            if recorded and fold_space(recorded) != fold_space(claim.quote):
                out[id_] = path, line, recorded
        return out

    @cached_property
    def prose(self) -> dict[str, tuple[CitedSentence, ...]]:
        """Return the sentences outside the claims of the pages of sources that the user edited, by path."""
        out = {}
        for page in self._edited_sources:
            furniture = furniture_of(self.summaries[page.path])
            found = sentences(prose_of(page.text))
            out[page.path] = tuple(each for each in found if each.cites or each.text not in furniture)
        return out

    @cached_property
    def _edited_sources(self) -> tuple[Page, ...]:
        """Return the pages of sources that are not as a compile wrote them."""
        return tuple(page for page in self.sources if page.properties.text("generated") != digest12(body_of(page.text)))

    @cached_property
    def titles(self) -> dict[str, str]:
        """Return the titles of all pages by path without `.md`."""
        return {page.stem: page.title for page in self.pages}

    def _pages(self, folder: str) -> Iterator[Page]:
        return (page for path in self.vault.paths(folder, ".md") if (page := self._page(path)) is not None)

    def _page(self, path: str) -> Page | None:
        with suppress(Damaged, Refused):
            text = self.vault.read_text(path)
            return None if text is None else Page(path, text)
        self.unreadable.append(path)
        return None


def heading_key(heading: str) -> str:
    """Return a heading as links name it: its words, without punctuation and capitals."""
    return _NOT_KEY.sub(" ", heading).strip().casefold()
