"""The words of the app: palette, themes, help, and programs that take over the terminal."""

from __future__ import annotations

FEWEST_COLUMNS, FEWEST_ROWS = 40, 12
TOO_SMALL = f"too small: at least {FEWEST_COLUMNS}x{FEWEST_ROWS}"
HERE, EVERYWHERE = "Here", "Everywhere"  # the headings of the help
PALETTE = "A command, or the name of an article, topic, card or gap"
THEME = "Colours"
QUIT = "Quit"
QUIT_ABOUT = "Leave retain; all ratings are saved"
PLACES = {
    "home": ("Home", "Today: due cards and gaps"),
    "review": ("Review", "Start with the cards due today"),
    "ask": ("Ask", "Answers from your sources, with follow-ups"),
    "gaps": ("Gaps", "What the sources lack, and what to read"),
    "inbox": ("Inbox", "Proposals that wait for your decision"),
    "suggest": ("Suggested cards", "Keep, edit or drop low-confidence cards"),
    "browse": ("Browse", "Every card and article"),
    "new": ("New card", "Write a card of your own: basic, both ways or a cloze"),
    "search": ("Search", "Full-text search of sources, wiki and cards"),
    "stats": ("Stats", "Recall, forecast and workload"),
    "work": ("Work", "Compile, add, import, export"),
    "practise": ("Practise", "Cram, preview or review ahead, by topic or tag"),
    "quiz": ("Quiz", "Answer questions about a topic"),
    "settings": ("Settings", "Learning and appearance"),
}
ARTICLE, TOPIC, CARD, GAP = "article", "topic", "card", "gap"  # what the palette finds in a vault
THEMES = {
    "auto": ("automatic", "Match the terminal's background"),
    "dark": ("dark", "Light words on dark"),
    "light": ("light", "Dark words on light"),
    "contrast": ("high contrast, dark", "White on black, strong colours"),
    "contrast-light": ("high contrast, light", "Black on white, strong colours"),
    "terminal": ("the terminal's own", "The sixteen colours that the terminal is set to"),
}
NOT_LENT = "this terminal cannot run another program"


def elsewhere(command: str) -> str:
    return f"run `{command}` in another terminal"


def not_started(command: str, why: str) -> str:
    return f"`{command}` cannot be started: {why}"


def ended(code: int) -> str:
    return f"exit code {code}, no message"
