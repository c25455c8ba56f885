"""The app's colours, for dark terminals and light ones."""

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
        "kind-definitional": "#2c5cb0",
        "kind-mechanistic": "#7a3fa8",
        "kind-relational": "#1f7272",
        "kind-applied": "#9a5b12",
    },
)
# What themes of other makers don't have.
VARIABLES = {
    "kind-definitional": "#82aaff",
    "kind-mechanistic": "#c79bff",
    "kind-relational": "#79d0c8",
    "kind-applied": "#e6b673",
}


def preferred(environment: Mapping[str, str]) -> str:
    """The name of the theme that goes with the terminal, as far as COLORFGBG tells its background."""
    background = environment.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT.name if background in ("7", "9", "10", "11", "12", "13", "14", "15") else DARK.name
