"""What figures mean, each in one sentence, and how rates are written."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from learning.history.day_sums import BINS
from learning.stats.activity import Hour
from learning.stats.mastery import WORDS
from learning.stats.retention import Bin, Calibration
from learning.stats.stats import Stats
from vault.text.formatting import plural

FEW = 20  # tries, below which a rate says little
NEAR = 0.02  # shares that differ by less count as the same
_FORTNIGHT = 14


def percent(rate: float | None) -> str:
    """Return a rate in per cent; "-" without one."""
    return "–" if rate is None else f"{rate:.0%}"


def verdict(found: Calibration) -> str:
    """Return whether predictions came true; "" where there is nothing to compare."""
    if found.predicted is None or found.recalled is None:
        return ""
    off = found.predicted - found.recalled
    return "as predicted" if abs(off) < NEAR else f"{abs(off):.0%} {'less' if off > 0 else 'more'} than predicted"


def wider(bins: Sequence[Bin]) -> list[Bin]:
    """Return neighbouring bins put together two by two, for a narrow screen."""
    out = []
    for _, some in groupby(bins, lambda b: round(b.low * BINS) // 2):
        both = list(some)
        tries = sum(b.reviews for b in both)
        predicted, recalled = (
            sum(getattr(b, of) * b.reviews for b in both) / tries for of in ("predicted", "recalled")
        )
        out.append(Bin(both[0].low, tries, predicted, recalled))
    return out


def retention_means(stats: Stats) -> str:
    """Return what true retention means, over the shortest of the longer periods that has enough reviews."""
    rows = [row for row in stats.retention if row.all.reviews and row.days != 1]
    if not rows:
        return "Not enough data: no card has been reviewed again since it was learnt."
    row = next((row for row in rows if row.days >= 30 and row.all.reviews >= FEW), rows[-1])
    over = f"over the last {row.days} days" if row.days else "overall"
    rate = row.all.rate or 0.0
    if row.all.reviews < FEW:
        return f"You recalled {rate:.0%} of {row.all.reviews} {over}; with so few reviews this is uncertain."
    off = rate - stats.desired
    if abs(off) < NEAR:
        return f"You recalled {rate:.0%} {over}, close to your desired retention of {stats.desired:.0%}."
    way = "above" if off > 0 else "below"
    hint = "intervals could be longer" if off > 0 else "`retain optimize` fits the parameters to your reviews"
    return f"You recalled {rate:.0%} {over}, {way} your desired retention of {stats.desired:.0%}: {hint}."


def calibration_means(stats: Stats) -> str:
    """Return whether the predicted probabilities are reliable."""
    found = stats.calibration
    if found.reviews < FEW or found.predicted is None or found.recalled is None:
        return f"Not enough data: {found.reviews} of {FEW} reviews to compare with predictions."
    comparison = f"Predicted recall was {found.predicted:.0%}, actual recall {found.recalled:.0%}"
    if abs(found.predicted - found.recalled) < NEAR:
        return f"{comparison}: the predictions are reliable."
    other = "you forget more" if found.predicted > found.recalled else "you remember more"
    return f"{comparison}: {other} than predicted; `retain optimize` may help."


def forecast_means(stats: Stats) -> str:
    """Return how much is coming."""
    counts = [coming.reviews for coming in stats.forecast]
    if not any(counts):
        return f"No reviews are due in the next {len(counts)} days."
    most = max(range(len(counts)), key=counts.__getitem__)
    when = "today" if most == 0 else "tomorrow" if most == 1 else f"in {most} days"
    return (
        f"{plural(counts[0], 'review')} today, {sum(counts[:_FORTNIGHT]):,} in {_FORTNIGHT} days; the busiest day is "
        f"{when}, with {counts[most]:,}. New and forgotten cards are not included."
    )


def time_means(stats: Stats) -> str:
    """Return how long a day of study takes."""
    recent = stats.activity.since(stats.today.toordinal() - stats.days + 1)
    if not recent:
        return "No reviews in this period."
    days = f"You studied on {plural(len(recent), 'day')} of the last {stats.days:,}"
    if stats.activity.ms_per_answer is None:
        return f"{days}; no answer times were recorded."
    minutes = sum(day.ms for day in recent) / 60_000 / len(recent)
    spent = f"{minutes:.0f} min" if minutes >= 1 else "under a minute"
    return f"{days}, {spent} a day and {stats.activity.ms_per_answer / 1000:.1f} s per answer."


def hours_mean(hours: Sequence[Hour]) -> str:
    """Return whether the hour of the day makes a difference; "" where it cannot be known."""
    frequent = [hour for hour in hours if hour.reviews >= FEW]
    if len(frequent) < 2:
        return "Too few hours of the day have enough reviews to compare them."
    best, worst = (pick(frequent, key=lambda h: h.recalled / h.reviews) for pick in (max, min))
    high, low = best.recalled / best.reviews, worst.recalled / worst.reviews
    if high - low < 2 * NEAR:
        return f"The time of day makes little difference: {low:.0%} to {high:.0%} of answers are right."
    return f"Best at {best.hour}:00 with {high:.0%} of answers right, worst at {worst.hour}:00 with {low:.0%}."


def growth_means(stats: Stats) -> str:
    """Return how many cards were reviewed and are known."""
    if not stats.growth:
        return "No card has been seen yet."
    met, known = stats.growth[-1].total, stats.known[-1] if stats.known else 0
    month = sum(week.met for week in stats.growth[-4:])
    gained = known - (stats.known[-5] if len(stats.known) > 4 else 0)
    way = f"{gained:,} more" if gained >= 0 else f"{-gained:,} fewer"
    return f"{plural(met, 'card')} seen, {known:,} of them known. In the last four weeks: {month:,} new, {way} known."


def mastery_means(stats: Stats) -> str:
    """Return how far the concepts are known, and in which kind they are weakest."""

    seen = [concept for concept in stats.concepts if concept.seen]
    if not seen:
        return "None of the concepts has been studied yet."
    known = sum(concept.known for concept in seen)
    means = {}
    for kind, word in WORDS.items():
        scores = [score for concept in seen if (score := concept.profile[kind.value]) is not None]
        if scores:
            means[word] = sum(scores) / len(scores)
    summary = f"{known:,} of {plural(len(stats.concepts), 'concept')} known, {len(seen):,} started"
    if len(means) < 2:
        return f"{summary}."
    weakest = min(means, key=lambda word: means[word])
    return f"{summary}; the weakest kind is “{weakest}”, at {means[weakest]:.0%}."


def leeches_mean(stats: Stats) -> str:
    """Return how much of the work goes into leeches."""
    if not stats.leeches:
        return "No leeches."
    failed, tries = sum(one.forgotten for one in stats.leeches), sum(one.tries for one in stats.leeches)
    cards = plural(len(stats.leeches), "leech", "leeches")
    return f"{cards}, forgotten {failed:,} of {tries:,} times: reword them rather than reviewing them again."
