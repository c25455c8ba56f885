"""The pages that show the learner where they stand, rendered together: `_review.md`, the learner's part of the agenda
and the promotion queue."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from learning.agenda.gap_decisions import decisions_of
from learning.agenda.learner_gaps import save_learner_gaps
from learning.cards.workspace import Desk, read_desk
from learning.pages.promotion import Promotion, promotion, strike_event
from learning.pages.promotion_page import render_queue, ticks
from learning.pages.review_page import save_review_page
from learning.store.card_text import Catalogue, catalogue
from vault.audit.agent_runs import at_work
from vault.files.guard import Scope
from vault.layout import PROMOTION_QUEUE
from vault.log import ledger
from vault.vault import Vault

_TRIES = 5  # an editor or another command may save the page just then


def render_pages(vault: Vault, now: datetime) -> None:
    """Read the vault and render the pages. `now` dates only the user's ticks.

    Raises: WriteFailed, Refused, and as `read_log` does.
    """
    save_pages(read_desk(vault), now)


def save_pages(desk: Desk, now: datetime) -> Promotion:
    """Render the pages of a desk; return what waits for a note. Raises: WriteFailed, Refused."""
    desk = replace(desk, past=desk.past.with_all_states())
    cards = catalogue(desk.cards)
    save_review_page(desk, cards)
    save_learner_gaps(desk, now, cards)
    return save_queue(desk, now, cards)


def save_queue(desk: Desk, now: datetime, cards: Catalogue | None = None) -> Promotion:
    """Render the promotion queue, after recording its ticks in the ledger. Raises: WriteFailed, Refused.

    While the work of an agent is not settled the page is left alone: a tick on it may be the agent's, and the settling
    would take a page of ours for one of its.
    """
    cards = cards or catalogue(desk.cards)
    found: Promotion | None = None

    def updated(old: bytes | None) -> bytes | None:
        nonlocal found
        if at_work(desk.vault):  # asked after the reading: no agent that came later can have written what was read
            found = None
            return None
        found = _with_ticks(desk, cards, (old or b"").decode("utf-8", "replace"), now)
        return render_queue(found).encode()

    desk.vault.guard(Scope.LOG).update(PROMOTION_QUEUE, updated, tries=_TRIES)
    return promotion(desk, decisions_of(desk.vault), cards) if found is None else found


def _with_ticks(desk: Desk, cards: Catalogue, page: str, now: datetime) -> Promotion:
    """Return the candidates after recording the user's ticks on the page."""
    decided = decisions_of(desk.vault)
    found = promotion(desk, decided, cards)
    decisions = ticks(page, found) if "- [" in page else []
    if not decisions:
        return found
    at = ledger.after(decided, now)
    events = [strike_event(candidate, decision, at) for candidate, decision in decisions]
    desk.vault.guard(Scope.LOG).append(ledger.DECISIONS, b"".join(map(ledger.encode, events)))
    return promotion(desk, [*decided, *events], cards)
