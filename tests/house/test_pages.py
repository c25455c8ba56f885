"""What the pages say is so: their commands exist, their links lead somewhere, no path of a machine is in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import COMMANDS, _group

ROOT = Path(__file__).parents[2]
NAMES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "AGENTS.md", "examples/README.md", "docs/app.md")
PROSE = [ROOT / name for name in NAMES]
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_of_its_own(name: str) -> None:
    done = CliRunner().invoke(_group(), [name, "-h"])
    assert done.exit_code == 0
    assert done.output.startswith("Usage:") and len(done.output.splitlines()) > 4


def test_every_command_that_the_prose_shows_exists() -> None:
    for page in (*PROSE[:3], *DECISIONS):
        for span in re.findall(
            r"`(retain [a-z].*?)`|^ {4}(retain .*)$", page.read_text(encoding="utf-8"), re.MULTILINE
        ):
            words = "".join(span).split()
            assert words[1] in COMMANDS, f"{page.name}: {span}"


@pytest.mark.parametrize("page", [*PROSE, *DECISIONS], ids=lambda p: p.name)
def test_links_between_the_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)<#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_no_page_holds_a_path_of_somebodys_machine() -> None:
    for page in (*PROSE, *DECISIONS):
        assert not re.search(r"(?<![\w.])/(?:home|root|tmp|Users)/", page.read_text(encoding="utf-8")), page.name
