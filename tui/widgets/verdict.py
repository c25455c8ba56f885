"""What a typed answer came to: the human's words beside the card's, and what is suggested for them, if anything."""

from __future__ import annotations

from collections.abc import Iterable

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content, Span
from textual.widgets import Static

from learning.comparison import Clash, Comparison, Mark, Marked
from tui import text
from tui.strings import typed as said
from vault.grading import Grade, Point

_STYLES = {Mark.SAID: "$text-success", Mark.MISSING: "$text-warning underline", Mark.AGAINST: "bold $text-error"}
_LABEL = 9  # cells: the labels stand in a column of their own


class Verdict(VerticalScroll):
    """Hidden until there is something to say; scrolls where that is much."""

    def __init__(self) -> None:
        super().__init__(can_focus=False)

    def compose(self) -> ComposeResult:
        with VerticalScroll(can_focus=False, classes="column"):
            for name in ("yours", "card", "points", "note"):
                yield Static(markup=False, id=f"verdict-{name}")

    def compared(self, found: Comparison, asking: str = "") -> None:
        """Word by word; `asking` says who is asked meanwhile what it means."""
        self._show(
            "yours", _row(said.YOURS, _marked(found.answer, found.in_answer) if found.answer else _dim(said.NOTHING))
        )
        self._show("card", _row(said.CARDS, _marked(found.reference, found.in_reference)))
        self._show("points", _missing(found))
        notes = [text.plain(_clash(clash), "$text-error") for clash in found.clashes]
        notes.append(_dim(asking or _summary(found)))
        self._show("note", _row(said.NOTE, Content("\n").join(notes)))
        self._open()

    def graded(self, found: Comparison, grade: Grade, place: str) -> None:
        """As a model sees it: what is right, what is missing, what it suggests."""
        points = [_point("✓", "$text-success", each) for each in grade.met]
        points += [_point("✗", "$text-warning", each) for each in grade.missed]
        self._show("points", Content("\n").join(points) if points else _missing(found))
        rating = grade.suggested.name.capitalize() if grade.suggested else ""
        words = said.suggests(rating) if rating else said.UNSURE
        tokens = grade.cost.input_tokens + grade.cost.output_tokens
        lines = [Content.assemble(text.line(words, "bold"), " ", text.line(grade.why))]
        lines += [text.plain(_clash(clash), "$text-error") for clash in found.clashes]
        lines.append(text.line(said.asked(grade.engine, place, tokens), text.DIM))
        self._show("note", _row(said.NOTE, Content("\n").join(lines)))
        self._open()

    def failed(self, found: Comparison, why: str) -> None:
        """The model did not answer: what can be said without it stands."""
        self.compared(found, why)

    def close(self) -> None:
        self.display = False

    def _show(self, name: str, words: Content) -> None:
        row = self.query_one(f"#verdict-{name}", Static)
        row.display = bool(words.plain)
        row.update(words)

    def _open(self) -> None:
        self.display = True
        self.scroll_home(animate=False)


def _row(label: str, words: Content) -> Content:
    """A label, and the words beside it: further lines are set in as far."""
    first, *more = words.split("\n")
    head = Content.assemble(text.plain(f"{label:<{_LABEL}}", text.DIM), first)
    return Content("\n").join([head, *(Content.assemble(" " * _LABEL, line) for line in more)])


def _dim(words: str) -> Content:
    return text.line(words, text.DIM)


def _marked(words: str, marks: Iterable[Marked]) -> Content:
    """`words` with their marks, as `compare` gave them; cleaned character for character, so that places stand."""
    shown = text.plain(words)
    spans = [Span(mark.start, mark.end, _STYLES[mark.mark]) for mark in marks]
    return Content(shown.plain, spans)


def _missing(found: Comparison) -> Content:
    if not found.missing:
        return Content("")
    return _row(said.MISSING, text.line(" · ".join(found.missing), "$text-warning"))


def _summary(found: Comparison) -> str:
    if found.suggested is not None:
        return f"{said.SAME} {said.suggests(found.suggested.name.capitalize())}"
    terms = len(found.said) + len(found.missing)
    if not terms:
        return said.NO_TERMS
    if not found.missing and not found.clashes:
        return said.ALL_THERE
    return f"{said.terms(len(found.said), terms)}. {said.BY_WORDS}"


def _clash(clash: Clash) -> str:
    return said.a_not(clash.yours, clash.theirs) if clash.negation else said.another_number(clash.yours, clash.theirs)


def _point(sign: str, style: str, point: Point) -> Content:
    quoted = text.line(f"  “{point.said or point.quote}”", text.DIM)
    return Content.assemble(text.plain(f"{sign:>{_LABEL - 1}} ", style), text.line(point.words), quoted)
