"""What the ledger remembers of where sources came from is read back; what is no such event is passed over."""

from vault.ids import GapId
from vault.log.provenance import Origin, fills_event, fills_in, origin_event, origins_in

AT = "2026-11-21T09:00:00.000Z"
ORIGIN = Origin("raw/articles/x.md", "https://example.org/b", "https://example.org/a", "0123456789ab", AT)


def test_origins_and_fills_come_back_in_their_order() -> None:
    other = Origin("raw/articles/y.md", "https://example.org/c", "https://example.org/c", "ba9876543210", AT)
    events = [origin_event(ORIGIN), fills_event(GapId("aaaaaaaaaa"), "raw/b.pdf", AT), origin_event(other)]
    events += [fills_event(GapId("aaaaaaaaaa"), path, AT) for path in ("raw/a.pdf", "raw/b.pdf")]
    assert origins_in(events) == [ORIGIN, other]
    assert fills_in(events) == {"aaaaaaaaaa": ("raw/b.pdf", "raw/a.pdf")}


def test_events_of_others_and_broken_ones_are_passed_over() -> None:
    broken = [origin_event(ORIGIN) | {"address": 3}, {"type": "origin"}, {"type": "gap", "gap": "a", "path": "b"}]
    assert origins_in(broken) == [] and fills_in([*broken, {"type": "fills", "gap": None, "path": "x"}]) == {}
