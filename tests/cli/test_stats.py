"""`retain stats` and the learner's gaps as a user meets them: a vault made by commands, with reviews of 99 days."""

import json
import random
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.commands import Run
from vault.ids import CardId, ulid
from vault.log.events import Rating, Review, Stamp, encode


def fill(vault: Path, *, until: datetime) -> list[str]:
    """Reviews of all cards but the last: the first card is forgotten every time, the others now and then."""
    text = "".join(p.read_text() for p in sorted((vault / "learning/flashcards").glob("*.md")))
    cards = re.findall(r"%% card (\w{10})", text)
    chance = random.Random(8)
    lines = []
    for number, card in enumerate(cards[:-1]):
        for n, days in enumerate((99, 98, 90, 70, 40, 20, 8, 1)):
            at = (until - timedelta(days=days, minutes=number)).replace(microsecond=0)
            rating = Rating(3 if n == 0 or (number and chance.random() < 0.9) else 1)
            stamp = Stamp(ulid(int(at.timestamp() * 1000), bytes([number % 256, n] * 5)), at, via="cli")
            lines.append(encode(Review(stamp, CardId(card), rating, 5_000)) + b"\n")
    (vault / "learning/reviews.jsonl").write_bytes(b"".join(lines))
    return cards


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, made_once: Path) -> tuple[Path, list[str]]:
    vault = tmp_path_factory.mktemp("stats") / "vault"
    shutil.copytree(made_once, vault)
    return vault, fill(vault, until=datetime.now(UTC))


def test_an_empty_vault_is_told_what_to_do_and_shown_no_zero_percent(run: Run, tmp_path: Path) -> None:
    assert run("init", "vault", "--no-git").code == 0
    done = run("stats", cwd=tmp_path / "vault")
    assert (done.code, done.stdout) == (0, "Cards: 0\n")
    assert "retain add" in done.stderr
    figures = run("stats", "--json", cwd=tmp_path / "vault").json()
    assert figures["calibration"]["predicted"] is None
    assert [row["all"]["rate"] for row in figures["retention"]["true"]] == [None] * 5


def test_a_vault_without_reviews_says_what_is_there_and_how_to_begin(run: Run, compiled: Path) -> None:
    done = run("stats", cwd=compiled)
    assert done.code == 0
    assert " new\n" in done.stdout
    assert "run `retain review`" in done.stdout
    assert "%" not in done.stdout


def test_figures_that_were_stored_are_those_of_the_files(
    run: Run, filled: tuple[Path, list[str]], tmp_path: Path
) -> None:
    vault, cards = tmp_path / "vault", filled[1]
    shutil.copytree(filled[0], vault)
    concept = next((vault / "wiki/concepts").glob("*.md")).stem
    topic = vault / "wiki/topics/a.md"
    topic.parent.mkdir(exist_ok=True)

    def figures() -> dict[str, object]:
        """The figures, after a check that a vault without an index gives the same."""
        stored = [run("stats", "--json", cwd=vault).json() for _ in range(2)]
        anew = tmp_path / "anew"
        shutil.copytree(vault, anew, ignore=shutil.ignore_patterns(".retain"))
        stored.append(run("stats", "--json", cwd=anew).json())
        shutil.rmtree(anew)
        assert all(one.pop("as_of") for one in stored) and stored[0] == stored[1] == stored[2]
        return dict(stored[0])

    before = figures()
    assert run("rate", cards[0], "good", cwd=vault).code == 0
    after = figures()
    assert after != before
    topic.write_text(f"# Learning well\n\n- [[wiki/concepts/{concept}]]\n")
    assert "Learning well" in str(figures()) and "Learning well" not in str(after)
    assert run("stats", "--json", "--days", "3", cwd=vault).json()["calibration"] != after["calibration"]


def test_the_page_fits_eighty_columns_and_has_every_part(run: Run, filled: tuple[Path, list[str]]) -> None:
    done = run("stats", cwd=filled[0])
    assert done.code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    for part in ("Cards: ", "True retention (desired: 90%)", "Predictions: ", "Study: ", "Forecast: ", "Mastery: "):
        assert f"\n{part}" in f"\n{done.stdout}"
    assert "This week (7 days):" in done.stdout


def test_the_json_holds_the_figures_that_the_log_gives(run: Run, filled: tuple[Path, list[str]]) -> None:
    vault, cards = filled
    figures = run("stats", "--json", cwd=vault).json()
    lines = [json.loads(line) for line in (vault / "learning/reviews.jsonl").read_text().splitlines()]
    assert figures["time"]["reviews"] == len(lines) == 8 * (len(cards) - 1)
    assert sum(day["reviews"] for day in figures["heatmap"]) == len(lines)
    assert figures["cards"]["total"] == len(cards)
    assert figures["cards"]["new"] == 1
    assert figures["time"]["seconds_per_answer"] == 5.0
    assert figures["week"]["reviews"] == len(cards) - 1
    tried = figures["calibration"]
    assert tried["reviews"] == sum(b["reviews"] for b in tried["bins"]) == 7 * (len(cards) - 1)
    again = sum(line["rating"] == 1 for line in lines)
    assert tried["recalled"] == pytest.approx(1 - again / tried["reviews"], abs=1e-4)
    for concept in figures["concepts"]:
        assert set(concept["profile"]) == {"states", "explains", "relates", "applies"}
        assert 0 <= concept["score"] <= 1
    assert len(figures["forecast"]) == 30


def test_a_topic_narrows_the_figures_and_an_unknown_one_is_named(run: Run, filled: tuple[Path, list[str]]) -> None:
    vault, _ = filled
    stem = sorted((vault / "learning/flashcards").glob("*.md"))[0].stem
    page = vault / "wiki/topics/first-things.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text(f"# First things\n\n## Concepts\n\n- [[wiki/concepts/{stem}|It]]\n")
    whole = run("stats", "--json", cwd=vault).json()
    assert [topic["name"] for topic in whole["topics"]] == ["First things"]
    part = run("stats", "--json", "--topic", "first", cwd=vault).json()
    assert [concept["concept"] for concept in part["concepts"]] == [stem]
    assert part["concepts"][0] in whole["concepts"]
    assert 0 < part["cards"]["total"] < whole["cards"]["total"]
    assert part["time"]["reviews"] == 8 * part["cards"]["total"]
    page.unlink()
    unknown = run("stats", "--topic", "no such thing", cwd=vault)
    assert (unknown.code, unknown.stdout) == (2, "")
    assert "there is no topic with that name" in unknown.stderr
    assert run("stats", "--tag", "no-such-tag", cwd=vault).code == 2


def test_what_is_forgotten_is_a_gap_that_rebuild_gives_back(run: Run, filled: tuple[Path, list[str]]) -> None:
    vault, cards = filled
    counted = run("status", "--json", cwd=vault).json()["gaps"]["learner"]
    found = run("gaps", "list", "--kind", "learner", "--json", cwd=vault).json()["gaps"]
    assert counted == len(found) > 0
    assert {gap["cause"] for gap in found} <= {"lapse", "bad card", "short article", "missing source"}
    assert any(cards[0] in gap["reason"] or gap["mentions"] for gap in found)
    page = vault / "learning/gaps.md"
    assert page.read_text().split("\n")[found[0]["line"] - 1].endswith(f"^g-{found[0]['id']}")
    before = page.read_bytes()
    assert run("compile", cwd=vault).code == 0
    assert page.read_bytes() == before
    page.unlink()
    assert run("rebuild", "--json", cwd=vault).json()["gaps"]["learner"] == counted
    assert page.read_bytes() == before
    assert "  do  " in run("gaps", "list", "--kind", "learner", cwd=vault).stdout
    assert run("gaps", "resolve", found[0]["id"], cwd=vault).code == 0
    assert run("due", cwd=vault).code == 0
    assert run("rebuild", cwd=vault).code == 0
    assert f"(learner, resolved) **{found[0]['what']}**" in page.read_text()
