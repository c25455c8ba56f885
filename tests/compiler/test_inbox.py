"""The inbox: what a human edited stays; each version of the machine's is offered, settled, and can be taken back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.model.report import Report
from compiler.protocol.requests import WriteRequest
from compiler.verification.verify import verify
from tests.builders import vault_with_sources
from tests.compiler.scripted import Scripted
from tests.compiler.test_journaled import MEIOSIS, MITOSIS
from vault.config.user import state_folder
from vault.errors import EditedMeanwhile, LockHeld, NotFound, Refused, UsageError
from vault.files.folder import Folder
from vault.inbox import decisions, listing, pages
from vault.inbox.events import REASON, REASONS, Choice, all_reasons, current_decisions, reasons_for, settled_in
from vault.inbox.items import Item
from vault.locks import lock
from vault.log import ledger
from vault.model.card import Card, parse_deck
from vault.model.frontmatter import human_edited, render_generated
from vault.vault import Vault

MORNING = datetime(2026, 11, 21, 9, tzinfo=UTC)
RAW = "raw/articles/testing.md"
ARTICLE = "wiki/concepts/retrieval-practice.md"
DECK = "learning/flashcards/retrieval-practice.md"
REMARK = "\nMy own remark.\n"
MINE = "In my own words."


def silent(event: dict[str, Any]) -> None:
    pass


def compiled(vault: Vault, day: int, *, fresh: bool = False) -> Report:
    return compile_vault(vault, Options(fresh=fresh), MORNING + timedelta(days=day), silent)


def at(minute: int) -> datetime:
    """After all compiles of the tests."""
    return MORNING + timedelta(days=100, minutes=minute)


def source(vault: Vault, *replacements: tuple[str, str]) -> None:
    path = vault.root / RAW
    text = path.read_text()
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)


def reworded(vault: Vault, *words: str) -> list[Card]:
    """The human rewords the first cards of the deck, one for each of `words`; those cards, as they were."""
    deck = vault.root / DECK
    first = list(parse_deck(deck.read_text(), DECK).cards)[: len(words)]
    text = deck.read_text()
    for card, mine in zip(first, words, strict=True):
        text = text.replace(f"A: {card.answer}", f"A: {mine}")
    deck.write_text(text)
    return first


@pytest.fixture
def edited(vault: Vault) -> Vault:
    """A vault whose human edited an article and two cards, before the source said something else."""
    compiled(vault, 0)
    article = vault.root / ARTICLE
    article.write_text(article.read_text() + REMARK)
    reworded(vault, MINE, "Mine, too.")
    source(
        vault, ("recalling an answer from memory", "recalling an answer out of memory"), ("next recall", "later one")
    )
    compiled(vault, 1)
    return vault


def of(vault: Vault, kind: str) -> Item:
    (item,) = [i for i in listing.items(vault) if i.kind == kind]
    return item


def tree(vault: Vault) -> dict[str, bytes]:
    """All of the vault but what only grows and what may be deleted."""
    files = (p for p in vault.root.rglob("*") if p.is_file())
    named = {p.relative_to(vault.root).as_posix(): p.read_bytes() for p in files}
    return {name: data for name, data in named.items() if not name.startswith((".retain/", "ledger/"))}


def cards(vault: Vault) -> dict[str, Card]:
    found = parse_deck((vault.root / DECK).read_text(), DECK).cards
    return {str(card.id): card for card in found}


def lies(vault: Vault, path: str) -> bool:
    return (vault.root / "output/proposals" / path).exists()


def test_what_waits_is_listed_with_both_sides_and_deck_by_card(edited: Vault) -> None:
    article, deck = listing.items(edited)
    assert (article.kind, article.path, article.about) == ("article", ARTICLE, "Retrieval practice")
    assert "out of memory" in article.views[0].offered and "My own remark." in article.views[0].mine
    assert (deck.kind, deck.path) == ("deck", DECK) and len(deck.views) == 2
    assert MINE in deck.views[0].mine and "out of memory" in deck.views[0].offered
    assert deck.parts == tuple(c.id for c in parse_deck((edited.root / DECK).read_text(), DECK).cards[:2])
    assert len({article.id, deck.id}) == 2 and all(len(i.id) == 8 for i in (article, deck))
    assert listing.items(edited) == [article, deck]  # nothing in it is made up on the way
    assert listing.find(edited, article.id[:5]) == listing.find(edited, ARTICLE) == article


def test_an_accepted_article_is_the_machines_again(edited: Vault) -> None:
    offered = (edited.root / "output/proposals" / ARTICLE).read_bytes()
    decisions.decide(edited, [of(edited, "article").id], Choice.ACCEPT, at(0))
    assert (edited.root / ARTICLE).read_bytes() == offered and not human_edited(offered.decode())
    assert not lies(edited, ARTICLE)
    compiled(edited, 200)
    assert not lies(edited, ARTICLE) and [i.kind for i in listing.items(edited)] == ["deck"]
    source(edited, ("out of memory", "from one's memory"))
    compiled(edited, 201)
    assert "one's memory" in (edited.root / ARTICLE).read_text() and not lies(edited, ARTICLE)


def test_properties_that_the_human_added_stay_when_an_article_is_accepted(edited: Vault) -> None:
    article = edited.root / ARTICLE
    article.write_text(article.read_text().replace("\n---\n", "\nmood: curious\n---\n", 1))
    decisions.decide(edited, [of(edited, "article").id], Choice.ACCEPT, at(0))
    text = article.read_text()
    assert "\nmood: curious\n---\n" in text and "My own remark." not in text and not human_edited(text)


@pytest.mark.parametrize("choice", [Choice.KEEP, Choice.REJECT])
def test_what_is_not_wanted_is_not_offered_again_until_there_is_something_else_to_say(
    edited: Vault, choice: Choice
) -> None:
    mine = (edited.root / ARTICLE).read_bytes(), (edited.root / DECK).read_bytes()
    decisions.decide(edited, None, choice, at(0), reason="it is mine")
    assert not lies(edited, ARTICLE) and not lies(edited, DECK) and listing.items(edited) == []
    compiled(edited, 200)
    compiled(edited, 201, fresh=True)
    assert not lies(edited, ARTICLE) and not lies(edited, DECK)
    (edited.root / ARTICLE).write_bytes(mine[0] + b"\nAnd one more.\n")
    compiled(edited, 202)
    assert not lies(edited, ARTICLE)
    source(edited, ("out of memory", "from one's memory"), ("later one", "third one"))
    compiled(edited, 203)
    assert [i.kind for i in listing.items(edited)] == ["article", "deck"]
    assert (edited.root / ARTICLE).read_bytes() == mine[0] + b"\nAnd one more.\n"
    texts = [c.answer for c in parse_deck((edited.root / DECK).read_text(), DECK).cards]
    assert MINE in texts and "Mine, too." in texts


def test_one_card_of_a_deck_is_settled_on_its_own(edited: Vault) -> None:
    deck = of(edited, "deck")
    first, second = deck.parts
    decisions.decide(edited, [deck.id], Choice.ACCEPT, at(0), part=first)
    now = cards(edited)
    assert not now[first].human_edited and "out of memory" in now[first].question + now[first].answer
    assert now[second].answer == "Mine, too." and lies(edited, DECK)
    rest = of(edited, "deck")
    assert rest.parts == (second,)
    decisions.decide(edited, [rest.id], Choice.KEEP, at(1))
    assert not lies(edited, DECK)
    compiled(edited, 200)
    after = cards(edited)
    assert after[second].answer == "Mine, too." and not after[first].human_edited and not lies(edited, DECK)


def test_a_deck_is_the_machines_again_once_all_of_it_is_accepted(edited: Vault) -> None:
    decisions.decide(edited, None, Choice.ACCEPT, at(0))
    assert verify(edited, silent).clean
    accepted = (edited.root / DECK).read_text()
    assert not any(c.human_edited for c in parse_deck(accepted, DECK).cards)
    compiled(edited, 200)
    assert (edited.root / DECK).read_text() == accepted and not lies(edited, DECK)


def test_a_card_that_stands_under_another_heading_goes_where_its_kind_belongs(edited: Vault) -> None:
    deck = edited.root / DECK
    (card, *_) = parse_deck(deck.read_text(), DECK).cards
    block = deck.read_text()[card.start : card.end]
    deck.write_text(deck.read_text().replace(block, "").rstrip() + f"\n\n## Applied\n\n{block}\n")
    item = of(edited, "deck")
    decisions.decide(edited, [item.id], Choice.ACCEPT, at(0))
    found = {c.id: c for c in parse_deck(deck.read_text(), DECK).cards}
    assert found[card.id].kind is card.kind and not found[card.id].human_edited
    compiled(edited, 200)
    assert not lies(edited, DECK) and {c.id for c in parse_deck(deck.read_text(), DECK).cards} >= {card.id}


@pytest.mark.parametrize("choice", list(Choice))
def test_every_decision_is_taken_back_byte_for_byte(edited: Vault, choice: Choice) -> None:
    before = tree(edited)
    waiting = listing.items(edited)
    decisions.decide(edited, None, choice, at(0), reason="no")
    assert tree(edited) != before
    assert [decisions.undo(edited, at(n)).path for n in (1, 2)] == [DECK, ARTICLE]
    assert tree(edited) == before
    assert [i.id for i in listing.items(edited)] == [i.id for i in waiting]
    with pytest.raises(NotFound):
        decisions.undo(edited, at(3))
    assert settled_in(edited.ledger_events(ledger.DECISIONS)[0]) == settled_in([])


def test_what_was_edited_since_is_not_taken_back(edited: Vault) -> None:
    decisions.decide(edited, [of(edited, "article").id], Choice.ACCEPT, at(0))
    article = edited.root / ARTICLE
    article.write_text(article.read_text() + "\nNew thoughts.\n")
    before = tree(edited)
    with pytest.raises(EditedMeanwhile) as found:
        decisions.undo(edited, at(1))
    assert found.value.where == ARTICLE and tree(edited) == before
    assert len(current_decisions(edited.ledger_events(ledger.DECISIONS)[0])) == 1


def test_without_the_copy_nothing_is_taken_back_and_the_way_on_is_told(edited: Vault) -> None:
    decisions.decide(edited, [of(edited, "article").id], Choice.ACCEPT, at(0))
    before = tree(edited)
    for path in state_folder(edited.settings.vault_id).rglob("*"):
        if path.is_file():
            path.unlink()
    with pytest.raises(Refused, match="no copy"):
        decisions.undo(edited, at(1))
    assert tree(edited) == before


@pytest.mark.parametrize("path", [ARTICLE, f"output/proposals/{ARTICLE}"])
@pytest.mark.parametrize("choice", list(Choice))
def test_nobody_decides_on_what_they_have_not_seen(edited: Vault, path: str, choice: Choice) -> None:
    shown = of(edited, "article").id
    (edited.root / path).write_text((edited.root / path).read_text() + "\nLater.\n")
    before = tree(edited)
    with pytest.raises(NotFound) as found:
        decisions.decide(edited, [shown], choice, at(0), reason="no")
    assert "has changed since" in found.value.what and of(edited, "article").id in found.value.hint
    assert tree(edited) == before and current_decisions(edited.ledger_events(ledger.DECISIONS)[0]) == []


def test_an_edit_between_the_last_look_and_the_write_stays_and_nothing_is_decided(
    edited: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    article = edited.root / ARTICLE
    real = pages._with_user_properties

    def meanwhile(both: pages.Versions) -> bytes:
        article.write_text("mine, saved this very moment\n")
        return real(both)

    item = of(edited, "article")
    monkeypatch.setattr(pages, "_with_user_properties", meanwhile)
    with pytest.raises(EditedMeanwhile):
        decisions.decide(edited, [item.id], Choice.ACCEPT, at(0))
    assert article.read_text() == "mine, saved this very moment\n" and lies(edited, ARTICLE)
    assert current_decisions(edited.ledger_events(ledger.DECISIONS)[0]) == []


def test_all_or_none_are_settled_where_one_id_is_wrong(edited: Vault) -> None:
    before = tree(edited)
    with pytest.raises(NotFound):
        decisions.decide(edited, [of(edited, "article").id, "zzzzzzzz"], Choice.KEEP, at(0))
    assert tree(edited) == before


def test_nothing_is_settled_while_a_compile_runs(edited: Vault) -> None:
    before = tree(edited)
    with lock(edited.root, "publish", purpose="compiling"), pytest.raises(LockHeld):
        decisions.decide(edited, None, Choice.ACCEPT, at(0))
    assert tree(edited) == before


def test_a_rejection_says_why_and_the_next_prompt_hears_it(edited: Vault) -> None:
    article = of(edited, "article")
    with pytest.raises(UsageError):
        decisions.decide(edited, [article.id], Choice.REJECT, at(0), reason=" \n ")
    decisions.decide(edited, [article.id], Choice.REJECT, at(0), reason="too\nlong \x1b[31m" + "x" * 999)
    decided = edited.ledger_events(ledger.DECISIONS)[0]
    (reason,) = reasons_for(decided, article.concept)
    assert reason.startswith("too long \ufffd[31mxxx") and len(reason) == REASON and "\n" not in reason
    assert reasons_for(decided, "another") == reasons_for(decided, "") == ()
    assert all_reasons(decided) == {article.concept: (reason,)}
    assert of(edited, "deck").concept == article.concept  # cards and article are of one concept
    decisions.undo(edited, at(1))
    assert reasons_for(edited.ledger_events(ledger.DECISIONS)[0], article.concept) == ()


def test_the_last_reasons_are_told_newest_last_in_whatever_order_the_ledger_lies() -> None:
    events: list[ledger.Event] = [
        {"v": 1, "type": "inbox", "id": f"{n}", "decision": "reject", "path": "p", "about": "c", "reason": f"why {n}"}
        | {"at": f"2026-11-21T09:00:0{n}.000Z"}
        for n in range(8)
    ]
    expected = tuple(f"why {n}" for n in range(8 - REASONS, 8))
    assert reasons_for(events, "c") == reasons_for(events[::-1], "c") == expected


@pytest.mark.parametrize(
    "odd",
    [
        {"decision": ["accept"], "id": ["x"], "voids": {}},
        {"decision": "undo", "voids": ["a"]},
        {"decision": "keep", "id": {"a": 1}, "cards": ["x"], "path": 7, "files": {"a": 3}},
        {"decision": "reject", "id": "1", "reason": 5, "about": ["c"]},
    ],
)
def test_an_event_of_a_stranger_settles_nothing_and_breaks_nothing(edited: Vault, odd: ledger.Event) -> None:
    event = {"v": 1, "type": "inbox", "at": "2026-11-22T09:00:00.000Z"} | odd
    with (edited.root / ledger.DECISIONS).open("a") as file:
        file.write(json.dumps(event) + "\n")
    assert len(listing.items(edited)) == 2
    assert all_reasons(edited.ledger_events(ledger.DECISIONS)[0]) == {}
    compiled(edited, 200)
    decisions.decide(edited, None, Choice.KEEP, at(0))
    assert decisions.undo(edited, at(1)).path == DECK


def test_a_decision_whose_file_was_never_written_is_offered_again(edited: Vault) -> None:
    """A process killed between ledger and file."""
    item = of(edited, "article")
    before = tree(edited)
    decisions.decide(edited, [item.id], Choice.ACCEPT, at(0))
    for path in (ARTICLE, f"output/proposals/{ARTICLE}"):
        (edited.root / path).write_bytes(before[path])
    assert of(edited, "article").id == item.id
    compiled(edited, 200)
    assert of(edited, "article").digest == item.digest
    assert decisions.undo(edited, at(1)).restored == ()


@pytest.mark.parametrize("change", ["claim", "delete", "rebuild", "all products gone"])
def test_what_a_human_edited_is_never_overwritten(edited: Vault, change: str) -> None:
    mine = (edited.root / ARTICLE).read_bytes()
    if change == "claim":
        source(edited, ("out of memory", "from one's memory"))
    elif change == "delete":
        (edited.root / RAW).unlink()
    elif change == "all products gone":
        for path in (edited.root / "wiki/summaries").iterdir():
            path.unlink()
    compiled(edited, 200, fresh=change == "rebuild")
    assert (edited.root / ARTICLE).read_bytes() == mine
    answers = [c.answer for c in parse_deck((edited.root / DECK).read_text(), DECK).cards]
    assert MINE in answers and "Mine, too." in answers


def test_a_proposal_to_a_page_that_is_gone_makes_it_anew(edited: Vault) -> None:
    (edited.root / ARTICLE).unlink()
    item = of(edited, "article")
    assert item.views[0].mine == ""
    decisions.decide(edited, [item.id], Choice.ACCEPT, at(0))
    assert "out of memory" in (edited.root / ARTICLE).read_text()
    decisions.undo(edited, at(1))
    assert not (edited.root / ARTICLE).exists() and lies(edited, ARTICLE)


def test_links_and_files_of_other_kinds_among_the_proposals_are_passed_over(edited: Vault, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("---\ntitle: x\n---\nnot of the vault\n")
    folder = edited.root / "output/proposals/wiki/concepts"
    (folder / "link.md").symlink_to(outside)
    (folder / "more").mkdir()
    (folder / "x.txt").write_text("x")
    assert [i.path for i in listing.items(edited)] == [ARTICLE, DECK]


def test_listing_writes_nothing_at_all(edited: Vault) -> None:
    before = {p: p.stat().st_mtime_ns for p in edited.root.rglob("*")}
    listing.items(edited)
    listing.find(edited, ARTICLE)
    assert {p: p.stat().st_mtime_ns for p in edited.root.rglob("*")} == before
    assert Folder(edited.root).read(ARTICLE) is not None


def test_whoever_writes_next_is_told_what_the_human_disliked(tmp_path: Path) -> None:
    vault = vault_with_sources(tmp_path / "cells", {"mitosis.md": MITOSIS, "meiosis.md": MEIOSIS})
    page, document = vault.root / "wiki/concepts/meiosis.md", vault.root / "raw/articles/meiosis.md"
    model = Scripted()

    def built(day: int) -> None:
        compile_vault(vault, Options(engine="claude"), MORNING + timedelta(days=day), silent, backend=model)

    built(0)
    page.write_text(page.read_text() + REMARK)
    document.write_text(MEIOSIS.replace("four cells", "five cells"))
    built(1)
    item = of(vault, "article")
    decisions.decide(vault, [item.id], Choice.REJECT, at(0), reason="too dry")
    assert not any(task.reasons for r in model.asked if isinstance(r, WriteRequest) for task in r.concepts)
    asked = len(model.asked)
    built(200)
    tasks = [task for r in model.asked[asked:] if isinstance(r, WriteRequest) for task in r.concepts]
    assert [(task.title, task.reasons) for task in tasks] == [("Meiosis", ("too dry",))]
    asked = len(model.asked)
    built(201)
    assert len(model.asked) == asked  # said once


def test_a_forged_proposal_does_not_outlast_the_next_compile(edited: Vault) -> None:
    """Agents may write in output/: a proposal can be anybody's, however well its digest fits."""
    proposal = edited.root / "output/proposals" / ARTICLE
    true = proposal.read_bytes()
    properties = {"type": "concept", "title": "Retrieval practice \x1b[2J"}
    proposal.write_text(render_generated(properties, "\nSaid by nobody.\n", None))
    item = of(edited, "article")
    assert "\x1b" not in item.about
    decisions.decide(edited, [item.id], Choice.ACCEPT, at(0))
    compiled(edited, 200)
    assert (edited.root / ARTICLE).read_bytes() == true
    assert verify(edited, silent).uncited == []


def test_a_proposal_that_somebody_edited_is_marked_as_such(edited: Vault) -> None:
    proposal = edited.root / "output/proposals" / ARTICLE
    proposal.write_text(proposal.read_text() + "\nMore.\n")
    assert "the proposal itself was edited" in of(edited, "article").note


def test_decisions_of_two_clones_are_folded_the_same_in_any_order(edited: Vault) -> None:
    before = edited.ledger_events(ledger.DECISIONS)[0]
    decisions.decide(edited, None, Choice.KEEP, at(0))
    decisions.undo(edited, at(1))
    decisions.decide(edited, None, Choice.REJECT, at(2), reason="no")
    events = edited.ledger_events(ledger.DECISIONS)[0]
    assert len(events) > len(before) + 3
    assert settled_in(events) == settled_in(events[::-1]) and all_reasons(events) == all_reasons(events[::-1])
    assert settled_in(events).pages[ARTICLE]
