"""The user's own keys: which are valid, which clash, and the registry with them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import replace

from textual.keys import KEY_NAME_REPLACEMENTS, KEY_TO_UNICODE_NAME, Keys, _character_to_key, format_key

from tui import keys
from tui.keys import Key

_MODIFIERS = ("ctrl", "alt", "shift", "super", "hyper", "meta")
_WRITTEN = {"escape": "esc", "space": "space", "enter": "enter", "tab": "tab", "backspace": "backspace"}
_KEPT = {"ctrl+q": "quit"}  # the framework's own way out


def all_keys() -> dict[str, Key]:
    """Return every key of the app by its id."""
    return {key.id: key for screen in (keys.EVERYWHERE, *keys.SCREENS.values()) for key in screen}


def problem_with(id_: str, given: object) -> str:
    """Return why `given` cannot be the keys of `id_`; "" if it can."""
    if id_ not in all_keys():
        return f"unknown key id `{id_}`"
    if not isinstance(given, str) or not given.strip():
        return f'the keys for {id_} must be a string like "z" or "z,ctrl+u"'
    unknown = [name for name in _split(given) if not _is_key(name)]
    return f"unknown key name `{unknown[0]}`" if unknown else ""


def normalized(given: str) -> str:
    """Return keys by Textual's long names: `?` as `question_mark`."""
    return ",".join(_long(name) for name in _split(given))


def _split(given: str) -> list[str]:
    """Return the names in `z, ctrl+u`; the comma key is named `comma`."""
    return [name.strip() for name in given.split(",")]


def _long(name: str) -> str:
    return _character_to_key(name) if len(name) == 1 else name


def _is_key(name: str) -> bool:
    *modifiers, last = name.split("+")
    if not set(modifiers) <= set(_MODIFIERS) or not last:
        return False
    if len(last) == 1:
        return last.isprintable() and not last.isspace()
    if last in set(Keys) or last in KEY_TO_UNICODE_NAME or last in KEY_NAME_REPLACEMENTS.values():
        return True
    try:
        return unicodedata.lookup(last.replace("_", " ").upper()).isprintable()
    except KeyError:
        return False


def without_clashes(moved: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the moves that don't clash, and the reason for each that was dropped; of two, the later one is dropped."""
    holds, clashes = dict(moved), dict[str, str]()
    while (found := _clash(holds)) is not None:
        id_, reason = found
        del holds[id_]
        clashes[id_] = reason
    return holds, clashes


def _clash(moved: Mapping[str, str]) -> tuple[str, str] | None:
    """Return (id, reason) of the last move to a key that is already used on the same screen; None if there is none."""
    order = {id_: at for at, id_ in enumerate(moved)}
    found: list[tuple[int, str, str]] = []
    for screen in keys.SCREENS.values():
        taken: dict[str, str] = dict(_KEPT)
        for key in with_user_keys((*keys.EVERYWHERE, *screen), moved):
            for name in key.keys.split(","):
                other = taken.setdefault(name, key.id)
                both = [id_ for id_ in (other, key.id) if id_ in order]
                if other != key.id and both:
                    loser = max(both, key=order.__getitem__)
                    winner = other if loser == key.id else key.id
                    found.append((order[loser], loser, f"the key `{name}` is already used for {winner}"))
    return max(found)[1:] if found else None


def with_user_keys(registered: Iterable[Key], moved: Mapping[str, str]) -> list[Key]:
    """Return the keys with the user's own keys in place of the registered ones."""
    return [
        replace(key, keys=moved[key.id], shown=display_name(moved[key.id].split(",")[0])) if key.id in moved else key
        for key in registered
    ]


def display_name(name: str) -> str:
    """Return a key as people write it: `esc`, `?`, `ctrl+u`."""
    *modifiers, last = name.split("+")
    written = _WRITTEN.get(last) or format_key(last)
    return "+".join((*modifiers, written))
