"""`retain upgrade` on a vault of each earlier schema: the small vaults in tests/data/schemas were made by the versions
of `retain` that had these schemas, with reviews, an undo and marks.
"""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

import templates
from learning.cards.workspace import open_desk
from tests.commands import Run
from vault.config.settings import FILE, SCHEMA_VERSION
from vault.log.review_log import read_log
from vault.vault import open_vault

SCHEMAS = Path(__file__).parents[1] / "data/schemas"
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def files_of(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.relative_to(root).as_posix().startswith((".retain/", ".git/"))
    }


def known_of(root: Path) -> tuple[object, ...]:
    """Return the cards with their words, their states, and the events of the log."""
    desk = open_desk(open_vault(str(root), None, root), NOW)
    cards = {id_: (placed.deck.path, placed.card.question, placed.card.answer) for id_, placed in desk.cards.items()}
    return cards, dict(desk.states), read_log(root).events


def test_there_is_a_vault_of_every_earlier_schema() -> None:
    released = re.findall(r"^- \*\*(\d+\.\d+\.\d+)\*\*", templates.read("format.md"), re.MULTILINE)
    assert released[0] == SCHEMA_VERSION and sorted(released[1:]) == sorted(each.name for each in SCHEMAS.iterdir())


@pytest.mark.parametrize("schema", sorted(each.name for each in SCHEMAS.iterdir()))
def test_an_upgrade_keeps_cards_states_and_reviews(run: Run, tmp_path: Path, schema: str) -> None:
    root = tmp_path / "vault"
    shutil.copytree(SCHEMAS / schema, root)
    (root / "insights").mkdir(exist_ok=True)  # empty, so git does not keep it
    assert f'schema = "{schema}"' in (root / FILE).read_text()
    verified, known = run("verify", cwd=root), known_of(root)
    cards, states, events = known
    assert cards and states and events
    assert run("upgrade", cwd=root).code == 0
    assert f'schema = "{SCHEMA_VERSION}"' in (root / FILE).read_text()
    assert known_of(root) == known
    upgraded = files_of(root)
    assert "nothing to do" in run("upgrade", cwd=root).stdout
    assert files_of(root) == upgraded
    after = run("verify", cwd=root)
    assert (after.code, after.stdout) == (verified.code, verified.stdout)
    findings = [line for line in after.stdout.splitlines() if line.startswith("  ")]
    edited = "the evidence does not support it"  # of the one card that the user edited
    assert len(findings) <= 1 and all(edited in line for line in findings)
    assert run("doctor", cwd=root).code == 0
