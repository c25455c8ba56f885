"""What the command palette finds: commands, then articles, topics, cards and gaps by name.

The vault is read at the first letter, in the background, and once while the palette is open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from textual.app import SystemCommand
from textual.command import DiscoveryHit, Hit, Hits, Provider

from learning.agenda.gap_decisions import read_agenda
from learning.cards.workspace import open_desk
from learning.search.names import Named, articles_named, cards_named
from learning.search.records import Records
from tui.process.background import read_in_background
from tui.screen import Go, Page
from tui.strings import app as strings
from tui.text import content
from vault.errors import RetainError
from vault.model.gaps import Gap
from vault.text.formatting import clean_line, folded

_MOST = 5  # hits of a sort
_NAMED, _LETTERS = 1, 0  # tiers of the score, below those of commands that hold the words as they are typed


class Commands(Provider):
    """The commands of the current screen, of the app, and what the vault holds."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._reading: asyncio.Task[None] | None = None
        self._records: Records | None = None
        self._gaps: list[Gap] = []

    def _commands(self) -> Iterator[SystemCommand]:
        return iter(self.app.get_system_commands(self.screen))

    async def discover(self) -> Hits:
        for command in self._commands():
            if command.discover:
                yield DiscoveryHit(command.title, command.callback, command.title, command.help)

    async def search(self, query: str) -> Hits:
        for number, command in enumerate(self._commands()):
            tier = self._tier(command, query)
            if tier is not None:
                yield _hit(command.title, command.help, tier + 1 / (number + 2), command.callback)
        if isinstance(self.screen, Page) and await self._read(self.screen):
            for hit in await asyncio.to_thread(lambda: list(self._named(query))):
                yield hit

    def _tier(self, command: SystemCommand, query: str) -> int | None:
        """Return how well a command matches: by its whole name, words of it, of its help, or letters; None: not."""
        wanted, title = folded(query).split(), folded(command.title)
        if title == folded(query):
            return 4
        if all(word in title for word in wanted):
            return 3
        if all(word in f"{title} {folded(command.help)}" for word in wanted):
            return 2
        return _LETTERS if self.matcher(query).match(command.title) > 0 else None

    # --- what the vault holds ---------------------------------------------------------------------------------------

    async def _read(self, page: Page) -> bool:
        """Read the vault once; return whether anything can be found there."""
        if self._reading is None:
            self._reading = asyncio.create_task(read_in_background(partial(self._open, page)))
        try:
            await asyncio.shield(self._reading)  # the next letter ends this search, not the reading
        except (RetainError, OSError):
            return False  # the screens say what is wrong
        return self._records is not None

    def _open(self, page: Page) -> None:
        vault = page.context.vault
        records = Records(open_desk(vault, page.context.clock(), queued=False))
        self._gaps = [gap for gap in read_agenda(vault) if gap.open]
        for _ in records.refresh():
            pass
        self._records = records

    def _named(self, query: str) -> Iterator[Hit]:
        records = self._records
        assert records is not None
        articles = articles_named(records, query, 2 * _MOST)
        found = (
            (strings.ARTICLE, [one for one in articles if not one.is_topic]),
            (strings.TOPIC, [one for one in articles if one.is_topic]),
            (strings.CARD, cards_named(records, query, _MOST)),
        )
        for number, (sort, named) in enumerate(found):
            for one in named[:_MOST]:
                yield _hit(one.title, sort, _NAMED + 1 / (number + 2), partial(self._open_named, one))
        wanted = folded(query).split()
        gaps = [gap for gap in self._gaps if all(word in folded(gap.what) for word in wanted)]
        for gap in gaps[:_MOST]:
            yield _hit(gap.what, f"{strings.GAP}: {gap.missing}", _NAMED, partial(self._go, "gaps", gap.what))

    def _open_named(self, one: Named) -> None:
        if one.card:
            self._go("browse", f"id:{one.card}")
        else:
            self._go("article", one.path)

    def _go(self, where: str, about: str) -> None:
        self.screen.post_message(Go(where, about))


def _hit(title: str, about: str, score: float, command: Callable[[], Any]) -> Hit:
    """Return a hit whose words are shown as they are: the palette reads text as markup, but for Content."""
    return Hit(score, content.line(title), command, clean_line(title), content.line(about))  # type: ignore[arg-type]
