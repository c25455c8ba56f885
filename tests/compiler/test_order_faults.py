"""Replies to work orders that are wrong in some way: each fault is named by path, words, reason and way on."""

from __future__ import annotations

from typing import Any

import pytest

from compiler.model.requests import (
    AnswerRequest,
    CardsRequest,
    CheckRequest,
    ClaimView,
    ComposeRequest,
    ExtractRequest,
    MatchRequest,
    NameView,
    ProposedCard,
    Request,
)
from compiler.orders.faults import judge_reply
from vault.model.claim import ClaimKind

TEXT = (
    "Osmosis is the movement of water through a membrane that holds back salt.\n"
    "The water moves because the salt lowers the concentration of water on its side.\n"
    "Osmosis does not need energy. In 1877 Pfeffer measured a pressure of 53 cm of mercury."
)
EXTRACT = ExtractRequest(title="Osmosis", language="en", headings=("Osmosis",), text=TEXT, source="0123456789")
DEFINED, MOVES, NONE = "aaaaaaaaaa", "bbbbbbbbbb", "zzzzzzzzzz"
CLAIMS = (
    ClaimView(
        id=DEFINED,
        kind=ClaimKind.DEFINITION,
        words="Osmosis is the movement of water through a membrane that holds back salt.",
        quote="Osmosis is the movement of water through a membrane that holds back salt.",
        source="Cells",
    ),
    ClaimView(
        id=MOVES,
        kind=ClaimKind.MECHANISM,
        words="The water moves because the salt lowers the concentration of water on its side.",
        quote="The water moves because the salt lowers the concentration of water on its side.",
        source="Cells",
    ),
)
COMPOSE = ComposeRequest(title="Osmosis", aliases=(), language="en", claims=CLAIMS, concept="cccccccccc")
CARDS = CardsRequest(title="Osmosis", aliases=(), language="en", claims=CLAIMS, concept="cccccccccc")
ANSWER = AnswerRequest(question="What is osmosis?", claims=CLAIMS)
CHECK = CheckRequest(words="Osmosis moves water.", evidence=(CLAIMS[0].quote,))
MATCH = MatchRequest(a=NameView(title="osmosis"), b=NameView(title="diffusion"))


def claim(**other: Any) -> dict[str, Any]:
    return {"claims": [{"kind": "definition", "quote": TEXT.split("\n")[0], "about": ["osmosis"]} | other]}


def article(text: str, cites: list[str]) -> dict[str, Any]:
    return {"sections": [{"heading": "", "paragraphs": [[{"text": text, "cites": cites}]]}]}


def card(**other: Any) -> dict[str, Any]:
    good = {"kind": "definitional", "question": "What is osmosis?", "answer": CLAIMS[0].words, "cites": [DEFINED]}
    return {"cards": [good | other]}


BAD: list[tuple[str, Request, Any, str, str]] = [
    # what is wrong, the order, the reply, the path of the fault, words of its reason
    ("no object", EXTRACT, [1, 2], "", "not a JSON object"),
    ("nothing at all", CHECK, None, "", "not a JSON object"),
    ("a field too many", EXTRACT, {"claims": [], "sentiment": "good"}, "sentiment", "not permitted"),
    ("a list that is none", EXTRACT, {"claims": "none"}, "claims", "valid tuple"),
    ("a kind that is none", EXTRACT, claim(kind="opinion"), "claims[0].kind", "definition"),
    ("no quote", EXTRACT, {"claims": [{"kind": "fact", "about": ["osmosis"]}]}, "claims[0].quote", "required"),
    ("an empty quote", EXTRACT, claim(quote="  "), "claims[0].quote", "empty"),
    (
        "a quote in other words",
        EXTRACT,
        claim(quote="Osmosis moves water through a membrane."),
        "claims[0].quote",
        "occur",
    ),
    ("a quote with a gap", EXTRACT, claim(quote="Osmosis is the movement ... salt."), "claims[0].quote", "occur"),
    ("a quote of a page", EXTRACT, claim(quote="word " * 500), "claims[0].quote", "2000"),
    ("a quote that is a number", EXTRACT, claim(quote=7), "claims[0].quote", "string"),
    (
        "another number",
        EXTRACT,
        claim(quote=TEXT.split(". ")[1], statement="In 1878 Pfeffer measured a pressure of 53 cm of mercury."),
        "claims[0].statement",
        "1878",
    ),
    (
        "a negation left out",
        EXTRACT,
        claim(quote="Osmosis does not need energy.", statement="Osmosis needs energy."),
        "claims[0].statement",
        "",
    ),
    ("about nothing", EXTRACT, claim(about=[]), "claims[0].about", "nothing"),
    ("about a sentence", EXTRACT, claim(about=["Water moves, because salt lowers it."]), "claims[0].about[0]", "name"),
    (
        "a name that the text lacks",
        EXTRACT,
        {"terms": [{"name": "photosynthesis", "signal": "definition"}]},
        "terms[0].name",
        "does not write",
    ),
    (
        "an alias that the text lacks",
        EXTRACT,
        {"terms": [{"name": "osmosis", "aliases": ["turgor"], "signal": "alias"}]},
        "terms[0].aliases[0]",
        "does not write",
    ),
    ("a signal that is none", EXTRACT, {"terms": [{"name": "osmosis", "signal": "bold"}]}, "terms[0].signal", "title"),
    ("an article without a sentence", COMPOSE, {"sections": []}, "sections", "no sentence"),
    (
        "a sentence without a citation",
        COMPOSE,
        article("Osmosis is the movement of water.", []),
        "sections[0].paragraphs[0][0].text",
        "cites nothing",
    ),
    (
        "a citation that leads nowhere",
        COMPOSE,
        article("Osmosis moves water.", [NONE]),
        "sections[0].paragraphs[0][0].cites",
        NONE,
    ),
    (
        "a citation that is no id",
        COMPOSE,
        article("Osmosis moves water.", ["^c-aaa"]),
        "sections[0].paragraphs[0][0].cites[0]",
        "pattern",
    ),
    (
        "a sentence with a number of its own",
        COMPOSE,
        article("Osmosis is the movement of water through 2 membranes.", [DEFINED]),
        "sections[0].paragraphs[0][0].text",
        "2",
    ),
    (
        "a sentence with a negation of its own",
        COMPOSE,
        article("Osmosis is not the movement of water.", [DEFINED]),
        "sections[0].paragraphs[0][0].text",
        "not",
    ),
    ("an empty sentence", COMPOSE, article(" ", [DEFINED]), "sections[0].paragraphs[0][0].text", "empty"),
    ("a card of the wrong kind", CARDS, card(kind="applied"), "cards[0]", "kind"),
    ("a card that asks nothing", CARDS, card(question="Osmosis is what."), "cards[0]", "ask"),
    (
        "a card that gives itself away",
        CARDS,
        card(question="Is osmosis the movement of water through a membrane that holds back salt?"),
        "cards[0]",
        "question",
    ),
    ("a card that points outside", CARDS, card(question="What does this method move?"), "cards[0]", ""),
    ("a card that cites nothing that is there", CARDS, card(cites=[NONE]), "cards[0].cites", NONE),
    ("a card twice", CARDS, {"cards": [*card()["cards"], *card()["cards"]]}, "cards[1]", "another card"),
    ("a verdict that is none", CHECK, {"entailed": "maybe"}, "entailed", "yes"),
    ("a verdict under another name", MATCH, {"verdict": "yes"}, "same", "required"),
    ("an answer that says nothing", ANSWER, {}, "missing", "says nothing"),
    (
        "an answer from elsewhere",
        ANSWER,
        {"sentences": [{"text": "Osmosis was found in 1748.", "cites": [DEFINED]}]},
        "sentences[0].text",
        "1748",
    ),
]


@pytest.mark.parametrize(("request_", "reply", "path", "says"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_a_bad_reply_comes_back_with_the_fault_named(request_: Request, reply: Any, path: str, says: str) -> None:
    found = judge_reply(request_, reply)
    assert found.faults, "nothing was found wrong"
    (fault, *_) = [f for f in found.faults if f.path == path] or [found.faults[0]]
    assert fault.path == path and says in fault.why and fault.hint
    assert len(fault.words) <= 200 and "\n" not in fault.words


def test_there_are_thirty_kinds_and_more() -> None:
    assert len({b[0] for b in BAD}) >= 30


GOOD: list[tuple[Request, Any]] = [
    (EXTRACT, {"claims": [], "terms": []}),
    (
        EXTRACT,
        claim() | {"terms": [{"name": "Osmosis", "signal": "definition"}, {"name": "membranes", "signal": "subject"}]},
    ),
    (EXTRACT, claim(quote="Osmosis  is the movement of\nwater through a membrane that holds back salt.")),
    (EXTRACT, claim(statement="Osmosis means that water travels across a barrier which retains salt.")),
    (COMPOSE, article("Water crosses a membrane that salt cannot pass: that is osmosis.", [DEFINED])),
    (CARDS, card()),
    (CARDS, {"cards": []}),
    (CHECK, {"entailed": "unsure", "why": "the quote does not say"}),
    (MATCH, {"same": "no"}),
    (ANSWER, {"sentences": [{"text": CLAIMS[0].words, "cites": [DEFINED]}], "missing": ""}),
    (ANSWER, {"missing": "No claim speaks of that."}),
]


@pytest.mark.parametrize(("request_", "reply"), GOOD)
def test_a_good_reply_has_no_fault(request_: Request, reply: Any) -> None:
    found = judge_reply(request_, reply)
    assert found.faults == [] and found.reply is not None


def test_the_nearest_words_of_the_text_are_shown_for_a_quote_that_is_nearly_there() -> None:
    found = judge_reply(
        EXTRACT, claim(quote="Osmosis is the movement of water through a membrane that keeps back salt.")
    )
    assert "membrane that holds back salt" in found.faults[0].hint


def test_of_a_reply_with_one_bad_item_the_others_are_left() -> None:
    good, bad = claim()["claims"][0], {"kind": "fact", "quote": "Nobody said this.", "about": ["osmosis"]}
    found = judge_reply(EXTRACT, {"claims": [good, bad, {"kind": "none"}, {"quote": 3}]})
    assert found.reply is not None and [c["quote"] for c in found.reply.model_dump()["claims"]] == [good["quote"]]
    assert {f.path.split(".")[0] for f in found.faults} == {"claims[2]", "claims[3]", "claims[1]"} or len(
        found.faults
    ) >= 3


def test_with_fresh_claims_only_sentences_on_them_are_taken() -> None:
    request = COMPOSE.model_copy(update={"fresh": (MOVES,)})
    assert judge_reply(request, article(CLAIMS[1].words, [MOVES])).faults == []
    assert "fresh" in judge_reply(request, article(CLAIMS[0].words, [DEFINED])).faults[0].why


def test_cards_that_stand_are_not_written_again() -> None:
    stands = ProposedCard(kind="definitional", question="What is osmosis?", answer=CLAIMS[0].words, cites=(DEFINED,))
    assert judge_reply(CARDS.model_copy(update={"standing": (stands,)}), card()).faults


@pytest.mark.parametrize("deep", [10, 900])
def test_nonsense_of_any_size_is_answered_with_faults(deep: int) -> None:
    nested: Any = "x" * 50_000
    for _ in range(deep):
        nested = {"claims": [nested]}
    found = judge_reply(EXTRACT, nested)
    assert 1 <= len(found.faults) <= 100 and all(len(f.words) <= 200 for f in found.faults)


def test_words_that_a_terminal_would_obey_do_not_come_back() -> None:
    found = judge_reply(EXTRACT, claim(quote="\x1b[2Jred \u202egnal"))
    assert all(mark not in repr(found.faults[0].words) for mark in ("\\x1b", "\\u202e"))
