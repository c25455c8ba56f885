"""What a model or agent is shown with a question: titles, articles, claims and passages, within a budget.

The index comes first: the titles of the pages that fit, and of those that they lead to. Then the articles that fit
best, whole, with the claims that they cite; claims that a search finds; and passages of sources: the best of a search,
those behind the claims of the articles, and further ones.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from compiler.index.entries import Entry, claims_named, page_of, passages_of, titles_of
from compiler.protocol.replies import AnswerReply, AnswerSentence, Quote
from compiler.protocol.requests import ArticleView, BlockView, DocumentView, PassageView
from compiler.query.retrieve import Known, fitting, known_claims, passage_key
from compiler.search.rows import LONG
from compiler.search.search import Likeness, search
from vault.errors import Damaged, Refused
from vault.ids import SourceId, digest12
from vault.index.database import Database
from vault.layout import CONCEPTS, TOPICS
from vault.model.article import CitedSentence, sentences
from vault.model.claim import Claim, ClaimKind
from vault.model.wikilink import links
from vault.text.formatting import clean_line, fold
from vault.vault import Vault

BUDGET = 60_000  # characters of a request, about 15,000 tokens, without its instructions
_TITLES, _ARTICLES, _CLAIMS, _PASSAGES = 0.05, 0.35, 0.65, 1.0  # of the budget, until which each kind may fill it
_MOST_TITLES, _MOST_ARTICLES, _FOUND = 60, 4, 12
_OVERHEAD = 24  # characters around a claim or passage
_HEADING = re.compile(r"^ {0,3}#{2,6} +(.+?)[ \t]*$")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Material:
    """What is shown with a question. `claims` are numbered from 1 in this order.

    `sources` has for the id of each document's source (path of its file, path of its page).
    """

    titles: tuple[str, ...]
    articles: tuple[ArticleView, ...]
    claims: tuple[Known, ...]
    documents: tuple[DocumentView, ...]
    sources: Mapping[str, tuple[str, str]]

    def __bool__(self) -> bool:
        return bool(self.claims or self.documents)

    def resolved(self, reply: AnswerReply) -> tuple[AnswerReply, tuple[Known, ...]]:
        """Return a reply whose sentences cite by ids alone, and the claims and passages that have these ids.

        Words of a passage that was shown count as one; where they are a claim's quote, as that claim.
        """
        known = {fold(each.claim.quote): each for each in self.claims}
        found: dict[str, Known] = {}
        said = []
        for sentence in reply.sentences:
            cited = (known.get(fold(quote.words)) or self._passage(quote) for quote in sentence.quotes)
            passages = {str(each.claim.id): each for each in cited if each is not None}
            found |= {id_: each for id_, each in passages.items() if not each.is_claim}
            said.append(AnswerSentence(text=sentence.text, cites=tuple(dict.fromkeys((*sentence.cites, *passages)))))
        return reply.replaced(sentences=tuple(said)), (*self.claims, *found.values())

    def _passage(self, quote: Quote) -> Known | None:
        """Return words of a passage that was shown; None if none has them."""
        words = fold(quote.words)
        shown = ((d, p) for d in self.documents if d.source == quote.source for p in d.passages)
        for document, passage in shown if words else ():
            if words in fold("\n\n".join(block.text for block in passage.blocks)):
                raw, page = self.sources[document.source]
                place = next(iter(passage.headings), "")
                key, source = passage_key(raw, words), SourceId(document.source)
                claim = Claim(key, source, ClaimKind.FACT, words, locator=place)
                return Known(claim, page, 0, document.title, raw, is_claim=False)
        return None


def gather(
    vault: Vault, database: Database, words: str, budget: int = BUDGET, likeness: Likeness | None = None
) -> Material:
    """Return what is shown with a question that is searched by these words; `likeness` is as `search` takes it.

    Raises: IndexDamaged.
    """
    hits = search(database, words, ("article", "topic"), _FOUND, is_prose=True).hits
    room = _Room(budget)
    found = [hit.entry for hit in (*hits["article"], *hits["topic"])]
    best = list(_pages(vault, found[:_MOST_ARTICLES]))
    titles = room.take(_titles(database, found, best), len, _TITLES)
    articles = room.take(best, lambda page: len(page.text({})), _ARTICLES)
    cited = list(dict.fromkeys(claim for page in articles for claim in page.cites))
    claims = [*known_claims(vault, claims_named(database, cited)), *fitting(vault, database, words, likeness)]
    once = list({each.claim.id: each for each in claims}.values())
    kept = room.take(once, lambda each: len(each.claim.quote) + len(each.claim.statement), _CLAIMS)
    numbers = {str(each.claim.id): n for n, each in enumerate(kept, 1)}
    most = 2 * budget // LONG
    ranked = search(database, words, ("passage",), most, likeness, is_prose=True).hits["passage"]
    passages = [hit.entry for hit in ranked[:most]]
    first, rest = passages[:_FOUND], passages[_FOUND:]
    passages = [*first, *_behind(database, [each for each in kept if str(each.claim.id) in cited]), *rest]
    shown = room.take(list(dict.fromkeys(passages)), lambda entry: len(entry.text), _PASSAGES)
    documents, sources = _documents(database, shown)
    views = tuple(ArticleView(title=page.title, text=page.text(numbers)) for page in articles)
    return Material(tuple(titles), views, tuple(kept), documents, sources)


class _Room:
    """The part of the budget that is used."""

    def __init__(self, budget: int) -> None:
        self.budget, self.used = budget, 0

    def take(self, items: Sequence[T], size: Callable[[T], int], share: float) -> list[T]:
        """Return the items, in order, that fit until that share of the budget is used; longer ones are left out."""
        taken = []
        for item in items:
            if self.used + size(item) + _OVERHEAD <= self.budget * share:
                self.used += size(item) + _OVERHEAD
                taken.append(item)
        return taken


# --- articles --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Page:
    """An article: its title, its headings by line, its sentences with citations, the pages that it links to."""

    title: str
    headings: Mapping[int, str]
    sentences: tuple[CitedSentence, ...]
    targets: tuple[str, ...]

    @property
    def cites(self) -> tuple[str, ...]:
        return tuple(str(cite.claim) for sentence in self.sentences for cite in sentence.cites)

    def text(self, numbers: Mapping[str, int]) -> str:
        """Return the article as it is shown, with the numbers of the claims that its sentences cite."""
        lines = [(line, "", f"## {heading}") for line, heading in self.headings.items()]
        for sentence in self.sentences:
            known = [str(numbers[c]) for cite in sentence.cites if (c := str(cite.claim)) in numbers]
            lines.append((sentence.line, "s", f"{sentence.text} [{'; '.join(known)}]" if known else sentence.text))
        return "\n".join(text for _, _, text in sorted(lines, key=lambda each: each[:2]))


def _pages(vault: Vault, found: Sequence[Entry]) -> Iterator[_Page]:
    """Yield the pages of these entries, without what cites nothing."""
    for entry in found:
        text = None
        with suppress(Damaged, Refused):  # `retain verify` names it
            text = vault.read_text(entry.path)
        if text is None:
            continue
        lines = enumerate(text.split("\n"), 1)
        headings = {n: clean_line(match[1]) for n, line in lines if (match := _HEADING.match(line))}
        cited = tuple(sentence for sentence in sentences(text) if sentence.cites)
        targets = tuple(dict.fromkeys(link.target for link in links(text)))
        yield _Page(entry.title, headings, cited, targets)


def _titles(database: Database, found: Sequence[Entry], best: Sequence[_Page]) -> list[str]:
    """Return the titles of the pages that a search finds, and of their neighbours in the graph."""
    linked = [t for page in best for t in page.targets if t.startswith((f"{CONCEPTS}/", f"{TOPICS}/"))]
    named = titles_of(database, [f"{target}.md" for target in linked])
    return list(dict.fromkeys([*(entry.title for entry in found), *named]))[:_MOST_TITLES]


# --- passages --------------------------------------------------------------------------------------------------------


def _behind(database: Database, claims: Sequence[Known]) -> Iterator[Entry]:
    """Yield the passages in which the quotes of claims stand."""
    quotes: dict[str, list[str]] = defaultdict(list)
    for each in claims:
        quotes[each.raw].append(fold(each.claim.quote))
    for raw, said in quotes.items():
        for entry in passages_of(database, raw):
            words = fold(entry.text)
            if any(quote in words for quote in said):
                yield entry


def _documents(
    database: Database, shown: Sequence[Entry]
) -> tuple[tuple[DocumentView, ...], dict[str, tuple[str, str]]]:
    """Return passages as documents, numbered as in their sources, and the files and pages of these by id."""
    wanted = set(shown)
    documents, sources = [], {}
    for number, raw in enumerate(dict.fromkeys(entry.path for entry in shown), 1):
        page, entries = page_of(database, raw), passages_of(database, raw)
        id_ = page.ref if page is not None and page.ref else str(passage_key(raw, ""))
        sources[id_] = raw, page.path if page is not None else ""
        passages = tuple(_view(n, entry) for n, entry in enumerate(entries, 1) if entry in wanted)
        first = entries[0]
        documents.append(
            DocumentView(number=number, source=id_, title=first.title, language=first.language, passages=passages)
        )
    return tuple(documents), sources


def _view(number: int, entry: Entry) -> PassageView:
    texts = [part for part in entry.text.split("\n\n") if part.strip()]
    blocks = tuple(BlockView(key=digest12(fold(text)), text=text) for text in texts)
    return PassageView(number=number, headings=(clean_line(entry.place),) if entry.place else (), blocks=blocks)
