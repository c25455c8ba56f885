"""The words of the first run, and of a vault that cannot be opened."""

from __future__ import annotations

from tui.state.folder_survey import MOST, Survey
from vault.text.formatting import plural

TITLE = "Welcome"
TITLE_PROBLEM = "Vault not opened"
HELLO = "There is no vault in this folder yet."
ABOUT = (
    "retain makes a wiki and flashcards from what you read, and quizzes you every day on what you are about to forget."
    " Everything is in a vault: a folder of plain Markdown files that you can read and edit."
)
MENU = {
    "new": ("1  Create a vault", "an empty vault for your own documents"),
    "example": ("2  Try the example", "twenty documents on learning; takes about a minute"),
    "adopt": ("3  Use this folder", "create a vault from the notes in this folder"),
    "quit": ("q  Quit", "nothing has been written"),
}
ASK_FOLDER = "Folder for the vault (created if it does not exist):"
ASK_EXAMPLE = "Folder for the example (can be deleted later):"
ASK_PERSONAL = "Folder for your private notes, hidden from AI agents (optional):"
HOW = "tab completes a name · enter continues · esc goes back"
STEPS = {"init": "Creating the vault", "add": "Adding the documents", "compile": "Reading, writing articles and cards"}
PROBLEM = "This vault cannot be opened."
PROBLEM_HOW = "Nothing was changed. Press r to try again, q to quit."
LOOKING = "Reading the folder …"
DEFAULT_EXAMPLE = "retain-example"
DEFAULT_NEW = "my-vault"
WOULD_ADD = "This will add, where missing:"
ADDS = (
    "retain.toml · AGENTS.md · .gitignore · .gitattributes",
    "raw/ · wiki/ · output/ · learning/ · ledger/ · insights/",
)
WOULD_GIT = "and make the folder a git repository"
WOULD_NOT = "Existing files will not be changed, moved or renamed."
ADOPT_HOW = "enter continues · esc goes back"


def found(seen: Survey) -> str:
    """Return what the folder contains, in one sentence."""
    count = f"more than {MOST:,} files" if seen.more else plural(seen.notes + seen.others, "file", zero="no")
    kind = "An Obsidian vault" if seen.obsidian else "A folder"
    notes = f", including {plural(seen.notes, 'note')}" if seen.notes else ""
    git = "; it is a git repository" if seen.git else ""
    return f"{kind} with {count}{notes}{git}."
