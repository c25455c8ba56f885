"""`retain search` finds cards and articles, with path and line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.main import run
from vault.config.settings import FILE, Settings, render_settings

DECK = "# Spacing\n\n## Applied\n\nQ: When is spacing [31mbest?\nA: Always.\n<!-- card aaaaaaaaa1 -->\n"


@pytest.fixture
def vault(tmp_path: Path) -> str:
    (tmp_path / FILE).write_text(render_settings(Settings("0" * 26, "my-vault")), encoding="utf-8")
    for path, text in {
        "learning/flashcards/spacing.md": DECK,
        "wiki/concepts/spacing.md": "# Spacing\n\nIt is.\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return str(tmp_path)


def test_cards_and_articles_are_found_with_path_and_line(vault: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--vault", vault, "search", "spacin", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (card,), (article,) = told["cards"], told["articles"]
    assert (card["id"], card["path"], card["line"]) == ("aaaaaaaaa1", "learning/flashcards/spacing.md", 5)
    assert (article["title"], article["path"], article["line"]) == ("Spacing", "wiki/concepts/spacing.md", 1)
    assert told["passages"] == [] and told["unknown"] == []
    assert run(["--vault", vault, "search", "spacing", "--kind", "card"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Cards\n  learning/flashcards/spacing.md:5") and "\x1b" not in out


def test_a_minus_and_filters_are_words_of_the_search_and_not_options(
    vault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--vault", vault, "search", "is:new", "-kind:relational", "spacing"]) == 0
    out = capsys.readouterr()
    assert "learning/flashcards/spacing.md:5" in out.out and "wiki/" not in out.out


def test_nothing_found_is_said_and_a_wrong_filter_is_a_usage_error(
    vault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--vault", vault, "search", "zebra"]) == 0
    assert "no matches" in capsys.readouterr().err
    assert run(["--vault", vault, "search", "is:lech"]) == 2
    assert "leech" in capsys.readouterr().err
