"""`retain due --json` where nothing has changed since it was last asked: the answer of then, with the instant of now.

Scripts and status bars ask it all day long. What was printed is kept with the stamp of every file that it came from,
and the time for which it holds: until the study day ends or the next card falls due. Here no library is loaded, and
nothing is decided: one stamp that differs, one file more, anything odd, and the command goes its ordinary way.
"""

from __future__ import annotations

import os
import sys
import time
from array import array

from cli.version import __version__
from vault import kept_answer

TYPE_CHECKING = False  # as typing has it, which would cost more than the rest
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from learning.desk import Desk
    from learning.indexed_cards import IndexedCards
    from vault.stamps import Listing

CACHE = ".retain/cache/due-json"
_KIND = f"retain due 2 {__version__}"
_FILES = (
    *("retain.toml", "ledger/ids.jsonl", "ledger/decisions.jsonl", "wiki/_graph.md", "learning/_review.md"),
    *("output/promotion-queue.md", ".retain/cache/review-page", "learning", "learning/flashcards"),
    *("wiki/concepts", "ledger/replies"),
)
_MOST = 256 * 1024 * 1024  # bytes; a hundred thousand cards due take 30 MB
_CONTROLS = bytes({*range(32), 127} - {10})  # what no answer of ours holds


def answered(arguments: Sequence[str]) -> bool:
    """Whether the answer to these arguments could be given, and was."""
    root = kept_answer.vault_of(arguments, ("due", "--json"))
    if root is None or sys.platform == "win32" or sys.stdout is None or sys.stdout.encoding.lower() != "utf-8":
        return False
    try:
        text = _kept(root)
    except (OSError, ValueError):
        return False
    if text is None:
        return False
    try:
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()
    except BrokenPipeError:  # the reader went away; Python would say so on leaving, were the stream still open
        try:
            sys.stdout.close()
        except OSError:
            return True
    except OSError:  # the ordinary way will tell
        return False
    return True


def _kept(root: str) -> bytes | None:
    """The answer as it was kept, if it still is one. Raises: OSError, ValueError."""
    parts = kept_answer.unsealed(f"{root}/{CACHE}", _KIND, _MOST)
    if parts is None:
        return None
    asked, since, until, runs, files, numbers, decks, start, end = parts
    now_ns = time.time_ns()
    if (
        asked != kept_answer.environment()
        or not int(since) <= now_ns < int(until)
        or not kept_answer.is_empty(os.fsdecode(runs))
    ):
        return None
    looked_at = os.fsdecode(files).split("\0")
    asked_for = [*_FILES, *kept_answer.logs(root)]
    if looked_at[: len(asked_for)] != asked_for:
        return None
    stamps = kept_answer.stamps(root, looked_at)
    # That of retain.toml holds an inode and an instant of this disk: whoever made a vault elsewhere cannot know them.
    if stamps[0] < 0 or stamps != array("q", numbers) or _deck_stamps(root).tobytes() != decks:
        return None
    text = start + _instant(now_ns).encode() + end
    return None if text.translate(None, _CONTROLS) != text else text


def _deck_stamps(root: str) -> array[int]:
    """Three numbers for each file among the decks, in the folder's own order: a name cannot change by itself."""
    found: list[int] = []
    with os.scandir(f"{root}/learning/flashcards") as entries:
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            found += (status.st_size, status.st_ctime_ns, status.st_ino & kept_answer.INODE)
    return array("q", found)


def _instant(now_ns: int) -> str:
    return (
        time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now_ns // 1_000_000_000)) + f".{now_ns // 1_000_000 % 1000:03}Z"
    )


# --- keeping an answer ----------------------------------------------------------------------------------------------


def begin(root: str) -> tuple[int, array[int]] | None:
    """The time, and how the files stood before the answer was made, the decks apart; None where that cannot be told."""
    try:
        return time.time_ns(), kept_answer.stamps(root, [*_FILES, *kept_answer.logs(root)])
    except OSError:
        return None


def keep(desk: Desk, before: tuple[int, array[int]] | None, decks: Listing | None, text: str) -> None:
    """Keeps `text`, the answer of this desk, if every file is as it was `before` and none of them is young.

    `decks` is their folder as it was listed for the answer. What changed after it was looked at has another stamp now,
    and the answer that is kept is one that nobody will give.
    """
    from contextlib import suppress

    from learning.indexed_cards import IndexedCards
    from learning.placed import article_of
    from vault.errors import RetainError
    from vault.guard import Scope
    from vault.ledger import instant
    from vault.user import state_folder

    root, cards = str(desk.vault.root), desk.cards
    start, found, end = text.partition(instant(desk.now))
    if before is None or decks is None or not isinstance(cards, IndexedCards):
        return
    if not found or desk.diagnostics or desk.tag or "RETAIN_CAGED" in os.environ:
        return
    with suppress(OSError, RetainError):
        files = [*_FILES, *kept_answer.logs(root)]
        articles = {article_of(concept): each for concept, each in cards.paused.asked.items()}
        at, stamps = before
        numbers = stamps + array("q", [number for each in articles.values() for number in each])
        if (
            kept_answer.stamps(root, files) != stamps
            or not _are_settled(numbers, at)
            or not _are_settled(decks.numbers, at)
        ):
            return
        parts = [
            kept_answer.environment(),
            str(_nanoseconds(desk.now)).encode(),
            str(_nanoseconds(_until(desk, cards))).encode(),
            os.fsencode(state_folder(desk.vault.settings.vault_id) / "runs"),
            os.fsencode("\0".join([*files, *articles])),
            numbers.tobytes(),
            decks.numbers.tobytes(),
            start.encode(),
            end.encode() + b"\n",
        ]
        desk.vault.guard(Scope.LOG).keep(CACHE, kept_answer.sealed(_KIND, parts))


def _are_settled(numbers: array[int], at_ns: int) -> bool:
    """Whether none of the files was young when it was looked at, not before that time."""
    young = at_ns - kept_answer.RACY_NS
    return all(changed < young for changed in numbers[1 :: kept_answer.FIELDS])


def _tomorrow(desk: Desk) -> datetime:
    calendar = desk.scheduler.calendar
    return calendar.start(calendar.day(desk.now) + 1)


def _until(desk: Desk, cards: IndexedCards) -> datetime:
    """The instant at which the answer may be another: when a study day begins, a card falls due or is shown again."""
    from learning.candidates import next_change

    return min(_tomorrow(desk), next_change(cards, desk.past, desk.now))


def _nanoseconds(at: datetime) -> int:
    from datetime import UTC, datetime, timedelta

    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000
