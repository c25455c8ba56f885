"""What an .apkg of many notes takes to make, in time and bytes, beside genanki alone with the same notes and GUIDs."""

from __future__ import annotations

import argparse
import random
import statistics
import string
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import genanki

from benchmarks.measure import Row, in_turns, machine, table
from learning.anki.export_package import AnkiNote, guid_of, modified, package
from learning.anki.field_html import field
from learning.anki.note_types import BASIC
from vault.ids import ALPHABET, CardId

_VAULT = "01KB0000000000000000000000"
_WORDS = 4_000  # of the made-up language: what a deck repeats, a package can be made smaller by


def made_notes(count: int, *, seed: int) -> list[AnkiNote]:
    """Notes as long as those of real cards, of made-up words; each card's quote repeats words of its answer."""
    dice = random.Random(seed)
    words = ["".join(dice.choices(string.ascii_lowercase, k=dice.randint(2, 10))) for _ in range(_WORDS)]

    def said(number: int) -> str:
        return field(" ".join(dice.choices(words, k=number)))

    notes = []
    for n in range(count):
        card, concept = CardId("".join(dice.choices(ALPHABET, k=10))), n // 4
        answer = said(22)
        fields = (
            f"{said(9)}?",
            answer,
            "Mechanistic",
            f"Concept {concept}",
            answer,
            f"{said(4)}, line {n % 900}",
            card,
        )
        tags = (f"retain::concept::concept-{concept}", "retain::kind::mechanistic", "memory")
        notes.append(AnkiNote(card, guid_of(_VAULT, card), ("retain", "Mind", f"deck {concept % 40}"), fields, tags))
    return notes


def alone(notes: list[AnkiNote], out: Path) -> None:
    """The same notes by genanki as its manual has it, with given GUIDs."""
    (card,) = BASIC.templates
    templates = [{"name": card.name, "qfmt": card.front, "afmt": card.back}]
    model = genanki.Model(BASIC.id, BASIC.name, [{"name": name} for name in BASIC.fields], templates, css=BASIC.style)
    decks: dict[tuple[str, ...], genanki.Deck] = {}
    for note in notes:
        deck = decks.setdefault(note.deck, genanki.Deck(1_000_000 + len(decks), "::".join(note.deck)))
        deck.add_note(genanki.Note(model, list(note.fields), tags=list(note.tags), guid=note.guid))
    genanki.Package(list(decks.values())).write_to_file(str(out))


def ours(notes: list[AnkiNote], out: Path) -> None:
    out.write_bytes(package(_VAULT, notes, modified(notes, {}, datetime(2026, 1, 1, tzinfo=UTC))))


def _timed(make: Callable[[list[AnkiNote], Path], None], notes: list[AnkiNote], out: Path) -> Callable[[], float]:
    def run() -> float:
        start = time.perf_counter()
        make(notes, out)
        return time.perf_counter() - start

    return run


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=9)
    asked = parser.parse_args()
    notes = made_notes(asked.notes, seed=5)
    with tempfile.TemporaryDirectory(prefix="retain-bench-") as folder:
        mine, peer = Path(folder) / "retain.apkg", Path(folder) / "genanki.apkg"
        spent = in_turns(asked.rounds, _timed(ours, notes, mine), _timed(alone, notes, peer))
        sizes = mine.stat().st_size, peer.stat().st_size
    length = statistics.mean(len("\x1f".join(note.fields)) for note in notes)
    row = Row(f".apkg of {len(notes):,} notes", spent[0], "genanki alone, given GUIDs", spent[1], 1.3)
    ratio = sizes[0] / sizes[1]
    verdict = "met" if ratio <= 0.5 else "MISSED"
    print(machine(), f"{length:.0f} characters a note", "", table([row]), "", sep="\n")
    print(f"bytes: {sizes[0]:,} beside {sizes[1]:,}, ratio {ratio:.2f} (<= 0.5: {verdict})")


if __name__ == "__main__":
    main()
