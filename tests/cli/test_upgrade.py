"""`retain upgrade` replaces an AGENTS.md that nobody edited, and leaves one that somebody edited."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import templates
from cli.maintenance import upgrade
from tests.builders import SETTINGS, make_vault
from tests.commands import Run
from vault.config.settings import FILE, SCHEMA_VERSION, read_settings

OLD = "# AGENTS.md: the schema of this vault\n\nSchema version: 2.3.0\n\nRules.\n"
NEW = templates.read("AGENTS.md")


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault of schema 2.3.0 as an earlier version of retain wrote it, with a comment of the user's."""
    monkeypatch.setattr(upgrade, "_shipped", lambda: frozenset({hashlib.sha256(OLD.encode()).hexdigest()}))
    make_vault(tmp_path, {"AGENTS.md": OLD})
    settings = tmp_path / FILE
    old = settings.read_text().replace(f'schema = "{SCHEMA_VERSION}"', 'schema = "2.3.0"  # mine')
    settings.write_text(old)
    return tmp_path


def test_an_older_vault_works_is_reported_by_status_and_is_upgraded(run: Run, vault: Path) -> None:
    old_settings = (vault / FILE).read_text()
    status = run("status", cwd=vault)
    assert status.code == 0 and status.stdout.count("retain upgrade") == 1
    assert "2.3.0" in run("status", "--json", cwd=vault).json()["upgrade"]
    assert run("upgrade", cwd=vault).code == 0
    assert (vault / "AGENTS.md").read_text() == NEW
    assert (vault / FILE).read_text() == old_settings.replace('"2.3.0"', f'"{SCHEMA_VERSION}"')
    assert read_settings((vault / FILE).read_text())[0] == SETTINGS
    assert "retain upgrade" not in run("status", cwd=vault).stdout
    assert "nothing to do" in run("upgrade", cwd=vault).stdout


def test_line_ends_of_a_checkout_are_no_edit(run: Run, vault: Path) -> None:
    (vault / "AGENTS.md").write_bytes(OLD.replace("\n", "\r\n").encode())
    assert run("upgrade", cwd=vault).code == 0
    assert (vault / "AGENTS.md").read_text() == NEW


def test_an_edited_file_is_left_and_the_new_one_is_beside_it(run: Run, vault: Path) -> None:
    edited = OLD + "Write in German.\n"
    (vault / "AGENTS.md").write_text(edited)
    done = run("upgrade", cwd=vault)
    assert done.code == 0 and "edited" in done.stderr
    assert (vault / "AGENTS.md").read_text() == edited
    assert (vault / "AGENTS.new.md").read_text() == NEW
    (vault / "AGENTS.new.md").write_text("my notes on it\n")
    assert run("upgrade", cwd=vault).code == 0
    assert (vault / "AGENTS.new.md").read_text() == "my notes on it\n"
    (vault / "AGENTS.md").write_text(NEW + "Write in German.\n")
    assert "retain upgrade" not in run("status", cwd=vault).stdout


def test_a_dry_run_prints_and_writes_nothing(run: Run, vault: Path) -> None:
    before = {path: path.read_bytes() for path in vault.iterdir() if path.is_file()}
    done = run("upgrade", "--dry-run", cwd=vault)
    assert done.code == 0 and "would replace AGENTS.md" in done.stdout and f"would replace {FILE}" in done.stdout
    assert {path: path.read_bytes() for path in vault.iterdir() if path.is_file()} == before


def test_a_missing_file_is_written(run: Run, vault: Path) -> None:
    (vault / "AGENTS.md").unlink()
    assert "wrote AGENTS.md" in run("upgrade", cwd=vault).stdout
    assert (vault / "AGENTS.md").read_text() == NEW


def test_an_agent_in_the_sandbox_may_not_upgrade(run: Run, vault: Path) -> None:
    assert run("upgrade", cwd=vault, env={"RETAIN_CAGED": "1"}).code == 3
    assert (vault / "AGENTS.md").read_text() == OLD


def test_the_table_of_shipped_versions_holds_the_ones_that_vaults_have() -> None:
    lines = [line.split() for line in templates.read("shipped-agents-md.txt").splitlines() if not line.startswith("#")]
    assert {schema.rsplit(".", 1)[0] for _, schema in lines} >= {"2.0", "2.1", "2.2", "2.3"}
    assert all(len(bytes.fromhex(digest)) == 32 for digest, _ in lines)


@pytest.mark.parametrize(("topic", "file"), [("rules", "AGENTS.md"), ("formats", "format.md")])
def test_agent_help_prints_the_shipped_text(run: Run, tmp_path: Path, topic: str, file: str) -> None:
    assert run("agent", "help", topic, cwd=tmp_path).stdout == templates.read(file)
