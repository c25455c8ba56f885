"""The words of the app: palette, themes, help, and programs that take over the terminal."""

from __future__ import annotations

FEWEST_COLUMNS, FEWEST_ROWS = 40, 12
TOO_SMALL = f"too small: needs {FEWEST_COLUMNS}x{FEWEST_ROWS}"
HERE, EVERYWHERE = "This screen", "Every screen"  # the headings of the help
PALETTE = "Type a command, or the name of an article, topic, card or gap"
THEME = "Colours"
QUIT = "Quit"
QUIT_ABOUT = "Quit retain; everything is saved"
PLACES = {
    "home": ("Home", "Today: due cards and gaps"),
    "review": ("Review", "Review the cards due today"),
    "ask": ("Ask", "Answers from your sources, with follow-ups"),
    "gaps": ("Gaps", "What is missing from the sources, and what to read"),
    "inbox": ("Inbox", "Proposed changes that need your decision"),
    "suggest": ("Suggested cards", "Keep, edit or drop low-confidence cards"),
    "browse": ("Browse", "All cards and articles"),
    "new": ("New card", "Write a card: basic, reversed or cloze"),
    "search": ("Search", "Full-text search of sources, wiki and cards"),
    "stats": ("Stats", "Recall, forecast and workload"),
    "work": ("Jobs", "Compile, add, import, export"),
    "practise": ("Practise", "Cram, preview or review ahead, by topic or tag"),
    "quiz": ("Quiz", "Answer questions about a topic"),
    "settings": ("Settings", "Learning and appearance"),
}
ARTICLE, TOPIC, CARD, GAP = "article", "topic", "card", "gap"  # what the palette finds in a vault
THEMES = {
    "auto": ("automatic", "Match the terminal's background"),
    "dark": ("dark", "Light text on a dark background"),
    "light": ("light", "Dark text on a light background"),
    "contrast": ("high contrast, dark", "White on black, strong colours"),
    "contrast-light": ("high contrast, light", "Black on white, strong colours"),
    "terminal": ("terminal colours", "The sixteen colours set in the terminal"),
}
NOT_LENT = "retain cannot run another program in this terminal"


def elsewhere(command: str) -> str:
    return f"run `{command}` in another terminal"


def not_started(command: str, why: str) -> str:
    return f"`{command}` cannot be started: {why}"


def ended(code: int) -> str:
    return f"ended with exit code {code} and no message"
