"""The machine's versions of pages and cards that a human has edited, as questions of the inbox."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType

from vault.errors import EditedMeanwhile
from vault.files.folder import Folder, sha256_hex
from vault.ids import digest12
from vault.inbox.events import Choice, settled_in
from vault.inbox.items import Change, Item, View
from vault.layout import CONCEPTS, FLASHCARDS, PROPOSALS, SUMMARIES, TOPICS
from vault.log.ledger import Event, instant
from vault.model.card import Card, append_card, parse_deck, splice_card
from vault.model.frontmatter import body_of, foreign_properties, human_edited, read_properties
from vault.model.markdown import unescape
from vault.text.sanitize import clean_line
from vault.vault import Vault

_KINDS = {CONCEPTS: "article", TOPICS: "topic", SUMMARIES: "summary"}
_EDITED = "somebody has edited the proposal itself since retain laid it there"


@dataclass(frozen=True, slots=True)
class Both:
    """A proposal and what it is to replace, as they lie on disk; `mine` is None where no such file is any more."""

    path: str
    offered: bytes
    mine: bytes | None
    since: str

    @property
    def proposal(self) -> str:
        return f"{PROPOSALS}/{self.path}"

    @property
    def state(self) -> str:
        """How both sides stand, byte for byte."""
        return sha256_hex(sha256_hex(self.mine or b"").encode() + self.offered)

    @property
    def texts(self) -> tuple[str, str]:
        """(the human's, the machine's)"""
        return (self.mine or b"").decode("utf-8", "replace"), self.offered.decode("utf-8", "replace")


class Pages:
    """Articles, topics and summaries: the whole page is accepted or not."""

    kinds: tuple[str, ...] = tuple(_KINDS.values())
    messages: Mapping[Choice, str] = MappingProxyType({})

    def items(self, vault: Vault, decided: Sequence[Event]) -> Iterator[Item]:
        settled = settled_in(decided)
        for folder, kind in _KINDS.items():
            for both in _laid(vault, folder):
                mine, offered = both.texts
                digest = digest12(body_of(offered))
                if body_of(mine) != body_of(offered) and not settled.page(both.path, digest):
                    yield self._item(kind, both, digest)

    def _item(self, kind: str, both: Both, digest: str) -> Item:
        mine, offered = both.texts
        properties = read_properties(offered)
        title = clean_line(properties.text("title")) or _stem(both.path)
        view = View(title, body_of(mine), body_of(offered))
        note = _EDITED if human_edited(offered) else ""
        concept = properties.text("id") if kind != "summary" else ""
        return Item(kind, both.path, title, both.since, digest, both.state, (view,), concept, note)

    def changes(self, vault: Vault, item: Item, choice: Choice, parts: Sequence[str]) -> Sequence[Change]:
        both = _as_shown(vault, item)
        gone = [Change(both.proposal, both.offered, None)]
        if choice is not Choice.ACCEPT:
            return gone
        return [Change(both.path, both.mine, _with_theirs(both)), *gone]

    def facts(self, item: Item, parts: Sequence[str]) -> Mapping[str, object]:
        return {}


class Decks:
    """Decks: each card that the human reworded, and for which the machine has new words, on its own."""

    kinds: tuple[str, ...] = ("deck",)
    messages: Mapping[Choice, str] = MappingProxyType({})

    def items(self, vault: Vault, decided: Sequence[Event]) -> Iterator[Item]:
        settled = settled_in(decided)
        for both in _laid(vault, FLASHCARDS):
            pairs = _pairs(both)
            open_ = [(old, new) for old, new in pairs if not settled.card(str(new.id), new.stamp)]
            if open_:
                yield self._item(both, open_)

    def _item(self, both: Both, pairs: Sequence[tuple[Card, Card]]) -> Item:
        deck = parse_deck(both.texts[1], both.path)
        views = tuple(_view(old, new) for old, new in pairs)
        digest = digest12(" ".join(f"{new.id} {new.stamp}" for _, new in pairs))
        note = _EDITED if any(new.human_edited for _, new in pairs) else ""
        title = clean_line(unescape(deck.title)) or _stem(both.path)
        concept = deck.properties.text("concept")
        return Item("deck", both.path, title, both.since, digest, both.state, views, concept, note)

    def changes(self, vault: Vault, item: Item, choice: Choice, parts: Sequence[str]) -> Sequence[Change]:
        both = _as_shown(vault, item)
        out = []
        if choice is Choice.ACCEPT and both.mine is not None:
            after = _with_cards(both, frozenset(parts))
            out.append(Change(both.path, both.mine, after))
        if not set(item.parts) - set(parts):
            out.append(Change(both.proposal, both.offered, None))
        return out

    def facts(self, item: Item, parts: Sequence[str]) -> Mapping[str, object]:
        stamps = {view.part: view.stamp for view in item.views if isinstance(view, CardView)}
        return {"cards": {part: stamps[part] for part in parts}}


@dataclass(frozen=True, slots=True)
class CardView(View):
    """A card as it stands and as it is offered, with the stamp of the words that are offered."""

    stamp: str = ""


def _laid(vault: Vault, folder: str) -> Iterator[Both]:
    """Every proposal for a file of `folder`, by name."""
    disk = Folder(vault.root)
    for proposal in vault.paths(f"{PROPOSALS}/{folder}", ".md"):
        yield _both(disk, proposal.removeprefix(f"{PROPOSALS}/"))


def _both(disk: Folder, path: str) -> Both:
    proposal = f"{PROPOSALS}/{path}"
    entry = disk.entry(proposal)
    laid = datetime.fromtimestamp(entry.mtime_ns // 1_000_000 / 1000, UTC) if entry is not None else None
    return Both(path, disk.read(proposal) or b"", disk.read(path), instant(laid) if laid is not None else "")


def _stem(path: str) -> str:
    return clean_line(path.rsplit("/", 1)[-1].removesuffix(".md"))


def _as_shown(vault: Vault, item: Item) -> Both:
    """Both sides once more. Raises: EditedMeanwhile where one is not what the item was made of."""
    both = _both(Folder(vault.root), item.path)
    if both.state != item.state:
        hint = "look at it again: `retain inbox`"
        raise EditedMeanwhile("it was edited while you decided; the edit stays", where=item.path, hint=hint)
    return both


def _with_theirs(both: Both) -> bytes:
    """The proposal with the properties that the human has added to the page, as they stand there now.

    The machine's own come first and end with `generated`; what follows was the human's when the proposal was laid.
    """
    mine, offered = both.texts
    properties = read_properties(offered)
    keys = list(properties.values)
    ours = frozenset(keys[: keys.index("generated") + 1]) if "generated" in keys else frozenset(keys)
    before, now = foreign_properties(offered, ours), foreign_properties(mine, ours)
    front, body = offered[: properties.body], offered[properties.body :]
    end = f"{before}---\n"
    if both.mine is None or now == before or not front.endswith(end):
        return both.offered
    return f"{front.removesuffix(end)}{now}---\n{body}".encode()


def _pairs(both: Both) -> list[tuple[Card, Card]]:
    """(the human's card, the machine's new words for it), of those that the human reworded."""
    mine, offered = (parse_deck(text, both.path) for text in both.texts)
    if "\ufffd".encode() not in (both.mine or b"") and "\ufffd" in both.texts[0]:
        return []  # not UTF-8: compile names it, and what it would lose is not touched
    new = {card.id: card for card in offered.cards if card.id is not None}
    held = [(card, new[card.id]) for card in mine.cards if card.id in new and card.human_edited]
    return [(old, card) for old, card in held if old.stamp != card.stamp]


def _view(old: Card, new: Card) -> CardView:
    return CardView(clean_line(unescape(new.question)), _words(old), _words(new), str(new.id), new.stamp)


def _words(card: Card) -> str:
    cites = f"\n{' '.join(map(str, card.support))}" if card.support else ""
    return f"Q: {card.question}\nA: {card.answer}{cites}\n"


def _with_cards(both: Both, wanted: frozenset[str]) -> bytes:
    """The human's deck with the machine's words for these cards; each stands under the heading of its kind."""
    mine, _ = both.texts
    pairs = {new.id: (old, new) for old, new in _pairs(both) if str(new.id) in wanted}
    moved = [new for old, new in pairs.values() if new.kind not in (old.kind, None)]
    for card in reversed(parse_deck(mine, both.path).cards):
        if card.id in {new.id for new in moved}:
            mine = splice_card(mine, card, None)
    same = {id_: new for id_, (_, new) in pairs.items() if id_ is not None and new not in moved}
    for card in reversed(parse_deck(mine, both.path).cards):
        if card.id in same:
            mine = splice_card(mine, card, same[card.id])
    for card in moved:
        mine = append_card(mine, both.path, card)
    return mine.encode()
