"""However large what a package makes of itself, an import takes little memory, names what is too large, goes on."""

from __future__ import annotations

import json
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from learning.anki.package_reader import open_package
from learning.anki.worker import MEMORY
from tests.learning.anki_packages import brought_in, opened
from tests.learning.test_anki_import_hostile import MODEL, NOW, database, note, package
from vault.errors import Unreadable, WorkerFailed
from vault.log.review_log import read_log
from vault.vault import Vault

IMPORT = """
import re, sys
from pathlib import Path
from cli.main import run
code = run(["import", "anki", *sys.argv[1:]])
# Not ru_maxrss: it counts what the process had before exec, when it was a copy of the test's.
print("peak", re.search("VmHWM:\\s+([0-9]+)", Path("/proc/self/status").read_text())[1], file=sys.stderr)
sys.exit(code)
"""
HERE = Path(__file__).resolve().parents[2]
KIB, MIB = 1024, 1024**2


def with_template(folder: Path, answer: str, *fronts: str) -> Path:
    """A package of basic notes whose answers that template makes."""
    model = json.loads(json.dumps(MODEL))
    model["tmpls"][0]["afmt"] = answer
    statements = [each for number, front in enumerate(fronts, 1) for each in note(front, "back", number)]
    models = json.dumps({"1": model}).replace("'", "''")
    return package(folder, database(*statements, f"update col set models = '{models}'"))


def with_reviews(folder: Path, numbers: Iterable[int]) -> Path:
    """A package of ten cards with a review in each of these milliseconds."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(database(*(each for n in range(1, 11) for each in note(f"front {n}", "x", n))))
        rows = ((number, number % 10 + 1) for number in numbers)
        connection.executemany("insert into revlog values (?, ?, 3, 900, 1, 2500)", rows)
        connection.commit()
        return package(folder, connection.serialize())


def imported(root: Path, path: Path) -> tuple[dict[str, Any], int]:
    """What the command reports, and the largest memory of its process in KiB; it ends should that become very large."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (4_096 * MIB, resource.RLIM_INFINITY))

    command = [sys.executable, "-c", IMPORT, str(path), "--json", "--progress", "none", "--vault", str(root)]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False, timeout=600, preexec_fn=limit)
    assert done.returncode in (0, 1), done.stderr[-2000:]  # 1: cards were left out
    return json.loads(done.stdout), int(done.stderr.split("peak ")[1])


def test_a_template_that_repeats_a_long_field_costs_its_card_alone(vault: Vault, tmp_path: Path) -> None:
    path = with_template(tmp_path, "{{Front}}" * 100_000, "long " * 50_000, "short")
    assert path.stat().st_size < 20_000
    report, peak = imported(vault.root, path)
    assert peak < 200 * KIB
    assert report["cards"]["created"] == 0 and report["cards"]["skipped"] == 2
    named = [each["reason"] for each in report["reported"]]
    assert any("guid1" in words and "512" not in words and "shorten it in Anki" in words for words in named)


@pytest.mark.parametrize(
    "answer",
    ["{{Front}}" * 3_000, "{{furigana:Front}}" * 200, "{{#Front}}{{/Front}}" * 1_000, "x" * 2_000_000],
    ids=["repeated", "filtered", "sections", "long itself"],
)
def test_a_template_that_makes_too_much_is_named_with_its_note(vault: Vault, tmp_path: Path, answer: str) -> None:
    path = with_template(tmp_path, answer, "long " * 50_000)
    report = brought_in(vault, path, NOW)
    assert report.cards["skipped"] == 1
    (reason,) = [each.reason for each in report.reported]
    assert reason.startswith("note guid1: its template is too large for a card")


def test_what_a_package_makes_in_all_is_limited_too(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("learning.anki.worker.MAX_MADE", 20 * MIB // 1024)
    path = with_template(tmp_path, "{{Back}}", *(f"{n} " + "word " * 1_000 for n in range(10)))
    report = brought_in(vault, path, NOW)
    assert report.cards["created"] == 4 and report.cards["skipped"] == 6
    ((reason, cards),) = [(r["reason"], r["cards"]) for r in report.note_types["Basic"]["reported"]]
    assert "import one deck at a time" in reason and cards == 6


@pytest.mark.torture
def test_nine_times_the_reviews_take_hardly_more_memory_and_come_in_once(vault: Vault, tmp_path: Path) -> None:
    few, many = (range(start, start + count * 60_000, 60_000) for start, count in ((10**12, 5_000), (10**12, 45_000)))
    report, before = imported(vault.root, with_reviews(tmp_path, few))
    assert report["reviews"] == {"added": 5_000, "known": 0, "left_out": 0}
    path = with_reviews(tmp_path, many)
    report, peak = imported(vault.root, path)
    assert report["reviews"] == {"added": 40_000, "known": 5_000, "left_out": 0}
    assert peak < before + 30 * KIB  # of two batches at most; all of them would take 45 MiB and more
    log = (vault.root / "learning/reviews.jsonl").read_bytes()
    assert log.count(b"\n") == 45_000
    assert brought_in(vault, path, NOW).reviews == {"added": 0, "known": 45_000, "left_out": 0}
    assert (vault.root / "learning/reviews.jsonl").read_bytes() == log


def test_reviews_come_in_the_order_of_their_instants_and_each_number_once(vault: Vault, tmp_path: Path) -> None:
    numbers = [1_600_000_030_000, 1_600_000_010_000, 1_600_000_020_000, 1_600_000_010_000]
    assert brought_in(vault, with_reviews(tmp_path, numbers), NOW).reviews["added"] == 3
    lines = (vault.root / "learning/reviews.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["origin"] for line in lines] == [f"anki:{n}" for n in sorted(set(numbers))]
    assert len(read_log(vault.root).events) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="what a process may use is told by Linux's /proc")
def test_the_reader_of_a_package_is_limited_and_gone_afterwards(tmp_path: Path) -> None:
    path = package(tmp_path, database(*note("what?")))
    with open_package(path) as found:
        child = found.ask.__self__  # type: ignore[attr-defined]
        limits = Path(f"/proc/{child.process.pid}/limits").read_text()
        environment = Path(f"/proc/{child.process.pid}/environ").read_bytes()
        assert found.notes == 1
    assert [line.split()[3] for line in limits.splitlines() if line.startswith("Max address")] == [str(MEMORY)]
    assert [line.split()[3] for line in limits.splitlines() if line.startswith("Max file size")] == ["0"]
    assert b"HOME=" not in environment and child.process.poll() is not None


def test_a_reader_that_dies_ends_the_import_with_a_reason(vault: Vault, tmp_path: Path) -> None:
    path = package(tmp_path, database(*note("what?")))
    with open_package(path) as found:
        found.ask.__self__.process.kill()  # type: ignore[attr-defined]
        with pytest.raises(WorkerFailed, match="reading the package crashed the reader"):
            list(found.rows())


def test_a_package_whose_rows_need_more_memory_than_is_granted_is_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(path: Path) -> None:
        raise MemoryError

    monkeypatch.setattr("learning.anki.worker.open_collection", no_memory)
    with pytest.raises(Unreadable, match="more memory"), opened(package(tmp_path, database())):
        pass


@pytest.mark.parametrize(
    "reply",
    [
        {"items": [{"id": "x"}], "done": False},
        {"items": [{"id": 1, "note": 1, "mod": 1}], "done": False},
        {"items": 5, "done": False},
        [],
        {"done": "no"},
    ],
)
def test_what_a_reader_that_was_taken_over_says_is_checked(tmp_path: Path, reply: object) -> None:
    from learning.anki.package_reader import Package

    taken_over = Package(tmp_path, lambda message, decode: decode(json.dumps(reply).encode()))
    with pytest.raises(ValueError, match=r".+"):
        list(taken_over.made_cards(None, [], []))


def test_a_reader_that_never_ends_a_list_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from learning.anki.package_reader import Package

    monkeypatch.setattr("learning.anki.package_reader.MAX_REVIEWS", 1_000)
    rows = json.dumps({"items": [[1, 1, 1, 1, 1, 1]] * 100, "done": False}).encode()
    endless = Package(tmp_path, lambda message, decode: decode(rows))
    with pytest.raises(WorkerFailed, match="exceeds the size limits"):
        list(endless.rows())
