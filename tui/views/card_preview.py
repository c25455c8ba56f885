"""The preview of the browser's current item: question, answer, memory state; in full, its history."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from learning.store.placed import Placed
from tui.models.browser import Seen
from tui.models.browser_rows import Listed
from tui.strings import browse as said
from tui.text import content
from vault.model.frontmatter import body_of
from vault.model.markdown import plain_words

_MOST = 4_000  # characters of an article that are shown here; the reader has all
_REVIEWS = 40


class CardPreview(VerticalScroll, can_focus=False):
    """The preview of one item in the browser."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[Seen | None, Listed | None] = (None, None)

    def compose(self) -> ComposeResult:
        yield Static(markup=False)

    def show(self, seen: Seen | None, listed: Listed | None) -> None:
        """Show an item, or nothing."""
        self._shown = seen, listed
        self._paint()
        self.scroll_home(animate=False)

    def on_resize(self, _event: Resize) -> None:
        """Lay out tables again for the new width."""
        self._paint()

    def _paint(self) -> None:
        seen, listed = self._shown
        shown = self.query_one(Static)
        width = shown.content_size.width
        shown.update(Content("") if seen is None or listed is None else _words(seen, listed, width))


def _words(seen: Seen, listed: Listed, width: int) -> Content:
    """Return the preview at a width in cells; 0 if it is not known yet."""
    if seen.item < 0:
        words = content.prose(plain_words(body_of(seen.article))[:_MOST].strip(), width)
        return _stacked([words, content.line(seen.path, content.DIM)])
    if seen.card is None or seen.state is None:
        return _stacked([content.line(said.GONE), content.line(seen.path, content.DIM)])
    return _stacked([*_card(seen.card, width), *_memory(seen, listed), *_past(seen)])


def _card(placed: Placed, width: int) -> list[Content]:
    head = Content("  ").join([content.line(placed.title), content.line(placed.kind, content.DIM)])
    question = content.prose(placed.card.question, width).stylize_before("bold")
    return [Content("\n").join([head, question]), content.prose(placed.card.answer, width)]


def _memory(seen: Seen, listed: Listed) -> list[Content]:
    assert seen.state is not None and seen.card is not None
    state = seen.state
    recall = listed.recall(state) if state.reps else None
    memory = said.memory(listed.due(state), said.interval(state.interval_days), state.reps, state.lapses, recall)
    tags = dict.fromkeys((*seen.card.deck.properties.texts("tags"), *state.tags))
    about = [listed.records.topic(seen.path), *(f"#{tag.removeprefix('#')}" for tag in tags)]
    place = said.place(seen.path, seen.card.card.line)
    lines = [memory, "  ".join(filter(None, [*about, place]))]
    return [Content("\n").join([content.line(line, content.DIM) for line in lines])]


def _past(seen: Seen) -> list[Content]:
    out: list[Content] = []
    if seen.evidence:
        quotes = [
            content.line(f"“{each.claim.quote}” {each.place}" if each.claim else each.problem) for each in seen.evidence
        ]
        out += [content.line(said.SOURCE, "bold"), *quotes]
    if seen.reviews:
        rows = [content.line(said.reviewed(at, rating), content.DIM) for at, rating in seen.reviews[:_REVIEWS]]
        out += [content.line(said.REVIEWS, "bold"), Content("\n").join(rows)]
    if len(seen.versions) > 1:
        out.append(content.line(said.HISTORY, "bold"))
        for version in reversed(seen.versions[:-1]):
            when = content.line(said.said_before(version.at, version.how), content.DIM)
            out.append(Content("\n").join([when, content.plain(version.question), content.plain(version.answer)]))
    return out


def _stacked(parts: list[Content]) -> Content:
    return Content("\n\n").join(parts)
