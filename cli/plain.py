"""The review in lines of text: for a dumb terminal, a pipe or a screen reader. No colour, no cursor, no timing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Protocol, TextIO

from cli import report
from cli.review_page import tell_rendering
from learning import changed_card, wording
from learning.changed_card import Changed
from learning.desk import Placed
from learning.sitting import Sitting
from vault import readable
from vault.clean import clean
from vault.errors import EditedMeanwhile, NotFound, RetainError
from vault.evidence import EvidenceReader
from vault.locks import lock
from vault.log_event import Rating
from vault.store import Vault

_RATINGS = {str(int(rating)): rating for rating in Rating}
_HELP = """\
  Enter  show the answer       1 again  2 hard  3 good  4 easy
  s      show the source       u        undo
  b      bury until tomorrow   !        suspend
  f      flag as wrong         q        quit"""


class Lines(Protocol):
    """Where the human's words come from: standard input, as a rule."""

    def readline(self) -> str:
        """The next line with its end; "" when there is none."""
        ...


def review_plainly(
    vault: Vault,
    *,
    tag: str = "",
    clock: Callable[[], datetime],
    source: Lines | None = None,
    out: TextIO | None = None,
) -> int:
    """Reviews until the queue or the input ends; gives the exit code. Each rating is on disk before the next card.

    Raises: LockHeld if another session is at this vault; WriteFailed or Refused before the first card if nothing
    can be written there.
    """
    with lock(vault.root, "review", purpose="reviewing", now=clock()):
        sitting = Sitting.at(vault, clock, tag, "plain")
        face = _Face(sitting, source or sys.stdin, out or sys.stdout)
        report.found(d for d in sitting.desk.diagnostics if d not in vault.notices)
        try:
            code = face.run()
        finally:
            tell_rendering(len(sitting.desk.cards))
            sitting.finish()
        face.say_result()
        return code


class _Face:
    """Asks and answers, line by line."""

    def __init__(self, sitting: Sitting, source: Lines, out: TextIO) -> None:
        self._sitting, self._source, self._out = sitting, source, out
        self._evidence = EvidenceReader(sitting.desk.vault)
        self._unsaved = self._unread = report.DONE  # exit codes of the last thing done, and of cards not shown

    def run(self) -> int:
        today = self._sitting.desk.today
        if self._sitting.session.counts().all:
            self._say(f"{today['due']} due, {today['new']} new, about {today['minutes']} min.\n{_HELP}")
        else:
            self._say("Nothing is due, and no new card has room today.")
        while (placed := self._sitting.table()) is not None:
            self._problems()
            if not self._one(placed):
                break
        self._problems()
        return self._unsaved or self._unread

    def _one(self, placed: Placed) -> bool:
        """One card from question to what is done with it; False when the human has had enough."""
        counts, state = self._sitting.session.counts(), self._sitting.session.state(placed.id)
        changed = self._sitting.changes.of(placed.id, state)
        told = wording.change_told(state, changed.how if changed is not None else "")
        head = f"\n[{counts.all} to go] {wording.headed(placed.title, placed.kind, told)}"
        self._say(f"{head}\nQ: {_words(placed.card.question)}")
        while True:
            word = self._ask("Enter: answer" if not self._sitting.session.revealed else "1-4")
            if word is None or word == "q":
                return False
            if word == "" and not self._sitting.session.revealed:
                if not self._sitting.reveal():
                    self._say("this card has just changed")
                    return True
                self._show_back(placed, changed)
            elif self._acted(word, placed):
                return True

    def _show_back(self, placed: Placed, changed: Changed | None) -> None:
        previews = self._sitting.previews()
        buttons = [f"{int(r)} {r.name.lower()} {wording.interval(previews[r])}" for r in Rating]
        if changed is not None and changed.how == changed_card.FACT:
            self._say(f"was: {_indented(changed.before)}")
            if placed.card.human_edited:
                self._say(f"now, as the source has it: {_indented(changed.after)}")
        self._say(f"A: {_words(placed.card.answer)}\n{'   '.join(buttons)}")

    def _acted(self, word: str, placed: Placed) -> bool:
        """Does what `word` says; True if that puts a card on the table."""
        sitting = self._sitting
        acts: dict[str, Callable[[], None]] = {"u": sitting.undo, "b": sitting.bury, "!": sitting.suspend}
        if sitting.session.revealed and word in _RATINGS:
            acts[word] = partial(sitting.rate, _RATINGS[word])
        try:
            if word in acts:
                acts[word]()
                self._unsaved = report.DONE
                return True
            if word == "f":
                sitting.flag()
                self._say("flagged")
            elif word == "s" and sitting.session.revealed:
                self._show_source(placed)
            elif word in _RATINGS or word == "s":
                self._say("the answer comes first: press Enter")
            else:
                self._say(_HELP)
        except NotFound as nothing:
            self._say(str(nothing))
        except RetainError as refused:
            self._unsaved = report.failed(refused)
            self._say("not saved; the card stays")
            return isinstance(refused, EditedMeanwhile)
        return False

    def _show_source(self, placed: Placed) -> None:
        found = self._evidence.of(placed.card.support)
        for each in found:
            words = readable.words(each.claim.quote) if each.claim else each.problem
            shown = [f"  {readable.exhibit(e)}\n" for e in each.claim.exhibits] if each.claim else []
            self._say(f"> {words}\n{''.join(shown)}  {each.place} ({each.source})")
        if not found:
            self._say("no source is named; the card was written by hand")

    def say_result(self) -> None:
        tally = self._sitting.tally()
        ratings = ", ".join(f"{tally.ratings[r]} {r.name.lower()}" for r in Rating if tally.ratings[r])
        left = self._sitting.session.counts().all
        self._say(f"\n{tally.rated} rated{': ' if ratings else ''}{ratings}. {left} to go, {tally.tomorrow} tomorrow.")
        if self._sitting.session.current is None and tally.next_at is not None:
            when = self._sitting.desk.scheduler.calendar.shown(tally.next_at)
            self._say(f"The next step of learning is due at {when}.")
        if tally.ripe:
            self._say(wording.ripe(tally.ripe))

    def _problems(self) -> None:
        for problem in self._sitting.problems:
            self._unread = report.failed(problem)
        self._sitting.problems.clear()

    def _ask(self, prompt: str) -> str | None:
        """The next line without its white space; None at the end of the input."""
        self._say(f"{prompt} > ", end="")
        line = self._source.readline()
        if not line:
            self._say("")
            return None
        return line.strip().casefold()

    def _say(self, text: str, end: str = "\n") -> None:
        encoding = self._out.encoding or "utf-8"
        shown = clean(text).encode(encoding, errors="replace").decode(encoding)
        self._out.write(shown + end)
        self._out.flush()


def _words(markdown: str) -> str:
    """The text of a card as a screen without pictures shows it; its further lines stand below the first."""
    return _indented(readable.text(markdown))


def _indented(text: str) -> str:
    return "\n   ".join(text.split("\n"))
