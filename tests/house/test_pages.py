"""What the pages say is so: their commands exist, their links lead somewhere, no path of a machine is in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.command_list import COMMANDS
from cli.main import retain_group
from docs import commands, exchange
from learning.formats.fields import FORMATS
from learning.imports.detect import FORMATS as READ

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/*.md", "docs/decisions/*.md", "examples/*.md", "benchmarks/*.md")
    for page in ROOT.glob(pattern)
)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_of_its_own(name: str) -> None:
    done = CliRunner().invoke(retain_group(), [name, "-h"])
    assert done.exit_code == 0
    assert done.output.startswith("Usage:") and len(done.output.splitlines()) > 4


def test_the_page_of_commands_is_what_their_help_says() -> None:
    assert commands.PAGE.read_text(encoding="utf-8") == commands.render(), "run `make docs`"


def test_the_tables_of_formats_are_those_of_the_code_and_name_every_format_that_is_read() -> None:
    assert exchange.PAGE.read_text(encoding="utf-8") == exchange.render(), "run `make docs`"
    assert {each.name for each in FORMATS} == set(READ)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_command_that_a_page_shows_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for span in re.findall(r"`retain ([a-z][a-z-]+)(?: [^`]*)?`|^ {4}retain ([a-z][a-z-]+)", text, re.MULTILINE):
        assert "".join(span) in COMMANDS, span


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_between_the_pages_lead_somewhere(page: Path) -> None:
    for target, _, part in re.findall(r"\]\((?!https?:)([^)<#]*)(#([^)]*))?\)", page.read_text(encoding="utf-8")):
        place = page.parent / target if target else page
        assert place.exists(), target
        if part:
            titles = re.findall(r"^#+ (.+)$", place.read_text(encoding="utf-8"), re.MULTILINE)
            assert part in [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles], part


def test_no_page_holds_a_path_of_somebodys_machine() -> None:
    for page in PAGES:
        assert not re.search(r"(?<![\w.])/(?:home|root|Users)/", page.read_text(encoding="utf-8")), page.name


def test_the_readme_stays_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 900
