"""Which side of a contradiction weighs more, what replaces what, and how much is asked to find out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from compiler.claims.conflicts import ASKED, OUTWEIGHED, PAST, UNDECIDED, Contests, Pool, Scales, Shelf, contests
from compiler.claims.contradictions import Disagreement
from compiler.model.requests import ReconcileReply, ReconcileRequest, Request, rests
from compiler.replies.asker import Answered, Asker, Failed
from compiler.replies.journal import Journal
from vault.ids import ClaimId, SourceId
from vault.model.claim import Claim, ClaimKind, ClaimState

AT = "2026-11-21T09:00:00.000Z"


@dataclass
class Model:
    verdict: str = "conflict"
    name: str = "model"
    asked: list[Request] = field(default_factory=list)

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[int, Answered | Failed]]:
        for n, request in enumerate(requests):
            self.asked.append(request)
            yield n, Answered(ReconcileReply.model_validate({"verdict": self.verdict}), "model/1")


def asker(model: Model | None, journal: Journal | None = None) -> Asker:
    return Asker(journal or Journal(), None, model, AT, lambda event: None)


def scales(authority: dict[str, int] | None = None, days: dict[str, str] | None = None) -> Scales:
    trust = {SourceId(s): n for s, n in (authority or {}).items()}
    return Scales(trust, lambda s: (days or {}).get(s, ""), lambda s: (s, ""))


def shelf(weights: Scales) -> Shelf:
    return Shelf(lambda s: s, {SourceId(s): f"On {s}" for s in "abc"}, weights, lambda s: "2026-11-01")


def claim(id_: str, source: str, words: str) -> Claim:
    return Claim(ClaimId(id_), SourceId(source), ClaimKind.FACT, words)


SIX = claim("1111111111", "a", "The standard encoder consists of six identical layers.")
TWELVE = claim("2222222222", "b", "The standard encoder is a stack of 12 layers.")
PAIR = Disagreement(SIX, TWELVE)


@pytest.mark.parametrize(
    ("authority", "days", "verdict", "first"),
    [
        ({"b": 3}, {}, "The first weighs more: authority 3 against 1", TWELVE),
        ({"a": 2, "b": 0}, {"b": "2024"}, "The first weighs more: authority 2 against 0", SIX),
        ({}, {"a": "2017-06", "b": "2019"}, "The first is later: 2019 against 2017-06", TWELVE),
        ({}, {"a": "2017-06", "b": "2017"}, UNDECIDED, SIX),
        ({}, {"a": "2017"}, UNDECIDED, SIX),
    ],
)
def test_authority_weighs_more_than_a_later_day_and_both_more_than_nothing(
    authority: dict[str, int], days: dict[str, str], verdict: str, first: Claim
) -> None:
    told, winner, loser = scales(authority, days).weigh(PAIR)
    assert (told, winner) == (verdict, first) and {winner, loser} == {SIX, TWELVE}


def test_of_a_decided_contradiction_only_the_lighter_side_is_disputed_and_bears_no_card() -> None:
    found = Contests((PAIR,))
    assert set(found.states(scales())) == {SIX.id, TWELVE.id} and not found.outdated(scales())
    assert found.states(scales({"b": 3})) == {SIX.id: ClaimState.DISPUTED}
    assert found.outdated(scales({"b": 3})) == {SIX.id: OUTWEIGHED}


def test_what_is_past_is_in_no_contradiction_any_more() -> None:
    weights = scales(days={"a": "2017", "b": "2024"})
    found = contests([Pool("Encoder", [SIX, TWELVE])], shelf(weights), asker(Model("changed")))
    assert found.superseded == {SIX.id: TWELVE.id} and found.disagreements == ()
    assert found.states(weights) == {SIX.id: ClaimState.SUPERSEDED} and found.outdated(weights) == {SIX.id: PAST}


def test_hearsay_replaces_nothing() -> None:
    weights = scales({"b": 0}, {"a": "2017", "b": "2024"})
    found = contests([Pool("Encoder", [SIX, TWELVE])], shelf(weights), asker(Model("changed")))
    assert not found.superseded


def test_years_that_the_claims_name_tell_which_is_later_where_the_sources_do_not() -> None:
    before = claim("1111111111", "a", "The record over 100 metres, set in 1999, stands at 9.79 seconds.")
    now = claim("2222222222", "b", "The record over 100 metres stands at 9.58 seconds since 2009.")
    found = contests([Pool("Record", [now, before])], shelf(scales()), asker(Model("changed")))
    assert found.superseded in ({}, {before.id: now.id})
    both = contests([Pool("Encoder", [SIX, TWELVE])], shelf(scales()), asker(Model("changed")))
    assert both.superseded == {}


def test_no_more_than_so_many_pairs_of_a_concept_are_asked_however_many_sources_speak_of_it() -> None:
    letters = "0123456789abcdefghjkmnpqrstvwxyz"
    many = [
        claim(
            letters[n] * 10, "a" if n % 2 else "b", f"The standard encoder has {n + 2} layers in variant {letters[n]}."
        )
        for n in range(20)
    ]
    model = Model()
    contests([Pool("Encoder", many)], shelf(scales()), asker(model))
    assert 0 < len(model.asked) <= ASKED


def test_a_pair_is_asked_once_though_two_concepts_share_its_claims() -> None:
    model = Model()
    pools = [Pool("Encoder", [SIX, TWELVE]), Pool("Layer", [TWELVE, SIX])]
    found = contests(pools, shelf(scales()), asker(model))
    assert len(model.asked) == 1 and found.disagreements == (PAIR,)


def test_what_is_plain_is_not_asked() -> None:
    other = claim("2222222222", "b", "The standard encoder consists of twelve identical layers.")
    model = Model("none")
    found = contests([Pool("Encoder", [SIX, other])], shelf(scales()), asker(model))
    assert not model.asked and len(found.disagreements) == 1


def test_an_answer_holds_whichever_side_is_named_first_and_whatever_the_sources_are_called() -> None:
    model = Model()
    asking = asker(model)
    contests([Pool("Encoder", [SIX, TWELVE])], shelf(scales()), asking)
    (request,) = model.asked
    assert isinstance(request, ReconcileRequest)
    turned = request.model_copy(update={"a": request.b, "b": request.a, "title": "Another"})
    assert rests(turned) == rests(request)
