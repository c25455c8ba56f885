"""The journal of replies: what it bears of torn, merged, later and hostile lines, and what a killed compile costs."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from compiler.model.report import Report
from compiler.protocol.forms import nothing
from compiler.protocol.replies import (
    CheckReply,
    CheckVerdict,
    Quote,
    ReadConcept,
    ReadReply,
    SettleReply,
    Statement,
    WriteReply,
    WrittenArticle,
    WrittenSection,
    WrittenSentence,
)
from compiler.protocol.requests import CheckItem, CheckRequest, NameLine, ReadRequest, SettleRequest
from compiler.replies.asker import Asker, Waiting
from compiler.replies.journal import VERSION, Entry, Journal, entry_in, entry_of
from compiler.replies.knowledge import Knowledge
from tests.builders import vault_with_sources
from tests.compiler.scripted import Scripted, Whimsical
from tests.compiler.shown_documents import IDS, shown
from tests.compiler.test_build import products, tree
from tests.compiler.test_journaled import HOUR, MEIOSIS, MITOSIS, MORNING, compiled
from vault.errors import WriteFailed
from vault.files.guard import Guard
from vault.log import ledger
from vault.vault import Vault, open_vault

CHECK = CheckRequest(items=(CheckItem(key="0" * 12, about="Meiosis", text="It halves."),))


@pytest.fixture
def cells(tmp_path: Path) -> Vault:
    return vault_with_sources(tmp_path / "vault", {"mitosis.md": MITOSIS, "meiosis.md": MEIOSIS})


def journal_file(vault: Vault) -> Path:
    return sorted((vault.root / "ledger/replies").glob("*.jsonl"))[-1]


def rebuilt(vault: Vault, at: int = 5) -> Report:
    """The products made anew from the journal, nobody there to ask."""
    for folder in (".retain", "wiki", "learning/flashcards"):
        shutil.rmtree(vault.root / folder, ignore_errors=True)
    return compiled(vault, None, MORNING + at * HOUR, fresh=True)


def verdict(said: str, item: str = "0" * 12) -> CheckReply:
    return CheckReply(verdicts=(CheckVerdict.from_json({"item": item, "verdict": said}),))


def entry(said: str = "ok", day: int = 1, **changes: Any) -> Entry:
    at = f"2026-01-{day:02}T00:00:00.000Z"
    return replace(entry_of(CHECK, verdict(said), "scripted/1", "check/1 abc", at, run="r"), **changes)


def read_entry(day: int, *concepts: ReadConcept, covers: tuple[str, ...], failed: str = "") -> Entry:
    reply = ReadReply(covers=covers, concepts=concepts)
    request = ReadRequest(documents=shown("# A\n\nA keel is a fin.\n"))
    at = f"2026-01-{day:02}T00:00:00.000Z"
    return entry_of(request, reply, "scripted/1", "read/1 abc", at, failed=failed, run=f"run {day}")


# --- what the entries say together ------------------------------------------------------------------------------------


def test_an_entry_comes_back_from_its_line() -> None:
    one = entry(tokens=(10, 5), usd=None, bytes=(300, 20), failed="busy")
    event = json.loads(ledger.encode(one.event()))
    back = entry_in(event)
    assert event["v"] == VERSION == 2 and back is not None and back.event() == one.event()
    assert back.value() == verdict("ok")


def test_the_latest_answer_counts_in_whatever_order_the_lines_lie() -> None:
    first, last = entry("drop", 1), entry("ok", 2)
    for order in ([first, last], [last, first]):
        journal = Journal(order)
        assert journal.find(CHECK) is last
        assert Knowledge.of(journal.entries).verdicts["0" * 12].verdict == "ok"


def test_each_block_is_spoken_for_by_its_latest_reading_and_a_failure_hides_none() -> None:
    one, two = f"{IDS[0]}:{'1' * 12}", f"{IDS[0]}:{'2' * 12}"
    keel, fin = ReadConcept(title="Keel", blocks=(one, two)), ReadConcept(title="Fin", blocks=(two,))
    entries = [
        read_entry(1, keel, covers=(one, two)),
        read_entry(2, fin, covers=(two,)),
        read_entry(3, covers=(one,), failed="the model is busy"),
    ]
    known = Knowledge.of(entries)
    assert [(c.title, blocks) for c, blocks in known.concepts({one, two})] == [("Keel", (one,)), ("Fin", (two,))]
    assert [(c.title, blocks) for c, blocks in known.concepts({two})] == [("Fin", (two,))]
    assert known.read_blocks == {one, two} and not known.failed_blocks
    alone = Knowledge.of(entries[2:])
    assert alone.failed_blocks == {one} and alone.read_blocks == {one}
    assert not Knowledge.of(entries[2:], retries=True, run="another run").read_blocks
    assert Knowledge.of(entries[2:], retries=True, run="run 3").read_blocks == {one}


def test_a_second_answer_to_settle_takes_back_what_the_first_joined() -> None:
    names = SettleRequest(names=(NameLine(title="Meiosis"), NameLine(title="Mitosis")))
    both = [SettleReply(covers=("Meiosis", "Mitosis"), same=same) for same in ((("Meiosis", "Mitosis"),), ())]
    days = (f"2026-11-2{day}T09:00:00.000Z" for day in (1, 2))
    entries = [entry_of(names, reply, "scripted/1", "settle/1 abc", at) for reply, at in zip(both, days, strict=True)]
    assert [reply.same for reply in Knowledge.of(entries).settled] == [()]
    assert [reply.same for reply in Knowledge.of(entries[:1]).settled] == [(("Meiosis", "Mitosis"),)]


def test_an_article_that_nobody_could_write_leaves_the_one_before() -> None:
    sentence = WrittenSentence(text="It is a fin.", quotes=(Quote(source=IDS[0], words="A keel is a fin."),))
    whole = WrittenArticle(title="Keel", covers=(), sections=(WrittenSection(heading="", paragraphs=((sentence,),)),))
    entries = [
        replace(entry(day=n), of="write", reply=WriteReply(articles=(a,)).as_json())
        for n, a in enumerate((whole, WrittenArticle(title="keel")), 1)
    ]
    known = Knowledge.of(entries)
    assert [w.article.sections for w in known.articles["keel"]] == [whole.sections]


def test_what_is_learnt_takes_the_place_it_will_have_when_it_is_read_again() -> None:
    old = entry(at="2026-06-01T00:00:00.000Z")
    journal = Journal([old])
    dated = journal.dated(entry("drop", 1))  # by a clock that is behind
    assert dated.at == "2026-06-01T00:00:00.001Z"
    journal.learn(dated)
    assert journal.find(CHECK) is dated and journal.entries == Journal([dated, old]).entries


def test_a_correction_is_accepted_as_it_reads_and_what_was_dropped_is_not() -> None:
    quotes = (Quote(source=IDS[0], words="A keel is a fin."),)
    statement = Statement(text="A keel is always a fin.", quotes=quotes)
    from compiler.protocol.check import item_key

    key = item_key(statement.text, "", ["A keel is a fin."])
    fix = CheckReply(verdicts=(CheckVerdict(item=key, verdict="fix", text="A keel is a fin, mostly."),))
    reading = read_entry(1, ReadConcept(title="Keel", line=statement, blocks=()), covers=(f"{IDS[0]}:{'1' * 12}",))
    accepted = Knowledge.of([reading, replace(entry(day=2), reply=fix.as_json())]).accepted()
    assert item_key("A keel is a fin, mostly.", "", ["A keel is a fin."]) in accepted and key not in accepted
    dropped = replace(entry(day=2), reply=verdict("drop", key).as_json())
    assert not Knowledge.of([reading, dropped]).accepted()


def test_that_nothing_came_twice_for_one_reason_is_one_line() -> None:
    journal = Journal()
    kept: list[Entry] = []

    class Keeping:
        run = "run"

        def keep(self, one: Entry) -> None:
            kept.append(one)

    backend = Scripted(broken=lambda request: "busy", tokens=(0, 0), usd=0.0)
    for _ in range(3):
        asker = Asker(journal, Keeping(), backend, "2026-01-01T00:00:00.000Z", lambda event: None)  # type: ignore[arg-type]
        asker.ask([CHECK], "check")
    assert len(kept) == 1 and journal.failure(CHECK.id) == "busy" and journal.find(CHECK) is None
    assert kept[0].value() == nothing(CHECK)


# --- damage -----------------------------------------------------------------------------------------------------------


def test_a_torn_last_line_is_asked_again_alone_and_named(cells: Vault) -> None:
    compiled(cells, Scripted())
    before = products(tree(cells))
    path = journal_file(cells)
    path.write_bytes(path.read_bytes()[:-30])
    shutil.rmtree(cells.root / ".retain")
    backend = Scripted()
    report = compiled(cells, backend, MORNING + HOUR)
    assert backend.counts() == {"check": 1}
    assert [n.code for n in report.notices if n.path.startswith("ledger/")] == ["ledger-line"]
    assert products(tree(cells)) == before


def test_conflict_markers_shuffled_and_repeated_lines_change_nothing_and_are_named_once(cells: Vault) -> None:
    compiled(cells, Scripted())
    before = products(tree(cells))
    path = journal_file(cells)
    lines = path.read_text().splitlines()
    random.Random(1).shuffle(lines)
    path.write_text("\n".join(["<<<<<<< ours", *lines, "=======", *lines[:3], ">>>>>>> theirs", "{", ""]))
    report = rebuilt(cells)
    assert products(tree(cells)) == before
    named = [n for n in report.notices if n.path.startswith("ledger/")]
    assert len(named) == 1 and "and 3 more lines" in named[0].message


def test_lines_of_later_versions_are_kept_and_named_once(cells: Vault) -> None:
    compiled(cells, Scripted())
    before = products(tree(cells))
    path = journal_file(cells)
    at = "2026-11-21T09:00:00.000Z"
    later = [{"v": 3, "type": "reply", "of": "read", "at": at}, {"v": 1, "type": "dream", "at": at, "x": [1]}]
    data = path.read_bytes() + b"".join(map(ledger.encode, [*later, {"v": 2, "type": "reply", "of": "sing", "at": at}]))
    path.write_bytes(data)
    report = rebuilt(cells)
    assert products(tree(cells)) == before and path.read_bytes() == data
    assert [n.code for n in report.notices if n.path.startswith("ledger/")] == ["reply-unknown"]


HOSTILE: list[dict[str, Any]] = [
    {"tokens": [10**30, 5]},
    {"tokens": [-1, 0]},
    {"tokens": [True, 0]},
    {"tokens": {"sent": 1, "received": 2}},
    {"tokens": "12"},
    {"bytes": [-1, 0]},
    {"bytes": "12"},
    {"usd": -1},
    {"usd": float("inf")},
    {"usd": float("nan")},
    {"usd": True},
    {"usd": "free"},
    {"reply": []},
    {"reply": None},
    {"request": ""},
    {"request": ["../../etc"]},
    {"engine": {}},
    {"failed": 1},
    {"run": 7},
    {"at": "9999-12-31T23:59:59.999Z"},
    {"reply": {"verdicts": [{"item": "0" * 12, "verdict": "ok", "why": "\ud800"}]}},
]


@pytest.mark.parametrize("fault", HOSTILE, ids=lambda f: json.dumps(f)[:40])
def test_an_entry_of_the_wrong_shape_is_none(fault: dict[str, Any]) -> None:
    assert entry_in(entry().event()) is not None
    assert entry_in({**entry().event(), **fault}) is None


def test_a_hostile_journal_changes_nothing_and_is_named_once(cells: Vault) -> None:
    compiled(cells, Scripted())
    before = products(tree(cells))
    lines = [json.dumps({**entry().event(), **fault}).encode() + b"\n" for fault in HOSTILE]
    lines += [
        b'{"type":"reply","at":' + b"[" * 100_000 + b"\n",
        b'{"v":2,"type":"reply"}\n',
        b"\xff\xfe\n",
        b"9" * 5000 + b"\n",
    ]
    shapeless = {"covers": ["x"], "concepts": [{"title": "\x1b[31m", "blocks": ["../etc"]}], "evil": 1}
    lines.append(ledger.encode({**entry().event(), "of": "read", "reply": shapeless}))
    (cells.root / "ledger/replies/0.jsonl").write_bytes(b"".join(lines))
    report = rebuilt(cells)
    assert products(tree(cells)) == before
    named = [n.code for n in report.notices if n.path.startswith("ledger/")]
    assert sorted(named) == ["ledger-line", "reply-line"]


def test_a_strangers_replies_pass_the_gates_like_any_others(cells: Vault) -> None:
    """A line that somebody else wrote into the journal can say no more than a model may."""
    compiled(cells, Scripted())
    lines = [json.loads(line) for line in journal_file(cells).read_text().splitlines()]
    (write,) = [line for line in lines if line.get("of") == "write"]
    forged = json.loads(json.dumps(write))
    for article in forged["reply"]["articles"]:
        paragraph = article["sections"][0]["paragraphs"][0]
        for words in (
            "See www.evil.example.",
            "It gives 99 cells.",
            "As [[wiki/x|y]] says.",
            "It \x1b[31m divides 99 times.",
        ):
            paragraph.append({**paragraph[0], "text": words})
        paragraph.append({**paragraph[0], "text": "Nobody checked this.", "quotes": paragraph[1]["quotes"]})
        paragraph.append(
            {**paragraph[0], "text": "It is so.", "quotes": [{"source": IDS[0], "words": "No such source."}]}
        )
        article["cards"] = [{**card, "answer": "99 of them"} for card in article.get("cards", ())]
    forged["at"] = ledger.instant(MORNING + HOUR)
    (cells.root / "ledger/replies/forged.jsonl").write_bytes(ledger.encode(forged))
    with pytest.raises(Waiting, match="check"):
        rebuilt(cells)  # what nobody has checked waits for a second reader
    backend = Scripted(verdicts=lambda type_, request: "\n".join(f"{n} DROP it is not so" for n in range(1, 9)))
    report = compiled(cells, backend, MORNING + 6 * HOUR)
    assert report.rejections and backend.counts() == {"check": 1}
    for path in [p for folder in ("wiki", "learning") for p in (cells.root / folder).rglob("*.md")]:
        text = path.read_text()
        assert not any(bad in text for bad in ("evil", "99 ", "\x1b", "[[wiki/x", "Nobody checked", "It is so")), path


# --- two of them ------------------------------------------------------------------------------------------------------


def test_two_clones_that_answered_differently_agree_once_their_journals_are_merged(
    tmp_path: Path, cells: Vault
) -> None:
    (cells.root / ".gitattributes").write_text("ledger/** merge=union\n")
    other = tmp_path / "other"
    shutil.copytree(cells.root, other)
    theirs = open_vault(str(other), None, other)
    (other / "raw/articles/osmosis.md").write_text("# Osmosis\n\nOsmosis is a flow of water through a membrane.\n")
    compiled(cells, Whimsical(rng=random.Random(1)))
    compiled(theirs, Whimsical(rng=random.Random(2)), MORNING + HOUR)
    shutil.copyfile(other / "raw/articles/osmosis.md", cells.root / "raw/articles/osmosis.md")
    for here, there in ((cells.root, other), (other, cells.root)):
        for path in (here / "ledger/replies").glob("*.jsonl"):
            shutil.copyfile(path, there / "ledger/replies" / path.name)
    for name in ("ids.jsonl", "builds.jsonl", "decisions.jsonl"):
        both = [(root / "ledger" / name) for root in (cells.root, other)]
        lines = [p.read_text() if p.exists() else "" for p in both]
        if any(lines):
            both[0].write_text(lines[0] + lines[1])
            both[1].write_text(lines[1] + lines[0])
    for vault in (cells, theirs):  # what the merge left open, one of them asks
        compiled(vault, Scripted(), MORNING + 4 * HOUR)
    for path in (cells.root / "ledger/replies").glob("*.jsonl"):
        shutil.copyfile(path, other / "ledger/replies" / path.name)
    for path in (other / "ledger/replies").glob("*.jsonl"):
        shutil.copyfile(path, cells.root / "ledger/replies" / path.name)
    rebuilt(cells)
    rebuilt(theirs)
    pages = [
        {p: d for p, d in products(tree(v)).items() if p.startswith(("wiki/concepts", "learning/fl"))}
        for v in (cells, theirs)
    ]
    assert pages[0] == pages[1] and any("osmosis" in p for p in pages[0])


def test_asking_anew_asks_all_again_and_what_comes_stays(cells: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled(cells, Scripted(engine="scripted/1"))
    monkeypatch.setattr("compiler.replies.asker.prompt_id", lambda name: f"{name}/99 abc")
    second = Whimsical(engine="scripted/2")
    report = compiled(cells, second, MORNING - HOUR, renew=True)  # by a clock that is behind
    assert {"read", "settle", "write"} <= second.counts().keys() and report.cost["input_tokens"]
    before = products(tree(cells))
    third = Scripted()
    compiled(cells, third, MORNING + HOUR, renew=True)
    assert not third.asked
    rebuilt(cells)
    assert products(tree(cells)) == before


# --- kills and full disks ---------------------------------------------------------------------------------------------


class Killed(BaseException):
    """What no code of ours catches, as a kill is."""


@pytest.mark.parametrize("late", [False, True])
def test_a_compile_killed_at_any_append_resumes_without_paying_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    documents = {"mitosis.md": MITOSIS, "meiosis.md": MEIOSIS}
    whole = Scripted()
    vault = vault_with_sources(tmp_path / "whole", documents)
    compiled(vault, whole)
    wanted, appends = products(tree(vault)), len(whole.asked) + 2
    real = Guard.append
    for strike in range(1, appends + 1):
        vault = vault_with_sources(tmp_path / str(strike), documents)
        count = 0

        def append(self: Guard, path: str, lines: bytes, strike: int = strike, **more: Any) -> None:
            nonlocal count
            count += 1
            if count == strike and not late:
                raise Killed
            real(self, path, lines, **more)
            if count == strike:
                raise Killed

        first, second = Scripted(), Scripted()
        with monkeypatch.context() as patched:
            patched.setattr(Guard, "append", append)
            with pytest.raises(Killed):
                compiled(vault, first)
        compiled(vault, second)
        # An answer that came and was not on disk yet is asked once more; every other was paid once.
        lost = 0 if late or strike > len(whole.asked) else 1
        assert len(first.asked) + len(second.asked) == len(whole.asked) + lost
        # The chronicle counts what the killed one had read as read before.
        assert {p for p, d in wanted.items() if products(tree(vault)).get(p) != d} <= {"wiki/_log.md"}
        assert products(tree(vault)).keys() == wanted.keys()


def test_a_full_disk_publishes_nothing_and_is_named(cells: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    written = 0
    real = os.write

    def write(handle: int, data: bytes) -> int:
        nonlocal written
        if b'"type":"reply"' in bytes(data):
            written += 1
            if written == 3:
                raise OSError(errno.ENOSPC, "No space left on device")
        return real(handle, data)

    backend = Scripted()
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", write)
        with pytest.raises(WriteFailed, match="the disk is full"):
            compiled(cells, backend)
    assert not list((cells.root / "wiki").rglob("*.md")) and len(backend.asked) == 3
    journal, found = Journal.of(cells)
    assert len(journal.entries) == 2 and not found
    second = Scripted()
    compiled(cells, second, MORNING + HOUR)
    assert len(second.asked) + 2 == len(Journal.of(cells)[0].entries)


def test_where_nobody_answers_any_more_what_came_is_kept(cells: Vault) -> None:
    for after in range(1, 4):
        with pytest.raises(Waiting):
            compiled(cells, Scripted(fail_after=1), MORNING + after * HOUR)
        assert len(Journal.of(cells)[0].entries) == after


def test_an_answer_that_is_right_again_costs_nothing(cells: Vault) -> None:
    """Words that come back to a document bring back what was said of them."""
    path = cells.root / "raw/articles/meiosis.md"
    compiled(cells, Scripted())
    first = (cells.root / "wiki/concepts/meiosis.md").read_text()
    path.write_text(MEIOSIS.replace("four cells", "five cells"))
    compiled(cells, Scripted(), MORNING + HOUR)
    path.write_text(MEIOSIS)
    backend = Scripted()
    compiled(cells, backend, MORNING + 2 * HOUR)
    assert "read" not in backend.counts()
    assert "four cells" in (cells.root / "wiki/concepts/meiosis.md").read_text() and "five" not in first


# --- speed ------------------------------------------------------------------------------------------------------------


def test_a_journal_of_many_replies_is_read_and_folded(cells: Vault, torture: Callable[[int, int], int]) -> None:
    count = torture(20_000, 4_000)
    folder = cells.root / "ledger/replies"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        ledger.encode(
            replace(
                entry(at=ledger.instant(MORNING + n * timedelta(seconds=1))),
                request=f"check-{n:012x}",
                reply=verdict("ok", f"{n:012x}").as_json(),
            ).event()
        )
        for n in range(count)
    ]
    (folder / "big.jsonl").write_bytes(b"".join(lines))
    began = time.process_time()
    journal, found = Journal.of(cells)
    known = Knowledge.of(journal.entries)
    seconds = time.process_time() - began
    assert len(journal.entries) == len(known.verdicts) == count and not found
    assert journal.find(CHECK) is None
    print(f"{count} replies, {sum(map(len, lines)) >> 20} MiB: {seconds:.2f} s")


def test_dry_runs_and_rebuilds_add_nothing_to_the_journal(cells: Vault) -> None:
    compiled(cells, Scripted())
    before = {p: d for p, d in tree(cells).items() if p.startswith("ledger/")}
    compiled(cells, None, MORNING + HOUR, dry_run=True)
    rebuilt(cells)
    assert {p: d for p, d in tree(cells).items() if p.startswith("ledger/")} == before


def test_every_answer_is_stored_with_who_said_it_and_what_it_cost(cells: Vault) -> None:
    backend = Scripted(engine="claude/2 some-model", tokens=(70, 7), usd=0.25)
    report = compiled(cells, backend)
    journal, found = Journal.of(cells)
    assert not found and [e.of for e in journal.entries] == ["read", "settle", "write", "check"]
    assert {(e.engine, e.tokens, e.usd) for e in journal.entries} == {("claude/2 some-model", (70, 7), 0.25)}
    assert sum(e.bytes[0] for e in journal.entries) == backend.sent
    assert sum(e.bytes[1] for e in journal.entries) == backend.received
    assert report.cost == {"input_tokens": 280, "output_tokens": 28, "usd": 1.0}
    assert len({e.run for e in journal.entries}) == 1 and journal_file(cells).stem in {e.run for e in journal.entries}
