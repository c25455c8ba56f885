"""Edits of a library as people make them: a number, a word, a sentence, a paragraph, a heading, a whole source."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.made_corpus import one_more_source

_SENTENCE = re.compile(r"(?<=\.) ")
_OTHER = {
    "brine": "seawater",
    "steam": "vapour",
    "spindle": "axle",
    "harbour": "port",
    "opens": "shuts",
    "falls": "rises",
}


@dataclass(frozen=True, slots=True)
class Edit:
    """What was done, and under which name each source that was there is now: None for one that is gone."""

    kind: str
    now: dict[str, str | None]


class Editor:
    """Edits the sources below `raw`, one at a time, the same for a seed."""

    def __init__(self, raw: Path, seed: int) -> None:
        self.raw, self.rng, self.count = raw, random.Random(seed), 0

    def sources(self) -> list[Path]:
        return sorted(p for p in self.raw.rglob("*.md"))

    def edit(self, kind: str) -> Edit:
        """Do one edit of that kind, to a source that chance picks."""
        self.count += 1
        there = {self._name(p): self._name(p) for p in self.sources()}
        now: dict[str, str | None] = dict(there)
        path = self.rng.choice(self.sources())
        if kind in _WHOLE:
            now |= _WHOLE[kind](self, path)
        else:
            blocks = path.read_text().strip().split("\n\n")
            path.write_text("\n\n".join(_EDITS[kind](self, blocks)) + "\n")
        return Edit(kind, now)

    def _name(self, path: Path) -> str:
        return path.relative_to(self.raw.parent).as_posix()

    def _prose(self, blocks: Sequence[str]) -> int:
        return self.rng.choice([n for n, b in enumerate(blocks) if not b.startswith("#")])

    def _with(self, blocks: list[str], change: Callable[[str], str]) -> list[str]:
        """The blocks with one of prose changed; the first that the change does anything to."""
        order = [n for n, b in enumerate(blocks) if not b.startswith("#")]
        self.rng.shuffle(order)
        for at in order:
            if (new := change(blocks[at])) != blocks[at]:
                return [*blocks[:at], *([new] if new else []), *blocks[at + 1 :]]
        return blocks

    # --- inside a source ---

    def number(self, blocks: list[str]) -> list[str]:
        return self._with(blocks, lambda b: re.sub(r"\b\d+\b", lambda m: str(int(m[0]) + 7), b, count=1))

    def word(self, blocks: list[str]) -> list[str]:
        pattern = re.compile(rf"\b({'|'.join(_OTHER)})\b")
        return self._with(blocks, lambda b: pattern.sub(lambda m: _OTHER[m[1]], b, count=1))

    def sentence_added(self, blocks: list[str]) -> list[str]:
        donor = self.rng.choice(one_more_source(1000 + self.count).split("\n\n")[2::3])
        return self._with(blocks, lambda b: f"{b} {_SENTENCE.split(donor)[-1]}")

    def sentence_removed(self, blocks: list[str]) -> list[str]:
        return self._with(blocks, lambda b: " ".join(_SENTENCE.split(b)[:-1]) or b)

    def sentence_moved(self, blocks: list[str]) -> list[str]:
        """The last sentence of a paragraph to the end of another one."""
        prose = [n for n, b in enumerate(blocks) if not b.startswith("#") and len(_SENTENCE.split(b)) > 1]
        here, there = self.rng.sample(prose, 2)
        *rest, last = _SENTENCE.split(blocks[here])
        out = list(blocks)
        out[here], out[there] = " ".join(rest), f"{blocks[there]} {last}"
        return out

    def heading(self, blocks: list[str]) -> list[str]:
        at = self.rng.choice([n for n, b in enumerate(blocks) if b.startswith("## ")])
        return [*blocks[:at], f"{blocks[at]} and more", *blocks[at + 1 :]]

    def paragraph_split(self, blocks: list[str]) -> list[str]:
        return self._with(blocks, lambda b: _SENTENCE.sub("\n\n", b, count=1))

    def paragraph_joined(self, blocks: list[str]) -> list[str]:
        prose = [not b.startswith("#") for b in blocks]
        at = self.rng.choice([n for n in range(1, len(blocks)) if prose[n] and prose[n - 1]])
        return [*blocks[: at - 1], f"{blocks[at - 1]} {blocks[at]}", *blocks[at + 1 :]]

    def paragraph_moved(self, blocks: list[str]) -> list[str]:
        """To the end of another section."""
        at = self._prose(blocks)
        block, rest = blocks[at], [*blocks[:at], *blocks[at + 1 :]]
        heads = [n for n, b in enumerate(rest) if b.startswith("## ")] + [len(rest)]
        to = self.rng.choice(heads[1:])
        return [*rest[:to], block, *rest[to:]]

    def white_space(self, blocks: list[str]) -> list[str]:
        return self._with(blocks, lambda b: b.replace(" ", "\n", 1).replace(" a ", "  a ", 1))

    def sentence_of_another(self, blocks: list[str]) -> list[str]:
        """A sentence that stands in another source, too."""
        other = self.rng.choice(self.sources()).read_text().strip().split("\n\n")
        words = self.rng.choice(_SENTENCE.split(other[self._prose(other)]))
        return self._with(blocks, lambda b: b if words in b else f"{b} {words}")

    # --- whole sources ---

    def renamed(self, path: Path) -> dict[str, str | None]:
        new = path.with_name(f"renamed-{self.count}.md")
        path.rename(new)
        return {self._name(path): self._name(new)}

    def replaced(self, path: Path) -> dict[str, str | None]:
        path.write_text(one_more_source(2000 + self.count))
        return {}

    def deleted(self, path: Path) -> dict[str, str | None]:
        """And another one comes, so that there are as many as before."""
        path.unlink()
        (path.parent / f"new-{self.count}.md").write_text(one_more_source(3000 + self.count))
        return {self._name(path): None}


_EDITS: dict[str, Callable[[Editor, list[str]], list[str]]] = {
    "number": Editor.number,
    "word": Editor.word,
    "sentence added": Editor.sentence_added,
    "sentence removed": Editor.sentence_removed,
    "sentence moved": Editor.sentence_moved,
    "heading": Editor.heading,
    "paragraph split": Editor.paragraph_split,
    "paragraph joined": Editor.paragraph_joined,
    "paragraph moved": Editor.paragraph_moved,
    "white space": Editor.white_space,
    "sentence of another": Editor.sentence_of_another,
}
_WHOLE: dict[str, Callable[[Editor, Path], dict[str, str | None]]] = {
    "renamed": Editor.renamed,
    "replaced": Editor.replaced,
    "deleted": Editor.deleted,
}
KINDS = (*_EDITS, *_WHOLE)
