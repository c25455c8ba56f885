"""The user's own places, outside every vault: settings that no vault may bring, and what must outlive one.

The settings file is `config.toml` in the configuration folder of this system (XDG_CONFIG_HOME on Linux): the personal
vault of each vault, by the vault's id. State (copies of the human's files, notes on runs of agents) lies in the state
folder, one folder a vault.
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

if TYPE_CHECKING:
    from vault.files.guard import Guard

CONFIG = "config.toml"
_ON_LINUX = sys.platform == "linux"
_ID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
_HEAD = """# Settings of retain for this user: what no vault may decide, as a vault may come from a stranger.
"""


def config_folder() -> Path:
    """Where `config.toml` is; the folder need not exist."""
    return _place("XDG_CONFIG_HOME", ".config", "user_config_path")


def state_folder(vault_id: str) -> Path:
    """Where the state of one vault is kept for this user; the folder need not exist. Raises: Refused for no id."""
    if not _ID.fullmatch(vault_id):
        raise Refused("not the id of a vault", where=json.dumps(vault_id))
    return _place("XDG_STATE_HOME", ".local/state", "user_state_path") / vault_id


def _place(variable: str, usual: str, elsewhere: str) -> Path:
    """Where this system keeps such files. By hand on Linux, as every command that writes asks, and `platformdirs`
    takes 12 ms to load. A relative path counts for nothing, as the standard has it: a vault would choose it.
    """
    if _ON_LINUX:
        given = os.environ.get(variable, "").strip()
        return (Path(given) if given.startswith("/") else _home() / usual) / "retain"
    import platformdirs

    found = getattr(platformdirs, elsewhere)("retain", appauthor=False)
    assert isinstance(found, Path)
    return found


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:  # a user without an entry in /etc/passwd, as in some containers
        raise Refused("unknown home folder", hint="set HOME") from error


def config_guard() -> Guard:
    """The hand that writes `config.toml`."""
    from vault.files.guard import Guard, Scope

    return Guard(config_folder(), Scope.CONFIG)


def state_guard(vault_id: str) -> Guard:
    """The hand that writes in the state folder of a vault."""
    from vault.files.guard import Guard, Scope

    return Guard(state_folder(vault_id), Scope.STATE)


def personal_vault(vault_id: str) -> Path | None:
    """The folder of the human's own vault, absolute and as it was given; None if none was named.

    It need not be there now (a disk may not be mounted). A wrong line for another vault is no matter. Raises: Damaged,
    with file and line.
    """
    return _named(vault_id).get(vault_id)


def personal_vaults() -> dict[str, Path]:
    """The human's own vaults by the ids of the vaults they belong to. Raises: Damaged, with file and line."""
    return _named(None)


def _named(only: str | None) -> dict[str, Path]:
    found = _personal_in(config_text(), config_folder() / CONFIG, only)
    return {vault_id: Path(given) for vault_id, given in found.items()}


def config_text() -> str:
    """The settings file as it is; "" where there is none. Raises: Damaged where it cannot be read."""
    path = config_folder() / CONFIG
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise Damaged(f"cannot be read: {error}", where=str(path), hint="fix the file, or move it away") from error
    except OSError as error:
        if isinstance(error, PermissionError) and os.environ.get("RETAIN_CAGED"):
            return ""  # hidden from agents: by Landlock it can't be read, by bubblewrap it isn't there
        reason = os.strerror(error.errno or 0).lower()
        raise Damaged(f"cannot be read: {reason}", where=str(path), hint="check its owner and mode") from error


def set_personal_vault(vault_id: str, folder: Path) -> None:
    """Take down the personal vault of a vault; what else is in the settings stays byte for byte.

    Raises: Refused if another folder is named there already; EditedMeanwhile; WriteFailed; Damaged.
    """
    from vault.files.folder import is_folder, sha256_hex

    guard = config_guard()
    old = guard.read(CONFIG) if is_folder(guard.root) else None
    path = guard.root / CONFIG
    try:
        text = (old or b"").decode()
    except UnicodeDecodeError as error:
        raise Damaged("not UTF-8", where=str(path), hint="fix the file, or move it away") from error
    before = _personal_in(text, path).get(vault_id)
    if before:
        if Path(before) == folder:
            return
        raise Refused(
            f"the personal vault of this vault is {before}",
            where=str(path),
            hint="change it there by hand if it has moved",
        )
    if f"[vaults.{vault_id}]" in text:
        raise Refused("the table of this vault lacks `personal`", where=str(path), hint="add the line by hand")
    new = text or _HEAD
    new += ("" if new.endswith("\n") else "\n") + f"\n[vaults.{vault_id}]\npersonal = {quoted(str(folder))}\n"
    if _personal_in(new, path).get(vault_id) != str(folder):
        raise Damaged("the settings cannot be extended", where=str(path), hint="fix the file by hand")
    guard.write(CONFIG, new.encode(), expect=sha256_hex(old) if old is not None else None)


def _personal_in(text: str, path: Path, only: str | None = None) -> dict[str, str]:
    """What `text`, the settings at `path`, name as personal vaults, by the ids of their vaults; of one alone with
    `only`.
    """
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
