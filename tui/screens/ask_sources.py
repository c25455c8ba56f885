"""The sources of an answer: shown in their surroundings, and the pages of the wiki on them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from textual.message import Message

from learning.pages.article import may_read
from tui.context import Context
from tui.models.ask import Source
from tui.process.background import read_in_background
from tui.screens.asking import Asking
from tui.strings import ask as strings
from tui.views.ask import SourceList
from tui.views.evidence import SupportPanel
from tui.widgets.grouped_list import ReachingList
from tui.widgets.notice import Notice
from vault.errors import RetainError
from vault.evidence.context import QuoteContext, quote_context
from vault.evidence.evidence import Evidence

_AROUND = 4  # lines of a source before a quote and after it


class AskSources(Asking):
    """A screen with the sources of one answer, of which one may be open."""

    @dataclass
    class Placed(Message):
        """The lines around a quote have been read."""

        evidence: Evidence
        around: QuoteContext

    def __init__(self, context: Context, about: str = "") -> None:
        super().__init__(context, about)
        self._sources: tuple[Source, ...] = ()  # of the selected turn

    def on_reaching_list_reached(self, message: ReachingList.Reached) -> None:
        if self.query_one(SupportPanel).display:
            self._open_source()

    @property
    def _source(self) -> Source | None:
        at = self.query_one(SourceList).highlighted
        return self._sources[at] if at is not None and at < len(self._sources) else None

    def _open_source(self) -> None:
        """Show the words around the quote, as far as they can be read."""
        source = self._source
        if source is None:
            return
        evidence = source.evidence
        self.add_class("-source")
        self.query_one(SupportPanel).show([evidence])

        def look() -> None:
            with suppress(RetainError):  # the quote alone is shown then
                self.post_message(self.Placed(evidence, quote_context(self.context.vault, evidence, _AROUND)))

        self.run_worker(read_in_background(look), group="passage", exclusive=True)

    def on_ask_sources_placed(self, message: Placed) -> None:
        self.query_one(SupportPanel).place(message.evidence, message.around)

    def _close_source(self) -> None:
        self.remove_class("-source")
        self.query_one(SupportPanel).display = False

    def action_article(self) -> None:
        """Open the page of the wiki on the source that the cursor is on."""
        pages = [
            page
            for page in (self._source.pages if self._source else ())
            if may_read(self.context.vault, page.partition("#")[0])
        ]
        if pages:
            self.go("article", pages[0])
        else:
            self.query_one(Notice).show_message(strings.NO_ARTICLE)
