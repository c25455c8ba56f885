"""Text from right to left comes in undamaged and goes back to Anki from right to left."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest

from learning.anki.export_package import export_anki
from learning.anki.html_to_markdown import is_rtl
from learning.cards.workspace import open_desk
from tests.learning.test_anki_import import collection, take_in
from tests.learning.test_anki_import_strangers import add, brought, clock, made, words
from vault.vault import Vault

ARABIC = unicodedata.normalize("NFC", "نُسَمِّيه")
RTL = '<div dir="rtl">'


def flagged(col: Any, *, style: str = "") -> str:
    """A note type whose Front is written from right to left, or by its style the whole card."""
    type_ = col.models.copy(col.models.by_name("Basic"))
    type_["name"], type_["css"] = f"flagged {style}", style or type_["css"]
    type_["flds"][0]["rtl"] = not style
    col.models.update_dict(type_)
    return str(type_["name"])


def sent_back(vault: Vault, folder: Path) -> dict[str, list[str]]:
    """The fields of the notes that another Anki gets, by the first without markup."""
    path = folder / "back.apkg"
    export_anki(open_desk(vault, clock()), path, force=True)
    with collection(folder / "other") as col:
        take_in(col, path)
        found = [col.get_note(id_).fields for id_ in col.find_notes("")]
    return {fields[0].removeprefix(RTL).removesuffix("</div>"): fields for fields in found}


@pytest.mark.parametrize("legacy", [False, True])
def test_notes_from_right_to_left_come_back_so(vault: Vault, tmp_path: Path, legacy: bool) -> None:
    def write(col: Any) -> None:
        type_ = flagged(col)
        add(col, type_, ["DNA הוא חומר תורשתי", "inherited material"])
        add(col, type_, ["NaCl", "מלח בישול"])
        add(col, "Basic", ['<div dir="rtl">H2O \u200f' + ARABIC + '</div><div dir="rtl">ماء</div>', "water &rlm;(ماء)"])
        add(col, "Basic", ["שָׁלוֹם", "peace"])
        add(col, "Cloze", ['<p dir="RTL">{{c1::TCP}} הוא פרוטוקול</p>'])
        add(col, "Basic", ['The word <span dir="rtl">שלום</span> means peace', "yes"])
        add(col, flagged(col, style=".card { direction: rtl; }"), ["GPS מאתר מקום", "satellites"])

    brought(vault, made(tmp_path, write, legacy=legacy))
    assert not any("\ufffd" in text for pair in words(vault).items() for text in pair)
    assert "שָׁלוֹם" in words(vault) and words(vault)[f"H2O {ARABIC}\n\nماء"] == "water (ماء)"
    back = sent_back(vault, tmp_path)
    turned = {text: tuple(field.startswith(RTL) for field in fields[:2]) for text, fields in back.items()}
    assert turned["DNA הוא חומר תורשתי"] == (True, False)
    assert turned["NaCl"] == (True, True)
    assert turned[f"<p>H2O {ARABIC}</p>\n<p>ماء</p>"] == (True, False)
    assert turned["שָׁלוֹם"] == (True, False)
    assert turned["{{c1::TCP}} הוא פרוטוקול"][0]
    assert turned["The word שלום means peace"] == (False, False)
    assert turned["GPS מאתר מקום"] == (True, True)


def test_a_second_import_changes_nothing_and_cards_of_an_older_one_get_their_direction(
    vault: Vault, tmp_path: Path
) -> None:
    package = made(tmp_path, lambda col: add(col, flagged(col), ["DNA", "חומר"]))
    brought(vault, package)
    ledger = vault.root / "ledger/ids.jsonl"
    whole = ledger.read_text()
    brought(vault, package)
    assert ledger.read_text() == whole
    ledger.write_text(whole.replace(',"rtl":["question","answer"]', "").replace(',"rtl":["question"]', ""))
    assert "rtl" not in ledger.read_text()
    brought(vault, package)
    assert sent_back(vault, tmp_path)["DNA"][0].startswith(RTL)
    whole = ledger.read_text()
    brought(vault, package)
    assert ledger.read_text() == whole


def test_a_direction_counts_by_what_it_covers_however_it_is_nested() -> None:
    assert is_rtl('<div style="direction: rtl">abc <b dir=ltr>d</b></div>')
    assert not is_rtl('<div dir="rtl">a<p dir="ltr">long text</p></div>')
    assert is_rtl("<p dir=rtl>" * 5000 + "abc")
    assert not is_rtl("rtl " * 5000)
