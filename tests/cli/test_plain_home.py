"""`retain --plain`: home in lines, for a screen reader, a pipe or a terminal that can only print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.main import retain_group
from vault.config.settings import FILE, Settings, render_settings

CARDS = """---
type: flashcards
---

# Spacing

## Definitional

Q: What is spacing?
A: Study spread over time.
<!-- card bbbbbbbbb1 -->
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / FILE).write_text(render_settings(Settings("0" * 26, "my-vault")), encoding="utf-8")
    for folder in ("raw/articles", "wiki/summaries", "learning/flashcards", "ledger"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


def run(root: Path, *words: str, **environment: str) -> Result:
    return CliRunner(env=environment).invoke(retain_group(), ["--vault", str(root), *words], standalone_mode=False)


def test_home_says_in_lines_what_today_holds_and_what_to_do(root: Path) -> None:
    (root / "raw/articles/a.md").write_text("Study.\n", encoding="utf-8")
    (root / "learning/flashcards/spacing.md").write_text(CARDS, encoding="utf-8")
    done = run(root, "--plain")
    assert done.exit_code == 0 and done.exception is None
    assert done.stdout.startswith("my-vault, ")
    assert "Today: 0 due, 1 new, about 1 minute." in done.stdout
    for begins in ("Streak: ", "Recalled: ", "Coming: ", "Since yesterday: ", "What to do:"):
        assert f"\n{begins}" in done.stdout
    assert "  retain review --plain: review due cards" in done.stdout


def test_an_empty_vault_says_how_it_is_filled(root: Path) -> None:
    assert "  retain add FILE...: copy documents into raw/" in run(root, "--plain").stdout


@pytest.mark.parametrize("words", [("--plain",), ("gaps",), ("stats",), ("due",), ("status",)])
def test_lines_hold_no_colour_no_cursor_and_no_frame(root: Path, words: tuple[str, ...]) -> None:
    (root / "raw/articles/a.md").write_text("Study.\n", encoding="utf-8")
    (root / "learning/flashcards/spacing.md").write_text(CARDS, encoding="utf-8")
    done = run(root, *words)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u2500-\u257f]", done.output)


def test_a_dumb_terminal_is_given_lines_and_told_so(root: Path) -> None:
    done = run(root, TERM="dumb")
    assert done.exit_code == 0
    assert "TERM=dumb" in done.stderr and done.stdout.startswith("my-vault, ")
