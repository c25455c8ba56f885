from compiler.cards.decks import Fresh, cards_in_text, cards_listed_in, decks_after_moves, merge_deck, render_deck
from vault.ids import CardId
from vault.model.card import Card, CardKind, parse_deck, splice_card, with_stamp

ONE, TWO = CardId("1111111111"), CardId("2222222222")


def card(id_: CardId, question: str = "What?", kind: CardKind = CardKind.DEFINITIONAL) -> Card:
    return with_stamp(Card(kind, question, f"Answer to {question}", (), id_))


def fresh(*cards: Card) -> Fresh:
    return Fresh("Kite", {"type": "flashcards", "concept": "cccccccccc"}, cards)


def test_a_card_goes_with_its_concept_but_stays_where_a_human_put_it() -> None:
    wanted = {"new.md": fresh(card(ONE), card(TWO))}
    placed = decks_after_moves(wanted, {"old.md": [ONE], "mine.md": [TWO]}, {ONE: {"old.md"}, TWO: {"old.md"}})
    assert [c.id for c in placed["new.md"].cards] == [ONE]
    assert [c.id for c in placed["mine.md"].cards] == [TWO] and placed["mine.md"].properties == {}


def test_a_deck_says_itself_what_the_machine_left_in_it() -> None:
    text = render_deck(fresh(card(ONE), card(TWO, "Why?")))
    assert cards_listed_in(text) == [ONE, TWO] and cards_in_text(text) == {ONE, TWO}
    first = parse_deck(text, "x.md").cards[0]
    assert cards_in_text(splice_card(text, first, None)) == {TWO}
    broken = text.replace("A: Answer to What?", "A: Answer\n\n### My note\n")  # its comment is on its own now
    assert cards_in_text(broken) == {ONE, TWO}


def test_a_deck_of_the_machines_alone_is_laid_out_anew() -> None:
    known: dict[CardId, CardKind | None] = {ONE: None, TWO: None}
    old = render_deck(fresh(card(ONE)))
    two = fresh(card(TWO, "How?", CardKind.MECHANISTIC), card(ONE))
    assert merge_deck(old, "x.md", two, known, True) == (render_deck(two), False)
    assert merge_deck(old, "x.md", None, known, True) == (None, False)
    assert merge_deck(None, "x.md", None, known, True) == (None, False)


def test_whatever_a_human_wrote_in_a_deck_stays_byte_for_byte() -> None:
    known: dict[CardId, CardKind | None] = {ONE: None, TWO: None}
    base = render_deck(fresh(card(ONE), card(TWO, "Why?")))
    mine = base.replace("Answer to What?", "My answer").replace(
        "## Definitional\n", "## Definitional\n\nA remark.\n"
    ) + ("\nQ: Mine?\nA: Mine.\n")
    better = fresh(card(ONE, "What then?"), card(TWO, "Why so?"))
    text, held_back = merge_deck(mine, "x.md", better, known, True)
    assert text is not None and held_back
    assert "My answer" in text and "A remark.\n" in text and text.endswith("\nQ: Mine?\nA: Mine.\n")
    assert "Q: Why so?" in text and "Q: Why?" not in text
    without, _ = merge_deck(mine, "x.md", None, known, True)
    assert without is not None and "My answer" in without and "Why?" not in without


def test_a_new_card_joins_its_kind_in_a_deck_that_a_human_edited() -> None:
    known: dict[CardId, CardKind | None] = {ONE: None, TWO: None}
    mine = render_deck(fresh(card(ONE))) + "\nQ: Mine?\nA: Mine.\n"
    how = card(TWO, "How?", CardKind.MECHANISTIC)
    text, _ = merge_deck(mine, "x.md", fresh(card(ONE), how), known, True)
    assert text is not None
    kinds = {c.id: c.kind for c in parse_deck(text, "x.md").cards}
    assert kinds[TWO] is CardKind.MECHANISTIC and kinds[ONE] is CardKind.DEFINITIONAL
    assert merge_deck(text, "x.md", fresh(card(ONE), how), known, True)[0] == text


def test_a_deck_of_a_humans_own_is_never_taken_away() -> None:
    assert merge_deck("# Mine\n\n## Applied\n", "mine.md", None, {}, False)[0] == "# Mine\n\n## Applied\n"
    mine = "---\nrating: 5\n---\n\n# Mine\n"
    assert merge_deck(mine, "x.md", None, {}, True)[0] == mine


def test_a_card_that_a_human_put_under_another_kind_stays_there() -> None:
    base = render_deck(fresh(card(ONE)))
    moved = base.replace("## Definitional", "## Applied")
    text, _ = merge_deck(moved, "x.md", fresh(card(ONE)), {ONE: CardKind.DEFINITIONAL}, True)
    assert text is not None and parse_deck(text, "x.md").cards[0].kind is CardKind.APPLIED
