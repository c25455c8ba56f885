"""What a start in the cage costs: `retain guard run -- true` beside the cage alone, and where the time goes."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import RETAIN, Bench, Row, in_turns, machine, seconds, table
from vault.sandbox.bubblewrap import Plan, arguments, private_places
from vault.sandbox.capabilities import Level, bubblewrap, sandbox_support

PYTHON = (sys.executable, "-c", "pass")

# Prints, as JSON, the seconds that each part of a run takes, in one process, after a first run that loads all.
_PARTS = """
import json, os, sys, time
from datetime import UTC, datetime
from pathlib import Path
from compiler.agent_session import begin, settle
from vault.sandbox import preflight
from vault.sandbox.sandbox import Sandbox, run_in_sandbox
from vault.sandbox.environment import filtered_environment
from vault.sandbox.capabilities import sandbox_support, without_bubblewrap
from vault.files.write_scopes import AGENT_FOLDERS
from vault.vault import open_vault

root, level = Path(sys.argv[1]), sandbox_support().level
vault = open_vault(str(root), None, root)
folders = [root / folder for folder in AGENT_FOLDERS]
took = {}

def part(name, call):
    start = time.perf_counter()
    result = call()
    took.setdefault(name, []).append(time.perf_counter() - start)
    return result

def run():
    cage = Sandbox(root, level)
    return run_in_sandbox(cage, ["true"], cwd=root, env=filtered_environment(os.environ))

def now():
    return datetime.now(UTC)

for turn in range(int(sys.argv[2]) + 1):
    standing.cache_clear()
    without_bubblewrap.cache_clear()
    part("what works here, tried", standing)
    part("a look at what may be written", lambda: preflight.check_paths(root, folders, [], []))
    begun = part("the manifest before", lambda: begin(vault, ["true"], now()))
    part("the cage, from its start to its end", run)
    part("the manifest after", lambda: settle(vault, begun, now()))
print(json.dumps({name: sorted(each[1:])[len(each) // 2 - 1] for name, each in took.items()}))
"""


def rows(bench: Bench) -> list[Row]:
    """The comparisons."""
    vault = bench.work / "guarded"
    if not vault.exists():
        bench.run([RETAIN, "init", str(vault), "--no-git"])
    ours = [RETAIN, "--vault", str(vault), "guard", "run", "--", "true"]
    found = []
    for what, words in (("python -c pass", PYTHON), ("retain status", (RETAIN, "--vault", str(vault), "status"))):
        mine, theirs = in_turns(bench.rounds, lambda: bench.run(ours), lambda words=words: bench.run(words))  # type: ignore[misc]
        found.append(Row("retain guard run -- true", mine, what, theirs))
    program = bubblewrap()
    if program is not None and sandbox_support().level in (Level.FULL, Level.BUBBLEWRAP):
        bare = [program, *arguments(Plan((), private=private_places())), "--", "true"]
        mine, theirs = in_turns(bench.rounds, lambda: bench.run(ours), lambda: bench.run(bare))
        found.append(Row("retain guard run -- true", mine, "bwrap, same words, -- true", theirs))
    return found


def parts(bench: Bench) -> dict[str, float]:
    """Seconds of each part, all modules loaded."""
    command = [sys.executable, "-c", _PARTS, str(bench.work / "guarded"), str(bench.rounds)]
    done = subprocess.run(command, cwd=bench.work, env=bench.environment(), capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="retain-bench-") as folder:
        work = Path(folder)
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            os.environ[name] = str(work / name.lower())
        bench = Bench(work, asked.rounds, 0)
        print(machine(), f"level: {sandbox_support().level}", "", table(rows(bench)), "", sep="\n")
        for name, spent in parts(bench).items():
            print(f"- {name}: {seconds(spent)}")


if __name__ == "__main__":
    main()
