"""A compile seen from outside: the real engine, a real vault in a temporary folder."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.build.snapshot import STAMPS, last_report
from compiler.index.steps import Steps
from compiler.model.engine_names import VERSIONS
from compiler.model.report import Report
from compiler.readers import formats
from compiler.verification.verify import verify
from compiler.workers.pool import WorkerPool
from tests.builders import NEEDED, NEEDY, vault_with_sources
from vault.errors import LockHeld, Refused, UsageError, WorkerFailed
from vault.files.guard import Scope
from vault.ids import CardId
from vault.locks import lock
from vault.log import ledger
from vault.log.events import Flag, Rating, Review, Undo, encode
from vault.log.review_log import LOG_PATH, LogWriter, read_log
from vault.model.card import Card, parse_deck, splice_card, splice_words
from vault.model.frontmatter import read_properties
from vault.vault import Vault, open_vault

MORNING = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


TESTING = (Path(__file__).parent / "documents" / "testing.md").read_text(encoding="utf-8")


def silent(event: dict[str, object]) -> None:
    assert event["event"]


def compiled(vault: Vault, at: datetime = MORNING, *, fresh: bool = False) -> Report:
    return compile_vault(vault, Options(fresh=fresh), at, silent)


def tree(vault: Vault) -> dict[str, str]:
    """Every file of the vault but caches, by the digest of its bytes."""
    return {
        path.relative_to(vault.root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(vault.root.rglob("*"))
        if path.is_file() and ".retain" not in path.parts
    }


def products(files: dict[str, str]) -> dict[str, str]:
    return {p: d for p, d in files.items() if p.startswith(("wiki/", "learning/"))}


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {p for p in before | after if before.get(p) != after.get(p)}


def forget_caches(vault: Vault) -> None:
    for path in sorted((vault.root / ".retain").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()


def test_documents_become_articles_cards_and_gaps(vault: Vault) -> None:
    report = compiled(vault)
    assert report.failures == [] and report.sources["read"] == 2
    assert {
        "wiki/concepts/spacing-effect.md",
        "wiki/concepts/forgetting-curve.md",
        "wiki/concepts/retrieval-practice.md",
    } <= set(report.written)
    cards = [c for d in vault.decks() for c in d.cards]
    assert len(cards) == report.cards["created"] > 3
    assert all(c.id and c.support and not c.human_edited for c in cards)
    log = (vault.root / "wiki/_log.md").read_text()
    assert "\n## [2026-11-21] compile | " in log


def test_a_second_compile_reads_and_writes_nothing(vault: Vault) -> None:
    compiled(vault)
    before = tree(vault)
    stamps = {p: (vault.root / p).stat().st_mtime_ns for p in before}
    report = compiled(vault, MORNING + timedelta(days=1))
    assert report.nothing_new and report.sources["unchanged"] == 2 and report.sources["read"] == 0
    assert tree(vault) == before
    assert {p: (vault.root / p).stat().st_mtime_ns for p in before} == stamps


def test_a_build_says_of_each_page_why_it_was_made_again(vault: Vault) -> None:
    first = compiled(vault)
    page, summary = "wiki/concepts/retrieval-practice.md", "wiki/summaries/testing.md"
    assert first.why[page] == "there is no such page yet"
    raw = vault.root / "raw/articles/testing.md"
    raw.write_text(TESTING + "\nRetrieval practice is used for the preparation of exams.\n")
    (vault.root / "wiki/concepts/forgetting-curve.md").unlink()
    found = compiled(vault, MORNING + timedelta(days=1)).why
    assert found[page].startswith("changed: claims from raw/articles/testing.md, text")
    assert found[summary].startswith("changed: ") and "claims" in found[summary]
    assert found["wiki/concepts/forgetting-curve.md"] == "there is no such page yet"
    assert "wiki/concepts/spacing-effect.md" not in found
    raw.unlink()
    assert compiled(vault, MORNING + timedelta(days=2)).why[summary] == "no source supports it any more"


def test_the_same_bytes_come_back_without_caches_and_without_products(vault: Vault) -> None:
    compiled(vault)
    before = tree(vault)
    compiled(vault, MORNING + timedelta(days=1), fresh=True)
    assert tree(vault) == before
    forget_caches(vault)
    for path in products(before):
        (vault.root / path).unlink()
    compiled(vault, MORNING + timedelta(days=2))
    after = tree(vault)
    # The chronicle tells that they were written again; everything else is what it was.
    assert changed(before, after) <= {"wiki/_log.md", "ledger/builds.jsonl"}


def test_sources_in_any_order_give_the_same_vault(tmp_path: Path, vault: Vault) -> None:
    compiled(vault)
    expected = products(tree(vault))
    other = tmp_path / "other"
    other.mkdir()
    (other / "retain.toml").write_bytes((vault.root / "retain.toml").read_bytes())
    (other / "raw/articles").mkdir(parents=True)
    for name in ("testing.md", "spacing.md"):
        (other / "raw/articles" / name).write_bytes((vault.root / "raw/articles" / name).read_bytes())
    twin = open_vault(str(other), None, other)
    compiled(twin)
    assert products(tree(twin)) == expected


def test_a_new_source_touches_only_what_rests_on_it(vault: Vault) -> None:
    compiled(vault)
    before = tree(vault)
    (vault.root / "raw/articles/sleep.md").write_text(
        "# Sleep\n\nMemory consolidation is the process by which a fresh memory trace becomes stable after learning.\n"
    )
    report = compiled(vault, MORNING + timedelta(days=1))
    assert report.sources == {"read": 1, "recorded": 0, "unchanged": 2, "failed": 0, "copies": 0}
    touched = {
        p for p in changed(before, tree(vault)) if p.startswith(("wiki/concepts", "wiki/summaries", "learning/flash"))
    }
    assert touched == {
        "wiki/summaries/sleep.md",
        "wiki/concepts/memory-consolidation.md",
        "learning/flashcards/memory-consolidation.md",
    }


def test_a_changed_sentence_touches_only_what_rests_on_it_and_keeps_its_ids(vault: Vault) -> None:
    compiled(vault)
    before = tree(vault)
    cards = {c.id for d in vault.decks() for c in d.cards}
    raw = vault.root / "raw/articles/testing.md"
    raw.write_text(TESTING.replace("recalling an answer from memory", "recalling an answer out of memory"))
    report = compiled(vault, MORNING + timedelta(days=1))
    touched = {
        p for p in changed(before, tree(vault)) if p.startswith(("wiki/concepts", "wiki/summaries", "learning/flash"))
    }
    assert touched == {
        "wiki/summaries/testing.md", "wiki/concepts/retrieval-practice.md", "learning/flashcards/retrieval-practice.md"
    }  # fmt: skip
    assert {c.id for d in vault.decks() for c in d.cards} == cards
    assert report.cards["updated"] > 0 and report.cards["created"] == 0 and report.claims["retracted"] == 0
    assert "out of memory" in (vault.root / "learning/flashcards/retrieval-practice.md").read_text()


def test_a_deleted_source_takes_back_what_rested_on_it_alone_and_its_return_restores_it(vault: Vault) -> None:
    compiled(vault)
    before = tree(vault)
    raw = vault.root / "raw/articles/testing.md"
    kept = raw.read_bytes()
    raw.unlink()
    report = compiled(vault, MORNING + timedelta(days=1))
    after = tree(vault)
    assert {p for p in before if p not in after} == {
        "raw/articles/testing.md",
        "wiki/summaries/testing.md",
        "wiki/concepts/retrieval-practice.md",
        "learning/flashcards/retrieval-practice.md",
    }
    assert report.claims["retracted"] == 3 and report.cards["suspended"] >= 1 and report.cards["created"] == 0
    raw.write_bytes(kept)
    compiled(vault, MORNING + timedelta(days=2))
    wiki = {p for p in changed(before, tree(vault)) if not p.startswith(("ledger/", "wiki/_log", "learning/gaps"))}
    assert wiki <= {"wiki/summaries/testing.md"}  # its day of change is a new one


def test_what_a_human_edited_stays_and_the_machine_only_proposes(vault: Vault) -> None:
    compiled(vault)
    article = vault.root / "wiki/concepts/retrieval-practice.md"
    deck = vault.root / "learning/flashcards/retrieval-practice.md"
    article.write_text(article.read_text() + "\nMy own remark.\n")
    (card, *_) = parse_deck(deck.read_text(), "x").cards
    deck.write_text(deck.read_text().replace(card.answer, "In my own words.") + "\nQ: Mine?\nA: Mine.\n")
    edited = (article.read_bytes(), deck.read_bytes())
    assert compiled(vault, MORNING + timedelta(days=1)).nothing_new
    raw = vault.root / "raw/articles/testing.md"
    raw.write_text(TESTING.replace("recalling an answer from memory", "recalling an answer out of memory"))
    compiled(vault, MORNING + timedelta(days=2))
    assert article.read_bytes() == edited[0]
    text = deck.read_text()
    assert "In my own words." in text and text.endswith("\nQ: Mine?\nA: Mine.\n")
    assert "out of memory" in (vault.root / "output/proposals/wiki/concepts/retrieval-practice.md").read_text()
    raw.unlink()
    compiled(vault, MORNING + timedelta(days=3))
    assert article.read_bytes() == edited[0] and "In my own words." in deck.read_text()


def test_an_edited_article_whose_source_is_gone_stays_and_is_named_in_the_dry_run_too(vault: Vault) -> None:
    compiled(vault)
    path = "wiki/concepts/retrieval-practice.md"
    article = vault.root / path
    article.write_text(article.read_text() + "\nMy own remark.\n")
    edited = article.read_bytes()
    assert not [d for d in compiled(vault, MORNING + timedelta(days=1)).notices if d.path == path]
    (vault.root / "raw/articles/testing.md").unlink()
    for dry_run in (True, False):
        report = compile_vault(vault, Options(dry_run=dry_run), MORNING + timedelta(days=2), silent)
        (named,) = [d for d in report.notices if d.path == path]
        assert (
            named.code == "rests-on-nothing"
            and "no source supports it any more: its source no longer exists" in named.message
        )
        assert "delete the page" in named.hint and article.read_bytes() == edited
    assert [d.path for d in compiled(vault, MORNING + timedelta(days=3)).notices if d.code == named.code] == [path]
    article.unlink()
    assert not [d for d in compiled(vault, MORNING + timedelta(days=4)).notices if d.code == named.code]


def test_a_summary_that_a_human_wrote_in_takes_the_claims_of_its_source_and_keeps_their_words(vault: Vault) -> None:
    compiled(vault)
    summary = vault.root / "wiki/summaries/testing.md"
    remark = "\n> [!human]\n> I doubt it.\n\n## Claims\n"
    summary.write_text(summary.read_text().replace("\n## Claims\n", remark) + "\n> [!human] To do\n")
    raw = vault.root / "raw/articles/testing.md"
    raw.write_text(
        TESTING.replace("recalling an answer from memory", "recalling an answer out of memory")
        + "\nRetrieval practice is used for the preparation of exams.\n"
    )
    report = compiled(vault, MORNING + timedelta(days=1))
    text = summary.read_text()
    assert remark in text and text.endswith("\n> [!human] To do\n")
    assert "out of memory" in text and "preparation of exams" in text and "from memory" not in text
    assert not (vault.root / "output/proposals/wiki/summaries/testing.md").exists()
    assert "wiki/summaries/testing.md" in report.written
    assert verify(vault, silent).clean
    before = tree(vault)
    assert compiled(vault, MORNING + timedelta(days=2)).nothing_new and tree(vault) == before


def conflicted(text: str, ours: str, theirs: str) -> str:
    line = next(x for x in text.split("\n") if ours in x)
    block = f"<<<<<<< HEAD\n{line}\n=======\n{line.replace(ours, theirs)}\n>>>>>>> other\n"
    return text.replace(line + "\n", block, 1)


def test_conflict_markers_in_a_product_are_gone_after_a_compile(vault: Vault) -> None:
    compiled(vault)
    before = tree(vault)
    for path in ("wiki/concepts/retrieval-practice.md", "learning/flashcards/retrieval-practice.md", "wiki/_index.md"):
        file = vault.root / path
        word = "retrieval-practice" if path.endswith("_index.md") else "generat"
        file.write_text(conflicted(file.read_text(), word, f"{word}x"))
    report = compiled(vault, MORNING + timedelta(days=1))
    assert report.failures == []
    assert changed(before, tree(vault)) <= {"wiki/_log.md", "ledger/builds.jsonl"}


def test_conflict_markers_in_what_a_human_wrote_are_named_and_left(vault: Vault) -> None:
    compiled(vault)
    article = vault.root / "wiki/concepts/retrieval-practice.md"
    deck = vault.root / "learning/flashcards/retrieval-practice.md"
    article.write_text(conflicted(article.read_text() + "\nMine.\n", "Mine.", "Yours."))
    deck.write_text(conflicted(deck.read_text() + "\nQ: Mine?\nA: Mine.\n", "A: Mine.", "A: Yours."))
    kept = (article.read_bytes(), deck.read_bytes())
    report = compiled(vault, MORNING + timedelta(days=1))
    assert {(d.path, d.code) for d in report.failures} == {
        ("wiki/concepts/retrieval-practice.md", "conflict"),
        ("learning/flashcards/retrieval-practice.md", "conflict"),
    }
    assert all(d.line > 1 for d in report.failures)
    assert (article.read_bytes(), deck.read_bytes()) == kept


def test_properties_that_a_human_added_survive_every_compile(vault: Vault) -> None:
    compiled(vault)
    article = vault.root / "wiki/concepts/retrieval-practice.md"
    article.write_text(article.read_text().replace("generated:", "learning: false\ngenerated:", 1))
    raw = vault.root / "raw/articles/testing.md"
    raw.write_text(TESTING.replace("recalling an answer from memory", "recalling an answer out of memory"))
    compiled(vault, MORNING + timedelta(days=1))
    text = article.read_text()
    assert "learning: false\n" in text and "out of memory" in text


def test_a_card_that_a_human_deleted_does_not_come_back(vault: Vault) -> None:
    compiled(vault)
    deck = vault.root / "learning/flashcards/retrieval-practice.md"
    text = deck.read_text()
    gone, *rest = parse_deck(text, "x").cards
    assert gone.id is not None and rest
    deck.write_text(splice_card(text, gone, None))
    compiled(vault, MORNING + timedelta(days=1))
    forget_caches(vault)
    compiled(vault, MORNING + timedelta(days=2), fresh=True)
    assert gone.id not in {c.id for d in vault.decks() for c in d.cards}
    deck.unlink()  # a whole file is a product: it comes back, without the card
    compiled(vault, MORNING + timedelta(days=3))
    assert [c.id for c in parse_deck(deck.read_text(), "x").cards] == [c.id for c in rest]


def flag(vault: Vault, card: CardId, reason: str, at: datetime) -> LogWriter:
    """The human flags a card in the log; gives the hand that wrote it."""
    writer = LogWriter(vault.guard(Scope.LOG), (), zone=UTC, via="cli")
    writer.write(Flag(writer.stamp(at), card, reason))
    return writer


def cards_of(vault: Vault) -> dict[CardId, Card]:
    return {c.id: c for d in vault.decks() for c in d.cards if c.id is not None}


def test_a_card_flagged_as_wrong_is_retired_and_comes_back_when_the_flag_is_undone(vault: Vault) -> None:
    compiled(vault)
    before = cards_of(vault)
    card = min(before)
    day = MORNING + timedelta(hours=1)
    writer = flag(vault, card, "wrong", day)
    assert not compiled(vault, MORNING + timedelta(days=1)).nothing_new
    assert card not in cards_of(vault)
    retired = [e for e in vault.ledger_events(ledger.IDS)[0] if e["type"] == "retire" and e["id"] == card]
    assert [e["reason"] for e in retired] == ["you flagged it: wrong"]
    others = {id_: c.question for id_, c in cards_of(vault).items()}
    assert before[card].question not in others.values()
    compiled(vault, MORNING + timedelta(days=2), fresh=True)
    assert {id_: c.question for id_, c in cards_of(vault).items()} == others
    (flagged,) = read_log(vault.root).events
    writer.write(Undo(writer.stamp(day + timedelta(hours=1)), flagged.id))
    compiled(vault, MORNING + timedelta(days=3))
    assert card in cards_of(vault)
    said = [e for e in vault.ledger_events(ledger.DECISIONS)[0] if e["type"] == "card-flag"]
    assert [e["reason"] for e in said] == ["wrong", ""]


def test_a_flag_that_asks_for_better_words_takes_no_card_away(vault: Vault) -> None:
    compiled(vault)
    before = {id_: c.question for id_, c in cards_of(vault).items()}
    for card in before:
        flag(vault, card, "too long", MORNING)
    compiled(vault, MORNING + timedelta(days=1))
    assert {id_: c.question for id_, c in cards_of(vault).items()} == before


def test_a_flag_that_came_with_another_log_is_seen_and_ratings_give_nothing_to_do(vault: Vault) -> None:
    compiled(vault)
    log = vault.root / LOG_PATH
    card, other = sorted(cards_of(vault))[:2]
    writer = LogWriter(vault.guard(Scope.LOG), (), zone=UTC, via="cli")
    rated = Review(writer.stamp(MORNING), other, Rating.GOOD, 900)
    writer.write(rated)
    writer.write(Undo(writer.stamp(MORNING), rated.id))
    compiled(vault, MORNING + timedelta(hours=2))
    writer.write(Review(writer.stamp(MORNING), other, Rating.GOOD, 900))
    assert last_report(vault, VERSIONS["extractive"]) is not None  # there is nothing to do
    flagged = Flag(writer.stamp(MORNING), card, "wrong")
    new = log.with_suffix(".new")  # as git and what syncs write: another file takes the place of the old
    new.write_bytes(log.read_bytes() + encode(flagged) + b"\n")
    new.replace(log)
    assert not compiled(vault, MORNING + timedelta(days=1)).nothing_new
    assert card not in cards_of(vault)


def test_a_flag_set_while_a_compile_runs_is_seen_by_the_next(vault: Vault) -> None:
    compiled(vault)
    card = min(cards_of(vault))
    (vault.root / "raw/more.md").write_text("# More\n\nSpacing is the spreading of study over time.\n")
    told: list[str] = []

    def flag_at_the_end(event: dict[str, Any]) -> None:
        if event["event"] == "save" and not told:
            told.append(event["event"])
            flag(vault, card, "wrong", MORNING)

    compile_vault(vault, Options(), MORNING + timedelta(hours=1), flag_at_the_end)
    assert told and card in cards_of(vault)
    compiled(vault, MORNING + timedelta(days=1))
    assert card not in cards_of(vault)


def test_a_flagged_card_that_the_human_has_edited_stays_the_humans(vault: Vault) -> None:
    compiled(vault)
    card = min(cards_of(vault))
    deck = next(d for d in vault.decks() for c in d.cards if c.id == card)
    old = next(c for c in deck.cards if c.id == card)
    (vault.root / deck.path).write_text(splice_words(deck.text, old, "Mine?", "Mine."))
    flag(vault, card, "wrong", MORNING)
    compiled(vault, MORNING + timedelta(days=1))
    assert cards_of(vault)[card].question == "Mine?"


def test_a_card_that_only_seems_to_be_gone_is_not_taken_for_deleted(vault: Vault) -> None:
    compiled(vault)
    deck = vault.root / "learning/flashcards/retrieval-practice.md"
    text = deck.read_text()
    first, second, *_ = parse_deck(text, "x").cards
    # A heading inside an answer parts the comment from its card; a subfolder is not read, and is the human's place.
    deck.write_text(splice_card(text, second, None).replace(first.answer, f"{first.answer}\n\n### My note\n"))
    deeper = vault.root / "learning/flashcards/mine/best.md"
    deeper.parent.mkdir()
    deeper.write_text(text[second.start : second.end] + "\n")
    compiled(vault, MORNING + timedelta(days=1))
    decisions = vault.root / "ledger/decisions.jsonl"
    assert not decisions.exists() or "card-deleted" not in decisions.read_text()


def test_cards_that_never_reached_their_deck_are_not_taken_for_deleted(vault: Vault) -> None:
    raw = vault.root / "raw/articles/testing.md"
    raw.write_text("# Retrieval practice\n\nRetrieval practice is the act of recalling an answer from memory.\n")
    compiled(vault)
    deck = vault.root / "learning/flashcards/retrieval-practice.md"
    raw.write_text(TESTING)
    edit = deck.read_text() + "\nQ: Mine?\nA: Mine.\n"

    def meanwhile(event: dict[str, Any]) -> None:
        if event["event"] == "save":
            deck.write_text(edit)

    report = compile_vault(vault, Options(), MORNING + timedelta(days=1), meanwhile)
    assert [d.code for d in report.notices if d.path.endswith("retrieval-practice.md")] == ["edited-meanwhile"]
    compiled(vault, MORNING + timedelta(days=2))
    assert len(parse_deck(deck.read_text(), "x").cards) > 2 and "Mine?" in deck.read_text()
    decisions = vault.root / "ledger/decisions.jsonl"
    assert not decisions.exists() or "card-deleted" not in decisions.read_text()


def test_a_deleted_card_that_the_human_puts_back_is_back(vault: Vault) -> None:
    compiled(vault)
    deck = vault.root / "learning/flashcards/retrieval-practice.md"
    text = deck.read_text()
    gone = parse_deck(text, "x").cards[0]
    deck.write_text(splice_card(text, gone, None))
    compiled(vault, MORNING + timedelta(days=1))
    deck.write_text(text)
    compiled(vault, MORNING + timedelta(days=2))
    compiled(vault, MORNING + timedelta(days=3), fresh=True)
    assert gone.id in {c.id for c in parse_deck(deck.read_text(), "x").cards}


def test_bytes_that_are_no_text_are_named_and_never_written_over(vault: Vault) -> None:
    compiled(vault)
    files = [
        vault.root / p for p in ("learning/flashcards/retrieval-practice.md", "wiki/concepts/retrieval-practice.md")
    ]
    for file in files:
        file.write_bytes(file.read_bytes() + b"\ncaf\xe9\n")
    kept = [file.read_bytes() for file in files]
    raw = vault.root / "raw/articles/testing.md"
    raw.write_text(TESTING + "\nRetrieval practice is used for the preparation of exams.\n")
    report = compiled(vault, MORNING + timedelta(days=1))
    assert {d.path for d in report.failures if d.code == "not-utf-8"} == {
        f.relative_to(vault.root).as_posix() for f in files
    }
    assert [file.read_bytes() for file in files] == kept


@pytest.mark.parametrize("deleted", ["its own source", "the source of the other deck"])
def test_a_moved_card_returns_when_the_deck_it_is_in_goes_and_goes_with_its_own_source(
    vault: Vault, deleted: str
) -> None:
    compiled(vault)
    decks = {deck.path: deck.cards for deck in vault.decks()}
    names = {
        path: {c.summary.rpartition("/")[2] for card in cards for c in card.support} for path, cards in decks.items()
    }
    own = next(path for path in decks if names[path] == {"spacing"})
    other = next(path for path in decks if names[path] == {"testing"})
    text, card = (vault.root / own).read_text(), decks[own][0]
    (vault.root / own).write_text(splice_card(text, card, None))
    with (vault.root / other).open("a") as file:
        file.write(f"\n{text[card.start : card.end]}\n")
    compiled(vault, MORNING + timedelta(days=1))
    assert card.id is not None and card.id in (vault.root / other).read_text()
    assert card.id not in (vault.root / own).read_text()
    gone = "spacing" if deleted == "its own source" else "testing"
    (vault.root / f"raw/articles/{gone}.md").unlink()
    compiled(vault, MORNING + timedelta(days=2))
    assert [d.path for d in vault.decks() for c in d.cards if c.id == card.id] == ([] if gone == "spacing" else [own])


def test_a_card_that_a_human_moved_stays_where_it_was_put_and_follows_its_claim(vault: Vault) -> None:
    compiled(vault)
    deck = vault.root / "learning/flashcards/retrieval-practice.md"
    mine = vault.root / "learning/flashcards/my-exam.md"
    text = deck.read_text()
    card = next(c for c in parse_deck(text, "x").cards if "recalling an answer from memory" in c.answer)
    deck.write_text(splice_card(text, card, None))
    mine.write_text(f"# My exam\n\nMust know this.\n\n## Definitional\n\n{text[card.start : card.end]}\n")
    compiled(vault, MORNING + timedelta(days=1))
    assert card.id not in {c.id for c in parse_deck(deck.read_text(), "x").cards}
    raw = vault.root / "raw/articles/testing.md"
    raw.write_text(TESTING.replace("recalling an answer from memory", "recalling an answer out of memory"))
    compiled(vault, MORNING + timedelta(days=2))
    (moved,) = parse_deck(mine.read_text(), "x").cards
    assert moved.id == card.id and "out of memory" in moved.answer
    assert mine.read_text().startswith("# My exam\n\nMust know this.\n")


def test_what_a_human_says_in_the_properties_counts(vault: Vault) -> None:
    compiled(vault)
    article = vault.root / "wiki/concepts/retrieval-practice.md"
    deck = vault.root / "learning/flashcards/retrieval-practice.md"
    summary = vault.root / "wiki/summaries/testing.md"
    article.write_text(
        article.read_text()
        .replace("freshness: normal", "freshness: stable")
        .replace("aliases: []", "aliases:\n  - testing")
    )
    deck.write_text(deck.read_text().replace("tags: []", "tags:\n  - exam"))
    summary.write_text(summary.read_text().replace("authority: 1", "authority: 3"))
    raw = vault.root / "raw/articles/testing.md"
    raw.write_text(TESTING + "\nRetrieval practice is used for the preparation of exams.\n")
    compiled(vault, MORNING + timedelta(days=1))
    compiled(vault, MORNING + timedelta(days=2), fresh=True)
    properties = read_properties(article.read_text())
    assert properties.text("freshness") == "stable" and "testing" in properties.texts("aliases")
    assert read_properties(deck.read_text()).texts("tags") == ("exam",) and "preparation of exams" in deck.read_text()
    assert read_properties(summary.read_text()).text("authority") == "3"
    raw.rename(raw.with_name("moved.md"))
    compiled(vault, MORNING + timedelta(days=3))
    assert read_properties(summary.read_text()).text("authority") == "3"


def test_a_changed_claim_is_known_again_though_all_products_are_gone(vault: Vault) -> None:
    compiled(vault)
    ids = {c.id for d in vault.decks() for c in d.cards}
    for folder in ("wiki", "learning", ".retain"):
        shutil.rmtree(vault.root / folder)
    raw = vault.root / "raw/articles/testing.md"
    raw.write_text(TESTING.replace("recalling an answer from memory", "recalling an answer out of memory"))
    compiled(vault, MORNING + timedelta(days=1))
    assert {c.id for d in vault.decks() for c in d.cards} == ids


def write_needy(vault: Vault) -> Path:
    """Write two documents that use a capstan without saying what it is; return where a third could say it."""
    for path, words in NEEDY.items():
        (vault.root / path).write_text(words)
    return vault.root / "raw/articles/gear.md"


def test_a_gap_is_filled_by_an_answer_not_by_the_question_going_away(vault: Vault) -> None:
    answer = write_needy(vault)
    compiled(vault)
    gaps = vault.root / "learning/gaps.md"
    assert "**Capstan**: what is it? It is used in 2 sources" in gaps.read_text().partition("## Resolved")[0]
    answer.write_text(NEEDED)
    compiled(vault, MORNING + timedelta(days=1))
    assert "**Capstan**: what is it? It is used in 2 sources" in gaps.read_text().partition("## Resolved")[2]
    answer.unlink()
    for path in NEEDY:
        (vault.root / path).unlink()
    compiled(vault, MORNING + timedelta(days=2))
    assert "**Capstan**" not in gaps.read_text()


def test_the_humans_files_are_never_touched(vault: Vault) -> None:
    before = {p: d for p, d in tree(vault).items() if p.startswith(("raw/", "insights/", "retain.toml"))}
    compiled(vault)
    assert {p: d for p, d in tree(vault).items() if p.startswith(("raw/", "insights/", "retain.toml"))} == before


def test_a_bad_source_is_named_and_the_others_go_on(vault: Vault) -> None:
    (vault.root / "raw/articles/empty.md").write_bytes(b"")
    (vault.root / "raw/articles/picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(64))
    report = compiled(vault)
    assert [(d.path, d.code) for d in report.failures] == [("raw/articles/empty.md", "unreadable")]
    assert report.sources == {"read": 2, "recorded": 1, "unchanged": 0, "failed": 1, "copies": 0}
    again = compiled(vault, MORNING + timedelta(days=1))
    assert again.nothing_new and [d.path for d in again.failures] == ["raw/articles/empty.md"]


def test_a_compile_of_one_source_leaves_changes_to_the_others_for_later(vault: Vault) -> None:
    compiled(vault)
    before = tree(vault)
    (vault.root / "raw/articles/testing.md").write_text("# Gone\n")
    (vault.root / "raw/articles/sleep.md").write_text(
        "# Sleep\n\nSleep is a state of rest in which memories are replayed.\n"
    )
    only = Options(only=("raw/articles/sleep.md",))
    compile_vault(vault, only, MORNING + timedelta(days=1), silent)
    after = tree(vault)
    assert "wiki/concepts/sleep.md" in after
    assert all(
        after[p] == before[p] for p in before if p.startswith(("wiki/concepts", "wiki/summaries", "learning/flash"))
    )
    compiled(vault, MORNING + timedelta(days=2))
    assert "wiki/concepts/retrieval-practice.md" not in tree(vault)


@pytest.mark.real_workers
def test_a_reader_that_dies_takes_nothing_back(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled(vault)
    before = tree(vault)
    forget_caches(vault)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(WorkerFailed, match="nothing was written"):
        compiled(vault, MORNING + timedelta(days=1))
    assert tree(vault) == before


def test_a_pipe_among_the_documents_is_named_by_every_compile_and_read_by_none(vault: Vault) -> None:
    compiled(vault)
    os.mkfifo(vault.root / "raw/articles/pipe.md")
    for days in (1, 2):
        (notice,) = compiled(vault, MORNING + timedelta(days=days)).notices
        assert (notice.path, notice.code) == ("raw/articles/pipe.md", "no-file")


_SLOW = "raw/articles/slow.txt"
_IN_A_HURRY = ("-c", "from compiler.workers import process; process.SECONDS = 4; process.main()")


@pytest.mark.real_workers
@pytest.mark.torture
@pytest.mark.skipif(not hasattr(signal, "SIGXCPU"), reason="this system bounds no processor time")
def test_a_document_that_took_too_long_is_not_read_again_until_it_changes_or_is_named(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compiler.workers.pool.PROGRAM", _IN_A_HURRY)
    (vault.root / _SLOW).write_text("Memory is a store of what was learned. " * 20_000)
    read: list[str] = []

    def compile_(**options: Any) -> list[tuple[str, str, str]]:
        read.clear()
        found = compile_vault(vault, Options(**options), MORNING, lambda e: read.append(str(e.get("path"))))
        return [(d.path, d.message, d.hint) for d in found.failures]

    failure = compile_()
    assert failure == [
        (
            _SLOW,
            "reading the document took more processor time than allowed",
            f"split the document; to try again, run `retain compile {_SLOW}`",
        )
    ]
    assert _SLOW in read
    assert compile_() == failure and read == []
    assert compile_(only=(_SLOW,)) == failure and read == [_SLOW]
    (vault.root / _SLOW).write_text("Memory is a store of what was learned.\n")
    assert compile_() == [] and _SLOW in read


@pytest.mark.parametrize("what", ["raw", "raw/articles", "raw/articles/testing.md"])
def test_what_cannot_be_seen_just_now_is_not_gone(vault: Vault, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    compiled(vault)
    before = tree(vault)
    with closing(Steps.of(vault, formats.VERSIONS)) as steps:
        steps.database.run("DELETE FROM raw")
        steps.set_state(**{STAMPS: b""})
    target = str(vault.root / what)
    real_scandir, real_open = os.scandir, Path.open

    def scandir(path: Any) -> Any:
        if str(path) == target:
            raise OSError(errno.EIO, "Input/output error")
        return real_scandir(path)

    def open_(path: Path, *args: Any, **kwargs: Any) -> Any:
        if str(path) == target:
            raise OSError(errno.EIO, "Input/output error")
        return real_open(path, *args, **kwargs)

    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.setattr(Path, "open", open_)
    report = compiled(vault, MORNING + timedelta(days=1))
    assert [d.path for d in report.failures] == [what]
    monkeypatch.undo()
    assert changed(before, tree(vault)) == set()


def test_raw_that_is_missing_altogether_is_refused(vault: Vault) -> None:
    compiled(vault)
    before = products(tree(vault))
    (vault.root / "raw").rename(vault.root / "elsewhere")
    with pytest.raises(Refused, match="raw/ is empty"):
        compiled(vault, MORNING + timedelta(days=1))
    assert products(tree(vault)) == before


def test_a_file_saved_while_it_is_compiled_loses_nothing_and_is_read_the_next_time(vault: Vault) -> None:
    compiled(vault)
    before = products(tree(vault))
    raw = vault.root / "raw/articles/testing.md"
    raw.write_text(TESTING.replace("from memory", "out of memory"))
    real = WorkerPool.ask_all

    def meanwhile(crew: WorkerPool, messages: Any, **more: Any) -> Any:
        raw.write_text(TESTING)
        return real(crew, messages, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WorkerPool, "ask_all", meanwhile)
        with pytest.raises(WorkerFailed, match="changed while it was being read"):
            compiled(vault, MORNING + timedelta(days=1))
    assert products(tree(vault)) == before
    raw.write_text(TESTING.replace("from memory", "out of memory"))
    assert compiled(vault, MORNING + timedelta(days=2)).failures == []
    assert "out of memory" in (vault.root / "learning/flashcards/retrieval-practice.md").read_text()


def test_a_clock_behind_an_earlier_build_changes_nothing_but_dates(vault: Vault) -> None:
    compiled(vault, MORNING + timedelta(hours=3))
    before = tree(vault)
    raw = vault.root / "raw/articles/testing.md"
    kept = raw.read_bytes()
    raw.unlink()
    compiled(vault, MORNING + timedelta(hours=4))
    raw.write_bytes(kept)
    compiled(vault, MORNING)
    touched = changed(before, tree(vault))
    assert not {p for p in touched if p.startswith(("wiki/concepts", "learning/flash"))}
    assert compiled(vault, MORNING + timedelta(minutes=1)).nothing_new


def test_two_clones_that_each_added_a_file_of_one_stem_merge_into_two_sources(vault: Vault, tmp_path: Path) -> None:
    compiled(vault)
    twin = tmp_path / "twin"
    shutil.copytree(vault.root, twin)
    (vault.root / "raw/articles/notes.md").write_text(
        "# Sleep\n\nSleep is a state of rest in which memories are replayed.\n"
    )
    (twin / "raw/papers").mkdir(parents=True)
    (twin / "raw/papers/notes.md").write_text("# Diet\n\nA diet is the sum of the food that an organism eats.\n")
    compiled(vault, MORNING + timedelta(days=1))
    compiled(open_vault(str(twin), None, twin), MORNING + timedelta(days=1, hours=1))
    shutil.copytree(twin / "raw/papers", vault.root / "raw/papers")
    for ledger_file in ("ids", "builds"):
        path = vault.root / f"ledger/{ledger_file}.jsonl"
        path.write_bytes(path.read_bytes() + (twin / f"ledger/{ledger_file}.jsonl").read_bytes())
    compiled(vault, MORNING + timedelta(days=2))
    sources = {read_properties(p.read_text()).text("source") for p in (vault.root / "wiki/summaries").glob("*.md")}
    assert {"raw/articles/notes.md", "raw/papers/notes.md"} <= sources
    assert verify(vault, silent).clean


def test_ticks_and_decisions_on_gaps_survive(vault: Vault) -> None:
    answer = write_needy(vault)
    compiled(vault)
    gaps = vault.root / "learning/gaps.md"
    text = gaps.read_text()
    line = next(x for x in text.split("\n") if x.startswith("- [ ] **Capstan**"))
    gaps.write_text(text.replace(line, line.replace("- [ ]", "- [x]")))
    answer.write_text(NEEDED)
    compiled(vault, MORNING + timedelta(days=1))
    ticked = line.rpartition("^g-")[2]
    resolved = gaps.read_text().partition("## Resolved")[2]
    assert f"^g-{ticked}" in resolved
    decisions = [json.loads(x) for x in (vault.root / "ledger/decisions.jsonl").read_text().splitlines()]
    assert [(d["gap"], d["decision"], d["via"]) for d in decisions] == [(ticked, "resolve", "tick")]


def test_a_dry_run_writes_nothing_at_all(vault: Vault) -> None:
    before = {p.as_posix(): p.stat().st_mtime_ns for p in vault.root.rglob("*")}
    report = compile_vault(vault, Options(dry_run=True), MORNING, silent)
    assert "wiki/concepts/retrieval-practice.md" in report.written
    assert {p.as_posix(): p.stat().st_mtime_ns for p in vault.root.rglob("*")} == before


def test_two_compiles_at_once_the_second_is_told_who_holds_the_vault(vault: Vault) -> None:
    with lock(vault.root, "publish", purpose="compiling"), pytest.raises(LockHeld, match=str(os.getpid())):
        compiled(vault)


def test_an_unknown_engine_is_refused_by_name(vault: Vault) -> None:
    with pytest.raises(UsageError, match="there is no engine named 'gpt'"):
        compile_vault(vault, Options(engine="gpt"), MORNING, silent)


@pytest.fixture
def killed(vault: Vault, torture: Callable[[int, int], int]) -> Vault:
    """The vault after some compiles, each killed at a random moment."""
    rng = random.Random(20261122)
    script = (
        "import sys; from pathlib import Path; from datetime import datetime, UTC\n"
        "from compiler.build.compile import Options, compile_vault; from vault.vault import open_vault\n"
        "from compiler.workers import pool; from tests.in_process import DirectWorker, every_candidate\n"
        "pool.start_worker = DirectWorker\n"
        "v = open_vault(sys.argv[1], None, Path('/'))\n"
        "with every_candidate():\n"  # as in this process
        "    compile_vault(v, Options(), datetime(2026, 11, 21, 9, tzinfo=UTC), lambda e: None)"
    )
    for _ in range(torture(12, 3)):
        child = subprocess.Popen([sys.executable, "-c", script, str(vault.root)], start_new_session=True)
        time.sleep(rng.uniform(0.15, 1.0))
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    return vault


def test_a_compile_killed_at_any_moment_leaves_whole_files_and_the_next_one_completes(
    tmp_path: Path, killed: Vault
) -> None:
    for path in killed.root.rglob("*.md"):
        assert path.read_bytes().endswith(b"\n"), f"{path} is half written"
    compiled(killed)
    assert not [p for p in killed.root.rglob(".retain-tmp-*") if ".retain" not in p.parts]
    whole = tmp_path / "whole"
    (whole / "raw/articles").mkdir(parents=True)
    for name in ("retain.toml", "raw/articles/spacing.md", "raw/articles/testing.md"):
        (whole / name).write_bytes((killed.root / name).read_bytes())
    twin = open_vault(str(whole), None, whole)
    compiled(twin)
    assert changed(products(tree(killed)), products(tree(twin))) <= {"wiki/_log.md"}


def test_a_compile_says_that_a_ledger_is_ahead_of_the_clock(vault: Vault) -> None:
    compiled(vault, MORNING.replace(year=2030))
    notices = [d for d in compiled(vault, fresh=True).notices if d.code == "ledger-ahead"]
    assert "ledger/ids.jsonl" in [d.path for d in notices]
    assert all("dated 2030-11-21T" in d.message and "1,461 days in the future" in d.message for d in notices)


def test_an_included_file_that_is_a_source_itself_is_not_called_unread(tmp_path: Path) -> None:
    ropes = "Ropes\n=====\n\nA halyard is a rope that hoists a sail.\n\n.. include:: ../parts/knots.rst\n"
    mast = "A mast is a pole that carries sails."
    thesis = rf"\documentclass{{book}}\begin{{document}}{mast} \input{{chapters/one}}\input{{two}}\end{{document}}"
    knots = "Knots\n=====\n\nA bowline is a knot that forms a loop which does not slip.\n"
    one = "A sheet is a rope that trims a sail."
    vault = vault_with_sources(tmp_path, {"ropes.rst": ropes, "knots.rst": knots, "thesis.tex": thesis, "one.tex": one})
    notices = compiled(vault, MORNING).notices
    assert [(d.path, d.message.split()[0]) for d in notices if "was not read" in d.message] == [
        ("raw/articles/thesis.tex", "two")
    ]
