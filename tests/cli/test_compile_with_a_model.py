"""`retain compile` with a model: who compiles, what it may cost, what is told, and how it ends without one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.builders import vault_with_sources
from tests.commands import Result, Run
from tests.compiler.messages_server import MessagesServer, Reply, error, message, said, serving
from tests.compiler.scripted_model import answer_for, answering, type_of
from vault.config.engine import COMPILING

KEY = "sk-canary-5550123"
MITOSIS = """# Mitosis

Mitosis is a process in which one cell becomes two equal cells.
Chromosomes line up because spindle fibres pull them to the middle of the cell.

A spindle is a structure of fibres that pulls chromosomes apart.
The spindle is used to part the copies of each chromosome.
"""


@dataclass
class Desk:
    """A vault, a model, and a user who has configured it."""

    root: Path
    config: Path
    server: MessagesServer
    run: Run

    def retain(self, *arguments: str, key: str = KEY) -> Result:
        env = {"XDG_CONFIG_HOME": str(self.config), "ANTHROPIC_API_KEY": key, "TEST_KEY": key}
        return self.run(*arguments, cwd=self.root, env=env)

    def configure(self, engine: str = "", rest: str = "") -> None:
        models = "".join(f'{role} = "m"\n' for role in COMPILING)
        text = f'[engine]\nbase_url = "{self.server.url}"\nkey_env = "TEST_KEY"\n{engine}\n'
        text += f"[engine.models]\n{models}{rest}\n"
        (self.config / "retain").mkdir(parents=True, exist_ok=True)
        (self.config / "retain/config.toml").write_text(text)

    def json(self, *arguments: str) -> dict[str, Any]:
        done = self.retain(*arguments, "--json")
        assert done.code == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def pages(self) -> list[Path]:
        return sorted((self.root / "wiki").rglob("*.md"))


@pytest.fixture
def desk(tmp_path: Path, run: Run) -> Iterator[Desk]:
    vault = vault_with_sources(tmp_path / "vault", {"mitosis.md": MITOSIS})
    with serving(said({})) as server:
        server.answer = answering
        made = Desk(vault.root, tmp_path / "config", server, run)
        made.configure()
        yield made


PRICES = "[engine.prices.m]\ninput = 2.0\noutput = 10.0"


def test_a_model_compiles_where_it_is_told_to_and_its_price_is_told(desk: Desk) -> None:
    desk.configure(rest=PRICES)
    done = desk.retain("compile", "--engine", "claude", "--json")
    assert done.code == 0, done.stderr
    cost = json.loads(done.stdout)["cost"]
    assert cost["input_tokens"] > 1_000 and cost["usd"] > 0
    assert f"requests are sent to {desk.server.url}" in done.stderr
    assert "paid: " in done.stderr and "$0." in done.stderr
    assert KEY not in done.stdout + done.stderr and desk.pages()
    again = desk.retain("compile")
    assert again.code == 0 and "nothing changed" in again.stdout


def test_a_key_alone_bills_no_model(desk: Desk) -> None:
    done = desk.retain("compile")
    assert done.code == 0 and not desk.server.asked and desk.pages()


def test_who_compiles_follows_the_settings_and_then_the_last_build(desk: Desk) -> None:
    desk.configure('compile = "claude"')
    assert desk.retain("compile").code == 0 and desk.server.asked
    asked = len(desk.server.asked)
    desk.configure()
    before = {path: path.read_bytes() for path in desk.pages()}
    shutil.rmtree(desk.root / ".retain")
    done = desk.retain("compile")
    assert done.code == 0 and {path: path.read_bytes() for path in desk.pages()} == before
    (desk.root / "raw/articles/new.md").write_text("# Yeast\n\nYeast is a fungus that makes dough rise in the warm.\n")
    done = desk.retain("compile")
    assert done.code == 4 and "--engine claude" in done.stderr and len(desk.server.asked) == asked


def test_a_rebuild_asks_nobody_and_gives_the_same_bytes(desk: Desk) -> None:
    desk.configure('compile = "claude"')
    assert desk.retain("compile").code == 0
    before, asked = {path: path.read_bytes() for path in desk.pages()}, len(desk.server.asked)
    for folder in (".retain", "wiki"):
        shutil.rmtree(desk.root / folder)
    done = desk.retain("rebuild")
    assert done.code == 0, done.stderr
    assert {path: path.read_bytes() for path in desk.pages()} == before and len(desk.server.asked) == asked
    assert desk.retain("verify").code == 0


def test_without_a_key_or_a_model_nothing_is_built_and_the_way_on_is_named(desk: Desk) -> None:
    text = (desk.config / "retain/config.toml").read_text()
    (desk.config / "retain/config.toml").write_text(text.replace(desk.server.url, "https://127.0.0.1:9"))
    done = desk.retain("compile", "--engine", "claude", key="")
    assert done.code == 4 and ("TEST_KEY" in done.stderr or "cannot be reached" in done.stderr) and not desk.pages()
    (desk.config / "retain/config.toml").write_text(f'[engine]\nbase_url = "{desk.server.url}"\n')
    done = desk.retain("compile", "--engine", "claude")
    assert done.code == 4 and "[engine.models]" in done.stderr and not desk.server.asked


def test_what_was_paid_is_told_where_a_compile_ends_early_and_it_goes_on_from_there(desk: Desk) -> None:
    desk.configure(rest=PRICES)

    def ends(body: dict[str, Any]) -> Reply:
        return answering(body) if type_of(body) == "read" else error(402, "billing_error", "pay")

    desk.server.answer = ends
    done = desk.retain("compile", "--engine", "claude")
    assert (
        done.code == 4
        and "spending limit" in done.stderr
        and "paid: " in done.stderr
        and "(before the error)" in done.stderr
    )
    assert "1 request is open" in done.stderr and not desk.pages()
    desk.server.answer = answering
    desk.server.asked.clear()
    assert desk.retain("compile", "--engine", "claude").code == 0
    assert "read" not in {type_of(body) for body in desk.server.asked}


def test_a_dry_run_asks_nobody_and_says_what_it_would_cost(desk: Desk) -> None:
    desk.configure(rest=PRICES)
    found = desk.json("compile", "--engine", "claude", "--dry-run")
    assert found["asked"] == {"read": 1} and found["estimate"]["now"]["usd"][1] > 0
    assert found["estimate"]["requests"] == {"read": 1} and found["estimate"]["later_requests"] > 0
    assert found["estimate"]["later"]["input_tokens"] > 0 and found["estimate"]["minutes"][1] > 0
    words = desk.retain("compile", "--engine", "claude", "--dry-run").stdout
    assert "would send 1 read" in words and "$" in words and "--budget" in words
    assert not desk.server.asked and not desk.pages()


def test_a_budget_needs_a_price_and_a_model(desk: Desk) -> None:
    done = desk.retain("compile", "--engine", "claude", "--budget", "1")
    assert done.code == 2 and '[engine.prices."m"]' in done.stderr
    assert desk.retain("compile", "--budget", "1").code == 2
    assert desk.retain("compile", "--engine", "claude", "--budget", "0").code == 2
    desk.configure(rest=PRICES)
    done = desk.retain("compile", "--engine", "claude", "--budget", "0.001")
    assert done.code == 4 and "budget of $0.001" in done.stderr and not desk.server.asked


def test_a_model_without_a_price_is_told_in_tokens(desk: Desk) -> None:
    cost = desk.json("compile", "--engine", "claude")["cost"]
    assert cost["unpriced"] is True and cost["usd"] == 0 and cost["input_tokens"] > 0


def test_what_models_took_is_listed_by_run_stage_and_model(desk: Desk) -> None:
    assert "no answers" in desk.retain("status", "--cost").stdout
    desk.configure(rest=PRICES)
    cost = desk.json("compile", "--engine", "claude")["cost"]
    found = desk.json("status", "--cost")
    total = found["total"]
    assert total["usd"] == pytest.approx(cost["usd"], abs=1e-5) and total["sent"] == cost["input_tokens"]
    assert {row["name"] for row in found["stages"]} == {"read", "settle", "write", "check"}
    assert len(found["runs"]) == 1 and found["runs"][0]["sent"] == total["sent"]
    assert {row["name"].partition(":")[0] for row in found["models"]} == {"read", "write", "check"}
    words = desk.retain("status", "--cost").stdout
    assert all(f"\n{name}:\n" in words for name in ("runs", "stages", "models")) and "tokens sent" in words
    assert "by run, stage and model" in " ".join(desk.retain("status", "--help").stdout.split())


def test_a_prompt_of_the_users_own_goes_before_ours_and_a_broken_one_is_named(desk: Desk) -> None:
    own = desk.config / "retain/prompts/read.md"
    own.parent.mkdir(parents=True)
    (desk.root / "prompts").mkdir()
    (desk.root / "prompts/read.md").write_text("<!-- read/9 -->\nA vault speaks.\n")
    own.write_text("<!-- read/mine -->\nTake what I care about.\n")
    desk.server.answer = lambda body: said({}) if "care about" in str(body["system"]) else answering(body)
    desk.retain("compile", "--engine", "claude")
    assert "Take what I care about." in json.dumps(desk.server.asked[0]["system"])
    assert "A vault speaks" not in json.dumps(desk.server.asked)
    own.write_text("no head\n")
    done = desk.retain("compile", "--engine", "claude", "--renew")
    assert done.code == 3 and "read.md" in done.stderr


def test_renew_asks_again_what_an_older_prompt_was_answered_to(desk: Desk) -> None:
    assert desk.retain("compile", "--engine", "claude").code == 0
    own = desk.config / "retain/prompts/write.md"
    own.parent.mkdir(parents=True)
    own.write_text("<!-- write/mine -->\nWrite as I like it.\n")

    def answers(body: dict[str, Any]) -> Reply:
        """Answer the user's own prompt with other words."""
        if "as I like it" not in str(body["system"]):
            return answering(body)
        written = answer_for("write", body["messages"][0]["content"])
        return message(written.replace("Chromosomes line up because", "Plainly, chromosomes line up because"))

    desk.server.answer = answers
    desk.server.asked.clear()
    assert desk.retain("compile", "--engine", "claude").code == 0 and not desk.server.asked
    done = desk.retain("compile", "--engine", "claude", "--renew")
    assert done.code == 0, done.stderr
    types = ["write" if "as I like it" in str(body["system"]) else type_of(body) for body in desk.server.asked]
    assert types[0] == "write" and set(types) <= {"write", "check"}
    assert "Plainly, chromosomes line up because" in (desk.root / "wiki/concepts/mitosis.md").read_text()
