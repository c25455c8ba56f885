"""Answers that were filed: what they rest on, that nothing rests on them, and when they are out of date."""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from compiler.query.answer_page import COMPARISON, SYNTHESIS, kind_of_question
from tests.commands import retain
from tests.compiler.agent_scene import SOUND, Scene, quarantined, why
from vault.model.answer_page import parse_page
from vault.model.frontmatter import read_properties

SLEEP = """# Sleep and memory

Slow-wave sleep is the deepest stage of sleep.

Consolidation is the process by which a new memory becomes stable.
"""
NAPS = """# Naps

A nap is a short sleep during the day. Naps of 90 minutes help learners as well as a night does.
"""
ANSWER = "wiki/answers/what-is-consolidation.md"
_LINK = re.compile(r"\[\[((?:wiki|raw|learning)/[^\]|#\\]+)(#[^\]|\\]*)?(?:\\?\|([^\]]*))?\]\]")


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made-once") / "vault"
    assert retain("init", str(root), "--no-git", cwd=root.parent).code == 0
    (root / "raw/sleep.md").write_text(SLEEP)
    (root / "raw/naps.md").write_text(NAPS)
    assert retain("compile", cwd=root).code == 0
    return root


@pytest.fixture
def vault(tmp_path: Path, made_once: Path) -> Path:
    return Path(shutil.copytree(made_once, tmp_path / "vault"))


def file_back(vault: Path, question: str) -> str:
    page = retain("ask", question, "--file-back", "--json", cwd=vault).json()["page"]
    assert isinstance(page, str)
    return page


def rests_on(vault: Path) -> dict[str, set[str]]:
    """Return for each page of the wiki the files that it cites or names as sources, read by rules of this test's own.

    A citation is a link to a block of another page, or one shown as a number.
    """
    graph: dict[str, set[str]] = defaultdict(set)
    for file in sorted(vault.glob("wiki/*/*.md")):
        path, text = file.relative_to(vault).as_posix(), file.read_text(encoding="utf-8")
        front, _, body = text.removeprefix("---\n").partition("\n---\n")
        for target, anchor, shown in _LINK.findall(body):
            is_citation = anchor.startswith(("#^c-", "#^q-")) or shown.isdecimal()
            if is_citation and f"{target}.md" != path:  # a summary cites the claims that it records
                graph[path].add(f"{target}.md")
        graph[path] |= {f"{target}.md" for target, _, _ in _LINK.findall(front)}
        graph[path] |= set(re.findall(r"^source: (\S+)$", front, re.MULTILINE))
    return graph


def reached(graph: dict[str, set[str]], path: str) -> set[str]:
    """Return everything that a page rests on, directly or not."""
    found, todo = set[str](), [path]
    while todo:
        for each in graph.get(todo.pop(), set()) - found:
            found.add(each)
            todo.append(each)
    return found


def findings(vault: Path, rule: str) -> list[str]:
    told = retain("lint", "--rule", rule, "--json", cwd=vault).json()["findings"]
    return [each["path"] for each in told]


def test_nothing_ever_rests_on_an_answer(vault: Path) -> None:
    """Answers are filed on answers, one is copied into raw/ and one among the articles, one cites another."""
    first = file_back(vault, "What is consolidation?")
    (vault / "raw/copied.md").write_text((vault / first).read_text())
    told = retain("compile", "--json", cwd=vault).json()
    assert [f["path"] for f in told["failures"]] == ["raw/copied.md"], "an answer is not read as a source"
    file_back(vault, "How long do naps help learners?")
    file_back(vault, "What is consolidation and what is a nap?")
    (vault / "wiki/concepts/by-hand.md").write_text((vault / first).read_text())
    retain("compile", cwd=vault)
    file_back(vault, "What does consolidation do to a memory?")
    graph = rests_on(vault)
    answers = {path for path in graph if path.startswith("wiki/answers/")}
    assert len(answers) == 4 and all(graph[path] for path in answers), "the walk sees what they cite"
    for path in graph:
        below = reached(graph, path)
        assert path not in below and not below & answers and "raw/copied.md" not in below
    assert not findings(vault, "circular")


def test_a_citation_of_an_answer_is_a_fault(vault: Path) -> None:
    first, second = file_back(vault, "What is consolidation?"), file_back(vault, "What is a nap?")
    assert retain("verify", cwd=vault).code == 0
    target = first.removesuffix(".md")
    with (vault / second).open("a") as file:
        file.write(f"\nMemory becomes stable. [[{target}#^c-0123456789|1]]\n")
    (article,) = [path for path in vault.glob("wiki/concepts/*.md") if "nsolidation" in path.read_text()][:1]
    article.write_text(article.read_text() + f"\nMemory is stable. [[{target}|1]]\n")
    assert set(findings(vault, "circular")) == {second, article.relative_to(vault).as_posix()}
    uncited = retain("verify", "--json", cwd=vault).json()["uncited"]
    assert {each["path"] for each in uncited} == {second, article.relative_to(vault).as_posix()}
    named = vault / "wiki/answers/named.md"
    named.write_text(f'---\ntype: synthesis\ntitle: x\nsources:\n  - "[[{target}|x]]"\n---\n\n# x\n')
    assert "wiki/answers/named.md" in findings(vault, "circular")


def test_a_link_to_an_answer_that_is_no_evidence_is_none(vault: Path) -> None:
    page = file_back(vault, "What is consolidation?")
    (vault / "insights/mine.md").write_text(f"See [[{page.removesuffix('.md')}|the answer]].\n")
    assert not findings(vault, "circular") and not findings(vault, "broken-link")


def test_a_statement_without_a_citation_and_too_much_confidence_are_found_in_an_answer(vault: Path) -> None:
    page = file_back(vault, "What is consolidation?")
    assert not findings(vault, "uncited") and page not in findings(vault, "confidence")
    text = re.sub(r"\bconfidence: .*$", "confidence: high", (vault / page).read_text(), flags=re.MULTILINE)
    (vault / page).write_text(f"{text}\nA nap makes everybody rich.\n")
    assert findings(vault, "uncited") == [page] and page in findings(vault, "confidence")


def test_an_answer_is_out_of_date_when_a_claim_below_it_changes(vault: Path) -> None:
    page = file_back(vault, "What is consolidation?")
    assert not findings(vault, "answer-stale")
    (vault / "raw/sleep.md").write_text(SLEEP.replace("becomes stable", "becomes firm"))
    assert retain("compile", cwd=vault).code == 0
    (found,) = retain("lint", "--rule", "answer-stale", "--json", cwd=vault).json()["findings"]
    assert found["path"] == page == ANSWER
    assert found["hint"] == "`retain ask 'What is consolidation?' --file-back`"
    assert retain("verify", cwd=vault).code == 1, "its quote is in no source any more"
    assert file_back(vault, "What is consolidation?") == page
    assert not findings(vault, "answer-stale") and retain("verify", cwd=vault).code == 0


def test_words_that_were_changed_in_an_answer_are_found(vault: Path) -> None:
    page = vault / file_back(vault, "What is consolidation?")
    page.write_text(page.read_text().replace("becomes stable", "becomes a stone", 1))
    (found, *_) = retain("verify", "--json", cwd=vault).json()["uncited"]
    assert found["path"] == ANSWER and "changed after retain wrote it" in found["reason"]
    (open_,) = retain("lint", "--rule", "unsupported", "--json", cwd=vault).json()["findings"]
    assert (open_["path"], open_["line"]) == (ANSWER, found["line"]) and "changed after retain wrote it" in open_[
        "message"
    ]


def test_a_sentence_that_its_claims_do_not_bear_out_is_found_in_an_answer(vault: Path) -> None:
    page = vault / file_back(vault, "What is consolidation?")
    assert not findings(vault, "unsupported")
    cite = re.search(r"\[\[wiki/summaries/[^\]]*#\^c-[^\]]*\]\]", page.read_text())
    assert cite is not None
    page.write_text(page.read_text() + f"\nConsolidation takes 90 years. {cite[0]}\n")
    assert findings(vault, "unsupported") == [ANSWER]


def test_a_page_says_what_it_is_made_of(vault: Path) -> None:
    text = (vault / file_back(vault, "What is consolidation?")).read_text()
    properties, page = read_properties(text), parse_page(text)
    assert properties.text("inferred") == "true" and properties.text("question") == "What is consolidation?"
    assert properties.text("engine").startswith("extractive/") and properties.text("created") and page.claims
    cited = {str(cite.claim) for quote in page.quotes for cite in quote.cites}
    assert cited == set(page.claims) and all(quote.path == "raw/sleep.md" for quote in page.quotes)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is the spacing effect?", SYNTHESIS),
        ("Why does sleep help memory other than by rest?", SYNTHESIS),
        ("What is the difference between recall and recognition?", COMPARISON),
        ("Is recall harder than recognition?", COMPARISON),
        ("Which is older, the abacus or the slide rule?", COMPARISON),
        ("Worin unterscheiden sich Kurzzeit- und Langzeitgedächtnis?", COMPARISON),
        ("Anki vs. SuperMemo", COMPARISON),
    ],
)
def test_what_compares_is_a_comparison(question: str, kind: str) -> None:
    assert kind_of_question(question) == kind


def test_an_agents_answer_goes_through_the_checks_of_articles(scene: Scene) -> None:
    own, cites = "wiki/answers/does-recall-help.md", scene.claim("every successful recall makes the next recall easier")
    text = f"# Does recall help?\n\n{SOUND} {cites} {scene.claim('instead of reading')}\n\nIt cures everything.\n"
    settled = scene.agent(lambda: scene.write(own, text))
    assert [each.path for each in settled.kept] == [own] and [each.path for each in settled.unsupported] == [own]
    properties = read_properties(scene.text(own))
    assert properties.text("type") == SYNTHESIS and properties.text("inferred") == "true"
    scene.compile()
    assert SOUND in scene.text(own) and "Answers (1)" in scene.text("wiki/_index.md")
    found = scene.verify().uncited
    assert [(each["path"], "cites nothing" in each["reason"]) for each in found] == [(own, True)]


def test_an_agent_does_not_change_an_answer_that_retain_filed(scene: Scene) -> None:
    page = retain("ask", "What is retrieval practice?", "--file-back", "--json", cwd=scene.root).json()["page"]
    before = scene.text(page)
    settled = scene.agent(lambda: scene.write(page, before + "\nAnd more.\n"))
    assert scene.text(page) == before and page in quarantined(settled) and "retain wrote this answer" in why(settled)
