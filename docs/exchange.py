"""Write `docs/formats-exchange.md` from the list of what each format keeps.

usage: python docs/exchange.py   (from a checkout, with retain installed; `make docs` runs it)
"""

from __future__ import annotations

from pathlib import Path

from learning.formats.fields import FORMATS, Format

PAGE = Path(__file__).resolve().with_name("formats-exchange.md")
HEAD = """# Cards from and for other programs

Written by `make docs` from the code. [Anki](anki.md) has a page of its own.

`retain import cards FILE|FOLDER` imports cards from files that other programs wrote. The format is recognized by the
content and reported; to specify it yourself, use `--format`. `--dry-run` shows what would be imported: counts, decks,
examples and, for a table, what each column was recognized as (to specify the columns yourself, use
`--columns front,back,tags`; `-` skips a column).

- Cards are placed in decks of your own in `learning/flashcards/`, one file per deck. Anything in their text that could
  run or load something (HTML, scripts, links) is shown as plain characters; pictures and sounds are copied to
  `learning/media/`.
- Importing the same file again changes nothing. A card is recognized by its id in the other program, otherwise by its
  file's name and its front; if its text changed there, it is reworded here, unless you edited it.
- A schedule becomes a memory state: an event `memory` in the [review log](format.md#8-review-log), with the day of the
  last review there, the stability, the difficulty and the due date. Once you have reviewed the card here after that
  day, the event has no effect.
- A card that cannot be read is skipped and reported with its file and line number; the exit code is then 1. Nothing is
  written before everything has been read.
- `retain import undo` undoes the last import: cards, reviews, schedules and tags. Cards that you have reviewed or
  edited since then are kept.

`retain export` never overwrites what another program changed. The tables show what an export leaves out.
"""


def render() -> str:
    """Return the whole page."""
    return HEAD + "".join(map(_section, FORMATS))


def _section(format_: Format) -> str:
    """Return the table of a format."""
    command = f"`retain export {format_.export}`" if format_.export else "no export"
    rows = "".join(f"| {each.name} | {each.comes_in} | {each.goes_out} |\n" for each in format_.fields)
    return f"\n## {format_.name}\n\n{format_.program}; {command}.\n\n| | import | export |\n|---|---|---|\n{rows}"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
