"""Files an answer: as a page of `wiki/answers/`, never over one that the user edited."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from datetime import datetime

from compiler.articles.sources import confidence
from compiler.query.answer import Answer
from compiler.query.answer_page import render_page
from compiler.query.questions import question_key
from vault.errors import Damaged, EditedMeanwhile, Refused, UsageError, WriteFailed
from vault.files.folder import sha256_hex
from vault.files.guard import Scope
from vault.ids import SourceId, slug
from vault.layout import ANSWERS
from vault.log.entries import record_event
from vault.model.answer_page import parse_page
from vault.model.article import CONFIDENCE
from vault.model.frontmatter import Properties, body_of, human_edited, read_properties
from vault.model.wikilink import links
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
        raise UsageError("no answer to save", hint="the sources say nothing on this question")
    guard, stem = vault.guard(Scope.PUBLISHER), slug(answer.question)
    day = at.astimezone(vault.settings.zone).date().isoformat()
    trust = confidence_of(vault, answer)
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
    raise Refused(f"there are already {_VERSIONS} pages on this question", where=ANSWERS, hint="delete some")


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


def confidence_of(vault: Vault, answer: Answer) -> str:
    """Return how far an answer may be trusted: by the rule for articles, never above medium, at most low where the
    evidence is weak.
    """
    paths = {known.summary for known in answer.claims} | {quote.summary for quote in answer.quotes}
    base = confidence_on(vault, paths, answer.engine)
    most = "low" if answer.is_weak else MOST
    return min(base, most, key=CONFIDENCE.index)


def confidence_on(vault: Vault, summaries: Collection[str], engine: str) -> str:
    """Return the confidence of words of `engine` that rest on the sources with these pages; copies count once."""
    known: dict[str, Properties] = {}
    origins = {_origin(vault, path, known) for path in summaries if path}
    trust = {SourceId(path): _authority(_properties(vault, path, known)) for path in origins}
    return confidence(set(trust), trust, engine)


def _origin(vault: Vault, path: str, known: dict[str, Properties]) -> str:
    """Return the page of the source that this one repeats; itself if it repeats none."""
    seen = [path]
    while (link := next(links(_properties(vault, path, known).text("copy_of")), None)) is not None:
        path = f"{link.target}.md"
        if path in seen:
            return min(seen)
        seen.append(path)
    return path


def _properties(vault: Vault, path: str, known: dict[str, Properties]) -> Properties:
    if path not in known:
        text = None
        with suppress(Damaged, Refused):
            text = vault.read_text(path)
        known[path] = read_properties(text or "")
    return known[path]


def _authority(properties: Properties) -> int:
    number = properties.text("authority")
    return int(number) if number.isdecimal() else 1
