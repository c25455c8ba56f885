"""Flags of cards: what the user reported as wrong and didn't undo, from the review log."""

from __future__ import annotations

from vault.ids import CardId
from vault.log.events import Flag
from vault.log.review_log import Line, line_events, live, log_files
from vault.vault import Vault

UNWANTED = ("wrong", "not worth knowing")  # reasons for which a card is not to be asked; others want it better
_WORDS = (b'"type":"flag"', b'"type":"undo"')


def flags_of(vault: Vault) -> dict[CardId, str]:
    """Return flagged card -> the last reason given, "" for none.

    Raises: Refused, Damaged or SchemaTooNew, as the log is read.
    """
    found = []
    for path, data in log_files(vault.root):
        if not any(word in data for word in _WORDS):
            continue
        for number, line in enumerate(data.split(b"\n"), 1):
            if any(word in line for word in _WORDS):
                found += line_events(line, Line(path, number), set(), [])
    return {event.card: event.reason for event in live(found) if isinstance(event, Flag)}
