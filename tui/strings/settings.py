"""What the settings screen says: of each setting its name, what it means, and what a change of it does."""

from __future__ import annotations

from tui.text.formats import counted

TITLE = "Settings"
LEARNING, APP, KEYS = "Learning", "The app", "Keys"
OF_VAULT, OF_USER = "of this vault, in retain.toml", "yours, in config.toml"
YES, NO, NONE = "yes", "no", "none"
NO_LIMIT, NEVER = "no limit", "never"
NOTHING_TO_UNDO = "Nothing has been changed here."
RECKONING = "Reckoning what this does …"
SAVED = "Saved."
NOT_A_NUMBER = "a number is wanted here"
EDIT = "enter saves, esc leaves it"
UNDONE = "As it was."
MEANT = {
    "learning.stats.retention": (
        "Retention",
        "The chance of recalling a card on the day it is due. Higher costs reviews.",
    ),
    "learning.new_per_day": ("New cards a day", "At most so many cards are met for the first time in a day."),
    "learning.reviews_per_day": ("Reviews a day", "At most so many cards come back in a day; the others wait."),
    "learning.minutes_per_day": ("Minutes a day", "New cards wait while a day would take longer; 0 sets no limit."),
    "learning.learning_steps": ("Steps of learning", "How soon a new card comes again: 1m 10m is twice the same day."),
    "learning.relearning_steps": ("Steps after a lapse", "How soon a forgotten card comes again."),
    "learning.maximum_interval": ("Longest interval", "No card waits for more days than this."),
    "learning.fuzz": ("Vary intervals", "What was learnt together does not all come back on one day."),
    "learning.bury_siblings": ("One of a concept a day", "Other cards of a concept wait for tomorrow."),
    "learning.leech_threshold": ("Lapses of a leech", "So often forgotten, a card counts as a leech; 0: never."),
    "learning.leech_action": ("A leech is", "What happens to a card that keeps being forgotten."),
    "learning.auto_optimize": ("Fit to me", "The scheduler is fitted anew whenever your reviews have doubled."),
    "learning.rollover": ("The day begins at", "The hour at which a new study day begins."),
    "learning.timezone": ("Time zone", "Study days are those of this zone, on every machine."),
    "app.theme": ("Colours", "Those of the terminal's background, or always the same."),
    "app.type_answers": ("Type the answer", "Asks for the answer in writing before it shows it."),
    "app.show_timer": ("Show the time", "How long the card has been on the screen."),
    "app.pictures": ("Pictures", "In the terminal where it can show them, or never."),
    "app.motion": ("Motion", "Things may glide; without it, fewer bytes go over a slow line."),
}


def default(shown: str, place: str) -> str:
    """`unless you say otherwise: 90 %; of this vault, in retain.toml`."""
    return f"Unless you say otherwise: {shown}. {place[0].upper()}{place[1:]}."


_DICE, _DICE_SHARE = 1.5, 0.03  # reviews a day, and of all: what two runs of the same forecast may differ by


def effect(before: float, after: float, minutes: float, days: int) -> str:
    """What a change of the limits or of the retention does to a day."""
    more = round(after - before)
    if abs(after - before) < max(_DICE, before * _DICE_SHARE):
        return f"About as many reviews a day as before: {round(after):,}, over the next {days} days."
    word = "more" if more > 0 else "fewer"
    reviews = counted(abs(more), f"{word} review", f"{word} reviews")
    return f"About {reviews} a day over the next {days} days: {round(after):,}, in {counted(round(minutes), 'minute')}."
