"""A training record: a prompt, its answer, and what of the vault supports it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from vault.ids import ClaimId
from vault.text.formatting import fold

LONGEST = 32_000  # characters of a prompt or an answer: more fits no context that such data is trained in
# What the tokenizers of common chat models take for the end of a turn or the beginning of another one.
_CONTROL_TOKEN = re.compile(
    r"<[|｜][^|｜<>\n]{1,40}[|｜]>|</?s>|<(?:bos|eos|pad|unk|start_of_turn|end_of_turn)>|\[/?INST\]|<</?SYS>>"
)
CARD, ARTICLE, ANSWER = KINDS = ("card", "article", "answer")


@dataclass(frozen=True, slots=True)
class Record:
    """One prompt with its answer, clean text. `page` is the vault path it comes from, `concepts` are stems of articles.

    `derived` says that a sentence of it is a step from what it cites. `claims` and `sources` are never empty.
    """

    id: str
    kind: str
    prompt: str
    answer: str
    title: str
    concepts: tuple[str, ...]
    language: str
    confidence: str
    claims: tuple[ClaimId, ...]
    sources: tuple[str, ...]
    licenses: tuple[str, ...]
    page: str
    derived: bool = False


@dataclass(slots=True)
class LeftOut:
    """How many things of each kind are not in an export, by reason."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, kind: str, reason: str, count: int = 1) -> None:
        """Count `count` more things of a kind; a count of 0 is no line."""
        if count:
            self.counts.setdefault(kind, Counter())[reason] += count

    def as_json(self) -> Mapping[str, Mapping[str, int]]:
        """Return the counts, sorted by kind and reason."""
        return {kind: dict(sorted(self.counts[kind].items())) for kind in sorted(self.counts)}


def usable_records(records: Iterable[Record], left_out: LeftOut) -> list[Record]:
    """Return the records without empty, oversized, repeated and unsafe ones, in their order."""
    found: dict[tuple[str, str], Record] = {}
    for record in records:
        key = (fold(record.prompt).casefold(), fold(record.answer).casefold())
        if not all(key):
            left_out.add(record.kind, "no text is left")
        elif max(len(record.prompt), len(record.answer)) > LONGEST:
            left_out.add(record.kind, f"longer than {LONGEST:,} characters")
        elif _CONTROL_TOKEN.search(f"{record.prompt} {record.answer}"):
            left_out.add(record.kind, "contains a control token of a chat template")
        elif key in found:
            left_out.add(record.kind, "the same prompt and answer as another record")
        else:
            found[key] = record
    return list(found.values())
