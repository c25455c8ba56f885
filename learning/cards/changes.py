"""What a card said before, as the ledger has it, for a user who learnt it so and now sees it changed."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from learning.memory.state import CardEvent, MemoryState
from vault.errors import Damaged, Refused
from vault.ids import CardId
from vault.log import ledger
from vault.log.card_history import Version, history
from vault.vault import Vault

__all__ = ["FACT", "REWORDED", "Changed", "ChangedCards", "Version", "history"]

FACT, REWORDED = "fact", "reworded"
_HOW_OF = {"changed": FACT, "reworded": REWORDED}


@dataclass(frozen=True, slots=True)
class Changed:
    """A change of a card since the user last saw it: `how` is FACT or REWORDED, the instant that of the latest."""

    how: str
    at: datetime
    was: Version
    now: Version

    @property
    def before(self) -> str:
        """Return what the card answered, below its question where it asked something else."""
        return self.was.answer if self.was.question == self.now.question else _both(self.was)

    @property
    def after(self) -> str:
        """Return what the card answers now, in the same form."""
        return self.now.answer if self.was.question == self.now.question else _both(self.now)


def _both(version: Version) -> str:
    """Return the question and the answer of a version."""
    return f"{version.question}\n{version.answer}"


class ChangedCards:
    """The changes of cards since their last reviews. The ledger is read only where something changed."""

    def __init__(self, vault: Vault, changes: Iterable[CardEvent]) -> None:
        self._vault = vault
        self._news: dict[CardId, list[CardEvent]] = {}
        for change in changes:
            if change.type in _HOW_OF:
                self._news.setdefault(change.card, []).append(change)

    def of(self, card: CardId, state: MemoryState) -> Changed | None:
        """Return what changed in the card since its last review; None where nothing did, or it was never reviewed."""
        seen = state.last_review
        news = [c for c in self._news.get(card, ()) if seen is not None and c.at > seen]
        if seen is None or not news:
            return None
        how = max((_HOW_OF[c.type] for c in news), key=(REWORDED, FACT).index)
        with suppress(Refused, Damaged):  # then the card is shown as it is
            return _since(history(self._vault.read_bytes(ledger.IDS) or b"", card), seen, how)
        return None


def _since(versions: tuple[Version, ...], seen: datetime, how: str) -> Changed | None:
    """Return the change between the version of that instant and the last one; None if there is none."""
    if not versions:
        return None
    before = [v for v in versions if v.at <= seen] or [versions[0]]
    was, now = before[-1], versions[-1]
    same = (was.question, was.answer) == (now.question, now.answer)  # it changed and changed back
    return None if same else Changed(how, now.at, was, now)
