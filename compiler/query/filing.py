"""Files an answer: as a page of `wiki/answers/`, never over one that the user edited."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from functools import cache

from compiler.query.answer import Answer
from compiler.query.answer_page import render_page
from compiler.query.questions import question_key
from compiler.sources.confidence import confidence, independent_pages
from vault.errors import Damaged, EditedMeanwhile, Refused, UsageError, WriteFailed
from vault.files.folder import sha256_hex
from vault.files.guard import Scope
from vault.ids import slug
from vault.layout import ANSWERS
from vault.log.entries import record_event
from vault.model.answer_page import parse_page
from vault.model.article import CONFIDENCE
from vault.model.frontmatter import Properties, body_of, human_edited, read_properties
from vault.vault import Vault

_VERSIONS = 99  # pages on one question
MOST = "medium"  # confidence of what is inferred


def file_answer(vault: Vault, answer: Answer, at: datetime) -> str:
    """Write an answer as a page of the wiki and return its path.

    The page of an earlier answer to the question is renewed, unless the user edited it: then, and where another
    question has the name, the page gets a number. The wiki's log names a page that is new or changed.
    Raises: UsageError where there is no answer; Refused; WriteFailed.
    """
    if not answer.sentences and not answer.quotes:
        raise UsageError("no answer to save", hint="the sources do not answer this question")
    guard, stem = vault.guard(Scope.PUBLISHER), slug(answer.question)
    day = at.astimezone(vault.settings.zone).date().isoformat()
    trust = _confidence_of(vault, answer)
    for number in range(1, _VERSIONS + 1):
        path = f"{ANSWERS}/{stem}{f'-{number}' if number > 1 else ''}.md"
        old = vault.read_bytes(path)
        if old is not None and not _is_earlier(old, answer.question):
            continue
        text = old.decode() if old is not None else None
        page = render_page(answer, day, trust, text)
        if text is not None and _without_day(page) == _without_day(text):
            return path
        with suppress(EditedMeanwhile):
            guard.write(path, page.encode(), expect=sha256_hex(old) if old is not None else None)
            with suppress(Refused, WriteFailed):  # in an agent's sandbox, where no ledger may grow
                record_event(guard, "question", answer.question, at)
            return path
    raise Refused(
        f"there are already {_VERSIONS} pages for this question",
        where=ANSWERS,
        hint="delete some of them, then run the command again",
    )


def _is_earlier(data: bytes, question: str) -> bool:
    """Return whether a page is an earlier answer to the question, as retain wrote it."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return not human_edited(text) and question_key(parse_page(text).question) == question_key(question)


def _without_day(text: str) -> tuple[dict[str, object], str]:
    """Return the properties of a page without the day of its last change, and its body."""
    values = dict(read_properties(text).values)
    values.pop("updated", None)
    return values, body_of(text)


def _confidence_of(vault: Vault, answer: Answer) -> str:
    """Return how far an answer may be trusted: by the rule for articles, never above medium, at most low where the
    evidence is weak.
    """
    paths = dict.fromkeys([known.summary for known in answer.claims] + [quote.summary for quote in answer.quotes])

    @cache
    def properties_of(path: str) -> Properties | None:
        with suppress(Damaged, Refused):
            text = vault.read_text(path)
            return read_properties(text) if text is not None else None
        return None

    base = confidence(independent_pages(filter(None, paths), properties_of), answer.engine)
    return min(base, "low" if answer.is_weak else MOST, key=CONFIDENCE.index)
