import itertools
import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from vault.ids import CardId, ClaimId
from vault.model.card import Card, CardKind, parse_deck, render_card, splice_card, stamp_of, with_stamp
from vault.model.markdown import escape
from vault.model.wikilink import Citation

SUPPORT = (Citation("wiki/summaries/attention-is-all-you-need", ClaimId("51e09ab2xy"), 1),)
DECK = """---
concept: 7f3a9c1e2k
---

# Attention

## Mechanistic

Q: Why is the dot product divided by the square root of the key dimension?
A: Large dot products push the softmax into regions with very small gradients; scaling keeps them moderate.
> [[wiki/summaries/attention-is-all-you-need#^c-51e09ab2xy|1]]
%% card k7q2m9xd3f 9f31c2 %%

A remark of mine between the cards.

## Applied

Q: When do I mask?
A: In a decoder:

```
A: not a tag
Q: neither
```
"""
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1).filter(
    lambda t: t.strip() == t
)


def test_a_deck_is_read_with_kinds_support_and_ids() -> None:
    deck = parse_deck(DECK, "learning/flashcards/attention.md")
    first, second = deck.cards
    assert (first.kind, first.id, first.stamp, first.line) == (CardKind.MECHANISTIC, "k7q2m9xd3f", "9f31c2", 9)
    assert first.support == SUPPORT and first.answer.startswith("Large dot products")
    assert second.kind is CardKind.APPLIED and second.id is None
    assert second.answer == "In a decoder:\n\n```\nA: not a tag\nQ: neither\n```"
    assert deck.diagnostics == () and deck.title == "Attention"


@given(WORDS, st.lists(WORDS, min_size=1, max_size=4))
def test_a_machine_card_comes_back_as_it_was_written(question: str, answer: list[str]) -> None:
    card = with_stamp(
        Card(CardKind.APPLIED, escape(question), escape("\n".join(answer)), SUPPORT, CardId("k7q2m9xd3f"))
    )
    (read,) = parse_deck(f"## Applied\n\n{render_card(card)}", "x.md").cards
    assert replace(read, line=0, start=0, end=0) == card
    assert not read.human_edited


COMMENTS = ["<!--", "\\<!--", "\\\\<!--", "-->", "--\\>", " card ", "k7q2m9xd3f", "`", "$", "\\", "a", " ", "\n"]


@given(st.lists(st.sampled_from(COMMENTS), min_size=1, max_size=12).map("".join).filter(str.strip))
def test_words_about_comments_come_back_as_they_were_written(words: str) -> None:
    lines = [line.strip() for line in words.strip().split("\n")]
    card = with_stamp(Card(CardKind.APPLIED, escape(lines[0]), escape("\n".join(lines)), SUPPORT, CardId("k7q2m9xd3f")))
    (read,) = parse_deck(f"## Applied\n\n{render_card(card)}", "x.md").cards
    assert replace(read, line=0, start=0, end=0) == card
    assert not read.human_edited


@given(st.lists(st.sampled_from(COMMENTS), min_size=1, max_size=12).map("".join).filter(str.strip))
def test_a_card_that_holds_comments_is_written_byte_for_byte_as_it_was_read(words: str) -> None:
    lines = [line.strip() for line in words.strip().split("\n")]
    lines[1:] = [f"x {line}" if re.match(r"<!--\s*card\b|```", line) else line for line in lines[1:]]
    text = f"Q: {lines[0]}\nA: {chr(10).join(lines)}\n"
    (read,) = parse_deck(text, "x.md").cards
    assert render_card(read) == text


def test_what_would_end_a_card_inside_its_words_is_kept_from_it() -> None:
    card = with_stamp(
        Card(CardKind.APPLIED, "Which?", "This:\n<!-- card 0000000000 -->", SUPPORT, CardId("k7q2m9xd3f"))
    )
    once = parse_deck(render_card(card), "x.md")
    assert once.diagnostics == () and [c.id for c in once.cards] == [card.id]
    assert render_card(once.cards[0]) == render_card(card)


def test_an_edit_by_hand_shows_and_a_trailing_space_does_not() -> None:
    card = with_stamp(Card(CardKind.APPLIED, "What?", "That.", SUPPORT, CardId("k7q2m9xd3f")))
    block = render_card(card)
    (spaced,) = parse_deck(block.replace("That.", "That.  "), "x.md").cards
    (edited,) = parse_deck(block.replace("That.", "This."), "x.md").cards
    assert not spaced.human_edited and edited.human_edited and edited.id == card.id
    assert stamp_of(edited) != card.stamp


def test_the_html_comments_of_older_decks_are_read_and_replaced_with_their_card() -> None:
    older = DECK.replace("%% card k7q2m9xd3f 9f31c2 %%", "<!-- card k7q2m9xd3f 9f31c2 -->")
    first, second = parse_deck(older, "x.md").cards
    assert (first.id, first.stamp) == ("k7q2m9xd3f", "9f31c2") and second.id == parse_deck(DECK, "x.md").cards[1].id
    assert splice_card(older, first, first) == DECK


def test_replacing_a_card_touches_only_its_block() -> None:
    first, second = parse_deck(DECK, "x.md").cards
    new = splice_card(DECK, first, replace(first, answer="New."))
    assert new == DECK.replace(first.answer, "New.")
    gone = splice_card(DECK, second, None)
    assert gone.startswith(DECK[: second.start].rstrip()) and "When do I mask" not in gone
    assert "When do I mask" in splice_card(DECK, first, None)


@given(st.text(alphabet=st.sampled_from(list("QA: #>`~\n-<!card[]wiki/|^c7f3a9e12k")), max_size=300))
def test_any_text_parses_and_blocks_never_overlap(text: str) -> None:
    deck = parse_deck(text, "x.md")
    spans = [(c.start, c.end) for c in deck.cards]
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
    assert all(text[s : s + 2] == "Q:" and s < e <= len(text) for s, e in spans)


def test_broken_blocks_are_named_with_their_line_and_the_others_stand() -> None:
    twins = "".join(f"Q: twin\nA: {n}\n<!-- card k7q2m9xd3f -->\n\n" for n in (1, 2))
    text = f"Q: no answer\n\nQ: fine\nA: yes\n<!-- card nonsense -->\n\n{twins}"
    deck = parse_deck(text, "learning/flashcards/x.md")
    assert [(d.line, d.code) for d in deck.diagnostics] == [
        (1, "card-incomplete"),
        (5, "card-comment"),
        (11, "card-id-repeated"),
    ]
    assert [c.question for c in deck.cards] == ["fine", "twin", "twin"]


def test_a_huge_card_is_named_not_shown() -> None:
    deck = parse_deck("Q: x\nA: " + "y" * 70000 + "\n", "x.md")
    assert deck.cards == () and deck.diagnostics[0].code == "card-too-large"
