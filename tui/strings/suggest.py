"""The words of the screen for suggested cards."""

from __future__ import annotations

from vault.inbox.suggestion_events import Decision
from vault.inbox.suggestions import SITTING, Suggestion
from vault.text.formatting import clean_line, plural

TITLE = "Suggested cards"
READING = "Reading the suggestions ..."
QUESTION, ANSWER = "Question", "Answer"
NOTHING = (
    "No suggested cards. After a compile, cards of which the built-in engine is less sure are offered here; none of "
    "them is in your reviews until you keep it."
)
BY_MODEL = (
    "No suggested cards: this vault was compiled by a model or an agent, which writes all of its cards into the decks."
)
NOT_COMPILED = "There are no suggestions on this machine. Compile (w on the home screen) to get them."
NOTHING_BACK = "Nothing to undo in this sitting; `retain card suggest --undo` goes further back."
NOT_SAVED = "Not saved: ctrl+s saves, esc again discards."
GONE = "this card is not suggested any more, so it was not saved"
COPY_WORDS = "your words stay here to be copied; esc twice discards them"
_SAID = {Decision.KEEP: "kept", Decision.EDIT: "kept as edited", Decision.DROP: "dropped, not suggested again"}


def progress(number: int, of: int, more: int) -> str:
    """Return `3 of 20 · 15 more`."""
    return f"{number} of {of}" + (f" · {more:,} more" if more else "")


def about(one: Suggestion) -> str:
    """Return what is shown above a card: its concept and the form of its question."""
    return " · ".join(map(clean_line, (one.concept, one.form)))


def decided(decision: Decision, question: str) -> str:
    return f"{_SAID[decision]}: {clean_line(question)} (u undoes it)"


def undone(question: str) -> str:
    return f"undone: {clean_line(question)}"


def end(kept: int, dropped: int, skipped: int, more: int) -> str:
    """Return the end of a sitting."""
    counts = ((kept, "kept"), (dropped, "dropped"), (skipped, "skipped"))
    done = ", ".join(f"{number} {word}" for number, word in counts if number)
    lines = [f"Done: {done}." if done else "Done."]
    if kept:
        cards, decks = ("card goes", "its deck") if kept == 1 else ("cards go", "their decks")
        lines.append(
            f"The kept {cards} into {decks} with the compile that begins when you leave this screen, or the next one."
        )
    lines.append(
        f"{plural(more, 'more card')} wait: n shows the next {min(more, SITTING)}." if more else "No more suggestions."
    )
    return "\n\n".join(lines)
