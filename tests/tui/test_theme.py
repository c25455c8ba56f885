"""Every theme can be read: ratios of contrast as the Web's guidelines reckon them, for the pairs that are used."""

from __future__ import annotations

import pytest
from textual.color import Color
from textual.theme import Theme

from tui import theme
from tui.preferences import THEMES
from tui.strings import app as strings

TRUE = [each for each in theme.ALL if not each.ansi]
GROUNDS = ("background", "surface")
WORDS = (
    *("foreground", "quiet", "text-primary", "text-accent", "text-secondary"),
    *("text-error", "text-warning", "text-success"),
    *("kind-definitional", "kind-mechanistic", "kind-relational", "kind-applied"),
)
ON_THEIR_OWN = (("text-error", "error-muted"), ("text-warning", "warning-muted"), ("foreground", "panel"))


def colours(worn: Theme) -> dict[str, str]:
    return {**theme.VARIABLES, **worn.to_color_system().generate(), **worn.variables}


def contrast(words: str, ground: str) -> float:
    """The ratio of the Web Content Accessibility Guidelines, 1 to 21."""
    below = Color.parse(ground)
    above = below.blend(Color.parse(words), Color.parse(words).a, alpha=1)
    light, dark = sorted((_luminance(above), _luminance(below)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Color) -> float:
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def test_the_ratio_is_that_of_the_guidelines() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("worn", TRUE, ids=lambda each: each.name)
def test_words_stand_out_from_what_is_behind_them(worn: Theme) -> None:
    least = 7.0 if "contrast" in worn.name else 4.5
    seen = colours(worn)
    pairs = [(word, ground) for word in WORDS for ground in GROUNDS] + list(ON_THEIR_OWN)
    ratios = {pair: round(contrast(seen[pair[0]], seen[pair[1]]), 2) for pair in pairs}
    assert {pair: ratio for pair, ratio in ratios.items() if ratio < least} == {}


@pytest.mark.parametrize("worn", [each for each in theme.ALL if each.ansi], ids=lambda each: each.name)
def test_of_the_terminals_own_colours_no_ground_but_its_own_is_painted(worn: Theme) -> None:
    seen = colours(worn)
    for name in (*GROUNDS, "panel", "foreground", "quiet", "error-muted", "warning-muted"):
        assert seen[name] in ("ansi_default", "transparent"), name
    for name in WORDS:
        assert seen[name].startswith("ansi_"), name


@pytest.mark.parametrize(
    ("environment", "worn"),
    [
        ({}, "retain-dark"),
        ({"TERM": "xterm-256color"}, "retain-dark"),
        ({"TERM": "xterm-256color", "COLORFGBG": "0;15"}, "retain-light"),
        ({"TERM": "xterm"}, "retain-terminal"),
        ({"TERM": "linux"}, "retain-terminal"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, "retain-dark"),
        ({"TERM": "screen", "COLORFGBG": "0;15"}, "retain-terminal-light"),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, "retain-terminal"),
        ({"TERM": "xterm-256color", "NO_COLOR": ""}, "retain-dark"),
    ],
)
def test_the_terminal_says_which_colours_it_can_show(environment: dict[str, str], worn: str) -> None:
    assert theme.preferred(environment) == worn


def test_what_was_asked_for_is_worn_but_without_colour_nothing_is_painted() -> None:
    assert theme.preferred({"TERM": "xterm"}, "contrast-light") == "retain-contrast-light"
    assert theme.preferred({"TERM": "xterm-256color", "NO_COLOR": "1"}, "light") == "retain-terminal"


def test_every_theme_that_can_be_asked_for_has_a_name_for_people() -> None:
    assert set(strings.THEMES) == set(THEMES)
    worn = {theme.preferred({"TERM": "xterm-256color"}, name) for name in THEMES}
    assert worn == {each.name for each in theme.ALL} - {"retain-terminal-light"}


def test_light_and_dark_are_each_others_other() -> None:
    for each in theme.ALL:
        assert theme.other(theme.other(each.name)) == each.name
