from hypothesis import given
from hypothesis import strategies as st

from vault.ids import CardId
from vault.model.card import CardKind, append_block, card_comment, parse_deck, render_block, splice_words
from vault.model.cloze import back, front, numbers_in

CLOZE = """## Mechanistic

C: The {{c1::mitochondrion}} makes {{c2::ATP::molecule}}.
> Source: Campbell
%% card k7q2m9xd3f c1 %%
%% card p3s8v1ya0t c2 %%

Q: Next?
A: Yes.
%% card aaaaaaaaa3 %%
"""
BOTH = """Q: Wasser
A: water
> Source: Duden
%% card k7q2m9xd3f %%
%% card p3s8v1ya0t reversed %%
"""
SOUP = st.lists(
    st.sampled_from(["{{c1::", "{{c2::", "{{c1,2::", "::", "}}", "{{", "x", "\n", "C:", "Q: ", "> ", "$a_{b}$", "é"]),
    max_size=20,
).map("".join)


def test_a_cloze_is_a_card_for_each_number_that_hides_its_words_alone() -> None:
    first, second, last = parse_deck(CLOZE, "x.md").cards
    assert (first.question, first.answer) == (
        "The **[...]** makes ATP.",
        "mitochondrion\n> Source: Campbell",
    )
    assert second.question == "The mitochondrion makes **[molecule]**."
    assert [c.id for c in (first, second, last)] == ["k7q2m9xd3f", "p3s8v1ya0t", "aaaaaaaaa3"]
    assert first.note == second.note == "k7q2m9xd3f" and first.kind is CardKind.MECHANISTIC
    assert first.human_edited, "no compile may take it for its own"


def test_one_number_may_hide_several_words_and_one_word_several_times() -> None:
    text = "{{c1::Paris}} and {{c1::Rome}} are capitals, {{c1::Paris}} of France, {{c2::Rome}} of Italy."
    assert front(text, 1) == "**[...]** and **[...]** are capitals, **[...]** of France, Rome of Italy."
    assert back(text, 1) == "Paris, Rome"
    assert numbers_in(text) == [1, 2]
    assert front("{{c1::a {{c2::b}} c}}", 2) == "a **[...]** c" and back("{{c1::a {{c2::b}} c}}", 1) == "a b c"


def test_a_card_both_ways_asks_for_the_question_by_the_answer_without_its_source() -> None:
    there, back_again = parse_deck(BOTH, "x.md").cards
    assert (there.question, there.answer) == ("Wasser", "water\n> Source: Duden")
    assert (back_again.question, back_again.answer) == ("water", "Wasser\n> Source: Duden")
    assert (there.id, back_again.id) == ("k7q2m9xd3f", "p3s8v1ya0t") and back_again.note == there.note


def test_a_cloze_without_a_deletion_is_named_and_a_letter_with_a_colon_stays_an_answer() -> None:
    deck = parse_deck("C: nothing {{c1::is closed\n\nQ: Which?\nA: one of\nA) a\nC: the third\n", "x.md")
    assert [d.message for d in deck.diagnostics] == ["this cloze (C:) hides no words"]
    assert [c.answer for c in deck.cards] == ["one of\nA) a\nC: the third"]


def test_a_deletion_that_was_removed_keeps_its_id_for_when_it_comes_back() -> None:
    without = CLOZE.replace("{{c1::mitochondrion}}", "mitochondrion")
    assert [c.id for c in parse_deck(without, "x.md").cards] == ["p3s8v1ya0t", "aaaaaaaaa3"]
    assert parse_deck(without, "x.md").cards[0].note == "k7q2m9xd3f"
    assert [c.id for c in parse_deck(CLOZE, "x.md").cards] == ["k7q2m9xd3f", "p3s8v1ya0t", "aaaaaaaaa3"]


def test_new_words_of_a_block_change_no_other_byte() -> None:
    first, *_ = parse_deck(CLOZE, "x.md").cards
    new = splice_words(CLOZE, first, "A {{c1::cell}}.\n> Source: Campbell", None)
    assert new == CLOZE.replace("The {{c1::mitochondrion}} makes {{c2::ATP::molecule}}.", "A {{c1::cell}}."), (
        "comments and other cards stay"
    )
    _, reverse = parse_deck(BOTH, "x.md").cards
    assert splice_words(BOTH, reverse, "Wasser", "the water\n> Source: Duden") == BOTH.replace("water", "the water")


def test_the_comments_of_older_decks_are_read() -> None:
    old = CLOZE.replace("%% card", "<!-- card").replace(" %%", " -->")
    assert [card.id for card in parse_deck(old, "x.md").cards] == [card.id for card in parse_deck(CLOZE, "x.md").cards]


def test_a_cloze_with_several_numbers_or_a_capital_begins_a_block_too() -> None:
    for mark in ("{{c1,2::", "{{C1::"):
        deck = parse_deck(f"Q: a\nA: b\n\nC: The {mark}x}}}} y\n", "x.md")
        assert deck.cards[0].answer == "b" and all(card.is_cloze for card in deck.cards[1:]) and len(deck.cards) > 1


@given(SOUP, st.booleans())
def test_any_cloze_that_is_written_is_read_as_it_was_and_harms_no_other_card(text: str, before: bool) -> None:
    numbers = numbers_in(text.strip())
    cards = [CardId(f"{n:0>10}") for n in numbers]
    block = render_block(text.strip(), None, (), [])
    for n, id_ in zip(numbers, cards, strict=True):
        block += f"{card_comment(id_, variant=f'c{n}')}\n"
    deck = parse_deck(append_block(BOTH if before else CLOZE, "x.md", block, None), "x.md")
    old = {c.id for c in parse_deck(BOTH if before else CLOZE, "x.md").cards}
    assert old <= {c.id for c in deck.cards}
    if numbers and not any(line.startswith(">") for line in text.splitlines()):
        new = [c for c in deck.cards if c.id in cards]
        assert [c.id for c in new] == cards
        trimmed = "\n".join(line.rstrip() for line in text.strip().splitlines())  # line ends are of no account
        assert all(c.words is not None and c.words[0] == trimmed and c.is_cloze for c in new)
