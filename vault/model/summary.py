"""Summaries: one note per source, its prose and then its claims, each with the quote that proves it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from vault.diagnostic import Diagnostic
from vault.ids import ALPHABET, ClaimId, SourceId
from vault.model.article import CitedSentence, render_sentence
from vault.model.claim import Claim, ClaimKind, ClaimState
from vault.model.exhibit import lines_of, split_exhibits
from vault.model.frontmatter import Properties, Value, read_properties, render_generated, splice_properties
from vault.model.markdown import escape, unescape
from vault.model.wikilink import Citation, Wikilink, alias, links, raw_link
from vault.text.formatting import clean_line, fold

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
    # A link to the summary of the source that this one only repeats; "none" where a human denies it, or the human's own
    # words where nobody can make out what they mean.
    copy_of: str | tuple[str, ...] = ""
    copy_kind: str = ""  # copy, edition, translation, part
    author: str = ""  # what the source says of itself; "" where it says nothing
    published: str = ""  # as much of an ISO date as is known: "2017-06-12", "2017-06", "2017"
    url: str = ""  # an http(s) address
    license: str = ""  # a name, a sentence or an address, as the source states it


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
        """Return the claim of that id, None if it is not there."""
        return next((c.claim for c in self.claims if c.claim.id == id_), None)


@dataclass(frozen=True, slots=True)
class Introduction:
    """What a summary shows before its claims: the words with which the source opens, and what it is about.

    `outline` holds (depth, heading, its words without a number), depth 0 or 1, `defines` links to articles, `main` the
    key points, `editions` lines that link to its older or newer editions. `said` is its summary in a
    model's words.
    """

    opening: Sequence[Claim] = ()
    outline: Sequence[tuple[int, str, str]] = ()
    defines: Sequence[str] = ()
    main: Sequence[Claim] = ()
    editions: Sequence[str] = ()
    said: Sequence[CitedSentence] = ()


def render_summary(
    path: str, head: SummaryHead, shown: Introduction, claims: Sequence[Claim], old: str | None = None
) -> str:
    """Return the text of a summary: what is `shown` of its source, cited, then every claim as a block.

    Properties that a human added to the `old` file stay.
    """
    stem = path.removesuffix(".md")

    def prose(said: Sequence[Claim]) -> str:
        return " ".join(f"{escape(c.words)} {Citation(stem, c.id, 1)}" for c in said)

    parts = [f"# {escape(clean_line(head.title))}", source_line(head.source)]
    kin = list(shown.editions) or ([_kinship_line(head)] if head.copy_kind else [])
    parts += ["\n".join(kin)] if kin else []
    parts += [" ".join(map(render_sentence, shown.said))] if shown.said else []
    parts += [prose(shown.opening)] if shown.opening else []
    if shown.outline:
        entries = (f"{'  ' * depth}- {raw_link(head.source, name, said)}" for depth, said, name in shown.outline)
        parts += ["## Outline", "\n".join(entries)]
    if shown.defines:
        parts += ["## Defines", "\n".join(f"- {link}" for link in shown.defines)]
    if shown.main:
        parts += ["## Key points", *(prose([c]) for c in shown.main)]
    parts += [CLAIMS_HEADING] if claims else [NO_CLAIMS]
    parts += [render_claim(c) for c in claims]
    return render_generated(_properties(head), "\n" + "\n\n".join(parts) + "\n", old)


def source_line(source: str) -> str:
    """Return the line of a summary that links to the raw file."""
    return f"Source: {raw_link(source, source.rsplit('/', 1)[-1])}"


def _kinship_line(head: SummaryHead) -> str:
    """Return the line that links to the source's original, which asserts nothing."""
    to = next(links(head.copy_of), None) if isinstance(head.copy_of, str) else None
    if to is None:
        return f"- {escape(clean_line(head.copy_kind))}"
    return f"- {Wikilink(to.target, alias=alias(f'{head.copy_kind.capitalize()} of {to.alias}'))}"


def _properties(head: SummaryHead) -> dict[str, Value]:
    """Return the front matter of a summary."""
    kinship: dict[str, Value] = {"copy_of": head.copy_of, "copy_kind": head.copy_kind}
    stated = {"author": head.author, "published": head.published, "url": head.url, "license": head.license}
    return {
        "type": "summary",
        "id": head.id,
        "title": head.title,
        **{key: value for key, value in stated.items() if value},
        "source": head.source,
        "source_sha256": head.source_sha256,
        "text_sha256": head.text_sha256,
        "reader": head.reader,
        "authority": head.authority,
        "language": head.language,
        **{key: value for key, value in kinship.items() if value},
        "created": head.created,
        "updated": head.updated,
    }


def render_claim(claim: Claim) -> str:
    """Return the block of one claim, its exhibits between quote and facts.

    Its title is the kind where claim and quote are the same words.
    """
    title = escape(fold(claim.statement)) or claim.kind.value.capitalize()
    facts = [claim.kind.value, claim.state.value]
    if claim.locator:
        facts.append(escape(clean_line(claim.locator.replace("·", "-"))))
    shown = "".join(f"> {line}\n" for exhibit in claim.exhibits for line in ("", *lines_of(exhibit)))
    shown = shown.replace("> \n", ">\n")
    return f"> [!quote] {title}\n> {escape(fold(claim.quote))}\n{shown}>\n> {' · '.join(facts)}\n\n^c-{claim.id}"


def parse_summary(text: str, path: str) -> Summary:
    """Return the claims of a summary's text; an invalid block is a diagnostic with its line."""
    properties = read_properties(text)
    source = SourceId(properties.text("id"))
    claims: list[Located] = []
    found = [Diagnostic(path, p.line, p.code, p.message) for p in properties.problems]
    lines = text.split("\n")
    for block in _blocks(lines):
        claim = _claim(block.id, source, lines[block.first : block.last])
        if claim is None:
            what = f"the entry of claim {block.id} cannot be read"
            hint = "restore it from git, or run `retain rebuild`"
            found.append(Diagnostic(path, block.mark + 1, "claim-block", what, hint))
        else:
            claims.append(Located(claim, block.first + 1))
    return Summary(path, properties, tuple(claims), tuple(found))


@dataclass(frozen=True, slots=True)
class _Block:
    """`lines[first:last]` is the callout of claim `id`, `lines[mark]` its block id; `first == last` without a
    callout."""

    id: ClaimId
    first: int
    last: int
    mark: int


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    """Yield the blocks of claims in a summary."""
    for mark, line in enumerate(lines):
        found = _ID.fullmatch(line.rstrip("\r"))
        if found is not None:
            yield _Block(ClaimId(found[1]), *_callout_above(lines, mark), mark)


def _callout_above(lines: Sequence[str], index: int) -> tuple[int, int]:
    """Return (first, last) of the quote callout that ends above line `index`, blank lines skipped."""
    last = index
    while last > 0 and not lines[last - 1].strip():
        last -= 1
    first = last
    while first > 0 and lines[first - 1].startswith(">"):
        first -= 1
        if _CALLOUT.fullmatch(lines[first].rstrip("\r")):
            return first, last
    return last, last


def furniture_of(summary: Summary) -> frozenset[str]:
    """Return the lines of a summary that state nothing about its subject, as sentences have them."""
    return frozenset((fold(unescape(source_line(summary.properties.text("source")))), NO_CLAIMS))


def prose_of(text: str) -> str:
    """Return a summary's text without its claims' blocks, all other lines at their line numbers."""
    lines = text.split("\n")
    for block in list(_blocks(lines)):
        for at in (*range(block.first, block.last), block.mark):
            lines[at] = ""
    return "\n".join(lines)


def _claim(id_: ClaimId, source: SourceId, block: Sequence[str]) -> Claim | None:
    """Return the claim of a block, None if it is invalid."""
    title = _CALLOUT.fullmatch(block[0].rstrip("\r")) if len(block) >= 3 else None
    if title is None:
        return None
    body = [line[1:].removeprefix(" ").rstrip() for line in block[1:]]
    facts = _facts(body[-1].strip())
    words, exhibits = split_exhibits(body[:-1])
    quote = fold(" ".join(unescape(line.strip()) for line in words))
    if facts is None or not quote:
        return None
    statement = unescape(title[1].strip())
    statement = "" if statement == facts[0].value.capitalize() else statement
    return Claim(id_, source, facts[0], quote, statement, facts[1], facts[2], exhibits)


def _facts(line: str) -> tuple[ClaimKind, ClaimState, str] | None:
    """Return kind, state and locator from the last line of a claim's block, None if it is invalid."""
    parts = [part.strip() for part in line.split(" · ")]
    try:
        return ClaimKind(parts[0]), ClaimState(parts[1]), unescape(" · ".join(parts[2:]))
    except (ValueError, IndexError):
        return None


def head_of(summary: Summary) -> SummaryHead:
    """Return the properties that retain wrote into a summary."""
    text = summary.properties.text
    return SummaryHead(
        id=SourceId(text("id")),
        title=text("title"),
        source=text("source"),
        source_sha256=text("source_sha256"),
        text_sha256=text("text_sha256"),
        reader=text("reader"),
        authority=int(text("authority")),
        language=text("language"),
        created=text("created"),
        updated=text("updated"),
        copy_of=text("copy_of") or summary.properties.texts("copy_of") or "",
        copy_kind=text("copy_kind"),
        author=text("author"),
        published=text("published"),
        url=text("url"),
        license=text("license"),
    )


def splice_claims(old: str, head: SummaryHead, claims: Sequence[Claim]) -> str:
    """Return a summary that the user edited with new properties and claims; everything else stays byte for byte.

    `generated` stays, so that the note goes on counting as edited. Blocks that are there are changed in place, and
    so are sentences of the prose that are the very words of a claim; new blocks follow the claim before them. What
    a human wrote inside a block, below its last line, comes after it.
    """
    wanted = {c.id: c for c in claims}
    lines = _update_prose(old, wanted).split("\n")
    end = "\r" if lines[0].endswith("\r") else ""
    out: list[str] = []
    places: dict[ClaimId, int] = {}  # how many lines of `out` end with the claim's block
    done = 0
    for block in _blocks(lines):
        callout = lines[block.first : block.last]
        first, there = (block.first, True) if callout else (block.mark, False)
        out += lines[done:first]
        done = block.mark + 1
        claim = wanted.get(block.id) if block.id not in places else None
        if claim is None:
            done += done < len(lines) and not lines[done].strip()  # the blank line that parted it from what follows
        elif there and _claim(claim.id, claim.source, callout) == claim:
            out += lines[first:done]
        else:
            out += [end] if out and out[-1].strip() else []
            out += _rendered(claim, end)
        out += _remarks(callout, end)
        if claim is not None:
            places[claim.id] = len(out)
    out += lines[done:]
    text = "\n".join(_insert_new_claims(out, claims, places, end))
    read = read_properties(text)
    gone = {k: "" for k in ("copy_of", "copy_kind") if read.text(k)}
    return splice_properties(text, {k: v for k, v in (gone | _properties(head)).items() if read.text(k) != str(v)})


def _update_prose(text: str, wanted: Mapping[ClaimId, Claim]) -> str:
    """Return `text` with the sentences made of claims' words replaced by the present ones, or removed."""
    for located in parse_summary(text, "").claims:
        was, now = located.claim, wanted.get(located.claim.id)
        if now is None or now.words != was.words:
            words, cite = re.escape(escape(was.words)), rf"\[\[[^\[\]\n]+#\^c-{was.id}\|\d+\]\]"
            new = f"{escape(now.words)} ".replace("\\", r"\\") + r"\1" if now else ""
            text = re.sub(rf"(?:^|(?<=\]\] )){words} ({cite} ?)", new, text, flags=re.MULTILINE)
    return text


def _rendered(claim: Claim, end: str) -> list[str]:
    """Return the lines of a claim's block."""
    return [line + end for line in render_claim(claim).split("\n")]


def _remarks(callout: Sequence[str], end: str) -> list[str]:
    """Return what the user wrote in a claim's block below its last generated line, as a block of its own."""
    last = max((n for n, line in enumerate(callout) if n and _facts(line[1:].strip())), default=len(callout))
    below = callout[last + 1 :]
    return [end, *below, end] if any(line.strip("> \t\r") for line in below) else []


def _insert_new_claims(lines: list[str], claims: Sequence[Claim], places: dict[ClaimId, int], end: str) -> list[str]:
    """Return `lines` with the blocks of claims that have no place yet, each after the claim before it."""
    new: dict[int, list[str]] = {}
    at = -1
    for claim in claims:
        if claim.id in places:
            at = places[claim.id]
            continue
        at = _claims_begin(lines, end) if at < 0 else at
        new.setdefault(at, []).extend([end, *_rendered(claim, end)])
    for place in sorted(new, reverse=True):
        parted = place >= len(lines) or not lines[place].strip()
        lines[place:place] = new[place] if parted else [*new[place], end]
    return lines


def _claims_begin(lines: list[str], end: str) -> int:
    """Return where the first claim's block goes: below the heading, which is added if missing."""
    said = [line.rstrip() for line in lines]
    if CLAIMS_HEADING in said:
        return said.index(CLAIMS_HEADING) + 1
    if NO_CLAIMS in said:
        lines[said.index(NO_CLAIMS)] = CLAIMS_HEADING + end
        return said.index(NO_CLAIMS) + 1
    at = len(lines) - (not said[-1])
    lines[at:at] = [end, CLAIMS_HEADING + end]
    return at + 2
