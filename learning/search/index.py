"""Full-text search over every card and article, in parts that are cached.

Each part holds some files as they were read, with their stamps (see `vault.index.stamps`): `.retain/cache/search-N`
says
which files and cards, and `search-N.sqlite3` beside it finds words in them. A file that has changed counts no longer
in its part and is read into a new one; parts of which little is left are made anew. A part that is damaged, or came
with somebody's vault, is no part. What changed a moment ago is kept in memory alone, as its stamp may not tell.
"""

from __future__ import annotations

import json
import threading
import zlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice

from learning.search import documents
from learning.search.card_table import CardColumns, Mask
from learning.search.documents import Found
from learning.search.segment import Segment, database_of
from learning.store.log_files import vault_place
from vault.cache.cache import FOLDER, read_cache, write_cache
from vault.errors import Damaged, RetainError
from vault.files.folder import Folder
from vault.files.guard import Scope
from vault.index import stamps
from vault.index.stamps import FIELDS, NONE, Stamp
from vault.layout import FLASHCARDS
from vault.vault import Vault

CACHE = "search"
_KIND = "retain-search 1"
_ID = 10
_PARTS = 64  # that may lie in the cache
_FILES, _CARDS = 1_000, 8_000  # in one part at most: some 4 MB
_FEW = 24  # parts from which on the small ones are made into one again
_KEPT = 20  # files; fewer are read again each time rather than kept
_DEAD = -1


class Superseded(Exception):
    """Raised when the result of a search is not wanted any more."""


@dataclass(frozen=True, slots=True)
class Part:
    """Files and their texts: file n has the rows from `first[n]` on. `ids` are ten characters a card, by file.

    `shown` is a line for each row. `slot` is the number in the cache, -1 in memory.
    """

    slot: int
    paths: tuple[str, ...]
    numbers: array[int]
    first: array[int]
    ids: tuple[str, ...]
    shown: bytes
    segment: Segment

    def stamp(self, file: int) -> Stamp:
        """Return the stamp of a file."""
        size, changed, inode = self.numbers[file * FIELDS : file * FIELDS + FIELDS]
        return size, changed, inode


@dataclass(frozen=True, slots=True)
class View:
    """The lines that lists show, as far as they have been read; a value that is replaced when more is read.

    `articles` are the paths of all articles, in order; `at_cards` and `at_articles` say in which part and row each
    stands, -1 where it has not been read; `ids` are those of the cards that the numbers of `at_cards` count.
    """

    articles: tuple[str, ...] = ()
    at_cards: array[int] = field(default_factory=lambda: array("q"))
    at_articles: array[int] = field(default_factory=lambda: array("q"))
    lines: tuple[tuple[bytes, array[int]], ...] = ()
    ids: bytes = b""

    def of(self, columns: CardColumns) -> View:
        """Return the view for these cards; empty where others were counted."""
        return self if self.ids is columns.ids or self.ids == columns.ids else replace(self, at_cards=array("q"))

    def question(self, card: int) -> str | None:
        """Return the question of a card in one line; None if it has not been read yet."""
        return self._line(self.at_cards[card]) if card < len(self.at_cards) else None

    def title(self, article: int) -> str:
        """Return the title of an article, or the name of its file."""
        found = self._line(self.at_articles[article])
        return self.articles[article].rsplit("/", 1)[-1].removesuffix(".md") if found is None else found

    def _line(self, place: int) -> str | None:
        """Return the shown line at a place; None without one."""
        if place < 0:
            return None
        text, ends = self.lines[place >> 32]
        row = place & 0xFFFFFFFF
        return text[ends[row - 1] + 1 if row else 0 : ends[row]].decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class _Current:
    """The current parts and the number of each of their rows: a card's, -2 - n for article n, or -1 for none."""

    parts: tuple[Part, ...] = ()
    numbers: tuple[array[int], ...] = ()


class SearchIndex:
    """A search index for many threads, of which one updates it. `repaired` counts parts that were damaged."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._lock = threading.Lock()
        self._refreshing = threading.Lock()  # by one at a time
        self._parts: list[Part] = []
        self._live = _Current()
        self._cards = self._articles = 0
        self._loaded = False
        self.view = View()
        self.repaired = 0

    def close(self) -> None:
        """Close the databases."""
        with self._lock:
            for part in self._parts:
                part.segment.close()
            self._parts, self._live, self._loaded = [], _Current(), False

    # --- bringing it up to date -------------------------------------------------------------------------------------

    def refresh(self, columns: CardColumns) -> Iterator[tuple[int, int]]:
        """Read what has changed, a part at a time; yield (files read, files there are) before and after each.

        What has been read is found at once; whoever comes while another does this waits, as both would read the same.
        Raises: OSError where a folder cannot be listed.
        """
        with self._refreshing:
            yield from self._refresh(columns)

    def _refresh(self, columns: CardColumns) -> Iterator[tuple[int, int]]:
        if not self._loaded:
            self._parts, self._loaded = self._cached_parts(), True
        wanted = self._wanted(columns)
        self._drop_outdated(wanted)
        live = self._publish(columns, wanted)
        missing = [path for path in wanted if path not in live]
        done, total = len(wanted) - len(missing), len(wanted)
        yield done, total
        rest = iter(missing)
        while batch := list(islice(rest, _FILES)):
            for part in self._made(columns, wanted, batch, keep=len(missing) >= _KEPT):
                self._parts.append(part)
                self._publish(columns, wanted)
            done += len(batch)
            yield done, total

    def _wanted(self, columns: CardColumns) -> dict[str, Stamp]:
        """Return every file that is to be found with its stamp: NONE where it cannot be relied on."""
        wanted: dict[str, Stamp] = {}
        decks = frozenset(columns.paths)
        for folder in documents.FOLDERS:
            found = stamps.listing(self._vault.root, folder).files(".md")
            for n, name in enumerate(found.names):
                path = f"{folder}/{name}"
                if folder != FLASHCARDS or path in decks:
                    size, changed, inode = found.settled[n * FIELDS : n * FIELDS + FIELDS]
                    wanted[path] = NONE if path in columns.decks else (size, changed, inode)
        return wanted

    def _drop_outdated(self, wanted: dict[str, Stamp]) -> None:
        """Remove parts in memory, those of which half is outdated, and the small ones if there are many."""
        many = len(self._parts) > _FEW
        worn = []
        for part in self._parts:
            left = sum(_is_current(part, n, wanted) for n in range(len(part.paths)))
            if part.slot < 0 or 2 * left < len(part.paths) or (many and left < _FILES // 2):
                worn.append(part)
        self._discard(worn)

    def _discard(self, parts: Sequence[Part]) -> None:
        """Remove these parts."""
        with self._lock:
            self._parts = [part for part in self._parts if part not in parts]
            for part in parts:
                part.segment.close()

    def _publish(self, columns: CardColumns, wanted: dict[str, Stamp]) -> set[str]:
        """Make the parts found by searches; return the paths of their current files."""
        articles = tuple(path for path in wanted if not path.startswith(f"{FLASHCARDS}/"))
        article = {path: n for n, path in enumerate(articles)}
        deck = {path: n for n, path in enumerate(columns.paths)}
        at_cards = array("q", [_DEAD]) * len(columns)
        at_articles = array("q", [_DEAD]) * len(articles)
        seen: set[str] = set()
        numbers = []
        parts = tuple(reversed(self._parts))  # the newest goes first
        for place, part in enumerate(parts):
            mine = array("i", [_DEAD]) * (part.first[-1] if part.first else 0)
            for n, path in enumerate(part.paths):
                if path in seen or not (part.slot < 0 or _is_current(part, n, wanted)) or path not in wanted:
                    continue
                seen.add(path)
                row, end = part.first[n], part.first[n + 1]
                if path in article:
                    mine[row:end] = array("i", [-2 - article[path]]) * (end - row)
                    at_articles[article[path]] = place << 32 | row
                elif (start := _first_card(columns, deck[path], part.ids[n])) is not None:
                    mine[row:end] = array("i", range(start, start + end - row))
                    at_cards[start : start + end - row] = array("q", range(place << 32 | row, place << 32 | end))
            numbers.append(mine)
        view = View(
            articles, at_cards, at_articles, tuple((part.shown, _ends(part.shown)) for part in parts), columns.ids
        )
        with self._lock:
            self._live, self.view = _Current(parts, tuple(numbers)), view
            self._cards, self._articles = len(columns), len(articles)
        return seen

    # --- parts ------------------------------------------------------------------------------------------------------

    def _made(self, columns: CardColumns, wanted: dict[str, Stamp], paths: list[str], *, keep: bool) -> Iterator[Part]:
        """Yield parts of these files: those with reliable stamps are cached, the others are in memory alone."""
        kept: list[tuple[str, Found]] = []
        young: list[tuple[str, Found]] = []
        rows = 0
        for path in paths:
            deck = columns.decks.get(path)
            found = documents.read(self._vault, path) if deck is None else documents.of_deck(deck)
            if not keep or wanted[path] == NONE:
                young.append((path, found))
                continue
            kept.append((path, found))
            rows += len(found.texts)
            if rows >= _CARDS:
                yield self._packed(kept, wanted, self._free_slot())
                kept, rows = [], 0
        if kept:
            yield self._packed(kept, wanted, self._free_slot())
        if young:
            yield self._packed(young, wanted, -1)

    def _free_slot(self) -> int:
        """Return the number of a slot that no part uses."""
        taken = {part.slot for part in self._parts}
        return next((slot for slot in range(_PARTS) if slot not in taken), -1)

    def _packed(self, files: list[tuple[str, Found]], wanted: dict[str, Stamp], slot: int) -> Part:
        """Return a part of these files."""
        data = database_of([text for _, found in files for text in found.texts])
        first = array("I", [0])
        for _, found in files:
            first.append(first[-1] + len(found.texts))
        part = Part(
            slot,
            tuple(path for path, _ in files),
            array("q", [number for path, _ in files for number in wanted[path]]),
            first,
            tuple(found.ids for _, found in files),
            "".join(f"{line}\n" for _, found in files for line in found.shown).encode("utf-8", "replace"),
            Segment.of(data) if slot < 0 else self._stored(slot, data),
        )
        if slot >= 0:
            self._write_cache(part, data)
        return part

    def _stored(self, slot: int, data: bytes) -> Segment:
        """Return the database in the cache; in memory where it cannot be written there."""

        path = _file(slot)
        try:
            self._vault.guard(Scope.LOG).keep(path, data)
            return Segment.at(self._vault.root / path, path)
        except RetainError:
            return Segment.of(data)

    def _write_cache(self, part: Part, data: bytes) -> None:
        """Write a part to the cache."""
        head = {"place": vault_place(self._vault), "crc": zlib.crc32(data), "size": len(data)}
        texts = [stamps.joined_names(part.paths), stamps.joined_names(part.ids)]
        numbers = [part.numbers.tobytes(), part.first.tobytes()]
        write_cache(
            self._vault, f"{CACHE}-{part.slot}", _KIND, [json.dumps(head).encode(), *texts, *numbers, part.shown]
        )

    def _cached_parts(self) -> list[Part]:
        """Return the parts in the cache that are valid."""
        found = []
        for slot in range(_PARTS):
            parts = read_cache(self._vault.root, f"{CACHE}-{slot}", _KIND)
            if parts is None:
                if (self._vault.root / FOLDER / f"{CACHE}-{slot}").exists():
                    self.repaired += 1
                continue
            try:
                part = self._cached_part(slot, parts)
            except (ValueError, LookupError, TypeError, RetainError):
                self.repaired += 1
                continue
            if part is not None:
                found.append(part)
        return found

    def _cached_part(self, slot: int, parts: list[bytes]) -> Part | None:
        """Return the part in a slot, None if it was made elsewhere. Raises: Damaged, ValueError and others where it is
        not whole.
        """
        head = json.loads(parts[0])
        if head["place"] != vault_place(self._vault):
            return None
        data = Folder(self._vault.root).read(_file(slot)) or b""
        if len(data) != head["size"] or zlib.crc32(data) != head["crc"]:
            raise Damaged("the search index is damaged", where=_file(slot))
        del data
        paths, ids = (tuple(each.decode("utf-8", "surrogateescape").split("\0")) for each in parts[1:3])
        numbers, first = array("q", parts[3]), array("I", parts[4])
        if len(ids) != len(paths) or len(numbers) != FIELDS * len(paths) or len(first) != len(paths) + 1:
            raise ValueError("the columns do not fit together")
        if parts[5].count(b"\n") != first[-1]:
            raise ValueError("a line is missing")
        return Part(slot, paths, numbers, first, ids, parts[5], Segment.at(self._vault.root / _file(slot), _file(slot)))

    # --- searching --------------------------------------------------------------------------------------------------

    def holding(self, word: str, is_wanted: Callable[[], bool] = lambda: True) -> tuple[Mask, Mask]:
        """Return the cards and the articles that hold `word`, which is folded, as masks. Raises: Superseded."""
        with self._lock:
            live = self._live
            cards, articles = Mask(self._cards), Mask(self._articles)
        for part, numbers in zip(live.parts, live.numbers, strict=True):
            if not is_wanted():
                raise Superseded
            with self._lock, suppress(Damaged):
                if part not in self._parts:
                    continue
                rows = part.segment.rows(word)
                for number in map(numbers.__getitem__, (row for row in rows if row < len(numbers))):
                    if number >= 0:
                        cards[number] = 1
                    elif number < _DEAD:
                        articles[-2 - number] = 1
        return cards, articles


def _file(slot: int) -> str:
    """Return the file name of a slot."""
    return f"{FOLDER}/{CACHE}-{slot}.sqlite3"


def _is_current(part: Part, file: int, wanted: dict[str, Stamp]) -> bool:
    """Return whether the file of a part is unchanged."""
    stamp = wanted.get(part.paths[file], NONE)
    return stamp != NONE and stamp == part.stamp(file)


def _first_card(columns: CardColumns, deck: int, ids: str) -> int | None:
    """Return the first card of the deck, if its cards are those that were read."""
    start, end = columns.first[deck], columns.first[deck + 1]
    return start if columns.ids[start * _ID : end * _ID] == ids.encode("ascii") else None


def _ends(shown: bytes) -> array[int]:
    """Return where each line ends."""
    ends, at = array("I"), -1
    while (at := shown.find(b"\n", at + 1)) >= 0:
        ends.append(at)
    return ends
