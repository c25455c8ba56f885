"""A review log or ledger that has lost records: every command says so, and `retain log restore` brings them back."""

from __future__ import annotations

import json
import os
import random
import shutil
import stat
import subprocess
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from templates import read
from tests.builders import SETTINGS, make_vault
from tests.commands import Result, Run
from vault.ids import CardId, ulid
from vault.log.copies import Copies
from vault.log.events import Flag, Rating, Review, Stamp, checksum, encode
from vault.log.review_log import LOG_PATH, read_log

WAY_BACK = "`retain log restore` restores them from a copy; `retain log accept` accepts the file in its current state"
START = datetime(2026, 1, 5, 9, tzinfo=UTC)
CARDS = [f"{n:010}" for n in range(8)]
DAMAGE: dict[str, tuple[Callable[[Path], object], int, str]] = {
    "cut": (lambda log: log.write_bytes(b"".join(lines_of(log)[:25])), 26, "the file was cut short"),
    "emptied": (lambda log: log.write_bytes(b""), 51, "the file was emptied"),
    "deleted": (lambda log: log.unlink(), 51, "the file was deleted"),
    "zeros": (
        lambda log: log.write_bytes(bytes(log.stat().st_size)),
        51,
        "the file was overwritten with zeros",
    ),
    "a byte": (
        lambda log: log.write_bytes(log.read_bytes().replace(b'"rating":3', b'"rating":2', 1)),
        1,
        "bytes of the file were changed, or it was replaced",
    ),
}


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def reviews(count: int, start: datetime = START, salt: bytes = b"one") -> bytes:
    """The lines of so many reviews, an hour apart."""
    lines = []
    for n in range(count):
        at = start + timedelta(hours=n)
        id_ = ulid(int(at.timestamp() * 1000), salt.ljust(9, b"-") + bytes([n]))
        lines.append(encode(Review(Stamp(id_, at, via="cli"), CardId(CARDS[n % 8]), Rating.GOOD, 900)))
    return b"".join(line + b"\n" for line in lines)


def damaged(result: Result) -> list[str]:
    """What a command says of lost records."""
    return [line.strip() for line in result.stderr.splitlines() if "records are missing" in line]


def due(run: Run, vault: Path) -> list[tuple[str, str | None]]:
    found = run("due", "--json", cwd=vault).json()
    return [(card["id"], card["due"]) for card in (*found["due"], *found["new"])]


def events(vault: Path) -> set[str]:
    return {event.id for event in read_log(vault).events}


def copies_of(vault: Path) -> Copies:
    return Copies(vault, SETTINGS.vault_id)


@pytest.fixture
def vault(tmp_path: Path, run: Run) -> Path:
    """A vault with 50 old reviews and one of today, after which the log was copied."""
    blocks = "\n".join(f"Q: What is {card}?\nA: A card.\n<!-- card {card} -->\n" for card in CARDS)
    ledger = "".join(
        json.dumps({"type": "birth", "of": "gap", "id": card, "at": f"2026-01-05T09:00:0{n}.000Z"}) + "\n"
        for n, card in enumerate(CARDS)
    )
    files = {"learning/flashcards/cards.md": f"# Cards\n\n{blocks}", "ledger/ids.jsonl": ledger}
    root = make_vault(tmp_path / "vault", files).root
    (root / LOG_PATH).write_bytes(reviews(50))
    assert run("rate", CARDS[0], "good", cwd=root).code == 0
    return root


# --- what is noticed ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", DAMAGE)
def test_every_command_says_what_is_gone_and_restore_brings_it_back(run: Run, vault: Path, kind: str) -> None:
    before, known = due(run, vault), events(vault)
    damage, lost, how = DAMAGE[kind]
    damage(vault / LOG_PATH)
    line = f"{LOG_PATH}: {lost} of 51 records are missing: {how} ({WAY_BACK})"
    for command in ("due", "status", "stats"):
        result = run(command, cwd=vault)
        assert result.code == 0 and damaged(result) == [line]
    verified = run("verify", "--json", cwd=vault)
    assert verified.code == 1 and "records-lost" in {each["id"] for each in verified.json()["logs"]}
    checked = run("doctor", "--json", cwd=vault)
    assert checked.code == 1 and "records-lost" in {each["code"] for each in checked.json()["findings"]}

    size = (vault / LOG_PATH).stat().st_size if (vault / LOG_PATH).exists() else None
    tried = run("log", "restore", "--dry-run", "--json", cwd=vault)
    assert tried.code == 0 and tried.json()["added"] == lost
    assert size == ((vault / LOG_PATH).stat().st_size if (vault / LOG_PATH).exists() else None)

    restored = run("log", "restore", cwd=vault)
    assert restored.code == 0 and restored.stdout.startswith(f"added {lost} event")
    assert events(vault) == known and due(run, vault) == before
    assert damaged(run("due", cwd=vault)) == []
    again = run("log", "restore", "--json", cwd=vault).json()
    assert (again["added"], again["lost"]) == (0, [])


def test_a_line_that_cannot_be_read_stays_and_is_a_finding(run: Run, vault: Path) -> None:
    DAMAGE["a byte"][0](vault / LOG_PATH)
    bad = (vault / LOG_PATH).read_bytes()
    restored = run("log", "restore", "--json", cwd=vault).json()
    assert [each["code"] for each in restored["unreadable"]] == ["log-bad-line"]
    assert (vault / LOG_PATH).read_bytes().startswith(bad)
    assert run("verify", cwd=vault).code == 1
    (vault / LOG_PATH).write_bytes(b"".join(line for line in lines_of(vault / LOG_PATH) if b'"rating":2' not in line))
    verified = run("verify", "--json", cwd=vault)
    assert verified.json()["logs"] == [] and damaged(verified) == []


def test_new_reviews_do_not_hide_what_is_gone(run: Run, vault: Path) -> None:
    log = vault / LOG_PATH
    log.write_bytes(b"".join(lines_of(log)[:40]))
    assert damaged(run("due", cwd=vault))[0].startswith(f"{LOG_PATH}: 11 of 51 records are missing")
    for card in CARDS:
        assert run("rate", card, "good", cwd=vault).code == 0
    assert damaged(run("due", cwd=vault))[0].startswith(f"{LOG_PATH}: 11 of 59 records are missing")
    with log.open("ab") as file:
        file.write(reviews(30, START - timedelta(days=9), b"old"))
    assert damaged(run("due", cwd=vault))[0].startswith(f"{LOG_PATH}: at least 11 of 59 records are missing")
    assert run("log", "restore", cwd=vault).code == 0 and damaged(run("due", cwd=vault)) == []


def test_a_log_that_another_version_replaced_is_noticed(run: Run, vault: Path) -> None:
    """As a sync program does that keeps the newer of two files: it has more lines, and not those of today."""
    (vault / LOG_PATH).write_bytes(reviews(50) + reviews(20, START + timedelta(days=30), b"two"))
    (line,) = damaged(run("due", cwd=vault))
    assert line.startswith(f"{LOG_PATH}: at least 1 of 51 records are missing: bytes of the file were changed")


def test_the_copy_remembers_where_the_index_is_lost_too(run: Run, vault: Path) -> None:
    log = vault / LOG_PATH
    log.write_bytes(b"".join(lines_of(log)[:30]))
    shutil.rmtree(vault / ".retain")
    assert damaged(run("due", cwd=vault)) == [
        f"{LOG_PATH}: 21 of 51 records are missing: the file was cut short or replaced by an older one ({WAY_BACK})"
    ]
    assert run("log", "restore", cwd=vault).code == 0 and len(events(vault)) == 51


def test_without_a_copy_the_way_back_is_a_backup(run: Run, vault: Path) -> None:
    shutil.rmtree(copies_of(vault).folder)
    (vault / LOG_PATH).unlink()
    (line,) = damaged(run("due", cwd=vault))
    assert line.endswith(
        "(restore them from git or a backup; `retain log accept` accepts the file in its current state)"
    )
    restored = run("log", "restore", cwd=vault)
    assert restored.code == 2 and "there is no copy of the review log" in restored.stderr


def test_a_ledger_that_lost_lines_is_noticed(run: Run, vault: Path) -> None:
    ledger = vault / "ledger/ids.jsonl"
    whole = ledger.read_bytes()
    ledger.write_bytes(b"".join(lines_of(ledger)[:5]))
    (line,) = damaged(run("due", cwd=vault))
    assert line.startswith(
        "ledger/ids.jsonl: 3 of 8 records are missing: the file was cut short (restore them from git"
    )
    assert run("verify", cwd=vault).code == 1
    ledger.write_bytes(whole)
    assert damaged(run("due", cwd=vault)) == []


def test_the_records_of_each_ledger_are_counted_by_themselves(run: Run, vault: Path) -> None:
    decisions = vault / "ledger/decisions.jsonl"
    decisions.write_text("".join(json.dumps({"type": "note", "n": n}) + "\n" for n in range(4)))
    assert damaged(run("due", cwd=vault)) == []
    decisions.write_bytes(b"".join(lines_of(decisions)[:3]))
    (line,) = damaged(run("due", cwd=vault))
    assert line.startswith("ledger/decisions.jsonl: 1 of 4 records are missing: the file was cut short")
    (vault / "ledger/ids.jsonl").unlink()
    first, second = sorted(damaged(run("due", cwd=vault)))
    assert first == line and second.startswith("ledger/ids.jsonl: 8 of 8 records are missing: the file was deleted")


def test_new_lines_of_a_ledger_do_not_hide_what_is_gone(run: Run, vault: Path) -> None:
    ledger = vault / "ledger/ids.jsonl"
    lines = lines_of(ledger)
    later = [line.replace(b"2026-01-05", b"2026-02-05") for line in lines]
    ledger.write_bytes(b"".join(lines[:2] + lines[5:]))
    assert "3 of 8 records are missing" in damaged(run("due", cwd=vault))[0]
    for line in later:
        ledger.write_bytes(ledger.read_bytes() + line)
        assert len(damaged(run("due", cwd=vault))) == 1
    assert "3 of 16 records are missing" in damaged(run("due", cwd=vault))[0]
    ledger.write_bytes(ledger.read_bytes() + b"".join(lines[2:5]))
    assert damaged(run("due", cwd=vault)) == []


def test_a_file_that_cannot_be_read_hides_nothing_else(run: Run, vault: Path) -> None:
    (vault / LOG_PATH).write_bytes(b"")
    (vault / "ledger/replies").mkdir()
    (vault / "ledger/replies/x.jsonl").write_bytes(b"{}\n")
    (vault / "ledger/replies/x.jsonl").chmod(0)
    if os.access(vault / "ledger/replies/x.jsonl", os.R_OK):
        pytest.skip("root may read any file")
    checked = run("doctor", "--json", cwd=vault)
    messages = [each["message"] for each in checked.json()["findings"] if each["code"] == "records-lost"]
    assert checked.code == 1 and len(messages) == 2
    assert messages[0].startswith("51 of 51 records are missing")
    assert "cannot tell whether records are missing" in messages[1]


def test_what_is_gone_can_be_accepted(run: Run, vault: Path) -> None:
    log = vault / LOG_PATH
    log.unlink()
    accepted = run("log", "accept", cwd=vault)
    assert accepted.code == 0 and accepted.stdout == f"accepted: {LOG_PATH}\n"
    assert run("log", "accept", cwd=vault).stdout == "nothing is missing\n"
    shutil.rmtree(vault / ".retain")
    assert damaged(run("due", cwd=vault)) == [], "the copy made by accepting says the same"
    today = copies_of(vault).listed()[0].day.isoformat()
    assert run("log", "restore", "--from", today, cwd=vault).stdout.startswith("added 51 events"), "nothing is deleted"


# --- what is no loss ------------------------------------------------------------------------------------------------


def test_other_names_and_copies_of_a_sync_program_are_no_loss(run: Run, vault: Path) -> None:
    log = vault / LOG_PATH
    log.rename(vault / "learning/reviews-2025.jsonl")
    assert damaged(run("due", cwd=vault)) == []
    assert run("rate", CARDS[1], "good", cwd=vault).code == 0
    assert damaged(run("due", cwd=vault)) == []
    second = vault / "learning/reviews.sync-conflict-20260105.jsonl"
    second.write_bytes((vault / "learning/reviews-2025.jsonl").read_bytes())
    assert damaged(run("due", cwd=vault)) == []
    second.unlink()
    assert damaged(run("due", cwd=vault)) == []
    (vault / "learning/reviews-2025.jsonl").unlink()
    assert len(damaged(run("due", cwd=vault))) == 1


def git(folder: Path, *words: str) -> None:
    person = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *person, *words], cwd=folder, check=True, capture_output=True, timeout=60)


@pytest.fixture
def repository(vault: Path) -> Path:
    (vault / ".gitattributes").write_text(read("gitattributes"))
    (vault / ".gitignore").write_text(read("gitignore"))
    git(vault, "init", "-q", "-b", "main")
    git(vault, "add", "-A")
    git(vault, "commit", "-qm", "first")
    return vault


def test_two_clones_of_one_machine_raise_no_alarm(run: Run, repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(repository), str(other))
    assert damaged(run("due", cwd=other)) == []
    for _ in range(2):
        for clone, cards in ((repository, CARDS[:3]), (other, CARDS[3:])):
            for card in cards:
                result = run("rate", card, "good", cwd=clone)
                assert result.code == 0 and damaged(result) == []
            git(clone, "add", "-A")
            git(clone, "commit", "-qm", "reviews")
        for clone, from_ in ((repository, other), (other, repository)):
            git(clone, "pull", "-q", "--no-rebase", "--no-edit", str(from_), "main")
            assert damaged(run("due", cwd=clone)) == []
    assert events(repository) == events(other) and len(events(other)) == 51 + 16


def test_a_fresh_machine_raises_no_alarm(
    run: Run, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "clone", "-q", str(repository), str(tmp_path / "other"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "new-home"))
    for command in (("due",), ("rate", CARDS[2], "good"), ("verify",)):
        result = run(*command, cwd=tmp_path / "other")
        assert result.code == 0 and damaged(result) == []


def test_an_older_commit_is_a_loss_until_it_is_accepted(run: Run, repository: Path) -> None:
    assert run("rate", CARDS[1], "good", cwd=repository).code == 0
    git(repository, "commit", "-qam", "second")
    git(repository, "checkout", "-q", "HEAD~1")
    (line,) = damaged(run("due", cwd=repository))
    assert line.startswith(f"{LOG_PATH}: 1 of 52 records are missing")
    git(repository, "checkout", "-q", "main")
    assert damaged(run("due", cwd=repository)) == []
    git(repository, "checkout", "-q", "HEAD~1")
    assert run("log", "accept", cwd=repository).code == 0
    assert damaged(run("due", cwd=repository)) == []


# --- copies ---------------------------------------------------------------------------------------------------------


def test_the_log_is_copied_once_a_day_for_the_user_alone(run: Run, vault: Path) -> None:
    (copy,) = copies_of(vault).listed()
    path = copies_of(vault).folder / copy.name
    assert copy.events == 51 and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert run("rate", CARDS[1], "good", cwd=vault).code == 0
    assert copies_of(vault).listed() == [copy]
    listed = run("log", "restore", "--list", "--json", cwd=vault).json()
    assert [each["events"] for each in listed["copies"]] == [51]
    checked = run("doctor", "--json", cwd=vault).json()["vault"]["log_copies"]
    assert checked == {"folder": str(copies_of(vault).folder), "count": 1, "last": copy.day.isoformat()}


def test_thirty_copies_are_kept_and_each_can_be_restored(run: Run, vault: Path) -> None:
    copies = copies_of(vault)
    (first,) = copies.listed()
    for n in range(40):
        copies.write(date(2026, 1, 6) + timedelta(days=n), reviews(n + 1), n + 1)
    kept = copies.listed()
    assert len(kept) == 30 and kept[0].day == date(2026, 1, 6) + timedelta(days=11) and kept[-1] == first
    assert len(list(copies.folder.iterdir())) == 30
    (vault / LOG_PATH).unlink()
    restored = run("log", "restore", "--from", "2026-02-01", cwd=vault)
    assert restored.code == 1 and restored.stdout == "added 27 events from the copy of 2026-02-01\n"
    assert run("log", "restore", cwd=vault).stdout.startswith("added 24 events")
    unknown = run("log", "restore", "--from", "2025-01-01", cwd=vault)
    assert unknown.code == 2 and "no copy of the review log of 2025-01-01" in unknown.stderr


def test_a_copy_made_while_records_are_gone_has_them_too(run: Run, vault: Path) -> None:
    copies = copies_of(vault)
    (copy,) = copies.listed()
    (copies.folder / copy.name).rename(copies.folder / "2026-01-09.1.51.jsonl.gz")
    (vault / LOG_PATH).write_bytes(b"".join(lines_of(vault / LOG_PATH)[:20]))
    assert run("rate", CARDS[1], "good", cwd=vault).code == 0
    assert [copy.events for copy in copies.listed()] == [51, 52]
    assert run("log", "restore", cwd=vault).stdout.startswith("added 31 events")


def test_a_vault_that_was_moved_is_restored_from_the_copies_of_its_old_place(run: Run, vault: Path) -> None:
    moved = vault.rename(vault.with_name("moved"))
    (moved / LOG_PATH).write_bytes(b"")
    assert len(damaged(run("due", cwd=moved))) == 1
    assert run("compile", cwd=moved).code == 0 and copies_of(moved).listed() == []
    listed = run("log", "restore", "--list", "--json", cwd=moved).json()
    assert listed["copies"] == [] and [each["events"] for each in listed["elsewhere"]] == [51]
    assert "made when this vault was in another folder" in run("log", "restore", "--list", cwd=moved).stdout
    assert run("log", "restore", cwd=moved).stdout.startswith("added 51 events")
    assert damaged(run("due", cwd=moved)) == []


def test_commands_that_only_read_make_no_copy(run: Run, vault: Path) -> None:
    shutil.rmtree(copies_of(vault).folder)
    for command in ("due", "status", "stats", "log", "verify"):
        assert run(command, cwd=vault).code == 0
    assert not copies_of(vault).folder.exists()


@pytest.mark.parametrize("inside", [False, True])
def test_a_copy_that_cannot_be_written_is_said_by_doctor_alone(
    run: Run, vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: bool
) -> None:
    place = vault / "output" if inside else tmp_path / "no-folder"
    if not inside:
        place.write_text("a file")
    monkeypatch.setenv("XDG_DATA_HOME", str(place))
    rated = run("rate", CARDS[1], "good", cwd=vault)
    assert rated.code == 0 and rated.stderr == ""
    checked = run("doctor", "--json", cwd=vault).json()["findings"]
    (found,) = [each for each in checked if each["code"] == "log-copy"]
    assert found["message"].startswith("the review log could not be copied")
    assert not (vault / "output/retain").exists()


def test_what_is_in_a_copy_does_not_act(run: Run, vault: Path, tmp_path: Path) -> None:
    body = (
        b'{"v":1,"id":"01KB0000000000000000000000","type":"flag","card":"\x1b]0;x\x07","at":"2026-01-05T09:00:00.000Z"'
    )
    raw = body + checksum(body)
    flag = encode(Flag(Stamp(ulid(1, b"0123456789"), START), CardId("\x1b[31mred"), "\x1b]52;c;eA==\x07"))
    copies = copies_of(vault)
    copies.write(date(2099, 1, 1), b"\n".join([raw, flag, b"\x1b[2Jgarbage", b""]) + reviews(50), 52)
    (tmp_path / "elsewhere.gz").write_bytes((copies.folder / copies.listed()[-1].name).read_bytes())
    (copies.folder / "2099-01-02.1.9.jsonl.gz").symlink_to(tmp_path / "elsewhere.gz")
    restored = run("log", "restore", cwd=vault)
    assert restored.stdout == "added 1 event from the copy of 2099-01-01\n"
    assert raw not in (vault / LOG_PATH).read_bytes() and flag in lines_of(vault / LOG_PATH)[-1]
    assert "\x1b" not in restored.stdout + restored.stderr
    assert [copy.day.year for copy in copies.listed()].count(2099) == 1, "a link is no copy"


def test_a_damaged_copy_is_an_error_and_an_older_one_serves(run: Run, vault: Path) -> None:
    copies = copies_of(vault)
    copies.write(date(2099, 1, 1), reviews(50), 50)
    newest = copies.folder / copies.listed()[-1].name
    newest.write_bytes(newest.read_bytes()[:200])
    (vault / LOG_PATH).unlink()
    failed = run("log", "restore", cwd=vault)
    assert failed.code == 3 and "this copy of the review log is damaged" in failed.stderr
    today = copies.listed()[0].day.isoformat()
    assert run("log", "restore", "--from", today, cwd=vault).stdout.startswith("added 51 events")


# --- a battery ------------------------------------------------------------------------------------------------------


@pytest.mark.torture
def test_any_damage_that_loses_events_is_noticed_and_repaired(
    run: Run, vault: Path, torture: Callable[[int, int], int], tally: Callable[..., None]
) -> None:
    """Cuts, zeros, flipped bytes, missing and moved lines at random places of a log that goes on growing."""
    choose, log = random.Random(7), vault / LOG_PATH
    rounds = torture(400, 20)
    for n in range(rounds):
        known, whole = events(vault), log.read_bytes()
        log.write_bytes(_damaged(whole, choose))
        lost = len(known - events(vault))
        said: list[Any] = damaged(run("due", cwd=vault))
        assert bool(said) == bool(lost), (n, lost, said)
        assert not lost or f": {lost} of {len(known)} records" in said[0], (n, lost, said)
        if choose.random() < 0.2:
            shutil.rmtree(vault / ".retain")
        assert run("log", "restore", cwd=vault).code == 0 and events(vault) == known
        log.write_bytes(b"".join(line for line in lines_of(log) if line.startswith(b"{") and line.endswith(b'"}\n')))
        if events(vault) != known:  # it was in a line of which only the end was bad
            log.write_bytes(whole)
        assert damaged(run("due", cwd=vault)) == []
    tally("Review logs cut, zeroed, with flipped bytes or missing lines", f"{rounds} of {rounds} noticed and restored")


def _damaged(whole: bytes, choose: random.Random) -> bytes:
    start = choose.randrange(len(whole))
    end = min(len(whole), start + choose.choice((1, 50, 1000, 10**6)))
    lines = whole.splitlines(keepends=True)
    match choose.randrange(5):
        case 0:
            return whole[:start]
        case 1:
            return whole[:start] + bytes(end - start) + whole[end:]
        case 2:
            return whole[:start] + bytes([whole[start] ^ (1 << choose.randrange(8))]) + whole[start + 1 :]
        case 3:
            return b"".join(line for line in lines if choose.random() < 0.9)
        case _:
            return b"".join(choose.sample(lines, len(lines)))
