from hypothesis import given
from hypothesis import strategies as st

from vault.claim import Claim, ClaimKind, ClaimState
from vault.clean import fold, normal
from vault.ids import ClaimId, SourceId
from vault.note import human_edited
from vault.summary import SummaryHead, parse_summary, render_claim, render_summary

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
    text = render_summary("wiki/summaries/x.md", HEAD, [claim], [claim])
    summary = parse_summary(text, "wiki/summaries/x.md")
    assert [c.claim for c in summary.claims] == [claim]
    assert summary.diagnostics == ()
    assert not human_edited(text)


def test_properties_of_a_human_stay_when_a_summary_is_written_again() -> None:
    first = render_summary("wiki/summaries/x.md", HEAD, [], [CLAIM])
    mine = first.replace("---\n\n# ", "rating: 5\nread: yes\n---\n\n# ", 1)
    again = render_summary("wiki/summaries/x.md", HEAD, [CLAIM], [CLAIM], mine)
    assert "rating: 5\nread: yes\n---\n" in again
    assert not human_edited(again)


def test_a_damaged_block_is_named_with_its_line_and_the_others_stand() -> None:
    other = Claim(ClaimId("0000000000"), SOURCE, ClaimKind.FACT, "Another one.")
    text = render_summary("wiki/summaries/x.md", HEAD, [], [CLAIM, other]).replace("mechanism ·", "magic ·")
    summary = parse_summary(text, "wiki/summaries/x.md")
    assert [c.claim.id for c in summary.claims] == ["0000000000"]
    (found,) = summary.diagnostics
    assert found.code == "claim-block" and text.split("\n")[found.line - 1] == "^c-7f3a9c1e2k"
