"""Copies among the sources of a build, recognized by their wording and by `copy_of` in their summaries."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from compiler.claims.extract import Gathered
from compiler.index.steps import Steps
from compiler.sources.duplicates import Copy, Kind, Witness, copies
from compiler.sources.editions import marks_of, newer
from vault.diagnostic import Diagnostic
from vault.ids import SourceId
from vault.layout import SUMMARIES
from vault.log.ledger import Event, Ids
from vault.log.provenance import arrivals_in
from vault.model.frontmatter import Properties, read_properties
from vault.model.wikilink import links

NONE = "none"  # what a user writes for `copy_of` to deny it
_HINT = (
    'write copy_of: "[[wiki/summaries/NAME]]", where NAME is the summary of the original; or write copy_of: none; '
    "or delete the line"
)


@dataclass(frozen=True, slots=True)
class Replaced:
    """An older edition: the source that is the newest of its document, and what says so."""

    by: SourceId
    why: str


@dataclass(frozen=True, slots=True)
class Kinship:
    """`copies` are the sources that are no independent witnesses, `denied` those that the user declared originals.

    `editions` are the older editions of a document. `decisions` are what the user wrote in the summaries since the last
    build; `unclear` is what of that cannot be understood, and `notices` name both.
    """

    copies: dict[SourceId, Copy]
    denied: frozenset[SourceId]
    decisions: tuple[Event, ...]
    unclear: Mapping[SourceId, str | tuple[str, ...]] = field(default_factory=dict)
    notices: tuple[Diagnostic, ...] = ()
    editions: Mapping[SourceId, Replaced] = field(default_factory=dict)

    def recorded_origin(self, source: SourceId) -> str:
        """Return what the ledger records of a source: the id of its original, "none" if denied, "" if it has none."""
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
    steps: Steps | None = None,
) -> Kinship:
    """Return which sources are copies of which. `text_of` returns the summary at a vault path, or None.

    `steps` has what earlier builds found of pairs of sources.
    """
    arrivals = arrivals_in(decided)
    known = {f"{SUMMARIES}/{b.slug}" for b in ids.births.values() if b.noun == "source"}
    unclear: dict[SourceId, str | tuple[str, ...]] = {}
    notices = []
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
        now = _copy_of(text, owner) if text is not None else None
        why = _copy_of_fault(text, owner, known, id_) if text is not None else ""
        if text is not None and why:
            now = None
            unclear[id_] = _as_written(read_properties(text).values["copy_of"])
            notices.append(Diagnostic(f"{SUMMARIES}/{g.tracked.slug}.md", _line_of(text), "copy-of", why, _HINT))
        if now is not None and now not in (last, said.get(id_, "")):
            said[id_] = now
            decisions.append({"v": 1, "type": "copy", "source": id_, "of": now, "at": at, "via": "summary"})
    wanted = {i: None if of == NONE else SourceId(of) for i, of in said.items() if of}
    found = copies([_witness(g, authority, arrivals) for g in read], wanted, steps)
    denied = frozenset(i for i, of in wanted.items() if of is None)
    editions = _older_editions(read, found)
    paths = {g.tracked.id: g.tracked.path for g in read}
    for id_, one in sorted(editions.items(), key=lambda item: paths[item[0]]):
        what = f"an older edition of {paths[one.by]} ({one.why}): articles cite the newer one"
        notices.append(
            Diagnostic(
                paths[id_], 0, "edition", what, "if they are different documents, write copy_of: none in its summary"
            )
        )
    return Kinship(found, denied, tuple(decisions), unclear, tuple(notices), editions)


def _older_editions(read: Sequence[Gathered], found: Mapping[SourceId, Copy]) -> dict[SourceId, Replaced]:
    """Return the sources of which another one with largely the same text is known to be a newer edition."""
    alike = frozenset((Kind.COPY, Kind.EDITION))
    groups: dict[SourceId, list[Gathered]] = {}
    for g in read:
        copy = found.get(g.tracked.id)
        if copy is None or copy.kind in alike:
            groups.setdefault(copy.of if copy else g.tracked.id, []).append(g)
    out = {}
    for group in groups.values():
        if len(group) < 2:
            continue
        marks = {g.tracked.id: marks_of(g.source, g.tracked.path) for g in group if g.source is not None}
        later = {i: {j: why for j, b in marks.items() if (why := newer(b, a))} for i, a in marks.items()}
        for source, reasons in later.items():
            newest = sorted(j for j in reasons if not later[j])
            if newest:
                out[source] = Replaced(newest[0], reasons[newest[0]])
    return out


def _copy_of(summary: str, owner: Mapping[str, SourceId]) -> str | None:
    """Return what a summary's `copy_of` says: the original's id, "none", "" without one; None if unreadable."""
    properties = read_properties(summary)
    if properties.problems:
        return None
    value = _written(properties)
    if value is None:
        return None
    if value.casefold() in ("", NONE):
        return value.casefold()
    return next((owner[link.target] for link in links(value) if link.target in owner), None)


def _written(properties: Properties) -> str | None:
    """Return the text of `copy_of`, also of a [[link]] without quotes (a YAML list); None for anything else."""
    value = properties.values.get("copy_of", "")
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
            return f"[[{value[0]}]]"
    return value.strip() if isinstance(value, str) else None


def _as_written(value: object) -> str | tuple[str, ...]:
    """Return a property's value as it can be written again, whatever it is."""
    if isinstance(value, list):
        return tuple(v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for v in value) or "[]"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _copy_of_fault(summary: str, owner: Mapping[str, SourceId], known: Set[str], own: SourceId) -> str:
    """Return why a summary's `copy_of` names no original; "" if it does, or says nothing.

    A link to a source that is gone is none of the user's making and goes by itself.
    """
    value = _written(read_properties(summary))
    if value is None:
        return "`copy_of` must be a single link or none: ignored"
    if value.casefold() in ("", NONE):
        return ""
    targets = [link.target for link in links(value)]
    if any(owner.get(target) == own for target in targets):
        return "`copy_of` links to its own summary: ignored"
    if not any(target in known or target in owner for target in targets):
        return "`copy_of` does not link to the summary of a source: ignored"
    return ""


def _line_of(summary: str) -> int:
    """Return the 1-based line of `copy_of` in a summary; 1 if it cannot be found."""
    found = re.search(r"^copy_of[ \t]*:", summary, re.MULTILINE)
    return summary.count("\n", 0, found.start()) + 1 if found else 1


def _witness(g: Gathered, authority: Mapping[SourceId, int], arrivals: Mapping[str, str]) -> Witness:
    """Return a source as the search for copies needs it."""
    assert g.source is not None and g.fingerprint is not None
    published = g.source.properties.get("published", "")
    source = g.tracked.id
    born, first = g.tracked.birth
    # Many are born by one compile; which of them came first, the ledger may know better.
    came = min([born, *(arrivals[path] for path in {first, *g.tracked.paths} if path in arrivals)])
    return Witness(
        source, g.fingerprint, g.source.language, authority.get(source, 1), published, (came, first), g.tracked.content
    )
