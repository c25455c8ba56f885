"""The files of `learning/flashcards/`: live cards are written around what the user wrote there."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from compiler.cards.live_cards import LiveCard
from vault.ids import ALPHABET, CardId, ClaimId
from vault.inbox.events import Settled
from vault.model.card import (
    Card,
    CardKind,
    Deck,
    append_card,
    names_card,
    parse_deck,
    render_card,
    splice_card,
    with_stamp,
)
from vault.model.claim import Claim
from vault.model.exhibit import lines_of
from vault.model.fences import code_blocks
from vault.model.frontmatter import (
    Value,
    body_of,
    foreign_properties,
    read_properties,
    render_properties,
    splice_properties,
)
from vault.model.markdown import escape
from vault.model.wikilink import Citation
from vault.text.formatting import clean_line

KEYS = frozenset({"type", "concept", "article", "generator", "tags", "cards"})
_COMMENT = re.compile(rf"(?:%%|<!--) card ([{ALPHABET}]{{10}})\b")
EXHIBITS = 2  # shown below an answer: a card is no page
NOTHING_SETTLED = Settled()
Kinds = Mapping[CardId, CardKind | None]  # the cards that the machine ever made, and of what kind


@dataclass(frozen=True, slots=True)
class Fresh:
    """What the machine wants a deck to hold."""

    title: str
    properties: Mapping[str, Value]
    cards: Sequence[Card]


@dataclass(frozen=True, slots=True)
class DeckPlan:
    """A deck that may be as it is already: `inputs` stands for all that it follows from but the file there.

    `cards` are the cards in it, `cites` the claims that they cite; `fresh` makes it.
    """

    inputs: bytes
    cards: tuple[CardId, ...]
    cites: frozenset[ClaimId]
    fresh: Callable[[], Fresh]


def lines_shown(claims: Iterable[Claim]) -> list[str]:
    """Return the lines below the answer of a card that cites the claims: what their sources show with them."""
    exhibits = tuple(dict.fromkeys(e for claim in claims for e in claim.exhibits))
    return [line for e in exhibits[:EXHIBITS] if e.copied for line in lines_of(e)]


def card_block(
    card: LiveCard, cites: Sequence[Citation], shown: Sequence[str] = (), words: tuple[str, str] | None = None
) -> Card:
    """Return a live card as the deck shows it: its words as Markdown, then the lines `shown`; stamped.

    `words` are the user's question and answer in place of the machine's, whose stamp the card has all the same.
    """
    answer = "\n".join([escape(card.answer), *shown])
    block = with_stamp(Card(card.kind, escape(card.question), answer, tuple(cites), card.id))
    return block if words is None else replace(block, question=words[0], answer="\n".join([words[1], *shown]))


def render_deck(fresh: Fresh, foreign: str = "") -> str:
    """Return the text of a deck that holds the machine's cards only, by kind."""
    parts = [f"# {escape(clean_line(fresh.title))}"]
    for kind in CardKind:
        blocks = [render_card(c).rstrip("\n") for c in fresh.cards if c.kind is kind]
        if blocks:
            parts += [f"## {kind.heading}", *blocks]
    body = "\n" + "\n\n".join(parts) + "\n"
    return f"---\n{render_properties(_properties(fresh, fresh.cards))}{foreign}---\n{body}"


def _properties(fresh: Fresh, cards: Sequence[Card]) -> dict[str, Value]:
    """Return the deck's properties; `cards` lists those that the machine wrote, so that a deletion shows."""
    ids = " ".join(c.id for c in cards if c.id is not None)
    return {**fresh.properties, "cards": ids} if fresh.properties else {}


def merge_deck(
    old: str | None,
    path: str,
    fresh: Fresh | None,
    known: Kinds,
    ours: bool,
    gone: Container[str] = (),
    settled: Settled = NOTHING_SETTLED,
) -> tuple[str | None, bool]:
    """Return the deck's new text (None for no file), and whether an edit of the user's held words back.

    Cards that the user wrote or reworded stay byte for byte, and so does everything between the blocks; only where one
    still cites claims that are `gone`, it cites what the card rests on now. A deck without such things is rewritten.
    A file that is not `ours`, but the user's own, is never removed.
    """
    if old is None:
        return (render_deck(fresh) if fresh and fresh.cards else None), False
    foreign = foreign_properties(old, KEYS)
    if ours and not written_by_hand(old, path, known):
        wanted = fresh is not None and bool(fresh.cards)
        return (render_deck(fresh, foreign) if fresh is not None and wanted else old if foreign else None), False
    return _splice(parse_deck(old, path), fresh, known, gone, settled)


def restamp(
    text: str, path: str, withdrawn: Mapping[str, Collection[tuple[str, str]]], claims: Mapping[ClaimId, Claim]
) -> str:
    """Return a deck in which cards with exactly these words of the user's count as the machine's; other bytes stay.

    So they go when the card does: the user who kept a suggested card in these words took that back. Below them may be
    what its `claims` show; with anything more, the card is the user's own.
    """
    for card in reversed(parse_deck(text, path).cards):
        words = withdrawn.get(str(card.id), ()) if card.human_edited else ()
        shown = lines_shown(claims[cite.claim] for cite in card.support if cite.claim in claims) if words else []
        if any(_has_words(card, q, a) or _has_words(card, q, "\n".join([a, *shown])) for q, a in words):
            text = splice_card(text, card, with_stamp(card))
    return text


def _has_words(card: Card, question: str, answer: str) -> bool:
    """Return whether a deck shows the card as it would with these words; white space at line ends does not count."""
    stamped = with_stamp(card)
    lines, wanted = (render_card(c).splitlines() for c in (stamped, replace(stamped, question=question, answer=answer)))
    return [line.rstrip() for line in lines] == [line.rstrip() for line in wanted]


def written_by_hand(text: str, path: str, known: Kinds) -> bool:
    """Return whether a deck holds anything that the machine did not write, or not there."""
    deck = parse_deck(text, path)
    mine = [c for c in deck.cards if not c.human_edited and _is_machines(c, known)]
    return len(mine) != len(deck.cards) or bool(deck.diagnostics) or _remarks(deck)


def is_edited(text: str, path: str, known: Kinds) -> bool:
    """Return whether the user edited a deck: its cards, remarks or properties."""
    return bool(foreign_properties(text, KEYS)) or written_by_hand(text, path, known)


def _is_machines(card: Card, known: Kinds) -> bool:
    """Return whether the machine made the card, and of the kind under which it is."""
    return card.id is not None and card.id in known and known[card.id] in (None, card.kind)


def decks_after_moves(
    wanted: Mapping[str, Fresh],
    on_disk: Mapping[str, Sequence[CardId]],
    put: Mapping[CardId, Collection[str]],
    heirs: Mapping[str, str] | None = None,
) -> dict[str, Fresh]:
    """Return the wanted decks with each card in the file to which the user moved it, if so.

    `on_disk` are the cards in each file; `put` says in which files the machine put a card: one that is still there goes
    where it belongs now. A file of a concept that has become another one (`heirs`: its path -> that one's) has that
    one's properties.
    """
    moved: dict[CardId, str] = {}
    for path, ids in on_disk.items():
        for id_ in ids:
            if not any(id_ in on_disk.get(place, ()) for place in put.get(id_, ())):
                moved.setdefault(id_, path)
    out: dict[str, list[Card]] = {path: [] for path in wanted}
    for path, fresh in wanted.items():
        for card in fresh.cards:
            target = moved.get(card.id, path) if card.id is not None else path
            out.setdefault(target, []).append(card)
    own = {path: wanted[path] for path in wanted}
    own |= {path: wanted[heir] for path, heir in (heirs or {}).items() if path not in own and heir in wanted}
    return {p: replace(own[p], cards=c) if p in own else Fresh("", {}, c) for p, c in out.items()}


def cards_listed_in(text: str) -> list[CardId]:
    """Return the cards that the machine last wrote into a deck, as the deck's properties list them."""
    return [CardId(id_) for id_ in read_properties(text).text("cards").split()]


def cards_in_text(text: str) -> set[CardId]:
    """Return the cards whose comment is anywhere in a text, even if their block cannot be read."""
    return {CardId(id_) for id_ in _COMMENT.findall(text)}


def hidden_in_code(deck: Deck) -> list[tuple[int, CardId | None]]:
    """Return (line, card) for each card whose comment is only in a code block that begins at `line`, counted from 1.

    A block that is never closed is there once more, with None for the card: it hides whatever is added below it.
    """
    above = deck.text.count("\n", 0, len(deck.text) - len(body_of(deck.text)))
    lines = body_of(deck.text).split("\n")
    shown = {card.id for card in deck.cards}
    found: list[tuple[int, CardId | None]] = []
    for first, last in code_blocks(line.removesuffix("\r") for line in lines):
        text = "\n".join(line for line in lines[first : last or None] if names_card(line))
        found += [(first + above, None)] if not last else []
        found += [(first + above, card) for card in sorted(cards_in_text(text) - shown)]
    return found


def _remarks(deck: Deck) -> bool:
    """Return whether a deck holds more than titles, kinds and card blocks."""
    body = body_of(deck.text)
    offset = len(deck.text) - len(body)
    for start, end in sorted({(card.start, card.end) for card in deck.cards}, reverse=True):  # one block, many cards
        body = body[: start - offset] + body[end - offset :]
    headings = {"", *(f"## {kind.heading}" for kind in CardKind)}
    lines = [line.strip() for line in body.splitlines()]
    return any(line not in headings and not re.fullmatch(r"# .*", line) for line in lines)


def _splice(deck: Deck, fresh: Fresh | None, known: Kinds, gone: Container[str], settled: Settled) -> tuple[str, bool]:
    """Return the deck's text with the machine's cards changed in place, and whether words were held back."""
    wanted = {c.id: c for c in fresh.cards} if fresh else {}
    held_back = False
    text = deck.text
    for card in reversed(deck.cards):
        machine = card.id in known and not card.human_edited
        if machine and card.id in wanted:
            if render_card(wanted[card.id]).rstrip("\n") != text[card.start : card.end]:
                text = splice_card(text, card, wanted[card.id])
        elif machine:
            text = splice_card(text, card, None)
        elif card.id in wanted and card.stamp != wanted[card.id].stamp:
            # The machine has new words for a card that the user reworded, and no answer to them yet.
            held_back = held_back or not settled.card(str(card.id), wanted[card.id].stamp)
            if any(cite.claim in gone for cite in card.support):
                text = _repointed(text, card, wanted[card.id].support)
    present = {c.id for c in deck.cards}
    for new in wanted.values():
        if new.id not in present:
            text = append_card(text, deck.path, new)
    if fresh and fresh.properties:
        left = [c for c in parse_deck(text, deck.path).cards if c.id in known]
        text = splice_properties(text, _properties(fresh, left))
    return text, held_back


def _repointed(text: str, card: Card, cites: Sequence[Citation]) -> str:
    """Return `text` with the citations of `card` replaced; a line that the user wrote stays."""
    lines = text[card.start : card.end].split("\n")
    old, new = (f"> {' '.join(map(str, each))}" for each in (card.support, cites))
    lines = [line.replace(old, new) if line.rstrip() == old else line for line in lines]
    return text[: card.start] + "\n".join(lines) + text[card.end :]
