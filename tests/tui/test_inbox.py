"""The inbox as a place to decide: both versions are shown clean, each decision is in the ledger, each can be undone."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from tests.tui.conftest import until
from tests.tui.test_article import FORGETTING
from tui.app import RetainApp
from tui.context import Context
from tui.screen import Go, Page
from tui.views.difference import DifferenceView
from tui.widgets.bars import TopBar
from tui.widgets.fact import Fact
from tui.widgets.notice import Notice
from vault.layout import PROPOSALS
from vault.locks import lock
from vault.log import ledger
from vault.model.card import parse_deck, splice_card, with_stamp
from vault.model.frontmatter import human_edited, read_properties, render_generated
from vault.vault import Vault

Settled = Callable[[Pilot[int]], Awaitable[None]]
Clock = Callable[[], datetime]
ARTICLE = "wiki/concepts/forgetting-curve.md"
DECK = "learning/flashcards/forgetting-curve.md"
CITE = "[[wiki/summaries/memory#^c-aaaaaaaaa1|1]]"
REMARK = "\nI have \x1b[31mseen this with vocabulary.\n"
NEW = f"Retention falls by half within an hour, as measured with syllables. {CITE}"


def offered(vault: Vault, _: datetime) -> None:
    """A human has edited an article and two cards; the machine has something else to say of all three."""
    concepts = vault.root / "wiki/concepts"
    concepts.mkdir(exist_ok=True)
    mine = FORGETTING + REMARK
    (vault.root / ARTICLE).write_text(mine, encoding="utf-8")
    properties = {"type": "concept", "id": "1c0ncept01", "title": "Forgetting curve"}
    body = FORGETTING[read_properties(FORGETTING).body :].rstrip("\n")
    lay(vault, ARTICLE, render_generated(properties, f"{body}\n\n{NEW}\n", None))
    text = (vault.root / DECK).read_text(encoding="utf-8")
    for card in reversed(parse_deck(text, DECK).cards):
        other = with_stamp(replace(card, answer=f"{card.answer.splitlines()[0]} So says the new edition."))
        text = splice_card(text, card, other)
    lay(vault, DECK, text)


def lay(vault: Vault, path: str, text: str) -> None:
    proposal = vault.root / PROPOSALS / path
    proposal.parent.mkdir(parents=True, exist_ok=True)
    proposal.write_text(text, encoding="utf-8")
    laid = datetime(2026, 11, 20, 9, tzinfo=UTC).timestamp()
    os.utime(proposal, (laid, laid))


@pytest.fixture
def waiting(vault: Vault, clock: Clock) -> Vault:
    offered(vault, clock())
    return vault


@pytest.fixture
def app(waiting: Vault, clock: Clock) -> RetainApp:
    return RetainApp(Context(waiting, clock), "inbox")


def rows(app: RetainApp) -> list[str]:
    return [str(option.prompt).strip() for option in app.screen.query_one(OptionList).options]


def shown(app: RetainApp) -> str:
    return str(app.screen.query_one("#difference-rows", Static).content)


def said(app: RetainApp) -> str:
    return str(app.screen.query_one(Notice).content)


def since(app: RetainApp) -> str:
    return str(app.screen.query_one("#since", Fact).words.content)


def decisions(vault: Vault) -> list[tuple[str, str]]:
    return [(e["decision"], e["via"]) for e in vault.ledger_events(ledger.DECISIONS)[0]]


async def compared(pilot: Pilot[int], app: RetainApp, words: str) -> None:
    await until(pilot, lambda: app.screen.query(DifferenceView) and words in shown(app), f"{words!r} beside the list")


async def test_both_versions_are_shown_in_plain_words_and_a_deck_card_by_card(app: RetainApp, settled: Settled) -> None:
    async with app.run_test() as pilot:
        await settled(pilot)
        await compared(pilot, app, "syllables")
        assert [row.split(":")[0] for row in rows(app)] == [
            *("Article 1", "Forgetting curve", "Deck 2", "Forgetting curve", "Forgetting curve")
        ]
        assert "- I have \ufffd[31mseen this with vocabulary." in shown(app)
        told = shown(app).replace("\n  ", " ")
        assert "+ Retention falls by half within an hour, as measured with syllables. [1]" in told
        assert app.screen.query_one(TopBar).status == "1 page, 2 cards"
        await pilot.press("down")
        await compared(pilot, app, "So says the new edition.")
        what = str(app.screen.query_one("#difference-what", Static).content)
        assert what == "Forgetting curve: What does the forgetting curve describe?"


async def test_an_article_is_accepted_and_taken_back(app: RetainApp, waiting: Vault, settled: Settled) -> None:
    mine = (waiting.root / ARTICLE).read_bytes()
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("a")
        await settled(pilot)
        text = (waiting.root / ARTICLE).read_text(encoding="utf-8")
        assert NEW in text and not human_edited(text) and len(rows(app)) == 3
        assert said(app) == "Forgetting curve: accepted (press u to undo)."
        await pilot.press("u")
        await settled(pilot)
        assert (waiting.root / ARTICLE).read_bytes() == mine and len(rows(app)) == 5
        await pilot.press("u")
        assert said(app) == "Nothing to undo."
    assert decisions(waiting) == [("accept", "tui"), ("undo", "tui")]


async def test_one_card_is_kept_and_the_other_rejected_with_a_reason(
    app: RetainApp, waiting: Vault, settled: Settled
) -> None:
    mine = (waiting.root / DECK).read_bytes()
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("down", "m")
        await settled(pilot)
        assert len(rows(app)) == 4 and (waiting.root / PROPOSALS / DECK).exists()
        await pilot.press("r")
        await pilot.press("enter")
        assert said(app).startswith("Enter a reason") and decisions(waiting) == [("keep", "tui")]
        await pilot.press(*"too long", "enter")
        await settled(pilot)
        assert len(rows(app)) == 2 and not (waiting.root / PROPOSALS / DECK).exists()
        assert (waiting.root / DECK).read_bytes() == mine
        assert app.screen.focused is app.screen.query_one(OptionList)
        assert app.screen.query_one("#inbox-why", Input).value == ""
    last = waiting.ledger_events(ledger.DECISIONS)[0][-1]
    assert (last["decision"], last["reason"], list(last["cards"])) == ("reject", "too long", ["aaaaaaaaa2"])


async def test_what_is_typed_behind_the_key_that_rejects_is_the_reason(
    app: RetainApp, waiting: Vault, settled: Settled
) -> None:
    async with app.run_test() as pilot:
        await settled(pilot)
        for key in "raum":
            app.post_message(Key(key, key))
        await settled(pilot)
        assert app.screen.query_one("#inbox-why", Input).value == "aum" and decisions(waiting) == []
        await pilot.press("escape")
        assert not app.screen.query_one("#inbox-ask").display and isinstance(app.screen, Page)


async def test_a_page_edited_since_it_was_shown_is_not_decided_on_but_shown_anew(
    app: RetainApp, waiting: Vault, settled: Settled
) -> None:
    async with app.run_test() as pilot:
        await settled(pilot)
        page = waiting.root / ARTICLE
        page.write_text(page.read_text(encoding="utf-8") + "\nA later thought.\n", encoding="utf-8")
        await pilot.press("a")
        await settled(pilot)
        assert "has changed since" in said(app) and decisions(waiting) == []
        await compared(pilot, app, "A later thought.")
        assert "A later thought." in page.read_text(encoding="utf-8")


async def test_nothing_is_decided_while_a_compile_runs_and_the_screen_says_so(
    app: RetainApp, waiting: Vault, settled: Settled
) -> None:
    async with app.run_test() as pilot:
        await settled(pilot)
        with lock(waiting.root, "publish", purpose="compiling"):
            await pilot.press("a", "u")
        assert "compiling" in said(app) and decisions(waiting) == [] and len(rows(app)) == 5


async def test_an_empty_inbox_says_what_would_come_here(vault: Vault, clock: Clock, settled: Settled) -> None:
    app = RetainApp(Context(vault, clock), "inbox")
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("a", "m", "r", "o", "space")
        assert str(app.screen.query_one("#nothing", Static).content).startswith("The inbox is empty.")
        assert not app.screen.query_one("#inbox").display and not app.screen.query_one("#inbox-ask").display


async def test_yours_is_opened_in_the_reader_and_in_the_browser(app: RetainApp, settled: Settled) -> None:
    went: list[Go] = []
    async with app.run_test(message_hook=lambda m: went.append(m) if isinstance(m, Go) else None) as pilot:
        await settled(pilot)
        await pilot.press("o")
        await settled(pilot)
        await pilot.press("escape")
        await settled(pilot)
        await pilot.press("down", "enter")
        await settled(pilot)
    assert {(each.where, each.about) for each in went} == {("article", ARTICLE), ("browse", "id:aaaaaaaaa1")}


async def test_home_says_how_many_wait_and_leads_there(waiting: Vault, clock: Clock, settled: Settled) -> None:
    app = RetainApp(Context(waiting, clock))
    async with app.run_test() as pilot:
        await settled(pilot)
        await until(pilot, lambda: "2 in the inbox (i)" in since(app), "the inbox on home")
        await pilot.press("i")
        await settled(pilot)
        assert isinstance(app.screen, Page) and app.screen.NAME == "inbox" and len(rows(app)) == 5
