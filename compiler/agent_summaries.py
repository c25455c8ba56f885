"""Summaries are the record of what sources say: an agent's version never stays, and the report says what was wrong."""

from __future__ import annotations

from compiler.agent_inert import Fault
from compiler.agent_world import World
from vault.clean import fold
from vault.note import body_of
from vault.summary import parse_summary, prose_of

_MAX = 20  # faults that are named


def summary_faults(before: str | None, data: bytes | None, path: str, world: World) -> list[Fault]:
    """What an agent did to a summary, line by line; never empty."""
    if before is None:
        return [(0, "a summary is made by retain, from a file of raw/")]
    try:
        text = (data or b"").decode()
    except UnicodeDecodeError:
        return [(0, "not UTF-8")]
    old = {c.claim.id: c.claim for c in parse_summary(before, path).claims}
    new = parse_summary(text, path)
    faults: list[Fault] = []
    for located in new.claims:
        claim = located.claim
        if claim.id not in old:
            known = claim.id in world.ids.births
            why = "belongs to another summary" if known else "has an id that retain did not give it"
            faults.append((located.line, f"claim {claim.id} {why}"))
        elif fold(claim.quote) != fold(old[claim.id].quote):
            faults.append((located.line, f"the quote of claim {claim.id} was changed: the source says otherwise"))
        elif claim != old[claim.id]:
            faults.append((located.line, f"claim {claim.id} was changed"))
    there = {c.claim.id for c in new.claims}
    faults += [(0, f"claim {id_} was taken out") for id_ in old if id_ not in there]
    if fold(body_of(prose_of(text))) != fold(body_of(prose_of(before))):
        faults.append((0, "its words beside the claims were changed"))
    return faults[:_MAX] or [(0, "its properties or its layout were changed")]
