"""`make torture`: every battery, whole, and dated tables of what was seen in docs/guard.md and docs/memory.md.

`make torture PAGE=memory` runs those of one page and writes that page alone.

The batteries are the tests that ask the fixture `torture` how often to try, give the fixture `tally` a row, which
says on which page it belongs, or have cases marked `torture`. In `make test` they run a part of them; here all. The
tables are written even where a battery failed, and say so.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = {name: ROOT / "docs" / f"{name}.md" for name in ("guard", "memory")}
BEGIN, END = "<!-- torture: begin -->", "<!-- torture: end -->"
_USES = re.compile(r"\b(?:torture|tally): |\bTORTURE\b|\bmark\.torture\b")  # a parameter of a test, or a mark


def batteries(pages: Iterable[str] = PAGES) -> list[str]:
    """The test files that hold a battery of these pages, as paths below the checkout."""
    files = {f: f.read_text(encoding="utf-8") for f in sorted((ROOT / "tests").rglob("test_*.py"))}
    held = [f for f, text in files.items() if _USES.search(text) and page_of(text) in pages]
    return [f.relative_to(ROOT).as_posix() for f in held]


def page_of(text: str) -> str:
    """The page that the rows of a test file belong to."""
    return "memory" if 'page="memory"' in text else "guard"


def render(rows: list[dict[str, str]], closing: str, at: datetime) -> str:
    """The table between the marks: a row a battery, and under it where, when and how the run ended."""
    where = f"{platform.system()} {platform.release()}, {platform.machine()}, Python {platform.python_version()}"
    lines = ["| battery | seen |", "|---|---|"]
    lines += [f"| {row['row']} | {row['figures']} |" for row in sorted(rows, key=lambda row: row["row"])]
    lines += ["", f"Run whole on {at:%Y-%m-%d} ({where}): {closing}."]
    return "\n".join(lines)


def put_in(page: str, table: str) -> str:
    """`page` with `table` between the marks."""
    before, found, rest = page.partition(BEGIN)
    _, closed, after = rest.partition(END)
    if not (found and closed):
        raise SystemExit(f"the page lacks the marks {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def write(rows: list[dict[str, str]], closing: str, at: datetime, pages: Iterable[str] = PAGES) -> None:
    """Each page's own rows between its marks."""
    for name in pages:
        path = PAGES[name]
        table = render([row for row in rows if row["page"] == name], closing, at)
        path.write_text(put_in(path.read_text(encoding="utf-8"), table), encoding="utf-8")
        print(f"the table is in {path}")


def main(pages: Iterable[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        tally = Path(folder) / "tally.jsonl"
        environment = os.environ | {"RETAIN_TORTURE": "1", "RETAIN_TALLY": str(tally)}
        command = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "worksteal", *batteries(pages)]
        run = subprocess.run(command, cwd=ROOT, env=environment, check=False, stdout=subprocess.PIPE, text=True)
        print(run.stdout)
        written = tally.read_text(encoding="utf-8").splitlines() if tally.exists() else []
    summary = re.findall(r"\d+ (?:passed|failed|skipped|errors?)", run.stdout.splitlines()[-1] if run.stdout else "")
    closing = ", ".join(summary) or f"it ended with exit code {run.returncode}"
    write([json.loads(line) for line in written], closing, datetime.now(UTC), pages)
    return run.returncode


if __name__ == "__main__":
    sys.exit(main([each for each in sys.argv[1:] if each in PAGES] or list(PAGES)))
