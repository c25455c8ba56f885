import pytest

from compiler.engines.extractive.questions.worth import Evidence, worth_asking


@pytest.mark.parametrize(
    ("kind", "question", "answer", "quote", "title"),
    [
        (
            "definitional",
            "What is a kite?",
            "A tethered craft that flies on wind.",
            "A kite is a tethered craft that flies on wind.",
            "Kite",
        ),
        (
            "definitional",
            "What is the lift of a kite?",
            "The force that wind exerts.",
            "The lift of a kite is the force that wind exerts.",
            "Lift of a kite",
        ),
        (
            "mechanistic",
            "Why does a kite rise?",
            "Because wind pushes it upwards.",
            "A kite rises because wind pushes it upwards.",
            "Kite",
        ),
        ("mechanistic", "What does a keel prevent?", "Drift to leeward.", "A keel prevents drift to leeward.", "Keel"),
        (
            "mechanistic",
            "What does a keel help a boat to do?",
            "Hold its course.",
            "A keel helps a boat to hold its course.",
            "Keel",
        ),
    ],
)
def test_a_question_with_one_answer_is_worth_asking(
    kind: str, question: str, answer: str, quote: str, title: str
) -> None:
    assert worth_asking(kind, question, answer, Evidence(quote, title, defined=True))


@pytest.mark.parametrize(
    ("kind", "question", "answer", "quote", "title"),
    [
        ("mechanistic", "What does a keel do?", "Holds the course.", "A keel holds the course.", "Keel"),
        ("mechanistic", "What do keels require?", "Ballast.", "Keels require ballast.", "Keel"),
        ("mechanistic", "What happens in a gale?", "Sails are reefed.", "In a gale, sails are reefed.", "Gale"),
        ("applied", "What can a rope be applied to?", "Rigging.", "A rope can also be applied to rigging.", "Rope"),
        (
            "mechanistic",
            "Why is ballast a crucial part of sailing?",
            "Because boats heel.",
            "Ballast is crucial.",
            "Ballast",
        ),
        ("mechanistic", "Why is it called “the doldrums”?", "Because there is no wind.", "It has no wind.", "Doldrums"),
        ("applied", "When is f(x) zero?", "At the root.", "f(x) is zero at the root.", "Root"),
        (
            "applied",
            "When is a sail full?",
            "When it draws, and slack otherwise.",
            "A sail is full when it draws.",
            "Sail",
        ),
        (
            "definitional",
            "What are the ropes?",
            "Lines that carry load.",
            "The ropes are lines that carry load.",
            "Rope",
        ),
        (
            "definitional",
            "What is the boat's trim?",
            "Its attitude in water.",
            "The boat's trim is its attitude.",
            "Trim",
        ),
        (
            "definitional",
            "What is the unit?",
            "A stretch of the line.",
            "A rope has the unit, which is a stretch.",
            "Unit",
        ),
        (
            "definitional",
            "What are sheets?",
            "Ropes that control sails.",
            "In sailing, ropes that control sails are sheets.",
            "Sheet",
        ),
        ("definitional", "What is a jib?", "A type of sail.", "A jib is a type of sail.", "Jib sail"),
    ],
)
def test_a_question_that_many_answers_fit_or_that_needs_its_page_is_not(
    kind: str, question: str, answer: str, quote: str, title: str
) -> None:
    assert not worth_asking(kind, question, answer, Evidence(quote, title, defined=True))
