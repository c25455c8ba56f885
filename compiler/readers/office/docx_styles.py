"""The styles and lists of a Word document, by which a paragraph is a heading, item, quotation, caption or code."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from compiler.readers.office.package import attribute, child, local
from compiler.readers.zip_archive import Archive
from vault.errors import Unreadable

MAX_STYLES = 10_000
MAX_CHAIN = 12  # styles that inherit from one another
LISTS = {"bullet": "1", "decimal": "2"}  # the two lists that mammoth gets
_HEADING = re.compile(r"heading ([1-9])$")
_ROLES = (
    (re.compile(r"title$"), "retain-h1"),
    (re.compile(r"(?:intense )?quote$|block ?text$|quotations?$"), "retain-quote"),
    (re.compile(r"caption$|figure$|image caption$|table caption$"), "retain-caption"),
    (re.compile(r"html preformatted$|(?:source )?code(?: block)?$|preformatted text$|macro text$"), "retain-pre"),
)
_CODE_RUN = re.compile(r"(?:html (?:code|keyboard|sample|typewriter)|verbatim char|source text|code|inline code)$")
_STRONG_RUN = re.compile(r"(?:strong|emphasis|intense emphasis|subtle emphasis)$")


@dataclass(frozen=True, slots=True)
class _Style:
    """One style of the document."""

    name: str  # lower case
    parent: str
    properties: Any  # its pPr, None if it has none
    hides: bool


@dataclass(slots=True)
class Styles:
    """The document's styles and numberings, empty for a document without them."""

    styles: dict[str, _Style] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)  # numId -> format of each level

    @classmethod
    def of(cls, archive: Archive, styles_part: str, numbering_part: str) -> Styles:
        """Return the styles of both parts; a damaged part is ignored."""
        out = cls()
        for part, load in ((styles_part, out._load_styles), (numbering_part, out._load_lists)):
            if part in archive.parts:
                try:
                    load(archive.xml(part))
                except Unreadable:
                    continue
        return out

    def _load_styles(self, root: Any) -> None:
        """Read the styles."""
        for element in [e for e in root if local(e) == "style"][:MAX_STYLES]:
            self.styles[attribute(element, "styleId")] = _Style(
                attribute(child(element, "name"), "val").lower(),
                attribute(child(element, "basedOn"), "val"),
                child(element, "pPr"),
                attribute(element, "type") == "character" and child(element, "rPr", "vanish") is not None,
            )

    def _load_lists(self, root: Any) -> None:
        """Read the numberings of lists."""
        formats: dict[str, list[str]] = {}
        for element in [e for e in root if local(e) == "abstractNum"]:
            levels = [e for e in element if local(e) == "lvl"][:9]
            formats[attribute(element, "abstractNumId")] = [attribute(child(e, "numFmt"), "val") for e in levels]
        for element in [e for e in root if local(e) == "num"]:
            reference = child(element, "abstractNumId")
            if reference is not None:
                self.lists[attribute(element, "numId")] = formats.get(attribute(reference, "val"), [])

    def _chain(self, paragraph: Any) -> list[_Style]:
        """Return the paragraph's style and those it inherits from."""
        style = attribute(child(paragraph, "pPr", "pStyle"), "val")
        out: list[_Style] = []
        while style in self.styles and len(out) < MAX_CHAIN:
            out.append(self.styles[style])
            style = out[-1].parent
        if style and not out:
            out.append(_Style(re.sub(r"(?i)^heading(?=\d)", "heading ", style).lower(), "", None, False))
        return out

    def name_of(self, paragraph: Any) -> str:
        """Return the name of the paragraph's style in lower case, "" if it has none; Word doesn't translate it."""
        chain = self._chain(paragraph)
        return chain[0].name if chain else ""

    def level(self, paragraph: Any) -> int:
        """Return 1 to 6 for a heading (by style, inherited style or outline level), 0 for other paragraphs."""
        chain = self._chain(paragraph)
        for properties in (child(paragraph, "pPr"), *(s.properties for s in chain)):
            value = attribute(child(properties, "outlineLvl"), "val")
            if value.isdigit() and len(value) == 1:
                return min(int(value) + 1, 6) if value != "9" else 0
        found = next((m for s in chain if (m := _HEADING.match(s.name))), None)
        return min(int(found[1]), 6) if found else 0

    def numbering(self, paragraph: Any) -> tuple[str, int]:
        """Return (a key of LISTS, depth from 0) for a list item, depth -1 for other paragraphs."""
        chain = self._chain(paragraph)
        for properties in (child(paragraph, "pPr"), *(s.properties for s in chain)):
            numbers = child(properties, "numPr")
            identity = child(numbers, "numId")
            if identity is None:
                continue
            list_id = attribute(identity, "val")
            if list_id == "0":
                return "", -1
            value = attribute(child(numbers, "ilvl"), "val")
            depth = int(value) if value.isdigit() and len(value) == 1 else 0
            formats = self.lists.get(list_id, [])
            kind = formats[depth] if depth < len(formats) else "bullet"
            return ("bullet" if kind in ("bullet", "none", "") else "decimal"), depth
        if chain and re.match(r"list (?:bullet|number)", chain[0].name):
            return ("decimal" if "number" in chain[0].name else "bullet"), 0
        return "", -1

    def role(self, name: str) -> str:
        """Return the style that mammoth maps for paragraphs of this style name, "" for plain ones."""
        return next((role for pattern, role in _ROLES if pattern.match(name)), "")

    def run_role(self, style: str) -> str:
        """Return the style that mammoth maps for runs of this style; "hidden" for one that shows nothing."""
        found = self.styles.get(style)
        if found is None:
            return style if style.startswith("retain-") else ""
        if found.hides:
            return "hidden"
        if _CODE_RUN.match(found.name):
            return "retain-code"
        return "retain-strong" if _STRONG_RUN.match(found.name) else ""
