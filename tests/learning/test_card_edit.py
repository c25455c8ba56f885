"""Editing one card of a deck: what else stands in the file keeps its bytes, whatever the words are."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from learning.cards.edit import Words, edit_card, edited_deck, last_edit, restore, words_of
from learning.cards.workspace import open_desk, rate
from vault.errors import EditedMeanwhile, NotFound, Refused
from vault.log.events import Rating
from vault.model.card import Card, Deck, parse_deck
from vault.model.fences import leaves_fence_open
from vault.vault import Vault

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
DECK = "learning/flashcards/spacing-effect.md"
NASTY = st.sampled_from(
    [
        "Q: another",
        "A: one more",
        "# Mechanistic",
        "<!-- card zzzzzzzzz9 -->",
        "```python",
        "```",
        "~~~",
        "> [[wiki/summaries/s#^c-7f3a9c1e2k|1]]",
        "> a quote",
        "\\Q: escaped",
        "| a | b |",
        "",
        "  indented",
        "---",
    ]
)
LINES = st.lists(st.one_of(NASTY, st.text(st.characters(codec="utf-8"), max_size=30)), min_size=1, max_size=6)
TEXTS = LINES.map("\n".join)
CARDS = """\
Q: What?
A: That.
> [[wiki/summaries/s#^c-7f3a9c1e2k|1]]
<!-- card aaaaaaaaa1 2c4b9d -->

A remark of mine.

## Applied
Q: A question
on two lines?

A: And an answer:

```
Q: code
```

<!-- card aaaaaaaaa2 -->
Q: Last?
A: Yes.
<!-- card aaaaaaaaa3 -->
"""
HEADS = ["", "\ufeff# Title\n\n", "---\nconcept: k3v9m2x7ad\nmine: [1,  2]\n---\n\n# Title\n\n## Mechanistic\n\n"]


def _plain(card: Card) -> Card:
    return replace(card, line=0, start=0, end=0)


def _deck(head: str, crlf: bool) -> Deck:
    text = head + CARDS
    return parse_deck(text.replace("\n", "\r\n") if crlf else text, "x.md")


@given(st.sampled_from(HEADS), st.booleans(), st.integers(0, 2), TEXTS, TEXTS)
def test_an_edit_changes_one_card_and_no_other_byte(head: str, crlf: bool, n: int, question: str, answer: str) -> None:
    deck = _deck(head, crlf)
    card = deck.cards[n]
    try:
        after = edited_deck(deck, card, question, answer)
    except Refused:
        return
    assert after.text.startswith(deck.text[: card.start]) and after.text.endswith(deck.text[card.end :])
    assert ("\n" in after.text.replace("\r\n", "")) is not crlf
    assert [_plain(c) for c in after.cards if c.id != card.id] == [_plain(c) for c in deck.cards if c.id != card.id]
    now = after.cards[n]
    assert (now.id, now.kind, now.support, now.stamp) == (card.id, card.kind, card.support, card.stamp)
    again = edited_deck(after, now, now.question, now.answer)
    assert again.text == after.text  # what a card says can be written as it says it


@given(st.sampled_from(HEADS), st.booleans(), st.integers(0, 2), TEXTS, TEXTS)
def test_an_edit_that_is_taken_back_leaves_the_very_bytes(
    head: str, crlf: bool, n: int, question: str, answer: str
) -> None:
    deck = _deck(head, crlf)
    card = deck.cards[n]
    assume(card.question.strip() == card.question)
    try:
        after = edited_deck(deck, card, question, answer)
    except Refused:
        return
    back = edited_deck(after, after.cards[n], card.question, card.answer)
    assert words_of(back.cards[n]) == words_of(card)
    assert back.text.split() == deck.text.split()


@given(st.text(st.characters(codec="utf-8"), max_size=60), st.text(st.characters(codec="utf-8"), max_size=60))
def test_plain_words_are_taken_as_they_are(question: str, answer: str) -> None:
    assume(question.isprintable() and answer.isprintable() and question.strip() and answer.strip())
    assume(not any(leaves_fence_open(text.strip()) for text in (question, answer)))
    deck = _deck("", False)
    assume(not answer.lstrip().startswith(">"))
    now = edited_deck(deck, deck.cards[0], question, answer).cards[0]
    assert words_of(now) == Words(question.strip(), answer.strip())


def test_what_is_edited_counts_as_the_humans_and_keeps_its_history(vault: Vault) -> None:
    desk, _ = rate(open_desk(vault, NOW), "aaaaaaaaa1", Rating.GOOD, via="cli")
    before = desk.state(desk.card("aaaaaaaaa1").id)
    edited = edit_card(vault, "aaaaaaaaa1", "What is spacing?", "Study that is *spread out*.", NOW)
    assert edited.changed and edited.path == DECK
    desk = open_desk(vault, NOW)
    placed = desk.card("aaaaaaaaa1")
    assert placed.card.human_edited and words_of(placed.card) == edited.after
    assert desk.state(placed.id) == before
    assert placed.card.support and not desk.diagnostics


def test_an_edit_can_be_taken_back_step_by_step(vault: Vault) -> None:
    was = vault.read_bytes(DECK)
    edit_card(vault, "aaaaaaaaa1", "One?", "One.", NOW)
    edit_card(vault, "aaaaaaaaa1", "Two?", "Two.", NOW)
    assert restore(vault, last_edit(vault, "aaaaaaaaa1"), NOW).after == Words("One?", "One.")
    assert restore(vault, last_edit(vault, "aaaaaaaaa1"), NOW).changed
    assert vault.read_bytes(DECK) == was
    with pytest.raises(NotFound, match="no edit of card"):
        last_edit(vault, "aaaaaaaaa1")


def test_a_card_that_another_hand_changed_is_left_as_it_is(vault: Vault) -> None:
    seen = words_of(open_desk(vault, NOW).card("aaaaaaaaa1").card)
    edit_card(vault, "aaaaaaaaa1", "Changed elsewhere?", "Yes.", NOW)
    text = vault.read_bytes(DECK)
    with pytest.raises(EditedMeanwhile, match="changed in the meantime"):
        edit_card(vault, "aaaaaaaaa1", "Mine?", "Mine.", NOW, expect=seen)
    assert vault.read_bytes(DECK) == text


def test_another_card_of_the_file_may_change_meanwhile(vault: Vault) -> None:
    seen = words_of(open_desk(vault, NOW).card("aaaaaaaaa1").card)
    edit_card(vault, "aaaaaaaaa2", "Why?", "Because.", NOW)
    assert edit_card(vault, "aaaaaaaaa1", "Mine?", "Mine.", NOW, expect=seen).changed


@pytest.mark.parametrize(
    ("question", "answer", "why"),
    [
        ("", "x", "question is empty"),
        ("x", " \n ", "answer is empty"),
        ("x", "```\ncode", "leaves a code fence open"),
        ("x", "y" * 70_000, "too large .over 64 KiB"),
        ("x", "> [[wiki/summaries/s#^c-7f3a9c1e2k|1]]", "contains deck markup"),
    ],
)
def test_words_that_would_break_the_deck_are_refused(vault: Vault, question: str, answer: str, why: str) -> None:
    text = vault.read_bytes("learning/flashcards/interleaving.md")
    with pytest.raises(Refused, match=why):
        edit_card(vault, "bbbbbbbbb1", question, answer, NOW)
    assert vault.read_bytes("learning/flashcards/interleaving.md") == text


def test_nothing_is_written_where_nothing_changed(vault: Vault) -> None:
    words = words_of(open_desk(vault, NOW).card("aaaaaaaaa1").card)
    assert not edit_card(vault, "aaaaaaaaa1", words.question, words.answer, NOW).changed
    with pytest.raises(NotFound):
        last_edit(vault, "aaaaaaaaa1")


def test_an_answer_may_begin_with_code(vault: Vault) -> None:
    edit_card(vault, "aaaaaaaaa1", "Which loop?", "```python\nfor x in y: ...\n```", NOW)
    assert open_desk(vault, NOW).card("aaaaaaaaa1").card.answer == "```python\nfor x in y: ...\n```"
    assert {"aaaaaaaaa1", "aaaaaaaaa2"} <= set(open_desk(vault, NOW).cards)


@pytest.mark.parametrize("comment", ["<!-- card k7q2m9xd3f 9f31c2 -->", "%% card k7q2m9xd3f 9f31c2 %%"])
def test_code_in_an_answer_may_show_the_comment_of_a_card(vault: Vault, comment: str) -> None:
    answer = f"Like this:\n\n```\n{comment}\n```\n\nBelow its answer."
    edit_card(vault, "aaaaaaaaa1", "How is a card named?", answer, NOW)
    placed = open_desk(vault, NOW).card("aaaaaaaaa1")
    assert words_of(placed.card) == Words("How is a card named?", answer)
