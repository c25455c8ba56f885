"""What the wiki cannot say: names without an article, concepts with evidence of few kinds or from one source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from compiler.cards.live_cards import LiveCard
from compiler.concepts.resolve import Resolution, Resolved
from compiler.concepts.unexplained import Lacking
from compiler.gates.gates import KIND_OF
from compiler.language.mentions import explains, first_mention
from compiler.language.passing_mentions import MAX_PLACES, count, explained_by_list, names_beyond_limit, only_dropped
from compiler.sources.duplicates import Copy, original_of
from vault.ids import ConceptId, GapId, SourceId, mint
from vault.log.ledger import Event, Ids
from vault.model.card import CardKind
from vault.model.claim import ClaimKind
from vault.model.gaps import Gap, GapKind, GapStatus, parse_agenda
from vault.model.source import SourceText

ENOUGH_CLAIMS = 3  # that make a concept one of weight
ENOUGH_LEANING = 3  # articles that name it, which do so, too
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
_ONE_SENTENCE = ("one sentence is all that is known of it", "a source that says more of it")
_ONE_SOURCE = ("all that is known of it rests on one source", "a second, independent source on it")
_CONTESTED = ("its sources contradict each other, and none weighs more", "a weightier source that settles it")
_ASKED = frozenset({*(kind.value for kind in CardKind), "one-sentence", "one-source", "contested"})


@dataclass(frozen=True, slots=True)
class _OpenGap:
    """A gap as this compile finds it, before its id and the user's decisions."""

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
        """Return the originals of these sources, each once."""
        return sorted({o if (o := original_of(s, self.copies)) in self.texts else s for s in sources})


def find_gaps(
    resolution: Resolution,
    cards: Mapping[str, Sequence[LiveCard]],
    links: Mapping[str, str],
    origins: Mapping[str, int],
    shelf: Shelf,
    contested: Collection[ConceptId] = (),
) -> list[_OpenGap]:
    """Return the gaps, most pressing first. By concept id, `links` has its link and `origins` its number of sources.

    `contested` are the concepts with a contradiction that nothing decides.
    """
    named = _named_by(resolution)
    found = [*_structural(resolution, links, shelf), *_epistemic(resolution, cards, links, origins, named, contested)]
    return sorted(found, key=lambda g: (g.kind.value, -g.weight, g.what.casefold(), g.rank, g.key))


def _named_by(resolution: Resolution) -> dict[str, list[str]]:
    """Return for each concept the concepts whose own claims name it."""
    named: dict[str, dict[str, None]] = defaultdict(dict)
    for concept in resolution.concepts.values():
        for claim in concept.main:
            for other in resolution.mentions.get(claim.id, ()):
                if other != concept.id:
                    named[other][concept.id] = None
    return {k: list(v) for k, v in named.items()}


def _structural(resolution: Resolution, links: Mapping[str, str], shelf: Shelf) -> Iterator[_OpenGap]:
    """Yield the names that articles or sources use and that no article explains."""
    by_name: dict[str, dict[str, None]] = defaultdict(dict)
    for concept in resolution.concepts.values():
        for claim in concept.main:
            for key in resolution.named_by.get(claim.id, ()):
                by_name[key][concept.id] = None
    lowered: dict[str, str] = {id_: text.text.lower() for id_, text in shelf.texts.items()}
    wanted = {key: one for key, one in resolution.lacking.items() if _is_wanted(one, shelf, lowered)}
    sources = {key: shelf.first_hand(one.sources) for key, one in wanted.items()}
    first = {
        key: (sources[key][0], at)
        for key, one in wanted.items()
        if len(sources[key]) == 1 and (at := first_mention(lowered[sources[key][0]], one.spellings)) >= 0
    }
    too_many = names_beyond_limit({key: place for key, place in first.items() if not by_name.get(key)}, lowered)
    for key, one in wanted.items():
        if key in too_many:
            continue
        articles = sorted(links[c] for c in by_name.get(key, ()))
        place = shelf.texts[first[key][0]].locate(first[key][1]) if key in first else ""
        yield _OpenGap(
            key=f"structural:{key}",
            kind=GapKind.STRUCTURAL,
            what=one.name,
            missing=_who_names_it(len(articles), len(sources[key]), place),
            fill="a source that explains it",
            mentions=(*articles, *sorted(shelf.links[s] for s in sources[key]))[:SHOWN_MENTIONS],
            weight=(len(articles) + len(sources[key])) * (MAX_PLACES + 1)
            + min(MAX_PLACES, sum(count(lowered[s], one.spellings) for s in sources[key])),
            rank=0,
            also=tuple(f"structural:{k}" for k in one.keys),
        )


def _is_wanted(one: Lacking, shelf: Shelf, lowered: Mapping[str, str]) -> bool:
    """Return whether no source explains a name, and at least one does more than mention it."""
    texts = lowered.values()
    if any(explains(text, one.spellings) or explained_by_list(text, one.spellings) for text in texts):
        return False
    return not all(only_dropped(shelf.texts[s].text, one.spellings) for s in shelf.first_hand(one.sources))


def _who_names_it(articles: int, sources: int, place: str) -> str:
    """Return in words where an unexplained name is named."""
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
    contested: Collection[ConceptId],
) -> list[_OpenGap]:
    """Return what is missing about concepts that have an article."""
    found: list[_OpenGap] = []

    def ask(concept: Resolved, what: str, words: tuple[str, str], weight: int, rank: int) -> None:
        keys = [f"{GapKind.EPISTEMIC}:{id_}:{what}" for id_ in (concept.id, *resolution.taken_in.get(concept.id, ()))]
        about = (keys[0], GapKind.EPISTEMIC, concept.title, *words, (links[concept.id],))
        found.append(_OpenGap(*about, weight, rank, also=tuple(keys[1:])))

    for concept in resolution.concepts.values():
        leaning = len(named.get(concept.id, ()))
        weight = leaning + origins[concept.id] + len(concept.main)
        if concept.id in contested:
            ask(concept, "contested", _CONTESTED, weight, -1)
        if len(concept.main) == 1:
            if leaning or concept.main[0].kind is ClaimKind.DEFINITION:
                ask(concept, "one-sentence", _ONE_SENTENCE, weight, 0)
            continue
        is_light = len(concept.main) < ENOUGH_CLAIMS and leaning < ENOUGH_LEANING
        if is_light and not leaning:
            continue
        carded = {c.kind for c in cards.get(concept.id, ())}
        lacks = [kind for kind in _MISSING if kind not in carded and not _has_evidence(concept, kind.value)]
        for rank, kind in enumerate(lacks[:1] if is_light else lacks):
            ask(concept, kind.value, _MISSING[kind], weight, rank)
        if origins[concept.id] == 1 and leaning >= ENOUGH_LEANING:
            ask(concept, "one-source", _ONE_SOURCE, weight, len(_MISSING))
    return found


def _has_evidence(concept: Resolved, what: str) -> bool:
    """Return whether a concept's claims hold what a gap asks for; `what` is the last part of the gap's key."""
    if what == "contested":
        return True  # that it is not on the agenda any more says that it is settled
    if what == "one-sentence":
        return len(concept.main) > 1
    if what == "one-source":
        return len({claim.source for claim in concept.main}) > 1
    if {claim.kind for claim in concept.main} & KIND_OF[what]:
        return True
    return what == CardKind.DEFINITIONAL and _is_defined(concept)


def _is_defined(concept: Resolved) -> bool:
    """Return whether a sentence says what a concept is, though it is a claim of another kind."""
    spellings = {concept.title, *concept.aliases, *concept.keys}
    starts = tuple(f"{article}{name}".casefold() + " " for name in spellings for article in ("", "the ", "a ", "an "))
    return any(
        explains(claim.words.lower(), spellings)
        or (claim.kind is ClaimKind.MECHANISM and claim.words.casefold().startswith(starts))
        for claim in concept.main
    )


def _is_filled(key: str, known: Resolution) -> bool:
    """Return whether what a gap asked for is there now."""
    kind, _, rest = key.partition(":")
    if kind == GapKind.STRUCTURAL:
        return any(rest in concept.keys for concept in known.concepts.values())
    about, _, what = rest.partition(":")
    concept = known.concepts.get(ConceptId(about))
    return concept is not None and what in _ASKED and _has_evidence(concept, what)


def decisions_in(events: Sequence[Event]) -> dict[GapId, GapStatus]:
    """Return the last decision on each gap; "reopen" undoes one."""
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


def learner_gaps(page: str, decisions: Mapping[GapId, GapStatus]) -> list[Gap]:
    """Return the learner's gaps of the agenda page, which a build only copies: they come from the review log."""
    kept = [gap for gap in parse_agenda(page) if gap.kind is GapKind.LEARNER]
    closing = {GapStatus.RESOLVED, GapStatus.IGNORED}
    out = []
    for gap in kept:
        ticked = gap.ticked and gap.open and decisions.get(gap.id) in closing
        out.append(replace(gap, status=decisions[gap.id] if ticked else gap.status, ticked=False))
    return out


def agenda_gaps(
    found: Sequence[_OpenGap],
    known: Resolution,
    births: Mapping[str, Event],
    ids: Ids,
    decisions: Mapping[GapId, GapStatus],
    at: str,
    fills: Mapping[GapId, Sequence[str]] | None = None,
) -> tuple[list[Gap], list[Event]]:
    """Return all gaps as the agenda shows them, filled ones last, and their ledger events.

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
