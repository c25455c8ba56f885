"""The working directory and the clock, as the commands read them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path


def here() -> Path:
    """The working directory; the root of the file system where it is gone, as no vault is found from there."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path("/")


def now() -> datetime:
    """The clock, read at the face alone."""
    return datetime.now(UTC)
