"""The sources of a build with what its pages say of them: titles, links, authority, dates, claims."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from compiler.claims.conflicts import Scales
from compiler.claims.extract import Gathered
from compiler.concepts.source_copies import Kinship
from compiler.model.requests import PossibleCard
from compiler.sources.confidence import confidence, independent
from compiler.sources.duplicates import original_of
from vault.ids import ClaimId, SourceId, slug
from vault.layout import SUMMARIES
from vault.model.claim import Claim
from vault.model.exhibit import Exhibit, ExhibitKind
from vault.model.source import SourceText
from vault.model.wikilink import Wikilink, alias


def _passages(gathered: Gathered, source: SourceText) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield (claim, (its paragraph, its heading))."""
    starts = [segment.start for segment in source.segments]
    for claim, start in gathered.starts.items():
        segment = source.segments[max(bisect_right(starts, start) - 1, 0)]
        paragraph = source.text.rfind("\n\n", 0, start) + 2
        yield claim, (f"{gathered.tracked.id}:{paragraph}", segment.headings[-1] if segment.headings else "")


_KIND_FOLDERS = {"articles", "papers", "repos", "datasets", "images"}


@dataclass(frozen=True)
class Sources:
    """The sources of a build. `claims` holds each claim with its state; `former_paths` those of sources that are gone.

    `addresses` maps the path of a file to the address that it was fetched from.
    """

    gathered: Sequence[Gathered]
    claims: Mapping[ClaimId, Claim]
    authority: Mapping[SourceId, int]
    kinship: Kinship
    addresses: Mapping[str, str]
    former_paths: Mapping[str, str]

    @cached_property
    def by_id(self) -> dict[SourceId, Gathered]:
        """Return the sources by id."""
        return {g.tracked.id: g for g in self.gathered}

    @cached_property
    def titles(self) -> dict[SourceId, str]:
        """Return the title of each source; of one that is not read, the name of its file."""
        return {g.tracked.id: g.source.title if g.source else g.tracked.path.rsplit("/", 1)[-1] for g in self.gathered}

    @cached_property
    def possible_cards(self) -> dict[str, tuple[PossibleCard, ...]]:
        """Return the questions that the embedded engine found each claim to answer."""
        return {claim: cards for g in self.gathered for claim, cards in g.cards.items()}

    @cached_property
    def passages(self) -> dict[str, tuple[str, str]]:
        """Return for each claim its paragraph, as an id, and the heading of its section."""
        return {claim: place for g in self.gathered if g.source for claim, place in _passages(g, g.source)}

    @cached_property
    def summaries(self) -> dict[SourceId, str]:
        """Return the path of each source's summary, without `.md`."""
        return {g.tracked.id: f"{SUMMARIES}/{g.tracked.slug}" for g in self.gathered}

    @cached_property
    def exhibits(self) -> dict[ClaimId, tuple[Exhibit, ...]]:
        """Return what the documents show with claims, for those with which they show something."""
        return {id_: claim.exhibits for id_, claim in self.claims.items() if claim.exhibits}

    @cached_property
    def pictures(self) -> dict[ClaimId, tuple[Exhibit, ...]]:
        """Return the pictures that the documents show with claims, for those with which they show some."""
        found = {i: tuple(e for e in all_ if e.kind is ExhibitKind.PICTURE) for i, all_ in self.exhibits.items()}
        return {id_: pictures for id_, pictures in found.items() if pictures}

    @cached_property
    def scales(self) -> Scales:
        """Return what weighs two contradicting claims."""
        return Scales(self.authority, self.published, self.order)

    def order(self, id_: SourceId) -> tuple[str, str]:
        """Return the key by which sources are ordered: when the source came to the vault, then its id."""
        return self.by_id[id_].tracked.birth

    def published(self, id_: SourceId) -> str:
        """Return the day of publication as far as the source states it ("2021", "2021-05-03"); "" if it does not."""
        source = self.by_id[id_].source
        return source.properties.get("published", "") if source is not None else ""

    def tags_of(self, ids: Iterable[SourceId]) -> tuple[str, ...]:
        """Return the folders of these sources below the folder of their kind, as sorted tags."""
        tags: set[str] = set()
        for id_ in ids:
            folders = self.by_id[id_].tracked.path.split("/")[1:-1]
            tags.update(slug(f) for f in (folders[1:] if folders and folders[0] in _KIND_FOLDERS else folders))
        return tuple(sorted(tags))

    def link(self, id_: SourceId) -> str:
        """Return a link to the source's summary; for a source that has none, its path with "(gone)"."""
        if id_ in self.by_id and self.by_id[id_].source is not None:
            return str(Wikilink(self.summaries[id_], alias=alias(self.titles[id_])))
        return f"{self.former_paths.get(id_, id_)} (gone)"

    def origin(self, id_: SourceId) -> SourceId:
        """Return the original of a source that is a copy; the source itself if it is none."""
        return original_of(id_, self.kinship.copies)

    def confidence(self, ids: Iterable[SourceId], engine: str) -> str:
        """Return the base confidence of words of `engine` that rest on these sources; a copy counts as its original."""
        return confidence(independent(ids, self.origin, lambda id_: self.authority.get(id_, 1)), engine)
