"""Write `docs/lint.md` from the rules of `retain lint`.

usage: python docs/lint.py   (from a checkout, with retain installed; `make docs` runs it)
"""

from __future__ import annotations

from pathlib import Path

from compiler.lint.rules import RULES

PAGE = Path(__file__).resolve().with_name("lint.md")
HEAD = """# The rules of `retain lint`

Written by `make docs` from the code. `retain lint` reads the wiki, the cards, the logs and the links from your notes;
without `--fix` and `--report` it changes nothing. Each finding names its rule, place, reason and remedy; the exit code
is 1 if there is any.
`--rule CODE` asks for one rule, `--since DATE` for the files that changed since, `--json` gives all of it.

`--fix` writes the generated pages, indexes and decks again that are not as a compile leaves them, and says which;
`retain lint --undo` restores these files, unless a page or deck has changed since. Nothing that you wrote is changed.
What is left, and with `--report` everything, is saved as `output/reports/lint-DATE.md`; stale and very short pages,
missing definitions and sources that disagree become gaps in `learning/gaps.md`, and leave it when they are no longer
found.

Rules judge offline and are silent where they are in doubt. `--engine claude`, `command` or `agent` asks what only a
reader can tell, which statements contradict each other and which names are one concept: once, as answers are stored.

| rule | what it finds |
|---|---|
"""


def render() -> str:
    """Return the whole page."""
    return HEAD + "".join(f"| `{rule.code}` | {rule.about} |\n" for rule in RULES)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
