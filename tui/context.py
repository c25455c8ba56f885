"""What every screen is given: the open vault, the clock, the preferences, running jobs and when keys arrived."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tui.preferences import Preferences
from tui.process.jobs import Jobs
from vault.vault import Vault

if TYPE_CHECKING:  # the first frame waits for nothing that it does not show
    from learning.review.study_session import Clock


REPEAT_S = 0.25  # a press that comes sooner after the one before is the key held down, or bounced


_RELEASED_S = 1.0  # a key that was held down is let go of when it has been silent for so long: lines stall


class Presses:
    """When keys were read from the terminal, so that an action can tell a new press from a key that is held down."""

    def __init__(self) -> None:
        self.at_s = 0.0  # when the key arrived whose action runs now
        self.repeated = False  # whether that key is held down
        self._key = ""

    def came(self, key: str, at_s: float) -> None:
        """Record a key that was read at `at_s` on the clock of the framework's events."""
        silent = _RELEASED_S if self.repeated else REPEAT_S
        self.repeated = key == self._key and at_s - self.at_s < silent
        self._key, self.at_s = key, at_s


@dataclass(frozen=True, slots=True)
class Context:
    """`tag` narrows the review to some cards; `program` is the command that starts another `retain` process."""

    vault: Vault
    clock: Clock
    tag: str = ""
    program: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    preferences: Preferences = field(default_factory=Preferences)
    jobs: Jobs = field(default_factory=Jobs)  # long work, which goes on while screens come and go
    presses: Presses = field(default_factory=Presses)

    @property
    def editor(self) -> str:
        """Return the command in $VISUAL, else in $EDITOR; "" if neither is set."""
        return self.environment.get("VISUAL", "").strip() or self.environment.get("EDITOR", "").strip()
