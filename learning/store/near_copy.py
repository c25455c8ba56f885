"""Whether a note copies sentences of the wiki: a warning, never a verdict.

Two texts are held against each other word by word, whatever their punctuation, case or markup; where a script puts no
spaces between words, character by character. Quote blocks and properties of the note are exempt: who marks a quotation
as one copies nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from vault.model.frontmatter import body_of
from vault.text.formatting import normal

RUN_WORDS, RUN_CHARACTERS = 8, 12  # so many in a row are the wiki's, not the writer's
SHARE = 0.6  # of a sentence's shingles
SHINGLE = 4  # words, or characters, in a row
LEAST_WORDS, LEAST_CHARACTERS = 6, 8  # anybody may have written a shorter sentence

# Scripts without spaces between words: Thai, Lao, Tibetan, Burmese, Khmer, kana, Han.
_BARE = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_MARKS = "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_TOKEN = re.compile(rf"[{_BARE}]|(?:(?![{_BARE}])(?:[^\W_]|[{_MARKS}]))+")
_ASCII = re.compile(r"[a-z0-9]+")
_IS_BARE = re.compile(rf"[{_BARE}]")
_LINK = re.compile(r"!?\[\[(?:[^\[\]\n|]*\|)?([^\[\]\n]*)\]\]|!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_END = re.compile(r"(?<=[.!?])[\"'”’)\]*_]*\s+|(?<=[。！？])[”’」』）]*\s*")
_BREAK = re.compile(r"\s*(?:#{1,6}\s|[-*+]\s|\d{1,9}[.)]\s|\|)")  # begins a block of its own


@dataclass(frozen=True, slots=True)
class Passage:
    """Words of the wiki and where they are: a vault path and its 1-based line."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class NearCopy:
    """Lines of a note, the first of them 1-based, and the passage that they nearly copy."""

    line: int
    yours: str
    theirs: Passage


def tokens(text: str) -> list[str]:
    """Return the words of a text without case and Markdown."""
    if "[" in text:
        text = _LINK.sub(r"\1\2", text)
    if text.isascii():  # most of most wikis, at a fifth of the time
        return _ASCII.findall(text.lower())
    return _TOKEN.findall(unicodedata.normalize("NFKC", normal(text)).casefold())


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, without white space around them."""
    return [part.strip() for part in _END.split(text) if part and part.strip()]


@dataclass(slots=True)
class NoteWords:
    """The words of a user's note, ready to be compared with many passages."""

    text: str
    _lines: list[str] = field(init=False)
    _paragraphs: list[list[tuple[str, int]]] = field(init=False)  # (word, index of its line)
    _places: dict[tuple[str, ...], list[tuple[int, int]]] = field(init=False)  # shingle -> (paragraph, position)

    def __post_init__(self) -> None:
        self._lines = self.text.split("\n")
        self._paragraphs = list(_paragraphs(self.text))
        self._places = defaultdict(list)
        for number, paragraph in enumerate(self._paragraphs):
            for position, shingle in enumerate(_shingles([word for word, _ in paragraph])):
                self._places[shingle].append((number, position))

    def may_share(self, text: str) -> bool:
        """Return whether a long text has any run of words in common with the note: if not, it needs no parsing."""
        words = [word for line in text.split("\n") for word in tokens(line)] if self._places else []
        return not self._places.keys().isdisjoint(_shingles(words))

    def copies_of(self, passage: Passage) -> list[NearCopy]:
        """Return the lines of the note that nearly copy sentences of the passage, or the passage as a whole."""
        sentences = sentences_of(passage.text)
        found = [copy for sentence in sentences if (copy := self._copy_of(sentence, passage))]
        if not found and len(sentences) > 1 and (whole := self._copy_of(passage.text, passage)):
            return [whole]  # of sentences too short to tell, or of what only looked like several
        return found

    def _copy_of(self, sentence: str, passage: Passage) -> NearCopy | None:
        """Return the lines of the note that nearly copy one sentence; None if none do."""
        words = tokens(sentence)
        lines = self._lines_like(words) if _weight(words, LEAST_WORDS, LEAST_CHARACTERS) >= 1 else None
        if lines is None:
            return None
        yours = " ".join(line.strip() for line in self._lines[lines[0] : lines[1] + 1])
        return NearCopy(lines[0] + 1, yours, Passage(passage.path, passage.line, sentence))

    def _lines_like(self, words: Sequence[str]) -> tuple[int, int] | None:
        """Return the (first, last) index of the lines that nearly copy the words; None if none do."""
        shared: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))  # paragraph, offset: positions
        shingles = list(_shingles(words))
        for at, shingle in enumerate(shingles):
            for paragraph, position in self._places.get(shingle, ()):
                shared[paragraph][position - at].add(at)
        for paragraph, runs in shared.items():
            copied = set().union(*runs.values())
            if len(copied) >= SHARE * len(shingles) or any(_is_long_run(words, run) for run in runs.values()):
                places = [offset + at for offset, run in runs.items() for at in run]
                text = self._paragraphs[paragraph]
                return text[min(places)][1], text[max(places) + SHINGLE - 1][1]
        return None


def near_copies(note: NoteWords, passages: Iterable[Passage]) -> list[NearCopy]:
    """Return what in a note nearly copies the passages, by line; the same words are returned once."""
    found: dict[tuple[int, str], NearCopy] = {}
    for copy in (copy for passage in passages for copy in note.copies_of(passage)):
        found.setdefault((copy.line, " ".join(tokens(copy.theirs.text))), copy)
    return sorted(found.values(), key=lambda copy: copy.line)


def _paragraphs(note: str) -> Iterator[list[tuple[str, int]]]:
    """Yield the words of each block of the note's own text, with the index of their line."""
    first = note[: len(note) - len(body_of(note))].count("\n")
    block: list[tuple[str, int]] = []
    for index, line in enumerate(note.split("\n")[first:], first):
        quoted = line.lstrip().startswith(">")
        if (quoted or not line.strip() or _BREAK.match(line)) and block:
            yield block
            block = []
        if not quoted:
            block += [(word, index) for word in tokens(line)]
    if block:
        yield block


def _shingles(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Return each run of SHINGLE words."""
    return zip(*(islice(words, start, None) for start in range(SHINGLE)), strict=False)


def _is_long_run(words: Sequence[str], positions: set[int]) -> bool:
    """Return whether the shingles at these positions, one after another, make up a run too long for chance."""
    run: list[int] = []
    for at in sorted(positions):
        run = [*run, at] if run and at == run[-1] + 1 else [at]
        if _weight(words[run[0] : at + SHINGLE], RUN_WORDS, RUN_CHARACTERS) >= 1:
            return True
    return False


def _weight(words: Sequence[str], enough_words: int, enough_characters: int) -> float:
    """Return the words as a share of what is needed: 1 for enough words, enough characters, or some of both."""
    characters = sum(_IS_BARE.match(word) is not None for word in words)
    return (len(words) - characters) / enough_words + characters / enough_characters
