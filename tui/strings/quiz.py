"""What is said round a quiz."""

from __future__ import annotations

from tui.text.formats import counted
from vault.log.grading import Cost

TITLE = "Quiz"
READING = "reading …"
THINKING = "the tutor thinks …"
ENDED = "ended"
INVITES = "Answer in your own words; enter sends it"
WHICH = "Which topic?"
NO_TOPICS = "There are no topics yet: `retain compile` makes them from what you read."
NEEDS = (
    "A quiz is held by a language model, and none may be asked yet. Reviews need none.",
    "",
    "In your own settings, never in a vault, say which model:",
)
EXAMPLE = ("[engine]", 'use = "claude"', "", "[engine.models]", 'quiz = "NAME OF A MODEL"')
SENT = "The articles of the topic and what you write are sent to it. The key is read from ANTHROPIC_API_KEY."
TUTOR, YOU = "Tutor", "You"
RIGHT, MISSING = "What you knew", "What was missing"
IN_ARTICLE = "It stands in the article."
NOTHING_SAID = "The tutor found nothing in the articles to hold your answers against."
AFTER = "Nothing was rated. r reviews the cards of this topic now."


def points_to(title: str) -> str:
    return f"→ {title}: ctrl+o opens it"


def above(topic: str, engine: str, place: str, cost: Cost) -> str:
    """What stands at the head: the topic, who asks, where that is no usual place, and what it has taken."""
    tokens = cost.input_tokens + cost.output_tokens
    return " · ".join(filter(None, (topic, engine.split(" ")[1] if " " in engine else engine, place, _taken(tokens))))


def _taken(tokens: int) -> str:
    return counted(tokens, "token") if tokens else ""
