"""The figures of a whole vault, stored in the index until a file that they come from changes or the study day ends."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from learning.cards.workspace import Desk
from learning.stats.material import material_of
from learning.stats.stats import Stats, stats_of
from learning.store.freshness import PageStamp
from vault.audit.agent_runs import at_work
from vault.files.folder import sha256_hex
from vault.index.facts import fact, set_fact
from vault.index.stamps import listing
from vault.layout import TOPICS

_KEY, _VALUE = "stats of", "stats"
_VERSION = 1  # grows when the same files would give other figures


def stored_stats(desk: Desk, seen: PageStamp, *, days: int) -> Stats:
    """Return `stats_of` the whole vault; `seen` was taken before the desk was opened. Raises as `material_of`."""
    database, today = desk.past.database, desk.scheduler.calendar.day(desk.now)
    parts = (_VERSION, days, today, _topics(desk), *seen.inputs)
    key = sha256_hex("\n".join(map(str, parts)).encode("utf-8", "surrogateescape"))
    if fact(database, _KEY) == key and not at_work(desk.vault):
        return replace(msgspec.json.decode(fact(database, _VALUE) or "", type=Stats), as_of=desk.now)
    found = stats_of(material_of(desk), desk.scheduler, desk.now, days=days)
    if not at_work(desk.vault):  # then cards that nobody has checked are left out
        with database.transaction():
            set_fact(database, _VALUE, msgspec.json.encode(found).decode())
            set_fact(database, _KEY, key)
    return found


def _topics(desk: Desk) -> str:
    """Return a digest of the stamps of the topic pages."""
    try:
        return listing(desk.vault.root, TOPICS).digest(".md")
    except OSError:
        return ""
