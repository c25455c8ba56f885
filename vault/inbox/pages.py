"""Inbox questions about generated versions of pages and cards that the user has edited."""

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
from vault.layout import ANSWERS, CONCEPTS, FLASHCARDS, PROPOSALS, SUMMARIES, TOPICS
from vault.log.ledger import Event, instant
from vault.model.card import Card, append_card, parse_deck, splice_card
from vault.model.frontmatter import body_of, foreign_properties, human_edited, read_properties
from vault.model.markdown import unescape
from vault.text.formatting import clean_line
from vault.vault import Vault

_KINDS = {CONCEPTS: "article", TOPICS: "topic", SUMMARIES: "summary", ANSWERS: "answer"}
_EDITED = "the proposal itself was edited after retain wrote it"


@dataclass(frozen=True, slots=True)
class Versions:
    """A proposal and the file that it would replace, as they are on disk; `mine` is None if that file is gone."""

    path: str
    offered: bytes
    mine: bytes | None
    since: str

    @property
    def proposal(self) -> str:
        """Return the vault path of the proposal."""
        return f"{PROPOSALS}/{self.path}"

    @property
    def state(self) -> str:
        """Return a digest of both versions."""
        return sha256_hex(sha256_hex(self.mine or b"").encode() + self.offered)

    @property
    def texts(self) -> tuple[str, str]:
        """Return (the user's text, the generated text)."""
        return (self.mine or b"").decode("utf-8", "replace"), self.offered.decode("utf-8", "replace")


class Pages:
    """Questions about articles, topics and summaries: the whole page is accepted or not."""

    kinds: tuple[str, ...] = tuple(_KINDS.values())
    messages: Mapping[Choice, str] = MappingProxyType({})

    def items(self, vault: Vault, decided: Sequence[Event]) -> Iterator[Item]:
        settled = settled_in(decided)
        for folder, kind in _KINDS.items():
            for versions in _proposals(vault, folder):
                mine, offered = versions.texts
                digest = digest12(body_of(offered))
                if body_of(mine) != body_of(offered) and not settled.page(versions.path, digest):
                    yield self._item(kind, versions, digest)

    def _item(self, kind: str, versions: Versions, digest: str) -> Item:
        mine, offered = versions.texts
        properties = read_properties(offered)
        title = clean_line(properties.text("title")) or _stem(versions.path)
        view = View(title, body_of(mine), body_of(offered))
        note = _EDITED if human_edited(offered) else ""
        concept = properties.text("id") if kind != "summary" else ""
        return Item(kind, versions.path, title, versions.since, digest, versions.state, (view,), concept, note)

    def changes(self, vault: Vault, item: Item, choice: Choice, parts: Sequence[str]) -> Sequence[Change]:
        versions = _unchanged(vault, item)
        gone = [Change(versions.proposal, versions.offered, None)]
        if choice is not Choice.ACCEPT:
            return gone
        return [Change(versions.path, versions.mine, _with_user_properties(versions)), *gone]

    def facts(self, item: Item, parts: Sequence[str]) -> Mapping[str, object]:
        return {}


class Decks:
    """Questions about decks: each card that the user reworded and that has a new generated version, on its own."""

    kinds: tuple[str, ...] = ("deck",)
    messages: Mapping[Choice, str] = MappingProxyType({})

    def items(self, vault: Vault, decided: Sequence[Event]) -> Iterator[Item]:
        settled = settled_in(decided)
        for versions in _proposals(vault, FLASHCARDS):
            pairs = _pairs(versions)
            open_ = [(old, new) for old, new in pairs if not settled.card(str(new.id), new.stamp)]
            if open_:
                yield self._item(versions, open_)

    def _item(self, versions: Versions, pairs: Sequence[tuple[Card, Card]]) -> Item:
        deck = parse_deck(versions.texts[1], versions.path)
        views = tuple(_view(old, new) for old, new in pairs)
        digest = digest12(" ".join(f"{new.id} {new.stamp}" for _, new in pairs))
        note = _EDITED if any(new.human_edited for _, new in pairs) else ""
        title = clean_line(unescape(deck.title)) or _stem(versions.path)
        concept = deck.properties.text("concept")
        return Item("deck", versions.path, title, versions.since, digest, versions.state, views, concept, note)

    def changes(self, vault: Vault, item: Item, choice: Choice, parts: Sequence[str]) -> Sequence[Change]:
        versions = _unchanged(vault, item)
        out = []
        if choice is Choice.ACCEPT and versions.mine is not None:
            after = _with_cards(versions, frozenset(parts))
            out.append(Change(versions.path, versions.mine, after))
        if not set(item.parts) - set(parts):
            out.append(Change(versions.proposal, versions.offered, None))
        return out

    def facts(self, item: Item, parts: Sequence[str]) -> Mapping[str, object]:
        stamps = {view.part: view.stamp for view in item.views if isinstance(view, CardView)}
        return {"cards": {part: stamps[part] for part in parts}}


@dataclass(frozen=True, slots=True)
class CardView(View):
    """A card's current and offered text, with the stamp of the offered one."""

    stamp: str = ""


def _proposals(vault: Vault, folder: str) -> Iterator[Versions]:
    """Yield every proposal for a file of `folder`, by name."""
    disk = Folder(vault.root)
    for proposal in vault.paths(f"{PROPOSALS}/{folder}", ".md"):
        yield _versions(disk, proposal.removeprefix(f"{PROPOSALS}/"))


def _versions(disk: Folder, path: str) -> Versions:
    proposal = f"{PROPOSALS}/{path}"
    entry = disk.entry(proposal)
    written = datetime.fromtimestamp(entry.mtime_ns // 1_000_000 / 1000, UTC) if entry is not None else None
    return Versions(path, disk.read(proposal) or b"", disk.read(path), instant(written) if written is not None else "")


def _stem(path: str) -> str:
    return clean_line(path.rsplit("/", 1)[-1].removesuffix(".md"))


def _unchanged(vault: Vault, item: Item) -> Versions:
    """Return both versions. Raises: EditedMeanwhile if one changed since the item was made."""
    versions = _versions(Folder(vault.root), item.path)
    if versions.state != item.state:
        hint = "check it again with `retain inbox`"
        raise EditedMeanwhile("it was edited while you decided; the edit was kept", where=item.path, hint=hint)
    return versions


def _with_user_properties(versions: Versions) -> bytes:
    """Return the proposal with the properties that the user has added to the page.

    Generated properties come first and end with `generated`; those after it are the user's.
    """
    mine, offered = versions.texts
    properties = read_properties(offered)
    keys = list(properties.values)
    ours = frozenset(keys[: keys.index("generated") + 1]) if "generated" in keys else frozenset(keys)
    before, now = foreign_properties(offered, ours), foreign_properties(mine, ours)
    front, body = offered[: properties.body], offered[properties.body :]
    end = f"{before}---\n"
    if versions.mine is None or now == before or not front.endswith(end):
        return versions.offered
    return f"{front.removesuffix(end)}{now}---\n{body}".encode()


def _pairs(versions: Versions) -> list[tuple[Card, Card]]:
    """Return (the user's card, its generated version) of the cards that the user reworded."""
    mine, offered = (parse_deck(text, versions.path) for text in versions.texts)
    if "\ufffd".encode() not in (versions.mine or b"") and "\ufffd" in versions.texts[0]:
        return []  # not UTF-8: compile reports it, and it must not be rewritten
    new = {card.id: card for card in offered.cards if card.id is not None}
    held = [(card, new[card.id]) for card in mine.cards if card.id in new and card.human_edited]
    return [(old, card) for old, card in held if old.stamp != card.stamp]


def _view(old: Card, new: Card) -> CardView:
    return CardView(clean_line(unescape(new.question)), _words(old), _words(new), str(new.id), new.stamp)


def _words(card: Card) -> str:
    cites = f"\n{' '.join(map(str, card.support))}" if card.support else ""
    return f"Q: {card.question}\nA: {card.answer}{cites}\n"


def _with_cards(versions: Versions, wanted: frozenset[str]) -> bytes:
    """Return the user's deck with the generated text of these cards, each under the heading of its kind."""
    mine, _ = versions.texts
    pairs = {new.id: (old, new) for old, new in _pairs(versions) if str(new.id) in wanted}
    moved = [new for old, new in pairs.values() if new.kind not in (old.kind, None)]
    for card in reversed(parse_deck(mine, versions.path).cards):
        if card.id in {new.id for new in moved}:
            mine = splice_card(mine, card, None)
    same = {id_: new for id_, (_, new) in pairs.items() if id_ is not None and new not in moved}
    for card in reversed(parse_deck(mine, versions.path).cards):
        if card.id in same:
            mine = splice_card(mine, card, same[card.id])
    for card in moved:
        mine = append_card(mine, versions.path, card)
    return mine.encode()
