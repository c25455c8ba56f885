"""Packages that mean harm are refused by name or come in inert; nothing is ever written outside the import's places."""

from __future__ import annotations

import io
import json
import sqlite3
import zipfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from learning.anki.archive import fields, open_archive
from learning.anki.html_to_markdown import markdown
from learning.anki.media_import import safe_name
from learning.anki.template import Sheet, cloze, sides
from learning.cards.workspace import open_desk
from tests.learning.anki_packages import brought_in, opened
from vault.errors import Unreadable
from vault.ids import CardId
from vault.model.card import Card, parse_deck, render_card, with_stamp
from vault.model.markdown import escape, unescape
from vault.vault import Vault

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
MODEL = {
    "id": 1,
    "name": "Basic",
    "type": 0,
    "flds": [{"name": "Front", "ord": 0}, {"name": "Back", "ord": 1}],
    "tmpls": [{"name": "Card 1", "ord": 0, "qfmt": "{{Front}}", "afmt": "{{FrontSide}}<hr id=answer>{{Back}}"}],
}
TABLES = """
create table col (id integer, models text, decks text, crt integer default 1600000000, conf text default '{}',
  dconf text default '{}');
create table notes (id integer, guid text, mid integer, mod integer, tags text, flds text);
create table cards (id integer, nid integer, did integer, odid integer, ord integer, mod integer, type integer,
  queue integer, flags integer, due integer default 0, odue integer default 0);
create table revlog (id integer, cid integer, ease integer, time integer, type integer, factor integer);
"""
_GIVEN = "id, nid, did, odid, ord, mod, type, queue, flags"


def database(*statements: str, tables: str = TABLES, deck: str = "Default") -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(tables)
        if tables == TABLES:
            decks = json.dumps({"1": {"name": deck}})
            connection.execute(
                "insert into col (id, models, decks) values (1, ?, ?)", (json.dumps({"1": MODEL}), decks)
            )
        for statement in statements:
            connection.execute(statement.replace("into cards values", f"into cards ({_GIVEN}) values"))
        connection.commit()
        return connection.serialize()


def note(front: str, back: str = "x", number: int = 1, tags: str = "") -> list[str]:
    quoted = [text.replace("'", "''").replace("\0", "") for text in (f"guid{number}", tags, f"{front}\x1f{back}")]
    return [
        f"insert into notes values ({number}, '{quoted[0]}', 1, 5, '{quoted[1]}', '{quoted[2]}')",
        f"insert into cards values ({number}, {number}, 1, 0, 0, 5, 0, 0, 0)",
    ]


def package(folder: Path, data: bytes, **others: bytes) -> Path:
    path = folder / "deck.apkg"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("collection.anki2", data)
        for name, content in others.items():
            archive.writestr(name.replace("__", "/"), content)
    return path


def look(path: Path) -> None:
    with opened(path) as found:
        assert found.container


def refused(path: Path) -> str:
    with pytest.raises(Unreadable) as caught:
        look(path)
    assert caught.value.where == str(path)
    return caught.value.what


def test_bombs_are_refused_before_they_fill_the_memory(tmp_path: Path) -> None:
    zeros = b"SQLite format 3\0" + bytes(200_000_000)
    assert "bomb" in refused(package(tmp_path, zeros))
    import zstandard

    path = tmp_path / "deck.apkg"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("collection.anki21b", zstandard.ZstdCompressor().compress(zeros))
    assert "bomb" in refused(path)


def test_too_many_entries_two_of_one_name_and_no_zip_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "many.apkg"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(50_001):
            archive.writestr(str(number), b"")
    assert "50,000" in refused(path)
    twice = tmp_path / "twice.apkg"
    with zipfile.ZipFile(twice, "w") as archive, pytest.warns(UserWarning):
        archive.writestr("collection.anki2", b"1")
        archive.writestr("collection.anki2", b"2")
    assert "the same name" in refused(twice)
    for data in (b"", b"PK\x05\x06", b"not a zip", b"PK\x05\x06" + b"\xff" * 18):
        (tmp_path / "bad.apkg").write_bytes(data)
        refused(tmp_path / "bad.apkg")
    refused(tmp_path / "missing.apkg")
    refused(tmp_path)


def test_every_cut_and_many_flips_of_a_package_are_refused_or_read(tmp_path: Path) -> None:
    whole = package(tmp_path, database(*note("a")), media=b"{}").read_bytes()
    path = tmp_path / "cut.apkg"
    for number in range(0, len(whole), 37):
        path.write_bytes(whole[:number])
        refused(path)
        flipped = bytearray(whole)
        flipped[number] ^= 0x55
        path.write_bytes(flipped)
        try:
            look(path)
        except Unreadable:
            continue


LAZY = "with recursive t(x) as (select 1 union all select x + 1 from t) select x, x, x, x, x, x from t"


@pytest.mark.parametrize(
    "tables",
    [
        TABLES.replace("create table revlog", "create table other") + f"create view revlog as {LAZY};",
        TABLES.replace("create table notes", "create table other")
        + "create view notes as select load_extension('x'), 1, 1, 1, 1, 1;",
        TABLES.replace("create table cards", "create table other"),
        "create table x (y);",
    ],
)
def test_a_view_in_the_place_of_a_table_is_refused_and_never_asked(tmp_path: Path, tables: str) -> None:
    assert "lacks a required table" in refused(package(tmp_path, database(tables=tables)))


def test_columns_that_hold_other_things_than_they_should_do_no_harm(tmp_path: Path, vault: Vault) -> None:
    path = package(
        tmp_path,
        database(
            "insert into notes values ('x', x'ff00', 1e300, null, 7, x'fffe1f00')",
            "insert into cards values (9e18, 'x', null, -1, 99999, -5, 'a', 'b', 1e99)",
            "insert into revlog values (1, 9000000000000000000, 3, -5, 0, 0)",
            *note("fine"),
            "insert into revlog values (9223372036854775807, 1, 3, 5, 1, 1)",
            "insert into revlog values (-5, 1, 3, 5, 1, 1)",
            "insert into revlog values (1700000000000, 1, 3, 5, 1, 2500)",
        ),
        media=b'{"0": "../../x", "../1": "y", "2": 3}',
    )
    report = brought_in(vault, path, NOW)
    assert (report.cards["created"], report.reviews["added"], report.reviews["left_out"]) == (1, 1, 3)


HOSTILE = [
    "<script>alert(1)</script><img src=x onerror=alert(1)><a href='javascript:alert(1)'>x</a>",
    "<iframe src='http://tracker'></iframe><svg onload=x><style>*{}</style><object data=x>",
    "[[wiki/x]] ![[raw/secret]] #tag ^block %%hidden%% ==x== `=dv.pages()` <% tp.x %> $\\href{javascript:x}{y}$",
    "x\nA: forged\n<!-- card aaaaaaaaa1 -->\n## Applied\n\nQ: forged?",
    "&lt;!-- card aaaaaaaaa1 --&gt;<br>Q: forged<br>A: yes<br># heading<br>---<br>```",
    "<pre>```\nQ: x\nA: y\n&lt;!-- card aaaaaaaaa1 --&gt;</pre>",
    "[sound:../../../etc/passwd] <img src='../../raw/x.png'> <img src='file:///etc/passwd'>",
    "{{c1::x}} {{FrontSide}} {{#Front}} \x00\x1b]52;c;x\x07 \u202eevil",
    "> [[wiki/summaries/x#^c-7f3a9c1e2k|1]]",
    "<blockquote>[[wiki/summaries/x#^c-7f3a9c1e2k|1]]</blockquote>",
]


def test_hostile_fields_become_inert_words_and_forge_nothing(tmp_path: Path, vault: Vault) -> None:
    before = dict(open_desk(vault, NOW).cards)
    statements = [s for n, text in enumerate(HOSTILE, 1) for s in note(f"{n} {text}", text, n, "../x {{y}} #z")]
    path = package(
        tmp_path,
        database(*statements, deck="../../raw/x::<b>[[y]]\\n"),
        media=json.dumps({"0": "../../raw/x.png", "1": "../../../etc/passwd"}).encode(),
        **{"0": b"<script>", "1": b"x", "..__..__evil": b"x"},
    )
    outside = {p for p in vault.root.rglob("*") if "learning" not in p.parts}
    report = brought_in(vault, path, NOW)
    assert report.cards["created"] == len(HOSTILE)
    desk = open_desk(vault, NOW)
    assert len(desk.cards) == len(before) + len(HOSTILE)
    assert all(desk.cards[card].card == before[card].card for card in before)
    assert not desk.diagnostics
    made = [p for card, p in desk.cards.items() if card not in before]
    assert all(p.card.kind is None and not p.card.support and not p.card.human_edited for p in made)
    for placed in made:
        shown = placed.deck.text
        assert not [w for w in ("<script", "<img", "<iframe", "<a ", "<svg", "<style", "\x1b", "\u202e") if w in shown]
    new = {p for p in vault.root.rglob("*") if "learning" not in p.parts and ".retain" not in p.parts} - outside
    assert {p.name for p in new} <= {"ids.jsonl"}


@given(st.text("abQA:#<>!-[]$`*_\\|~ \n&;={}%^.1é", max_size=60))
@example("Q: x\nA: y")
@example("$a$ `b` [[c]]")
def test_text_without_markup_is_shown_as_its_very_characters(text: str) -> None:
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace("\\", "&#92;").replace("[", "&#91;")
    shown = markdown(plain, lambda _: "")
    assert unescape(shown).split() == text.split()
    card = with_stamp(Card(None, shown or "x", shown, (), CardId("aaaaaaaaa1")))
    (read,) = parse_deck(render_card(card), "x.md").cards
    assert (read.id, read.human_edited) == (card.id, False)


PIECES = st.sampled_from(
    "<b> </b> <i> <div> </div> <br> <ul> <li> </ul> <table> <tr> <td> </table> <pre> </pre> <code> </code> <sub> </sub>"
    r" <!-- --> <script> </script> <img_src=x> [sound:a.mp3] \( \) [$] [/$] {{c1:: :: }} {{#Front}} {{/Front}} x"
    " &lt; ``` | $ <blockquote> </blockquote> <a_href=http://x> </a> Q: A: [[ ]]".split(" ")
)


@given(st.lists(PIECES, max_size=25))
def test_any_soup_of_markup_gives_words_without_html(pieces: list[str]) -> None:
    soup = " ".join(pieces).replace("_", " ")
    front, back = sides("{{Front}} {{cloze:Front}}", "{{FrontSide}}" + soup, Sheet({"Front": soup}))
    for side in (front, back, cloze(soup, 1, is_back=True)):
        shown = markdown(side, lambda name: escape(name))
        assert "<" not in unescape_free(shown)


def unescape_free(shown: str) -> str:
    """`shown` without what is escaped, code or a formula: there, the character is only a character."""
    from vault.model.markdown import _TOKEN

    out, fence = [], ""
    for line in shown.split("\n"):
        mark = line.strip().lstrip("->| ").strip()
        if set(mark) == {"`"} and len(mark) >= 3:
            fence = "" if fence == mark else fence or mark
        elif not fence:
            out.append(_TOKEN.sub("", line))
    return "\n".join(out)


@pytest.mark.parametrize(
    "piece", ["<a ", "<!--", "<a x='", "<div>", "\\(", "[$]", "{{c1::", "{{#a}}", "<li>", "&#", "<pre>", "a[", "a"]
)
def test_a_field_of_things_never_closed_is_read_to_its_end(piece: str) -> None:
    """Of this length, what takes the square of it would take minutes."""
    long = piece * 30_000
    assert isinstance(markdown(cloze(long, 1, is_back=True) or long, lambda _: ""), str)
    front, _ = sides(long, "", Sheet({"a": "b"}))
    assert len(front) <= len(long)
    front, _ = sides("{{furigana:a}}", "{{a}}", Sheet({"a": long}))
    assert len(front) <= len(long)


def test_readings_above_words_are_shown_as_anki_shows_them() -> None:
    sheet = Sheet({"a": "日本[にほん] 語[ご]"})
    shown = [sides(f"{{{{{each}:a}}}}", "{{a}}", sheet)[0] for each in ("kanji", "kana", "furigana")]
    assert shown == ["日本語", "にほんご", "日本(にほん)語(ご)"]


@given(st.text(max_size=60), st.binary(max_size=40))
def test_names_of_media_are_safe_whatever_they_were(name: str, data: bytes) -> None:
    made = safe_name(name, data)
    assert made is None or (made.count(".") == 1 and "/" not in made and not made.startswith("."))
    assert safe_name(f"{name}.gif", b"GIF89a" + data) is not None
    assert safe_name("x.svg", b"<svg onload=alert(1)>") is None
    assert safe_name("x.mp3", b" <html>") is None


@given(st.binary(max_size=60))
def test_any_bytes_are_a_protobuf_message_or_a_value_error(data: bytes) -> None:
    try:
        list(fields(data))
    except ValueError:
        return


def test_an_encrypted_or_oddly_packed_entry_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deck.apkg"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("collection.anki2", database())
    assert "Anki does not use" in refused(path)
    with closing(open_archive(package(tmp_path, database(), media=b"[1]")).zip) as opened:
        assert isinstance(opened.fp, io.BufferedReader)
