"""Restores a user's file for `guard audit --restore`: its bytes through the guard, its mode, and what replaced it.

Only links and pipes, which hold no bytes, are deleted; files and folders in the way are renamed. No link is followed.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from vault.audit.scanner import PERSONAL, VAULT, Key, shown
from vault.errors import EditedMeanwhile, Refused
from vault.files.durable import failing, sync_folder
from vault.files.folder import FileKind, Folder, is_folder
from vault.files.guard import Guard, Scope
from vault.files.permissions import put_mode
from vault.files.write_scopes import split, writable
from vault.vault import Vault

ASIDE = ".in-the-way"


class Restorer:
    """Restores files in one place: the vault's insights/ and raw/, or the personal vault."""

    def __init__(self, vault: Vault, place: str) -> None:
        self._vault, self._place = vault, place
        self._scope = {VAULT: Scope.RESTORE, PERSONAL: Scope.RESTORE_PERSONAL}[place]
        self._guard: Guard = vault.guard(self._scope)
        self._folder = Folder(self._guard.root)

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes; None if there is none."""
        return self._guard.read(path)

    def put(self, path: str, data: bytes, mode: int, *, expect: str | None) -> list[str]:
        """Write `data` with `mode` at `path`, whose bytes now have the SHA-256 `expect` (None: no file).

        What is in the way (a link, a folder, a file in place of a parent folder) is moved; return a line for each.
        Raises: EditedMeanwhile; Refused; WriteFailed.
        """
        if self._place == PERSONAL and not is_folder(self._guard.root):
            raise Refused("the personal vault does not exist", where=path, hint="create or mount its folder first")
        lines = self._clear_path(path, there=expect is not None)
        above = path.rpartition("/")[0]
        if above:
            self._guard.makedirs(above)
        mask = os.umask(0o777 & ~mode)  # at no moment readable by more users than before
        try:
            self._guard.write(path, data, expect=expect)
        finally:
            os.umask(mask)
        self.set_mode(path, mode)
        return lines

    def remove(self, path: str, sha256: str) -> None:
        """Delete a file, of which a copy is stored."""
        self._guard.remove(path, expect=sha256)

    def set_mode(self, path: str, mode: int) -> None:
        """Set the mode of a file or folder; "" is the root of the place. Nothing is read."""
        with failing(path or "."):
            put_mode(self._guard.root, path, mode)

    def clear(self, path: str) -> str:
        """Delete a link, pipe or socket, which hold no bytes; return a message."""
        parts = writable(path, self._scope)
        with failing(path), self._folder._handle(parts[:-1]) as folder:
            status = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
                raise EditedMeanwhile("the file was replaced in the meantime", where=path, hint="try again")
            what = "not a regular file"
            if stat.S_ISLNK(status.st_mode):
                what = f"a link to {os.readlink(parts[-1], dir_fd=folder)}"
            os.unlink(parts[-1], dir_fd=folder)
            sync_folder(folder)
        return f"{self._shown(path)} was {what}; it has been deleted"

    def _clear_path(self, path: str, *, there: bool) -> list[str]:
        """Delete or rename what is of the wrong kind at the path and its parent folders; return messages."""
        lines = []
        parts = split(path)
        for depth in range(1, len(parts) + 1):
            here = "/".join(parts[:depth])
            found = self._folder.entry(here)
            wanted = FileKind.FOLDER if depth < len(parts) else FileKind.FILE
            if found is None:
                break
            if found.kind in (FileKind.LINK, FileKind.OTHER):
                lines.append(self.clear(here))
            elif found.kind is not wanted:
                lines.append(self._rename_aside(here))
            elif wanted is FileKind.FILE and not there:
                raise EditedMeanwhile("a file with that name already exists", where=path, hint="try again")
        return lines

    def _shown(self, path: str) -> str:
        return shown(Key(self._place, path), self._vault.personal)

    def _rename_aside(self, path: str) -> str:
        """Rename what is there, or delete an empty folder; return a message."""
        parts = writable(path, self._scope)
        with failing(path), self._folder._handle(parts[:-1]) as folder:
            with suppress(OSError):
                os.rmdir(parts[-1], dir_fd=folder)
                return f"{self._shown(path)} was an empty folder; it has been deleted"
            for number in range(1, 1_000):
                name = f"{parts[-1]}{ASIDE}-{number}"
                try:
                    os.stat(name, dir_fd=folder, follow_symlinks=False)
                except FileNotFoundError:
                    os.rename(parts[-1], name, src_dir_fd=folder, dst_dir_fd=folder)
                    sync_folder(folder)
                    return f"{self._shown(path)} was renamed to {name} to make room"
        raise Refused("there are too many renamed files", where=path, hint="move them to another folder")
