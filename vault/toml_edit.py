"""Change settings in a TOML file that people edit; every other byte stays."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from vault.config import user
from vault.config.notes import NoteRules
from vault.config.settings import FILE, Settings, read_settings
from vault.config.toml_file import parsed
from vault.errors import Damaged, Refused, UsageError
from vault.files.folder import is_folder
from vault.files.guard import Scope, sha256_hex

if TYPE_CHECKING:
    from vault.files.guard import Guard
    from vault.vault import Vault

Value = bool | int | float | str | list[str]


def changed(text: str, table: str, key: str, value: Value | None, where: str = FILE) -> str:
    """Return `text` with `key` of `[table]` set to `value`; None removes the line, so that the default holds.

    A `table` can be one inside another, as "engine.models". A line that is there is changed, its comment kept; one that
    is commented out is uncommented; else a line is added to the table, or the table to the end of the file. Raises:
    Damaged for what is not TOML; Refused where it can only be done by hand.
    """
    before = parsed(text, where)
    wanted = _with_value(before, table, key, value)
    start = text if value is None or key in _table(before, table) else _uncommented(text, before, table, key)
    try:
        document = tomlkit.parse(start)
        found: Any = document
        for name in table.split("."):
            found = found.get(name, {}) if value is None else found.setdefault(name, tomlkit.table())
        if value is None:
            found.pop(key, None)
        else:
            found[key] = value
        new = document.as_string()
        if "\r\n" in text:
            new = re.sub(r"(?<!\r)\n", "\r\n", new)
        done = tomllib.loads(new) == wanted
    except (TOMLKitError, tomllib.TOMLDecodeError, TypeError, AttributeError, RecursionError):
        done = False
    if not done:
        raise Refused(f"`{key}` cannot be changed in the app", where=where, hint="change the line by hand")
    return new


def _table(data: Any, table: str) -> dict[str, Any]:
    """Return the table of a name, empty where there is none."""
    for name in table.split("."):
        data = data.get(name, {}) if isinstance(data, dict) else {}
    return data if isinstance(data, dict) else {}


def _with_value(data: dict[str, Any], table: str, key: str, value: Value | None) -> dict[str, Any]:
    name, _, inner = table.partition(".")
    if inner:
        return {**data, name: _with_value(_table(data, name), inner, key, value)}
    old = {other: each for other, each in _table(data, name).items() if other != key}
    return {**data, name: old if value is None else {**old, key: value}}


def _uncommented(text: str, data: dict[str, Any], table: str, key: str) -> str:
    """Return `text` with the commented line that sets `key` of `[table]` uncommented; as it is where there is none."""
    for found in re.finditer(rf"^[ \t]*#[ \t]*({re.escape(key)}[ \t]*=)", text, re.MULTILINE):
        new = text[: found.start()] + text[found.start(1) :]
        try:
            after = tomllib.loads(new)
        except tomllib.TOMLDecodeError:
            continue
        if after == _with_value(data, table, key, _table(after, table).get(key)):
            return new
    return text


def change_vault(vault: Vault, key: str, value: Value) -> Settings:
    """Set one key of [learning] in the vault's `retain.toml`; return the new settings.

    Raises UsageError for an invalid value; Damaged; EditedMeanwhile; WriteFailed; Refused.
    """
    guard = vault.guard(Scope.SETTINGS)
    text = _read(guard, FILE)
    new = changed(text, "learning", key, value)
    read_settings(text)  # an error of the present file is reported as such
    try:
        settings, _ = read_settings(new)
    except Damaged as error:
        raise UsageError(error.what, hint="nothing was written") from error
    _write(guard, FILE, text, new)
    return settings


def change_notes(vault: Vault, rules: NoteRules) -> Settings:
    """Set the rules for notes in place in `retain.toml`; return the new settings. Raises as `change_vault`."""
    guard = vault.guard(Scope.SETTINGS)
    text = new = _read(guard, FILE)
    for key in ("folders", "exclude", "exclude_tags"):
        new = changed(new, "notes", key, list(getattr(rules, key)))
    settings, _ = read_settings(new)
    _write(guard, FILE, text, new)
    return settings


def put_back_vault(vault: Vault, now: str, before: str) -> Settings:
    """Replace the text `now` of `retain.toml` with `before`; return the settings. Raises as `change_vault`."""
    settings, _ = read_settings(before)
    _write(vault.guard(Scope.SETTINGS), FILE, now, before)
    return settings


def change_user(table: str, key: str, value: Value | None) -> str:
    """Set one key of the user's `config.toml`, or remove it (None); return the new text. Raises as `change_vault`."""
    return change_user_all([(table, key, value)])


def change_user_all(
    changes: Iterable[tuple[str, str, Value | None]], check: Callable[[str, str], object] = lambda _text, _path: None
) -> str:
    """Set several keys (table, key, value) of the user's `config.toml` in one write; return the new text.

    `check` gets the new text and the path, and raises where it is not valid. Raises as `change_vault`.
    """
    guard = user.config_guard()
    path = str(guard.root / user.CONFIG)
    text = new = user.config_text()
    for table, key, value in changes:
        if value is not None or key in _table(parsed(new, path), table):
            new = changed(new, table, key, value, path)
    try:
        check(new, path)
    except Damaged as error:
        raise UsageError(error.what, hint="nothing was written") from error
    if new != text:
        _write(guard, user.CONFIG, text, new)
    return new


def put_back_user(now: str, before: str) -> None:
    """Replace the text `now` of the user's `config.toml` with `before`."""
    _write(user.config_guard(), user.CONFIG, now, before)


def vault_text(vault: Vault) -> str:
    """Return the text of `retain.toml`. Raises Damaged if it is not UTF-8."""
    return _decode((vault.root / FILE).read_bytes(), vault.root / FILE)


def _read(guard: Guard, name: str) -> str:
    return _decode(guard.read(name) or b"", guard.root / name)


def _decode(data: bytes, path: Path) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Damaged("not UTF-8", where=str(path), hint="fix the file, or move it elsewhere") from error


def _write(guard: Guard, name: str, old: str, new: str) -> None:
    """Write `new` if the file still holds `old`."""
    there = is_folder(guard.root) and guard.read(name) is not None
    guard.write(name, new.encode(), expect=sha256_hex(old.encode()) if there else None)
