"""A model that answers requests: the real client against a server on loopback that speaks the protocol."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compiler.engines.claude.scheduler import LARGER, MAX_TOKENS
from compiler.protocol.documents import view
from compiler.protocol.forms import parse, render
from compiler.protocol.passages import Document
from compiler.protocol.replies import CheckReply, ReadReply
from compiler.protocol.requests import CheckItem, CheckRequest, ReadRequest, Request
from compiler.readers.read import read_source
from compiler.replies.asker import Answered, Failed
from compiler.replies.prompts import prompt
from compiler.workers.model_backend import ROLES, ModelBackend, SpeakerProcess, Spending
from tests.compiler.messages_server import Batched, MessagesServer, Reply, error, message, said, serving
from tests.compiler.scripted_model import answering, text_for, tokens_in, type_of
from vault.config.engine import EngineSettings
from vault.errors import UsageError, WorkerFailed
from vault.ids import ALPHABET, digest12

KEY = "sk-canary-9876543210"
PRICE = {"m": {"input": 2.0, "output": 10.0}}
GEAR = (
    "halyard",
    "cleat",
    "capstan",
    "anchor",
    "mast",
    "keel",
    "rudder",
    "boom",
    "winch",
    "shroud",
    "bowsprit",
    "tiller",
)
BAD = 'TERM rope, chain and everything else that "somebody" might name'


def settings(server: MessagesServer, **more: Any) -> EngineSettings:
    told: dict[str, Any] = {"models": dict.fromkeys(ROLES, "m"), "prices": PRICE, "patience": 60.0, **more}
    return EngineSettings(base_url=server.url, **told)


def backend(server: MessagesServer, spending: Spending | None = None, **more: Any) -> ModelBackend:
    return ModelBackend(settings(server, **more), lambda: KEY, spending)


@pytest.fixture
def model() -> Iterator[MessagesServer]:
    with serving(said({})) as server:
        server.answer = answering
        yield server


def reads(count: int) -> list[Request]:
    """Requests to read a document of two sentences each."""
    return [_read(n) for n in range(count)]


def _read(n: int) -> ReadRequest:
    gear = GEAR[n % len(GEAR)]
    text = f"# Gear {n}\n\nA {gear} is a part of a ship that sailors use at sea. Sailors oil a {gear} each spring.\n"
    source = read_source(text.encode(), f"gear-{n}.md")
    document = Document(f"{ALPHABET[n % 30]}{ALPHABET[n // 30]}bcdefghj", f"raw/gear-{n}.md", source)
    return ReadRequest(documents=(view(document, 1, document.passages),))


def checks(count: int, start: int = 0) -> CheckRequest:
    """A request to check that many sentences."""
    return CheckRequest(
        items=tuple(
            CheckItem(key=digest12(str(n)), about="Gear", text=f"Words {n}.", places=("1:1",))
            for n in range(start, start + count)
        )
    )


def process_of(by: ModelBackend) -> subprocess.Popen[str]:
    assert isinstance(by._process, SpeakerProcess)
    return by._process._process


def only(by: ModelBackend, request: Request) -> Answered | Failed:
    with by:
        ((n, answer),) = by.answers([request])
    assert n == 0
    return answer


def sent_in(body: dict[str, Any]) -> int:
    """The bytes of the words in a call."""
    system = body["system"] if isinstance(body["system"], str) else body["system"][0]["text"]
    return len(system.encode()) + sum(len(turn["content"].encode()) for turn in body["messages"])


# --- what is sent and what comes ---


def test_a_request_is_one_call_and_its_answer_what_the_text_says(model: MessagesServer) -> None:
    request = reads(1)[0]
    answer = only(backend(model), request)
    (body,) = model.asked
    assert body["messages"] == [{"role": "user", "content": render(request)}]
    assert body["system"][0]["text"] == prompt("read").text and "output_config" not in body
    assert isinstance(answer, Answered) and isinstance(answer.reply, ReadReply)
    assert [concept.title for concept in answer.reply.concepts] == ["Halyard"] and answer.refused == ()
    assert answer.engine == "claude/2 m" and answer.tokens[0] == tokens_in(body)
    text = text_for(body)
    assert answer.size == (sent_in(body), len(text.encode())) and answer.reply == parse(request, text)[0]
    assert answer.usd == pytest.approx((answer.tokens[0] * 2 + answer.tokens[1] * 10) / 1e6)


@pytest.mark.real_workers
def test_the_key_is_nowhere_but_in_the_header(model: MessagesServer) -> None:
    with backend(model) as by:
        assert isinstance(next(iter(by.answers(reads(1))))[1], Answered)
        seen = Path(f"/proc/{process_of(by).pid}")
        if seen.is_dir():
            assert KEY.encode() not in (seen / "cmdline").read_bytes() + (seen / "environ").read_bytes()
            assert (seen / "cwd").resolve() == Path("/")
    assert model.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in json.dumps(model.asked)


def test_neither_client_nor_network_is_loaded_by_who_publishes() -> None:
    code = "import compiler.workers.model_backend, sys; print([m for m in ('anthropic', 'httpx2', 'ssl') if m in sys.modules])"  # noqa: E501
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout.strip() == "[]"


def test_what_stands_before_the_words_is_the_same_for_all_requests_of_a_type(model: MessagesServer) -> None:
    with backend(model) as by:
        assert len(list(by.answers([*reads(3), checks(2), checks(3)]))) == 5
    fronts: dict[str, set[str]] = {}
    for body in model.asked:
        fronts.setdefault(type_of(body), set()).add(json.dumps({k: v for k, v in body.items() if k != "messages"}))
        assert body["system"][0]["cache_control"] == {"type": "ephemeral", "ttl": "5m"}
    assert fronts.keys() == {"read", "check"} and all(len(each) == 1 for each in fronts.values())


def test_each_role_has_its_model(model: MessagesServer) -> None:
    models = {"read": "small", "write": "middle", "check": "tiny"}
    with backend(model, models=models, prices={}) as by:
        found = dict(by.answers([*reads(1), checks(1)]))
    assert sorted(body["model"] for body in model.asked) == ["small", "tiny"]
    assert all(isinstance(a, Answered) and a.usd is None for a in found.values())
    assert [a.engine for _, a in sorted(found.items()) if isinstance(a, Answered)] == [
        "claude/2 small",
        "claude/2 tiny",
    ]


def test_a_long_answer_is_streamed_and_one_that_was_cut_off_may_be_longer_once(model: MessagesServer) -> None:
    def cut(body: dict[str, Any]) -> Reply:
        if len(model.asked) == 1:
            return message("CONCEPT Hal", stop="max_tokens", usage=(50, 16_000))
        return answering(body)

    model.answer = cut
    answer = only(backend(model), reads(1)[0])
    assert isinstance(answer, Answered) and answer.tokens[1] > 16_000  # both were paid
    first, second = model.asked
    assert first["stream"] and second["max_tokens"] == LARGER * first["max_tokens"]


def test_the_whole_lines_of_an_answer_that_stays_cut_off_count(model: MessagesServer) -> None:
    def cut(body: dict[str, Any]) -> Reply:
        return message(f"{text_for(body)}\nCONCEPT Hal", stop="max_tokens", usage=(50, 16_000))

    model.answer = cut
    answer = only(backend(model), reads(1)[0])
    assert isinstance(answer, Answered) and isinstance(answer.reply, ReadReply)
    assert [c.title for c in answer.reply.concepts] == [GEAR[0].capitalize()]


def test_the_answers_of_a_small_model_are_bounded_by_its_parts(model: MessagesServer) -> None:
    only(backend(model, size="small", part_bytes=4_000), reads(1)[0])
    assert [body["max_tokens"] for body in model.asked] == [1_000]


@pytest.mark.parametrize("field", ["cache_control", "effort"])
def test_what_a_server_does_not_support_is_found_out_once(field: str, model: MessagesServer) -> None:
    model.knows = lambda body: field if field in json.dumps({**body, "messages": []}) else ""
    with backend(model, concurrency=1) as by:
        assert all(isinstance(answer, Answered) for _, answer in by.answers(reads(3)))
    assert len(model.asked) == (3 if field == "effort" else 4)  # effort goes to Anthropic alone


# --- the second turn ---


def correcting(correction: Callable[[dict[str, Any]], Reply]) -> Callable[[dict[str, Any]], Reply]:
    """A model whose first answers have a line that cannot be used; what it says when that is shown to it."""

    def reply(body: dict[str, Any]) -> Reply:
        if len(body["messages"]) > 1:
            return correction(body)
        return message(f"{text_for(body)}\n{BAD}", usage=(100, 50))

    return reply


def test_a_faulty_line_may_be_corrected_once_in_the_same_conversation(model: MessagesServer) -> None:
    model.answer = correcting(lambda _: message("LINE 5: TERM oil | 1:1", usage=(200, 10)))
    request = reads(1)[0]
    answer = only(backend(model), request)
    first, second = model.asked
    user, assistant, mend = second["messages"]
    assert second["system"] == first["system"] and user == first["messages"][0]
    assert assistant == {"role": "assistant", "content": f"{text_for(first)}\n{BAD}"}
    assert "LINE 5" in mend["content"] and "rope, chain" in mend["content"]
    assert isinstance(answer, Answered) and isinstance(answer.reply, ReadReply) and answer.refused == ()
    assert [term.name for term in answer.reply.terms] == ["oil"] and len(answer.reply.concepts) == 1
    assert answer.tokens == (300, 60) and answer.size[0] == sent_in(first) + sent_in(second)
    assert answer.size[1] == len(f"{text_for(first)}\n{BAD}LINE 5: TERM oil | 1:1".encode())


@pytest.mark.parametrize(
    "correction",
    [
        lambda _: message(f"LINE 5: {BAD}", usage=(200, 10)),
        lambda _: message("Sorry!", usage=(200, 10)),
        lambda _: message("", usage=(200, 10)),
        lambda _: message("no", stop="refusal", usage=(200, 10)),
        lambda _: error(400, "invalid_request_error", "no second turns"),
        lambda _: error(413, "request_too_large", "too large"),
        lambda _: error(402, "billing_error", "pay"),
    ],
    ids=["as-before", "prose", "nothing", "declined", "refused", "too-large", "unpaid"],
)
def test_where_a_correction_does_not_help_what_was_good_counts(
    correction: Callable[[dict[str, Any]], Reply], model: MessagesServer
) -> None:
    model.answer = correcting(correction)
    answer = only(backend(model), reads(1)[0])
    assert isinstance(answer, Answered) and isinstance(answer.reply, ReadReply)
    assert [concept.title for concept in answer.reply.concepts] == ["Halyard"]
    (fault,) = answer.refused
    assert fault.startswith("line 5: “rope, chain") and answer.tokens[0] in (100, 300)
    assert max(len(body["messages"]) for body in model.asked) == 3


@pytest.mark.parametrize("text", ["Sure, here you are!", "", '{"claims": []}'])
def test_an_answer_in_no_form_is_asked_for_again_whole_and_then_given_up(text: str, model: MessagesServer) -> None:
    model.answer = lambda _: message(text, usage=(100, 20))
    answer = only(backend(model), reads(1)[0])
    assert isinstance(answer, Failed) and "not in the requested format" in answer.what and not answer.final
    assert answer.tokens == (200, 40) and len(model.asked) == 2
    assert model.asked[1]["messages"][1]["content"] == text or "(nothing)"


def test_an_answer_in_no_form_may_come_right_at_once(model: MessagesServer) -> None:
    model.answer = lambda body: answering(body) if len(body["messages"]) > 1 else message("Sure!")
    answer = only(backend(model), reads(1)[0])
    assert isinstance(answer, Answered) and answer.refused == () and len(model.asked) == 2


def test_corrections_are_asked_for_while_others_wait_and_never_more_at_once_than_the_user_says(
    model: MessagesServer,
) -> None:
    lock, now, most = threading.Lock(), 0, 0
    both = threading.Barrier(2)  # the calls at once that the user allows

    def reply(body: dict[str, Any]) -> Reply:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        if len(body["messages"]) == 1:
            both.wait(600)
        with lock:
            now -= 1
        return correcting(lambda _: message("LINE 5: TERM oil | 1:1"))(body)

    model.answer = reply
    with backend(model, concurrency=2) as by:
        order = [answer for _, answer in by.answers(reads(8))]
    assert len(order) == 8 and all(isinstance(a, Answered) and not a.refused for a in order)
    assert most == 2 and len(model.asked) == 16
    assert [len(body["messages"]) for body in model.asked].index(3) < 8  # not only after the last first answer


# --- the process ---


@pytest.mark.real_workers
def test_the_process_ends_when_its_input_does_even_while_a_server_keeps_it_waiting(model: MessagesServer) -> None:
    model.hold = threading.Event()
    died = threading.Event()

    def ask() -> None:
        try:
            list(by.answers(reads(1)))
        except WorkerFailed:
            died.set()

    with backend(model) as by:
        asking = threading.Thread(target=ask)
        asking.start()
        while not model.asked:
            assert asking.is_alive()
        process = process_of(by)
        assert process.poll() is None and process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=600) == 0 and died.wait(600)
        asking.join()
    model.hold.set()


@pytest.mark.real_workers
def test_a_process_that_dies_is_named_and_what_came_before_is_there(model: MessagesServer) -> None:
    by = backend(model, concurrency=1)

    def fatal(body: dict[str, Any]) -> Reply:
        if len(model.asked) == 3:
            process_of(by).kill()
        return answering(body)

    model.answer = fatal
    found = []
    with by, pytest.raises(WorkerFailed, match="ended unexpectedly") as dead:
        for _, answer in by.answers(reads(5)):
            found.append(answer)
    assert len(found) == 2 and all(isinstance(answer, Answered) for answer in found)
    assert "may be billed" in dead.value.hint


# --- batches ---


def test_a_batch_is_half_the_price_and_its_failures_are_asked_one_by_one(model: MessagesServer) -> None:
    fates = iter(["succeeded", "errored", "expired", "canceled", "succeeded"])
    by_name: dict[str, str] = {}
    model.batches = Batched(fate=lambda name: by_name.setdefault(name, next(fates)))
    requests = reads(5)
    with backend(model, Spending(batch=True)) as by:
        notes: list[dict[str, Any]] = []
        by.opened([], notes.append)
        found = dict(by.answers(requests))
    assert len(found) == 5 and all(isinstance(answer, Answered) for answer in found.values())
    assert len(model.asked) == 3 and len(model.batches.made["msgbatch_1"]) == 5
    assert [note["type"] for note in notes] == ["batch", "batch-end"]
    assert sorted(name[:17] for name in notes[0]["names"]) == sorted(request.id for request in requests)
    assert all(body["params"]["system"][0]["cache_control"]["ttl"] == "1h" for body in model.batches.made["msgbatch_1"])
    usd = sorted((a.usd or 0) for a in found.values() if isinstance(a, Answered))
    assert usd[0] == pytest.approx(usd[1], rel=0.1) and usd[2] > 1.5 * usd[1]


class Killed(Exception):
    pass


def given_and_killed(server: MessagesServer, requests: list[Request]) -> list[dict[str, Any]]:
    """What a run notes that gives a batch and is killed while it waits."""

    def progress(event: dict[str, Any]) -> None:
        if event["event"] == "batch":
            raise Killed

    notes: list[dict[str, Any]] = []
    by = ModelBackend(settings(server), lambda: KEY, Spending(batch=True), progress)
    by.opened([], notes.append)
    with by, pytest.raises(Killed):
        list(by.answers(requests))
    return notes


def test_a_killed_run_takes_up_its_batch_and_pays_once(model: MessagesServer) -> None:
    model.batches = Batched(looks=10_000)
    requests = reads(3)
    notes = given_and_killed(model, requests[:2])
    assert list(model.batches.made) == ["msgbatch_1"] and [note["type"] for note in notes] == ["batch"]
    model.batches.looks = 0
    known = requests[1].replaced(known=("Anchor",))  # what only helps makes no other request
    with backend(model) as by:  # without --batch: what was given is fetched all the same
        by.opened(list(notes), notes.append)
        found = dict(by.answers([requests[0], known, requests[2]]))
    assert len(found) == 3 and all(isinstance(answer, Answered) for answer in found.values())
    assert len(model.asked) == 1 and list(model.batches.made) == ["msgbatch_1"]
    assert [note["type"] for note in notes] == ["batch", "batch-end"]


def test_what_was_given_with_another_prompt_or_to_another_server_is_not_taken_up(
    model: MessagesServer, own_home: Path
) -> None:
    model.batches = Batched(looks=10_000)
    notes = given_and_killed(model, reads(1))
    model.batches.looks = 0
    elsewhere = [{**note, "base_url": "http://127.0.0.1:9"} for note in notes]
    with backend(model) as by:
        by.opened(elsewhere, lambda _: None)
        assert isinstance(next(iter(by.answers(reads(1))))[1], Answered) and len(model.asked) == 1
    own = own_home / ".config/retain/prompts/read.md"
    own.parent.mkdir(parents=True)
    own.write_text(f"<!-- read/mine -->\n{prompt('read').text}\nBe brief.\n")
    with backend(model) as by:
        by.opened(notes, lambda _: None)
        assert isinstance(next(iter(by.answers(reads(1))))[1], Answered) and len(model.asked) == 2
    assert "Be brief." in model.asked[1]["system"][0]["text"]


def test_an_answer_of_a_batch_is_corrected_by_itself(model: MessagesServer) -> None:
    model.answer = correcting(lambda _: message("LINE 5: TERM oil | 1:1", usage=(200, 10)))
    model.batches = Batched(looks=0)
    with backend(model, Spending(batch=True)) as by:
        found = [answer for _, answer in by.answers(reads(2))]
    assert all(isinstance(answer, Answered) and answer.refused == () for answer in found)
    assert list(model.batches.made) == ["msgbatch_1"] and [len(body["messages"]) for body in model.asked] == [3, 3]
    usd = (50 * 2 + 25 * 10 + 200 * 2 + 10 * 10) / 1e6  # half for the first turn
    assert all(answer.tokens == (300, 60) and answer.usd == pytest.approx(usd) for answer in found)


def test_a_server_that_takes_no_batches_is_asked_one_by_one(model: MessagesServer) -> None:
    with backend(model, Spending(batch=True)) as by:
        assert all(isinstance(answer, Answered) for _, answer in by.answers(reads(3)))
    assert len(model.asked) == 3


def test_a_batch_that_may_have_been_made_is_not_created_again_and_counts_as_lost(model: MessagesServer) -> None:
    cut = Reply(b'{"id":', length=400, reset=True)  # the server makes it, and the connection breaks before it says so
    model.batches = Batched(looks=0, spoil=lambda act, reply: cut if act == "give" else reply)
    with backend(model, Spending(batch=True, budget=5.0)) as by:
        found = dict(by.answers(reads(2)))
    assert all(isinstance(a, Failed) and a.final and "was lost" in a.what for a in found.values()) and len(found) == 2
    assert list(model.batches.made) == ["msgbatch_1"] and by.lost > 0 and not model.asked


def test_a_busy_server_is_given_its_batch_again(model: MessagesServer) -> None:
    replies = [error(529, "overloaded_error"), error(429, "rate_limit_error", headers={"retry-after": "0"})]
    model.batches = Batched(looks=0, spoil=lambda act, reply: replies.pop() if act == "give" and replies else reply)
    with backend(model, Spending(batch=True)) as by:
        assert all(isinstance(answer, Answered) for _, answer in by.answers(reads(2)))
    assert not replies and not model.asked


@pytest.mark.parametrize("act", ["give", "look", "fetch"])
@pytest.mark.parametrize("body", [b"<html>hi</html>", b'{"ok": true}', b"null"])
def test_a_page_in_place_of_a_batch_ends_the_compile(act: str, body: bytes, model: MessagesServer) -> None:
    kind = "text/html" if body.startswith(b"<") else "application/json"
    model.batches = Batched(looks=0, spoil=lambda at, reply: Reply(body, kind=kind) if at == act else reply)
    by = backend(model, Spending(batch=True, budget=5.0))
    answer = only(by, reads(1)[0])
    if isinstance(answer, Failed):
        assert answer.final and "not a Messages API response" in answer.what and by.lost > 0
    else:  # not a line of it was a result
        assert act == "fetch" and len(model.asked) == 2


def test_an_answer_of_a_batch_that_was_cut_off_is_asked_for_at_its_full_length(model: MessagesServer) -> None:
    cut = message("CONCEPT Hal", stop="max_tokens", usage=(50, 16_000))
    model.batches = Batched(looks=0, answer=lambda _: cut)
    answer = only(backend(model, Spending(batch=True)), reads(1)[0])
    assert isinstance(answer, Answered) and answer.tokens[1] > 16_000
    assert [body["max_tokens"] for body in model.asked] == [LARGER * MAX_TOKENS["read"]]


# --- refusals and money ---


def test_a_server_that_refuses_everything_is_not_asked_for_ever(model: MessagesServer) -> None:
    model.answer = lambda _: error(400, "invalid_request_error", "top_k is deprecated")
    with backend(model, concurrency=1) as by:
        found = [answer for _, answer in by.answers(reads(12))]
    assert len(model.asked) == 6 and len(found) == 12  # each in both formats
    assert [isinstance(a, Failed) and a.final for a in found] == [False, False, *[True] * 10]
    last = found[-1]
    assert isinstance(last, Failed) and "rejects every request (400)" in last.what and "top_k" in last.hint


def test_after_a_final_fault_nothing_more_is_asked_and_every_later_request_is_told_why(model: MessagesServer) -> None:
    model.answer = lambda _: error(401, "authentication_error", f"bad {KEY}")
    with backend(model, concurrency=1) as by:
        found = [answer for _, answer in by.answers(reads(4))]
        found += [answer for _, answer in by.answers([checks(2)])]
    assert len(model.asked) == 1 and len(found) == 5
    assert all(isinstance(a, Failed) and a.final and "key was not accepted" in a.what for a in found)
    assert KEY not in repr(found) and sum(answer.tokens[0] for answer in found) == 0


def test_a_check_that_names_nobody_is_no_verdict(model: MessagesServer) -> None:
    model.answer = lambda _: message("All seems plausible to me, though I can't be sure.")
    answer = only(backend(model), checks(2))
    assert isinstance(answer, Failed) and not answer.final and len(model.asked) == 2
    model.answer = lambda _: message("2 DROP nothing of it is there")
    answer = only(backend(model), checks(2))
    assert isinstance(answer, Answered) and isinstance(answer.reply, CheckReply)
    assert [each.verdict for each in answer.reply.verdicts] == ["ok", "drop"]


def test_a_budget_before_a_model_without_a_price_is_refused() -> None:
    told = EngineSettings(base_url="http://127.0.0.1:9", models=dict.fromkeys(ROLES, "m"))
    with pytest.raises(UsageError, match="price") as found:
        ModelBackend(told, lambda: KEY, Spending(budget=1.0))
    assert '[engine.prices."m"]' in found.value.hint


def test_a_budget_that_does_not_pay_for_a_correction_keeps_the_answer_and_ends_there(model: MessagesServer) -> None:
    def dear(body: dict[str, Any]) -> Reply:
        return message(f"{text_for(body)}\n{BAD}", usage=(tokens_in(body), 5_000))

    model.answer = dear
    with backend(model, Spending(budget=0.2), concurrency=1) as by:
        found = dict(by.answers(reads(3)))
    assert len(model.asked) == 1 and 0.05 < (by.paid.usd or 0) <= 0.2
    answered = [answer for answer in found.values() if isinstance(answer, Answered)]
    assert len(answered) == 1 and len(answered[0].refused) == 1
    left = [answer for answer in found.values() if isinstance(answer, Failed)]
    assert len(left) == 2 and all(each.final and "budget of $0.2" in each.what for each in left)
