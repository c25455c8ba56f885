"""`_review.md` mended by whichever command comes by: git may have merged it, a hand may have deleted it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli import report
from learning.page_stamp import PageStamp, look, remember

if TYPE_CHECKING:
    from collections.abc import Mapping

    from learning.desk import Desk
    from vault.store import Vault


def render_if_stale(vault: Vault, known: Mapping[str, str] | None = None) -> None:
    """Renders the page unless its stamps say that it is right; `known` are stamps of decks that were just taken.

    Raises: WriteFailed, Refused, and as `read_log` does.
    """
    seen = look(vault.root, known)
    if not seen.is_right(vault.root):
        from learning.desk import render_review_page  # a compile with nothing to do must not pay for it

        render_review_page(vault)
        remember(vault, seen)


def mend(desk: Desk, seen: PageStamp) -> None:
    """Renders the page from `desk` if `seen`, looked at before the desk was read, says that it is stale.

    For commands that only tell: if it cannot be written, they say so and go on.
    """
    from learning.desk import save_review_page
    from vault.errors import RetainError

    if seen.is_right(desk.vault.root):
        return
    try:
        save_review_page(desk)
        remember(desk.vault, seen)
    except RetainError as problem:
        report.say(f"  {problem}")
