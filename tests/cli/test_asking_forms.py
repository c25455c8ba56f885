"""`retain ask --as FORM`: the files that it writes, without a model and with an agent's answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import Result, retain, retain_process
from vault.model.frontmatter import read_properties

SLEEP = """# Sleep and memory

Slow-wave sleep is the deepest stage of sleep.
Slow-wave sleep strengthens memory because the hippocampus replays the day to the cortex.

Consolidation is the process by which a new memory becomes stable.
Consolidation takes hours, and a part of it happens during slow-wave sleep.

## Recall after different gaps

| Gap | Recalled (%) |
| --- | --- |
| 1 day | 80 |
| 1 week | 61 |
| 1 month | 40 |
"""
QUESTION = "What is slow-wave sleep?"
FORMS = {
    "report": ["output/reports/what-is-slow-wave-sleep.md"],
    "brief": ["output/reports/what-is-slow-wave-sleep-brief.md"],
    "slides": ["output/slides/what-is-slow-wave-sleep.md"],
    "canvas": ["output/reports/what-is-slow-wave-sleep.canvas"],
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("forms") / "vault"
    assert retain("init", str(root), "--no-git", cwd=root.parent).code == 0
    (root / "raw/sleep.md").write_text(SLEEP)
    assert retain("compile", cwd=root).code == 0
    return root


def ask(vault: Path, *words: str) -> Result:
    return retain("ask", *words, cwd=vault)


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_named_by_the_question_and_an_equal_one_is_reused(vault: Path, form: str) -> None:
    first = ask(vault, QUESTION, "--as", form, "--json").json()
    assert (first["form"], first["files"], first["path"]) == (form, FORMS[form], FORMS[form][0])
    text = (vault / first["path"]).read_text()
    assert "deepest stage of sleep" in text and "/sleep" in text
    assert ask(vault, QUESTION, "--as", form, "--json").json()["files"] == FORMS[form]
    assert retain("verify", cwd=vault).code == 0


def test_a_different_file_of_that_name_stays(vault: Path) -> None:
    mine = vault / "output/slides/what-is-consolidation.md"
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine")
    made = ask(vault, "What is consolidation?", "--as", "slides", "--json").json()["path"]
    assert made == "output/slides/what-is-consolidation-2.md" and mine.read_text() == "mine"


def test_a_table_compares_two_articles_and_says_which_name_has_none(vault: Path) -> None:
    done = ask(vault, "Compare slow-wave sleep, consolidation and juggling", "--as", "table", "--json").json()
    text = (vault / done["path"]).read_text()
    assert "| [[wiki/concepts/slow-wave-sleep\\|Slow-wave sleep]] | Slow-wave sleep is the deepest" in text
    assert "| [[wiki/concepts/consolidation\\|Consolidation]] | Consolidation is the process" in text
    assert "- juggling" in text and "#^c-" in text
    named = ask(vault, "What differs?", "--as", "table", "--things", "consolidation, Slow-wave sleep")
    assert named.code == 0 and "output/reports/what-differs-table.md" in named.stdout
    few = ask(vault, "Compare consolidation and juggling", "--as", "table")
    assert few.code == 2 and "“Consolidation”" in few.stderr and "“juggling”" in few.stderr
    assert "--things" in few.stderr


def test_a_chart_draws_a_table_of_a_source_and_cites_it(vault: Path) -> None:
    pytest.importorskip("matplotlib")
    done = ask(vault, "How much is recalled after different gaps?", "--as", "chart", "--json").json()
    stem = "output/figures/how-much-is-recalled-after-different-gaps"
    assert done["files"] == [f"{stem}.png", f"{stem}.svg", f"{stem}.md"]
    note = (vault / f"{stem}.md").read_text()
    assert "| 1 week | 61 | [[raw/sleep\\|1]]" in note and f"![[{stem}.png|Bar chart of Recalled" in note
    assert (vault / f"{stem}.png").read_bytes().startswith(b"\x89PNG")
    svg = (vault / f"{stem}.svg").read_text()
    assert "Recalled (%)" in svg and "raw/sleep.md, Recall after different gaps" in svg


def test_a_form_that_no_answer_can_have_is_refused_before_the_question_is_asked(vault: Path, tmp_path: Path) -> None:
    question = "What is asked of nobody?"
    one = ask(vault, question, "--as", "table", "--things", "consolidation")
    assert one.code == 2 and "two or more articles" in one.stderr
    startup = "import sys, importlib.abc\nsys.modules['matplotlib'] = None\n"
    (tmp_path / "sitecustomize.py").write_text(startup)
    without = {"PYTHONPATH": str(tmp_path)}
    chart = retain_process("ask", question, "--as", "chart", "--engine", "agent", cwd=vault, env=without)
    assert chart.code == 2 and "pip install '.[figures]'" in chart.stderr
    assert question not in ask(vault, "--history").stdout
    assert retain("agent", "next", "--type", "answer", "--json", cwd=vault).json()["orders"] == []


GAPS = """# Recall after different gaps

Recall after a gap of 1 day is 40 %.
Recall after a gap of 7 days is 55 %.
"""
PLAIN = """# Recall

| Gap | Recalled |
| --- | --- |
| 1 day | 80 |
| 1 week | 61 |
"""


def one_source(folder: Path, text: str) -> Path:
    """Return a vault with one source, compiled."""
    root = folder / "vault"
    assert retain("init", str(root), "--no-git", cwd=folder).code == 0
    (root / "raw/recall.md").write_text(text)
    assert retain("compile", cwd=root).code == 0
    return root


def test_of_two_quantities_in_the_same_claims_the_one_that_the_question_names_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    vault = one_source(tmp_path, GAPS)
    unclear = ask(vault, "How much is recall after different gaps?", "--as", "chart")
    assert unclear.code == 2 and "several quantities fit (days and %)" in unclear.stderr
    for word, shown in (("percent", "40"), ("days", "7 days")):
        made = ask(vault, f"How many {word} are in recall after a gap?", "--as", "chart", "--json").json()["files"]
        text = (vault / made[2]).read_text()
        assert f"| {shown}" in text and f"Bar chart of {'%' if word == 'percent' else 'days'}" in text


def test_words_that_only_join_do_not_keep_a_table_from_being_found(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    vault = one_source(tmp_path, PLAIN)
    made = ask(vault, "How much is recalled after different gaps?", "--as", "chart", "--json").json()["files"]
    assert "| 1 week | 61 |" in (vault / made[2]).read_text()


def test_without_numbers_of_one_quantity_the_error_says_what_was_looked_for(vault: Path) -> None:
    none = ask(vault, "How deep is slow-wave sleep?", "--as", "chart")
    assert none.code == 2 and "two numbers for the same quantity" in none.stderr and "“sleep”" in none.stderr
    assert "deepest stage of sleep" in none.stdout, "the answer is shown nevertheless"
    assert not (vault / "output/figures/how-deep-is-slow-wave-sleep.png").exists()


def test_a_form_is_written_where_out_says_and_nowhere_else_than_in_output(vault: Path) -> None:
    done = ask(vault, QUESTION, "--as", "canvas", "--out", "output/reports/sleep")
    assert done.code == 0 and json.loads((vault / "output/reports/sleep.canvas").read_text())["nodes"]
    for out in ("wiki/concepts/x.md", "../x.md", "output/proposals/x.md", "output/reports/../../raw/x.md", "raw/x"):
        refused = ask(vault, QUESTION, "--as", "report", "--out", out)
        assert refused.code == 2 and "output/reports" in refused.stderr, out
    assert ask(vault, QUESTION, "--out", "output/reports/x.md").code == 2
    assert ask(vault, QUESTION, "--as", "brief", "--things", "a,b").code == 2


def test_nothing_is_written_where_the_sources_say_nothing(vault: Path) -> None:
    for form in FORMS:
        done = ask(vault, "Who won the football match in Bern?", "--as", form)
        assert done.code == 2 and "no answer to save" in done.stderr


def test_a_form_of_an_agents_answer_cites_the_claims(vault: Path) -> None:
    question = "Why does slow-wave sleep strengthen memory?"
    assert ask(vault, question, "--engine", "agent").code == 4
    (order,) = retain("agent", "next", "--type", "answer", "--json", cwd=vault).json()["orders"]
    text = (vault / order["text"]).read_text(encoding="utf-8")
    replay = "Slow-wave sleep strengthens memory because the hippocampus replays the day to the cortex."
    line = next(line for line in text.split("\n") if line[:1] == "[" and "hippocampus" in line)
    said = f"{replay} {line[: line.index(']') + 1]}\n"
    assert retain("agent", "submit", "--order", order["id"], "-", cwd=vault, stdin=said).code == 0
    for form in FORMS:
        made = ask(vault, question, "--engine", "agent", "--as", form, "--file-back", "--json").json()
        shown = (vault / made["path"]).read_text()
        assert replay in shown and "wiki/summaries/" in shown and "^c-" in shown, form
        assert made["page"] == "wiki/answers/why-does-slow-wave-sleep-strengthen-memory.md"
    page = vault / made["page"]
    assert read_properties(page.read_text()).text("engine").startswith("agent")
