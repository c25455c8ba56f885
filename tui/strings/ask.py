"""The words of the screen that answers questions."""

from __future__ import annotations

from vault.text.formatting import plural

TITLE = "Ask"
PLACEHOLDER = "Ask your sources a question"
FOLLOW_UP = "Ask about the answer, or something else"
HINT = "enter asks; up brings an earlier question, tab goes to the list of them"
HINT_FIRST = "Enter asks; ctrl+f files the answer as a page of the wiki."
HINT_ANSWERED = "enter asks a follow-up; tab goes to the sources, ctrl+f files the answer"
HINT_SOURCES = "enter shows the quote in context; press a for the page on this source"
HINT_EARLIER = "enter asks it again and shows what has changed"
SHOW, EARLIER, BACK_TO = "Source", "Earlier", "Question"  # what enter and tab do, shown at the bottom
HINT_WAITING = "esc stops waiting"
NOTHING_YET = (
    "Ask your sources: answers come from them and the wiki alone.",
    "",
    "Each sentence has the number of its source, which stands beside the answer. A question after an answer takes it"
    " into account.",
)
EMPTY = "There is nothing to ask yet: this vault has no sources."
FILL = ("Press esc, then w: add a document, then compile.", "In a shell: retain add FILE... and retain compile.")
BEFORE = "Asked before"
SOURCES = "Sources"
ENGINES = {
    "extractive": "quotes, without a model",
    "journal": "stored answers",
    "agent": "answers by a coding agent",
    "command": "answers from your own program",
    "claude": "answers by a model",
}
SEARCHING = "Searching the sources …"
ASKING = "Asking the model …"
WAIT = "A question is being answered: wait, or stop with esc."
NO_ANSWER = "There is no answer to file yet."
NO_PAGE = "This answer has no page: ctrl+f files it."
NO_ARTICLE = "No article cites this passage."
NO_SOURCES = "This answer has no sources."
NOTHING_ASKED = "No earlier questions."
STOPPED = "Stopped."
UNREADABLE_REPLY = "the answer cannot be read"
FAILED = "the question was not answered"


def asked_on(day: str, outcome: str, filed: str) -> str:
    """Return when a question was asked and how it was answered: `asked on 2026-11-22: answered`."""
    return f"asked on {day}: {outcome}" + (f", filed as {filed}" if filed else "")


def reading(done: int, of: int) -> str:
    """Return how far the sources have been read for the index."""
    return f"Reading the sources: {done:,} of {of:,} …"


def filed(path: str) -> str:
    return f"Filed as {path}. ctrl+o opens it; delete the file to undo this."


def page(path: str) -> str:
    return f"Filed as {path}"


def more_articles(count: int) -> str:
    return f" and {plural(count, 'more article')}" if count > 0 else ""
