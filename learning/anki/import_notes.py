"""Foreign Anki notes as cards of the vault: one file a deck (and set of tags), each card identified by its note.

An imported card is like one made by hand: it rests on no claim and has no kind, as nobody here wrote it for one. It
carries the stamp of the words it came with, so that a newer package may reword it while no human has.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from msgspec.structs import replace

from learning.anki.marks import tag_event
from learning.anki.media_import import import_media
from learning.anki.package_reader import Package, PackageCard
from learning.anki.render import LARGEST
from learning.anki.reviews import KnownHistory
from learning.cards.workspace import Desk
from learning.store.placed import Placed
from learning.store.siblings import DECK, is_imported, rtl_sides
from vault.files.guard import Scope, sha256_hex
from vault.ids import CardId, free_slug, mint
from vault.layout import FLASHCARDS
from vault.log import ledger
from vault.log.events import LogEvent
from vault.log.review_log import append, unix_ms
from vault.model.card import Card, parse_deck, render_card, splice_card, stamp_of, with_stamp
from vault.model.frontmatter import render_note
from vault.model.markdown import escape
from vault.text.formatting import clean_line

PER_FILE = 200  # cards
_PER_CARD = frozenset(("marked", "leech"))  # tags that Anki gives by a key or by itself
_MEDIUM = re.compile("\ue002(\\d{1,4})\ue003")
_NAMED = 20  # of the cards with one and the same fate; the rest are counted


class Report(Protocol):
    """Receives what became of notes, cards and media (see `learning.anki.import_package.ImportReport`)."""

    dry_run: bool
    is_partial: bool
    cards: dict[str, int]
    media: dict[str, int]
    note_types: dict[str, dict[str, Any]]
    marks: dict[str, int]
    files: list[str]

    def add_report(self, id_: str, reason: str, path: str = "", line: int = 0) -> None: ...


@dataclass(slots=True)
class _Births:
    """The ledger's entries of imported cards."""

    ids: dict[str, CardId] = field(default_factory=dict)  # by key
    taken: set[str] = field(default_factory=set)
    mods: dict[CardId, int] = field(default_factory=dict)
    tags: dict[CardId, tuple[str, ...]] = field(default_factory=dict)  # of the note as of its `mods`
    rtl: dict[CardId, tuple[str, ...]] = field(default_factory=dict)  # its sides written from right to left
    slugs: set[str] = field(default_factory=set)


def import_foreign_cards(
    desk: Desk,
    package: Package,
    cards: Iterable[PackageCard],
    history: KnownHistory,
    report: Report,
    *,
    restore: bool = False,
) -> dict[int, CardId]:
    """Write the cards and their tags; return our card for every card of Anki's that is in the vault now."""
    pictures: dict[str, tuple[str, str]] = {}
    made = _gathered(cards, report, pictures)
    if not report.note_types:
        return {}
    paths = _media(desk, package, made, report, pictures)
    work = _Work(desk, history, report, _births(desk))
    made.reverse()
    while made:  # each is let go of once it is settled: there may be many
        work.settle(_with_media(made.pop(), paths), restore=restore)
    work.write()
    return work.known


# --- what the package holds -----------------------------------------------------------------------------------------


def _gathered(cards: Iterable[PackageCard], report: Report, pictures: dict[str, tuple[str, str]]) -> list[PackageCard]:
    """Return the cards that could be made; others are counted by note type (`reported`), as are those made without
    something of their template (`without`), and too large ones are named. `pictures` gets, by each picture of a note
    that cannot be made as it covers parts of it, the GUID and what is not kept.
    """
    out = []
    reasons: Counter[tuple[str, str, str]] = Counter()
    last: dict[str, int] = {}
    large = 0
    for card in cards:
        name = clean_line(card.note_type)[:100]
        counts = report.note_types.setdefault(
            name, {"notes": 0, "cards": 0, "mapped": 0, "reported": [], "without": []}
        )
        counts["cards"] += 1
        counts["notes"] += last.get(name) != card.note
        last[name] = card.note
        kind = "without" if card.is_made else "reported"
        reasons.update((name, kind, clean_line(reason)) for reason in card.reasons)
        if card.is_made:
            counts["mapped"] += 1
            out.append(card)
            continue
        report.cards["skipped"] += 1
        report.is_partial = True
        pictures |= dict.fromkeys(card.names, (card.guid, card.lost))
        if card.too_large:
            large += 1
            if large <= _NAMED:
                report.add_report("", f"note {clean_line(card.guid)}: {clean_line(card.too_large)}; shorten it in Anki")
    for (name, kind, reason), count in sorted(reasons.items()):
        report.note_types[name][kind].append({"reason": reason, "cards": count})
    return out


def _media(
    desk: Desk, package: Package, made: Sequence[PackageCard], report: Report, pictures: Mapping[str, tuple[str, str]]
) -> dict[str, str]:
    """Return the vault path of each picture and sound that could be imported, by its name in the package. `pictures`
    are of notes that are no cards here: they are named.
    """
    wanted = {name for card in made for name in card.names} | pictures.keys()
    paths = import_media(desk.vault, package, wanted, report.media, dry_run=report.dry_run)
    for name in [name for name in sorted(wanted) if paths.get(name) is None][:_NAMED]:
        what = "is not in the package" if name not in paths else "does not match its file extension, or is too large"
        report.add_report("", f"the file {clean_line(name)[:100]}, which a card uses, {what}")
    for name, (guid, lost) in sorted(pictures.items()):
        if path := paths.get(name):
            what = f"image occlusion; its picture is {path}; not kept: its cards and their schedule"
            more = f", {clean_line(lost)}" if lost else ""
            report.add_report("", f"note {clean_line(guid)}: {what}{more}")
    return {name: path for name, path in paths.items() if path is not None}


def _with_media(card: PackageCard, paths: Mapping[str, str]) -> PackageCard:
    """Return the card with links to its files."""
    if not card.names:
        return card
    words = [f"![[{paths[n]}]]" if n in paths else escape(f"[{clean_line(n)[:100]}: missing]") for n in card.names]

    def link(found: re.Match[str]) -> str:
        number = int(found[1])
        return words[number] if number < len(words) else ""

    front, back = (_MEDIUM.sub(link, side) for side in (card.question, card.answer))
    return replace(card, question=front, answer=back)


# --- words to files -------------------------------------------------------------------------------------------------


def _births(desk: Desk) -> _Births:
    """Return the ledger's entries of imported cards."""
    found = _Births()
    events, _ = desk.vault.ledger_events(ledger.IDS)
    for event in events:
        id_, key, type_ = (str(event.get(name, "")) for name in ("id", "key", "type"))
        if type_ == "birth":
            found.taken.add(id_)
            found.slugs.add(str(event.get("slug", "")).casefold())
        if event.get("of") == "card" and key.startswith("anki:") and type_ in ("birth", "reanchor"):
            found.ids.setdefault(key, CardId(id_))
            mod = event.get("mod")
            mod = mod if isinstance(mod, int) else 0
            if mod >= found.mods.get(CardId(id_), 0):
                tags = event.get("tags")
                found.mods[CardId(id_)] = mod
                found.tags[CardId(id_)] = tuple(map(str, tags)) if isinstance(tags, list) else ()
                found.rtl[CardId(id_)] = rtl_sides(event)
    return found


@dataclass(slots=True)
class _Work:
    """Collects what is to be written, file by file, then writes it."""

    desk: Desk
    history: KnownHistory
    report: Report
    births: _Births
    known: dict[int, CardId] = field(default_factory=dict)
    _new: list[tuple[CardId, PackageCard, str]] = field(default_factory=list)
    _changes: dict[str, list[tuple[Card, Card]]] = field(default_factory=lambda: defaultdict(list))
    _events: list[ledger.Event] = field(default_factory=list)
    _tags: list[LogEvent] = field(default_factory=list)
    _fates: Counter[str] = field(default_factory=Counter)

    def settle(self, made: PackageCard, *, restore: bool) -> None:
        """Decide whether a card is new, unchanged, reworded or skipped."""
        id_ = self.births.ids.get(made.key)
        born = id_ is not None
        if id_ is None:
            birth = f"anki\x1f{self.desk.vault.settings.vault_id}\x1f{made.key}"
            id_ = CardId(mint("card", birth, self.births.taken))
            self.births.taken.add(id_)
        placed = self.desk.cards.get(id_)
        if placed is not None:
            self._existing(made, placed, born=born)
        elif born and not restore:
            self._skip(id_, "it was deleted in this vault; import with --restore to bring it back")
        else:
            self._create(id_, made, born=born)

    def _skip(self, id_: str, reason: str, path: str = "", line: int = 0) -> None:
        """Report a card that is skipped."""
        self.report.cards["skipped"] += 1
        self._report(id_, reason, path, line)

    def _report(self, id_: str, reason: str, path: str = "", line: int = 0) -> None:
        """Report a card."""
        self._fates[reason] += 1
        if self._fates[reason] <= _NAMED:
            self.report.add_report(id_, reason, path, line)

    def _create(self, id_: CardId, made: PackageCard, *, born: bool) -> None:
        """Add a new card."""
        fits = len(made.question) + len(made.answer) <= LARGEST  # links to files are longer than their numbers
        block = _block(Card(None, made.question, made.answer, (), id_)) if fits else None
        if block is None:
            self.report.is_partial = True
            self._skip(id_, f"note {clean_line(made.key)}: its text cannot be turned into a card; simplify it in Anki")
            return
        self.report.cards["created"] += 1
        self.known[made.id] = id_
        self._new.append((id_, replace(made, question="", answer=""), block))
        if not born:
            self._remember(id_, made, "birth")

    def _remember(self, id_: CardId, made: PackageCard, type_: str) -> None:
        """Add the ledger event of a card."""
        at = ledger.instant(self.desk.now)
        event: ledger.Event = {"v": 1, "type": type_, "of": "card", "id": id_, "at": at, "key": made.key}
        lists = {"tags": list(made.tags), "rtl": list(made.rtl)}
        self._events.append(event | {"mod": made.note_mod} | {name: words for name, words in lists.items() if words})

    def _existing(self, made: PackageCard, placed: Placed, *, born: bool) -> None:
        """Decide on a card that is here already: reworded if the package is newer and no user edited it."""
        self.known[made.id] = placed.id
        old = placed.card
        new = with_stamp(Card(old.kind, made.question, made.answer, old.support, placed.id))
        if not born:  # an import was cut off between the file and the ledger
            self._remember(placed.id, made, "birth")
        is_older = made.note_mod < self.births.mods.get(placed.id, 0)
        before = self.births.tags.get(placed.id, placed.deck.properties.texts("tags"))
        retagged = not is_older and self._retag(placed.id, made, before)
        if new.stamp in (old.stamp, stamp_of(old)) or is_older:
            self.report.cards["kept"] += 1
            if born and (retagged or (not is_older and made.rtl != self.births.rtl.get(placed.id, ()))):
                self._remember(placed.id, made, "reanchor")
        elif old.human_edited:
            self.report.cards["kept"] += 1
            self._report(
                placed.id,
                "edited both in Anki and in this vault; the vault's text was kept",
                placed.deck.path,
                old.line,
            )
        elif _block(new) is not None:
            self.report.cards["updated"] += 1
            self._changes[placed.deck.path].append((old, new))
            self._remember(placed.id, made, "reanchor")

    def _retag(self, id_: CardId, made: PackageCard, before: Iterable[str]) -> bool:
        """Add the event that gives a card the tags of its note beyond those `before`; return whether there is any."""
        add, remove = set(made.tags) - set(before), set(before) - set(made.tags)
        if not add and not remove:
            return False
        latest = unix_ms(self.desk.now) // 1000
        event = tag_event(self.desk.vault.settings.vault_id, id_, min(max(made.note_mod, 0), latest), add, remove)
        if event.id not in self.history.mark_ids:
            self._tags.append(event)
        return True

    def write(self) -> None:
        """Write the files and the cards' own tags, then the ledger: a card in a file is recognized by the next import
        without it.
        """
        texts = self._texts()
        self.report.marks["tagged"] = len(self._tags)
        self.report.files = sorted(texts)
        if self.report.dry_run:
            return
        guard = self.desk.vault.guard(Scope.LOG)
        for path in sorted(texts):
            old, new = texts[path]
            guard.write(path, new.encode(), expect=None if old is None else sha256_hex(old.encode()))
        if self._tags:
            append(guard, *self._tags)
        if self._events:
            guard.append(ledger.IDS, b"".join(map(ledger.encode, self._events)))

    def _texts(self) -> dict[str, tuple[str | None, str]]:
        """Return by path the present text (None if there is no file) and the new one."""
        decks = {p.deck.path: p.deck for p in self.desk.cards.values()}
        texts: dict[str, tuple[str | None, str]] = {}
        for path, changes in self._changes.items():
            text = decks[path].text
            for card, new in sorted(changes, key=lambda c: -c[0].start):
                text = splice_card(text, card, new)
            texts[path] = (decks[path].text, text)
        homes = {
            (d.properties.text(DECK), d.properties.texts("tags")): (path, len(d.cards))
            for path, d in sorted(decks.items())
            if is_imported(d)
        }
        taken = {p.rsplit("/", 1)[-1].removesuffix(".md").casefold() for p in self.desk.vault.paths(FLASHCARDS, ".md")}
        taken |= self.births.slugs
        for (deck, tags), cards in _grouped(self._new).items():
            path, count = homes.get((deck, tags), ("", PER_FILE))
            while cards:
                if count >= PER_FILE:
                    stem = free_slug(" ".join((deck, *tags)), cards[0][0], taken)
                    taken.add(stem.casefold())
                    path, count = f"{FLASHCARDS}/{stem}.md", 0
                    texts[path] = (None, _head(deck, tags))
                some, cards = cards[: PER_FILE - count], cards[PER_FILE - count :]
                for id_, made, _ in some:
                    self._retag(id_, made, tags)
                old, text = texts.get(path) or (decks[path].text, decks[path].text)
                texts[path] = (old, text.rstrip("\n") + "\n\n" + "\n".join(block for _, _, block in some))
                count = PER_FILE
        return texts


def _grouped(
    new: Iterable[tuple[CardId, PackageCard, str]],
) -> dict[tuple[str, tuple[str, ...]], list[tuple[CardId, PackageCard, str]]]:
    """Return new cards by deck and the tags of their file: all of their note, or, where nearly every note has tags
    of its own, those that all notes share.
    """
    by_deck: dict[str, list[tuple[CardId, PackageCard, str]]] = defaultdict(list)
    for each in new:
        by_deck[each[1].deck].append(each)
    out: dict[tuple[str, tuple[str, ...]], list[tuple[CardId, PackageCard, str]]] = defaultdict(list)
    for deck, cards in by_deck.items():
        sets = {_of_file(made.tags) for _, made, _ in cards}
        shared = set.intersection(*map(set, sets))
        many = len(sets) > max(1, len({made.note for _, made, _ in cards}) // 4)
        for each in cards:
            out[deck, tuple(sorted(shared)) if many else _of_file(each[1].tags)].append(each)
    return out


def _of_file(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags of a note that its file may have: not those that say how learning it went."""
    return tuple(tag for tag in tags if tag.casefold() not in _PER_CARD)


def _head(deck: str, tags: tuple[str, ...]) -> str:
    """Return the front matter of a new deck."""
    properties: dict[str, str | tuple[str, ...]] = {"type": "flashcards", DECK: deck}
    return render_note({**properties, **({"tags": tags} if tags else {})}, f"\n# {escape(deck)}\n")


def _block(card: Card) -> str | None:
    """Return the text of a card; None unless a deck that holds it reads back as that very card and nothing else."""
    text = render_card(with_stamp(card))
    deck = parse_deck(f"{text}\nQ: x\nA: y\n", "")
    whole = len(deck.cards) == 2 and not deck.diagnostics and deck.cards[0].id == card.id
    return text if whole and not deck.cards[0].human_edited and deck.cards[1].question == "x" else None
