"""The ledger is told of a contradiction once when it comes, once when it is decided, and once when it is settled."""

from __future__ import annotations

from compiler.claims.conflict_ledger import DisputeState, dispute_events
from compiler.claims.contradictions import Disagreement
from vault.ids import ClaimId, SourceId
from vault.log.ledger import Event, Ids, fold
from vault.model.claim import Claim, ClaimKind

A = Claim(ClaimId("aaaaaaaaaa"), SourceId("s1"), ClaimKind.FACT, "The effect lasts 3 weeks.")
B = Claim(ClaimId("bbbbbbbbbb"), SourceId("s2"), ClaimKind.FACT, "The effect lasts 5 weeks.")
BOTH = frozenset({A.id, B.id})
OPEN = DisputeState(Disagreement(B, A), ("c0ncept000",), "")


def told(known: list[Event], standings: list[DisputeState], claims: frozenset[str] = BOTH, day: int = 1) -> list[Event]:
    ids: Ids = fold(known)
    before = set(ids.births)
    events = dispute_events(standings, claims, known, ids, f"2026-01-{day:02}T00:00:00.000Z")
    assert set(ids.births) == before | {e["id"] for e in events if e["type"] == "birth"}  # it has been taken in
    return events


def test_a_contradiction_is_born_once_whichever_side_comes_first() -> None:
    (birth,) = told([], [OPEN])
    assert (birth["type"], birth["of"], birth["key"]) == ("birth", "dispute", f"{A.id}:{B.id}")
    assert birth["winner"] == "" and birth["concepts"] == ["c0ncept000"]
    turned = DisputeState(Disagreement(A, B), OPEN.concepts, "")
    assert told([birth], [turned]) == []
    assert told([], [turned])[0]["id"] == birth["id"]  # two clones agree on it


def test_that_one_side_weighs_more_is_told_when_it_comes_to_be_and_not_again() -> None:
    known = told([], [OPEN])
    decided = DisputeState(OPEN.one, OPEN.concepts, A.id)
    (change,) = told(known, [decided], day=2)
    assert (change["type"], change["winner"]) == ("change", A.id)
    assert told([*known, change], [decided], day=3) == []
    (again,) = told([*known, change], [OPEN], day=4)
    assert (again["type"], again["winner"]) == ("change", "")


def test_it_goes_with_its_reason_and_comes_back_under_its_id() -> None:
    known = told([], [OPEN])
    (gone,) = told(known, [], claims=frozenset({A.id}), day=2)
    assert (gone["type"], gone["reason"]) == ("retire", "one of its claims no longer exists")
    assert told(known, [], day=2)[0]["reason"] == "its claims no longer contradict each other"
    known.append(gone)
    assert told(known, [], day=3) == []
    (back,) = told(known, [OPEN], day=4)
    assert (back["type"], back["id"], back["winner"]) == ("revive", known[0]["id"], "")
    assert told([*known, back], [OPEN], day=5) == []
