"""The engines that the user has configured for grading and for a quiz: none unless they said so themselves."""

from __future__ import annotations

from collections.abc import Mapping

from vault import engine_settings
from vault.grading import Grader, Tutor


def grader(environment: Mapping[str, str]) -> Grader:
    """Who grades typed answers. Raises: ModelUnavailable where nobody is to; Damaged, of the user's settings."""
    settings = engine_settings.of_user()
    model = settings.model("grade")
    key = settings.key(environment)
    from compiler.engines.grader import ModelGrader
    from compiler.engines.messages import speaker

    return ModelGrader(speaker(settings, model, key), settings.place)


def tutor(environment: Mapping[str, str]) -> Tutor:
    """Who asks in a quiz. Raises as `grader` does."""
    settings = engine_settings.of_user()
    model = settings.model("quiz")
    key = settings.key(environment)
    from compiler.engines.messages import speaker
    from compiler.engines.tutor import ModelTutor

    return ModelTutor(speaker(settings, model, key), settings.place)
