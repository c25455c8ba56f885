"""What the app itself says: its palette, and what a terminal that is too small shows."""

from __future__ import annotations

FEWEST_COLUMNS, FEWEST_ROWS = 40, 12
TOO_SMALL = f"too small: at least {FEWEST_COLUMNS}x{FEWEST_ROWS}"
KEYS = "What can be done here, and its keys"
THEME = "Colours"
QUIT = "Quit"
QUIT_ABOUT = "Leave retain; all that was rated is on disk"
PLACES = {
    "home": ("Home", "Today: what is due, what is missing"),
    "review": ("Review", "Begin with what is due today"),
    "gaps": ("Reading agenda", "What is missing, and what would fill it"),
    "inbox": ("Inbox", "What waits for your word"),
    "browse": ("Browse", "Every card and article"),
    "stats": ("Statistics", "How well you remember, and what is coming"),
    "work": ("Work", "Compile, import, fit the scheduler"),
    "practise": ("Practise", "Cards beyond today's, without scheduling"),
    "quiz": ("Quiz", "Be asked about a topic"),
    "settings": ("Settings", "How you learn, and how the app looks"),
}
THEMES = {
    "auto": ("as the terminal", "Colours as the terminal's background asks for"),
    "dark": ("dark", "Light words on dark"),
    "light": ("light", "Dark words on light"),
    "contrast": ("high contrast, dark", "White on black, strong colours"),
    "contrast-light": ("high contrast, light", "Black on white, strong colours"),
    "terminal": ("the terminal's own", "The sixteen colours that the terminal is set to"),
}
NOT_LENT = "this terminal cannot be handed over"


def elsewhere(command: str) -> str:
    return f"run `{command}` in another one"


def not_started(command: str, why: str) -> str:
    return f"`{command}` cannot be started: {why}"


def ended(code: int) -> str:
    return f"it ended with code {code}, and said nothing"
