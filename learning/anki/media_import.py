"""Pictures and sounds of a foreign package: which are imported, under which names, and which may be exported again."""

from __future__ import annotations

import re
from collections.abc import Iterable

from learning.anki.package_reader import Package
from vault.errors import EditedMeanwhile
from vault.files.guard import Scope, sha256_hex
from vault.ids import slug
from vault.vault import Vault

MEDIA = "learning/media"
_PICTURES = {
    "png": (b"\x89PNG\r\n\x1a\n",),
    "gif": (b"GIF87a", b"GIF89a"),
    "jpg": (b"\xff\xd8\xff",),
    "jpeg": (b"\xff\xd8\xff",),
    "bmp": (b"BM",),
    "webp": (b"RIFF",),
}
SOUNDS = frozenset("mp3 ogg oga opus wav m4a flac aac mp4 webm mkv mov ogv 3gp".split())
_MARKUP = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<(?:[!?a-z])", re.IGNORECASE)
# A drawing that could do more than draw: run, load, link, or stand for something else.
_ACTIVE = re.compile(
    rb"<\s*(?:script|foreignobject|iframe|image|use|a|animate|set|style|embed|object)\b|\bon[a-z]+\s*=|javascript:"
    rb"|<!(?:entity|doctype)|(?:href|src)\s*=|url\s*\(",
    re.IGNORECASE,
)


def safe_name(name: str, data: bytes) -> str | None:
    """Return the name in the vault, made of a slug and a digest; None for a file that is not what its name says."""
    stem, dot, suffix = name.rpartition(".")
    suffix = suffix.lower()
    if not dot or not data or not _is_what_it_says(suffix, data):
        return None
    return f"{slug(stem)[:40].strip('-') or 'file'}-{sha256_hex(data)[:12]}.{suffix}"


def as_imported(path: str, data: bytes) -> str | None:
    """Return the suffix of a file that an import wrote and nobody changed; None for any other."""
    folder, _, name = path.rpartition("/")
    stem, _, suffix = name.rpartition(".")
    whole = folder == MEDIA and stem.endswith(f"-{sha256_hex(data)[:12]}")
    return suffix if whole and _is_what_it_says(suffix, data) else None


def _is_what_it_says(suffix: str, data: bytes) -> bool:
    """Return whether the bytes are of the kind that the suffix names."""
    if suffix in _PICTURES:
        return data.startswith(_PICTURES[suffix]) and (suffix != "webp" or data[8:12] == b"WEBP")
    if suffix == "svg":
        return b"<svg" in data[:65_536] and len(data) < 2_000_000 and not _ACTIVE.search(data)
    return suffix in SOUNDS and not _MARKUP.match(data[:1024])


def import_media(
    vault: Vault, package: Package, wanted: Iterable[str], counts: dict[str, int], *, dry_run: bool
) -> dict[str, str | None]:
    """Return by name the vault path of every wanted file in the package; None for one that was not imported.

    All are counted in `counts`.
    """
    wanted = frozenset(wanted)
    guard = vault.guard(Scope.IMPORT)
    paths: dict[str, str | None] = {}
    for name, data in package.media_files(wanted):
        safe, paths[name] = safe_name(name, data), None
        if safe is None:
            continue
        path = f"{MEDIA}/{safe}"
        try:
            there = guard.exists(path)
            counts["kept" if there or not (dry_run or guard.write(path, data, expect=None)) else "added"] += 1
        except EditedMeanwhile:
            continue
        paths[name] = path
    taken = sum(path is not None for path in paths.values())
    counts["left_out"] += package.media + len(wanted - paths.keys()) - taken
    return paths
