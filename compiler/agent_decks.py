"""Cards that an agent wrote, changed or took out: the decks as they were, with those in them that pass the gates.

A deck is never taken over as the agent left it: its cards are read, judged one by one, and written by code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from compiler.agent_inert import MAX_CARD_LINE, Fault, acting, unreadable
from compiler.agent_trust import machine_sources
from compiler.agent_words import question_fault, turned
from compiler.agent_world import World
from compiler.cards import AGENTS, PER_KIND, LiveCard, as_proposed, became, how, proof_of
from compiler.decks import Fresh, card_block, render_deck, with_cards
from compiler.engines.port import ProposedCard
from compiler.gates import CardGate
from vault.card import Card, CardKind, Deck, parse_deck
from vault.claim import Claim
from vault.clean import clean_line
from vault.exhibit import parted
from vault.ids import CardId, ClaimId, mint
from vault.ledger import Event
from vault.markdown import unescape
from vault.note import body_of, read_properties
from vault.store import CONCEPTS, FLASHCARDS
from vault.wikilink import Citation, citations, links, note_link

AT_MOST = 2 * PER_KIND  # cards of one kind and concept, once an agent adds to them
CARD_EXHIBITS = 2
_EMPHASIS = re.compile(r"(?<![\w*_\\])(\*\*\*|\*\*|\*|___|__|_)(?=\S)([^*_\n]+?)(?<=\S)\1(?![\w*_])")


@dataclass(slots=True)
class DeckVerdict:
    """What becomes of the decks: their texts, the ledger's events, what failed and what came back."""

    texts: dict[str, str] = field(default_factory=dict)  # deck -> its text with what was kept
    events: list[Event] = field(default_factory=list)
    kept: list[tuple[str, CardId]] = field(default_factory=list)
    faults: dict[str, list[Fault]] = field(default_factory=dict)  # by the path that the agent wrote
    back: list[tuple[str, str]] = field(default_factory=list)  # (deck, what came back)


@dataclass(frozen=True, slots=True)
class _Home:
    """The concept that a card belongs to, and what its cards may rest on."""

    concept: str
    deck: str
    stem: str  # of the article, without .md
    title: str
    names: tuple[str, ...]  # the title and its aliases
    places: tuple[str, ...]  # the article's sources
    claims: frozenset[str]


class DeckJudge:
    """Judges all decks that an agent left changed, in the order of their paths."""

    def __init__(self, world: World, run: str, at: str) -> None:
        self.world, self.run, self.at = world, run, at
        self.verdict = DeckVerdict()
        self._new: dict[str, list[Card]] = {}
        self._changed: dict[str, dict[CardId, Card]] = {}
        self._homes: dict[str, _Home | None] = {}
        self._count: Counter[tuple[str, CardKind]] = Counter()
        self._words: dict[str, str] = {}
        self._taken: set[str] = set(world.ids.births)

    def judge(self, left: Mapping[str, bytes], gone: Sequence[str]) -> DeckVerdict:
        """`left` are the bytes of decks that are new or changed; `gone` the paths of decks that were deleted."""
        decks = [d for path, data in sorted(left.items()) if (d := self._deck(path, data)) is not None]
        edits = {c.id for d in decks for c in d.cards if c.id in self.world.cards and self._differs(c)}
        gate = CardGate()
        homes = {home.deck: home.concept for d in decks if (home := self._home(d.path, d)) is not None}
        for deck in self.world.decks():
            for card in deck.cards:
                if deck.path in homes and card.kind is not None:
                    self._count[homes[deck.path], card.kind] += 1
                if card.id not in edits:
                    gate.admit(unescape(card.question), unescape(card.answer))
        seen: set[CardId] = set()
        for deck in decks:
            for card in deck.cards:
                self._card(deck, card, gate, seen)
        self._came_back(decks, {*left, *gone})
        for path in sorted({*self._new, *self._changed}):
            self.verdict.texts[path] = self._text(path)
        return self.verdict

    def _deck(self, path: str, data: bytes) -> Deck | None:
        """The deck that the agent left; None if it cannot be judged. What stands around its cards is looked at."""
        faults = self.verdict.faults.setdefault(path, [])
        try:
            text = data.decode().replace("\r\n", "\n")
        except UnicodeDecodeError:
            faults.append((0, "not UTF-8"))
            return None
        if (fault := unreadable(text, MAX_CARD_LINE)) is not None:
            faults.append(fault)
            return None
        deck, before = parse_deck(text, path), self.world.deck(path)
        known = {(d.code, d.message) for d in before.diagnostics}
        faults += [(d.line, d.message) for d in deck.diagnostics if (d.code, d.message) not in known]
        around = _around(before)
        title = f"# {deck.title}"
        headings = {f"## {kind.heading}" for kind in CardKind}
        for number, line in _around_lines(deck):
            if line not in around and line not in headings and line != title:
                faults.append((number, "words that are no card"))
        return deck

    def _differs(self, card: Card) -> bool:
        assert card.id is not None
        return _words(card) != _words(self.world.cards[card.id][1])

    def _card(self, deck: Deck, card: Card, gate: CardGate, seen: set[CardId]) -> None:
        """Take one card of the agent's in, or its fault."""
        before = self.world.deck(deck.path).cards
        faults = self.verdict.faults[deck.path]
        if card.id is not None and card.id in self.world.cards:
            if self._differs(card):
                again = card.id in seen
                why = "its id stands at another card, too" if again else self._edit(card.id, card, gate)
                faults += [(card.line, why)] if why else []
            seen.add(card.id)
        elif any(_words(card) == _words(old) for old in before):
            return  # it stands there without its comment, or is the human's own without one
        elif card.id is not None and card.id in self.world.ids.births:
            faults.append((card.line, f"card {card.id} was taken out before, and only the human puts it back"))
        else:
            why = self._birth(deck, card, gate)
            faults += [(card.line, why)] if why else []

    def _edit(self, id_: CardId, card: Card, gate: CardGate) -> str:
        """Give a card of the machine's the agent's words; why not, or ""."""
        deck, old = self.world.cards[id_]
        live = self.world.live.get(id_)
        if old.human_edited or live is None or old.kind is None:
            return "the human wrote or reworded this card: the human's words stay"
        home = self._home(deck.path, deck)
        if home is None:
            return "its deck names no article of a concept"
        made, why = self._made(replace(card, kind=old.kind), home, gate, id_)
        if made is None:
            gate.admit(unescape(old.question), unescape(old.answer))
            return why
        self._changed.setdefault(deck.path, {})[id_] = self._block(made, home)
        self._tell("change", made, deck.path, **became(live, made, how(live, as_proposed(made))))
        return ""

    def _birth(self, deck: Deck, card: Card, gate: CardGate) -> str:
        """Give a new card an id and a place; why not, or ""."""
        if card.kind is None:
            kinds = ", ".join(kind.heading for kind in CardKind)
            return f"it stands under none of the headings {kinds}"
        home = self._home(deck.path, deck)
        if home is None:
            return "its deck names no article of a concept that retain knows (`article: ...`)"
        if self._count[home.concept, card.kind] >= AT_MOST:
            return f"the concept has {AT_MOST} cards of this kind already: fewer and better"
        key = f"agent:{self.run}:{len(self.verdict.events)}"
        id_ = CardId(mint("card", key, self._taken))
        made, why = self._made(card, home, gate, id_)
        if made is None:
            return why
        self._taken.add(id_)
        self._count[home.concept, card.kind] += 1
        self._new.setdefault(home.deck, []).append(self._block(made, home))
        self._tell("birth", made, home.deck, key=key)
        return ""

    def _made(self, card: Card, home: _Home, gate: CardGate, id_: CardId) -> tuple[LiveCard | None, str]:
        """The card in plain words, if it passes; else why not."""
        said, shown = parted(card.answer.split("\n"))
        lines = [(card.line, line) for line in [*card.question.split("\n"), *said]]
        if (fault := acting(lines)) is not None:
            return None, fault[1]
        if not card.support:
            return None, "the card cites nothing"
        views, why = self.world.views(card.support)
        if why:
            return None, why
        claims = [c for cite in card.support if (c := self.world.claim(cite)) is not None]
        if strange := [c.id for c in claims if c.id not in home.claims]:
            return None, f"claim {strange[0]} is none that the article cites by itself: {home.stem}.md"
        if set(shown) - {e for c in claims for e in c.exhibits}:
            return None, "it shows what its claims do not show"
        assert card.kind is not None
        question, answer = plain(card.question), plain("\n".join(said))
        proposed = ProposedCard(
            kind=card.kind.value, question=question[:20_000], answer=answer[:20_000], cites=tuple(views)
        )
        asked = [*views.values()]
        why = question_fault(question, answer, asked, home.names) or turned(answer, asked)
        why = why or gate.refused(proposed, home.title, views)
        if why:
            return None, why
        self._words |= {c.id: f"{c.kind} {c.words}" for c in claims}
        cites = tuple(dict.fromkeys(ClaimId(c) for c in views))
        proof = proof_of(cites, self._words)
        return LiveCard(id_, home.concept, card.kind, question, answer, cites, proof, f"{AGENTS}{self.run}"), ""

    def _home(self, path: str, deck: Deck) -> _Home | None:
        """The concept of a deck: that of the article it names, or of the article that has its name."""
        if path not in self._homes:
            named = [link.target for link in links(deck.properties.text("article"))]
            stem = named[0] if named else f"{CONCEPTS}/{path.rsplit('/', 1)[-1].removesuffix('.md')}"
            self._homes[path] = self._home_at(stem)
        return self._homes[path]

    def _home_at(self, stem: str) -> _Home | None:
        text = self.world.text(f"{stem}.md") if stem.startswith(f"{CONCEPTS}/") else None
        if text is None:
            return None
        properties, ids = read_properties(text), self.world.ids
        concept = properties.text("id")
        birth = ids.births.get(concept)
        if birth is None or birth.noun != "concept" or not ids.alive(concept) or not birth.slug:
            return None
        deck = f"{FLASHCARDS}/{birth.slug}.md"
        claims = {str(c.claim) for c in citations(text)}
        claims |= {str(c) for live in self.world.live.values() if live.concept == concept for c in live.cites}
        places = machine_sources(self.world, text)  # of the others, no build takes a card
        found = frozenset(c for c in claims if self._placed(ClaimId(c), places) is not None)
        title = properties.text("title")
        return _Home(concept, deck, stem, title, (title, *properties.texts("aliases")), places, found)

    def _block(self, made: LiveCard, home: _Home) -> Card:
        placed = [p for id_ in made.cites if (p := self._placed(id_, home.places)) is not None]
        shown = dict.fromkeys(e for _, claim in placed for e in claim.exhibits)
        return card_block(made, [cite for cite, _ in placed], tuple(shown)[:CARD_EXHIBITS])

    def _placed(self, id_: ClaimId, places: Sequence[str]) -> tuple[Citation, Claim] | None:
        """The claim in the first of the sources that has it, and how it is cited from there; None if none has."""
        for place, entry in enumerate(places, 1):
            cite = Citation(next((link.target for link in links(entry)), ""), id_, place)
            claim = self.world.claim(cite)
            if claim is not None:
                return cite, claim
        return None

    def _tell(self, type_: str, card: LiveCard, path: str, **more: Any) -> None:
        head: Event = {"v": 1, "type": type_, "of": "card", "id": card.id, "at": self.at, "concept": card.concept}
        words = {"kind": card.kind.value, "q": card.question, "a": card.answer, "cites": list(card.cites)}
        said = {"proof": card.proof, "engine": card.engine, "by": "agent", "run": self.run}
        self.verdict.events.append(head | words | said | more)
        self.verdict.kept.append((path, card.id))

    def _came_back(self, decks: Sequence[Deck], touched: set[str]) -> None:
        """Name the cards that the agent took out."""
        standing = {c.id for d in decks for c in d.cards} | {
            c.id for d in self.world.decks() if d.path not in touched for c in d.cards
        }
        for path in sorted(touched):
            there = {_words(c) for d in decks if d.path == path for c in d.cards}
            for card in self.world.deck(path).cards:
                if card.id not in standing and _words(card) not in there:
                    name = f"card {card.id}" if card.id is not None else "a card of the human's"
                    self.verdict.back.append((path, f"{name} was taken out, and only the human retires a card"))

    def _text(self, path: str) -> str:
        """The deck as it was, with the agent's cards in it."""
        new, changed = self._new.get(path, []), self._changed.get(path, {})
        known = {CardId(id_): None for id_, b in self.world.ids.births.items() if b.noun == "card"}
        known |= {card.id: None for card in new if card.id is not None}
        old = self.world.text(path)
        if old is not None:
            return with_cards(old, path, changed, new, known)
        home = next(h for h in self._homes.values() if h is not None and h.deck == path)
        article = note_link(f"{home.stem}.md", home.title)
        head = {"type": "flashcards", "concept": home.concept, "article": article, "generator": self.world.engine}
        return render_deck(Fresh(home.title, {**head, "tags": ()}, new))


def plain(markdown: str) -> str:
    """The words of a card's text: emphasis and escapes gone, math and code as they are."""
    for _ in range(3):
        markdown = _EMPHASIS.sub(r"\2", markdown)
    return unescape(markdown).strip()


def _words(card: Card) -> tuple[str, str, tuple[str, ...]]:
    """What a card says: its comment and its place are not among it."""
    trimmed = ("\n".join(line.rstrip() for line in text.strip().splitlines()) for text in (card.question, card.answer))
    question, answer = trimmed
    return question, answer, tuple(f"{c.summary} {c.claim}" for c in card.support)


def _around_lines(deck: Deck) -> list[tuple[int, str]]:
    """The lines of a deck that belong to no card, with their numbers."""
    body = body_of(deck.text)
    offset = len(deck.text) - len(body)
    inside = [(card.start, card.end) for card in deck.cards]
    out = []
    at = offset
    for number, line in enumerate(body.split("\n"), deck.text.count("\n", 0, offset) + 1):
        if line.strip() and not any(start <= at < end for start, end in inside):
            out.append((number, clean_line(line)))
        at += len(line) + 1
    return out


def _around(deck: Deck) -> set[str]:
    return {line for _, line in _around_lines(deck)}
