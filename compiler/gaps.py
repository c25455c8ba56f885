"""What the wiki cannot say: names without an article, kinds without evidence, claims on one source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from compiler.cards import LiveCard
from compiler.duplicates import Copy, origin_of
from compiler.gates import KIND_OF
from compiler.mentions import explains, first_mention
from compiler.resolve import Resolution, Resolved
from vault.agenda import Gap, GapKind, GapStatus
from vault.card import CardKind
from vault.ids import GapId, SourceId, mint
from vault.ledger import Event, Ids
from vault.source import SourceText

ENOUGH_MENTIONS = 2  # articles that name a concept of one source
SHOWN_MENTIONS = 6
_MISSING = {
    CardKind.DEFINITIONAL: ("nothing says what it is", "a source that defines it"),
    CardKind.MECHANISTIC: ("nothing says how or why it works", "a source that explains how it works"),
    CardKind.RELATIONAL: (
        "nothing says how it relates to other concepts",
        "a source that compares it with its neighbours",
    ),
    CardKind.APPLIED: ("nothing says when to use it, or where it fails", "a source that shows it in use"),
}


@dataclass(frozen=True, slots=True)
class _Found:
    """A gap as this compile sees it, before its id and the human's decisions."""

    key: str
    kind: GapKind
    what: str
    missing: str
    fill: str
    mentions: tuple[str, ...]
    weight: int
    rank: int  # among the gaps of one concept
    also: tuple[str, ...] = ()  # keys under which an earlier compile may have known it


@dataclass(frozen=True, slots=True)
class Shelf:
    """The sources by id: their texts, links to their summaries, and which are copies of which."""

    texts: Mapping[SourceId, SourceText]
    links: Mapping[SourceId, str]
    copies: Mapping[SourceId, Copy]

    def first_hand(self, sources: Sequence[SourceId]) -> list[SourceId]:
        """The documents of which these sources are, each once."""
        return sorted({o if (o := origin_of(s, self.copies)) in self.texts else s for s in sources})


def find(
    resolution: Resolution,
    cards: Mapping[str, Sequence[LiveCard]],
    links: Mapping[str, str],
    origins: Mapping[str, int],
    shelf: Shelf,
) -> list[_Found]:
    """The gaps, most pressing first. By concept id, `links` has its link and `origins` how many sources it has."""
    named = _named_by(resolution)
    found = [*_structural(resolution, links, shelf), *_epistemic(resolution, cards, links, origins, named)]
    return sorted(found, key=lambda g: (g.kind.value, -g.weight, g.what.casefold(), g.rank, g.key))


def _named_by(resolution: Resolution) -> dict[str, list[str]]:
    """Concept id -> the concepts whose own claims name it."""
    named: dict[str, dict[str, None]] = defaultdict(dict)
    for concept in resolution.concepts.values():
        for claim in concept.main:
            for other in resolution.mentions.get(claim.id, ()):
                if other != concept.id:
                    named[other][concept.id] = None
    return {k: list(v) for k, v in named.items()}


def _structural(resolution: Resolution, links: Mapping[str, str], shelf: Shelf) -> Iterator[_Found]:
    by_name: dict[str, dict[str, None]] = defaultdict(dict)
    for concept in resolution.concepts.values():
        for claim in concept.main:
            for key in resolution.named_by.get(claim.id, ()):
                by_name[key][concept.id] = None
    lowered = {id_: text.text.lower() for id_, text in shelf.texts.items()}
    for key, one in resolution.lacking.items():
        if any(explains(text, one.spellings) for text in lowered.values()):
            continue
        articles = sorted(links[c] for c in by_name.get(key, ()))
        sources = shelf.first_hand(one.sources)
        place = ""
        if len(sources) == 1 and (at := first_mention(lowered[sources[0]], one.spellings)) >= 0:
            place = shelf.texts[sources[0]].locate(at)
        mentions = (*articles, *sorted(shelf.links[s] for s in sources))[:SHOWN_MENTIONS]
        yield _Found(
            key=f"structural:{key}",
            kind=GapKind.STRUCTURAL,
            what=one.name,
            missing=_who_names_it(len(articles), len(sources), place),
            fill="a source that explains it",
            mentions=mentions,
            weight=len(articles) + len(sources),
            rank=0,
            also=tuple(f"structural:{k}" for k in one.keys),
        )


def _who_names_it(articles: int, sources: int, place: str) -> str:
    many = f"{sources} sources" if sources > 1 else f"one source ({place})" if place else "one source"
    if articles:
        many += f" and {articles} {'articles' if articles > 1 else 'article'}"
    return f"named in {many}, explained in none"


def _epistemic(
    resolution: Resolution,
    cards: Mapping[str, Sequence[LiveCard]],
    links: Mapping[str, str],
    origins: Mapping[str, int],
    named: Mapping[str, Sequence[str]],
) -> list[_Found]:
    found = []
    for concept in resolution.concepts.values():
        weight = len(named.get(concept.id, ())) + origins[concept.id] + len(concept.main)
        mentions = (links[concept.id],)
        carded = {c.kind for c in cards.get(concept.id, ())}
        evidence = {c.kind for c in concept.main}
        for rank, (kind, (missing, fill)) in enumerate(_MISSING.items()):
            if kind not in carded and not evidence & KIND_OF[kind.value]:
                key = f"epistemic:{concept.id}:{kind.value}"
                found.append(_Found(key, GapKind.EPISTEMIC, concept.title, missing, fill, mentions, weight, rank))
        if origins[concept.id] == 1 and len(named.get(concept.id, ())) >= ENOUGH_MENTIONS:
            found.append(_one_source(concept, mentions, weight))
    return found


def _one_source(concept: Resolved, mentions: tuple[str, ...], weight: int) -> _Found:
    key = f"epistemic:{concept.id}:one-source"
    missing = "all that is known of it rests on one source"
    fill = "a second, independent source on it"
    return _Found(key, GapKind.EPISTEMIC, concept.title, missing, fill, mentions, weight, len(_MISSING))


def _is_filled(key: str, known: Resolution) -> bool:
    """Whether what a gap of this key asked for is there now, and not merely what asked for it gone."""
    kind, _, rest = key.partition(":")
    if kind == GapKind.STRUCTURAL:
        return any(rest in concept.keys for concept in known.concepts.values())
    return rest.partition(":")[0] in known.concepts


def decisions_in(events: Sequence[Event]) -> dict[GapId, GapStatus]:
    """The last decision on each gap; "reopen" takes one back."""
    out: dict[GapId, GapStatus] = {}
    status = {"resolve": GapStatus.RESOLVED, "ignore": GapStatus.IGNORED, "plan": GapStatus.PLANNED}
    for event in events:
        if event.get("type") != "gap" or not isinstance(event.get("gap"), str):
            continue
        if event.get("decision") in status:
            out[GapId(event["gap"])] = status[event["decision"]]
        elif event.get("decision") == "reopen":
            out.pop(GapId(event["gap"]), None)
    return out


def agenda(
    found: Sequence[_Found],
    known: Resolution,
    births: Mapping[str, Event],
    ids: Ids,
    decisions: Mapping[GapId, GapStatus],
    at: str,
    fills: Mapping[GapId, Sequence[str]] | None = None,
) -> tuple[list[Gap], list[Event]]:
    """All gaps as the agenda shows them, filled ones last, and what the ledger must learn.

    `known` are the concepts with an article. `births` are the ledger's birth events of gaps, by id: a filled gap
    is shown with the words it was born with. `fills` are links to the sources that were added for a gap.
    """
    added = fills or {}
    events: list[Event] = []
    gaps: list[Gap] = []
    present: set[str] = set()
    for one in found:
        known_as = (ids.keys.get(("gap", key)) for key in (one.key, *one.also))
        id_ = next((i for i in known_as if i and i not in present), None) or mint("gap", one.key, ids.births)
        present.add(id_)
        if id_ not in ids.births:
            text = {"kind": one.kind.value, "name": one.what, "missing": one.missing, "fill": one.fill}
            events.append({"v": 1, "type": "birth", "of": "gap", "id": id_, "at": at, "key": one.key, **text})
        elif id_ in ids.retired:
            events.append({"v": 1, "type": "revive", "of": "gap", "id": id_, "at": at})
        gap = Gap(GapId(id_), one.kind, one.what, one.missing, one.fill, one.mentions)
        status = decisions.get(gap.id, GapStatus.OPEN)
        gaps.append(replace(gap, status=status, added=tuple(added.get(gap.id, ()))))
    for id_, event in sorted(births.items()):
        if id_ in present:
            continue
        filled = _is_filled(str(event.get("key", "")), known)
        if id_ not in ids.retired:
            reason = "filled" if filled else "nobody asks any more"
            events.append({"v": 1, "type": "retire", "of": "gap", "id": id_, "at": at, "reason": reason})
        kind = next((k for k in GapKind if k.value == event.get("kind")), None)
        if filled and kind is not None:
            what, missing, fill = (str(event.get(part, "")) for part in ("name", "missing", "fill"))
            by = tuple(added.get(GapId(id_), ()))
            gaps.append(Gap(GapId(id_), kind, what, missing, fill, (), GapStatus.FILLED, added=by))
    return gaps, events
