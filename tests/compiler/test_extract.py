"""Without a model a question is answered by quotes, each with its place; weak evidence is called weak."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.orders.answer import answer_question
from compiler.orders.board import OrderDesk
from compiler.query.answer import Answer
from tests.builders import make_vault
from tests.compiler.test_search import KNOTS, NOON, ROPES
from vault.vault import Vault


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = make_vault(tmp_path / "v", {"raw/articles/ropes.md": ROPES, "raw/articles/knots.md": KNOTS})
    compile_vault(made, Options(), NOON, lambda event: None)
    return made


def answer(vault: Vault, question: str) -> Answer:
    return answer_question(OrderDesk(vault), question, "extractive", NOON)


def test_the_sentence_that_states_the_answer_is_quoted_with_its_place_and_article(vault: Vault) -> None:
    told = answer(vault, "What is a halyard?")
    first = told.quotes[0]
    assert first.text.startswith("A halyard is a rope that hoists a sail.") and not told.is_weak and not told.missing
    assert first.path == "raw/articles/ropes.md" and ("wiki/concepts/halyard.md", "Halyard") in first.articles


def test_a_word_that_is_nowhere_is_named_and_the_rest_is_answered(vault: Vault) -> None:
    told = answer(vault, "How does brackish salt water harm ropes?")
    assert "stiff" in told.quotes[0].text and "brackish" in told.missing


def test_a_question_of_which_the_sources_have_few_words_has_weak_evidence(vault: Vault) -> None:
    told = answer(vault, "How long does sourdough bread rise before a baker shapes the dough by a rope pattern?")
    assert told.quotes and told.is_weak and "weak" in told.missing


def test_where_nothing_is_said_nothing_is_quoted(vault: Vault) -> None:
    told = answer(vault, "Who won the football match in Bern?")
    assert told.quotes == () and told.is_weak and "football" in told.missing
