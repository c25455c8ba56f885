"""A year that is over: the log's file gets another name and is never written again; nothing is lost on the way."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from vault import replacing
from vault.guard import Guard, Scope
from vault.ids import CardId
from vault.log_event import Import, Rating, Review, Stamp, encode
from vault.review_log import LOG_PATH, LogWriter, append, read_log

BERLIN = ZoneInfo("Europe/Berlin")
CARD = CardId("k7q2m9xd3f")
EVE = datetime(2026, 12, 31, 22, 59, 59, tzinfo=UTC)  # one second before midnight in Berlin
MIDNIGHT = EVE + timedelta(seconds=1)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "learning").mkdir()
    return tmp_path


def rated(root: Path, at: datetime, dated: datetime | None = None) -> Review:
    """A review put on disk at `at`, as a session does it."""
    log = read_log(root)
    writer = LogWriter(Guard(root, Scope.LOG), log.events, zone=BERLIN, via="cli")
    event = Review(writer.stamp(at, dated), CARD, Rating.GOOD, 900)
    writer.write(event)
    return event


def names(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "learning").iterdir())


def test_the_first_rating_of_a_year_closes_the_file_of_the_last_one_by_its_name(root: Path) -> None:
    old = [rated(root, EVE - timedelta(days=n)) for n in (400, 3, 0)]
    assert names(root) == ["reviews-2025.jsonl", "reviews.jsonl"]
    before = (root / LOG_PATH).read_bytes()
    inode = (root / LOG_PATH).stat().st_ino
    new = [rated(root, MIDNIGHT + timedelta(days=n)) for n in (0, 1)]
    assert names(root) == ["reviews-2025.jsonl", "reviews-2026.jsonl", "reviews.jsonl"]
    closed = root / "learning/reviews-2026.jsonl"
    assert (closed.read_bytes(), closed.stat().st_ino) == (before, inode)
    assert (root / LOG_PATH).read_bytes() == b"".join(encode(event) + b"\n" for event in new)
    assert read_log(root).events == (*old, *new)
    assert read_log(root).diagnostics == ()


def test_a_year_begins_when_it_begins_in_the_vaults_zone(root: Path) -> None:
    rated(root, EVE)
    rated(root, EVE + timedelta(milliseconds=900))
    assert names(root) == ["reviews.jsonl"]
    rated(root, MIDNIGHT)
    assert names(root) == ["reviews-2026.jsonl", "reviews.jsonl"]


def test_a_clock_that_goes_back_or_a_dated_rating_closes_nothing(root: Path) -> None:
    rated(root, MIDNIGHT + timedelta(days=40))
    rated(root, EVE)
    rated(root, MIDNIGHT + timedelta(days=41), dated=EVE - timedelta(days=900))
    rated(root, MIDNIGHT + timedelta(days=42))
    assert names(root) == ["reviews.jsonl"]
    assert len(read_log(root).events) == 4


def test_a_file_of_many_years_stays_readable_and_is_closed_by_the_last_of_them(root: Path) -> None:
    guard = Guard(root, Scope.LOG)
    old = [Review(Stamp(f"{n:026}", EVE - timedelta(days=300 * n)), CARD, Rating.HARD) for n in (5, 4, 3, 2, 1)]
    append(guard, *old)
    rated(root, MIDNIGHT + timedelta(days=700))
    assert names(root) == ["reviews-2026.jsonl", "reviews.jsonl"]
    assert len(read_log(root).events) == 6


def test_reviews_brought_from_elsewhere_say_nothing_of_the_year_in_which_they_came(root: Path) -> None:
    rated(root, MIDNIGHT)
    brought = [
        Import(Stamp(f"{n:026}", EVE - timedelta(days=n)), CARD, Rating.GOOD, origin=f"anki:{n}") for n in range(9)
    ]
    append(Guard(root, Scope.LOG), *brought)
    rated(root, MIDNIGHT + timedelta(days=1))
    assert names(root) == ["reviews.jsonl"]


def test_a_name_that_is_taken_is_left_alone(root: Path) -> None:
    rated(root, EVE)
    for taken in ("reviews-2026.jsonl", "reviews-2026-2.jsonl"):
        (root / "learning" / taken).write_text("mine")
    rated(root, MIDNIGHT)
    assert names(root) == ["reviews-2026-2.jsonl", "reviews-2026-3.jsonl", "reviews-2026.jsonl", "reviews.jsonl"]
    assert (root / "learning/reviews-2026.jsonl").read_text() == "mine"
    assert len(read_log(root).events) == 2


def test_a_log_with_a_torn_end_and_strange_lines_is_closed_too(root: Path) -> None:
    kept = rated(root, EVE)
    torn = b"not json\n\xff\xfe\n" + encode(kept)[:60]
    with (root / LOG_PATH).open("ab") as file:
        file.write(torn)
    rated(root, MIDNIGHT)
    assert (root / "learning/reviews-2026.jsonl").read_bytes() == encode(kept) + b"\n" + torn
    assert len(read_log(root).events) == 2


def test_where_nothing_can_be_told_the_log_goes_on(root: Path) -> None:
    (root / LOG_PATH).write_bytes(b"\x00" * 40_000)
    rated(root, MIDNIGHT)
    assert names(root) == ["reviews.jsonl"]
    assert len(read_log(root).events) == 1


def test_a_file_system_without_exclusive_renames_closes_a_year_as_well(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacing, "rename_call", lambda: None)
    rated(root, EVE)
    rated(root, MIDNIGHT)
    assert names(root) == ["reviews-2026.jsonl", "reviews.jsonl"]
    assert (root / LOG_PATH).stat().st_nlink == 1


# --- killed, and in company -----------------------------------------------------------------------------------------

STEPS = ["before the name", "between link and unlink", "after the name", "before the line"]


@pytest.mark.parametrize("step", STEPS)
def test_whatever_step_a_process_dies_at_the_log_is_whole_and_the_next_rating_goes_on(root: Path, step: str) -> None:
    first = rated(root, EVE)
    child = os.fork()
    if not child:
        _die_at(step)
        rated(root, MIDNIGHT)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)
    assert read_log(root).events == (first,)
    second = rated(root, MIDNIGHT + timedelta(hours=1))
    assert read_log(root).events == (first, second)
    assert read_log(root).diagnostics == ()
    assert (root / "learning/reviews-2026.jsonl").read_bytes() == encode(first) + b"\n"


def _die_at(step: str) -> None:
    """Makes this process kill itself when it gets there."""

    def dying(call: Callable[..., object], *, after: bool) -> Callable[..., object]:
        def called(*given: object, **named: object) -> object:
            found = call(*given, **named) if after else None
            os.kill(os.getpid(), signal.SIGKILL)
            return found

        return called

    from vault import durable, guard

    if step == "before the line":
        vars(guard)["append_lines"] = dying(durable.append_lines, after=False)
    elif step == "between link and unlink":
        replacing.rename_call = lambda: None  # type: ignore[assignment]
        replacing.give_new_name = dying(replacing.give_new_name, after=True)  # type: ignore[assignment]
    else:
        replacing.give_other_name = dying(replacing.give_other_name, after=step == "after the name")  # type: ignore[assignment]


RATER = """
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo
from vault.guard import Guard, Scope
from vault.ids import CardId
from vault.log_event import Rating, Review
from vault.review_log import LogWriter
root, start, step = Path(sys.argv[1]), int(sys.argv[2]), 3600
writer = LogWriter(Guard(root, Scope.LOG), (), zone=ZoneInfo("Europe/Berlin"), via="cli")
for n in range(100):
    at = datetime(2026, 12, 30, tzinfo=UTC) + timedelta(hours=n, milliseconds=start)
    writer.write(Review(writer.stamp(at), CardId(f"card{start:06}"), Rating.GOOD, n))
"""


def test_two_processes_over_new_year_lose_nothing_and_close_the_year_once_each_at_most(root: Path) -> None:
    raters = [subprocess.Popen([sys.executable, "-c", RATER, str(root), str(n)]) for n in (1, 2)]
    assert [rater.wait() for rater in raters] == [0, 0]
    log = read_log(root)
    assert sorted((e.card, e.ms) for e in log.events if isinstance(e, Review)) == [
        (f"card{n:06}", ms) for n in (1, 2) for ms in range(100)
    ]
    assert log.diagnostics == ()
    assert (
        {"reviews-2026.jsonl", "reviews.jsonl"}
        <= set(names(root))
        <= {
            "reviews-2026.jsonl",
            "reviews-2026-2.jsonl",
            "reviews.jsonl",
        }
    )


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
@pytest.mark.parametrize("merging", ["the one that closed", "the one that did not"])
def test_machines_of_which_one_closed_the_year_merge_without_loss(tmp_path: Path, merging: str) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    (here / "learning").mkdir(parents=True)
    git(here, "init", "-q", "-b", "main")
    (here / ".gitattributes").write_text("learning/reviews*.jsonl text eol=lf merge=union\n")
    written = {rated(here, EVE - timedelta(hours=n)).id for n in range(30, 0, -1)}
    git(here, "add", ".")
    git(here, "commit", "-qm", "one")
    git(tmp_path, "clone", "-q", str(here), str(there))
    written |= {rated(there, EVE - timedelta(seconds=n)).id for n in (3, 2, 1)}
    written |= {rated(here, MIDNIGHT + timedelta(hours=n)).id for n in range(3)}
    for folder in (here, there):
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "two")
    into, other = (here, there) if merging == "the one that closed" else (there, here)
    git(into, "pull", "-q", "--no-rebase", "--no-edit", str(other), "main")
    assert {event.id for event in read_log(into).events} == written
    rated(into, MIDNIGHT + timedelta(days=2))
    log = read_log(into)
    assert len(log.events) == len(written) + 1
    assert log.diagnostics == ()
