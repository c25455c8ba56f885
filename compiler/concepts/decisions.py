"""The user's decisions about concepts: reading them from `ledger/decisions.jsonl` and combining them to rulings.

Each decision is one event with an id of its own; an `undo` names the decision that it voids. The events give the same
rulings in any order, so that two clones whose ledgers were merged agree. Of two decisions that contradict each other
the later counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from compiler.concepts.rulings import Pair, Rulings, Sense, Span, Union, given_keys, is_sense, pair
from compiler.language import names
from vault.ids import ID, ConceptId, mint
from vault.inbox.events import TYPE as INBOX
from vault.inbox.events import UNDO as TAKEN_BACK
from vault.inbox.events import Choice
from vault.inbox.names import names_of
from vault.log.ledger import Event, ordered
from vault.model.article import FRESHNESS_DAYS, NORMAL
from vault.text.formatting import clean_line

TYPE = "concept"
_MOST_KEYS = 500  # of one concept, or places that one split names


class Op(StrEnum):
    """The kinds of decision."""

    RENAME = "rename"
    MERGE = "merge"
    NEVER = "never"  # they are two, whatever rules and models say
    SPLIT = "split"
    ALIAS = "alias"
    UNALIAS = "unalias"
    FRESHNESS = "freshness"  # after how long its page is to be looked at again
    UNDO = "undo"


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision. `keys` are of names: of the first concept, then (merge, never) of the second.

    `id` is the concept that it is about, of a merge the one that ends in `into`; "" where names alone were set apart.
    `places` are the ids of the sources and claims that a split moves. Of a freshness, `name` is the tier, `id` may be a
    topic, and `places` are the ids of its articles.
    """

    decision_id: str
    op: Op
    at: str
    id: str = ""
    into: str = ""
    name: str = ""
    keys: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    voids: str = ""
    via: str = "cli"


def event_of(decision: Decision) -> Event:
    """Return the line of the ledger for a decision."""
    fields = {"id": decision.id, "into": decision.into, "name": decision.name, "voids": decision.voids}
    lists = {"keys": decision.keys, "other": decision.other, "places": decision.places}
    head: Event = {"v": 1, "type": TYPE, "deed": decision.decision_id, "op": decision.op.value}
    given = {k: v for k, v in fields.items() if v} | {k: list(v) for k, v in lists.items() if v}
    return head | given | {"at": decision.at, "via": decision.via}


def new_id(decision: Decision, known: Iterable[str]) -> str:
    """Return an id for a decision: the same for the same decision at the same instant."""
    body = json.dumps({**event_of(decision), "deed": ""}, ensure_ascii=False, sort_keys=True)
    return mint("deed", body, frozenset(known))


def decisions_in(events: Iterable[Event]) -> list[Decision]:
    """Return the valid decisions among `events`, the oldest first."""
    found = (_decision_of(e) for e in ordered(e for e in events if e.get("type") == TYPE))
    return list({d.decision_id: d for d in found if d is not None}.values())


def _decision_of(event: Event) -> Decision | None:
    """Return the decision that an event records; None if it is not valid."""
    texts = {k: event.get(k, "") for k in ("deed", "op", "at", "id", "into", "name", "voids", "via")}
    lists = {k: event.get(k, []) for k in ("keys", "other", "places")}
    if not all(isinstance(t, str) for t in texts.values()) or not all(_is_list(value) for value in lists.values()):
        return None
    if texts["op"] not in set(Op) or not ID.fullmatch(texts["deed"]):
        return None
    if any(texts[k] and not ID.fullmatch(texts[k]) for k in ("id", "into", "voids")):
        return None
    if texts["name"] and (texts["name"] != clean_line(texts["name"]) or names.unfit(texts["name"])):
        return None
    op = Op(texts.pop("op"))
    keys, other, places = (tuple(lists[k]) for k in ("keys", "other", "places"))
    return Decision(texts.pop("deed"), op=op, keys=keys, other=other, places=places, **texts)


def _is_list(value: object) -> bool:
    """Return whether a value is a list of non-empty texts."""
    if not isinstance(value, list) or len(value) > _MOST_KEYS:
        return False
    return all(isinstance(v, str) and 0 < len(v) <= 200 for v in value)


def current_decisions(decisions: Sequence[Decision]) -> tuple[list[Decision], dict[str, Decision]]:
    """Return (the decisions that count, without undos; by id of each that was undone, the undo)."""
    undone: dict[str, Decision] = {}
    for decision in reversed(decisions):
        if decision.op is Op.UNDO and decision.decision_id not in undone:
            undone.setdefault(decision.voids, decision)
    return [d for d in decisions if d.op is not Op.UNDO and d.decision_id not in undone], undone


def _answers_in(events: Iterable[Event]) -> Iterator[Decision]:
    """Return what was answered in the inbox: that two names are one idea or two, and what was undone of it."""
    for event in events:
        keys, id_ = names_of(event), event.get("id")
        if event.get("type") != INBOX or not isinstance(event.get("at"), str):
            continue
        if keys is not None and isinstance(id_, str):
            op = Op.MERGE if event.get("decision") == Choice.ACCEPT else Op.NEVER
            yield Decision(f"inbox:{id_}", op, event["at"], keys=(keys[0],), other=(keys[1],))
        elif event.get("decision") == TAKEN_BACK:
            voids = str(event.get("voids"))
            yield Decision(f"inbox-undo:{voids}", Op.UNDO, event["at"], voids=f"inbox:{voids}")


def rulings_of(events: Iterable[Event]) -> Rulings:
    """Return what all decisions amount to, those of the inbox among them."""
    known = ordered(events)
    decisions = sorted([*decisions_in(known), *_answers_in(known)], key=lambda d: (d.at, d.decision_id))
    alive, undone = current_decisions(decisions)
    folding = _Folding()
    for decision in reversed(alive):  # of two that cannot both hold, the later does
        folding.relate(decision)
    for decision in decisions:
        if decision.op is Op.FRESHNESS and decision.decision_id in undone:
            folding.freshness |= dict.fromkeys((decision.id, *decision.places), NORMAL)
    for order, decision in enumerate(alive):
        folding.take(order, decision)
    undos = ((d, undone[d.decision_id]) for d in decisions if d.decision_id in undone and d.op is not Op.UNDO)
    spans = (Span(d.at, u.at, frozenset(filter(None, (d.id, d.into)))) for d, u in undos if d.at <= u.at)
    return folding.rulings(tuple(sorted(spans, key=lambda s: (s.start, s.end, sorted(s.concepts)))))


@dataclass(slots=True)
class _Folding:
    """The rulings while decisions are added one by one."""

    same: set[Pair] = field(default_factory=set)
    apart: set[Pair] = field(default_factory=set)
    loose: set[str] = field(default_factory=set)
    into: dict[ConceptId, ConceptId] = field(default_factory=dict)
    names: dict[ConceptId, str] = field(default_factory=dict)
    aliases: dict[ConceptId, dict[str, None]] = field(default_factory=dict)
    senses: dict[str, list[Sense]] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    freshness: dict[str, str] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    arbiter: Union = field(default_factory=Union)

    def relate(self, decision: Decision) -> None:
        """Record which names are one and which are two by this decision, unless a later one says otherwise."""
        new = given_keys(decision.name) if decision.name else ()
        if decision.op is Op.MERGE:
            self._join(decision.keys[:1], decision.other[:1])
        elif decision.op in (Op.RENAME, Op.ALIAS):
            self._join(decision.keys[:1], new)
        elif decision.op is Op.SPLIT:
            self._join(new[:1], new[1:])
            self._part(decision.keys, new[:1])
        elif decision.op is Op.NEVER:
            self._part(decision.keys, decision.other)
        elif decision.op is Op.UNALIAS:
            self._part(decision.keys[:1], new)
            self.loose |= set(new)

    def _join(self, some: Iterable[str], others: Sequence[str]) -> None:
        """Record that the names are one."""
        self.same |= {pair(a, b) for a in some for b in others if a != b and self.arbiter.join(a, b)}

    def _part(self, some: Iterable[str], others: Sequence[str]) -> None:
        """Record that the names are two."""
        self.apart |= {pair(a, b) for a in some for b in others if a != b and self.arbiter.part(a, b)}

    def take(self, order: int, decision: Decision) -> None:
        """Record what else a decision says; a later one replaces what an earlier one said."""
        id_ = ConceptId(decision.id)
        if decision.op is Op.RENAME and decision.name:
            self.names[id_] = decision.name
        elif decision.op is Op.MERGE and decision.into:
            self.into.pop(ConceptId(decision.into), None)
            self.into[id_] = ConceptId(decision.into)
        elif decision.op is Op.SPLIT and decision.name and (new := given_keys(decision.name)):
            self.kept |= {new[0], *decision.keys}
            self.titles[new[0]] = decision.name
            for place in decision.places:
                self.senses.setdefault(place, []).extend(Sense(order, k, new[0]) for k in decision.keys if k != new[0])
        elif decision.op is Op.ALIAS and decision.name:
            self.aliases.setdefault(id_, {})[decision.name] = None
        elif decision.op is Op.FRESHNESS and decision.name in FRESHNESS_DAYS:
            self.freshness |= dict.fromkeys((decision.id, *decision.places), decision.name)
        elif decision.op is Op.UNALIAS:
            gone = set(given_keys(decision.name))
            kept = {a: None for a in self.aliases.get(id_, {}) if gone.isdisjoint(given_keys(a))}
            self.aliases[id_] = kept

    def rulings(self, undone: tuple[Span, ...]) -> Rulings:
        """Return the rulings that the decisions amount to."""
        return Rulings(
            same=frozenset(self.same),
            apart=frozenset(self.apart),
            loose=frozenset(self.loose) | frozenset(k for k in self.titles if is_sense(k)),
            into=self.into,
            names=self.names,
            aliases={id_: tuple(sorted(given)) for id_, given in self.aliases.items() if given},
            senses={place: tuple(senses) for place, senses in self.senses.items()},
            titles=self.titles,
            freshness=self.freshness,
            kept=frozenset(self.kept),
            undone=undone,
        )
