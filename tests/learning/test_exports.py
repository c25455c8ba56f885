"""What other programs read of the cards: as many cards as there are, with their words, and nothing that acts."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from learning.cards.workspace import open_desk, rate
from learning.formats.inert_markdown import JOINER, pieces
from learning.formats.jsonl import export_jsonl, render_jsonl
from learning.formats.obsidian_sr import export_obsidian_sr, obsidian_files, render_card
from learning.formats.qa import export_qa, qa_files, render_qa
from learning.store.placed import Placed
from tests.learning.foreign_readers import hashcards, repeater, spaced_repetition
from tests.learning.marks import mark
from vault.errors import Damaged, Refused, WriteFailed
from vault.files.exports import LIST
from vault.ids import CardId
from vault.log.events import Rating, Suspend
from vault.model.card import Card, Deck, parse_deck
from vault.vault import Vault

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
A1, A2, B1 = CardId("aaaaaaaaa1"), CardId("aaaaaaaaa2"), CardId("bbbbbbbbb1")
_TOKENS = (
    "a b ?|?|??|::|:::|:|Q:|A:|C:|---|--- |-|```|```py|~~~|`|``|$|$$|<b>|<script>|</b>|<!--|-->|<%|%%|[x][y]|[x](u)|"
    "![x](http://e.x/p.png)|[x]: u|[[n;m]]|![[p.png]]|<http://e.x>|file://x|javascript:x|#tag|^id|==h==|{{c}}|\\|\\\\|"
    "\n|\n\n|  |\t|> |- |1. |<!--SR:!2024-01-01,1,250-->|&lt;|\x1b[2J|\u202e"
).split("|")
nasty = st.lists(st.sampled_from([*_TOKENS, "|", "[[n|m]]", "word ", "x"]), max_size=14).map("".join)
text = nasty | st.text(max_size=30)


def flat(shown: str) -> str:
    """Without white space at the ends of lines, empty lines and marks of no width."""
    return "\n".join(line.strip() for line in shown.replace(JOINER, "").split("\n") if line.strip())


def prose(markdown: str) -> str:
    return "\n".join(piece.text for piece in pieces(markdown))


def placed(question: str, answer: str) -> Placed:
    return Placed(A1, Card(None, question, answer, id=A1), Deck("learning/flashcards/x.md", "# X\n", ()), "x")


def acting(markdown: str) -> list[str]:
    """The kinds of token in it that make a reader do more than show characters."""
    tokens = [one for token in MarkdownIt("commonmark").parse(markdown) for one in (token, *(token.children or ()))]
    return [one.type for one in tokens if one.type in ("html_block", "html_inline", "image", "link_open")]


@given(text)
@example("`a <b>")
@example("\\`<b>`")
@example("- a\n  ```\n<script>x</script>")
@example("[a]: http://e.x\n\n[a]")
@example("$[a](b)$ and $<b>x</b>$")
@example("![a][b]\n\n[b]: http://e.x")
@example("`` ` <b>")
@example("<![[x]]")
@example("[[<b>|![a](b)]]")
def test_prose_of_a_card_shows_characters_and_does_nothing(markdown: str) -> None:
    for piece in pieces(markdown):
        if not piece.code:
            assert acting(piece.text) == []
        assert "<%" not in piece.text.replace("\\<%", "") or "\\<%" in piece.text
    together = prose(markdown)
    assert acting(together) == [] and "\x1b" not in together and "\u202e" not in together


def test_words_emphasis_math_and_code_stay() -> None:
    kept = "Why *so* **much** $d_k$ and `x < y`?\n\n- one\n- two\n\n```python\nif a < b: # <b>\n```\nend"
    assert prose(kept) == kept.replace("\n\n```", "\n\n```")
    assert prose("see [[wiki/concepts/a|A]], ![[p.png]] and [[b]]") == "see A, p.png and b"
    assert prose("```dataviewjs\nx\n```") == "```\nx\n```"
    assert prose("`= this.file`") == f"`{JOINER}= this.file`"


@given(st.lists(st.tuples(text, text), min_size=1, max_size=3), text)
def test_hashcards_and_repeater_find_each_card_with_its_words(cards: list[tuple[str, str]], title: str) -> None:
    shown = render_qa(title, [placed(q, a) for q, a in cards])
    name, by_hashcards = hashcards(shown)
    by_repeater = repeater(shown)
    assert len(by_hashcards) == len(by_repeater) == len(cards)
    assert [tuple(map(flat, pair)) for pair in by_hashcards] == [tuple(map(flat, pair)) for pair in by_repeater]
    assert name.strip()


@given(st.lists(st.tuples(text, text), min_size=1, max_size=3))
def test_the_plugin_finds_each_card_once_and_no_other(cards: list[tuple[str, str]]) -> None:
    comment = "<!--SR:!2026-11-24,3,250-->\n"
    shown = "#flashcards\n\n# X\n\n" + "\n".join(render_card(q, a) + comment for q, a in cards)
    found = spaced_repetition(shown)
    assert len(found) == len(cards)
    assert all(c == comment.strip() and f.strip() and b.strip() for f, b, c in found)


def test_plain_cards_are_plain_lines(vault: Vault) -> None:
    desk = open_desk(vault, NOON)
    assert qa_files(desk)["interleaving.md"].decode() == (
        '---\nname = "Interleaving"\n---\n\nQ: What is interleaving?\nA: Mixing kinds of problem in one sitting.\n'
    )
    assert obsidian_files(desk)["interleaving.md"].decode() == (
        "#flashcards/practice\n\n# Interleaving\n\nWhat is interleaving?::Mixing kinds of problem in one sitting.\n"
    )
    assert render_card("std::vector, `a::b` and $a::b$?", "x::y") == (
        f"std:\\:vector, `a:{JOINER}:b` and $a: :b$?::x:\\:y\n"
    )
    assert render_card("One:", "a\n\nb #no\n?") == "One:\n?\na\nb \\#no\n\\?\n"


def test_the_plugin_gets_the_day_and_the_interval_of_a_card_that_was_reviewed(vault: Vault) -> None:
    desk, _ = rate(open_desk(vault, NOON), B1, Rating.EASY, via="cli")
    days = desk.state(B1).interval_days
    due = (NOON + timedelta(days=days)).date().isoformat()
    (card,) = spaced_repetition(obsidian_files(desk)["interleaving.md"].decode())
    assert card[2] == f"<!--SR:!{due},{days},370-->" and days > 1


def test_retracted_cards_are_in_no_export_and_suspended_ones_not_in_the_plugins(vault: Vault, tmp_path: Path) -> None:
    event = {"v": 1, "type": "retire", "of": "card", "id": A1, "at": "2026-11-20T12:00:00.000Z"}
    (vault.root / "ledger/ids.jsonl").write_text(json.dumps(event) + "\n")
    desk, _ = mark(open_desk(vault, NOON), A2, Suspend, via="cli")
    assert export_qa(desk, tmp_path / "qa") == (2, 2)
    assert export_jsonl(desk, tmp_path / "cards.jsonl") == 2
    assert export_obsidian_sr(desk, tmp_path / "sr") == (1, 1)
    assert "Spread-out" not in "".join(p.read_text() for p in tmp_path.rglob("*.md") if "mind" not in p.parts)


def test_each_line_of_json_has_the_card_its_quotes_and_what_is_remembered(vault: Vault) -> None:
    desk, event = rate(open_desk(vault, NOON), A1, Rating.GOOD, via="cli")
    lines = [json.loads(line) for line in render_jsonl(desk).splitlines()]
    first = next(line for line in lines if line["id"] == A1)
    assert (first["kind"], first["concept"], first["title"]) == ("definitional", "spacing-effect", "Spacing effect")
    assert first["support"] == [
        {
            "claim": "7f3a9c1e2k",
            "quote": "study spread out over time is remembered longer",
            "source": "raw/articles/the-spacing-effect.md",
            "place": "The spacing effect, line 14",
            "address": "",
        }
    ]
    state = desk.state(A1)
    assert first["memory"]["stability"] == round(state.stability, 4) and first["memory"]["reps"] == 1
    assert datetime.fromisoformat(first["memory"]["last_review"]) == event.at
    other = next(line for line in lines if line["id"] == B1)
    assert other["memory"]["phase"] == "new" and other["memory"]["stability"] is None
    assert "problem" in next(line for line in lines if line["id"] == A2)["support"][0]


def test_a_folder_is_exported_again_to_the_same_bytes_and_follows_the_cards(vault: Vault, tmp_path: Path) -> None:
    out = tmp_path / "qa"
    export_qa(open_desk(vault, NOON), out)
    (out / "mine.md").write_text("my own\n")
    before = {path.name: (path.read_bytes(), path.stat().st_ino) for path in out.iterdir()}
    export_qa(open_desk(vault, NOON + timedelta(days=1)), out)
    assert {path.name: (path.read_bytes(), path.stat().st_ino) for path in out.iterdir()} == before
    (vault.root / "learning/flashcards/interleaving.md").unlink()
    export_qa(open_desk(vault, NOON), out)
    assert {path.name for path in out.iterdir()} == {"spacing-effect.md", "mine.md", LIST}


@pytest.mark.parametrize("how", ["foreign", "edited", "link", "folder", "kind", "list"])
def test_nothing_of_somebody_elses_is_overwritten(vault: Vault, tmp_path: Path, how: str) -> None:
    out = tmp_path / "out"
    desk = open_desk(vault, NOON)
    if how == "foreign":
        out.mkdir()
        (out / "interleaving.md").write_text("my own\n")
    elif how == "link":
        out.mkdir()
        (tmp_path / "precious.md").write_text("my own\n")
        (out / "interleaving.md").symlink_to(tmp_path / "precious.md")
    elif how == "folder":
        (out / "interleaving.md").mkdir(parents=True)
    else:
        (export_obsidian_sr if how == "kind" else export_qa)(desk, out)
        if how != "kind":
            (out / (LIST if how == "list" else "interleaving.md")).write_text("my own\n")

    def files() -> list[Path]:
        return [p for p in tmp_path.rglob("*") if p.is_file() and vault.root not in p.parents]

    before = {p: p.read_bytes() for p in files()}
    (vault.root / "learning/flashcards/interleaving.md").write_text("Q: new\nA: new\n<!-- card bbbbbbbbb1 -->\n")
    with pytest.raises((Refused, Damaged)):
        export_qa(open_desk(vault, NOON), out)
    assert {p: p.read_bytes() for p in files()} == before


@pytest.mark.parametrize(
    "place", ["raw", "wiki", "learning", "ledger", ".retain/x", "learning/flashcards", "missing/x"]
)
def test_a_folder_of_the_vault_that_has_an_owner_takes_no_export(vault: Vault, place: str) -> None:
    (vault.root / "raw").mkdir()
    desk = open_desk(vault, NOON)  # it keeps caches of its own
    before = sorted(vault.root.rglob("*"))
    with pytest.raises(Refused):
        export_qa(desk, vault.root / place)
    assert sorted(vault.root.rglob("*")) == before


def test_an_export_that_breaks_off_is_ended_by_the_next(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, rename, left = tmp_path / "qa", os.rename, 0

    def breaking(*names: Any, **folders: Any) -> None:
        nonlocal left
        if left == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        left -= 1
        rename(*names, **folders)

    for step in range(3):
        deck = vault.root / "learning/flashcards/interleaving.md"
        deck.write_text(f"Q: new {step}\nA: new\n<!-- card bbbbbbbbb1 -->\n")
        left, desk = step, open_desk(vault, NOON)
        with monkeypatch.context() as patch, pytest.raises(WriteFailed, match="full"):
            patch.setattr(os, "rename", breaking)
            export_qa(desk, out)
        deck.write_text(f"Q: newer {step}\nA: new\n<!-- card bbbbbbbbb1 -->\n")
        assert export_qa(open_desk(vault, NOON), out) == (3, 2)
        assert f"newer {step}" in (out / "interleaving.md").read_text()


def test_a_card_goes_out_and_home_by_our_own_reader(vault: Vault) -> None:
    deck = parse_deck(qa_files(open_desk(vault, NOON))["spacing-effect.md"].decode(), "x.md")
    assert [card.question for card in deck.cards] == ["What is the spacing effect?", "Why does spacing work?"]
    assert replace(deck.cards[0], id=None).answer == "Spread-out study is *remembered* longer."
