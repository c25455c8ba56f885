"""Write `docs/formats-exchange.md` from the list of what each format keeps.

usage: python docs/exchange.py   (from a checkout, with retain installed; `make docs` runs it)
"""

from __future__ import annotations

from pathlib import Path

from learning.formats.fields import FORMATS, Format

PAGE = Path(__file__).resolve().with_name("formats-exchange.md")
HEAD = """# Cards from and for other programs

Written by `make docs` from the code. [Anki](anki.md) has a page of its own.

`retain import cards FILE|FOLDER` makes cards of what other programs wrote. The format is told by the content, and
named; `--format` names it yourself. `--dry-run` shows what would come: counts, decks, examples, and for a table what
each column was taken for (`--columns front,back,tags` says so yourself, `-` skips a column).

- Cards go into decks of your own in `learning/flashcards/`, a file for each deck. What could act in their text (HTML,
  scripts, links) is shown as the characters it is; pictures and sounds are copied to `learning/media/`.
- Importing again changes nothing. A card is known by its id in the other program, else by its file's name and its
  front; one whose text changed there is reworded here, unless you edited it.
- A schedule becomes a memory state: an event `memory` in the [review log](format.md#8-review-log), with the day of the
  last review there, stability, difficulty and the day on which the card is due. Once you have reviewed the card here
  after that day, the event has no effect.
- A card that cannot be read is reported with its file and line number and skipped; the exit code is 1 then. Nothing
  is written before all is read.
- `retain import undo` undoes the last import: cards, reviews, schedules and tags. Cards that you have reviewed or
  edited since then are kept.

`retain export` never overwrites what another program changed. What is left out of an export is in the tables.
"""


def render() -> str:
    """Return the whole page."""
    return HEAD + "".join(map(_section, FORMATS))


def _section(format_: Format) -> str:
    """Return the table of a format."""
    command = f"`retain export {format_.export}`" if format_.export else "goes out: not written"
    rows = "".join(f"| {each.name} | {each.comes_in} | {each.goes_out} |\n" for each in format_.fields)
    return f"\n## {format_.name}\n\n{format_.program}; {command}.\n\n| | comes in | goes out |\n|---|---|---|\n{rows}"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
