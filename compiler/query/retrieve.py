"""The claims that fit a question: those that a search finds, by their own words or in the passages that it finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compiler.index.entries import Entry, entries_of
from compiler.model.requests import ClaimView
from compiler.search.search import Likeness, search
from vault.errors import Damaged, Refused
from vault.ids import ClaimId, digest12
from vault.index.database import Database
from vault.model.claim import Claim
from vault.model.summary import parse_summary
from vault.text.formatting import clean_line, fold
from vault.vault import Vault

MOST = 24  # claims that go with a question
_PASSAGES = 5  # whose claims go with it, too


@dataclass(frozen=True, slots=True)
class Known:
    """A claim with its place: in the page of its source, `summary`, and in the file of that, `raw`.

    Words of a source that are no claim of the wiki have the same shape, `is_claim` false, an id that only stands for
    them (`passage_key`), and line 0.
    """

    claim: Claim
    summary: str  # the vault path
    line: int
    title: str  # of the source
    raw: str
    is_claim: bool = True

    @property
    def view(self) -> ClaimView:
        """Return the claim as an engine sees it."""
        view = ClaimView.of(self.claim, self.title)
        return view.replaced(words=view.quote) if fold(view.words) == fold(view.quote) else view


def passage_key(raw: str, words: str) -> ClaimId:
    """Return what stands for words of a source that are no claim."""
    return ClaimId(digest12(f"{raw}\x1f{fold(words)}")[:10])


def fitting(vault: Vault, database: Database, question: str, likeness: Likeness | None = None) -> list[Known]:
    """Return the claims that may answer a question, the most fitting first; `likeness` is as `search` takes it.

    Raises: IndexDamaged.
    """
    results = search(database, question, ("claim", "passage"), MOST, likeness, is_prose=True)
    found = {hit.entry.ref: hit.entry for hit in results.hits["claim"][: MOST // 2]}
    for hit in results.hits["passage"][:_PASSAGES]:
        passage = fold(hit.entry.text)
        found |= {e.ref: e for e in entries_of(database, "claim", hit.entry.path) if claim_is_in(e, passage)}
    found |= {hit.entry.ref: hit.entry for hit in results.hits["claim"] if hit.entry.ref not in found}
    return known_claims(vault, list(found.values())[:MOST])


def claim_is_in(claim: Entry, passage: str) -> bool:
    """Return whether the words or the quote of a claim are in a passage, which is folded."""
    return any(fold(part) in passage for part in claim.text.split("\n"))


def known_claims(vault: Vault, found: Sequence[Entry]) -> list[Known]:
    """Return the claims of these entries from their summaries."""
    claims: dict[str, Known] = {}
    for path in dict.fromkeys(entry.path for entry in found):
        try:
            text = vault.read_text(path)
        except (Damaged, Refused):
            continue  # `retain verify` names it
        if text is None:
            continue
        summary = parse_summary(text, path)
        title, raw = (clean_line(summary.properties.text(key)) for key in ("title", "source"))
        claims |= {str(each.claim.id): Known(each.claim, path, each.line, title, raw) for each in summary.claims}
    return [claims[entry.ref] for entry in found if entry.ref in claims]
