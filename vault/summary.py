"""Summaries: one note per source, its prose and then its claims, each with the words that prove it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vault.claim import Claim, ClaimKind, ClaimState
from vault.clean import clean_line, fold
from vault.diagnostic import Diagnostic
from vault.ids import ALPHABET, ClaimId, SourceId
from vault.markdown import escape, unescape
from vault.note import Properties, Value, read_properties, render_generated
from vault.wikilink import Citation, raw_link

_ID = re.compile(rf"\^c-([{ALPHABET}]{{10}})[ \t]*")
_CALLOUT = re.compile(r">[ \t]*\[!quote\][ \t]?(.*)")
CLAIMS_HEADING = "## Claims"


@dataclass(frozen=True, slots=True)
class SummaryHead:
    """The properties of a summary. `source` is the vault path of the raw file, as the file system spells it."""

    id: SourceId
    title: str
    source: str
    source_sha256: str
    text_sha256: str
    reader: str
    authority: int
    language: str
    created: str
    updated: str


@dataclass(frozen=True, slots=True)
class Located:
    """A claim and the 1-based line at which its block begins."""

    claim: Claim
    line: int


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary as parsed from its file."""

    path: str
    properties: Properties
    claims: tuple[Located, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    def claim(self, id_: ClaimId) -> Claim | None:
        return next((c.claim for c in self.claims if c.claim.id == id_), None)


def render_summary(
    path: str, head: SummaryHead, lead: Sequence[Claim], claims: Sequence[Claim], old: str | None = None
) -> str:
    """The text of a summary: the `lead` claims as prose, each cited, then every claim as a block.

    Properties that a human added to the `old` file stay.
    """
    properties: dict[str, Value] = {
        "type": "summary",
        "id": head.id,
        "title": head.title,
        "source": head.source,
        "source_sha256": head.source_sha256,
        "text_sha256": head.text_sha256,
        "reader": head.reader,
        "authority": head.authority,
        "language": head.language,
        "created": head.created,
        "updated": head.updated,
    }
    stem = path.removesuffix(".md")
    prose = " ".join(f"{escape(c.words)} {Citation(stem, c.id, 1)}" for c in lead)
    parts = [f"# {escape(clean_line(head.title))}", f"Source: {raw_link(head.source, head.source.rsplit('/', 1)[-1])}"]
    parts += [prose] if prose else []
    parts += [CLAIMS_HEADING] if claims else ["No claim was found in this source."]
    parts += [render_claim(c) for c in claims]
    return render_generated(properties, "\n" + "\n\n".join(parts) + "\n", old)


def render_claim(claim: Claim) -> str:
    """The block of one claim; its title is empty where claim and quote are the same words."""
    title = f" {escape(fold(claim.statement))}" if claim.statement else ""
    facts = [claim.kind.value, claim.state.value]
    if claim.locator:
        facts.append(escape(clean_line(claim.locator.replace("·", "-"))))
    return f"> [!quote]{title}\n> {escape(fold(claim.quote))}\n>\n> {' · '.join(facts)}\n\n^c-{claim.id}"


def parse_summary(text: str, path: str) -> Summary:
    """The claims of a summary's text; a block that cannot be read is a diagnostic with its line."""
    properties = read_properties(text)
    source = SourceId(properties.text("id"))
    claims: list[Located] = []
    found = [Diagnostic(path, p.line, p.code, p.message) for p in properties.problems]
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        match = _ID.fullmatch(line.rstrip("\r"))
        if match is None:
            continue
        first, block = _block_above(lines, number - 1)
        claim = _claim(ClaimId(match[1]), source, block)
        if claim is None:
            found.append(
                Diagnostic(
                    path,
                    number,
                    "claim-block",
                    f"the block of claim {match[1]} cannot be read",
                    "restore it from git, or run `retain rebuild`",
                )
            )
        else:
            claims.append(Located(claim, first))
    return Summary(path, properties, tuple(claims), tuple(found))


def _block_above(lines: list[str], index: int) -> tuple[int, list[str]]:
    """(1-based first line, the quoted lines) of the quote block that ends above line `index`, blank lines skipped."""
    last = index
    while last > 0 and not lines[last - 1].strip():
        last -= 1
    first = last
    while first > 0 and lines[first - 1].startswith(">"):
        first -= 1
    return first + 1, [line.rstrip("\r") for line in lines[first:last]]


def _claim(id_: ClaimId, source: SourceId, block: list[str]) -> Claim | None:
    title = _CALLOUT.fullmatch(block[0]) if len(block) >= 3 else None
    if title is None:
        return None
    body = [line[1:].strip() for line in block[1:]]
    facts = [part.strip() for part in body[-1].split(" · ")]
    quote = fold(" ".join(unescape(line) for line in body[:-1]))
    try:
        kind, state = ClaimKind(facts[0]), ClaimState(facts[1])
    except (ValueError, IndexError):
        return None
    locator = unescape(" · ".join(facts[2:]))
    return Claim(id_, source, kind, quote, unescape(title[1].strip()), state, locator) if quote else None
