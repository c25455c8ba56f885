"""Draws a chart with matplotlib, as PNG and SVG: the same bytes for the same numbers.

Words of documents are never read as math or TeX, and no setting of the user's matplotlib plays a part.
"""

from __future__ import annotations

import io
import logging
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from compiler.forms.chart import Drawn
from vault.errors import UsageError
from vault.text.formatting import clean_line, truncate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LATIN = "DejaVu Sans"  # comes with matplotlib
_CJK = ("Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "Hiragino Sans", "PingFang SC", "Microsoft YaHei",
        "WenQuanYi Zen Hei", "Malgun Gothic")  # fmt: skip
_INCHES, _DPI = 9.0, 150
_LABEL = 34  # letters in a line of a label
_FOOT = 110  # letters in a line below the chart
_SOURCES = 8  # lines below the chart; the note has all
_COLOR = "#2a6f97"


def plot(chart: Drawn, title: str) -> dict[str, bytes]:
    """Return the picture as {"png": ..., "svg": ...}. Raises: UsageError without matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise no_matplotlib() from error
    with _settings():
        figure = _figure(chart, clean_line(title))
        about = {"Title": truncate(clean_line(title), 200), "Description": chart.alternative}
        return {
            "png": _saved(figure, "png", {**about, "Software": None}),
            "svg": _saved(figure, "svg", {**about, "Creator": None, "Date": None}),
        }


def no_matplotlib() -> UsageError:
    """Return the error where matplotlib is not installed."""
    hint = "run `pip install '.[figures]'` in the checkout (or `pipx inject retain matplotlib`)"
    return UsageError("a chart needs matplotlib, which is not installed", hint=hint)


@contextmanager
def _settings() -> Iterator[None]:
    """Set matplotlib's own defaults, fixed ids, and fonts with the letters that labels may have."""
    import matplotlib
    from matplotlib.font_manager import fontManager

    logging.getLogger("matplotlib").setLevel(
        logging.ERROR
    )  # it cannot store its list of fonts where nothing is written
    installed = {font.name for font in fontManager.ttflist}
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {
                "font.family": [_LATIN, *(name for name in _CJK if name in installed)],
                "font.size": 10.0,
                "text.parse_math": False,
                "text.usetex": False,
                "svg.hashsalt": "retain",
                "svg.fonttype": "none",
                "axes.unicode_minus": False,
                "axes.formatter.use_mathtext": False,
                "path.sketch": None,
            }
        )
        yield


def _saved(figure: Figure, kind: str, metadata: dict[str, str | None]) -> bytes:
    """Return a figure as a file."""
    out = io.BytesIO()
    figure.savefig(out, format=kind, dpi=_DPI, metadata=metadata)
    return out.getvalue()


def _figure(chart: Drawn, title: str) -> Figure:
    """Return the figure: bars, or a line over years; below it the sources with their places."""
    from matplotlib.figure import Figure

    shown, foot = chart.series, _foot(chart)
    labels = [] if shown.over_time else [_label(n, chart) for n in range(len(shown.points))]
    head = _wrapped(title, 70, 2)
    drawn = 4.0 if shown.over_time else 0.8 + sum(0.16 + 0.17 * (1 + label.count("\n")) for label in labels)
    below, above = 0.6 + 0.17 * (1 + foot.count("\n")), 0.35 + 0.2 * (1 + head.count("\n"))
    height = drawn + below + above
    figure = Figure(figsize=(_INCHES, height))
    left = 0.09 if shown.over_time else 0.36
    axes = figure.add_axes((left, (below + 0.15) / height, 0.93 - left, (drawn - 0.15) / height))
    (_line if shown.over_time else _bars)(axes, chart, labels)
    axes.spines[["top", "right"]].set_visible(False)
    figure.text(0.02, 1 - 0.12 / height, head, fontsize=12, fontweight="bold", va="top", wrap=False)
    figure.text(0.02, 0.1 / height, foot, fontsize=7.5, color="#444444", va="bottom", linespacing=1.3)
    return figure


def _bars(axes: Axes, chart: Drawn, labels: list[str]) -> None:
    """Draw a bar for each number, the first on top."""
    points = chart.series.points
    at = list(range(len(points)))
    bars = axes.barh(at, [point.value for point in points], color=_COLOR, height=0.6)
    axes.bar_label(bars, labels=[_short(point.written) for point in points], padding=4, fontsize=9)
    axes.set_yticks(at, labels=labels, fontsize=8.5)
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set_xlabel(_short(chart.series.quantity))
    axes.set_ylabel(_short(chart.series.labels))
    axes.axvline(0, color="black", linewidth=0.8)
    _plain_numbers(axes.xaxis)


def _line(axes: Axes, chart: Drawn, labels: list[str]) -> None:
    """Draw a line through the numbers, over their years."""
    points = chart.series.points
    years = [point.year or 0 for point in points]
    values = [point.value for point in points]
    axes.plot(years, values, color=_COLOR, marker="o")
    for point, x, y in zip(points, years, values, strict=True):
        words = f"{_short(point.written)} [{chart.numbers[point.source]}]"
        axes.annotate(words, (x, y), xytext=(0, 7), textcoords="offset points", ha="center", fontsize=8.5)
    axes.set_xticks(years, labels=[str(year) for year in years])
    axes.margins(x=0.1, y=0.2)
    axes.set_xlabel(_short(chart.series.labels if chart.series.labels != "Statement" else "Year"))
    axes.set_ylabel(_short(chart.series.quantity))
    _plain_numbers(axes.yaxis)


def _plain_numbers(axis: Any) -> None:
    """Write the numbers of an axis in full."""
    from matplotlib.ticker import StrMethodFormatter

    axis.set_major_formatter(StrMethodFormatter("{x:,g}"))


def _label(number: int, chart: Drawn) -> str:
    """Return what a bar is the value of, and the number of its source; without letters that no font has."""
    point = chart.series.points[number]
    mark = f"[{chart.numbers[point.source]}]"
    return f"{_wrapped(point.label, _LABEL, 3)} {mark}" if _has_letters(point.label) else f"row {number + 1} {mark}"


def _foot(chart: Drawn) -> str:
    """Return the sources with their places, as lines of text below the chart."""
    lines: dict[str, None] = {}
    for source, number in chart.numbers.items():
        words = truncate(f"[{number}] {source}", _FOOT)
        lines.setdefault(words if _has_letters(words) else f"[{number}] see the note next to this picture")
    shown = list(lines)[:_SOURCES]
    more = [f"and {len(lines) - len(shown)} more: see the note next to this picture"] if len(lines) > _SOURCES else []
    return "\n".join(["Sources:", *shown, *more])


def _short(words: str) -> str:
    return truncate(clean_line(words), 60)


def _wrapped(words: str, width: int, lines: int) -> str:
    """Return words on at most so many lines, broken inside a word where it is too long."""
    narrow = width if all(letter < "\u2e80" for letter in words) else width // 2
    return "\n".join(textwrap.wrap(clean_line(words), narrow, max_lines=lines, placeholder="…")) or "…"


def _has_letters(words: str) -> bool:
    """Return whether the fonts have all letters of a text."""
    import matplotlib
    from matplotlib.font_manager import FontProperties, fontManager, get_font

    fonts = [get_font(fontManager.findfont(FontProperties(family=each))) for each in matplotlib.rcParams["font.family"]]
    return all(any(font.get_char_index(ord(letter)) for font in fonts) for letter in words if not letter.isspace())
