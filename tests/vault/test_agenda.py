from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.ids import GapId
from vault.model.gaps import (
    SOURCE_OF_TERM,
    Gap,
    GapKind,
    GapStatus,
    open_gap_counts,
    parse_agenda,
    ranked,
    render_agenda,
    ticked_gaps,
)
from vault.model.reading_list import Cited, cited, query
from vault.model.wikilink import raw_link

LINK = "[[wiki/concepts/kv-cache|KV cache]]"
GAP = Gap(
    GapId("aaaaaaaaaa"),
    GapKind.STRUCTURAL,
    "softmax",
    "3 articles mention it, none explains it",
    SOURCE_OF_TERM,
    (LINK,),
)
WORDS = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1).map(str.strip).filter(bool)


LINE = WORDS.map(lambda words: " ".join(words.split()))
SEARCH = LINE.map(query) | st.just("")
READ = st.builds(cited, st.builds(Cited, LINE | st.just(""), st.sampled_from(["", "https://example.org/a_b?c=1"])))
ADDED = st.lists(WORDS.map(lambda name: raw_link(f"raw/{name}.pdf", name)), max_size=3).map(tuple)


@given(LINE, LINE, st.sampled_from(list(GapKind)), st.sampled_from(list(GapStatus)), ADDED, LINE, READ, SEARCH)
def test_a_gap_comes_back_as_it_was_written(
    what: str,
    missing: str,
    kind: GapKind,
    status: GapStatus,
    added: tuple[str, ...],
    use: str,
    read: str,
    search: str,
) -> None:
    gap = replace(GAP, what=what, missing=missing, kind=kind, status=status, added=added)
    gap = replace(gap, ticked=not gap.open, use=use, read=read, search=search)
    (parsed,) = parse_agenda(render_agenda([gap]))
    assert replace(parsed, line=0) == (gap if gap.open else replace(gap, use="", read="", search=""))
    assert render_agenda([parsed]) == render_agenda([gap])


@pytest.mark.parametrize("question", ["Why does it wait ten seconds?", "为什么要等十秒？"])
def test_a_question_ends_with_its_own_mark_and_is_read_as_before_too(question: str) -> None:
    gap = replace(GAP, kind=GapKind.EPISTEMIC, missing=question)
    text = render_agenda([gap])
    assert f"{question} Needed in " in text
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
    text = render_agenda([GAP]).replace("- [ ] **", "ask a friend about this\n- [ ] buy a book\n\n- [ ] **")
    assert [g.id for g in parse_agenda(text)] == ["aaaaaaaaaa"]


OLDER = """# Reading agenda

## Structural

- [ ] **softmax**: used in 2 sources. Mentioned in [[wiki/concepts/kv-cache|KV cache]]. \
Would fill it: a definition of it. ^g-aaaaaaaaaa
    - “A softmax follows.” [[wiki/summaries/a|A]]

## Learner

- [x] (planned) **spacing**: forgotten 3 of 4 times. See [[wiki/concepts/spacing|Spacing]]. What helps: read it again. \
^g-bbbbbbbbbb
"""


def test_an_older_page_is_read_with_its_ticks() -> None:
    term, forgotten = parse_agenda(OLDER)
    assert (term.kind, term.ticked, term.mentions) == (GapKind.STRUCTURAL, False, (LINK,))
    assert (forgotten.kind, forgotten.status, forgotten.ticked) == (GapKind.LEARNER, GapStatus.PLANNED, True)
    assert [replace(g, line=0) for g in parse_agenda(render_agenda([term, forgotten]))] == [
        replace(forgotten, line=0),
        replace(term, line=0),
    ]


def made(letter: str, kind: GapKind, what: str, *mentions: str, missing: str = "") -> Gap:
    links = tuple(f"[[{path}|{path[-1]}]]" for path in mentions)
    return Gap(GapId(letter * 10), kind, what, missing or f"what is {what}?", "a source on it", links)


FORGOTTEN = made("a", GapKind.LEARNER, "Spacing", "wiki/concepts/spacing")
IN_IT = made("b", GapKind.STRUCTURAL, "Cue", "wiki/concepts/spacing")
OFTEN = made("c", GapKind.STRUCTURAL, "Recall", "wiki/concepts/p", "wiki/concepts/q")
OF_IT = made("d", GapKind.EPISTEMIC, "Spacing", "wiki/concepts/spacing")
RARE = made("e", GapKind.EPISTEMIC, "Sleep", "wiki/summaries/s")


@given(st.permutations([FORGOTTEN, IN_IT, OFTEN, OF_IT, RARE]))
def test_what_costs_the_learner_comes_first_then_what_most_articles_need(gaps: list[Gap]) -> None:
    order = [gap.id[0] for gap in ranked(gaps)]
    assert order == ["a", "d", "b", "c", "e"]
    assert [gap.id[0] for gap in parse_agenda(render_agenda(gaps))] == order


def test_fifteen_entries_come_before_more() -> None:
    gaps = [made(letter, GapKind.STRUCTURAL, letter, "wiki/summaries/s") for letter in "0123456789abcdefgh"]
    text = render_agenda(gaps)
    first, _, rest = text.partition("## More")
    assert (
        first.count("- [ ]") == 15
        and rest.count("- [ ]") == 3
        and parse_agenda(text)
        == [replace(gap, line=line) for gap, line in zip(gaps, (g.line for g in parse_agenda(text)), strict=True)]
    )


def test_what_is_said_of_many_alike_is_one_entry_whose_names_lead_to_their_lines() -> None:
    said = "is it still true? Its page is more than 90 days old"
    old = [made(c, GapKind.EPISTEMIC, f"Subject {c}", f"wiki/concepts/{c}", missing=said) for c in "bcd"]
    text = render_agenda([*old, made("f", GapKind.STRUCTURAL, "Cue")])
    first, _, rest = text.partition("## More")
    assert first.count(said) == 1 and "- 3 subjects: " in first and rest.count("- [ ]") == 3
    assert "[[learning/gaps#^g-bbbbbbbbbb|Subject b]]" in first
    assert render_agenda(parse_agenda(text)) == text, "written again it is the same"
