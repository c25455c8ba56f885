"""An answer as JSON, as `retain ask --json` prints it, and read again, as the app does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compiler.model.report import Rejection
from compiler.model.requests import Sentence
from compiler.query.answer import Answer
from compiler.query.retrieve import Known, passage_key
from vault.ids import ClaimId, SourceId
from vault.model.claim import Claim, ClaimKind


def answer_as_json(answer: Answer) -> dict[str, Any]:
    """Return an answer as JSON, its claims numbered as the sentences cite them."""
    claims = [
        {
            "number": n,
            "id": known.claim.id if known.is_claim else None,  # None for words of a source that are no claim
            "quote": known.claim.quote,
            "kind": known.claim.kind.value,
            "path": known.summary,
            "line": known.line or None,
            "title": known.title,
            "source": known.raw,
            "place": known.claim.locator,
        }
        for n, known in enumerate(answer.claims, 1)
    ]
    return {
        "question": answer.question,
        "engine": answer.engine,
        "sentences": [{"text": s.text, "cites": list(s.cites)} for s in answer.sentences],
        "claims": claims,
        "quotes": [
            {
                "text": q.text,
                "path": q.path,
                "place": q.place,
                "claims": [claim.id for claim in q.claims],
                "articles": [{"path": p, "title": t} for p, t in q.articles],
            }
            for q in answer.quotes
        ],
        "weak": answer.is_weak,
        "missing": answer.missing,
        "refused": [{"words": r.words, "reason": r.reason} for r in answer.rejections],
    }


def answer_in(result: Mapping[str, Any]) -> Answer:
    """Return the answer of sentences that `answer_as_json` made. Raises: LookupError, TypeError or ValueError."""
    return Answer(
        question=result["question"],
        sentences=tuple(Sentence(text=each["text"], cites=tuple(each["cites"])) for each in result["sentences"]),
        claims=tuple(map(_known_in, result["claims"])),
        missing=result["missing"],
        engine=result["engine"],
        rejections=tuple(Rejection("sentence", each["reason"], each["words"]) for each in result["refused"]),
        is_weak=result["weak"],
    )


def _known_in(row: Mapping[str, Any]) -> Known:
    """Return a claim, or words of a source that are none, as the command prints them."""
    is_claim = row["id"] is not None
    id_ = ClaimId(row["id"]) if is_claim else passage_key(row["source"], row["quote"])
    claim = Claim(id_, SourceId(""), ClaimKind(row["kind"]), row["quote"], locator=row["place"])
    return Known(claim, row["path"], row["line"] or 0, row["title"], row["source"], is_claim)
