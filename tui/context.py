"""What every screen is given: the open vault, the clock, and how this user likes the app."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tui.jobs import Jobs
from tui.preferences import Preferences
from tui.presses import Presses
from vault.store import Vault

if TYPE_CHECKING:  # the first frame waits for nothing that it does not show
    from learning.first_card import FirstCard
    from learning.sitting import Clock


class Overture(Protocol):
    """What was painted before the framework has loaded."""

    def hand_over(self) -> str:
        """Gives the terminal's mode back to how it was found, and the escapes that paint it again; "" from then on."""
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """`tag` narrows the review to some cards; `program` starts `retain` anew, in a process of its own.

    `early` is the card whose question stands on the terminal already, painted by `overture`.
    """

    vault: Vault
    clock: Clock
    tag: str = ""
    program: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    preferences: Preferences = field(default_factory=Preferences)
    jobs: Jobs = field(default_factory=Jobs)  # long work, which goes on while screens come and go
    presses: Presses = field(default_factory=Presses)
    early: FirstCard | None = None
    overture: Overture | None = None
