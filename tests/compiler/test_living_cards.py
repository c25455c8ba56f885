"""Cards follow their claims through real compiles: what the learner keeps, is shown, relearns and never sees again."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.model.report import Report
from compiler.verification.verify import verify
from learning.cards import workspace as desks
from learning.cards.changes import FACT, ChangedCards, history
from learning.cards.workspace import Desk, open_desk
from learning.memory.state import MemoryState, Phase
from learning.store.placed import Placed
from tests.builders import copy_vault
from tests.compiler.conftest import new_vault
from vault.ids import CardId
from vault.log import ledger
from vault.log.events import Rating
from vault.model.card import parse_deck, splice_card
from vault.vault import Vault

MORNING = datetime(2026, 11, 21, 9, tzinfo=UTC)
DOCUMENTS = {
    "kites": """\
# Kites

A kite is a tethered craft that flies by the lift of the wind.
Kites rise because moving air pushes their surface upwards.
""",
    "tides": """\
# Tides

A tide is the daily rise of the sea that the pull of the moon causes.
""",
    "yeast": """\
# Fermentation

Fermentation is the process by which yeast turns sugar into alcohol.
""",
    "glaciers": """\
# Glaciers

A glacier is a mass of ice that moves downhill under its own weight.
""",
    "aether": """\
# Aether

The aether is a substance that carries light through empty space.
""",
}


def built(vault: Vault, days: int, *, fresh: bool = False) -> Report:
    return compile_vault(vault, Options(fresh=fresh), MORNING + timedelta(days=days), lambda event: None)


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault whose cards have all been rated Easy once; copy it, don't touch it."""
    vault = new_vault(tmp_path_factory.mktemp("living") / "vault")
    shutil.rmtree(vault.root / "raw/articles")
    for name, text in DOCUMENTS.items():
        write(vault, name, text)
    built(vault, 0)
    desk = open_desk(vault, MORNING + timedelta(hours=1))
    for id_ in desk.cards:
        desk, _ = desks.rate(desk, id_, Rating.EASY, via="cli")
    return vault.root


@pytest.fixture
def vault(learnt: Path, tmp_path: Path) -> Vault:
    return copy_vault(learnt, tmp_path / "vault")


def write(vault: Vault, name: str, text: str) -> None:
    (vault.root / "raw/articles").mkdir(exist_ok=True)
    (vault.root / f"raw/articles/{name}.md").write_text(text, encoding="utf-8")


def edit(vault: Vault, name: str, *changes: tuple[str, str]) -> None:
    text = (vault.root / f"raw/articles/{name}.md").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    write(vault, name, text)


def desk_on(vault: Vault, days: int) -> Desk:
    return open_desk(vault, MORNING + timedelta(days=days, hours=2))


def by_question(desk: Desk) -> dict[str, Placed]:
    """The cards that ask for a meaning or a reason, not those that ask for the term."""
    placed = {placed.card.question.casefold(): placed for placed in desk.cards.values()}
    return {question: card for question, card in placed.items() if "the term for" not in question}


def card_events(vault: Vault) -> list[ledger.Event]:
    lines = (vault.root / ledger.IDS).read_text(encoding="utf-8").splitlines()
    return [event for event in map(json.loads, lines) if event["of"] == "card"]


def products(vault: Vault) -> dict[str, bytes]:
    return {
        path.relative_to(vault.root).as_posix(): path.read_bytes()
        for folder in ("wiki", "learning/flashcards")
        for path in sorted((vault.root / folder).rglob("*.md"))
    }


def test_each_kind_of_edit_does_to_memory_what_it_must(vault: Vault) -> None:
    before = desk_on(vault, 0)
    old = by_question(before)
    edit(
        vault,
        "kites",
        ("flies by the lift", "flies, by the lift"),
        (
            "Kites rise because moving air pushes their surface upwards.",
            "Kites rise, because moving air pushes their surface upwards.",
        ),
    )
    edit(vault, "glaciers", ("A glacier is a mass", "A  Glacier is a **mass**"))
    edit(vault, "tides", ("pull of the moon", "pull of the sun"))
    edit(vault, "yeast", ("turns sugar into alcohol", "makes alcohol out of sugar"))
    edit(vault, "aether", ("The aether is a substance that carries light through empty space.", "Nothing is known."))
    built(vault, 2)
    desk = desk_on(vault, 2)
    new = by_question(desk)
    assert {q: p.id for q, p in new.items()} == {q: p.id for q, p in old.items() if "aether" not in q}  # same ids
    for question in ("what is a kite?", "why do kites rise?", "what is a glacier?"):
        assert desk.state(old[question].id) == before.state(old[question].id)
    tide = desk.state(old["what is a tide?"].id)
    assert tide.changed and tide.due is not None and tide.due <= desk.now
    assert tide.phase is Phase.RELEARNING and tide.lapses == 0 and tide.reps == 1
    shown = [item.card for item in (*desk.queue.today, *desk.queue.due, *desk.queue.waiting, *desk.queue.new)]
    gone = old["what is the aether?"].id
    assert old["what is a tide?"].id in shown and gone not in shown and gone not in desk.cards
    assert desk.state(gone).retracted and desk.state(gone).reps == 1
    rebuilt = products(vault)
    for folder in ("wiki", "learning/flashcards", ".retain"):
        shutil.rmtree(vault.root / folder)
    built(vault, 3, fresh=True)
    assert products(vault) == rebuilt
    assert desk_on(vault, 2).states == desk.states


def test_what_was_retracted_is_never_shown_and_comes_back_with_its_history(vault: Vault) -> None:
    (gone,) = (p.id for q, p in by_question(desk_on(vault, 0)).items() if "aether" in q)
    edit(vault, "aether", ("The aether is a substance that carries light through empty space.\n", ""))
    built(vault, 1)
    for days in (1, 30, 3000):
        desk = desk_on(vault, days)
        queue = desk.queue
        assert gone not in {item.card for item in (*queue.today, *queue.due, *queue.new, *queue.waiting)}
        assert gone not in desk.cards and desk.state(gone).retracted
    write(vault, "aether", DOCUMENTS["aether"])
    built(vault, 2)
    desk = desk_on(vault, 2)
    assert gone in desk.cards and not desk.state(gone).retracted
    assert (desk.state(gone).reps, desk.state(gone).changed) == (1, False)


def test_what_another_source_still_says_has_not_changed(vault: Vault) -> None:
    before = desk_on(vault, 0)
    tide = by_question(before)["what is a tide?"].id
    write(vault, "almanac", "# Almanac\n\nSailors keep tables of the sea.\n\n" + DOCUMENTS["tides"].split("\n\n", 1)[1])
    built(vault, 1)
    edit(vault, "tides", ("pull of the moon", "pull of the sun"))
    built(vault, 2)
    desk = desk_on(vault, 2)
    assert "moon" in desk.cards[tide].card.answer and desk.state(tide) == before.state(tide)
    (moved,) = (e for e in card_events(vault) if e["type"] == "change" and e["id"] == tide)
    assert moved["how"] == "cosmetic" and "was" not in moved
    assert sum(p.card.question == "What is a tide?" for p in desk.cards.values()) <= 2  # what the two say now
    (vault.root / "raw/articles/tides.md").unlink()  # and the other way round
    edit(vault, "almanac", ("pull of the moon", "pull of the sun"))
    built(vault, 3)
    desk = desk_on(vault, 3)
    assert all("moon" not in p.card.answer for p in desk.cards.values())


def test_a_passage_that_moved_to_another_file_keeps_its_cards_and_their_state(vault: Vault) -> None:
    before = desk_on(vault, 0)
    (vault.root / "raw/articles/kites.md").unlink()
    write(vault, "flight", "# Flight\n\nMany things fly.\n\n" + DOCUMENTS["kites"].split("\n\n", 1)[1])
    built(vault, 1)
    desk = desk_on(vault, 1)
    assert desk.cards.keys() == before.cards.keys()
    assert desk.states == before.states
    built(vault, 2, fresh=True)
    assert desk_on(vault, 2).cards.keys() == before.cards.keys()


def test_a_card_that_a_human_edited_keeps_its_words_and_is_marked(vault: Vault) -> None:
    placed = by_question(desk_on(vault, 0))["what is a tide?"]
    path = vault.root / placed.deck.path
    text = placed.deck.text
    path.write_text(text.replace(placed.card.answer, "The sea, breathing."), encoding="utf-8")
    edit(vault, "tides", ("pull of the moon", "pull of the sun"))
    built(vault, 1)
    desk = desk_on(vault, 1)
    mine = desk.cards[placed.id]
    assert mine.card.answer == "The sea, breathing." and mine.card.human_edited
    state = desk.state(placed.id)
    assert state.changed
    proposal = (vault.root / "output/proposals" / placed.deck.path).read_text(encoding="utf-8")
    assert "pull of the sun" in proposal
    found = ChangedCards(vault, desk.changes).of(placed.id, state)
    assert found is not None and found.how == FACT
    assert "moon" in found.before and "sun" in found.after
    edit(vault, "tides", ("A tide is the daily rise of the sea that the pull of the sun causes.", "Gone."))
    built(vault, 2)
    assert desk_on(vault, 2).state(placed.id).retracted
    assert "The sea, breathing." in path.read_text(encoding="utf-8")


def test_a_fact_that_changes_twice_is_told_once_and_forgotten_after_a_rating(vault: Vault) -> None:
    tide = by_question(desk_on(vault, 0))["what is a tide?"].id
    edit(vault, "tides", ("pull of the moon", "pull of the sun"))
    built(vault, 1)
    edit(vault, "tides", ("daily rise", "weekly rise"))
    built(vault, 2)
    desk = desk_on(vault, 2)
    found = ChangedCards(vault, desk.changes).of(tide, desk.state(tide))
    assert found is not None and ("moon" in found.before, "daily" in found.before) == (True, True)
    assert "weekly" in found.after and "sun" in found.after
    versions = history((vault.root / ledger.IDS).read_bytes(), tide)
    assert [v.how for v in versions] == ["", "fact", "fact"]
    desk, _ = desks.rate(desk, tide, Rating.GOOD, via="cli")
    assert ChangedCards(vault, desk.changes).of(tide, desk.state(tide)) is None
    assert not desk.state(tide).changed


def test_a_fact_that_changed_and_changed_back_unseen_is_as_well_known_as_before(vault: Vault) -> None:
    before = desk_on(vault, 0)
    tide = by_question(before)["what is a tide?"].id
    edit(vault, "tides", ("pull of the moon", "pull of the sun"))
    built(vault, 1)
    assert desk_on(vault, 1).state(tide).changed
    edit(vault, "tides", ("pull of the sun", "pull of the moon"))
    built(vault, 2)
    desk = desk_on(vault, 2)
    assert desk.state(tide) == before.state(tide)
    assert ChangedCards(vault, desk.changes).of(tide, desk.state(tide)) is None
    shutil.rmtree(vault.root / ".retain")
    assert desk_on(vault, 2).states == desk.states


def test_a_compile_names_the_cards_that_an_edit_retires_and_how_to_keep_them(vault: Vault) -> None:
    gone = by_question(desk_on(vault, 0))["what is the aether?"].id
    edit(vault, "aether", ("The aether is a substance that carries light", "Light travels"))
    done = built(vault, 1)
    (notice,) = (n for n in done.notices if n.code == "card-retired" and gone in n.message)
    assert "What is the aether?" in notice.message and notice.path == "learning/flashcards/aether.md"
    assert "put its sentence back" in notice.hint and f"retain card show {gone}" in notice.hint
    assert not [n for n in built(vault, 2).notices if n.code == "card-retired"]


def test_a_changed_card_that_was_never_seen_is_simply_new(vault: Vault) -> None:
    write(vault, "tea", "# Tea\n\nTea is a drink that is made of the leaves of a bush in hot water.\n")
    built(vault, 1)
    tea = by_question(desk_on(vault, 1))["what is tea?"].id
    edit(vault, "tea", ("hot water", "cold water"))
    built(vault, 2)
    desk = desk_on(vault, 2)
    assert desk.state(tea) == MemoryState() and "cold" in desk.cards[tea].card.answer
    assert ChangedCards(vault, desk.changes).of(CardId(tea), desk.state(tea)) is None


def test_a_card_taken_back_by_hand_is_a_humans_wish_whatever_its_source_says(vault: Vault) -> None:
    placed = by_question(desk_on(vault, 0))["what is a tide?"]
    path = vault.root / placed.deck.path
    path.write_text(splice_card(placed.deck.text, placed.card, None), encoding="utf-8")
    edit(vault, "tides", ("pull of the moon", "pull of the sun"))
    built(vault, 1)
    assert placed.id not in desk_on(vault, 1).cards


def reword(vault: Vault, placed: Placed, answer: str) -> None:
    """A human gives the card an answer of their own."""
    text = (vault.root / placed.deck.path).read_text(encoding="utf-8")
    assert placed.card.answer in text
    (vault.root / placed.deck.path).write_text(text.replace(placed.card.answer, answer), encoding="utf-8")


def test_a_proposal_goes_when_its_source_says_again_what_it_said(vault: Vault) -> None:
    placed = by_question(desk_on(vault, 0))["what is a tide?"]
    proposal = vault.root / "output/proposals" / placed.deck.path
    reword(vault, placed, "The sea, breathing.")
    edit(vault, "tides", ("pull of the moon", "pull of the sun"))
    built(vault, 1)
    assert "pull of the sun" in proposal.read_text(encoding="utf-8")
    edit(vault, "tides", ("pull of the sun", "pull of Mars"))
    built(vault, 2)
    assert "pull of Mars" in proposal.read_text(encoding="utf-8")
    edit(vault, "tides", ("pull of Mars", "pull of the moon"))
    report = built(vault, 3)
    assert not proposal.exists() and f"output/proposals/{placed.deck.path}" in report.written
    assert "The sea, breathing." in (vault.root / placed.deck.path).read_text(encoding="utf-8")


def test_a_proposal_that_a_human_wrote_in_stays(vault: Vault) -> None:
    placed = by_question(desk_on(vault, 0))["what is a tide?"]
    proposal = vault.root / "output/proposals" / placed.deck.path
    reword(vault, placed, "The sea, breathing.")
    edit(vault, "tides", ("pull of the moon", "pull of the sun"))
    built(vault, 1)
    mine = proposal.read_text(encoding="utf-8").replace("pull of the sun", "pull of both")
    proposal.write_text(mine, encoding="utf-8")
    edit(vault, "tides", ("pull of the sun", "pull of the moon"))
    built(vault, 2)
    assert proposal.read_text(encoding="utf-8") == mine


def test_the_proposal_to_an_article_goes_with_what_it_proposed(vault: Vault) -> None:
    article = vault.root / "wiki/concepts/tide.md"
    proposal = vault.root / "output/proposals/wiki/concepts/tide.md"
    article.write_text(article.read_text(encoding="utf-8") + "\nAnd I have seen one.\n", encoding="utf-8")
    edit(vault, "tides", ("pull of the moon", "pull of the sun"))
    built(vault, 1)
    assert "pull of the sun" in proposal.read_text(encoding="utf-8")
    edit(vault, "tides", ("pull of the sun", "pull of the moon"))
    built(vault, 2)
    assert not proposal.exists() and "And I have seen one." in article.read_text(encoding="utf-8")


WEIRS = """\
# Weirs

A weir is a low barrier across a river that raises the water by 40 centimetres.
"""


@pytest.mark.parametrize(("returns_in", "gap_days"), [("weirs", 1), ("rivers", 1), ("rivers", 0)])
def test_a_fact_that_returns_with_another_number_is_the_card_it_was(
    vault: Vault, returns_in: str, gap_days: int
) -> None:
    """`gap_days` 0: the fact goes from one document as another takes it up."""
    write(vault, "weirs", WEIRS)
    built(vault, 1)
    placed = by_question(desk_on(vault, 1))["what is a weir?"]
    desks.rate(desk_on(vault, 1), placed.id, Rating.EASY, via="cli")
    reword(vault, placed, "A low barrier across a river.")
    write(vault, "weirs", "# Weirs\n\nNothing is known of them.\n")
    if gap_days:
        built(vault, 2)
        assert desk_on(vault, 2).state(placed.id).retracted
        assert verify(vault, lambda event: None).unsupported == []
    write(vault, returns_in, WEIRS.replace("40", "80"))
    built(vault, 3)
    desk = desk_on(vault, 3)
    (mine,) = (p for p in desk.cards.values() if p.card.question == "What is a weir?")
    assert mine.id == placed.id and mine.card.answer == "A low barrier across a river."
    state = desk.state(placed.id)
    assert (state.retracted, state.changed, state.reps) == (False, True, 1)
    told = [(e["type"], e.get("how")) for e in card_events(vault) if e["id"] == placed.id]
    assert told[-1] == ("change", "fact")
    found = ChangedCards(vault, desk.changes).of(placed.id, state)
    assert found is not None and "40" in found.before and "80" in found.after
    assert "80" in (vault.root / "output/proposals" / placed.deck.path).read_text(encoding="utf-8")
    assert verify(vault, lambda event: None).unsupported == []  # it cites the claim that it rests on now
    before = products(vault)
    built(vault, 4, fresh=True)
    assert products(vault) == before


@pytest.mark.parametrize("compiled_first", [False, True])
def test_a_card_whose_comment_alone_was_taken_out_keeps_its_history(vault: Vault, compiled_first: bool) -> None:
    placed = by_question(desk_on(vault, 0))["what is a tide?"]
    path = vault.root / placed.deck.path
    whole = path.read_text(encoding="utf-8")
    path.write_text(re.sub(rf"%% card {placed.id} .*\n", "", whole), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != whole
    if compiled_first:
        built(vault, 1)  # it cannot know better than that the human deleted the card
        assert placed.id not in {c.id for c in parse_deck(path.read_text(encoding="utf-8"), "").cards}
    desk = desk_on(vault, 1)
    assert placed.id in desk.cards and desk.state(placed.id).reps == 1
    built(vault, 2)
    desk = desk_on(vault, 2)
    assert not desk.state(placed.id).retracted and desk.state(placed.id).reps == 1
    assert path.read_text(encoding="utf-8") == whole
    assert verify(vault, lambda event: None).unsupported == []
