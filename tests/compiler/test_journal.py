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

from compiler.gates.checks import Verdicts
from compiler.model.report import Report
from compiler.model.requests import CheckRequest, ComposeRequest, ExtractRequest, Reply, Request, rests
from compiler.replies.asker import Waiting
from compiler.replies.journal import Entry, Journal, digest, entry_in
from tests.builders import vault_with_sources
from tests.compiler.scripted import Scripted, Whimsical, extract
from tests.compiler.test_build import products, tree
from tests.compiler.test_journaled import MEIOSIS, MITOSIS, MORNING, compiled
from vault.errors import WriteFailed
from vault.files.guard import Guard
from vault.log import ledger
from vault.vault import Vault, open_vault

HOUR = timedelta(hours=1)


@pytest.fixture
def cells(tmp_path: Path) -> Vault:
    return vault_with_sources(tmp_path / "vault", {"mitosis.md": MITOSIS, "meiosis.md": MEIOSIS})


def journal_file(vault: Vault) -> Path:
    found = sorted((vault.root / "ledger/replies").glob("*.jsonl"))
    return found[-1]


def rebuilt(vault: Vault, at: int = 5) -> Report:
    """The products made anew from the journal, nobody there to ask."""
    for folder in (".retain", "wiki", "learning/flashcards"):
        shutil.rmtree(vault.root / folder, ignore_errors=True)
    return compiled(vault, None, MORNING + at * HOUR, fresh=True)


def entry(of: str = "check", rest: str = "r" * 64, **rest_of: Any) -> Entry:
    plain = Entry(
        of, rest, digest(rest, "check/1"), "check/1", "scripted/1", "2026-11-21T09:00:00.000Z", {"entailed": "yes"}
    )
    return replace(plain, **rest_of)


# --- damage -----------------------------------------------------------------------------------------------------------


def test_a_torn_last_line_is_asked_again_alone_and_named(cells: Vault) -> None:
    compiled(cells, Scripted())
    before = products(tree(cells))
    path = journal_file(cells)
    path.write_bytes(path.read_bytes()[:-20])
    shutil.rmtree(cells.root / ".retain")
    backend = Scripted()
    report = compiled(cells, backend, MORNING + HOUR)
    assert len(backend.asked) == 1 and [n.code for n in report.notices if n.path.startswith("ledger/")] == [
        "ledger-line"
    ]
    assert products(tree(cells)) == before


def test_conflict_markers_shuffled_and_repeated_lines_change_nothing_and_are_named_once(cells: Vault) -> None:
    compiled(cells, Scripted())
    before = products(tree(cells))
    path = journal_file(cells)
    lines = path.read_text().splitlines()
    random.Random(1).shuffle(lines)
    text = "\n".join(["<<<<<<< ours", *lines, "=======", *lines[:3], ">>>>>>> theirs", "{", ""])
    path.write_text(text)
    report = rebuilt(cells)
    assert products(tree(cells)) == before
    named = [n for n in report.notices if n.path.startswith("ledger/")]
    assert len(named) == 1 and "and 3 more lines" in named[0].message


def test_lines_of_later_versions_are_kept_and_named_once(cells: Vault) -> None:
    compiled(cells, Scripted())
    before = products(tree(cells))
    path = journal_file(cells)
    at = "2026-11-21T09:00:00.000Z"
    later = [{"v": 2, "type": "reply", "of": "extract", "at": at}, {"v": 1, "type": "dream", "at": at, "x": [1]}]
    data = path.read_bytes() + b"".join(map(ledger.encode, [*later, {"v": 1, "type": "reply", "of": "sing", "at": at}]))
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
    {"usd": -1},
    {"usd": float("inf")},
    {"usd": float("nan")},
    {"usd": True},
    {"usd": "free"},
    {"reply": []},
    {"reply": None},
    {"parts": [1]},
    {"parts": {"passages": 7}},
    {"about": ["../../etc"]},
    {"rests": ""},
    {"engine": {}},
    {"failed": 1},
    {"at": "9999-12-31T23:59:59.999Z"},
    {"reply": {"claims": [{"kind": "fact", "quote": "\ud800"}]}},
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
        b'{"v":1,"type":"reply"}\n',
        b"\xff\xfe\n",
        b"9" * 5000 + b"\n",
    ]
    (cells.root / "ledger/replies/0.jsonl").write_bytes(b"".join(lines))
    report = rebuilt(cells)
    assert products(tree(cells)) == before
    named = [n.code for n in report.notices if n.path.startswith("ledger/")]
    assert sorted(named) == ["ledger-line", "reply-line"]


class Lying(Scripted):
    """Says what no document says, in every kind of reply."""

    def reply(self, request: Request) -> Reply:
        said = super().reply(request)
        data = said.model_dump(mode="json")
        text = json.dumps(data).replace("chromosomes", "\\u001b[31m../../etc/passwd 42 [[wiki/x|y]]")
        return type(said).model_validate_json(text)


def test_a_strangers_replies_pass_the_gates_like_any_others(cells: Vault) -> None:
    report = compiled(cells, Lying())
    assert report.claims["rejected"] > 0
    assert {r.gate for r in report.rejections if r.path.startswith("raw/")} == {"quote"}
    for path in [p for folder in ("wiki", "learning") for p in (cells.root / folder).rglob("*.md")]:
        assert "passwd" not in path.read_text() and "\x1b" not in path.read_text()


# --- two of them ------------------------------------------------------------------------------------------------------


def test_two_clones_that_answered_differently_agree_once_their_journals_are_merged(
    tmp_path: Path, cells: Vault
) -> None:
    (cells.root / ".gitattributes").write_text("ledger/** merge=union\n")
    other = tmp_path / "other"
    shutil.copytree(cells.root, other)
    theirs = open_vault(str(other), None, other)
    compiled(cells, Whimsical(rng=random.Random(1)))
    compiled(theirs, Whimsical(rng=random.Random(2)), MORNING + HOUR)
    for here, there in ((cells.root, other), (other, cells.root)):
        for path in (here / "ledger/replies").glob("*.jsonl"):
            shutil.copyfile(path, there / "ledger/replies" / path.name)
    for name in ("ids.jsonl", "builds.jsonl", "decisions.jsonl"):
        both = [(root / "ledger" / name) for root in (cells.root, other)]
        lines = [p.read_text() if p.exists() else "" for p in both]
        if any(lines):
            both[0].write_text(lines[0] + lines[1])
            both[1].write_text(lines[1] + lines[0])
    rebuilt(cells)
    rebuilt(theirs)
    assert products(tree(cells)) == products(tree(theirs))


def test_of_several_replies_the_latest_counts_whatever_prompt_it_answered() -> None:
    request = CheckRequest(words="w", evidence=("e",))
    first = entry(
        rest=rests(request), at="2026-01-01T00:00:00.000Z", prompt="check/3", digest=digest(rests(request), "check/2")
    )
    last = replace(first, at="2026-01-02T00:00:00.000Z", prompt="check/1", digest="d", reply={"entailed": "no"})
    for order in ([first, last], [last, first]):
        assert Journal(order).find(request, "check/3") is last
    assert Journal([first, last]).find(request, "check/3", exactly=True) is first


def test_what_stood_in_for_a_model_counts_only_where_no_model_answered() -> None:
    request = CheckRequest(words="w", evidence=("e",))
    real = entry(rest=rests(request), at="2026-01-01T00:00:00.000Z")
    stood_in = replace(real, at="2026-01-02T00:00:00.000Z", failed="busy")
    assert Journal([real, stood_in]).find(request, "check/1") is real
    assert Journal([stood_in]).find(request, "check/1") is stood_in
    assert Journal([stood_in]).find(request, "check/1", exactly=True) is None


def test_what_is_learnt_takes_the_place_it_will_have_when_it_is_read_again() -> None:
    request = CheckRequest(words="w", evidence=("e",))
    old = entry(rest=rests(request), at="2026-06-01T00:00:00.000Z", about="k7q2m9xd3f")
    journal = Journal([old])
    behind = replace(old, at="2026-01-01T00:00:00.000Z", reply={"entailed": "no"})
    dated = journal.dated(behind)
    assert dated.at == "2026-06-01T00:00:00.001Z"
    journal.learn(dated)
    assert journal.find(request, "check/1") is dated
    assert [e.at for e in journal.about("check", "k7q2m9xd3f")] == [dated.at, old.at]


def test_asking_anew_asks_all_again_and_what_comes_stays(cells: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled(cells, Scripted(engine="scripted/1"))
    monkeypatch.setattr("compiler.replies.asker.prompt_id", lambda name: f"{name}/99 abc")
    second = Whimsical(engine="scripted/2")
    report = compiled(cells, second, MORNING - HOUR, renew=True)  # by a clock that is behind
    assert second.counts()["extract"] == 2 and second.counts()["compose"] == 3 and report.cost["input_tokens"]
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
            if written == 4:
                raise OSError(errno.ENOSPC, "No space left on device")
        return real(handle, data)

    backend = Scripted()
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", write)
        with pytest.raises(WriteFailed, match="the disk is full"):
            compiled(cells, backend)
    assert not list((cells.root / "wiki").rglob("*.md")) and len(backend.asked) == 4
    journal, found = Journal.of(cells)
    assert len(journal.entries) == 3 and not found
    second = Scripted()
    compiled(cells, second, MORNING + HOUR)
    assert len(second.asked) + 3 == len(Journal.of(cells)[0].entries)


def test_where_nobody_answers_any_more_what_came_is_kept(cells: Vault) -> None:
    for after in range(1, 4):
        with pytest.raises(Waiting):
            compiled(cells, Scripted(fail_after=1), MORNING + after * HOUR)
        assert len(Journal.of(cells)[0].entries) == after


# --- which source, which prompt ---------------------------------------------------------------------------------------


def test_a_segment_that_two_sources_share_is_asked_once_and_each_keeps_it_when_it_is_edited(tmp_path: Path) -> None:
    other = MITOSIS + "\n# Cytokinesis\n\nCytokinesis is a process that parts the cell itself in two.\n"
    vault = vault_with_sources(tmp_path / "vault", {"a.md": MITOSIS, "b.md": other})
    first = Scripted()
    compiled(vault, first)
    assert first.counts()["extract"] == 2
    (vault.root / "raw/articles/b.md").write_text(other.replace("two equal cells", "two like cells"))
    second = Scripted()
    compiled(vault, second, MORNING + HOUR)
    asked = [r.fresh for r in second.asked if isinstance(r, ExtractRequest)]
    assert asked == [("Mitosis is a process in which one cell becomes two like cells.",)]


def test_a_check_is_asked_again_for_a_neighbours_sake_only_where_the_words_lean_on_it() -> None:
    verdicts, quote = Verdicts(), "Meiosis gives four cells."
    own = CheckRequest(words="Four cells is what comes of meiosis, roughly.", evidence=(quote,))
    verdicts.known[rests(own)] = True
    for before in ("Mitosis gives two.", "Mitosis gives none."):
        assert verdicts.around(f"Cells: {before}")(own.words, [quote]) is True
    leaning = CheckRequest(
        words="Meiosis roughly gives what we call four.", evidence=("It gives four.",), context="Meiosis"
    )
    verdicts.known[rests(leaning)] = True
    assert verdicts.around("Meiosis")(leaning.words, leaning.evidence) is True
    assert verdicts.around("Mitosis")(leaning.words, leaning.evidence) is None


def test_a_reply_that_is_in_use_again_is_the_one_that_the_next_edit_keeps(cells: Vault) -> None:
    path = cells.root / "raw/articles/meiosis.md"
    compiled(cells, Scripted(reword=lambda w: f"Notably, {w}"))
    first = (cells.root / "wiki/concepts/meiosis.md").read_text()
    texts = [MEIOSIS.replace("four cells", "five cells"), MEIOSIS, MEIOSIS.replace("halves", "divides")]
    for hour, text in enumerate(texts, 1):
        path.write_text(text)
        compiled(cells, Scripted(reword=lambda w: f"Plainly, {w}"), MORNING + hour * HOUR)
    now = (cells.root / "wiki/concepts/meiosis.md").read_text()
    kept = "Notably, Unlike mitosis, meiosis gives four cells rather than two."
    assert kept in first and kept in now and "Plainly, Meiosis is a division that divides" in now


# --- speed ------------------------------------------------------------------------------------------------------------


def test_a_journal_of_many_replies_is_read_and_searched(cells: Vault, torture: Callable[[int, int], int]) -> None:
    count = torture(20_000, 4_000)
    folder = cells.root / "ledger/replies"
    folder.mkdir(parents=True, exist_ok=True)
    request = ExtractRequest(title="t", language="en", headings=(), text=MITOSIS, source="k7q2m9xd3f")
    reply = extract(request).model_dump(mode="json", exclude_defaults=True)
    lines = []
    for n in range(count):
        one = entry(
            "extract",
            f"{n:064x}",
            reply=reply,
            about="k7q2m9xd3f",
            at=ledger.instant(MORNING + n * timedelta(seconds=1)),
        )
        lines.append(ledger.encode(one.event()))
    (folder / "big.jsonl").write_bytes(b"".join(lines))
    began = time.process_time()
    journal, found = Journal.of(cells)
    seconds = time.process_time() - began
    assert len(journal.entries) == count and not found
    assert journal.find(request, "extract/1") is None
    print(f"{count} replies, {sum(map(len, lines)) >> 20} MiB: {seconds:.2f} s")


def test_compose_requests_are_known_by_concept_and_claims_alone() -> None:
    one = ComposeRequest(title="A", aliases=("B",), language="en", claims=(), concept="k7q2m9xd3f")
    assert rests(one) == rests(one.model_copy(update={"title": "C", "aliases": (), "reasons": ("too long",)}))
    assert rests(one) != rests(one.model_copy(update={"concept": "k7q2m9xd3g"}))


def test_dry_runs_and_rebuilds_add_nothing_to_the_journal(cells: Vault) -> None:
    compiled(cells, Scripted())
    before = {p: d for p, d in tree(cells).items() if p.startswith("ledger/")}
    compiled(cells, None, MORNING + HOUR, dry_run=True)
    rebuilt(cells)
    assert {p: d for p, d in tree(cells).items() if p.startswith("ledger/")} == before
