"""A card whose fact changed, as the learner meets it: the old answer and the new, once, then the card as ever."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest
from textual.pilot import Pilot

from learning.cards import workspace as desks
from tests.learning.marks import mark
from tui.app import RetainApp
from tui.context import Context
from tui.views.card import CardView
from vault.log import ledger
from vault.log.events import Rating, Suspend
from vault.model.card import parse_deck, stamp_of
from vault.vault import Vault

Settled = Callable[[Pilot[int]], Awaitable[None]]
BEFORE = datetime(2026, 11, 20, 9, tzinfo=UTC)
OLD, QUESTION = "Retention rises [bold]steeply[/] over time.", "What does the forgetting curve describe?"
NEW = "How retention falls over time without review: steeply in the first hours, then ever more slowly."
DECK = "learning/flashcards/forgetting-curve.md"


def learn_then_change(vault: Vault, how: str) -> None:
    """The first card was rated two days ago, and its answer is another since yesterday."""
    desk = desks.open_desk(vault, BEFORE)
    desks.rate(desk, "aaaaaaaaa1", Rating.EASY, via="cli")
    head = {"v": 1, "of": "card", "id": "aaaaaaaaa1"}
    birth = {"type": "birth", "at": "2026-11-19T09:00:00.000Z", "q": QUESTION, "a": OLD}
    change = {"type": "change", "at": "2026-11-21T09:00:00.000Z", "q": QUESTION, "a": NEW, "how": how}
    was = {"was": {"q": QUESTION, "a": OLD}}
    lines = ledger.encode(head | birth) + ledger.encode(head | change | was)
    (vault.root / ledger.IDS).write_bytes(lines)


def stamp(vault: Vault) -> None:
    """Let every card of the deck be as the machine left it."""
    path = vault.root / DECK
    text = path.read_text(encoding="utf-8")
    for card in parse_deck(text, DECK).cards:
        text = text.replace(f"<!-- card {card.id} -->", f"<!-- card {card.id} {stamp_of(card)} -->")
    path.write_text(text, encoding="utf-8")


def shown(app: RetainApp, part: str) -> str | None:
    return app.screen.query_one(CardView).shown.get(part)


def rows(app: RetainApp) -> list[str]:
    """What stands on each row of the card."""
    view = app.screen.query_one(CardView)
    return [view.render_line(y).text for y in range(view.size.height)]


@pytest.mark.parametrize(("size", "beside"), [((80, 24), False), ((130, 40), True)])
async def test_a_changed_fact_is_shown_with_what_it_was_until_it_is_rated(
    vault: Vault, review: RetainApp, settled: Settled, size: tuple[int, int], beside: bool
) -> None:
    stamp(vault)
    learn_then_change(vault, "fact")
    async with review.run_test(size=size) as pilot:
        await settled(pilot)
        assert shown(review, "head") == "Forgetting curve  ·  definitional  ·  changed since you last saw it"
        assert (shown(review, "was"), shown(review, "answer")) == (None, None)
        await pilot.press("space")
        await pilot.pause()
        assert shown(review, "was") == f"was\n{OLD}"  # as it is, nothing of it acts
        assert shown(review, "answer") == f"now\n{NEW}"
        assert shown(review, "now") is None
        was, now = (next(n for n, row in enumerate(rows(review)) if f"▌ {label} " in row) for label in ("was", "now"))
        assert was == now if beside else was < now
        await pilot.press("3")
        assert shown(review, "was") is None
        assert "changed" not in (shown(review, "head") or "")
        await pilot.press("u")  # the rating is taken back, and so the card is news again
        assert "changed since" in (shown(review, "head") or "")


async def test_a_card_in_new_words_says_so_quietly(vault: Vault, settled: Settled) -> None:
    stamp(vault)
    learn_then_change(vault, "reworded")
    desk = desks.open_desk(vault, datetime(2026, 11, 22, tzinfo=UTC))
    for other in ("aaaaaaaaa2", "bbbbbbbbb1", "bbbbbbbbb2"):
        desk, _ = mark(desk, other, Suspend, via="cli")
    due = desk.state(desk.card("aaaaaaaaa1").id).due
    assert due is not None and due > datetime(2026, 11, 22, 9, 30, tzinfo=UTC)  # not before its day
    app = RetainApp(Context(vault, lambda: due), "review")
    app.hold_review()
    try:
        async with app.run_test() as pilot:
            await settled(pilot)
            assert (shown(app, "head") or "").endswith("reworded; the facts are the same")
            await pilot.press("space")
            assert shown(app, "was") is None and shown(app, "answer") == NEW
    finally:
        app.end_session()


async def test_a_human_who_edited_the_card_sees_all_three(vault: Vault, review: RetainApp, settled: Settled) -> None:
    stamp(vault)
    path = vault.root / DECK
    path.write_text(path.read_text(encoding="utf-8").replace(NEW, "My own words."), encoding="utf-8")
    learn_then_change(vault, "fact")
    async with review.run_test() as pilot:
        await settled(pilot)
        await pilot.press("space")
        assert shown(review, "was") == f"was\n{OLD}"
        assert shown(review, "answer") == "yours\nMy own words."
        assert shown(review, "now") == f"current text, from the source\n{NEW}"
