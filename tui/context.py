"""What every screen is given: the open vault, the clock, and how this user likes the app."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from learning.sitting import Clock
from tui.preferences import Preferences
from vault.store import Vault


@dataclass(frozen=True, slots=True)
class Context:
    """`tag` narrows the review to some cards; `program` starts `retain` anew, in a process of its own."""

    vault: Vault
    clock: Clock
    tag: str = ""
    program: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    preferences: Preferences = field(default_factory=Preferences)
