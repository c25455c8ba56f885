"""The review in lines of text: for a dumb terminal, a pipe or a screen reader. No colour, no cursor, no timing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Protocol, TextIO

from cli import output
from cli.review_pages import tell_rendering
from learning.cards import changes
from learning.cards.changes import Changed
from learning.cards.workspace import Placed
from learning.memory import labels
from learning.review.plan import Plan, plan_of
from learning.review.sitting import Clock, Sitting
from vault.errors import EditedMeanwhile, NotFound, RetainError
from vault.evidence.evidence import EvidenceReader
from vault.locks import lock
from vault.log.events import Rating
from vault.model import latex
from vault.text.sanitize import clean, clean_line
from vault.vault import Vault

if TYPE_CHECKING:
    from learning.review.practice_session import PracticeSession

_RATINGS = {str(int(rating)): rating for rating in Rating}
_HELP = """\
  Enter  show the answer       1 again  2 hard  3 good  4 easy
  s      show the source       u        undo
  b      bury until tomorrow   !        suspend
  f      flag it: f 2, or f and what is wrong (1 wrong, 2 unclear, 3 too long, 4 gives itself away, 5 not worth knowing)
  e      edit its words        q        quit"""
_PRACTICE = "Practice: nothing is scheduled, and nothing is written."


class Lines(Protocol):
    """Where the human's words come from: standard input, as a rule."""

    def readline(self) -> str:
        """The next line with its end; "" when there is none."""
        ...


def review_plainly(
    vault: Vault,
    *,
    tag: str = "",
    plan: str = "",
    clock: Callable[[], datetime],
    source: Lines | None = None,
    out: TextIO | None = None,
) -> int:
    """Reviews until the queue or the input ends; gives the exit code. Each rating is on disk before the next card.

    `plan` is the text of a plan, in the place of today's queue with `tag`. Raises: UsageError for any other text;
    LockHeld if another session is at this vault; WriteFailed or Refused before the first card if nothing can be
    written there.
    """
    with lock(vault.root, "review", purpose="reviewing", now=clock()):
        wanted = plan_of(plan) if plan else Plan(tag=tag)
        if not wanted.counts:
            return _practise(vault, wanted, clock, source or sys.stdin, out or sys.stdout)
        sitting = Sitting.at(vault, clock, None, "plain", plan=wanted)
        face = _Face(sitting, source or sys.stdin, out or sys.stdout)
        output.found(d for d in sitting.desk.diagnostics if d not in vault.notices)
        try:
            code = face.run()
        finally:
            tell_rendering(len(sitting.desk.cards))
            sitting.finish()
        face.say_result()
        return code


def _practise(vault: Vault, plan: Plan, clock: Clock, source: Lines, out: TextIO) -> int:
    from learning.review.practice_session import PracticeSession  # few practise

    face = _Face(PracticeSession.at(vault, clock, plan), source, out)
    code = face.run()
    face.say_practised()
    return code


class _Face:
    """Asks and answers, line by line."""

    def __init__(self, sitting: Sitting | PracticeSession, source: Lines, out: TextIO) -> None:
        self._sitting, self._source, self._out = sitting, source, out
        self._evidence = EvidenceReader(sitting.desk.vault)
        self._reworded: Placed | None = None  # the card that was edited last, in its new words
        self._unsaved = self._unread = output.DONE  # exit codes of the last thing done, and of cards not shown

    def run(self) -> int:
        today = self._sitting.desk.today
        if not self._sitting.counts:
            self._say(f"{_PRACTICE}\n{_HELP}" if self._sitting.left else "No card fits.")
        elif self._sitting.left:
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
        state = self._sitting.state(placed.id)
        changed = self._sitting.changes.of(placed.id, state)
        told = labels.change_note(state, changed.how if changed is not None else "")
        head = f"\n[{self._sitting.left} to go] {labels.card_heading(placed.title, placed.kind, told)}"
        self._say(f"{head}\nQ: {_words(placed.card.question)}")
        while True:
            line = self._ask("Enter: answer" if not self._sitting.revealed else "1-4")
            if line is None or (word := line.casefold()) == "q":
                return False
            if isinstance(self._sitting, Sitting):
                self._sitting.stir()
            if word == "" and not self._sitting.revealed:
                if not self._sitting.reveal():
                    self._say("this card has just changed")
                    return True
                self._show_back(placed, changed)
            elif self._acted(word, placed, line):
                return True

    def _show_back(self, placed: Placed, changed: Changed | None) -> None:
        previews = self._sitting.previews() if isinstance(self._sitting, Sitting) else {}
        waits = {rating: f" {labels.interval(state)}" for rating, state in previews.items()}
        buttons = [f"{int(r)} {r.name.lower()}{waits.get(r, '')}" for r in Rating]
        if changed is not None and changed.how == changes.FACT:
            self._say(f"was: {_indented(changed.before)}")
            if placed.card.human_edited:
                self._say(f"now, as the source has it: {_indented(changed.after)}")
        self._say(f"A: {_words(placed.card.answer)}\n{'   '.join(buttons)}")

    def _acted(self, word: str, placed: Placed, line: str) -> bool:
        """Does what `word` says, which is `line` in small letters; True if that puts a card on the table."""
        sitting = self._sitting
        acts: dict[str, Callable[[], None]] = {"u": self._undo}
        if isinstance(sitting, Sitting):
            acts |= {"b": sitting.bury, "!": sitting.suspend}
        if sitting.revealed and word in _RATINGS:
            acts[word] = partial(sitting.rate, _RATINGS[word])
        try:
            if word in acts:
                acts[word]()
                self._unsaved = output.DONE
                return True
            if word == "f" or word.startswith("f "):
                self._flag(line[1:].strip())
            elif word == "e":
                return self._edit(placed)
            elif word == "s" and sitting.revealed:
                self._show_source(placed)
            elif word in _RATINGS or word == "s":
                self._say("the answer comes first: press Enter")
            else:
                self._say(_HELP)
        except NotFound as nothing:
            self._say(str(nothing))
        except RetainError as refused:
            self._unsaved = output.failed(refused)
            self._say("not saved; the card stays")
            return isinstance(refused, EditedMeanwhile)
        return False

    def _undo(self) -> None:
        from tui.strings.review import undone  # the same words on both faces

        self._say(undone(self._sitting.undo()))

    def _flag(self, said: str) -> None:
        if not isinstance(self._sitting, Sitting):
            self._say(_PRACTICE)
            return
        from tui.strings.review import REASONS

        at_hand = {str(n): reason for n, reason in enumerate(REASONS, 1)}
        reason = clean_line(at_hand.get(said, said))
        self._sitting.flag(reason)
        self._say(f"flagged: {reason}" if reason else "flagged")

    def _edit(self, placed: Placed) -> bool:
        """Asks for new words, one line each; what is left empty stays as it is."""
        from learning.cards.edit import edit_card, words_of

        if self._reworded is not None and self._reworded.id == placed.id:
            placed = self._reworded
        before = words_of(placed.card)
        question = self._ask("new question (Enter keeps it)")
        answer = self._ask("new answer (Enter keeps it)") if question is not None else None
        if not question and not answer:
            self._say("nothing was changed")
            return False
        edited = edit_card(
            self._sitting.desk.vault, placed.id, question or before.question, answer or before.answer, expect=before
        )
        if isinstance(self._sitting, Sitting):
            self._reworded = self._sitting.edited()
        self._say(f"saved: {edited.path}")
        return not self._sitting.revealed

    def _show_source(self, placed: Placed) -> None:
        found = self._evidence.of(placed.card.support)
        for each in found:
            words = latex.words(each.claim.quote) if each.claim else each.problem
            shown = [f"  {latex.exhibit(e)}\n" for e in each.claim.exhibits] if each.claim else []
            self._say(f"> {words}\n{''.join(shown)}  {each.place} ({each.source})")
        if not found:
            self._say("no source is named; the card was written by hand")

    def say_result(self) -> None:
        """How a review ended."""
        assert isinstance(self._sitting, Sitting)
        tally = self._sitting.tally()
        ratings = ", ".join(f"{tally.ratings[r]} {r.name.lower()}" for r in Rating if tally.ratings[r])
        left = self._sitting.left
        self._say(f"\n{tally.rated} rated{': ' if ratings else ''}{ratings}. {left} to go, {tally.tomorrow} tomorrow.")
        if self._sitting.session.current is None and tally.next_at is not None:
            when = self._sitting.desk.scheduler.calendar.shown(tally.next_at)
            self._say(f"The next step of learning is due at {when}.")
        if tally.ripe:
            self._say(labels.ready_concepts(tally.ripe))

    def say_practised(self) -> None:
        """How a practice ended."""
        self._say(f"\n{self._sitting.done} done, {self._sitting.left} to go. Nothing was scheduled or written.")

    def _problems(self) -> None:
        for problem in self._sitting.problems:
            self._unread = output.failed(problem)
        self._sitting.problems.clear()

    def _ask(self, prompt: str) -> str | None:
        """The next line without its white space; None at the end of the input."""
        self._say(f"{prompt} > ", end="")
        line = self._source.readline()
        if not line:
            self._say("")
            return None
        return line.strip()

    def _say(self, text: str, end: str = "\n") -> None:
        encoding = self._out.encoding or "utf-8"
        shown = clean(text).encode(encoding, errors="replace").decode(encoding)
        self._out.write(shown + end)
        self._out.flush()


def _words(markdown: str) -> str:
    """The text of a card as a screen without pictures shows it; its further lines stand below the first."""
    return _indented(latex.text(markdown))


def _indented(text: str) -> str:
    return "\n   ".join(text.split("\n"))
