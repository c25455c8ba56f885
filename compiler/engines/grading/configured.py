"""The engines that the user has configured for grading and for a quiz: none unless they said so themselves."""

from __future__ import annotations

from collections.abc import Mapping

from vault.config import engine
from vault.log.grading import Grader, Tutor


def grader(environment: Mapping[str, str]) -> Grader:
    """Who grades typed answers. Raises: ModelUnavailable where nobody is to; Damaged, of the user's settings."""
    settings = engine.of_user()
    model = settings.model("grade")
    key = settings.key(environment)
    from compiler.engines.claude.messages import speaker
    from compiler.engines.grading.grader import ModelGrader

    return ModelGrader(speaker(settings, model, key), settings.place)


def tutor(environment: Mapping[str, str]) -> Tutor:
    """Who asks in a quiz. Raises as `grader` does."""
    settings = engine.of_user()
    model = settings.model("quiz")
    key = settings.key(environment)
    from compiler.engines.claude.messages import speaker
    from compiler.engines.grading.tutor import ModelTutor

    return ModelTutor(speaker(settings, model, key), settings.place)
