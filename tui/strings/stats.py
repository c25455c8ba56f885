"""What the statistics say, besides what each figure means (`learning.stats.wording`)."""

from __future__ import annotations

from tui.text.formats import counted

SECTIONS = ("Recall", "Chances", "Coming", "Load", "Time", "Hours", "Growth", "Mastery", "Leeches")
READING = "Reading the vault …"
COUNTING = "Counting what was reviewed …"
NOTHING = "Nothing has been reviewed yet: the first review begins these pictures."
NO_CARDS = "There are no cards yet."
FAILED = "These figures cannot be told."
ALL = "All cards"
TOPIC, TAG = "topic", "tag"
BY_WEEK = "recalled, each week with the three before"
PERIODS = {0: "all of it", 1: "today", 7: "7 days", 30: "30 days", 90: "90 days"}
RECALLED, OF, YOUNG, MATURE = "recalled", "of", "young", "mature"
FORETOLD = "foretold"
A_DAY = "reviews a day, as planned by now"
TODAY = "today"
MINUTES_A_WEEK = "minutes of study, week by week"
REVIEWS_BY_HOUR, SHARE_BY_HOUR = "reviews by the hour", "answers right by the hour"
MET, KNOWN = "cards met", "cards known"
THIS_WEEK = "this week"
WHOLE = "all"
SCORES = "0 is unseen, 100 lasts a year, a dash: no such card"
RETENTION, MINUTES, REMEMBERED = "retention", "minutes a day", "remembered in the end"
YOURS = "yours"
MINUTES_AHEAD = "minutes a day in the next 90 days, at what you want"
CARD = "card"
KEEP_FAILING = "forgotten"


def playing(retention: float) -> str:
    return f"Playing the future through at {retention:.0%} …"


def of(one: int, all_: int) -> str:
    return f"{one:,} of {all_:,}"


def in_days(days: int) -> str:
    return f"in {days} days"


def only(kind: str, name: str) -> str:
    return f"{kind} {name}"


def more(count: int) -> str:
    return f"and {counted(count, 'more', 'more')}"
