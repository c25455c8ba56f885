"""Pictures and sounds for an Anki package: read from the vault, checked by their bytes, named by their digest."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property

from learning.anki.media_import import MEDIA, as_imported
from vault.audit.scanner import MAX_DEPTH
from vault.errors import Damaged, Refused
from vault.files.folder import sha256_hex
from vault.model.exhibit import ASSETS, is_copy
from vault.vault import Vault

MAX_BYTES = 10 * 1024 * 1024  # of one picture or sound
MAX_ALL = 500 * 1024 * 1024  # of all in one package
_SIGNATURES = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpg"), (b"GIF87a", "gif"), (b"GIF89a", "gif"))


@dataclass
class Media:
    """`files` maps the names in the package to bytes; it grows as fields ask for pictures."""

    vault: Vault
    files: dict[str, bytes] = field(default_factory=dict)
    _names: dict[str, str | None] = field(default_factory=dict)

    def name_of(self, target: str) -> str | None:
        """Return the name in the package of the picture or sound that a card embeds; None where the vault has none.

        `target` is a vault path below `wiki/assets`, `raw` or `learning/media`, where imported decks have theirs, or
        the mere name of one file there, as Obsidian has it.
        """
        if target not in self._names:
            self._names[target] = self._taken(target)
        return self._names[target]

    def _taken(self, target: str) -> str | None:
        """Return the name of a file after adding its bytes; None where it cannot be used."""
        path = target if "/" in target else self._paths_by_name.get(target, "")
        if not (path.startswith((f"{ASSETS}/", f"{MEDIA}/")) or self.vault.is_source(path)):
            return None
        try:
            data = self.vault.read_bytes(path)
        except (Refused, Damaged):
            return None
        suffix = _suffix(path, data) if data else None
        if data is None or suffix is None or sum(map(len, self.files.values())) + len(data) > MAX_ALL:
            return None
        name = f"retain-{sha256_hex(data)[:32]}.{suffix}"
        self.files[name] = data
        return name

    @cached_property
    def _paths_by_name(self) -> dict[str, str]:
        """Return by name the one path below `raw/`, the assets or the imported media that has it."""
        found: dict[str, list[str]] = {}
        for top in ("raw", ASSETS, MEDIA):
            for folder, folders, names in os.walk(self.vault.root / top):
                inside = os.path.relpath(folder, self.vault.root).replace(os.sep, "/")
                if inside.count("/") >= MAX_DEPTH:
                    folders.clear()
                for name in names:
                    found.setdefault(name, []).append(f"{inside}/{name}")
        return {name: paths[0] for name, paths in found.items() if len(paths) == 1}


def _suffix(path: str, data: bytes) -> str | None:
    """Return the suffix of a file as its bytes show it; None for other files."""
    return suffix_of(path, data) or (as_imported(path, data) if len(data) <= MAX_BYTES else None)


def suffix_of(path: str, data: bytes) -> str | None:
    """Return the suffix that a picture's bytes show; None for other files. A drawing (SVG) must be a copy that the
    compile wrote, as only that is known to be harmless.
    """
    if len(data) > MAX_BYTES:
        return None
    known = next((suffix for start, suffix in _SIGNATURES if data.startswith(start)), None)
    if known is None and data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        known = "webp"
    if known is None and path.endswith(".svg") and is_copy(path, data) and b"<svg" in data[:65_536]:
        known = "svg"
    return known
