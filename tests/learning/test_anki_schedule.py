"""A package with the schedule, in the real Anki: what memory holds of each card is there, and Anki goes on from it."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from learning.anki.export_package import export_anki
from learning.cards.workspace import Desk, open_desk
from learning.memory.scheduler import Scheduler, fuzz_range
from learning.memory.state import Phase
from tests.learning.anki_packages import brought_in
from tests.learning.conftest import SETTINGS
from tests.learning.test_anki import collection
from vault.config.settings import render_settings
from vault.files.guard import Scope
from vault.ids import CardId
from vault.log.events import Bury, Flag, LogEvent, Rating, Review, Stamp, Suspend, Tag
from vault.log.review_log import append, mint_stamp
from vault.vault import Vault, open_vault

CARDS = 1000
SUSPENDED, BURIED, FLAGGED, TAGGED = (CardId(f"{n:0>10}") for n in (1, 2, 3, 4))


def _vault(folder: Path) -> Vault:
    root = folder / "mind"
    for name in ("learning/flashcards", "ledger", "wiki/concepts"):
        (root / name).mkdir(parents=True)
    (root / "retain.toml").write_text(render_settings(SETTINGS))
    cards = "\n".join(f"Q: What is {n}?\nA: The number {n}.\n<!-- card {n:0>10} -->\n" for n in range(CARDS))
    (root / "learning/flashcards/numbers.md").write_text(
        f"---\ntags:\n  - arithmetic\n---\n\n# Numbers\n\n## Definitional\n\n{cards}"
    )
    return open_vault(str(root), None, folder)


def _history(now: datetime) -> list[LogEvent]:
    """Two months of random ratings of most cards until a minute before `now`, and a mark of each kind."""
    draw = random.Random(11)
    events: list[LogEvent] = []

    def stamp(at: datetime) -> Stamp:
        return mint_stamp(at, last=None, zone=UTC, via="cli", entropy=draw.randbytes(10))

    for number in range(CARDS - 50):
        at = now - timedelta(days=draw.randrange(1, 60), minutes=draw.randrange(1, 600))
        while at < now - timedelta(minutes=1):
            rating = Rating(draw.choice((1, 2, 3, 3, 3, 3, 4)))
            shown = draw.choice((0, 2, 3, 5))  # the interval of its button, where the line says it
            events.append(Review(stamp(at), CardId(f"{number:0>10}"), rating, draw.randrange(900, 20_000), shown))
            at += draw.choice((timedelta(minutes=10), timedelta(days=draw.randrange(1, 20))))
    marks = (Suspend, SUSPENDED), (Bury, BURIED), (Flag, FLAGGED)
    events += [kind(stamp(now - timedelta(seconds=n)), card) for n, (kind, card) in enumerate(marks, 1)]
    return [*events, Tag(stamp(now), TAGGED, ("hard-one",), ())]


@pytest.fixture(scope="module", autouse=True)
def _zone_of_the_vault() -> Iterator[None]:
    """Have Anki's days begin when the vault's do: it takes the zone of the machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", SETTINGS.timezone)
        time.tzset()
        time.sleep(1.1)  # Anki looks at the zone once a second, and another test may just have had it look
        yield
    time.tzset()


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A vault with a history, at this moment: Anki has no other clock."""
    folder, now = tmp_path_factory.mktemp("schedule"), datetime.now(UTC).replace(microsecond=0)
    vault = _vault(folder)
    append(vault.guard(Scope.LOG), *sorted(_history(now), key=lambda event: (event.at, event.id)))
    return open_desk(vault, now)


def _import(col: Any, package: Path) -> dict[str, int]:
    from anki.collection import ImportAnkiPackageOptions, ImportAnkiPackageRequest

    options = ImportAnkiPackageOptions(with_scheduling=True, with_deck_configs=True)
    log = col.import_anki_package(ImportAnkiPackageRequest(package_path=str(package), options=options)).log
    return {name: len(getattr(log, name)) for name in ("new", "updated", "duplicate", "conflicting")}


def test_anki_has_every_card_where_the_vault_has_it(desk: Desk, tmp_path: Path) -> None:
    package = tmp_path / "deck.apkg"
    export_anki(desk, package, scheduled=True)
    with collection(tmp_path) as col:
        col.set_config("fsrs", True)
        assert _import(col, package)["new"] == CARDS
        ids = {col.get_card(number).note()["CardId"]: number for number in col.find_cards("")}
        cards = {id_: col.get_card(ids[id_]) for id_ in desk.cards}
        today = desk.scheduler.day(desk.now)
        for id_, card in cards.items():
            state = desk.state(id_)
            assert (card.reps, card.lapses) == (state.reps, state.lapses)
            if state.phase is Phase.NEW:
                assert card.type == 0
                continue
            assert state.due is not None
            assert card.memory_state.stability == pytest.approx(state.stability, abs=1e-3)
            assert card.memory_state.difficulty == pytest.approx(state.difficulty, abs=1e-2)
            if state.phase is Phase.REVIEW:
                assert (card.type, card.ivl) == (2, state.interval_days)
                assert card.due - col.sched.today == desk.scheduler.day(state.due) - today
            else:
                assert card.type == {Phase.LEARNING: 1, Phase.RELEARNING: 3}[state.phase]
        assert [cards[id_].queue for id_ in (SUSPENDED, BURIED)] == [-1, -3]
        assert cards[FLAGGED].user_flag() == 1
        assert {"hard-one", "arithmetic"} <= set(cards[TAGGED].note().tags)
        assert {col.decks.name(card.did) for card in cards.values()} == {"retain::Mind::arithmetic"}


def test_the_review_log_is_there_with_instants_ratings_times_and_kinds(desk: Desk, tmp_path: Path) -> None:
    package = tmp_path / "deck.apkg"
    export_anki(desk, package, scheduled=True)
    reviews = dict(desk.past.reviews_of_each())
    with collection(tmp_path) as col:
        _import(col, package)
        ids = {number: col.get_card(number).note()["CardId"] for number in col.find_cards("")}
        found: dict[str, list[tuple[int, ...]]] = {}
        for number, *row in col.db.all("SELECT cid, id, ease, time, type FROM revlog ORDER BY id"):
            found.setdefault(ids[number], []).append(tuple(row))
        for number, ivl in col.db.all("SELECT cid, ivl FROM revlog GROUP BY cid HAVING id = max(id)"):
            state = desk.state(CardId(ids[number]))
            assert state.phase is not Phase.REVIEW or ivl == state.interval_days
    assert found.keys() == reviews.keys()
    for card, rows in found.items():
        ours = reviews[CardId(card)]
        assert [row[1:3] for row in rows] == list(zip(ours.rating, ours.ms, strict=True))
        assert all(0 <= row[0] - at < 1000 for row, at in zip(rows, ours.at, strict=True))
        assert rows[0][3] == 0  # the first answer to a card is one of learning


def test_the_next_intervals_in_anki_are_those_here_within_the_fuzz(desk: Desk, tmp_path: Path) -> None:
    package = tmp_path / "deck.apkg"
    export_anki(desk, package, scheduled=True)
    scheduler, compared = Scheduler(replace(desk.scheduler.rules, fuzz=False)), 0
    with collection(tmp_path) as col:
        col.set_config("fsrs", True)
        _import(col, package)
        for number in col.find_cards("is:review -is:learn"):
            id_ = CardId(col.get_card(number).note()["CardId"])
            theirs = col._backend.get_scheduling_states(number)
            ours = scheduler.preview(id_, desk.state(id_), desk.now)
            shorter = 0
            for rating, name in ((Rating.HARD, "hard"), (Rating.GOOD, "good"), (Rating.EASY, "easy")):
                review = getattr(theirs, name).normal.review
                assert review.memory_state.stability == pytest.approx(ours[rating].stability, rel=1e-3)
                # before it varies an interval, Anki makes it longer than the card's last and that of a worse rating
                longest = max(ours[rating].interval_days, shorter + 1, desk.state(id_).interval_days + 1)
                least, most = fuzz_range(ours[rating].interval_days, 36_500)[0], fuzz_range(longest, 36_500)[1]
                assert least - 1 <= review.scheduled_days <= most + 1, (id_, name)
                shorter = review.scheduled_days
                compared += 1
    assert compared > CARDS


def test_nothing_is_to_be_repaired_and_a_second_import_changes_nothing(desk: Desk, tmp_path: Path) -> None:
    package = tmp_path / "deck.apkg"
    export_anki(desk, package, scheduled=True)
    everything = "SELECT id, did, type, queue, due, ivl, reps, lapses, left, flags, data FROM cards ORDER BY id"
    with collection(tmp_path) as col:
        _import(col, package)
        before = col.db.all(everything), col.db.all("SELECT * FROM revlog ORDER BY id")
        assert _import(col, package)["duplicate"] == CARDS
        assert (col.db.all(everything), col.db.all("SELECT * FROM revlog ORDER BY id")) == before
        message, is_ok = col.fix_integrity()
        assert is_ok, message
        assert message == "Database rebuilt and optimized."


def test_the_decks_have_a_preset_with_parameters_retention_and_steps(desk: Desk, tmp_path: Path) -> None:
    package = tmp_path / "deck.apkg"
    export_anki(desk, package, scheduled=True)
    with collection(tmp_path) as col:
        _import(col, package)
        preset = col.decks.config_dict_for_deck_id(col.decks.id_for_name("retain::Mind::arithmetic"))
        assert preset["name"] == "retain"
        assert preset["fsrsParams6"] == pytest.approx(list(desk.scheduler.parameters), abs=1e-4)
        assert preset["desiredRetention"] == pytest.approx(0.9)
        assert preset["new"]["delays"] == [1, 10]
        assert preset["lapse"]["delays"] == [10]


def test_reviews_that_were_made_here_do_not_come_back(desk: Desk, tmp_path: Path) -> None:
    from anki.collection import ExportAnkiPackageOptions

    there, back = tmp_path / "there.apkg", tmp_path / "back.apkg"
    export_anki(desk, there, scheduled=True)
    with collection(tmp_path) as col:
        _import(col, there)
        col.decks.select(col.decks.id_for_name("retain"))
        col.sched.answerCard(col.sched.getCard(), 3)
        options = ExportAnkiPackageOptions(with_media=False, legacy=False, with_scheduling=True)
        col.export_anki_package(out_path=str(back), options=options, limit=None)
    report = brought_in(desk.vault, back, datetime.now(UTC) + timedelta(minutes=1))
    assert report.reviews["added"] == 1


@pytest.mark.parametrize(
    ("decks", "expected"),
    [("topic", "retain::Mind::arithmetic"), ("concept", "retain::Mind::arithmetic::Numbers"), ("one", "retain::Mind")],
)
def test_the_decks_in_anki_are_topics_concepts_or_one(desk: Desk, tmp_path: Path, decks: str, expected: str) -> None:
    package = tmp_path / "deck.apkg"
    export_anki(desk, package, decks=decks)
    with collection(tmp_path) as col:
        _import(col, package)
        assert {col.decks.name(col.get_card(number).did) for number in col.find_cards("")} == {expected}
