"""SETTLE, CHECK, RECONCILE and ANSWER in lines of text, and answers that are mended."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.model.requests import ClaimView
from compiler.protocol import mend
from compiler.protocol.check import item_key
from compiler.protocol.faults import Fault
from compiler.protocol.forms import MAX_ANSWER, is_usable, nothing, parse, render
from compiler.protocol.replies import (
    REPLY_TO,
    AnswerReply,
    CheckReply,
    ReadReply,
    ReconcileReply,
    Reply,
    SettleReply,
)
from compiler.protocol.requests import (
    AnswerRequest,
    CheckItem,
    CheckRequest,
    ConceptTask,
    NameLine,
    PairView,
    ReadRequest,
    ReconcileRequest,
    Request,
    SettleRequest,
    Side,
    WriteRequest,
    request_in,
)
from compiler.replies.prompts import prompt
from tests.compiler.shown_documents import shown
from vault.model.claim import ClaimKind

ROPES = "# Ropes\n\nA halyard is a rope that hoists a sail. It runs over a block.\n\n## Sails\n\nA jib is a sail.\n"
SETTLE = SettleRequest(
    names=(
        NameLine(title="Halyard", aliases=("sail rope",), line="A rope that hoists.", passages=3, documents=(1, 2)),
        NameLine(title="Halyards", passages=1, documents=(2,)),
        NameLine(title="Cleat", page=False, passages=1, documents=(1,)),
        NameLine(title="Mast", passages=9, documents=(1,), settled=True),
    )
)
CHECK = CheckRequest(
    items=(
        CheckItem(key="0" * 12, about="Halyard", text="A halyard hoists every sail.", places=("1:1a",)),
        CheckItem(key="1" * 12, about="Halyard", text="It is 2 × 3 = 6.", mark="derived", places=("1:1a", "1:1b")),
        CheckItem(key="2" * 12, about="Halyard", text="What hoists?", answer="A rope.", places=("1:1a",)),
    ),
    documents=shown(ROPES),
)
RECONCILE = ReconcileRequest(
    pairs=(
        PairView(
            key="0" * 12,
            about="Mast",
            a=Side(words="It is 9 m.", source="A", published="2001"),
            b=Side(words="It is 8 m.", source="B"),
        ),
        PairView(
            key="1" * 12,
            about="Keel",
            a=Side(words="It is iron.", source="A"),
            b=Side(words="It is lead.", source="B"),
        ),
    )
)
WHOLE = "A halyard is a rope that hoists a sail."
ANSWER = AnswerRequest(
    question="What is a halyard?",
    claims=tuple(
        ClaimView(id=f"{n}" * 10, kind=ClaimKind.FACT, words=words, quote=WHOLE, source="Ropes")
        for n, words in enumerate((WHOLE, "It hoists."))
    ),
)
READ = ReadRequest(documents=shown(ROPES))
WRITE = WriteRequest(language="en", concepts=(ConceptTask(title="Halyard", passages=("1:1",)),), documents=shown(ROPES))
ALL: tuple[Request, ...] = (READ, SETTLE, WRITE, CHECK, RECONCILE, ANSWER)


# --- settle -----------------------------------------------------------------------------------------------------------


def settle(text: str) -> tuple[SettleReply, list[Fault]]:
    reply, faults = parse(SETTLE, text)
    assert isinstance(reply, SettleReply)
    return reply, faults


def test_names_are_shown_by_number_and_new_ones_with_a_star() -> None:
    lines = render(SETTLE).split("\n")
    assert lines[0].startswith("1* Halyard (sail rope) | page, 3 in 1, 2: A rope that hoists.")
    assert lines[2].startswith("3* Cleat | line") and lines[3].startswith("4 Mast | page")


def test_names_are_joined_told_apart_and_grouped() -> None:
    reply, faults = settle("SAME 1 = 2\nLINE 3\nPAGE 4\n- **CLUSTER** Rigging: 1, 4, 3\nCLUSTER 2 4")
    assert not faults
    assert reply.same == (("Halyard", "Halyards"),) and reply.lines == ("Cleat",) and reply.pages == ("Mast",)
    assert [(c.topic, c.titles) for c in reply.clusters] == [
        ("Rigging", ("Halyard", "Mast", "Cleat")),
        ("", ("Halyards", "Mast")),
    ]
    assert reply.covers == ("Halyard", "Halyards", "Cleat", "Mast")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("SAME 1 = 9", "there is no name 9"),
        ("SAME 1", "SAME needs two names"),
        ("Fine as they are.", "does not group any names"),
    ],
)
def test_what_settle_cannot_use_is_a_fault(line: str, why: str) -> None:
    reply, faults = settle(line)
    assert any(why in f.why for f in faults) and not reply.same


# --- check ------------------------------------------------------------------------------------------------------------


def check(text: str) -> tuple[CheckReply, list[Fault]]:
    reply, faults = parse(CHECK, text)
    assert isinstance(reply, CheckReply)
    return reply, faults


def test_items_are_shown_with_the_passages_that_they_cite() -> None:
    text = render(CHECK)
    assert "{a}A halyard is a rope that hoists a sail." in text
    assert re.search(r"^1\. .*A halyard hoists every sail\. \[1:1a\]$", text, re.MULTILINE)
    assert re.search(r"^2\. .*It is 2 × 3 = 6\. \(derived\) \[1:1a.*b\]$", text, re.MULTILINE)
    assert re.search(r"^3\. .*Q: What hoists\? A: A rope\. \[1:1a\]$", text, re.MULTILINE)


def test_what_a_check_does_not_name_is_right() -> None:
    reply, faults = check("1 FIX A halyard hoists a sail. [1:1a]\n3. **FIX** Q: What hoists a sail? A: A halyard.")
    assert not faults
    assert [(v.item[0], v.verdict, v.text, v.answer) for v in reply.verdicts] == [
        ("0", "fix", "A halyard hoists a sail.", ""),
        ("1", "ok", "", ""),
        ("2", "fix", "What hoists a sail?", "A halyard."),
    ]
    for everything in ("OK", "ok.", "All OK"):
        assert {v.verdict for v in check(everything)[0].verdicts} == {"ok"}


def test_a_check_names_passages_that_clash() -> None:
    reply, faults = check("CLASH A rope hoists, or a block does. [1:1a] [1:1b]")
    assert not faults and {v.verdict for v in reply.verdicts} == {"ok"}
    assert [(c.text, c.second[0].words) for c in reply.clashes] == [
        ("A rope hoists, or a block does.", "It runs over a block.")
    ]
    assert not is_usable(CHECK, check("CLASH: I could not read the items.")[0])
    assert "a contradiction needs two statements" in str(check("OK\nCLASH It is odd. [1:1a]")[1][0])


@pytest.mark.parametrize("line", ["1 DROP it says more", "1. drop: it says more", "- **1** DROP it says more"])
def test_a_drop_says_why(line: str) -> None:
    verdict = check(line)[0].verdicts[0]
    assert (verdict.verdict, verdict.why) == ("drop", "it says more")


def test_an_item_at_fault_without_better_words_is_not_taken_for_right() -> None:
    reply, faults = check("1 FIX\n3 FIX the answer names no rope")
    assert [f.why for f in faults] == ["FIX needs the corrected text"] * 2
    assert [v.verdict for v in reply.verdicts] == ["drop", "ok", "drop"]


@pytest.mark.parametrize("number", ["1", "1.", "1)", "(1)", "[1]", "Item 1:", "1 -", "#1", "**1.**"])
def test_items_and_pairs_are_numbered_in_many_ways(number: str) -> None:
    assert [v.verdict for v in check(f"{number} DROP it says more")[0].verdicts] == ["drop", "ok", "ok"]
    assert reconcile(f"{number} CONFLICT the length")[0].verdicts[0].verdict == "conflict"


@pytest.mark.parametrize("text", ["OK", "ok.", "**OK**", "All OK", "OK for all.", "```\nOK\n```"])
def test_ok_alone_is_right_for_all(text: str) -> None:
    reply, faults = check(text)
    assert not faults and {v.verdict for v in reply.verdicts} == {"ok"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I find these sentences good.",
        "9 FIX No such item.",
        "Ok. I can't check these without the documents.",
        "OK, here is what I found:\nItem 2: the number is wrong",
    ],
)
def test_an_answer_that_names_no_item_is_no_check(text: str) -> None:
    reply, faults = check(text)
    assert not is_usable(CHECK, reply) and faults


def test_a_key_holds_for_the_words_and_their_evidence_alone() -> None:
    key = item_key("A halyard hoists.", "", ["one", "two"])
    assert (
        key
        == item_key(" A  halyard\nhoists.", "", ["two", "one"])
        == item_key("A halyard hoists.", "", ["one", " two "])
    )
    assert key not in (item_key("A halyard lowers.", "", ["one", "two"]), item_key("A halyard hoists.", "", ["one"]))
    assert item_key("a | b", "", ["x"]) == item_key("a  b", "", ["x"])  # the cells of a row, as a page shows them


# --- reconcile --------------------------------------------------------------------------------------------------------


def reconcile(text: str) -> tuple[ReconcileReply, list[Fault]]:
    reply, faults = parse(RECONCILE, text)
    assert isinstance(reply, ReconcileReply)
    return reply, faults


def test_pairs_are_one_list_and_what_is_not_named_can_both_hold() -> None:
    text = render(RECONCILE)
    assert "1. [Mast]\n   a: “It is 9 m.” (A, 2001)\n   b: “It is 8 m.” (B)\n2. [Keel]" in text
    reply, faults = reconcile("1 CONFLICT two heights")
    assert not faults and [(v.verdict, v.why) for v in reply.verdicts] == [("conflict", "two heights"), ("none", "")]
    assert [v.verdict for v in reconcile("NONE")[0].verdicts] == ["none", "none"]
    assert [v.verdict for v in reconcile("1 changed\n2. REPORTED")[0].verdicts] == ["changed", "reported"]


@pytest.mark.parametrize("text", ["", "Both can hold, I think.", "7 CONFLICT", "None of these can be judged."])
def test_an_answer_that_names_no_pair_is_none(text: str) -> None:
    reply, faults = reconcile(text)
    assert not is_usable(RECONCILE, reply) and faults


# --- answer -----------------------------------------------------------------------------------------------------------


def test_an_answer_cites_claims_by_number_and_says_what_is_missing() -> None:
    assert f"[1] {WHOLE} (Ropes)" in render(ANSWER) and "(that is: It hoists.)" in render(ANSWER)
    reply, faults = parse(ANSWER, "A **halyard** is a rope. [1] It hoists a sail. [1, 2]\nMISSING How long it is.")
    assert isinstance(reply, AnswerReply) and not faults and reply.missing == "How long it is."
    assert [(s.text, s.cites) for s in reply.sentences] == [
        ("A halyard is a rope.", ("0" * 10,)),
        ("It hoists a sail.", ("0" * 10, "1" * 10)),
    ]


@pytest.mark.parametrize(
    ("text", "why"), [("A rope. [7]", "no claim 7"), ("A rope.", "cites nothing"), ("", "contains no cited sentence")]
)
def test_an_answer_without_claims_is_a_fault(text: str, why: str) -> None:
    reply, faults = parse(ANSWER, text)
    assert any(why in f.why for f in faults) and not is_usable(ANSWER, reply)


# --- all types --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("request_", ALL, ids=lambda r: r.type)
def test_every_type_has_a_prompt_an_id_and_a_reply_that_says_nothing(request_: Request) -> None:
    assert prompt(request_.type).version.startswith(f"{request_.type}/")
    assert request_in(request_.as_json()) == request_ and request_.id.startswith(f"{request_.type}-")
    empty = nothing(request_)
    assert isinstance(empty, REPLY_TO[request_.type])
    assert REPLY_TO[request_.type].from_json(empty.as_brief_json()) == empty


FORMS = """CONCEPT Jib | page
IS A jib is a sail. [1:2a]
FROM 1:1-9
=== Halyard
=== CARDS
K: app
Q: What?
A: That.
C: 1:1a
@s 1
@keep 1:1
| a | b | [1:1a]
- it [1:1a]
It hoists. [derived 1:1a]
1 FIX x [1:1a]
SAME 1 = 2
CLUSTER a: 1, 2
2 CONFLICT
MISSING it
OK
LINE 3: x
```"""
LINES = st.lists(st.one_of(st.text(max_size=40), st.sampled_from(FORMS.split("\n"))), max_size=12)


@given(st.sampled_from(ALL), LINES, LINES)
def test_any_answer_is_read_and_what_comes_of_it_can_be_stored(
    request: Request, first: Sequence[str], second: Sequence[str]
) -> None:
    text, correction = "\n".join(first), "\n".join(second)
    reply, faults = parse(request, text)
    stored = reply.as_brief_json()
    assert REPLY_TO[request.type].from_json(stored) == reply
    assert all(0 <= f.line <= len(text.split("\n")) and str(f) for f in faults)
    better: Reply
    better, _ = mend.best(request, text, correction)
    assert is_usable(request, better) or not is_usable(request, reply)


@pytest.mark.parametrize("request_", ALL, ids=lambda r: r.type)
@pytest.mark.parametrize(
    "line", [f"SAME {'9' * 5_000} = 1", "SUM ²", f"SUM {'9' * 5_000}", f"=== Halyard\n{'|' * 8_000}"]
)
def test_numbers_that_are_none_and_endless_rows_are_faults_at_most(request_: Request, line: str) -> None:
    reply, _ = parse(request_, line)
    assert REPLY_TO[request_.type].from_json(reply.as_json()) == reply


@pytest.mark.parametrize("request_", ALL, ids=lambda r: r.type)
@pytest.mark.parametrize(
    "piece", ["=== ", "[1:1a] ", "| a ", "1 FIX ", "**a", "\n- ", "CONCEPT a\n", "@s 1-99 ", "[[a|"]
)
def test_a_huge_answer_costs_little(request_: Request, piece: str) -> None:
    parse(request_, piece * (300_000 // len(piece)))
    assert MAX_ANSWER < 10_000_000


@pytest.mark.parametrize("start", ["# a", "=== a", "1 FIX a", "3 FIX Q: a", "=== Halyard\na [derived", "A [computed:"])
def test_a_line_of_many_blanks_costs_little(start: str) -> None:
    began = time.process_time()
    for request in ALL:
        parse(request, f"{start}{' ' * 7_900}b")
    assert time.process_time() - began < 1


# --- mending ----------------------------------------------------------------------------------------------------------

FAULTY = """CONCEPT Halyard | page
IS A halyard is a rope that hoists a sail. [1:1z]
FROM 1:1
CONCEPT Jib | page
IS A jib is a sail. [1:2a]
FROM 1:2
TERM block | 1:1
SUM 1 Ropes hoist sails. [1:1a]
SUM 1 Sails are many."""


def mended(correction: str) -> ReadReply:
    reply, _ = mend.best(READ, FAULTY, correction)
    assert isinstance(reply, ReadReply)
    return reply


def test_what_is_wrong_is_said_line_by_line_and_nothing_else() -> None:
    message = mend.mend_request(READ, FAULTY)
    assert "LINE 2: " in message and "has no piece z" in message and "its pieces are: a, b" in message
    assert "LINE 9: " in message and "LINE 5" not in message
    assert mend.mend_request(READ, FAULTY.replace("1:1z", "1:1a").replace("many.", "many. [1:2]")) == ""
    assert "Send the whole answer again" in mend.mend_request(READ, "I would rather not.")


def test_corrected_lines_are_put_in_and_an_empty_one_takes_a_line_out() -> None:
    reply = mended("LINE 2: IS A halyard hoists a sail. [1:1a]\n**LINE 9:**")
    assert [c.line and c.line.text for c in reply.concepts] == ["A halyard hoists a sail.", "A jib is a sail."]
    assert [s.text for s in reply.summaries] == ["Ropes hoist sails."]


def test_a_correction_that_is_the_whole_answer_replaces_it() -> None:
    reply = mended(FAULTY.replace("1:1z", "1:1a").replace("many.", "many. [1:2]"))
    assert len(reply.summaries) == 2 and all(c.line for c in reply.concepts)


@pytest.mark.parametrize(
    "correction",
    [
        "",
        "Sorry, I cannot.",
        "LINE 99: IS x. [1:1a]",
        "CONCEPT Halyard | page\nIS A rope. [1:1a]\nFROM 1:1",
        "LINE 4: x\nLINE 1: y",
    ],
)
def test_a_correction_that_loses_or_spoils_what_was_good_is_not_taken(correction: str) -> None:
    first, _ = parse(READ, FAULTY)
    assert mended(correction) == first


@pytest.mark.parametrize("line", ["2 WRONG: the product is another", "Item 2: the number is wrong"])
def test_an_item_that_is_named_without_a_verdict_is_not_taken_for_right(line: str) -> None:
    reply, faults = check(f"1 FIX A halyard hoists a sail.\n{line}")
    assert [v.verdict for v in reply.verdicts] == ["fix", "drop", "ok"] and len(faults) == 1
