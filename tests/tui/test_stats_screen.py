"""Home and the statistics say what `learning.stats.stats` finds, on made histories and a real one."""

from __future__ import annotations

import csv
import random
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from learning.cards.workspace import open_desk
from learning.schedule import date_text as words
from learning.stats import wording
from learning.stats.material import material_of, narrowed
from learning.stats.outlook import Outlook
from learning.stats.stats import Stats, stats_of
from tests.tui.test_hostile import EVIL, assert_inert
from tui.app import RetainApp
from tui.context import Context
from tui.strings import stats as strings
from tui.widgets.bars import TopBar
from vault.ids import CardId, ulid
from vault.log import ledger
from vault.log.events import LogEvent, Rating, Review, Stamp, encode
from vault.log.review_log import unix_ms
from vault.vault import Vault, open_vault

Settled = Callable[[Pilot[int]], Awaitable[None]]
Clock = Callable[[], datetime]
CARDS = ("aaaaaaaaa1", "aaaaaaaaa2", "bbbbbbbbb1", "bbbbbbbbb2")
HISTORY = "revlogs/py-fsrs-japanese-12580.csv"
TOPIC = """---
type: topic
title: Memory
---

# Memory

- [[wiki/concepts/spacing-effect|Spacing effect]]
"""


def review(at: datetime, card: str, rating: int, dice: random.Random) -> Review:
    at = at.replace(microsecond=0)
    return Review(Stamp(ulid(unix_ms(at), dice.randbytes(10)), at), CardId(card), Rating(rating), 6_000)


def log(vault: Vault, events: Sequence[LogEvent]) -> None:
    (vault.root / "learning/reviews.jsonl").write_bytes(b"".join(encode(event) + b"\n" for event in events))


def a_year(now: datetime, count: int = 260) -> list[LogEvent]:
    """Reviews of the four cards over 300 days, the last ones yesterday."""
    dice = random.Random(5)
    days = sorted([*(dice.randrange(1, 300) for _ in range(count - 12)), *([1, 2, 3] * 4)], reverse=True)
    times = [now - timedelta(days=day, minutes=-dice.randrange(600)) for day in days]
    times.sort()
    return [review(at, dice.choice(CARDS), dice.choice((1, 2, 3, 3, 3, 3, 4)), dice) for at in times]


@pytest.fixture
def lived(vault: Vault, clock: Clock) -> Vault:
    """The vault with nearly a year of reviews and a topic."""
    log(vault, a_year(clock()))
    (vault.root / "wiki/topics").mkdir()
    (vault.root / "wiki/topics/memory.md").write_text(TOPIC, encoding="utf-8")
    return vault


def shown(app: RetainApp, selector: str) -> str:
    return str(app.screen.query_one(selector, Static).content)


def fact(app: RetainApp, name: str) -> str:
    return shown(app, f"#{name} .fact-words")


def shown_list(app: RetainApp) -> bool:
    return bool(app.screen.query_one(OptionList).display)


def found(vault: Vault, now: datetime) -> Stats:
    desk = open_desk(vault, now)
    return stats_of(material_of(desk), desk.scheduler, now)


async def test_home_says_of_a_made_history_what_the_statistics_find(
    lived: Vault, clock: Clock, settled: Settled
) -> None:
    app, stats = RetainApp(Context(lived, clock)), found(lived, clock())
    async with app.run_test(size=(140, 45)) as pilot:
        await settled(pilot)
        assert_home_agrees(app, stats)
        assert fact(app, "topics").split("  ")[0] == "Memory"
        assert f"{stats.topics[0].score * 100:.0f}  0/1 known" in fact(app, "topics")


def assert_home_agrees(app: RetainApp, stats: Stats) -> None:
    done, month = stats.activity, next(row for row in stats.retention if row.days == 30).all
    days = "day" if done.streak == 1 else "days"
    none = "No current streak" if done.reviews else "Not started"
    assert fact(app, "streak").startswith(f"{done.streak} {days} in a row" if done.streak else none)
    assert fact(app, "recalled").startswith(
        f"{month.rate:.0%} of {month.reviews:,}" if month.rate is not None else "nothing yet"
    )
    two = sum(day.reviews for day in stats.forecast[:14])
    assert fact(app, "coming").startswith(f"{two} review" if two else "No reviews in")
    year = fact(app, "year")
    first = stats.today.toordinal() - stats.today.weekday() - 52 * 7
    assert year.count("■") + year.count("▪") == len(done.since(first))


@pytest.mark.real_data
async def test_both_say_of_a_real_history_what_the_statistics_find(
    bare: Vault, shared_data: Path, settled: Settled
) -> None:
    with (shared_data / HISTORY).open(encoding="utf-8") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: row["review_time"])[-4_000:]
    names = {card: f"{number:010}" for number, card in enumerate(dict.fromkeys(row["card_id"] for row in rows))}
    dice = random.Random(1)
    events: list[LogEvent] = [
        review(
            datetime.fromisoformat(r["review_time"]).astimezone(UTC), names[r["card_id"]], int(r["review_rating"]), dice
        )
        for r in rows
    ]
    log(bare, sorted(events, key=lambda event: (event.at, event.id)))
    cards = "\n".join(f"Q: What is {name}?\nA: This.\n<!-- card {name} -->\n" for name in names.values())
    (bare.root / "learning/flashcards/words.md").write_text(f"# Words\n\n{cards}", encoding="utf-8")
    now = max(event.at for event in events) + timedelta(hours=1)
    app, stats = RetainApp(Context(bare, lambda: now)), found(bare, now)
    async with app.run_test(size=(140, 45)) as pilot:
        await settled(pilot)
        assert_home_agrees(app, stats)
        await pilot.press("s")
        await settled(pilot)
        assert shown(app, "#means") == wording.retention_means(stats)
        await pilot.press("3")
        assert shown(app, "#means") == wording.forecast_means(stats)
        await pilot.press("2")
        assert f"{stats.calibration.bins[-1].reviews:,}" in shown(app, "#picture")


async def test_each_section_says_what_its_figures_mean(lived: Vault, clock: Clock, settled: Settled) -> None:
    app, stats = RetainApp(Context(lived, clock), "stats"), found(lived, clock())
    outlook = Outlook(open_desk(lived, clock()), 90)
    means = [
        wording.retention_means(stats),
        wording.calibration_means(stats),
        wording.forecast_means(stats),
        None,
        wording.time_means(stats),
        wording.hours_mean(stats.activity.hours),
        wording.growth_means(stats),
        wording.mastery_means(stats),
        wording.leeches_mean(stats),
    ]
    async with app.run_test() as pilot:
        await settled(pilot)
        for number, mean in enumerate(means, 1):
            await pilot.press(str(number))
            assert mean is None or shown(app, "#means") == mean
        await pilot.press("4")
        for retention in (0.8, 0.9, 0.95):
            forecast = outlook.at(retention)
            row = next(r for r in shown(app, "#picture").split("\n") if f"{retention:.0%}" in r)
            assert f" {forecast.settled_minutes:.1f} " in row
            assert row.endswith(f"{forecast.remembered:.0f} of {forecast.known:.0f}")


async def test_a_topic_is_chosen_by_keys_and_its_figures_are_those_of_its_cards(
    lived: Vault, clock: Clock, settled: Settled
) -> None:
    app = RetainApp(Context(lived, clock), "stats")
    desk = open_desk(lived, clock())
    part = narrowed(material_of(desk), ("spacing-effect",))
    stats = stats_of(part, desk.scheduler, clock())
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("f")
        options = app.screen.query_one(OptionList)
        assert shown_list(app) and options.has_focus
        assert [str(option.prompt) for option in options.options] == ["All cards", "topic Memory", "tag memory"]
        await pilot.press("down", "enter")
        await settled(pilot)
        assert not shown_list(app)
        assert app.screen.query_one(TopBar).status == "topic Memory"
        assert shown(app, "#means") == wording.retention_means(stats)
        await pilot.press("f", "escape")
        assert type(app.screen).__name__ == "StatsScreen" and not shown_list(app)


async def test_sections_go_round_by_keys_and_come_by_a_click(lived: Vault, clock: Clock, settled: Settled) -> None:
    app = RetainApp(Context(lived, clock), "stats")
    async with app.run_test() as pilot:
        await settled(pilot)
        first = shown(app, "#means")
        await pilot.press("left")
        assert shown(app, "#means").startswith("No leeches") or "forgotten" in shown(app, "#means")
        await pilot.press("right")
        assert shown(app, "#means") == first
        await pilot.click("Sections", offset=(24, 0))
        assert "today" in shown(app, "#means")
        await pilot.click("Sections", offset=(3, 1))  # at 80 columns the last section is on a second line
        assert shown(app, "#means").startswith("No leeches") or "leech" in shown(app, "#means")


@pytest.mark.parametrize("reviews", [0, 1, 3])
async def test_hardly_any_review_is_no_trouble(vault: Vault, clock: Clock, settled: Settled, reviews: int) -> None:
    dice, now = random.Random(1), clock()
    log(vault, [review(now - timedelta(minutes=60 - n), CARDS[n], 3, dice) for n in range(reviews)])
    app = RetainApp(Context(vault, clock))
    async with app.run_test() as pilot:
        await settled(pilot)
        assert_home_agrees(app, found(vault, now))
        await pilot.press("s")
        await settled(pilot)
        for number in range(1, len(strings.SECTIONS) + 1):
            await pilot.press(str(number))
            assert shown(app, "#means")
        if not reviews:
            assert shown(app, "#means") == strings.NOTHING


async def test_hostile_names_of_topics_tags_cards_and_articles_are_only_words(
    lived: Vault, clock: Clock, settled: Settled
) -> None:
    root, dice, now = lived.root, random.Random(2), clock()
    deck = root / "learning/flashcards/spacing-effect.md"
    deck.write_text(deck.read_text("utf-8").replace("# Spacing effect", f"# Spacing {EVIL}"), encoding="utf-8")
    tagged = root / "learning/flashcards/forgetting-curve.md"
    tagged.write_text(tagged.read_text("utf-8").replace("  - memory", "  - '[red]@click'"), encoding="utf-8")
    (root / "wiki/topics/memory.md").write_text(TOPIC.replace("# Memory", f"# Memory {EVIL}"), encoding="utf-8")
    birth = {"v": 1, "type": "birth", "of": "concept", "id": "c1", "at": ledger.instant(now), "name": f"New {EVIL}"}
    (root / ledger.IDS).write_bytes(ledger.encode(birth))
    again = [review(now - timedelta(days=40 - n), CARDS[2], 3 - 2 * (n % 2), dice) for n in range(40)]
    log(lived, again)
    app = RetainApp(Context(open_vault(str(root), None, root), clock))
    async with app.run_test(size=(140, 45)) as pilot:
        await settled(pilot)
        assert_inert(app, "New", "1 new article")
        await pilot.press("s")
        await settled(pilot)
        for key, words in (("8", "[red]B[/red]"), ("9", "Leeches"), ("f", "topic Memory")):
            await pilot.press(key)
            await settled(pilot)
            assert_inert(app, words)


async def test_an_empty_vault_has_no_figures_and_says_so(bare: Vault, clock: Clock, settled: Settled) -> None:
    app = RetainApp(Context(bare, clock), "stats")
    async with app.run_test() as pilot:
        await settled(pilot)
        assert shown(app, "#means") == strings.NO_CARDS


async def test_more_than_a_day_has_room_for_is_told_with_when_it_is_done(
    lived: Vault, clock: Clock, settled: Settled, pass_time: Callable[[float], None]
) -> None:
    settings = lived.root / "retain.toml"
    settings.write_text(settings.read_text("utf-8").replace("reviews_per_day = 200", "reviews_per_day = 1"), "utf-8")
    pass_time(400 * 86_400)
    vault = open_vault(str(lived.root), None, lived.root)
    plan = Outlook(open_desk(vault, clock()), 1, 0).backlog()
    assert plan is not None and plan.overdue == 4
    app = RetainApp(Context(vault, clock))
    async with app.run_test() as pilot:
        await settled(pilot)
        done = open_desk(vault, clock()).scheduler.calendar.day(clock()) + plan.days
        assert f"4 overdue, cleared by {words.day_of(date.fromordinal(done))}" in fact(app, "coming")


async def test_figures_that_come_later_move_nothing_on_home(lived: Vault, clock: Clock, settled: Settled) -> None:
    app = RetainApp(Context(lived, clock))
    async with app.run_test(size=(140, 45)) as pilot:
        await settled(pilot)
        facts = list(app.screen.query("Fact"))
        places = [one.region for one in facts]
        for one in app.screen.query(".fact-words").results(Static):
            one.update("")
        await pilot.pause()
        kept = [one.region for one in facts if one.id != "agenda"]
        assert kept == [place for one, place in zip(facts, places, strict=True) if one.id != "agenda"]


async def test_at_eighty_by_twenty_four_home_shows_what_matters_without_scrolling(
    lived: Vault, clock: Clock, settled: Settled
) -> None:
    app = RetainApp(Context(lived, clock))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        for name in ("today", "advice", "streak", "recalled", "coming", "since", "agenda"):
            assert app.screen.query_one(f"#{name}").region.bottom <= 23, name
