"""What the wiki cannot say: terms that no source explains, open contradictions, what central concepts lack."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

from compiler.cards.live_cards import LiveCard
from compiler.cards.noted_gaps import RANK, SETTLED
from compiler.cards.term_uses import ENOUGH_PLACES, ENOUGH_SECTIONS, ENOUGH_SOURCES, FEW_SOURCES, Texts
from compiler.concepts.resolve import Resolution, Resolved
from compiler.concepts.unexplained import Lacking
from compiler.index.steps import Steps
from compiler.language.mentions import explains
from compiler.language.passing_mentions import MAX_PLACES
from compiler.sources.duplicates import Copy, original_of
from vault.ids import ConceptId, GapId, SourceId, mint
from vault.log.ledger import Event, Ids
from vault.model.card import CardKind
from vault.model.claim import ClaimKind
from vault.model.gaps import SOURCE_OF_TERM, UNDEFINED, Gap, GapKind, GapStatus, parse_agenda
from vault.model.source import SourceText
from vault.text.formatting import plural

ENOUGH_LEANING = 3  # articles that name a concept, which make it a central one
SHOWN_MENTIONS = 4
LONGEST_USE = 120  # characters of a sentence that are shown around a name
_SAME = 0.7  # of the places of a name that lie in a longer one, from which on it is no name of its own
LACKS_DEFINITION = (UNDEFINED, "a source that defines it")
_ENDINGS = frozenset({"e", "en", "n", "er", "ern", "s", "es"})
CONTESTED = (
    "which is right? Its sources contradict each other, and none has more authority",
    "a source with more authority that settles it",
)


@dataclass(frozen=True, slots=True)
class OpenGap:
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
    use: str = ""  # a part of a sentence that uses it


@dataclass(frozen=True)
class Shelf:
    """The sources by id: their texts, links to their summaries, and which are copies of which.

    `contents` says of each what its text, marks and segments follow from, where `steps` remember what is found in it.
    """

    texts: Mapping[SourceId, SourceText]
    links: Mapping[SourceId, str]
    copies: Mapping[SourceId, Copy]
    contents: Mapping[SourceId, str] = field(default_factory=dict)
    steps: Steps | None = None

    @cached_property
    def originals(self) -> Texts:
        """Return the running text of each original: a copy uses and explains nothing of its own."""
        first_hand = {id_: self.texts[id_] for id_ in self.first_hand(list(self.texts))}
        return Texts(first_hand, self.contents, self.steps)

    def first_hand(self, sources: Sequence[SourceId]) -> list[SourceId]:
        """Return the originals of these sources, each once."""
        return sorted({o if (o := original_of(s, self.copies)) in self.texts else s for s in sources})


def find_gaps(
    resolution: Resolution,
    cards: Mapping[str, Sequence[LiveCard]],
    links: Mapping[str, str],
    shelf: Shelf,
    contested: Collection[ConceptId] = (),
) -> list[OpenGap]:
    """Return the gaps, most pressing first. By concept id, `links` has a concept's link.

    `contested` are the concepts with a contradiction that nothing decides.
    """
    named = _named_by(resolution)
    found = [*_structural(resolution, links, shelf), *_epistemic(resolution, cards, links, shelf, named, contested)]
    return sorted(found, key=lambda g: (g.kind.value, g.rank, -g.weight, g.what.casefold(), g.key))


def noted(birth: Event, link: str) -> OpenGap:
    """Return a gap that a check noted, of the article that `link` leads to."""
    what, missing, fill = (str(birth.get(part, "")) for part in ("name", "missing", "fill"))
    return OpenGap(str(birth["key"]), GapKind.EPISTEMIC, what, missing, fill, (link,), 0, RANK)


def _named_by(resolution: Resolution) -> dict[str, list[str]]:
    """Return for each concept the concepts whose own claims name it."""
    named: dict[str, dict[str, None]] = defaultdict(dict)
    for concept in resolution.concepts.values():
        for claim in concept.main:
            for other in resolution.mentions.get(claim.id, ()):
                if other != concept.id:
                    named[other][concept.id] = None
    return {k: list(v) for k, v in named.items()}


def _structural(resolution: Resolution, links: Mapping[str, str], shelf: Shelf) -> Iterator[OpenGap]:
    """Yield the terms that the sources use and none explains."""
    by_name: dict[str, dict[str, None]] = defaultdict(dict)
    for concept in resolution.concepts.values():
        for claim in concept.main:
            for key in resolution.named_by.get(claim.id, ()):
                by_name[key][concept.id] = None
    wanted = {k: uses for k, one in resolution.lacking.items() if (uses := _uses_of(one, shelf)) is not None}
    for key in _distinct(wanted):
        one, uses = resolution.lacking[key], wanted[key]
        articles = sorted(links[c] for c in by_name.get(key, ()))
        sources = sorted(uses, key=lambda s: (-uses[s], s))
        quotes = (shelf.originals.quote(s, _spellings(one)) for s in sources)
        yield OpenGap(
            key=f"structural:{key}",
            kind=GapKind.STRUCTURAL,
            what=one.name,
            missing=who_uses_it(len(sources), len(articles)),
            fill=SOURCE_OF_TERM,
            mentions=(*articles, *sorted(shelf.links[s] for s in sources))[:SHOWN_MENTIONS],
            weight=(len(sources) + len(articles)) * (MAX_PLACES + 1) + min(MAX_PLACES, sum(uses.values())),
            rank=0,
            also=tuple(f"structural:{k}" for k in one.keys),
            use=next((use_of(quote, _spellings(one)) for quote in quotes if quote), ""),
        )


def _spellings(one: Lacking) -> frozenset[str]:
    """Return the ways to write a name, in the singular too."""
    return frozenset({*one.spellings, *one.keys})


def _uses_of(one: Lacking, shelf: Shelf) -> dict[SourceId, int] | None:
    """Return in how many places each source uses a name; None if it is explained, or used by too few as if known.

    Too few are less than two sources, in a vault of a few less than three sections of one, and less than four places
    in all.
    """
    spellings, originals = _spellings(one), shelf.originals
    uses = {id_: n for id_ in originals.naming(spellings) if (n := originals.places(id_, spellings))}
    if len(uses) < ENOUGH_SOURCES:
        sections = sum(originals.sections(id_, spellings) for id_ in uses)
        if len(originals) >= FEW_SOURCES or sections < ENOUGH_SECTIONS:
            return None
    if sum(uses.values()) < ENOUGH_PLACES:
        return None
    if not originals.is_one_name(spellings) or originals.explain(one.keys, spellings):
        return None
    return None if all(originals.only_drops(id_, spellings) for id_ in uses) else uses


def _distinct(wanted: Mapping[str, Mapping[SourceId, int]]) -> list[str]:
    """Return the names without those that contain another one, or that are mostly said as a part of a longer one."""
    dropped: set[str] = set()
    for long in wanted:
        for short in _shorter(long) & wanted.keys():
            inside = sum(wanted[long].values()) >= _SAME * sum(wanted[short].values())
            dropped.add(short if inside and " " in long else long)
    return [key for key in sorted(wanted) if key not in dropped]


def _shorter(name: str) -> set[str]:
    """Return what a name contains: its runs of words, and a German word without its ending."""
    words = name.split(" ")
    runs = {" ".join(words[i:j]) for i, j in combinations(range(len(words) + 1), 2)}
    return (runs | {name.removesuffix(ending) for ending in _ENDINGS}) - {name}


def who_uses_it(sources: int, articles: int = 0) -> str:
    """Return in words what is asked of an unexplained term, and how many use it."""
    many = plural(sources, "source") + (f" and {plural(articles, 'article')}" if articles else "")
    return f"what is it? It is used in {many}, but no sentence was found that says what it is"


def use_of(sentence: str, names: Collection[str]) -> str:
    """Return the part of a sentence around the first place of one of the names, cut at blanks."""
    if len(sentence) <= LONGEST_USE:
        return sentence.rstrip(".。")
    lowered = sentence.lower()
    at = min((found for name in names if (found := lowered.find(name.lower())) >= 0), default=0)
    first = max(0, min(at - LONGEST_USE // 2, len(sentence) - LONGEST_USE))
    last = first + LONGEST_USE
    if first:
        first = sentence.find(" ", first, at) + 1 or first
    if last < len(sentence):
        blank = sentence.rfind(" ", at, last)
        last = blank if blank > at + LONGEST_USE // 4 else last
    before, after = "…" if first else "", "…" if last < len(sentence) else ""
    return f"{before}{sentence[first:last]}{after}".rstrip(".。")


def _epistemic(
    resolution: Resolution,
    cards: Mapping[str, Sequence[LiveCard]],
    links: Mapping[str, str],
    shelf: Shelf,
    named: Mapping[str, Sequence[str]],
    contested: Collection[ConceptId],
) -> list[OpenGap]:
    """Return what is missing about concepts that have an article.

    These are the contradictions that nothing decides, then the central concepts that no source defines: those that
    several other articles name.
    """
    found: list[OpenGap] = []

    def ask(concept: Resolved, what: str, words: tuple[str, str], rank: int) -> None:
        keys = [f"{GapKind.EPISTEMIC}:{id_}:{what}" for id_ in (concept.id, *resolution.taken_in.get(concept.id, ()))]
        about = (keys[0], GapKind.EPISTEMIC, concept.title, *words, (links[concept.id],))
        found.append(OpenGap(*about, len(named.get(concept.id, ())), rank, also=tuple(keys[1:])))

    for concept in resolution.concepts.values():
        if concept.id in contested:
            ask(concept, "contested", CONTESTED, 0)
        if len(named.get(concept.id, ())) < ENOUGH_LEANING:
            continue
        carded = {c.kind for c in cards.get(concept.id, ())}
        spellings = {concept.title, *concept.aliases, *concept.keys}
        if _is_defined(concept) or CardKind.DEFINITIONAL in carded:
            continue
        if not shelf.originals.explain(concept.keys, spellings):
            ask(concept, "definitional", LACKS_DEFINITION, 1)
    return found


def _is_defined(concept: Resolved) -> bool:
    """Return whether a sentence says what a concept is, be it a claim of that kind or of another one."""
    spellings = {concept.title, *concept.aliases, *concept.keys}
    starts = tuple(f"{article}{name}".casefold() + " " for name in spellings for article in ("", "the ", "a ", "an "))
    return any(
        claim.kind is ClaimKind.DEFINITION
        or explains(claim.words.lower(), spellings)
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
    # That such a gap is not on the agenda any more says that it is settled.
    return concept is not None and (what in SETTLED or (what == "definitional" and _is_defined(concept)))


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
    found: Sequence[OpenGap],
    known: Resolution,
    births: Mapping[str, Event],
    ids: Ids,
    decisions: Mapping[GapId, GapStatus],
    at: str,
    fills: Mapping[GapId, Sequence[str]] | None = None,
    answered: Collection[str] = (),
) -> tuple[list[Gap], list[Event]]:
    """Return all gaps as the agenda shows them, filled ones last, and their ledger events.

    `known` are the concepts with an article. `births` are the ledger's birth events of gaps, by id: a filled gap
    is shown with the words it was born with. `fills` are links to the sources that were added for a gap, `answered` the
    keys of questions that have an answer now.
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
        gap = Gap(GapId(id_), one.kind, one.what, one.missing, one.fill, one.mentions, use=one.use)
        status = decisions.get(gap.id, GapStatus.OPEN)
        gaps.append(replace(gap, status=status, added=tuple(added.get(gap.id, ()))))
    for id_, event in sorted(births.items()):
        if id_ in present:
            continue
        key = str(event.get("key", ""))
        filled = key in answered or _is_filled(key, known)
        if id_ not in ids.retired:
            reason = "filled" if filled else "the question is no longer open"
            events.append({"v": 1, "type": "retire", "of": "gap", "id": id_, "at": at, "reason": reason})
        kind = next((k for k in GapKind if k.value == event.get("kind")), None)
        if filled and kind is not None:
            what, missing, fill = (str(event.get(part, "")) for part in ("name", "missing", "fill"))
            by = tuple(added.get(GapId(id_), ()))
            gaps.append(Gap(GapId(id_), kind, what, missing, fill, (), GapStatus.FILLED, added=by))
    return gaps, events
