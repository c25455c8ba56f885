"""Cards made by hand get their ids; where an id would not be read again, nothing is written and the human is told."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from learning.cards.workspace import open_desk, rate
from vault.errors import SchemaTooNew
from vault.ids import CardId
from vault.log.events import Rating, checksum
from vault.log.ledger import encode
from vault.model.markdown import escape
from vault.vault import Vault

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
PATH = "learning/flashcards/interleaving.md"
OPEN_FENCE = "\n## Applied\n\nQ: What does it print?\nA: Two.\n\n```python\nprint(1 + 1)\n"


def tree(root: Path) -> dict[Path, bytes]:
    """Every file of the vault; what `.retain/` holds may come and go."""
    return {p: p.read_bytes() for p in root.rglob("*") if p.is_file() and ".retain" not in p.parts}


def add(vault: Vault, text: str) -> int:
    """Puts `text` at the end of the deck; the number of the line where it begins."""
    file = vault.root / PATH
    before = file.read_text()
    file.write_text(before + text)
    return before.count("\n") + 1


def test_a_card_with_an_open_fence_is_named_and_nothing_is_written_however_often(vault: Vault) -> None:
    first = add(vault, OPEN_FENCE)
    before = tree(vault.root)
    for _ in range(3):
        desk = open_desk(vault, NOON)
        assert tree(vault.root) == before
        (found,) = desk.diagnostics
        assert (found.path, found.line, found.code) == (PATH, first + 3, "card-without-id")
        assert "fence" in found.hint
    assert len(desk.cards) == 3
    add(vault, "```\n")
    mended = open_desk(vault, NOON)
    assert (len(mended.cards), mended.diagnostics) == (4, ())


def test_the_cards_before_one_with_an_open_fence_get_their_ids(vault: Vault) -> None:
    add(vault, "\nQ: When?\nA: In revision.\n" + OPEN_FENCE)
    desk = open_desk(vault, NOON)
    assert len(desk.cards) == 4
    assert [d.code for d in desk.diagnostics] == ["card-without-id"]
    before = tree(vault.root)
    open_desk(vault, NOON)
    assert tree(vault.root) == before
    assert (vault.root / "ledger/ids.jsonl").read_text().count("\n") == 1


@pytest.mark.parametrize("stamp", ["", " 2c4b9d"])
def test_a_comment_cut_off_from_its_card_is_named_and_the_card_above_gets_no_other_id(vault: Vault, stamp: str) -> None:
    id_ = CardId("ccccccccc1")
    add(vault, f"\nQ: When?\nA: In revision.\n\nAnd so on.\n<!-- card {id_}{stamp} -->\n")
    rate(open_desk(vault, NOON), id_, Rating.EASY, via="cli")
    whole = (vault.root / PATH).read_text()
    (vault.root / PATH).write_text(whole.replace("\nAnd so on.", "\n### And so on\n\nMore of it."))
    before = tree(vault.root)
    desk = open_desk(vault, NOON)
    assert tree(vault.root) == before
    (found,) = desk.diagnostics
    assert found.code == "card-comment-alone"
    assert id_ in found.message
    assert (vault.root / PATH).read_text().splitlines()[found.line - 1] == f"<!-- card {id_}{stamp} -->"
    (vault.root / PATH).write_text(whole)
    assert open_desk(vault, NOON).state(id_).reps == 1


def test_a_comment_alone_keeps_only_the_card_right_above_it_waiting(vault: Vault) -> None:
    add(
        vault,
        "\nQ: One?\nA: Yes.\n\nQ: Two?\nA: Yes.\n\n### Heading\n\n<!-- card ccccccccc1 -->\n\nQ: Three?\nA: Yes.\n",
    )
    desk = open_desk(vault, NOON)
    assert {p.card.question for p in desk.cards.values()} >= {"One?", "Three?"}
    assert "Two?" not in {p.card.question for p in desk.cards.values()}


def test_a_newer_log_stops_the_desk_before_any_card_gets_an_id(vault: Vault) -> None:
    add(vault, "\nQ: When?\nA: In revision.\n")
    (vault.root / "learning/reviews.jsonl").write_bytes(b'{"v":2' + checksum(b'{"v":2') + b"\n")
    before = tree(vault.root)
    with pytest.raises(SchemaTooNew):
        open_desk(vault, NOON)
    assert tree(vault.root) == before


FOUND = ("Where is it used?", "In *school* & sport.")


def lose_a_comment(vault: Vault, *ids: str, words: tuple[str, str] = FOUND, reason: str = "") -> None:
    """A card that a compile made, whose block a human left standing without its comment; `ids` have these words."""
    head = {"v": 1, "of": "card", "at": "2026-11-20T09:00:00.000Z", "concept": "m8x1v6tqc0", "kind": "applied"}
    events = [head | {"type": "birth", "id": i, "key": f"applied:{i}", "q": words[0], "a": words[1]} for i in ids]
    if reason:
        events += [{"v": 1, "of": "card", "type": "retire", "id": ids[0], "at": "2026-11-20T10:00:00.000Z"}]
        events[-1]["reason"] = reason
    (vault.root / "ledger").mkdir(exist_ok=True)
    (vault.root / "ledger/ids.jsonl").write_bytes(b"".join(map(encode, events)))
    add(vault, f"\n## Applied\n\nQ: {FOUND[0]}\nA: {escape(FOUND[1])}\n")


@pytest.mark.parametrize("reason", ["", "you deleted it", "the user deleted it", "the human deleted it"])
def test_a_block_that_lost_its_comment_gets_its_id_back(vault: Vault, reason: str) -> None:
    lose_a_comment(vault, "ccccccccc1", reason=reason)
    ledger_before = (vault.root / "ledger/ids.jsonl").read_bytes()
    desk = open_desk(vault, NOON)
    card = desk.cards[CardId("ccccccccc1")].card
    assert (card.question, card.human_edited, desk.diagnostics) == (FOUND[0], False, ())
    assert (vault.root / "ledger/ids.jsonl").read_bytes() == ledger_before
    before = tree(vault.root)
    assert len(open_desk(vault, NOON).cards) == 4 and tree(vault.root) == before


def test_a_block_that_may_be_either_of_two_waits_and_both_are_named(vault: Vault) -> None:
    lose_a_comment(vault, "ccccccccc1", "ccccccccc2")
    before = tree(vault.root)
    desk = open_desk(vault, NOON)
    assert len(desk.cards) == 3 and tree(vault.root) == before
    (found,) = desk.diagnostics
    assert found.code == "card-comment-lost" and "ccccccccc1 or ccccccccc2" in found.message


def test_a_block_in_other_words_is_a_new_card_and_what_it_may_have_been_is_named(vault: Vault) -> None:
    lose_a_comment(vault, "ccccccccc1", words=("Where is it used?", "At sea."))
    desk = open_desk(vault, NOON)
    assert len(desk.cards) == 4 and "ccccccccc1" not in desk.cards
    (found,) = desk.diagnostics
    assert found.code == "card-comment-lost" and "ccccccccc1" in found.message
    assert open_desk(vault, NOON).diagnostics == ()


def test_what_was_retracted_is_not_given_to_a_block_of_the_same_words(vault: Vault) -> None:
    lose_a_comment(vault, "ccccccccc1", reason="its evidence is gone")
    desk = open_desk(vault, NOON)
    assert len(desk.cards) == 4 and "ccccccccc1" not in desk.cards and desk.diagnostics == ()
