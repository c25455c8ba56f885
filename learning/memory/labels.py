"""The state of a card in a few words."""

from __future__ import annotations

from datetime import datetime, timedelta

from learning.memory.state import MemoryState


def card_heading(*parts: str) -> str:
    """Return the line above a card, of the parts that it has: an imported card has no kind."""
    return " · ".join(filter(None, parts))


def title_before_answer(title: str, answer: str) -> str:
    """Return the title that may stand above a question; "" where it would give the answer away."""
    return "" if answer.strip(" .").casefold() == title.casefold() else title


def status(state: MemoryState, at: datetime) -> str:
    """Return the state of the card in a word; suspended, retracted and buried come before its phase."""
    if state.retracted:
        word = "retracted"
    elif state.suspended:
        word = "suspended"
    elif state.hidden(at):
        word = "buried"
    else:
        word = str(state.phase)
    marks = [name for name, on in (("changed", state.changed), ("flagged", state.flagged)) if on]
    return ", ".join([word, *marks])


def change_note(state: MemoryState, how: str) -> str:
    """Return the note on the front of a card that changed since its last review (`how`: "fact", "reworded" or "")."""
    if state.changed or how == "fact":
        return "changed since you last saw it"
    return "reworded; the facts are the same" if how else ""


def interval(state: MemoryState) -> str:
    """Return the wait that the last rating gave: `10 min`, `8 d`; "" before there is one."""
    if state.due is None or state.last_review is None:
        return ""
    return wait_text(timedelta(days=state.interval_days) if state.interval_days else state.due - state.last_review)


def wait_text(wait: timedelta) -> str:
    """Return a wait as a button shows it: `1 min`, `5 h`, `8 d`, `2.5 mo`, `1.4 y`; at least a minute."""
    if wait < timedelta(minutes=59.5):
        return f"{max(1, round(wait / timedelta(minutes=1)))} min"
    if wait < timedelta(days=1):
        return f"{round(wait / timedelta(hours=1))} h"
    days = wait.days
    if days < 60:
        return f"{days} d"
    return f"{days / 30.4375:.1f} mo" if days < 365 else f"{days / 365.25:.1f} y"


def ready_concepts(concepts: int) -> str:
    """Return a sentence on how many concepts the user can write a note on."""
    notes = "note on 1 concept" if concepts == 1 else f"notes on {concepts} concepts"
    return f"You can now write your own {notes}: `retain insight`"
