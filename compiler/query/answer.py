"""Answers to questions: sentences that rest on claims and pass the same gate as those of articles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from compiler.gates.checks import Verdicts
from compiler.gates.gates import sentence_refused
from compiler.model.report import Rejection
from compiler.model.requests import AnswerReply, AnswerRequest, Sentence
from compiler.query.retrieve import Known, unheard
from compiler.replies.asker import Asker
from vault.ids import ClaimId
from vault.model.article import ArticleSection, CitedSentence, render_body
from vault.model.frontmatter import render_note
from vault.model.markdown import escape
from vault.model.wikilink import Citation, note_link
from vault.text.formatting import clean, clean_line, fold

MAX_QUESTION = 500  # characters
REPORTS = "output/reports"
_ENOUGH = 0.5  # of the question's weight: what a claim must have to answer it by itself
_MOST = 5  # sentences of an answer that only quotes
SILENT = "The wiki does not say."


@dataclass(frozen=True, slots=True)
class Answer:
    """`claims` are those that the sentences cite, in order; `missing` is what the wiki does not tell, "" if nothing."""

    question: str
    sentences: tuple[Sentence, ...]
    claims: tuple[Known, ...]
    missing: str
    engine: str
    rejections: tuple[Rejection, ...] = ()


def request_for(question: str, claims: Sequence[Known]) -> AnswerRequest:
    """Return the request for an answer from claims."""
    return AnswerRequest(question=question, claims=tuple(known.view for known in claims))


def quoted(question: str, claims: Sequence[Known], everything: Sequence[Known]) -> AnswerReply:
    """Return the embedded engine's answer: the claims that answer, word for word, the most fitting first."""
    best = [known for known in claims if known.core and known.fit >= _ENOUGH][:_MOST]
    said: dict[str, Sentence] = {}
    for known in best:
        said.setdefault(fold(known.claim.words), Sentence(text=known.claim.words, cites=(known.claim.id,)))
    strange = unheard(everything, question)
    if strange:
        words = ", ".join(f"“{clean_line(word)[:60]}”" for word in strange[:5])
        return AnswerReply(sentences=tuple(said.values()), missing=f"No claim of the wiki mentions {words}.")
    return AnswerReply(sentences=tuple(said.values()), missing="" if said else SILENT)


def asked(request: AnswerRequest, asker: Asker, verdicts: Verdicts) -> AnswerReply | None:
    """Return the model's reply, checked where only a check can decide. Raises what the asker raises."""
    (reply,) = asker.ask([request], "answer")
    if not isinstance(reply, AnswerReply):
        return None
    views = {view.id: view for view in request.claims}
    cited = [s for s in reply.sentences if s.cites and all(c in views for c in s.cites)]
    pairs = [(s.text, tuple(t for c in s.cites for t in (views[c].quote, views[c].words))) for s in cited]
    verdicts.settle(pairs, asker)
    return reply


def gated(
    question: str,
    reply: AnswerReply,
    claims: Sequence[Known],
    engine: str,
    entailed: Callable[[str, Sequence[str]], bool | None] | None = None,
) -> Answer:
    """Return the answer without the sentences that the gate refuses."""
    request, kept = request_for(question, claims), list[Sentence]()
    views = {view.id: view for view in request.claims}
    rejections = []
    for sentence in reply.sentences:
        why = sentence_refused(sentence, views, entailed)
        if why:
            rejections.append(Rejection("sentence", why, fold(sentence.text)[:200]))
        else:
            kept.append(Sentence(text=fold(clean(sentence.text)), cites=tuple(dict.fromkeys(sentence.cites))))
    used = dict.fromkeys(c for sentence in kept for c in sentence.cites)
    by_id = {str(known.claim.id): known for known in claims}
    missing = fold(clean(reply.missing)) or ("" if kept else SILENT)
    return Answer(question, tuple(kept), tuple(by_id[c] for c in used), missing, engine, tuple(rejections))


def report_text(answer: Answer, today: date) -> str:
    """Return the answer as a page for output/reports/."""
    numbers: dict[str, int] = {}
    for known in answer.claims:
        numbers.setdefault(known.summary, len(numbers) + 1)
    by_id = {known.claim.id: known for known in answer.claims}

    def cite(id_: str) -> Citation:
        known = by_id[ClaimId(id_)]
        return Citation(known.summary.removesuffix(".md"), known.claim.id, numbers[known.summary])

    said = tuple(CitedSentence(s.text, tuple(cite(c) for c in s.cites)) for s in answer.sentences)
    body = render_body(answer.question, [ArticleSection("Answer", (said,))] if said else [])
    if answer.missing:
        body += f"\n## What the vault does not say\n\n- {escape(clean_line(answer.missing))}\n"
    titles = {known.summary: known.title for known in answer.claims}
    sources = tuple(note_link(path, titles[path] or path) for path in numbers)
    head = {"type": "report", "title": answer.question, "created": today.isoformat(), "engine": answer.engine}
    return render_note({**head, "sources": sources}, body)
