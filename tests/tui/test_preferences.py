"""What a user's own settings ask of the app: read strictly, and never a reason not to start."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from tui import keymap, keys
from tui.app import RetainApp
from tui.context import Context
from tui.preferences import Preferences, read_preferences
from tui.screen import Page
from tui.widgets.bars import KeyBar
from vault.errors import Damaged
from vault.vault import Vault

Settled = Callable[[Pilot[int]], Awaitable[None]]
FILE = "config.toml"


def test_a_file_without_a_word_of_the_app_asks_for_nothing() -> None:
    assert read_preferences("", FILE) == Preferences()
    assert read_preferences('[vaults.x]\npersonal = "/y"\n', FILE) == Preferences()


def test_what_is_asked_for_is_taken() -> None:
    text = (
        '[app]\ntheme = "light"\ntype_answers = true\npictures = "never"\nmotion = false\n[keys]\n"review.undo" = "z"\n'
    )
    asked = read_preferences(text, FILE)
    assert asked == Preferences(
        theme="light", type_answers=True, pictures="never", motion=False, keys={"review.undo": "z"}
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('theme = "pink"', "theme must be one of auto, dark"),
        ('motion = "no"', "motion must be true or false"),
        ("pictures = 1", "pictures must be one of auto, never"),
        ("pictures = []", "pictures must be one of auto, never"),
        ("colour = 3", "unknown setting `colour`"),
    ],
)
def test_what_cannot_be_is_named_with_its_line_and_the_rest_holds(line: str, said: str) -> None:
    asked = read_preferences(f"# mine\n[app]\nshow_timer = true\n{line}\n", FILE)
    (found,) = asked.found
    assert asked.show_timer and (found.path, found.line) == (FILE, 4)
    assert found.message.startswith(said)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('"review.undoo" = "z"', "unknown key id `review.undoo`"),
        ('"review.undo" = "zz"', "unknown key name `zz`"),
        ('"review.undo" = "z,"', "unknown key name ``"),
        ('"review.undo" = "boss+z"', "unknown key name `boss+z`"),
        ('"review.undo" = 7', "the keys for review.undo must be a string"),
        ('"review.undo" = "b"', "the key `b` is already used for review.bury"),
        ('"review.undo" = "question_mark"', "the key `question_mark` is already used for app.help"),
        ('"review.undo" = "?"', "the key `question_mark` is already used for app.help"),
        ('"review.undo" = "ctrl+q"', "the key `ctrl+q` is already used for quit"),
        ('"app.help" = "u"', "the key `u` is already used for"),
    ],
)
def test_a_key_that_cannot_be_moved_there_stays_where_it_was(line: str, said: str) -> None:
    asked = read_preferences(f'[keys]\n"home.gaps" = "h"\n{line}\n', FILE)
    (found,) = asked.found
    assert dict(asked.keys) == {"home.gaps": "h"} and found.line == 3
    assert found.message.startswith(said)


def test_two_keys_may_change_places_and_names_need_no_quotes() -> None:
    asked = read_preferences('[keys]\nreview.undo = "s"\nreview.source = "u, ctrl+u"\n', FILE)
    assert asked.found == () and asked.keys == {"review.undo": "s", "review.source": "u,ctrl+u"}


def test_a_file_that_is_not_toml_is_damaged_at_its_line() -> None:
    with pytest.raises(Damaged) as raised:
        read_preferences("[app]\ntheme =\n", FILE)
    assert raised.value.where == f"{FILE}:2"


@given(st.dictionaries(st.sampled_from(sorted(keymap.all_keys())), st.sampled_from("abcghrsuxz123?!"), max_size=8))
def test_whatever_is_moved_no_key_of_a_screen_does_two_things(given_: dict[str, str]) -> None:
    moved = {id_: keymap.normalized(name) for id_, name in given_.items()}
    holds, clashes = keymap.without_clashes(moved)
    assert holds.keys() | clashes.keys() == moved.keys() and not holds.keys() & clashes.keys()
    for screen in keys.SCREENS.values():
        pressed = [n for key in keymap.with_user_keys((*keys.EVERYWHERE, *screen), holds) for n in key.keys.split(",")]
        assert len(pressed) == len(set(pressed))


async def test_a_moved_key_works_and_is_shown_where_it_is_and_the_old_one_is_dead(
    vault: Vault, clock: Callable[[], datetime], settled: Settled
) -> None:
    app = RetainApp(Context(vault, clock, preferences=Preferences(keys={"home.gaps": "h,f7"})))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        foot = app.screen.query_one(KeyBar).line(80).plain
        assert " h Gaps" in foot and " g Gaps" not in foot
        before = app.screen
        await pilot.press("g")
        await settled(pilot)
        assert app.screen is before
        await pilot.press("h")
        await settled(pilot)
        assert app.screen is not before


async def test_the_palette_finds_what_a_key_of_the_screen_does_and_does_it(
    vault: Vault, clock: Callable[[], datetime], settled: Settled
) -> None:
    app = RetainApp(Context(vault, clock))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert isinstance(app.screen, Page)
        found = list(app.get_system_commands(app.screen))
        told = {key.description.partition(":")[0] for key in keys.HOME if app.screen.offers(key)}
        assert told <= {command.title for command in found}
        await next(command for command in found if command.title == "Settings").callback()
        await settled(pilot)
        assert type(app.screen).__name__ == "SettingsScreen"
