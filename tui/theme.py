"""The app's colours: dark and light, both again with high contrast, and the terminal's own sixteen."""

from __future__ import annotations

from collections.abc import Mapping

from textual.theme import Theme

DARK = Theme(
    name="retain-dark",
    dark=True,
    background="#15171c",
    surface="#1c1f26",
    panel="#262a34",
    foreground="#d9dce3",
    primary="#82aaff",
    secondary="#8fb8a8",
    accent="#e6b673",
    success="#9ccf7a",
    warning="#e6b673",
    error="#ff7a8a",
)
LIGHT = Theme(
    name="retain-light",
    dark=False,
    background="#fbfaf6",
    surface="#f3f1ea",
    panel="#e7e4da",
    foreground="#2a2c32",
    primary="#2c5cb0",
    secondary="#2f6f5b",
    accent="#9a5b12",
    success="#3b7a2c",
    warning="#9a5b12",
    error="#b0233b",
    variables={
        "quiet": "#65666a",
        "kind-definitional": "#2c5cb0",
        "kind-mechanistic": "#7a3fa8",
        "kind-relational": "#1f7272",
        "kind-applied": "#9a5b12",
    },
)
CONTRAST_DARK = Theme(
    name="retain-contrast",
    dark=True,
    background="#000000",
    surface="#000000",
    panel="#2e2e2e",
    foreground="#ffffff",
    primary="#9cc2ff",
    secondary="#7ff0d0",
    accent="#ffd75f",
    success="#8aff7a",
    warning="#ffd75f",
    error="#ffa0a8",
    variables={
        "kind-definitional": "#9cc2ff",
        "kind-mechanistic": "#e0b8ff",
        "kind-relational": "#7ff0e8",
        "kind-applied": "#ffd75f",
        "border": "#ffffff",
        "quiet": "#c4c4c4",
    },
)
CONTRAST_LIGHT = Theme(
    name="retain-contrast-light",
    dark=False,
    background="#ffffff",
    surface="#ffffff",
    panel="#e4e4e4",
    foreground="#000000",
    primary="#0a2f87",
    secondary="#004a38",
    accent="#5c3200",
    success="#0d4a00",
    warning="#5c3200",
    error="#8a0014",
    variables={
        "kind-definitional": "#0a2f87",
        "kind-mechanistic": "#55107f",
        "kind-relational": "#00494a",
        "kind-applied": "#5c3200",
        "border": "#000000",
        "quiet": "#3c3c3c",
    },
)
_SIXTEEN = {
    # These colours have no shades, and NO_COLOR has none at all. (Lists don't take `reverse` from the framework.)
    "cursor-style": "bold underline",
    "block-cursor-text-style": "reverse",
    "block-cursor-blurred-text-style": "reverse",
    "quiet": "ansi_default",
    "kind-definitional": "ansi_blue",
    "kind-mechanistic": "ansi_magenta",
    "kind-relational": "ansi_cyan",
    "kind-applied": "ansi_yellow",
    "text-primary": "ansi_blue",
    "text-secondary": "ansi_cyan",
    "text-accent": "ansi_magenta",
    "text-success": "ansi_green",
    "text-warning": "ansi_yellow",
    "text-error": "ansi_red",
    "error-muted": "ansi_default",
    "warning-muted": "ansi_default",
    "success-muted": "ansi_default",
    "primary-muted": "ansi_default",
    "border": "ansi_default",
    "border-blurred": "ansi_default",
    "block-cursor-foreground": "ansi_default",
    "block-cursor-background": "ansi_default",
    "input-cursor-text-style": "reverse",
    "input-selection-background": "ansi_blue",
    "input-selection-foreground": "ansi_white",
    "screen-selection-background": "ansi_blue",
    "screen-selection-foreground": "ansi_white",
}


def _sixteen(name: str, *, dark: bool) -> Theme:
    ground, words = ("ansi_black", "ansi_white") if dark else ("ansi_white", "ansi_black")
    return Theme(
        name=name,
        ansi=True,
        dark=dark,
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        boost="ansi_default",
        primary="ansi_blue",
        secondary="ansi_cyan",
        accent="ansi_magenta",
        success="ansi_green",
        warning="ansi_yellow",
        error="ansi_red",
        variables={**_SIXTEEN, "ansi-background": ground, "ansi-foreground": words},
    )


TERMINAL = _sixteen("retain-terminal", dark=True)
TERMINAL_LIGHT = _sixteen("retain-terminal-light", dark=False)
ALL = (DARK, LIGHT, CONTRAST_DARK, CONTRAST_LIGHT, TERMINAL, TERMINAL_LIGHT)
# What themes of other makers don't have.
VARIABLES = {
    "cursor-style": "none",  # of the line of a list that the cursor is on
    "quiet": "#989ba2",  # words that wait until they are looked for; `$text-muted` means nothing inside a Content
    "kind-definitional": "#82aaff",
    "kind-mechanistic": "#c79bff",
    "kind-relational": "#79d0c8",
    "kind-applied": "#e6b673",
}
_NAMED = {"dark": DARK, "light": LIGHT, "contrast": CONTRAST_DARK, "contrast-light": CONTRAST_LIGHT}
# Light and dark of the same making, each the other's other.
_OTHERS = {
    each.name: other.name
    for one, two in ((DARK, LIGHT), (CONTRAST_DARK, CONTRAST_LIGHT), (TERMINAL, TERMINAL_LIGHT))
    for each, other in ((one, two), (two, one))
}
_BRIGHT = ("7", "9", "10", "11", "12", "13", "14", "15")  # grounds as COLORFGBG numbers them
_MANY = ("256color", "direct", "truecolor", "kitty", "alacritty", "ghostty", "wezterm", "iterm", "foot", "contour")


def preferred(environment: Mapping[str, str], asked: str = "auto") -> str:
    """The name of the theme that was asked for; with "auto", of the one that goes with the terminal.

    Without colour (NO_COLOR) and with sixteen of them, only the terminal's own are sure to be readable.
    """
    light = environment.get("COLORFGBG", "").rpartition(";")[2] in _BRIGHT
    if asked == "terminal" or colourless(environment) or (asked == "auto" and _few_colours(environment)):
        return (TERMINAL_LIGHT if light else TERMINAL).name
    if asked in _NAMED:
        return _NAMED[asked].name
    return (LIGHT if light else DARK).name


def other(name: str) -> str:
    """The light theme of a dark one, and the other way round."""
    return _OTHERS.get(name, DARK.name)


def colourless(environment: Mapping[str, str]) -> bool:
    """Whether this user wants no colour at all, on any terminal."""
    return bool(environment.get("NO_COLOR"))


def _few_colours(environment: Mapping[str, str]) -> bool:
    """Whether the terminal says that it knows sixteen colours at most. Saying nothing, as on Windows, is no saying."""
    if environment.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return False
    term = environment.get("TERM", "")
    return bool(term) and not any(name in term for name in _MANY)
