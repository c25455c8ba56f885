"""Statistics as a JSON object; rates are in [0, 1], or null without reviews."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from learning.history.day_sums import BINS
from learning.stats.mastery import WORDS, Group, Mastery, weakest
from learning.stats.retention import Calibration, Retention, Tries
from learning.stats.stats import SHOWN, Forgotten, Stats, Week
from vault.log.ledger import instant

_YEAR = 365


def as_object(stats: Stats) -> dict[str, Any]:
    """Return the object of `retain stats --json`; the keys of inner objects are those of the dataclasses."""
    return {
        "as_of": instant(stats.as_of),
        "today": stats.today.isoformat(),
        "days": stats.days,
        "cards": {"total": stats.phases.total, **asdict(stats.phases)},
        "retention": {"desired": stats.desired, "true": [_retention(row) for row in stats.retention]},
        "calibration": _calibration(stats.calibration),
        "forecast": [{"day": c.day.isoformat(), "reviews": c.reviews} for c in stats.forecast],
        "time": _time(stats),
        "heatmap": _heatmap(stats),
        "growth": [{"week": g.week.isoformat(), "met": g.met, "total": g.total} for g in stats.growth],
        "concepts": [_concept(c) for c in stats.concepts],
        "topics": [_group(g) for g in stats.topics],
        "tags": [_group(g) for g in stats.tags],
        "weakest": [_concept(c) for c in weakest(stats.concepts, SHOWN)],
        "leeches": _forgotten(stats.leeches),
        "week": _week(stats.week),
    }


def _rate(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _tries(tries: Tries) -> dict[str, Any]:
    return {"reviews": tries.reviews, "recalled": tries.recalled, "rate": _rate(tries.rate)}


def _retention(row: Retention) -> dict[str, Any]:
    return {"days": row.days or None, **{name: _tries(getattr(row, name)) for name in ("all", "young", "mature")}}


def _calibration(found: Calibration) -> dict[str, Any]:
    bins = [
        {
            "from": round(b.low, 4),
            "to": round(b.low + 1 / BINS, 4),
            "reviews": b.reviews,
            "predicted": _rate(b.predicted),
            "recalled": _rate(b.recalled),
        }
        for b in found.bins
    ]
    figures = {name: _rate(getattr(found, name)) for name in ("predicted", "recalled", "log_loss", "rmse")}
    return {"reviews": found.reviews, **figures, "bins": bins}


def _time(stats: Stats) -> dict[str, Any]:
    """Return study time, streak and reviews by hour."""
    done = stats.activity
    recent = done.since(stats.today.toordinal() - stats.days + 1)
    ms = sum(day.ms for day in recent)
    return {
        "reviews": done.reviews,
        "days_studied": len(recent),
        "streak": done.streak,
        "longest_streak": done.longest_streak,
        "minutes": round(ms / 60_000, 1),
        "minutes_per_day_studied": round(ms / 60_000 / len(recent), 1) if recent else None,
        "seconds_per_answer": None if done.ms_per_answer is None else round(done.ms_per_answer / 1000, 1),
        "hours": [{"hour": h.hour, "reviews": h.reviews, "rate": _rate(h.recalled / h.reviews)} for h in done.hours],
    }


def _heatmap(stats: Stats) -> list[dict[str, Any]]:
    """Return the days of the last year with reviews."""
    since = stats.today - timedelta(days=_YEAR - 1)
    return [
        {
            "day": day.day.isoformat(),
            "reviews": day.reviews,
            "recalled": day.recalled,
            "new": day.new,
            "minutes": round(day.ms / 60_000, 1),
        }
        for day in stats.activity.days
        if day.day >= since
    ]


def profile(scores: Mapping[str, float | None]) -> dict[str, float | None]:
    """Return the scores of the four card kinds, by what they show: states, explains, relates, applies."""
    return {word: _rate(scores[kind.value]) for kind, word in WORDS.items()}


def _concept(found: Mastery) -> dict[str, Any]:
    return {
        "concept": found.concept,
        "title": found.title,
        "score": _rate(found.score),
        "profile": profile(found.profile),
        "cards": found.cards,
        "seen": found.seen,
        "known": found.known,
    }


def _group(found: Group) -> dict[str, Any]:
    return {
        "name": found.name,
        "score": _rate(found.score),
        "profile": profile(found.profile),
        "concepts": found.concepts,
        "seen": found.seen,
        "known": found.known,
    }


def _forgotten(found: Iterable[Forgotten]) -> list[dict[str, Any]]:
    return [
        {"id": f.card, "concept": f.concept, "title": f.title, "tries": f.tries, "forgotten": f.forgotten}
        for f in found
    ]


def _week(found: Week) -> dict[str, Any]:
    names = ("reviews", "added", "met", "changed", "reworded", "retracted", "new_leeches")
    counts = {name: getattr(found, name) for name in names}
    return {**counts, "forgotten": _forgotten(found.forgotten), "mastered": list(found.mastered)}
