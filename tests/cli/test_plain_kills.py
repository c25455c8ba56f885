"""A session that is killed at any moment keeps every rating that it had gone on from, once."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path

from learning.desk import read_desk, save_review_page
from vault.review_log import LOG_PATH, Review, read_log
from vault.settings import Settings, render_settings
from vault.store import REVIEW_PAGE, open_vault

CARDS = 400
RUNS = 8
SESSION = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from cli.plain import review_plainly
from vault.store import open_vault
review_plainly(open_vault(sys.argv[1], None, Path.cwd()), clock=lambda: datetime.now(UTC))
"""


def made(root: Path) -> Path:
    (root / "learning/flashcards").mkdir(parents=True)
    settings = Settings("01KB0000000000000000000000", "Mind", new_per_day=CARDS)
    (root / "retain.toml").write_text(render_settings(settings))
    blocks = [f"Q: What is {n}?\nA: It is {n}.\n<!-- card {n:010} -->\n" for n in range(CARDS)]
    (root / "learning/flashcards/numbers.md").write_text("# Numbers\n\n" + "\n".join(blocks))
    return root


def killed_session(root: Path, after_s: float) -> str:
    """What a session printed that answers as fast as it can and is killed so long after its first card."""
    command = [sys.executable, "-c", SESSION, str(root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as session:
        assert session.stdin and session.stdout
        first = session.stdout.readline()
        threading.Timer(after_s, session.send_signal, [signal.SIGKILL]).start()
        typing = threading.Thread(target=_type, args=(session.stdin,), daemon=True)
        typing.start()
        rest = session.stdout.read()
        session.wait(timeout=600)
        typing.join(timeout=600)
        with suppress(OSError):  # keys that the dead process did not take
            session.stdin.close()
        return (first + rest).decode()


def _type(keys: object) -> None:
    try:
        for _ in range(5 * CARDS):
            keys.write(b"\n3\n")  # type: ignore[attr-defined]
            keys.flush()  # type: ignore[attr-defined]
    except OSError:
        return


def test_every_rating_that_was_gone_on_from_is_in_the_log_once(tmp_path: Path) -> None:
    seed = 20261121
    chance = random.Random(seed)
    root = made(tmp_path / "mind")
    vault = open_vault(str(root), None, root)
    saved = 0
    for _ in range(RUNS):
        printed = killed_session(root, chance.uniform(0.0, 0.3))
        shown = len(re.findall(r"^Q: ", printed, re.MULTILINE))
        log = read_log(root)
        reviews = [event for event in log.events if isinstance(event, Review)]
        assert max(Counter(event.id for event in reviews).values(), default=1) == 1
        # What is shown last is not rated yet; one more may have reached the disk before the kill reached the process.
        assert saved + shown - 1 <= len(reviews) <= saved + shown, f"seed {seed}"
        assert all(d.code == "log-torn-line" or d.code == "log-bad-line" for d in log.diagnostics)
        saved = len(reviews)
    assert saved > RUNS
    save_review_page(read_desk(vault))
    page = (root / REVIEW_PAGE).read_bytes()
    clean = made(tmp_path / "clean")
    (clean / LOG_PATH).write_bytes((root / LOG_PATH).read_bytes())
    save_review_page(read_desk(open_vault(str(clean), None, clean)))
    assert (clean / REVIEW_PAGE).read_bytes() == page
