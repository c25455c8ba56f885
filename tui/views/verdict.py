"""The comparison of a typed answer with the card's, and the suggested rating."""

from __future__ import annotations

from collections.abc import Iterable

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content, Span
from textual.widgets import Static

from learning.review.typed_answer import Clash, Comparison, Mark, Marked
from tui.strings import typed as said
from tui.text import content
from vault.log.grading import Grade, Point

_STYLES = {Mark.SAID: "$text-success", Mark.MISSING: "$text-warning underline", Mark.AGAINST: "bold $text-error"}
_LABELS = {
    "yours": said.YOURS,
    "card": said.CARDS,
    "missing": said.MISSING,
    "points": said.POINTS,
    "note": said.NOTE,
}


class Verdict(VerticalScroll):
    """The comparison of a typed answer with the card, and a model's grade."""

    def __init__(self, found: Comparison, asking: str = "") -> None:
        super().__init__(can_focus=False)
        self._found, self._asking = found, asking

    def compose(self) -> ComposeResult:
        with Vertical(classes="column"):
            for name, label in _LABELS.items():
                with Horizontal(classes="verdict-row"):
                    yield Static(content.plain(label, content.DIM), markup=False, classes="verdict-label")
                    yield Static(markup=False, id=f"verdict-{name}", classes="verdict-words")

    def on_mount(self) -> None:
        self.compared(self._found, self._asking)

    def compared(self, found: Comparison, asking: str = "") -> None:
        """Show the comparison by words; `asking` says that a model is being asked, or why it failed."""
        self._show("yours", _marked(found.answer, found.in_answer) if found.answer else _dim(said.NOTHING))
        self._show("card", _marked(found.reference, found.in_reference))
        self._show("missing", content.line(" · ".join(found.missing), "$text-warning"))
        self._show("points", Content(""))
        notes = [content.plain(_clash(clash), "$text-error") for clash in found.clashes]
        self._show("note", Content("\n").join([*notes, _dim(asking or _summary(found))]))
        self.scroll_home(animate=False)

    def graded(self, found: Comparison, grade: Grade, place: str) -> None:
        """Show a model's grade: what is right, what is missing, the suggested rating."""
        points = [_point("✓", "$text-success", each) for each in grade.met]
        points += [_point("✗", "$text-warning", each) for each in grade.missed]
        if points:
            self._show("missing", Content(""))
        self._show("points", Content("\n").join(points))
        rating = grade.suggested.name.capitalize() if grade.suggested else ""
        words = said.suggests(rating) if rating else said.UNSURE
        tokens = grade.cost.input_tokens + grade.cost.output_tokens
        lines = [Content.assemble(content.line(words, "bold"), " ", content.line(grade.why))]
        lines += [content.plain(_clash(clash), "$text-error") for clash in found.clashes]
        lines.append(content.line(said.asked(grade.engine, place, tokens), content.DIM))
        self._show("note", Content("\n").join(lines))
        self.scroll_home(animate=False)

    def _show(self, name: str, words: Content) -> None:
        shown = self.query_one(f"#verdict-{name}", Static)
        shown.update(words)
        if shown.parent is not None:
            shown.parent.display = bool(words.plain)


def _dim(words: str) -> Content:
    return content.line(words, content.DIM)


def _marked(words: str, marks: Iterable[Marked]) -> Content:
    """Return `words` with the marks of `compare`; cleaned character by character, so that offsets stay valid."""
    shown = content.plain(words)
    spans = [Span(mark.start, mark.end, _STYLES[mark.mark]) for mark in marks]
    return Content(shown.plain, spans)


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
    quoted = content.line(f"“{point.said or point.quote}”", content.DIM)
    return Content.assemble(content.plain(f"{sign} ", style), content.line(point.words), "  ", quoted)
