"""Decks of hashcards and repeater: `Q:` with `A:`, and `C:` with deletions in brackets, until the next or a `---`.

Both are read as their parsers do (hashcards 0.4 `src/parser.rs`, repeater `src/parser/parse_from_file.rs`). Reviews are
in databases that know a card by the BLAKE3 of its words: `hashcards.db` beside the decks, and repeater's `cards.db`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from blake3 import blake3

from learning.foreign.brackets import Bracketed, bracketed
from learning.foreign.cards import ForeignCard, Learnt, Reading
from learning.foreign.deck_database import Past
from learning.foreign.tree import Tree, unique_key
from vault.model.card import REVERSED

HASHCARDS, REPEATER = "hashcards", "repeater"
_START = re.compile(r"[QC]:")
_QUESTION, _ANSWER = (re.compile(rf"^{tag}:", re.MULTILINE) for tag in "QA")
_CLOZE = re.compile(r"^C:[^\[]{0,4000}\[[^\]\n]+\]", re.MULTILINE)


@dataclass(slots=True)
class _Block:
    """The lines of one card, with its first one; `raw` is what repeater takes the digest of."""

    line: int
    raw: list[str] = field(default_factory=list)
    parts: dict[str, list[str]] = field(default_factory=dict)
    problem: str = ""


def read(tree: Tree, format_: str, past: Past) -> Reading:
    """Return the cards of all decks in `tree`, with what `past` knows of them."""
    reading = Reading(pictures=tree.picture)
    keys: dict[str, int] = {}
    for path, text in tree.texts(reading, (".md",)):
        deck, body, first = _front(text, path, reading)
        found = list(_read_deck(body, first, path, reading, past, format_))
        reading.cards += [
            unique_key(replace(card, deck=deck, base=path, key=f"{path.rsplit('/', 1)[-1]}\x1f{card.key}"), keys)
            for card in joined(found)
        ]
    return reading


def looks_like(text: str) -> str:
    """Return the name of the program whose deck the text is; "" for neither."""
    if not ((_QUESTION.search(text) and _ANSWER.search(text)) or _CLOZE.search(text)):
        return ""
    outside = [line for line in _outside(text) if line.strip()]
    return REPEATER if outside else HASHCARDS


def _outside(text: str) -> Iterator[str]:
    """Yield the lines that are in no card and no front matter: hashcards allows none but rules."""
    inside = False
    lines = text.replace("\r\n", "\n").split("\n")
    start = next((n + 1 for n, line in enumerate(lines[1:], 1) if line.strip() == "---"), 0) if lines[0] == "---" else 0
    for line in lines[start:]:
        if _START.match(line):
            inside = True
        elif line.startswith("---"):
            inside = False
        elif not inside:
            yield line


def _front(text: str, path: str, reading: Reading) -> tuple[str, str, int]:
    """Return (the deck's name, the text after the front matter, the number of its first line)."""
    stem = path.rsplit("/", 1)[-1].rpartition(".")[0] or path
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].strip() != "---":
        return stem, "\n".join(lines), 1
    end = next((n for n, line in enumerate(lines[1:], 1) if line.strip() == "---"), None)
    if end is None:
        reading.add_problem(path, 1, "the front matter is not closed", "close it with a line that contains only `---`")
        return stem, "", 1
    try:
        name = tomllib.loads("\n".join(lines[1:end])).get("name")
    except (tomllib.TOMLDecodeError, RecursionError):
        name = None  # properties of Obsidian, in which repeater's decks may be
    return (name if isinstance(name, str) and name.strip() else stem), "\n".join(lines[end + 1 :]), end + 2


def _read_deck(body: str, first: int, path: str, reading: Reading, past: Past, format_: str) -> Iterator[ForeignCard]:
    """Yield the cards of one deck."""
    for block in _blocks(body, first, path, reading, format_):
        if block.problem:
            reading.add_problem(path, block.line, block.problem, "fix it there, then import again")
        elif "C" in block.parts:
            card = _cloze(block, path, past, reading)
            if card is not None:
                yield card
        else:
            question, answer = ("\n".join(block.parts[name]).strip() for name in "QA")
            digest = blake3(f"Basic{question}{answer}".encode()).hexdigest()
            learnt = past.of(digest) or past.of(_repeater_digest(block))
            yield ForeignCard(
                question, question, answer, path, block.line, learnt={"": learnt} if learnt is not None else {}
            )


def _blocks(body: str, first: int, path: str, reading: Reading, format_: str) -> Iterator[_Block]:
    """Yield the cards' lines; text outside of them is passed over, but for repeater's cards in one line."""
    block: _Block | None = None
    part = ""
    for number, line in enumerate(body.split("\n"), first):
        tag = line[0] if line[:2] in ("Q:", "A:", "C:") else ""
        if tag in ("Q", "C"):
            if block is not None:
                yield _closed(block)
            block, part = _Block(number), tag
            block.parts[tag] = [line[2:].strip()]
        elif line.strip() == "---" or (format_ == REPEATER and line.startswith("---")):
            if block is not None:
                yield _closed(block)
            block = None
        elif tag == "A" and block is None:
            reading.add_problem(path, number, "an answer (A:) without a question", "write its Q: above it")
        elif tag == "A" and block is not None:
            block.problem = "" if part == "Q" else "an answer (A:) in the wrong place"
            block.parts["A"], part = [line[2:].strip()], "A"
        elif block is not None:
            block.parts[part].append(line)
        elif format_ == REPEATER and "::" in line:
            front, _, back = line.partition("::")
            one = _Block(number, [line], {"Q": [front.strip()], "A": [back.strip()]})
            yield _closed(one)
        if block is not None:
            block.raw.append(line)
    if block is not None:
        yield _closed(block)


def _closed(block: _Block) -> _Block:
    """Return the block with what is wrong with it."""
    if not block.problem and "Q" in block.parts:
        missing = "A" not in block.parts or not "\n".join(block.parts["A"]).strip()
        empty = not "\n".join(block.parts["Q"]).strip()
        block.problem = "a question (Q:) without an answer" if missing else "the question is empty" if empty else ""
    return block


def _cloze(block: _Block, path: str, past: Past, reading: Reading) -> ForeignCard | None:
    """Return the card of a cloze; None, and a problem, for one that hides nothing."""
    found = bracketed("\n".join(block.parts["C"]).strip())
    if not found.deletions:
        reading.add_problem(path, block.line, "this cloze (C:) hides no words", "put brackets around the words to hide")
        return None
    whole = past.of(_repeater_digest(block))  # repeater asks for the first deletion alone
    learnt = {}
    for n, (start, end) in enumerate(found.deletions, 1):
        place = start.to_bytes(8, "little") + (end - 1).to_bytes(8, "little")
        one = past.of(blake3(b"Cloze" + found.clean.encode() + place).hexdigest()) or (whole if n == 1 else None)
        if one is not None:
            learnt[f"c{n}"] = one
    return ForeignCard(found.clean, found.marked(), None, path, block.line, learnt=learnt)


def _repeater_digest(block: _Block) -> str:
    """Return the digest by which repeater knows a card: of its lines in lower case, white space as one blank."""
    return blake3(re.sub(r"\s+", " ", "\n".join(block.raw).lower()).strip().encode()).hexdigest()


def joined(cards: list[ForeignCard]) -> list[ForeignCard]:
    """Return the cards with siblings as one block: a question after its answer asked the other way round, and clozes
    of the same text.
    """
    out: list[ForeignCard] = []
    for card in cards:
        last = out[-1] if out else None
        if last is not None and _is_other_way(last, card):
            theirs = {REVERSED: card.learnt[""]} if "" in card.learnt else {}
            out[-1] = replace(last, is_reversed=True, learnt={**last.learnt, **theirs})
        elif last is not None and (merged := _merged(last, card)) is not None:
            out[-1] = merged
        else:
            out.append(card)
    return out


def _is_other_way(first: ForeignCard, second: ForeignCard) -> bool:
    return (
        not first.is_reversed
        and first.answer is not None
        and (second.question, second.answer) == (first.answer, first.question)
    )


def _merged(first: ForeignCard, second: ForeignCard) -> ForeignCard | None:
    """Return two clozes of one text as one, its deletions numbered in their order; None for other cards, and where
    deletions are in each other.
    """
    if first.answer is not None or second.answer is not None or first.key != second.key:
        return None
    every: dict[tuple[int, int], Learnt | None] = {}
    for card in (first, second):
        found = Bracketed.of_marked(card.question)
        every |= {place: card.learnt.get(f"c{n}") for n, place in enumerate(found.deletions, 1)}
    places = sorted(every)
    if any(one[1] > other[0] for one, other in pairwise(places)):
        return None
    whole = Bracketed(first.key, tuple(places))
    learnt: Mapping[str, Learnt] = {f"c{n}": one for n, p in enumerate(places, 1) if (one := every[p]) is not None}
    return replace(first, question=whole.marked(), learnt=learnt)
