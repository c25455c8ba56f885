"""The words of the screen for suggested cards."""

from __future__ import annotations

from vault.inbox.suggestion_events import Decision
from vault.inbox.suggestions import SITTING, Suggestion
from vault.text.formatting import clean_line, plural

TITLE = "Suggested cards"
READING = "Reading the suggestions …"
QUESTION, ANSWER = "Question", "Answer"
NOTHING = (
    "No suggested cards. After a compile, low-confidence cards appear here. You don't review a suggested card "
    "until you keep it."
)
BY_MODEL = (
    "No suggested cards: this vault was compiled by a model or an agent, which writes all its cards into the decks."
)
NOT_COMPILED = "There are no suggestions on this machine. Compile (w on the home screen) to get them."
NOTHING_BACK = "Nothing to undo in this session; `retain card suggest --undo` undoes earlier decisions."
NOT_SAVED = "The changes are not saved yet. Press ctrl+s to save, or esc again to discard them."
GONE = "this card is no longer suggested, so your changes were not saved"
COPY_WORDS = "copy your text if you need it, then press esc twice to discard it"
_SAID = {Decision.KEEP: "kept", Decision.EDIT: "kept with your changes", Decision.DROP: "dropped, not suggested again"}


def progress(number: int, of: int, more: int) -> str:
    """Return `3 of 20 · 15 more`."""
    return f"{number} of {of}" + (f" · {more:,} more" if more else "")


def about(one: Suggestion) -> str:
    """Return what is shown above a card: its concept and the form of its question."""
    return " · ".join(map(clean_line, (one.concept, one.form)))


def decided(decision: Decision, question: str) -> str:
    return f"{_SAID[decision]}: {clean_line(question)} (press u to undo)"


def undone(question: str) -> str:
    return f"undid the decision: {clean_line(question)}"


def end(kept: int, dropped: int, skipped: int, more: int) -> str:
    """Return the end of a session."""
    counts = ((kept, "kept"), (dropped, "dropped"), (skipped, "skipped"))
    done = ", ".join(f"{number} {word}" for number, word in counts if number)
    lines = [f"Done: {done}." if done else "Done."]
    if kept:
        cards, decks, them = ("card", "its deck", "it") if kept == 1 else ("cards", "their decks", "them")
        lines.append(
            f"When you leave this screen, a compile starts and adds the {cards} you kept to {decks}. If it cannot"
            f" start, the next compile adds {them}."
        )
    lines.append(
        f"{plural(more, 'more suggestion')}: press n for the next {min(more, SITTING)}."
        if more
        else "No more suggestions."
    )
    return "\n\n".join(lines)
