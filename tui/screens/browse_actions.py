"""The browser's actions on the selected cards; each can be undone as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date

from textual.message import Message
from textual.widgets import Input, Static

from learning.cards import actions
from learning.cards.actions import Action
from learning.cards.delete import Deleted, delete_cards, restore_cards
from learning.cards.new import Added
from learning.cards.workspace import Desk, open_desk
from learning.search.records import Record, Records
from tui.external import run_in_terminal, show_result
from tui.screens.browser_search import BrowseSearch
from tui.strings import browse as said
from tui.text import content
from tui.views.card_table import CardTable
from tui.widgets.notice import Notice
from vault.errors import UsageError

_ASKS = {"flag": said.WHY_FLAGGED, "tag": said.WHICH_TAG, "reschedule": said.WHICH_DAY}


class BrowseActions(BrowseSearch):
    """The actions of the browser on cards, run in the background on the current state of the vault."""

    @dataclass
    class Did(Message):
        """An action on so many cards was saved, or undone."""

        cards: int
        name: str
        records: Records

    def _records(self) -> list[Record]:
        """Return the selected cards, else the one under the cursor."""
        held = self._open
        items: Iterable[int] = sorted(held.marked) or ([] if held.at is None else [held.at])
        if held.records is None:
            return []
        return [record for item in items if item >= 0 and (record := held.records.record(item)) is not None]

    def _chosen(self) -> list[str]:
        """Return the ids of the selected cards, else of the one under the cursor."""
        return [record.card for record in self._records()]

    def _show_nothing_marked(self) -> None:
        """Show that no card is selected."""
        self.query_one(Notice).show_message(said.NOTHING_MARKED)

    def action_suspend(self) -> None:
        """Suspend the cards; if all are suspended, resume them."""
        records, chosen = self._records(), self._chosen()
        if not chosen:
            self._show_nothing_marked()
        elif all(record.state.suspended for record in records):
            self._do("resume", lambda desk: actions.resuming(desk, chosen, via="tui"))
        else:
            self._do("suspend", lambda desk: actions.suspending(desk, chosen, via="tui"))

    def action_bury(self) -> None:
        chosen = self._chosen()
        self._do("bury", lambda desk: actions.burying(desk, chosen, via="tui"))

    def action_ask(self, what: str) -> None:
        """Ask for the reason, tag or day that an action needs."""
        if not self._chosen():
            self._show_nothing_marked()
            return
        self._asked = what
        self.query_one("#browse-ask Static", Static).update(content.line(_ASKS[what]))
        self.query_one("#browse-ask").add_class("-shown")
        answer = self.query_one("#browse-answer", Input)
        answer.value = ""
        answer.focus()

    def _answered(self, words: str) -> None:
        what, chosen = self._asked, self._chosen()
        self._close_ask()
        if what == "flag":
            self._do("flag", lambda desk: actions.flagging(desk, chosen, words, via="tui"))
        elif what == "tag" and words.strip():
            tags = words.split()
            add = [tag for tag in tags if not tag.startswith("-")]
            gone = [tag[1:] for tag in tags if tag.startswith("-")]
            self._do("tag", lambda desk: actions.tagging(desk, chosen, add, gone, via="tui"))
        elif what == "reschedule":
            self._reschedule(words.strip(), chosen)

    def _reschedule(self, words: str, chosen: list[str]) -> None:
        if not words.isascii() or not words.isdigit() or len(words) > 5:
            self.show_error(UsageError(said.NOT_A_DAY, hint=said.DAY_HINT))
            return

        def action(desk: Desk) -> Action:
            day = date.fromordinal(desk.scheduler.calendar.day(desk.now) + int(words))
            return actions.rescheduling(desk, chosen, day, via="tui")

        self._do("reschedule", action)

    def _close_ask(self) -> None:
        self._asked = ""
        self.query_one("#browse-ask").remove_class("-shown")
        self.query_one(CardTable).focus()

    def _do(self, name: str, make: Callable[[Desk], Action]) -> None:
        """Run an action on cards in the background."""
        if not self._chosen():
            self._show_nothing_marked()
            return

        def action(desk: Desk) -> tuple[int, Desk]:
            made = make(desk)
            after = actions.do(desk, made)
            if made.events:
                self._open.done.append(made)
            return len(made.events), after

        self._queue(name, action)

    def action_undo(self) -> None:
        held = self._open
        if not held.done and not held.asked:
            self.query_one(Notice).show_message(said.NOTHING_TO_UNDO)
            return

        def back(desk: Desk) -> tuple[int, Desk]:
            if not held.done:
                return 0, desk
            done = self._undo(desk, held.done[-1])  # should the disk refuse, it can be tried again
            held.done.pop()
            return done

        self._queue("undo", back)

    def _undo(self, desk: Desk, last: Action | Added | Deleted) -> tuple[int, Desk]:
        """Undo what was done last; return how many cards it was, and the desk after."""
        vault, now = self.context.vault, self.context.clock()
        if isinstance(last, Action):
            return len(last.events), actions.undo(desk, last, via="tui")
        cards = (
            delete_cards(vault, last.cards, now).cards if isinstance(last, Added) else restore_cards(vault, last, now)
        )
        return len(cards), open_desk(vault, now, queued=False)

    def action_delete(self) -> None:
        """Delete the cards, with their siblings of the same note, from their decks."""
        chosen = self._chosen()
        if not chosen:
            self._show_nothing_marked()
            return

        def delete(_: Desk) -> tuple[int, Desk]:
            vault, now = self.context.vault, self.context.clock()
            deleted = delete_cards(vault, chosen, now)
            self._open.done.append(deleted)
            return len(deleted.cards), open_desk(vault, now, queued=False)

        self._queue("delete", delete)

    def action_new_card(self) -> None:
        """Let the user write a card for the deck of the one under the cursor."""
        record = self._at_cursor()
        self.go("new", record.path if record is not None else "")

    def action_info(self) -> None:
        """Show the schedule and the ratings of the card under the cursor."""
        record = self._at_cursor()
        if record is None:
            self._show_nothing_marked()
        else:
            self.go("info", record.card)

    def _queue(self, name: str, action: Callable[[Desk], tuple[int, Desk]]) -> None:
        """Queue an action, to be run in the background after the earlier ones."""
        held = self._open
        topics = held.records.topics if held.records is not None else None

        def work() -> None:
            with self.posting_errors():
                done, desk = action(open_desk(self.context.vault, self.context.clock(), queued=False))
                self.post_message(self.Did(done, name, Records(desk, topics)))

        def next_one() -> None:
            with held.turn:
                try:
                    held.asked[0]()
                finally:
                    held.asked.popleft()

        held.asked.append(work)
        self.run_worker(next_one, thread=True, group="browse-action")

    def on_browse_actions_did(self, message: Did) -> None:
        count = message.cards
        self._open.take(message.records)
        self._search()
        undone = message.name == "undo"
        nothing = said.NOTHING_TO_UNDO if undone else said.UNCHANGED
        text = said.undone(count) if undone else said.done(message.name, count)
        self.query_one(Notice).show_message(text if count else nothing)

    def _at_cursor(self) -> Record | None:
        """Return the card under the cursor."""
        held = self._open
        return (
            held.records.record(held.at) if held.records is not None and held.at is not None and held.at >= 0 else None
        )

    def action_edit(self) -> None:
        record = self._at_cursor()
        if record is None:
            self._show_nothing_marked()
        else:
            self.go("edit", record.card)

    def action_edit_outside(self) -> None:
        record = self._at_cursor()
        if record is None:
            self._show_nothing_marked()
            return
        if not self.context.editor:
            self.go("edit", record.card)
            return
        ended = run_in_terminal(self.app, self.context, "card", "edit", record.card)
        self._load()
        show_result(self, ended)
