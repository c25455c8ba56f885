"""The app's colours: dark and light, both also in high contrast, and the terminal's own sixteen."""

from __future__ import annotations

from collections.abc import Mapping

from textual.theme import Theme

# The styles of words, whatever the theme makes of them.
CODE = "$text-accent"
MATH = "$text-secondary"
DIM = "$quiet"  # a colour of the theme; $text-muted means nothing inside a Content
LINK = "$text-primary underline"


def _theme(name: str, colours: str, *, dark: bool, contrast: bool = False) -> Theme:
    """Return the theme of twelve colours: background, surface, panel, foreground, primary, secondary, accent,
    success, error, quiet words, mechanistic cards, relational cards."""
    background, surface, panel, foreground, primary, secondary, accent, success, error, quiet, *kinds = colours.split()
    variables = {
        "quiet": quiet,
        "kind-definitional": primary,
        "kind-mechanistic": kinds[0],
        "kind-relational": kinds[1],
        "kind-applied": accent,
    }
    return Theme(
        name=name,
        dark=dark,
        background=background,
        surface=surface,
        panel=panel,
        foreground=foreground,
        primary=primary,
        secondary=secondary,
        accent=accent,
        success=success,
        warning=accent,
        error=error,
        variables={**variables, "border": foreground} if contrast else variables,
    )


DARK = _theme(
    "retain-dark",
    "#15171c #1c1f26 #262a34 #d9dce3 #82aaff #8fb8a8 #e6b673 #9ccf7a #ff7a8a #989ba2 #c79bff #79d0c8",
    dark=True,
)
LIGHT = _theme(
    "retain-light",
    "#fbfaf6 #f3f1ea #e7e4da #2a2c32 #2c5cb0 #2f6f5b #9a5b12 #3b7a2c #b0233b #65666a #7a3fa8 #1f7272",
    dark=False,
)
CONTRAST_DARK = _theme(
    "retain-contrast",
    "#000000 #000000 #2e2e2e #ffffff #9cc2ff #7ff0d0 #ffd75f #8aff7a #ffa0a8 #c4c4c4 #e0b8ff #7ff0e8",
    dark=True,
    contrast=True,
)
CONTRAST_LIGHT = _theme(
    "retain-contrast-light",
    "#ffffff #ffffff #e4e4e4 #000000 #0a2f87 #004a38 #5c3200 #0d4a00 #8a0014 #3c3c3c #55107f #00494a",
    dark=False,
    contrast=True,
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
VARIABLES = {"cursor-style": "none", **DARK.variables}  # `cursor-style`: of the line of a list that the cursor is on
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
    """Return the name of the theme `asked`; for "auto", of the one that suits the terminal.

    Without colour (NO_COLOR) and with sixteen of them, only the terminal's own are sure to be readable.
    """
    light = environment.get("COLORFGBG", "").rpartition(";")[2] in _BRIGHT
    if asked == "terminal" or colourless(environment) or (asked == "auto" and _few_colours(environment)):
        return (TERMINAL_LIGHT if light else TERMINAL).name
    if asked in _NAMED:
        return _NAMED[asked].name
    return (LIGHT if light else DARK).name


def other(name: str) -> str:
    """Return the light theme of a dark one, or the reverse."""
    return _OTHERS.get(name, DARK.name)


def colourless(environment: Mapping[str, str]) -> bool:
    """Return whether the user has switched colours off (NO_COLOR)."""
    return bool(environment.get("NO_COLOR"))


def _few_colours(environment: Mapping[str, str]) -> bool:
    """Return whether the terminal has sixteen colours or fewer; False if it does not say."""
    if environment.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return False
    term = environment.get("TERM", "")
    return bool(term) and not any(name in term for name in _MANY)
