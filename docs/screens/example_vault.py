"""The vault that the pictures show: the example's documents, compiled, suggested cards kept, nine days of reviews."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from learning.cards.workspace import open_desk, rate
from vault.config.settings import FILE
from vault.ids import CardId
from vault.log.events import Rating
from vault.vault import Vault, open_vault

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-c", "import sys; from cli.main import main; sys.argv[0] = 'retain'; main()")
DAYS, NEW_A_DAY = 9, 2


def environment(home: Path) -> dict[str, str]:
    """Nobody's own settings, and a terminal that knows colours."""
    colours = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "PATH": os.environ["PATH"]}
    return {**colours, "HOME": str(home), "PYTHONPATH": str(ROOT)}


def made_vault(folder: Path, now: datetime) -> Vault:
    """A vault in `folder`/reading whose last review was yesterday, seen from `now` (UTC)."""
    root = folder / "reading"
    retain(folder, "init", str(root))
    settings = root / FILE
    words = re.sub(r'^id = ".*?"', f'id = "{"0" * 26}"', settings.read_text("utf-8"), flags=re.MULTILINE)
    settings.write_text(re.sub(r'timezone = ".*?"', 'timezone = "UTC"', words), encoding="utf-8")
    retain(folder, "--vault", str(root), "add", str(ROOT / "examples/sources"))
    retain(folder, "--vault", str(root), "compile")
    for suggested in json.loads(retain(folder, "--vault", str(root), "card", "suggest", "--json"))["suggestions"]:
        retain(folder, "--vault", str(root), "card", "suggest", "--keep", suggested["id"])
    retain(folder, "--vault", str(root), "compile")
    vault = open_vault(str(root), None, root)
    review(vault, now.astimezone(UTC))
    return vault


def retain(home: Path, *words: str) -> str:
    """Run the program and return what it printed."""
    command = [*PROGRAM, *words]
    return subprocess.run(command, env=environment(home), cwd=home, check=True, capture_output=True, text=True).stdout


def review(vault: Vault, now: datetime) -> None:
    """What fell due, and two new cards a day, rated as someone with a fair memory would."""
    dice = random.Random(6)
    for days in range(DAYS, 0, -1):
        evening = now - timedelta(days=days, minutes=dice.randrange(40))
        desk = open_desk(vault, evening)
        met = [item.card for item in desk.queue.due] + [item.card for item in desk.queue.new][:NEW_A_DAY]
        for place, card in enumerate(met):
            rating = Rating(dice.choices((1, 2, 3, 4), (8, 10, 60, 22))[0])
            dated = evening - timedelta(seconds=15 * (len(met) - place))
            desk, _ = rate(desk, CardId(card), rating, via="cli", dated=dated)
