"""Export of cards for Obsidian's plugin Spaced Repetition: `question::answer`, `:::` both ways, or parted by a line
`?` or `??`; clozes as `==1;;words;;hint==`.

By default a schedule is in the form of the plugin's own algorithm, which keeps the day a card is due, the interval and
an ease: the one that the plugin makes of the difficulty. With `fsrs`, it is in the form of the plugin's FSRS, with
stability and difficulty. The plugin parts cards by blank lines, so that a card's text has none, and knows no
suspended cards, so that those are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from learning.cards.workspace import Desk
from learning.formats.blocks import Deletion, blocks_of, both_ways, cloze_pieces
from learning.formats.inert_markdown import JOINER, Piece, pieces
from learning.formats.targets import by_concept, exported
from learning.memory.ease import sr_ease
from learning.memory.state import MemoryState, Phase
from learning.store.placed import Placed
from vault.files.exports import export_folder
from vault.log.ledger import instant
from vault.model.markdown import escape
from vault.text.formatting import clean_line

TAG = "flashcards"
_NEW = "!2000-01-01,1,250"  # what the plugin writes for a card of a block that was never reviewed
_STATES = {Phase.NEW: 0, Phase.LEARNING: 1, Phase.REVIEW: 2, Phase.RELEARNING: 3}
_HELD = "⦃⦂⦄"  # what stands for the marks of a cloze while the rest is escaped
_SPECIAL = re.compile(
    r"(?P<kept>\\[^\n])|(?P<code>(?<!`)(?P<ticks>`+)(?!`)[^\n]*?[^`\n](?P=ticks)(?!`))"
    r"|(?P<math>\$\$[^$`]+\$\$|\$(?![\s$])(?:[^$`\n]*[^\s$`\\])?\$(?![\d$]))|(?P<colons>(?<=:):)|(?P<sign>#|\^|=(?==)|\{(?=\{))"
)
_ALONE = re.compile(r"\s*\?{1,2}\s*")


def obsidian_files(desk: Desk, *, fsrs: bool = False) -> dict[str, bytes]:
    """Return by file name the text of every concept with cards that may be asked."""
    cards = by_concept(shown(desk))
    return {f"{concept}.md": _render(desk, ours, fsrs=fsrs).encode() for concept, ours in cards.items()}


def shown(desk: Desk) -> list[Placed]:
    """Return the cards that are not retracted or suspended."""
    return [placed for placed in exported(desk) if not desk.state(placed.id).suspended]


def _render(desk: Desk, cards: list[Placed], *, fsrs: bool) -> str:
    """Return the text of a concept's file."""
    tags = cards[0].deck.properties.texts("tags")
    deck = "/".join([TAG, *filter(None, map(_tag, tags[:1]))])
    together = "\n".join(text for block in blocks_of(cards) for text in _render_block(desk, block, fsrs=fsrs))
    return f"#{deck}\n\n# {inline(escape(cards[0].title))}\n\n{together}"


def _render_block(desk: Desk, block: list[Placed], *, fsrs: bool) -> Iterator[str]:
    """Yield the text of a block with its schedules; of one that the plugin cannot hold, that of each of its cards."""
    text = None
    if both_ways(block):
        text = render_card(*map(str, block[0].card.block_words), both=True)
    elif (pieces := cloze_pieces(block)) is not None:
        text = _cloze(pieces)
    if text is not None:
        yield text + schedule_comment(desk, block, fsrs=fsrs)
        return
    for placed in block:
        yield render_card(placed.card.question, placed.card.answer) + schedule_comment(desk, [placed], fsrs=fsrs)


def _cloze(pieces: list[Deletion]) -> str | None:
    """Return the text of a cloze; None where the plugin would take other words for its marks."""
    numbers = {number: n for n, number in enumerate(sorted({p.number for p in pieces} - {0}), 1)}
    if any(mark in piece.words + piece.hint for piece in pieces for mark in ("==", ";;", "\n\n", *_HELD)):
        return None
    if any("\n" in piece.words for piece in pieces if piece.number):
        return None
    marked = "".join(
        f"{_HELD[0]}{numbers[p.number]}{_HELD[1]}{p.words}{f'{_HELD[1]}{p.hint}' if p.hint else ''}{_HELD[2]}"
        if p.number
        else p.words
        for p in pieces
    )
    shown = _part(marked)
    if any(line.count(_HELD[0]) != line.count(_HELD[2]) for line in shown.split("\n")):
        return None
    for held, mark in zip(_HELD, ("==", ";;", "=="), strict=True):
        shown = shown.replace(held, mark)
    return f"{shown}\n"


def _tag(word: str) -> str:
    """Return a word as part of an Obsidian tag."""
    return re.sub(r"[^\w/-]+", "-", clean_line(word)).strip("/-")


def render_card(question: str, answer: str, *, both: bool = False) -> str:
    """Return one card, ended by a line break and without a blank line; `both` asks it both ways."""
    front, back = _part(question), _part(answer)
    alone_mark, mark = ("??", ":::") if both else ("?", "::")
    if not (_one_line(front) and _one_line(back)) or _clash(front, back):
        alone = JOINER if len(front) == 1 else ""  # a front of one character counts as none
        return f"{front or '…' + JOINER}{alone}\n{alone_mark}\n{back or '…'}\n"
    return f"{front}{mark}{back}\n"


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


def schedule_comment(desk: Desk, cards: list[Placed], *, fsrs: bool = False) -> str:
    """Return the comment that the plugin keeps below a block, with a schedule for each of its cards; "" where none was
    ever reviewed.
    """
    states = [desk.state(placed.id) for placed in cards]
    if all(state.phase is Phase.NEW or state.due is None for state in states):
        return ""
    write = _of_fsrs if fsrs else _of_sm2
    return f"<!--SR:{''.join(write(desk, state) for state in states)}-->\n"


def _of_sm2(desk: Desk, state: MemoryState) -> str:
    """Return a schedule as the plugin's own algorithm has it: due, interval and ease in per cent."""
    if state.phase is Phase.NEW or state.due is None:
        return _NEW
    due = desk.scheduler.calendar.day(state.due)
    return f"!{date.fromordinal(due).isoformat()},{max(1, due - state.last_day)},{sr_ease(state.difficulty)}"


def _of_fsrs(desk: Desk, state: MemoryState) -> str:
    """Return a schedule as the plugin's FSRS has it: due, interval, stability, difficulty, state, reviews, lapses,
    step, last review.
    """
    if state.phase is Phase.NEW or state.due is None or state.last_review is None:
        return _NEW
    memory = f"{round(state.stability, 8)},{round(state.difficulty, 8)}"
    counts = f"{_STATES[state.phase]},{state.reps},{state.lapses},{state.step or 0}"
    return f"!fsrs,{instant(state.due)},{state.interval_days},{memory},{counts},{instant(state.last_review)}"


def export_obsidian_sr(desk: Desk, out: Path, *, fsrs: bool = False) -> tuple[int, int]:
    """Write the files into the folder `out`; return the numbers of cards and files. Raises: Refused, WriteFailed."""
    files = obsidian_files(desk, fsrs=fsrs)
    export_folder(out, files, kind="obsidian-sr", forbidden=desk.vault.kept_out())
    return len(shown(desk)), len(files)
