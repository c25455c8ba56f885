"""`retain optimize` and `retain simulate` as a user runs them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest

from cli import environment
from cli.review.optimize import optimize_after_review
from cli.review.plain_review import review_plainly
from learning.memory.fit_decision import FEWEST
from learning.memory.fsrs import DEFAULTS
from learning.memory.model import Model
from tests.commands import Run
from vault.config.settings import Settings, render_settings
from vault.ids import ALPHABET, CardId, ulid
from vault.log.events import Params, Rating, Reschedule, Review, Stamp, Undo, encode
from vault.log.review_log import LOG_PATH, live, read_log
from vault.vault import Vault, open_vault

NOW = (datetime.now(UTC) - timedelta(days=1)).replace(hour=12, minute=0, second=0, microsecond=0)  # far from a rollover
FORGETFUL = (*(p * 0.3 for p in DEFAULTS[:4]), *DEFAULTS[4:8], 1.0, *DEFAULTS[9:])
TRUTH = Model(FORGETFUL)  # somebody who forgets fast
IDS = ["".join(random.Random(n).choices(ALPHABET, k=10)) for n in range(301)]


def lived(cards: int, dice: random.Random) -> Iterator[tuple[datetime, str, int]]:
    """The reviews of half a year, up to three weeks ago, at the intervals of FSRS-6, which knows no better."""
    usual = Model(DEFAULTS)
    for number in range(cards):
        rating, day = dice.choice((1, 3, 3, 4)), dice.randrange(60)
        mind, plan = TRUTH.first(rating), usual.first(rating)
        while day < 180:
            yield NOW - timedelta(days=200 - day, seconds=number), IDS[number], rating
            wait = usual.interval(plan[0], 0.9, 100)
            day += wait
            rating = 3 if dice.random() < TRUTH.retrievability(mind[0], wait) else 1
            mind, plan = TRUTH.after(*mind, wait, rating), usual.after(*plan, wait, rating)


@pytest.fixture
def make(tmp_path: Path) -> Callable[[int], Path]:
    """`make(cards)`: a vault in which so many cards have been reviewed for half a year, and one is new."""

    def made(cards: int) -> Path:
        root = tmp_path / "mind"
        (root / "learning/flashcards").mkdir(parents=True)
        (root / "retain.toml").write_text(render_settings(Settings("01KB0000000000000000000000", "Mind")))
        dice = random.Random(7)
        lines = [
            encode(Review(Stamp(ulid(int(at.timestamp() * 1000), dice.randbytes(10)), at), CardId(c), Rating(r), 6_000))
            for at, c, r in sorted(lived(cards, dice))
        ]
        (root / LOG_PATH).write_bytes(b"".join(line + b"\n" for line in lines))
        blocks = [f"Q: What is number {n}?\nA: It is {n}.\n<!-- card {IDS[n]} -->\n" for n in (*range(cards), 300)]
        (root / "learning/flashcards/numbers.md").write_text("# Numbers\n\n## Definitional\n\n" + "\n".join(blocks))
        return root

    return made


def params(root: Path) -> list[Params]:
    return [event for event in read_log(root).events if isinstance(event, Params)]


def test_parameters_that_foretell_better_are_kept_in_the_log_and_can_be_taken_back(
    run: Run, make: Callable[[int], Path]
) -> None:
    root = make(300)
    before = (root / LOG_PATH).read_bytes()
    tried = run("optimize", "--dry-run", cwd=root)
    assert tried.code == 0 and "would be applied" in tried.stdout and "default" in tried.stdout
    assert (root / LOG_PATH).read_bytes() == before

    found = run("optimize", "--json", cwd=root).json()
    assert found["better"] and found["kept"]
    assert found["marks"]["new"]["log_loss"] < found["marks"]["current"]["log_loss"]
    due = found["due"]
    assert due["moved"] > 0  # who forgets fast is asked sooner, but never all at once
    assert due["heaviest_after"] <= due["heaviest_before"] == due["before"]
    (event,) = params(root)
    assert list(event.parameters) == found["parameters"]
    assert event.reason.startswith(f"fitted to {found['reviews']} reviews")
    assert len(run("due", "--json", cwd=root).json()["due"]) == found["due"]["after"]

    assert "next optimization at" in run("optimize", "--auto", cwd=root).stdout
    assert len(moves(root)) == due["moved"]
    size = (root / LOG_PATH).stat().st_size
    again = run("optimize", cwd=root)
    assert "parameters unchanged" in again.stdout and "due now" not in again.stdout
    assert run("optimize", "--json", cwd=root).json()["in_use"]
    assert (root / LOG_PATH).stat().st_size == size and len(params(root)) == 1

    assert run("undo", cwd=root).code == 0  # takes back a review, and leaves the parameters alone
    assert len(moves(root)) == due["moved"]
    undone = run("optimize", "--undo", "--json", cwd=root).json()
    assert undone["undone"] == event.id and undone["now"] == "default"
    assert moves(root) == []  # nor does any card wait for it any more
    nothing = run("optimize", "--undo", cwd=root)
    assert nothing.code == 2 and "no parameter change" in nothing.stderr


def moves(root: Path) -> list[Reschedule]:
    return [event for event in live(read_log(root).events) if isinstance(event, Reschedule)]


def test_the_way_back_to_the_defaults_is_in_the_log_too(run: Run, make: Callable[[int], Path]) -> None:
    root = make(20)
    assert run("optimize", "--reset", cwd=root).code == 0
    assert params(root)[-1].parameters == DEFAULTS
    assert run("optimize", "--undo", cwd=root).code == 0
    assert isinstance(read_log(root).events[-1], Undo)
    both = run("optimize", "--undo", "--reset", cwd=root)
    assert both.code == 2 and "mutually exclusive" in both.stderr


def test_too_few_reviews_say_how_many_are_missing(run: Run, make: Callable[[int], Path]) -> None:
    root = make(10)
    number = len(read_log(root).events)
    found = run("optimize", "--json", cwd=root).json()
    assert found == {
        "reviews": number,
        "kept": False,
        "missing_reviews": FEWEST - number,
        "missing_later_reviews": found["missing_later_reviews"],
    }
    said = run("optimize", cwd=root).stdout
    assert f"still needed: {FEWEST - number} reviews" in said and said.count("still needed") == 1
    assert params(root) == []


def sit(vault: Vault) -> None:
    review_plainly(vault, clock=environment.now, source=StringIO("\n3\nq\n"), out=StringIO())
    optimize_after_review(vault)


def test_a_sitting_that_doubles_the_reviews_ends_with_one_line_and_a_fit(
    make: Callable[[int], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    root = make(300)
    sit(open_vault(str(root), None, root))
    assert capsys.readouterr().err.count("parameters optimized on") == 1
    assert len(params(root)) == 1
    sit(open_vault(str(root), None, root))
    assert "fitted" not in capsys.readouterr().err
    assert len(params(root)) == 1


def test_who_does_not_want_it_is_left_alone(make: Callable[[int], Path], capsys: pytest.CaptureFixture[str]) -> None:
    root = make(300)
    settings = root / "retain.toml"
    settings.write_text(settings.read_text().replace("# auto_optimize = true", "auto_optimize = false"))
    sit(open_vault(str(root), None, root))
    assert params(root) == [] and "fitted" not in capsys.readouterr().err


def test_a_fit_in_vain_is_not_tried_again_at_once(
    make: Callable[[int], Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make(300)
    vault = open_vault(str(root), None, root)
    at = read_log(root).events[-1].at + timedelta(seconds=1)
    mine = Params(Stamp(ulid(int(at.timestamp() * 1000), bytes(10)), at), FORGETFUL, None, "fitted to 1 reviews")
    with (root / LOG_PATH).open("ab") as log:
        log.write(encode(mine) + b"\n")
    optimize_after_review(vault)
    kept = len(params(root))
    if kept == 1:  # no better than the truth: remembered, so that the next session does not fit again
        with monkeypatch.context() as patch:
            patch.setattr("learning.memory.fit_decision.compare_fit", None)
            optimize_after_review(vault)
    assert len(params(root)) == kept
    assert "fitted" not in capsys.readouterr().err or kept == 2


def test_the_forecast_is_the_same_twice_and_changes_nothing(run: Run, make: Callable[[int], Path]) -> None:
    root = make(60)
    before = (root / LOG_PATH).read_bytes()
    words = ("simulate", "--days", "60", "--json", "--retention", "0.8", "--retention", "0.95")
    found = run(*words, cwd=root).json()
    assert found["cards"] == 60 and found["waiting"] == 1
    low, high = found["forecasts"]
    assert (low["retention"], high["retention"]) == (0.8, 0.95)
    assert low["reviews_a_day"] < high["reviews_a_day"] and low["remembered"] <= high["remembered"]
    assert len(low["by_day"]["minutes"]) == 60 and sum(low["by_day"]["new"]) == 1
    assert run(*words, cwd=root).json()["forecasts"] == found["forecasts"]
    assert (root / LOG_PATH).read_bytes() == before


def test_the_forecast_is_shown_as_a_table_a_plot_and_one_sentence(run: Run, make: Callable[[int], Path]) -> None:
    root = make(60)
    done = run("simulate", "--days", "30", "--minutes", "10", cwd=root)
    assert done.code == 0
    assert "90% *" in done.stdout and "█" in done.stdout
    assert "reviews will take under a minute a day" in done.stdout and "fit into 10 minutes" in done.stdout
    assert run("simulate", "--retention", "0.2", cwd=root).code == 2


def test_a_backlog_is_told_with_the_day_on_which_it_is_cleared(run: Run, make: Callable[[int], Path]) -> None:
    root = make(60)
    settings = root / "retain.toml"
    settings.write_text(settings.read_text().replace("reviews_per_day = 200", "reviews_per_day = 5"))
    overdue = len(run("due", "--json", cwd=root).json()["due"])
    plan = run("simulate", "--json", cwd=root).json()["backlog"]
    assert overdue > 5 and plan["overdue"] == overdue and plan["per_day"] == 5
    words = run("simulate", "--days", "10", cwd=root).stdout
    assert (
        f"{overdue} overdue; at 5 a day" in words
        and "further delay would lower your recall most are shown first" in words
    )


def test_an_empty_vault_has_a_forecast_too(run: Run, make: Callable[[int], Path]) -> None:
    done = run("simulate", "--new", "10", "--days", "30", "--json", cwd=make(0))
    assert done.code == 0
    assert done.json()["forecasts"][0]["known"] == 300


def test_counts_of_one_and_none_are_said_as_people_say_them(run: Run, make: Callable[[int], Path]) -> None:
    root = make(30)
    day = run("simulate", "--days", "1", "--minutes", "1", "--retention", "0.99", cwd=root).stdout
    assert "; 1 day from" in day and "until the one new card is used up" in day
    assert " 1 days" not in day and " 1 minutes" not in day
    settings = root / "retain.toml"
    text = settings.read_text()
    settings.write_text(re.sub(r"reviews_per_day = \d+", "reviews_per_day = 0", text))
    assert "reviews_per_day = 0" in settings.read_text()
    words = run("simulate", "--days", "1", cwd=root).stdout
    assert "but none are shown: reviews_per_day is 0 in retain.toml" in words and "the 0 " not in words
