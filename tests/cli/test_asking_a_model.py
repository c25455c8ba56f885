"""`retain ask` with a model: what it is shown, what it may cite, what becomes of what the sources lack, follow-ups."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Result, Run, retain
from tests.compiler.messages_server import MessagesServer, Reply, message, said, serving
from tests.compiler.scripted_model import type_of
from vault.config.engine import COMPILING
from vault.model.frontmatter import read_properties

SLEEP = """# Sleep and memory

Slow-wave sleep is the deepest stage of sleep.

Consolidation is the process by which a new memory becomes stable.

## Exercises

Consolidation takes about two nights.
"""
NIGHTS = "Consolidation takes about two nights."  # in a section of which no claims are made
STABLE = "Consolidation is the process by which a new memory becomes stable."


@dataclass
class Asker:
    """A compiled vault and a model that answers as `answer` says; `shown` are the texts that it was shown."""

    root: Path
    config: Path
    server: MessagesServer
    run: Run
    answer: dict[str, Any] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)

    def retain(self, *arguments: str) -> Result:
        env = {"XDG_CONFIG_HOME": str(self.config), "TEST_KEY": "sk-canary-1"}
        return self.run(*arguments, cwd=self.root, env=env)

    def configure(self, rest: str = "") -> None:
        models = "".join(f'{role} = "m"\n' for role in COMPILING)
        text = f'[engine]\nbase_url = "{self.server.url}"\nkey_env = "TEST_KEY"\n{rest}\n[engine.models]\n{models}'
        (self.config / "retain").mkdir(parents=True, exist_ok=True)
        (self.config / "retain/config.toml").write_text(text)

    def ask(self, *words: str) -> dict[str, Any]:
        done = self.retain("ask", *words, "--engine", "claude", "--json")
        assert done.code == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def reply(self, body: dict[str, Any]) -> Reply:
        """Answer with the lines of `answer`, each with the place at which its source has the words."""
        text = body["messages"][0]["content"]
        self.shown.append(text)
        if type_of(body) == "check":
            return message("OK")
        lines = [f"{words} [{place_of(quote, text, claims=claims)}]" for words, quote, claims in self.answer["says"]]
        lines += [f"MISSING {self.answer['lacks']}"] if self.answer.get("lacks") else []
        return message("\n".join(lines))


def place_of(quote: str, text: str, *, claims: bool) -> str:
    """The number of the claim, or the place of the passage, that has these words in a request."""
    if claims:
        return next(m[1] for m in re.finditer(r"^\[(\d+)\] (.*)$", text, re.MULTILINE) if quote in m[2])
    label, words = next(
        (m[1], m[2])
        for m in re.finditer(r"^\[(\d+:\d+)\] (.*(?:\n(?!\[|=).*)*)", text, re.MULTILINE)
        if quote in re.sub(r"\{[a-z]\} ?", "", m[2]).replace("\n", " ")
    )
    letters = re.findall(r"\{([a-z])\}", words[: words.index(quote)])
    return label + (letters[-1] if letters else "")


@pytest.fixture(scope="module")
def sleep_vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("sleep") / "vault"
    assert retain("init", str(root), "--no-git", cwd=root.parent).code == 0
    (root / "raw/sleep.md").write_text(SLEEP)
    assert retain("compile", cwd=root).code == 0
    return root


@pytest.fixture
def asker(tmp_path: Path, run: Run, sleep_vault: Path) -> Iterator[Asker]:
    root = Path(shutil.copytree(sleep_vault, tmp_path / "vault"))
    with serving(said({})) as server:
        made = Asker(root, tmp_path / "config", server, run)
        server.answer = made.reply
        made.configure()
        yield made


def test_an_answer_rests_on_claims_and_on_passages_that_no_claim_has(asker: Asker) -> None:
    asker.answer = {"says": [(STABLE, STABLE, True), (NIGHTS, NIGHTS, False)]}
    told = asker.ask("What is consolidation?", "--file-back")
    assert [s["text"] for s in told["sentences"]] == [STABLE, NIGHTS]
    claim, passage = told["claims"]
    assert claim["id"] and claim["quote"] == STABLE
    assert passage["id"] is None and passage["quote"] == NIGHTS and passage["source"] == "raw/sleep.md"
    page = (asker.root / told["page"]).read_text()
    assert f"> {NIGHTS}" in page and "[[raw/sleep|raw/sleep.md]]" in page and "|q1]]" in page
    assert read_properties(page).text("engine").startswith("claude/")
    assert asker.retain("verify").code == 0
    (asker.root / "raw/sleep.md").write_text(SLEEP.replace("two nights", "four nights"))
    assert asker.retain("compile", "--engine", "extractive").code == 0
    uncited = json.loads(asker.retain("verify", "--json").stdout)["uncited"]
    assert any("does not occur in raw/sleep.md" in each["reason"] for each in uncited)


def test_the_index_comes_first_then_articles_claims_and_passages(asker: Asker) -> None:
    asker.answer = {"says": [(STABLE, STABLE, True)]}
    asker.ask("What is consolidation?")
    (text,) = asker.shown
    order = [text.index(part) for part in ("QUESTION What is", "OTHER PAGES ", "ARTICLE ", "\n[1] ", "=== DOCUMENT 1")]
    assert order == sorted(order)
    article = text[text.index("ARTICLE ") : text.index("\n[1] ")]
    assert re.search(r"becomes stable\. \[\d+\]", article), "its sentences have the numbers of their claims"


def test_what_a_passage_does_not_say_is_not_in_an_answer(asker: Asker) -> None:
    asker.answer = {"says": [("It takes about seven nights.", NIGHTS, False), (STABLE, STABLE, True)]}
    told = asker.ask("How long does consolidation take?")
    assert [s["text"] for s in told["sentences"]] == [STABLE]
    assert [r["words"] for r in told["refused"]] == ["It takes about seven nights."]


def test_what_the_sources_lack_is_a_gap_until_an_answer_lacks_nothing(asker: Asker) -> None:
    question = "How does consolidation work in birds?"
    asker.answer = {"says": [(STABLE, STABLE, True)], "lacks": "How it works in birds."}
    assert asker.ask(question)["missing"] == "How it works in birds."
    assert asker.retain("compile").code == 0
    (gap,) = gaps(asker)
    assert gap["what"] == question and gap["reason"] == "How it works in birds" and gap["kind"] == "epistemic"
    birds = "In birds, consolidation happens during the song of the day."
    (asker.root / "raw/birds.md").write_text(f"# Birds\n\n{birds}\n")
    assert asker.retain("compile").code == 0 and len(gaps(asker)) == 1
    asker.answer = {"says": [(birds, birds, False)]}
    told = asker.ask(question)
    assert told["changed"]["new"] == [birds] and told["changed"]["gone"] == [STABLE]
    assert asker.retain("compile").code == 0 and not gaps(asker)
    found = json.loads(asker.retain("gaps", "list", "--all", "--json").stdout)["gaps"]
    assert [each["status"] for each in found if each["what"] == question] == ["filled"]


def test_a_gap_of_a_question_can_be_ignored(asker: Asker) -> None:
    asker.answer = {"says": [], "lacks": "Nothing is said of fish."}
    asker.ask("How do fish sleep?")
    assert asker.retain("compile").code == 0
    (gap,) = gaps(asker)
    assert asker.retain("gaps", "ignore", gap["id"]).code == 0 and asker.retain("compile").code == 0
    asker.ask("How do fish sleep?")
    assert asker.retain("compile").code == 0 and not gaps(asker)


def test_a_question_without_a_model_becomes_a_gap_where_it_is_asked_twice(asker: Asker) -> None:
    """Once may have been a slip of the pen."""
    for count in range(3):
        assert asker.retain("compile").code == 0
        assert len(gaps(asker)) == (count > 1)
        assert asker.retain("ask", "Who", "won", "the", "football", "match?").code == 0
    assert asker.retain("ask", "What is a regatta in Kiel?", "--file-back").code == 2
    assert asker.retain("compile").code == 0
    assert "What is a regatta in Kiel?" in [each["what"] for each in gaps(asker)]


def gaps(asker: Asker) -> list[dict[str, Any]]:
    """The open gaps that questions left."""
    found = json.loads(asker.retain("gaps", "list", "--kind", "epistemic", "--json").stdout)["gaps"]
    return [each for each in found if each["what"].endswith("?")]


def test_a_follow_up_is_sent_with_what_was_asked_before(asker: Asker) -> None:
    asker.answer = {"says": [(STABLE, STABLE, True)]}
    asker.ask("What is consolidation?")
    asker.answer = {"says": [(NIGHTS, NIGHTS, False)]}
    told = asker.ask("--continue", "How", "long", "does", "it", "take?")
    assert told["question"] == "How long does it take?" and [s["text"] for s in told["sentences"]] == [NIGHTS]
    text = asker.shown[-1]
    assert "QUESTION How long does it take?" in text
    assert f"BEFORE What is consolidation?\n  answered: {STABLE}" in text and "BEFORE" not in asker.shown[0]


def test_a_question_is_paid_once(asker: Asker) -> None:
    asker.answer = {"says": [(STABLE, STABLE, True)]}
    asker.ask("What is consolidation?")
    count = len(asker.server.asked)
    asker.ask("What is consolidation?")
    assert len(asker.server.asked) == count


def test_what_is_shown_fits_into_the_budget(asker: Asker) -> None:
    """By the size of the model, as the parts of documents that a compile sends."""
    many = "\n\n".join(f"Consolidation of kind {n} is a process that takes {n} hours of sleep." for n in range(1_000))
    (asker.root / "raw/many.md").write_text(f"# Kinds\n\n## Exercises\n\n{many}\n")  # no claims are made of them
    assert asker.retain("compile", "--engine", "extractive").code == 0
    asker.answer = {"says": [], "lacks": "All of it."}
    for settings, most in (("", 62_000), ('size = "small"', 8_000)):
        asker.configure(settings)
        asker.shown.clear()
        asker.ask("How many hours of sleep does consolidation take?")
        assert most / 2 < len(asker.shown[0]) < most
