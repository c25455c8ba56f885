"""Live cards to the files of `learning/flashcards/`, around whatever a human wrote there."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, replace

from compiler.cards.cards import LiveCard
from vault.ids import ALPHABET, CardId
from vault.inbox.events import Settled
from vault.model.card import Card, CardKind, Deck, append_card, parse_deck, render_card, splice_card, with_stamp
from vault.model.exhibit import Exhibit, lines_of
from vault.model.frontmatter import Value, body_of, foreign_properties, read_properties, render_note, splice_properties
from vault.model.markdown import escape
from vault.model.wikilink import Citation
from vault.text.sanitize import clean_line

KEYS = frozenset({"type", "concept", "article", "generator", "tags", "cards"})
_COMMENT = re.compile(rf"<!-- card ([{ALPHABET}]{{10}})\b")
NOTHING_SETTLED = Settled()
Kinds = Mapping[CardId, CardKind | None]  # the cards that the machine ever made, and of what kind


@dataclass(frozen=True, slots=True)
class Fresh:
    """What the machine wants a deck to hold."""

    title: str
    properties: Mapping[str, Value]
    cards: Sequence[Card]


def card_block(card: LiveCard, cites: Sequence[Citation], exhibits: Sequence[Exhibit] = ()) -> Card:
    """A live card as the machine writes it: plain words made Markdown, then what its claims show; stamped."""
    shown = [line for e in exhibits if e.copied for line in lines_of(e)]
    answer = "\n".join([escape(card.answer), *shown])
    return with_stamp(Card(card.kind, escape(card.question), answer, tuple(cites), card.id))


def render_deck(fresh: Fresh, foreign: str = "") -> str:
    """A deck that holds the machine's cards only, by kind."""
    parts = [f"# {escape(clean_line(fresh.title))}"]
    for kind in CardKind:
        blocks = [render_card(c).rstrip("\n") for c in fresh.cards if c.kind is kind]
        if blocks:
            parts += [f"## {kind.heading}", *blocks]
    note = render_note(_properties(fresh, fresh.cards), "\n" + "\n\n".join(parts) + "\n")
    return note.replace("\n---\n", f"\n{foreign}---\n", 1) if foreign else note


def _properties(fresh: Fresh, cards: Sequence[Card]) -> dict[str, Value]:
    """The deck's properties; `cards` names those that the machine left in it, so that a deletion shows."""
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
    """(the deck's new text, whether a human's edit kept words out that the human has not settled); None for no file.

    Cards of a human's making or rewording stay byte for byte, and so does everything between the blocks; only where
    one still cites claims that are `gone`, it cites what the card rests on now. A deck without such things is laid out
    anew. A file that is not `ours`, but a human's own, is never taken away.
    """
    if old is None:
        return (render_deck(fresh) if fresh and fresh.cards else None), False
    foreign = foreign_properties(old, KEYS)
    if ours and not written_by_hand(old, path, known):
        wanted = fresh is not None and bool(fresh.cards)
        return (render_deck(fresh, foreign) if fresh is not None and wanted else old if foreign else None), False
    return _splice(parse_deck(old, path), fresh, known, gone, settled)


def written_by_hand(text: str, path: str, known: Kinds) -> bool:
    """Whether a deck holds anything that the machine did not write, or not there."""
    deck = parse_deck(text, path)
    mine = [c for c in deck.cards if not c.human_edited and _is_machines(c, known)]
    return len(mine) != len(deck.cards) or bool(deck.diagnostics) or _remarks(deck)


def _is_machines(card: Card, known: Kinds) -> bool:
    """Whether the machine made the card, and of the kind under which it stands."""
    return card.id is not None and card.id in known and known[card.id] in (None, card.kind)


def where_they_stand(
    wanted: Mapping[str, Fresh],
    on_disk: Mapping[str, Sequence[CardId]],
    put: Mapping[CardId, Collection[str]],
    heirs: Mapping[str, str] | None = None,
) -> dict[str, Fresh]:
    """`wanted` with each card in the file to which a human moved it, if one did.

    `put` says in which files the machine put a card: one that still stands there goes where it belongs now. A file of a
    concept that has become another one (`heirs`: its path -> that one's) has that one's properties.
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


def left_in(text: str) -> list[CardId]:
    """The cards that the machine left in a deck when it last wrote it, as the deck itself says."""
    return [CardId(id_) for id_ in read_properties(text).text("cards").split()]


def standing_in(text: str) -> set[CardId]:
    """The cards whose comment stands in a text, be it part of a block that can be read or not."""
    return {CardId(id_) for id_ in _COMMENT.findall(text)}


def _remarks(deck: Deck) -> bool:
    """Whether anything but titles, kinds and card blocks stands in the deck."""
    body = body_of(deck.text)
    offset = len(deck.text) - len(body)
    for card in reversed(deck.cards):
        body = body[: card.start - offset] + body[card.end - offset :]
    headings = {"", *(f"## {kind.heading}" for kind in CardKind)}
    lines = [line.strip() for line in body.splitlines()]
    return any(line not in headings and not re.fullmatch(r"# .*", line) for line in lines)


def _splice(deck: Deck, fresh: Fresh | None, known: Kinds, gone: Container[str], settled: Settled) -> tuple[str, bool]:
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
            # The machine has new words for a card that the human reworded, and no answer to them yet.
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
    """`text` with the line in which `card` cites its claims made anew; one that a human wrote stays."""
    lines = text[card.start : card.end].split("\n")
    old, new = (f"> {' '.join(map(str, each))}" for each in (card.support, cites))
    lines = [line.replace(old, new) if line.rstrip() == old else line for line in lines]
    return text[: card.start] + "\n".join(lines) + text[card.end :]
