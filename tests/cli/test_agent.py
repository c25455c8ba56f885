"""`retain agent` as an agent runs it: programs that only call the commands compile a vault together."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.commands import SCRIPT, Result, retain
from tests.sandbox.den import need
from vault.sandbox.capabilities import Level

AGENT = (Path(__file__).parent / "rule_agent.py").read_text(encoding="utf-8")
FILES = {
    "tides.md": """# Tides

The sea rises and falls twice a day. A tide is the regular rise and fall of the sea. It is higher at new and full moon.

## Neap tides

Moon and Sun may pull at a right angle. A neap tide is a tide of small range. It is weak because two pulls compete.
""",
    "waves.md": """# Waves

Water moves in circles as a wave passes. A crest is the highest part of a wave. It breaks where the water is shallow.

## Swell

Storms are felt far away. A swell is a train of waves from a distant wind. It is regular because short waves die first.
""",
    "currents.md": """# Currents

The wind moves the surface. A drift is a slow current that the wind drives. It turns away from the wind as it deepens.

## Under the surface

Cold water sinks. An undertow is a current below the surface. It flows seaward because the breakers pile up water.
""",
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    assert retain("init", str(root), "--no-git", cwd=tmp_path).code == 0
    for name, text in FILES.items():
        (root / "raw" / name).write_text(text, encoding="utf-8")
    return root


def agent(vault: Path, *words: str, stdin: str = "") -> Result:
    return retain("agent", *words, cwd=vault, stdin=stdin)


def products(vault: Path) -> dict[str, bytes]:
    folders = ("wiki", "learning", "output")
    files = (f for folder in folders for f in (vault / folder).rglob("*") if f.is_file())
    return {f.relative_to(vault).as_posix(): f.read_bytes() for f in files}


def run_agents(vault: Path, *names: str) -> list[str]:
    orders = [[sys.executable, "-c", AGENT, SCRIPT, str(vault), name] for name in names]
    running = [subprocess.Popen(o, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for o in orders]
    done = [process.communicate(timeout=600) for process in running]
    assert [p.returncode for p in running] == [0] * len(names), done
    return [out.strip() for out, _ in done]


def test_two_agents_compile_a_vault_with_the_commands_alone_and_a_rebuild_gives_the_same_bytes(vault: Path) -> None:
    first = agent(vault, "status").json()
    assert set(first["open"]) == {"extract"} and not first["done"]
    stopped = retain("compile", "--engine", "agent", cwd=vault)
    assert stopped.code == 4 and "retain agent next" in stopped.stderr and not list((vault / "wiki").rglob("*.md"))
    counts = [int(line.split()[1]) for line in run_agents(vault, "one", "two")]
    assert agent(vault, "status").json()["replies_kept"] == sum(counts), "nothing was answered twice"
    published = retain("compile", "--engine", "agent", "--json", cwd=vault)
    assert published.code == 0
    assert published.json()["articles"]["created"] >= 3 and published.json()["cards"]["created"] >= 3
    assert published.json()["cost"]["usd"] == 0
    assert retain("verify", cwd=vault).code == 0
    said = {
        json.loads(line)["engine"] for f in (vault / "ledger/replies").iterdir() for line in f.read_text().splitlines()
    }
    assert said <= {"agent/1 one", "agent/1 two"} and said
    before = products(vault)
    shutil.rmtree(vault / ".retain")
    for folder in ("wiki", "learning/flashcards"):
        shutil.rmtree(vault / folder)
    assert retain("rebuild", cwd=vault).code == 0
    assert products(vault) == before
    assert agent(vault, "status").json()["done"]


@pytest.mark.parametrize("level", [pytest.param(Level.FULL, marks=pytest.mark.torture), Level.LANDLOCK], ids=str)
def test_in_the_cage_replies_wait_and_are_in_the_journal_when_it_ends(
    vault: Path, level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(level)
    for name in ("waves.md", "currents.md"):  # each answer is a process in the sandbox
        (vault / "raw" / name).unlink()
    lines = f"{_spelt(vault, 'one')} & {_spelt(vault, 'two')}; wait; {SCRIPT} agent status"
    ran = retain("guard", "run", "--require", str(level), "--", "sh", "-c", lines, cwd=vault)
    assert ran.code == 0, ran.stderr
    counts = [int(line.split()[1]) for line in ran.stdout.splitlines() if line.startswith(("one ", "two "))]
    assert len(counts) == 2 and "replies to work orders kept" in ran.stderr
    kept = [line for f in (vault / "ledger/replies").iterdir() for line in f.read_text().splitlines()]
    assert len(kept) >= agent(vault, "status").json()["replies_kept"] >= max(counts)
    assert not list((vault / ".retain/work").iterdir())
    assert retain("compile", "--engine", "agent", cwd=vault).code == 0
    assert retain("verify", cwd=vault).code == 0 and list((vault / "wiki/concepts").iterdir())


def _spelt(vault: Path, name: str) -> str:
    import shlex

    return shlex.join([sys.executable, "-c", AGENT, SCRIPT, str(vault), name])


def test_what_a_caged_agent_forges_in_the_work_folder_does_not_reach_the_journal(vault: Path) -> None:
    need(Level.LANDLOCK)
    order = agent(vault, "next", "--as", "one").json()["orders"][0]
    lie = {"claims": [{"kind": "fact", "quote": "Nobody ever wrote this sentence.", "about": ["lie"]}]}
    entry = {"v": 1, "type": "reply", "of": "extract", "engine": "agent/1 liar", "at": "2026-11-21T09:30:00.123Z"}
    entry |= {
        "rests": order["id"].partition("-")[2].ljust(64, "0"),
        "digest": "0" * 64,
        "prompt": "extract/1",
        "run": "x",
    }
    text = json.dumps(entry | {"reply": lie, "said": lie}) + "\n[not json\n" + "\x00" * 100
    forge = (
        "import sys,pathlib; f=pathlib.Path('.retain/work/replies'); f.mkdir(); (f/'a.jsonl').write_text(sys.argv[1])"
    )
    ran = retain("guard", "run", "--", sys.executable, "-c", forge, text.replace("\x00", ""), cwd=vault)
    assert ran.code == 0 and "kept" not in ran.stderr
    assert not list((vault / "ledger/replies").glob("*"))
    assert "Nobody ever wrote" not in json.dumps(agent(vault, "status").json())


# --- single commands ------------------------------------------------------------------------------------------------


def test_an_order_is_leased_to_one_agent_and_shown_again_to_whoever_asks(vault: Path) -> None:
    mine = agent(vault, "next", "--count", "3", "--as", "one").json()
    theirs = agent(vault, "next", "--count", "3", "--as", "two", "--brief").json()
    ids = [[o["id"] for o in taken["orders"]] for taken in (mine, theirs)]
    assert len({*ids[0], *ids[1]}) == 6 and "how" not in theirs and theirs["prompts"]["extract"].startswith("extract/")
    shown = agent(vault, "show", ids[0][0]).json()
    assert shown["orders"][0]["request"] == mine["orders"][0]["request"] and shown["how"] == mine["how"]
    assert "marks" not in mine["orders"][0]["request"]
    assert {w["name"]: w["orders"] for w in agent(vault, "status").json()["with"]} == {"one": 3, "two": 3}


def test_a_lease_that_ran_out_is_somebody_elses(vault: Path) -> None:
    ids = [o["id"] for o in agent(vault, "next", "--count", "200", "--minutes", "0.1").json()["orders"]]
    again = agent(vault, "next", "--wait", "120").json()["orders"]
    assert again and again[0]["id"] in ids


def test_a_refused_reply_says_why_and_an_accepted_one_is_closed_afterwards(vault: Path) -> None:
    order = agent(vault, "next").json()["orders"][0]
    bad = agent(vault, "submit", order["id"], stdin='{"claims": [{"kind": "fact", "quote": "No.", "about": ["x"]}]}')
    (result,) = bad.json()["results"]
    assert bad.code == 1 and result["state"] == "refused"
    assert set(result["faults"][0]) == {"path", "words", "why", "hint"}
    assert not list((vault / "ledger/replies").glob("*"))
    reply = vault / "reply.json"
    reply.write_text('{"claims": [], "terms": []}')
    good = agent(vault, "submit", order["id"], str(reply))
    assert (good.code, good.json()["accepted"]) == (0, 1)
    again = agent(vault, "submit", order["id"], str(reply))
    assert (again.code, again.json()["closed"]) == (0, 1) and "answered" in again.json()["results"][0]["hint"]
    assert len(list((vault / "ledger/replies").glob("*"))) == 1


def test_a_changed_source_brings_its_questions_back(vault: Path) -> None:
    before = agent(vault, "status").json()["open"]["extract"]
    (vault / "raw/new.md").write_text(
        "# Priming\n\nPriming is the effect of one stimulus on the response to a later one.\n"
    )
    assert agent(vault, "status").json()["open"]["extract"] == before + 1
    found = agent(vault, "next", "--source", "Priming").json()["orders"]
    assert len(found) == 1 and "Priming is the effect" in found[0]["request"]["text"]


@pytest.mark.parametrize(
    ("words", "stdin", "says"),
    [
        (["submit"], "", "nothing in it"),
        (["submit"], "{", "not JSON"),
        (["submit"], "[]", "0 replies"),
        (["submit"], '{"reply": {}}', "which order"),
        (["submit"], "[" * 5000, "not JSON"),
        (["submit"], "NaN", "not JSON"),
        (["submit", "check-000000000000", "no-such-file"], "", "cannot be read"),
        (["submit", "one", "two"], "", "an order and a file"),
        (["show", "../../etc/passwd"], "", "no open order"),
        (["next", "--type", "gossip"], "", "no type"),
        (["next", "--as", "a\x1b[2Jb"], "", "no valid name"),
        (["ask", " "], "", "a question has"),
        (["ask", "x" * 600], "", "a question has"),
    ],
)
def test_a_wrong_command_is_answered_in_json_too(vault: Path, words: list[str], stdin: str, says: str) -> None:
    done = agent(vault, *words, stdin=stdin)
    assert done.code == 2 and says in done.json()["error"]["what"] and "\x1b" not in done.stdout


def test_outside_of_a_vault_the_error_is_json_as_well(tmp_path: Path) -> None:
    done = agent(tmp_path, "status")
    told: dict[str, Any] = done.json()["error"]
    assert done.code == 2 and told["what"] and told["hint"]
