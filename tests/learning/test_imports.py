"""Cards of other programs: what each reader finds in their files, and what an import makes of it."""

from __future__ import annotations

import json
import os
import sqlite3
import zipfile
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from blake3 import blake3

from learning.cards.edit import edit_card
from learning.cards.workspace import Desk, open_desk, rate, undo_last
from learning.foreign import obsidian_sr
from learning.foreign.sr_schedule import schedules_in
from learning.foreign.tree import Tree
from learning.imports.importing import CardsReport, ImportOptions, import_cards
from learning.imports.undoing import undo_import
from learning.memory.ease import memory_of
from learning.memory.state import Phase
from vault.config.settings import Settings, render_settings
from vault.errors import NotFound, Unreadable, UsageError
from vault.ids import CardId
from vault.log.events import Import, Memory, Rating
from vault.log.review_log import read_log
from vault.vault import Vault, open_vault

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
NOTE = """\
---
tags: [flashcards/geo/cities, travel]
---
# Cities

Capital of Kenya?::Nairobi
<!--SR:!2026-12-10,20,250-->

Wasser:::water <!--SR:!2026-12-01,4,230!2000-01-01,1,250-->

Two lines
of a question
?
An answer

A ==river== in ==Paris;;town==
<!--SR:!fsrs,2026-12-24T03:00:00.000Z,30,31.5,6.25,2,7,1,0,2026-11-24T11:00:00.000Z-->

one-sided::
"""


@pytest.fixture
def empty(tmp_path: Path) -> Vault:
    """A vault without cards."""
    return new_vault(tmp_path / "mind")


def new_vault(root: Path) -> Vault:
    for folder in ("learning/flashcards", "ledger", "wiki/concepts"):
        (root / folder).mkdir(parents=True)
    settings = Settings("01KB0000000000000000000000", "Mind", timezone="Europe/Berlin")
    (root / "retain.toml").write_text(render_settings(settings))
    return open_vault(str(root), None, root)


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def take(vault: Vault, source: Path, now: datetime = NOON, **options: object) -> CardsReport:
    return import_cards(vault, source, now, ImportOptions(**options))  # type: ignore[arg-type]


def by_question(desk: Desk) -> dict[str, CardId]:
    return {placed.card.question: id_ for id_, placed in desk.cards.items()}


def due(desk: Desk, question: str) -> date:
    at = desk.state(by_question(desk)[question]).due
    assert at is not None
    return at.astimezone(BERLIN).date()


def files(vault: Vault) -> dict[str, bytes]:
    kept = ("learning/flashcards", "learning/media", "ledger")
    found = [path for folder in kept for path in (vault.root / folder).rglob("*") if path.is_file()]
    found.append(vault.root / "learning/reviews.jsonl")
    return {str(path): path.read_bytes() for path in found if path.is_file()}


# --- Spaced Repetition ----------------------------------------------------------------------------------------------


def test_a_note_of_spaced_repetition_comes_with_its_schedules_tags_and_deck(empty: Vault, tmp_path: Path) -> None:
    done = take(empty, write(tmp_path, "Cities.md", NOTE))
    assert (done.format, done.cards["created"], done.cards["skipped"]) == ("obsidian-sr", 6, 1)
    assert done.problems[0].line == 19 and "empty" in done.problems[0].message
    desk = open_desk(empty, NOON)
    assert due(desk, "Capital of Kenya?") == date(2026, 12, 10)
    state = desk.state(by_question(desk)["Capital of Kenya?"])
    assert (state.phase, state.stability, state.difficulty, state.interval_days) == (Phase.REVIEW, 20, 5.5, 20)
    assert state.tags == ("travel",)
    assert due(desk, "Wasser") == date(2026, 12, 1)
    assert desk.state(by_question(desk)["water"]).phase is Phase.NEW
    first = desk.state(by_question(desk)["A **[...]** in Paris"])
    assert (first.stability, first.difficulty, first.reps, first.lapses) == (31.5, 6.25, 7, 1)
    assert due(desk, "A **[...]** in Paris") == date(2026, 12, 24)
    assert desk.cards[by_question(desk)["A river in **[town]**"]].card.is_cloze
    assert {placed.title for placed in desk.cards.values()} == {"geo::cities"}


def test_an_import_again_changes_no_byte(empty: Vault, tmp_path: Path) -> None:
    source = write(tmp_path, "Cities.md", NOTE)
    take(empty, source)
    before = files(empty)
    again = take(empty, source, NOON + timedelta(days=1))
    assert (again.cards["created"], again.cards["kept"], again.log.known_schedules) == (0, 6, 3)
    assert files(empty) == before


def test_a_dry_run_shows_the_cards_and_writes_nothing(empty: Vault, tmp_path: Path) -> None:
    before = files(empty)
    done = take(empty, write(tmp_path, "Cities.md", NOTE), dry_run=True)
    assert done.cards["created"] == 6 and done.log.schedules == 3 and done.decks == {"geo::cities": 6}
    assert done.examples[0] == {
        "question": "Capital of Kenya?",
        "answer": "Nairobi",
        "deck": "geo::cities",
        "tags": "travel",
        "due": "2026-12-10",
    }
    assert files(empty) == before


def test_a_reworded_answer_is_taken_over_unless_the_user_edited_the_card(empty: Vault, tmp_path: Path) -> None:
    source = write(tmp_path, "Cities.md", NOTE)
    take(empty, source)
    source.write_text(NOTE.replace("Nairobi", "Nairobi, since 1907").replace("An answer", "Another one"))
    card = by_question(open_desk(empty, NOON))["Two lines\nof a question"]
    edit_card(empty, card, "Two lines\nof a question", "my own answer", NOON)
    done = take(empty, source)
    assert (done.cards["updated"], done.cards["kept"]) == (1, 5)
    assert any("your text is kept" in each.message for each in done.problems)
    desk = open_desk(empty, NOON)
    assert desk.cards[by_question(desk)["Capital of Kenya?"]].card.answer == "Nairobi, since 1907"
    assert desk.cards[card].card.answer == "my own answer"
    assert due(desk, "Capital of Kenya?") == date(2026, 12, 10)


def test_what_was_reviewed_here_since_is_not_overwritten_by_an_older_schedule(empty: Vault, tmp_path: Path) -> None:
    source = write(tmp_path, "Cities.md", NOTE)
    take(empty, source)
    desk = open_desk(empty, NOON)
    card = by_question(desk)["Capital of Kenya?"]
    desk, _ = rate(desk, card, Rating.AGAIN, via="cli")
    state = desk.state(card)
    assert (state.phase, state.lapses, state.reps) == (Phase.RELEARNING, 1, 2)
    source.write_text(NOTE.replace("2026-12-10,20,250", "2026-12-11,20,250"))
    assert take(empty, source, NOON + timedelta(hours=1)).log.schedules == 1
    assert open_desk(empty, NOON + timedelta(hours=2)).state(card) == state


def test_in_a_folder_notes_need_the_tag_or_a_schedule(empty: Vault, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    write(notes, "a.md", "#flashcards\n\nfront::back\n")
    write(notes, "b.md", "no card::here\n")
    write(notes, "c.md", "a card::with a schedule\n<!--SR:!2026-12-10,20,250-->\n")
    write(notes, "d.md", "---\nsr-due: 2026-12-05\nsr-interval: 10\nsr-ease: 250\n---\nA whole note.\n")
    done = take(empty, notes)
    assert done.cards["created"] == 2
    assert any("1 note that seems to contain cards" in remark for remark in done.remarks) and any(
        "--notes" in r for r in done.remarks
    )
    assert take(empty, notes, notes=True).cards["created"] == 1
    assert due(open_desk(empty, NOON), "d") == date(2026, 12, 5)


def test_the_plugins_own_settings_say_what_separates_the_sides(tmp_path: Path) -> None:
    settings = {
        "settings": {"singleLineCardSeparator": ";;", "flashcardTags": ["#cards"], "convertBoldTextToClozes": True}
    }
    write(tmp_path, "v/.obsidian/plugins/obsidian-spaced-repetition/data.json", json.dumps(settings))
    write(tmp_path, "v/a.md", "#cards/x\n\nfront;;back\n\nA **bold** word\n\nno::card\n")
    found = obsidian_sr.read(Tree(tmp_path / "v"), UTC)
    assert [(card.question, card.answer, card.deck) for card in found.cards] == [
        ("front", "back", "x"),
        ("A {{c1::bold}} word", None, "x"),
    ]
    write(tmp_path, "w/a.md", "#flashcards\n\nfront\n%%\nback\n<!--SR:!2026-12-10,20,250-->\n")
    assert "1 schedule without a matching card" in obsidian_sr.read(Tree(tmp_path / "w"), UTC).remarks[0]
    given = obsidian_sr.read(Tree(tmp_path / "w"), UTC, separators=("::", ":::", "%%", "??"))
    assert [card.question for card in given.cards] == ["front"] and not given.remarks
    with pytest.raises(UsageError, match="four"):
        obsidian_sr.read(Tree(tmp_path / "w"), UTC, separators=("::",))


@pytest.mark.parametrize(
    "comment",
    [
        "!2026-13-40,3,250",
        "!2026-12-01,nan,250",
        "!2026-12-01,3,-5",
        "!fsrs,x,1,2,3,2,1,0,0,y",
        "!9999-12-31,1,250",
        "!x",
    ],
)
def test_a_schedule_that_cannot_be_believed_leaves_the_card_new(empty: Vault, tmp_path: Path, comment: str) -> None:
    assert schedules_in([comment], UTC)[0] == [None]
    done = take(empty, write(tmp_path, "a.md", f"#flashcards\n\nfront::back\n<!--SR:{comment}-->\n"))
    assert done.cards["created"] == 1 and done.log.schedules == 0 and "imported as new" in done.remarks[0]


# --- hashcards and repeater -----------------------------------------------------------------------------------------


def test_a_deck_of_hashcards_comes_with_what_its_database_knows(empty: Vault, tmp_path: Path) -> None:
    deck = '---\nname = "Chemistry"\n---\nQ: What is H2O?\nA: Water\n\nC: [Iron] is [Fe].\n\n---\n\nQ: no answer\n---\n'
    write(tmp_path, "decks/chem.md", deck)
    clean = b"Iron is Fe."
    digests = [
        blake3(b"BasicWhat is H2O?Water").hexdigest(),
        blake3(b"Cloze" + clean + (8).to_bytes(8, "little") + (9).to_bytes(8, "little")).hexdigest(),
    ]
    with closing(sqlite3.connect(tmp_path / "decks/hashcards.db")) as db:
        db.executescript(
            "create table cards (card_hash text, added_at text, last_reviewed_at text, stability real, difficulty real,"
            " interval_raw real, interval_days integer, due_date text, review_count integer);"
            "create table reviews (review_id integer primary key, session_id integer, card_hash text, reviewed_at text,"
            " grade text, stability real, difficulty real, interval_raw real, interval_days integer, due_date text);"
        )
        for n, digest in enumerate(digests):
            row = (
                digest,
                "2026-11-01T10:00:00.000",
                "2026-11-20T10:00:00.000",
                15.5,
                4.25,
                15.5,
                16,
                f"2026-12-0{6 + n}",
                3,
            )
            db.execute("insert into cards values (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        review = (digests[0], "2026-11-20T10:00:00.000", "good", 15.5, 4.25, 15.5, 16, "2026-12-06")
        db.execute("insert into reviews values (null, 1, ?, ?, ?, ?, ?, ?, ?, ?)", review)
        db.commit()
    done = take(empty, tmp_path / "decks")
    assert (done.format, done.cards["created"], done.log.schedules, done.log.reviews) == ("hashcards", 3, 2, 1)
    assert [(each.path, each.line, each.message) for each in done.problems] == [
        ("chem.md", 11, "a question (Q:) without an answer")
    ]
    desk = open_desk(empty, NOON)
    state = desk.state(by_question(desk)["What is H2O?"])
    assert (state.stability, state.difficulty, due(desk, "What is H2O?")) == (15.5, 4.25, date(2026, 12, 6))
    assert due(desk, "Iron is **[...]**.") == date(2026, 12, 7)
    assert {placed.title for placed in desk.cards.values()} == {"Chemistry"}
    (review_event,) = [event for event in read_log(empty.root).events if isinstance(event, Import)]
    assert review_event.at == datetime(2026, 11, 20, 9, tzinfo=UTC)  # its machine's clock is the vault's
    assert take(empty, tmp_path / "decks").log.known_reviews == 1


def test_a_deck_of_repeater_may_have_notes_and_cards_of_one_line(empty: Vault, tmp_path: Path) -> None:
    text = "Notes on cells.\nATP?::energy\n\nQ: DNA?\nA: genes\n---\nmore notes\n\nC: a [cell] wall\n"
    source = write(tmp_path, "bio.md", text)
    digest = blake3(b"q: dna? a: genes").hexdigest()
    with closing(sqlite3.connect(tmp_path / "cards.db")) as db:
        db.execute(
            "create table cards (card_hash text, last_reviewed_at text, stability real, difficulty real, due_date text,"
            " review_count integer)"
        )
        row = (digest, "2026-11-20T10:00:00+00:00", 9.0, 5.0, "2026-11-29T10:00:00+00:00", 4)
        db.execute("insert into cards values (?, ?, ?, ?, ?, ?)", row)
        db.commit()
    done = take(empty, source, database=tmp_path / "cards.db")
    assert (done.format, done.cards["created"], done.log.schedules) == ("repeater", 3, 1)
    assert due(open_desk(empty, NOON), "DNA?") == date(2026, 11, 29)
    with pytest.raises(Unreadable, match="not a hashcards or repeater database"):
        take(empty, source, database=source)


def test_cards_the_other_way_round_and_clozes_of_one_text_are_siblings(empty: Vault, tmp_path: Path) -> None:
    text = "Q: Wasser\nA: water\n\nQ: water\nA: Wasser\n\nC: [one] and two\n\nC: one and [two]\n"
    take(empty, write(tmp_path, "x.md", text))
    desk = open_desk(empty, NOON)
    notes = [placed.card.note for placed in desk.cards.values()]
    assert len(notes) == 4 and len(set(notes)) == 2


def test_links_out_pipes_and_huge_tables_beside_notes_are_left_alone(empty: Vault, tmp_path: Path) -> None:
    outside = write(tmp_path / "elsewhere", "secret.md", "#flashcards\n\nWhat is the key?::swordfish\n")
    notes = write(tmp_path / "notes", "geo.md", NOTE).parent
    (notes / "secret.md").symlink_to(outside)
    os.mkfifo(notes / "pipe.md")
    with (notes / "huge.csv").open("wb") as file:
        file.truncate(65 * 1024**2)
    done = take(empty, notes)
    assert done.format == "obsidian-sr" and done.cards["created"] > 0
    decks = "".join(path.read_text() for path in (empty.root / "learning/flashcards").glob("*.md"))
    assert "Nairobi" in decks and "swordfish" not in decks


# --- tables ---------------------------------------------------------------------------------------------------------


def test_a_table_is_read_by_its_head_and_says_what_each_column_is(empty: Vault, tmp_path: Path) -> None:
    head, haus = "Term;Note;Meaning;Tags;Due;Interval\n", "Haus;x;house;noun, a1;2026-12-24;10\n"
    text = f"{head}{haus};x;nothing;;;\n{{{{c1::Rom}}}};;city;;;\n"
    done = take(empty, write(tmp_path, "words.csv", text))
    assert [(name, part) for name, part, _ in done.columns] == [
        ("Term", "front"),
        ("Note", "-"),
        ("Meaning", "back"),
        ("Tags", "tags"),
        ("Due", "due"),
        ("Interval", "interval"),
    ]
    assert (done.cards["created"], done.cards["skipped"], done.problems[0].line) == (2, 1, 3)
    desk = open_desk(empty, NOON)
    assert due(desk, "Haus") == date(2026, 12, 24) and desk.state(by_question(desk)["Haus"]).tags == ("a1", "noun")
    assert desk.cards[by_question(desk)["**[...]**"]].card.is_cloze


def test_columns_can_be_named_and_ankis_text_names_its_own(empty: Vault, tmp_path: Path) -> None:
    table = write(tmp_path, "t.tsv", "1\tHund\tdog\n2\tKatze\tcat\n")
    take(empty, table, columns=("-", "front", "back"))
    assert set(by_question(open_desk(empty, NOON))) == {"Hund", "Katze"}
    with pytest.raises(UsageError, match="'colour' is not a type of column"):
        take(empty, table, columns=("colour", "front", "back"))
    anki = "#separator:tab\n#html:true\n#deck column:1\n#tags column:4\nGeo\t<b>Peru</b>\tLima\tsouth big\n"
    done = take(empty, write(tmp_path, "anki.txt", anki))
    assert (done.format, done.decks) == ("csv", {"Geo": 1})
    desk = open_desk(empty, NOON)
    assert desk.state(by_question(desk)["**Peru**"]).tags == ("big", "south")


# --- Mochi, Mnemosyne, RemNote --------------------------------------------------------------------------------------


def mochi(path: Path, name: str, data: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, data)
        archive.writestr("media/cat.png", b"\x89PNG\r\n\x1a\n" + b"0" * 20)
    return path


def test_mochi_in_edn_and_in_transit_gives_the_same_cards(tmp_path: Path) -> None:
    edn = (
        '{:version 2 :decks [{:id :d1 :name "Biology"} {:id :d2 :name "Cells" :parent-id :d1}]'
        ' :cards [{:id :c1 :deck-id :d2 :content "What? ![](@media/cat.png)\\n---\\nA \\"cat\\"" :tags #{"pets"}'
        ' :reviews [{:date #inst "2026-11-20T10:00:00.000-00:00" :due #inst "2026-12-02T10:00:00.000-00:00"'
        " :interval 12 :remembered? true}]}"
        ' {:id :c2 :deck-id :d1 :content "A {{1::cell}} has a {{2::wall}}"} {:id :c3 :content "only a note"}'
        ' {:id :c4 :trashed? true :content "x\\n---\\ny"}]}'
    )
    content = 'What? ![](@media/cat.png)\n---\nA "cat"'
    card: list[object] = ["^ ", "~:id", "~:c1", "~:deck-id", "~:d2", "~:content", content]
    review: list[object] = ["^ ", "~:date", {"~#dt": 1_795_168_800_000}, "~:due", {"~#dt": 1_796_205_600_000}]
    card += ["~:tags", ["~#set", ["pets"]], "~:reviews", [[*review, "~:interval", 12, "~:remembered?", True]]]
    cards: list[object] = [
        card,
        ["^ ", "~:id", "~:c2", "~:deck-id", "~:d1", "~:content", "A {{1::cell}} has a {{2::wall}}"],
        ["^ ", "~:id", "~:c3", "~:content", "only a note"],
        ["^ ", "~:id", "~:c4", "~:trashed?", True, "~:content", "x\n---\ny"],
    ]
    decks = [
        ["^ ", "~:id", "~:d1", "~:name", "Biology"],
        ["^ ", "^2", "~:d2", "^4", "Cells", "~:parent-id", "^3"],  # short for what was there before
    ]
    transit = json.dumps(["^ ", "~:version", 2, "~:decks", decks, "~:cards", cards])
    seen = []
    for name, data in (("data.edn", edn), ("data.json", transit)):
        vault = new_vault(tmp_path / name)
        done = take(vault, mochi(tmp_path / f"{name}.mochi", name, data))
        assert (done.format, done.cards["created"], done.cards["skipped"], done.media["added"]) == ("mochi", 3, 1, 1)
        desk = open_desk(vault, NOON)
        seen.append({placed.card.question: (placed.card.answer, placed.title) for placed in desk.cards.values()})
        (asked,) = [question for question in seen[-1] if question.startswith("What?")]
        assert "learning/media/cat-" in asked and seen[-1][asked] == ('A "cat"', "Biology::Cells")
        assert due(desk, asked) == date(2026, 12, 2) and desk.state(by_question(desk)[asked]).tags == ("pets",)
    assert seen[0] == seen[1]


def test_mnemosynes_cards_come_with_easiness_as_difficulty(empty: Vault, tmp_path: Path) -> None:
    last, next_ = (int(datetime(2026, month, 1, tzinfo=UTC).timestamp()) for month in (11, 12))
    learnt = f'gr="4" e="2.5" ac_rp="1" rt_rp="3" lps="1" l_rp="{last}" n_rp="{next_}"'
    fresh = 'gr="-1" e="2.5" ac_rp="0" rt_rp="0" lps="0" l_rp="-1" n_rp="-1"'
    xml = f"""<openSM2sync number_of_entries="7">
<log type="10" o_id="t1"><name>german</name></log>
<log type="16" o_id="f1"><f>Wasser&lt;br&gt;(n.)</f><b>water</b></log>
<log type="16" o_id="f2"><text>La [casa:house] es [grande]</text></log>
<log type="6" o_id="c1" card_t="2" fact="f1" fact_v="2.1" tags="t1" {learnt}></log>
<log type="6" o_id="c2" card_t="2" fact="f1" fact_v="2.2" tags="t1" {fresh}></log>
<log type="6" o_id="c3" card_t="5" fact="f2" fact_v="5.1" tags="t1" {learnt}><extra>{{'index': 1}}</extra></log>
</openSM2sync>"""
    with zipfile.ZipFile(tmp_path / "de.cards", "w") as archive:
        archive.writestr("cards.xml", xml)
    done = take(empty, tmp_path / "de.cards")
    assert (done.format, done.cards["created"], done.log.schedules) == ("mnemosyne", 4, 2)
    desk = open_desk(empty, NOON)
    state = desk.state(by_question(desk)["Wasser\n(n.)"])
    assert (state.stability, state.difficulty) == (30, round(memory_of(30, 2.5)[1], 6)) and state.tags == ("german",)
    assert due(desk, "La casa es **[...]**") == date(2026, 12, 1)
    assert desk.state(by_question(desk)["La **[house]** es grande"]).phase is Phase.NEW
    assert desk.cards[by_question(desk)["water"]].card.variant == "reversed"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('<!DOCTYPE m [<!ENTITY a "aa">]><mnemosyne core_version="1">&a;</mnemosyne>', "DOCTYPE"),
        ("<mnemosyne>\n<item>\n</mnemosyne>", "mismatched"),
        ("<mnemosyne>" + "<a>" * 60, "too deep"),
    ],
)
def test_xml_that_is_hostile_or_broken_is_refused_with_its_line(
    empty: Vault, tmp_path: Path, text: str, what: str
) -> None:
    before = files(empty)
    with pytest.raises(Unreadable, match=what) as refused:
        take(empty, write(tmp_path, "x.xml", text), format="mnemosyne")
    assert refused.value.where.startswith("x.xml:") and files(empty) == before


def test_remnotes_signs_make_cards(empty: Vault, tmp_path: Path) -> None:
    text = (
        "- Capital of Peru >> Lima #geo\n- Cell :: smallest unit\n  - Colour ;; green\n"
        "- Parts >>>\n  - wall\n  - core\n"
        "- A {{nerve}} fires\n- off >- no\n- plain line\n"
    )
    done = take(empty, write(tmp_path, "bio.md", text))
    assert (done.format, done.cards["created"]) == ("remnote", 6)
    found = {p.card.question: p.card.answer for p in open_desk(empty, NOON).cards.values()}
    assert found["Capital of Peru"] == "Lima" and found["smallest unit"] == "Cell" and found["Cell: Colour"] == "green"
    assert found["Parts"] == "- wall\n- core" and found["A **[...]** fires"] == "nerve"
    assert any("disabled in RemNote" in remark for remark in done.remarks)


# --- in all formats -------------------------------------------------------------------------------------------------


def test_nothing_of_a_strangers_text_acts_and_pictures_come_from_the_folder_alone(empty: Vault, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\nsecret")
    folder = tmp_path / "decks"
    write(
        folder,
        "a.md",
        "Q: <script>x</script> ![](img/p.png) ![](../secret.png) ![[p.png]]\n"
        "A: [x](https://e.x) <b>bold</b><br>%% card aaaaaaaaa1 %%\n",
    )
    (folder / "img").mkdir()
    (folder / "img/p.png").write_bytes(b"\x89PNG\r\n\x1a\npicture")
    done = take(empty, folder)
    assert done.media == {"added": 1, "kept": 0, "left_out": 1}
    (deck,) = (empty.root / "learning/flashcards").glob("*.md")
    text = deck.read_text()
    assert "\\<script>" in text and "x (https://e.x) **bold**" in text and "secret: missing" not in text
    assert text.count("![[learning/media/p-") == 2 and "%% card aaaaaaaaa1" not in text.replace("\\%% card", "")


def test_an_import_can_be_undone_but_for_what_was_used_since(empty: Vault, tmp_path: Path) -> None:
    source = write(tmp_path, "Cities.md", NOTE)
    take(empty, source)
    desk = open_desk(empty, NOON)
    used = by_question(desk)["Capital of Kenya?"]
    rate(desk, used, Rating.GOOD, via="cli")
    undone = undo_import(empty, NOON + timedelta(hours=1))
    assert undone.kept == [used] and len(undone.deleted) == 5
    desk = open_desk(empty, NOON + timedelta(hours=2))
    assert list(desk.cards) == [used] and desk.state(used).reps == 2
    assert take(empty, source, NOON + timedelta(hours=3)).cards["created"] == 0
    back = take(empty, source, NOON + timedelta(hours=4), restore=True)
    assert (back.cards["created"], back.log.schedules) == (5, 2)
    assert len(undo_import(empty, NOON + timedelta(hours=5)).deleted) == 5


def test_an_import_undone_at_once_leaves_no_deck_and_plain_undo_leaves_it_alone(empty: Vault, tmp_path: Path) -> None:
    take(empty, write(tmp_path, "Cities.md", NOTE))
    with pytest.raises(NotFound, match="nothing left"):
        undo_last(open_desk(empty, NOON), via="cli")
    undo_import(empty, NOON + timedelta(hours=1))
    assert not list((empty.root / "learning/flashcards").iterdir())
    with pytest.raises(NotFound, match="no import"):
        undo_import(empty, NOON + timedelta(hours=2))


def test_two_machines_that_import_the_same_notes_agree_once_their_logs_meet(tmp_path: Path) -> None:
    source = write(tmp_path, "Cities.md", NOTE)
    here, there = new_vault(tmp_path / "here"), new_vault(tmp_path / "there")
    take(here, source)
    desk = open_desk(here, NOON)
    card = by_question(desk)["Capital of Kenya?"]
    rated = rate(desk, card, Rating.EASY, via="cli")[0].state(card)
    take(there, source, NOON + timedelta(days=2))
    assert by_question(open_desk(there, NOON)) == by_question(desk)
    log = here.root / "learning/reviews.jsonl"
    log.write_bytes(log.read_bytes() + (there.root / "learning/reviews.jsonl").read_bytes())
    assert open_desk(here, NOON + timedelta(days=3)).state(card) == rated
    events = [event for event in read_log(here.root).events if isinstance(event, Memory)]
    assert len(events) == 6


@pytest.mark.parametrize("name", ["x.apkg", "x.zip", "x.md", "x.bin"])
def test_what_holds_no_cards_is_refused_with_a_way_on(empty: Vault, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name in ("x.apkg", "x.zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("collection.anki2" if name == "x.apkg" else "y.txt", b"")
    else:
        path.write_bytes(b"just words\n")
    with pytest.raises(UsageError) as refused:
        take(empty, path)
    assert refused.value.hint
