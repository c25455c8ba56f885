"""`catch-up`, `pause`, `card postpone` and `card advance`, by the commands alone; and counts that agree."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from learning.cards.workspace import open_desk
from learning.pages.today import overview_of
from learning.review.choices import choices
from learning.stats.overview import daybook
from learning.study_day import StudyCalendar
from tests.commands import Run
from tests.learning.backlog import after_days, study, vault_of
from vault.vault import Vault, open_vault

AWAY = 30


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """A vault of 200 cards, 150 of them met in 15 days, the last of which is 31 days ago."""
    vault = vault_of(tmp_path / "mind", 200)
    today = datetime.now(UTC).replace(hour=9, minute=0, second=0, microsecond=0)
    after_days(vault, 15, today - timedelta(days=15 + AWAY))
    return vault


def test_a_plan_is_shown_taken_changed_ended_and_undone(run: Run, vault: Vault) -> None:
    shown = run("catch-up", "--dry-run", "--json", cwd=vault.root).json()
    assert shown["event"] is None and shown["plan"]["per_day"] < shown["plan"]["waiting"]
    taken = run("catch-up", cwd=vault.root).stdout
    assert f"{shown['plan']['waiting']} waiting: {shown['plan']['per_day']} a day, cleared by " in taken
    assert run("due", "--json", cwd=vault.root).json()["today"]["due"] == shown["plan"]["per_day"]
    other = run("catch-up", "--per-day", "40", "--json", cwd=vault.root).json()
    assert other["event"]["type"] == "catch_up" and other["event"]["per_day"] == 40
    assert run("status", "--json", cwd=vault.root).json()["today"]["due"] == 40
    assert run("undo", cwd=vault.root).stdout.startswith("undone: the catch-up plan")
    assert run("due", "--json", cwd=vault.root).json()["today"]["due"] == shown["plan"]["per_day"]
    assert "the plan has ended" in run("catch-up", "--end", cwd=vault.root).stdout
    assert "there is no catch-up plan" in run("catch-up", "--end", cwd=vault.root).stdout
    run("catch-up", "--all", cwd=vault.root)
    assert run("due", "--json", cwd=vault.root).json()["today"]["due"] == shown["plan"]["waiting"]
    assert run("catch-up", "--all", "--end", cwd=vault.root).code == 2
    nothing = run("catch-up", "--per-day", "5000", cwd=vault.root).stdout
    assert nothing.startswith("nothing to catch up on: ") and "undo" not in nothing


def test_a_pause_is_made_shown_ended_and_undone(run: Run, vault: Vault) -> None:
    assert run("pause", cwd=vault.root).stdout.startswith("not paused")
    until = (datetime.now(UTC) + timedelta(days=9)).date()
    assert run("pause", "--until", str(until), "--json", cwd=vault.root).json()["paused_until"] == str(until)
    due = run("due", "--json", cwd=vault.root).json()
    assert due["due"] == due["new"] == [] and "reviews are paused until" in run("due", cwd=vault.root).stdout
    refused = run("catch-up", cwd=vault.root)
    assert refused.code == 2 and "retain pause --end" in refused.stderr
    assert run("pause", "--end", cwd=vault.root).stdout.startswith("the pause has ended")
    assert run("due", "--json", cwd=vault.root).json()["due"]
    assert run("undo", cwd=vault.root).stdout.startswith("undone: the pause")
    assert run("pause", "--json", cwd=vault.root).json()["paused_until"] == str(until)
    for words in ("yesterday", "today", "2020-01-01"):
        assert run("pause", "--until", words, cwd=vault.root).code == 2


def test_postponing_and_advancing_show_what_they_do_and_are_one_step_to_undo(run: Run, vault: Vault) -> None:
    before = run("due", "--json", cwd=vault.root).json()["due"]
    shown = run("card", "postpone", "--count", "20", "--dry-run", "--json", cwd=vault.root).json()
    assert len(shown["cards"]) == 20 and shown["events"] == []
    assert "20 cards would be postponed" in run("card", "postpone", "--count", "20", "--dry-run", cwd=vault.root).stdout
    done = run("card", "postpone", "--count", "20", "--json", cwd=vault.root).json()
    assert done["cards"] == shown["cards"] and len(done["events"]) == 20
    assert len(run("due", "--json", cwd=vault.root).json()["due"]) == len(before) - 20
    assert "5 cards advanced to today" in run("card", "advance", "--count", "5", cwd=vault.root).stdout
    assert len(run("due", "--json", cwd=vault.root).json()["due"]) == len(before) - 15
    run("undo", cwd=vault.root)
    run("undo", cwd=vault.root)
    assert run("due", "--json", cwd=vault.root).json()["due"] == before


def test_home_due_status_and_practice_give_the_same_counts(run: Run, vault: Vault) -> None:
    run("catch-up", "--per-day", "25", cwd=vault.root)
    listed = run("due", cwd=vault.root).stdout
    asked = run("due", "--json", cwd=vault.root).json()
    status = run("status", cwd=vault.root).stdout
    beyond = asked["today"]["beyond"]
    assert asked["today"]["due"] == 25 and beyond["due"] == len(asked["due"]) - 25 and beyond["new"] == 50
    assert listed.startswith("today: 25 due, 0 new, about ")
    assert "due (25)" in listed and "\nnew (" not in listed and "and 5 more today" in listed
    assert f"beyond today's limit: {beyond['due']} due, 50 new (--json lists all)" in listed
    assert f"200 cards: 25 due, 0 new today; beyond today's limit: {beyond['due']} due, 50 new" in status
    assert "Today: 25 due, 0 new" in run("--plain", cwd=vault.root).stdout
    everything = choices(open_desk(vault, datetime.now(UTC)))[0]
    assert (everything.due, everything.new) == (25, 0)


def test_after_the_new_cards_of_a_day_none_is_listed_above_a_count_of_none(run: Run, tmp_path: Path) -> None:
    vault = vault_of(tmp_path / "mind", 45)
    calendar, now = StudyCalendar(), datetime.now(UTC)
    after_days(vault, 1, calendar.start(calendar.day(now)))  # ten new cards today, in its first moments
    toml = vault.root / "retain.toml"
    toml.write_text(toml.read_text().replace("new_per_day = 20", "new_per_day = 10"))
    listed = run("due", cwd=vault.root).stdout
    assert listed.startswith("today: 0 due, 0 new")
    assert "\nnew (" not in listed and "beyond today's limit: 0 due, 35 new" in listed


@pytest.mark.parametrize(
    "state", ["absent", "planned", "limited", "suspended", "buried", "left out", "by article", "paused"]
)
def test_the_forecast_for_today_is_what_is_due_today_and_beyond(run: Run, vault: Vault, state: str) -> None:
    if state == "planned":
        run("catch-up", "--per-day", "25", cwd=vault.root)
    elif state == "limited":
        toml = vault.root / "retain.toml"
        toml.write_text(toml.read_text().replace("reviews_per_day = 200", "reviews_per_day = 7"))
    elif state in ("suspended", "buried"):
        for card in [each["id"] for each in run("due", "--json", cwd=vault.root).json()["due"]][:3]:
            assert run("card", "suspend" if state == "suspended" else "bury", card, cwd=vault.root).code == 0
    elif state == "left out":
        deck = vault.root / "learning/flashcards/subject-1.md"
        deck.write_text(deck.read_text().replace("type: flashcards", "type: flashcards\nlearning: false"))
    elif state == "by article":
        run("stats", "--json", cwd=vault.root)  # keeps its figures
        folder = vault.root / "wiki/concepts"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "subject-1.md").write_text("---\nlearning: false\n---\n")
    elif state == "paused":
        run("pause", "--until", str((datetime.now(UTC) + timedelta(days=9)).date()), cwd=vault.root)
    desk = open_desk(open_vault(str(vault.root), None, vault.root), datetime.now(UTC))
    seen, book = overview_of(desk), daybook(desk, 14)
    status = run("status", "--json", cwd=vault.root).json()
    assert book.coming[0] == seen.due + seen.due_beyond == status["due"]
    assert (status["today"]["due"], status["beyond"]["due"]) == (seen.due, seen.due_beyond)
    forecast = run("stats", "--json", cwd=vault.root).json()["forecast"]
    assert [day["reviews"] for day in forecast[:14]] == list(book.coming)


def test_a_plan_with_nothing_left_to_catch_up_on_is_not_shown(run: Run, vault: Vault) -> None:
    run("catch-up", "--per-day", "25", cwd=vault.root)
    assert "Catching up at 25 a day" in run("--plain", cwd=vault.root).stdout
    study(vault, datetime.now(UTC), new=0)
    assert "Catching up" not in run("--plain", cwd=vault.root).stdout
