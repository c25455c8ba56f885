"""What only a reader can tell is asked of a model or an agent once: which statements conflict, which names are one.

The answers are in the journal of replies, where every later check finds them.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from compiler.claims.conflicts import MOST_ASKED
from compiler.lint.names import doubtful_pairs
from compiler.lint.statements import Pair, doubtful, key_of
from compiler.lint.wiki import Page, Wiki
from compiler.orders.answer import Progress, asker_of
from compiler.orders.board import OrderDesk
from compiler.orders.files import save_questions
from compiler.protocol.requests import NameLine, PairView, ReconcileRequest, Request, SettleRequest, Side
from compiler.replies.asker import Backend, Waiting

_MOST_NAMES = 120  # of one request
HINT = "get it as a work order with `retain agent next`, then run `retain lint` again"


def judge(wiki: Wiki, desk: OrderDesk, engine: str, at: datetime, backend: Backend | None, progress: Progress) -> int:
    """Ask what nobody has answered yet; return how many requests that were.

    Raises: Waiting where some stay open, with `engine` "agent" after orders for them were saved; LockHeld.
    """
    requests = list(open_requests(wiki))
    if not requests:
        return 0
    with asker_of(desk, backend, at, progress, HINT) as asker:
        try:
            asker.ask(requests, "reconcile")
        except Waiting:
            if engine == "agent":
                save_questions(wiki.vault, requests)
            raise
    return len(requests)


def open_requests(wiki: Wiki) -> Iterator[Request]:
    """Yield the requests for what is in doubt and was not judged."""
    pairs = [_view(pair, wiki) for pair in doubtful(wiki)]
    for n in range(0, len(pairs), MOST_ASKED):
        yield ReconcileRequest(pairs=tuple(pairs[n : n + MOST_ASKED]))
    names = dict.fromkeys(page for pair in doubtful_pairs(wiki) for page in pair)
    lines = [_line(page) for page in sorted(names, key=lambda page: page.path)]
    for n in range(0, len(lines), _MOST_NAMES):
        yield SettleRequest(names=tuple(lines[n : n + _MOST_NAMES]))


def _view(pair: Pair, wiki: Wiki) -> PairView:
    """Return a pair of statements as it is asked about."""
    sides = []
    for statement in (pair.first, pair.second):
        source = wiki.summaries.get(min(statement.sources, default=""))
        title, day = ("", "") if source is None else (source.properties.text(k) for k in ("title", "published"))
        sides.append(Side(words=statement.words, source=title or statement.path, published=day))
    return PairView(key=key_of(pair.first, pair.second), about=pair.subject, a=sides[0], b=sides[1])


def _line(page: Page) -> NameLine:
    """Return an article's name as it is asked about: with its first sentence, so that two ideas can be told apart."""
    first = page.sentences[0].text if page.sentences else ""
    aliases, sources = page.properties.texts("aliases"), page.properties.texts("sources")
    return NameLine(
        title=page.title,
        aliases=aliases,
        line=first,
        passages=len(page.sentences),
        documents=tuple(range(1, len(sources) + 1)),
        settled=True,
    )
