"""An answer as a page: what is said, the words it rests on, the articles concerned, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from compiler.forms.material import Material, Source, Statement
from vault.model.frontmatter import Value, render_note
from vault.model.markdown import escape
from vault.model.wikilink import note_link, raw_link
from vault.text.formatting import plural

_PLACES = 3  # of one document in a list of sources
MISSING = "What your sources do not say"


def report(material: Material, today: date) -> bytes:
    """Return the page."""
    parts = [f"# {escape(material.question)}"]
    if material.is_quoted:
        parts += ["## Quoted from the sources", *(quote_block(each) for each in material.statements)]
    elif material.statements:
        parts += ["## Answer", " ".join(cited(each, material) for each in material.statements)]
        parts += ["## Evidence", *_evidence(material)]
    if material.articles:
        parts += ["## Articles", "\n".join(f"- {note_link(*article)}" for article in material.articles)]
    parts += missing_part(material)
    return page(material, "report", parts, today)


def page(
    material: Material, kind: str, parts: Sequence[str], today: date, sources: Sequence[Source] | None = None
) -> bytes:
    """Return a note with front matter: its `kind`, the question, the date, the engine and the sources.

    These are those of the statements, unless `sources` are given.
    """
    return render_note(properties(material, kind, today, sources), "\n" + "\n\n".join(parts) + "\n").encode()


def properties(material: Material, kind: str, today: date, sources: Sequence[Source] | None = None) -> dict[str, Value]:
    """Return the front matter of a form."""
    head = {"type": kind, "title": material.question, "created": today.isoformat(), "engine": material.engine}
    links: dict[str, str] = {}
    for source in material.numbers if sources is None else sources:
        links.setdefault(
            source.path,
            note_link(source.summary, source.title) if source.summary else raw_link(source.path, source.path),
        )
    return {**head, "sources": tuple(links.values())}


def cited(statement: Statement, material: Material) -> str:
    """Return a statement with a numbered link to each of its sources."""
    numbers = material.numbers
    links = (source.reference(str(numbers[source])) for source in statement.sources)
    return " ".join([escape(statement.text), *links])


def quote_block(statement: Statement) -> str:
    """Return a quote with its place, its claim and the articles that rest on it."""
    (source,) = statement.sources
    claim = source.link("claim")
    about = ", ".join(note_link(*article) for article in statement.articles)
    place = f"— {source.line()}" + (f" ({claim})" if claim else "")
    return "\n\n".join([f"> {escape(statement.text)}", place, *([f"See {about}."] if about else [])])


def missing_part(material: Material) -> list[str]:
    """Return the section on what your sources do not say; nothing where nothing is missing."""
    return [f"## {MISSING}", f"- {escape(material.missing)}"] if material.missing else []


def sources_part(numbers: Mapping[Source, int]) -> list[str]:
    """Return the section that lists the documents with the places that are named."""
    return ["## Sources", "\n".join(document_lines(numbers))] if numbers else []


def document_lines(numbers: Mapping[Source, int]) -> list[str]:
    """Return a line for each document: its number, a link to it, and up to three places."""
    places: dict[int, dict[str, None]] = {}
    links: dict[int, str] = {}
    for source, number in numbers.items():
        links.setdefault(number, raw_link(source.path, source.path))
        places.setdefault(number, {}).update(dict.fromkeys(filter(None, [escape(source.place)])))
    return [f"{number}. {_listed(link, list(places[number]))}" for number, link in sorted(links.items())]


def _listed(link: str, places: Sequence[str]) -> str:
    more = f"and {plural(len(places) - _PLACES, 'more place')}"
    return "; ".join([link, *places[:_PLACES], *([more] if len(places) > _PLACES else [])])


def _evidence(material: Material) -> list[str]:
    """Return the quotes that the sentences rest on, numbered as they are cited."""
    return [
        f"> {escape(source.quote)}\n\n— {source.reference(str(number))} {source.line()}"
        for source, number in material.numbers.items()
    ]
