"""What the cursor of the browser is on: question and answer, what is remembered, where it stands; fully, its past."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from learning.desk import Placed
from learning.search_source import plain
from tui import text
from tui.browse_rows import Listed
from tui.browsing import Seen
from tui.strings import browse as said
from vault.note import body_of

_MOST = 4_000  # characters of an article that are shown here; the reader has all
_REVIEWS = 40


class CardPreview(VerticalScroll, can_focus=False):
    """Shows one item at a time."""

    def compose(self) -> ComposeResult:
        yield Static(markup=False)

    def show(self, seen: Seen | None, listed: Listed | None) -> None:
        """Shows the item; nothing where there is none."""
        words = Content("") if seen is None or listed is None else _words(seen, listed)
        self.query_one(Static).update(words)
        self.scroll_home(animate=False)


def _words(seen: Seen, listed: Listed) -> Content:
    if seen.item < 0:
        return _stacked([text.prose(plain(body_of(seen.article))[:_MOST].strip()), text.line(seen.path, text.DIM)])
    if seen.card is None or seen.state is None:
        return _stacked([text.line(said.GONE), text.line(seen.path, text.DIM)])
    return _stacked([*_card(seen.card), *_memory(seen, listed), *_past(seen)])


def _card(placed: Placed) -> list[Content]:
    kind = f"$kind-{placed.kind}" if placed.kind else text.DIM
    head = Content("  ").join([text.line(placed.title, text.DIM), text.line(placed.kind, kind)])
    question = text.prose(placed.card.question).stylize_before("bold")
    return [Content("\n").join([head, question]), text.prose(placed.card.answer)]


def _memory(seen: Seen, listed: Listed) -> list[Content]:
    assert seen.state is not None and seen.card is not None
    state, columns = seen.state, listed.columns
    recall = listed.recall(state) if state.reps else None
    memory = said.memory(listed.due(state), said.interval(state.interval_days), state.reps, state.lapses, recall)
    known = seen.item < len(columns)
    about = (
        [columns.topic(seen.item), *(f"#{tag.removeprefix('#')}" for tag in columns.tags(seen.item))] if known else []
    )
    place = said.place(seen.path, seen.card.card.line)
    lines = [memory, "  ".join(filter(None, [*about, place]))]
    return [Content("\n").join([text.line(line, text.DIM) for line in lines])]


def _past(seen: Seen) -> list[Content]:
    out: list[Content] = []
    if seen.evidence:
        quotes = [
            text.line(f"“{each.claim.quote}” {each.place}" if each.claim else each.problem) for each in seen.evidence
        ]
        out += [text.line(said.SOURCE, "bold"), *quotes]
    if seen.reviews:
        rows = [text.line(said.reviewed(at, rating), text.DIM) for at, rating in seen.reviews[:_REVIEWS]]
        out += [text.line(said.REVIEWS, "bold"), Content("\n").join(rows)]
    if len(seen.versions) > 1:
        out.append(text.line(said.HISTORY, "bold"))
        for version in reversed(seen.versions[:-1]):
            when = text.line(said.said_before(version.at, version.how), text.DIM)
            out.append(Content("\n").join([when, text.plain(version.question), text.plain(version.answer)]))
    return out


def _stacked(parts: list[Content]) -> Content:
    return Content("\n\n").join(parts)
