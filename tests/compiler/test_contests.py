"""Which side of a contradiction weighs more, what replaces what, and how much is asked to find out."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from compiler.claims.conflicts import (
    ASKED,
    MOST_ASKED,
    OUTWEIGHED,
    PAST,
    UNDECIDED,
    Clashing,
    Contests,
    Pool,
    Scales,
    Shelf,
    contests,
)
from compiler.claims.contradictions import Disagreement
from compiler.protocol.requests import PairView, ReconcileRequest
from compiler.replies.asker import Asker
from compiler.replies.journal import Journal
from tests.compiler.scripted import Scripted
from vault.ids import ClaimId, SourceId
from vault.model.claim import Claim, ClaimKind, ClaimState

AT = "2026-11-21T09:00:00.000Z"


def model(verdict: str = "CONFLICT") -> Scripted:
    """Says one verdict of every pair."""

    def said(type_: str, text: str) -> str:
        return "\n".join(f"{n} {verdict}" for n in re.findall(r"^(\d+)\. ", text, re.MULTILINE))

    return Scripted(verdicts=said)


def asker(backend: Scripted | None, journal: Journal | None = None) -> Asker:
    return Asker(journal or Journal(), None, backend, AT, lambda event: None)


def found_in(
    claims: Sequence[Claim],
    backend: Scripted | None = None,
    weights: Scales | None = None,
    clashes: Sequence[Clashing] = (),
    journal: Journal | None = None,
) -> Contests:
    asking = asker(backend or model(), journal)
    return contests([Pool("Encoder", claims)], clashes, shelf(weights or scales()), asking)


def pairs(backend: Scripted) -> list[PairView]:
    return [p for r in backend.asked if isinstance(r, ReconcileRequest) for p in r.pairs]


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
        ({"b": 3}, {}, "The first has more authority: 3, the other 1", TWELVE),
        ({"a": 2, "b": 0}, {"b": "2024"}, "The first has more authority: 2, the other 0", SIX),
        ({}, {"a": "2017-06", "b": "2019"}, "The first is more recent: 2019, the other 2017-06", TWELVE),
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
    found = found_in([SIX, TWELVE], model("CHANGED"), weights)
    assert found.superseded == {SIX.id: TWELVE.id} and found.disagreements == ()
    assert found.states(weights) == {SIX.id: ClaimState.SUPERSEDED} and found.outdated(weights) == {SIX.id: PAST}


def test_hearsay_replaces_nothing() -> None:
    weights = scales({"b": 0}, {"a": "2017", "b": "2024"})
    assert not found_in([SIX, TWELVE], model("CHANGED"), weights).superseded


def test_years_that_the_claims_name_tell_which_is_later_where_the_sources_do_not() -> None:
    before = claim("1111111111", "a", "The record over 100 metres, set in 1999, stands at 9.79 seconds.")
    now = claim("2222222222", "b", "The record over 100 metres stands at 9.58 seconds since 2009.")
    clash = Clashing("record", now, before, now.quote, before.quote)
    assert found_in([], model("CHANGED"), clashes=[clash]).superseded == {before.id: now.id}
    assert found_in([SIX, TWELVE], model("CHANGED")).superseded == {}


def test_no_more_than_so_many_pairs_of_a_concept_are_asked_however_many_sources_speak_of_it() -> None:
    letters = "0123456789abcdefghjkmnpqrstvwxyz"
    many = [
        claim(
            letters[n] * 10, "a" if n % 2 else "b", f"The standard encoder has {n + 2} layers in variant {letters[n]}."
        )
        for n in range(20)
    ]
    backend = model()
    found_in(many, backend)
    assert 0 < len(pairs(backend)) <= ASKED and len(backend.asked) == 1


def test_a_pair_is_asked_once_though_two_concepts_share_its_claims() -> None:
    backend = model()
    pools = [Pool("Encoder", [SIX, TWELVE]), Pool("Layer", [TWELVE, SIX])]
    found = contests(pools, (), shelf(scales()), asker(backend))
    assert len(pairs(backend)) == 1 and found.disagreements == (PAIR,)


def test_what_is_plain_is_not_asked() -> None:
    other = claim("2222222222", "b", "The standard encoder consists of twelve identical layers.")
    backend = model("NONE")
    assert len(found_in([SIX, other], backend).disagreements) == 1 and not backend.asked


def test_all_pairs_of_a_vault_are_one_list_and_a_long_one_is_parted() -> None:
    clashes = []
    for n in range(MOST_ASKED + 5):
        first, second = (claim(f"{n:09d}{s}", s, f"Ship {n} is {len(s) + n} m long, says {s}.") for s in "ab")
        clashes.append(Clashing(f"ship {n}", first, second, first.quote, second.quote))
    backend = model()
    found = found_in([SIX, TWELVE], backend, clashes=clashes)
    assert [len(r.pairs) for r in backend.asked if isinstance(r, ReconcileRequest)] == [MOST_ASKED, 6]
    assert len(found.disagreements) == MOST_ASKED + 6


def test_a_clash_that_a_reader_noticed_is_asked_about_with_all_its_words_and_within_one_source_too() -> None:
    one = claim("3333333333", "a", "The range is 3 to 8.")
    other = claim("4444444444", "a", "Values up to 9 occur in the range.")
    clash = Clashing("The range ends at 8 or at 9.", one, other, one.quote, f"{other.quote} So it ends at 9.")
    backend = model()
    found = found_in([], backend, clashes=[clash, clash])
    (pair,) = pairs(backend)
    assert pair.about == "The range ends at 8 or at 9." and pair.b.words.endswith("So it ends at 9.")
    assert found.disagreements == (Disagreement(one, other),)
    assert found_in([], model("NONE"), clashes=[clash]).disagreements == ()
    turned = Clashing("otherwise", other, one, clash.other_words, clash.words)
    journal = Journal()
    found_in([], model(), clashes=[clash], journal=journal)
    again = model()
    assert found_in([], again, clashes=[turned], journal=journal).disagreements and not again.asked
    assert found_in([], again, clashes=[Clashing("itself", one, one, one.quote, one.quote)]).disagreements == ()


def test_what_nobody_has_judged_is_no_contradiction_and_stays_open() -> None:
    dry = Asker(Journal(), None, None, AT, lambda event: None, dry=True)
    found = contests([Pool("Encoder", [SIX, TWELVE])], (), shelf(scales()), dry)
    assert found.disagreements == () and [type(r) for r in dry.open] == [ReconcileRequest]
