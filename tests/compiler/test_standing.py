"""What of earlier replies stands when a segment or a concept's claims change, and what alone is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from compiler.model.requests import (
    CardsReply,
    CardsRequest,
    ClaimView,
    ComposeReply,
    ComposeRequest,
    ExtractedClaim,
    ExtractReply,
    ExtractRequest,
    ProposedCard,
    Reply,
    Request,
    Section,
    Sentence,
    Term,
)
from compiler.replies.asker import Answered, entry_of
from compiler.replies.journal import Journal
from compiler.replies.reuse import merged, prepared, stand_in
from compiler.sources.segments import MAX_SEGMENT, passages
from tests.builders import vault_with_sources
from tests.compiler.scripted import Scripted
from tests.compiler.test_journaled import MORNING, compiled
from vault.model.claim import ClaimKind

SOURCE, CONCEPT = "k7q2m9xd3f", "7f3a9c1e2k"
A, B, C = "a" * 10, "b" * 10, "c" * 10


def journal(*answered: tuple[Request, Reply]) -> Journal:
    """Replies given one after the other, a minute apart."""
    out = Journal()
    for n, (request, reply) in enumerate(answered):
        out.learn(entry_of(request, Answered(reply, "scripted/1"), f"2026-11-21T09:{n:02}:00.000Z", "run"))
    return out


def segment(text: str) -> ExtractRequest:
    return ExtractRequest(title="t", language="en", headings=(), text=text, source=SOURCE)


def quoting(*quotes: str, terms: Sequence[Term] = ()) -> ExtractReply:
    claims = tuple(ExtractedClaim(kind=ClaimKind.FACT, quote=q, statement=f"Well, {q}") for q in quotes)
    return ExtractReply(claims=claims, terms=tuple(terms))


def quotes(request: Request) -> list[str]:
    assert isinstance(request, ExtractRequest)
    return [c.quote for c in request.standing]


# --- segments -------------------------------------------------------------------------------------------------------


def test_white_space_costs_nothing_and_keeps_every_claim() -> None:
    known = journal((segment("One is one. Two is two."), quoting("One is one.", "Two is two.")))
    now, ask = prepared(segment("One  is one.\n\nTwo is two. "), known)
    assert not ask and quotes(now) == ["One is one.", "Two is two."]


def test_a_claim_inside_a_sentence_that_grew_stands_and_the_sentence_is_asked_for() -> None:
    known = journal((segment("Water boils at noon. Ice melts."), quoting("Water boils at noon", "Ice melts.")))
    now, ask = prepared(segment("Water boils at noon and at night. Ice melts."), known)
    assert ask and quotes(now) == ["Water boils at noon", "Ice melts."]
    assert isinstance(now, ExtractRequest) and now.fresh == ("Water boils at noon and at night.",)


def test_what_a_lost_quote_said_of_a_neighbour_is_asked_again_once() -> None:
    both = "Iron rusts in the rain. It then falls apart within years."
    first = segment(f"{both} Gold does not.")
    known = journal((first, quoting(both, "Gold does not.")))
    text = "Iron rusts in the fog. It then falls apart within years. Gold does not."
    now, ask = prepared(segment(text), known)
    assert ask and isinstance(now, ExtractRequest) and quotes(now) == ["Gold does not."]
    assert now.fresh == ("Iron rusts in the fog. It then falls apart within years.",)
    whole = merged(now, quoting("Iron rusts in the fog."))
    known = journal((first, quoting(both, "Gold does not.")), (now, whole))
    later, ask = prepared(segment(text.replace("Gold", "Lead")), known)
    assert ask and isinstance(later, ExtractRequest) and later.fresh == ("Lead does not.",)


def test_a_name_goes_with_the_definition_that_gave_it() -> None:
    text = "A foo is a bar. A baz is a qux. Foo and baz meet."
    claims = tuple(
        ExtractedClaim(kind=ClaimKind.DEFINITION, quote=f"{q}.", about=(n,))
        for n, q in (("foo", "A foo is a bar"), ("baz", "A baz is a qux"))
    )
    terms = tuple(Term(name=n, signal="definition") for n in ("foo", "baz"))
    known = journal((segment(text), ExtractReply(claims=claims, terms=terms)))
    now, ask = prepared(segment("A baz is a qux. Foo and baz meet."), known)
    assert not ask and isinstance(now, ExtractRequest) and [t.name for t in now.offered] == ["baz"]


def test_a_segment_in_two_halves_and_two_in_one_ask_for_nothing() -> None:
    one, two = "Alpha is first here.", "Omega is last here."
    known = journal((segment(f"{one} {two}"), quoting(one, two)))
    assert [quotes(prepared(segment(t), known)[0]) for t in (one, two)] == [[one], [two]]
    known = journal((segment(one), quoting(one)), (segment(two), quoting(two)))
    now, ask = prepared(segment(f"{one}\n\n{two}"), known)
    assert not ask and quotes(now) == [one, two]


def test_an_answer_that_quotes_what_was_not_asked_for_adds_nothing() -> None:
    known = journal((segment("Red is warm. Blue is cold."), quoting("Red is warm.")))
    now, _ = prepared(segment("Red is warm. Blue is cold. Green is neither."), known)
    reply = merged(now, quoting("Blue is cold.", "Green is neither.", "Red is warm."))
    assert isinstance(reply, ExtractReply) and [c.quote for c in reply.claims] == ["Red is warm.", "Green is neither."]


def test_what_a_later_answer_dropped_does_not_come_back_with_an_edit() -> None:
    text = "Red is warm. Blue is cold."
    known = journal((segment(text), quoting("Red is warm.", "Blue is cold.")), (segment(text), quoting("Red is warm.")))
    now, _ = prepared(segment("Red is warm. Blue is cold. Green is neither."), known)
    assert quotes(now) == ["Red is warm."]


def test_to_another_prompt_nothing_stands() -> None:
    known = journal((segment("Red is warm."), quoting("Red is warm.")))
    now, ask = prepared(segment("Red is warm."), known, "extract/99 abc")
    assert ask and not quotes(now)


def test_passages_do_not_end_in_what_is_only_shortened() -> None:
    text = "See Fig. 3 by A. Smith et al. 2003, i.e. the first. It holds. 第一。第二。"
    assert [text[s:e] for s, e in passages(text)] == [
        "See Fig. 3 by A. Smith et al. 2003, i.e. the first.",
        "It holds.",
        "第一。",
        "第二。",
    ]


def test_an_edit_that_shifts_how_a_long_section_is_parted_asks_for_no_more_than_the_edit(tmp_path: Path) -> None:
    lines = [f"Fact number {n} holds that item {n} weighs {n + 1000} grams in all." for n in range(700)]
    paragraphs = [" ".join(lines[n : n + 7]) for n in range(0, 700, 7)]
    text = "# Weights\n\n" + "\n\n".join(paragraphs)
    assert len(text) > 6 * MAX_SEGMENT
    vault = vault_with_sources(tmp_path / "vault", {"long.md": text})
    first = Scripted()
    compiled(vault, first)
    summary = vault.root / "wiki/summaries/long.md"
    before = {line for line in summary.read_text().splitlines() if line.startswith("^c-")}
    assert len(before) == 700 and first.counts()["extract"] > 6
    added = "A paragraph of some length that was not there before says nothing new at all, only at length. " * 9
    (vault.root / "raw/articles/long.md").write_text(text.replace(paragraphs[3], f"{paragraphs[3]}\n\n{added.strip()}"))
    second = Scripted()
    compiled(vault, second, MORNING + timedelta(hours=1))
    asked = [r for r in second.asked if isinstance(r, ExtractRequest)]
    assert [r.fresh for r in asked] == [(added.strip(),)]
    assert before <= {line for line in summary.read_text().splitlines() if line.startswith("^c-")}


# --- articles and cards ---------------------------------------------------------------------------------------------


def view(id_: str, words: str) -> ClaimView:
    return ClaimView(id=id_, kind=ClaimKind.FACT, words=words, quote=words, source="s")


def article(*claims: ClaimView) -> ComposeRequest:
    return ComposeRequest(title="T", aliases=(), language="en", claims=claims, concept=CONCEPT)


def cards(*claims: ClaimView) -> CardsRequest:
    return CardsRequest(title="T", aliases=(), language="en", claims=claims, concept=CONCEPT)


def said(*sentences: tuple[str, tuple[str, ...]], heading: str = "") -> ComposeReply:
    paragraph = tuple(Sentence(text=t, cites=c) for t, c in sentences)
    return ComposeReply(sections=(Section(heading=heading, paragraphs=(paragraph,)),))


def words_of(reply: Reply | None) -> list[str]:
    assert isinstance(reply, ComposeReply)
    return [s.text for section in reply.sections for p in section.paragraphs for s in p]


def test_a_changed_claim_costs_its_sentences_and_no_others() -> None:
    known = journal((article(view(A, "a"), view(B, "b")), said(("on a", (A,)), ("on b", (B,)))))
    now, ask = prepared(article(view(A, "a"), view(B, "b2")), known)
    assert ask and isinstance(now, ComposeRequest) and now.fresh == (B,)
    reply = merged(now, said(("a again", (A,)), ("on b2", (B,))))
    assert words_of(reply) == ["on a", "on b2"]


def test_a_claim_that_shared_a_sentence_with_one_that_is_gone_is_written_about_again() -> None:
    known = journal((article(view(A, "a"), view(B, "b")), said(("on a and b", (A, B)))))
    now, ask = prepared(article(view(A, "a")), known)
    assert ask and isinstance(now, ComposeRequest) and now.fresh == (A,)
    known = journal((cards(view(A, "a"), view(B, "b")), CardsReply(cards=(_card("Why a and b?", (A, B)),))))
    again, ask = prepared(cards(view(A, "a")), known)
    assert ask and isinstance(again, CardsRequest) and again.fresh == (A,) and len(again.changed) == 1


def test_a_definition_whose_words_changed_opens_the_article_again() -> None:
    known = journal(
        (article(view(A, "a"), view(B, "b"), view(C, "c")), said(("T is a", (A,)), ("b", (B,)), ("c", (C,))))
    )
    now, _ = prepared(article(view(A, "a2"), view(B, "b"), view(C, "c")), known)
    assert words_of(merged(now, said(("T is a2", (A,))))) == ["T is a2", "b", "c"]


def test_a_lead_that_comes_late_stands_before_the_headings() -> None:
    known = journal((article(view(A, "a")), said(("on a", (A,)), heading="Facts")))
    now, _ = prepared(article(view(A, "a"), view(B, "b")), known)
    reply = merged(now, said(("T is b", (B,))))
    assert isinstance(reply, ComposeReply) and [s.heading for s in reply.sections] == ["", "Facts"]


def test_where_no_sentence_stands_only_what_changed_is_asked_for() -> None:
    known = journal((article(view(A, "a"), view(B, "b")), said(("on a", (A,)))))
    now, ask = prepared(article(view(A, "a2"), view(B, "b")), known)
    assert ask and isinstance(now, ComposeRequest) and now.fresh == (A,) and not now.standing
    assert words_of(stand_in(now)) == []


def test_a_claim_that_comes_back_brings_what_was_said_of_it() -> None:
    both = (article(view(A, "a"), view(B, "b")), said(("on a", (A,)), ("on b", (B,))))
    alone = (article(view(A, "a")), said(("on a", (A,))))
    now, ask = prepared(article(view(A, "a"), view(B, "b"), view(C, "c")), journal(both, alone))
    assert ask and isinstance(now, ComposeRequest) and now.fresh == (C,)
    assert words_of(stand_in(now)) == ["on a", "on b"]
    two = CardsReply(cards=(_card("Why a?", (A,)), _card("Why b?", (B,))))
    known = journal((cards(view(A, "a"), view(B, "b")), two), (cards(view(A, "a")), CardsReply(cards=two.cards[:1])))
    again, ask = prepared(cards(view(A, "a2"), view(B, "b")), known)
    assert ask and isinstance(again, CardsRequest) and again.fresh == (A,) and again.standing == two.cards[1:]


@pytest.mark.parametrize("kept", [True, False])
def test_a_claim_that_is_gone_takes_its_cards_along_and_asks_nobody(kept: bool) -> None:
    reply = CardsReply(cards=(*((_card("Why a?", (A,)),) if kept else ()), _card("Why b?", (B,))))
    now, ask = prepared(cards(view(A, "a")), journal((cards(view(A, "a"), view(B, "b")), reply)))
    assert not ask and isinstance(now, CardsRequest)
    assert stand_in(now) == CardsReply(cards=reply.cards[:-1])


def _card(question: str, cites: tuple[str, ...]) -> ProposedCard:
    return ProposedCard(kind="mechanistic", question=question, answer="So.", cites=cites)
