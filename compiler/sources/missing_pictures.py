"""Name the pictures that a document shows and that are not in raw/: a page cannot show them."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from vault.errors import RetainError
from vault.text.formatting import clean_line, plural, short_line
from vault.vault import Vault

HINT = "add their files or their folder with `retain add`, and pages show them"
_SHOWN = 3
_MOST_BYTES = 4 * 2**20  # of a document that is searched
_SUFFIXES = (".md", ".markdown", ".mdx", ".qmd", ".rmd", ".html", ".htm", ".xhtml", ".org", ".rst")
_TARGET = re.compile(
    r"!\[[^\]\n]{0,500}\]\(\s*<?([^)>\s]{1,500})"
    r"|!\[\[([^\]|#\n]{1,300})"
    r"|<img\b[^>]{0,1000}?\bsrc\s*=\s*[\"']([^\"']{1,500})"
    r"|^\.\. (?:image|figure):: (\S{1,500})",
    re.IGNORECASE | re.MULTILINE,
)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#", re.IGNORECASE)
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|webp|svg|bmp|tiff?)$", re.IGNORECASE)


def missing_pictures(vault: Vault, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (document, what is missing) for each of some documents in raw/ that shows pictures which are not there."""
    documents = [path for path in paths if path.casefold().endswith(_SUFFIXES)]
    there = {name.casefold() for _, _, names in os.walk(vault.root / "raw") for name in names} if documents else set()
    for path in documents:
        missing = [t for t in _targets(vault, path) if posixpath.basename(t).casefold() not in there]
        if missing:
            yield path, not_in_raw(missing)


def not_in_raw(targets: Sequence[str]) -> str:
    """Return in words that pictures are not in raw/: how many, and the first of them."""
    names = ", ".join(short_line(t, 60) for t in targets[:_SHOWN])
    more = f" and {len(targets) - _SHOWN} more" if len(targets) > _SHOWN else ""
    return f"{plural(len(targets), 'picture')} not in raw/: {names}{more}"


def _targets(vault: Vault, path: str) -> Iterator[str]:
    """Yield the local pictures that a document shows, each once."""
    try:
        text = (vault.read_bytes(path) or b"")[:_MOST_BYTES].decode("utf-8", "replace")
    except RetainError:
        return
    found = (next(filter(None, match.groups()), "") for match in _TARGET.finditer(text))
    local = (unquote(re.split(r"[?#]", t, maxsplit=1)[0]) for t in found if not _ELSEWHERE.match(t))
    yield from dict.fromkeys(clean_line(t) for t in local if _PICTURE.search(t))
