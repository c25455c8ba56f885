"""What is said to someone who has no vault yet, or whose vault cannot be opened."""

from __future__ import annotations

from tui.state.folder_survey import MOST, Survey
from tui.text.formats import counted

TITLE = "Welcome"
TITLE_PROBLEM = "Not opened"
HELLO = "There is no vault here yet."
ABOUT = (
    "retain makes a wiki and flashcards of what you read, and asks you every day for what you are about to forget."
    " All of it lives in a vault: a folder of plain Markdown files, yours to read and to edit."
)
MENU = {
    "new": ("1  Make a vault", "an empty one, for your own documents"),
    "example": ("2  Try the example", "seventeen short articles on learning; a minute"),
    "adopt": ("3  Use this folder", "lay a vault over the notes that are here"),
    "quit": ("q  Quit", "nothing has been written"),
}
ASK_FOLDER = "The folder of the vault; it is made if it is not there:"
ASK_EXAMPLE = "The folder of the example, which can be thrown away later:"
ASK_PERSONAL = "A folder for your own notes, which no agent can read (may stay empty):"
HOW = "tab completes a name · enter goes on · esc goes back"
STEPS = {"init": "Making the vault", "add": "Adding the documents", "compile": "Reading, writing articles and cards"}
PROBLEM = "This vault cannot be opened."
PROBLEM_HOW = "Nothing was changed. r looks again, q leaves."
LOOKING = "Looking at what is here …"
DEFAULT_EXAMPLE = "retain-example"
DEFAULT_NEW = "my-vault"
WOULD_ADD = "It would add, where they are not there yet:"
ADDS = (
    "retain.toml · AGENTS.md · .gitignore · .gitattributes",
    "raw/ · wiki/ · output/ · learning/ · ledger/ · insights/",
)
WOULD_GIT = "and make the folder a git repository"
WOULD_NOT = "It would change, move and rename none of the files that are there."
ADOPT_HOW = "enter does it · esc goes back"


def found(seen: Survey) -> str:
    """What the folder holds, in one sentence."""
    count = f"more than {MOST:,} files" if seen.more else counted(seen.notes + seen.others, "file")
    kind = "An Obsidian vault" if seen.obsidian else "A folder"
    notes = f", {counted(seen.notes, 'note')} among them" if seen.notes else ""
    git = "; a git repository" if seen.git else ""
    return f"{kind} with {count}{notes}{git}."
