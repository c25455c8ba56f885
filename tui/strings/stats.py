"""The words of the statistics screen; what each figure means is in `learning.stats.wording`."""

from __future__ import annotations

from vault.text.formatting import plural

RECALL, CALIBRATION, FORECAST, WORKLOAD, MASTERY = "Recall", "Calibration", "Forecast", "Workload", "Mastery"
SECTIONS = (RECALL, CALIBRATION, FORECAST, WORKLOAD, "Time", "Hours", "Growth", MASTERY, "Leeches")
READING = "Reading the vault …"
COUNTING = "Reading the review log …"
NOTHING = "No reviews yet."
NO_CARDS = "There are no cards yet."
FAILED = "Statistics are not available: the vault could not be read."
ALL = "All cards"
TOPIC, TAG = "topic", "tag"
BY_WEEK = "share recalled, as a four-week average"
PERIODS = {0: "all", 1: "today", 7: "7 days", 30: "30 days", 90: "90 days"}
RECALLED, OF, YOUNG, MATURE = "recalled", "of", "young", "mature"
PREDICTED = "predicted"
A_DAY = "reviews a day, as currently scheduled"
TODAY = "today"
MINUTES_A_WEEK = "minutes of study, week by week"
REVIEWS_BY_HOUR, SHARE_BY_HOUR = "reviews by hour of day", "correct answers by hour of day"
MET, KNOWN = "cards seen", "cards known"
WHOLE = "all"
SCORES = "0: new, 100: remembered for a year, -: no cards"
RETENTION, MINUTES, REMEMBERED = "retention", "minutes a day", "remembered after 90 days"
YOURS = "yours"
MINUTES_AHEAD = "minutes a day in the next 90 days, by retention"
CARD = "card"
KEEP_FAILING = "forgotten"


def playing(retention: float) -> str:
    return f"Simulating at {retention:.0%} …"


def of(one: int, all_: int) -> str:
    return f"{one:,} of {all_:,}"


def in_days(days: int) -> str:
    return f"in {days} days"


def only(kind: str, name: str) -> str:
    return f"{kind} {name}"


def more(count: int) -> str:
    return f"and {plural(count, 'more', 'more')}"
