"""The page on the app shows every screen, and what the docs link to is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tui import going

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)#\s]+)")
PAGES = ["README.md", "docs/app.md"]


@pytest.mark.parametrize("place", going.PLACES)
def test_every_screen_is_on_the_page_with_its_picture(place: str) -> None:
    page = (ROOT / "docs/app.md").read_text(encoding="utf-8")
    heading = re.search(rf"^## {place}$(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL | re.IGNORECASE)
    assert heading is not None
    assert f"(screens/{place}.svg)" in heading[1]


@pytest.mark.parametrize("page", PAGES)
def test_what_is_linked_is_there(page: str) -> None:
    links = [link for link in LINK.findall((ROOT / page).read_text(encoding="utf-8")) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == []


def test_the_pictures_are_small() -> None:
    assert sum(path.stat().st_size for path in (ROOT / "docs/screens").glob("*.svg")) < 1_000_000
