"""Who writes the articles and cards of a build: a model through its journal, or the embedded engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from compiler.articles.sources import Sources
from compiler.concepts.resolve import Resolved
from compiler.gates.checks import Pair, Verdicts
from compiler.model.report import Rejection
from compiler.model.requests import Request
from compiler.replies.asker import Asker
from compiler.workers.engine_client import EmbeddedAsker


@dataclass(frozen=True, slots=True)
class Writer:
    """A model or the embedded engine as the writer of articles and cards.

    `verdicts` is None for the embedded engine, whose words need no check: they are the sources'.
    """

    asker: Asker | EmbeddedAsker
    engine: str
    verdicts: Verdicts | None
    reasons: Mapping[str, tuple[str, ...]]

    @property
    def is_model(self) -> bool:
        """Return whether a model or an agent writes, whose words are checked."""
        return self.verdicts is not None

    def reasons_for(self, concept: str) -> tuple[str, ...]:
        """Return the reasons to mention in a request; the embedded engine cannot use any."""
        return self.reasons.get(concept, ()) if self.is_model else ()

    def check(self, pairs: Iterable[Pair], *, judged: bool = False) -> None:
        """Have words checked against their evidence where rules cannot tell, with `judged` all of them.

        Raises: what the asker raises.
        """
        if self.verdicts is not None and isinstance(self.asker, Asker):
            self.verdicts.settle(pairs, self.asker, judged=judged)

    def refused(
        self, rejections: Iterable[Rejection], concept: Resolved, path: str, request: Request, sources: Sources
    ) -> list[Rejection]:
        """Return the rejections with the page that the words were for, the sources behind them, and who wrote them."""
        paths = tuple(dict.fromkeys(sources.by_id[c.source].tracked.path for c in concept.main))
        by, at = self.asker.said(request)
        return [replace(r, path=path, sources=paths, said_by=by or self.engine, at=at) for r in rejections]
