"""A stranger's deck becomes cards and history: what the real Anki finds in real packages, and what it made itself."""

from __future__ import annotations

import io
import json
import wave
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from learning.anki.export_package import notes_of
from learning.anki.import_package import ImportReport
from learning.anki.read_package import open_collection
from learning.cards.workspace import open_desk
from tests.learning.anki_packages import brought_in
from tests.learning.test_anki_import import collection, give_out
from vault.ids import CardId
from vault.log.events import Import
from vault.log.review_log import read_log
from vault.vault import Vault

FLASHCARDS = "learning/flashcards"
GIF = (
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
)


def clock() -> datetime:
    return datetime.now(UTC)


def brought(vault: Vault, path: Path, **options: Any) -> ImportReport:
    return brought_in(vault, path, clock(), **options)


def words(vault: Vault) -> dict[str, str]:
    """Question -> answer of every imported card."""
    cards = open_desk(vault, clock()).cards.values()
    return {p.card.question: p.card.answer for p in cards if "anki_deck" in p.deck.text}


Write = Callable[[Any], None]


def made(folder: Path, write: Write, name: str = "made.apkg", *, legacy: bool = False) -> Path:
    """A package of the notes that `write` puts into a new collection of Anki's."""
    with collection(folder / "theirs") as col:
        write(col)
        return give_out(col, folder / name, legacy=legacy)


def add(col: Any, type_: str, values: list[str], *, deck: str = "Default", tags: tuple[str, ...] = ()) -> Any:
    note = col.new_note(col.models.by_name(type_))
    note.fields = [*values, *[""] * (len(note.fields) - len(values))]
    note.tags = list(tags)
    col.add_note(note, col.decks.id(deck))
    return note


@pytest.mark.real_data
def test_real_packages_of_every_generation_become_what_anki_finds_in_them(vault: Vault, shared_data: Path) -> None:
    folder = shared_data / "anki"
    for name, told in json.loads((folder / "expected.json").read_text())["packages"].items():
        with closing(open_collection(folder / name)) as package:
            assert package.archive.collection == told["container"]
            found = (*package.counts, len(package.media))
            assert found == (told["notes"], told["cards"], told["revlog"], told["media"]), name
            assert {package.decks[c.deck] for c in package.cards()} <= set(told["decks"])
            fields = {note.guid: list(note.values) for note in package.notes()}
        if told["first_note"]:
            assert fields[told["first_note"]["guid"]] == told["first_note"]["fields"]
        report = brought(vault, folder / name)
        occluded = sum(e["cards"] for t in report.note_types.values() for e in t["reported"])
        assert sum(report.cards.values()) == told["cards"] and report.cards["skipped"] == occluded, name
        before = {p: p.read_bytes() for p in (vault.root / "learning").rglob("*.*")}
        again = brought(vault, folder / name)
        assert (again.cards["created"], again.cards["updated"], again.reviews["added"]) == (0, 0, 0)
        assert {p: p.read_bytes() for p in (vault.root / "learning").rglob("*.*")} == before
    desk = open_desk(vault, clock())
    assert not [d for d in desk.diagnostics if "flashcards" in d.path]
    assert sum(desk.state(card).reps for card in desk.cards) == 20  # two for each of ten cards, three are occlusions
    assert "A human right based on nature or God." in words(vault).values()
    tagged = open_desk(vault, clock(), tag="Ch.2")
    assert 0 < len(tagged.queue.new) < 484
    assert words(vault)["goodbye"] == "world"  # the newer of two packages with one note


def test_note_types_become_cards_as_anki_shows_them(vault: Vault, tmp_path: Path) -> None:
    def write(col: Any) -> None:
        add(col, "Basic", ["one <b>bold</b>", "two<br>lines"])
        add(col, "Basic (and reversed card)", ["there", "back"])
        add(col, "Basic (optional reversed card)", ["only", "forth"])
        add(col, "Basic (type in the answer)", ["type", "typed"])
        add(col, "Cloze", [r"{{c1::a {{c2::nested}} gap}} and {{c2::x::hint}} in \(x_{1} &lt; y\)", "more"])

    assert brought(vault, made(tmp_path, write)).cards["created"] == 7
    assert words(vault) == {
        "one **bold**": "two\nlines",
        "there": "back",
        "back": "there",
        "only": "forth",
        "type": "typed",
        r"**\[...\]** and x in $x_{1} < y$": "**a nested gap** and x in $x_{1} < y$\nmore",
        r"a **\[...\]** gap and **\[hint\]** in $x_{1} < y$": "a **nested** gap and **x** in $x_{1} < y$\nmore",
    }


def test_pictures_and_sounds_come_along_under_names_of_ours(vault: Vault, tmp_path: Path) -> None:
    sound = io.BytesIO()
    with wave.open(sound, "wb") as file:
        file.setparams((1, 1, 8000, 1, "NONE", ""))
        file.writeframes(b"\x80")

    def write(col: Any) -> None:
        col.media.write_data("a b.gif", GIF)
        col.media.write_data("say.wav", sound.getvalue())
        col.media.write_data("evil.gif", b"<script>alert(1)</script>")
        fields = [
            '<img src="a b.gif"> [sound:say.wav]',
            '<img src="evil.gif"><img src="gone.png"><img src="http://x.y/z">',
        ]
        add(col, "Basic", fields)

    report = brought(vault, made(tmp_path, write))
    assert report.media == {"added": 2, "kept": 0, "left_out": 2}
    ((question, answer),) = words(vault).items()
    lying = sorted(p.name for p in (vault.root / "learning/media").iterdir())
    assert [name.rpartition("-")[0] for name in lying] == ["a-b", "say"]
    assert question == f"![[learning/media/{lying[0]}]] ![[learning/media/{lying[1]}]]"
    assert answer == r"\[evil.gif: missing\]\[gone.png: missing\]\[picture not included: http://x.y/z\]"
    assert brought(vault, tmp_path / "made.apkg").media == {"added": 0, "kept": 2, "left_out": 2}


def test_a_newer_package_rewords_cards_that_nobody_edited_here(vault: Vault, tmp_path: Path) -> None:
    with collection(tmp_path / "theirs") as col:
        mine, free = add(col, "Basic", ["first", "a"]), add(col, "Basic", ["second", "b"])
        old = give_out(col, tmp_path / "old.apkg")
        brought(vault, old)
        file = vault.root / FLASHCARDS / "default.md"
        file.write_text(file.read_text().replace("Q: first", "Q: mine"))
        for note in (mine, free):
            note.load()
            note.fields[1] = "new"
            col.update_note(note)
            col.db.execute("update notes set mod = mod + 60 where id = ?", note.id)
        new = give_out(col, tmp_path / "new.apkg")
    report = brought(vault, new)
    assert (report.cards["updated"], report.cards["kept"]) == (1, 1)
    assert ["edited both in Anki" in r.reason for r in report.reported] == [True]
    assert words(vault) == {"mine": "a", "second": "new"}
    assert brought(vault, old).cards == {"created": 0, "updated": 0, "kept": 2, "skipped": 0}
    assert words(vault) == {"mine": "a", "second": "new"}


def test_a_card_deleted_here_stays_away_until_it_is_asked_for(vault: Vault, tmp_path: Path) -> None:
    path = made(tmp_path, lambda col: add(col, "Basic", ["first", "a"]))
    brought(vault, path)
    id_ = next(card for card, p in open_desk(vault, clock()).cards.items() if p.card.question == "first")
    (vault.root / FLASHCARDS / "default.md").unlink()
    assert brought(vault, path).cards["skipped"] == 1
    assert words(vault) == {}
    assert brought(vault, path, restore=True).cards["created"] == 1
    assert id_ in open_desk(vault, clock()).cards


def test_an_import_that_was_cut_off_before_the_ledger_is_completed_by_the_next(vault: Vault, tmp_path: Path) -> None:
    path = made(tmp_path, lambda col: add(col, "Basic", ["first", "a"]))
    brought(vault, path)
    ledger = vault.root / "ledger/ids.jsonl"
    whole = [json.loads(line)["id"] for line in ledger.read_text().splitlines()]
    ledger.unlink()
    assert brought(vault, path).cards["kept"] == 1
    assert [json.loads(line)["id"] for line in ledger.read_text().splitlines()] == whole
    assert len(words(vault)) == 1


def test_decks_and_tags_are_files_and_one_deck_can_be_chosen(vault: Vault, tmp_path: Path) -> None:
    def write(col: Any) -> None:
        for n in range(8):
            add(
                col, "Basic", [f"bio {n}", "x"], deck="School::Biology", tags=("cells" if n % 2 else "plants", "marked")
            )
        add(col, "Basic", ["art", "y"], deck="School::Art")

    path = made(tmp_path, write)
    assert brought(vault, path, deck="school::biology").cards["created"] == 8
    stems = {p.stem for p in (vault.root / FLASHCARDS).glob("school*.md")}
    assert stems == {"school-biology-cells", "school-biology-plants"}
    assert len(open_desk(vault, clock(), tag="cells").queue.new) == 4
    assert brought(vault, path).cards == {"created": 1, "updated": 0, "kept": 8, "skipped": 0}


def test_imported_decks_keep_their_names_below_the_vaults_on_the_way_back(vault: Vault, tmp_path: Path) -> None:
    path = made(tmp_path, lambda col: add(col, "Basic", ["art", "y"], deck="School::Art", tags=("zoo",)))
    brought(vault, path)
    decks = {note.fields[0]: note.deck for note in notes_of(open_desk(vault, clock()))}
    assert decks["art"] == ("retain", vault.settings.name, "School", "Art")
    assert {len(deck) for words, deck in decks.items() if words != "art"} == {3}


def test_without_history_no_review_comes_in(vault: Vault, tmp_path: Path) -> None:
    def write(col: Any) -> None:
        add(col, "Basic", ["first", "a"])
        card = col.sched.getCard()
        card.start_timer()
        col.sched.answerCard(card, 3)

    path = made(tmp_path, write)
    assert brought(vault, path, history=False).reviews["added"] == 0
    assert brought(vault, path).reviews["added"] == 1
    (event,) = read_log(vault.root).events
    assert isinstance(event, Import) and event.card == CardId(next(iter(open_desk(vault, clock()).states)))


def test_a_large_deck_is_several_files(vault: Vault, tmp_path: Path) -> None:
    def write(col: Any) -> None:
        for n in range(230):
            add(col, "Basic", [f"question {n}", "x"])

    assert len(brought(vault, made(tmp_path, write)).files) == 2
    assert len(words(vault)) == 230


def test_the_picture_of_an_image_occlusion_is_kept_and_its_note_named(vault: Vault, shared_data: Path) -> None:
    report = brought(vault, shared_data / "anki/modern-mixed-notetypes-scheduled.apkg")
    (kept,) = (each.reason for each in report.reported if "image occlusion" in each.reason)
    path = kept.rpartition(" is ")[2].partition(";")[0]
    assert path.startswith("learning/media/") and (vault.root / path).stat().st_size > 10_000
    assert report.media == {"added": 1, "kept": 0, "left_out": 0} and report.cards["skipped"] == 3


def test_of_an_image_occlusion_it_is_said_what_is_not_kept(vault: Vault, tmp_path: Path) -> None:
    masks = "{{c1::image-occlusion:rect:left=.1:top=.1:width=.2:height=.2:oi=1}}<br>"
    masks += "{{c2::image-occlusion:ellipse:left=.5:top=.5:rx=.1:ry=.1:oi=1}}<br>"

    def write(col: Any) -> None:
        col.media.write_data("map.gif", GIF)
        col.add_image_occlusion_notetype()
        add(col, "Image Occlusion", [masks, '<img src="map.gif">', "Name the <b>rivers</b>"])

    report = brought(vault, made(tmp_path, write))
    (said,) = (each.reason for each in report.reported if "image occlusion" in each.reason)
    path = next((vault.root / "learning/media").iterdir())
    assert said.endswith(
        f"its picture is learning/media/{path.name}; not kept: its cards and their schedule, "
        "the masks (1 ellipse, 1 rect) and the text in Header"
    )
