"""What happens on both sides of `sync anki`, at random: reviews travel both ways, each once, and decisions come home.

Each run is a list of steps by a printed seed. Before the collection is the add-on's own source, where
RETAIN_ANKICONNECT names it, else the server of the tests.
"""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from learning.anki.tags import user_tags
from learning.anki_connect.client import connected
from learning.anki_connect.push import RETRACTED
from learning.anki_connect.sync import Synced, sync
from learning.cards.delete import delete_cards
from learning.cards.workspace import Desk, open_desk, rate
from learning.memory.state import Phase
from tests.learning.add_on import add_on_before
from tests.learning.connect_server import ConnectServer, serving
from vault.ids import CardId
from vault.log.events import Rating, Review
from vault.log.review_log import live, read_log, unix_ms
from vault.vault import Vault

_STEPS = 16


@dataclass
class Sides:
    """The vault and the collection, on one clock that steps; `last` says what happened to a card's schedule last."""

    vault: Vault
    server: ConnectServer
    dice: random.Random
    clock: datetime
    last: dict[CardId, str] = field(default_factory=dict)
    deleted: set[CardId] = field(default_factory=set)
    number: int = 0

    @property
    def col(self) -> Any:
        return self.server.col

    def now(self) -> datetime:
        self.clock += timedelta(seconds=2)
        return self.clock

    def desk(self) -> Desk:
        return open_desk(self.vault, self.now())

    def there(self) -> dict[CardId, Any]:
        cards = [self.col.get_card(number) for number in self.col.find_cards("")]
        assert len({card.note()["CardId"] for card in cards}) == len(cards)
        return {CardId(card.note()["CardId"]): card for card in cards}

    def any_there(self) -> tuple[CardId, Any] | None:
        cards = {id_: card for id_, card in self.there().items() if card.queue != -1 and id_ not in self.deleted}
        return self.dice.choice(sorted(cards.items(), key=lambda each: each[0])) if cards else None

    def touched(self, card: Any) -> None:
        """Give what Anki has just written of a card the instant of this clock."""
        ms = unix_ms(self.now())
        newest = self.col.db.scalar("select max(id) from revlog where cid = ?", card.id)
        if newest is not None and newest > ms:
            self.col.db.execute("update revlog set id = ? where id = ?", ms, newest)
            written = self.col.get_card(card.id)
            is_answer = self.col.db.scalar("select ease from revlog where id = ?", ms) > 0
            if is_answer and written.last_review_time is not None:
                written.last_review_time = ms // 1000
                self.col.update_card(written)
        self.col.db.execute("update cards set mod = ? where id = ?", ms // 1000, card.id)

    # --- here ---

    def rate(self) -> None:
        desk = self.desk()
        _, event = rate(desk, self.dice.choice(sorted(desk.cards)), Rating(self.dice.randint(1, 4)), via="cli", ms=900)
        self.last[event.card] = "rated"

    def add(self) -> None:
        self.number += 1
        with (self.vault.root / "learning/flashcards/interleaving.md").open("a") as deck:
            deck.write(f"\nQ: New question {self.number}?\nA: New answer {self.number}.\n")

    def delete(self) -> None:
        desk = self.desk()
        if len(desk.cards) > 2:
            gone = self.dice.choice(sorted(desk.cards))
            self.deleted |= set(delete_cards(self.vault, [gone], self.now()).cards)

    # --- there ---

    def answer(self) -> None:
        if chosen := self.any_there():
            id_, card = chosen
            card.start_timer()
            self.col.sched.answerCard(card, self.dice.randint(1, 4))
            self.touched(card)
            self.last[id_] = "answered"

    def forget(self) -> None:
        if (chosen := self.any_there()) and chosen[1].type:
            self.col.sched.schedule_cards_as_new([chosen[1].id])
            self.touched(chosen[1])
            self.last[chosen[0]] = "forgotten"

    def set_due(self) -> None:
        if (chosen := self.any_there()) and chosen[1].type == 2:
            self.col.sched.set_due_date([chosen[1].id], str(self.dice.randint(0, 90)))
            self.touched(chosen[1])
            self.last[chosen[0]] = "dated"

    def flag(self) -> None:
        if chosen := self.any_there():
            self.col.set_user_flag_for_cards(self.dice.choice([0, 1, 4]), [chosen[1].id])
            self.touched(chosen[1])

    def tag(self) -> None:
        if chosen := self.any_there():
            note = chosen[1].note()
            words = {"exam", "hard::one", "marked"} & set(note.tags)
            if words and self.dice.random() < 0.4:
                note.tags = [tag for tag in note.tags if tag not in words]
            else:
                note.tags = [*note.tags, self.dice.choice(["exam", "hard::one", "marked"])]
            self.col.update_note(note)

    # --- both ---

    def sync(self) -> Synced:
        done = sync(self.desk(), connected(self.server.url))
        assert not done.failed
        self.check()
        again = sync(self.desk(), connected(self.server.url), dry_run=True)
        plan = again.plan
        assert not (again.home.new or again.sent or any(again.marks.values()))
        assert not (plan.create or plan.update or plan.retag or plan.retracted or plan.revived)
        return done

    def check(self) -> None:
        desk, there = self.desk(), self.there()
        reviews = [event for event in live(read_log(self.vault.root).events) if isinstance(event, Review)]
        here = Counter((event.card, int(event.rating)) for event in reviews)
        ids = {card.id: id_ for id_, card in there.items()}
        rows = self.col.db.all("select cid, ease from revlog where ease > 0")
        sent = Counter((ids[cid], ease) for cid, ease in rows if cid in ids)
        assert sent <= here
        # A card that was rated and deleted since the last sync sends its rating no more.
        assert all(card in self.deleted for card, _ in here - sent)
        assert set(there) == set(desk.cards) | (self.deleted & set(there))
        today, day = self.col.sched.today, desk.scheduler.day(self.clock)
        for id_, card in there.items():
            note, state = card.note(), desk.state(id_)
            if id_ in self.deleted:
                assert card.queue == -1 and RETRACTED in note.tags
                continue
            deck = desk.cards[id_].deck.properties.texts("tags")
            assert user_tags(note.tags).keys() == user_tags((*state.tags, *deck)).keys()
            assert state.flagged is (card.flags & 7 > 0)
            last = self.last.get(id_)
            assert (state.phase is Phase.NEW) is (card.type == 0), last
            if last in ("rated", "dated") and state.phase is Phase.REVIEW:
                assert state.due is not None
                assert desk.scheduler.day(state.due) - day == card.due - today, last


_HERE: list[Callable[[Sides], object]] = [Sides.rate, Sides.rate, Sides.add, Sides.delete]
_THERE: list[Callable[[Sides], object]] = [
    *(Sides.answer, Sides.answer, Sides.forget, Sides.set_due, Sides.flag, Sides.tag),
]


@contextmanager
def before(col: Any) -> Iterator[ConnectServer]:
    if os.environ.get("RETAIN_ANKICONNECT"):
        with add_on_before(col) as server, serving(server):
            yield server
    else:
        with serving(ConnectServer(col)) as plain:
            yield plain


def test_reviews_travel_both_ways_each_once_and_decisions_come_home(
    vault: Vault, tmp_path: Path, torture: Callable[[int, int], int], tally: Callable[[str, str], None]
) -> None:
    from anki.collection import Collection

    tries, clean, sent, came = torture(200, 3), tmp_path / "clean", 0, 0
    shutil.copytree(vault.root, clean)
    for seed in range(tries):
        print("seed", seed)
        shutil.rmtree(vault.root)
        shutil.copytree(clean, vault.root)
        (tmp_path / f"anki-{seed}").mkdir()
        col = Collection(str(tmp_path / f"anki-{seed}" / "collection.anki2"))
        try:
            with before(col) as server:
                sides = Sides(vault, server, random.Random(seed), datetime.now(UTC) - timedelta(minutes=10))
                sides.sync()
                for _ in range(_STEPS):
                    step = sides.dice.choice([*_HERE, *_THERE, Sides.sync])
                    done = step(sides)
                    if isinstance(done, Synced):
                        sent, came = sent + done.sent, came + len(done.home.new)
                sides.sync()
                said, fine = col.fix_integrity()
                assert fine, said
        finally:
            col.close()
    tally(
        "Random histories on both sides of `sync anki`",
        f"{tries} runs of {_STEPS} steps, {sent} reviews sent, {came} brought home",
    )
