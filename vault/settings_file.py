"""One setting changed in a TOML file that people write by hand: its line alone, every other byte as it was."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault import user
from vault.errors import Damaged, Refused, UsageError
from vault.settings import FILE, Settings, read_settings

if TYPE_CHECKING:
    from vault.guard import Guard
    from vault.store import Vault

Value = bool | int | float | str | list[str]
_VALUE = r"(\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|\[[^\[\]\n]*\]|[^\s#\"'\[\]]+)"
_HEADER = re.compile(r"^[ \t]*\[[^\n]*\][ \t]*(?:#[^\n]*)?$", re.MULTILINE)


def changed(text: str, table: str, key: str, value: Value | None, where: str = FILE) -> str:
    """`text` with `key` of `[table]` set to `value`; None takes the line away, so that the default holds.

    A line that is there is changed, its comment kept; one that stands there as a comment comes to life; else a line is
    added at the end of the table, or the table at the end of the file. Raises: Damaged for what is not TOML; Refused
    where it can only be done by hand.
    """
    before = _data(text, where)
    new = _without(text, table, key) if value is None else _with(text, table, key, literal(value))
    if _data(new, where) != _wanted(before, table, key, value):
        raise Refused(f"`{key}` cannot be changed from here", where=where, hint="change the line by hand")
    return new


def literal(value: Value) -> str:
    """`value` as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    return repr(value)


def _data(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Damaged(f"not TOML: {error}", where=where, hint="mend the file") from error


def _wanted(data: dict[str, Any], table: str, key: str, value: Value | None) -> dict[str, Any]:
    inner = {name: each for name, each in data.get(table, {}).items() if name != key}
    return {**data, table: inner if value is None else {**inner, key: value}}


def _name(key: str) -> str:
    return rf"(?:{re.escape(key)}|\"{re.escape(key)}\"|'{re.escape(key)}')"


def _part(text: str, table: str) -> tuple[int, int]:
    """Where the lines of `[table]` begin and end; (-1, -1) where there is none."""
    found = re.search(rf"^[ \t]*\[[ \t]*{_name(table)}[ \t]*\][ \t]*(?:#[^\n]*)?\r?(?:\n|\Z)", text, re.MULTILINE)
    if found is None:
        return -1, -1
    after = _HEADER.search(text, found.end())
    return found.end(), after.start() if after else len(text)


def _with(text: str, table: str, key: str, written: str) -> str:
    start, end = _part(text, table)
    newline = "\r\n" if "\r\n" in text else "\n"
    shown = key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else literal(key)
    if start < 0:
        gap = "" if not text or text.endswith("\n") else newline
        return f"{text}{gap}{newline if text else ''}[{table}]{newline}{shown} = {written}{newline}"
    live = re.compile(rf"^([ \t]*{_name(key)}[ \t]*=[ \t]*){_VALUE}", re.MULTILINE)
    found = live.search(text, start, end)
    if found is not None:
        return text[: found.start(2)] + written + text[found.end(2) :]
    asleep = re.compile(rf"^[ \t]*#[ \t]*({_name(key)}[ \t]*=[ \t]*){_VALUE}", re.MULTILINE)
    found = asleep.search(text, start, end)
    if found is not None:
        return text[: found.start()] + found[1] + written + text[found.end() :]
    at = _last_line(text, start, end)
    return f"{text[:at]}{'' if text[:at].endswith(chr(10)) else newline}{shown} = {written}{newline}{text[at:]}"


def _last_line(text: str, start: int, end: int) -> int:
    """After the last line of the table that is neither empty nor a comment; its beginning where there is none."""
    at = start
    for found in re.finditer(r"^[ \t]*[^\s#][^\n]*(?:\n|\Z)", text[:end], re.MULTILINE):
        if found.start() >= start:
            at = found.end()
    return at


def _without(text: str, table: str, key: str) -> str:
    start, end = _part(text, table)
    line = re.compile(rf"^[ \t]*{_name(key)}[ \t]*=[ \t]*{_VALUE}[^\n]*(?:\n|\Z)", re.MULTILINE)
    found = line.search(text, start, end) if start >= 0 else None
    return text if found is None else text[: found.start()] + text[found.end() :]


def change_vault(vault: Vault, key: str, value: Value) -> Settings:
    """Sets one line of [learning] in the vault's `retain.toml`; what the file says from then on.

    Raises: UsageError for a value that the settings do not take; Damaged; EditedMeanwhile; WriteFailed; Refused.
    """
    from vault.guard import Scope

    guard = vault.guard(Scope.SETTINGS)
    text = _read(guard, FILE)
    new = changed(text, "learning", key, value)
    read_settings(text)  # what is wrong with the file already is told of the file
    try:
        settings, _ = read_settings(new)
    except Damaged as error:
        raise UsageError(error.what, hint="nothing was written") from error
    _write(guard, FILE, text, new)
    return settings


def put_back_vault(vault: Vault, now: str, before: str) -> Settings:
    """`before` in place of the `now` of `retain.toml`; what it says from then on. Raises as `change_vault` does."""
    from vault.guard import Scope

    settings, _ = read_settings(before)
    _write(vault.guard(Scope.SETTINGS), FILE, now, before)
    return settings


def change_user(table: str, key: str, value: Value | None) -> str:
    """Sets one line of the user's own `config.toml`, or takes it away; the text from then on. Raises likewise."""
    guard = user.config_guard()
    path = str(guard.root / user.CONFIG)
    text = user.config_text()
    new = changed(text, table, key, value, path)
    _write(guard, user.CONFIG, text, new)
    return new


def put_back_user(now: str, before: str) -> None:
    """`before` in place of the `now` of the user's own `config.toml`."""
    _write(user.config_guard(), user.CONFIG, now, before)


def vault_text(vault: Vault) -> str:
    """The bytes of `retain.toml` as text. Raises: Damaged where it is not UTF-8."""
    return _decoded((vault.root / FILE).read_bytes(), vault.root / FILE)


def _read(guard: Guard, name: str) -> str:
    return _decoded(guard.read(name) or b"", guard.root / name)


def _decoded(data: bytes, path: Path) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Damaged("not UTF-8", where=str(path), hint="mend the file, or move it away") from error


def _write(guard: Guard, name: str, old: str, new: str) -> None:
    """Writes what has changed; whoever changed the file since `old` was read keeps the newer bytes."""
    from vault.folder import is_folder
    from vault.guard import sha256_hex

    there = is_folder(guard.root) and guard.read(name) is not None
    guard.write(name, new.encode(), expect=sha256_hex(old.encode()) if there else None)
