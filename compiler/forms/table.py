"""A table that compares things: a row each, and a column for each aspect that their claims speak of.

The columns are what each thing is, then the words of the question and the concepts that claims on several things name,
then the remaining kinds of claims. A claim is in one column; where nothing is said, the cell is empty. Below the table
are claims that name several of the things.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from compiler.forms.material import Material, Source, numbered
from compiler.forms.report import cited, page, sources_part
from compiler.forms.things import Named, Thing, find_things, is_in, named_articles, occurring, things_asked, with_claims
from compiler.language.search_terms import query_words, terms
from compiler.query.retrieve import Known, known_claims
from compiler.search.search import search
from vault.errors import UsageError
from vault.index.database import Database
from vault.model.claim import ClaimKind
from vault.model.markdown import escape
from vault.model.wikilink import Wikilink, alias
from vault.text.formatting import clean_line, fold, truncate
from vault.vault import Vault

_KINDS = {
    ClaimKind.DEFINITION: "What it is",
    ClaimKind.MECHANISM: "How it works",
    ClaimKind.APPLICATION: "When to use it",
    ClaimKind.LIMITATION: "Limits",
    ClaimKind.RELATION: "Relations",
    ClaimKind.FACT: "Facts",
}
_ASPECTS, _COLUMNS = 3, 6
_IN_CELL = 2  # claims
_TOGETHER = 5  # claims that name several of the things
_CELL = 240  # characters of a claim in a cell
_LOOKED_AT = 30  # claims
_BAR = re.compile(r"(?<!\\)\|")
Fits = Callable[[Known], bool]


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, the path of its article ("" for none), and the claims of each thing: none for an empty cell."""

    heading: str
    path: str
    cells: tuple[tuple[Known, ...], ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """The things of a table, its columns, claims that name several, and the names for which there is no article."""

    things: tuple[Thing, ...]
    columns: tuple[Column, ...]
    together: tuple[Known, ...] = ()
    missing: tuple[str, ...] = ()


def compared(vault: Vault, database: Database, question: str, names: Sequence[str] = ()) -> Compared:
    """Return what is said of the things that `question` compares, or of those called `names`.

    Raises: UsageError where fewer than two have an article; IndexDamaged.
    """
    articles = named_articles(vault, database)
    found, missing = find_things(articles, question, names)
    if len(found) < 2:
        raise UsageError(
            _too_few(found, missing), hint='list them with --things "FIRST,SECOND", using titles or aliases'
        )
    things = with_claims(vault, database, found)
    asked = [name for name in names or things_asked(question) if name not in missing]
    columns = columns_of(things, _aspects(articles, found, asked))
    together = _together(vault, database, found)
    return Compared(tuple(things), columns, tuple(together), tuple(map(clean_line, missing)))


def _together(vault: Vault, database: Database, found: Sequence[Named]) -> list[Known]:
    """Return the claims that name several of the things, those that a search for their names finds first."""
    query = " ".join(article.entry.title for article in found)
    entries = [hit.entry for hit in search(database, query, ("claim",), _LOOKED_AT, is_prose=True).hits["claim"]]
    claims = known_claims(vault, entries)
    return [known for known in claims if _count(found, tuple(terms(known.claim.words))) > 1][:_TOGETHER]


def _count(found: Sequence[Named], words: tuple[str, ...]) -> int:
    """Return how many of the articles are named in these terms; a name inside a longer one is not counted."""
    return len(occurring(found, words))


def _too_few(found: Sequence[Named], missing: Sequence[str]) -> str:
    """Return why there is nothing to compare."""
    there = ", ".join(f"“{article.entry.title}”" for article in found) or "none"
    nowhere = ", ".join(f"“{truncate(clean_line(name), 60)}”" for name in missing)
    return f"a table needs at least two articles; found: {there}" + (
        f"; no article found for: {nowhere}" if nowhere else ""
    )


def _aspects(
    articles: Sequence[Named], found: Sequence[Named], asked: Sequence[str]
) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return what claims may speak of, as (heading, path of its article, its terms): what is asked first."""
    own = {term for article in found for name in article.names for term in name}
    words = [word for word in query_words(" ".join(asked)) if not own & set(terms(word))]
    others = [each for each in articles if each not in found]
    asked_for = [(word.capitalize(), "", tuple(terms(word))) for word in words]
    concepts = [(each.entry.title, each.entry.path, name) for each in others for name in each.names]
    return asked_for + [each for each in concepts if not own.issuperset(each[2])]


def columns_of(things: Sequence[Thing], aspects: Sequence[tuple[str, str, tuple[str, ...]]]) -> tuple[Column, ...]:
    """Return the columns of a table: what each is, at most three aspects that several share, and kinds of claims."""
    used: list[set[str]] = [set() for _ in things]
    columns = [_column("What it is", "", things, used, _of_kind(ClaimKind.DEFINITION))]
    shared = [(_shared(things, name), aspect) for aspect in aspects if (name := aspect[2])]
    best = sorted((each for each in shared if each[0] > 1), key=lambda each: -each[0])
    for _, (heading, path, name) in best:
        if len(columns) > _ASPECTS or heading in [column.heading for column in columns]:
            continue
        before = [set(each) for each in used]
        column = _column(heading, path, things, used, _speaks_of(name))
        if sum(map(bool, column.cells)) > 1:
            columns.append(column)
        else:
            used[:] = before
    for kind, heading in list(_KINDS.items())[1:]:
        columns.append(_column(heading, "", things, used, _of_kind(kind)))
    return tuple(column for column in columns if any(column.cells))[:_COLUMNS]


def _column(heading: str, path: str, things: Sequence[Thing], used: list[set[str]], fits: Fits) -> Column:
    """Return a column of the first claims that fit and have not been used yet, which are used then."""
    cells = []
    for thing, ids in zip(things, used, strict=True):
        cell = [known for known in thing.claims if known.claim.id not in ids and fits(known)][:_IN_CELL]
        ids.update(known.claim.id for known in cell)
        cells.append(tuple(cell))
    return Column(heading, path, tuple(cells))


def _of_kind(kind: ClaimKind) -> Fits:
    return lambda known: known.claim.kind is kind


def _speaks_of(name: tuple[str, ...]) -> Fits:
    return lambda known: is_in(name, _terms(known))


def _shared(things: Sequence[Thing], name: tuple[str, ...]) -> int:
    """Return of how many things a claim names an aspect."""
    return sum(any(is_in(name, _terms(known)) for known in thing.claims) for thing in things)


def _terms(known: Known) -> tuple[str, ...]:
    return tuple(terms(known.claim.words))


def table(compared_: Compared, material: Material, today: date) -> bytes:
    """Return the page: the table, an answer in sentences where there is one, and the sources."""
    cells = [known for column in compared_.columns for cell in column.cells for known in cell]
    sentences = () if material.is_quoted else material.statements
    said = [source for statement in sentences for source in statement.sources]
    numbers = numbered([*said, *map(Source.of, (*cells, *compared_.together))])
    parts = [f"# {escape(material.question)}", "\n".join(_rows(compared_, numbers))]
    whole = replace(material, statements=sentences, is_quoted=False)
    if sentences:
        parts += ["## Answer", " ".join(cited(each, whole) for each in sentences)]
    if compared_.together:
        parts += ["## Mentioned together", "\n".join(f"- {_claim(known, numbers)}" for known in compared_.together)]
    if compared_.missing:
        parts += ["## Not in the wiki", "\n".join(f"- {escape(name)}" for name in compared_.missing)]
    parts += sources_part(numbers)
    return page(whole, "table", parts, today, tuple(numbers))


def _rows(compared_: Compared, numbers: dict[Source, int]) -> Iterable[str]:
    """Yield the lines of the table."""
    yield _row(["", *(_heading(column) for column in compared_.columns)])
    yield _row(["---"] * (1 + len(compared_.columns)))
    for number, thing in enumerate(compared_.things):
        name = Wikilink(thing.path.removesuffix(".md"), alias=alias(thing.title)).in_table()
        yield _row([name, *(_cell(column.cells[number], numbers) for column in compared_.columns)])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _heading(column: Column) -> str:
    if column.path:
        return Wikilink(column.path.removesuffix(".md"), alias=alias(column.heading)).in_table()
    return in_cell(column.heading)


def _cell(claims: Sequence[Known], numbers: dict[Source, int]) -> str:
    """Return the words of claims with their citations; nothing where there are none."""
    return " ".join(in_cell(_shown(known)) + f" {_link(known, numbers).in_table()}" for known in claims)


def _claim(known: Known, numbers: dict[Source, int]) -> str:
    return f"{escape(_shown(known))} {_link(known, numbers)}"


def _shown(known: Known) -> str:
    return truncate(clean_line(known.claim.words), _CELL)


def _link(known: Known, numbers: dict[Source, int]) -> Wikilink:
    """Return a citation of a claim."""
    source = Source.of(known)
    link = source.link(str(numbers[source]))
    assert link is not None  # a claim has one
    return link


def in_cell(text: str) -> str:
    """Return words for a cell of a Markdown table."""
    return _BAR.sub(r"\\|", escape(fold(clean_line(text))))
