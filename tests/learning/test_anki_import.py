"""Reviews done in Anki come home: each once, in any order, however often; the real Anki makes the packages."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from learning.anki.export_package import export_anki
from learning.anki.import_package import ImportReport
from learning.cards.workspace import open_desk, rate, undo_last
from tests.learning.anki_packages import brought_in
from tests.learning.marks import mark
from vault.ids import CardId
from vault.log.events import Import, Rating, Resume, Review, Suspend
from vault.log.review_log import live, read_log
from vault.vault import Vault

NOTHING = ImportReport().marks
A1 = CardId("aaaaaaaaa1")
B1 = CardId("bbbbbbbbb1")


def clock() -> datetime:
    return datetime.now(UTC)


@contextmanager
def collection(folder: Path) -> Iterator[Any]:
    from anki.collection import Collection

    folder.mkdir(exist_ok=True)
    opened = Collection(str(folder / "collection.anki2"))
    try:
        yield opened
    finally:
        opened.close()


def take_in(col: Any, apkg: Path, *, with_deck_configs: bool = False) -> None:
    from anki.collection import ImportAnkiPackageOptions, ImportAnkiPackageRequest

    options = ImportAnkiPackageOptions(merge_notetypes=False, with_scheduling=True, with_deck_configs=with_deck_configs)
    col.import_anki_package(ImportAnkiPackageRequest(package_path=str(apkg), options=options))


def give_out(col: Any, path: Path, *, legacy: bool = False) -> Path:
    """What Anki's dialogue exports, with scheduling and media."""
    if path.suffix == ".colpkg":
        other = path.parent / "copy"
        with collection(other):
            pass
        col.export_collection_package(str(path), include_media=True, legacy=legacy)
        col.reopen()
        return path
    from anki.collection import ExportAnkiPackageOptions

    options = ExportAnkiPackageOptions(with_scheduling=True, with_deck_configs=True, with_media=True, legacy=legacy)
    col.export_anki_package(out_path=str(path), options=options, limit=None)
    return path


def on_the_phone(vault: Vault, folder: Path) -> Path:
    """The cards of the vault as a package for Anki."""
    path = folder / "out.apkg"
    export_anki(open_desk(vault, clock()), path)
    return path


def answer(col: Any, seed: int, count: int) -> dict[int, tuple[str, int]]:
    """Answers random cards by Anki's own scheduler; gives each row of its log: our card, the button."""
    drawn = random.Random(seed)
    cards = col.find_cards("")
    for _ in range(count):
        card = col.get_card(drawn.choice(cards))
        card.start_timer()
        col.sched.answerCard(card, drawn.randint(1, 4))
    rows = col.db.all("select id, cid, ease from revlog where ease between 1 and 4")
    return {id_: (col.get_card(cid).note()["CardId"], ease) for id_, cid, ease in rows}


def brought(vault: Vault, path: Path, **options: Any) -> ImportReport:
    return brought_in(vault, path, clock(), **options)


def imported(vault: Vault) -> dict[int, tuple[str, int]]:
    """Every imported review of the log, by the number that it has in Anki."""
    events = [e for e in read_log(vault.root).events if isinstance(e, Import)]
    assert len(events) == len({e.id for e in events}) == len({e.origin for e in events})
    return {int(e.origin.removeprefix("anki:")): (e.card, int(e.rating)) for e in events}


@pytest.mark.parametrize(
    ("name", "legacy"), [("new.apkg", False), ("old.apkg", True), ("all.colpkg", False), ("old.colpkg", True)]
)
def test_every_answer_given_in_anki_comes_home_once(vault: Vault, tmp_path: Path, name: str, legacy: bool) -> None:
    with collection(tmp_path / "phone") as col:
        take_in(col, on_the_phone(vault, tmp_path))
        given = answer(col, 1, 12)
        back = give_out(col, tmp_path / name, legacy=legacy)
    first = brought(vault, back)
    assert imported(vault) == given
    assert (first.reviews["added"], first.reviews["left_out"], first.notes) == (12, 0, {"ours": 3, "strange": 0})
    log = (vault.root / "learning/reviews.jsonl").read_bytes()
    again = brought(vault, back)
    assert (again.reviews["added"], again.reviews["known"]) == (0, 12)
    assert (vault.root / "learning/reviews.jsonl").read_bytes() == log
    desk = open_desk(vault, clock())
    assert sum(desk.state(card).reps for card in desk.cards) == 12


def test_two_phones_in_any_order_give_one_log(vault: Vault, tmp_path: Path) -> None:
    out = on_the_phone(vault, tmp_path)
    backs = []
    given: dict[int, tuple[str, int]] = {}
    for seed, name in ((1, "phone"), (2, "tablet")):
        with collection(tmp_path / name) as col:
            take_in(col, out)
            given |= answer(col, seed, 6)
            backs.append(give_out(col, tmp_path / f"{name}.apkg"))
    path = vault.root / "learning/reviews.jsonl"
    logs = []
    for order in (backs, backs[::-1], [*backs, *backs]):
        path.unlink(missing_ok=True)
        for back in order:
            brought(vault, back)
        assert imported(vault) == given
        logs.append(sorted(path.read_bytes().splitlines()))
    assert logs[0] == logs[1] == logs[2]


def test_a_review_made_here_does_not_come_back_from_anki_as_another(vault: Vault, tmp_path: Path) -> None:
    with collection(tmp_path / "phone") as col:
        take_in(col, on_the_phone(vault, tmp_path))
        given = answer(col, 1, 1)
        back = give_out(col, tmp_path / "back.apkg")
    ((id_, (card, ease)),) = given.items()
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=id_)
    rate(open_desk(vault, clock()), card, Rating(ease), via="cli", dated=at)
    assert brought(vault, back).reviews == {"added": 0, "known": 1, "left_out": 0}


def test_undo_takes_back_what_was_done_here_and_leaves_what_came_from_anki(vault: Vault, tmp_path: Path) -> None:
    with collection(tmp_path / "phone") as col:
        take_in(col, on_the_phone(vault, tmp_path))
        answer(col, 1, 4)
        back = give_out(col, tmp_path / "back.apkg")
    rate(open_desk(vault, clock()), A1, Rating.GOOD, via="cli")
    brought(vault, back)
    undo_last(open_desk(vault, clock()), via="cli")
    brought(vault, back)
    assert len([e for e in live(read_log(vault.root).events) if isinstance(e, Review)]) == 4


def test_a_card_suspended_in_anki_is_suspended_here_until_one_of_both_says_otherwise(
    vault: Vault, tmp_path: Path
) -> None:
    with collection(tmp_path / "phone") as col:
        take_in(col, on_the_phone(vault, tmp_path))
        (card,) = col.find_cards(f"CardId:{A1}")
        col.sched.suspend_cards([card])
        col.db.execute("update cards set mod = mod - 5 where id = ?", card)  # nobody changes their mind in one second
        held = give_out(col, tmp_path / "held.apkg")
        assert brought(vault, held).marks == NOTHING | {"suspended": 1, "resumed": 0}
        assert open_desk(vault, clock()).state(A1).suspended
        mark(open_desk(vault, clock()), A1, Resume, via="cli")
        assert brought(vault, held).marks == NOTHING | {"suspended": 0, "resumed": 0}
        assert not open_desk(vault, clock()).state(A1).suspended
        col.sched.unsuspend_cards([card])
        free = give_out(col, tmp_path / "free.apkg")
    assert brought(vault, free).marks == NOTHING | {"suspended": 0, "resumed": 1}
    kinds = [type(e) for e in read_log(vault.root).events]
    assert sorted(k.__name__ for k in kinds) == [Resume.__name__, Resume.__name__, Suspend.__name__]


def test_a_card_edited_in_anki_is_named_and_not_written(vault: Vault, tmp_path: Path) -> None:
    with collection(tmp_path / "phone") as col:
        take_in(col, on_the_phone(vault, tmp_path))
        note = col.get_note(col.find_notes(f"CardId:{A1}")[0])
        note["Answer"] = "<b>mine</b>"
        note.add_tag("leech")
        col.update_note(note)
        col.db.execute("update notes set mod = mod + 100 where id = ?", note.id)
        back = give_out(col, tmp_path / "back.apkg")
    before = {p: p.read_bytes() for p in (vault.root / "learning/flashcards").iterdir()}
    report = brought(vault, back)
    assert [(r.id, r.path) for r in report.reported] == [(A1, "learning/flashcards/spacing-effect.md")]
    assert {p: p.read_bytes() for p in (vault.root / "learning/flashcards").iterdir()} == before


def test_the_reviews_of_a_card_whose_field_was_edited_away_are_known_by_the_guid(vault: Vault, tmp_path: Path) -> None:
    with collection(tmp_path / "phone") as col:
        take_in(col, on_the_phone(vault, tmp_path))
        answer(col, 3, 5)
        for id_ in col.find_notes(""):
            note = col.get_note(id_)
            note["CardId"] = B1  # of another card
            col.update_note(note)
        back = give_out(col, tmp_path / "back.apkg")
    assert brought(vault, back).reviews["added"] == 5
    assert brought(vault, back).notes == {"ours": 3, "strange": 0}


def test_a_dry_run_says_what_would_happen_and_changes_nothing(vault: Vault, tmp_path: Path) -> None:
    with collection(tmp_path / "phone") as col:
        take_in(col, on_the_phone(vault, tmp_path))
        answer(col, 1, 7)
        back = give_out(col, tmp_path / "back.apkg")
    brought(vault, back, dry_run=True)  # makes the lock

    def files() -> dict[Path, bytes]:
        return {p: p.read_bytes() for p in vault.root.rglob("*") if p.is_file() and "learning.sqlite3" not in p.name}

    before = files()
    tried = brought(vault, back, dry_run=True)
    assert files() == before
    assert tried.reviews == brought(vault, back).reviews


def test_the_figures_of_a_report_are_plain_json(vault: Vault, tmp_path: Path) -> None:
    report = brought(vault, on_the_phone(vault, tmp_path))
    told = json.loads(json.dumps(report.as_json()))
    assert set(told["cards"]) == {"created", "updated", "kept", "skipped"}
    assert set(told["reviews"]) == {"added", "known", "left_out"}
