"""The review as plain text, for a dumb terminal, a pipe or a screen reader."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Protocol, TextIO

from cli import output
from cli.review.limits import limits_in_words
from cli.workspace import say_rendering
from learning.cards import changes
from learning.cards.changes import Changed
from learning.cards.edit import edit_card, words_of
from learning.memory import labels
from learning.review.plan import Plan, plan_of
from learning.review.practice_session import PracticeSession
from learning.review.study_session import Clock, StudySession
from learning.store.placed import Placed
from tui.strings.review import REASONS, undone
from vault.errors import EditedMeanwhile, NotFound, RetainError
from vault.evidence.evidence import EvidenceReader
from vault.locks import lock
from vault.log.events import Rating
from vault.model import latex
from vault.text.formatting import clean, clean_line
from vault.vault import Vault

_RATINGS = {str(int(rating)): rating for rating in Rating}
_HELP = """\
  Enter  show the answer       1 again  2 hard  3 good  4 easy
  s      show the source       u        undo
  b      bury until tomorrow   !        suspend
  f      flag: f 2, or f REASON (1 wrong, 2 unclear, 3 too long, 4 gives away the answer, 5 not worth knowing)
  e      edit                  q        quit"""
_PRACTICE = "Practice: nothing is scheduled or saved."


class Lines(Protocol):
    """Where input lines come from, usually standard input."""

    def readline(self) -> str:
        """Return the next line with its newline; "" at the end."""
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
    """Reviews until the queue or the input ends; returns the exit code. Each rating is on disk before the next card.

    `plan` is the text of a plan, in the place of today's queue with `tag`. Raises: UsageError for any other text;
    LockHeld if another session is at this vault; WriteFailed or Refused before the first card if nothing can be
    written there.
    """
    with lock(vault.root, "review", purpose="reviewing", now=clock()):
        wanted = plan_of(plan) if plan else Plan(tag=tag)
        if not wanted.counts:
            return _practice(vault, wanted, clock, source or sys.stdin, out or sys.stdout)
        study_session = StudySession.at(vault, clock, None, "plain", plan=wanted)
        face = _Dialogue(study_session, clock, source or sys.stdin, out or sys.stdout)
        output.found(d for d in study_session.desk.diagnostics if d not in vault.notices)
        try:
            code = face.run()
        finally:
            say_rendering(len(study_session.desk.cards))
            study_session.finish()
        face.say_result()
        return code


def _practice(vault: Vault, plan: Plan, clock: Clock, source: Lines, out: TextIO) -> int:
    """Run a practice session, which schedules and saves nothing."""
    face = _Dialogue(PracticeSession.at(vault, clock, plan), clock, source, out)
    code = face.run()
    face.say_practice_result()
    return code


class _Dialogue:
    """The dialogue of a review: prints cards and reads commands."""

    def __init__(self, study_session: StudySession | PracticeSession, clock: Clock, source: Lines, out: TextIO) -> None:
        self._study_session, self._clock, self._source, self._out = study_session, clock, source, out
        self._evidence = EvidenceReader(study_session.desk.vault)
        self._reworded: Placed | None = None  # the card that was edited last, in its new words
        self._unsaved = self._unread = output.DONE  # exit codes of the last thing done, and of cards not shown

    def run(self) -> int:
        """Show cards until the queue or the input ends; return the exit code."""
        desk = self._study_session.desk
        today = desk.today
        if not self._study_session.counts:
            self._say(f"{_PRACTICE}\n{_HELP}" if self._study_session.left else "No matching cards.")
        elif self._study_session.left:
            limits = "".join(f"  {words}\n" for words in limits_in_words(desk, predict=False))
            self._say(f"{today['due']} due, {today['new']} new, about {today['minutes']} min.\n{limits}{_HELP}")
        else:
            self._say("No cards due and no new cards today.")
        while (placed := self._study_session.table()) is not None:
            self._problems()
            if not self._show_card(placed):
                break
        self._problems()
        return self._unsaved or self._unread

    def _show_card(self, placed: Placed) -> bool:
        """Show one card until it is done; return False if the user quits."""
        state = self._study_session.state(placed.id)
        changed = self._study_session.changes.of(placed.id, state)
        change = labels.change_note(state, changed.how if changed is not None else "")
        title = labels.title_before_answer(placed.title, placed.card.answer)
        head = f"\n[{self._study_session.left} to go] {labels.card_heading(title, placed.kind, change)}"
        self._say(f"{head}\nQ: {_words(placed.card.question)}")
        while True:
            line = self._ask("Enter: answer" if not self._study_session.revealed else "1-4")
            if line is None or (word := line.casefold()) == "q":
                return False
            if isinstance(self._study_session, StudySession):
                self._study_session.stir()
            if word == "" and not self._study_session.revealed:
                if not self._study_session.reveal():
                    self._say("this card was just changed")
                    return True
                self._show_back(placed, changed)
            elif self._perform(word, placed, line):
                return True

    def _show_back(self, placed: Placed, changed: Changed | None) -> None:
        """Print the answer with the intervals of the four ratings."""
        previews = self._study_session.previews() if isinstance(self._study_session, StudySession) else {}
        waits = {rating: f" {labels.interval(state)}" for rating, state in previews.items()}
        buttons = [f"{int(r)} {r.name.lower()}{waits.get(r, '')}" for r in Rating]
        if changed is not None and changed.how == changes.FACT:
            self._say(f"was: {_indented(changed.before)}")
            if placed.card.human_edited:
                self._say(f"now in the source: {_indented(changed.after)}")
        self._say(f"A: {_words(placed.card.answer)}\n{'   '.join(buttons)}")

    def _perform(self, word: str, placed: Placed, line: str) -> bool:
        """Perform the command `word` (`line` in lower case); return True if another card follows."""
        study_session = self._study_session
        acts: dict[str, Callable[[], None]] = {"u": self._undo}
        if isinstance(study_session, StudySession):
            acts |= {"b": study_session.bury, "!": study_session.suspend}
        if study_session.revealed and word in _RATINGS:
            acts[word] = partial(study_session.rate, _RATINGS[word])
        try:
            if word in acts:
                acts[word]()
                self._unsaved = output.DONE
                return True
            if word == "f" or word.startswith("f "):
                self._flag(line[1:].strip())
            elif word == "e":
                return self._edit(placed)
            elif word == "s" and study_session.revealed:
                self._show_source(placed)
            elif word in _RATINGS or word == "s":
                self._say("press Enter to show the answer first")
            else:
                self._say(_HELP)
        except NotFound as nothing:
            self._say(str(nothing))
        except RetainError as refused:
            self._unsaved = output.failed(refused)
            self._say("not saved; showing the card again")
            return isinstance(refused, EditedMeanwhile)
        return False

    def _undo(self) -> None:
        self._say(undone(self._study_session.undo()))

    def _flag(self, said: str) -> None:
        """Flag the card; `said` is a reason, or the number of one."""
        if not isinstance(self._study_session, StudySession):
            self._say(_PRACTICE)
            return

        at_hand = {str(n): reason for n, reason in enumerate(REASONS, 1)}
        reason = clean_line(at_hand.get(said, said))
        self._study_session.flag(reason)
        self._say(f"flagged: {reason}" if reason else "flagged")

    def _edit(self, placed: Placed) -> bool:
        """Ask for a new question and answer, and save them; an empty line changes nothing."""
        if self._reworded is not None and self._reworded.id == placed.id:
            placed = self._reworded
        before = words_of(placed.card)
        is_cloze = before.answer is None
        question = self._ask(f"new {'text' if is_cloze else 'question'} (Enter to keep)")
        answer = self._ask("new answer (Enter to keep)") if question is not None and not is_cloze else None
        if not question and not answer:
            self._say("no changes")
            return False
        edited = edit_card(
            self._study_session.desk.vault,
            placed.id,
            question or before.question,
            answer or before.answer,
            self._clock(),
            expect=before,
        )
        if isinstance(self._study_session, StudySession):
            self._reworded = self._study_session.edited()
        self._say(f"saved: {edited.path}")
        return not self._study_session.revealed

    def _show_source(self, placed: Placed) -> None:
        found = self._evidence.of(placed.card.support)
        for each in found:
            words = clean_line(each.claim.quote) if each.claim else each.problem
            shown = [f"  {latex.exhibit(e)}\n" for e in each.claim.exhibits] if each.claim else []
            self._say(f"> {words}\n{''.join(shown)}  {each.place} ({each.source})")
        if not found:
            self._say("no source: this card was written by hand")

    def say_result(self) -> None:
        """Print the summary of a review."""
        assert isinstance(self._study_session, StudySession)
        tally = self._study_session.tally()
        ratings = ", ".join(f"{tally.ratings[r]} {r.name.lower()}" for r in Rating if tally.ratings[r])
        left = self._study_session.left
        self._say(f"\n{tally.rated} rated{': ' if ratings else ''}{ratings}. {left} to go, {tally.tomorrow} tomorrow.")
        if self._study_session.session.current is None and tally.next_at is not None:
            when = self._study_session.desk.scheduler.calendar.shown(tally.next_at)
            self._say(f"The next learning step is due at {when}.")
        if tally.ripe:
            self._say(labels.ready_concepts(tally.ripe))

    def say_practice_result(self) -> None:
        """Print the summary of a practice session."""
        self._say(
            f"\n{self._study_session.done} done, {self._study_session.left} to go. Nothing was scheduled or saved."
        )

    def _problems(self) -> None:
        for problem in self._study_session.problems:
            self._unread = output.failed(problem)
        self._study_session.problems.clear()

    def _ask(self, prompt: str) -> str | None:
        """Return the next input line, stripped; None at the end of the input."""
        self._say(f"{prompt} > ", end="")
        line = self._source.readline()
        if not line:
            self._say("")
            return None
        return line.strip()

    def _say(self, text: str, end: str = "\n") -> None:
        """Print text, with characters replaced that the output cannot encode."""
        encoding = self._out.encoding or "utf-8"
        shown = clean(text).encode(encoding, errors="replace").decode(encoding)
        self._out.write(shown + end)
        self._out.flush()


def _words(markdown: str) -> str:
    """Return Markdown as plain text, with further lines indented."""
    return _indented(latex.text(markdown))


def _indented(text: str) -> str:
    return "\n   ".join(text.split("\n"))
