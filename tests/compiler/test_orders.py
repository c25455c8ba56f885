"""The board of the work orders: leases among agents at once, what is remembered of open requests, and for how long."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from compiler.orders import board as boards
from compiler.orders import submit as submitting
from compiler.orders.apply import Finalized, finalize_staged
from compiler.orders.board import OrderDesk, open_board
from compiler.orders.files import ORDERS, order_named, order_text, read_order, write_order
from compiler.orders.leases import PATH, active_leases, end_leases, lease_orders
from compiler.orders.submit import submit
from compiler.protocol import forms
from compiler.protocol.requests import REQUESTS, Request
from compiler.replies.journal import Journal, entry_of
from compiler.replies.prompts import prompt
from tests.builders import vault_with_sources
from tests.compiler.scripted_model import answer_for
from vault.errors import LockHeld
from vault.locks import lock
from vault.log import ledger
from vault.vault import Vault

NOW = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)
RUN = "01JDB0000000000000000000AA"
MITOSIS = "# Mitosis\n\nMitosis is a division of the nucleus. It gives two nuclei that are alike.\n"
MEIOSIS = "# Meiosis\n\nMeiosis is a division that halves the chromosomes. It gives four cells.\n"


@pytest.fixture
def cells(tmp_path: Path) -> Vault:
    return vault_with_sources(tmp_path / "vault", {"mitosis.md": MITOSIS, "meiosis.md": MEIOSIS})


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one with every build that is run to find out what is open."""
    ran: list[int] = []
    real: Callable[..., tuple[Request, ...]] = boards._open_requests

    def counted(desk: OrderDesk, at: datetime) -> tuple[Request, ...]:
        ran.append(1)
        return real(desk, at)

    monkeypatch.setattr(boards, "_open_requests", counted)
    return ran


def answer(desk: OrderDesk, request: Request, at: datetime = NOW, name: str = "one") -> None:
    receipt = submit(desk, request.id, answer_for(request.type, forms.render(request)), name, at)
    assert receipt.is_complete, receipt


def test_no_two_of_many_agents_at_once_get_the_same_order(cells: Vault) -> None:
    wanted = [f"check-{n:012x}" for n in range(40)]
    got: list[list[str]] = []

    def agent(name: str) -> None:
        got.extend(lease_orders(cells, wanted, 2, name, 10, NOW) for _ in range(5))

    threads = [threading.Thread(target=agent, args=(f"agent-{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    taken = [id_ for ids in got for id_ in ids]
    assert sorted(taken) == wanted and len(active_leases(cells, NOW)) == 40


def test_a_lease_ends_with_its_time_or_when_it_is_given_back(cells: Vault) -> None:
    assert lease_orders(cells, ["a", "b"], 2, "one", 10, NOW) == ["a", "b"]
    assert lease_orders(cells, ["a", "b"], 2, "two", 10, NOW) == []
    end_leases(cells, ["a"], NOW)
    assert lease_orders(cells, ["a", "b"], 2, "two", 10, NOW) == ["a"]
    assert lease_orders(cells, ["a", "b"], 2, "three", 10, NOW + timedelta(minutes=11)) == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"a": 7}',
        '{"a": ["x", "y"]}',
        '{"a": ["one", 1e400]}',
        '{"a": ["one", 9e99]}',
        '{"a": ["\\u001b", 1]}',
    ],
)
def test_a_file_of_leases_that_somebody_spoilt_holds_nobody_up(cells: Vault, text: str) -> None:
    (cells.root / PATH).parent.mkdir(parents=True, exist_ok=True)
    (cells.root / PATH).write_text(text)
    assert active_leases(cells, NOW) == {}
    assert lease_orders(cells, ["a"], 1, "one", 10, NOW) == ["a"]


def test_what_is_open_is_found_out_once_and_again_only_when_something_changed(cells: Vault, builds: list[int]) -> None:
    desk = OrderDesk(cells)
    first = open_board(desk, NOW).open()
    assert {r.type for r in first.values()} == {"read"} and builds == [1]
    assert open_board(desk, NOW).open() == first and builds == [1]
    (cells.root / "raw/articles/more.md").write_text(
        "# Budding\n\nBudding is a growth of a new cell out of an old one.\n"
    )
    second = open_board(desk, NOW).open()
    assert second != first and builds == [1, 1]


def test_the_next_stage_opens_by_itself_and_the_end_is_remembered(cells: Vault, builds: list[int]) -> None:
    desk = OrderDesk(cells)
    stages = []
    while not (board := open_board(desk, NOW)).done:
        stages.append({r.type for r in board.open().values()})
        for request in board.open().values():
            answer(desk, request)
    assert len(builds) == len(stages) + 1 and stages[0] == {"read"} and {"write"} in stages
    assert open_board(desk, NOW).done and len(builds) == len(stages) + 1


def test_an_answer_of_an_earlier_stage_that_is_given_anew_opens_what_follows_from_it(
    cells: Vault, builds: list[int]
) -> None:
    desk = OrderDesk(cells)
    (read,) = open_board(desk, NOW).open().values()
    write_order(cells, read, "text")
    full = answer_for("read", forms.render(read))
    assert submit(desk, read.id, full[: full.index("CONCEPT", 1)], "one", NOW).state == "accepted"
    before = open_board(desk, NOW).open()
    assert submit(desk, read.id, full, "two", NOW).state == "accepted"
    after = open_board(desk, NOW).open()
    assert before.keys().isdisjoint(after) and len(builds) == 3
    titles = [str(found) for found in (before, after)]
    assert ["Meiosis" in t and "Mitosis" in t for t in map(_named, (before, after))] == [False, True], titles


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"v": 1}', '{"v": 3, "digest": "x", "run": "", "requests": 3}', "[" * 9_000]
)
def test_a_spoilt_list_of_requests_is_made_anew(cells: Vault, text: str) -> None:
    desk = OrderDesk(cells)
    first = open_board(desk, NOW).open()
    (cells.root / desk.cache).write_text(text)
    assert open_board(desk, NOW).open() == first


def test_a_journal_that_lost_lines_asks_again(cells: Vault) -> None:
    desk = OrderDesk(cells)
    first = open_board(desk, NOW).open()
    answer(desk, next(iter(first.values())))
    assert next(iter(first)) not in open_board(desk, NOW).open()
    for file in (cells.root / "ledger/replies").iterdir():
        file.unlink()
    assert open_board(desk, NOW).open() == first


def test_replies_wait_for_a_compile_that_publishes(cells: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submitting, "_WAIT_S", 0.0)
    desk = OrderDesk(cells)
    request = next(iter(open_board(desk, NOW).open().values()))
    with lock(cells.root, "publish", purpose="compiling"), pytest.raises(LockHeld, match="compiling"):
        answer(desk, request)
    assert not list((cells.root / "ledger/replies").glob("*"))


def test_a_reply_counts_after_those_before_it_though_the_clock_was_set_back(cells: Vault) -> None:
    desk = OrderDesk(cells)
    request = next(iter(open_board(desk, NOW).open().values()))
    write_order(cells, request, "text")
    answer(desk, request)
    answer(desk, request, NOW - timedelta(days=2), "two")
    files = sorted((cells.root / "ledger/replies").iterdir())
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    lines.sort(key=lambda line: str(line["at"]))
    assert [line["engine"] for line in lines] == ["agent/2 one", "agent/2 two"]
    assert lines[0]["at"] < lines[1]["at"] and lines[1]["at"].startswith("2026-11-23")


def _named(requests: Mapping[str, Request]) -> str:
    """What settle and write orders are about, in one text."""
    return " ".join(forms.render(r).partition("=== DOCUMENT")[0] for r in requests.values())


# --- what an agent in the sandbox left ------------------------------------------------------------------------------


def staged(cells: Vault, request: Request, name: str, answer: str, at: str = "2026-11-23T09:00:00.000Z") -> bytes:
    reply, _ = forms.parse(request, answer)
    return ledger.encode(entry_of(request, reply, f"agent/2 {name}", "read/1", at).event())


def stage(cells: Vault, *lines: bytes) -> None:
    (cells.root / boards.STAGED).mkdir(parents=True, exist_ok=True)
    (cells.root / boards.STAGED / "a.jsonl").write_bytes(b"".join(lines))


def test_the_last_reply_to_a_request_is_taken_over_and_dated_after_the_journal(cells: Vault) -> None:
    (read,) = open_board(OrderDesk(cells), NOW).open().values()
    full = answer_for("read", forms.render(read))
    answer(OrderDesk(cells), read)
    early, late = (f"2026-11-23T0{hour}:00:00.000Z" for hour in (7, 8))
    stage(cells, staged(cells, read, "late", full, late), staged(cells, read, "early", full[:90], early))
    taken = finalize_staged(cells, RUN, NOW - timedelta(days=1))
    assert (taken.kept, taken.refused) == (1, ())
    entries = Journal.of(cells)[0].entries
    assert [e.engine for e in entries] == ["agent/2 one", "agent/2 late"] and entries[1].run == RUN
    found = Journal.of(cells)[0].find(read)
    assert found is not None and found.engine == "agent/2 late"


def test_what_is_no_reply_is_counted_and_what_is_beyond_the_limit_is_not_read(
    cells: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    (read,) = open_board(OrderDesk(cells), NOW).open().values()
    good = staged(cells, read, "one", answer_for("read", forms.render(read)))
    event = json.loads(good)
    changes: list[dict[str, Any]] = [{"of": "write"}, {"failed": "x"}, {"request": "read-x"}, {"reply": {}}, {"v": 1}]
    wrong = [event | change for change in changes]
    stage(cells, *map(ledger.encode, wrong))
    taken = finalize_staged(cells, RUN, NOW)
    assert taken.kept == 0 and "5 lines" in taken.refused[0].message
    stage(cells, good)
    monkeypatch.setattr(boards, "_LARGEST", len(good) - 1)
    assert finalize_staged(cells, RUN, NOW).kept == 0
    monkeypatch.undo()
    assert finalize_staged(cells, RUN, NOW).kept == 1


def test_nothing_staged_is_nothing_taken(cells: Vault) -> None:
    assert finalize_staged(cells, RUN, NOW) == Finalized()


# --- files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("of", REQUESTS)
def test_what_is_to_be_read_before_the_request_is_short(of: str) -> None:
    assert len(prompt(of).text.encode()) < 3_800


def test_an_order_is_read_again_as_it_was_and_only_under_its_own_id(cells: Vault) -> None:
    request = next(iter(open_board(OrderDesk(cells), NOW).open().values()))
    assert write_order(cells, request, order_text(request, "hand it in")) > 500
    assert read_order(cells, request.id) == request
    path = cells.root / f"{ORDERS}/{request.id}.json"
    other = f"{request.id[:-1]}{'0' if request.id[-1] != '0' else '1'}"
    path.rename(path.with_name(f"{other}.json"))
    assert read_order(cells, other) is None and read_order(cells, request.id) is None
    assert read_order(cells, "../../retain") is None


def test_files_of_long_ago_are_removed(cells: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    from compiler.orders import files

    monkeypatch.setattr(files, "_MOST", 2)
    request = next(iter(open_board(OrderDesk(cells), NOW).open().values()))
    (cells.root / ORDERS).mkdir(parents=True)
    for n in range(20):
        (cells.root / f"{ORDERS}/read-{n:012x}.txt").write_text("old")
    write_order(cells, request, "new")
    assert len(list((cells.root / ORDERS).iterdir())) <= 8 and read_order(cells, request.id) == request


@pytest.mark.parametrize(
    ("file", "id_"),
    [
        ("/x/.retain/work/orders/read-3f9a1c2b4d5e.answer.txt", "read-3f9a1c2b4d5e"),
        ("check-3f9a1c2b4d5e.txt", "check-3f9a1c2b4d5e"),
        ("write-3f9a1c2b4d5e", "write-3f9a1c2b4d5e"),
        ("extract-3f9a1c2b4d5e.txt", ""),
        ("read-3f9a1c2b4d5e.txt/notes", ""),
        ("my-read-3f9a1c2b4d5e.txt", ""),
        ("-", ""),
    ],
)
def test_the_name_of_a_file_says_which_order_it_answers(file: str, id_: str) -> None:
    assert order_named(file) == id_
