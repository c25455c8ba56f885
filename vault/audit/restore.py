"""The hand of `guard audit --restore` for what is no plain write: modes, links, and what stands in a file's place.

Bytes are put back by the guard. Here nothing is opened for writing; what goes is a link or a pipe, which holds no
bytes, and what holds some keeps them under another name. No link on the way is followed.
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
from vault.files.paths import split, writable
from vault.files.permissions import put_mode
from vault.vault import Vault

ASIDE = ".in-the-way"


class Restorer:
    """Puts files of the human's back in one place: the vault's insights/ and raw/, or the personal vault."""

    def __init__(self, vault: Vault, place: str) -> None:
        self._vault, self._place = vault, place
        self._scope = {VAULT: Scope.RESTORE, PERSONAL: Scope.RESTORE_PERSONAL}[place]
        self._guard: Guard = vault.guard(self._scope)
        self._folder = Folder(self._guard.root)

    def read(self, path: str) -> bytes | None:
        return self._guard.read(path)

    def put(self, path: str, data: bytes, mode: int, *, expect: str | None) -> list[str]:
        """Makes `data` with `mode` the file at `path`, whose bytes now have the SHA-256 `expect` (None: no file).

        What stands in the way (a link, a folder, a file in place of a folder above) gives way; gives a line for each
        that did. Raises: EditedMeanwhile; Refused; WriteFailed.
        """
        if self._place == PERSONAL and not is_folder(self._guard.root):
            raise Refused("the personal vault is not there", where=path, hint="make or mount its folder first")
        told = self._make_way(path, there=expect is not None)
        above = path.rpartition("/")[0]
        if above:
            self._guard.makedirs(above)
        mask = os.umask(0o777 & ~mode)  # never, not even for a moment, for more eyes than before
        try:
            self._guard.write(path, data, expect=expect)
        finally:
            os.umask(mask)
        self.set_mode(path, mode)
        return told

    def remove(self, path: str, sha256: str) -> None:
        """Deletes a file, of which a copy is kept."""
        self._guard.remove(path, expect=sha256)

    def set_mode(self, path: str, mode: int) -> None:
        """Who may read, write and run a file or a folder; "" is the folder of the place itself. Nothing is read."""
        with failing(path or "."):
            put_mode(self._guard.root, path, mode)

    def clear(self, path: str) -> str:
        """Removes a link, a pipe, a socket: what holds no bytes. Gives in words what went."""
        parts = writable(path, self._scope)
        with failing(path), self._folder._handle(parts[:-1]) as folder:
            status = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
                raise EditedMeanwhile("something else stands there now", where=path, hint="run it again")
            what = "no file"
            if stat.S_ISLNK(status.st_mode):
                what = f"a link to {os.readlink(parts[-1], dir_fd=folder)}"
            os.unlink(parts[-1], dir_fd=folder)
            sync_folder(folder)
        return f"{self._shown(path)} was {what}, which is gone now"

    def _make_way(self, path: str, *, there: bool) -> list[str]:
        """Frees the path, and every folder on it, from what is of the wrong kind."""
        told = []
        parts = split(path)
        for depth in range(1, len(parts) + 1):
            here = "/".join(parts[:depth])
            found = self._folder.entry(here)
            wanted = FileKind.FOLDER if depth < len(parts) else FileKind.FILE
            if found is None:
                break
            if found.kind in (FileKind.LINK, FileKind.OTHER):
                told.append(self.clear(here))
            elif found.kind is not wanted:
                told.append(self._set_aside(here))
            elif wanted is FileKind.FILE and not there:
                raise EditedMeanwhile("there is a file by that name already", where=path, hint="run it again")
        return told

    def _shown(self, path: str) -> str:
        return shown(Key(self._place, path), self._vault.personal)

    def _set_aside(self, path: str) -> str:
        """Gives what stands there a name that tells; its bytes stay. An empty folder goes."""
        parts = writable(path, self._scope)
        with failing(path), self._folder._handle(parts[:-1]) as folder:
            with suppress(OSError):
                os.rmdir(parts[-1], dir_fd=folder)
                return f"{self._shown(path)} was an empty folder, which is gone now"
            for number in range(1, 1_000):
                name = f"{parts[-1]}{ASIDE}-{number}"
                try:
                    os.stat(name, dir_fd=folder, follow_symlinks=False)
                except FileNotFoundError:
                    os.rename(parts[-1], name, src_dir_fd=folder, dst_dir_fd=folder)
                    sync_folder(folder)
                    return f"{self._shown(path)} stood in the way and is {name} now"
        raise Refused("too many things stand in its way", where=path, hint="move them away")
