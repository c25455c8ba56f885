"""What an attack is, and what it is told about the place it runs in.

Everything below tests/sandbox/attacks/ runs inside a cage, under `python -I`, with nothing but the standard library.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FORGED = b"forged by an agent\n"
CAGES = ("none", "full", "full-offline", "bubblewrap", "landlock")
THEMES = tuple(
    "plain content links names metadata programs git sandbox_files ledgers mounts processes sockets ipc machine "
    "secrets inherited controls".split()
)


class NotHere(Exception):
    """This system lacks what the attack needs; nothing was tried."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where things are. All of it can be found out from inside a cage, so it is simply told."""

    level: str
    base: str  # the folder that holds the whole scene
    vault: str
    insights: str
    note: str  # one of the human's notes
    work: str  # a folder where this level lets an agent write
    personal: str
    secret: str  # a note of the personal vault
    home: str
    config: str  # retain's settings of this user
    state: str  # retain's state of this vault
    tools: str
    site: str  # a copy of retain's own code, as it would lie in site-packages
    python: str
    retain: str  # the real module vault/files/guard.py
    card: str  # the id of a card
    temp: str  # a folder below the system's /tmp that outside programs use
    deputy: dict[str, Any]  # the process outside: pid, address, descriptors, ports, sockets, keys

    @classmethod
    def read(cls, path: str) -> Place:
        """The place told in the JSON file at `path`."""
        return cls(**json.loads(Path(path).read_text()))

    def loot(self, data: bytes) -> None:
        """Report what was found: to have read it is enough, as there is always a way to tell."""
        LOOT.append(data)


LOOT: list[bytes] = []


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack or, with `control`, one thing that a caged program must be able to do.

    `held` says what the attacker's own word counts as, where only the attacker can know: it had the descriptor.
    `alone` names the special way in which it has to be started. `needs` are programs. A control holds at `levels`.
    """

    name: str
    theme: str
    title: str
    run: Callable[[Place], object]
    needs: tuple[str, ...] = ()
    held: str = ""
    alone: str = ""
    control: bool = False
    levels: tuple[str, ...] = ()


ATTACKS: dict[str, Attack] = {}
Function = Callable[[Place], object]


def attack(
    *, needs: str = "", held: str = "", alone: str = "", control: bool = False, levels: str = " ".join(CAGES)
) -> Callable[[Function], Function]:
    """Puts a function on the list; its docstring is its title. What it returns (if true) is the attacker's word."""

    def note(function: Function) -> Function:
        name = function.__name__.replace("_", "-")
        theme = function.__module__.rpartition(".")[2]
        title = (function.__doc__ or "").strip().rstrip(".")
        assert name not in ATTACKS and title, name
        ATTACKS[name] = Attack(
            name, theme, title, function, tuple(needs.split()), held, alone, control, tuple(levels.split())
        )
        return function

    return note


def load(themes: Iterable[str] = THEMES) -> dict[str, Attack]:
    """Every attack and control of these themes, by name, in their order."""
    for theme in themes:
        importlib.import_module(f"tests.sandbox.attacks.{theme}")
    return ATTACKS
