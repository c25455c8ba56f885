"""Cards edited and reviewed here and in the real Anki, at random: nothing is lost, nothing doubled, schedules stay.

Each run is a list of steps by a printed seed: rate, undo, edit and add here; answer, edit and tag there; a package or
AnkiConnect takes the cards there; a package of any generation, a collection or AnkiConnect brings the reviews home.
"""

from __future__ import annotations

import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from learning.anki.export_package import export_anki, vault_tag
from learning.anki_connect.client import connected
from learning.anki_connect.sync import sync
from learning.cards.workspace import open_desk, rate, undo_last
from tests.learning.anki_packages import brought_in
from tests.learning.connect_server import ConnectServer, serving
from vault.errors import NotFound
from vault.ids import CardId
from vault.log.events import Import, Rating, Review
from vault.log.review_log import live, read_log, unix_ms
from vault.vault import Vault

Key = tuple[CardId, int, int]  # card, rating, Unix milliseconds
_STEPS = 14


def now() -> datetime:
    time.sleep(0.002)  # both sides tell reviews apart by the millisecond
    return datetime.now(UTC)


@dataclass
class Both:
    """The vault, the collection, and what a list of all that happened says must be there."""

    vault: Vault
    server: ConnectServer
    folder: Path
    dice: random.Random
    here: list[Key] = field(default_factory=list)  # what was rated here and not undone
    there: set[Key] = field(default_factory=set)  # what was answered in Anki
    home: set[Key] = field(default_factory=set)  # of these, what has come home
    edits: dict[CardId, str] = field(default_factory=dict)  # answers that somebody wrote in Anki
    taken: set[CardId] = field(default_factory=set)
    waiting: set[CardId] = field(default_factory=set)  # edited here, and not taken there yet
    number: int = 0

    @property
    def col(self) -> Any:
        return self.server.col

    def notes(self) -> dict[CardId, Any]:
        found = [self.col.get_note(id_) for id_ in self.col.find_notes("")]
        assert len({note["CardId"] for note in found}) == len(found)
        return {CardId(note["CardId"]): note for note in found}

    def any_card(self) -> CardId:
        return self.dice.choice(list(open_desk(self.vault, now()).cards))

    # --- here ---

    def rate(self) -> None:
        rating = Rating(self.dice.randint(1, 4))
        _, event = rate(open_desk(self.vault, now()), self.any_card(), rating, via="cli")
        self.here.append((event.card, int(event.rating), unix_ms(event.at)))

    def undo(self) -> None:
        try:
            undo_last(open_desk(self.vault, now()), via="cli")
        except NotFound:
            assert not self.here
        else:
            self.here.pop()

    def edit(self) -> None:
        """A new answer here wins over an older edit in Anki."""
        self.number += 1
        placed = open_desk(self.vault, now()).card(self.any_card())
        path = self.vault.root / placed.deck.path
        path.write_text(path.read_text().replace(placed.card.answer, f"Edited *{self.number}* here."))
        self.edits.pop(placed.id, None)
        self.waiting.add(placed.id)

    def add(self) -> None:
        self.number += 1
        with (self.vault.root / "learning/flashcards/interleaving.md").open("a") as deck:
            deck.write(f"\nQ: New question {self.number}?\nA: New answer {self.number}.\n")

    # --- there ---

    def answer(self) -> None:
        if not self.taken:
            return
        card = self.dice.choice(sorted(self.taken))
        studied, ease = self.notes()[card].cards()[0], self.dice.randint(1, 4)
        now()
        studied.start_timer()
        self.col.sched.answerCard(studied, ease)
        (id_,) = self.col.db.first("select max(id) from revlog where cid = ?", studied.id)
        self.there.add((card, ease, id_))

    def edit_there(self) -> None:
        if self.taken:
            self.number += 1
            note = self.notes()[self.dice.choice(sorted(self.taken))]
            note["Answer"] = f"edited {self.number} there"
            if (card := CardId(note["CardId"])) not in self.waiting:  # else the vault says something new
                self.edits[card] = note["Answer"]
            self.col.update_note(note)
            # Both sides date a note in whole seconds; a human is slower than these steps.
            self.col.db.execute("update notes set mod = mod + 60 where id = ?", note.id)

    def tag_there(self) -> None:
        if self.taken:
            note = self.notes()[self.dice.choice(sorted(self.taken))]
            note.tags = [*note.tags, "mine"]
            self.col.update_note(note)
            self.col.db.execute("update notes set mod = mod + 60 where id = ?", note.id)  # as above

    # --- there and home again ---

    def schedules(self, others: Collection[int] = ()) -> dict[int, tuple[Any, ...]]:
        query = "select id, type, queue, due, ivl, factor, reps, lapses, did from cards where reps > 0"
        return {row[0]: tuple(row[1:]) for row in self.col.db.all(query) if row[0] not in others}

    def take_there(self) -> None:
        before, desk = self.schedules(), open_desk(self.vault, now())
        made = [self.folder / f"{name}.apkg" for name in "ab"]
        for path in made:
            export_anki(desk, path)
        assert made[0].read_bytes() == made[1].read_bytes()
        for path in made:
            log = self._import(path)
        assert not log.new and not log.updated
        self.taken = set(desk.cards)
        self.waiting.clear()
        assert self.schedules() == before and set(self.notes()) == self.taken

    def _import(self, path: Path) -> Any:
        from anki.collection import ImportAnkiPackageOptions, ImportAnkiPackageRequest

        options = ImportAnkiPackageOptions(merge_notetypes=False, with_scheduling=False)
        return self.col.import_anki_package(ImportAnkiPackageRequest(package_path=str(path), options=options)).log

    def connect(self) -> None:
        before, desk = self.schedules(), open_desk(self.vault, now())
        done = sync(desk, connected(self.server.url))
        assert {key(e) for e in done.home.new} == self.there - self.home and not done.failed
        self.home |= self.there
        self.taken = set(desk.cards)
        self.waiting.clear()
        rated = {self.notes()[card].cards()[0].id for card, _, _ in self.here}
        assert self.schedules(rated) == {card: row for card, row in before.items() if card not in rated}
        assert set(self.notes()) == self.taken
        again = sync(open_desk(self.vault, now()), connected(self.server.url), dry_run=True)
        assert not (again.home.new or again.plan.create or again.plan.update or again.plan.retag)

    def bring_home(self) -> None:
        if not self.taken:
            return
        package = self._export(self.dice.choice(["legacy", "modern", "colpkg", "old colpkg"]))
        before = sorted(path.name for path in (self.vault.root / "learning/flashcards").iterdir())
        told = brought_in(self.vault, package, now())
        assert told.reviews["added"] == len(self.there - self.home)
        self.home |= self.there
        assert told.notes["strange"] == 0 and told.cards["created"] == 0
        assert sorted(path.name for path in (self.vault.root / "learning/flashcards").iterdir()) == before
        assert brought_in(self.vault, package, now()).reviews["added"] == 0

    def _export(self, how: str) -> Path:
        from anki.collection import ExportAnkiPackageOptions

        path = self.folder / ("out.colpkg" if "colpkg" in how else "out.apkg")
        path.unlink(missing_ok=True)
        if "colpkg" in how:
            self.col.export_collection_package(str(path), include_media=True, legacy=how.startswith("old"))
            self.col.reopen()
            return path
        options = ExportAnkiPackageOptions(with_scheduling=True, with_media=True, legacy=how == "legacy")
        self.col.export_anki_package(out_path=str(path), options=options, limit=None)
        return path

    def check(self) -> None:
        reviews = [event for event in live(read_log(self.vault.root).events) if isinstance(event, Review)]
        assert Counter(key(e) for e in reviews if isinstance(e, Import)) == Counter(self.home)
        assert Counter(key(e) for e in reviews if not isinstance(e, Import)) == Counter(self.here)
        states = open_desk(self.vault, now()).states
        reps = Counter(card for card, _, _ in (*self.here, *self.home))
        assert {card: state.reps for card, state in states.items() if state.reps} == dict(reps)


def key(event: Review) -> Key:
    return event.card, int(event.rating), unix_ms(event.at)


_HERE: list[Callable[[Both], None]] = [Both.rate, Both.rate, Both.undo, Both.edit, Both.add]
_THERE: list[Callable[[Both], None]] = [Both.answer, Both.answer, Both.answer, Both.edit_there, Both.tag_there]
_BETWEEN: list[Callable[[Both], None]] = [Both.take_there, Both.connect, Both.bring_home]


@pytest.fixture
def collections(tmp_path: Path) -> Iterator[Callable[[str], Any]]:
    """Makes new collections, which are closed in the end."""
    from anki.collection import Collection

    opened: list[Any] = []

    def make(name: str) -> Any:
        folder = tmp_path / name
        folder.mkdir()
        opened.append(Collection(str(folder / "collection.anki2")))
        return opened[-1]

    yield make
    for col in opened:
        col.close()


def test_whatever_happens_on_both_sides_nothing_is_lost_and_nothing_doubled(
    vault: Vault,
    tmp_path: Path,
    collections: Callable[[str], Any],
    torture: Callable[[int, int], int],
    tally: Callable[[str, str], None],
) -> None:
    tries, answered = torture(60, 6), 0
    clean = tmp_path / "clean"
    shutil.copytree(vault.root, clean)
    for seed in range(tries):
        print("seed", seed)
        shutil.rmtree(vault.root)
        shutil.copytree(clean, vault.root)
        dice = random.Random(seed)
        with serving(ConnectServer(collections(f"anki-{seed}"), imports=seed % 3 > 0)) as server:
            both = Both(vault, server, tmp_path, dice)
            both.connect() if seed % 2 else both.take_there()
            # Where the add-on takes no packages, Anki chooses the GUIDs of new notes: then one road is kept to.
            single = Both.take_there if seed % 2 else Both.connect
            roads = [road for road in _BETWEEN if server.imports or road is not single]
            for _ in range(_STEPS):
                step = dice.choice([*_HERE, *_THERE, *roads])
                step(both)
                both.check()
            both.bring_home()
            both.connect() if Both.connect in roads else both.take_there()
            both.check()
            assert both.home == both.there
            answered += len(both.there)
            for card, words in both.edits.items():
                assert both.notes()[card]["Answer"] == words, "an edit made in Anki stays while the vault says the same"
            tags = {tag for note in both.notes().values() for tag in note.tags if tag.startswith("retain::vault::")}
            assert tags <= {vault_tag(vault.settings.vault_id)}
            assert both.col.fix_integrity()[1]
    tally("Edits and reviews on both sides of Anki", f"{tries} runs of {_STEPS} steps, {answered} answers in Anki")
