"""The package is imported by the real Anki: each note once, edits taken in, schedules kept, nothing hostile alive."""

from __future__ import annotations

import io
import json
import re
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from learning.anki.export_package import (
    AnkiNote,
    export_anki,
    guid_of,
    modified,
    notes_of,
    package,
)
from learning.cards.workspace import open_desk, rate
from tests.learning.marks import mark
from vault.errors import Refused
from vault.ids import CardId
from vault.log.events import Rating, Suspend
from vault.log.ledger import NOTES
from vault.vault import Vault

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
A1 = CardId("aaaaaaaaa1")
VAULT_ID = "01KB0000000000000000000000"


@contextmanager
def collection(folder: Path) -> Iterator[Any]:
    from anki.collection import Collection

    opened = Collection(str(folder / "collection.anki2"))
    try:
        yield opened
    finally:
        opened.close()


def take_in(col: Any, apkg: Path) -> Any:
    """What Anki's own dialogue does with its defaults; gives the import's log."""
    from anki.collection import ImportAnkiPackageOptions, ImportAnkiPackageRequest

    options = ImportAnkiPackageOptions(merge_notetypes=False, with_scheduling=False)
    return col.import_anki_package(ImportAnkiPackageRequest(package_path=str(apkg), options=options)).log


def all_notes(col: Any) -> dict[str, Any]:
    return {note["CardId"]: note for note in (col.get_note(id_) for id_ in col.find_notes(""))}


def flashcards(vault: Vault, stem: str = "spacing-effect") -> Path:
    return vault.root / "learning" / "flashcards" / f"{stem}.md"


def exported(vault: Vault, now: datetime, name: str = "deck.apkg") -> Path:
    path = vault.root.parent / name
    export_anki(open_desk(vault, now), path)
    return path


def rows(apkg: Path, query: str) -> list[tuple[Any, ...]]:
    with zipfile.ZipFile(apkg) as archive:
        data = archive.read("collection.anki2")
    connection = sqlite3.connect(":memory:")
    connection.deserialize(data)
    found = connection.execute(query).fetchall()
    connection.close()
    return found


def test_a_note_shows_question_answer_kind_quote_and_source(vault: Vault, tmp_path: Path) -> None:
    apkg = exported(vault, NOON)
    with collection(tmp_path) as col:
        log = take_in(col, apkg)
        assert (len(log.new), len(log.updated), col.note_count(), col.card_count()) == (3, 0, 3, 3)
        note = all_notes(col)[A1]
        assert dict(note.items()) == {
            "Question": "What is the spacing effect?",
            "Answer": "Spread-out study is <em>remembered</em> longer.",
            "Kind": "Definitional",
            "Concept": "Spacing effect",
            "Quote": "study spread out over time is remembered longer",
            "Source": "The spacing effect, line 14",
            "CardId": A1,
        }
        assert note.guid == guid_of(VAULT_ID, A1)
        assert note.tags == ["memory", "retain::concept::spacing-effect", "retain::kind::definitional"]
        card = note.cards()[0]
        assert col.decks.name(card.did) == "retain::Mind::memory"
        assert {d.name for d in col.decks.all_names_and_ids()} >= {"retain", "retain::Mind", "retain::Mind::practice"}
        assert "What is the spacing effect?" in card.question()
        assert "line 14" not in card.question()
        for words in ("remembered", "The spacing effect, line 14", "Definitional", "blockquote"):
            assert words in card.answer()


def test_a_second_import_after_edits_updates_each_note_once_and_keeps_the_schedule(
    vault: Vault, tmp_path: Path
) -> None:
    first = exported(vault, datetime.now(UTC))
    file = flashcards(vault)
    with collection(tmp_path) as col:
        take_in(col, first)
        ids = {card: note.id for card, note in all_notes(col).items()}
        studied = all_notes(col)[A1].cards()[0]
        studied.start_timer()
        col.sched.answerCard(studied, 4)
        studied.load()
        assert (studied.reps, studied.ivl > 0) == (1, True)

        file.write_text(file.read_text().replace("What is the spacing effect?", "What does *spacing* do?"))
        with flashcards(vault, "interleaving").open("a") as deck:
            deck.write("\nQ: A new one?\nA: Yes.\n")
        second = exported(vault, datetime.now(UTC), "second.apkg")
        log = take_in(col, second)
        assert (len(log.new), len(log.updated), len(log.duplicate)) == (1, 1, 2)
        notes = all_notes(col)
        assert notes[A1]["Question"] == "What does <em>spacing</em> do?"
        assert {card: notes[card].id for card in ids} == ids
        after = notes[A1].cards()[0]
        assert (after.id, after.reps, after.ivl, after.due) == (studied.id, 1, studied.ivl, studied.due)
        assert (col.note_count(), col.card_count(), len(col.models.all_names_and_ids())) == (4, 4, 7)
        assert take_in(col, second).updated == []
        assert col.fix_integrity()[1]


def test_an_edit_made_in_anki_stays_while_the_vault_says_the_same(vault: Vault, tmp_path: Path) -> None:
    with collection(tmp_path) as col:
        take_in(col, exported(vault, datetime.now(UTC)))
        note = all_notes(col)[A1]
        note["Answer"] = "mine"
        col.update_note(note)
        take_in(col, exported(vault, datetime.now(UTC) + timedelta(days=3), "second.apkg"))
        assert all_notes(col)[A1]["Answer"] == "mine"
        desk = open_desk(vault, datetime.now(UTC) + timedelta(days=4))
        third = tmp_path / "third.apkg"
        export_anki(desk, third, fresh=True)
        take_in(col, third)
        assert all_notes(col)[A1]["Answer"] != "mine"


HOSTILE = [
    "<script>alert(1)</script> [sound:x.mp3] [latex]x[/latex] {{c1::x}}",
    "<img src=x onerror=alert(1)> [$]x[/$] [anki:tts lang=en]x[/anki:tts]",
    "a\x1fb \x00 \x1b]52;c;x\x07",
    "[[x]]",
    "![](http://tracker.example/x.png)",
    "\\(x\\) $\\href{javascript:alert(1)}{x}$ {{FrontSide}}",
    "=cmd|' /C calc'!A0",
    "  ",
    "﷽" * 500,
]


def test_a_hostile_deck_comes_through_whole_and_dead(vault: Vault, tmp_path: Path) -> None:
    blocks = []
    for n, text in enumerate(HOSTILE * 3):
        blocks.append(f"Q: {n} {text}\nA: {text}\n<!-- card ccccccc{n:03} -->\n")
    (vault.root / "learning/flashcards/evil.md").write_text(
        "---\ntags:\n  - 'a b::c\"d'\n  - '{{x}} <b>'\n---\n# <b>[sound:x]\n\n" + "\n".join(blocks)
    )
    desk = open_desk(vault, NOON)
    apkg = tmp_path / "evil.apkg"
    count = export_anki(desk, apkg).notes
    assert count == len(HOSTILE) * 3 + 3
    with collection(tmp_path) as col:
        log = take_in(col, apkg)
        assert (len(log.new), col.note_count(), col.card_count()) == (count, count, count)
        for note in all_notes(col).values():
            card = note.cards()[0]
            output = card.render_output()
            assert not output.question_av_tags and not output.answer_av_tags
            shown = output.question_and_style() + output.answer_and_style()
            assert not re.search(r"<(?:script|img|a|iframe|svg)\b", shown)
            assert "[latex]" not in shown and "tracker.example/x.png" not in re.sub("&[^;]*;", "", shown)
            assert "href" not in "".join(re.findall(r"\\\(.*?\\\)", shown))
        assert col.media.check().missing == []
        assert col.fix_integrity()[1]


def test_math_and_code_survive(vault: Vault, tmp_path: Path) -> None:
    (vault.root / "learning/flashcards/math.md").write_text(
        "Q: Why $\\sqrt{d_k} < d_k$?\nA: As\n$$\\frac{q \\cdot k}{\\sqrt{d_k}}$$\n\n```py\nx[0] < {y}\n```\n"
        "<!-- card ccccccccc1 -->\n"
    )
    with collection(tmp_path) as col:
        take_in(col, exported(vault, NOON))
        note = all_notes(col)["ccccccccc1"]
        assert note["Question"] == r"Why \(\sqrt{d_k} &lt; d_k\)?"
        assert r"\[\frac{q \cdot k}{\sqrt{d_k}}\]" in note["Answer"]
        assert '<pre><code class="language-py">x&#91;0&#93; &lt; &#123;y&#125;</code></pre>' in note["Answer"]
        assert r"\frac{q \cdot k}" in note.cards()[0].answer()


def test_the_same_vault_gives_the_same_bytes(vault: Vault) -> None:
    first = exported(vault, NOON)
    again = exported(vault, NOON + timedelta(days=30), "again.apkg")
    assert first.read_bytes() == again.read_bytes()


def test_an_edit_is_newer_even_within_the_same_second(vault: Vault) -> None:
    def mods(name: str) -> dict[str, int]:
        found = rows(exported(vault, NOON, name), "select flds, mod from notes")
        return {fields.rsplit("\x1f", 1)[1]: mod for fields, mod in found}

    before = mods("one.apkg")
    file = flashcards(vault)
    file.write_text(file.read_text().replace("*remembered*", "kept"))
    after = mods("two.apkg")
    assert after[A1] == before[A1] + 1
    assert all(after[card] == before[card] for card in before if card != A1)
    assert min(before.values()) == int(NOON.timestamp())


@pytest.mark.parametrize("spoilt", [b"", b"[]", b'{"v":1', b"\xff", b"[" * 5000 + b"]"])
def test_a_note_log_that_is_gone_or_damaged_makes_every_note_newer(vault: Vault, spoilt: bytes) -> None:
    exported(vault, NOON)
    (vault.root / NOTES).write_bytes(spoilt)
    later = NOON + timedelta(days=1)
    assert {m for (m,) in rows(exported(vault, later, "b.apkg"), "select mod from notes")} == {int(later.timestamp())}


def test_note_numbers_are_unique_even_where_notes_are_of_seconds_on_end(vault: Vault) -> None:
    notes = notes_of(open_desk(vault, NOON))
    many = [replace(notes[0], card=CardId(f"{n:010}"), guid=f"{n}") for n in range(2500)]
    data = package(VAULT_ID, many, {note.card: 1000 + int(note.card) // 1500 for note in many})
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None


def test_notes_of_two_vaults_with_the_same_numbers_are_all_taken_in(vault: Vault, tmp_path: Path) -> None:
    notes = notes_of(open_desk(vault, NOON))
    other = [replace(note, guid=f"other{n}", fields=("?", *note.fields[1:])) for n, note in enumerate(notes)]
    with collection(tmp_path) as col:
        for name, each in (("one.apkg", notes), ("two.apkg", other)):
            (tmp_path / name).write_bytes(package(VAULT_ID, each, modified(each, {}, NOON)))
            take_in(col, tmp_path / name)
        assert (col.note_count(), col.card_count()) == (6, 6)


def test_a_retracted_card_is_left_out_and_a_suspended_one_is_not(vault: Vault) -> None:
    event = {"v": 1, "type": "retire", "of": "card", "id": A1, "at": "2026-11-20T12:00:00.000Z"}
    (vault.root / "ledger/ids.jsonl").write_text(json.dumps(event) + "\n")
    desk, _ = mark(open_desk(vault, NOON), "bbbbbbbbb1", Suspend, via="cli")
    assert [note.card for note in notes_of(desk)] == ["bbbbbbbbb1", "aaaaaaaaa2"]


def test_a_card_that_was_exported_and_then_retracted_is_named_and_found_in_anki(vault: Vault, tmp_path: Path) -> None:
    apkg = exported(vault, NOON)
    event = {"v": 1, "type": "retire", "of": "card", "id": A1, "at": "2026-11-20T12:00:00.000Z"}
    (vault.root / "ledger/ids.jsonl").write_text(json.dumps(event) + "\n")
    for name in ("b.apkg", "c.apkg"):
        assert export_anki(open_desk(vault, NOON), tmp_path / name).retracted == (A1,)
    with collection(tmp_path) as col:
        take_in(col, apkg)
        (found,) = col.find_notes(f"CardId:{A1}")
        assert col.get_note(found)["CardId"] == A1


def test_reviews_in_the_vault_do_not_change_the_package(vault: Vault) -> None:
    before = exported(vault, NOON).read_bytes()
    rate(open_desk(vault, NOON), A1, Rating.GOOD, via="cli")
    assert exported(vault, NOON, "b.apkg").read_bytes() == before


def test_guids_differ_between_vaults_and_stay_with_the_card() -> None:
    assert guid_of(VAULT_ID, A1) == guid_of(VAULT_ID, A1) != guid_of("01KB0000000000000000000001", A1)


def test_a_package_is_not_written_into_the_humans_folders(vault: Vault) -> None:
    (vault.root / "raw").mkdir()
    with pytest.raises(Refused):
        export_anki(open_desk(vault, NOON), vault.root / "raw" / "deck.apkg")
    assert not list((vault.root / "raw").iterdir())
    assert not (vault.root / NOTES).exists()


def test_a_large_deck_is_written_in_time() -> None:
    one = AnkiNote(A1, "", ("retain", "Mind"), ("Q", "A", "", "", "", "", ""), ())
    notes = [
        replace(one, card=CardId(f"{n:010}"), guid=f"g{n}", fields=(f"Q{n}", *one.fields[1:])) for n in range(10_000)
    ]
    data = package(VAULT_ID, notes, modified(notes, {}, NOON))
    assert zipfile.ZipFile(io.BytesIO(data)).testzip() is None
