from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from vault.ids import ClaimId, SourceId
from vault.model.article import sentences
from vault.model.claim import Claim, ClaimKind, ClaimState
from vault.model.frontmatter import body_of, human_edited, read_properties
from vault.model.summary import (
    Introduction,
    SummaryHead,
    head_of,
    parse_summary,
    prose_of,
    render_claim,
    render_summary,
    splice_claims,
)
from vault.text.formatting import fold, normal

SOURCE = SourceId("aaaaaaaaaa")
HEAD = SummaryHead(
    SOURCE, "Attention, again", "raw/papers/a b.pdf", "0" * 64, "1" * 64, "pdf/1", 1, "en", "2026-11-21", "2026-11-22"
)
CLAIM = Claim(
    ClaimId("7f3a9c1e2k"),
    SOURCE,
    ClaimKind.MECHANISM,
    "a self-attention layer connects all positions",
    "Attention connects any two positions in a constant number of steps.",
    locator="p. 6",
)
WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=80).map(lambda t: fold(normal(t))).filter(bool)


def test_a_claim_is_written_as_a_quote_callout_with_a_block_id() -> None:
    assert render_claim(CLAIM) == (
        "> [!quote] Attention connects any two positions in a constant number of steps.\n"
        "> a self-attention layer connects all positions\n"
        ">\n"
        "> mechanism · current · p. 6\n"
        "\n"
        "^c-7f3a9c1e2k"
    )


@given(WORDS, st.one_of(st.just(""), WORDS), st.one_of(st.just(""), WORDS))
def test_any_claim_comes_back_as_it_was_written(quote: str, statement: str, locator: str) -> None:
    locator = locator.replace("·", "-")
    claim = Claim(CLAIM.id, SOURCE, ClaimKind.FACT, quote, statement, ClaimState.DISPUTED, locator)
    text = render_summary("wiki/summaries/x.md", HEAD, Introduction([claim]), [claim])
    summary = parse_summary(text, "wiki/summaries/x.md")
    assert [c.claim for c in summary.claims] == [claim]
    assert summary.diagnostics == ()
    assert not human_edited(text)


def test_a_summary_shows_how_its_source_opens_its_outline_and_what_it_is_about() -> None:
    shown = Introduction([CLAIM], [(0, "1. Heads", "Heads"), (1, "A | b", "A | b")], ["[[wiki/concepts/a|A]]"], [CLAIM])
    text = render_summary("wiki/summaries/x.md", replace(HEAD, source="raw/a.md"), shown, [CLAIM])
    said = f"{CLAIM.words} [[wiki/summaries/x#^c-{CLAIM.id}|1]]"
    assert f"\n\n{said}\n\n## Outline\n\n- [[raw/a#1. Heads|Heads]]\n  - [[raw/a|A b]]\n\n## Defines\n\n" in text
    assert f"\n\n- [[wiki/concepts/a|A]]\n\n## Key points\n\n{said}\n\n## Claims\n" in text
    assert [s.text for s in sentences(prose_of(text))][1:] == [CLAIM.words, CLAIM.words]


def test_properties_of_a_human_stay_when_a_summary_is_written_again() -> None:
    first = render_summary("wiki/summaries/x.md", HEAD, Introduction(), [CLAIM])
    mine = first.replace("---\n\n# ", "rating: 5\nread: yes\n---\n\n# ", 1)
    again = render_summary("wiki/summaries/x.md", HEAD, Introduction([CLAIM]), [CLAIM], mine)
    assert "rating: 5\nread: yes\n---\n" in again
    assert not human_edited(again)


def test_author_day_address_and_licence_stand_in_a_summary_where_they_are_known() -> None:
    plain = render_summary("wiki/summaries/x.md", HEAD, Introduction(), [CLAIM])
    assert not {"author", "published", "url", "license"} & set(read_properties(plain).values)
    known = replace(
        HEAD, author='Ann "A" Lee: <b>', published="2017-06-12", url="https://a.b/c?d=e", license="CC <BY> 4.0"
    )
    text = render_summary("wiki/summaries/x.md", known, Introduction(), [CLAIM])
    assert head_of(parse_summary(text, "wiki/summaries/x.md")) == known
    assert "<b>" not in text


def test_an_author_that_a_human_named_stays_until_the_source_names_one() -> None:
    plain = render_summary("wiki/summaries/x.md", HEAD, Introduction(), [CLAIM])
    mine = plain.replace("---\n\n# ", "author: Me\n---\n\n# ", 1)
    assert "author: Me\n" in render_summary("wiki/summaries/x.md", HEAD, Introduction(), [CLAIM], mine)
    known = render_summary("wiki/summaries/x.md", replace(HEAD, author="Ann"), Introduction(), [CLAIM], mine)
    assert known.count("author:") == 1 and "author: Ann\n" in known


def test_a_damaged_block_is_named_with_its_line_and_the_others_stand() -> None:
    other = Claim(ClaimId("0000000000"), SOURCE, ClaimKind.FACT, "Another one.")
    text = render_summary("wiki/summaries/x.md", HEAD, Introduction(), [CLAIM, other]).replace("mechanism ·", "magic ·")
    summary = parse_summary(text, "wiki/summaries/x.md")
    assert [c.claim.id for c in summary.claims] == ["0000000000"]
    (found,) = summary.diagnostics
    assert found.code == "claim-block" and text.split("\n")[found.line - 1] == "^c-7f3a9c1e2k"


PATH = "wiki/summaries/x.md"
MANY = [
    Claim(ClaimId(f"{n:010}"), SOURCE, ClaimKind.FACT, f"Number {n} is a fact.", locator=f"p. {n}") for n in range(6)
]
NEWER = replace(HEAD, source_sha256="2" * 64, updated="2026-12-01")


def claims_of(text: str) -> list[Claim]:
    summary = parse_summary(text, PATH)
    assert summary.diagnostics == ()
    return [c.claim for c in summary.claims]


def test_the_head_of_a_written_summary_comes_back() -> None:
    assert head_of(parse_summary(render_summary(PATH, HEAD, Introduction(), [CLAIM]), PATH)) == HEAD


def test_an_edited_summary_takes_new_changed_and_vanished_claims_and_keeps_the_humans_words() -> None:
    old = render_summary(PATH, HEAD, Introduction(), MANY[:4]).replace(
        "\n## Claims\n", "\nMy own line.\n\n## Claims\n\nAnd mine.\n"
    )
    old = old.replace("^c-0000000001\n", "^c-0000000001\n\n> [!human]\n> Mine, too.\n").replace(
        "---\n\n# ", "mine: 1\n---\n\n# "
    )
    changed = replace(MANY[2], quote="Number two is a fact.")
    now = [MANY[5], MANY[0], MANY[1], MANY[4], changed]
    text = splice_claims(old, NEWER, now)
    assert claims_of(text) == now and human_edited(text)
    assert head_of(parse_summary(text, PATH)) == NEWER
    assert "\nMy own line.\n\n## Claims\n" in text and "\nAnd mine.\n" in text and "mine: 1\n---\n" in text
    assert "\n\n> [!human]\n> Mine, too.\n\n" in text and "Number 3" not in text
    assert read_properties(text).text("generated") == read_properties(old).text("generated")
    assert splice_claims(text, NEWER, now) == text


def test_prose_of_the_machines_follows_its_claims_and_a_humans_sentence_does_not() -> None:
    cite = "[[wiki/summaries/x#^c-0000000001|1]]"
    mine = f"They say: Number 1 is a fact. {cite}"
    old = render_summary(PATH, HEAD, Introduction(MANY[:3]), MANY[:3]).replace(
        "\n## Claims\n", f"\n{mine}\n\n## Claims\n"
    )
    text = splice_claims(old, HEAD, [replace(MANY[1], quote="Number *one* is \\1 fact."), MANY[2]])
    two = "[[wiki/summaries/x#^c-0000000002|1]]"
    assert f"\n\nNumber \\*one\\* is \\\\1 fact. {cite} Number 2 is a fact. {two}\n\n{mine}\n" in text


def test_what_nothing_changed_in_stays_byte_for_byte() -> None:
    for old in (
        render_summary(PATH, HEAD, Introduction(MANY), MANY),
        render_summary(PATH, HEAD, Introduction(), []) + "Mine.",
    ):
        now = MANY if "## Claims" in old else []
        assert splice_claims(old, HEAD, now) == old
        windows = old.replace("\n", "\r\n")
        assert splice_claims(windows, HEAD, now) == windows


def test_a_block_that_a_human_broke_is_whole_again_and_what_they_wrote_below_it_stays() -> None:
    old = render_summary(PATH, HEAD, Introduction(), MANY[:3])
    old = old.replace("> fact · current · p. 0\n", "> fact · current · p. 0\n> My remark.\n")
    old = old.replace("> Number 1 is a fact.\n>\n> fact · current · p. 1\n\n", "").replace("Number 2", "Number two")
    old = old.replace("> [!quote] Fact\n^c-0000000001", "> Mine.\n^c-0000000001")
    text = splice_claims(old, HEAD, MANY[:3])
    assert claims_of(text) == MANY[:3]
    assert "^c-0000000000\n\n> My remark.\n\n" in text and "\n> Mine.\n\n> [!quote] Fact\n> Number 1" in text


def test_the_first_claims_of_a_source_get_their_heading() -> None:
    none = render_summary(PATH, HEAD, Introduction(), [])
    for old in (none + "\nMine.\n", none.replace("No claim was found in this source.", "Mine."), none[:-1] + " Mine."):
        text = splice_claims(old, HEAD, MANY[:2])
        assert claims_of(text) == MANY[:2] and text.count("## Claims\n") == 1 and "Mine." in text


@given(
    st.lists(st.sampled_from(MANY), unique=True, max_size=5),
    st.lists(st.sampled_from(MANY), unique=True, max_size=5),
    st.lists(
        st.tuples(st.integers(0, 99), st.sampled_from(["Mine.", "> quoted", "", "- item", "## Head"])), max_size=6
    ),
    st.sampled_from(["\n", "\r\n"]),
)
def test_no_line_of_a_humans_is_lost_and_the_claims_are_those_that_are_wanted(
    before: list[Claim], after: list[Claim], lines: list[tuple[int, str]], end: str
) -> None:
    parts = render_summary(PATH, HEAD, Introduction(before[:2]), before).split("\n\n")
    first = next(n for n, part in enumerate(parts) if part.startswith("# "))
    for n, (at, line) in enumerate(lines):
        place = first + 1 + at % (len(parts) - first)
        if place >= len(parts) or not parts[place].startswith("^c-"):
            parts.insert(place, f"{line} {n}")
    old = "\n\n".join(parts).replace("\n", end)
    text = splice_claims(old, NEWER, after)
    mine = [line for line in body_of(old).split(end) if line.split(" ")[-1].isdigit() and not line.startswith("> fact")]
    kept = iter(body_of(text).split(end))
    assert all(line in kept for line in mine)
    assert {c.id: c for c in claims_of(text)} == {c.id: c for c in after}
    again = splice_claims(text, NEWER, after)
    assert again == text
