"""What a form is made from: the statements of an answer, and the places in the sources that they rest on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from compiler.index.entries import articles_citing
from compiler.query.answer import Answer, Quoted
from compiler.query.retrieve import Known
from vault.index.database import Database
from vault.model.markdown import escape
from vault.model.wikilink import Wikilink, alias, raw_link
from vault.text.formatting import clean_line

Article = tuple[str, str]  # vault path, title


@dataclass(frozen=True, slots=True)
class Source:
    """The words of a source that a statement rests on, and where they are.

    `path` is the file in `raw/`, `summary` its summary, `claim` the claim that has these words; "" where there is none.
    """

    quote: str
    path: str
    place: str
    title: str
    summary: str = ""
    claim: str = ""

    @classmethod
    def of(cls, known: Known) -> Source:
        """Return the source of a claim."""
        claim = known.claim
        title = known.title or known.raw
        return cls(
            clean_line(claim.quote),
            known.raw,
            clean_line(claim.locator),
            title,
            known.summary,
            claim.id if known.is_claim else "",
        )

    def link(self, words: str) -> Wikilink | None:
        """Return a link to the claim, shown as `words`; None where there is no claim."""
        if not self.claim:
            return None
        return Wikilink(self.summary.removesuffix(".md"), f"^c-{self.claim}", alias(words))

    def reference(self, words: str) -> str:
        """Return a link to the claim, or to the file where there is no claim, as Markdown."""
        return str(self.link(words) or raw_link(self.path, words))

    def line(self) -> str:
        """Return the file and the place as one line of Markdown that links to the file."""
        return raw_link(self.path, self.path) + (f", {escape(self.place)}" if self.place else "")

    def __str__(self) -> str:
        """Return the file and the place as plain words."""
        return ", ".join(filter(None, (clean_line(self.path), self.place)))


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of an answer, or a quote; what it rests on, and the articles that say so."""

    text: str
    sources: tuple[Source, ...]
    articles: tuple[Article, ...] = ()


@dataclass(frozen=True, slots=True)
class Material:
    """An answer as statements. `is_quoted` says that these are quotes, made without a model."""

    question: str
    statements: tuple[Statement, ...]
    missing: str
    engine: str
    is_quoted: bool
    is_weak: bool = False

    @property
    def numbers(self) -> dict[Source, int]:
        """Return the number of each source: that of its document, from 1 in the order in which they are named."""
        return numbered(source for statement in self.statements for source in statement.sources)

    @property
    def articles(self) -> tuple[Article, ...]:
        """Return the articles that the statements name, each once."""
        return tuple(dict.fromkeys(article for statement in self.statements for article in statement.articles))


def numbered(sources: Iterable[Source]) -> dict[Source, int]:
    """Return each source with the number of its document, which counts from 1."""
    found = tuple(dict.fromkeys(sources))
    documents = {path: number for number, path in enumerate(dict.fromkeys(each.path for each in found), 1)}
    return {source: documents[source.path] for source in found}


def material_of(database: Database, answer: Answer) -> Material:
    """Return what the forms of an answer are made from. Raises: IndexDamaged."""
    if answer.quotes:
        statements = tuple(_quoted(quote) for quote in answer.quotes)
    else:
        by_id = {str(known.claim.id): known for known in answer.claims}
        statements = tuple(
            Statement(
                clean_line(sentence.text),
                tuple(Source.of(by_id[cite]) for cite in sentence.cites if cite in by_id),
                tuple(articles_citing(database, frozenset(sentence.cites))),
            )
            for sentence in answer.sentences
        )
    question, missing = clean_line(answer.question), clean_line(answer.missing)
    return Material(question, statements, missing, answer.engine, bool(answer.quotes), answer.is_weak)


def _quoted(quote: Quoted) -> Statement:
    """Return a quote as a statement, with the first claim that has a part of its words."""
    text = clean_line(quote.text)
    claim = min(quote.claims, key=lambda each: quote.text.find(each.quote), default=None)
    title = quote.title or quote.path.rpartition("/")[2]
    source = Source(text, quote.path, quote.place, title, quote.summary, claim.id if claim else "")
    return Statement(text, (source,), quote.articles)
