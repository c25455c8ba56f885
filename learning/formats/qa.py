"""Export of cards as bare Q:/A: files, one a concept, which hashcards and repeater read.

A cloze is a text after `C:` for each card, with its words in brackets; where other brackets are in it, or a card hides
several places, it is a question with its answer. Both programs take `Q:`, `A:` and `C:` at the start of a line for tags
and a line of dashes for the end of a card, hashcards also inside code; repeater counts every line that begins with
three backticks as a fence, and takes `::` before the first card for one. A card's own lines must be none of these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from learning.cards.workspace import Desk
from learning.formats import hashcards_database
from learning.formats.blocks import Deletion, blocks_of, cloze_pieces
from learning.formats.inert_markdown import JOINER, Piece, pieces
from learning.formats.targets import by_concept, exported
from learning.store.placed import Placed
from vault.files.exports import export_folder
from vault.ids import CardId
from vault.text.formatting import clean_line

_TAG = re.compile(r"(\s*[QAC]):")
_DASHES = re.compile(r"\s*---")
_HELD = "⦃⦄"  # what stands for the brackets of a cloze while the rest is escaped
_TICKS = re.compile(r"(\s*)(?=```)")


def qa_files(desk: Desk) -> dict[str, bytes]:
    """Return by file name the text of every concept that has cards, without retracted ones."""
    cards = by_concept(exported(desk))
    return {f"{concept}.md": render_qa(ours[0].title, ours).encode() for concept, ours in cards.items()}


def render_qa(title: str, cards: list[Placed]) -> str:
    """Return one file: the deck's name as TOML for hashcards, then the cards."""
    name = json.dumps(re.sub(":(?=:)", ": ", clean_line(title)) or "cards", ensure_ascii=False)
    blocks = [text for block in blocks_of(cards) for _, text in texts_of(block)]
    return f"---\nname = {name}\n---\n\n" + "\n".join(blocks)


def texts_of(block: list[Placed]) -> Iterator[tuple[CardId, str]]:
    """Yield each card of a block with its text."""
    pieces = cloze_pieces(block)
    for placed in block:
        text = None if pieces is None else _cloze(pieces, int(placed.card.variant[1:]))
        yield placed.id, text or f"Q: {_part(placed.card.question)}\nA: {_part(placed.card.answer)}\n"


def _cloze(pieces: list[Deletion], number: int) -> str | None:
    """Return the text of one card of a cloze; None where the programs would take other words for the hidden ones."""
    hidden = [piece for piece in pieces if piece.number == number]
    if len(hidden) != 1 or hidden[0].hint or any(sign in p.words for p in pieces for sign in ("[", "]", *_HELD)):
        return None
    marked = "".join(f"{_HELD[0]}{p.words}{_HELD[1]}" if p is hidden[0] else p.words for p in pieces)
    shown = _part(marked)
    if "[" in shown or "]" in shown:
        return None
    return f"C: {shown.replace(_HELD[0], '[').replace(_HELD[1], ']')}\n"


def _part(markdown: str) -> str:
    """Return a question or answer as the two programs read it."""
    shown = "\n".join(line for piece in pieces(markdown) for line in _lines(piece))
    if shown.startswith("```"):
        shown = "\n" + shown  # a fence begins a line
    return shown.strip(" ") or "?"


def _lines(piece: Piece) -> list[str]:
    """Return the lines of a piece."""
    lines = piece.text.split("\n")
    if not piece.code:
        return [_prose_line(line) for line in lines]
    return [lines[0], *map(_code_line, lines[1:-1]), lines[-1]]


def _prose_line(line: str) -> str:
    """Return a line of prose that neither program takes for a tag or a separator."""
    line = _TAG.sub(r"\1\\:", line, count=1) if _TAG.match(line) else line
    if _DASHES.match(line):
        return line.replace("---", "\\---", 1)
    return _TICKS.sub(rf"\1{JOINER}", line, count=1)


def _code_line(line: str) -> str:
    """Return a line of code; a character without width in front keeps it from being a tag, as a backslash would
    show.
    """
    return JOINER + line if _TAG.match(line) or _DASHES.match(line) or _TICKS.match(line) else line


def export_qa(desk: Desk, out: Path, *, scheduled: bool = False) -> tuple[int, int]:
    """Write the files into the folder `out`; return the numbers of cards and files. With `scheduled`, the database of
    hashcards is one of them. Raises: Refused, WriteFailed.
    """
    files = qa_files(desk)
    if scheduled:
        texts = {id_: text for block in blocks_of(exported(desk)) for id_, text in texts_of(block)}
        files[hashcards_database.NAME] = hashcards_database.database(desk, texts)
    export_folder(out, files, kind="qa", forbidden=desk.vault.kept_out())
    return len(exported(desk)), len(files)
