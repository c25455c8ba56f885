from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.ids import GapId
from vault.model.gaps import Gap, GapKind, GapStatus, open_gap_counts, parse_agenda, render_agenda, ticked_gaps
from vault.model.markdown import escape
from vault.model.wikilink import raw_link

LINK = "[[wiki/concepts/kv-cache|KV cache]]"
GAP = Gap(
    GapId("aaaaaaaaaa"),
    GapKind.STRUCTURAL,
    "softmax",
    "3 articles mention it, none explains it",
    "a source on softmax",
    (LINK,),
)
WORDS = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1).map(str.strip).filter(bool)


USES = st.lists(WORDS.map(lambda words: f"“{escape(words)}” {LINK}"), max_size=2).map(tuple)
ADDED = st.lists(WORDS.map(lambda name: raw_link(f"raw/{name}.pdf", name)), max_size=3).map(tuple)


@given(WORDS, WORDS, st.sampled_from(list(GapKind)), st.sampled_from(list(GapStatus)), ADDED, USES)
def test_a_gap_comes_back_as_it_was_written(
    what: str, missing: str, kind: GapKind, status: GapStatus, added: tuple[str, ...], uses: tuple[str, ...]
) -> None:
    what, missing = " ".join(what.split()), " ".join(missing.split())
    gap = replace(GAP, what=what, missing=missing, kind=kind, status=status, added=added, uses=uses)
    gap = replace(gap, ticked=not gap.open)
    (read,) = parse_agenda(render_agenda([gap]))
    assert replace(read, line=0) == (gap if gap.open else replace(gap, uses=()))
    assert render_agenda([read]) == render_agenda([gap])


@pytest.mark.parametrize("question", ["Why does it wait ten seconds?", "为什么要等十秒？"])
def test_a_question_ends_with_its_own_mark_and_is_read_as_before_too(question: str) -> None:
    gap = replace(GAP, kind=GapKind.EPISTEMIC, missing=question)
    text = render_agenda([gap])
    assert f"{question} Mentioned in " in text
    earlier = text.replace(f"{question} ", f"{question}. ")
    assert [[replace(g, line=0) for g in parse_agenda(t)] for t in (text, earlier)] == [[gap], [gap]]


def test_a_tick_of_the_human_is_seen_and_a_settled_gap_moves() -> None:
    text = render_agenda([GAP, replace(GAP, id=GapId("bbbbbbbbbb"), kind=GapKind.EPISTEMIC)])
    ticked = text.replace("- [ ] **softmax**", "- [x] **softmax**", 1)
    assert ticked_gaps(text) == [] and ticked_gaps(ticked) == ["aaaaaaaaaa"]
    after = render_agenda([replace(g, status=GapStatus.RESOLVED) if g.ticked else g for g in parse_agenda(ticked)])
    assert open_gap_counts(after) == {"structural": 0, "epistemic": 1, "learner": 0}
    assert "## Resolved\n\n- [x] (structural, resolved) **softmax**" in after


def test_remarks_of_the_human_between_the_items_are_passed_over() -> None:
    text = render_agenda([GAP]).replace(
        "## Structural\n", "## Structural\n\nask a friend about this\n- [ ] buy a book\n"
    )
    assert [g.id for g in parse_agenda(text)] == ["aaaaaaaaaa"]
