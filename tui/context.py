"""What every screen is given: the open vault, the clock, and how this user likes the app."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tui.preferences import Preferences
from tui.presses import Presses
from tui.process.jobs import Jobs
from vault.vault import Vault

if TYPE_CHECKING:  # the first frame waits for nothing that it does not show
    from learning.review.sitting import Clock


@dataclass(frozen=True, slots=True)
class Context:
    """`tag` narrows the review to some cards; `program` starts `retain` anew, in a process of its own."""

    vault: Vault
    clock: Clock
    tag: str = ""
    program: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    preferences: Preferences = field(default_factory=Preferences)
    jobs: Jobs = field(default_factory=Jobs)  # long work, which goes on while screens come and go
    presses: Presses = field(default_factory=Presses)
