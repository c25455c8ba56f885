"""What a person sees of a card in Anki, rendered by Anki itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from learning.anki.export_package import export_anki
from learning.cards.workspace import open_desk
from tests.learning.conftest import SUMMARY
from tests.learning.test_anki_import import collection, take_in
from tests.learning.test_anki_import_strangers import clock
from vault.vault import Vault

ADDRESS = "https://example.org/a?b={{c1::x}}&c=%22%3E%3Cscript%3E"


def seen(vault: Vault, folder: Path) -> dict[str, tuple[str, str]]:
    """CardId -> front and back as HTML, without the style sheet."""
    export_anki(open_desk(vault, clock()), folder / "out.apkg")
    with collection(folder / "anki") as col:
        take_in(col, folder / "out.apkg")
        return {str(card.note()["CardId"]): _sides(card) for card in map(col.get_card, col.find_cards(""))}


def _sides(card: Any) -> tuple[str, str]:
    front, back = (
        re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL) for html in (card.question(), card.answer())
    )
    return front, back


def test_the_front_says_neither_kind_nor_concept_and_the_back_says_both(vault: Vault, tmp_path: Path) -> None:
    front, back = seen(vault, tmp_path)["aaaaaaaaa2"]
    assert front == '<div class="retain-question">Why does spacing work?</div>'
    assert "Mechanistic · Spacing effect" in back


def test_a_source_on_the_web_is_a_link_that_does_nothing_else(vault: Vault, tmp_path: Path) -> None:
    summary = vault.root / "wiki/summaries/the-spacing-effect.md"
    summary.write_text(SUMMARY.replace("source: raw", f"url: {ADDRESS}\nsource: raw"))
    deck = vault.root / "learning/flashcards/interleaving.md"
    cite = "> [[wiki/summaries/the-spacing-effect#^c-7f3a9c1e2k|1]]"
    deck.write_text(f"# Interleaving\n\nC: It {{{{c1::mixes}}}} kinds.\n{cite}\n%% card ccccccccc1 c1 %%\n")
    cards = seen(vault, tmp_path)
    for card in ("aaaaaaaaa1", "ccccccccc1"):
        _, back = cards[card]
        (link,) = re.findall(r"<a [^<>]*>[^<>]*</a>", back)
        assert link.startswith('<a href="https://example.org/a?b=') and link.endswith(
            ">The spacing effect, line 14</a>"
        )
        assert "<script" not in back and "{{" not in back and back.count('class="cloze"') == (card == "ccccccccc1")
    assert "line 14</div>" not in back


def test_a_card_of_no_kind_shows_its_deck_alone_and_a_table_is_one(vault: Vault, tmp_path: Path) -> None:
    deck = vault.root / "learning/flashcards/interleaving.md"
    deck.write_text(
        "# Interleaving\n\nQ: Which?\nA: These:\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n%% card ccccccccc1 %%\n"
    )
    _, back = seen(vault, tmp_path)["ccccccccc1"]
    assert '<div class="retain-kind">Interleaving</div>' in back
    assert re.search(r"<td>1</td>\s*<td>2</td>", back)
