"""The reading agenda, `learning/gaps.md`: what is missing, which notes mention it, what would fill it; user's ticks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from vault.ids import ALPHABET, GapId
from vault.model.frontmatter import read_properties, render_note
from vault.model.markdown import escape, unescape
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


@dataclass(frozen=True, slots=True)
class Gap:
    """A gap. `mentions` are links to notes that need it, `added` to the sources that the user added to fill it.

    `uses` are sentences that need it, in Markdown, each with a link to its source; they are shown while it is open.
    `line` is 1-based in the file, 0 if not yet written.
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
    uses: tuple[str, ...] = ()

    @property
    def open(self) -> bool:
        """Return whether the gap is still to be filled."""
        return self.status in (GapStatus.OPEN, GapStatus.PLANNED)


_SECTIONS = {
    GapKind.STRUCTURAL: ("Structural", "Terms that sources use and none explains."),
    GapKind.EPISTEMIC: ("Epistemic", "Questions that the wiki cannot answer yet."),
    GapKind.LEARNER: ("Learner", "What keeps being forgotten, with the likely cause."),
}
_LABELS = (("Mentioned in", "Would fill it"), ("See", "What helps"))  # of what the wiki lacks; of what is forgotten
_CLOSED = "Resolved"
_ENDS = "?!？！。"  # no full stop follows these
_ITEM = re.compile(
    rf"- \[(?P<tick>[ xX])\] (?:\((?P<kind>[a-z]+), (?P<status>[a-z]+)\) )?(?P<planned>\(planned\) )?"
    rf"\*\*(?P<what>.+?)\*\*: (?P<missing>.+?)(?:\.|(?<=[{_ENDS}]))"
    rf"(?: (?:Mentioned in|See) (?P<mentions>\[\[.*?\]\])\.)?(?: Added for it: (?P<added>\[.+?[\])])\.)?"
    rf" (?:Would fill it|What helps): (?P<fill>.+?)\. \^g-(?P<id>[{ALPHABET}]{{10}})[ \t]*"
)
_USE = "    - "
_HEADING = re.compile(r"## +(.+?)[ \t]*")
_ADDED = re.compile(r"\[\[.*?\]\]|\[(?:[^\[\]\\]|\\.)*\]\(<[^<>]*>\)")


def render_agenda(gaps: Sequence[Gap]) -> str:
    """Return the agenda's file; within a kind `gaps` keep their order, so put the most pressing first."""
    still_open = [g for g in gaps if g.open]
    closed = [g for g in gaps if not g.open]
    parts = ["# Reading agenda", "Tick what is settled; `retain gaps` resolves, ignores and plans. Ticks are kept."]
    for kind, (heading, about) in _SECTIONS.items():
        items = [_item(g) for g in still_open if g.kind is kind]
        if items:
            parts += [f"## {heading}", about, "\n".join(items)]
    if not still_open:
        parts.append("Nothing is missing.")
    if closed:
        parts += [f"## {_CLOSED}", "\n".join(_item(g) for g in closed)]
    counts = {kind.value: sum(g.kind is kind for g in still_open) for kind in GapKind}
    return render_note({"type": "gaps", **counts}, "\n" + "\n\n".join(parts) + "\n")


def _item(gap: Gap) -> str:
    """Return the list item of a gap."""
    see, fills = _LABELS[gap.kind is GapKind.LEARNER]
    mentions = f" {see} {', '.join(gap.mentions)}." if gap.mentions else ""
    label = "" if gap.open else f"({gap.kind}, {gap.status}) "
    planned = "(planned) " if gap.status is GapStatus.PLANNED else ""
    tick = " " if gap.open and not gap.ticked else "x"
    added = f" Added for it: {', '.join(gap.added)}." if gap.added else ""
    missing = _words(gap.missing)
    end = "" if missing.endswith(tuple(_ENDS)) else "."
    words = f"**{_words(gap.what)}**: {missing}{end}{mentions}{added} {fills}: {_words(gap.fill)}."
    uses = [f"{_USE}{use}" for use in gap.uses if gap.open]
    return "\n".join([f"- [{tick}] {label}{planned}{words} ^g-{gap.id}", *uses])


def _words(text: str) -> str:
    """Return text on one line, escaped."""
    return escape(clean_line(text))


def parse_agenda(text: str) -> list[Gap]:
    """Return the gaps of an agenda's text, in order; other lines (the user's remarks) are skipped."""
    gaps: list[Gap] = []
    kind: GapKind | None = None
    names = {heading.casefold(): k for k, (heading, _) in _SECTIONS.items()}
    for number, line in enumerate(text.split("\n"), 1):
        heading = _HEADING.fullmatch(line)
        if heading is not None:
            kind = names.get(heading[1].casefold())
        found = _ITEM.fullmatch(line.rstrip("\r"))
        gap = _gap(found, kind, number) if found is not None else None
        if gap is not None:
            gaps.append(gap)
        elif gaps and line.startswith(_USE) and gaps[-1].line + len(gaps[-1].uses) + 1 == number:
            gaps[-1] = replace(gaps[-1], uses=(*gaps[-1].uses, line.removeprefix(_USE).rstrip()))
    return gaps


def _gap(found: re.Match[str], kind: GapKind | None, line: int) -> Gap | None:
    """Return the gap of an item's line, None if it is invalid."""
    status = GapStatus.PLANNED if found["planned"] else GapStatus.OPEN
    if found["kind"]:
        try:
            kind, status = GapKind(found["kind"]), GapStatus(found["status"])
        except ValueError:
            return None
    if kind is None:
        return None
    mentions = tuple(re.findall(r"\[\[.*?\]\]", found["mentions"] or ""))
    what, missing, fill = (unescape(found[part]) for part in ("what", "missing", "fill"))
    added = tuple(_ADDED.findall(found["added"] or ""))
    return Gap(GapId(found["id"]), kind, what, missing, fill, mentions, status, found["tick"] != " ", line, added)


def ticked_gaps(text: str) -> list[GapId]:
    """Return the open gaps that the user has ticked."""
    return [g.id for g in parse_agenda(text) if g.open and g.ticked]


def open_gap_counts(text: str) -> dict[str, int]:
    """Return the number of open gaps by kind, from the agenda's properties."""
    properties = read_properties(text)
    return {kind.value: int(n) if (n := properties.text(kind.value)).isdecimal() else 0 for kind in GapKind}
