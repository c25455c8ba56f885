"""Commands on concepts (rename, merge, split, ...): finding the concept, checking the decision, building its record."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches

from compiler.concepts.decisions import Decision, Op, current_decisions, decisions_in, new_id
from compiler.concepts.rulings import given_keys, last
from compiler.language import names
from vault.errors import NotFound, UsageError
from vault.ids import ID
from vault.layout import CONCEPTS
from vault.log import ledger
from vault.log.ledger import Event, Ids
from vault.text.formatting import clean_line, normal
from vault.vault import Vault

NEAR = 3  # concepts that are named where a name fits none
_LIST = "`retain concept list` shows all concepts"


@dataclass(frozen=True, slots=True)
class Known:
    """A concept of the ledger with an article. `keys` are those of all its names, the one that finds its id first."""

    id: str
    title: str
    aliases: tuple[str, ...]
    path: str
    sources: tuple[str, ...]
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shelf:
    """The concepts and the decisions of the ledgers, the oldest first."""

    concepts: tuple[Known, ...]
    ids: Ids
    decisions: tuple[Decision, ...]
    latest: tuple[Event, ...]  # the last event of each ledger

    @classmethod
    def of(cls, vault: Vault) -> Shelf:
        """Return the concepts and decisions of the vault's ledgers."""
        read = [ledger.ordered(vault.ledger_events(path)[0]) for path in (ledger.IDS, ledger.DECISIONS, ledger.BUILDS)]
        ids = ledger.fold(read[0])
        found = [_known(i, ids) for i, b in ids.births.items() if b.noun == "concept" and ids.alive(i)]
        found.sort(key=lambda k: (k.title.casefold(), k.id))
        return cls(tuple(found), ids, tuple(decisions_in(read[1])), tuple(events[-1] for events in read if events))

    @property
    def undone(self) -> frozenset[str]:
        """Return the ids of the decisions that were undone."""
        return frozenset(current_decisions(self.decisions)[1])

    def called_once(self, id_: str) -> str:
        """Return the first name of a concept, which is recorded in decisions whatever it is called later."""
        return clean_line(self.ids.first_name(id_))

    def find(self, given: str) -> Known:
        """Return the one concept of that id, title, file or alias. Raises: NotFound, UsageError where several match."""
        wanted = clean_line(normal(given))
        stem = wanted.rsplit("/", 1)[-1].removesuffix(".md")
        heir = last(self.ids.merged, wanted) if ID.fullmatch(wanted) else ""
        keys = set(given_keys(wanted[: names.MAX_GIVEN]))
        ways: tuple[Callable[[Known], bool], ...] = (
            lambda k: k.id in (wanted, heir),
            lambda k: k.title == wanted,
            lambda k: k.title.casefold() == wanted.casefold(),
            lambda k: k.path == f"{CONCEPTS}/{stem}.md",
            lambda k: wanted.casefold() in [a.casefold() for a in k.aliases],
            lambda k: not keys.isdisjoint(k.keys),
        )
        for way in ways:
            found = [k for k in self.concepts if way(k)]
            if len(found) == 1:
                return found[0]
            if found:
                listed = ", ".join(f"{k.id} ({k.title})" for k in found[:10])
                raise UsageError(
                    f"{len(found)} concepts have that name", where=wanted[:80], hint=f"choose one: {listed}"
                )
        raise NotFound("there is no concept with that name", where=wanted[:80], hint=self._near(wanted))

    def _near(self, wanted: str) -> str:
        """Return the titles that are most like a name."""
        by_name = {n.casefold(): k for k in self.concepts for n in (k.title, *k.aliases)}
        near = [by_name[n] for n in get_close_matches(wanted.casefold()[:80], by_name, NEAR, 0.6)]
        shown = " or ".join(dict.fromkeys(f"{k.title} ({k.id})" for k in near))
        return f"perhaps {shown}; {_LIST}" if shown else _LIST

    def called(self, name: str) -> Known | None:
        """Return the concept that has this among its names; None if none has."""
        keys = set(given_keys(name))
        return next((k for k in self.concepts if not keys.isdisjoint(k.keys)), None)

    def decision(self, given: str) -> Decision:
        """Return a decision by its id; "" for the last one that counts. Raises: NotFound."""
        alive, undone = current_decisions(self.decisions)
        if not given:
            if not alive:
                raise NotFound(
                    "there is no decision about concepts to undo", hint="`retain concept actions` lists them"
                )
            return alive[-1]
        found = [d for d in self.decisions if d.decision_id == clean_line(given)]
        if not found:
            raise NotFound(
                "there is no decision with that id",
                where=clean_line(given)[:40],
                hint="`retain concept actions` lists them",
            )
        if found[0].decision_id in undone:
            raise UsageError("this decision is already undone", where=found[0].decision_id)
        return found[0]


def _known(id_: str, ids: Ids) -> Known:
    """Return a concept of the ledger with its names."""
    birth, changed = ids.births[id_], ids.changed.get(id_, {})
    aliases = tuple(ledger.strings(changed.get("aliases")))
    keys = dict.fromkeys([ids.present_key[id_], *(k for n in (birth.name, *aliases) for k in given_keys(n))])
    sources = tuple(dict.fromkeys(ledger.strings(changed.get("sources"))))
    return Known(id_, birth.name, aliases, f"{CONCEPTS}/{birth.slug}.md", sources, tuple(keys))


def checked(given: str) -> str:
    """Return a name that a user gives in the form to store. Raises: UsageError for what cannot be one."""
    name = re.sub(r"\s+", " ", normal(given)).strip()
    if why := names.unfit(name):
        raise UsageError(why, where=clean_line(name)[:80] or "the new name", hint="give it another name")
    return name


def rename(shelf: Shelf, which: str, new: str) -> Decision:
    """Return the decision to give a concept another name."""
    known, name = shelf.find(which), checked(new)
    if name == known.title:
        raise UsageError("the concept already has this name", where=known.title)
    _refuse_taken(shelf, known, name)
    return _new_decision(Op.RENAME, id=known.id, name=name, keys=known.keys[:1])


def merge(shelf: Shelf, one: str, other: str, *, into: str = "") -> Decision:
    """Return the decision to make two concepts one: `into`, or else the second, remains."""
    a, b = shelf.find(one), shelf.find(other)
    if into:
        kept = shelf.find(into)
        if kept.id not in (a.id, b.id):
            raise UsageError("--into must name one of the two concepts", where=kept.title)
        a, b = (b, a) if kept.id == a.id else (a, b)
    if a.id == b.id:
        raise UsageError("both names already belong to the same concept", where=a.title)
    return _new_decision(Op.MERGE, id=a.id, into=b.id, keys=a.keys[:1], other=b.keys[:1])


def never(shelf: Shelf, one: str, other: str) -> Decision:
    """Return the decision to keep two names two ideas for good."""
    (a, a_keys), (b, b_keys) = (_named(shelf, n) for n in (one, other))
    if a is not None and b is not None and a.id == b.id:
        return unalias(shelf, a.id, other)
    if not a_keys or not b_keys or a_keys == b_keys:
        raise UsageError("the two names are the same", where=clean_line(f"{one} / {other}")[:80])
    return _new_decision(Op.NEVER, id=a.id if a else "", into=b.id if b else "", keys=a_keys, other=b_keys)


def _named(shelf: Shelf, given: str) -> tuple[Known | None, tuple[str, ...]]:
    """Return the concept that is meant with its key, or None with the keys of what is only a name."""
    try:
        known = shelf.find(given)
    except NotFound:
        return None, given_keys(checked(given))
    return known, known.keys[:1]


def split(shelf: Shelf, which: str, name: str, sources: Sequence[str], claims: Sequence[str]) -> Decision:
    """Return the decision that what these sources or claims say of a concept belongs to another of the given name."""
    known, new = shelf.find(which), checked(name)
    if not sources and not claims:
        raise UsageError("no sources or claims to split off", hint="choose sources or claims: --source S, --claim C")
    if given_keys(new)[:1] == known.keys[:1]:
        hint = f'add a qualifier in brackets: --as "{new} (of another kind)"'
        raise UsageError("the new name is the name that the concept already has", where=new, hint=hint)
    places = [_source(shelf, known, s) for s in sources]
    if not claims and set(known.sources) <= set(places):
        raise UsageError("these are all its sources: none would be left", where=known.title, hint="rename it instead")
    places += [_claim(shelf, known, c) for c in claims]
    return _new_decision(Op.SPLIT, id=known.id, name=new, keys=known.keys, places=tuple(dict.fromkeys(places)))


def _source(shelf: Shelf, known: Known, given: str) -> str:
    """Return the id of a source of the concept, named by id, path, or the stem of its summary."""
    births, wanted = shelf.ids.births, clean_line(given).removeprefix("./")
    stem = wanted.rsplit("/", 1)[-1].removesuffix(".md")
    for id_ in known.sources:
        key = shelf.ids.present_key.get(id_, "")
        if wanted in (id_, key, key.removeprefix("raw/").removeprefix("../")) or (
            id_ in births and births[id_].slug == stem
        ):
            return id_
    listed = ", ".join(shelf.ids.present_key.get(i, i) for i in known.sources[:10])
    raise NotFound(
        f"{known.title} has no source with that name", where=wanted[:80], hint=f"its sources: {clean_line(listed)}"
    )


def _claim(shelf: Shelf, known: Known, given: str) -> str:
    """Return the id of a claim from a source of the concept."""
    wanted = clean_line(given).removeprefix("^").removeprefix("c-")
    birth = shelf.ids.births.get(wanted)
    if birth is None or birth.noun != "claim" or not shelf.ids.alive(wanted):
        raise NotFound(
            "there is no claim with that id", where=wanted[:40], hint="the article's citations show the claim ids"
        )
    if shelf.ids.present_key[wanted].partition(":")[0] not in known.sources:
        raise UsageError(f"this claim is not from a source of {known.title}", where=wanted)
    return wanted


def alias(shelf: Shelf, which: str, given: str) -> Decision:
    """Return the decision to add a name to a concept."""
    known, name = shelf.find(which), checked(given)
    if name in (known.title, *known.aliases):
        raise UsageError("the concept already has this name", where=name)
    _refuse_taken(shelf, known, name)
    return _new_decision(Op.ALIAS, id=known.id, name=name, keys=known.keys[:1])


def unalias(shelf: Shelf, which: str, given: str) -> Decision:
    """Return the decision to take a name out of a concept, which no rule or model brings back."""
    known, name = shelf.find(which), checked(given)
    gone = set(given_keys(name))
    if known.keys[0] in gone and given_keys(known.title)[:1] != known.keys[:1]:
        raise UsageError("retain identifies the concept by this name, so it cannot be removed", where=name)
    if not gone.isdisjoint(given_keys(known.title)):
        raise UsageError(
            "this name is the concept's title", where=name, hint="give it another title first: `retain concept rename`"
        )
    if gone.isdisjoint(known.keys):
        raise NotFound(
            f"{known.title} has no such name", where=name, hint=f"its other names: {', '.join(known.aliases) or 'none'}"
        )
    return _new_decision(Op.UNALIAS, id=known.id, name=name, keys=known.keys[:1])


def freshness(shelf: Shelf, which: str, tier: str) -> Decision:
    """Return the decision after how long the page of a concept, or of a topic and its articles, is looked at again."""
    try:
        return _new_decision(Op.FRESHNESS, id=shelf.find(which).id, name=tier)
    except NotFound:
        topic = _topic(shelf, which)
        if not topic:
            raise
    members = ledger.strings(shelf.ids.changed.get(topic, {}).get("members"))
    return _new_decision(Op.FRESHNESS, id=topic, name=tier, places=tuple(members))


def _topic(shelf: Shelf, given: str) -> str:
    """Return the id of the one topic of that id, title or file; "" if there is none."""
    wanted = clean_line(normal(given)).casefold()
    stem = wanted.rsplit("/", 1)[-1].removesuffix(".md")
    ids = shelf.ids
    topics = [b for b in ids.births.values() if b.noun == "topic" and ids.alive(b.id)]
    found = [b.id for b in topics if wanted in (b.id, b.name.casefold()) or stem == b.slug.casefold()]
    return found[0] if len(found) == 1 else ""


def undo(shelf: Shelf, given: str = "") -> Decision:
    """Return the decision to undo another: the one with that id, or the last."""
    meant = shelf.decision(given)
    return _new_decision(Op.UNDO, id=meant.id, voids=meant.decision_id)


def _refuse_taken(shelf: Shelf, known: Known, name: str) -> None:
    """Raise UsageError if another concept has the name."""
    other = shelf.called(name)
    if other is not None and other.id != known.id:
        hint = f"to merge the two, run `retain concept merge {known.id} {other.id}`"
        raise UsageError(f"another concept has that name: {other.title}", where=name, hint=hint)


def _new_decision(op: Op, **fields: object) -> Decision:
    """Return a decision without id and instant."""
    return replace(Decision("", op, ""), **fields)  # type: ignore[arg-type]


def dated(decision: Decision, shelf: Shelf, at: datetime) -> Decision:
    """Return the decision with its instant, after all that the ledgers know, and an id."""
    made = replace(decision, at=ledger.after(shelf.latest, at))
    return replace(made, decision_id=new_id(made, (d.decision_id for d in shelf.decisions)))
