"""Suggested cards: those that the last compile offers, read from its cache, and the user's decisions on them.

A suggestion is made again by every compile, so it is only cached; decisions are in the ledger. Its id is that of the
card that it becomes when it is kept: the next compile writes that card.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from vault.errors import NotFound
from vault.evidence.evidence import Evidence
from vault.files.guard import Guard, Scope
from vault.ids import ID, CardId, ClaimId, SourceId
from vault.inbox.suggestion_events import (
    Decided,
    Decision,
    changes_of_forms,
    decisions_in,
    new_event,
    triage_of,
    undo_event,
)
from vault.layout import SUGGESTIONS
from vault.log import ledger
from vault.log.entries import builds_in
from vault.log.ledger import Event
from vault.model.claim import Claim, ClaimKind
from vault.text.formatting import clean_line
from vault.vault import Vault

SITTING = 20  # suggestions that are offered at a time


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A card that the user may keep. `question` and `answer` are plain text; `score` is a probability in [0, 1].

    `concept` is the title of the article at `article`; `quote` the words of the claim that the card would cite, at
    `place` of the file `source`.
    """

    id: str
    concept: str
    article: str
    form: str
    kind: str
    question: str
    answer: str
    score: float
    claim: str
    claim_kind: str
    quote: str
    source: str
    source_title: str
    place: str

    @property
    def evidence(self) -> Evidence:
        """Return the claim with its source, to show the passage around it."""
        claim = Claim(ClaimId(self.claim), SourceId(""), ClaimKind(self.claim_kind), self.quote, locator=self.place)
        return Evidence(self.source, self.source_title, claim)


@dataclass(frozen=True, slots=True)
class Offered:
    """The undecided suggestions, best first.

    `compiled` says whether this machine knows the suggestions of a compile, `by_model` whether a model or an agent made
    the last build, who write all their cards into the decks; nothing is suggested then.
    """

    suggestions: tuple[Suggestion, ...] = ()
    compiled: bool = False
    by_model: bool = False

    def about(self, article: str) -> tuple[Suggestion, ...]:
        """Return the suggestions for the article at a vault path; all for ""."""
        return tuple(s for s in self.suggestions if not article or s.article == article)


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user wants of the suggestion `id`; `words` are the user's question and answer, of an edit."""

    id: str
    decision: Decision
    words: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a decision or its undo was about, and a sentence for each form of question that it promoted or demoted."""

    decided: Decided
    news: tuple[str, ...]


def save(guard: Guard, suggestions: Iterable[Suggestion], *, queued: Iterable[str]) -> None:
    """Write the suggestions of a compile to the cache; `queued` are the forms whose cards were queued by themselves."""
    body = {"queued": sorted(queued), "suggestions": [asdict(each) for each in suggestions]}
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    guard.update(SUGGESTIONS, lambda _: data)


def queued_before(data: bytes | None) -> frozenset[str] | None:
    """Return the forms that the compile which wrote the cache `data` queued by themselves; None if unknown."""
    found = _json(data).get("queued")
    return frozenset(map(str, found)) if isinstance(found, list) else None


def is_by_model(vault: Vault) -> bool:
    """Return whether a model or an agent made the last build. Raises: Refused where the disk refuses."""
    builds = builds_in(vault.ledger_events(ledger.BUILDS)[0])
    return bool(builds) and not str(builds[-1].get("engine")).startswith("extractive/")


def offered(vault: Vault) -> Offered:
    """Return the suggestions that wait for a decision. Raises: Refused where the disk refuses."""
    if is_by_model(vault):  # a cache may be of an earlier build: the ledger comes with a clone, the cache does not
        return Offered(by_model=True)
    data = _json(vault.read_bytes(SUGGESTIONS))
    rows = data.get("suggestions")
    if not isinstance(rows, list):
        return Offered()
    triage = triage_of(_events(vault))
    found = [s for s in map(_suggestion, rows) if s is not None]
    waiting = tuple(s for s in found if s.id not in triage.decided and not triage.dropped(s.id, s.question))
    return Offered(waiting, compiled=True)


def decide(
    vault: Vault,
    id_: str,
    decision: Decision,
    at: datetime,
    *,
    words: tuple[str, str] | None = None,
    via: str = "cli",
) -> Outcome:
    """Record a decision on a suggestion in the ledger; `words` are the user's question and answer, of an edit.

    The card is written by the next compile. Raises: NotFound; WriteFailed or Refused from the guard.
    """
    return decide_all(vault, [Choice(id_, decision, words)], at, via=via)[0]


def decide_all(vault: Vault, choices: Sequence[Choice], at: datetime, *, via: str = "cli") -> list[Outcome]:
    """Record decisions on several suggestions, all or none. Raises: as `decide`."""
    offer = offered(vault)
    events, added = _events(vault), list[Event]()
    for choice, found in [(choice, find(offer, choice.id)) for choice in choices]:
        question, answer = choice.words or (found.question, found.answer)
        instant = ledger.after([*events, *added], at)
        added.append(new_event(CardId(found.id), choice.decision, found.form, question, answer, instant, via))
    return _record(vault, events, [(event, decisions_in([event])[0]) for event in added])


def undo(vault: Vault, at: datetime, *, id_: str = "", via: str = "cli") -> Outcome:
    """Undo the decision with that id, else the last one. Raises: NotFound if there is none; WriteFailed or Refused."""
    events = _events(vault)
    decided = [each for each in decisions_in(events) if id_ in ("", each.id)]
    if not decided:
        raise NotFound("no decision on a suggested card to undo", hint="`retain card suggest` lists the suggestions")
    event = undo_event(decided[-1], ledger.after(events, at), via)
    return _record(vault, events, [(event, decided[-1])])[0]


def find(offer: Offered, id_: str) -> Suggestion:
    """Return the one suggestion whose id begins with `id_`. Raises: NotFound."""
    wanted = id_.strip().lower()
    found = [each for each in offer.suggestions if wanted and each.id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    what = f"{len(found)} suggestions have ids that begin with this" if found else "no suggested card has that id"
    raise NotFound(what, where=clean_line(id_)[:40], hint="`retain card suggest` lists them")


def _record(vault: Vault, events: list[Event], added: Sequence[tuple[Event, Decided]]) -> list[Outcome]:
    """Append what was `added` to the `events` of the ledger; return what came of each."""
    vault.guard(Scope.LOG).append(ledger.DECISIONS, b"".join(ledger.encode(event) for event, _ in added))
    outcomes = list[Outcome]()
    queued = triage_of(events).queued
    for event, decided in added:
        events = [*events, event]
        before, queued = queued, triage_of(events).queued
        outcomes.append(Outcome(decided, tuple(changes_of_forms(before, queued))))
    return outcomes


def _events(vault: Vault) -> list[Event]:
    return ledger.ordered(vault.ledger_events(ledger.DECISIONS)[0])


def _json(data: bytes | None) -> dict[str, Any]:
    try:
        found = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _suggestion(row: object) -> Suggestion | None:
    """Return the suggestion in a row of the cache; None for what is damaged."""
    if not isinstance(row, dict):
        return None
    given: dict[str, Any] = {name: row.get(name) for name in _NAMES}
    is_whole = all(type(given[name]) is str for name in _NAMES if name != "score")
    is_known = is_whole and isinstance(given["score"], int | float) and ID.fullmatch(given["id"])
    return Suggestion(**given) if is_known and given["claim_kind"] in _KINDS else None


_NAMES = tuple(field.name for field in fields(Suggestion))
_KINDS = frozenset(map(str, ClaimKind))
