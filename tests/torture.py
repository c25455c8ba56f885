"""`make torture`: every battery, whole, and dated tables of what was seen in docs/guard.md and docs/memory.md.

`python -m tests.torture --fifth N` (`make torture PART=N/5`) runs a fifth of them and prints its rows; `--minutes M`
begins no battery later than that. tests/batteries.py says what a battery is. After a whole run the tables are written
even where a battery failed, and say so.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = {name: ROOT / "docs" / f"{name}.md" for name in ("guard", "memory")}
BEGIN, END = "<!-- torture: begin -->", "<!-- torture: end -->"
USUAL_MINUTES = 60  # on 2 cores; until a table says how long its run took
_LASTED = re.compile(r"^Run whole on .* in (\d+) minutes\.$", re.MULTILINE)


def render(rows: list[dict[str, str]], closing: str, at: datetime) -> str:
    """Return the table between the marks: a row a battery, and under it where, when and how the run ended."""
    where = f"{platform.system()} {platform.release()}, {platform.machine()}, Python {platform.python_version()}"
    lines = ["| battery | seen |", "|---|---|"]
    lines += [f"| {row['row']} | {row['figures']} |" for row in sorted(rows, key=lambda row: row["row"])]
    lines += ["", f"Run whole on {at:%Y-%m-%d} ({where}): {closing}."]
    return "\n".join(lines)


def put_in(page: str, table: str) -> str:
    """Return `page` with `table` between the marks."""
    before, found, rest = page.partition(BEGIN)
    _, closed, after = rest.partition(END)
    if not (found and closed):
        raise SystemExit(f"the page lacks the marks {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def minutes_of_last_run(page: str) -> int:
    """Return how many minutes the run took whose table is in `page`."""
    lasted = _LASTED.search(page)
    return int(lasted[1]) if lasted else USUAL_MINUTES


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.torture")
    parser.add_argument("--fifth", type=int, choices=range(1, 6), default=0, help="run this fifth of the batteries")
    parser.add_argument("--minutes", type=float, default=0, help="begin no battery later than this")
    asked = parser.parse_args(arguments)
    whole = not (asked.fifth or asked.minutes)
    minutes = minutes_of_last_run(PAGES["guard"].read_text(encoding="utf-8"))
    print(f"all batteries take about {minutes} minutes", flush=True)
    if asked.fifth:
        print(f"this is fifth {asked.fifth} of them: about {minutes / 5:.0f} minutes", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        tally = Path(folder) / "tally.jsonl"
        environment = os.environ | {
            "RETAIN_TORTURE": "1",
            "RETAIN_TALLY": str(tally),
            "RETAIN_FIFTH": str(asked.fifth or ""),
            "RETAIN_MINUTES": str(asked.minutes or ""),
        }
        command = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "worksteal", "-rs"]
        started = time.monotonic()
        run = subprocess.run(command, cwd=ROOT, env=environment, check=False, stdout=subprocess.PIPE, text=True)
        lasted = time.monotonic() - started
        print(run.stdout)
        written = tally.read_text(encoding="utf-8").splitlines() if tally.exists() else []
    rows = [json.loads(line) for line in written]
    if not whole:
        for row in rows:
            print(f"{row['row']}: {row['figures']}")
        return run.returncode
    summary = re.findall(r"\d+ (?:passed|failed|skipped|errors?)", run.stdout.splitlines()[-1] if run.stdout else "")
    closing = ", ".join(summary) or f"it exited with code {run.returncode}"
    write(rows, f"{closing}, in {lasted / 60:.0f} minutes", datetime.now(UTC))
    return run.returncode


def write(rows: list[dict[str, str]], closing: str, at: datetime) -> None:
    """Write each page's own rows between its marks."""
    for name, path in PAGES.items():
        table = render([row for row in rows if row["page"] == name], closing, at)
        path.write_text(put_in(path.read_text(encoding="utf-8"), table), encoding="utf-8")
        print(f"the table is in {path}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
