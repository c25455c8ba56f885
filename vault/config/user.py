"""The user's own folders outside every vault: settings (`config.toml`), state and data.

Settings are in the configuration folder of this system (XDG_CONFIG_HOME on Linux), among them the personal vault of
each vault, by the vault's id. The state of a vault (copies of the user's files, runs of agents) has a folder of its
own, and so have the copies of its review log.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from vault.config.settings import quoted
from vault.config.toml_file import parsed
from vault.errors import Damaged, Refused
from vault.files.folder import is_folder, sha256_hex
from vault.files.guard import Guard, Scope

if TYPE_CHECKING:
    from vault.files.guard import Guard

CONFIG = "config.toml"
_ON_LINUX = sys.platform == "linux"
_ID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
_HEAD = """# Your settings for retain. A vault cannot change them, because it may come from someone else.
"""


def config_folder() -> Path:
    """Return the folder of `config.toml`; it may not exist."""
    return _place("XDG_CONFIG_HOME", ".config", "user_config_path")


def state_folder(vault_id: str) -> Path:
    """Return the folder for the state of one vault; it may not exist. Raises Refused for an invalid id."""
    return _place("XDG_STATE_HOME", ".local/state", "user_state_path") / _checked_id(vault_id)


def data_folder(vault_id: str) -> Path:
    """Return the folder for the user's data of one vault; it may not exist. Raises Refused for an invalid id."""
    return _place("XDG_DATA_HOME", ".local/share", "user_data_path") / _checked_id(vault_id)


def _checked_id(vault_id: str) -> str:
    """Return the id of a vault, which is the name of a folder. Raises Refused for any other text."""
    if not _ID.fullmatch(vault_id):
        raise Refused("not a vault id", where=json.dumps(vault_id))
    return vault_id


def cache_folder(name: str) -> Path:
    """Return a folder for what can be made again; it may not exist."""
    return _place("XDG_CACHE_HOME", ".cache", "user_cache_path") / name


def _place(variable: str, usual: str, elsewhere: str) -> Path:
    """Return a standard folder of this system. Relative paths are ignored, as the standard requires.

    Not by `platformdirs` on Linux: it takes 12 ms to load, and every command that writes needs this.
    """
    if _ON_LINUX:
        given = os.environ.get(variable, "").strip()
        return (Path(given) if given.startswith("/") else _home() / usual) / "retain"
    import platformdirs

    found = getattr(platformdirs, elsewhere)("retain", appauthor=False)
    assert isinstance(found, Path)
    return found


def _home() -> Path:
    """Return the home folder. Raises Refused if it is unknown."""
    try:
        return Path.home()
    except RuntimeError as error:  # a user without an entry in /etc/passwd, as in some containers
        raise Refused("your home folder could not be determined", hint="set HOME") from error


def config_guard() -> Guard:
    """Return the writer of `config.toml`."""
    return Guard(config_folder(), Scope.CONFIG)


def state_guard(vault_id: str) -> Guard:
    """Return the writer for the state folder of a vault."""
    return Guard(state_folder(vault_id), Scope.STATE)


def data_guard(vault_id: str) -> Guard:
    """Return the writer for the data folder of a vault."""
    return Guard(data_folder(vault_id), Scope.STATE)


def personal_vault(vault_id: str) -> Path | None:
    """Return the folder of the personal vault, absolute and as given; None if none is set. It may not exist.

    An invalid entry for another vault is ignored. Raises Damaged, with file and line.
    """
    return _personal_vaults(vault_id).get(vault_id)


def personal_vaults() -> dict[str, Path]:
    """Return the personal vaults by the ids of their vaults. Raises Damaged, with file and line."""
    return _personal_vaults(None)


def _personal_vaults(only: str | None) -> dict[str, Path]:
    found = _personal_in(config_text(), config_folder() / CONFIG, only)
    return {vault_id: Path(given) for vault_id, given in found.items()}


def config_text() -> str:
    """Return the text of the settings file; "" if there is none. Raises Damaged if it cannot be read."""
    path = config_folder() / CONFIG
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise Damaged(f"cannot be read: {error}", where=str(path), hint="fix the file, or move it elsewhere") from error
    except OSError as error:
        if isinstance(error, PermissionError) and os.environ.get("RETAIN_CAGED"):
            return ""  # hidden from agents: by Landlock it can't be read, by bubblewrap it isn't there
        reason = os.strerror(error.errno or 0).lower()
        raise Damaged(f"cannot be read: {reason}", where=str(path), hint="check its owner and permissions") from error


def set_personal_vault(vault_id: str, folder: Path) -> None:
    """Record the personal vault of a vault; the rest of the settings stays byte for byte.

    Raises Refused if another folder is set; EditedMeanwhile; WriteFailed; Damaged.
    """
    guard = config_guard()
    old = guard.read(CONFIG) if is_folder(guard.root) else None
    path = guard.root / CONFIG
    try:
        text = (old or b"").decode()
    except UnicodeDecodeError as error:
        raise Damaged("not UTF-8", where=str(path), hint="fix the file, or move it elsewhere") from error
    before = _personal_in(text, path).get(vault_id)
    if before:
        if Path(before) == folder:
            return
        raise Refused(
            f"this vault already has a personal vault: {before}",
            where=str(path),
            hint="if it has moved, change the path there by hand",
        )
    if f"[vaults.{vault_id}]" in text:
        raise Refused(
            "`personal` is missing from this vault's table in config.toml", where=str(path), hint="add the line by hand"
        )
    new = text or _HEAD
    new += ("" if new.endswith("\n") else "\n") + f"\n[vaults.{vault_id}]\npersonal = {quoted(str(folder))}\n"
    if _personal_in(new, path).get(vault_id) != str(folder):
        raise Damaged("nothing could be added to the settings file", where=str(path), hint="fix the file by hand")
    guard.write(CONFIG, new.encode(), expect=sha256_hex(old) if old is not None else None)


def _personal_in(text: str, path: Path, only: str | None = None) -> dict[str, str]:
    """Return the personal vaults in `text` by the ids of their vaults; with `only`, of that vault alone."""
    vaults = parsed(text, str(path)).get("vaults", {})
    found = {}
    for vault_id, entry in vaults.items() if isinstance(vaults, dict) else [("", None)]:
        if isinstance(vaults, dict) and only not in (None, vault_id):
            continue
        given = entry.get("personal", "") if isinstance(entry, dict) else None
        if not isinstance(given, str) or (given and not given.startswith(os.sep)):
            rows = enumerate(text.splitlines(), 1)
            line_ = next((n for n, row in rows if "personal" in row and str(given) in row), 1)
            raise Damaged("`personal` must be an absolute path", where=f"{path}:{line_}", hint="fix the line")
        if given:
            found[vault_id] = given
    return found
