"""Memory forged: what only the human's own commands may add."""

from __future__ import annotations

import os
from pathlib import Path

from tests.sandbox.attacks.programs import run
from tests.sandbox.attacks.registry import FORGED, Place, attack

_REVIEW = (
    b'{"v":1,"id":"01J00000000000000000000000","type":"review","card":"k7q2m9xd3f","rating":4,'
    b'"at":"2026-11-21T09:30:00.123Z","tz":"+00:00","ms":1,"via":"tui","crc":"00000000"}\n'
)


def _append(*parts: str, line: bytes = FORGED) -> None:
    with Path(*parts).open("ab") as file:
        file.write(line)


@attack()
def review_log(place: Place) -> None:
    """Forge a review in learning/reviews.jsonl"""
    _append(place.vault, "learning/reviews.jsonl", line=_REVIEW)


@attack()
def second_review_log(place: Place) -> None:
    """Add a log of another year, which is read as well"""
    _append(place.vault, "learning/reviews-2019.jsonl", line=_REVIEW)


@attack()
def lose_reviews(place: Place) -> None:
    """Empty the review log"""
    os.truncate(f"{place.vault}/learning/reviews.jsonl", 0)


@attack()
def ids_ledger(place: Place) -> None:
    """Append to ledger/ids.jsonl"""
    _append(place.vault, "ledger/ids.jsonl")


@attack()
def decisions(place: Place) -> None:
    """Decide in the human's name: ledger/decisions.jsonl"""
    _append(place.vault, "ledger/decisions.jsonl")


@attack()
def replies(place: Place) -> None:
    """Plant a model's reply: ledger/replies/"""
    path = Path(place.vault, "ledger/replies")
    path.mkdir(exist_ok=True)
    _append(str(path), "01J00000000000000000000000.jsonl")


@attack()
def review_page(place: Place) -> None:
    """Rewrite learning/_review.md"""
    Path(place.vault, "learning/_review.md").write_bytes(FORGED)


@attack()
def gaps_page(place: Place) -> None:
    """Tick items in learning/gaps.md"""
    _append(place.vault, "learning/gaps.md")


@attack()
def rate(place: Place) -> None:
    """Call the command itself: retain rate CARD easy"""
    code = "import sys; from cli.main import main; sys.argv[0] = 'retain'; main()"
    env = {k: v for k, v in os.environ.items() if k != "RETAIN_CAGED"}
    command = (place.deputy["interpreter"], "-I", "-c", code, "--vault", place.vault, "rate", place.card, "easy")
    run(*command, cwd=place.work, env=env)


@attack()
def add(place: Place) -> None:
    """Call the command itself: retain add"""
    source = Path(os.environ.get("TMPDIR", place.temp), f"forged-{os.getpid()}.md")
    source.write_bytes(b"# A forged source\n\nIt says what the agent wants.\n")
    code = "import sys; from cli.main import main; sys.argv[0] = 'retain'; main()"
    env = {k: v for k, v in os.environ.items() if k != "RETAIN_CAGED"}
    run(place.deputy["interpreter"], "-I", "-c", code, "--vault", place.vault, "add", str(source), env=env)
