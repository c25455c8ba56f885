"""The words of the quiz."""

from __future__ import annotations

from vault.log.grading import Cost
from vault.text.formatting import plural

TITLE = "Quiz"
READING = "reading …"
THINKING = "waiting for the model …"
ENDED = "ended"
INVITES = "Answer in your own words; enter sends it"
WHICH = "Which topic?"
NO_TOPICS = "There are no topics yet: `retain compile` creates them."
NEEDS = (
    "A quiz needs a language model, and none is configured. Reviews work without one.",
    "",
    "Set the model in your own config.toml, not in a vault:",
)
EXAMPLE = ("[engine]", 'use = "claude"', "", "[engine.models]", 'quiz = "NAME OF A MODEL"')
SENT = "The topic's articles and your answers are sent to the model. The API key is read from ANTHROPIC_API_KEY."
TUTOR, YOU = "Tutor", "You"
RIGHT, MISSING = "What you knew", "What was missing"
IN_ARTICLE = "See the article."
NOTHING_SAID = "The articles contain nothing to check your answers against."
AFTER = "No card was rated. Press r to review the topic's cards."


def points_to(title: str) -> str:
    return f"→ {title} (ctrl+o opens the article)"


def above(topic: str, engine: str, place: str, cost: Cost) -> str:
    """Return the top line: the topic, the engine, its address if it is not the usual one, and its tokens."""
    tokens = cost.input_tokens + cost.output_tokens
    return " · ".join(filter(None, (topic, engine.split(" ")[1] if " " in engine else engine, place, _taken(tokens))))


def _taken(tokens: int) -> str:
    return plural(tokens, "token") if tokens else ""
