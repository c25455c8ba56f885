"""The cards for a command: open them, and render the pages that follow from them.

The pages (`_review.md`, the agenda, the promotion queue) are rendered by any command that finds them stale: git may
have merged them, or the user may have deleted or ticked something.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cli import output
from cli.environment import is_sandboxed, now
from cli.options import opened_to_write
from learning.store.freshness import PageStamp, look, remember
from vault.audit.agent_runs import at_work
from vault.errors import EditedMeanwhile, LockHeld, Refused, RetainError, WriteFailed
from vault.index.stamps import Listing, listing
from vault.layout import FLASHCARDS
from vault.locks import lock
from vault.vault import Vault

if TYPE_CHECKING:
    from learning.cards.workspace import Desk

_TURNS = 8
_MANY = 20_000  # cards: rendering more takes noticeable time


def opened_desk(vault_dir: str | None, *, read_only: bool = False) -> Desk:
    """Return the cards of the vault, and report unreadable ones.

    Without `read_only`, the run of an agent that was killed is finalized first.
    """
    from learning.cards.workspace import open_desk  # a compile with nothing to do needs no cards

    vault = opened_to_write(vault_dir, dry_run=read_only)
    desk = open_desk(vault, now())
    report_cards(desk)
    return desk


def deck_listing(vault: Vault) -> Listing | None:
    """Return the listing of the folder of decks; None if it cannot be listed."""
    try:
        return listing(vault.root, FLASHCARDS)
    except OSError:
        return None


def report_cards(desk: Desk) -> None:
    """Report what could not be read; what the settings lack is reported already."""
    output.found(d for d in desk.diagnostics if d not in desk.vault.notices)


def render_saved(vault: Vault) -> None:
    """Render stale pages after an event was saved in the review log; an error is only reported."""
    try:
        render_if_stale(vault)
    except (WriteFailed, Refused) as error:
        output.say(f"  saved in the review log, but the page _review.md could not be written: {error}")


def render_if_stale(vault: Vault, known: Mapping[str, str] | None = None) -> None:
    """Render the pages unless their stamps are current; `known` are stamps of decks just read.

    Raises WriteFailed, Refused, and what `read_log` raises.
    """
    for turn in range(_TURNS):
        seen = look(vault.root, known if turn == 0 else None)
        if seen.is_current(vault) or is_sandboxed():
            return
        alone = not at_work(vault)
        from learning.pages.render import render_pages  # a compile with nothing to do must not pay for it

        try:
            render_pages(vault, now())
            _remember(vault, seen, alone=alone)
        except EditedMeanwhile:  # another command rendered them just now, perhaps from other files
            if turn == _TURNS - 1:
                raise
        else:
            return


def mend(desk: Desk, seen: PageStamp) -> None:
    """Render the pages from `desk` if `seen`, the stamp from before the desk was read, is stale.

    For commands that only show something: an error is reported. If another command is rendering, nothing is done; what
    that one misses, the next command renders.
    """
    if seen.is_current(desk.vault) or is_sandboxed():
        return
    from learning.pages.render import save_pages  # a list of what is due must not pay for it

    try:
        with lock(desk.vault.root, "pages", purpose="rendering"):
            alone = not at_work(desk.vault)
            say_rendering(len(desk.cards))
            save_pages(desk, desk.now)
            _remember(desk.vault, seen, alone=alone)
    except LockHeld:
        return
    except RetainError as problem:
        output.say(f"  {problem}")


def say_rendering(cards: int) -> None:
    """Report that pages are rendered, if that takes seconds."""
    if cards >= _MANY:
        output.say(f"rendering the pages of {cards:,} cards; Ctrl-C postpones this until the next command")


def _remember(vault: Vault, seen: PageStamp, *, alone: bool) -> None:
    """Store the stamp of current pages, unless an agent was at work: then unchecked cards are missing in them."""
    if alone and not at_work(vault):
        remember(vault, seen)
