"""What the help says, besides what the registry says of each key."""

from __future__ import annotations

HERE = "Here"
EVERYWHERE = "Everywhere"
