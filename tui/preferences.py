"""How a user likes the app: the tables [app] and [keys] of their own `config.toml`, never of a vault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Preferences:
    """`theme` "" goes with the terminal; `keys` has the id of a key (`review.undo`) and Textual's names of others."""

    theme: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)
