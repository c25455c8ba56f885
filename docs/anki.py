"""Write the table of `docs/anki.md` that says, field by field, what is imported, exported and synced.

usage: python docs/anki.py   (from a checkout, with retain installed; `make docs` runs it)
"""

from __future__ import annotations

from pathlib import Path

from learning.anki.borders import BORDERS

PAGE = Path(__file__).resolve().with_name("anki.md")
BEGIN, END = "<!-- borders: begin -->", "<!-- borders: end -->"


def render() -> str:
    """Return the table."""
    head = "| in Anki | `import anki` | `export anki` | `sync anki` |\n|---|---|---|---|\n"
    return head + "".join(f"| {b.what} | {b.imported} | {b.exported} | {b.synced} |\n" for b in BORDERS)


def put_in(page: str) -> str:
    """Return the page with the table between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{render()}{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(put_in(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
