"""Sources that were to be looked at again by now, by `[freshness]` in retain.toml, are named until confirmed."""

from __future__ import annotations

import json
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cli.agent.actions import AgentActions
from compiler.build.compile import Options, compile_vault
from compiler.orders.board import OrderDesk
from compiler.sources.freshness import late_sources
from tests.builders import make_vault
from tests.commands import Run
from tests.compiler.test_build import silent
from vault.log.ledger import DECISIONS, IDS
from vault.vault import Vault, open_vault

NOW = datetime.now(UTC).replace(microsecond=0)
MADE = NOW - timedelta(days=40)
LEAVE, PAY, ROPE = "raw/policies/leave.md", "raw/policies/hr/pay.md", "raw/articles/rope.md"
FILES = {
    LEAVE: "# Leave\n\nParental leave is a time of absence after a birth.\n",
    PAY: "# Pay\n\nA bonus is a sum that is paid once a year.\n",
    ROPE: "# Rope\n\nA halyard is a rope that hoists a sail.\n",
}
OBJECTIVES = '\n[freshness]\n"raw/policies" = "30 days"\n"raw/policies/hr/" = "8 weeks"\n'


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """A vault that was compiled forty days ago."""
    made = make_vault(tmp_path / "vault", FILES)
    compile_vault(made, Options(), MADE, silent)
    with (made.root / "retain.toml").open("a") as file:
        file.write(OBJECTIVES)
    return open_vault(str(made.root), None, made.root)


def late(vault: Vault, at: datetime = NOW) -> list[str]:
    return [each.path for each in late_sources(vault, at)]


def test_the_deepest_folder_counts_and_files_elsewhere_are_never_late(vault: Vault) -> None:
    assert late(vault, MADE + timedelta(days=30)) == []
    assert late(vault, MADE + timedelta(days=30, seconds=1)) == [LEAVE]
    assert late(vault, MADE + timedelta(days=57)) == [PAY, LEAVE]


def test_the_date_is_that_of_the_ledger_so_that_a_clone_knows_it(vault: Vault, tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], cwd=vault.root, check=True)
    subprocess.run(["git", "clone", "-q", str(vault.root), str(tmp_path / "clone")], check=True)
    assert late(open_vault(str(tmp_path / "clone"), None, tmp_path)) == [LEAVE]


def test_a_change_of_the_words_starts_the_time_again_and_a_move_does_not(vault: Vault) -> None:
    (vault.root / LEAVE).rename(vault.root / "raw/policies/absence.md")
    compile_vault(vault, Options(), NOW - timedelta(days=2), silent)
    assert late(vault) == ["raw/policies/absence.md"]
    (vault.root / "raw/policies/absence.md").write_text(FILES[LEAVE] + "\nIt lasts for a year.\n")
    compile_vault(vault, Options(), NOW - timedelta(days=1), silent)
    assert late(vault, NOW) == [] and "raw/policies/absence.md" in late(vault, NOW + timedelta(days=30))


def test_status_lint_and_daily_name_it_and_a_confirmation_ends_that(run: Run, vault: Vault) -> None:
    root = vault.root
    status = run("status", "--json", cwd=root).json()
    assert [(each["path"], each["folder"], each["allowed"]) for each in status["late"]] == [
        (LEAVE, "raw/policies", "30 days")
    ]
    assert "due for a check: 1 source" in run("status", cwd=root).stdout
    linted = run("lint", "--rule", "late-source", "--json", cwd=root)
    (finding,) = linted.json()["findings"]
    assert linted.code == 1 and finding["path"] == LEAVE and "40 days" in finding["message"]
    daily = run("daily", "--json", cwd=root)
    assert daily.code == 1 and [each["path"] for each in daily.json()["late"]] == [LEAVE]
    assert "Due for a check: 1 source" in run("daily", cwd=root).stdout

    done = run("add", "--current", LEAVE, cwd=root)
    assert done.code == 0 and done.stdout == f"{LEAVE}\n" and "1 source confirmed" in done.stderr
    assert run("status", "--json", cwd=root).json()["late"] == []
    assert run("lint", "--rule", "late-source", cwd=root).code == 0
    assert run("daily", "--json", cwd=root).json()["late"] == []
    assert late(vault, NOW + timedelta(days=32)) == [PAY, LEAVE]  # asked for again


def test_what_is_served_to_agents_names_it_too(vault: Vault) -> None:
    actions = AgentActions(OrderDesk(vault))
    (finding,) = json.loads(actions.lint(rule="late-source"))["findings"]
    assert finding["path"] == LEAVE and f"retain add --current {LEAVE}" in finding["hint"]


def test_a_folder_is_confirmed_as_a_whole_from_where_the_user_is(run: Run, vault: Vault) -> None:
    told = run("add", "--current", "policies", "--json", cwd=vault.root / "raw")
    assert told.code == 0 and told.json() == {"current": [PAY, LEAVE]}
    assert late(vault, NOW + timedelta(days=31)) == [LEAVE]


def test_files_that_are_kept_and_not_read_are_no_sources_to_be_confirmed(run: Run, vault: Vault) -> None:
    for name, data in (("scan.bin", b"\0\1"), ("broken.pdf", b"%PDF-1.4\nno\n"), ("empty.md", b"\n")):
        (vault.root / "raw/policies" / name).write_bytes(data)
    run("compile", cwd=vault.root)
    assert late(vault, NOW + timedelta(days=365)) == [PAY, LEAVE]
    told = run("add", "--current", "raw/policies", "--json", cwd=vault.root)
    assert told.json() == {"current": [PAY, LEAVE]}
    alone = run("add", "--current", "raw/policies/empty.md", cwd=vault.root)
    assert alone.code == 2 and "an unreadable file does not count" in alone.stderr


def test_a_file_that_is_added_again_unchanged_is_confirmed(run: Run, vault: Vault, tmp_path: Path) -> None:
    shutil.copy(vault.root / LEAVE, tmp_path / "leave.md")
    (vault.root / "raw/articles/leave.md").write_bytes((tmp_path / "leave.md").read_bytes())
    assert run("add", str(tmp_path / "leave.md"), cwd=vault.root).code == 0  # not in a folder that has an objective
    assert b'"type":"current"' not in (vault.root / DECISIONS).read_bytes()
    with (vault.root / "retain.toml").open("a") as file:
        file.write('"raw/articles" = "1 day"\n')
    shutil.copy(vault.root / ROPE, tmp_path / "rope.md")
    vault = open_vault(str(vault.root), None, vault.root)
    assert ROPE in late(vault)
    assert run("add", str(tmp_path / "rope.md"), cwd=vault.root).code == 0
    assert ROPE not in late(vault)


@pytest.mark.parametrize(
    ("given", "says"),
    [("../elsewhere.md", "a folder of sources"), ("wiki", "a folder of sources"), ("raw/new.md", "retain compile")],
)
def test_what_is_no_source_is_named_and_nothing_is_recorded(run: Run, vault: Vault, given: str, says: str) -> None:
    (vault.root / "raw/new.md").write_text("# New\n\nA sloop is a boat.\n")
    before = (vault.root / IDS).read_bytes()
    told = run("add", "--current", LEAVE, given, cwd=vault.root)
    assert told.code == 2 and says in told.stderr
    assert late(vault) == [LEAVE] and (vault.root / IDS).read_bytes() == before
    assert run("add", "--current", "--authority", "2", LEAVE, cwd=vault.root).code == 2
