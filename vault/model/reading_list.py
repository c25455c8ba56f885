"""The reading list, `learning/reading-list.md`: what to read next, search queries for it, works that sources name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vault.ids import ALPHABET, GapId
from vault.layout import GAPS
from vault.model.frontmatter import render_note
from vault.model.markdown import escape, unescape
from vault.text.formatting import clean_line, plural


@dataclass(frozen=True, slots=True)
class Lack:
    """One gap of a subject: what is missing and what would fill it."""

    gap: GapId
    missing: str
    fill: str


@dataclass(frozen=True, slots=True)
class Cited:
    """A work that a source names on the subject; `words` or `address` may be "". `sources` are links to summaries."""

    words: str
    address: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """A subject to read about. `waiting` articles name it; `link` leads to its own article, "" if it has none."""

    what: str
    waiting: int
    lacks: tuple[Lack, ...]
    queries: tuple[str, ...] = ()
    works: tuple[Cited, ...] = ()
    mentions: tuple[str, ...] = ()  # links to the notes that name it
    link: str = ""
    line: int = 0  # 1-based in the file, 0 if not yet written


_ABOUT = (
    "What to read next, the most needed first; `retain gaps plan` shows the first ten. When you have found a source "
    "for a gap, add it with `retain add --fills GAP SOURCE`."
)
_LINK = r"\[\[[^\[\]\n]*\]\]"
_HEADING = re.compile(r"## (.+)")
_WAITING = re.compile(
    rf"(?:(?:Mentioned in )?(\d+) articles?(?: names? it)?|No other article (?:names|mentions) it)\."
    rf"(?: Its article: ({_LINK})\.)?"
)
_LACK = re.compile(
    rf"- Missing: (.+?)\. (?:Would|To) fill it: (.+?)\. "
    rf"\[\[[^\[\]|]*#\^g-([{ALPHABET}]{{10}})\|[{ALPHABET}]{{10}}\]\]"
)
_QUERY = re.compile(r"- Search: `([^`\n]+)`")
_WORK = re.compile(rf"- Cited: (.*?) ?(?:<(https?://[^<>\s]+)>)?(?: in ({_LINK}(?:, {_LINK})*))?")
_MENTIONS = re.compile(rf"- (?:Named|Mentioned) in ({_LINK}(?:, {_LINK})*)")
_QUERY_SIGNS = re.compile(r"[^\w\s.+#'’&/()-]")
_ADDRESS = re.compile(r"https?://[A-Za-z0-9.-]+(?::\d{1,5})?(?:/(?:(?![\"<>`|\\^{}\[\]]|%%)[!-~])*)?")


def query(words: str) -> str:
    """Return `words` as a search query without quotes and operators, at most 100 characters."""
    plain = clean_line(_QUERY_SIGNS.sub(" ", words))
    plain = re.sub(r"(?<!\S)-[\s-]*", "", plain)  # a hyphen in front would ask for pages without the word
    return plain[:100].strip()


def render_reading_list(wanted: Sequence[Wanted]) -> str:
    """Return the page, its subjects in the order given."""
    parts = ["# Reading list", _ABOUT if wanted else "Nothing is missing."]
    parts += (_section(each) for each in wanted)
    return render_note({"type": "reading-list", "subjects": len(wanted)}, "\n" + "\n\n".join(parts) + "\n")


def _section(wanted: Wanted) -> str:
    """Return the section of one subject."""
    number = wanted.waiting
    named = f"Mentioned in {plural(number, 'article')}" if number else "No other article mentions it"
    article = f" Its article: {wanted.link}." if wanted.link else ""
    gaps = GAPS.removesuffix(".md")
    lines = [
        f"- Missing: {_words(lack.missing)}. To fill it: {_words(lack.fill)}. [[{gaps}#^g-{lack.gap}|{lack.gap}]]"
        for lack in wanted.lacks
    ]
    lines += (f"- Search: `{plain}`" for words in wanted.queries if (plain := query(words)))
    lines += map(_work, wanted.works)
    if wanted.mentions:
        lines.append(f"- Mentioned in {', '.join(wanted.mentions)}")
    return f"## {_words(wanted.what)}\n\n{named}.{article}\n\n" + "\n".join(lines)


def _work(work: Cited) -> str:
    """Return the line of a work."""
    return f"- Cited: {cited(work)}".rstrip() + (f" in {', '.join(work.sources)}" if work.sources else "")


def cited(work: Cited) -> str:
    """Return a work in Markdown; its address is written out, or left out if it could act in Markdown."""
    address = f"<{work.address}>" if _ADDRESS.fullmatch(work.address) else ""
    return " ".join(filter(None, (_words(work.words) if work.words else "", address)))


def search_for(wanted: Wanted, gap: GapId) -> str:
    """Return the search query of a subject that fits one of its gaps best; "" if it has none."""
    places = [n for n, lack in enumerate(wanted.lacks) if lack.gap == gap]
    if not places or not wanted.queries:
        return ""
    return query(wanted.queries[min(places[0], len(wanted.queries) - 1)])


def _words(text: str) -> str:
    """Return text on one line, escaped."""
    return escape(clean_line(text)) or "untitled"


def parse_reading_list(text: str) -> list[Wanted]:
    """Return the subjects of the page, in order; other lines are skipped."""
    out: list[Wanted] = []
    heading: tuple[str, int] | None = None
    lines: list[str] = []
    for number, line in enumerate([*text.split("\n"), "## end"], 1):
        found = _HEADING.fullmatch(line.rstrip("\r"))
        if found is None:
            lines.append(line.rstrip("\r"))
            continue
        if heading is not None:
            wanted = _wanted(*heading, lines)
            out += [wanted] if wanted.lacks else []
        heading, lines = (unescape(found[1]), number), []
    return out


def _wanted(what: str, number: int, lines: Sequence[str]) -> Wanted:
    """Return the subject of a section."""
    waiting, link = 0, ""
    lacks: list[Lack] = []
    queries: list[str] = []
    works: list[Cited] = []
    mentions: tuple[str, ...] = ()
    for line in lines:
        if found := _WAITING.fullmatch(line):
            waiting, link = int(found[1] or 0), found[2] or ""
        elif found := _LACK.fullmatch(line):
            lacks.append(Lack(GapId(found[3]), unescape(found[1]), unescape(found[2])))
        elif found := _QUERY.fullmatch(line):
            queries.append(found[1])
        elif found := _WORK.fullmatch(line):
            works.append(Cited(unescape(found[1]), found[2] or "", _links(found[3])))
        elif found := _MENTIONS.fullmatch(line):
            mentions = _links(found[1])
    return Wanted(what, waiting, tuple(lacks), tuple(queries), tuple(works), mentions, link, number)


def _links(words: str | None) -> tuple[str, ...]:
    """Return the links in a line."""
    return tuple(re.findall(_LINK, words or ""))
