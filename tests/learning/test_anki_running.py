"""`sync anki` before Anki itself: the program with its windows and the add-on as its users have them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from learning.anki_connect.client import AnkiConnect
from learning.anki_connect.sync import Synced, sync
from learning.cards.workspace import open_desk
from tests.learning.running_anki import running_anki
from vault.ids import CardId
from vault.log.events import Import
from vault.log.review_log import read_log, unix_ms
from vault.vault import Vault

A1, A2, B1 = CardId("aaaaaaaaa1"), CardId("aaaaaaaaa2"), CardId("bbbbbbbbb1")


@pytest.fixture
def anki(tmp_path: Path) -> Iterator[AnkiConnect]:
    base = tmp_path / "anki"
    base.mkdir()
    with running_anki(base) as there:
        yield there


def synced(vault: Vault, anki: AnkiConnect, **options: Any) -> Synced:
    return sync(open_desk(vault, datetime.now(UTC)), anki, **options)


def counts(done: Synced) -> tuple[int, int, int, int]:
    """Notes made, changed and unchanged; reviews that came home."""
    plan = done.plan
    return len(plan.create), len(plan.update) + len(plan.retag), len(plan.unchanged), len(done.home.new)


def there_now(anki: AnkiConnect) -> dict[CardId, dict[str, Any]]:
    told = anki.call("notesInfo", notes=anki.call("findNotes", query='"CardId:_*"'))
    return {CardId(note["fields"]["CardId"]["value"]): note for note in told}


def in_anki(anki: AnkiConnect) -> list[tuple[int, CardId, int]]:
    """(instant in Unix milliseconds, card, button) of every review that Anki itself remembers."""
    of = {note["cards"][0]: card for card, note in there_now(anki).items()}
    told = anki.call("getReviewsOfCards", cards=list(of))
    return sorted((row["id"], of[int(card)], row["ease"]) for card, rows in told.items() for row in rows)


def in_log(vault: Vault) -> list[tuple[int, CardId, int]]:
    events = read_log(vault.root).events
    return sorted((unix_ms(e.at), e.card, int(e.rating)) for e in events if isinstance(e, Import))


def test_cards_go_to_anki_itself_and_its_reviews_come_home_each_once(vault: Vault, anki: AnkiConnect) -> None:
    first = synced(vault, anki)
    assert counts(first) == (3, 0, 0, 0) and not first.failed
    assert there_now(anki).keys() == {A1, A2, B1}
    assert counts(synced(vault, anki)) == (0, 0, 3, 0)
    cards = {card: note["cards"][0] for card, note in there_now(anki).items()}
    for ease, card in ((3, A1), (1, B1), (4, A2), (3, B1)):
        assert anki.call("answerCards", answers=[{"cardId": cards[card], "ease": ease}]) == [True]
    assert counts(synced(vault, anki)) == (0, 0, 3, 4)
    assert in_log(vault) == in_anki(anki) and [ease for _, _, ease in in_log(vault)] == [3, 1, 4, 3]
    assert counts(synced(vault, anki)) == (0, 0, 3, 0)
    assert in_log(vault) == in_anki(anki)
    edited = there_now(anki)[A1]["noteId"]
    anki.call("updateNoteFields", note={"id": edited, "fields": {"Answer": "my own words"}})
    file = vault.root / "learning/flashcards/interleaving.md"
    file.write_text(file.read_text().replace("Mixing kinds", "To mix kinds"))
    done = synced(vault, anki)
    assert counts(done) == (0, 1, 1, 0) and done.plan.edited == (A1,)
    now = there_now(anki)
    assert now[A1]["fields"]["Answer"]["value"] == "my own words"
    assert now[B1]["fields"]["Answer"]["value"] == "To mix kinds of problem in one sitting."
    assert {card: note["cards"][0] for card, note in now.items()} == cards
    assert in_log(vault) == in_anki(anki)
