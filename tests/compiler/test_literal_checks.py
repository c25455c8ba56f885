"""What a small model wrote is checked by rule: a sentence stays if it is one that it cites, word for word."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from compiler.build.compile import Options, compile_vault
from compiler.protocol.requests import CheckItem, CheckRequest, ReadRequest, Request
from compiler.replies.asker import Answered, Failed
from compiler.replies.literal import LiteralChecks, literal_reply
from tests.builders import vault_with_sources
from tests.compiler.scripted import Scripted
from tests.compiler.shown_documents import shown
from tests.compiler.test_build import silent, tree
from tests.compiler.test_journaled import MITOSIS, MORNING
from vault.vault import Vault

ROPES = "# Ropes\n\nA halyard is a rope that hoists a sail. A sheet rarely chafes the deck. It weighs 4 kg when wet.\n"


def verdict(text: str, place: str = "1:1a", *, answer: str = "", mark: str = "", about: str = "Halyard") -> str:
    item = CheckItem(key="0" * 12, about=about, text=text, answer=answer, mark=mark, places=(place,))
    return literal_reply(CheckRequest(items=(item,), documents=shown(ROPES))).verdicts[0].verdict


@pytest.mark.parametrize(
    ("text", "place", "kept"),
    [
        ("A halyard is a rope that hoists a sail.", "1:1a", True),
        ("The halyard is the rope that hoists a sail", "1:1a", True),
        ("A sail is a rope that hoists a halyard.", "1:1a", False),  # exchanged sides
        ("A halyard is a rope that does not hoist a sail.", "1:1a", False),
        ("A halyard is a rope.", "1:1a", False),
        ("A sheet chafes the deck.", "1:1b", False),  # a hedge is lost
        ("It weighs 4 kg.", "1:1c", False),  # a condition is lost
        ("It weighs 5 kg when wet.", "1:1c", False),
        ("A halyard is a rope that hoists a sail.", "1:1b", False),  # another sentence
    ],
)
def test_a_sentence_stays_if_it_is_its_evidence(text: str, place: str, *, kept: bool) -> None:
    assert verdict(text, place) == ("ok" if kept else "drop")


def test_steps_go_and_cards_stay_in_the_words_of_their_evidence() -> None:
    assert verdict("A halyard is a rope that hoists a sail.", mark="derived") == "drop"
    assert verdict("What is a halyard?", answer="A rope that hoists a sail.") == "ok"
    assert verdict("What is a halyard?", answer="A rope that lowers a sail.") == "drop"
    assert verdict("Which capstan is a halyard?", answer="A rope that hoists a sail.") == "drop"


class Nobody:
    """A backend that has no answer."""

    name = "nobody"

    def __init__(self) -> None:
        self.asked: list[Request] = []

    def answers(self, requests: Sequence[Request]) -> Iterator[tuple[int, Answered | Failed]]:
        for n, request in enumerate(requests):
            self.asked.append(request)
            yield n, Failed("no answer")


@pytest.fixture
def cells(tmp_path: Path) -> Vault:
    return vault_with_sources(tmp_path / "vault", {"mitosis.md": MITOSIS})


def test_only_checks_are_answered_by_rule() -> None:
    other = Nobody()
    read = ReadRequest(documents=shown(ROPES))
    check = CheckRequest(
        items=(CheckItem(key="0" * 12, about="a", text="b", places=("1:1a",)),), documents=shown(ROPES)
    )
    answers = dict(LiteralChecks(other).answers([check, read, check]))
    assert other.asked == [read] and isinstance(answers[1], Failed)
    assert all(isinstance(a, Answered) and a.engine == "literal/1" for a in (answers[0], answers[2]))


SPINDLE = "CONCEPT Spindle"


@pytest.mark.parametrize("small", [True, False])
def test_rules_find_too_what_a_small_model_overlooks_and_again_in_a_rebuild(cells: Vault, *, small: bool) -> None:
    model = Scripted()
    model.reword = lambda of, answer: answer.partition(SPINDLE)[0] if of == "read" else answer
    backend = LiteralChecks(model) if small else model
    compile_vault(cells, Options(engine="claude"), MORNING, silent, backend=backend)
    pages = {path.stem for path in (cells.root / "wiki/concepts").glob("*.md")}
    assert ("spindle" in pages) == small and "mitosis" in pages
    before = tree(cells)
    shutil.rmtree(cells.root / ".retain")
    shutil.rmtree(cells.root / "wiki")
    compile_vault(cells, Options(engine="journal", fresh=True), MORNING, silent)
    assert tree(cells) == before
