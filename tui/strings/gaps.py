"""The words of the gaps screen."""

from __future__ import annotations

from learning.agenda.gap_decisions import Decision
from learning.agenda.gap_mentions import Failing, Mention
from vault.model.gaps import Gap, GapKind, GapStatus
from vault.text.formatting import plural

TITLE = "Gaps"
NOTHING = "No gaps. Run `retain compile` to check again after your sources change."
NOTHING_SUCH = "No matching gaps. Press 0 to show all kinds, / to search for other words."
NOTHING_BACK = "Nothing to undo."
FIND = "Find"
FILLS = "File or web page"
TOLD = {
    Decision.RESOLVE: "resolved",
    Decision.IGNORE: "ignored",
    Decision.PLAN: "planned",
    Decision.REOPEN: "reopened",
}
NEXT, MORE, CLOSED = "Read next", "More", "Closed"
STATUS = {
    GapStatus.PLANNED: "planned",
    GapStatus.RESOLVED: "resolved",
    GapStatus.IGNORED: "ignored",
    GapStatus.FILLED: "filled",
}
KINDS = {
    GapKind.STRUCTURAL: "unexplained concepts",
    GapKind.EPISTEMIC: "unanswered questions",
    GapKind.LEARNER: "forgotten cards",
}
ROWS = {
    "missing": "Missing",
    "use": "In context",
    "mentions": "Needed in",
    "read": "Read",
    "search": "Search",
    "fill": "Look for",
}
LEARNERS = {"missing": "Problem", "mentions": "See", "fill": "What helps"}  # the words of the page, for its gaps
NO_ARTICLE = "No article mentions it."
NO_CARD = "There is no card for this gap."


def decided(gap: Gap, decision: Decision) -> str:
    return f"{gap.what}: {TOLD[decision]}."


def shown(open_: int, number: int, kind: str, words: str, closed: bool) -> str:
    """Return the top line: how many gaps are open, and which are shown if not all are."""
    parts = [plural(open_, "open gap")]
    if kind:
        parts.append(f"only {KINDS[GapKind(kind)]}")
    if words:
        parts.append(f"with “{words}”")
    if closed:
        parts.append("including closed gaps")
    return " · ".join([*parts, f"{number} shown"] if len(parts) > 1 else parts)


def subjects(number: int) -> str:
    return plural(number, "subject")


def more(number: int) -> str:
    return f" and {number} more" if number > 0 else ""


def copied(query: str) -> str:
    return f"Copied: {query}"


def place(mention: Mention) -> str:
    """Return the place of a mention: `Forgetting curve, line 12`."""
    return f"{mention.title}, line {mention.line}"


def forgotten(card: Failing) -> str:
    """Return the lapses of a card: `forgotten 3 times in 9 reviews`."""
    times = "once" if card.lapses == 1 else f"{card.lapses} times"
    return f"forgotten {times} in {plural(card.reps, 'review')}"
