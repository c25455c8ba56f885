"""Cards that are due are found by rows and stamps, and are those that a look at every card finds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.memory.state import MemoryState, Phase
from learning.store import crossing as crossings
from learning.store.crossing import crossing
from learning.store.deck_index import _KINDS, DeckIndex, read_index
from learning.store.paused import Paused
from learning.store.placed import article_of
from learning.store.state_table import StateColumns, columns_with, micros
from tests.builders import make_vault
from vault.ids import CardId
from vault.index import stamps
from vault.model.card import CardKind
from vault.vault import Vault

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
IDS = [f"{n:03}abcdefg" for n in range(40)]


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Vault:
    root = tmp_path_factory.mktemp("vault")
    (root / "wiki/concepts").mkdir(parents=True)
    decks = {}
    for n in range(0, len(IDS), 4):
        blocks = [f"Q: What is {card}?\nA: A card.\n<!-- card {card} -->\n" for card in reversed(IDS[n : n + 4])]
        decks[f"learning/flashcards/d{n:02}.md"] = "# D\n\n## Applied\n\n" + "\n".join(blocks)
    return make_vault(root, decks)


@given(
    st.dictionaries(st.sampled_from([*IDS, "zzzzzzzzzz"]), st.one_of(st.none(), st.integers(-50, 50))),
    st.integers(-60, 60),
)
def test_rows_and_numbers_are_those_that_a_look_at_every_card_finds(
    vault: Vault, days: dict[str, int | None], limit: int
) -> None:
    index = read_index(vault)
    states = _columns({CardId(card): _due(day) for card, day in days.items()})
    until = micros(NOW + timedelta(days=limit))
    cards = index.card_ids()
    for few in (0, 10**9):  # kept and read again, or made each time
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(crossings, "_FEW", few)
            for _ in range(2):
                found = crossing(vault, index, states)
                near = {state_id for row, state_id in enumerate(states) if row in set(found.before(until))}
                assert near == {card for card, day in days.items() if day is None or day < limit}
                assert [cards[n] for n in found.unmet] == [card for card in cards if card not in days]
                for card in [*cards, CardId("zzzzzzzzzz"), CardId("nowhere")]:
                    assert found.number(card) == (cards.index(card) if card in cards else None)


def _due(day: int | None) -> MemoryState:
    return MemoryState(Phase.REVIEW, due=None if day is None else NOW + timedelta(days=day))


def _columns(states: dict[CardId, MemoryState]) -> StateColumns:
    columns = columns_with(StateColumns(), states)
    assert columns is not None
    assert columns.each() == states
    return columns


def test_a_crossing_of_other_cards_or_other_dates_is_not_taken(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crossings, "_FEW", 0)
    index: DeckIndex = read_index(vault)
    first = crossing(vault, index, _columns({CardId(IDS[0]): _due(1), CardId(IDS[1]): _due(2)}))
    other = crossing(vault, index, _columns({CardId(IDS[0]): _due(2), CardId(IDS[1]): _due(1)}))
    assert list(first.by_due) == [0, 1]
    assert list(other.by_due) == [1, 0]


def test_the_index_knows_every_kind_of_card() -> None:
    assert ("", *(kind.value for kind in CardKind)) == _KINDS


def test_what_an_article_says_is_asked_again_when_it_has_changed(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamps, "RACY_NS", -1_000_000_000)  # stamps are believed at once
    path = vault.root / article_of("d00")
    steps = ["# D", "---\nlearning: false\n---\n", "---\nlearning:  true\n---\n", None, "---\nlearning: off\n---\n"]
    for text in steps:
        if text is None:
            path.unlink()
        else:
            Path(f"{path}.new").write_text(text)
            Path(f"{path}.new").replace(path)
        for _ in range(2):  # asked, and then known
            paused = Paused(vault)
            assert paused.pauses("d00", by_deck=False) == (text is not None and ("false" in text or "off" in text))
            assert paused.pauses("d04", by_deck=True)
            assert paused.asked["d04"] == stamps.NONE
            paused.write_cache()


def test_an_article_that_cannot_be_read_says_nothing(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.md").write_text("---\nlearning: false\n---\n")
    link = vault.root / article_of("d08")
    link.symlink_to(tmp_path / "elsewhere.md")
    paused = Paused(vault)
    assert not paused.pauses("d08", by_deck=False)
    assert not paused.pauses("d08", by_deck=True)
