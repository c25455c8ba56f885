"""Where a gap matters: the sentences that name what is missing, and the cards that keep being forgotten."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from learning.agenda.gap_rules import gap_id
from learning.cards.workspace import Desk
from learning.store.card_text import catalogue
from vault.errors import RetainError
from vault.ids import CardId, GapId
from vault.model.frontmatter import body_of
from vault.model.gaps import Gap, GapKind
from vault.model.markdown import unescape
from vault.model.wikilink import links
from vault.text.formatting import clean_line, truncate
from vault.vault import Vault

MOST = 4  # notes that are read for one gap
_LONGEST = 300  # characters of a sentence
_LINK = re.compile(r"\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]*)\]\]")
_CITATION = re.compile(r"\s*\[\[[^\[\]|\n]*#\^c-[^\[\]\n]*\]\]")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+")
_NOTHING_SAID = ("#", "^", "|", "```", "<!--", "%%", "---", "> [!")


@dataclass(frozen=True, slots=True)
class Mention:
    """A note that needs what a gap lacks. `sentence` is the first that names it, at the 1-based `line`; "" and 0
    where none does."""

    path: str
    title: str
    line: int = 0
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Failing:
    """A card that was forgotten."""

    card: CardId
    question: str
    lapses: int
    reps: int


def mentions_of(vault: Vault, gap: Gap) -> list[Mention]:
    """Return the notes that the gap names, each with its sentence; one that cannot be read has none."""
    found: list[Mention] = []
    for link in links(" ".join(gap.mentions)):
        path = f"{link.target}.md"
        if len(found) < MOST and path not in [mention.path for mention in found]:
            line, sentence = 0, ""
            with suppress(RetainError):  # the note is still named
                line, sentence = first_mention(vault.read_text(path) or "", gap.what)
            found.append(Mention(path, clean_line(link.alias or link.target), line, sentence))
    return found


def first_mention(note: str, name: str) -> tuple[int, str]:
    """Return the 1-based line and the first sentence of a note's body that names `name`, in plain words; (0, "") if
    none.
    """
    named = re.compile(rf"(?<!\w){re.escape(clean_line(name))}", re.IGNORECASE)
    for line, words in _lines(note):
        if named.search(words):
            sentence = next((s for s in _SENTENCE.split(words) if named.search(s)), words)
            return line, truncate(sentence, _LONGEST)
    return 0, ""


def _lines(note: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of the note's body with their 1-based numbers."""
    body = body_of(note)
    first = note[: len(note) - len(body)].count("\n") + 1
    for number, row in enumerate(body.split("\n"), first):
        if not row.lstrip().startswith(_NOTHING_SAID):
            bare = _LINK.sub(r"\1", _CITATION.sub("", row)).strip().lstrip("> ").strip()
            yield number, clean_line(unescape(bare).replace("**", ""))


def failing_cards(desk: Desk, gaps: Sequence[Gap]) -> dict[GapId, tuple[Failing, ...]]:
    """Return the forgotten cards behind each of the learner's gaps, the most often forgotten first."""

    wanted = {gap.id for gap in gaps if gap.kind is GapKind.LEARNER}
    if not wanted:
        return {}
    cards = catalogue(desk.cards)
    found: dict[GapId, list[Failing]] = {}
    for shelf in cards.shelves:
        gap = gap_id(shelf.named or shelf.stem)
        if gap in wanted:
            found.setdefault(gap, []).extend(_failing(desk, cards.ids[shelf.first : shelf.end]))
    return {gap: tuple(sorted(some, key=lambda f: (-f.lapses, f.card))) for gap, some in found.items()}


def _failing(desk: Desk, ids: Sequence[CardId]) -> Iterator[Failing]:
    """Yield those of the cards that were forgotten."""
    for id_ in ids:
        state, placed = desk.state(id_), desk.cards.get(id_)
        if state.lapses and placed is not None:
            yield Failing(id_, clean_line(unescape(placed.card.question)), state.lapses, state.reps)
