"""Statistics as text for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from learning.stats.mastery import WORDS, Group, Mastery, weakest
from learning.stats.retention import Retention, Tries
from learning.stats.stats import Forgotten, Stats
from learning.stats.wording import FEW, percent, verdict, wider
from vault.text.formatting import plural, short_line

WIDTH = 80
LISTED = 5
_BAR = 20
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_HEIGHTS = " ▁▂▃▄▅▆▇█"
_DAYS = 14
_WEEKS = 52


def page(stats: Stats) -> str:
    """Return the whole report."""
    parts = [_cards(stats)]
    if stats.activity.reviews:
        parts += [_retention(stats), _calibration(stats), _time(stats)]
    elif stats.phases.total:
        parts.append(["No reviews yet: run `retain review`."])
    if stats.phases.total:
        parts += [_forecast(stats), _mastery(stats), _week(stats), _leeches(stats)]
    return "\n\n".join("\n".join(part) for part in parts if part)


def bar(share: float, width: int = _BAR) -> str:
    """Return a bar for `share` in [0, 1], padded to `width` columns."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width)


def columns(values: Sequence[int]) -> str:
    """Return one character per value, its height in proportion; values above zero are visible."""
    most = max(values, default=0)
    return "".join(_HEIGHTS[max(1, round(v / most * 8))] if v else " " for v in values)


def _cards(stats: Stats) -> list[str]:
    """Return the lines on the numbers of cards by state."""
    phases = stats.phases
    named = [
        ("new", phases.new),
        ("learning", phases.learning),
        ("relearning", phases.relearning),
        ("young", phases.young),
        ("mature (3 weeks or more)", phases.mature),
    ]
    aside = [("suspended", phases.suspended), ("retracted", phases.retracted), ("flagged", phases.flagged)]
    aside += [("changed", phases.changed), ("leech" if phases.leeches == 1 else "leeches", phases.leeches)]
    lines = [f"Cards: {phases.total:,}", *_wrapped(f"{n:,} {word}" for word, n in named if n)]
    return lines + _wrapped(f"{n:,} {word}" for word, n in aside if n)


def _wrapped(items: Iterable[str], indent: str = "  ") -> list[str]:
    """Return the items joined by dots, wrapped to the width."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(item) + 3 <= WIDTH:
            lines[-1] += f" · {item}"
        else:
            lines.append(indent + item)
    return lines


def _retention(stats: Stats) -> list[str]:
    """Return the lines on true retention."""
    rows = [row for row in stats.retention if row.all.reviews]
    head = f"True retention (desired: {stats.desired:.0%}): first review per day of learned cards"
    if not rows:
        return [head, "  no reviews of learned cards yet"]
    lines = [head, f"  {'':10}{'recalled':>9} {'of':>9}   {'':{_BAR}} {'young':>6} {'mature':>7}"]
    lines += [_retention_row(row) for row in rows]
    reviews = rows[-1].all.reviews
    return lines + ([f"  only {plural(reviews, 'review')} so far: too few for stable rates"] * (reviews < FEW))


def _retention_row(row: Retention) -> str:
    name = {0: "all", 1: "today"}.get(row.days, f"{row.days} days")
    rates = f"{percent(row.young.rate):>6} {percent(row.mature.rate):>7}"
    return f"  {name:10}{percent(row.all.rate):>9} {row.all.reviews:>9,}   {bar(_share(row.all))} {rates}"


def _share(tries: Tries) -> float:
    return tries.rate or 0.0


def _calibration(stats: Stats) -> list[str]:
    """Return the lines that compare predicted and actual recall."""
    found = stats.calibration
    if found.predicted is None or found.recalled is None or found.rmse is None or found.log_loss is None:
        return []
    if found.reviews < FEW:
        return [f"Predictions: {plural(found.reviews, 'review')} so far; {FEW} needed"]
    lines = [
        f"Predictions: {percent(found.predicted)} predicted, {percent(found.recalled)} recalled: {verdict(found)}",
        f"  RMSE {found.rmse:.1%}; log loss {found.log_loss:.3f}",
    ]
    return lines + [
        f"  predicted {percent(b.predicted):>4}, recalled {percent(b.recalled):>4} {bar(b.recalled)} {b.reviews:>8,}"
        for b in wider(found.bins)
        if b.reviews >= FEW
    ]


def _time(stats: Stats) -> list[str]:
    """Return the lines on study time."""
    done = stats.activity
    recent = done.since(stats.today.toordinal() - stats.days + 1)
    lines = [f"Study: {plural(done.reviews, 'review')} in total, {plural(done.streak, 'day')} in a row"]
    lines[0] += f" (longest {done.longest_streak:,})"
    if recent:
        minutes = sum(day.ms for day in recent) / 60_000
        items = [f"{plural(len(recent), 'day')} studied out of the last {stats.days:,}"]
        if done.ms_per_answer is not None:
            items += [f"{minutes / len(recent):.0f} min per study day", f"{done.ms_per_answer / 1000:.1f} s per answer"]
        lines += _wrapped(items)
    lines += _weeks(stats)
    best = max(done.hours, key=lambda h: h.reviews)
    hours = {h.hour: h.reviews for h in done.hours}
    lines.append(f"  by hour, 0 to 23   {columns([hours.get(h, 0) for h in range(24)])}  peak at {best.hour}:00")
    return lines


def _weeks(stats: Stats) -> Iterator[str]:
    """Yield reviews and new cards per week."""
    monday = stats.today.toordinal() - stats.today.weekday()
    first = monday - 7 * (_WEEKS - 1)
    counts = [0] * _WEEKS
    for day in stats.activity.since(first):
        week = (day.day.toordinal() - first) // 7
        if week < _WEEKS:
            counts[week] += day.reviews
    begun = next((n for n, count in enumerate(counts) if count), None)
    if begun is not None and begun < _WEEKS - 1:
        yield f"  reviews per week   {columns(counts[begun:])}  {counts[-1]:,} this week"
    met = [g.met for g in stats.growth if g.week.toordinal() >= first]
    if len(met) > 1:
        yield f"  new cards per week  {columns(met)}  {stats.growth[-1].total:,} in total"


def _forecast(stats: Stats) -> list[str]:
    """Return the lines on coming reviews."""
    counts = [coming.reviews for coming in stats.forecast]
    if not any(counts):
        return ["Forecast: no reviews in the next 30 days"]
    two = sum(counts[:_DAYS])
    return [
        f"Forecast: {plural(counts[0], 'review')} today, {two:,} in {_DAYS} days, {sum(counts):,} in {len(counts)}",
        f"  the next {len(counts)} days  {columns(counts)}  peak {max(counts):,} a day",
        "  not counting new and forgotten cards",
    ]


def _mastery(stats: Stats) -> list[str]:
    """Return the lines on the weakest concepts, topics and tags."""
    seen = [c for c in stats.concepts if c.seen]
    if not seen:
        return [f"Mastery: none of {plural(len(stats.concepts), 'concept')} studied yet"]
    known = sum(c.known for c in seen)
    lines = [
        f"Mastery: {known:,} of {plural(len(stats.concepts), 'concept')} known, {len(seen):,} started",
        "  0: new or forgotten, 100: remembered for a year, dash: no cards",
        f"  {'weakest':34}{'all':>4}  " + " ".join(f"{word:>8}" for word in WORDS.values()),
    ]
    lines += [_scores(c) for c in weakest(stats.concepts, LISTED)]
    for name, groups in (("topics", stats.topics), ("tags", stats.tags)):
        begun = sorted((g for g in groups if g.seen), key=lambda g: (g.score, g.name.casefold()))
        if begun:
            lines += [f"  weakest {name}", *map(_scores, begun[:LISTED])]
    return lines


def _scores(found: Mastery | Group) -> str:
    """Return one line with the scores of a concept, topic or tag."""
    name = found.title if hasattr(found, "title") else found.name
    cells = [found.profile[kind.value] for kind in WORDS]
    shown = " ".join(f"{'–' if cell is None else format(cell * 100, '.0f'):>8}" for cell in cells)
    return f"    {short_line(name, 31):32}{found.score * 100:>4.0f}  {shown}"


def _week(stats: Stats) -> list[str]:
    """Return the lines on the last seven days."""
    found = stats.week
    named = [
        (found.reviews, "reviews"),
        (found.met, "cards seen for the first time"),
        (found.added, "cards created"),
        (found.changed, "cards whose fact changed"),
        (found.reworded, "cards reworded"),
        (found.retracted, "cards withdrawn"),
        (found.new_leeches, "new leeches"),
    ]
    lines = _wrapped(f"{count:,} {words}" for count, words in named if count)
    if found.mastered:
        more = f" and {len(found.mastered) - LISTED:,} more" * (len(found.mastered) > LISTED)
        lines += _wrapped([f"newly mastered: {'; '.join(short_line(t, 30) for t in found.mastered[:LISTED])}{more}"])
    lines += [f"  forgotten most: {_card_line(one)}" for one in found.forgotten[:LISTED] if one.forgotten > 1]
    return ["This week (7 days):", *lines] if lines else ["This week (7 days): no changes"]


def _card_line(one: Forgotten) -> str:
    return f"{short_line(one.title, 34)} ({one.card}), {one.forgotten} of {one.tries} times"


def _leeches(stats: Stats) -> list[str]:
    """Return the lines on leeches."""
    if not stats.leeches:
        return []
    lines = [f"Leeches: {plural(len(stats.leeches), 'card')} forgotten repeatedly; `retain gaps` shows causes"]
    lines += [f"  {_card_line(one)}" for one in stats.leeches[:LISTED]]
    more = len(stats.leeches) - LISTED
    return lines + [f"  and {more} more (--json lists all)"] * (more > 0)
