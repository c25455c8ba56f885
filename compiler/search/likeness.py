"""What ranks entries for a search besides words, as the user's own settings choose: an embedding model, a program."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from compiler.search.program import ranked_by_program
from compiler.search.search import WORDS_BESIDE, Likeness, Ranking
from compiler.search.semantic import nearest_by
from vault.config.search import SearchSettings, search_settings
from vault.index.database import Database


def chosen_likeness(progress: Callable[[dict[str, Any]], None]) -> Likeness | None:
    """Return what ranks entries besides words, as the user's settings choose; None for nothing.

    Raises: UsageError if the package that a model needs is missing; Damaged for settings that cannot be read.
    """
    return likeness_by(search_settings(), progress)


def likeness_by(settings: SearchSettings, progress: Callable[[dict[str, Any]], None]) -> Likeness | None:
    """Return what ranks entries by these settings; None for nothing. Raises: UsageError; on use, Refused."""
    nearest = nearest_by(settings.model, progress) if settings.model else None
    found = partial(ranked_by_program, settings.program, progress) if settings.program else None
    if nearest is None and found is None:
        return None

    def rankings(database: Database, query: str) -> list[Ranking]:
        out = [nearest(database, query)] if nearest else []
        out += (
            [Ranking(kind, numbers, WORDS_BESIDE) for kind, numbers in found(database, query).items()] if found else []
        )
        return out

    return rankings
