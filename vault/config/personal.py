"""Check the place of a personal vault: beside the vault of the agents, and in no folder of the system."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from vault.config.settings import FILE
from vault.config.user import config_folder, personal_vaults, state_folder
from vault.errors import Refused, UsageError
from vault.files.folder import is_folder, named
from vault.files.write_scopes import is_within

_SYSTEM = tuple(
    map(
        Path,
        """/bin /boot /dev /etc /lib /lib32 /lib64 /libx32 /proc /run /sbin /sys /usr /snap /var/cache /var/lib /var/log
        /System /Library /Applications /private/etc""".split(),
    )
)


_is_within = partial(is_within, on_disk=True)


def checked_apart(root: Path, given: Path, vault_id: str) -> Path:
    """Return `given`, the place for the personal vault of the vault at `root`, absolute and with links resolved.

    Folders are compared by path, device and inode, so that another spelling or a mount is recognized.
    Raises Refused; UsageError for something that is not a folder.
    """
    personal = Path(os.path.realpath(given.expanduser()))
    if any("\ud800" <= c <= "\udfff" for c in str(personal)):
        raise UsageError("the name is not valid text", where=str(given), hint="rename the folder")
    if named(personal) is not None and not is_folder(personal):
        raise UsageError("not a folder", where=str(given))
    _check_place(personal, given)
    if _is_within(personal, root):
        what = "the personal vault must not be inside the agents' vault"
        if _is_within(root, personal):
            what = "the personal vault must not be the agents' vault itself"
        raise Refused(
            what, where=str(given), hint="give a folder next to it; without --personal, notes go to insights/"
        )
    if _is_within(root, personal):
        raise Refused(
            "the agents' vault must not be inside the personal vault",
            where=str(given),
            hint="keep the two side by side",
        )
    for folder in (personal, *personal.parents):
        if named(folder / FILE) is not None:
            raise Refused(
                f"this folder is inside the vault {folder}, where agents work",
                where=str(given),
                hint="give a folder outside it",
            )
    for own in (config_folder(), state_folder(vault_id).parent):
        if _is_within(personal, own) or _is_within(own, personal):
            raise Refused("reserved for retain's own files", where=str(given), hint="give another folder")
    return personal


def check_no_personal(root: Path) -> None:
    """Raise Refused if `root`, a new vault for agents, is inside a personal vault of this user, or contains one."""
    for personal in personal_vaults().values():
        if _is_within(root, personal) or _is_within(personal, root):
            raise Refused(
                f"an agents' vault must not be inside your personal vault, or contain it: {personal}",
                where=str(root),
                hint="choose another folder",
            )


def _check_place(personal: Path, given: Path) -> None:
    home = Path.home()
    if _is_within(home, personal):  # also for the root of the file system
        raise Refused("your home folder cannot be a personal vault", where=str(given), hint="give a folder inside it")
    for system in _SYSTEM:
        if _is_within(personal, system) and not _is_within(home, system):
            raise Refused("this is a system folder", where=str(given), hint="give one of your own folders")
