"""`_review.md` and the promotion queue mended by whichever command comes by: git may have merged them, a hand may have
deleted them, the human may have ticked a line."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from cli import output
from cli.environment import now
from learning.store.freshness import PageStamp, look, remember
from vault.audit.agent_runs import at_work
from vault.errors import EditedMeanwhile

_TURNS = 8
_MANY = 20_000  # cards, from which on a human notices

if TYPE_CHECKING:
    from collections.abc import Mapping

    from learning.cards.workspace import Desk
    from vault.vault import Vault


def render_if_stale(vault: Vault, known: Mapping[str, str] | None = None) -> None:
    """Renders the pages unless their stamps say that they are right; `known` are stamps of decks just taken.

    Raises: WriteFailed, Refused, and as `read_log` does.
    """
    for turn in range(_TURNS):
        seen = look(vault.root, known if turn == 0 else None)
        if seen.is_right(vault.root) or _is_caged():
            return
        alone = not at_work(vault)
        from learning.pages.render import render_pages  # a compile with nothing to do must not pay for it

        try:
            render_pages(vault, now())
            _remember(vault, seen, alone=alone)
        except EditedMeanwhile:  # another command rendered them just now; perhaps from what we have not seen
            if turn == _TURNS - 1:
                raise
        else:
            return


def mend(desk: Desk, seen: PageStamp) -> None:
    """Renders the pages from `desk` if `seen`, looked at before the desk was read, says that one is stale.

    For commands that only tell: if it cannot be written, they say so and go on. Where another such command renders just
    then, it is left to that one; what it may have missed, the next command mends.
    """
    if seen.is_right(desk.vault.root) or _is_caged():
        return
    from learning.pages.render import save_pages  # a list of what is due must not pay for it
    from vault.errors import LockHeld, RetainError
    from vault.locks import lock

    try:
        with lock(desk.vault.root, "pages", purpose="rendering"):
            alone = not at_work(desk.vault)
            tell_rendering(len(desk.cards))
            save_pages(desk, desk.now)
            with suppress(EditedMeanwhile):  # the stamp only saves a later look
                _remember(desk.vault, seen, alone=alone)
    except LockHeld:
        return
    except RetainError as problem:
        output.say(f"  {problem}")


def tell_rendering(cards: int) -> None:
    """Says what the next seconds are for, where it takes seconds."""
    if cards >= _MANY:
        output.say(f"rendering the pages of {cards:,} cards; Ctrl-C leaves that to the next command")


def _is_caged() -> bool:
    """Whether an agent asks, to whom neither page is given to write."""
    return "RETAIN_CAGED" in os.environ


def _remember(vault: Vault, seen: PageStamp, *, alone: bool) -> None:
    """Notes that the pages are right, if no agent was at work: else the queue, and cards that nobody has judged, were
    left out of them."""
    if alone and not at_work(vault):
        remember(vault, seen)
