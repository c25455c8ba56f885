"""Answers to questions: sentences that rest on claims and pass the same gate as those of articles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compiler.gates.gates import Accepted, sentence_refused
from compiler.gates.written import sentence_fault
from compiler.index.entries import entries_of, page_of
from compiler.model.engine_names import EXTRACTIVE
from compiler.model.report import Rejection
from compiler.model.requests import Sentence
from compiler.protocol.check import item_key
from compiler.protocol.replies import AnswerReply
from compiler.protocol.requests import BlockView, CheckItem, CheckRequest, DocumentView, PassageView
from compiler.query.extract import articles_on, extract
from compiler.query.follow_up import NO_SUBJECT, Subject
from compiler.query.retrieve import Known
from compiler.search.search import Likeness
from vault.ids import ClaimId, digest12
from vault.index.database import Database
from vault.text.formatting import clean, clean_line, fold

MAX_QUESTION = 500  # characters
SILENT = "The sources do not say."
WEAK = "The evidence is weak: no passage has more than a few of the question's words."


@dataclass(frozen=True, slots=True)
class QuotedClaim:
    """A claim whose quote stands in a stretch of its source; `summary` is the vault path of the source's page."""

    id: ClaimId
    summary: str
    quote: str


@dataclass(frozen=True, slots=True)
class Quoted:
    """A stretch of a source, its place there, and (path, title) of the articles that rest on it.

    `summary` is the vault path of the source's page, "" if it has none; `claims` are those whose quote stands in it.
    """

    text: str
    path: str
    place: str
    articles: tuple[tuple[str, str], ...] = ()
    summary: str = ""
    title: str = ""  # of the source
    claims: tuple[QuotedClaim, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """`claims` are those that the sentences cite, in order; `missing` is what the wiki does not tell, "" if nothing.

    Among the claims are words of sources that are no claim of the wiki (`Known.is_claim`).

    An answer without a model has `quotes` in place of sentences; where these are weak evidence, `is_weak`.
    """

    question: str
    sentences: tuple[Sentence, ...]
    claims: tuple[Known, ...]
    missing: str
    engine: str
    rejections: tuple[Rejection, ...] = ()
    quotes: tuple[Quoted, ...] = ()
    is_weak: bool = False


def extracted(
    vault_index: Database, question: str, subject: Subject = NO_SUBJECT, likeness: Likeness | None = None
) -> Answer:
    """Return the answer without a model: quotes of the sources, and what they do not say.

    `subject` is what a follow-up may take from the questions before it; `likeness` is as `search` takes it.
    Raises: IndexDamaged.
    """
    found = extract(vault_index, question, subject, likeness)
    quotes = []
    for quote in found.quotes:
        entry, articles = quote.hit.entry, tuple(articles_on(vault_index, quote))
        page = page_of(vault_index, entry.path)
        claims = tuple(claims_in(vault_index, entry.path, quote.text))
        place = clean_line(entry.place)
        summary, title = (page.path, page.title) if page is not None else ("", entry.title)
        quotes.append(Quoted(clean(quote.text), entry.path, place, articles, summary, title, claims))
    unknown = ", ".join(f"“{clean_line(word)[:60]}”" for word in found.unknown[:5])
    missing = [f"Not in any source: {unknown}."] if unknown else []
    missing += [SILENT] if not quotes else [WEAK] if found.is_weak else []
    return Answer(
        question, (), (), " ".join(missing), EXTRACTIVE, quotes=tuple(quotes), is_weak=found.is_weak or not quotes
    )


def claims_in(database: Database, raw: str, words: str) -> Iterator[QuotedClaim]:
    """Yield the claims from a source whose quote stands in these words of it."""
    said = fold(words)
    for entry in entries_of(database, "claim", raw):
        quote = fold(entry.text.rpartition("\n")[2])
        if quote in said:
            yield QuotedClaim(ClaimId(entry.ref), entry.path, quote)


def check_for(question: str, reply: AnswerReply, claims: Sequence[Known], accepted: Accepted) -> CheckRequest | None:
    """Return the request to check the sentences of an answer; None if all are quoted or were checked."""
    by_id = {str(known.claim.id): known for known in claims}
    used = dict.fromkeys(cite for sentence in reply.sentences for cite in sentence.cites if cite in by_id)
    numbers = {cite: n for n, cite in enumerate(used, 1)}
    items = []
    for sentence in reply.sentences:
        cited = [by_id[c] for c in sentence.cites if c in by_id]
        quotes = tuple(known.claim.quote for known in cited)
        words = {fold(known.claim.words) for known in cited} | set(map(fold, quotes))
        if quotes and fold(sentence.text) not in words and not accepted(sentence.text, "", quotes):
            key = item_key(sentence.text, "", quotes)
            places = tuple(f"1:{numbers[c]}" for c in sentence.cites if c in numbers)
            items.append(CheckItem(key=key, about=clean_line(question)[:80], text=sentence.text, places=places))
    return (
        CheckRequest(items=tuple(items), documents=(_as_document([by_id[cite] for cite in used]),)) if items else None
    )


def _as_document(claims: Sequence[Known]) -> DocumentView:
    """Return claims as the passages of a document, as a check shows them."""
    passages = tuple(
        PassageView(
            number=n,
            headings=(clean_line(known.title),),
            blocks=(BlockView(key=digest12(known.claim.quote), text=known.claim.quote, kind="formula"),),
        )
        for n, known in enumerate(claims, 1)
    )
    return DocumentView(number=1, source="", title="what the wiki quotes", language="", passages=passages)


def gated(
    question: str,
    reply: AnswerReply,
    claims: Sequence[Known],
    engine: str,
    accepted: Accepted | None = None,
) -> Answer:
    """Return the answer without the sentences that are neither their claims' words nor `accepted` by a check."""
    views = {view.id: view for view in (known.view for known in claims)}
    kept = list[Sentence]()
    rejections = []
    for each in reply.sentences:
        sentence = Sentence(text=each.text, cites=each.cites)
        why = sentence_refused(sentence, views, accepted)
        if not why and accepted is not None:
            said = [text for c in each.cites for text in (views[c].quote, views[c].words, views[c].source)]
            why = sentence_fault(each.text, "", said, (question, *said))
        if why:
            rejections.append(Rejection("sentence", why, fold(sentence.text)[:200]))
        else:
            kept.append(Sentence(text=fold(clean(sentence.text)), cites=tuple(dict.fromkeys(sentence.cites))))
    used = dict.fromkeys(c for sentence in kept for c in sentence.cites)
    by_id = {str(known.claim.id): known for known in claims}
    missing = fold(clean(reply.missing)) or ("" if kept else SILENT)
    return Answer(question, tuple(kept), tuple(by_id[c] for c in used), missing, engine, tuple(rejections))
