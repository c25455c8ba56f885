"""The long batteries: each is run by `make torture`, and the pages that show their figures can be written."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.batteries import fifth_of, included
from tests.torture import PAGES, minutes_of_last_run, put_in, render

AT = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.mark.parametrize("name", PAGES)
def test_each_page_has_a_place_for_its_table(name: str) -> None:
    page = PAGES[name].read_text(encoding="utf-8")
    table = render([{"row": "b", "figures": "2"}, {"row": "a", "figures": "1"}], "2 passed, in 17 minutes", AT)
    written = put_in(page, table)
    assert written.index("| a | 1 |") < written.index("| b | 2 |") < written.index("Run whole on 2026-11-22")
    assert put_in(written, table) == written
    assert written.startswith(page[:200]) and written.endswith(page[-60:])
    assert minutes_of_last_run(written) == 17


def test_a_page_without_the_marks_is_not_written() -> None:
    with pytest.raises(SystemExit, match="marks"):
        put_in("# A page\n", "table")


@pytest.mark.parametrize(
    ("marked", "fixtures", "in_test", "in_torture"),
    [
        (False, ["tmp_path"], True, False),
        (False, ["tmp_path", "torture"], True, True),
        (False, ["tally"], True, True),
        (True, [], False, True),
        (True, ["torture"], False, True),
    ],
)
def test_a_battery_is_run_whole_by_torture(marked: bool, fixtures: list[str], in_test: bool, in_torture: bool) -> None:
    assert included("a::b", marked=marked, fixtures=fixtures, torture=False) == in_test
    assert included("a::b", marked=marked, fixtures=fixtures, torture=True) == in_torture


def test_each_battery_is_in_one_fifth() -> None:
    ids = [f"tests/a.py::test_b[{n}]" for n in range(500)]
    fifths = [
        [id_ for id_ in ids if included(id_, marked=True, fixtures=[], torture=True, fifth=n)] for n in range(1, 6)
    ]
    assert sorted(id_ for each in fifths for id_ in each) == sorted(ids)
    assert all(60 < len(each) < 140 for each in fifths)
    assert fifth_of(ids[0]) == fifth_of(ids[0]) and {fifth_of(id_) for id_ in ids} == {1, 2, 3, 4, 5}
