"""Cards and articles are found by their words and by what is remembered of them; the index follows the files."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.cards.workspace import open_desk, rate
from learning.search import documents
from learning.search.query import parse
from learning.search.records import Records
from learning.search.search import SORTS, Order, Superseded, find
from learning.store import full_text, index
from tests.builders import make_vault
from tests.learning.marks import mark
from vault.config.settings import Settings
from vault.ids import CardId
from vault.index import stamps
from vault.index.database import Schema, open_database
from vault.log.events import Flag, Rating, Suspend
from vault.model.card import Deck
from vault.text.formatting import folded
from vault.vault import Vault, open_vault

NOW = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
CURVE = """---
type: flashcards
tags:
  - exam
---

# Forgetting curve

## Definitional

Q: What does the forgetting curve describe?
A: How retention falls, **Ebbinghaus** found in the [[wiki/concepts/x|naïve]] subject.
<!-- card aaaaaaaaa1 -->

## Applied

Q: 遗忘曲线是什么?
A: Written in C++, with `fts5` and "quotes".
<!-- card aaaaaaaaa2 -->
"""
SPACING = """# Spacing effect

## Relational

Q: How does spacing relate to attention?
A: It does.
<!-- card bbbbbbbbb1 -->
"""
ARTICLE = """---
type: concept
title: Spacing effect
aliases: [distributed practice]
---

# Spacing effect

Spread over time. [[wiki/summaries/memory#^c-aaaaaaaaa1|1]]
"""
TOPIC = "# Memory and time\n\n## Concepts\n\n- [[wiki/concepts/forgetting-curve|Forgetting curve]]\n"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    files = {
        "learning/flashcards/forgetting-curve.md": CURVE,
        "learning/flashcards/spacing-effect.md": SPACING,
        "wiki/concepts/spacing-effect.md": ARTICLE,
        "wiki/topics/memory.md": TOPIC,
    }
    return make_vault(tmp_path, files)


def indexed(vault: Vault) -> Records:
    records = Records(open_desk(vault, NOW))
    list(records.refresh())
    return records


def found(vault: Vault, text: str, scope: str = "both", order: Order | None = None) -> list[str]:
    """What a search finds in the vault as it is now: ids of cards, then paths of articles."""
    records = indexed(vault)
    mine = find(parse(text), records, NOW, scope=scope, order=order)
    cards = [record.card for n in mine.cards if (record := records.record(n)) is not None]
    return [*map(str, cards), *(records.article(n)[0] for n in mine.articles)]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("getting", "aaaaaaaaa1 aaaaaaaaa2"),
        ("EBBINGHAUS", "aaaaaaaaa1"),
        ("naive", "aaaaaaaaa1"),
        ("曲线", "aaaaaaaaa2"),
        ("c++", "aaaaaaaaa2"),
        ('"retention falls"', "aaaaaaaaa1"),
        ("retention -falls", ""),
        ('"\\"quotes\\""', "aaaaaaaaa2"),
        ("aaaaaaaaa1", "aaaaaaaaa1"),
        ("kind:applied", "aaaaaaaaa2"),
        ("tag:exam -kind:applied", "aaaaaaaaa1"),
        ("topic:memory", "aaaaaaaaa1 aaaaaaaaa2"),
        ("time", "aaaaaaaaa1 aaaaaaaaa2"),
        ("concept:spacing", "bbbbbbbbb1"),
        ("id:bbbbbbbbb1", "bbbbbbbbb1"),
        ("is:new path:spacing-effect", "bbbbbbbbb1"),
        ("NEAR(spacing* OR", ""),
    ],
)
def test_a_search_finds_these_cards(vault: Vault, text: str, ids: str) -> None:
    assert found(vault, text, "cards") == ids.split()


def test_articles_are_found_by_title_alias_and_words(vault: Vault) -> None:
    for word in ("spacing effect", "distributed", "spread over"):
        assert found(vault, f'"{word}"', "articles") == ["wiki/concepts/spacing-effect.md"]
    assert found(vault, "", "articles") == ["wiki/topics/memory.md", "wiki/concepts/spacing-effect.md"]
    assert found(vault, "is:new spacing", "articles") == []


def test_what_is_remembered_is_searched_too(vault: Vault) -> None:
    desk, _ = rate(open_desk(vault, NOW), "aaaaaaaaa1", Rating.EASY, via="cli")
    desk, _ = mark(desk, "aaaaaaaaa2", Suspend, via="cli")
    mark(desk, "bbbbbbbbb1", Flag, via="cli", reason="odd")
    assert found(vault, "ivl>2") == found(vault, "-is:new") == found(vault, "due>1 rated:0") == ["aaaaaaaaa1"]
    assert found(vault, "is:suspended") == ["aaaaaaaaa2"]
    assert found(vault, "is:flagged recall<50") == []
    assert found(vault, "is:flagged") == ["bbbbbbbbb1"]
    assert found(vault, "reps>0 state:review") == ["aaaaaaaaa1"]


@pytest.mark.parametrize("by", SORTS)
def test_every_order_keeps_every_card_and_what_has_no_number_comes_last(vault: Vault, by: str) -> None:
    rate(open_desk(vault, NOW), "aaaaaaaaa2", Rating.GOOD, via="cli")
    up, down = found(vault, "", "cards", Order(by)), found(vault, "", "cards", Order(by, True))
    assert sorted(up) == sorted(down) == ["aaaaaaaaa1", "aaaaaaaaa2", "bbbbbbbbb1"]
    if by in ("due", "difficulty", "recall"):
        assert up[0] == down[0] == "aaaaaaaaa2"


def many(vault: Vault, count: int = 30) -> None:
    for n in range(count):
        text = SPACING.replace("bbbbbbbbb1", f"ccccccc{n:03}").replace("attention", f"number{n}x")
        (vault.root / f"learning/flashcards/deck-{n}.md").write_text(text, encoding="utf-8")


def test_only_what_changed_is_read_again(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamps, "RACY_NS", -1_000_000_000)  # files that were just written count as settled
    many(vault)
    assert found(vault, "number7x") == ["ccccccc007"]
    read: list[str] = []
    real = documents.of_deck

    def reading(deck: Deck) -> dict[CardId, documents.Text]:
        read.append(deck.path)
        return real(deck)

    monkeypatch.setattr(documents, "of_deck", reading)
    assert found(vault, "number7x") == ["ccccccc007"] and read == []
    path = vault.root / "learning/flashcards/deck-7.md"
    path.write_text(path.read_text(encoding="utf-8").replace("number7x", "number7y"), encoding="utf-8")
    (vault.root / "learning/flashcards/deck-8.md").unlink()
    assert found(vault, "number7x") == found(vault, "number8x") == []
    assert found(vault, "number7y") == ["ccccccc007"]
    assert set(read) == {"learning/flashcards/deck-7.md"}


def test_articles_that_change_or_go_are_found_as_they_are(vault: Vault) -> None:
    path = vault.root / "wiki/concepts/spacing-effect.md"
    assert found(vault, "spread", "articles") == ["wiki/concepts/spacing-effect.md"]
    path.write_text(ARTICLE.replace("Spread over", "Scattered in"), encoding="utf-8")
    assert found(vault, "spread", "articles") == []
    assert found(vault, "scattered", "articles") == ["wiki/concepts/spacing-effect.md"]
    path.unlink()
    assert found(vault, "scattered", "articles") == []


@pytest.mark.parametrize("at", [0, 30, 5_000, -1])
def test_a_damaged_index_is_made_anew(vault: Vault, at: int) -> None:
    many(vault)
    assert found(vault, "number7x") == ["ccccccc007"]
    path = vault.root / ".retain/learning.sqlite3"
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(data)
    assert found(vault, "number7x") == ["ccccccc007"]


def test_an_index_that_came_with_somebodys_vault_is_not_believed(vault: Vault) -> None:
    many(vault)
    found(vault, "")
    copy = vault.root.with_name("copy")
    shutil.copytree(vault.root, copy)
    records = Records(open_desk(open_vault(str(copy), None, copy), NOW))
    first, total = next(records.refresh())
    assert first == 0 < total


def test_a_search_that_nobody_waits_for_ends(vault: Vault) -> None:
    with pytest.raises(Superseded):
        find(parse("spacing"), indexed(vault), NOW, is_wanted=lambda: False)


WORDS = st.text(min_size=1, max_size=30)


@pytest.mark.parametrize("trigrams", [True, False])
@given(texts=st.lists(WORDS, min_size=1, max_size=4), data=st.data())
def test_every_part_of_a_text_finds_it_and_no_other_text_is_found(
    texts: list[str], data: st.DataObject, trigrams: bool
) -> None:
    clean = [folded(text) for text in texts]
    word = folded(data.draw(st.one_of(WORDS, st.sampled_from(texts))))
    with pytest.MonkeyPatch.context() as patch:
        for module in (full_text, index):
            patch.setattr(module, "has_trigrams", lambda: trigrams)
        tables = "CREATE TABLE said(number INTEGER PRIMARY KEY, words TEXT);" + index.full_text("hit")
        nowhere = Vault(Path(), Settings("01KB0000000000000000000000", "Mind"), keeps_caches=False)
        with open_database(nowhere, Schema("words", 1, tables)) as database:
            database.run_many("INSERT INTO said VALUES(?, ?)", enumerate(clean))
            full_text.add_words(database, "hit", enumerate(clean))
            if word:
                condition, values = full_text.holding("hit", "number", "words", word)
                rows = database.rows(f"SELECT number FROM said WHERE {condition} ORDER BY number", values)
                assert [number for (number,) in rows] == [n for n, text in enumerate(clean) if word in text]


@given(WORDS)
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert folded(folded(text)) == folded(text)


def test_cards_added_lately_are_found_by_their_birth(vault: Vault) -> None:
    line = '{"at":"%s","id":"%s","of":"card","q":"x","a":"y","type":"birth","v":1}\n'
    old, new = (NOW - timedelta(days=40)).isoformat(), (NOW - timedelta(days=2)).isoformat()
    births = line % (old, "aaaaaaaaa1") + line % (new, "aaaaaaaaa2")
    (vault.root / "ledger/ids.jsonl").write_text(births.replace("+00:00", ".000Z"), encoding="utf-8")
    assert found(vault, "added:7") == ["aaaaaaaaa2"]
    assert found(vault, "added>7") == ["aaaaaaaaa1"]


def test_two_who_read_what_changed_at_once_leave_each_text_once(vault: Vault) -> None:
    many(vault)
    first, second = Records(open_desk(vault, NOW)), Records(open_desk(vault, NOW))
    reading = first.refresh()
    next(reading)
    waiting = Thread(target=lambda: list(second.refresh()))
    waiting.start()
    list(reading)
    waiting.join()
    assert found(vault, "number7x") == ["ccccccc007"]
    assert first.desk.cards.database.rows("SELECT count(*) = count(DISTINCT card) FROM text") == [(1,)]


def test_a_line_break_in_the_name_of_an_article_moves_no_other_title(vault: Vault) -> None:
    for name in ("a\nb", "z1"):
        (vault.root / f"wiki/concepts/{name}.md").write_text("words without a heading\n", encoding="utf-8")
    records = indexed(vault)
    titles = dict(records.article(n) for n in find(parse(""), records, NOW, scope="articles").articles)
    assert titles["wiki/concepts/z1.md"] == "z1" and titles["wiki/concepts/spacing-effect.md"] == "Spacing effect"


def test_a_card_keeps_its_number_while_it_is_in_a_deck(vault: Vault) -> None:
    before = indexed(vault).number("aaaaaaaaa2")
    deck = vault.root / "learning/flashcards/forgetting-curve.md"
    deck.write_text(CURVE.replace("fts5", "full text"), encoding="utf-8")
    records = indexed(vault)
    assert records.number("aaaaaaaaa2") == before is not None
    assert found(vault, '"full text"') == ["aaaaaaaaa2"] and found(vault, "fts5") == []
    deck.unlink()
    assert indexed(vault).record(before) is None


def test_while_an_id_is_in_two_decks_cards_are_found_in_the_first(vault: Vault) -> None:
    (vault.root / "learning/flashcards/a-copy.md").write_text(SPACING.replace("attention", "memory"), encoding="utf-8")
    assert found(vault, "spacing relate", "cards") == ["bbbbbbbbb1"]
    assert found(vault, "attention", "cards") == []
    (vault.root / "learning/flashcards/a-copy.md").unlink()
    assert found(vault, "attention", "cards") == ["bbbbbbbbb1"]
