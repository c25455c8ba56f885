"""The reading agenda, `learning/gaps.md`: questions to read about, where they matter, what to read; the user's ticks.

Each open gap is one line. The first SHOWN entries are what to read next; the rest is below `More`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from vault.ids import ALPHABET, GapId
from vault.layout import CONCEPTS, GAPS, TOPICS
from vault.model.frontmatter import read_properties, render_note
from vault.model.markdown import escape, unescape
from vault.model.wikilink import Wikilink, alias, links
from vault.text.formatting import clean_line


class GapKind(StrEnum):
    """What is missing."""

    STRUCTURAL = "structural"  # a term that sources use and none explains
    EPISTEMIC = "epistemic"  # a question the wiki can't answer
    LEARNER = "learner"  # what keeps being forgotten


class GapStatus(StrEnum):
    """What was decided about a gap."""

    OPEN = "open"
    PLANNED = "planned"
    FILLED = "filled"  # the wiki now answers it
    RESOLVED = "resolved"  # the human says it is settled
    IGNORED = "ignored"  # the human doesn't want it


SHOWN = 15  # entries before "More"
FOLDED = 3  # gaps with the same words, from which on they are one entry
UNDEFINED = "what is it? No sentence was found that explains it"
SOURCE_OF_TERM = "a source that explains it"  # what would fill the gap of a term


@dataclass(frozen=True, slots=True)
class Gap:
    """A gap. `mentions` are links to notes that need it, `added` to the sources that the user added to fill it.

    `use` is a part of a sentence that needs it, `read` a work that sources cite on it (Markdown), `search` a web search
    query; each may be "". `line` is 1-based in the file, 0 if not yet written.
    """

    id: GapId
    kind: GapKind
    what: str
    missing: str
    fill: str
    mentions: tuple[str, ...] = ()
    status: GapStatus = GapStatus.OPEN
    ticked: bool = False
    line: int = 0
    added: tuple[str, ...] = ()
    use: str = ""
    read: str = ""
    search: str = ""

    @property
    def open(self) -> bool:
        """Return whether the gap is still to be filled."""
        return self.status in (GapStatus.OPEN, GapStatus.PLANNED)


# --- the order --------------------------------------------------------------------------------------------------------


def ranked(gaps: Sequence[Gap]) -> list[Gap]:
    """Return the open gaps by what they cost: what keeps being forgotten, then what most articles need.

    What is missing on a subject that keeps being forgotten, or in its article, comes right after it. Gaps of one
    subject are together; among equals the order given is kept.
    """
    still_open = [gap for gap in gaps if gap.open]
    forgotten = [gap for gap in still_open if gap.kind is GapKind.LEARNER]
    cost: dict[str, int] = {}
    for place, gap in enumerate(forgotten):
        for name in (gap.what.casefold(), *list(_pages(gap))[:1]):
            cost.setdefault(name, place)

    alike = Counter(_template(gap) for gap in still_open)

    def key(gap: Gap) -> tuple[int, int, int, int, int]:
        named = min(cost.get(name, len(forgotten)) for name in (gap.what.casefold(), *_pages(gap)))
        articles = sum(page.startswith((CONCEPTS, TOPICS)) for page in _pages(gap))
        folded = alike[_template(gap)] >= FOLDED
        return named, int(gap.kind is not GapKind.LEARNER), -articles, -len(gap.mentions), int(folded)

    best: dict[str, tuple[int, int, int, int, int]] = {}
    for gap in still_open:
        subject = gap.what.casefold()
        best[subject] = min(best.get(subject, key(gap)), key(gap))
    subjects = {subject: place for place, subject in enumerate(best)}
    return sorted(still_open, key=lambda g: (best[s := g.what.casefold()], subjects[s], key(g)))


def _pages(gap: Gap) -> Iterator[str]:
    """Yield the paths, without .md, of the notes that need what a gap lacks."""
    for mention in gap.mentions:
        yield from (link.target for link in links(mention))


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the agenda: one gap, or several of which the same is said."""

    gaps: tuple[Gap, ...]


def entries(gaps: Sequence[Gap]) -> list[Entry]:
    """Return the open gaps as entries, in the order of `ranked`; those with the same words are one entry."""
    alike = Counter(_template(gap) for gap in gaps if gap.open)
    folded: dict[tuple[str, ...], list[Gap]] = {}
    order: list[list[Gap]] = []
    for gap in ranked(gaps):
        template = _template(gap)
        if alike[template] < FOLDED:
            order.append([gap])
        elif template in folded:
            folded[template].append(gap)
        else:
            order.append(folded.setdefault(template, [gap]))
    return [Entry(tuple(some)) for some in order]


def _template(gap: Gap) -> tuple[str, ...]:
    """Return what is said of the gap but for its subject; of a term and a forgotten card there is always more."""
    return (gap.missing, gap.fill) if gap.kind is GapKind.EPISTEMIC else (gap.id,)


# --- the page ---------------------------------------------------------------------------------------------------------

_ABOUT = (
    "What to read next: first what you keep forgetting, then what is needed by the most articles. Tick what you have"
    " done. In the app, press `y` to copy the search, `p` to plan the gap, `i` to ignore it."
)
_MORE, _CLOSED = "More", "Resolved"
_ENDS = "?!？！。"  # no full stop follows these
_FILLS = {GapKind.LEARNER: "What helps", GapKind.EPISTEMIC: "Look for"}
_WORK = r"(?:(?:[^\[\]<>\\]|\\.)*?(?:<https?://[^<>\s]+>)?)"
_ITEM = re.compile(
    rf"- \[(?P<tick>[ xX])\] (?:\((?P<kind>{'|'.join(GapKind)})(?:, (?P<status>[a-z]+))?\) )?(?P<planned>\(planned\) )?"
    rf"\*\*(?P<what>.+?)\*\*: (?P<missing>.+?)(?:\.|(?<=[{_ENDS}]))"
    rf"(?: In (?:use|context): “(?P<use>.+?)”\.)?"
    rf"(?: (?:Needed in|See) (?P<mentions>\[\[.*?\]\])\.)?(?: (?:Added for it|Sources added): (?P<added>\[.+?[\])])\.)?"
    rf"(?: Read: (?P<read>{_WORK})\.)?(?: Search: `(?P<search>[^`\n]+)`\.)?"
    rf"(?: (?P<label>Look for|What helps): (?P<fill>.+?)\.)? \^g-(?P<id>[{ALPHABET}]{{10}})[ \t]*"
)
# Before version 2.7.0: a section for each kind, and the sentences that use a term below its line.
_OLD_SECTIONS = {kind.value: kind for kind in GapKind}
_OLD_ITEM = re.compile(
    rf"- \[(?P<tick>[ xX])\] (?:\((?P<kind>[a-z]+), (?P<status>[a-z]+)\) )?(?P<planned>\(planned\) )?"
    rf"\*\*(?P<what>.+?)\*\*: (?P<missing>.+?)(?:\.|(?<=[{_ENDS}]))"
    rf"(?: (?:Mentioned in|See) (?P<mentions>\[\[.*?\]\])\.)?(?: Added for it: (?P<added>\[.+?[\])])\.)?"
    rf" (?:Would fill it|What helps): (?P<fill>.+?)\. \^g-(?P<id>[{ALPHABET}]{{10}})[ \t]*"
)
_HEADING = re.compile(r"## +(.+?)[ \t]*")
_ADDED = re.compile(r"\[\[.*?\]\]|\[(?:[^\[\]\\]|\\.)*\]\(<[^<>]*>\)")


def render_agenda(gaps: Sequence[Gap]) -> str:
    """Return the agenda's file, ranked; gaps that cost the same keep the order in which they are given."""
    closed = [g for g in gaps if not g.open]
    listed = entries(gaps)
    first, rest = listed[:SHOWN], listed[SHOWN:]
    more = [gap for entry in first if len(entry.gaps) > 1 for gap in entry.gaps]
    more += [gap for entry in rest for gap in entry.gaps]
    parts = ["# Gaps", _ABOUT if listed else "Nothing is missing."]
    if first:
        parts.append("\n".join(_item(e.gaps[0]) if len(e.gaps) == 1 else _folded(e.gaps) for e in first))
    if more:
        parts += [f"## {_MORE}", "\n".join(map(_item, more))]
    if closed:
        parts += [f"## {_CLOSED}", "\n".join(map(_item, closed))]
    counts = {kind.value: sum(g.kind is kind and g.open for g in gaps) for kind in GapKind}
    return render_note({"type": "gaps", **counts}, "\n" + "\n\n".join(parts) + "\n")


def _folded(gaps: Sequence[Gap]) -> str:
    """Return the line of gaps of which the same is said, each name a link to its own line."""
    page = GAPS.removesuffix(".md")
    names = ", ".join(str(Wikilink(page, f"^g-{gap.id}", alias(gap.what))) for gap in gaps)
    return f"- {len(gaps)} subjects: {_sentence(gaps[0].missing)} {names}"


def _item(gap: Gap) -> str:
    """Return the line of a gap."""
    words = [f"**{_words(gap.what)}**: {_sentence(gap.missing)}"]
    if gap.use and gap.open:
        words.append(f"In context: “{_words(gap.use)}”.")
    if gap.mentions:
        words.append(f"{'See' if gap.kind is GapKind.LEARNER else 'Needed in'} {', '.join(gap.mentions)}.")
    if gap.added:
        words.append(f"Sources added: {', '.join(gap.added)}.")
    if gap.read and gap.open:
        words.append(f"Read: {gap.read}.")
    if gap.search and gap.open:
        words.append(f"Search: `{gap.search}`.")
    label = _FILLS.get(gap.kind, "Look for")
    if gap.fill != SOURCE_OF_TERM:
        words.append(f"{label}: {_words(gap.fill)}.")
    tick = " " if gap.open and not gap.ticked else "x"
    return f"- [{tick}] {_state(gap, label)}{' '.join(words)} ^g-{gap.id}"


def _state(gap: Gap, label: str) -> str:
    """Return the kind and the decision on a gap, as far as the rest of its line does not tell."""
    if not gap.open:
        return f"({gap.kind}, {gap.status}) "
    known = _kind_by_label(label if gap.fill != SOURCE_OF_TERM else "")
    kind = "" if gap.kind is known else f"({gap.kind}) "
    return kind + ("(planned) " if gap.status is GapStatus.PLANNED else "")


def _kind_by_label(label: str) -> GapKind:
    """Return the kind of an open gap whose line names what would fill it with this label, "" for none."""
    return next((kind for kind, each in _FILLS.items() if each == label), GapKind.STRUCTURAL)


def _words(text: str) -> str:
    """Return text on one line, escaped."""
    return escape(clean_line(text))


def _sentence(text: str) -> str:
    """Return text on one line, escaped, with a full stop unless it has one of its own."""
    words = _words(text)
    return words if words.endswith(tuple(_ENDS)) else f"{words}."


def parse_agenda(text: str) -> list[Gap]:
    """Return the gaps of an agenda's text, in order; other lines (the user's remarks) are skipped."""
    gaps: list[Gap] = []
    section: GapKind | None = None  # of an older page
    for number, line in enumerate(text.split("\n"), 1):
        heading = _HEADING.fullmatch(line)
        if heading is not None:
            section = _OLD_SECTIONS.get(heading[1].casefold())
        bare = line.rstrip("\r")
        found = _OLD_ITEM.fullmatch(bare) if section is not None else None
        gap = _gap((found or _ITEM.fullmatch(bare) or _OLD_ITEM.fullmatch(bare)), section, number)
        gaps += [gap] if gap is not None else []
    return gaps


def _gap(found: re.Match[str] | None, section: GapKind | None, line: int) -> Gap | None:
    """Return the gap of an item's line, None if it is invalid."""
    if found is None:
        return None
    part: Mapping[str, str] = {name: text or "" for name, text in found.groupdict().items()}
    try:
        kind = GapKind(part["kind"]) if part["kind"] else section or _kind_by_label(part.get("label", ""))
        status = GapStatus(part["status"]) if part["status"] else GapStatus.OPEN
    except ValueError:
        return None
    if part["planned"] and status is GapStatus.OPEN:
        status = GapStatus.PLANNED
    what, missing, fill = (unescape(part[name]) for name in ("what", "missing", "fill"))
    return Gap(
        id=GapId(part["id"]),
        kind=kind,
        what=what,
        missing=missing,
        fill=fill or SOURCE_OF_TERM,
        mentions=tuple(re.findall(r"\[\[.*?\]\]", part["mentions"])),
        status=status,
        ticked=part["tick"] != " ",
        line=line,
        added=tuple(_ADDED.findall(part["added"])),
        use=unescape(part.get("use", "")),
        read=part.get("read", ""),
        search=part.get("search", ""),
    )


def ticked_gaps(text: str) -> list[GapId]:
    """Return the open gaps that the user has ticked."""
    return [g.id for g in parse_agenda(text) if g.open and g.ticked]


def open_gap_counts(text: str) -> dict[str, int]:
    """Return the number of open gaps by kind, from the agenda's properties."""
    properties = read_properties(text)
    return {kind.value: int(n) if (n := properties.text(kind.value)).isdecimal() else 0 for kind in GapKind}
