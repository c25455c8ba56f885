"""The reader of PowerPoint presentations; a place is the slide, or the slide's notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from compiler.readers.block import Block, fold_block
from compiler.readers.html_figures import FILE_NAME
from compiler.readers.office.math import latex
from compiler.readers.office.package import (
    attribute,
    chart_words,
    child,
    described,
    diagram_texts,
    is_inside,
    local,
    packed,
    properties,
    relationships,
    replace_element,
    resolve_alternatives,
)
from compiler.readers.page import MAX_TARGET, Page, label_of
from compiler.readers.tables import Budget, Row, write_rows
from compiler.readers.zip_archive import EMBEDDED, Archive, open_archive, refuse_doctype
from vault.errors import Unreadable
from vault.model.source import MarkKind, Problem
from vault.text.formatting import fold, normal

MAX_SLIDES = 1_000
MAX_PARTS = 12_000
MAX_SHAPES = 2_000  # of one slide
MAX_LEVEL = 8
_ORDINAL = re.compile(r"(?:st|nd|rd|th|er|e|o|a|tm|®|™|©)\s*", re.IGNORECASE)
_FURNITURE = {"dt", "ftr", "sldNum", "hdr"}  # placeholders: date, footer, number, header
_TITLES = {"title", "ctrTitle"}


def read(data: bytes, name: str, page: Page) -> tuple[dict[str, str], list[Problem]]:
    """Write the slides and notes onto `page`; return the presentation's properties and problems.

    Raises: Unreadable if it is no presentation that can be opened, or is protected.
    """
    import pptx

    archive = open_archive(data, "pptx")
    try:
        slides = list(pptx.Presentation(_reduced_presentation(archive)).slides)
    except (Unreadable, MemoryError):
        raise
    except Exception as error:  # the library raises whatever a damaged file leads it to
        raise Unreadable("the PowerPoint presentation is damaged", hint="open it and save it again") from error
    budget = Budget()
    if len(slides) > MAX_SLIDES:
        budget.left_out(f"only the first {MAX_SLIDES:,} slides were read")
    for number, slide in enumerate(slides[:MAX_SLIDES], 1):
        if attribute(slide._element, "show") in ("0", "false"):
            continue
        try:
            _Slide(slide, number, archive, page, budget).write()
        except (Unreadable, MemoryError):
            raise
        except Exception:  # as above; the other slides go on  # noqa: BLE001
            budget.problems.append(Problem("slide-damaged", f"slide {number} is damaged; not all of it was read"))
    return properties(archive), budget.problems


def _reduced_presentation(archive: Archive) -> Any:
    """Return an archive of the presentation's slides, notes and layouts alone, its formulas as text.

    All other parts are there by name only, as the library wants to find whatever is named.
    """
    from lxml import etree

    if len(archive.parts) > MAX_PARTS:
        raise Unreadable(f"it has more than {MAX_PARTS:,} parts", hint="split the presentation")
    parts: dict[str, bytes] = {}
    for name in archive.parts:
        if name.startswith(("ppt/slides/slide", "ppt/notesSlides/notesSlide")) and name.endswith(".xml"):
            root = archive.xml(name)
            _make_plain(root)
            parts[name] = etree.tostring(root, encoding="UTF-8", xml_declaration=True)
        elif name.endswith(".rels") or name == "[Content_Types].xml" or _is_frame(name):
            parts[name] = archive.read(name)
            refuse_doctype(parts[name], "pptx")
        else:
            parts[name] = b"<x/>" if name.endswith(".xml") else b""
    return packed(parts)


def _is_frame(name: str) -> bool:
    """Return whether a part says how slides belong together."""
    folders = ("ppt/slideLayouts/", "ppt/slideMasters/", "ppt/notesMasters/", "ppt/handoutMasters/", "ppt/presentation")
    return name.startswith(folders) and name.endswith(".xml")


def _make_plain(root: Any) -> None:
    """Replace alternatives by what can be read, and formulas by runs with LaTeX."""
    resolve_alternatives(root)
    for element in [e for e in root.iter() if local(e) in ("oMath", "oMathPara")]:
        if is_inside(element, "oMathPara") or element.getparent() is None:
            continue
        run = element.makeelement("math", {"display": "block" if local(element) == "oMathPara" else ""})
        run.text = latex(element)
        run.set("space", " " if "".join(element.itertext())[-1:].isspace() else "")
        replace_element(element, [run])


@dataclass(slots=True)
class _Slide:
    """Writes one slide: its title as a heading, then its shapes in order, then the notes."""

    slide: Any
    number: int
    archive: Archive
    page: Page
    budget: Budget
    label: str = ""
    part: str = ""

    def write(self) -> None:
        """Write the slide."""
        self.part = str(self.slide.part.partname).lstrip("/")
        title = self._title()
        lines = _text(title.text_frame._txBody) if title is not None else ""
        words, short = fold(normal(lines)), label_of(lines.partition("\n")[0]).rstrip(" :;,.")
        self.label = f"slide {self.number}: {short}" if short else f"slide {self.number}"
        if words and not (self.page.headings and self.page.headings[-1].words == words):
            begins_section = attribute(self.slide.slide_layout._element, "type") in ("secHead", "title")
            level = 1 if _placeholder(title._element) == "ctrTitle" or begins_section else 2
            self._block(words, MarkKind.HEADING, level)
        for shape in _shapes(self.slide.shapes):
            if title is None or shape._element is not title._element:
                self._shape(shape)
        if self.slide.has_notes_slide and (frame := self.slide.notes_slide.notes_text_frame) is not None:
            self.label = f"slide {self.number}, notes"
            self._paragraphs(frame._txBody, False, {})

    def _title(self) -> Any:
        """Return the title's shape if it has words, else None."""
        title = self.slide.shapes.title
        return title if title is not None and title.has_text_frame and title.text_frame.text.strip() else None

    def _block(self, words: str, kind: MarkKind | None, level: int = 0) -> None:
        """Write one block at the slide's place."""
        text, _ = fold_block(normal(words), ())
        if text:
            self.page.place(self.page.add(text, (), kind, level), self.label)

    def _shape(self, shape: Any) -> None:
        """Write one shape."""
        element = shape._element
        placeholder = _placeholder(element)
        if placeholder in _FURNITURE or _is_hidden(element):
            return
        links = relationships(self.archive, self.part)
        if getattr(shape, "has_table", False):
            self._table(shape.table)
        elif shape.has_text_frame:
            self._paragraphs(shape.text_frame._txBody, placeholder not in ("", "subTitle", *_TITLES), links)
        self._drawn(element, links)

    def _table(self, table: Any) -> None:
        """Write a table."""
        rows: list[Row] = []
        for number, row in enumerate(table.rows, 1):
            if not self.budget.take():
                self.budget.left_out(f"{self.label}: not all rows of its table were read")
                break
            cells = tuple("" if cell.is_spanned else _text(cell.text_frame._txBody) for cell in row.cells)
            rows.append(Row(f"{self.label}, row {number}", cells))
        write_rows(rows, self.page, True if table.first_row else None)

    def _drawn(self, element: Any, links: dict[str, tuple[str, str]]) -> None:
        """Write the pictures, chart titles and diagram words of a shape."""
        alt = described(next((e for e in element.iter() if local(e) == "cNvPr"), None))
        for inner in element.iter():
            name = local(inner)
            kind, target = links.get(attribute(inner, "embed" if name == "blip" else "id"), ("", ""))
            if name == "blip" and kind == "image" and target in self.archive.parts:
                self.page.picture(f"{EMBEDDED}{target}", alt)
                if len(alt) >= 3 and not FILE_NAME.fullmatch(alt):
                    self._block(alt, MarkKind.CAPTION)
            elif name == "chart" and target in self.archive.parts:
                self._block(chart_words(self.archive.xml(target)), MarkKind.CAPTION)
            elif name == "relIds":
                _, target = links.get(attribute(inner, "dm"), ("", ""))
                for words in diagram_texts(self.archive.xml(target)) if target in self.archive.parts else ():
                    self.page.begin(MarkKind.ITEM, 1)
                    self._block(words, None)
                    self.page.end()

    def _paragraphs(self, body: Any, listed: bool, links: dict[str, tuple[str, str]]) -> None:
        """Write the paragraphs of a text body; in a body placeholder they are items by default."""
        for paragraph in [p for p in body if local(p) == "p"]:
            block = Block()
            _read_paragraph(paragraph, block, links)
            text, marks = block.take()
            if not text:
                continue
            bulleted = _is_bulleted(paragraph, listed)
            if bulleted is not None:
                self.page.begin(MarkKind.ITEM, bulleted)
            self.page.place(self.page.add(text, marks), self.label)
            if bulleted is not None:
                self.page.end()


def _shapes(shapes: Any) -> Iterator[Any]:
    """Yield all shapes of a slide, those of groups in their place."""
    stack = [iter(shapes)]
    found = 0
    while stack and found < MAX_SHAPES:
        shape = next(stack[-1], None)
        if shape is None:
            stack.pop()
            continue
        found += 1
        if local(shape._element) == "grpSp":
            if not _is_hidden(shape._element):
                stack.append(iter(shape.shapes))
        else:
            yield shape


def _placeholder(element: Any) -> str:
    """Return the kind of placeholder a shape fills, "body" by default, "" if it fills none."""
    found = next((e for e in element.iter() if local(e) == "ph"), None)
    return "" if found is None else attribute(found, "type") or "body"


def _is_hidden(element: Any) -> bool:
    """Return whether a shape is hidden."""
    named = next((e for e in element.iter() if local(e) == "cNvPr"), None)
    return attribute(named, "hidden") in ("1", "true")


def _is_bulleted(paragraph: Any, listed: bool) -> int | None:
    """Return the level of an item, from 1; None for a paragraph that is none."""
    properties = child(paragraph, "pPr")
    names = {local(e) for e in properties} if properties is not None else set()
    if "buNone" in names or not (listed or names & {"buChar", "buAutoNum", "buBlip"}):
        return None
    level = attribute(properties, "lvl")
    return 1 + (min(int(level), MAX_LEVEL) if level.isdigit() and len(level) < 3 else 0)


def _read_paragraph(paragraph: Any, block: Block, links: dict[str, tuple[str, str]]) -> None:
    """Add a paragraph's words to a block, with emphasis, links and formulas marked."""
    for element in paragraph.iter():
        name = local(element)
        if name == "br":
            block.kept("\n")
        elif name == "math":
            fence = "$$" if element.get("display") == "block" else "$"
            block.open(MarkKind.MATH)
            block.text(f"{fence}{element.text}{fence}" if element.text else "")
            block.close(MarkKind.MATH)
            block.text(element.get("space") or "")
        elif name == "t" and local(element.getparent()) in ("r", "fld"):
            _read_run(element, block, links)


def _read_run(element: Any, block: Block, links: dict[str, tuple[str, str]]) -> None:
    """Add one run of a paragraph to a block."""
    run = element.getparent()
    look = child(run, "rPr")
    if attribute(run, "type") == "slidenum" or attribute(look, "strike") in ("sngStrike", "dblStrike"):
        return
    emphasised = any(attribute(look, key) in ("1", "true") for key in ("b", "i"))
    kind, target = links.get(attribute(child(look, "hlinkClick"), "id"), ("", ""))
    if emphasised:
        block.open(MarkKind.EMPHASIS)
    if kind == "hyperlink":
        block.open(MarkKind.LINK)
    raised = attribute(look, "baseline")
    words = (element.text or "").replace("\v", " ")
    if raised.lstrip("-").strip("0") and words.strip() and not _ORDINAL.fullmatch(words):
        words = words if raised[0] == "-" and words.strip().isdigit() else ("_" if raised[0] == "-" else "^") + words
    block.text(words)
    if kind == "hyperlink":
        block.close(MarkKind.LINK, info=target[:MAX_TARGET])
    if emphasised:
        block.close(MarkKind.EMPHASIS)


def _text(body: Any) -> str:
    """Return the words of a text body, one line for each paragraph."""
    lines: list[str] = []
    for paragraph in [p for p in body if local(p) == "p"]:
        block = Block()
        _read_paragraph(paragraph, block, {})
        text, _ = block.take()
        lines.append(" ".join(text.split()))
    return "\n".join(line for line in lines if line)
