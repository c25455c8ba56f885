"""The grader and the tutor that the user has configured; there is none by default."""

from __future__ import annotations

from collections.abc import Mapping

from compiler.engines.claude.client import Claude
from compiler.engines.grading.grader import ModelGrader
from compiler.engines.grading.tutor import ModelTutor
from vault.config import engine
from vault.log.grading import Grader, Tutor

_clients: dict[tuple[str, str, str], Claude] = {}  # creating one takes seconds, and it learns what its server supports


def grader(environment: Mapping[str, str]) -> Grader:
    """Return what grades typed answers. Raises: ModelUnavailable where none is configured; Damaged settings."""
    client, place = _client("grade", environment)
    return ModelGrader(client, place)


def tutor(environment: Mapping[str, str]) -> Tutor:
    """Return what asks the questions of a quiz. Raises: as `grader`."""
    client, place = _client("quiz", environment)
    return ModelTutor(client, place)


def _client(role: str, environment: Mapping[str, str]) -> tuple[Claude, str]:
    settings = engine.of_user()
    model, key = settings.model(role), settings.key(environment)
    identity = (settings.base_url, model, key)
    if identity not in _clients:
        _clients[identity] = Claude(settings, model, key)
    return _clients[identity], settings.place
