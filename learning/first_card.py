"""The card that a review will begin with, kept when the one before it ends, so that it can be shown at once.

Whoever starts a review reads its first question while the program still loads. What is kept is believed only while
settings, ledger, log and the card's own deck and article are the very files that it was made from; and it is no more
than words on a screen: the sitting deals that card first if today's queue still holds it, and another if not.
"""

from __future__ import annotations

import os
import time
from array import array

from vault import kept_answer

TYPE_CHECKING = False  # as in vault.kept_answer: this is read before any library is loaded
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from vault.store import Vault

CACHE = ".retain/cache/first-card"
_KIND = "retain first card 1"
_FILES = ("retain.toml", "ledger/ids.jsonl", "ledger/decisions.jsonl")
_DAYS = 30  # for so long the last card that is kept may wait: what is due tomorrow is due the day after, too
_PARTS = 5  # of each card
_MOST_BYTES = 64 * 1024
_MOST = 4_000  # characters of a question; a longer one is not for the first glance


class FirstCard:
    """A card's front as plain words: `head` stands above the `question`; `dress` are the colours of the last time."""

    __slots__ = ("card", "dress", "head", "kind", "question")

    def __init__(self, card: str, kind: str, head: str, question: str, dress: str) -> None:
        self.card, self.kind, self.head, self.question, self.dress = card, kind, head, question, dress


def first_card(root: str) -> FirstCard | None:
    """The card that a review of the vault at `root` begins with now; None in any doubt."""
    try:
        parts = kept_answer.unsealed(f"{root}/{CACHE}", _KIND, _MOST_BYTES)
        return None if parts is None else _found(root, parts)
    except (OSError, ValueError):
        return None


def _found(root: str, parts: Sequence[bytes]) -> FirstCard | None:
    asked, runs, dress, *entries = parts
    if asked != kept_answer.environment() or not kept_answer.is_empty(os.fsdecode(runs)):
        return None
    now_ns, begun = time.time_ns(), [*_FILES, *kept_answer.logs(root)]
    for at in range(0, len(entries), _PARTS):
        since, until, files, numbers, words = entries[at : at + _PARTS]
        looked_at = os.fsdecode(files).split("\0")
        if not int(since) <= now_ns < int(until) or looked_at[: len(begun)] != begun:
            continue
        # That of retain.toml holds an inode and an instant of this disk: a vault from elsewhere cannot know them.
        stamps = kept_answer.stamps(root, looked_at)
        if stamps[0] < 0 or stamps != array("q", numbers):
            return None
        card, kind, head, question = words.decode().split("\0")
        text = f"{card}{kind}{head}{question}{dress.decode()}"
        return FirstCard(card, kind, head, question, dress.decode()) if text.replace("\n", "").isprintable() else None
    return None


def keep(vault: Vault, now: datetime, words: Callable[[str], str], dress: str) -> None:
    """Keeps what a review would begin with now, and from the next study day on.

    `words` makes plain text of a card's Markdown. Raises: RetainError as opening the vault does; OSError.
    """
    from datetime import timedelta

    from learning.day import StudyCalendar
    from vault.guard import Scope
    from vault.user import state_folder

    if "RETAIN_CAGED" in os.environ:
        return
    runs = os.fsencode(state_folder(vault.settings.vault_id) / "runs")
    parts = [kept_answer.environment(), runs, dress.encode()]
    calendar = StudyCalendar(vault.settings.zone, vault.settings.rollover)
    tomorrow = calendar.start(calendar.day(now) + 1)
    for since, until in ((now, tomorrow), (tomorrow, tomorrow + timedelta(days=_DAYS))):
        parts += _entry(vault, words, since, until)
    vault.guard(Scope.LOG).keep(CACHE, kept_answer.sealed(_KIND, parts))


def _entry(vault: Vault, words: Callable[[str], str], since: datetime, until: datetime) -> list[bytes]:
    """The parts of the card that comes first at `since`; none if none comes, or what the vault holds is in doubt."""
    from learning import wording
    from learning.sitting import Sitting

    root = str(vault.root)
    files = [*_FILES, *kept_answer.logs(root)]
    before = kept_answer.stamps(root, files)
    sitting = Sitting.at(vault, lambda: since, None)
    placed = sitting.table()
    if placed is None or sitting.desk.diagnostics:
        return []
    files += [placed.deck.path, placed.article]
    stamps = kept_answer.stamps(root, files)
    if stamps[: len(before)] != before:
        return []
    state = sitting.session.state(placed.id)
    changed = sitting.changes.of(placed.id, state)
    told = wording.change_told(state, changed.how if changed is not None else "")
    question = words(placed.card.question)
    if len(question) > _MOST:
        return []
    shown = "\0".join([placed.id, placed.kind, wording.headed(placed.title, told), question])
    span = [str(_nanoseconds(at)).encode() for at in (since, until)]
    return [*span, os.fsencode("\0".join(files)), stamps.tobytes(), shown.encode()]


def _nanoseconds(at: datetime) -> int:
    from datetime import UTC, datetime, timedelta

    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000
