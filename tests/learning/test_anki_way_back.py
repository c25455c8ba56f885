"""Notes that were imported go back to Anki as they came: one note with as many cards, a cloze as a cloze."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.anki.cloze_cards import cloze_text
from learning.anki.export_package import Exported, cloze_field, export_anki, guid_of
from learning.anki.html_to_markdown import markdown
from learning.anki.template import cloze
from learning.cards.delete import delete_cards
from learning.cards.workspace import open_desk
from tests.learning.test_anki_import import collection, give_out, take_in
from tests.learning.test_anki_import_strangers import add, brought, clock, made
from vault.model.cloze import numbers_in
from vault.vault import Vault

THREE = "Three sides"


def three_sides(col: Any) -> None:
    """A note type whose three cards have nothing in common but the note."""
    type_ = col.models.new(THREE)
    for name in ("Word", "Meaning", "Sound"):
        col.models.add_field(type_, col.models.new_field(name))
    for name, front, back in (
        ("Read", "{{Word}}", "{{Meaning}}"),
        ("Say", "Say: {{Meaning}}", "{{Sound}}"),
        ("Hear", "Heard: {{Sound}}", "{{Word}}"),
    ):
        template = col.models.new_template(name)
        template["qfmt"], template["afmt"] = front, "{{FrontSide}}<hr id=answer>" + back
        col.models.add_template(type_, template)
    col.models.add(type_)
    add(col, THREE, ["chat", "cat", "sha"], deck="French", tags=("animal",))


def kinds(col: Any) -> None:
    three_sides(col)
    add(col, "Basic", ["plain", "card"])
    add(col, "Basic (and reversed card)", ["there", "back"])
    add(col, "Cloze", ["{{c1::Mitochondria::organelle}} make {{c2::ATP}} in the {{c1::cell}}", "from a book"])
    add(col, "Cloze", ["only {{c2::one}} gap"])
    add(col, "Cloze", [r"{{c1::a {{c2::nested}} gap}} and \(x_{1}\)"])


def answer(col: Any, count: int) -> int:
    """Rates so many cards that Anki shows."""
    done = 0
    while done < count and (card := col.sched.getCard()) is not None:
        card.start_timer()
        col.sched.answerCard(card, 1 + done % 4)
        done += 1
    return done


def back(vault: Vault, folder: Path, **options: Any) -> tuple[Exported, Path]:
    path = folder / "back.apkg"
    return export_anki(open_desk(vault, clock()), path, force=True, **options), path


def notes(col: Any) -> dict[str, int]:
    """The first field of each note -> the number of its cards."""
    return {(note := col.get_note(id_)).fields[0]: len(note.cards()) for id_ in col.find_notes("")}


def shown(col: Any) -> set[tuple[str, str]]:
    """What the cards ask and answer, as an import reads it."""
    found = set()
    for id_ in col.find_cards(""):
        card = col.get_card(id_)
        texts = [markdown(html.split("</style>")[-1], str) for html in (card.question(), card.answer())]
        found.add((texts[0], texts[1]))
    return found


@pytest.mark.parametrize("scheduled", [False, True])
def test_each_note_comes_back_with_the_cards_it_came_with(vault: Vault, tmp_path: Path, scheduled: bool) -> None:
    def write(col: Any) -> None:
        kinds(col)
        answer(col, 20)

    report = brought(vault, made(tmp_path, write))
    desk = open_desk(vault, clock())
    own = {card for card, placed in desk.cards.items() if "anki_deck" not in placed.deck.text}
    done, path = back(vault, tmp_path, left_out=own, scheduled=scheduled)
    with collection(tmp_path / "other") as col:
        take_in(col, path)
        assert notes(col) == {
            "chat": 3,
            "plain": 1,
            "there": 2,
            "{{c1::Mitochondria::organelle}} make {{c2::ATP}} in the {{c1::cell}}": 2,
            "only {{c2::one}} gap": 1,
            r"{{c1::a {{c2::nested}} gap}} and \(x_{1}\)": 2,
        }
        types = [col.get_note(id_).note_type()["name"] for id_ in col.find_notes("")]
        assert sorted(types) == ["retain", "retain (and reversed)", "retain (siblings)", *["retain cloze"] * 3]
        assert {col.decks.name(col.get_card(c).did).rsplit("::", 1)[-1] for c in col.find_cards("chat")} == {"French"}
        _, fine = col.fix_integrity()
        assert fine and (done.incomplete, done.divided) == ((), ())
        reviews = col.db.scalar("select count() from revlog where ease > 0")
        assert reviews == (report.reviews["added"] if scheduled else 0)
        take_in(col, path)
        assert sum(notes(col).values()) == 11


def test_cards_that_were_edited_or_deleted_go_back_with_their_siblings(vault: Vault, tmp_path: Path) -> None:
    brought(vault, made(tmp_path, kinds))
    desk = open_desk(vault, clock())
    for deck in {placed.deck.path for placed in desk.cards.values()}:
        file = vault.root / deck
        file.write_text(file.read_text().replace("Q: Say: cat", "Q: Speak: cat").replace("make ATP in", "form ATP in"))
    by_question = {placed.card.question: card for card, placed in open_desk(vault, clock()).cards.items()}
    delete_cards(vault, [by_question["chat"], by_question["back"]], clock())
    done, path = back(vault, tmp_path)
    with collection(tmp_path / "other") as col:
        take_in(col, path)
        found = notes(col)
        assert found[""] == 2  # of three cards, the first is gone
        assert found["there"] == 1
        assert any("Speak: cat" in question for question, _ in shown(col))
        assert any("form ATP" in question for question, _ in shown(col))
        assert col.fix_integrity()[1]
    assert len(done.incomplete) == 2


def test_reviews_of_siblings_come_home_to_each(vault: Vault, tmp_path: Path) -> None:
    brought(vault, made(tmp_path, kinds))
    _, path = back(vault, tmp_path)
    with collection(tmp_path / "other") as col:
        take_in(col, path)
        given = answer(col, 30)
        report = brought(vault, give_out(col, tmp_path / "phone.apkg"))
    assert report.reviews == {"added": given, "known": 0, "left_out": 0} and report.cards["created"] == 0
    desk = open_desk(vault, clock())
    assert sum(desk.state(card).reps for card in desk.cards) == given
    assert not [each for each in report.reported if "edited" in each.reason]


@pytest.mark.parametrize("is_cloze", [True, False])
def test_a_note_that_gains_a_card_before_its_first_stays_the_same_note(
    vault: Vault, tmp_path: Path, is_cloze: bool
) -> None:
    def write(col: Any) -> None:
        if is_cloze:
            add(col, "Cloze", ["{{c2::Paris}} is the capital of France", ""])
        else:
            note = add(col, "Basic (and reversed card)", ["there", "back"])
            col.set_deck([note.cards()[1].id], col.decks.id("Active"))

    with collection(tmp_path / "first") as first, collection(tmp_path / "second") as second:
        write(first)
        path = give_out(first, tmp_path / "first.apkg")
        brought(vault, path, deck="" if is_cloze else "Active")
        take_in(second, back(vault, tmp_path)[1])
        before = second.find_cards("Paris" if is_cloze else "there")
        asked = second.get_card(before[0])
        asked.start_timer()
        second.sched.answerCard(asked, 3)
        phone = give_out(second, tmp_path / "phone.apkg")
        if is_cloze:
            note = first.get_note(first.find_notes("")[0])
            note["Text"] = "{{c2::Paris}} is the capital of {{c1::France}}"
            first.update_note(note)
            path = give_out(first, tmp_path / "first.apkg")
        assert brought(vault, path).cards["created"] == 1
        report = brought(vault, phone)
        assert report.reviews == {"added": 1, "known": 0, "left_out": 0}
        assert not [each for each in report.reported if "no longer" in each.reason]
        desk = open_desk(vault, clock())
        rated = [placed.card.question for card, placed in desk.cards.items() if desk.state(card).reps]
        assert rated == [r"**\[...\]** is the capital of France" if is_cloze else "back"]
        take_in(second, back(vault, tmp_path)[1])
        assert len(second.find_notes("Paris" if is_cloze else "there")) == 1


def test_an_edit_in_anki_of_any_sibling_is_named(vault: Vault, tmp_path: Path) -> None:
    brought(vault, made(tmp_path, three_sides))
    _, path = back(vault, tmp_path)
    with collection(tmp_path / "other") as col:
        take_in(col, path)
        note = col.get_note(col.find_notes("chat")[0])
        note["Answer 3"] = "Katze"
        note.mod += 100
        col.update_note(note)
        col.db.execute("update notes set mod = mod + 100 where id = ?", note.id)
        report = brought(vault, give_out(col, tmp_path / "phone.apkg"))
    assert ["edited in Anki" in each.reason for each in report.reported] == [True]


def test_a_note_that_an_older_export_gave_out_as_single_cards_stays_as_it_is(vault: Vault, tmp_path: Path) -> None:
    brought(vault, made(tmp_path, kinds))
    _, path = back(vault, tmp_path)
    with collection(tmp_path / "other") as col:
        basic = col.models.by_name("Basic")
        desk = open_desk(vault, clock())
        for card, placed in desk.cards.items():
            if "anki_deck" in placed.deck.text:
                note = col.new_note(basic)
                note.guid, note.fields = guid_of(vault.settings.vault_id, card), [placed.card.question, card]
                col.add_note(note, 1)
        before = {note: count for note, count in notes(col).items() if count}
        take_in(col, path)
        assert {note: count for note, count in notes(col).items() if note in before} == before
        answer(col, 10)
        assert brought(vault, give_out(col, tmp_path / "phone.apkg")).cards["created"] == 0


WORDS = st.text(st.sampled_from("ab *_$:[]{}\\.<\n"), min_size=0, max_size=6)


@given(st.lists(st.tuples(WORDS, st.integers(1, 3), WORDS, WORDS), min_size=1, max_size=4))
def test_a_text_put_together_again_makes_the_same_cards_in_anki(parts: list[tuple[str, int, str, str]]) -> None:
    html = "".join(f"{before}{{{{c{n}::{words}{'::' + hint if hint else ''}}}}}" for before, n, words, hint in parts)
    before = cards_of(html.replace("<", "&lt;").replace("\n", "<br>"))
    if before and (found := cloze_text(before)) is not None and not found[1]:
        assert without_blanks(cards_of(cloze_field(found[0], None))) == without_blanks(before)


def without_blanks(cards: dict[int, tuple[str, str]]) -> dict[int, list[str]]:
    """The cards without white space, which may be lost at the start of a line."""
    return {number: ["".join(side.split()) for side in sides] for number, sides in cards.items()}


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("{{c1::<b>x</b>}} and {{c2::y}}", "{{c1::**x**}} and {{c2::y}}"),
        ("{{c1::x::why?}} is <b>bold</b> {{c1::z}}{{c2::y}}", "{{c1::x::why?}} is **bold** {{c1::z}}{{c2::y}}"),
        ("<ul><li>{{c1::a}}</li><li>{{c2::b<br>c}}</li></ul>", "- {{c1::a}}\n- {{c2::b\n  c}}"),
        ("{{c1::a {{c2::n}} g}} t", "{{c1::a {{c2::n}} g}} t"),
        (r"{{c1::\(x^2\)}} of {{c2::y}}", "{{c1::$x^2$}} of {{c2::y}}"),
        ("{{c1::a}} calls <code>{{c2::f(x)}}</code>", None),  # in code, no gap is seen
    ],
)
def test_formatting_in_and_around_gaps(html: str, text: str | None) -> None:
    found = cloze_text(cards_of(html))
    assert (found and found[0]) == text


def cards_of(html: str) -> dict[int, tuple[str, str]]:
    """The cards that an import makes of a cloze, by their numbers."""
    made_of: dict[int, tuple[str, str]] = {}
    for number in numbers_in(html):
        question, answer = (cloze(html, number, is_back=is_back) for is_back in (False, True))
        made_of[number] = markdown(question, str), markdown(answer, str)
    return made_of
