"""Runs the battery at a level, once for all tests and all workers of one pytest run."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any

from tests.sandbox.expected import BELOW_TMP, GROUPS, NOT_APPLICABLE, OLD_LANDLOCK, STOPPED
from vault.sandbox import landlock
from vault.sandbox.bubblewrap import PRIVATE
from vault.sandbox.capabilities import without_bubblewrap, without_filter, without_landlock

LONGEST_S = 900  # the whole of one level, on the busiest of machines
_CARD = "# Spacing\n\n## Definitional\n\nQ: What is the spacing effect?\nA: Spread study is remembered better.\n"


def wanting(level: str) -> str:
    """Why a level can't be run here; "" where it can."""
    if sys.platform != "linux":
        return "the levels of Linux are tried on Linux"
    needs = {"bubblewrap": [without_bubblewrap()], "none": []}
    needs["landlock"] = needs["worker"] = [without_landlock(landlock.abi()), without_filter()]
    needs["full"] = needs["full-offline"] = [*needs["bubblewrap"], *needs["landlock"]]
    return "; ".join(each for each in needs[level] if each)


@dataclass(frozen=True)
class Result:
    """What the judge found at one level."""

    level: str
    attacks: dict[str, dict[str, str]]
    controls: dict[str, dict[str, str]]

    @cached_property
    def outcomes(self) -> dict[str, str]:
        return {name: found["outcome"] for name, found in self.attacks.items()}

    @property
    def tried(self) -> list[str]:
        return [name for name, outcome in self.outcomes.items() if outcome != NOT_APPLICABLE]

    @property
    def succeeded(self) -> list[str]:
        return [name for name in self.tried if self.outcomes[name] != STOPPED]


class Battery:
    """`folder` is shared by all workers of this pytest run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir(exist_ok=True)

    def result(self, level: str) -> Result:
        """What came of every attack at `level`: measured by whoever asks first."""
        template = self._once("template.json", self._make_template)
        found = self._once(f"{level}.json", lambda: self._judge(level, template["card"]))
        return Result(level, found["outcomes"], found["controls"])

    def conditions(self) -> list[str]:
        """What holds on this machine of what expectations depend on."""
        held = {
            OLD_LANDLOCK: landlock.abi() < 6,
            GROUPS: os.getuid() != 0 and len(set(os.getgroups())) > 1,
            BELOW_TMP: str(self.folder.resolve()).startswith(tuple(f"{place}/" for place in PRIVATE)),
        }
        return [name for name, holds in held.items() if holds]

    def _once(self, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        path = self.folder / name
        with open(self.folder / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                path.write_text(json.dumps(make()), encoding="utf-8")
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def _make_template(self) -> dict[str, Any]:
        """A vault as `retain init` makes it, with one card, whose id is found."""
        vault = self.folder / "template"
        _retain("init", str(vault), "--no-git")
        deck = vault / "learning/flashcards/spacing.md"
        deck.parent.mkdir(exist_ok=True)
        deck.write_text(_CARD, encoding="utf-8")
        _retain("--vault", str(vault), "due", "--json")
        card = re.search(r"%% card (\w{10})", deck.read_text(encoding="utf-8"))
        assert card is not None
        return {"card": card[1]}

    def _judge(self, level: str, card: str) -> dict[str, Any]:
        orders = self.folder / f"{level}-orders.json"
        base = self.folder / level / "base"
        given = {"level": level, "template": str(self.folder / "template"), "base": str(base), "card": card}
        orders.write_text(json.dumps(given), encoding="utf-8")
        judge = [sys.executable, "-I", str(Path(__file__).with_name("judge.py")), str(orders)]
        done = subprocess.run(judge, stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST_S, check=False)
        assert done.returncode == 0, done.stderr.decode(errors="replace")[-4000:]
        found: dict[str, Any] = json.loads(done.stdout)
        return found


def _retain(*arguments: str) -> None:
    from cli.main import run

    said = StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        code = run(list(arguments))
    assert code == 0, said.getvalue()
