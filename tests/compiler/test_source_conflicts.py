"""Two documents that give one thing another quantity are named once; where both may hold, not at all."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.claims.plain_contradictions import Point
from compiler.claims.source_conflicts import conflict, subject_key
from compiler.lint.rules import lint
from compiler.lint.wiki import Wiki
from tests.builders import make_vault
from tests.compiler.test_search import NOON
from vault.diagnostic import Diagnostic
from vault.vault import open_vault

CONFLICTS = [
    ("The tank holds 40 litres.", "The tank holds 60 litres."),
    ("The fuel tank has a capacity of 40 litres.", "The fuel tank holds 55 litres."),
    ("The Severin bridge is 302 metres long.", "The Severin bridge has a length of 320 metres."),
    ("The lighthouse is forty metres tall.", "The lighthouse is 60 metres tall."),
    ("The pump delivers 5 litres per minute.", "The pump delivers 8 litres per minute."),
    ("The codec is lossless in every mode.", "The codec is not lossless in every mode."),
]
BOTH_HOLD = [
    ("The tank holds 40 litres.", "The tank holds 10.6 gallons."),
    ("In 2019 the tank held 40 litres.", "In 2023 the tank held 60 litres."),
    ("The tank of version 2 holds 40 litres.", "The tank of version 3 holds 60 litres."),
    ("The tank holds 40 litres if the valve is closed.", "The tank holds 60 litres."),
    ("The tank holds 40 to 60 litres.", "The tank holds 50 litres."),
    ("For example, the tank holds 40 litres.", "The tank holds 60 litres."),
    ("The tank holds at least 40 litres.", "The tank holds 60 litres."),
    ("The tank holds 39.7 litres.", "The tank holds 40 litres."),
    ("The front tank holds 40 litres.", "The rear tank holds 60 litres."),
    ("The battery lasts 14 hours with the screen off.", "The battery lasts 8 hours with the screen on."),
    ("The A100 has 40 GB of memory.", "The H100 has 80 GB of memory."),
    ("A ticket costs 8 euros for adults.", "A ticket costs 4 euros for children."),
    ("The wall is 40 metres long and 3 metres high.", "The wall is 60 metres long and 4 metres high."),
    ("The dose of the drug is 5 mg.", "The dose of the drug is 4–6 mg."),
    ("The repair takes 3 to 5 days.", "The repair takes 4 to 9 days."),
    ("The tank of version 2.1 holds 40 litres.", "The tank of version 2.4 holds 60 litres."),
    ("The tariff was 5 % in January.", "The tariff was 8 % in February."),
    ("Bake for 20 minutes.", "Bake for 30 minutes."),
    ("It takes 5 minutes.", "It takes 10 minutes."),
    ("The default timeout is 10 seconds.", "The default timeout is 30 seconds."),
    ("The study included 240 patients.", "The study included 420 patients."),
]
TANK = "# Pump manual\n\nThe tank holds 40 litres. The pump moves water from the tank to the boiler through a filter.\n"
GARDEN = "# Notes on the garden\n\nThe tank holds 60 litres. A hose connects the tank to the beds.\n"


def _found(first: str, second: str) -> Point | None:
    return conflict(first, second) if subject_key(first) and subject_key(first) == subject_key(second) else None


@pytest.mark.parametrize(("first", "second"), CONFLICTS)
def test_another_quantity_of_one_thing_and_a_denial_contradict(first: str, second: str) -> None:
    assert _found(first, second) is (Point.WORDS if "not" in second else Point.NUMBER)
    assert _found(first, first) is None


@pytest.mark.parametrize(("first", "second"), BOTH_HOLD)
def test_what_may_both_hold_is_no_contradiction(first: str, second: str) -> None:
    assert _found(first, second) is _found(second, first) is None


def _numbers(root: Path, files: dict[str, str]) -> list[Diagnostic]:
    vault = make_vault(root, {f"raw/{name}": text for name, text in files.items()})
    compile_vault(vault, Options(), NOON, lambda event: None)
    return lint(Wiki(open_vault(str(root), None, root), date(2026, 11, 28)), ["numbers"])


def test_two_sources_that_disagree_are_named_once_with_both_quotes_and_places(tmp_path: Path) -> None:
    found = _numbers(tmp_path / "v", {"pump.md": TANK, "garden.md": GARDEN})
    assert [each.path for each in found] == ["wiki/summaries/garden.md"]
    assert "holds 40 litres.” (wiki/summaries/pump.md:" in found[0].message
    assert "holds 60 litres.” (wiki/summaries/garden.md:" in found[0].message


def test_two_editions_and_a_source_with_more_authority_do_not_disagree(tmp_path: Path) -> None:
    assert not _numbers(tmp_path / "editions", {"pump-v1.md": TANK, "pump-v2.md": GARDEN})
    dates = ('---\npublished: "2019-03-01"\n---\n', '---\npublished: "2023-03-01"\n---\n')
    assert not _numbers(tmp_path / "dated", {"pump.md": dates[0] + TANK, "garden.md": dates[1] + GARDEN})
    root = tmp_path / "weighed"
    assert _numbers(root, {"pump.md": TANK, "garden.md": GARDEN})
    page = root / "wiki/summaries/pump.md"
    page.write_text(page.read_text().replace("authority: 1", "authority: 3"))
    assert not lint(Wiki(open_vault(str(root), None, root), date(2026, 11, 28)), ["numbers"])
