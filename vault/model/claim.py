"""Claims: an assertion and the words that prove it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vault.ids import ClaimId, SourceId
from vault.model.exhibit import Exhibit


class ClaimKind(StrEnum):
    """What a claim says: a definition, a mechanism, a relation ..."""

    DEFINITION = "definition"
    MECHANISM = "mechanism"
    RELATION = "relation"
    APPLICATION = "application"
    FACT = "fact"
    LIMITATION = "limitation"
    QUESTION = "question"


class ClaimState(StrEnum):
    """Whether a claim is current, superseded, disputed by another claim, or retracted."""

    CURRENT = "current"
    SUPERSEDED = "superseded"
    DISPUTED = "disputed"
    RETRACTED = "retracted"


@dataclass(frozen=True, slots=True)
class Claim:
    """`statement` is "" where claim and quote are the same words; `quote` stands in the source text, folded.

    `exhibits` are what the source shows with it: pictures, code, formulas.
    """

    id: ClaimId
    source: SourceId
    kind: ClaimKind
    quote: str
    statement: str = ""
    state: ClaimState = ClaimState.CURRENT
    locator: str = ""
    exhibits: tuple[Exhibit, ...] = ()

    @property
    def words(self) -> str:
        """Return the statement, or the quote where both are the same."""
        return self.statement or self.quote
