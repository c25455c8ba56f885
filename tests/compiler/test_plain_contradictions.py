"""What the offline rule on contradictions says, and where it is silent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.contradictions import HALVES, half, measure, read
from compiler.claims.plain_contradictions import Point, contradict, contradict_in_one_wording


@pytest.mark.parametrize(
    ("first", "second", "subject", "point"),
    [
        ("The default port is 5432.", "The default port is 6432.", "Server", Point.NUMBER),
        ("The museum is open on Mondays.", "The museum is closed on Mondays.", "Museum", Point.WORDS),
        ("It was signed by both on 3 May 2021.", "It was signed by both on 5 May 2021.", "Treaty", Point.NUMBER),
        ("Aspirin increases the risk.", "Aspirin does not increase the risk.", "Aspirin", Point.WORDS),
        ("Version 2 supports replication.", "Version 3 does not support replication.", "Server", None),
        ("Some birds can fly.", "Some birds cannot fly.", "Bird", None),
        ("The first stage takes 5 minutes.", "The second stage takes 10 minutes.", "Fermentation", None),
        ("The tool runs on Linux.", "The tool does not run on Windows.", "Tool", None),
        ("Melting zanite takes 3 to 5 days.", "Melting zanite takes 6 days.", "Zanite", Point.NUMBER),
        ("Melting zanite takes 3 to 5 days.", "Melting zanite takes 4 days.", "Zanite", None),
        ("The zanite dose is 5 mg.", "The zanite dose is 4–6 mg.", "Zanite", None),
        ("The zanite rod is 5 ± 1 mm long.", "The zanite rod is 6 mm long.", "Zanite", None),
        ("Chapter 3 explains the density of zanite.", "Chapter 4 explains the density of zanite.", "Zanite", None),
        ("Figure 1 shows the density of zanite.", "Figure 2 shows the density of zanite.", "Zanite", None),
        ("Zanite v2.1 supports 16 cores.", "Zanite v3.0 supports 32 cores.", "Zanite", None),
        ("The 2019 edition of Zanite has 300 pages.", "The 2021 edition of Zanite has 320 pages.", "Zanite", None),
        (
            "As of 2020, the zanite mine has 300 workers.",
            "As of 2022, the zanite mine has 320 workers.",
            "Zanite",
            None,
        ),
        ("The tariff for zanite was 5 % in January.", "The tariff for zanite was 6 % in February.", "Zanite", None),
        ("The contract was signed on 3/5/2021.", "The contract was signed on 5/3/2021.", "Contract", None),
        ("The zanite mine of Oslo has 300 pits.", "The zanite mine has 520 pits.", "Zanite", None),
        ("Is the port open?", "The port is not open.", "Port", None),
    ],
)
def test_what_cannot_both_hold_is_found_and_what_may_is_not(
    first: str, second: str, subject: str, point: Point | None
) -> None:
    assert contradict(first, second, subject) == contradict(second, first, subject) == point


def test_what_is_of_different_days_may_each_have_been_so() -> None:
    words = ("The default port is 5432.", "The default port is 6432.")
    assert contradict(*words, "Server", ("2019", "2023")) is None


def test_in_one_wording_a_condition_plays_no_part_and_a_label_is_no_number() -> None:
    said = "If it is full, the tank holds 20 litres of oil."
    assert contradict_in_one_wording(said, said.replace("20", "30")) is Point.NUMBER
    assert contradict_in_one_wording(said, said.replace("holds", "does not hold")) is Point.WORDS
    assert contradict_in_one_wording("Chapter 3 explains the oil tank.", "Chapter 4 explains the oil tank.") is None
    assert contradict_in_one_wording("It takes 3 to 5 days of work.", "It takes 3 to 6 days of work.") is None
    assert contradict_in_one_wording("Go on with step 3 then.", "Go on with step 4 then.") is None


def test_over_the_labelled_pairs_the_rule_is_precise_and_finds_half() -> None:
    """Of the half to which no rule was fitted, 2 of 16 finds are wrong: less precise than the whole."""
    figures = measure([pair for name in HALVES for pair in half(name)])
    assert figures.precision >= 0.9 and figures.recall >= 0.5
    for name in HALVES:
        figures = measure(half(name))
        assert figures.precision >= 0.87 and figures.recall >= 0.5


def test_pairs_are_read_from_lines_and_an_invalid_one_is_named(tmp_path: Path) -> None:
    pair = {"a": "It is 5 m long.", "b": "It is 9 m long.", "contradicts": True, "subject": "Boat"}
    file = tmp_path / "pairs.jsonl"
    file.write_text(json.dumps(pair) + "\n\n" + json.dumps(pair | {"published": ["2019", None]}) + "\n")
    assert [each.published for each in read(file)] == [("", ""), ("2019", "")]
    file.write_text(json.dumps(pair) + "\n" + json.dumps(pair | {"contradicts": "yes"}) + "\n")
    with pytest.raises(ValueError, match=r"pairs\.jsonl:2"):
        list(read(file))
