"""Plots in characters: bars, lines of braille dots, a calendar of a year.

`textual-plotext` was looked at and left: it paints a fixed row of RGB colours that know nothing of our themes, of
sixteen colours or of none; it goes by way of escapes that are read back into another library's text; it counts on
private parts of `plotext`, which is not looked after any more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date

from textual.content import Content

from tui.text import content

HEIGHTS = " ▁▂▃▄▅▆▇█"
EIGHTHS = " ▏▎▍▌▋▊▉█"
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a braille character, row by row
_BLANK = 0x2800
# Of a day without a review, then of ever more: distinguished by their form where there are no colours.
_DAYS = (
    ("·", "$foreground 25%"),
    ("▪", "$primary 45%"),
    ("▪", "$primary 75%"),
    ("■", "$primary 75%"),
    ("■", "$primary"),
)
_WEEKDAYS = ("Mon", "", "Wed", "", "Fri", "", "")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_GUTTER = 4  # columns for the names of the weekdays
WEEKS = 53
_BUSY = 0.9  # of the days with reviews, this part has fewer than what counts as a full day


def bars(values: Sequence[float], height: int, each: int = 2, gap: int = 1, style: str = "$primary") -> Content:
    """Return an upright bar for each value, the highest `height` rows high; any value above 0 is visible."""
    return Content.styled("\n".join(_bar_rows(values, height, each, gap, max(values, default=0) or 1)), style)


def axed_bars(
    values: Sequence[float],
    height: int,
    each: int = 2,
    gap: int = 1,
    style: str = "$primary",
    *,
    top: float = 0.0,
    shown: Callable[[float], str] = "{:,.0f}".format,
) -> tuple[Content, int]:
    """Return upright bars beside a scale from 0 to `top`, and the columns that the scale takes.

    `shown` writes a number of the scale. Without `top`, the scale ends at a round number.
    """
    height, top = max(2, height - height % 2), top or round_top(max(values, default=0))
    labels = {0: shown(top), height // 2: shown(top / 2)} if height > 3 else {0: shown(top)}
    labels |= {height - 1: shown(0)}
    rows = _bar_rows(values, height, each, gap, top)
    return axed(rows, labels, style), max(map(len, labels.values())) + 2


def round_top(most: float) -> float:
    """Return a round number, at least `most`, whose half is whole: 2, 4, 6, 8, 10, 20, 40 ..."""
    size = 10.0 ** max(0, math.ceil(math.log10(most)) - 1) if most > 0 else 1.0
    return next(step * size for step in (2, 4, 6, 8, 10) if step * size >= most)


def _bar_rows(values: Sequence[float], height: int, each: int, gap: int, top: float) -> list[str]:
    eighths = [max(1, round(value / top * height * 8)) if value > 0 else 0 for value in values]
    rows = []
    for row in range(height - 1, -1, -1):
        cells = [HEIGHTS[min(8, max(0, one - row * 8))] * each for one in eighths]
        rows.append((" " * gap).join(cells))
    return rows


def bar(share: float, width: int, style: str = "$primary") -> Content:
    """Return a bar of `share` (in [0, 1]) of `width` columns, on a track."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    drawn = "█" * full + (EIGHTHS[rest] if rest else "")
    return Content.assemble((drawn, style), ("╌" * (width - len(drawn)), "$foreground 20%"))


def under(labels: Sequence[str], each: int, gap: int = 1, style: str = content.DIM) -> Content:
    """Return the row of labels below bars; a long label uses the room of empty ones after it."""
    step = each + gap
    row = [" "] * (len(labels) * step)
    free = 0
    for number, label in enumerate(labels):
        at = number * step
        if label and at >= free:
            row[at : at + len(label)] = label
            free = at + len(label) + 1
    return Content.styled("".join(row).rstrip(), style)


def months(days: Sequence[date], width: int, before: int = 0) -> Content:
    """Return the row below a plot of a value for each of `days`, with the months where they begin.

    The plot is `width` columns wide, after `before` columns for its scale.
    """
    begins = [n for n, day in enumerate(days) if n == 0 or day.month != days[n - 1].month]
    columns = [round(n * (width - 1) / max(1, len(days) - 1)) for n in begins]
    if len(columns) > 1 and columns[1] <= len("Nov 2026"):  # a few days of a month: their name would hide the next
        begins, columns = begins[1:], columns[1:]
    row, free, year = [" "] * width, 0, 0
    for n, column in zip(begins, columns, strict=True):
        day = days[n]
        label = MONTHS[day.month - 1] if day.year == year else f"{MONTHS[day.month - 1]} {day.year}"
        if column >= free and column + len(label) <= width:
            row[column : column + len(label)] = label
            free, year = column + len(label) + 1, day.year
    return Content.styled(" " * before + "".join(row).rstrip(), content.DIM)


def line(values: Sequence[float | None], width: int, height: int, low: float, high: float) -> list[str]:
    """Return `values` as rows of braille dots, two to a column and four to a row; None leaves a gap."""
    dots = [[_BLANK] * width for _ in range(height)]
    before: int | None = None
    for x in range(width * 2):
        value = _between(values, x * (len(values) - 1) / max(1, width * 2 - 1)) if values else None
        if value is None:
            before = None
            continue
        y = _row(value, low, high, height * 4)
        start = y if before is None else before + (y > before) - (y < before)
        for each in range(min(y, start), max(y, start) + 1):
            dots[each // 4][x // 2] |= _DOTS[each % 4][x % 2]
        before = y
    return ["".join(" " if cell == _BLANK else chr(cell) for cell in row) for row in dots]


def _between(values: Sequence[float | None], at: float) -> float | None:
    """Interpolate between two values; if one is missing, return the nearer one."""
    left, right = values[math.floor(at)], values[math.ceil(at)]
    if left is None or right is None:
        return values[round(at)]
    return left + (right - left) * (at - math.floor(at))


def _row(value: float, low: float, high: float, rows: int) -> int:
    """Return the row of dots, from the top, of a value."""
    share = (value - low) / (high - low) if high > low else 0.5
    return round((1 - max(0.0, min(1.0, share))) * (rows - 1))


def axed(rows: Sequence[str], labels: Mapping[int, str], style: str = "$primary") -> Content:
    """Return the rows of a plot with an axis; `labels` by row."""
    wide = max(map(len, labels.values()), default=0)
    parts: list[Content] = []
    for number, row in enumerate(rows):
        label = labels.get(number, "").rjust(wide)
        mark = "┤" if number in labels else "│"
        parts.append(Content.assemble((f"{label} {mark}", content.DIM), (row, style)))
    return Content("\n").join(parts)


def weeks_in(width: int) -> tuple[int, int]:
    """Return (weeks, columns for each) of a calendar of `width` columns, at most a year."""
    room = width - _GUTTER
    each = 2 if room >= WEEKS else 1
    return max(1, min(WEEKS, room // each)), each


def calendar(reviews: Mapping[int, int], today: int, width: int) -> Content:
    """Return a calendar of reviews up to the day `today` (ordinals): weeks as columns, Monday on top."""
    weeks, each = weeks_in(width)
    monday = today - date.fromordinal(today).weekday()
    first = monday - 7 * (weeks - 1)
    full = _full_day([count for day, count in reviews.items() if first <= day <= today])
    rows = [_months(first, weeks, each)]
    for weekday, name in enumerate(_WEEKDAYS):
        parts: list[tuple[str, str]] = [(name.ljust(_GUTTER), content.DIM)]
        for day in range(first + weekday, min(first + 7 * weeks, today + 1), 7):
            glyph, style = _DAYS[_level(reviews.get(day, 0), full)]
            parts.append((glyph.ljust(each), style))
        rows.append(Content.assemble(*parts))
    return Content("\n").join(rows)


def _full_day(counts: Sequence[int]) -> int:
    ordered = sorted(counts)
    return ordered[int(len(ordered) * _BUSY)] if ordered else 1


def _level(count: int, full: int) -> int:
    return min(4, 1 + 4 * count // (full + 1)) if count else 0


def _months(first: int, weeks: int, each: int) -> Content:
    """Return the row of month names above the weeks in which they begin."""
    row = [" "] * (_GUTTER + weeks * each + 3)
    free = 0
    for week in range(weeks):
        sunday = date.fromordinal(first + 7 * week + 6)
        at = _GUTTER + week * each
        if sunday.day <= 7 and at >= free:
            row[at : at + 3] = MONTHS[sunday.month - 1]
            free = at + 4
    return Content.styled("".join(row)[: _GUTTER + weeks * each].rstrip(), content.DIM)
