"""`retain due --json` answers from what was kept just what it would answer anew; in any doubt it answers anew."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cli import fast_due
from cli.main import run
from learning.desk import open_desk, rate
from tests.learning.marks import mark
from vault import kept_answer
from vault.log_event import Bury, Rating
from vault.settings import Settings, render_settings
from vault.store import Vault, open_vault

DECK = """\
---
tags: [a]
---

# One ↔ “two”

## Applied

Q: What is {0}?
A: A card.
<!-- card {0} -->
"""
CARDS = [f"a{n}b{n}c{n}d{n}e{n}" for n in range(6)]
RETAIN = Path(sys.executable).with_name("retain")
_AS_OF = re.compile(rb'"as_of": "[^"]*"')


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vault:
    root = tmp_path / "vault"
    for folder in ("learning/flashcards", "ledger/replies", "wiki/concepts", "output"):
        (root / folder).mkdir(parents=True)
    far_away = (datetime.now(UTC).hour + 12) % 24  # no study day begins, and no step ends, while a test runs
    settings = render_settings(Settings("01KB0000000000000000000000", "V", rollover=far_away))
    (root / "retain.toml").write_text(settings + 'learning_steps = ["2h"]\n')
    for card in CARDS:
        (root / f"learning/flashcards/{card}.md").write_text(DECK.format(card))
    monkeypatch.setattr(kept_answer, "RACY_NS", -1_000_000_000)  # stamps are believed at once
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    vault = open_vault(str(root), None, tmp_path)
    yesterday = datetime.now(UTC) - timedelta(days=20)
    for card, rating in zip(CARDS[:4], Rating, strict=True):
        rate(open_desk(vault, yesterday), card, rating, via="cli")
    rate(open_desk(vault, datetime.now(UTC)), CARDS[0], Rating.AGAIN, via="cli")
    return vault


def asked(vault: Vault, *words: str) -> bytes:
    done = subprocess.run(
        [RETAIN, *(words or ("due", "--json"))], cwd=vault.root, capture_output=True, check=True, timeout=600
    )
    assert done.stderr == b""
    return done.stdout


def quick(vault: Vault, capfd: pytest.CaptureFixture[str]) -> bytes | None:
    """What the quick way prints; None where it leaves the answer to the other."""
    capfd.readouterr()
    found = fast_due.answered(["due", "--json", "--vault", str(vault.root)])
    return capfd.readouterr().out.encode() if found else None


def settled(vault: Vault) -> bytes:
    """The answer of the ordinary way, which keeps it."""
    for words in ([], [], ["--tag", ""]):  # with a tag it is always the ordinary way
        time.sleep(0.01)  # longer than a tick of the file system's clock
        here = ["--vault", str(vault.root), "due", "--json", *words]
        with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace")) as out:
            assert run(here) == 0
            out.flush()
            answer = out.buffer.getvalue()
    return bytes(answer)


def same(one: bytes, other: bytes) -> bool:
    return _AS_OF.sub(b"", one) == _AS_OF.sub(b"", other)


def test_the_quick_answer_is_the_ordinary_one_but_for_the_instant(
    vault: Vault, capfd: pytest.CaptureFixture[str]
) -> None:
    ordinary = settled(vault)
    found = quick(vault, capfd)
    assert found is not None
    assert same(found, ordinary)
    at = datetime.fromisoformat(_AS_OF.findall(found)[0].split(b'"')[3].decode())
    assert abs(datetime.now(UTC) - at) < timedelta(minutes=5)
    assert same(asked(vault), ordinary)
    assert same(asked(vault, "--vault", str(vault.root), "due", "--json"), ordinary)


def _rates(vault: Vault) -> None:
    rate(open_desk(vault, datetime.now(UTC)), CARDS[4], Rating.GOOD, via="cli")


def _buries(vault: Vault) -> None:
    mark(open_desk(vault, datetime.now(UTC)), CARDS[5], Bury, via="cli")


def _pauses(vault: Vault) -> None:
    (vault.root / f"wiki/concepts/{CARDS[5]}.md").write_text("---\nlearning: false\n---\n")


def _edits(vault: Vault) -> None:
    path = vault.root / f"learning/flashcards/{CARDS[5]}.md"
    path.write_text(path.read_text().replace("One", "Two"))


def _renames(vault: Vault) -> None:
    (vault.root / f"learning/flashcards/{CARDS[5]}.md").rename(vault.root / "learning/flashcards/other.md")


def _adds(vault: Vault) -> None:
    (vault.root / "learning/flashcards/more.md").write_text(DECK.format("zzzzzzzzzz"))


def _settles(vault: Vault) -> None:
    with (vault.root / "retain.toml").open("a") as file:
        file.write("bury_siblings = true\n")


def _loses_the_page(vault: Vault) -> None:
    (vault.root / "learning/_review.md").unlink()


def _gets_a_conflict_copy(vault: Vault) -> None:
    log = vault.root / "learning/reviews.jsonl"
    shutil.copy(log, log.with_name("reviews (copy).jsonl"))


def _an_agent_begins(vault: Vault) -> None:
    runs = Path(os.environ["XDG_STATE_HOME"]) / "retain" / vault.settings.vault_id / "runs"
    runs.mkdir(parents=True)
    (runs / f"{vault.settings.vault_id}.json").write_text("{}")


def _the_answer_is_damaged(vault: Vault) -> None:
    path = vault.root / fast_due.CACHE
    path.write_bytes(path.read_bytes().replace(b"Applied", b"applied").replace(b"card", b"cart"))


CHANGES = [_rates, _buries, _pauses, _edits, _renames, _adds, _settles, _loses_the_page, _gets_a_conflict_copy]


def test_whatever_changes_the_answer_is_made_anew(vault: Vault, capfd: pytest.CaptureFixture[str]) -> None:
    settled(vault)
    for change in CHANGES:
        assert quick(vault, capfd) is not None, f"before {change.__name__}"
        time.sleep(0.01)
        change(vault)
        assert quick(vault, capfd) is None, change.__name__
        shutil.rmtree(vault.root / ".retain/cache/due-json", ignore_errors=True)
        settled(vault)


@pytest.mark.parametrize("change", [_an_agent_begins, _the_answer_is_damaged])
def test_beside_an_agent_and_from_a_damaged_file_nothing_is_answered_quickly(
    vault: Vault, capfd: pytest.CaptureFixture[str], change: Callable[[Vault], None]
) -> None:
    settled(vault)
    assert quick(vault, capfd) is not None
    change(vault)
    assert quick(vault, capfd) is None


def _forged(vault: Vault, text: str, *, made_elsewhere: bool) -> None:
    """An answer that came with a stranger's vault: they know which files lie there, and not how this disk has them."""
    files = [*fast_due._FILES, *kept_answer.logs(str(vault.root))]
    stamps = kept_answer.stamps(str(vault.root), ["nope"] * len(files) if made_elsewhere else ["nope"])
    parts = [
        kept_answer.environment(),
        b"0",
        b"9" * 19,
        b"/nonexistent",
        "\0".join(files if made_elsewhere else ["nope"]).encode(),
        stamps.tobytes(),
        fast_due._deck_stamps(str(vault.root)).tobytes(),
        b'{"as_of": "',
        text.encode(),
    ]
    path = vault.root / fast_due.CACHE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(kept_answer.sealed(fast_due._KIND, parts))


@pytest.mark.parametrize("made_elsewhere", [True, False])
def test_an_answer_that_came_with_a_strangers_vault_is_not_repeated(
    vault: Vault, capfd: pytest.CaptureFixture[str], made_elsewhere: bool
) -> None:
    _forged(vault, '"}\n', made_elsewhere=made_elsewhere)
    assert quick(vault, capfd) is None


def test_nothing_that_acts_on_a_terminal_is_repeated(vault: Vault, capfd: pytest.CaptureFixture[str]) -> None:
    settled(vault)
    path = vault.root / fast_due.CACHE
    kind, _, body = path.read_bytes().split(b"\n", 2)
    for harmless, there in ((True, b"As"), (False, b"\x1b]")):
        changed = body.replace(b"An", there, 1) if b"An" in body else body.replace(b"On", there, 1)
        path.write_bytes(b"%b\n%08x\n" % (kind, zlib.crc32(changed)) + changed)
        assert (quick(vault, capfd) is not None) is harmless


def test_an_answer_holds_no_longer_than_the_next_card_falls_due(
    vault: Vault, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settled(vault)
    now = time.time_ns()
    for away_s in (-3600, 86_400, 7_300):  # before it was made; another day; once the step of two hours is over
        monkeypatch.setattr(time, "time_ns", lambda away_s=away_s: now + away_s * 1_000_000_000)
        assert quick(vault, capfd) is None
    monkeypatch.setattr(time, "time_ns", lambda: now)
    assert quick(vault, capfd) is not None


def test_other_words_and_a_caged_agent_go_the_ordinary_way(
    vault: Vault, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settled(vault)
    there = ["--vault", str(vault.root)]
    for words in (["due"], ["due", "--json", "--tag", "a"], ["--json", "due"], ["due", "--json", "--help"]):
        assert not fast_due.answered([*words, *there])
    assert not fast_due.answered(["due", "--json", "--vault", str(vault.root / "learning")])
    monkeypatch.setenv("RETAIN_CAGED", "1")
    assert not fast_due.answered(["due", "--json", *there])


def test_a_reader_that_goes_away_is_no_error(vault: Vault) -> None:
    settled(vault)
    words = f"{RETAIN} due --json --vault {vault.root}; echo $? >&2"
    done = subprocess.run(["sh", "-c", f"({words}) | true"], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "0"


def test_the_quick_way_loads_next_to_nothing(vault: Vault) -> None:
    settled(vault)
    code = (
        "import sys; sys.argv = ['retain', 'due', '--json']\n"
        "from cli.main import main\n"
        "try:\n    main()\n"
        "finally:\n    heavy = {'click', 'json', 're', 'dataclasses', 'pathlib'} & {*sys.modules}\n"
        "    rooms = {name for name in sys.modules if name.startswith('vault.')} - {'vault.kept_answer'}\n"
        "    print(*sorted(heavy | rooms), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}"],
        cwd=vault.root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.strip() == ""
    assert '"due": [' in done.stdout


def test_a_young_file_keeps_no_answer(
    vault: Vault, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_answer, "RACY_NS", 2_000_000_000)
    settled(vault)
    assert quick(vault, capfd) is None
