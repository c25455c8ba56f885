"""What a compile would touch, in lines for a human: `retain compile --dry-run`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from vault.text.sanitize import clean_line

if TYPE_CHECKING:
    from compiler.model.changes import Blast

SHOWN = 12  # of each noun
WORDS = 90  # characters of a sentence


def blast_lines(blast: Blast) -> list[str]:
    """What would be redone, retracted or marked, by noun: what rests on words that nobody changed stays as it is."""
    claims = [(c.what, f"“{_short(c.words)}”", [f"in {c.path}", *_was(c.was)]) for c in blast.claims]
    passages = [("new", f"“{_short(p.words or 'all of it')}”", [f"in {p.path}, {p.heading}"]) for p in blast.passages]
    articles = [
        (a.what, a.path, [*(f"- {_short(s)}" for s in a.gone), *(f"+ {_short(s)}" for s in a.new), *_asked(a.asked)])
        for a in blast.articles
    ]
    cards = [(c.what, _short(c.words), [c.path + (f": {c.reason}" if c.reason else "")]) for c in blast.cards]
    gaps = [(g.what, _short(g.words), [_short(g.reason)]) for g in blast.gaps]
    nouns = (("claims", claims), ("passages", passages), ("articles", articles), ("cards", cards), ("gaps", gaps))
    lines = [line for noun, items in nouns for line in _section(noun, items)]
    return [*lines, f"{blast.unchanged} files stay as they are, byte for byte"]


def _section(noun: str, items: Sequence[tuple[str, str, Sequence[str]]]) -> Iterator[str]:
    if not items:
        return
    counts = Counter(what for what, _, _ in items)
    yield f"{noun}: " + ", ".join(f"{n} {what}" for what, n in counts.items())
    for what, words, below in items[:SHOWN]:
        yield f"  {what} {words}"
        yield from (f"    {line}" for line in below[:SHOWN])
        if len(below) > SHOWN:
            yield f"    and {len(below) - SHOWN} more"
    if len(items) > SHOWN:
        yield f"  and {len(items) - SHOWN} more (--json lists all)"


def _short(words: str) -> str:
    line = clean_line(words)
    return line if len(line) <= WORDS else line[: WORDS - 3] + "..."


def _was(words: str) -> Iterable[str]:
    return [f"was “{_short(words)}”"] if words else []


def _asked(count: int) -> Iterable[str]:
    return [f"? {count} {'claim' if count == 1 else 'claims'} to write about"] if count else []
