"""Where the disk refuses, tears or turns bits, a session says so by name, nothing is half-written, and it goes on."""

from __future__ import annotations

import csv
import errno
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from learning.cards.workspace import Desk, open_desk, rate, read_desk, undo_last
from learning.history import cut as log_cut
from learning.memory.state import MemoryState
from learning.review.study_session import StudySession
from tests.builders import make_vault
from vault.diagnostic import Diagnostic
from vault.errors import LockHeld, RetainError, WriteFailed
from vault.ids import CardId, ulid
from vault.index import stamps
from vault.locks import lock
from vault.log.events import LogEvent, Rating, Review, Stamp, encode
from vault.log.review_columns import columns_of, scan_log
from vault.log.review_log import LOG_PATH, parse_log, read_log, unix_ms
from vault.vault import Vault, open_vault

Watched = Callable[[Callable[[int, str], None]], AbstractContextManager[Any]]
Torture = Callable[[int, int], int]
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
CARDS = tuple(CardId(f"{n:010}") for n in range(12))
ERRORS = [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EMFILE]
RETAIN = (sys.executable, "-c", "import sys; from cli.main import main; sys.argv[0] = 'retain'; main()")
HERE = Path(__file__).resolve().parents[2]


def made(root: Path, reviews: int = 0) -> Vault:
    """A vault of twelve cards, and as many reviews of them, an hour apart, the last one an hour before noon."""
    blocks = [f"Q: What is {card}?\nA: It is {card}.\n<!-- card {card} -->\n" for card in CARDS]
    vault = make_vault(root, {"learning/flashcards/numbers.md": "# Numbers\n\n" + "\n".join(blocks)})
    if reviews:
        (root / LOG_PATH).write_bytes(lines(*history(reviews)))
    return vault


def history(reviews: int) -> list[Review]:
    return [
        review(NOON - timedelta(hours=reviews - n), CARDS[n % 12], Rating(n * 7 % 4 + 1), n) for n in range(reviews)
    ]


def review(at: datetime, card: CardId, rating: Rating, number: int) -> Review:
    id_ = ulid(unix_ms(at), number.to_bytes(10, "big"))
    return Review(Stamp(id_, at, "+00:00", "tui"), card, rating, 900 + number)


def lines(*events: LogEvent) -> bytes:
    return b"".join(encode(event) + b"\n" for event in events)


def states(desk: Desk) -> list[MemoryState]:
    return [desk.state(card) for card in CARDS]


def log_found(found: tuple[Diagnostic, ...]) -> list[tuple[str, int]]:
    return [(d.code, d.line) for d in found if d.path == LOG_PATH]


def retain(vault: Vault, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(HERE), "RETAIN_VAULT": str(vault.root)}
    return subprocess.run(
        [*RETAIN, *words], env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


# --- torn tails -------------------------------------------------------------------------------------------------------


def test_a_log_torn_at_any_byte_opens_names_it_once_and_takes_the_next_rating(
    tmp_path: Path, torture: Torture, tally: Callable[..., None]
) -> None:
    vault = made(tmp_path / "mind")
    log, written = vault.root / LOG_PATH, history(20)
    whole = lines(*written)
    start = len(lines(*written[:-3]))
    wanted: dict[int, list[MemoryState]] = {}
    for kept in range(17, 21):
        log.write_bytes(lines(*written[:kept]))
        wanted[kept] = states(open_desk(vault, NOON))
    cuts = range(start, len(whole) + 1, torture(1, 11))
    for cut in cuts:
        log.write_bytes(whole[:cut])
        kept = 17 + whole[start:cut].count(b"\n") + (whole[cut : cut + 1] == b"\n")
        torn = not whole[:cut].endswith(b"\n") and whole[cut : cut + 1] != b"\n"
        desk = open_desk(vault, NOON)
        assert states(desk) == wanted[kept], cut
        assert log_found(desk.diagnostics) == ([("log-torn-line", kept + 1)] if torn else []), cut
        _, event = rate(desk, CARDS[0], Rating.GOOD, via="cli")
        ended = b"" if whole[:cut].endswith(b"\n") else b"\n"
        assert log.read_bytes() == whole[:cut] + ended + encode(event) + b"\n", cut
        assert read_log(vault.root).events == (*written[:kept], event), cut
        assert log_found(open_desk(vault, NOON).diagnostics) == ([("log-bad-line", kept + 1)] if torn else []), cut
    tally("Torn tails, every byte of three records, the whole desk", f"{len(cuts)} of {len(cuts)} as they should be",
          page="memory")  # fmt: skip


# --- a disk that fails ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("for_good", [False, True], ids=["once", "for good"])
def test_whatever_call_fails_the_rating_is_refused_by_name_and_the_card_stays(
    tmp_path: Path, watched: Watched, tally: Callable[..., None], for_good: bool
) -> None:
    made_calls: list[str] = []
    first = StudySession(open_desk(made(tmp_path / "first", 12), NOON), lambda: NOON)
    first.table()
    first.reveal()
    with watched(lambda n, name: made_calls.append(name)):
        first.rate(Rating.GOOD)
    refused = 0
    for number, failed in enumerate(made_calls, 1):
        for code in ERRORS:
            vault = made(tmp_path / f"{number}-{code}", 12)
            what = f"{failed} (call {number}) with {errno.errorcode[code]}"
            refused += _one_failure(vault, watched, number, code, for_good, what)
    assert refused
    row = f"A call of the system fails in a rating, {'for good' if for_good else 'once'}"
    tally(row, f"{len(made_calls) * len(ERRORS)} failures, {refused} refusals by name, 0 half-written", page="memory")


def _one_failure(vault: Vault, watched: Watched, number: int, code: int, for_good: bool, what: str) -> bool:
    """Whether the rating was refused."""
    study_session = StudySession(open_desk(vault, NOON), lambda: NOON)
    placed = study_session.table()
    study_session.reveal()
    before, session = (vault.root / LOG_PATH).read_bytes(), study_session.session

    def fail(n: int, name: str) -> None:
        if n == number or (for_good and n > number):
            raise OSError(code, os.strerror(code))

    error: RetainError | None = None
    with watched(fail):
        try:
            study_session.rate(Rating.GOOD)
        except RetainError as problem:
            error = problem
    after = (vault.root / LOG_PATH).read_bytes()
    if error is None:
        assert len(read_log(vault.root).events) == 13, what
        return False
    assert isinstance(error, WriteFailed) and error.where == LOG_PATH and error.what, what
    assert after == before or "may or may not" in str(error), what
    assert not read_log(vault.root).diagnostics or "may or may not" in str(error), what
    assert study_session.session is session and placed is not None, what
    study_session.rate(Rating.GOOD)  # the disk works again
    event = read_log(vault.root).events[-1]
    assert isinstance(event, Review) and event.card == placed.id, what
    assert len(read_log(vault.root).events) == 13 + (after != before), what
    return True


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """`mounted(options)`: an empty disk of its own, in memory; the test is skipped where none can be mounted."""
    places: list[Path] = []

    def mount(*options: str, bind: Path | None = None) -> Path:
        place = tmp_path / f"disk-{len(places)}"
        place.mkdir()
        source = ["--bind", str(bind)] if bind else ["-t", "tmpfs", "tmpfs"]
        done = subprocess.run(
            ["mount", *source, *options, str(place)], capture_output=True, text=True, check=False
        ) if os.geteuid() == 0 else None  # fmt: skip
        if done is None or done.returncode:
            pytest.skip("a disk of our own is mounted by root alone: " + (done.stderr.strip() if done else "not root"))
        places.append(place)
        return place

    yield mount
    for place in reversed(places):
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_on_a_full_disk_the_rating_is_refused_and_the_session_goes_on_when_there_is_room(
    mounted: Callable[..., Path], tally: Callable[..., None]
) -> None:
    disk = mounted("-o", "size=512k")
    vault = made(disk / "mind", 12)
    study_session = StudySession(open_desk(vault, NOON), lambda: NOON)
    saved, refused = 12, 0
    for _ in range(6):
        filler = disk / "filler"
        _fill(filler)
        before = (vault.root / LOG_PATH).read_bytes()
        while study_session.table() is not None:
            study_session.reveal()
            try:
                study_session.rate(Rating.AGAIN)  # the last block of the log may have room yet
            except WriteFailed as error:
                assert "full" in str(error) and error.where == LOG_PATH
                refused += 1
                break
            saved += 1
        log = read_log(vault.root)
        assert len(log.events) == saved and not log.diagnostics
        assert (vault.root / LOG_PATH).read_bytes().startswith(before)
        filler.unlink()
        study_session.rate(Rating.AGAIN)
        saved += 1
    assert refused == 6 and len(read_log(vault.root).events) == saved
    tally("A full disk", f"{refused} refusals, each named, {saved - 12} ratings saved around them", page="memory")


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        size = 65536
        while size:
            try:
                file.write(b"x" * size)
            except OSError:
                size //= 2


LIMITED = """
import resource, sys
from datetime import UTC, datetime
from pathlib import Path
from learning.cards.workspace import open_desk
from learning.review.study_session import StudySession
from vault.errors import WriteFailed
from vault.log.events import Rating
from vault.vault import open_vault
vault = open_vault(sys.argv[1], None, Path.cwd())
log = vault.root / "learning/reviews.jsonl"
now = datetime(2026, 11, 21, 12, tzinfo=UTC)
sitting = StudySession(open_desk(vault, now), lambda: now)
for room in (0, 1, 60, 100_000):
    sitting.table()
    sitting.reveal()
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size + room, resource.RLIM_INFINITY))
    try:
        sitting.rate(Rating.GOOD)
        print("saved")
    except WriteFailed as error:
        print(error.where, error.what)
"""


def test_a_line_that_only_its_beginning_has_room_for_is_taken_back(tmp_path: Path) -> None:
    vault = made(tmp_path / "mind", 12)
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    command = [sys.executable, "-c", LIMITED, str(vault.root)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert [line.startswith(LOG_PATH) for line in said] == [True, True, True, False]
    assert said[-1] == "saved"
    log = read_log(vault.root)
    assert (len(log.events), log.diagnostics) == (13, ())


def test_a_vault_that_is_mounted_read_only_is_shown_and_refuses_every_rating_by_name(
    tmp_path: Path, mounted: Callable[..., Path]
) -> None:
    written = made(tmp_path / "mind", 12)
    if os.geteuid() == 0:
        place = mounted("-o", "bind", bind=written.root)
        subprocess.run(["mount", "-o", "remount,bind,ro", str(place)], check=True)
    else:
        place = written.root
        (place / LOG_PATH).chmod(0o400)
        (place / "learning").chmod(0o500)
    vault = open_vault(str(place), None, tmp_path)
    before = (vault.root / LOG_PATH).read_bytes()
    due = retain(vault, "due", "--json")
    assert due.returncode == 0 and CARDS[0] in due.stdout, due.stderr
    for words in (("rate", CARDS[0], "good"), ("undo",), ("card", "suspend", CARDS[0]), ("review", "--plain")):
        done = retain(vault, *words)
        assert done.returncode == 3, (words, done.stderr)
        assert "read-only" in done.stderr or "permission" in done.stderr, (words, done.stderr)
        assert "Traceback" not in done.stderr
    assert (vault.root / LOG_PATH).read_bytes() == before
    written.root.joinpath("learning").chmod(0o755)


def test_the_second_session_is_told_who_holds_the_vault_and_single_ratings_still_go(tmp_path: Path) -> None:
    vault = made(tmp_path / "mind", 12)
    with lock(vault.root, "review", purpose="reviewing", now=NOON) as holder:
        done = retain(vault, "review", "--plain")
        assert done.returncode == 3
        assert f"process {os.getpid()} on {holder.host}, reviewing since 2026-11-21T12:00:00Z" in done.stderr
        assert retain(vault, "rate", CARDS[0], "good").returncode == 0
    assert len(read_log(vault.root).events) == 13


@pytest.mark.parametrize(
    "reader",
    [lambda v: states(open_desk(v, NOON)), lambda v: read_log(v.root).events],
    ids=["desk", "events"],
)
def test_a_file_that_is_renamed_while_the_log_is_read_takes_no_review_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Callable[[Vault], object]
) -> None:
    """Another program renames the file between the listing of the folder and the reading of the file."""
    wanted, vault = reader(made(tmp_path / "still", 30)), made(tmp_path / "mind", 30)
    real, names = os.open, list[str]()

    def opened(path: Any, *more: Any, **named: Any) -> int:
        if str(path).endswith("reviews.jsonl") and not names:
            names.append(str(path))
            (vault.root / LOG_PATH).rename(vault.root / "learning/reviews-2026.jsonl")
        return real(path, *more, **named)

    monkeypatch.setattr(os, "open", opened)
    monkeypatch.setattr(os, "supports_dir_fd", {*os.supports_dir_fd, opened})
    assert reader(vault) == wanted
    assert names


def test_a_log_that_another_process_keeps_locked_refuses_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    vault = made(tmp_path / "mind", 12)
    monkeypatch.setattr("vault.files.guard._LOG_WAIT_S", 0.01)
    study_session = StudySession(open_desk(vault, NOON), lambda: NOON)
    study_session.table()
    study_session.reveal()
    with (vault.root / LOG_PATH).open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(LockHeld, match="another process"):
            study_session.rate(Rating.GOOD)
    study_session.rate(Rating.GOOD)
    assert len(read_log(vault.root).events) == 13


# --- bits -------------------------------------------------------------------------------------------------------------


def test_a_bit_flipped_anywhere_in_a_log_is_named_or_harmless_and_both_readers_agree(
    request: pytest.FixtureRequest, torture: Torture, tally: Callable[..., None]
) -> None:
    written, chance, tries = history(400), random.Random(20261122), torture(2000, 200)
    if (real := real_log(request)) is not None:
        written = real
    harmless = 0
    for _ in range(tries):
        first = chance.randrange(len(written) - 40)
        some = written[first : first + chance.randint(1, 40)]
        data = bytearray(lines(*some))
        at, bit = chance.randrange(len(data)), chance.randrange(8)
        data[at] ^= 1 << bit
        where = f"line {first}, byte {at}, bit {bit}"
        log = parse_log([(LOG_PATH, bytes(data))])
        assert set(log.events) <= set(some), where
        assert len(log.events) >= len(some) - 1, where
        assert log.diagnostics or list(log.events) == some, where
        harmless += not log.diagnostics
        scanned = scan_log([(LOG_PATH, bytes(data))])
        assert scanned.reviews == columns_of(log.events) and scanned.diagnostics == log.diagnostics, where
    kind = "a real history" if real else "a made history"
    tally(f"Bits flipped in {kind} of {len(written):,} reviews", f"{tries:,} flips: {tries - harmless:,} named, "
          f"{harmless} harmless, 0 wrong values", page="memory")  # fmt: skip


def real_log(request: pytest.FixtureRequest) -> list[Review] | None:
    """Somebody's own reviews as our events, if the folder of real data is there."""
    try:
        folder: Path = request.getfixturevalue("shared_data")
    except pytest.skip.Exception:
        return None
    rows: list[Review] = []
    for file in sorted((folder / "revlogs").glob("*.csv")):
        with file.open(newline="") as table:
            for row in csv.DictReader(table):
                at = datetime.fromisoformat(row["review_time"]).astimezone(UTC)
                at = at.replace(microsecond=at.microsecond // 1000 * 1000)
                stamp = Stamp(f"{len(rows):026}", at, "+00:00", "import")
                rows.append(Review(stamp, CardId(row["card_id"]), Rating(int(row["review_rating"])),
                                   max(0, int(row["review_duration"]))))  # fmt: skip
    return sorted(rows, key=lambda r: (r.at, r.id)) or None


@pytest.mark.parametrize("settled", [False, True], ids=["young files", "settled files"])
def test_a_cache_with_any_harm_gives_no_wrong_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torture: Torture, tally: Callable[..., None], settled: bool
) -> None:
    """Flipped, cut, emptied, an older one, another's bytes: what is shown is what the files say, at worst later."""
    monkeypatch.setattr(log_cut, "LEAST", 8)  # else only a long log is cut in two
    if settled:
        monkeypatch.setattr(stamps, "RACY_NS", -(10**15))
    vault = made(tmp_path / "mind", 60)
    chance, tries = random.Random(20261122), torture(1000, 75)
    olds = list(aged(vault))
    wanted, page = seen(open_desk(vault, NOON)), states(read_desk(vault))
    files = caches(vault)
    assert files and seen(open_desk(vault, NOON)) == wanted
    for _ in range(tries):
        for file in files:
            was = chance.choice(olds)
            file.write_bytes(harmed(was.get(file, b""), chance, [*was.values()]))
        assert seen(open_desk(vault, NOON)) == wanted
        assert states(read_desk(vault)) == page
    names = ", ".join(sorted(file.name for file in files))
    kind = "settled" if settled else "young"
    tally(f"Caches flipped, cut, emptied, swapped, aged; {kind} files",
          f"{tries:,} times all of {names}: 0 wrong values", page="memory")  # fmt: skip


def aged(vault: Vault) -> Iterator[dict[Path, bytes]]:
    """The caches as they stood after ratings, an edit, an undo, a merge and a word of a compile."""
    deck, ids = vault.root / "learning/flashcards/numbers.md", vault.root / "ledger/ids.jsonl"
    retired = {"v": 1, "type": "retire", "of": "card", "id": CARDS[5], "at": "2026-11-20T12:00:00.000Z"}
    other = review(NOON - timedelta(hours=70), CARDS[6], Rating.AGAIN, 0)
    deeds: list[Callable[[], object]] = [
        lambda: rate(open_desk(vault, NOON), CARDS[3], Rating.GOOD, via="cli"),
        lambda: deck.write_text(deck.read_text().replace("What is 0000000002?", "What else is 0000000002?")),
        lambda: undo_last(open_desk(vault, NOON), via="cli"),
        lambda: (vault.root / "learning/reviews-2025.jsonl").write_bytes(lines(other)),
        lambda: ids.write_text(json.dumps(retired) + "\n"),
        lambda: rate(open_desk(vault, NOON), CARDS[4], Rating.AGAIN, via="cli"),
    ]
    for deed in deeds:
        deed()
        open_desk(vault, NOON).queue  # noqa: B018 (what is lazy is read)
        yield {file: file.read_bytes() for file in caches(vault)}


def caches(vault: Vault) -> list[Path]:
    folder = vault.root / ".retain"
    return [f for f in sorted(folder.rglob("*")) if f.is_file() and "locks" not in f.parts] if folder.exists() else []


def harmed(data: bytes, chance: random.Random, all_: list[bytes]) -> bytes:
    """`data` as it is, or with something done to it."""
    how, spoilt = chance.randrange(8), bytearray(data)
    at = chance.randrange(len(data) or 1)
    if how == 0 and data:
        spoilt[at] ^= 1 << chance.randrange(8)
    elif how == 1:
        del spoilt[at:]
    elif how == 2:
        return chance.choice(all_)
    elif how == 3:
        spoilt[at : at + 64] = b"\0" * 64
    elif how == 4:
        spoilt[at:at] = chance.randbytes(16)
    return bytes(spoilt)


def seen(desk: Desk) -> tuple[object, ...]:
    return states(desk), desk.queue, desk.today, tuple(desk.cards), [desk.card(c).card.question for c in CARDS]
