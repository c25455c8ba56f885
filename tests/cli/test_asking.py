"""`retain ask`: answers from the wiki with the words they rest on, by the embedded engine and through an agent."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import Result, retain
from tests.sandbox.den import need
from vault.model.frontmatter import read_properties
from vault.model.wikilink import citations
from vault.sandbox import landlock
from vault.sandbox.capabilities import Level

SLEEP = """# Sleep and memory

Slow-wave sleep is the deepest stage of sleep.
Slow-wave sleep strengthens memory because the hippocampus replays the day to the cortex.
Naps of 90 minutes help as well.

Consolidation is the process by which a new memory becomes stable.
Consolidation takes hours, and a part of it happens during slow-wave sleep.
"""


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    assert retain("init", str(root), "--no-git", cwd=tmp_path).code == 0
    (root / "raw/sleep.md").write_text(SLEEP)
    assert retain("compile", cwd=root).code == 0
    return root


def ask(vault: Path, *words: str) -> Result:
    return retain("ask", *words, cwd=vault)


def agent(vault: Path, *words: str, stdin: str = "") -> Result:
    return retain("agent", *words, cwd=vault, stdin=stdin)


def test_the_embedded_engine_answers_in_the_words_of_the_sources(vault: Path) -> None:
    told = ask(vault, "What is slow-wave sleep?", "--json").json()
    assert told["sentences"][0]["text"] == "Slow-wave sleep is the deepest stage of sleep."
    first = next(c for c in told["claims"] if c["id"] == told["sentences"][0]["cites"][0])
    assert first["quote"] in SLEEP and first["source"] == "raw/sleep.md" and first["number"] == 1
    shown = ask(vault, "What is slow-wave sleep?").stdout
    assert "deepest stage of sleep. [1]" in shown and "raw/sleep.md" in shown
    assert not list((vault / "ledger/replies").glob("*")), "it costs nothing and is not journaled"


def test_what_the_wiki_does_not_say_is_said(vault: Path) -> None:
    told = ask(vault, "Who won the football match in Bern?", "--json").json()
    assert told["sentences"] == [] and "football" in told["missing"]
    done = ask(vault, "Who won the football match in Bern?", "--file-back")
    assert done.code == 2 and not list((vault / "output/reports").iterdir())


def test_an_answer_is_filed_back_with_its_citations_and_once(vault: Path) -> None:
    first = ask(vault, "What is consolidation?", "--file-back", "--json").json()
    assert ask(vault, "What is consolidation?", "--file-back", "--json").json()["report"] == first["report"]
    (page,) = (vault / "output/reports").iterdir()
    text = page.read_text()
    assert first["report"] == f"output/reports/{page.name}" and read_properties(text).text("type") == "report"
    assert [c.claim for c in citations(text)] == [c for s in first["sentences"] for c in s["cites"]]
    assert retain("verify", cwd=vault).code == 0


def test_markup_in_a_question_does_not_act_in_its_report(vault: Path) -> None:
    words = "What is consolidation? [[the]] <is> \x1b"
    told = ask(vault, words, "--file-back", "--json").json()
    text = (vault / told["report"]).read_text()
    body = text.split("---\n")[2]
    assert "\n# What is consolidation?" in body and "\x1b" not in text
    assert not any(markup in body for markup in ("[[the]]", " <is>"))


def test_an_agent_answers_through_an_order_and_soft_words_are_checked_first(vault: Path) -> None:
    question = "How does slow-wave sleep strengthen memory?"
    waiting = ask(vault, question, "--engine", "agent")
    assert waiting.code == 4 and "retain agent next" in waiting.stderr
    (order,) = agent(vault, "next", "--type", "answer").json()["orders"]
    claim = next(c for c in order["request"]["claims"] if "hippocampus" in c["quote"])
    bad = {"sentences": [{"text": "It does so since 1924.", "cites": [claim["id"]]}], "missing": ""}
    assert agent(vault, "submit", order["id"], stdin=json.dumps(bad)).json()["refused"] == 1
    soft = {"text": "During deep sleep the hippocampus hands what happened over to the cortex.", "cites": [claim["id"]]}
    plain = {"text": claim["quote"], "cites": [claim["id"]]}
    good = {"sentences": [soft, plain], "missing": "How long it takes."}
    assert agent(vault, "submit", order["id"], stdin=json.dumps(good)).json()["accepted"] == 1
    asked = agent(vault, "ask", question).json()
    assert not asked["answered"]
    (check,) = asked["orders"]
    assert check["request"]["words"] == soft["text"]
    assert agent(vault, "submit", check["id"], stdin='{"entailed": "no"}').json()["accepted"] == 1
    told = ask(vault, question, "--engine", "agent", "--json").json()
    assert [s["text"] for s in told["sentences"]] == [claim["quote"]] and told["missing"] == "How long it takes."
    assert told["engine"] == "agent/1 agent" and told["refused"][0]["words"] == soft["text"]
    assert agent(vault, "status").json()["open"].keys() <= {"extract"}


def test_a_question_whose_claims_were_forged_in_the_work_folder_cannot_be_answered(vault: Path) -> None:
    order = agent(vault, "ask", "What is consolidation?").json()["orders"][0]
    file = vault / f".retain/work/questions/{order['id']}.json"
    body = json.loads(file.read_text())
    body["claims"][0]["quote"] = body["claims"][0]["words"] = "Consolidation is sold in shops."
    from compiler.model.requests import AnswerRequest
    from compiler.orders.questions import order_id

    forged = AnswerRequest.model_validate(body)
    (file.parent / f"{order_id(forged)}.json").write_text(json.dumps(body))
    file.write_text(json.dumps(body))  # under the name of another: no question at all
    lie = {"sentences": [{"text": "Consolidation is sold in shops.", "cites": [body["claims"][0]["id"]]}]}
    for id_ in (order_id(forged), order["id"]):
        assert agent(vault, "submit", id_, stdin=json.dumps(lie)).json()["closed"] == 1
    assert not list((vault / "ledger/replies").glob("*"))


def test_a_changed_claim_asks_anew(vault: Path) -> None:
    question = "What is consolidation?"
    order = agent(vault, "ask", question).json()["orders"][0]
    reply = {"sentences": [{"text": c["quote"], "cites": [c["id"]]} for c in order["request"]["claims"][:1]]}
    assert agent(vault, "submit", order["id"], stdin=json.dumps(reply)).json()["accepted"] == 1
    assert agent(vault, "ask", question).json()["answered"]
    (vault / "raw/sleep.md").write_text(SLEEP.replace("becomes stable", "becomes firm"))
    assert retain("compile", "--engine", "extractive", cwd=vault).code == 0
    again = agent(vault, "ask", question).json()
    assert not again["answered"] and again["orders"][0]["id"] != order["id"]


# --- shut in --------------------------------------------------------------------------------------------------------

_TRY = """
import socket, sys, tempfile
from pathlib import Path
from cli.commands.ask import _restrict_process
from vault.vault import open_vault
root = Path(sys.argv[1])
tempfile.tempdir = str(root / ".retain")
_restrict_process(open_vault(str(root), None, root), "agent", file_back=True)
ledgers = ("learning/reviews.jsonl", "ledger/ids.jsonl", "ledger/replies/x.jsonl")
for path in (*ledgers, "wiki/x.md", "raw/x.md", "insights/x.md", "../outside.md"):
    try:
        (root / path).write_text("x")
    except PermissionError:
        continue
    sys.exit(f"written: {path}")
for path in (".retain/x.txt", "output/reports/x.md"):
    (root / path).write_text("x")
try:
    socket.create_connection(("127.0.0.1", 9), timeout=5)
except PermissionError:
    sys.exit(0)
except OSError:
    sys.exit(0 if int(sys.argv[2]) < 4 else "the network was reached")
"""


def test_the_command_is_restrict_process_to_where_its_answer_may_lie(vault: Path) -> None:
    need(Level.LANDLOCK)
    command = [sys.executable, "-c", _TRY, str(vault), str(landlock.abi())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
