"""The words of the screen that answers questions."""

from __future__ import annotations

from vault.text.formatting import plural

TITLE = "Ask"
PLACEHOLDER = "Ask your sources a question"
FOLLOW_UP = "Ask a follow-up, or something else"
HINT = "enter asks; up shows an earlier question, tab goes to the list of questions"
HINT_FIRST = "enter asks; ctrl+f saves the answer as a wiki page"
HINT_ANSWERED = "enter asks a follow-up; tab goes to the sources, ctrl+f saves the answer"
HINT_SOURCES = "enter shows the quote in context; press a for the wiki page about this source"
HINT_EARLIER = "enter asks the question again and shows what has changed"
SHOW, EARLIER, BACK_TO = "Source", "Earlier", "Question"  # what enter and tab do, shown at the bottom
HINT_WAITING = "esc stops waiting"
NOTHING_YET = (
    "Ask your sources a question. The answer comes only from your sources and the wiki.",
    "",
    "The number after each sentence refers to its source, listed beside the answer. A follow-up question takes the"
    " previous answer into account.",
)
EMPTY = "Questions cannot be answered yet: this vault has no sources."
FILL = ("Press esc, then w to add a document and compile.", "In a shell: retain add FILE... and retain compile.")
BEFORE = "Earlier questions"
SOURCES = "Sources"
ENGINES = {
    "extractive": "answers are quotes from your sources; no model is used",
    "journal": "answers come from stored replies; no model is called",
    "agent": "answers by a coding agent",
    "command": "answers from your own program",
    "claude": "answers by a model",
}
SEARCHING = "Searching the sources …"
ASKING = "Asking the model …"
WAIT = "A question is being answered. Wait, or press esc to stop."
NO_ANSWER = "There is no answer to save yet."
NO_PAGE = "This answer has no page yet. Press ctrl+f to save the answer."
NO_ARTICLE = "No article cites this passage."
NO_SOURCES = "This answer has no sources."
NOTHING_ASKED = "No earlier questions."
STOPPED = "Stopped."
UNREADABLE_REPLY = "the output of `retain ask` is not in the expected format; run `retain doctor`"
FAILED, FAILED_HINT = "no answer: `retain ask` ended without a message", "ask again, or run `retain doctor`"


def asked_on(day: str, outcome: str, filed: str) -> str:
    """Return when a question was asked and how it was answered: `asked on 2026-11-22: answered`."""
    return f"asked on {day}: {outcome}" + (f", saved as {filed}" if filed else "")


def reading(done: int, of: int) -> str:
    """Return how far the sources have been read for the index."""
    return f"Reading the sources: {done:,} of {of:,} …"


def filed(path: str) -> str:
    return f"Saved as {path}. Press ctrl+o to open the page; to undo, delete the file."


def page(path: str) -> str:
    return f"Saved as {path}"


def more_articles(count: int) -> str:
    return f" and {plural(count, 'more article')}" if count > 0 else ""
