"""The long batteries: every one of them is found, and the page that shows their figures can be written."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from tests.torture import PAGES, ROOT, batteries, put_in, render

AT = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.mark.parametrize("name", PAGES)
def test_each_page_has_a_place_for_its_table(name: str) -> None:
    page = PAGES[name].read_text(encoding="utf-8")
    table = render([{"row": "b", "figures": "2"}, {"row": "a", "figures": "1"}], "2 passed", AT)
    written = put_in(page, table)
    assert written.index("| a | 1 |") < written.index("| b | 2 |") < written.index("Run whole on 2026-11-22")
    assert put_in(written, table) == written
    assert written.startswith(page[:200]) and written.endswith(page[-60:])


def test_a_page_without_the_marks_is_not_written() -> None:
    with pytest.raises(SystemExit, match="marks"):
        put_in("# A page\n", "table")


def test_every_test_that_takes_a_battery_s_fixture_is_run_by_torture() -> None:
    found = batteries()
    assert found == sorted(set(found))
    assert all(path.startswith("tests/") for path in found)
    by_page = [batteries([page]) for page in PAGES]
    assert sorted(path for paths in by_page for path in paths) == found and all(by_page)


def test_every_row_is_for_a_page_that_there_is() -> None:
    words = (ROOT / path for path in batteries())
    named = {name for path in words for name in re.findall(r'\bpage="(\w+)"', path.read_text(encoding="utf-8"))}
    assert named <= set(PAGES)
