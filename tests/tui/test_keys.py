"""The registry of keys: each id is one key's, no key does two things on a screen, and the foot shows the way out."""

from __future__ import annotations

import pytest

from tui import keymap, keys, palette
from tui.widgets.bars import KeyBar


def test_every_id_is_one_keys_and_every_key_says_what_it_does() -> None:
    ids = [key.id for screen in (keys.EVERYWHERE, *keys.SCREENS.values()) for key in screen]
    same = {id(key) for screen in (keys.EVERYWHERE, *keys.SCREENS.values()) for key in screen}
    assert len(set(ids)) == len(same)
    assert [key.id for key in keymap.all_keys().values() if not key.description] == []


@pytest.mark.parametrize("name", keys.SCREENS)
def test_no_key_of_a_screen_does_two_things_there_and_all_are_keys_that_there_are(name: str) -> None:
    registered = (*keys.EVERYWHERE, *keys.SCREENS[name])
    pressed = [each for key in registered for each in key.keys.split(",")]
    assert sorted(each for each in set(pressed) if pressed.count(each) > 1) == []
    assert [key.id for key in registered if keymap.problem_with(key.id, key.keys)] == []


def test_every_place_has_its_keys() -> None:
    assert set(palette.PLACES) <= set(keys.SCREENS)


@pytest.mark.parametrize("width", [40, 80, 140])
@pytest.mark.parametrize("name", keys.SCREENS)
def test_the_foot_of_every_screen_is_one_line_with_the_help_at_its_end_and_the_way_out(name: str, width: int) -> None:
    told = [key for key in keys.SCREENS[name] if key.words]
    line = KeyBar(told).line(width)
    assert line.cell_length == width and line.plain.endswith("? Help ")
    out = [key for key in told if key.action in ("back", "home", "quit")]
    assert all(f"{key.display} {key.words}" in line.plain for key in out[:1])
