"""A chart of the numbers that answer a question: which numbers, and the note beside the picture.

The numbers are those of one quantity, in the claims that an answer cites, else in the claims and tables of sources that
have most of the question's words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from compiler.forms.material import Material, Source, numbered
from compiler.forms.measurements import MOST, Saying, Series, in_sayings
from compiler.forms.report import page, sources_part
from compiler.forms.source_tables import SourceTable, series_of, tables_of
from compiler.forms.table import in_cell
from compiler.index.steps import READING, Steps, decoded
from compiler.language.lexicon import words as word_list
from compiler.language.quantities import UNITS
from compiler.language.search_terms import FUNCTION_WORDS, terms
from compiler.query.retrieve import Known, known_claims
from compiler.search.search import Results, Word, search
from vault.errors import UsageError
from vault.index.database import Database
from vault.model.markdown import escape
from vault.model.source import SourceText
from vault.model.wikilink import Wikilink, alias, raw_link
from vault.text.formatting import clean_line, plural, truncate
from vault.vault import Vault

_LOOKED_AT = 24  # claims and passages
_ENOUGH = 0.5  # of the question's weight that the words about a number have to have
_NAMES = 5  # quantities that an error names
_MARKS = ".,:;?!()[]\"'“”"
_FORM_WORDS = word_list("chart_words")  # what a question says of the form that is wanted


@dataclass(frozen=True, slots=True)
class Drawn:
    """A series, its numbered sources, and the words by which a reader without the picture knows it."""

    series: Series
    numbers: dict[Source, int]
    alternative: str


def drawn(vault: Vault, database: Database, question: str, cited: Sequence[Known]) -> Drawn:
    """Return the series that answers a question; `cited` are the claims of an answer in sentences.

    Raises: UsageError where there are no two numbers of one quantity, or several quantities; IndexDamaged.
    """
    found = in_sayings([Saying(known.claim.words, "", Source.of(known)) for known in cited])
    if not found:
        results = search(database, _topic(question), ("claim", "passage"), _LOOKED_AT, is_prose=True)
        found = _fitting(vault, database, results)
        if not found:
            raise UsageError(
                f"the claims and tables about {_named(results)} do not have two numbers for the same quantity",
                hint="ask for a quantity that your sources give with numbers and units, as `retain search` shows them",
            )
    best = _asked(_topic(question), found)
    numbers = numbered(point.source for point in best.points)
    return Drawn(best, numbers, _alternative(best))


def _topic(question: str) -> str:
    """Return the question without words such as "chart"."""
    return " ".join(word for word in question.split() if word.strip(".,:;?!").casefold() not in _FORM_WORDS)


def _asked(topic: str, found: Sequence[Series]) -> Series:
    """Return the first series; where most of its places have numbers of others, too, the one that the topic names.

    Raises: UsageError where it names none, or several.
    """
    first = _places(found[0])
    rivals = [each for each in found if 2 * len(first & _places(each)) > len(first)]
    words = _units_and_terms(topic)
    named = [len(words & _units_and_terms(each.quantity)) for each in rivals]
    best = [each for each, count in zip(rivals, named, strict=True) if count == max(named)]
    names = list(dict.fromkeys(truncate(clean_line(each.quantity), 60) for each in best))
    if len(names) > 1:
        said = " and ".join(f"{name}" for name in names[:_NAMES])
        raise UsageError(
            f"several quantities fit ({said}): choose one",
            hint=f'name it in the question, for example "... in {names[-1]}"',
        )
    return best[0]


def _places(numbers: Series) -> set[Source]:
    return {point.source for point in numbers.points}


def _units_and_terms(text: str) -> set[str]:
    """Return the units that a text names, and the terms of its other words, without function words."""
    words = {word.strip(_MARKS).casefold() for word in text.split()} - FUNCTION_WORDS
    return {term for word in words for term in ([UNITS[word]] if word in UNITS else terms(word))}


def _named(results: Results) -> str:
    words = [clean_line(word)[:60] for word in (*(word.text for word in results.words), *results.unknown)]
    return ", ".join(f"“{word}”" for word in words[:8]) or "the question"


def _fitting(vault: Vault, database: Database, results: Results) -> list[Series]:
    """Return the series whose words have most of the question, the best first: of equal ones a table's."""
    if not results.words:
        return []
    scored = [(score, 1, each) for score, each in _in_tables(database, results)]
    scored += [(score, 0, each) for score, each in _in_claims(vault, database, results)]
    best = sorted((each for each in scored if each[0] >= _ENOUGH), key=lambda each: (-each[0], -each[1]))
    return [each for _, _, each in best]


def _in_claims(vault: Vault, database: Database, results: Results) -> Iterator[tuple[float, Series]]:
    """Yield the series in the claims that have enough of the question's words, each with the share that they have."""
    scores: dict[Source, float] = {}
    sayings = []
    entries = {hit.entry.ref: hit.entry for hit in results.hits["claim"]}
    for known in known_claims(vault, list(entries.values())):
        source, entry = Source.of(known), entries[str(known.claim.id)]
        scores[source] = _share(f"{known.claim.words} {entry.place}", entry.language, results)
        if scores[source] >= _ENOUGH:
            sayings.append(Saying(known.claim.words, entry.language, source))
    for each in in_sayings(sayings):
        yield sum(scores[point.source] for point in each.points) / len(each.points), each


def _in_tables(database: Database, results: Results) -> Iterator[tuple[float, Series]]:
    """Yield the columns of numbers in the sources that were found, each with its share of the question's words."""
    hits = [hit.entry for kind in ("passage", "claim") for hit in results.hits[kind]]
    for path in dict.fromkeys(entry.cites if entry.kind == "claim" else entry.path for entry in hits):
        source = read_source(database, path)
        for table in tables_of(source) if source is not None else []:
            assert source is not None
            for each in series_of(table, path, source):
                yield _share(_about(table, each), source.language, results), each


def _about(table: SourceTable, column: Series) -> str:
    """Return the words that say what a column of a table is."""
    return " ".join((table.before, *table.names, column.quantity, *(p.label for p in column.points)))


def read_source(database: Database, path: str) -> SourceText | None:
    """Return the text of a source as the last compile read it; None where that is unknown."""
    row = database.one("SELECT reading FROM source WHERE path = ?", (path,))
    if row is None:
        return None
    read: Any = decoded(Steps(database, keeps=False).get_large(READING, bytes(row[0])))
    try:
        return SourceText.from_json(read["source"])
    except (KeyError, TypeError, ValueError):
        return None


def _share(text: str, language: str, results: Results) -> float:
    """Return the share of the question's weight that is in a text; a word that is nowhere weighs as the rarest one."""
    has = set(terms(text, language))
    weights = [word.weight for word in results.words]
    total = sum(weights) + max(weights) * len(results.unknown)
    return sum(word.weight for word in results.words if _is_there(word, has)) / total


def _is_there(word: Word, has: set[str]) -> bool:
    return any(has.issuperset(spelling) for spelling in word.terms)


def _alternative(shown: Series) -> str:
    """Return what the picture shows, in one line."""
    kind = "Line chart" if shown.over_time else "Bar chart"
    values = "; ".join(f"{truncate(point.label, 60)}: {point.written}" for point in shown.points)
    return truncate(f"{kind} of {shown.quantity}: {values}", 600)


def chart_note(chart: Drawn, material: Material, today: date, picture: str) -> bytes:
    """Return the note beside the picture, which is at vault path `picture`: each number with where it stands."""
    shown, numbers = chart.series, chart.numbers
    embed = Wikilink(picture, alias=alias(chart.alternative), embed=True)
    rows = [f"| {in_cell(shown.labels)} | {in_cell(shown.quantity)} | Source |", "| --- | --- | --- |"]
    for point in shown.points:
        link = point.source.link(str(numbers[point.source]))
        place = link.in_table() if link else raw_link(point.source.path, str(numbers[point.source])).replace("|", "\\|")
        rows.append(f"| {in_cell(point.label)} | {in_cell(point.written)} | {place} {in_cell(point.source.place)} |")
    parts = [f"# {escape(material.question)}", str(embed), "\n".join(rows)]
    if shown.total > len(shown.points):
        parts.append(f"The chart shows the first {MOST} of {plural(shown.total, 'number')}.")
    parts += sources_part(numbers)
    return page(material, "chart", parts, today, tuple(numbers))
