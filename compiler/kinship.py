"""Which sources of a build are copies of which, by their wording and by what the human says in their summaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from compiler.duplicates import Copy, Witness, copies
from compiler.gather import Gathered
from vault.ids import SourceId
from vault.ledger import Event, Ids
from vault.note import read_properties
from vault.store import SUMMARIES
from vault.wikilink import links

NONE = "none"  # what a human writes for `copy_of` to deny it


@dataclass(frozen=True, slots=True)
class Kinship:
    """`copies` are the sources that are no independent witnesses; `denied` those of which the human says they are.

    `decisions` are what the human wrote in the summaries since the last build.
    """

    copies: dict[SourceId, Copy]
    denied: frozenset[SourceId]
    decisions: tuple[Event, ...]

    def as_told(self, source: SourceId) -> str:
        """What the ledger keeps of a source's kinship: the id of its original, "none" if denied, "" if it has none."""
        if source in self.denied:
            return NONE
        copy = self.copies.get(source)
        return copy.of if copy is not None else ""


def kinship(
    gathered: Sequence[Gathered],
    authority: Mapping[SourceId, int],
    decided: Sequence[Event],
    ids: Ids,
    text_of: Callable[[str], str | None],
    at: str,
) -> Kinship:
    """The kinship of all sources. `text_of` gives the summary that lies at a vault path, None where there is none."""
    read = [g for g in gathered if g.source is not None]
    owner = {f"{SUMMARIES}/{g.tracked.slug}": g.tracked.id for g in read}
    said = {
        SourceId(str(e.get("source"))): str(e.get("of"))
        for e in decided
        if e.get("type") == "copy" and isinstance(e.get("of"), str)
    }
    decisions = []
    for g in read:
        id_, text = g.tracked.id, text_of(f"{SUMMARIES}/{g.tracked.slug}.md")
        last = ids.changed.get(id_, {}).get("copy_of", "")
        now = _said_in(text, owner) if text is not None else None
        if now is not None and now not in (last, said.get(id_, "")):
            said[id_] = now
            decisions.append({"v": 1, "type": "copy", "source": id_, "of": now, "at": at, "via": "summary"})
    wanted = {i: None if of == NONE else SourceId(of) for i, of in said.items() if of}
    found = copies([_witness(g, authority) for g in read], wanted)
    denied = frozenset(i for i, of in wanted.items() if of is None)
    return Kinship(found, denied, tuple(decisions))


def _said_in(summary: str, owner: Mapping[str, SourceId]) -> str | None:
    """What a summary's property says: the id of the original, "none", "" without one; None for what can't be read."""
    value = read_properties(summary).text("copy_of").strip()
    if value.casefold() in ("", NONE):
        return value.casefold()
    return next((owner[link.target] for link in links(value) if link.target in owner), None)


def _witness(g: Gathered, authority: Mapping[SourceId, int]) -> Witness:
    assert g.source is not None and g.fingerprint is not None
    published = g.source.properties.get("published", "")
    source = g.tracked.id
    return Witness(source, g.fingerprint, g.source.language, authority.get(source, 1), published, g.tracked.birth)
