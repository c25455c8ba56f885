"""The figures of a whole vault, stored in the index until a file that they come from changes or the study day ends."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import msgspec

from learning.cards.workspace import Desk
from learning.history.due import paused_decks
from learning.stats.activity import YEAR
from learning.stats.stats import Stats
from learning.store.freshness import PageStamp
from vault.audit.agent_runs import at_work
from vault.files.folder import sha256_hex
from vault.index.database import IndexUnwritable
from vault.index.facts import fact, set_fact
from vault.index.stamps import listing
from vault.layout import TOPICS

_FACT = "stats"
_VERSION = 4  # grows when the same files would give other figures


class StoredStats:
    """The figures of the whole vault of a desk; `seen` was taken before the desk was opened."""

    def __init__(self, desk: Desk, seen: PageStamp, *, days: int = YEAR) -> None:
        self._desk = desk
        day = desk.scheduler.calendar.day(desk.now)
        parts = (_VERSION, days, day, _topics(desk), paused_decks(desk.cards), *seen.inputs)
        self._key = sha256_hex("\n".join(map(str, parts)).encode("utf-8", "surrogateescape"))
        self._is_kept = not at_work(desk.vault)  # while an agent works, cards that nobody has checked are left out

    def get(self) -> Stats | None:
        """Return the figures; None if they have to be computed."""
        key, _, stored = (fact(self._desk.past.database, _FACT) or "").partition("\n")
        if key != self._key or not self._is_kept:
            return None
        return replace(msgspec.json.decode(stored, type=Stats), as_of=self._desk.now)

    def put(self, stats: Stats) -> Stats:
        """Store the figures if that is possible, and return them."""
        with suppress(IndexUnwritable):
            if self._is_kept:
                set_fact(self._desk.past.database, _FACT, f"{self._key}\n{msgspec.json.encode(stats).decode()}")
        return stats


def _topics(desk: Desk) -> str:
    """Return a digest of the stamps of the topic pages."""
    try:
        return listing(desk.vault.root, TOPICS).digest(".md")
    except OSError:
        return ""
