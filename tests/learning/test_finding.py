"""Cards and articles are found by their words and by what is remembered of them; the index follows the files."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.cards.workspace import open_desk, rate
from learning.search import documents
from learning.search import segment as search_segment
from learning.search.card_table import CardColumns, columns_of
from learning.search.index import SearchIndex, Superseded
from learning.search.query import parse
from learning.search.search import SORTS, Order, find
from learning.search.segment import Segment, database_of, folded
from tests.builders import make_vault
from tests.learning.marks import mark
from vault.config.settings import FILE
from vault.log.events import Flag, Rating, Suspend
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
TOPIC = "# Memory and time\n\n## What belongs together\n\n- [[wiki/concepts/forgetting-curve|Forgetting curve]]\n"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    files = {
        "learning/flashcards/forgetting-curve.md": CURVE,
        "learning/flashcards/spacing-effect.md": SPACING,
        "wiki/concepts/spacing-effect.md": ARTICLE,
        "wiki/topics/memory.md": TOPIC,
    }
    return make_vault(tmp_path, files)


def indexed(vault: Vault) -> tuple[CardColumns, SearchIndex]:
    columns, index = columns_of(open_desk(vault, NOW)), SearchIndex(vault)
    list(index.refresh(columns))
    return columns, index


def found(vault: Vault, text: str, scope: str = "both", order: Order | None = None) -> list[str]:
    """What a search finds in the vault as it is now: ids of cards, then paths of articles."""
    columns, index = indexed(vault)
    mine = find(parse(text), columns, index, NOW, scope=scope, order=order)
    paths = [index.view.articles[n] for n in mine.articles]
    index.close()
    return [*(str(columns.card(n)) for n in mine.cards), *paths]


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


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of the machine shows ten seconds more: files that were just written count as settled."""
    real = time.time_ns
    monkeypatch.setattr("vault.index.stamps.time.time_ns", lambda: real() + 10_000_000_000)


def many(vault: Vault, count: int = 30) -> None:
    for n in range(count):
        text = SPACING.replace("bbbbbbbbb1", f"ccccccc{n:03}").replace("attention", f"number{n}x")
        (vault.root / f"learning/flashcards/deck-{n}.md").write_text(text, encoding="utf-8")


def test_only_what_changed_is_read_again(vault: Vault, later: None, monkeypatch: pytest.MonkeyPatch) -> None:
    many(vault)
    assert found(vault, "number7x") == ["ccccccc007"]
    read: list[str] = []
    real = documents.read

    def reading(vault: Vault, path: str) -> documents.Found:
        read.append(path)
        return real(vault, path)

    monkeypatch.setattr(documents, "read", reading)
    assert found(vault, "number7x") == ["ccccccc007"] and read == []
    path = vault.root / "learning/flashcards/deck-7.md"
    path.write_text(path.read_text(encoding="utf-8").replace("number7x", "number7y"), encoding="utf-8")
    (vault.root / "learning/flashcards/deck-8.md").unlink()
    assert found(vault, "number7x") == found(vault, "number8x") == []
    assert found(vault, "number7y") == ["ccccccc007"]
    assert set(read) == {"learning/flashcards/deck-7.md"}


@pytest.mark.parametrize("name", ["search-0", "search-0.sqlite3"])
def test_a_damaged_index_is_made_anew(vault: Vault, later: None, name: str) -> None:
    many(vault)
    assert found(vault, "number7x") == ["ccccccc007"]
    path = vault.root / ".retain/cache" / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    columns, index = columns_of(open_desk(vault, NOW)), SearchIndex(vault)
    list(index.refresh(columns))
    assert index.repaired == 1
    assert len(find(parse("number7x"), columns, index, NOW)) == 1
    index.close()
    assert found(vault, "number7x") == ["ccccccc007"]


def test_an_index_that_came_with_somebodys_vault_is_not_believed(vault: Vault, later: None) -> None:
    many(vault)
    found(vault, "")
    moved = vault.root.with_name("moved")
    vault.root.rename(moved)
    other = open_vault(str(moved), None, moved)
    columns, index = columns_of(open_desk(other, NOW)), SearchIndex(other)
    first, _ = next(index.refresh(columns))
    assert first == 0
    index.close()


def test_what_is_no_file_in_the_place_of_the_index_does_no_harm(vault: Vault, later: None) -> None:
    many(vault)
    cache, before = vault.root / ".retain/cache", (vault.root / FILE).read_text(encoding="utf-8")
    cache.mkdir(parents=True)
    (cache / "search-0.sqlite3").symlink_to(vault.root / FILE)
    os.mkfifo(cache / "search-1")
    assert found(vault, "number7x") == ["ccccccc007"]
    assert (vault.root / FILE).read_text(encoding="utf-8") == before


def test_a_search_that_nobody_waits_for_ends(vault: Vault) -> None:
    columns, index = indexed(vault)
    with pytest.raises(Superseded):
        find(parse("spacing"), columns, index, NOW, is_wanted=lambda: False)
    index.close()


WORDS = st.text(min_size=1, max_size=30)


@given(st.lists(WORDS, min_size=1, max_size=4), st.data())
def test_every_part_of_a_text_finds_it_and_no_other_text_is_found(texts: list[str], data: st.DataObject) -> None:
    clean = [folded(text) for text in texts]
    segment = Segment.of(database_of(clean))
    word = folded(data.draw(st.one_of(WORDS, st.sampled_from(texts))))
    if word:
        assert sorted(segment.rows(word)) == [n for n, text in enumerate(clean) if word in text]
    segment.close()


@given(WORDS)
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert folded(folded(text)) == folded(text)


def test_without_the_index_of_sqlite_the_texts_are_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_segment, "_INDEX", "CREATE VIRTUAL TABLE hit USING no_such_module(words)")
    segment = Segment.of(database_of(["one two", "three"]))
    assert list(segment.rows("thr")) == [1]
    segment.close()


def test_cards_added_lately_are_found_by_their_birth(vault: Vault) -> None:
    line = '{"at":"%s","id":"%s","of":"card","q":"x","a":"y","type":"birth","v":1}\n'
    old, new = (NOW - timedelta(days=40)).isoformat(), (NOW - timedelta(days=2)).isoformat()
    births = line % (old, "aaaaaaaaa1") + line % (new, "aaaaaaaaa2")
    (vault.root / "ledger/ids.jsonl").write_text(births.replace("+00:00", ".000Z"), encoding="utf-8")
    assert found(vault, "added:7") == ["aaaaaaaaa2"]
    assert found(vault, "added>7") == ["aaaaaaaaa1"]


def test_two_who_bring_the_index_up_to_date_at_once_read_each_file_once(vault: Vault, later: None) -> None:
    many(vault)
    columns, index = columns_of(open_desk(vault, NOW)), SearchIndex(vault)
    first = index.refresh(columns)
    next(first)
    waiting = Thread(target=lambda: list(index.refresh(columns)))
    waiting.start()
    list(first)
    waiting.join()
    names = sorted(path.name for path in (vault.root / ".retain/cache").glob("search-*"))
    assert names == ["search-0", "search-0.sqlite3"] and len(index._parts) == 1
    index.close()


def test_a_line_break_in_the_name_of_an_article_moves_no_other_title(vault: Vault) -> None:
    for name in ("a\nb", "z1"):
        (vault.root / f"wiki/concepts/{name}.md").write_text("words without a heading\n", encoding="utf-8")
    _, index = indexed(vault)
    titles = {path: index.view.title(n) for n, path in enumerate(index.view.articles)}
    assert titles["wiki/concepts/z1.md"] == "z1" and titles["wiki/concepts/spacing-effect.md"] == "Spacing effect"
    assert all(text.count(b"\n") == part.first[-1] for part in index._parts for text in (part.shown,))
    index.close()


def test_what_is_known_of_other_cards_is_told_of_none(vault: Vault) -> None:
    columns, index = indexed(vault)
    assert index.view.of(columns).question(0) is not None
    (vault.root / "learning/flashcards/forgetting-curve.md").unlink()
    fewer = columns_of(open_desk(vault, NOW))
    assert [index.view.of(fewer).question(n) for n in range(len(fewer))] == [None] * len(fewer)
    list(index.refresh(fewer))
    assert index.view.of(fewer).question(0) is not None
    index.close()
