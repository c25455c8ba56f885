"""The way back from a card, an article's sentence, a claim or a gap to the words in the source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import tzinfo
from itertools import pairwise
from typing import Any

from vault.diagnostic import Diagnostic
from vault.errors import Damaged, NotFound, Refused
from vault.layout import CONCEPTS, GAPS, SUMMARIES, TOPICS
from vault.log.card_history import PastCard, past_card
from vault.log.ledger import IDS
from vault.model.article import sentences
from vault.model.card import Card, Deck
from vault.model.claim import Claim
from vault.model.exhibit import split_exhibits
from vault.model.gaps import Gap, parse_agenda
from vault.model.markdown import unescape
from vault.model.summary import Summary, parse_summary
from vault.model.wikilink import Citation
from vault.text.formatting import clean_line, fold
from vault.vault import Vault

NOT_TEXT = "not-utf-8"


@dataclass(frozen=True, slots=True)
class Step:
    """One claim on the way back: its quote, and the raw file and place where it is."""

    claim: Claim
    path: str  # of the summary
    line: int
    source: str

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.claim.id,
            "path": self.path,
            "line": self.line,
            "kind": self.claim.kind.value,
            "state": self.claim.state.value,
            "statement": self.claim.words,
            "quote": self.claim.quote,
            "source": self.source,
            "place": self.claim.locator,
        }


@dataclass(frozen=True, slots=True)
class Trace:
    """What was asked for, where it is, and the claims it rests on; `past` for a card that is in no deck."""

    what: str
    path: str
    line: int
    steps: tuple[Step, ...]
    past: PastCard | None = None


def trace(vault: Vault, wanted: str, damaged: list[Diagnostic] | None = None) -> Trace:
    """Return the way back to the sources from the id of a card, claim or gap, or from a sentence's words.

    `damaged` gains the files that are no text.
    Raises: NotFound.
    """
    id_ = wanted.removeprefix("^").removeprefix("c-").strip()
    notes = _Notes(vault, [] if damaged is None else damaged)
    summaries = {path.removesuffix(".md"): parse_summary(text, path) for path, text in notes.of(SUMMARIES)}
    for deck in vault.decks():
        notes.damaged.extend(found for found in deck.diagnostics if found.code == NOT_TEXT)
        for card in deck.cards:
            if card.id == id_:
                return _card(deck, card, summaries)
    for summary in summaries.values():
        for located in summary.claims:
            if located.claim.id == id_:
                step = Step(located.claim, summary.path, located.line, summary.properties.text("source"))
                return Trace(located.claim.words, summary.path, located.line, (step,))
    gaps = parse_agenda(dict(notes.of(GAPS.rpartition("/")[0])).get(GAPS, ""))
    if gap := next((g for g in gaps if g.id == id_.removeprefix("g-")), None):
        return Trace(_said_of(gap), GAPS, gap.line, ())
    past = past_card(vault.read_bytes(IDS) or b"", id_)
    if past is not None:
        return _gone(past, summaries, vault.settings.zone)
    return _sentence(notes, wanted, summaries)


def _gone(past: PastCard, summaries: dict[str, Summary], zone: tzinfo) -> Trace:
    """Return what is known of a card that was removed from its deck, with those of its claims that are left."""
    found = [(summary, c) for summary in summaries.values() for c in summary.claims if c.claim.id in past.cites]
    steps = (Step(c.claim, summary.path, c.line, summary.properties.text("source")) for summary, c in found)
    said = [f"{clean_line(past.last.question)}\n{clean_line(past.last.answer)}", past.fate(zone)]
    for version, following in pairwise(past.versions):
        words = f"{clean_line(version.question)} {clean_line(version.answer)}"
        changed = f"{following.at.astimezone(zone):%Y-%m-%d %H:%M}"
        said.append(f"until {changed} ({following.how or 'changed'}): {words}")
    return Trace("\n".join(said), IDS, 0, tuple(steps), past)


def _said_of(gap: Gap) -> str:
    """Return what the agenda says of a gap."""
    lines = [f"{gap.what}: {gap.missing} ({gap.kind.value} gap, {gap.status.value})"]
    lines += [f"mentioned in {link}" for link in gap.mentions]
    return "\n".join([*lines, f"look for: {gap.fill}"])


@dataclass(frozen=True, slots=True)
class _Notes:
    """The notes of a vault that can be read; those that cannot go to `damaged`."""

    vault: Vault
    damaged: list[Diagnostic]

    def of(self, folder: str) -> Iterator[tuple[str, str]]:
        """Yield (path, text) of each note in the folder itself."""
        for path in self.vault.paths(folder, ".md"):
            try:
                text = self.vault.read_text(path)
            except (Damaged, Refused) as error:
                line = error.where.rpartition(":")[2]
                number = int(line) if line.isdecimal() else 0
                self.damaged.append(Diagnostic(path, number, NOT_TEXT, error.what, error.hint))
                continue
            if text is not None:
                yield path, text


def _card(deck: Deck, card: Card, summaries: dict[str, Summary]) -> Trace:
    """Return the way back from a card of a deck."""
    said, shown = split_exhibits(card.answer.split("\n"))
    answer = "\n".join([unescape("\n".join(said)), *map(str, shown)])
    what = f"{unescape(card.question)}\n{answer}"
    return Trace(what, deck.path, card.line, _steps(card.support, summaries))


def _sentence(notes: _Notes, words: str, summaries: dict[str, Summary]) -> Trace:
    """Return the way back from the sentence of a note that holds the words."""
    wanted = fold(words).casefold()
    for folder in (CONCEPTS, TOPICS):
        for path, text in notes.of(folder):
            for sentence in sentences(text):
                if wanted and wanted in sentence.text.casefold():
                    return Trace(sentence.text, path, sentence.line, _steps(sentence.cites, summaries))
    hint = "give the id of a card, claim or gap, or put some words from a sentence of an article in quotes"
    raise NotFound("no such card, claim or sentence", where=words[:60], hint=hint)


def _steps(cites: tuple[Citation, ...], summaries: dict[str, Summary]) -> tuple[Step, ...]:
    """Return the claims that are cited, with their quotes and places."""
    out: list[Step] = []
    for cite in cites:
        summary = summaries.get(cite.summary)
        if summary is None:
            continue
        raw = summary.properties.text("source")
        out += [Step(c.claim, summary.path, c.line, raw) for c in summary.claims if c.claim.id == cite.claim]
    return tuple(out)
