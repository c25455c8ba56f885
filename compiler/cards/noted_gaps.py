"""Gaps that `retain lint` noted in the ledger: it opens and closes them, a build shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vault.ids import mint
from vault.log.ledger import Event, Ids
from vault.model.gaps import GapKind

BY = "lint"  # what the birth of such a gap says of who noted it
SETTLED = ("contested", "stale", "thin", "disputed")  # what is settled once it is on the agenda no more
RANK = 2  # after all other gaps of a concept


def key_of(concept: str, what: str) -> str:
    """Return the key of a gap of a concept."""
    return f"{GapKind.EPISTEMIC}:{concept}:{what}"


def is_noted(birth: Event) -> bool:
    """Return whether a check noted the gap."""
    return birth.get("by") == BY


def noted_gaps(births: Mapping[str, Event], ids: Ids, links: Mapping[str, str]) -> Iterator[tuple[Event, str]]:
    """Yield (birth, link to the article) of the noted gaps that are open, of concepts with an article."""
    for id_, birth in sorted(births.items()):
        concept = str(birth.get("key", "")).split(":")[1:2]
        if is_noted(birth) and ids.alive(id_) and concept and concept[0] in links:
            yield birth, links[concept[0]]


def note_events(
    wanted: Mapping[str, tuple[str, str, str]],
    births: Mapping[str, Event],
    ids: Ids,
    at: str,
) -> list[Event]:
    """Return the events that open the gaps `wanted` and close the noted ones that are wanted no more.

    `wanted` has (subject, what is missing, what would fill it) by key. What a build has on the agenda stays its.
    """
    events: list[Event] = []
    for key, (name, missing, fill) in sorted(wanted.items()):
        known = ids.keys.get(("gap", key))
        if known is None:
            id_ = mint("gap", key, ids.births)
            text = {"kind": GapKind.EPISTEMIC.value, "name": name, "missing": missing, "fill": fill, "by": BY}
            events.append({"v": 1, "type": "birth", "of": "gap", "id": id_, "at": at, "key": key, **text})
        elif known in births and known in ids.retired and is_noted(births[known]):
            events.append({"v": 1, "type": "revive", "of": "gap", "id": known, "at": at})
    for id_, birth in sorted(births.items()):
        if is_noted(birth) and ids.alive(id_) and str(birth.get("key")) not in wanted:
            events.append({"v": 1, "type": "retire", "of": "gap", "id": id_, "at": at, "reason": "filled"})
    return events
