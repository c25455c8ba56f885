"""Whatever two machines do, in any order: desk, desk without caches and a plain dictionary say the same."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from learning.cards.workspace import Desk, open_desk, rate, read_desk, undo_last
from learning.history import cut as log_cut
from learning.pages.review_page import save_review_page
from tests.learning.marks import mark
from tests.learning.plain_memory import Event, PlainLog, Remembered, Wishes, on_disk, states
from vault.config.settings import Settings, render_settings
from vault.errors import ClockWentBackwards, NotFound
from vault.ids import CardId, ulid
from vault.index import stamps
from vault.layout import REVIEW_PAGE
from vault.log.events import Bury, CardMark, Flag, LogEvent, Rating, Resume, Review, Stamp, Suspend, encode
from vault.log.review_columns import columns_of, scan_log
from vault.log.review_log import read_log, unix_ms
from vault.vault import Vault, open_vault

CARDS = tuple(f"k{n:09}" for n in range(6))
DECKS = ("alpha", "beta", "gamma")
ZONES = ("Europe/Berlin", "America/St_Johns", "Pacific/Auckland", "UTC")
MARKS: dict[str, type[CardMark]] = {"suspend": Suspend, "resume": Resume, "bury": Bury, "flag": Flag}
NOON = datetime(2026, 3, 27, 12, tzinfo=UTC)  # two days before clocks go forward in Berlin
AUTUMN = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)  # half an hour before they go back
LOG = "learning/reviews.jsonl"


def put(path: Path, data: bytes) -> None:
    """Writes a file so that size, time or inode show it: here files count as settled at once, after 2 s elsewhere."""
    before = trace(path)
    path.write_bytes(data)
    while trace(path) == before:
        time.sleep(0.001)
        path.write_bytes(data)


def trace(path: Path) -> tuple[int, ...]:
    if not path.exists():
        return ()
    status = path.stat()
    return status.st_size, status.st_ctime_ns, status.st_ino


class Machine:
    """One machine: a vault on disk, what its decks should hold, and the plain log of what was done there."""

    def __init__(self, root: Path) -> None:
        self.root, self.log = root, PlainLog()
        self.retracted: set[str] = set()
        self.decks: dict[str, dict[str, str]] = {deck: {} for deck in DECKS}
        for number, card in enumerate(CARDS):
            self.decks[DECKS[number % 2]][card] = f"What is {number}?"
        (root / "learning/flashcards").mkdir(parents=True)
        (root / "ledger").mkdir()
        self.save_decks()

    def save_decks(self) -> None:
        for deck, cards in self.decks.items():
            blocks = [f"\nQ: {question}\nA: That.\n<!-- card {id_} -->\n" for id_, question in cards.items()]
            text = f"---\ntags: [{deck}]\n---\n\n# {deck}\n" + "".join(blocks)
            path = self.root / f"learning/flashcards/{deck}.md"
            if not path.exists() or path.read_text() != text:
                put(path, text.encode())

    @property
    def cards(self) -> set[str]:
        return {card for deck in self.decks.values() for card in deck}

    def holder(self, card: str) -> str | None:
        return next((deck for deck, cards in self.decks.items() if card in cards), None)

    def logs(self) -> list[Path]:
        return sorted((self.root / "learning").glob("reviews*.jsonl"))

    def vault(self) -> Vault:
        return open_vault(str(self.root), None, self.root)


class Memory(RuleBasedStateMachine):
    """Two machines with one vault. Steps happen on either; what is said of both is asked after each step."""

    steps = 0

    @initialize(seed=st.integers(0, 2**32), settled=st.booleans(), short=st.booleans())
    def begin(self, seed: int, settled: bool, short: bool) -> None:
        """With `settled`, files count as old enough for caches at once; with `short`, checkpoints are cut every day."""
        self.top = Path(tempfile.mkdtemp(prefix="retain-machine-"))
        self.patch = pytest.MonkeyPatch()
        if settled:
            self.patch.setattr(stamps, "RACY_NS", -(10**15))
        if short:
            self.patch.setattr(log_cut, "LEAST", 2)
            self.patch.setattr(log_cut, "MOST", 5)
        self.chance = random.Random(seed)
        self.now, self.events_of_ledger = NOON, 0
        self.settings = Settings("01KB0000000000000000000000", "Mind", timezone=ZONES[0], new_per_day=2,
                                 reviews_per_day=3, fuzz=False, leech_threshold=2)  # fmt: skip
        self.machines = [Machine(self.top / "one"), Machine(self.top / "two")]
        self.save_settings()
        if short:
            self.some_past()

    def some_past(self) -> None:
        """Both machines begin with the same ten days of reviews."""
        past = []
        for number in range(20):
            at = NOON - timedelta(hours=12 * (20 - number))
            stamp = Stamp(ulid(unix_ms(at), self.chance.randbytes(10)), at, "+01:00", "tui")
            past.append(Review(stamp, CardId(self.chance.choice(CARDS)), Rating(self.chance.randint(1, 4)), 700))
        for machine in self.machines:
            put(machine.root / LOG, b"".join(encode(event) + b"\n" for event in past))
            for event in past:
                said = json.loads(encode(event))
                del said["crc"]
                machine.log.add(said)

    def teardown(self) -> None:
        if hasattr(self, "top"):
            self.patch.undo()
            shutil.rmtree(self.top)

    def save_settings(self) -> None:
        own = self.settings
        tags = "".join(f"{tag} = {value}\n" for tag, value in own.retention_by_tag.items())
        more = f"""fuzz = {str(own.fuzz).lower()}
leech_threshold = {own.leech_threshold}
leech_action = "{own.leech_action}"
[learning.retention_by_tag]
{tags}
# More settings"""
        for machine in self.machines:
            put(machine.root / "retain.toml", render_settings(own).replace("# More settings", more).encode())
        self.touched = [0, 1]

    def wishes(self, machine: Machine) -> Wishes:
        own = self.settings
        wanted = {c: own.retention_by_tag[d] for d in own.retention_by_tag for c in machine.decks[d]}
        zone, suspends = ZoneInfo(own.timezone), own.leech_action == "suspend"
        return Wishes(zone, own.rollover, own.retention, wanted, own.leech_threshold, suspends)

    def desk(self, which: int) -> Desk:
        self.touched = [which]
        return open_desk(self.machines[which].vault(), self.now)

    # --- what the learner does ------------------------------------------------------------------------------------

    @rule(
        which=st.sampled_from([0, 0, 1]),
        card=st.sampled_from(CARDS),
        ratings=st.lists(st.sampled_from(Rating), min_size=1, max_size=3),
    )
    def review(self, which: int, card: str, ratings: list[Rating]) -> None:
        """One to three ratings at one desk, as in a sitting."""
        machine, desk = self.machines[which], self.desk(which)
        for rating in ratings:
            if card not in machine.cards:
                with pytest.raises(NotFound):
                    rate(desk, card, rating, via="cli")
                return
            ms = self.chance.choice([0, 900, 30_000])
            desk, event = rate(desk, card, rating, via="cli", ms=ms)
            self.written(machine, event, {"type": "review", "card": card, "rating": int(rating), "ms": ms})
        self.same(desk, open_desk(machine.vault(), self.now))

    @rule(
        which=st.sampled_from([0, 1]),
        card=st.sampled_from(CARDS),
        hours=st.integers(-90, 0),
        rating=st.sampled_from(Rating),
    )
    def dated(self, which: int, card: str, hours: int, rating: Rating) -> None:
        """A review is reported later; it is refused where it lies before the card's last."""
        machine, desk = self.machines[which], self.desk(which)
        if card not in machine.cards:
            return
        at = self.now + timedelta(hours=hours)
        last = self.plain(machine).get(card, Remembered()).last
        if last is not None and at < last:
            before = machine.root.joinpath(LOG).read_bytes() if machine.root.joinpath(LOG).exists() else b""
            with pytest.raises(ClockWentBackwards):
                rate(desk, card, rating, via="cli", dated=at)
            assert (machine.root.joinpath(LOG).read_bytes() if before else b"") == before
            return
        _, event = rate(desk, card, rating, via="cli", dated=at)
        self.written(machine, event, {"type": "review", "card": card, "rating": int(rating)}, at)

    @rule(which=st.sampled_from([0, 1]), card=st.sampled_from(CARDS), kind=st.sampled_from(sorted(MARKS)))
    def marks(self, which: int, card: str, kind: str) -> None:
        machine = self.machines[which]
        if card in machine.cards:
            desk, event = mark(self.desk(which), card, MARKS[kind], via="cli")
            self.written(machine, event, {"type": kind, "card": card})
            self.same(desk, open_desk(machine.vault(), self.now))

    @rule(which=st.sampled_from([0, 0, 1]), hours=st.sampled_from([7, 24, 60]))
    def a_sitting(self, which: int, hours: int) -> None:
        """Some time later all of today's queue is rated."""
        self.clock(self.now + timedelta(hours=hours))
        machine, desk = self.machines[which], self.desk(which)
        for item in desk.queue.today:
            rating = Rating(self.chance.choice([1, 2, 3, 3, 3, 4]))
            desk, event = rate(desk, item.card, rating, via="cli", ms=4000)
            self.written(machine, event, {"type": "review", "card": item.card, "rating": int(rating), "ms": 4000})
        self.same(desk, open_desk(machine.vault(), self.now))
        self.touched = [0, 1]

    @rule(which=st.sampled_from([0, 1]), times=st.integers(1, 3))
    def undoes(self, which: int, times: int) -> None:
        """Each undo takes the latest event that still counts, and nothing else."""
        machine, desk = self.machines[which], self.desk(which)
        for _ in range(times):
            before = machine.log.live()
            if not before:
                with pytest.raises(NotFound):
                    undo_last(desk, via="cli")
                return
            desk, (event,), (voided,) = undo_last(desk, via="cli")
            assert voided.id == before[-1]["id"]
            self.written(machine, event, {"type": "undo", "voids": voided.id})
            assert machine.log.live() == before[:-1]
        self.same(desk, open_desk(machine.vault(), self.now))

    def written(self, machine: Machine, event: LogEvent, wanted: Event, dated: datetime | None = None) -> None:
        """The event is what was asked for, its instant after all others that count, and it goes into the plain log."""
        said: Event = json.loads(encode(event))
        assert said.pop("crc")
        assert said | wanted == said
        last = machine.log.last_at()
        when = dated or self.now
        pushed = last is not None and when <= last and (dated is None or self.now < last)
        assert event.at == (last + timedelta(milliseconds=1) if pushed and last else when)
        assert event.when == when
        assert (event.stamp.clock is None) == (event.at == self.now)
        machine.log.add(said)

    # --- what happens to cards ------------------------------------------------------------------------------------

    @rule(card=st.sampled_from(CARDS), words=st.sampled_from(["What?", "Why so?", "How?"]))
    def edits(self, card: str, words: str) -> None:
        machine = self.machines[0]
        if (deck := machine.holder(card)) is not None:
            machine.decks[deck][card] = words
            self.decks_changed()

    @rule(card=st.sampled_from(CARDS), to=st.sampled_from(DECKS))
    def moves(self, card: str, to: str) -> None:
        machine = self.machines[0]
        if (deck := machine.holder(card)) is not None:
            machine.decks[to][card] = machine.decks[deck].pop(card)
            self.decks_changed()

    @rule(card=st.sampled_from(CARDS))
    def deletes_or_brings_back(self, card: str) -> None:
        """A card that comes back finds its history."""
        machine = self.machines[0]
        if (deck := machine.holder(card)) is None:
            machine.decks["gamma"][card] = "Back again?"
        else:
            del machine.decks[deck][card]
        self.decks_changed()

    @rule(card=st.sampled_from(CARDS))
    def knowledge_goes_or_returns(self, card: str) -> None:
        """A compile retires the card, or revives it; it does so on one machine."""
        machine = self.machines[0]
        type_ = "revive" if card in machine.retracted else "retire"
        machine.retracted ^= {card}
        self.events_of_ledger += 1  # never two at one instant
        at = (NOON + timedelta(seconds=self.events_of_ledger)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = {"v": 1, "type": type_, "of": "card", "id": card, "at": at, "reason": "its evidence"}
        with (machine.root / "ledger/ids.jsonl").open("a") as ledger:
            ledger.write(json.dumps(line) + "\n")
        self.touched = [0]

    def decks_changed(self) -> None:
        self.machines[0].save_decks()
        self.touched = [0]

    # --- two machines, clocks, settings, caches ---------------------------------------------------------------------

    @rule(to=st.sampled_from([0, 1]), how=st.sampled_from(["union", "conflict", "closed year"]))
    def merges(self, to: int, how: str) -> None:
        """The other machine's log arrives: by a union merge, shuffled and repeated, or as files of their own."""
        here, there = self.machines[to], self.machines[1 - to]
        lines = [line for file in there.logs() for line in file.read_bytes().splitlines()]
        if not lines:
            return
        names = {"union": LOG, "conflict": "learning/reviews.sync-conflict-20260401-101010-ABCDEFG.jsonl"}
        file = here.root / names.get(how, "learning/reviews-2026.jsonl")
        lines += file.read_bytes().splitlines() if file.exists() else []
        if how == "union":
            lines += self.chance.choices(lines, k=3)
        self.chance.shuffle(lines)
        put(file, b"\n".join(lines) + b"\n")
        kept = on_disk(here.logs())
        here.log.merge(there.log)
        for id_ in [i for i in here.log.events if i not in kept]:
            raise AssertionError(f"the merge itself lost {id_}")
        self.touched = [to]

    @rule(minutes=st.sampled_from([1, 11, 90, 700, 1440, 4000, 20_000, 420_000]))
    def time_passes(self, minutes: int) -> None:
        self.clock(self.now + timedelta(minutes=minutes))

    @rule(hours=st.sampled_from([1, 26, 400]))
    def clock_is_set_back(self, hours: int) -> None:
        self.clock(self.now - timedelta(hours=hours))

    @rule(minutes=st.sampled_from([0, 31, 91]))
    def clocks_change(self, minutes: int) -> None:
        self.clock(AUTUMN + timedelta(minutes=minutes))

    def clock(self, now: datetime) -> None:
        self.now, self.touched = now, [0, 1]

    @rule(
        zone=st.sampled_from(ZONES),
        rollover=st.sampled_from([0, 2, 4, 23]),
        retention=st.sampled_from([0.8, 0.9, 0.95]),
        by_tag=st.dictionaries(st.sampled_from(DECKS), st.sampled_from([0.75, 0.97]), max_size=2),
        fuzz=st.booleans(),
        leech=st.sampled_from([(0, "flag"), (1, "flag"), (1, "suspend"), (3, "suspend")]),
    )
    def settings_change(
        self, zone: str, rollover: int, retention: float, by_tag: dict[str, float], fuzz: bool, leech: tuple[int, str]
    ) -> None:
        self.settings = replace(
            self.settings, timezone=zone, rollover=rollover, retention=retention, retention_by_tag=by_tag, fuzz=fuzz,
            leech_threshold=leech[0], leech_action=leech[1],
        )  # fmt: skip
        self.save_settings()

    @rule(which=st.sampled_from([0, 1]))
    def all_is_rebuilt(self, which: int) -> None:
        """The page comes back byte for byte once every cache and the page are gone."""
        machine = self.machines[which]
        self.desk(which)
        save_review_page(read_desk(machine.vault()))
        page = (machine.root / REVIEW_PAGE).read_bytes()
        (machine.root / REVIEW_PAGE).unlink()
        shutil.rmtree(machine.root / ".retain", ignore_errors=True)
        save_review_page(read_desk(machine.vault()))
        assert (machine.root / REVIEW_PAGE).read_bytes() == page

    # --- what always holds ------------------------------------------------------------------------------------------

    def plain(self, machine: Machine) -> dict[str, Remembered]:
        """What the plain log comes to; the ledger's own events know no other kind than these two."""
        found = states(machine.log, self.wishes(machine))
        for card in machine.retracted:
            found.setdefault(card, Remembered()).retracted = True
        return found

    @invariant()
    def three_say_the_same(self) -> None:
        for which in getattr(self, "touched", []):
            Memory.steps += 1
            machine = self.machines[which]
            desk = open_desk(machine.vault(), self.now)
            bare = self.without_caches(machine)
            self.same(desk, bare)
            self.as_the_plain_one(desk, machine)
            assert on_disk(machine.logs()) == machine.log.events
            files = [(file.name, file.read_bytes()) for file in machine.logs()]
            assert scan_log(files).reviews == columns_of(read_log(machine.root).events)

    def without_caches(self, machine: Machine) -> Desk:
        copy = self.top / "bare"
        shutil.copytree(machine.root, copy, ignore=shutil.ignore_patterns(".retain", "_review.md"))
        try:
            desk = open_desk(open_vault(str(copy), None, copy), self.now)
            [desk.state(CardId(card)) for card in CARDS]  # while its files are there
            return desk
        finally:
            shutil.rmtree(copy)

    @staticmethod
    def same(desk: Desk, bare: Desk) -> None:
        assert set(desk.cards) == set(bare.cards)
        assert [desk.state(CardId(c)) for c in CARDS] == [bare.state(CardId(c)) for c in CARDS]
        assert desk.queue == bare.queue
        assert desk.today == bare.today
        assert {(d.path, d.line, d.code) for d in desk.diagnostics} == {
            (d.path, d.line, d.code) for d in bare.diagnostics
        }

    def as_the_plain_one(self, desk: Desk, machine: Machine) -> None:
        plain = self.plain(machine)
        assert set(desk.cards) == machine.cards
        for card in CARDS:
            state, known = desk.state(CardId(card)), plain.get(card, Remembered())
            assert (state.reps, state.lapses, state.last_review) == (known.reps, known.lapses, known.last)
            assert (state.suspended, state.flagged, state.buried_until) == (
                known.suspended,
                known.flagged,
                known.buried_until,
            )
            assert (state.leech, state.retracted) == (known.leech, known.retracted)
            if known.theirs is None:
                assert state.due is None
                continue
            assert state.stability == pytest.approx(known.theirs.stability, rel=1e-6)
            assert state.difficulty == pytest.approx(known.theirs.difficulty, rel=1e-6)
            assert state.due == known.due or self.settings.fuzz
            assert state.due is not None and state.due > known.last  # type: ignore[operator]
        self.queued(desk, machine, plain)

    def queued(self, desk: Desk, machine: Machine, plain: dict[str, Remembered]) -> None:
        """No card twice; all that is due and new, and nothing else."""
        queue = desk.queue
        due, new, waiting = ([i.card for i in part] for part in (queue.due, queue.new, queue.waiting))
        today = [item.card for item in queue.today]
        assert len({*due, *new, *waiting}) == len(due) + len(new) + len(waiting)
        assert len(set(today)) == len(today) and set(today) <= {*due, *new}
        shown = {c for c in machine.cards if plain.get(c, Remembered()).shown(self.now)}
        dues = {c: desk.state(CardId(c)).due for c in shown}
        assert set(new) == {c for c, at in dues.items() if at is None}
        assert set(due) == {c for c, at in dues.items() if at is not None and at <= self.now}
        wishes = self.wishes(machine)
        tomorrow = wishes.begins(wishes.day(self.now) + timedelta(days=1))
        assert all(self.now < at < tomorrow for c, at in dues.items() if c in waiting and at is not None)


def test_desk_desk_without_caches_and_a_plain_dictionary_agree_whatever_happens(
    torture: Callable[[int, int], int], tally: Callable[..., None]
) -> None:
    Memory.steps = 0
    runs = torture(500, 6)
    run_state_machine_as_test(
        Memory,
        settings=settings(
            max_examples=runs,
            stateful_step_count=torture(50, 20),
            print_blob=True,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )
    tally("State machine over two machines' logs", f"{runs} runs, {Memory.steps:,} times the same", page="memory")
