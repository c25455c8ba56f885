"""Summaries: one note per source, its prose and then its claims, each with the words that prove it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
NO_CLAIMS = "No claim was found in this source."


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
    stem = path.removesuffix(".md")
    prose = " ".join(f"{escape(c.words)} {Citation(stem, c.id, 1)}" for c in lead)
    parts = [f"# {escape(clean_line(head.title))}", source_line(head.source)]
    parts += [prose] if prose else []
    parts += [CLAIMS_HEADING] if claims else [NO_CLAIMS]
    parts += [render_claim(c) for c in claims]
    return render_generated(_properties(head), "\n" + "\n\n".join(parts) + "\n", old)


def source_line(source: str) -> str:
    """The line of a summary that leads to the raw file."""
    return f"Source: {raw_link(source, source.rsplit('/', 1)[-1])}"


def _properties(head: SummaryHead) -> dict[str, Value]:
    return {
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
    for block in _blocks(lines):
        claim = _claim(block.id, source, lines[block.first : block.last])
        if claim is None:
            what = f"the block of claim {block.id} cannot be read"
            hint = "restore it from git, or run `retain rebuild`"
            found.append(Diagnostic(path, block.mark + 1, "claim-block", what, hint))
        else:
            claims.append(Located(claim, block.first + 1))
    return Summary(path, properties, tuple(claims), tuple(found))


@dataclass(frozen=True, slots=True)
class _Block:
    """`lines[first:last]` is the callout of claim `id`, `lines[mark]` its block id; no callout: `first == last`."""

    id: ClaimId
    first: int
    last: int
    mark: int


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    for mark, line in enumerate(lines):
        found = _ID.fullmatch(line.rstrip("\r"))
        if found is not None:
            yield _Block(ClaimId(found[1]), *_callout_above(lines, mark), mark)


def _callout_above(lines: Sequence[str], index: int) -> tuple[int, int]:
    """(first, last) of the lines of the quote callout that ends above line `index`, blank lines skipped."""
    last = index
    while last > 0 and not lines[last - 1].strip():
        last -= 1
    first = last
    while first > 0 and lines[first - 1].startswith(">"):
        first -= 1
        if _CALLOUT.fullmatch(lines[first].rstrip("\r")):
            return first, last
    return last, last


def prose_of(text: str) -> str:
    """A summary's text with its claims' blocks left out and every other line in its place."""
    lines = text.split("\n")
    for block in list(_blocks(lines)):
        for at in (*range(block.first, block.last), block.mark):
            lines[at] = ""
    return "\n".join(lines)


def _claim(id_: ClaimId, source: SourceId, block: Sequence[str]) -> Claim | None:
    title = _CALLOUT.fullmatch(block[0].rstrip("\r")) if len(block) >= 3 else None
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
