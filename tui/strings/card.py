"""Words on a card besides its own, and above it while the vault is read."""

from __future__ import annotations

READING = "reading the vault …"
CARD = "Card"
WAS = "was"
NOW = "now"
YOURS = "yours"
NOW_IN_SOURCE = "now, as the source has it"
