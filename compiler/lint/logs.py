"""Rules on the review log and the ledgers, which are no part of the wiki and on which all of it rests."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.lint.wiki import Wiki
from vault.index.logs import CODE
from vault.log.records import unreadable_lines

Found = Iterator[tuple[str, int, str, str]]
LOST, DAMAGED = CODE, "damaged-line"
CODES = frozenset({LOST, DAMAGED})  # of the rules here


def lost(wiki: Wiki) -> Found:
    """Yield the logs that have lost records, as the notices of the vault have them."""
    for each in wiki.vault.notices:
        if each.code == LOST:
            yield each.path, each.line, each.message, each.hint


def damaged(wiki: Wiki) -> Found:
    """Yield the lines of logs that are no record. Raises: SchemaTooNew; Refused or Damaged for an unreadable log."""
    for each in unreadable_lines(wiki.vault.root):
        yield each.path, each.line, each.message, each.hint
