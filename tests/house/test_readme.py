"""The README tells the truth: its first two commands, its table of commands, its tree, its links."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli import report
from cli.founding import FOLDERS
from cli.main import COMMANDS, _group
from tui import keys

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROSE = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "AGENTS.md", "examples/README.md")]
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))


def test_it_opens_with_the_two_commands_and_make_knows_them() -> None:
    first = [line.strip() for line in README.splitlines() if line.startswith("    ")][:2]
    assert first == ["make demo", "make test"]
    done = subprocess.run(["make", "-n", "demo", "test"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_table_of_commands_is_the_help_of_the_command_line() -> None:
    rows = re.findall(r"^\| `retain ?([a-z]*)` \| (.+) \|$", README, re.MULTILINE)
    assert rows[0][0] == ""
    assert rows[1:] == [(name, words) for name, (_, words) in COMMANDS.items()]
    shown = CliRunner().invoke(_group(), ["--help"]).output
    for name in COMMANDS:
        assert re.search(rf"^  {name} ", shown, re.MULTILINE)


def test_the_first_commands_are_those_of_the_help() -> None:
    told = re.search(r"in five commands:\n\n((?: {4}.+\n)+)", README)
    assert told is not None
    install, *commands = [line.strip() for line in told[1].splitlines()]
    assert install.startswith("pipx install") and len(commands) == 4
    shown = CliRunner().invoke(_group(), ["--help"]).output
    assert [line.strip() for line in shown.partition("Examples:")[2].splitlines() if line.strip()] == commands


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


def test_the_tree_names_folders_that_a_new_vault_has() -> None:
    tree = re.findall(r"^ {4}([a-z.]\S*/)  ", README, re.MULTILINE)
    assert len(tree) >= 6
    for folder in set(tree) - {".retain/"}:
        assert any(f"{made}/".startswith(folder) for made in FOLDERS), folder


def test_the_keys_it_names_do_what_it_says() -> None:
    actions = {key: each.action for each in keys.REVIEW for key in each.keys.split(",")}
    for key, action in {"space": "reveal", "1": "rate(1)", "4": "rate(4)", "u": "undo", "s": "source"}.items():
        assert f"`{key}`" in README and actions[key] == action


def test_the_exit_codes_are_the_codes() -> None:
    told = re.search(r"Exit codes: (.*?)\.\n", README, re.DOTALL)
    assert told is not None
    numbers = {int(n) for n in re.findall(r"\b\d+\b", told[1])}
    codes = {report.DONE, report.FINDINGS, report.USAGE, report.REFUSED, report.UNAVAILABLE}
    codes |= {report.DEFECT, report.INTERRUPTED}
    assert numbers == codes


@pytest.mark.parametrize("page", [*PROSE, *DECISIONS], ids=lambda p: p.name)
def test_links_between_the_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)<#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_every_decision_is_listed_and_fits_half_a_page() -> None:
    index = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    for page in DECISIONS:
        if page.name != "README.md":
            assert f"({page.name})" in index
            assert len(page.read_text(encoding="utf-8").splitlines()) <= 40


def test_no_page_holds_a_path_of_somebodys_machine() -> None:
    for page in (*PROSE, *DECISIONS):
        assert not re.search(r"(?<![\w.])/(?:home|root|tmp|Users)/", page.read_text(encoding="utf-8")), page.name
