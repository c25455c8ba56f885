"""A conversation with the sources: its turns, the sources of an answer, and what is said of earlier questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from tui.models.work import length
from tui.state.job_state import WorkState
from tui.strings import ask as strings
from vault.errors import RetainError
from vault.evidence.evidence import Evidence
from vault.ids import ClaimId, SourceId
from vault.log.ledger import day_of
from vault.model.claim import Claim, ClaimKind

if TYPE_CHECKING:  # the compiler is loaded when the first question is answered
    from compiler.query.answer import Answer, Quoted
    from compiler.query.questions import Asked, Change
    from compiler.query.retrieve import Known


@dataclass(frozen=True, slots=True)
class Turn:
    """A question with its answer. `id` is that of the answer in the ledger, `after` that of the one it follows.

    `page` is the page that the answer was filed as, "" if it was not. `waiting` says what an answer waits for where the
    one here is an extract.
    """

    answer: Answer
    change: Change | None = None
    id: str = ""
    after: str = ""
    page: str = ""
    waiting: RetainError | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Words of a source that an answer rests on, under their number; `pages` are those of the wiki on them."""

    number: int
    evidence: Evidence
    pages: tuple[str, ...]
    titles: tuple[str, ...] = ()

    @property
    def quote(self) -> str:
        return self.evidence.claim.quote if self.evidence.claim is not None else ""

    @property
    def place(self) -> str:
        """Return the file, and where in it the words are."""
        locator = self.evidence.claim.locator if self.evidence.claim is not None else ""
        return ", ".join(filter(None, (self.evidence.source, locator)))


def sources_of(answer: Answer) -> tuple[Source, ...]:
    """Return the sources of an answer, numbered as its sentences or quotes are."""
    quoted = [_quoted(number, quote) for number, quote in enumerate(answer.quotes, 1)]
    return tuple(quoted or [_cited(number, known) for number, known in enumerate(answer.claims, 1)])


def _quoted(number: int, quote: Quoted) -> Source:
    claim = Claim(ClaimId(""), SourceId(""), ClaimKind.FACT, quote.text, locator=quote.place)
    pages = [path for path, _ in quote.articles]
    pages += [f"{quote.summary}#^c-{each.id}" for each in quote.claims[:1] if quote.summary == each.summary]
    titles = tuple(title for _, title in quote.articles)
    return Source(
        number, Evidence(quote.path, quote.title, claim), tuple(pages or [quote.summary or quote.path]), titles
    )


def _cited(number: int, known: Known) -> Source:
    page = f"{known.summary}#^c-{known.claim.id}" if known.is_claim else known.summary or known.raw
    return Source(number, Evidence(known.raw, known.title, known.claim), (page,))


def about_earlier(asked: Asked, zone: tzinfo) -> str:
    """Return when an earlier question was asked, and how it was answered."""
    return strings.asked_on(day_of(asked.since, zone), asked.outcome, asked.filed)


def command(question: str, after: str) -> tuple[str, ...]:
    """Return the words of the command that asks a question; `after` is the id of the one before, "" if none."""
    return ("ask", *(("--after", after) if after else ()), "--", question)


def is_question(state: WorkState | None) -> bool:
    """Return whether the app's job is a question."""
    return state is not None and state.name == "ask"


def question_in(state: WorkState) -> str:
    """Return the question that a job asks."""
    return state.words[-1]


def waiting(state: WorkState, now: datetime) -> str:
    """Return what a job that asks a question does, and for how long it has."""
    stage = state.stage
    reading = strings.reading(stage.done, stage.of) if stage is not None and stage.name == "source" else ""
    return f"{state.waits or reading or strings.ASKING} · {length(state.seconds(now))}"


def error_of(state: WorkState) -> RetainError:
    """Return what went wrong with a question that a job asked."""
    if state.error is not None:
        return RetainError(state.error.what, where=state.error.where, hint=state.error.hint)
    return RetainError(state.note) if state.note else RetainError(strings.FAILED, hint=strings.FAILED_HINT)


def progress(event: Mapping[str, object]) -> str:
    """Return a line on what goes on, "" for an event that says nothing to show."""
    done, of = event.get("done"), event.get("of")
    return strings.reading(done, of) if isinstance(done, int) and isinstance(of, int) and of else ""
