"""A stranger's Anki notes as cards of the vault: one file a deck (and set of tags), each card known by its note.

An imported card is like one made by hand: it rests on no claim and has no kind, as nobody here wrote it for one. It
carries the stamp of the words it came with, so that a newer package may reword it while no human has.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from learning.anki_html import markdown
from learning.anki_media_in import take_media
from learning.anki_read import IMAGE_OCCLUSION, AnkiCard, AnkiNote, AnkiPackage, NoteType
from learning.anki_siblings import DECK, is_imported
from learning.anki_template import Sheet, sides
from learning.desk import Desk, Placed
from vault import ledger
from vault.card import MAX_CARD, Card, parse_deck, render_card, splice_card, stamp_of, stamped
from vault.clean import clean_line
from vault.guard import Scope, sha256_hex
from vault.ids import CardId, free_slug, mint
from vault.markdown import escape
from vault.note import render_note
from vault.store import FLASHCARDS

PER_FILE = 200  # cards
_ANKIS_OWN = frozenset(("marked", "leech"))  # tags that say how it went there, and nothing of the card
_MEDIUM = re.compile("\ue002(\\d+)\ue003")
_NAMED = 20  # of the cards with one and the same fate; the rest are counted
_OCCLUSION = "image-occlusion:"


class Report(Protocol):
    """Where it is told what became of notes, cards and media (see `learning.anki_import.ImportReport`)."""

    dry_run: bool
    cards: dict[str, int]
    media: dict[str, int]
    note_types: dict[str, dict[str, Any]]
    files: list[str]

    def tell(self, id_: str, reason: str, path: str = "", line: int = 0) -> None: ...


@dataclass(frozen=True, slots=True)
class _Made:
    """One card of a package as it would be here. `key` finds it again; `mod` is its note's, in Unix seconds."""

    anki: AnkiCard
    key: str
    deck: str
    tags: tuple[str, ...]
    mod: int
    question: str
    answer: str


@dataclass(slots=True)
class _Births:
    """What the ledger says of imported cards."""

    ids: dict[str, CardId] = field(default_factory=dict)  # by key
    taken: set[str] = field(default_factory=set)
    mods: dict[CardId, int] = field(default_factory=dict)
    slugs: set[str] = field(default_factory=set)


def take_strangers(
    desk: Desk, package: AnkiPackage, cards: Sequence[AnkiCard], report: Report, *, restore: bool = False
) -> dict[int, CardId]:
    """Writes the cards; gives Anki's card -> ours for every one that stands in the vault now."""
    if not cards:
        return {}
    made = _with_media(desk, package, _rendered(package, cards, report), report)
    births = _births(desk)
    work = _Work(desk, report, births)
    for each in made:
        work.settle(each, restore=restore)
    work.write()
    _tell_unreviewed(package, work.known, report)
    return work.known


# --- notes to words -------------------------------------------------------------------------------------------------


def _rendered(package: AnkiPackage, cards: Sequence[AnkiCard], report: Report) -> list[tuple[_Made, list[str]]]:
    """Each card with the names of its media, which stand in its words as numbers; what can't be a card is counted."""
    notes = {note.id: note for note in package.notes}
    out = []
    fates: dict[tuple[str, str], set[int]] = defaultdict(set)
    for card in cards:
        note = notes[card.note]
        type_ = package.types.get(note.type)
        name = clean_line(type_.name)[:100] if type_ else "unknown"
        told = report.note_types.setdefault(name, {"notes": 0, "cards": 0, "mapped": 0, "reported": []})
        told["cards"] += 1
        fates[name, "notes"].add(note.id)
        fault, made, names, odd = _one(package, card, note, type_)
        for reason in sorted(odd | ({fault} if fault else set())):
            fates[name, reason].add(card.id)
        if made is None:
            report.cards["skipped"] += 1
        else:
            told["mapped"] += 1
            out.append((made, names))
    for (name, reason), ids in sorted(fates.items()):
        if reason == "notes":
            report.note_types[name]["notes"] = len(ids)
        else:
            report.note_types[name]["reported"].append({"reason": reason, "cards": len(ids)})
    return out


def _one(
    package: AnkiPackage, card: AnkiCard, note: AnkiNote, type_: NoteType | None
) -> tuple[str, _Made | None, list[str], set[str]]:
    """(why it is no card, else "", the card, the names of its media, what was not understood of its template)."""
    fault = _fault(card, note, type_)
    if fault or type_ is None:
        return fault or "its note type is not in the package", None, [], set()
    deck = clean_line(package.decks.get(card.deck, "Default")).strip(": ") or "Default"
    names: list[str] = []

    def embed(name: str) -> str:
        if re.match(r"(?:https?:|data:|file:|//)", name, re.IGNORECASE):
            return escape(f"[picture elsewhere: {clean_line(name)[:200]}]")
        names.append(name)
        return f"\ue002{len(names) - 1}\ue003"

    sheet = Sheet(_values(note, type_, card, deck), card.ord)
    template = type_.templates[0 if type_.cloze else card.ord]
    front, back = (_led(markdown(side, embed)) for side in sides(template.front, template.back, sheet))
    if not front.strip():
        return "its front is blank", None, [], sheet.odd
    if len(front) + len(back) > MAX_CARD - 2000:
        return "it is larger than a card may be (64 KiB)", None, [], sheet.odd
    tags = tuple(sorted({t for tag in note.tags if (t := _tag(tag)) and t.casefold() not in _ANKIS_OWN}))
    key = f"anki:{card.ord}:{note.guid}"
    return "", _Made(card, key, deck[:300], tags, note.mod, front, back), names, sheet.odd


def _fault(card: AnkiCard, note: AnkiNote, type_: NoteType | None) -> str:
    if type_ is None or not type_.templates or not type_.fields:
        return "its note type is not in the package"
    if type_.stock == IMAGE_OCCLUSION or (type_.cloze and any(_OCCLUSION in value for value in note.values)):
        return "image occlusion: a picture with parts covered has no form as text"
    if card.ord < 0 or (not type_.cloze and card.ord >= len(type_.templates)):
        return "its template is not in the package"
    return "" if note.guid.strip() else "its note has no GUID to know it by again"


def _values(note: AnkiNote, type_: NoteType, card: AnkiCard, deck: str) -> dict[str, str]:
    """What a template may ask for; fields win over Anki's own names, and are the first in order."""
    padded = (*note.values, *[""] * len(type_.fields))
    named = dict(zip(type_.fields, padded, strict=False))
    template = type_.templates[0 if type_.cloze else card.ord].name
    facts = {"Tags": " ".join(note.tags), "Type": type_.name, "Deck": deck, "Card": template, "CardFlag": ""}
    return named | {k: escape_html(v) for k, v in facts.items() if k not in named and k != ""} | _sub(named, deck)


def _sub(named: Mapping[str, str], deck: str) -> dict[str, str]:
    return {} if "Subdeck" in named else {"Subdeck": escape_html(deck.rsplit("::", 1)[-1])}


def escape_html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _led(words: str) -> str:
    """A side that begins with code gets a word before it: a fence right behind `Q:` would not be read as one."""
    return f"(code)\n{words}" if words.startswith(("```", "~~~")) else words


def _tag(word: str) -> str:
    return re.sub(r"[^\w/.+:-]+", "-", clean_line(word)).replace("::", "/").strip(":-/")[:100]


def _with_media(
    desk: Desk, package: AnkiPackage, rendered: Sequence[tuple[_Made, list[str]]], report: Report
) -> list[_Made]:
    wanted = {name for _, names in rendered for name in names}
    paths = take_media(desk.vault, package, wanted, report.media, dry_run=report.dry_run)
    for name in sorted(wanted - paths.keys())[:_NAMED]:
        what = "is not in the package" if name not in package.media else "is not what its name says, or too large"
        report.tell("", f"the file {clean_line(name)[:100]} {what}; its card names it")
    shown = {n: f"![[{p}]]" for n, p in paths.items()}
    out = []
    for made, names in rendered:
        words = [shown.get(n) or escape(f"[{clean_line(n)[:100]}: missing]") for n in names]
        front, back = (
            _MEDIUM.sub(lambda m, words=words: words[int(m[1])], side)  # type: ignore[misc]
            for side in (made.question, made.answer)
        )
        out.append(_Made(made.anki, made.key, made.deck, made.tags, made.mod, front, back))
    return out


# --- words to files -------------------------------------------------------------------------------------------------


def _births(desk: Desk) -> _Births:
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
            found.mods[CardId(id_)] = max(found.mods.get(CardId(id_), 0), mod if isinstance(mod, int) else 0)
    return found


@dataclass(slots=True)
class _Work:
    """Gathers what is to be written, file by file, and then writes it."""

    desk: Desk
    report: Report
    births: _Births
    known: dict[int, CardId] = field(default_factory=dict)
    _new: list[tuple[CardId, _Made, str]] = field(default_factory=list)
    _changes: dict[str, list[tuple[Card, Card]]] = field(default_factory=lambda: defaultdict(list))
    _events: list[ledger.Event] = field(default_factory=list)
    _fates: Counter[str] = field(default_factory=Counter)

    def settle(self, made: _Made, *, restore: bool) -> None:
        """Decides whether a card is new, kept, reworded or left alone."""
        id_ = self.births.ids.get(made.key)
        born = id_ is not None
        if id_ is None:
            birth = f"anki\x1f{self.desk.vault.settings.vault_id}\x1f{made.key}"
            id_ = CardId(mint("card", birth, self.births.taken))
            self.births.taken.add(id_)
        placed = self.desk.cards.get(id_)
        if placed is not None:
            self._standing(made, placed, born=born)
        elif born and not restore:
            self._skip(id_, "it was deleted here; --restore brings it back")
        else:
            self._create(id_, made, born=born)

    def _skip(self, id_: str, reason: str, path: str = "", line: int = 0) -> None:
        self.report.cards["skipped"] += 1
        self._tell(id_, reason, path, line)

    def _tell(self, id_: str, reason: str, path: str = "", line: int = 0) -> None:
        self._fates[reason] += 1
        if self._fates[reason] <= _NAMED:
            self.report.tell(id_, reason, path, line)

    def _create(self, id_: CardId, made: _Made, *, born: bool) -> None:
        block = _block(Card(None, made.question, made.answer, (), id_))
        if block is None:
            self._skip(id_, f"note {clean_line(made.key)}: its words cannot be written as a card")
            return
        self.report.cards["created"] += 1
        self.known[made.anki.id] = id_
        self._new.append((id_, made, block))
        if not born:
            self._remember(id_, made, "birth")

    def _remember(self, id_: CardId, made: _Made, type_: str) -> None:
        at = ledger.instant(self.desk.now)
        event: ledger.Event = {"v": 1, "type": type_, "of": "card", "id": id_, "at": at, "key": made.key}
        self._events.append(event | {"mod": made.mod} | ({"tags": list(made.tags)} if made.tags else {}))

    def _standing(self, made: _Made, placed: Placed, *, born: bool) -> None:
        """A card that is here already: reworded if the package is newer and no human touched it."""
        self.known[made.anki.id] = placed.id
        old = placed.card
        new = stamped(Card(old.kind, made.question, made.answer, old.support, placed.id))
        if not born:  # an import was cut off between the file and the ledger
            self._remember(placed.id, made, "birth")
        if new.stamp in (old.stamp, stamp_of(old)) or made.mod < self.births.mods.get(placed.id, 0):
            self.report.cards["kept"] += 1
        elif old.human_edited:
            self.report.cards["kept"] += 1
            self._tell(placed.id, "reworded in Anki and edited here; your words stay", placed.deck.path, old.line)
        elif _block(new) is not None:
            self.report.cards["updated"] += 1
            self._changes[placed.deck.path].append((old, new))
            self._remember(placed.id, made, "reanchor")

    def write(self) -> None:
        """Files first, then births: a card in a file tells the next import by itself that it was born."""
        texts = self._texts()
        self.report.files = sorted(texts)
        if self.report.dry_run:
            return
        guard = self.desk.vault.guard(Scope.LOG)
        for path in sorted(texts):
            old, new = texts[path]
            guard.write(path, new.encode(), expect=None if old is None else sha256_hex(old.encode()))
        if self._events:
            guard.append(ledger.IDS, b"".join(map(ledger.encode, self._events)))

    def _texts(self) -> dict[str, tuple[str | None, str]]:
        """Path -> (the text that it has, None if none; the text that it gets)."""
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
                old, text = texts.get(path) or (decks[path].text, decks[path].text)
                texts[path] = (old, text.rstrip("\n") + "\n\n" + "\n".join(block for _, _, block in some))
                count = PER_FILE
        return texts


def _grouped(
    new: Iterable[tuple[CardId, _Made, str]],
) -> dict[tuple[str, tuple[str, ...]], list[tuple[CardId, _Made, str]]]:
    """New cards by deck and tags; where nearly every note has tags of its own, by the tags that all share."""
    by_deck: dict[str, list[tuple[CardId, _Made, str]]] = defaultdict(list)
    for each in new:
        by_deck[each[1].deck].append(each)
    out: dict[tuple[str, tuple[str, ...]], list[tuple[CardId, _Made, str]]] = defaultdict(list)
    for deck, cards in by_deck.items():
        sets = {made.tags for _, made, _ in cards}
        shared = set.intersection(*map(set, sets))
        many = len(sets) > max(1, len({made.anki.note for _, made, _ in cards}) // 4)
        for each in cards:
            out[deck, tuple(sorted(shared)) if many else each[1].tags].append(each)
    return out


def _head(deck: str, tags: tuple[str, ...]) -> str:
    properties: dict[str, str | tuple[str, ...]] = {"type": "flashcards", DECK: deck}
    return render_note({**properties, **({"tags": tags} if tags else {})}, f"\n# {escape(deck)}\n")


def _block(card: Card) -> str | None:
    """The text of a card, if a deck that holds it is read as that very card and nothing else."""
    text = render_card(stamped(card))
    deck = parse_deck(f"{text}\nQ: x\nA: y\n", "")
    whole = len(deck.cards) == 2 and not deck.diagnostics and deck.cards[0].id == card.id
    return text if whole and not deck.cards[0].human_edited and deck.cards[1].question == "x" else None


def _tell_unreviewed(package: AnkiPackage, known: Mapping[int, CardId], report: Report) -> None:
    reviewed = {row.card for row in package.reviews}
    count = sum(c.id in known and c.type > 0 and c.id not in reviewed for c in package.cards)
    if count:
        what, it = ("1 card has", "it is") if count == 1 else (f"{count} cards have", "they are")
        report.tell("", f"{what} a date in Anki but no review in the package: {it} new here")
