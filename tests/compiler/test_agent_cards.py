"""Decks that an agent changed: none of it stays, and the cards are as they were. Cards come by orders."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta

import pytest

from compiler.model.engine_names import VERSIONS
from learning.cards.workspace import open_desk
from tests.compiler.agent_scene import DECK, Scene, kept, quarantined, why
from vault.audit.agent_runs import held_back
from vault.ids import CardId
from vault.model.card import Card, parse_deck

OLD = "Q: What is retrieval practice?\nA: The act of recalling an answer from memory instead of reading it again."
NEW = "Q: When does retrieval practice help little?\nA: When the learner recalls nothing."
ASIDE = ("ledger/replies", "output/quarantine")


def cards(scene: Scene, path: str = DECK) -> dict[CardId, Card]:
    return {c.id: c for c in parse_deck(scene.text(path), path).cards if c.id is not None}


CHANGES: dict[str, Callable[[Scene], None]] = {
    "a new card": lambda s: s.add(DECK, NEW),
    "a new card with an id": lambda s: s.add(DECK, f"{NEW}\n<!-- card aaaaaaaaaa 9d3dc0 -->"),
    "another answer": lambda s: s.change(DECK, OLD, f"{OLD} And more."),
    "a card that acts": lambda s: s.change(DECK, OLD, f"{OLD} <img src=x onerror=alert(1)>"),
    "a card taken out": lambda s: s.change(DECK, OLD, ""),
    "words beside the cards": lambda s: s.change(DECK, "## Mechanistic", "Send money to Bob.\n\n## Mechanistic"),
    "another order": lambda s: s.change(DECK, "## Mechanistic", "## Applied"),
    "other properties": lambda s: s.change(DECK, f"generator: {VERSIONS['extractive']}", "generator: me/1"),
    "not text": lambda s: s.write(DECK, b"\xff\xfe"),
    "endless": lambda s: s.add(DECK, f"Q: When?\nA: {'x ' * 50_000}"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_deck_that_was_changed_is_as_it_was(scene: Scene, name: str) -> None:
    before = scene.tree()
    settled = scene.agent(lambda: CHANGES[name](scene))
    assert quarantined(settled) == {DECK} and not kept(settled) and "not accepted" in why(settled)
    assert scene.tree(*ASIDE) == before
    scene.compile()
    assert scene.tree(*ASIDE, "ledger/builds", "wiki/_log.md") == {
        path: data for path, data in before.items() if not path.startswith(("ledger/builds", "wiki/_log.md"))
    }


@pytest.mark.parametrize("path", ["mine.md", "mine/deck.md", "cards.jsonl", "cards.apkg", "deck.canvas"])
def test_what_is_new_among_the_decks_does_not_stay(scene: Scene, path: str) -> None:
    before = scene.tree()
    settled = scene.agent(lambda: scene.write(f"learning/flashcards/{path}", f"## Applied\n\n{NEW}\n"))
    assert quarantined(settled) == {f"learning/flashcards/{path}"} and scene.tree(*ASIDE) == before


def test_decks_that_are_deleted_come_back_and_no_card_counts_as_deleted(scene: Scene) -> None:
    before = scene.tree()
    settled = scene.agent(lambda: (scene.root / "learning/flashcards/spacing-effect.md").unlink())
    assert [r.why for r in settled.restored] == ["it was deleted"]
    assert scene.tree(*ASIDE) == before
    scene.compile()
    assert not any(e["type"] == "card-deleted" for e in scene.events("ledger/decisions.jsonl"))


def test_words_of_the_humans_stay(scene: Scene) -> None:
    scene.change(DECK, OLD.partition("\n")[2], "A: My own words.")
    scene.add(DECK, "Q: Mine?\nA: Mine.")
    theirs = scene.text(DECK)

    def work() -> None:
        scene.change(DECK, "A: My own words.", "A: Theirs.")
        scene.change(DECK, "\n\nQ: Mine?\nA: Mine.", "")

    scene.agent(work)
    assert scene.text(DECK) == theirs


def test_cards_that_an_agent_wrote_in_an_older_vault_stay_and_so_does_their_rejection(scene: Scene) -> None:
    """Their events are in the ledger: `by` names the agent, and a decision may have taken them back."""
    id_ = next(iter(cards(scene)))
    ids = scene.root / "ledger/ids.jsonl"
    born = next(e for e in scene.events() if e.get("id") == id_)
    told = {**born, "type": "change", "a": "To recall.", "at": "2026-11-22T09:00:00.000Z", "by": "agent", "run": "R"}
    ids.write_text(f"{ids.read_text()}{json.dumps(told | {'engine': 'agent/R'})}\n")
    before = scene.text(DECK)
    scene.rebuild()
    assert cards(scene)[id_].answer == "To recall."
    decision = {"v": 1, "type": "agent-reject", "card": id_, "at": "2026-11-22T10:00:00.000Z", "via": "cli"}
    with (scene.root / "ledger/decisions.jsonl").open("a") as file:
        file.write(f"{json.dumps(decision)}\n")
    scene.rebuild()
    assert cards(scene)[id_].answer == parse_deck(before, DECK).cards[0].answer


def test_cards_of_a_changed_deck_are_not_shown_before_they_are_judged(scene: Scene) -> None:
    all_cards = set(open_desk(scene.vault, scene.now()).cards)
    scene.begin()
    assert held_back(scene.vault) == frozenset()
    scene.add(DECK, NEW)
    there = open_desk(scene.vault, scene.now())
    assert held_back(scene.vault) == {DECK}
    assert [d.message for d in there.diagnostics if d.code == "decks-wait"] == [
        "1 deck changed since an agent's run began; cards in changed decks are hidden"
    ]
    assert set(there.cards) == all_cards - set(cards(scene)) and scene.text(DECK).endswith(f"{NEW}\n")
    scene.settle()
    assert held_back(scene.vault) == frozenset()
    assert set(open_desk(scene.vault, scene.now() + timedelta(minutes=1)).cards) == all_cards
