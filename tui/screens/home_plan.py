"""What home does about a backlog: take, change and undo a plan to catch up, in the background."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from textual.message import Message
from textual.widgets import Input

from learning.cards import plans
from learning.cards.workspace import Desk, open_desk, undo_last
from learning.pages.today import Overview
from learning.stats.catch_up import Offer, offer_at
from tui.context import Context
from tui.screen import Page
from tui.strings import home as strings
from tui.widgets.notice import Notice
from vault.errors import UsageError
from vault.log.events import MOST_PER_DAY, CatchUp


class PlanActions(Page):
    """The actions of home on a plan; `_seen` is what today holds, `_offer` the plan that is proposed."""

    @dataclass
    class Decided(Message):
        """A plan was saved or undone; `review` if the review is to begin now."""

        words: str
        review: bool = False

    def __init__(self, context: Context, about: str = "", classes: str = "") -> None:
        super().__init__(context, about, classes)
        self._seen: Overview | None = None
        self._offer: Offer | None = None
        self._deciding = False  # a decision is being saved

    def action_review(self) -> None:
        """Begin the review; after an absence with all that is due, which is what enter says there."""
        if self._seen is not None and self._seen.is_back and self._offer is not None:
            self._decide(_all_today, review=True)
        else:
            self.go("review")

    def action_catch_up(self) -> None:
        """Take the plan that is proposed; where one holds, ask for another number a day."""
        seen = self._seen
        if seen is None or seen.paused_until is not None:
            return
        if seen.plan is None and self._offer is not None:
            offer = self._offer
            self._decide(lambda desk: _take(desk, offer))
        elif seen.plan is not None:
            self._ask(seen.plan.per_day)
        else:
            self.query_one(Notice).show_message(strings.NO_BACKLOG)

    def _ask(self, per_day: int) -> None:
        line = self.query_one("#per-day", Input)
        line.value = str(per_day) if per_day <= MOST_PER_DAY else ""
        self.add_class("-asking")
        line.focus()
        self.query_one(Notice).show_message(strings.ASK_PER_DAY)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        words = message.value.strip()
        if not words.isascii() or not words.isdigit() or int(words) > MOST_PER_DAY:
            self.show_error(UsageError(strings.NOT_A_RATE))
            return
        self._close_ask()
        per_day = int(words)
        self._decide((lambda desk: _take(desk, offer_at(desk, per_day))) if per_day else _end)

    def _close_ask(self) -> None:
        self.remove_class("-asking")
        self.query_one(Notice).clear_message()
        self.set_focus(None)

    def action_undo_plan(self) -> None:
        """Undo the plan, if it is what was done last."""
        self._decide(_undo)

    def _decide(self, what: Callable[[Desk], str], *, review: bool = False) -> None:
        """Save a decision in the background; until that is done, none is taken."""
        if self._deciding:
            return
        self._deciding = True

        def work() -> None:
            with self.posting_errors():
                desk = open_desk(self.context.vault, self.context.clock(), tag=self.context.tag)
                self.post_message(self.Decided(what(desk), review))

        self.run_worker(work, thread=True, group="plan")

    def on_page_failed(self, message: Page.Failed) -> None:
        self._deciding = False


def _take(desk: Desk, offer: Offer) -> str:
    plans.catch_up(desk, offer.per_day, offer.until, via="tui")
    return strings.catching_up_from_now(offer.per_day)


def _all_today(desk: Desk) -> str:
    plans.catch_up_today(desk, via="tui")
    return ""


def _end(desk: Desk) -> str:
    plans.end_plan(desk, via="tui")
    return strings.PLAN_ENDED


def _undo(desk: Desk) -> str:
    """Undo the last event of the log if it is a plan; return what to say."""
    if not isinstance(desk.past.undoable(), CatchUp):
        return strings.NO_PLAN_TO_UNDO
    undo_last(desk, via="tui")
    return strings.PLAN_UNDONE
