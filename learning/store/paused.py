"""The concepts that are kept out of the queue by `learning: false` in their article.

What an article said is kept by its stamp, so that a list of what is due opens none that has not changed.
"""

from __future__ import annotations

import os
import time
from array import array

from learning.store.placed import article_of, front_pauses
from vault.cache.cache import read_cache, write_cache
from vault.errors import Damaged, Refused
from vault.index import stamps
from vault.vault import Vault

CACHE = "paused"
_KIND = "retain-paused 1"
_SAYS_NOTHING, _RUNS, _PAUSES = range(3)


class Paused:
    """Reads each article once. `asked` has the stamps of those that were read, by concept, from before reading."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._known = _from_cache(read_cache(vault.root, CACHE, _KIND))
        self._said: dict[str, int] = {}
        self._is_news = False
        self._young = time.time_ns() - stamps.RACY_NS
        self.asked: dict[str, stamps.Stamp] = {}

    def pauses(self, concept: str, by_deck: bool) -> bool:
        """Return whether the article, or the deck by `by_deck`, keeps the concept out of the queue."""
        said = self._said.get(concept)
        if said is None:
            said = self._said[concept] = self._read_if_changed(concept)
        return said == _PAUSES or (by_deck and said == _RUNS)

    def write_cache(self) -> None:
        """Cache what was read."""
        if not self._is_news:
            return
        self._is_news = False
        rows = {concept: row for concept, row in self._known.items() if concept not in self.asked}
        for concept, found in self.asked.items():
            if found != stamps.NONE and found[1] < self._young:
                rows[concept] = (*found, self._said[concept])
        numbers = array("q", [number for row in rows.values() for number in row])
        write_cache(self._vault, CACHE, _KIND, [stamps.joined_names(rows), numbers.tobytes()])

    def _read_if_changed(self, concept: str) -> int:
        """Return what the article says, from the cache where its stamp is the same."""
        path = article_of(concept)
        try:
            status = os.lstat(f"{self._vault.root}/{path}")
        except FileNotFoundError:
            self.asked[concept] = stamps.NONE
            return _RUNS
        found = self.asked[concept] = (status.st_size, status.st_ctime_ns, status.st_ino & stamps.INODE)
        known = self._known.get(concept)
        if known is not None and known[:3] == found:
            return known[3]
        self._is_news = True
        return self._read(path)

    def _read(self, path: str) -> int:
        """Return what the article at `path` says."""
        try:
            article = self._vault.read_bytes(path)
        except (Refused, Damaged):  # an article that cannot be read says nothing
            return _SAYS_NOTHING
        return _PAUSES if article is not None and front_pauses(article) else _RUNS


def _from_cache(parts: list[bytes] | None) -> dict[str, tuple[int, int, int, int]]:
    """Return the cached stamp and word of each article; empty where they do not fit together."""
    if parts is None or len(parts) != 2 or not parts[0]:
        return {}
    try:
        numbers, names = array("q", parts[1]), parts[0].decode("utf-8", "surrogateescape").split("\0")
        rows = zip(numbers[::4], numbers[1::4], numbers[2::4], numbers[3::4], strict=True)
        return dict(zip(names, rows, strict=True))
    except ValueError:
        return {}
