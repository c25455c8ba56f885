"""The index of cards and reviews never changes what a desk says: it only saves time."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from learning.cards import actions
from learning.cards.workspace import Desk, open_desk, rate, undo_last
from learning.history import cut as log_cut
from learning.history import update as log_index
from learning.history.fill import SchedulerOf, fold_all
from learning.memory.fold import card_events, fold, scheduler_for
from learning.memory.scheduler import Scheduler
from learning.memory.state import rules_of
from learning.schedule.queue import done_today
from learning.store.index import open_index
from tests.learning.marks import mark
from vault.errors import ClockWentBackwards, NotFound
from vault.ids import CardId, ulid
from vault.index import stamps
from vault.index.database import Database
from vault.log import ledger
from vault.log.events import Bury, Flag, Rating, Resume, Review, Stamp, Suspend, Tag, Undo, encode
from vault.log.review_log import LOG_PATH, live, read_log, unix_ms
from vault.vault import Vault, open_vault

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
INDEX = ".retain/learning.sqlite3"
CARDS = [CardId(f"{deck}{n:05}0000"[:10]) for deck in "abcde" for n in range(6)]


@pytest.fixture(autouse=True)
def old_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stamps are believed at once: the tests change nothing within one tick of the clock and keep the size."""
    monkeypatch.setattr(stamps, "RACY_NS", -1_000_000_000)
    monkeypatch.setattr(log_cut, "LEAST", 12)
    monkeypatch.setattr(log_cut, "MOST", 40)


def write_deck(vault: Vault, stem: str, cards: list[CardId], extra: str = "") -> None:
    blocks = [f"Q: What is {card}?\nA: It is {stem}.\n<!-- card {card} -->\n" for card in cards]
    text = f"---\ntags:\n  - {stem}\n---\n\n# {stem.title()}\n\n## Applied\n\n" + "\n".join(blocks) + extra
    (vault.root / f"learning/flashcards/{stem}.md").write_text(text)


def told(desk: Desk) -> tuple[object, ...]:
    """All that a desk says."""
    return (
        dict(desk.states),
        desk.queue,
        desk.today,
        desk.diagnostics,
        {card: (p.title, p.kind, p.card.question, p.deck.path) for card, p in desk.cards.items()},
        list(desk.cards),
        [desk.place(card) for card in desk.cards],
        desk.past.last,
        desk.past.undoable(),
        desk.past.done(desk.scheduler.calendar, desk.now),
        desk.past.whole(),
        desk.past.recent_ms(),
        desk.past.changes,
        desk.past.reviews(),
        desk.past.day_sums(),
    )


def without_index(vault: Vault, now: datetime) -> tuple[object, ...]:
    """What the desk of a vault says that was never opened before."""
    copy = vault.root.parent / "never opened"
    shutil.copytree(vault.root, copy, ignore=shutil.ignore_patterns(".retain"))
    try:
        return told(open_desk(open_vault(str(copy), None, copy), now))
    finally:
        shutil.rmtree(copy)


def assert_same(vault: Vault, now: datetime) -> None:
    """A desk with the index as it is, one without any, and the plain fold of the whole log say the same."""
    vault = open_vault(str(vault.root), None, vault.root)
    cached = told(open_desk(vault, now))
    assert without_index(vault, now) == cached
    events = read_log(vault.root).events
    scheduler = scheduler_for(rules_of(vault.settings), events)
    changes = card_events(vault.read_bytes(ledger.IDS) or b"")
    assert cached[0] == fold(events, scheduler, changes)
    assert cached[9] == done_today(events, scheduler.calendar, now)


def line(at: datetime, card: str, dice: random.Random, id_: str = "") -> bytes:
    stamp = Stamp(id_ or ulid(unix_ms(at), dice.randbytes(10)), at, via="tui")
    return encode(Review(stamp, CardId(card), Rating(dice.randrange(1, 5)), dice.randrange(9_000))) + b"\n"


def some_years(vault: Vault, dice: random.Random, days: int, until: datetime = NOON) -> None:
    """A log of three reviews a day."""
    with (vault.root / LOG_PATH).open("ab") as log:
        for day in range(days, 0, -1):
            for hour in (1, 2, 3):
                log.write(line(until - timedelta(days=day, hours=hour), dice.choice(CARDS), dice))


class Life:
    """One thing after another happens to a vault, drawn from a seed."""

    def __init__(self, vault: Vault, seed: int) -> None:
        self.vault, self.dice, self.now = vault, random.Random(seed), NOON

    def step(self) -> str:
        acts: list[Callable[[], None]] = [
            *[self.rates] * 6,
            *[self.marks] * 2,
            *[self.takes_back] * 2,
            *[self.time_passes] * 4,
            self.clock_steps_back,
            self.dates_a_review_back,
            self.edits_a_deck,
            self.adds_a_deck,
            self.deletes_a_deck,
            self.writes_a_card_by_hand,
            self.merges_another_log,
            self.repeats_lines,
            self.tears_the_last_line,
            self.flips_a_bit,
            self.undoes_something_old,
            self.changes_settings,
            self.pauses_an_article,
            self.ledger_tells,
            self.loses_the_index,
            self.damages_the_index,
            self.tags,
            self.reschedules,
            self.begins_a_new_file,
        ]
        act = self.dice.choice(acts)
        time.sleep(0.01)  # longer than a tick of the file system's clock
        act()
        return act.__name__

    def _desk(self) -> Desk:
        return open_desk(open_vault(str(self.vault.root), None, self.vault.root), self.now)

    def _log(self) -> Path:
        path = self.vault.root / LOG_PATH
        path.touch()
        return path

    def rates(self) -> None:
        desk = self._desk()
        card = self.dice.choice(list(desk.cards))
        rated, _ = rate(desk, card, Rating(self.dice.randrange(1, 5)), via="cli", ms=self.dice.randrange(9_000))
        assert dict(rated.states) == dict(self._desk().states)

    def marks(self) -> None:
        desk = self._desk()
        kind = self.dice.choice([Suspend, Resume, Bury, Flag])
        mark(desk, self.dice.choice(list(desk.cards)), kind, via="cli")

    def tags(self) -> None:
        desk = self._desk()
        cards = self.dice.sample(list(desk.cards), 2)
        add = self.dice.choice(["exam", "Exam", "later", "seldom"])
        remove = self.dice.choice([word for word in ("exam", "later") if word != add.lower()])
        done = actions.do(desk, actions.tagging(desk, cards, [add], [remove], via="cli"))
        assert dict(done.states) == dict(self._desk().states)

    def reschedules(self) -> None:
        desk = self._desk()
        first = self.now.date() + timedelta(days=self.dice.randrange(-3, 40))
        deed = actions.spreading(desk, list(desk.cards), first, self.dice.randrange(1, 9), via="cli")
        done = actions.do(desk, deed)
        assert dict(done.states) == dict(self._desk().states)

    def takes_back(self) -> None:
        try:
            undo_last(self._desk(), via="cli")
        except NotFound:
            assert not [e for e in live(read_log(self.vault.root).events) if e.type not in ("import", "params")]

    def time_passes(self) -> None:
        self.now += timedelta(hours=self.dice.choice([1, 9, 30, 100]))

    def clock_steps_back(self) -> None:
        self.now -= timedelta(hours=self.dice.choice([1, 30, 500]))

    def dates_a_review_back(self) -> None:
        desk = self._desk()
        dated = self.now - timedelta(days=self.dice.randrange(60))
        try:
            rate(desk, self.dice.choice(list(desk.cards)), Rating.GOOD, via="cli", dated=dated)
        except ClockWentBackwards:
            return

    def edits_a_deck(self) -> None:
        write_deck(self.vault, "abcde"[self.dice.randrange(5)], self.dice.sample(CARDS, 4))  # ids may repeat elsewhere

    def adds_a_deck(self) -> None:
        write_deck(self.vault, f"new-{self.dice.randrange(9)}", [CardId(f"zz{self.dice.randrange(10**8):08}")])

    def deletes_a_deck(self) -> None:
        decks = sorted((self.vault.root / "learning/flashcards").iterdir())
        if len(decks) > 3:
            self.dice.choice(decks).unlink()

    def writes_a_card_by_hand(self) -> None:
        fence = "```\nopen\n" if self.dice.random() < 0.3 else ""
        words = f"\nQ: By hand {self.dice.random()}?\nA: Yes.\n{fence}"
        write_deck(self.vault, f"hand-{self.dice.randrange(3)}", [CardId(f"yy{self.dice.randrange(10**8):08}")], words)

    def merges_another_log(self) -> None:
        at = self.now - timedelta(days=self.dice.randrange(1, 200))
        more = b"".join(line(at + timedelta(minutes=n), self.dice.choice(CARDS), self.dice) for n in range(3))
        path = self._log()
        path.write_bytes(self.dice.choice([more + path.read_bytes(), path.read_bytes() + more]))

    def repeats_lines(self) -> None:
        lines = self._log().read_bytes().splitlines(keepends=True)
        with self._log().open("ab") as log:
            log.writelines(self.dice.sample(lines, min(3, len(lines))))

    def tears_the_last_line(self) -> None:
        data = self._log().read_bytes()
        self._log().write_bytes(data[: -self.dice.randrange(1, 60)])

    def flips_a_bit(self) -> None:
        data = bytearray(self._log().read_bytes())
        if data:
            data[self.dice.randrange(len(data))] ^= 4
            self._log().write_bytes(data)

    def undoes_something_old(self) -> None:
        events = read_log(self.vault.root).events
        if events:
            at = self.now + timedelta(hours=self.dice.choice([0, 0, -2000]))
            stamp = Stamp(ulid(unix_ms(at), self.dice.randbytes(10)), at)
            with self._log().open("ab") as log:
                log.write(encode(Undo(stamp, self.dice.choice(events).id)) + b"\n")

    def changes_settings(self) -> None:
        path = self.vault.root / "retain.toml"
        text = path.read_text().split("# test\n")[0]
        more = self.dice.choice(["", "bury_siblings = true\n", "fuzz = false\n", "leech_threshold = 1\n"])
        path.write_text(f"{text}# test\n{more}")

    def pauses_an_article(self) -> None:
        path = self.vault.root / f"wiki/concepts/{'abcde'[self.dice.randrange(5)]}.md"
        path.write_text(f"---\nlearning: {self.dice.choice(['false', 'true'])}\n---\n")

    def ledger_tells(self) -> None:
        at = ledger.instant(self.now - timedelta(days=self.dice.choice([0, 0, 90])))
        kind = self.dice.choice(["retire", "revive"])
        event = {"v": 1, "type": kind, "of": "card", "id": self.dice.choice(CARDS), "at": at, "reason": "a test"}
        with (self.vault.root / ledger.IDS).open("ab") as file:
            file.write(ledger.encode(event))

    def loses_the_index(self) -> None:
        shutil.rmtree(self.vault.root / ".retain", ignore_errors=True)

    def damages_the_index(self) -> None:
        path = self.vault.root / INDEX
        if path.exists():
            data = bytearray(path.read_bytes())
            data[self.dice.randrange(len(data))] ^= 1 << self.dice.randrange(8)
            path.write_bytes(data[: self.dice.choice([len(data), len(data) // 2])])

    def begins_a_new_file(self) -> None:
        path = self._log()
        path.rename(path.with_name(f"reviews-{self.dice.randrange(1990, 2020)}.jsonl"))


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.torture) for seed in range(1, 6))])
def test_whatever_happens_a_desk_with_the_index_says_what_one_without_says(vault: Vault, seed: int) -> None:
    life = Life(vault, seed)
    for deck in "abcde":
        write_deck(vault, deck, [card for card in CARDS if card[0] == deck])
    some_years(vault, life.dice, days=20)
    done: list[str] = []
    for _ in range(35):
        done.append(life.step())
        try:
            assert_same(vault, life.now)
        except AssertionError:
            print(f"seed {seed}: {' '.join(done)}")
            raise


def test_the_cut_moves_on_and_the_states_stay_the_same(vault: Vault) -> None:
    dice = random.Random(7)
    write_deck(vault, "a", CARDS)
    some_years(vault, dice, days=60, until=NOON - timedelta(days=60))
    first = open_desk(vault, NOON).past.head.cut
    some_years(vault, dice, days=59)
    second = open_desk(vault, NOON).past
    assert first < second.head.cut < NOON
    assert second.database.one("SELECT count(*) < 60 FROM event") == (1,)
    assert_same(vault, NOON)


def opened_from_index(vault: Vault, monkeypatch: pytest.MonkeyPatch, now: datetime = NOON) -> bool:
    """Whether a desk could be opened without the whole log being read and folded."""
    read: list[Vault] = []

    def counted(vault: Vault, index: Database, scheduler_of: SchedulerOf) -> tuple[log_cut.Head, Scheduler]:
        read.append(vault)
        return fold_all(vault, index, scheduler_of)

    with monkeypatch.context() as patched:
        patched.setattr(log_index, "fold_all", counted)
        open_desk(vault, now)
    return not read


def test_ratings_undos_and_a_new_day_are_taken_in_without_reading_the_whole_log(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(8)
    write_deck(vault, "a", CARDS)
    some_years(vault, dice, days=30)
    open_desk(vault, NOON)
    assert opened_from_index(vault, monkeypatch)
    desk, _ = rate(open_desk(vault, NOON), CARDS[0], Rating.GOOD, via="cli")
    undo_last(rate(desk, CARDS[1], Rating.GOOD, via="cli")[0], via="cli")
    assert opened_from_index(vault, monkeypatch, NOON + timedelta(days=2))
    with (vault.root / LOG_PATH).open("ab") as log:
        log.write(line(NOON - timedelta(days=90), CARDS[2], dice))
    assert not opened_from_index(vault, monkeypatch)
    assert_same(vault, NOON)


def test_a_fresh_file_is_not_taken_by_its_stamp(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamps, "RACY_NS", 2_000_000_000)
    deck = vault.root / "learning/flashcards/interleaving.md"
    before = deck.stat()
    open_desk(vault, NOON)
    deck.write_text(deck.read_text().replace("# Interleaving", "# Interweaving"))  # as long, and in the same tick
    assert deck.stat().st_size == before.st_size
    assert open_desk(vault, NOON).card("bbbbbbbbb1").title == "Interweaving"


def test_an_index_that_came_with_a_copied_vault_counts_for_nothing(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(9)
    some_years(vault, dice, days=30)
    open_desk(vault, NOON)
    shutil.copytree(vault.root, tmp_path / "copy")
    copy = open_vault(str(tmp_path / "copy"), None, tmp_path)
    assert not opened_from_index(copy, monkeypatch)
    assert_same(copy, NOON)


def test_tags_ask_for_a_retention_of_their_own_and_the_highest_counts(vault: Vault) -> None:
    path = vault.root / "retain.toml"
    path.write_text(path.read_text() + "[learning.retention_by_tag]\nmemory = 0.97\nother = 0.8\n")
    deck = vault.root / "learning/flashcards/spacing-effect.md"
    deck.write_text(deck.read_text().replace("  - memory\n", "  - Other\n  - '#Memory'\n"))
    changed = open_vault(str(vault.root), None, vault.root)
    for _ in range(2):  # with the tags read, and with the tags kept
        scheduler = open_desk(changed, NOON).scheduler
        assert (scheduler.retention(CardId("aaaaaaaaa1")), scheduler.retention(CardId("bbbbbbbbb1"))) == (0.97, 0.9)


def test_a_retention_for_tags_that_cards_had_before_the_cut_counts_from_the_moment_it_is_set(vault: Vault) -> None:
    dice = random.Random(10)
    write_deck(vault, "a", CARDS)
    some_years(vault, dice, days=30, until=NOON - timedelta(days=60))
    tagged = Tag(
        Stamp(ulid(unix_ms(NOON - timedelta(days=59)), dice.randbytes(10)), NOON - timedelta(days=59)),
        CARDS[0],
        ("exam",),
    )
    with (vault.root / LOG_PATH).open("ab") as log:
        log.write(encode(tagged) + b"\n")
    some_years(vault, dice, days=30)
    assert tagged.at < open_desk(vault, NOON).past.head.cut
    with (vault.root / "retain.toml").open("a") as settings:
        settings.write("\n[learning.retention_by_tag]\nexam = 0.97\n")
    asking = open_vault(str(vault.root), None, vault.root)
    assert open_desk(asking, NOON).scheduler.retention(CARDS[0]) == 0.97
    assert_same(vault, NOON)


def test_with_siblings_buried_a_concept_gives_one_card_a_day(vault: Vault) -> None:
    path = vault.root / "retain.toml"
    path.write_text(path.read_text() + "bury_siblings = true\n")
    wanted = open_vault(str(vault.root), None, vault.root)
    desk = open_desk(wanted, NOON)
    assert [item.card for item in desk.queue.today] == ["aaaaaaaaa1", "bbbbbbbbb1"]
    assert len(desk.queue.new) == 3
    desk, _ = rate(desk, "aaaaaaaaa1", Rating.EASY, via="cli")
    assert [item.card for item in desk.queue.today] == ["bbbbbbbbb1"]
    assert "aaaaaaaaa2" in [item.card for item in open_desk(wanted, NOON + timedelta(days=1)).queue.today]


def test_a_rating_waits_for_no_other_process_that_keeps_the_index(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault.index.database._WAIT_S", 0.1)
    desk = open_desk(vault, NOON)
    card = next(iter(desk.cards))
    with open_index(vault) as other, other.transaction():
        other.run("DELETE FROM state")
        desk, event = rate(desk, card, Rating.GOOD, via="cli")
        assert desk.past.last == event.at and desk.state(card).reps == 1
        assert open_desk(vault, NOON + timedelta(minutes=1)).state(card).reps == 1
