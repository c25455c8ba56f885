"""What is said of the reading agenda."""

from __future__ import annotations

from learning.agenda.gap_decisions import Decision
from learning.agenda.gap_mentions import Failing, Mention
from tui.text.formats import counted
from vault.model.gaps import Gap, GapKind, GapStatus

TITLE = "Reading agenda"
NOTHING = "Nothing is missing. `retain compile` looks again when sources change."
NOTHING_SUCH = "No gap is like that: 0 shows all kinds, / asks for other words."
NOTHING_BACK = "Nothing to take back here."
FIND = "Find"
FILLS = "File or address"
TOLD = {
    Decision.RESOLVE: "resolved",
    Decision.IGNORE: "ignored",
    Decision.PLAN: "planned",
    Decision.REOPEN: "open again",
}
ABOUT = {
    GapKind.STRUCTURAL: "mentioned, and explained by no source",
    GapKind.EPISTEMIC: "questions the wiki cannot answer yet",
    GapKind.LEARNER: "what keeps being forgotten",
}
STATUS = {
    GapStatus.PLANNED: "planned",
    GapStatus.RESOLVED: "resolved",
    GapStatus.IGNORED: "ignored",
    GapStatus.FILLED: "filled",
}
ROWS = {"missing": "missing", "mentions": "mentioned", "fill": "would fill"}
LEARNERS = {"missing": "Trouble", "mentions": "See", "fill": "What helps"}  # the words of the page, for its gaps
NO_ARTICLE = "No article mentions it."
NO_CARD = "No card stands behind this gap."


def decided(gap: Gap, decision: Decision) -> str:
    return f"{gap.what}: {TOLD[decision]}."


def shown(open_: int, number: int, kind: str, words: str, settled: bool) -> str:
    """At the head: how many are open, and which are shown where not all are."""
    parts = [counted(open_, "open gap")]
    if kind:
        parts.append(f"only {kind}")
    if words:
        parts.append(f"with “{words}”")
    if settled:
        parts.append("settled ones too")
    return " · ".join([*parts, f"{number} shown"] if len(parts) > 1 else parts)


def more(number: int) -> str:
    return f" and {number} more" if number > 0 else ""


def copied(query: str) -> str:
    return f"Copied, to search for: {query}"


def place(mention: Mention) -> str:
    """Where a sentence stands: `Forgetting curve, line 12`."""
    return f"{mention.title}, line {mention.line}"


def forgotten(card: Failing) -> str:
    """How a card fared: `forgotten 3 times in 9 reviews`."""
    times = "once" if card.lapses == 1 else f"{card.lapses} times"
    return f"forgotten {times} in {counted(card.reps, 'review')}"
