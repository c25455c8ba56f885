"""Which planted faults `retain lint` finds: `python -m benchmarks.lint_battery VAULT... [--seeds N] [--missed]`.

Each VAULT is a compiled vault without faults; it is copied first. Every rule has planters (`benchmarks.lint_planters`),
and each plants with several seeds. The last column counts what is found in the vaults as they are: a reader has to say
which of that is wrong (`--clean` lists it).
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

import msgspec

from benchmarks.lint_planters import PLANTERS, Planter, Scene
from compiler.lint.rules import lint
from compiler.lint.wiki import Wiki
from vault.diagnostic import Diagnostic
from vault.vault import open_vault

LOST = "records-lost"  # which the command alone notices, as it remembers what the logs held
RETAIN = Path(sys.executable).with_name("retain")


@dataclass
class Tally:
    """How many faults were planted and found, by rule; `missed` names the others."""

    planted: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    clean: list[Diagnostic] = field(default_factory=list)


def _tomorrow() -> date:
    """Return the day after today: then what was compiled today is older than an hour."""
    return date.today() + timedelta(days=1)


def findings(root: Path, code: str = "") -> set[tuple[str, str, int, str]]:
    """Return (rule, path, line, reason) of all findings, or of one rule; lost records as the command has them."""
    if code == LOST:
        command = [str(RETAIN), "lint", "--rule", code, "--json", "--vault", str(root)]
        done = subprocess.run(command, capture_output=True, check=False, cwd=root)
        found = msgspec.json.decode(done.stdout)["findings"]
        return {(each["code"], each["path"], each["line"], each["message"]) for each in found}
    wiki = Wiki(open_vault(str(root), None, root), _tomorrow())
    return {(d.code, d.path, d.line, d.message) for d in lint(wiki, [code] if code else [])}


def plant(scene: Scene, code: str, planter: Planter, tally: Tally) -> None:
    """Plant one fault, look whether its rule finds it at its place, and take it back."""
    before = findings(scene.root, code)
    places = planter(scene)
    if places is None:
        return
    new = findings(scene.root, code) - before
    tally.planted[code] += 1
    if any(path in places for _, path, _, _ in new):
        tally.found[code] += 1
    else:
        tally.missed.append(f"{scene.root.name}: {code}: {planter.__name__} in {', '.join(sorted(places))}")
    scene.restore()


def run(vaults: list[Path], seeds: int, only: str) -> Tally:
    """Plant all faults in copies of the vaults."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        for vault in vaults:
            root = Path(shutil.copytree(vault, Path(folder) / vault.name))
            wiki = Wiki(open_vault(str(root), None, root), _tomorrow())
            tally.clean += lint(wiki)
            for code, planters in PLANTERS.items():
                for planter in planters if only in ("", code) else ():
                    for seed in range(seeds):
                        plant(Scene(root, random.Random(f"{code}{seed}")), code, planter, tally)
    return tally


def table(tally: Tally) -> Iterator[str]:
    """Yield the figures as a Markdown table."""
    yield "| rule | planted | found | in the vaults as they are |"
    yield "|---|---|---|---|"
    as_they_are = Counter(d.code for d in tally.clean)
    for code in PLANTERS:
        yield f"| {code} | {tally.planted[code]} | {tally.found[code]} | {as_they_are[code]} |"
    yield f"| **all** | {tally.planted.total()} | {tally.found.total()} | {as_they_are.total()} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vaults", nargs="+", type=Path)
    parser.add_argument("--seeds", type=int, default=3, help="how often each planter plants in a vault")
    parser.add_argument("--rule", default="", help="only this rule")
    parser.add_argument("--missed", action="store_true", help="name what was not found")
    parser.add_argument("--clean", action="store_true", help="list what is found in the vaults as they are")
    wants = parser.parse_args()
    tally = run(wants.vaults, wants.seeds, wants.rule)
    print("\n".join(table(tally)))
    for line in tally.missed if wants.missed else ():
        print(line)
    for found in tally.clean if wants.clean else ():
        print(f"{found.code}: {found}")


if __name__ == "__main__":
    main()
