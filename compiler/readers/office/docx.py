"""The reader of Word documents; a place is the nearest heading and the paragraph under it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from compiler.readers.html_elements import parse_html, words_of
from compiler.readers.office.docx_body import MINE, Body, W
from compiler.readers.office.docx_styles import LISTS, Styles
from compiler.readers.office.package import main_part, packed, properties, relationships
from compiler.readers.office.walker import NAMED, CountedWalker
from compiler.readers.page import Page
from compiler.readers.tables import Budget
from compiler.readers.zip_archive import open_archive
from vault.errors import Unreadable
from vault.model.source import Problem
from vault.text.formatting import clean_line

PIECE = 400  # blocks that mammoth converts at a time: its time grows faster than a document's length
_STYLE_MAP = "\n".join(
    [
        *(f"p.{MINE}h{level} => h{level}:fresh" for level in range(1, 7)),
        f"p.{MINE}quote => blockquote > p:fresh",
        f"p.{MINE}caption => figcaption:fresh",
        f"p.{MINE}pre => pre:separator('\\n')",
        f"r.{MINE}code => code",
        f"r.{MINE}strong => strong",
        f"r.{MINE}math => x-math:fresh",
        f"r.{MINE}math-block => x-math-block:fresh",
        f"r.{MINE}picture => x-picture:fresh",
        f"r.{MINE}caption => x-caption:fresh",
    ]
)
_LISTS = "".join(
    f'<w:abstractNum w:abstractNumId="{number}">'
    + "".join(f'<w:lvl w:ilvl="{level}"><w:numFmt w:val="{kind}"/></w:lvl>' for level in range(9))
    + "</w:abstractNum>"
    for kind, number in LISTS.items()
)
_NUMBERING = (
    f'<w:numbering xmlns:w="{W}">{_LISTS}'
    + "".join(f'<w:num w:numId="{i}"><w:abstractNumId w:val="{i}"/></w:num>' for i in LISTS.values())
    + "</w:numbering>"
)
_TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
_RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
_NOTE = re.compile(r"(footnote|endnote)-(\d+)$")
_SENTENCE_END = re.compile(r"[.!?:;,。！？：；]$")
MAX_HEADING = 80  # characters of a bold line
MAX_BROKEN = 20  # blocks that mammoth may fail on before the whole document counts as damaged


def read(data: bytes, name: str, page: Page) -> tuple[dict[str, str], list[Problem]]:
    """Write the document's body onto `page`; return its properties and problems.

    Raises: Unreadable if it is no Word document, protected or damaged.
    """
    archive = open_archive(data, "docx")
    part = main_part(archive, "word/document.xml")
    links = dict(relationships(archive, part).values())
    styles = Styles.of(archive, links.get("styles", "word/styles.xml"), links.get("numbering", "word/numbering.xml"))
    body = Body(archive, part, styles)
    blocks = body.blocks()
    budget = Budget(problems=body.problems)
    walker = CountedWalker(page, budget)
    converted = _Converted(body)
    for at in range(0, len(blocks), PIECE):
        root = parse_html(f"<body>{converted.html(blocks[at : at + PIECE])}</body>")
        if root is not None:
            _name_parts(root)
            if not body.headings:
                _find_headings(root)
            walker.walk(root)
    out = properties(archive)
    if not body.headings and not (page.headings and page.headings[0].start == 0):
        out.setdefault("title", clean_line(PurePosixPath(name).stem))  # a bold line further down is no title
    return out, [*budget.problems, *converted.problems]


class _Converted:
    """Parts of the document as HTML by mammoth; a block that it fails on is left out and reported."""

    def __init__(self, body: Body) -> None:
        self.problems: list[Problem] = []
        self._rels = _hyperlinks(body)

    def html(self, blocks: list[Any]) -> str:
        """Return the HTML of some blocks. Raises: Unreadable when too many have failed."""
        try:
            return self._mammoth(blocks)
        except MemoryError:
            raise
        except Exception as error:  # mammoth raises whatever a damaged document leads it to
            if len(blocks) > 1:
                half = len(blocks) // 2
                return self.html(blocks[:half]) + self.html(blocks[half:])
            self.problems.append(Problem("block-damaged", "a paragraph or table is damaged and was left out"))
            if len(self.problems) > MAX_BROKEN:
                raise Unreadable("the Word document is damaged", hint="open it and save it again") from error
            return ""

    def _mammoth(self, blocks: list[Any]) -> str:
        """Return mammoth's HTML of some blocks."""
        import mammoth
        from lxml import etree

        inner = b"".join(etree.tostring(block) for block in blocks)
        document = f'<w:document xmlns:w="{W}"><w:body>'.encode() + inner + b"</w:body></w:document>"
        parts = {
            "[Content_Types].xml": _TYPES.encode(),
            "word/document.xml": document,
            "word/_rels/document.xml.rels": self._rels,
            "word/numbering.xml": _NUMBERING.encode(),
        }
        numbers = sorted({f"{kind}-{number}" for kind, number in _notes_in(blocks)})
        notes = [f"p.{MINE}{note} => p.{note}:fresh" for note in numbers]
        result = mammoth.convert_to_html(
            packed(parts), style_map="\n".join([_STYLE_MAP, *notes]), include_embedded_style_map=False
        )
        return str(result.value)


def _notes_in(blocks: list[Any]) -> Iterator[tuple[str, str]]:
    """Yield (kind, id) of the notes that the blocks refer to."""
    for block in blocks:
        for style in block.iter(f"{{{W}}}pStyle"):
            if match := _NOTE.search(style.get(f"{{{W}}}val") or ""):
                yield match[1], match[2]


def _hyperlinks(body: Body) -> bytes:
    """Return the relationships that lead to addresses outside the document, as XML."""
    from lxml import etree

    root = etree.Element(f"{{{_RELATIONSHIPS}}}Relationships", nsmap={None: _RELATIONSHIPS})
    for name, (kind, target) in body.links.items():
        if kind == "hyperlink":
            link = etree.SubElement(root, f"{{{_RELATIONSHIPS}}}Relationship")
            link.attrib.update({"Id": name, "Type": f"{_RELATIONSHIPS}/hyperlink", "Target": target})
    return bytes(etree.tostring(root))


def _name_parts(root: Any) -> None:
    """Name the notes and pictures of the tree, and put a figure around pictures with a caption."""
    for element in list(root.iter("p", "x-picture", "x-caption", "a")):
        if element.tag == "p" and (match := _NOTE.match(element.get("class") or "")):
            element.set(NAMED, f"{match[1]} {match[2]}")
        elif element.tag == "x-picture":
            source, _, alt = (element.text or "").partition("\n")
            element.tag, element.text = "img", None
            element.attrib.update({"src": source, "alt": alt})
        elif element.tag == "x-caption":
            element.tag = "figcaption"
    for caption in list(root.iter("figcaption")):
        before = caption.getprevious()
        if before is not None and before.tag == "p" and _is_picture(before):
            before.tag = "figure"
            before.append(caption)


def _find_headings(root: Any) -> None:
    """Turn short bold lines into headings where an author uses no heading styles."""
    for paragraph in list(root.iter("p")):
        words = words_of(paragraph)
        bold = " ".join("".join("".join(e.itertext()) for e in paragraph.iter("strong")).split())
        in_body = paragraph.getparent() is not None and paragraph.getparent().tag == "body"
        if in_body and words == bold and 0 < len(words) <= MAX_HEADING and not _SENTENCE_END.search(words):
            paragraph.tag = "h2"


def _is_picture(paragraph: Any) -> bool:
    """Return whether a paragraph holds nothing but pictures."""
    return len(paragraph) > 0 and all(e.tag == "img" for e in paragraph) and not "".join(paragraph.itertext()).strip()
