"""What a small model wrote is checked by rule: a sentence stays if it is one that it cites, word for word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from compiler.protocol.requests import CheckItem, CheckRequest, ReadRequest, Request
from compiler.replies.asker import Answered, Failed
from compiler.replies.literal import LiteralChecks, literal_reply
from tests.compiler.shown_documents import shown

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


def test_only_checks_are_answered_by_rule() -> None:
    other = Nobody()
    read = ReadRequest(documents=shown(ROPES))
    check = CheckRequest(
        items=(CheckItem(key="0" * 12, about="a", text="b", places=("1:1a",)),), documents=shown(ROPES)
    )
    answers = dict(LiteralChecks(other).answers([check, read, check]))
    assert other.asked == [read] and isinstance(answers[1], Failed)
    assert all(isinstance(a, Answered) and a.engine == "literal/1" for a in (answers[0], answers[2]))
