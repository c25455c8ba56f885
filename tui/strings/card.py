"""What stands on a card besides its own words, and above one that is shown before the rest has loaded."""

from __future__ import annotations

REVIEW = "Review"
READING = "reading the vault …"
CARD = "Card"
WAS = "was"
NOW = "now"
YOURS = "yours"
NOW_IN_SOURCE = "now, as the source has it"
