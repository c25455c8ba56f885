"""One source with its text and claims, as the stages of a build pass it on."""

from __future__ import annotations

from dataclasses import dataclass, field

from compiler.claims.extract import Extracted
from compiler.model.requests import Ask
from compiler.sources.fingerprint import Fingerprint
from compiler.sources.inventory import Tracked
from vault.model.claim import Claim
from vault.model.source import SourceText


@dataclass(frozen=True, slots=True)
class Gathered:
    """One source with its text and claims; `source` is None where it could not be read or is only recorded."""

    tracked: Tracked
    source: SourceText | None
    claims: tuple[tuple[Claim, tuple[str, ...]], ...] = ()
    extracted: Extracted | None = None
    recorded: str = ""  # the kind of a file that is kept, not read
    fresh: bool = False  # it was read in this build
    starts: dict[str, int] = field(default_factory=dict)
    asks: dict[str, tuple[Ask, ...]] = field(default_factory=dict)  # claim id -> the embedded engine's questions
    fingerprint: Fingerprint | None = None  # there is one where there is a source
