"""What is said of the inbox."""

from __future__ import annotations

from tui.text.formats import counted
from vault.inbox.decisions import Undone
from vault.inbox.events import Choice
from vault.inbox.items import Item, View

TITLE = "Inbox"
READING = "Looking at what waits ..."
NOTHING = (
    "Nothing waits for you. Pages and cards that you edit stay as you left them; when their sources say something "
    "else, what the machine would write is offered here."
)
NOTHING_BACK = "Nothing to take back."
WHY = "What is wrong with it"
WHY_MISSING = "Say in a few words why, or press esc and keep yours (m)."
NOT_A_PAGE = "There is no page to open here."
LEGEND = ("- yours", "+ proposed")
SAME = "The same words."
CUT = "Too long to be compared to its end; `retain inbox show` and your editor have the rest."
TOLD = {
    Choice.ACCEPT: "accepted; u takes it back",
    Choice.KEEP: "yours stays; u takes it back",
    Choice.REJECT: "yours stays, and the reason is kept; u takes it back",
}


def shown(pages: int, cards: int, others: int) -> str:
    """At the head: what waits."""
    told = ((pages, "page"), (cards, "card"), (others, "question"))
    return ", ".join(counted(number, noun) for number, noun in told if number)


def heading(kind: str, number: int) -> str:
    return f"{kind.capitalize()} {number:,}"


def name(item: Item, view: View) -> str:
    """What a row is about: of a deck, the card's question."""
    return f"{item.about}: {view.title}" if view.part else item.about


def since(item: Item) -> str:
    """Where it is, and since when the proposal lies there."""
    return " · ".join(part for part in (item.path, f"since {item.since[:10]}" if item.since else "") if part)


def left_out(number: str) -> str:
    return f"{number} the same"


def more(rows: int) -> str:
    return f"and {counted(rows, 'more line')}"


def decided(item: Item, view: View, choice: Choice, told: str) -> str:
    return f"{name(item, view)}: {told or TOLD[choice]}."


def undone(done: Undone) -> str:
    return f"{done.path or done.about}: {done.decision} taken back."
