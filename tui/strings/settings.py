"""The words of the settings screen: the name and meaning of each setting, and the effect of a change."""

from __future__ import annotations

from vault.text.formatting import plural

TITLE = "Settings"
LEARNING, APP, KEYS = "Learning", "App", "Keys"
OF_VAULT, OF_USER, OF_LOG = "for this vault, in retain.toml", "for you, in config.toml", "in the review log"
YES, NO, NONE = "yes", "no", "none"
NO_LIMIT, NEVER, NOT_PAUSED = "no limit", "never", "not paused"
UNITS = {  # after a number
    "learning.maximum_interval": " days",
    "learning.leech_threshold": " lapses",
    "learning.rollover": ":00",
}
NOTHING_TO_UNDO = "Nothing to undo."
CALCULATING = "Calculating the effect …"
SAVED = "Saved."
NOT_A_NUMBER = "enter a number"
EDIT = "enter saves, esc cancels"
PAUSE_NOT_LAST = "you have made other changes since; undo them first with `retain undo`, one at a time"
UNDONE = "Undid the change."
MEANT = {
    "learning.retention": (
        "Desired retention",
        "The chance of recalling a card on the day it is due. A higher value means more reviews.",
    ),
    "learning.new_per_day": ("New cards a day", "The most new cards shown in a day."),
    "learning.reviews_per_day": (
        "Reviews a day",
        "The most reviews in a day; other due cards wait until the next day.",
    ),
    "learning.minutes_per_day": (
        "Minutes a day",
        "The maximum study time in a day; further cards wait. auto: 1.5 times your average over the last two weeks.",
    ),
    "learning.pause_new_cards": (
        "Pause new cards",
        "Shows no new cards while more reviews are overdue than you usually do in a day.",
    ),
    "pause.until": (
        "Pause reviews until",
        "Until then, nothing is due and your streak is kept; afterwards, overdue reviews are spread out. For example, "
        "+14d.",
    ),
    "learning.learning_steps": (
        "Learning steps",
        "Delays between the first reviews of a new card: 1m 10m shows it twice more on the first day.",
    ),
    "learning.relearning_steps": ("Relearning steps", "Delays before a forgotten card is shown again."),
    "learning.maximum_interval": ("Maximum interval", "The longest time between two reviews of a card."),
    "learning.fuzz": ("Vary intervals", "Spreads cards that you learned together over several days."),
    "learning.bury_siblings": (
        "Bury siblings",
        "Shows at most one card per concept each day and buries the others until tomorrow.",
    ),
    "learning.easy_days": ("Easy days", "Days of the week with fewer reviews. For example, sat:50% sun:0%."),
    "learning.leech_threshold": ("Leech after", "A card with this many lapses is a leech; 0 means never."),
    "learning.leech_action": ("Leech action", "Whether a leech is flagged or suspended."),
    "learning.auto_optimize": (
        "Optimize automatically",
        "Optimizes the scheduler again each time your number of reviews has doubled.",
    ),
    "learning.rollover": ("Day starts at", "The hour at which a new study day starts."),
    "learning.timezone": ("Time zone", "The time zone that decides when a study day starts, on all your machines."),
    "app.theme": ("Colours", "Match the terminal's background, or use fixed colours."),
    "app.type_answers": ("Type the answer", "Asks you to type the answer before it is shown."),
    "app.show_timer": ("Show timer", "Shows how long the card has been on the screen."),
    "app.pictures": ("Pictures", "Shows pictures if the terminal supports them, or never."),
    "app.motion": ("Motion", "Animations; turn them off on a slow connection."),
}


def default(shown: str, place: str) -> str:
    """Return `Default: 90 %. Saved for this vault, in retain.toml.`"""
    return f"Default: {shown}. Saved {place}."


_NOISE, _NOISE_SHARE = 1.5, 0.03  # reviews a day, and of all: what two runs of the same forecast may differ by


def effect(before: float, after: float, minutes: float, days: int) -> str:
    """Return how a change of the limits or the retention changes the reviews of a day."""
    more = round(after - before)
    if abs(after - before) < max(_NOISE, before * _NOISE_SHARE):
        return f"About as many reviews a day as before: {round(after):,}, over the next {days} days."
    word = "more" if more > 0 else "fewer"
    reviews = plural(abs(more), f"{word} review", f"{word} reviews")
    total = f"{round(after):,} in all, {plural(round(minutes), 'minute')} a day"
    return f"About {reviews} a day over the next {days} days: {total}."
