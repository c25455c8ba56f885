"""A card whose fact changed, in lines of text: the plain review, and `card show`."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cli.review.plain_review import review_plainly
from learning.cards import workspace as desks
from tests.commands import Run
from vault.config.settings import Settings, render_settings
from vault.log import ledger
from vault.log.events import Rating
from vault.model.card import parse_deck, stamp_of
from vault.vault import Vault, open_vault

DAY = datetime(2026, 11, 21, 12, tzinfo=UTC)
DECK = """\
# Peace

## Definitional

Q: When did the war end?
A: In 1659.
<!-- card aaaaaaaaa1 ?????? -->
"""
PATH = "learning/flashcards/peace.md"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """A card that was learnt when its answer was another."""
    root = tmp_path / "mind"
    for folder in ("learning/flashcards", "ledger"):
        (root / folder).mkdir(parents=True)
    (root / "retain.toml").write_text(render_settings(Settings("01KB0000000000000000000000", "Mind")))
    (card,) = parse_deck(DECK.replace("??????", "000000"), PATH).cards
    (root / PATH).write_text(DECK.replace("??????", stamp_of(card)))
    vault = open_vault(str(root), None, root)
    desks.rate(desks.open_desk(vault, DAY), "aaaaaaaaa1", Rating.EASY, via="cli")
    head = {"v": 1, "of": "card", "id": "aaaaaaaaa1", "q": "When did the war end?"}
    birth = {"type": "birth", "at": "2026-11-20T09:00:00.000Z", "a": "In 1648.\x1b]52;c;x\x07"}
    change = {"type": "change", "at": "2026-11-22T09:00:00.000Z", "a": "In 1659.", "how": "fact"}
    (root / ledger.IDS).write_bytes(ledger.encode(head | birth) + ledger.encode(head | change))
    return vault


def sit(vault: Vault, *keys: str) -> str:
    out = io.StringIO()
    typed = io.StringIO("".join(f"{key}\n" for key in keys))
    review_plainly(vault, clock=lambda: DAY + timedelta(days=2), source=typed, out=out)
    return out.getvalue()


def test_the_plain_review_says_what_the_answer_was(vault: Vault) -> None:
    out = sit(vault, "", "3")
    assert "Peace · definitional · changed since you last saw it\nQ: When did the war end?" in out
    assert "was: In 1648." in out and "A: In 1659." in out and "\x1b" not in out
    assert out.index("was: In 1648.") < out.index("A: In 1659.") < out.index("1 rated")


def test_the_plain_review_keeps_a_humans_words_beside_the_source(vault: Vault) -> None:
    path = vault.root / PATH
    path.write_text(path.read_text().replace("In 1659.", "Ask me again."))
    out = sit(vault, "")
    assert "was: In 1648." in out and "now in the source: In 1659." in out and "A: Ask me again." in out


def test_card_show_tells_the_history_of_the_words(vault: Vault, run: Run) -> None:
    found = run("card", "show", "aaaaaaaaa1", "--json", cwd=vault.root).json()
    assert found["edited"] is False
    assert [(v["at"], v["how"], v["answer"][:8]) for v in found["history"]] == [
        ("2026-11-20T09:00:00.000Z", None, "In 1648."),
        ("2026-11-22T09:00:00.000Z", "fact", "In 1659."),
    ]
    shown = run("card", "show", "aaaaaaaaa1", cwd=vault.root).stdout
    assert "until 2026-11-22 09:00 (fact): When did the war end?\n  In 1648." in shown
    assert "\x1b" not in shown


def retire(vault: Vault) -> None:
    """What the card says no longer holds, and it is gone from its deck."""
    (vault.root / PATH).unlink()
    event = {"v": 1, "of": "card", "id": "aaaaaaaaa1", "type": "retire", "at": "2026-11-22T10:00:00.000Z"}
    with (vault.root / ledger.IDS).open("ab") as file:
        file.write(ledger.encode(event | {"reason": "its evidence is gone"}))


def test_a_retracted_card_is_shown_with_its_words_and_why_it_went(vault: Vault, run: Run) -> None:
    assert run("card", "tag", "aaaaaaaaa1", "--add", "exam", cwd=vault.root).code == 0
    active = run("card", "show", "aaaaaaaaa1", "--json", cwd=vault.root).json()
    retire(vault)
    found = run("card", "show", "aaaaaaaaa1", "--json", cwd=vault.root).json()
    assert list(found) == [*active, "retired"] and found["tags"] == active["tags"] == ["exam"]
    assert (found["question"], found["answer"], found["path"]) == ("When did the war end?", "In 1659.", None)
    assert found["retired"] == {"at": "2026-11-22T10:00:00.000Z", "reason": "its evidence is gone"}
    assert (found["status"], found["reps"], len(found["history"])) == ("retracted, changed", 1, 2)
    shown = run("card", "show", "aaaaaaaaa1", cwd=vault.root).stdout
    for words in (
        "A: In 1659.",
        "retired 2026-11-22 10:00: its evidence is gone",
        "(fact): When did",
        "2026-11-21 12:00  Easy",
    ):
        assert words in shown
    assert re.search(r"^tags +exam$", shown, re.MULTILINE)
    assert "\x1b" not in shown
    for unknown in ("zzzzzzzzz9", "nobody", "\udcff"):
        assert run("card", "show", unknown, cwd=vault.root).code == 2


def test_trace_tells_of_a_retracted_card(vault: Vault, run: Run) -> None:
    retire(vault)
    found = run("trace", "aaaaaaaaa1", "--json", cwd=vault.root).json()
    assert found["what"].startswith("When did the war end?\nIn 1659.\nretired 2026-11-22 10:00: ")
    assert found["retired"]["reason"] == "its evidence is gone" and found["claims"] == []
    assert [v["how"] for v in found["history"]] == [None, "fact"]
    shown = run("trace", "aaaaaaaaa1", cwd=vault.root)
    assert shown.code == 0 and "in ledger/ids.jsonl\n" in shown.stdout and "\x1b" not in shown.stdout


def test_stats_count_retracted_cards_that_were_reviewed(vault: Vault, run: Run) -> None:
    assert run("stats", "--json", cwd=vault.root).json()["cards"]["retracted"] == 0
    retire(vault)
    event = {"v": 1, "of": "card", "id": "aaaaaaaaa2", "type": "retire", "at": "2026-11-22T10:00:00.000Z"}
    with (vault.root / ledger.IDS).open("ab") as file:
        file.write(ledger.encode(event))  # never reviewed: nobody misses it
    assert run("stats", "--json", cwd=vault.root).json()["cards"]["retracted"] == 1


def test_what_a_person_reads_is_on_the_clock_of_the_vault(vault: Vault, run: Run) -> None:
    retire(vault)
    settings = Settings("01KB0000000000000000000000", "Mind", timezone="Asia/Tokyo")
    (vault.root / "retain.toml").write_text(render_settings(settings))
    shown = run("card", "show", "aaaaaaaaa1", cwd=vault.root).stdout
    assert "retired 2026-11-22 19:00: " in shown and "until 2026-11-22 18:00 (fact)" in shown
    assert "2026-11-21 21:00  Easy" in shown
    assert "retired 2026-11-22 19:00: " in run("trace", "aaaaaaaaa1", cwd=vault.root).stdout
    found = run("card", "show", "aaaaaaaaa1", "--json", cwd=vault.root).json()
    assert found["retired"]["at"] == "2026-11-22T10:00:00.000Z"
