"""A day with a vault, by the commands alone: read, ask, file an answer, correct a source, check, mend."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.commands import Run, retain

TEA = """# Green tea

Green tea is a tea that is made of leaves which were not oxidised.
Green tea is steeped at 70 degrees, since hotter water makes it bitter.

Sencha is a green tea of Japan. Sencha is steamed soon after the harvest.
"""
NOTE = "insights/tea.md"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    assert retain("init", str(root), "--no-git", cwd=tmp_path).code == 0
    (tmp_path / "tea.md").write_text(TEA)
    assert retain("add", str(tmp_path / "tea.md"), cwd=root).code == 0
    (root / NOTE).write_text("# Tea\n\nMine: [[wiki/concepts/green-tea]] tastes of grass.\n")
    return root


def codes(run: Run, vault: Path) -> dict[str, str]:
    """Return the rules that find something, each with the remedy of its first finding."""
    found = run("lint", "--json", cwd=vault).json()["findings"]
    return {each["code"]: each["hint"] for each in reversed(found)}


def test_a_day(run: Run, vault: Path) -> None:
    note = (vault / NOTE).read_bytes()
    source = next((vault / "raw").rglob("tea.md"))

    morning = run("daily", "--json", cwd=vault).json()
    assert morning["compile"]["articles"]["created"] and morning["today"]["new"]
    assert run("daily", "--json", cwd=vault).json()["compile"]["articles"]["created"] == 0

    question = "How hot is the water for green tea?"
    asked = run("ask", question, "--file-back", "--json", cwd=vault).json()
    assert "70 degrees" in asked["quotes"][0]["text"] and asked["changed"] is None
    page = asked["page"]
    assert run("search", "hot water green tea", "--kind", "answer", "--json", cwd=vault).json()["answers"]
    told = run("ask", "--continue", "why is it not hotter?", "--json", cwd=vault).json()
    assert "bitter" in told["quotes"][0]["text"]
    assert not {"answer-stale", "unindexed"} & codes(run, vault).keys() and run("verify", cwd=vault).code == 0

    source.write_text(TEA.replace("70 degrees", "80 degrees"))
    assert run("daily", cwd=vault).code == 1
    assert f"[[{page.removesuffix('.md')}" in (vault / "wiki/_index.md").read_text()
    remedy = codes(run, vault)["answer-stale"]
    assert question in remedy and "--file-back" in remedy
    again = run("ask", question, "--file-back", "--json", cwd=vault).json()
    assert again["page"] == page and "80 degrees" in (vault / page).read_text()
    assert any("80 degrees" in text for text in again["changed"]["new"])
    assert any("70 degrees" in text for text in again["changed"]["gone"])
    assert "answer-stale" not in codes(run, vault)

    article = vault / "wiki/concepts/green-tea.md"
    sound = article.read_bytes()
    article.unlink()
    assert {"lost", "broken-link"} <= codes(run, vault).keys()
    assert run("lint", "--fix", cwd=vault).code in (0, 1) and article.read_bytes() == sound
    assert "lost" not in codes(run, vault) and next((vault / "output/reports").glob("lint-*.md"))
    assert run("lint", "--undo", cwd=vault).code == 0 and not article.exists()
    assert run("compile", cwd=vault).code == 0 and article.read_bytes() == sound

    kinds = re.findall(r"^## \[[\d-]+\] (\w+) \|", (vault / "wiki/_log.md").read_text(), re.MULTILINE)
    assert kinds[0] == "compile" and {"question", "lint"} <= set(kinds)
    assert (vault / NOTE).read_bytes() == note and [p.name for p in (vault / "raw").rglob("*.md")] == ["tea.md"]
