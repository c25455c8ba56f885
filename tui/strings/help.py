"""What the help says, besides what the registry says of each key."""

from __future__ import annotations

TITLE = "Keys"
HERE = "Here"
EVERYWHERE = "Everywhere"
PALETTE = "All of it by name: type what you want to do"
CLOSE = "esc closes"
MOVE = "A key can be moved in the settings."
