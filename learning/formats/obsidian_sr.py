"""Export of cards for Obsidian's plugin Spaced Repetition: `question::answer`, or separated by a line `?`.

The plugin keeps of a schedule the day a card is due, the interval and an ease; what FSRS knows beyond that (stability,
difficulty, what was answered when) has no place there, and the ease is the plugin's own to begin with. It parts cards
by blank lines, so that a card's text has none, and knows no suspended cards, so that those are left out.
"""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

from learning.cards.workspace import Desk
from learning.formats.inert_markdown import JOINER, Piece, pieces
from learning.formats.targets import by_concept, exported
from learning.memory.state import MemoryState, Phase
from learning.store.placed import Placed
from vault.files.exports import export_folder
from vault.model.markdown import escape
from vault.text.formatting import clean_line

TAG = "flashcards"
EASE = 250  # per cent: what the plugin begins with
_SPECIAL = re.compile(
    r"(?P<kept>\\[^\n])|(?P<code>(?<!`)(?P<ticks>`+)(?!`)[^\n]*?[^`\n](?P=ticks)(?!`))"
    r"|(?P<math>\$\$[^$`]+\$\$|\$(?![\s$])(?:[^$`\n]*[^\s$`\\])?\$(?![\d$]))|(?P<colons>(?<=:):)|(?P<sign>#|\^|=(?==)|\{(?=\{))"
)
_ALONE = re.compile(r"\s*\?{1,2}\s*")


def obsidian_files(desk: Desk) -> dict[str, bytes]:
    """Return by file name the text of every concept with cards that may be asked."""
    cards = by_concept(shown(desk))
    return {f"{concept}.md": _render(desk, ours).encode() for concept, ours in cards.items()}


def shown(desk: Desk) -> list[Placed]:
    """Return the cards that are not retracted or suspended."""
    return [placed for placed in exported(desk) if not desk.state(placed.id).suspended]


def _render(desk: Desk, cards: list[Placed]) -> str:
    """Return the text of a concept's file."""
    tags = cards[0].deck.properties.texts("tags")
    deck = "/".join([TAG, *filter(None, map(_tag, tags[:1]))])
    blocks = [render_card(placed.card.question, placed.card.answer) for placed in cards]
    schedules = [_schedule(desk, desk.state(placed.id)) for placed in cards]
    together = "\n".join(block + comment for block, comment in zip(blocks, schedules, strict=True))
    return f"#{deck}\n\n# {inline(escape(cards[0].title))}\n\n{together}"


def _tag(word: str) -> str:
    """Return a word as part of an Obsidian tag."""
    return re.sub(r"[^\w/-]+", "-", clean_line(word)).strip("/-")


def render_card(question: str, answer: str) -> str:
    """Return one card, ended by a line break and without a blank line."""
    front, back = _part(question), _part(answer)
    if not (_one_line(front) and _one_line(back)) or _clash(front, back):
        alone = JOINER if len(front) == 1 else ""  # a front of one character counts as none
        return f"{front or '…' + JOINER}{alone}\n?\n{back or '…'}\n"
    return f"{front}::{back}\n"


def _one_line(part: str) -> bool:
    """Return whether a part is one line and not empty."""
    return bool(part) and "\n" not in part


def _clash(front: str, back: str) -> bool:
    """Return whether the plugin would take `::` between the two for another sign, or for part of a code span."""
    return front.endswith(":") or back.startswith(":") or (front.count("`") % 2 == 1 and back.count("`") % 2 == 1)


def _part(markdown: str) -> str:
    """Return a question or answer as the plugin reads it."""
    return "\n".join(line for piece in pieces(markdown) for line in _lines(piece))


def _lines(piece: Piece) -> list[str]:
    """Return the lines of a piece."""
    lines = piece.text.split("\n")
    if piece.code:  # the plugin passes over fenced code, but for its end, which it takes from any line that begins so
        mark = lines[0][:1] * len(lines[0][:3])
        return [lines[0], *(JOINER + x if x.startswith(mark) else x for x in lines[1:-1]), lines[-1]]
    inert = inline(piece.text).split("\n")
    return ["\\" + line.strip() if _ALONE.fullmatch(line) else line.rstrip() for line in inert if line.strip()]


def inline(text: str) -> str:
    """Return prose with the plugin's separators, Obsidian's tags, block ids and highlights escaped."""
    return _SPECIAL.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    """Return what a match is replaced by."""
    if found["colons"]:
        return "\\:"
    if found["code"]:
        return re.sub("(?<=:):", f"{JOINER}:", found["code"])
    if found["math"]:
        return re.sub("(?<=:):", " :", found["math"])
    return "\\" + found["sign"] if found["sign"] else found["kept"]


def _schedule(desk: Desk, state: MemoryState) -> str:
    """Return the comment that the plugin keeps below a card; "" for one that was never reviewed."""
    if state.phase is Phase.NEW or state.due is None:
        return ""
    calendar = desk.scheduler.calendar
    due = calendar.day(state.due)
    interval = max(1, due - state.last_day)
    return f"<!--SR:!{date.fromordinal(due).isoformat()},{interval},{EASE}-->\n"


def export_obsidian_sr(desk: Desk, out: Path) -> tuple[int, int]:
    """Write the files into the folder `out`; return the numbers of cards and files. Raises: Refused, WriteFailed."""
    files = obsidian_files(desk)
    export_folder(out, files, kind="obsidian-sr", forbidden=desk.vault.kept_out())
    return len(shown(desk)), len(files)
