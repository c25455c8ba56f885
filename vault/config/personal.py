"""The agents' vault and the human's own beside it: neither lies in the other, nor takes a place that is no vault's."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from vault.config.settings import FILE
from vault.config.user import config_folder, personal_vaults, state_folder
from vault.errors import Refused, UsageError
from vault.files.folder import Identity, identity_of, is_folder, named

_SYSTEM = tuple(
    map(
        Path,
        """/bin /boot /dev /etc /lib /lib32 /lib64 /libx32 /proc /run /sbin /sys /usr /snap /var/cache /var/lib /var/log
        /System /Library /Applications /private/etc""".split(),
    )
)


def checked_apart(root: Path, given: Path, vault_id: str) -> Path:
    """Where the personal vault of the vault at `root` will lie: `given`, absolute, with every link resolved.

    Folders are known by device and inode as well as by path, so neither another spelling nor a mount gets past.
    Raises: Refused; UsageError for what is no folder.
    """
    personal = Path(os.path.realpath(given.expanduser()))
    if any("\ud800" <= c <= "\udfff" for c in str(personal)):
        raise UsageError("the name is not valid text", where=str(given), hint="rename the folder")
    if named(personal) is not None and not is_folder(personal):
        raise UsageError("not a folder", where=str(given))
    _check_the_place(personal, given)
    if is_within(personal, root):
        what = "the personal vault may not be inside the vault of the agents"
        if is_within(root, personal):
            what = "the personal vault may not be the vault of the agents"
        raise Refused(what, where=str(given), hint="give a folder beside it; without --personal, notes go to insights/")
    if is_within(root, personal):
        raise Refused(
            "the vault of the agents may not be inside the personal vault",
            where=str(given),
            hint="keep the two side by side",
        )
    for folder in (personal, *personal.parents):
        if named(folder / FILE) is not None:
            raise Refused(
                f"inside the vault {folder}, where agents work", where=str(given), hint="give a folder outside it"
            )
    for own in (config_folder(), state_folder(vault_id).parent):
        if is_within(personal, own) or is_within(own, personal):
            raise Refused("reserved for files of retain", where=str(given), hint="give another folder")
    return personal


def check_no_personal(root: Path) -> None:
    """Refused if `root`, a new vault for agents, lies in a personal vault of this user, or holds one."""
    for personal in personal_vaults().values():
        if is_within(root, personal) or is_within(personal, root):
            raise Refused(
                f"a vault for agents may not be inside your personal vault, or contain it: {personal}",
                where=str(root),
                hint="choose another folder",
            )


def is_within(inner: Path, outer: Path) -> bool:
    """Whether `inner` is `outer` or lies in it; either may not be there yet."""
    inner, outer = Path(os.path.realpath(inner)), Path(os.path.realpath(outer))
    if outer == inner or outer in inner.parents:
        return True
    identity = _identity(outer)
    return identity is not None and any(_identity(folder) == identity for folder in (inner, *inner.parents))


def _check_the_place(personal: Path, given: Path) -> None:
    home = Path.home()
    if is_within(home, personal):  # the root of the file system is one of these
        raise Refused("your home folder cannot be a personal vault", where=str(given), hint="give a folder inside it")
    for system in _SYSTEM:
        if is_within(personal, system) and not is_within(home, system):
            raise Refused("a system folder", where=str(given), hint="give a folder of your own")


def _identity(folder: Path) -> Identity | None:
    with suppress(OSError):
        return identity_of(folder.stat())
    return None
