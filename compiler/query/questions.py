"""The questions that were asked, with their answers: `ledger/questions.jsonl`.

A `question` line has an answer; an `again` line says that the question was asked once more and its answer was the same.
Both say what they follow in a conversation.
What cannot be recorded, as in a vault that can only be read, is not.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from compiler.model.engine_names import EXTRACTIVE
from compiler.protocol.requests import Exchange
from compiler.query.answer import Answer
from compiler.query.follow_up import subject_of
from vault.errors import RetainError
from vault.files.guard import Scope
from vault.ids import ulid
from vault.log import ledger
from vault.log.ledger import QUESTIONS, Event, parse_instant, strings
from vault.text.formatting import clean_line, fold, folded
from vault.vault import Vault

_EMBEDDED = EXTRACTIVE.partition("/")[0]
_MOST = 6  # exchanges of a conversation that a follow-up is asked with


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its last answer. `texts` are the sentences or quotes of the answer, `cites` the claims.

    `after` is the id of the question that it follows, "" if none. `times` says how often it was asked, `since` when it
    was asked last; `filed` is the page that has the answer. `lacking` says what the sources lack of an answer, "" if
    nothing: a model's word on that counts more than that of a search.
    """

    id: str
    at: str
    question: str
    engine: str
    texts: tuple[str, ...]
    cites: tuple[str, ...]
    missing: str
    is_weak: bool
    after: str
    filed: str
    times: int
    since: str
    lacking: str

    @property
    def key(self) -> str:
        """Return the question in the form in which equal questions are equal."""
        return question_key(self.question)

    @property
    def outcome(self) -> str:
        """Return in a few words how the question was answered."""
        if not self.texts:
            return "no answer"
        if self.is_weak:
            return "weak evidence"
        return "partly answered" if self.missing and self.lacking else "answered"


@dataclass(frozen=True, slots=True)
class Change:
    """What an answer has that the one of `since` had not, and what it has no more."""

    since: str
    new: tuple[str, ...]
    gone: tuple[str, ...]


def question_key(question: str) -> str:
    """Return a question without capitals, accents and signs at its end."""
    return folded(question).rstrip(" ?？.!")


def asked_questions(vault: Vault) -> list[Asked]:
    """Return the questions that were asked, each with its last answer, the latest last."""
    events = ledger.ordered(vault.ledger_events(QUESTIONS)[0])
    return sorted(_last_answers(events).values(), key=lambda asked: (asked.since, asked.id))


def _last_answers(events: Sequence[Event]) -> dict[str, Asked]:
    """Return the last answer to each question by the question's key."""
    answers = [event for event in events if _is_answer(event) and question_key(event["question"])]
    keys = {event["id"]: question_key(event["question"]) for event in answers}
    askings = [(key, e) for e in events if (key := keys.get(str(e.get("of") or e.get("id"))))]
    times = Counter(key for key, _ in askings)
    since = {key: str(e["at"]) for key, e in askings}
    wanted = {key for key, e in askings if e.get("wanted") is True}
    filed = {key: clean_line(str(e["filed"])) for key, e in askings if e.get("filed")}
    by_id = {event["id"]: event for event in answers}
    last = {key: by_id[str(e.get("of") or e["id"])] for key, e in askings}
    by_model = {keys[event["id"]]: event for event in answers if _is_by_model(str(event.get("engine", "")))}
    return {
        key: Asked(
            id=event["id"],
            at=str(event["at"]),
            question=clean_line(event["question"]),
            engine=clean_line(str(event.get("engine", ""))),
            texts=tuple(strings(event.get("texts"))),
            cites=tuple(strings(event.get("cites"))),
            missing=clean_line(str(event.get("missing", ""))),
            is_weak=event.get("weak") is True,
            after=str(event.get("after", "")),
            filed=filed.get(key, ""),
            times=times[key],
            since=since[key],
            lacking=_lacking(by_model.get(key), event, wants_it=times[key] > 1 or key in wanted),
        )
        for key, event in last.items()
    }


def _lacking(by_model: Event | None, last: Event, *, wants_it: bool) -> str:
    """Return what the sources lack of an answer.

    A search that finds nothing says little, as after a slip of the pen: it counts where the user asked twice or wanted
    the answer filed.
    """
    if by_model is not None:
        return clean_line(str(by_model.get("missing", "")))
    return clean_line(str(last.get("missing", ""))) if last.get("weak") is True and wants_it else ""


def _is_answer(event: Event) -> bool:
    return event["type"] == "question" and isinstance(event.get("id"), str) and isinstance(event.get("question"), str)


@dataclass(frozen=True, slots=True)
class _Asking:
    """A question that was asked: its answer, and the id of the asking that it follows, "" if none."""

    answer: Event
    after: str


class Conversation:
    """The questions of a vault as they were when it was made, to be gone on with.

    Each asking has an id, by which a follow-up names what it follows.
    """

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        self._events: list[Event] = []
        with suppress(RetainError):  # a ledger that cannot be read is reported by `retain doctor`
            self._events = ledger.ordered(vault.ledger_events(QUESTIONS)[0])

    @property
    def last(self) -> str:
        """Return the id of what was asked last; "" if there is nothing."""
        return next(reversed(self._askings()), "")

    def __contains__(self, id_: str) -> bool:
        return id_ in self._askings()

    def earlier(self, id_: str) -> tuple[Exchange, ...]:
        """Return the questions and answers that lead to an asking, that one last; () for no id."""
        askings = self._askings()
        found: list[Exchange] = []
        seen = set[str]()
        while id_ in askings and id_ not in seen and len(found) < _MOST:
            seen.add(id_)
            event = askings[id_].answer
            said = " ".join([*strings(event.get("texts")), str(event.get("missing", ""))])
            found.append(Exchange(question=clean_line(str(event["question"])), answer=clean_line(said)))
            id_ = askings[id_].after
        return tuple(reversed(found))

    def _askings(self) -> dict[str, _Asking]:
        """Return what was asked by id, the last one last."""
        answers = {str(event["id"]): event for event in self._events if _is_answer(event)}
        found: dict[str, _Asking] = {}
        for event in self._events:
            of = str(event.get("of") or event.get("id"))
            if of not in answers:
                continue
            id_ = str(event.get("id") or of)
            after = str(event.get("after", "")) if "id" in event else found[of].after  # older lines have no id
            found.pop(id_, None)
            found[id_] = _Asking(answers[of], after)
        return found

    def change(self, answer: Answer, after: str = "") -> Change | None:
        """Return what is other than in the last answer to the question by the same kind of engine; None if nothing.

        `after` is the id of the asking that it follows: what the same words ask elsewhere is another question.
        """
        before, now = self._before(answer, after), texts_of(answer)
        if before is None:
            return None
        old = strings(before.get("texts"))
        new, gone = [t for t in now if t not in old], [t for t in old if t not in now]
        return Change(str(before["at"]), tuple(new), tuple(gone)) if new or gone else None

    def _before(self, answer: Answer, after: str) -> Event | None:
        """Return the last answer to the question by the same kind of engine, where that asked the same."""
        key, by_model = question_key(answer.question), _is_by_model(answer.engine)
        context = self._context(answer.question, after, by_model=by_model)
        for asking in reversed(self._askings().values()):
            event = asking.answer
            is_alike = question_key(event["question"]) == key and _is_by_model(str(event.get("engine", ""))) == by_model
            if is_alike and self._context(event["question"], asking.after, by_model=by_model) == context:
                return event
        return None

    def _context(self, question: str, after: str, *, by_model: bool) -> tuple[str, ...]:
        """Return the earlier questions on which the answer depends: a search takes the subject from them, if any."""
        earlier = self.earlier(after)
        return tuple(question_key(e.question) for e in earlier) if by_model else subject_of(question, earlier).words

    def record(self, answer: Answer, at: datetime, *, after: str = "", filed: str = "", wanted: bool = False) -> str:
        """Record what was asked and return its id; an equal answer is noted as asked again.

        `after` is the id of the asking that it follows. "" where nothing can be recorded.
        """
        instant, body, before = ledger.after(self._events, at), _body(answer), self._before(answer, after)
        marks: Event = ({"filed": filed} if filed else {}) | ({"wanted": True} if wanted else {})
        marks |= {"after": after} if after else {}
        event: Event = {"v": 1, "type": "question", "id": _new_id(instant), "at": instant}
        if before is not None and all(before.get(name) == value for name, value in body.items()):
            event |= {"type": "again", "of": before["id"], **marks}
            if self._is_noted(event):
                return str(self._events[-1].get("id") or before["id"])
        else:
            event |= {**body, **marks}
        try:
            self.vault.guard(Scope.PUBLISHER).append(QUESTIONS, ledger.encode(event))
        except (RetainError, OSError):
            return ""
        self._events.append(event)
        return str(event["id"])

    def _is_noted(self, event: Event) -> bool:
        """Return whether the ledger ends with the same."""
        own = {"id": "", "at": ""}
        return {**self._events[-1], **own} == {**event, **own}


def _new_id(instant: str) -> str:
    return ulid(int(parse_instant(instant).timestamp() * 1000), os.urandom(10))


def _is_by_model(engine: str) -> bool:
    return engine.partition("/")[0] != _EMBEDDED


def _body(answer: Answer) -> Event:
    """Return what the ledger says of an answer."""
    cites = [str(known.claim.id) for known in answer.claims if known.is_claim]
    cites += [claim.id for quote in answer.quotes for claim in quote.claims]
    return {
        "question": answer.question,
        "engine": clean_line(answer.engine),
        "texts": texts_of(answer),
        "cites": list(dict.fromkeys(cites)),
        "missing": answer.missing,
        "weak": answer.is_weak,
    }


def texts_of(answer: Answer) -> list[str]:
    """Return the sentences of an answer, or its quotes."""
    return [fold(text) for text in (*(s.text for s in answer.sentences), *(q.text for q in answer.quotes))]


def change_as_json(change: Change | None) -> dict[str, Any] | None:
    """Return a change as JSON."""
    if change is None:
        return None
    return {"since": change.since, "new": list(change.new), "gone": list(change.gone)}


def question_as_json(asked: Asked) -> dict[str, Any]:
    """Return a question as JSON."""
    return {
        "id": asked.id,
        "question": asked.question,
        "engine": asked.engine,
        "answered": asked.at,
        "asked": asked.since,
        "times": asked.times,
        "answer": list(asked.texts),
        "claims": list(asked.cites),
        "missing": asked.missing,
        "weak": asked.is_weak,
        "after": asked.after or None,
        "page": asked.filed or None,
    }
