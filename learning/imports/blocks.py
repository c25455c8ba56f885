"""Foreign cards as blocks of decks: ids by what the other program calls them, new files, and blocks to replace."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from learning.cards.new import MAX_DECK_NAME
from learning.cards.workspace import Desk
from learning.foreign.cards import ForeignCard
from learning.store.siblings import OWN_DECK, is_own
from vault.ids import CardId, free_slug, mint
from vault.layout import CONCEPTS, FLASHCARDS
from vault.log import ledger
from vault.model.card import MAX_CARD, REVERSED, Card, parse_deck, render_block, stamp_of
from vault.model.cloze import numbers_in
from vault.model.frontmatter import render_note
from vault.model.markdown import escape
from vault.text.formatting import clean_line, truncate

PER_FILE = 200  # cards
KEY = "import:"  # how the ledger's keys of imported cards begin


@dataclass(frozen=True, slots=True)
class Known:
    """What the ledger says of cards: ids by key, all ids and file names that were ever given."""

    ids: Mapping[str, CardId]
    taken: set[str]
    slugs: set[str]


def known_births(desk: Desk) -> Known:
    """Return what the ledger says of cards that were imported before."""
    ids, taken, slugs = dict[str, CardId](), set[str](desk.cards), set[str]()
    for event in desk.vault.ledger_events(ledger.IDS)[0]:
        if event.get("type") == "birth":
            taken.add(str(event.get("id", "")))
            slugs.add(str(event.get("slug", "")).casefold())
            key = str(event.get("key", ""))
            if event.get("of") == "card" and key.startswith(KEY):
                ids.setdefault(key, CardId(str(event.get("id"))))
    return Known(ids, taken, slugs)


def variants_of(card: ForeignCard) -> list[str]:
    """Return the variants of the block's cards."""
    if card.answer is None:
        return [f"c{number}" for number in numbers_in(card.question)]
    return ["", REVERSED] if card.is_reversed else [""]


@dataclass(slots=True)
class Outcome:
    """What becomes of the blocks. `cards` maps (key of the block, variant) to the card here, new or old."""

    created: int = 0
    updated: int = 0
    kept: int = 0
    cards: dict[tuple[str, str], CardId] = field(default_factory=dict)
    new: set[CardId] = field(default_factory=set)
    births: list[ledger.Event] = field(default_factory=list)  # and that a card is back
    decks: Counter[str] = field(default_factory=Counter)  # cards that are created, by deck
    texts: dict[str, tuple[str | None, str]] = field(default_factory=dict)  # by path the text there, and the new one


@dataclass(slots=True)
class Blocks:
    """Decides on each foreign card, and collects what is to be written."""

    desk: Desk
    format: str
    batch: str  # names the import
    skip: Callable[[ForeignCard, str, str], None]  # (card, what is wrong, what to do)
    known: Known
    restore: bool = False
    outcome: Outcome = field(default_factory=Outcome)
    _new: dict[str, list[tuple[list[CardId], str]]] = field(default_factory=lambda: defaultdict(list))
    _changes: dict[str, list[tuple[Card, str]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, card: ForeignCard) -> None:
        """Decide whether a card (its words are Markdown already) is new, unchanged, reworded or skipped."""
        variants = variants_of(card)
        ids = {variant: self._id(card, variant) for variant in variants}
        placed = [self.desk.cards[id_] for id_ in ids.values() if id_ in self.desk.cards]
        born = [variant for variant in variants if self._key(card, variant) in self.known.ids]
        block = rendered(card, ids)
        if block is None:
            self.skip(card, "its text cannot be written as a card", "shorten it, or close its code block")
        elif placed:
            self._existing(card, ids, placed[0].card, placed[0].deck.path, block)
        elif born and not self.restore:
            self.skip(card, "it was deleted here", "use --restore to bring it back")
        else:
            self.outcome.created += len(ids)
            deck = truncate(clean_line(card.deck).replace("/", "::") or self.format, MAX_DECK_NAME)
            self.outcome.decks[deck] += len(ids)
            self._new[deck].append((list(ids.values()), block))
            self._note(card, ids, new=True)

    def _key(self, card: ForeignCard, variant: str) -> str:
        """Return the ledger's key of a card: the format, a digest of what the program calls it, the variant."""
        digest = hashlib.sha256(card.key.encode("utf-8", "replace")).hexdigest()[:20]
        return f"{KEY}{self.format}:{digest}:{variant}"

    def _id(self, card: ForeignCard, variant: str) -> CardId:
        """Return the id of a card: the one of an import before, else retain's own where it was exported, else a new
        one.
        """
        key = self._key(card, variant)
        known, own = self.known.ids.get(key), card.learnt[variant].id if variant in card.learnt else None
        if known is not None:
            return known
        if own is not None and (own in self.desk.cards or own not in self.known.taken):
            return own
        id_ = CardId(mint("card", f"{key}\x1f{self.desk.vault.settings.vault_id}", self.known.taken))
        self.known.taken.add(id_)
        return id_

    def _note(self, card: ForeignCard, ids: Mapping[str, CardId], *, new: bool) -> None:
        """Note the ids of a block, and their births where the ledger has none."""
        at = ledger.instant(self.desk.now)
        for variant, id_ in ids.items():
            self.outcome.cards[card.key, variant] = id_
            if new:
                self.outcome.new.add(id_)
            key = self._key(card, variant)
            is_born = key in self.known.ids or (not new and id_ in self.known.taken)
            if new or not is_born:
                event: ledger.Event = {
                    "v": 1,
                    "type": "revive" if is_born else "birth",
                    "of": "card",
                    "id": id_,
                    "at": at,
                }
                self.outcome.births.append(event | ({} if is_born else {"key": key}) | {"import": self.batch})

    def _existing(self, card: ForeignCard, ids: Mapping[str, CardId], old: Card, path: str, block: str) -> None:
        """Decide on a block that is here: reworded if its source is and no user edited it."""
        new = parse_deck(block, path).cards
        theirs = {each.id: each.stamp for each in new}
        mine = [each for each in self.desk.cards[old.id].deck.cards if each.start == old.start] if old.id else []
        self._note(card, ids, new=False)
        if {each.id: stamp_of(each) for each in mine if each.id in theirs} == theirs:
            self.outcome.kept += len(ids)
        elif any(each.human_edited for each in mine):
            self.outcome.kept += len(ids)
            if any(theirs.get(each.id) != each.stamp for each in mine):
                self.skip(card, f"reworded there, and edited here in {path}:{old.line}; your text is kept", "")
        else:
            self.outcome.updated += len(ids)
            self._changes[path].append((old, block))

    def texts(self) -> dict[str, tuple[str | None, str]]:
        """Return by path the present text (None for a new file) and the new one."""
        decks = {placed.deck.path: placed.deck for placed in self.desk.cards.values()}
        texts = self.outcome.texts
        for path, changes in self._changes.items():
            text = decks[path].text
            for card, block in sorted(changes, key=lambda change: -change[0].start):
                text = text[: card.start] + block.rstrip("\n") + text[card.end :]
            texts[path] = (decks[path].text, text)
        homes: dict[str, tuple[str, int]] = {}
        for path, deck in sorted(decks.items()):
            if is_own(deck):
                homes[deck.properties.text(OWN_DECK)] = (path, len(deck.cards))
        taken = {
            path.rsplit("/", 1)[-1].removesuffix(".md").casefold()
            for folder in (FLASHCARDS, CONCEPTS)
            for path in self.desk.vault.paths(folder, ".md")
        } | self.known.slugs
        for name, blocks in self._new.items():
            path, count = homes.get(name, ("", PER_FILE))
            for ids, block in blocks:
                if count + len(ids) > PER_FILE:
                    stem = free_slug(name, ids[0], taken)
                    taken.add(stem.casefold())
                    path, count = f"{FLASHCARDS}/{stem}.md", 0
                    texts[path] = (None, head_of(name))
                old, text = texts.get(path) or (decks[path].text, decks[path].text)
                texts[path] = (old, text.rstrip("\n") + "\n\n" + block)
                count += len(ids)
        return texts


def head_of(deck: str) -> str:
    """Return the beginning of a new deck."""
    return render_note({"type": "flashcards", OWN_DECK: deck}, f"\n# {escape(deck)}\n")


def rendered(card: ForeignCard, ids: Mapping[str, CardId]) -> str | None:
    """Return the text of a block; None unless a deck that holds it reads back as its very cards and nothing else."""
    if not ids or len(card.question) + len(card.answer or "") > MAX_CARD // 2:
        return None
    bare = [Card(None, "", "", id=id_, variant=variant) for variant, id_ in ids.items()]
    read = _read(render_block(card.question, card.answer, (), bare))
    if read is None or [each.id for each in read] != list(ids.values()):
        return None
    text = render_block(card.question, card.answer, (), [replace(each, stamp=stamp_of(each)) for each in read])
    again = _read(text)
    return text if again is not None and not any(each.human_edited for each in again) else None


def _read(block: str) -> Sequence[Card] | None:
    """Return the cards of a block; None where a deck would read something else."""
    deck = parse_deck(f"{block}\nQ: x\nA: y\n", "")
    whole = not deck.diagnostics and deck.cards[-1].question == "x" and len({c.start for c in deck.cards}) == 2
    return deck.cards[:-1] if whole else None
