"""An answer as lines of text: the same in a shell, in the app and for agents, which show them each in their way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from vault.log.ledger import day_of
from vault.text.formatting import plural

if TYPE_CHECKING:  # the app shows answers and starts without the compiler
    from compiler.query.answer import Answer
    from compiler.query.questions import Change

EXTRACT = "Excerpts from the sources (no answer yet)."
QUOTED, CLOSEST = "Quoted from your sources", "Closest passages"


class Part(StrEnum):
    """What a line of an answer is."""

    NOTE = "note"  # what an extract says of the sources
    HEADING = "heading"
    SENTENCE = "sentence"
    MISSING = "missing"  # what the sources do not say
    QUOTE = "quote"
    PLACE = "place"  # of the quote before it
    ARTICLE = "article"  # that rests on the quote before it
    DROPPED = "dropped"  # sentences that the sources do not support
    NEW = "new"
    GONE = "gone"


class Line(NamedTuple):
    """A line of an answer; `before` and `after` are its numbers of sources, or what introduces it."""

    part: Part
    text: str
    before: str = ""
    after: str = ""

    def __str__(self) -> str:
        return f"{self.before}{self.text}{self.after}"


def answer_lines(answer: Answer) -> list[Line]:
    """Return the lines of an answer: its quotes, or its sentences with the quotes on which they rest."""
    return list(_extract(answer) if answer.quotes else _sentences(answer))


def _extract(answer: Answer) -> Iterator[Line]:
    if answer.missing:
        yield Line(Part.NOTE, answer.missing)
    yield Line(Part.HEADING, CLOSEST if answer.is_weak else QUOTED, after=":")
    for number, quote in enumerate(answer.quotes, 1):
        yield Line(Part.QUOTE, f"“{quote.text}”", f"[{number}] ")
        yield _place(quote.path, quote.place)
        yield from (Line(Part.ARTICLE, f"{title}: {path}") for path, title in quote.articles[:3])


def _sentences(answer: Answer) -> Iterator[Line]:
    for sentence in answer.sentences:
        yield Line(Part.SENTENCE, sentence.text, after=f" {source_marks(answer, sentence.cites)}")
    if answer.missing:
        yield Line(Part.MISSING, answer.missing, "Not in your sources: " if answer.sentences else "")
    for number, known in enumerate(answer.claims, 1):
        yield Line(Part.QUOTE, f"“{known.claim.quote}”", f"[{number}] ")
        yield _place(known.raw, known.claim.locator)
    if answer.rejections:
        yield Line(Part.DROPPED, f"{plural(len(answer.rejections), 'unsupported sentence')} dropped")


def _place(path: str, place: str) -> Line:
    return Line(Part.PLACE, ", ".join(filter(None, (path, place))))


def source_marks(answer: Answer, cites: Sequence[str]) -> str:
    """Return the numbers of the sources that a sentence cites: `[1][3]`."""
    return "".join(f"[{n}]" for n, known in enumerate(answer.claims, 1) if known.claim.id in cites)


def change_lines(change: Change, zone: tzinfo) -> list[Line]:
    """Return what an answer has that the earlier one had not, and the other way round, below a heading with its day."""
    day = day_of(change.since, zone)
    heading = Line(Part.HEADING, f"Changed since {day}", after=":")
    return [
        heading,
        *(Line(Part.NEW, text, "+ ") for text in change.new),
        *(Line(Part.GONE, text, "- ") for text in change.gone),
    ]
