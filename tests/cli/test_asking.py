"""`retain ask`: answers from the wiki with the words they rest on, by the embedded engine and through an agent."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import Result, retain
from tests.sandbox.den import need
from vault.model.frontmatter import read_properties
from vault.sandbox import landlock
from vault.sandbox.capabilities import Level

SLEEP = """# Sleep and memory

Slow-wave sleep is the deepest stage of sleep.
Slow-wave sleep strengthens memory because the hippocampus replays the day to the cortex.
Naps of 90 minutes help as well.

Consolidation is the process by which a new memory becomes stable.
Consolidation takes hours, and a part of it happens during slow-wave sleep.
"""


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made-once") / "vault"
    assert retain("init", str(root), "--no-git", cwd=root.parent).code == 0
    (root / "raw/sleep.md").write_text(SLEEP)
    assert retain("compile", cwd=root).code == 0
    return root


@pytest.fixture
def vault(tmp_path: Path, made_once: Path) -> Path:
    return Path(shutil.copytree(made_once, tmp_path / "vault"))


def ask(vault: Path, *words: str) -> Result:
    return retain("ask", *words, cwd=vault)


def agent(vault: Path, *words: str, stdin: str = "") -> Result:
    return retain("agent", *words, cwd=vault, stdin=stdin)


def test_the_embedded_engine_answers_in_the_words_of_the_sources(vault: Path) -> None:
    told = ask(vault, "What is slow-wave sleep?", "--json").json()
    first = told["quotes"][0]
    assert (
        first["text"].startswith("Slow-wave sleep is the deepest stage of sleep.") and first["path"] == "raw/sleep.md"
    )
    assert told["sentences"] == [] and not told["weak"]
    shown = ask(vault, "What is slow-wave sleep?").stdout
    assert "Quoted from your sources:" in shown and "deepest stage of sleep." in shown and "raw/sleep.md" in shown
    assert not list((vault / "ledger/replies").glob("*")), "it costs nothing and is not journaled"


@pytest.mark.parametrize(
    "question",
    [
        "What is consolidation -- stable or not?",
        "What is consolidation -stable",
        'What is "consolidation of a -stable"?',
    ],
)
def test_a_question_is_prose_in_which_dashes_and_quotes_exclude_nothing(vault: Path, question: str) -> None:
    done = ask(vault, question, "--json")
    assert done.code == 0, done.stderr
    told = done.json()
    assert "Consolidation is the process" in told["quotes"][0]["text"] and not told["missing"]


NIGHT = """# Night

A bedroom is best kept at fifteen to twenty degrees, so that one falls asleep.

## Light

Light in a bedroom at night, even a little, keeps one awake in a bedroom.

## Warmth

Warmth of a bedroom at night matters less than one thinks, says who sleeps well in a bedroom at night.
"""


def test_passages_without_further_words_of_the_question_are_quoted_too_unless_it_asks_what_something_is(
    vault: Path,
) -> None:
    (vault / "raw/night.md").write_text(NIGHT + "\n" + "Other words on other things. " * 90)
    assert retain("compile", cwd=vault).code == 0
    told = ask(vault, "best warmth of a bedroom at night", "--json").json()
    assert any("fifteen to twenty degrees" in quote["text"] for quote in told["quotes"])
    assert len(ask(vault, "What is consolidation?", "--json").json()["quotes"]) == 1


def test_what_the_wiki_does_not_say_is_said(vault: Path) -> None:
    told = ask(vault, "Who won the football match in Bern?", "--json").json()
    assert told["quotes"] == [] and "football" in told["missing"]
    done = ask(vault, "Who won the football match in Bern?", "--file-back")
    assert done.code == 2 and not [*vault.glob("wiki/answers/*")]


def test_a_question_without_words_is_refused_and_one_in_the_ledger_stops_nothing(vault: Path) -> None:
    done = ask(vault, "?")
    assert done.code == 2 and "the question is empty" in done.stderr
    ask(vault, "What is consolidation?")
    ledger = vault / "ledger/questions.jsonl"
    line = json.loads(ledger.read_text().splitlines()[0])
    ledger.write_text(ledger.read_text() + json.dumps({**line, "id": "zzzzzzzzzz", "question": "?!"}) + "\n")
    assert len(ask(vault, "--history", "--json").json()["questions"]) == 1
    assert retain("compile", cwd=vault).code == 0


def test_an_answer_is_filed_back_with_its_quotes_and_once(vault: Path) -> None:
    first = ask(vault, "What is consolidation?", "--file-back", "--json").json()
    assert ask(vault, "What is consolidation?", "--file-back", "--json").json()["page"] == first["page"]
    listed = retain("log", "--json", cwd=vault).json()["entries"]
    assert [each["title"] for each in listed if each["kind"] == "question"] == ["What is consolidation?"]
    (page,) = (vault / "wiki/answers").iterdir()
    text = page.read_text()
    assert first["page"] == f"wiki/answers/{page.name}" and read_properties(text).text("type") == "synthesis"
    assert all(quote["text"] in text for quote in first["quotes"]) and "[[raw/sleep|" in text
    assert read_properties(text).text("confidence") == "low", "it rests on one source of authority 1"
    assert retain("verify", cwd=vault).code == 0


def test_an_answer_is_listed_and_found_like_other_pages(vault: Path) -> None:
    page = ask(vault, "What is consolidation?", "--file-back", "--json").json()["page"]
    (hit,) = retain("search", "consolidation", "--kind", "answer", "--json", cwd=vault).json()["answers"]
    assert hit["path"] == page and hit["title"] == "What is consolidation?"
    assert retain("compile", cwd=vault).code == 0
    index = (vault / "wiki/_index.md").read_text()
    assert "## Answers (1)" in index and f"[[{page[:-3]}|What is consolidation?]] · synthesis · low" in index
    (vault / page).unlink()
    assert retain("compile", cwd=vault).code == 0 and "Answers" not in (vault / "wiki/_index.md").read_text()


def test_an_answer_that_the_user_edited_stays_as_it_is(vault: Path) -> None:
    page = vault / ask(vault, "What is consolidation?", "--file-back", "--json").json()["page"]
    page.write_text(page.read_text() + "\nSee my notes.\n")
    edited = page.read_text()
    (vault / "raw/sleep.md").write_text(SLEEP.replace("becomes stable", "becomes firm"))
    assert retain("compile", cwd=vault).code == 0
    other = ask(vault, "What is consolidation?", "--file-back", "--json").json()["page"]
    assert other == "wiki/answers/what-is-consolidation-2.md" and page.read_text() == edited
    assert "becomes firm" in (vault / other).read_text()


def test_markup_in_a_question_does_not_act_in_its_page(vault: Path) -> None:
    words = "What is consolidation? [[the]] <is> \x1b"
    told = ask(vault, words, "--file-back", "--json").json()
    text = (vault / told["page"]).read_text()
    body = text.split("---\n")[2]
    assert "\n# What is consolidation?" in body and "\x1b" not in text
    assert not any(markup in body for markup in ("[[the]]", " <is>"))


def test_a_question_asked_again_shows_what_changed(vault: Path) -> None:
    assert ask(vault, "What is consolidation?", "--json").json()["changed"] is None
    assert ask(vault, "What is consolidation?", "--json").json()["changed"] is None
    (vault / "raw/sleep.md").write_text(SLEEP.replace("becomes stable", "becomes firm"))
    assert retain("compile", cwd=vault).code == 0
    changed = ask(vault, "what is consolidation", "--json").json()["changed"]
    assert "firm" in changed["new"][0] and "stable" in changed["gone"][0]
    assert ask(vault, "What is consolidation?", "--json").json()["changed"] is None, "it was told once"
    (question,) = ask(vault, "--history", "--json").json()["questions"]
    assert question["times"] == 4 and "firm" in question["answer"][0]
    assert "becomes" not in ask(vault, "--history").stdout and "answered" in ask(vault, "--history").stdout


def test_an_equal_answer_is_recorded_once(vault: Path) -> None:
    for _ in range(4):
        ask(vault, "What is consolidation?")
    lines = (vault / "ledger/questions.jsonl").read_text().splitlines()
    assert [json.loads(line)["type"] for line in lines] == ["question", "again"]


def test_a_vault_that_can_only_be_read_answers(vault: Path) -> None:
    (vault / "ledger/questions.jsonl").mkdir()
    told = ask(vault, "What is consolidation?", "--json")
    assert told.code == 0 and told.json()["quotes"] and told.json()["id"] is None
    assert "the question was not recorded" in told.stderr


def test_a_follow_up_is_about_what_was_asked_before(vault: Path) -> None:
    (vault / "raw/cells.md").write_text("# Cells\n\nMitosis is the division of a cell.\n\nIt takes one hour.\n")
    assert retain("compile", cwd=vault).code == 0
    ask(vault, "What is consolidation?")
    told = ask(vault, "--continue", "how many hours does it take?", "--json").json()
    assert told["question"] == "how many hours does it take?"
    assert told["quotes"][0]["path"] == "raw/sleep.md"
    other = ask(vault, "--continue", "What is mitosis?", "--json").json()
    assert other["quotes"][0]["path"] == "raw/cells.md", "a question with a subject of its own"
    last = ask(vault, "--history", "--json").json()["questions"]
    assert last[1]["after"] == last[0]["id"]


CELLS = """# Cells

Mitosis is the division of a cell. It takes one hour.

## Plants

In plants a wall divides the cell, so that mitosis needs no ring.

## Sleep

Few cells of the brain divide during sleep.
"""


@pytest.mark.parametrize(
    ("asked", "follow_up", "path", "words"),
    [
        ("What is consolidation?", "and mitosis?", "raw/cells.md", "division of a cell"),
        ("What is consolidation?", "What about mitosis, how long does it take?", "raw/cells.md", "one hour"),
        ("What is consolidation?", "how many hours does it take?", "raw/sleep.md", "Consolidation takes hours"),
        ("What is consolidation?", "why?", "raw/sleep.md", "Consolidation is"),
        ("What is mitosis?", "and in plants?", "raw/cells.md", "In plants a wall"),
        ("How does the hippocampus replay the day to the cortex?", "plants?", "raw/cells.md", "In plants a wall"),
    ],
)
def test_a_follow_up_in_few_words_is_about_a_word_of_its_own_that_the_sources_have(
    vault: Path, asked: str, follow_up: str, path: str, words: str
) -> None:
    (vault / "raw/cells.md").write_text(CELLS)
    assert retain("compile", cwd=vault).code == 0
    ask(vault, asked)
    told = ask(vault, "--continue", follow_up, "--json").json()
    assert told["quotes"][0]["path"] == path and words in told["quotes"][0]["text"]
    assert not told["weak"]


def test_a_follow_up_to_a_question_that_was_asked_before_belongs_to_the_conversation_in_which_it_was_asked_again(
    vault: Path,
) -> None:
    (vault / "raw/cells.md").write_text(CELLS)
    assert retain("compile", cwd=vault).code == 0
    ask(vault, "What is mitosis?")
    ask(vault, "--continue", "how long does it take?")
    ask(vault, "What is consolidation?")
    ask(vault, "What is mitosis?")
    ask(vault, "What is consolidation?")
    assert ask(vault, "--continue", "how long does it take?", "--json").json()["quotes"][0]["path"] == "raw/sleep.md"
    first = ask(vault, "What is mitosis?", "--json").json()["id"]
    ask(vault, "What is consolidation?")
    told = ask(vault, "--after", first, "how long does it take?", "--json").json()
    assert told["quotes"][0]["path"] == "raw/cells.md" and told["after"] == first
    unknown = ask(vault, "--after", "nothing", "how long does it take?")
    assert unknown.code == 2 and "no question has the id 'nothing'" in unknown.stderr


def test_the_same_words_in_another_conversation_are_no_change(vault: Path) -> None:
    (vault / "raw/cells.md").write_text(CELLS)
    assert retain("compile", cwd=vault).code == 0
    for subject in ("mitosis", "consolidation", "mitosis"):
        ask(vault, f"What is {subject}?")
        assert ask(vault, "--continue", "how long does it take?", "--json").json()["changed"] is None
    (vault / "raw/cells.md").write_text(CELLS.replace("one hour", "two hours"))
    assert retain("compile", cwd=vault).code == 0
    told = ask(vault, "--continue", "how long does it take?", "--json").json()
    assert "two hours" in told["changed"]["new"][0] and "one hour" in told["changed"]["gone"][0]


def test_a_follow_up_on_what_no_source_has_is_weak_evidence(vault: Path) -> None:
    ask(vault, "What is consolidation?")
    told = ask(vault, "--continue", "and photosynthesis?", "--json").json()
    assert told["weak"] and "photosynthesis" in told["missing"] and "consolidation" not in told["missing"]


QUESTION = "How does slow-wave sleep strengthen memory?"
REPLAY = "Slow-wave sleep strengthens memory because the hippocampus replays the day to the cortex."


def order_for(vault: Path, question: str) -> tuple[str, str]:
    """The id of the order that asks for an answer to a question, and its text."""
    (order,) = agent(vault, "ask", question, "--json").json()["orders"]
    return order["id"], (vault / order["text"]).read_text(encoding="utf-8")


def number_of(words: str, text: str) -> int:
    """The number of the claim that has these words."""
    return next(int(line[1 : line.index("]")]) for line in text.split("\n") if line[:1] == "[" and words in line)


def test_an_agent_answers_through_an_order_and_other_words_are_checked_first(vault: Path) -> None:
    waiting = ask(vault, QUESTION, "--engine", "agent")
    assert waiting.code == 4 and "retain agent next" in waiting.stderr
    assert waiting.stdout.startswith("Excerpts from the sources (no answer yet).\n") and REPLAY in waiting.stdout
    again = shlex.split(waiting.stderr.split("afterwards `retain ask ")[1].partition("` shows the answer")[0])
    (order,) = agent(vault, "next", "--type", "answer", "--json").json()["orders"]
    text = (vault / order["text"]).read_text(encoding="utf-8")
    n = number_of("hippocampus", text)
    bad = agent(vault, "submit", "--order", order["id"], "-", stdin="It does so since 1924.")
    assert bad.code == 1 and bad.stdout.startswith("refused") and "cites nothing" in bad.stdout
    other = "During slow-wave sleep the hippocampus hands the day over to the cortex."
    wider = "The hippocampus always replays every day."
    said = f"{other} [{n}]\n{wider} [{n}]\n{REPLAY} [{n}]\nMISSING How long it takes.\n"
    assert agent(vault, "submit", "--order", order["id"], "-", stdin=said).code == 0
    id_, check = order_for(vault, QUESTION)
    assert id_.startswith("check-") and other in check and f"{REPLAY}\n   <" not in check
    mended = "The hippocampus replays the day."
    lines = f"{number_in(check, wider)} FIX {mended}\n{number_in(check, other)} DROP hands over is not said\n"
    assert agent(vault, "submit", "--order", id_, "-", stdin=lines).code == 0
    told = ask(vault, "--json", *again).json()
    assert [s["text"] for s in told["sentences"]] == [mended, REPLAY] and told["missing"] == "How long it takes."
    assert told["engine"] == "agent/2 agent" and other in [r["words"] for r in told["refused"]]
    shown = agent(vault, "ask", QUESTION).stdout
    assert f"{REPLAY} [1]" in shown and "Not in your sources: How long it takes." in shown and "raw/sleep.md" in shown
    assert "answer" not in agent(vault, "status", "--json").json()["open"]


def test_where_no_answer_is_stored_the_extract_is_shown_and_a_command_that_asks(vault: Path) -> None:
    done = ask(vault, QUESTION, "--engine", "journal", "--json")
    told = done.json()
    assert done.code == 4 and REPLAY in told["quotes"][0]["text"]
    assert told["waiting"]["what"] == "there is no stored answer to the question" and "--engine claude" in done.stderr
    assert "retain agent next" not in done.stderr and not list((vault / ".retain").glob("work/questions/*"))
    filed = ask(vault, QUESTION, "--engine", "journal", "--file-back")
    assert filed.code == 4 and filed.stdout == "" and not list(vault.glob("wiki/answers/*"))
    assert not (vault / "ledger/questions.jsonl").read_bytes()


def test_a_follow_up_that_waits_for_an_agent_names_a_command_that_shows_its_answer(vault: Path) -> None:
    first = ask(vault, "What is consolidation?", "--json").json()["id"]
    waiting = ask(vault, "--continue", "how long does it take?", "--engine", "agent")
    assert f"retain ask --after {first} --engine agent -- 'how long does it take?'" in waiting.stderr


def number_in(check: str, words: str) -> int:
    """The number of an item of a check."""
    return next(int(line.partition(".")[0]) for line in check.split("\n") if words in line and line[:1].isdigit())


def test_a_question_that_was_forged_in_the_work_folder_says_nothing_in_an_answer(vault: Path) -> None:
    from compiler.protocol.requests import request_in

    id_, _ = order_for(vault, "What is consolidation?")
    file = vault / f".retain/work/questions/{id_}.json"
    body = json.loads(file.read_text())
    body["claims"][0]["quote"] = body["claims"][0]["words"] = "Consolidation is sold in shops."
    forged = request_in(body).id
    (file.parent / f"{forged}.json").write_text(json.dumps(body))
    file.write_text(json.dumps(body))  # under the name of another: no question at all
    agent(vault, "submit", "--order", forged, "-", stdin="Consolidation is sold in shops. [1]")
    assert not agent(vault, "ask", "What is consolidation?", "--json").json()["answered"]
    assert "sold in shops" not in ask(vault, "What is consolidation?", "--engine", "journal").stdout


def test_a_changed_claim_asks_anew(vault: Path) -> None:
    question = "What is consolidation?"
    id_, text = order_for(vault, question)
    quoted = "Consolidation is the process by which a new memory becomes stable."
    said = f"{quoted} [{number_of('becomes stable', text)}]"
    assert agent(vault, "submit", "--order", id_, "-", stdin=said).code == 0
    assert agent(vault, "ask", question, "--json").json()["answered"]
    (vault / "raw/sleep.md").write_text(SLEEP.replace("becomes stable", "becomes firm"))
    assert retain("compile", "--engine", "extractive", cwd=vault).code == 0
    again, _ = order_for(vault, question)
    assert again != id_


def test_an_agent_cites_passages_and_words_that_none_has_count_for_nothing(vault: Path) -> None:
    id_, text = order_for(vault, QUESTION)
    assert "=== DOCUMENT 1: Sleep and memory" in text and "ARTICLE " in text
    said = "Naps of 90 minutes help as well. [1:1c]"
    assert "{c}Naps of 90 minutes" in text
    assert agent(vault, "submit", "--order", id_, "-", stdin=said).code == 0
    told = ask(vault, QUESTION, "--engine", "agent", "--json").json()
    assert [s["text"] for s in told["sentences"]] == ["Naps of 90 minutes help as well."]
    (file,) = (vault / "ledger/replies").iterdir()
    forged = json.loads(file.read_text())
    words = "Naps of nine minutes are best."
    quote = {"source": forged["reply"]["sentences"][0]["quotes"][0]["source"], "words": words}
    forged["reply"]["sentences"] = [{"text": words, "quotes": [quote]}]
    file.write_text(file.read_text() + json.dumps({**forged, "at": "2027-01-01T00:00:00.000Z"}) + "\n")
    told = ask(vault, QUESTION, "--engine", "agent", "--json").json()
    assert told["sentences"] == [] and told["refused"][0]["reason"] == "the sentence cites nothing"


def test_what_an_agent_asks_is_not_recorded_as_the_users_question(vault: Path) -> None:
    agent(vault, "ask", "What is consolidation?")
    assert ask(vault, "--history", "--json").json()["questions"] == []


# --- shut in --------------------------------------------------------------------------------------------------------

_TRY = """
import socket, sys, tempfile
from pathlib import Path
from cli.wiki.ask import _restrict_process
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
for path in (".retain/x.txt", "wiki/answers/x.md", "ledger/questions.jsonl"):
    (root / path).write_text("x")
try:
    socket.create_connection(("127.0.0.1", 9), timeout=5)
except PermissionError:
    sys.exit(0)
except OSError:
    sys.exit(0 if int(sys.argv[2]) < 4 else "the network was reached")
"""


def test_the_process_may_write_where_its_answer_goes_and_nowhere_else(vault: Path) -> None:
    need(Level.LANDLOCK)
    command = [sys.executable, "-c", _TRY, str(vault), str(landlock.abi())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
