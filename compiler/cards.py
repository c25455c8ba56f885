"""Articles to flashcards: what is asked of the engine, what passes the gates, and which cards live on."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from compiler.engines.port import CardsReply, CardsRequest, ClaimView, ProposedCard
from compiler.gates import CardGate
from compiler.report import Rejection
from compiler.resolve import Resolved
from vault.card import CardKind
from vault.clean import fold
from vault.ids import CardId, ClaimId, digest12, mint
from vault.ledger import Event, Ids

PER_KIND = 2  # cards of one kind and concept: quality over count
AGENTS = "agent/"  # the engine of a card with an agent's words, then its run


@dataclass(frozen=True, slots=True)
class LiveCard:
    """A card of the ledger: its words are plain text, and were admitted when its claims read as `proof` (12 hex)."""

    id: CardId
    concept: str
    kind: CardKind
    question: str
    answer: str
    cites: tuple[ClaimId, ...]
    proof: str
    engine: str


@dataclass(slots=True)
class CardNews:
    """What one compile does to the cards of all concepts."""

    cards: dict[str, list[LiveCard]] = field(default_factory=dict)  # concept id -> its cards
    events: list[Event] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    created: int = 0
    updated: int = 0
    kept: int = 0
    suspended: int = 0


def request_for(concept: Resolved, views: tuple[ClaimView, ...]) -> CardsRequest:
    return CardsRequest(title=concept.title, aliases=concept.aliases, language=concept.language, claims=views)


def live_cards(events: Sequence[Event], ids: Ids) -> dict[CardId, LiveCard]:
    """The cards of the ledger with the text they were last given, retired ones included. `events` are in order."""
    cards: dict[CardId, LiveCard] = {}
    for event in events:
        if (
            event.get("of") != "card"
            or event.get("type") not in ("birth", "change")
            or event.get("id") not in ids.births
        ):
            continue
        try:
            card = LiveCard(
                CardId(event["id"]),
                str(event["concept"]),
                CardKind(event["kind"]),
                str(event["q"]),
                str(event["a"]),
                tuple(ClaimId(c) for c in event["cites"]),
                str(event["proof"]),
                str(event["engine"]),
            )
        except (KeyError, ValueError, TypeError):
            continue  # of a later version, or damaged: the next compile writes the card anew
        cards[card.id] = card
    return cards


def keyed(cards: Sequence[ProposedCard]) -> dict[str, ProposedCard]:
    """`cards` by what each is at birth: its kind and the claim it asks for; a second one of these is numbered."""
    out: dict[str, ProposedCard] = {}
    for card in cards:
        key = f"{card.kind}:{card.cites[0] if card.cites else ''}"
        numbers = itertools.chain([key], (f"{key}:{n}" for n in itertools.count(2)))
        out[next(k for k in numbers if k not in out)] = card
    return out


def proof_of(cites: Sequence[str], words: dict[str, str]) -> str:
    """Twelve hex of what the cited claims say: when it changes, the card must follow."""
    return digest12("\x1f".join(words[c] for c in cites))


@dataclass(slots=True)
class CardDesk:
    """Decides, concept by concept in a fixed order, which cards live. Pure: news and ledger events come out."""

    ids: Ids
    before: dict[CardId, LiveCard]
    words: dict[str, str]  # claim id -> the claim's kind and words, of every claim that is current
    home: dict[str, str]  # claim id -> the concept it is about
    at: str
    engine: str
    deleted: frozenset[CardId] = frozenset()  # by the human: they stay away
    mains: Mapping[str, frozenset[str]] = field(default_factory=dict)  # concept id -> the claims of its article
    gate: CardGate = field(default_factory=CardGate)
    news: CardNews = field(default_factory=CardNews)
    _mine: dict[str, list[LiveCard]] = field(default_factory=dict)

    def open(self) -> None:
        """Sort the ledger's cards: those whose evidence is gone are retired, the others go to their concept."""
        for card in self.before.values():
            if not self.ids.alive(card.id) and not self._returns(card):
                continue
            concept = self._concept_of(card)
            if card.id in self.deleted:
                self._retire(card, "the human deleted it")
            elif concept is None:
                self._retire(card, "its evidence is gone")
            else:
                self._mine.setdefault(concept, []).append(card)
                if card.proof == proof_of(card.cites, self.words):
                    self.gate.admit(card.question, card.answer)

    def _returns(self, card: LiveCard) -> bool:
        return card.id in self.ids.retired and self._concept_of(card) is not None

    def _concept_of(self, card: LiveCard) -> str | None:
        if any(c not in self.words for c in card.cites):
            return None
        if card.engine.startswith(AGENTS):  # an agent may join claims that several concepts share
            return card.concept if self.mains.get(card.concept, frozenset()).issuperset(card.cites) else None
        return self.home.get(card.cites[0]) if card.cites else None

    def settle(self, concept: Resolved, views: tuple[ClaimView, ...], reply: CardsReply) -> None:
        """The concept's cards after `reply`: living ones stay as they are, new ones fill the places left."""
        claims = {v.id: v for v in views}
        mine = self._mine.pop(concept.id, [])
        proposals = keyed(reply.cards)
        out: list[LiveCard] = []
        for card in mine:
            out += self._follow(card, concept, claims, proposals)
        for key, proposal in proposals.items():
            if sum(c.kind.value == proposal.kind for c in out) >= PER_KIND:
                continue
            deleted = self.ids.keys.get(("card", key)) in self.deleted
            reason = "the human deleted this card" if deleted else self.gate.refused(proposal, concept.title, claims)
            if reason:
                words = f"{fold(proposal.question)} / {fold(proposal.answer)}"[:300]
                self.news.rejections.append(Rejection("card", reason, words))
            else:
                out.append(self._born(key, proposal, concept))
        rank = {c.id: n for n, c in enumerate(concept.main)}
        order = list(CardKind)
        out.sort(key=lambda c: (order.index(c.kind), rank.get(c.cites[0], len(rank)), c.id))
        if out:
            self.news.cards[concept.id] = out

    def _follow(
        self, card: LiveCard, concept: Resolved, claims: dict[str, ClaimView], proposals: dict[str, ProposedCard]
    ) -> list[LiveCard]:
        """The card after its claims: as it is while they read the same, else as the engine now has it, else retired.

        Its proposal is taken out of `proposals`.
        """
        proposal = proposals.pop(self.ids.present_key[card.id], None)
        if card.proof == proof_of(card.cites, self.words):
            self.news.kept += 1
            self._revive(card.id)
            return [card]
        if proposal is None or self.gate.refused(proposal, concept.title, claims):
            self._retire(card, "its evidence changed")
            return []
        new = self._card(card.id, proposal, concept)
        self.news.updated += 1
        self._revive(card.id)
        self.news.events.append(self._event("change", new))
        return [new]

    def _born(self, key: str, proposal: ProposedCard, concept: Resolved) -> LiveCard:
        known = self.ids.keys.get(("card", key))
        id_ = CardId(known or mint("card", key, self.ids.births))
        card = self._card(id_, proposal, concept)
        if known:  # it was retired; its history goes on
            self._revive(id_)
            self.news.events.append(self._event("change", card))
        else:
            self.news.events.append(self._event("birth", card) | {"key": key})
        self.news.created += 1
        return card

    def _card(self, id_: CardId, proposal: ProposedCard, concept: Resolved) -> LiveCard:
        cites = tuple(ClaimId(c) for c in dict.fromkeys(proposal.cites))
        proof = proof_of(cites, self.words)
        return LiveCard(
            id_,
            concept.id,
            CardKind(proposal.kind),
            proposal.question.strip(),
            proposal.answer.strip(),
            cites,
            proof,
            self.engine,
        )

    def _event(self, type_: str, card: LiveCard) -> Event:
        head: Event = {"v": 1, "type": type_, "of": "card", "id": card.id, "at": self.at}
        text = {"concept": card.concept, "kind": card.kind.value, "q": card.question, "a": card.answer}
        return head | text | {"cites": list(card.cites), "proof": card.proof, "engine": card.engine}

    def _revive(self, id_: CardId) -> None:
        if id_ in self.ids.retired:
            self.news.events.append({"v": 1, "type": "revive", "of": "card", "id": id_, "at": self.at})

    def _retire(self, card: LiveCard, reason: str) -> None:
        if self.ids.alive(card.id):
            self.news.suspended += 1
            self.news.events.append(
                {"v": 1, "type": "retire", "of": "card", "id": card.id, "at": self.at, "reason": reason}
            )

    def close(self) -> CardNews:
        """The news; cards whose concept no longer is one are retired."""
        for cards in self._mine.values():
            for card in cards:
                self._retire(card, "its concept is gone")
        return self.news
