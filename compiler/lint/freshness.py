"""The rule on sources that were to be looked at again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, time

from compiler.lint.wiki import Wiki
from compiler.sources.freshness import late_sources

Found = Iterator[tuple[str, int, str, str]]


def late(wiki: Wiki) -> Found:
    """Yield sources that have neither changed nor been confirmed for longer than their folder allows."""
    end_of_day = datetime.combine(wiki.today, time.max, wiki.vault.settings.zone)
    at = wiki.at or end_of_day
    for source in late_sources(wiki.vault, at):
        yield source.path, 0, source.reason(at), source.remedy
