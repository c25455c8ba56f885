"""A code block that the user leaves open in a deck hides the cards below it from a compile: it adds none again."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.model.report import Report
from tests.builders import copy_vault
from tests.compiler.conftest import new_vault
from vault.files.guard import Scope
from vault.log import ledger
from vault.log.events import Flag
from vault.log.review_log import LogWriter
from vault.model.card import parse_deck, splice_card
from vault.vault import Vault

MORNING = datetime(2026, 11, 21, 9, tzinfo=UTC)
DECK = "learning/flashcards/kite.md"
KITES = """\
# Kites

A kite is a tethered craft that flies by the lift of the wind.
Kites rise because moving air pushes their surface upwards.
"""
TIDES = "# Tides\n\nA tide is the daily rise of the sea that the pull of the moon causes.\n"
OPENED = "\n```python\nx = 1"


def built(vault: Vault, days: int) -> Report:
    return compile_vault(vault, Options(), MORNING + timedelta(days=days), lambda event: None)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    vault = new_vault(tmp_path_factory.mktemp("open-code") / "vault")
    shutil.rmtree(vault.root / "raw/articles")
    write_source(vault, KITES)
    write_source(vault, TIDES, "tides")
    built(vault, 0)
    return vault.root


@pytest.fixture
def vault(compiled: Path, tmp_path: Path) -> Vault:
    return copy_vault(compiled, tmp_path / "vault")


def write_source(vault: Vault, text: str, name: str = "kites") -> None:
    (vault.root / "raw/articles").mkdir(exist_ok=True)
    (vault.root / f"raw/articles/{name}.md").write_text(text, encoding="utf-8")


def deck_of(vault: Vault) -> str:
    return (vault.root / DECK).read_text(encoding="utf-8")


def put(vault: Vault, text: str) -> None:
    (vault.root / DECK).write_text(text, encoding="utf-8")


def ids_in(text: str) -> list[str]:
    return re.findall(r"^%% card (\w{10})", text, re.MULTILINE)


def with_code(text: str, code: str) -> str:
    """Return a deck with lines below the answer of its first card."""
    return re.sub(r"^A: .*", lambda answer: answer[0] + code, text, count=1, flags=re.MULTILINE)


def recorded(vault: Vault) -> str:
    return (vault.root / ledger.IDS).read_text(encoding="utf-8")


def told(report: Report) -> list[tuple[str, int, str]]:
    return [(found.path, found.line, found.code) for found in report.failures]


@pytest.mark.parametrize("own_block", [False, True], ids=["never closed", "closed by a block of a later card"])
def test_a_deck_with_an_open_code_block_stays_as_it_is_until_it_is_closed(vault: Vault, own_block: bool) -> None:
    whole = deck_of(vault)
    cards = ids_in(whole)
    assert len(cards) == len(set(cards)) >= 2
    if own_block:
        last = whole.rindex("\nA: ")
        end = whole.index("\n", last + 1)
        whole = f"{whole[:end]}\n```python\ny = 2\n```{whole[end:]}"
        put(vault, whole)
        assert told(built(vault, 1)) == []
        whole = deck_of(vault)
    edited = with_code(whole, OPENED)
    line = edited.split("\n").index("```python") + 1
    put(vault, edited)
    births = recorded(vault)
    for days in (2, 3):
        report = built(vault, days)
        assert told(report) == [(DECK, line, "open-code")] and "close the code block" in report.failures[0].hint
        assert deck_of(vault) == edited and recorded(vault) == births
    write_source(vault, "# Reefs\n\nA reef is a ridge of rock that lies just below the surface of the sea.\n", "reefs")
    assert told(built(vault, 4)) == [(DECK, line, "open-code")]
    shutil.rmtree(vault.root / ".retain")
    assert told(built(vault, 5)) == [(DECK, line, "open-code")]
    assert deck_of(vault) == edited

    put(vault, with_code(whole, OPENED + "\n```"))
    closed = deck_of(vault)
    assert told(built(vault, 6)) == []
    assert ids_in(deck_of(vault)) == cards
    assert deck_of(vault) == closed
    assert not [e for e in recorded(vault).splitlines() if '"retire"' in e and any(c in e for c in cards)]


def test_cards_hidden_in_a_deck_to_which_the_user_moved_them_are_not_put_back_where_they_were(vault: Vault) -> None:
    text = deck_of(vault)
    body = text[text.index("# Kite") :]
    put(vault, text[: text.index("\n## ")] + "\n")
    mine = vault.root / "learning/flashcards/mine.md"
    mine.write_text(with_code(body, OPENED), encoding="utf-8")
    before = mine.read_bytes()
    assert [path for path, _, _ in told(built(vault, 1))] == ["learning/flashcards/mine.md"]
    assert mine.read_bytes() == before and not (vault.root / DECK).exists()
    mine.write_text(with_code(body, OPENED + "\n```"), encoding="utf-8")
    assert told(built(vault, 2)) == []
    assert ids_in(mine.read_text(encoding="utf-8")) == ids_in(text) and not (vault.root / DECK).exists()


def test_a_deck_whose_source_is_gone_stays_while_its_code_block_is_open(vault: Vault) -> None:
    edited = with_code(deck_of(vault), OPENED)
    put(vault, edited)
    (vault.root / "raw/articles/kites.md").unlink()
    for days in (1, 2):
        assert [code for _, _, code in told(built(vault, days))] == ["open-code"] and deck_of(vault) == edited
    write_source(vault, KITES)
    assert [code for _, _, code in told(built(vault, 3))] == ["open-code"] and deck_of(vault) == edited
    put(vault, edited.replace("x = 1", "x = 1\n```"))
    assert told(built(vault, 4)) == [] and ids_in(deck_of(vault)) == ids_in(edited)


def test_a_card_shown_as_an_example_in_a_closed_code_block_is_no_fault(vault: Vault) -> None:
    put(vault, deck_of(vault) + "\n```\nQ: An example?\nA: Yes.\n%% card zzzzzzzzz9 %%\n```\n")
    text = deck_of(vault)
    assert told(built(vault, 1)) == [] and deck_of(vault) == text


def test_a_flagged_card_that_the_user_edited_stays_the_users_while_code_hides_it(vault: Vault) -> None:
    *_, last = parse_deck(deck_of(vault), DECK).cards
    assert last.id is not None
    text = splice_card(deck_of(vault), last, replace(last, answer="My own words."))
    put(vault, text)
    writer = LogWriter(vault.guard(Scope.LOG), (), zone=UTC, via="cli")
    writer.write(Flag(writer.stamp(MORNING), last.id, "wrong"))
    built(vault, 1)
    events = recorded(vault)
    put(vault, with_code(text, OPENED))
    built(vault, 2)
    assert vault.ledger_events(ledger.DECISIONS)[0] == [] and recorded(vault) == events


def test_an_open_html_comment_hides_no_card_from_a_compile(vault: Vault) -> None:
    edited = with_code(deck_of(vault), " <!-- look it up")
    put(vault, edited)
    assert told(built(vault, 1)) == []
    shutil.rmtree(vault.root / ".retain")
    assert told(built(vault, 2)) == [] and deck_of(vault) == edited
