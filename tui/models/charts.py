"""The charts of the statistics as Content, from figures, columns and rows. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from textual.content import Content

from learning.stats.forecast import Forecast
from learning.stats.mastery import WORDS, Group, Mastery, weakest
from learning.stats.retention import Retention, Tries
from learning.stats.stats import Stats
from learning.stats.wording import percent, wider
from tui.strings import stats as strings
from tui.text import content
from tui.widgets import plot
from vault.model.card import CardKind

_BAR = 20
_SCALE = 6  # columns beside bars, as a rule
_CELL = 11  # columns for a kind's score
_WEEK = 7
_MONTH = 4  # weeks put together, as one alone may hold few reviews


@dataclass(frozen=True, slots=True)
class Load:
    """The workload of several retentions: `forecasts` from `today` for 90 days and a summary. `own` is the current
    one.
    """

    forecasts: tuple[Forecast, ...]
    own: Forecast
    means: str
    today: date
    backlog: str = ""


Picture = Callable[[Stats, int, int], Content]


def heading(words: str) -> Content:
    return content.plain(words, content.DIM)


def stacked(*parts: Content) -> Content:
    return Content("\n").join(parts)


# --- recall -----------------------------------------------------------------------------------------------------------


def recall(stats: Stats, width: int, height: int) -> Content:
    """Return true retention: a plot by week, then the usual periods for young and mature cards."""
    rows = [row for row in stats.retention if row.all.reviews]
    tries = [week.tries for week in stats.recall]
    rates = [sum(tries[max(0, n - _MONTH + 1) : n + 1], Tries()).rate for n in range(len(tries))]
    begun = next((n for n, rate in enumerate(rates) if rate is not None), len(rates))
    parts: list[Content] = []
    if len(rates) - begun > 1:
        parts += [
            heading(strings.BY_WEEK),
            *_weeks_of_recall(stats, rates[begun:], width, max(4, height - 4 - len(rows))),
        ]
    if rows:
        parts += [Content(""), _periods_head(), *map(_period, rows)]
    return stacked(*parts)


def _weeks_of_recall(stats: Stats, rates: Sequence[float | None], width: int, rows: int) -> list[Content]:
    least = min(stats.desired, *(rate for rate in rates if rate is not None))
    low = max(0.0, math.floor(least * 20 - 0.5) / 20)
    wanted = round((1 - (stats.desired - low) / (1 - low)) * (rows - 1))
    labels = {0: percent(1.0), rows - 1: percent(low)} | {wanted: percent(stats.desired)}
    room = width - 6
    weeks = [week.week for week in stats.recall[-len(rates) :]]
    return [plot.axed(plot.line(rates, room, rows, low, 1.0), labels), plot.months(weeks, room, 6)]


def _periods_head() -> Content:
    return heading(f"{'':12}{strings.RECALLED:>9}{strings.OF:>9}  {'':{_BAR}}{strings.YOUNG:>8}{strings.MATURE:>8}")


def _period(row: Retention) -> Content:
    name = strings.PERIODS.get(row.days, strings.in_days(row.days))
    head = f"{name:12}{percent(row.all.rate):>9}{row.all.reviews:>9,}  "
    tail = f"{percent(row.young.rate):>8}{percent(row.mature.rate):>8}"
    return Content.assemble(head, plot.bar(row.all.rate or 0.0, _BAR), tail)


# --- chances ----------------------------------------------------------------------------------------------------------


def chances(stats: Stats, width: int, height: int) -> Content:
    """Return predicted beside actual recall; bins are merged where there is little room."""
    bins = list(stats.calibration.bins)
    if len(bins) + 1 > height:
        bins = wider(bins)
    if not bins:
        return Content("")
    room = max(10, min(50, width - 32))
    head = f"{strings.PREDICTED:>10}{strings.RECALLED:>10}  {'':{room}}{strings.OF:>9}"
    rows = [
        Content.assemble(
            f"{percent(one.predicted):>10}{percent(one.recalled):>10}  ",
            plot.bar(one.recalled, room, "$secondary"),
            content.plain(f"{one.reviews:>9,}", content.DIM),
        )
        for one in bins
    ]
    return stacked(heading(head), *rows)


# --- coming -----------------------------------------------------------------------------------------------------------


def coming(stats: Stats, width: int, height: int) -> Content:
    """Return a bar for each of the next 30 days, with its day of the month."""
    counts = [day.reviews for day in stats.forecast]
    if not any(counts):
        return Content("")
    each = max(1, min(4, (width - _SCALE) // len(counts) - 1))
    labels = [str(day.day.day) if each > 1 or n % 3 == 0 else "" for n, day in enumerate(stats.forecast)]
    drawn, before = plot.axed_bars(counts, max(4, min(14, height - 5)), each)
    months = plot.months([day.day for day in stats.forecast], len(counts) * (each + 1), before)
    return stacked(heading(strings.A_DAY), drawn, _indented(plot.under(labels, each), before), months)


def _indented(row: Content, columns: int) -> Content:
    return row.pad_left(columns)


# --- load -------------------------------------------------------------------------------------------------------------


def load(found: Load, width: int, height: int) -> Content:
    """Return the minutes a day for each retention, and a plot of them for the current one."""
    most = max((each.settled_minutes for each in found.forecasts), default=0) or 1
    rows = [heading(f"{strings.RETENTION:>10}  {'':{_BAR}}{strings.MINUTES:>15}{strings.REMEMBERED:>27}")]
    for each in found.forecasts:
        own = each is found.own
        minutes = plot.bar(each.settled_minutes / most, _BAR, "$primary" if own else "$secondary")
        kept = strings.of(round(each.remembered), round(each.known))
        mark = content.plain(f"{strings.YOURS if own else '':6}", "$text-accent")
        head = f"{each.course.retention:>4.0%}  "
        rows.append(Content.assemble(mark, head, minutes, f"{each.settled_minutes:>15,.1f}{kept:>27}"))
    days = found.own.minutes
    top = plot.round_top(max(days, default=0))
    tall = max(4, min(12, height - len(rows) - 4))
    labels = {0: f"{top:,.0f}", tall // 2: f"{top / 2:,.0f}", tall - 1: "0"}
    before = max(map(len, labels.values())) + 2
    drawn = plot.axed(plot.line(days, width - before, tall, 0, top), labels)
    months = plot.months([found.today + timedelta(days=n) for n in range(len(days))], width - before, before)
    return stacked(*rows, Content(""), heading(strings.MINUTES_AHEAD), drawn, months)


# --- time and hours ---------------------------------------------------------------------------------------------------


def time(stats: Stats, width: int, height: int) -> Content:
    """Return the minutes of study in each of the last weeks that fit."""
    weeks = min(53, (width - _SCALE) // (2 if width >= 112 + _SCALE else 1))
    first = stats.today.toordinal() - stats.today.weekday() - _WEEK * (weeks - 1)
    minutes = [0.0] * weeks
    for day in stats.activity.since(first):
        number = (day.day.toordinal() - first) // _WEEK
        if number < weeks:
            minutes[number] += day.ms / 60_000
    begun = next((n for n, spent in enumerate(minutes) if spent), None)
    if begun is None:
        return Content("")
    shown = minutes[begun:]
    each = min(6, (width - _SCALE) // len(shown))
    gap = 1 if each > 2 else 0
    drawn, before = plot.axed_bars(shown, max(4, min(14, height - 4)), each - gap, gap)
    mondays = [date.fromordinal(first + _WEEK * n) for n in range(begun, weeks)]
    return stacked(heading(strings.MINUTES_A_WEEK), drawn, plot.months(mondays, len(shown) * each, before))


def hours(stats: Stats, width: int, height: int) -> Content:
    """Return reviews by hour of the day, and below them the share recalled."""
    found = {hour.hour: hour for hour in stats.activity.hours}
    if not found:
        return Content("")
    each = max(1, min(4, (width - _SCALE) // 24 - 1))
    tall = max(4, min(8, (height - 5) // 2))
    reviews = [found[h].reviews if h in found else 0 for h in range(24)]
    right = [found[h].recalled / found[h].reviews if h in found else 0.0 for h in range(24)]
    names = plot.under([str(h) if each > 1 or h % 3 == 0 else "" for h in range(24)], each)
    counts, before = plot.axed_bars(reviews, tall, each)
    shares, after = plot.axed_bars(right, tall, each, style="$secondary", top=1.0, shown="{:.0%}".format)
    return stacked(
        *(heading(strings.REVIEWS_BY_HOUR), counts, _indented(names, before)),
        *(heading(strings.SHARE_BY_HOUR), shares, _indented(names, after)),
    )


# --- growth -----------------------------------------------------------------------------------------------------------


def growth(stats: Stats, width: int, height: int) -> Content:
    """Return the cards seen and the cards known, week by week, on one scale."""
    if not stats.growth:
        return Content("")
    met, known = [week.total for week in stats.growth], list(stats.known)
    top = plot.round_top(max(met))
    wide = len(f"{top:,.0f}")
    room, tall = width - wide - 2, max(3, min(12, (height - 4) // 2))
    labels = {0: f"{top:,.0f}", tall // 2: f"{top / 2:,.0f}", tall - 1: "0"}
    return stacked(
        heading(strings.MET),
        plot.axed(plot.line(met, room, tall, 0, top), labels),
        heading(strings.KNOWN),
        plot.axed(plot.line(known, room, tall, 0, top), labels, "$secondary"),
        plot.months([week.week for week in stats.growth], room, wide + 2),
    )


# --- mastery ----------------------------------------------------------------------------------------------------------


def mastery(stats: Stats, width: int, height: int) -> Content:
    """Return the mastery of topics by card kind, weakest first; of tags or concepts if there are no topics."""
    groups: Sequence[Group | Mastery] = [g for g in stats.topics or stats.tags if g.seen]
    groups = sorted(groups, key=lambda g: g.score) or weakest(stats.concepts, len(stats.concepts))
    if not groups:
        return Content("")
    room = max(12, width - _CELL * 5 - 2)
    shown = groups[: max(1, height - 3)]
    words = "".join(f"{word:<{_CELL}}" for word in (strings.WHOLE, *WORDS.values()))
    head = heading(" " * (room + 2) + words)
    rows = [_scores(group, room) for group in shown]
    left = len(groups) - len(shown)
    foot = heading(strings.SCORES if not left else strings.more(left) + "; " + strings.SCORES)
    return stacked(head, *rows, foot)


def _scores(found: Group | Mastery, room: int) -> Content:
    name = content.fitted(found.title if isinstance(found, Mastery) else found.name, room)
    cells = [(found.score, "$primary"), *((found.profile[kind.value], f"$kind-{kind}") for kind in CardKind)]
    return Content("").join([name, Content("  "), *(_cell(score, style) for score, style in cells)])


def _cell(score: float | None, style: str) -> Content:
    if score is None:
        return content.plain("–".ljust(_CELL), content.DIM)
    return Content.assemble(plot.bar(score, 5, style), f"{score * 100:>4.0f}  ")


# --- leeches ----------------------------------------------------------------------------------------------------------


def leeches(stats: Stats, width: int, height: int) -> Content:
    """Return the cards that are forgotten most often, worst first."""
    if not stats.leeches:
        return Content("")
    room = max(20, width - 14 - _BAR - 14)
    shown = stats.leeches[: max(1, height - 2)]
    rows = [heading(f"{'':{room}}  {strings.CARD:12}{'':{_BAR}}  {strings.KEEP_FAILING}")]
    for one in shown:
        ratio = strings.of(one.forgotten, one.tries)
        drawn = plot.bar(one.forgotten / one.tries, _BAR, "$error")
        card = content.line(one.card.ljust(12), content.DIM)
        rows.append(Content.assemble(content.fitted(one.title, room), "  ", card, drawn, f"  {ratio}"))
    left = len(stats.leeches) - len(shown)
    return stacked(*rows, *([heading(strings.more(left))] if left else []))


PICTURES: tuple[Picture | None, ...] = (recall, chances, coming, None, time, hours, growth, mastery, leeches)
