"""Which flashcards live: proposals of the engine pass the gates, living cards follow their claims."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from compiler.cards.live_cards import AGENTS, LiveCard, as_proposed, change_between, change_facts, keyed, proof_of
from compiler.cards.suggestions import Candidate, SortedCards, offered, sort_cards
from compiler.concepts.resolve import Resolved
from compiler.concepts.rulings import last
from compiler.gates.gates import CardGate, StrictCardGate
from compiler.gates.repeated_cards import PER_KIND
from compiler.index.steps import Steps, digest_of
from compiler.language.rewording import Change, classify, worst
from compiler.model.engine_names import FAMILY, FORMER_FAMILY
from compiler.model.report import Rejection
from compiler.model.requests import MOST_CLAIMS, CardsReply, ClaimView, OnConcept, ProposedCard
from vault.ids import CardId, ClaimId, mint
from vault.inbox.suggestion_events import Triage
from vault.layout import FLASHCARDS
from vault.log.ledger import Event, Ids
from vault.model.card import CardKind
from vault.text.formatting import fold

R = TypeVar("R", bound=OnConcept)
_FAULT = "card-fault"
_GONE = "its evidence no longer exists"
_UNDONE = "the decision that created it was undone"


@dataclass(slots=True)
class CardNews:
    """What one compile does to the cards of all concepts."""

    cards: dict[str, list[LiveCard]] = field(default_factory=dict)  # concept id -> its cards
    events: list[Event] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    suggested: list[Candidate] = field(default_factory=list)
    lost: dict[CardId, tuple[LiveCard, str]] = field(default_factory=dict)  # cards that sources retired, and why
    created: int = 0
    updated: int = 0
    kept: int = 0
    suspended: int = 0


def request_for(kind: type[R], concept: Resolved, views: tuple[ClaimView, ...]) -> R:
    """Return the request for the article or the cards of a concept."""
    return kind(
        title=concept.title,
        aliases=concept.aliases,
        language=concept.language,
        claims=views[:MOST_CLAIMS],
        concept=concept.id,
    )


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims that cards on a concept may cite, made when a gate looks at them.

    `digest` stands for all that is in them, and for the gate; b"" where nothing is remembered in `steps`.
    """

    views: Callable[[], dict[str, ClaimView]]
    digest: bytes = b""
    steps: Steps | None = None

    def known_fault(self, card: ProposedCard) -> str | None:
        """Return what the gate said of a card's words in an earlier build; None if it has not seen them."""
        found = self.steps.get(_FAULT, self._key(card)) if self.steps is not None and self.digest else None
        return None if found is None else found.decode()

    def remember_fault(self, card: ProposedCard, fault: str) -> None:
        """Remember what the gate says of a card's words."""
        if self.steps is not None and self.digest:
            self.steps.put(_FAULT, self._key(card), fault.encode("utf-8", "replace"))

    def _key(self, card: ProposedCard) -> bytes:
        return digest_of(self.digest, card.kind, card.question, card.answer, *card.cites)


@dataclass(slots=True)
class CardDecider:
    """Decides, concept by concept in a fixed order, which cards live; `news` and its events are the result.

    Call `open`, then `decide` for each concept, then `close`.
    """

    ids: Ids
    before: dict[CardId, LiveCard]
    words: dict[str, str]  # claim id -> the claim's kind and words, of every claim that is current
    home: dict[str, str]  # claim id -> the concept it is about
    at: str
    engine: str
    deleted: frozenset[CardId] = frozenset()  # by the user: they stay away
    mains: Mapping[str, frozenset[str]] = field(default_factory=dict)  # concept id -> the claims of its article
    gate: CardGate = field(default_factory=StrictCardGate)
    news: CardNews = field(default_factory=CardNews)
    quotes: Mapping[str, str] = field(default_factory=dict)  # claim id -> its quote, of every claim that is current
    said_before: Mapping[str, str] = field(default_factory=dict)  # the same before this build, where it found others
    flagged: Mapping[CardId, str] = field(default_factory=dict)  # cards that the user doesn't want, and why
    outdated: Mapping[ClaimId, str] = field(default_factory=dict)  # claims that no card may rest on, and why
    undone: frozenset[CardId] = frozenset()  # cards that came of a decision on concepts that was taken back
    triage: Triage = field(default_factory=Triage)  # what the user decided about suggested cards
    _by_concept: dict[str, list[LiveCard]] = field(default_factory=dict)
    _keys: dict[CardId, str] = field(default_factory=dict)  # of cards that this build gave another key, ...
    _owners: dict[str, CardId] = field(default_factory=dict)  # ... and the cards of those keys
    _claims_by_quote: dict[str, list[str]] = field(default_factory=dict)  # quote -> the claims with it
    _retired_by_question: dict[tuple[str, CardKind, str], list[LiveCard]] = field(default_factory=dict)  # retired cards
    _candidates: list[Candidate] = field(default_factory=list)
    _asked: dict[str, tuple[Resolved, Claims]] = field(default_factory=dict)  # by concept

    def open(self) -> None:
        """Sort the ledger's cards: those whose evidence is gone are retired, the others go to their concept."""
        for claim, quote in self.quotes.items():
            self._claims_by_quote.setdefault(quote, []).append(claim)
        for known in self.before.values():
            card = self._with_same_words(known) or known
            if not self.ids.alive(card.id) and not self._has_evidence_again(card):
                self._remember_retired(card)
                continue
            if card is not known and not self._unwanted(card.id):
                self._record_claims(card)
            concept = self._concept_of(card)
            is_undone = card.id in self.undone or self.triage.is_undone(card.id)
            if reason := self._unwanted(card.id) or (_UNDONE if is_undone else ""):
                self._retire(card, reason)  # one of an undone decision is made again below if it is still asked for
            elif concept is None:
                self._retire(card, next((self.outdated[c] for c in card.cites if c in self.outdated), _GONE))
            else:
                self._by_concept.setdefault(concept, []).append(card)
                if self._is_proved(card):
                    self.gate.admit(card.question, card.answer, concept)

    def _unwanted(self, id_: CardId | None) -> str:
        """Return why the user does not want to see a card any more; "" for one that may be asked."""
        if id_ in self.deleted:
            return "you deleted it"
        if id_ is not None and self.triage.dropped(id_):
            return "you rejected it"
        return f"you flagged it: {self.flagged[id_]}" if id_ is not None and id_ in self.flagged else ""

    def _has_evidence_again(self, card: LiveCard) -> bool:
        """Return whether a retired card has its evidence and its concept again."""
        return card.id in self.ids.retired and self._concept_of(card) is not None

    def _concept_of(self, card: LiveCard) -> str | None:
        """Return the concept that a card belongs to now; None if a claim that it cites is gone."""
        if any(c not in self.words for c in card.cites):
            return None
        # Models and agents may join claims that several concepts share.
        if card.engine in (FAMILY, FORMER_FAMILY) or card.engine.startswith(AGENTS):
            own = (last(self.ids.merged, card.concept), *(self.home.get(c, "") for c in card.cites))
            return next((c for c in own if self.mains.get(c, frozenset()).issuperset(card.cites)), None)
        return self.home.get(card.cites[0]) if card.cites else None

    def _with_same_words(self, card: LiveCard) -> LiveCard | None:
        """Return the card citing other claims of its concept with the very words of its former ones.

        None if that is not needed or not possible. One source may drop or change what another still says: then nothing
        changed.
        """
        moved = [c for c in card.cites if c in self.said_before or c not in self.words]
        if not moved:
            return None
        cites = tuple(self._same_words_claim(c, card.concept) or c for c in card.cites)
        known = len(set(cites)) == len(cites) and all(c in self.words for c in cites)
        found = known and proof_of(cites, self.words) == card.proof
        return replace(card, cites=cites) if found else None

    def _same_words_claim(self, claim: ClaimId, concept: str) -> ClaimId | None:
        """Return the oldest other claim of the concept with the words that `claim` had."""
        said = self.said_before.get(claim, self.ids.quotes.get(claim, ""))
        there = self.mains.get(concept, frozenset())
        alike = (
            c for c in self._claims_by_quote.get(said, ()) if c != claim and self.home.get(c) == concept and c in there
        )
        return next((ClaimId(c) for c in alike), None)

    def _record_claims(self, card: LiveCard) -> None:
        """Record the claims that the card cites now, and the key that goes with them."""
        first = f"{card.kind.value}:{card.cites[0]}"
        numbers = itertools.chain([first], (f"{first}:{n}" for n in itertools.count(2)))
        key = next(k for k in numbers if self._card_of_key(k) in (None, card.id))
        if key != self._key(card.id):
            self._keys[card.id], self._owners[key] = key, card.id
            self.news.events.append(
                {"v": 1, "type": "reanchor", "of": "card", "id": card.id, "at": self.at, "key": key}
            )
        self.news.events.append(self._event("change", card) | {"how": Change.COSMETIC.value})

    def _key(self, id_: CardId) -> str:
        """Return the key of a card, as this build leaves it."""
        return self._keys.get(id_) or self.ids.present_key[id_]

    def _card_of_key(self, key: str) -> CardId | None:
        """Return the card that has or had the key."""
        if key in self._owners:
            return self._owners[key]
        id_ = self.ids.keys.get(("card", key))
        return CardId(id_) if id_ is not None and id_ not in self._keys else None

    def decide(self, concept: Resolved, claims: Claims, reply: CardsReply) -> None:
        """Decide the concept's cards after `reply`: living ones stay as they are, new ones fill the places left."""
        mine = self._by_concept.pop(concept.id, [])
        sorted_ = self._sorted(concept, reply, mine)
        proposals, kept = sorted_.proposals, sorted_.kept
        out: list[LiveCard] = []
        for card in mine:
            out += self._after_changes(card, concept, claims, proposals)
        for key, proposal in proposals.items():
            if key not in kept and sum(c.kind.value == proposal.kind for c in out) >= PER_KIND:
                continue
            reason = self._unwanted(self._card_of_key(key)) or self._refused(proposal, concept, claims)
            if reason:
                words = f"{fold(proposal.question)} / {fold(proposal.answer)}"[:300]
                deck = f"{FLASHCARDS}/{concept.slug}.md"
                self.news.rejections.append(Rejection("card", reason, words, deck))
            else:
                out.append(self._created(key, proposal, concept, kept=key in kept))
        self._asked[concept.id] = (concept, claims)
        self._candidates += [Candidate(self._id_of(k), concept.id, card) for k, card in sorted_.suggestible.items()]
        rank = {c.id: n for n, c in enumerate(concept.main)}
        order = list(CardKind)
        out.sort(key=lambda c: (order.index(c.kind), rank.get(c.cites[0], len(rank)), c.id))
        if out:
            self.news.cards[concept.id] = out

    def _sorted(self, concept: Resolved, reply: CardsReply, mine: Sequence[LiveCard]) -> SortedCards:
        """Return the engine's cards for a concept by the user's decisions; only the embedded engine suggests any."""
        if self.engine == FAMILY:
            return SortedCards(keyed(reply.cards, self._key_suffix(concept)), frozenset(), {})
        return sort_cards(reply, self.triage, self._id_of, [card.id for card in mine])

    def _id_of(self, key: str) -> CardId:
        """Return the id of the card that has, had or would have the key."""
        return self._card_of_key(key) or CardId(mint("card", key, self.ids.births))

    def _key_suffix(self, concept: Resolved) -> Callable[[str], str]:
        """Return what to add to a card's key, given its claim, where another concept's card may have the same.

        The embedded engine writes a card for one concept; others may ask two concepts about one claim.
        """
        if self.engine != FAMILY:
            return lambda _: ""
        return lambda claim: "" if self.home.get(claim) == concept.id else f":{concept.id}"

    def _after_changes(
        self, card: LiveCard, concept: Resolved, claims: Claims, proposals: dict[str, ProposedCard]
    ) -> list[LiveCard]:
        """Return the card after what happened to its claims: unchanged, changed, or none if it is retired.

        Its proposal is removed from `proposals`. A card keeps its own words if those of its claims changed in looks
        only, or if the engine has no such card any more though the claims say the same.
        """
        proposal = proposals.pop(self._key(card.id), None)
        if self._is_proved(card):
            self.news.kept += 1
            self._revive(card.id)
            return [self._in_concept(card, concept)]
        said = self._claims_changed(card)
        own = as_proposed(card)
        if said is Change.COSMETIC and (proposal is None or change_between(card, proposal) is not Change.COSMETIC):
            proposal = own
        if proposal is None or self._refused(proposal, concept, claims):
            if said in (None, Change.FACT) or proposal is own or self._refused(own, concept, claims):
                self._retire(card, "its evidence changed")
                return []
            proposal = own
        change = change_between(card, proposal)
        if change is Change.FACT and said in (Change.COSMETIC, Change.REWORDED):
            change = Change.REWORDED  # the same facts, asked for in another way
        return [self._record_change(card, self._card(card.id, proposal, concept), change)]

    def _refused(self, card: ProposedCard, concept: Resolved, claims: Claims) -> str:
        """Return why the gate refuses a card; "" if it passes."""
        fault = claims.known_fault(card)
        if fault is None:
            fault = self.gate.fault(card, concept.title, claims.views(), concept.aliases)
            claims.remember_fault(card, fault)
        return self.gate.refused(card, concept.title, {}, names=concept.aliases, concept=concept.id, fault=fault)

    def _in_concept(self, card: LiveCard, concept: Resolved) -> LiveCard:
        """Return the card under the concept; the ledger learns it if the card was another concept's."""
        if card.concept == concept.id:
            return card
        moved = replace(card, concept=concept.id)
        by = {"by": "agent"} if card.engine.startswith(AGENTS) else {}
        self.news.events.append(self._event("change", moved) | {"how": Change.COSMETIC.value} | by)
        return moved

    def _is_proved(self, card: LiveCard) -> bool:
        """Return whether the claims of a card say what they said when it was made."""
        former = card.engine == FORMER_FAMILY and not any(c in self.said_before for c in card.cites)
        return former or card.proof == proof_of(card.cites, self.words)

    def _claims_changed(self, card: LiveCard) -> Change | None:
        """Return how far this build changed the claims that the card cites; None if that cannot be known."""
        changed = [c for c in card.cites if c in self.said_before]
        if not changed or any(self.words[c].partition(" ")[2] != self.quotes.get(c) for c in card.cites):
            return None  # a claim that is stated in an engine's words may say other things of the same quote
        return worst(classify(self.said_before[c], self.quotes[c]) for c in changed)

    def _record_change(self, old: LiveCard, new: LiveCard, change: Change) -> LiveCard:
        """Return `new`, and record that `old` became it, and how."""
        same = (old.question, old.answer) == (new.question, new.answer)
        self.news.kept += same
        self.news.updated += not same
        self._revive(new.id)
        self.news.events.append(self._event("change", new) | change_facts(old, new, change))
        return new

    def _remember_retired(self, card: LiveCard) -> None:
        """Remember what a retired card asks: should the same be asked again, that card returns with its history."""
        machines = not card.engine.startswith(AGENTS) and card.id not in self.ids.merged
        if machines and not self._unwanted(card.id) and not self.triage.is_undone(card.id):
            self._retired_by_question.setdefault((card.concept, card.kind, fold(card.question).casefold()), []).append(
                card
            )

    def _retired_asking(self, key: str, proposal: ProposedCard, concept: Resolved) -> CardId | None:
        """Return the retired card that asks what `proposal` asks, the last one retired first, under the new key."""
        question = fold(proposal.question).casefold()
        found = self._retired_by_question.get((concept.id, CardKind(proposal.kind), question), [])
        if not found:
            return None
        card = max(found, key=lambda c: (self.ids.retired.get(c.id, self.at), c.id))
        found.remove(card)
        self._keys[card.id], self._owners[key] = key, card.id
        self.news.events.append({"v": 1, "type": "reanchor", "of": "card", "id": card.id, "at": self.at, "key": key})
        return card.id

    def _created(self, key: str, proposal: ProposedCard, concept: Resolved, *, kept: bool) -> LiveCard:
        """Return a new card of a proposal, or the retired one that it brings back; a `kept` one has its own id."""
        known = self._card_of_key(key) or (None if kept else self._retired_asking(key, proposal, concept))
        id_ = CardId(known or mint("card", key, self.ids.births))
        card = self._card(id_, proposal, concept)
        if known:  # it was retired; its history goes on
            self._undo_retirement(id_)
            self._revive(id_)
            before = self.before.get(id_)
            change = change_facts(before, card, change_between(before, proposal)) if before else {}
            self.news.events.append(self._event("change", card) | change)
        else:
            self.news.events.append(self._event("birth", card) | {"key": key})
        self.news.created += 1
        return card

    def _card(self, id_: CardId, proposal: ProposedCard, concept: Resolved) -> LiveCard:
        """Return a proposal as a card of the concept."""
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
        """Return a ledger event with all that a card says."""
        head: Event = {"v": 1, "type": type_, "of": "card", "id": card.id, "at": self.at}
        text = {"concept": card.concept, "kind": card.kind.value, "q": card.question, "a": card.answer}
        return head | text | {"cites": list(card.cites), "proof": card.proof, "engine": card.engine}

    def _revive(self, id_: CardId) -> None:
        """Record that a retired card lives again."""
        if id_ in self.ids.retired:
            self.news.events.append({"v": 1, "type": "revive", "of": "card", "id": id_, "at": self.at})

    def _retire(self, card: LiveCard, reason: str) -> None:
        """Record that a card is not asked any more, and why."""
        self._remember_retired(card)
        if self.ids.alive(card.id):
            self.news.suspended += 1
            self.news.events.append(
                {"v": 1, "type": "retire", "of": "card", "id": card.id, "at": self.at, "reason": reason}
            )
            if not self._unwanted(card.id) and reason != _UNDONE:
                self.news.lost[card.id] = card, reason

    def _undo_retirement(self, id_: CardId) -> None:
        """Remove the event by which this build retired a card, if there is one."""
        for event in [e for e in self.news.events if e["type"] == "retire" and e["id"] == id_]:
            self.news.events.remove(event)
            self.news.lost.pop(id_, None)
            self.news.suspended -= 1

    def close(self) -> CardNews:
        """Retire the cards whose concept is gone, choose what is suggested besides, and return all news."""
        for cards in self._by_concept.values():
            for card in cards:
                self._retire(card, "its concept no longer exists")
        self.news.suggested = offered(self._candidates, self._not_to_suggest)
        return self.news

    def _not_to_suggest(self, candidate: Candidate) -> str:
        """Return why a card is not suggested: no gate lets it in, or the user does not want it; "" if it may be."""
        return self._unwanted(candidate.id) or self._refused(candidate.card, *self._asked[candidate.concept])
