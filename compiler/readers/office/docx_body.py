"""The body of a Word document prepared for mammoth: what it would drop or misname gets styles that it knows.

Formulas, pictures, charts, text boxes and notes become ordinary runs and paragraphs of styles whose names begin with
`MINE`; headings, lists, quotations, captions and code are recognized by style, outline level and inheritance; contents
tables, hidden words, comments and bookmarks go.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from compiler.readers.office.docx_styles import LISTS, Styles
from compiler.readers.office.math import latex
from compiler.readers.office.package import (
    attribute,
    chart_words,
    child,
    described,
    diagram_texts,
    is_inside,
    local,
    relationships,
    replace_element,
    resolve_alternatives,
)
from compiler.readers.zip_archive import EMBEDDED, Archive
from vault.errors import Unreadable
from vault.model.source import Problem

MINE = "retain-"
MAX_WORK = 60_000  # what mammoth converts in some seconds: runs and cells count one, paragraphs three
MAX_FORMULAS = 20_000
MAX_JOINED = 5_000  # characters
MAX_NOTES = 5_000
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_DROPPED = {
    "bookmarkStart", "bookmarkEnd", "commentRangeStart", "commentRangeEnd", "commentReference", "proofErr", "del",
    "moveFrom", "sectPr", "lastRenderedPageBreak", "annotationRef", "footnoteRef", "endnoteRef", "permStart", "permEnd",
}  # fmt: skip
_RUN_KEPT = {"b", "i", "vertAlign", "strike"}
_NOTE_KINDS = {"footnoteReference": "footnote", "endnoteReference": "endnote"}


def w(name: str) -> str:
    """Return a name in Word's main namespace."""
    return f"{{{W}}}{name}"


_WORK = {w("p"): 3, w("r"): 1, w("tc"): 1}


@dataclass(slots=True)
class Body:
    """Rewrites the body's tree in place, once."""

    archive: Archive
    part: str
    styles: Styles
    links: dict[str, tuple[str, str]] = field(default_factory=dict)
    notes: dict[tuple[str, str], Any] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: {"footnote": 0, "endnote": 0})
    problems: list[Problem] = field(default_factory=list)
    formulas: int = 0
    headings: int = 0

    def blocks(self) -> list[Any]:
        """Return the paragraphs and tables of the document, in order, ready for mammoth.

        Raises: Unreadable if the part is damaged or has no body.
        """
        root = self.archive.xml(self.part)
        body = child(root, "body")
        if body is None:
            raise Unreadable("the Word document has no body", hint="open it and save it again")
        self.links = relationships(self.archive, self.part)
        for kind in ("footnote", "endnote"):
            self._load_notes(kind)
        self._unwrap(body)
        blocks: list[Any] = []
        left = MAX_WORK
        for block in list(body):
            made = self._block(block)
            left -= sum(_WORK.get(e.tag, 0) for b in made for e in b.iter())
            if left < 0:
                if not blocks:
                    raise Unreadable("its first table is too large to be read", hint="split the document")
                many = f"only the first {len(blocks):,} paragraphs and tables were read"
                self.problems.append(Problem("left-out", many))
                break
            blocks += made
        return blocks

    # --- notes ------------------------------------------------------------------------------------------------

    def _load_notes(self, kind: str) -> None:
        """Read the footnotes or endnotes of the document."""
        part = next((t for k, t in self.links.values() if k == f"{kind}s"), "")
        if part not in self.archive.parts:
            return
        root = self.archive.xml(part)
        for note in list(root)[:MAX_NOTES]:
            if attribute(note, "type") in ("", "normal"):
                self.notes[kind, attribute(note, "id")] = note

    def _notes_of(self, block: Any) -> list[Any]:
        """Return the paragraphs of the notes that a block refers to; each reference becomes a raised number."""
        out: list[Any] = []
        for reference in [e for e in block.iter() if local(e) in _NOTE_KINDS]:
            kind = _NOTE_KINDS[local(reference)]
            note = self.notes.pop((kind, attribute(reference, "id")), None)
            self.counts[kind] += 1
            number = self.counts[kind]
            replace_element(reference, [])
            if note is None:
                continue
            for paragraph in [p for p in note if local(p) == "p"]:
                self._unwrap(paragraph)
                self._paragraph(paragraph)
                _restyle(paragraph, f"{MINE}{kind}-{number}")
                out.append(paragraph)
        return out

    # --- blocks -----------------------------------------------------------------------------------------------

    def _block(self, block: Any) -> list[Any]:
        """Return a block followed by its text boxes and notes, each a block of its own."""
        if local(block) == "sdt":
            if "contents" in attribute(child(block, "sdtPr", "docPartObj", "docPartGallery"), "val").lower():
                return []
            block = child(block, "sdtContent")
            return [] if block is None else [made for inner in list(block) for made in self._block(inner)]
        if local(block) in ("customXml", "ins", "moveTo", "smartTag"):
            return [made for inner in list(block) for made in self._block(inner)]
        if local(block) not in ("p", "tbl"):
            return []
        boxes = self._text_boxes(block)
        after = self._notes_of(block)
        for paragraph in list(block.iter(w("p"))):
            if not self._paragraph(paragraph) and paragraph is block:
                return after
        for row in list(block.iter(w("tr"))):
            if child(row, "trPr", "del") is not None or child(row, "trPr", "hidden") is not None:
                row.getparent().remove(row)
        return [block, *(made for box in boxes for made in self._block(box)), *after]

    def _text_boxes(self, block: Any) -> list[Any]:
        """Remove the text boxes from a block and return the blocks in them."""
        out: list[Any] = []
        for content in _outer_boxes(block):
            content.getparent().remove(content)
            out += list(content)
        return out

    def _paragraph(self, paragraph: Any) -> bool:
        """Set the style that mammoth maps for a paragraph; return False for an entry of a table of contents."""
        name = self.styles.name_of(paragraph)
        if re.match(r"(?:toc|table of figures|index)\b", name):
            return False
        level = self.styles.level(paragraph)
        self.headings += level > 0
        kind, depth = self.styles.numbering(paragraph) if not level else ("", -1)
        _restyle(paragraph, f"{MINE}h{level}" if level else self.styles.role(name))
        if depth >= 0:
            properties = paragraph.find(w("pPr"))
            numbers = properties.makeelement(w("numPr"), {})
            numbers.append(numbers.makeelement(w("ilvl"), {w("val"): str(min(depth, 4))}))
            numbers.append(numbers.makeelement(w("numId"), {w("val"): LISTS[kind]}))
            properties.append(numbers)
        return True

    # --- what stands inside blocks ----------------------------------------------------------------------------

    def _unwrap(self, root: Any) -> None:
        """Simplify formulas, drawings, hidden runs and alternatives below `root`, without recursion."""
        from lxml import etree

        resolve_alternatives(root)
        for element in list(root.iter()):
            name = local(element)
            if name in ("oMathPara", "oMath") and not is_inside(element, "oMathPara"):
                self._formula(element)
            elif name in ("drawing", "pict", "object"):
                self._drawing(element)
            elif name in _DROPPED and not (name == "del" and local(element.getparent()) in ("rPr", "trPr")):
                replace_element(element, [])
            elif name == "r":
                self._run(element)
                _join(element)
            elif name == "hyperlink" and self.links.get(attribute(element, "id"), ("", ""))[0] != "hyperlink":
                element.attrib.pop(f"{{{R}}}id", None)
        etree.cleanup_namespaces(root)

    def _formula(self, element: Any) -> None:
        """Replace a formula by a run with its LaTeX."""
        self.formulas += 1
        if self.formulas > MAX_FORMULAS:
            if self.formulas == MAX_FORMULAS + 1:
                self.problems.append(Problem("left-out", f"only the first {MAX_FORMULAS:,} formulas were read"))
            replace_element(element, [])
            return
        words = latex(element)
        made = [_run(element, f"{MINE}math-block" if local(element) == "oMathPara" else f"{MINE}math", words)]
        if "".join(element.itertext())[-1:].isspace():
            made.append(_run(element, "", " "))
        replace_element(element, made if words else [])

    def _drawing(self, element: Any) -> None:
        """Replace a drawing by a run with its pictures, the words of charts and diagrams, and its text boxes."""
        made: list[Any] = []
        alt = next((a for e in element.iter() if local(e) in ("docPr", "shape") and (a := described(e))), "")
        for inner in element.iter():
            name = local(inner)
            if name in ("blip", "imagedata"):
                kind, target = self.links.get(attribute(inner, "embed") or attribute(inner, "id"), ("", ""))
                if kind == "image" and target in self.archive.parts:
                    made.append(_run(element, f"{MINE}picture", f"{EMBEDDED}{target}\n{alt}"))
            elif name == "chart" and attribute(inner, "id"):
                made += self._words_run(element, inner, "id")
            elif name == "relIds":
                made += self._words_run(element, inner, "dm")
        replace_element(element, [*made, *_outer_boxes(element)])

    def _words_run(self, element: Any, drawn: Any, reference: str) -> list[Any]:
        """Return a run with a chart's title or a diagram's words, [] if it has none."""
        _, target = self.links.get(attribute(drawn, reference), ("", ""))
        if target not in self.archive.parts:
            return []
        try:
            root = self.archive.xml(target)
        except Unreadable:
            return []  # a drawing that cannot be read is no reason to lose the text
        words = chart_words(root) if reference == "id" else "; ".join(diagram_texts(root))
        return [_run(element, f"{MINE}caption", words)] if words else []

    def _run(self, run: Any) -> None:
        """Remove from a run what mammoth need not see, or the whole run where Word shows nothing."""
        properties = run.find(w("rPr"))
        if properties is None:
            return
        style = self.styles.run_role(attribute(child(properties, "rStyle"), "val")) if len(properties) else ""
        if _is_unseen(properties, run) or style == "hidden":
            replace_element(run, [])
            return
        for element in list(properties):
            if local(element) not in _RUN_KEPT:
                properties.remove(element)
        if style:
            properties.insert(0, properties.makeelement(w("rStyle"), {w("val"): style}))


def _outer_boxes(element: Any) -> list[Any]:
    """Return the contents of the text boxes in an element; a box in another comes out with the box round it."""
    return [e for e in element.iter() if local(e) == "txbxContent" and not is_inside(e, "txbxContent")]


def _is_unseen(properties: Any, run: Any) -> bool:
    """Return whether a run shows nothing: hidden, tiny, or white on white outside tables and boxes."""
    for element in properties:
        name, value = local(element), attribute(element, "val").lower()
        if name in ("vanish", "webHidden", "specVanish") and value not in ("0", "false", "off"):
            return True
        if name == "sz" and value.isdigit() and len(value) < 5 and int(value) <= 3:
            return True
    colour = child(properties, "color")
    if colour is None or attribute(colour, "val").lower() != "ffffff" or child(properties, "shd") is not None:
        return False
    if child(properties, "highlight") is not None:
        return False
    above = [local(up) for up in run.iterancestors()]
    paragraph = next((up for up in run.iterancestors() if local(up) == "p"), None)
    shaded = paragraph is not None and child(paragraph, "pPr", "shd") is not None
    return not shaded and not {"tbl", "txbxContent"} & set(above)


def _run(near: Any, style: str, words: str) -> Any:
    """Return a new run with these words in this style."""
    run = near.makeelement(w("r"), {})
    properties = near.makeelement(w("rPr"), {})
    properties.append(near.makeelement(w("rStyle"), {w("val"): style}))
    text = near.makeelement(w("t"), {"{http://www.w3.org/XML/1998/namespace}space": "preserve"})
    text.text = words
    run.extend((properties, text))
    return run


def _join(run: Any) -> None:
    """Append a run to the one before it if both look the same, since Word splits what was edited twice."""
    before = run.getprevious()
    if before is None or before.tag != w("r") or _appearance(before) != _appearance(run):
        return
    words, last = [e for e in run if e.tag != w("rPr")], before[-1] if len(before) else None
    if last is None or last.tag != w("t") or len(last.text or "") > MAX_JOINED:
        return
    if words and all(e.tag == w("t") for e in words):
        last.text = (last.text or "") + "".join(e.text or "" for e in words)
        run.getparent().remove(run)


def _appearance(run: Any) -> list[Any]:
    """Return the properties by which a run looks different."""
    properties = run.find(w("rPr"))
    return [(e.tag, *e.attrib.items()) for e in properties] if properties is not None else []


def _restyle(paragraph: Any, style: str) -> None:
    """Leave a paragraph only its style and whether its end was deleted."""
    old = paragraph.find(w("pPr"))
    deleted = old is not None and child(old, "rPr", "del") is not None
    if old is not None:
        paragraph.remove(old)
    properties = paragraph.makeelement(w("pPr"), {})
    if style:
        properties.append(properties.makeelement(w("pStyle"), {w("val"): style}))
    if deleted:
        mark = properties.makeelement(w("rPr"), {})
        mark.append(mark.makeelement(w("del"), {}))
        properties.append(mark)
    paragraph.insert(0, properties)
