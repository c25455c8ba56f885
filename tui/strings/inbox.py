"""The words of the inbox."""

from __future__ import annotations

from datetime import tzinfo

from vault.inbox.decisions import Undone
from vault.inbox.events import Choice
from vault.inbox.items import Item, View
from vault.log.ledger import day_of
from vault.text.formatting import plural

TITLE = "Inbox"
READING = "Reading the inbox …"
NOTHING = (
    "The inbox is empty. Pages and cards that you edit stay as they are; when their sources change, the proposed new "
    "text appears here."
)
NOTHING_BACK = "Nothing to undo."
WHY = "Reason"
WHY_MISSING = "Enter a reason; or press esc, then m, to keep your version without a reason."
NOT_A_PAGE = "This proposal has no page to open."
LEGEND = ("- yours", "+ proposed")
SAME = "The text is the same."
CUT = "Too long to compare in full. Run `retain inbox show` or open your editor to see the rest."
TOLD = {
    Choice.ACCEPT: "accepted (press u to undo)",
    Choice.KEEP: "your version kept (press u to undo)",
    Choice.REJECT: "your version and the reason saved (press u to undo)",
}


def shown(pages: int, cards: int, others: int) -> str:
    """Return the counts at the top of the screen."""
    counts = ((pages, "page"), (cards, "card"), (others, "question"))
    return ", ".join(plural(number, noun) for number, noun in counts if number)


def heading(kind: str, number: int) -> str:
    return f"{kind.capitalize()} {number:,}"


def name(item: Item, view: View) -> str:
    """Return the name of a row: in a deck, the card's question."""
    return f"{item.about}: {view.title}" if view.part else item.about


def since(item: Item, zone: tzinfo) -> str:
    """Return the path, and since which day in the zone the proposal waits."""
    day = f"since {day_of(item.since, zone)}" if item.since else ""
    return " · ".join(part for part in (item.path, day) if part)


def left_out(number: str) -> str:
    return plural(int(number), "unchanged line")


def more(rows: int) -> str:
    return f"and {plural(rows, 'more line')}"


def decided(item: Item, view: View, choice: Choice, message: str) -> str:
    return f"{name(item, view)}: {message or TOLD[choice]}."


def undone(done: Undone) -> str:
    return f"{done.path or done.about}: undid the decision ({done.decision})."
