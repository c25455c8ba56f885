"""The walk from an HTML tree to blocks and marks on a page, shared by the HTML reader and all that produce markup."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from compiler.readers import html_elements
from compiler.readers.bibliography import CITES, cited_by
from compiler.readers.block import Block, fold_block
from compiler.readers.html_figures import FILE_NAME, IDENTIFIER, PendingImages, is_furniture, is_picture
from compiler.readers.html_hidden import is_hidden
from compiler.readers.page import MAX_TARGET, OMISSION, Page
from vault.model.source import Mark, MarkKind
from vault.text.formatting import normal

_HEADING = re.compile(r"h([1-6])")
_CALLOUT = re.compile(r"\s*\[!([\w-]+)(?:\|[^\]\n]*)?\][+-]?[ \t]*([^\n]*)\n?")
_ON_THE_LINE = re.compile(r"\w[^\w\n]*\Z")
_GOES_ON = re.compile(r"[ \xa0)]*[,;]?[ \xa0]*[a-zß-ÿ]")
_SENTENCE_END = re.compile(r"[.!?。！？][\"'”’)\]»]*$")
_TASK = re.compile(r"\s*\[[ xX]\]\s+")
_ORDINAL = re.compile(r"st|nd|rd|th|er|e|o|a|ème|tm|®|™|©", re.IGNORECASE)


class TreeWalker:
    """Walks a tree in document order and writes its text onto a page.

    `line_of` gives an element's 1-based line in the raw file, 0 if it has none of its own.
    """

    def __init__(self, page: Page, line_of: Callable[[Any], int], hidden: set[str] | None = None) -> None:
        self._page = page
        self._line_of = line_of
        self._hidden = hidden or set()
        self._block = Block()
        self._outer: list[Block] = []  # blocks set aside while a note inside them is read
        self._later: list[tuple[str, list[Mark], MarkKind | None]] = []  # captions and notes, after their block
        self._captions: set[str] = set()
        self._frame = PendingImages()
        self._callouts: list[Any] = []
        self._line = 1
        self._numbers: list[int] = []  # of the lists round this place: the item's number, below 0 in one without
        self._pre = 0
        self._table: Any = None
        self._glossary = False
        self._broke = False
        self._left_out = False

    def walk(self, root: Any) -> None:
        """Read the whole tree, without recursion, however deep it is."""
        stack: list[tuple[Any, Any]] = []
        if self._enter(root):
            stack.append((root, iter(root)))
        while stack:
            element, children = stack[-1]
            child = next(children, None)
            if child is None:
                self._leave(element)
                stack.pop()
                if stack:
                    self._text(element.tail)
            elif self._enter(child):
                stack.append((child, iter(child)))
            else:
                self._text(child.tail)
        self._flush()

    # --- words ------------------------------------------------------------------------------------------------

    def _text(self, words: str | None) -> None:
        """Add text to the current block."""
        if not words:
            return
        if self._pre:
            self._block.kept(words)
            return
        if words.strip():
            self._broke = False
        if self._left_out and words.strip():
            self._left_out = False
            tail = self._block.tail
            if not words[0].isalnum() and (not tail or tail[-1] in ".!?:;,。！？；："):
                words = words.lstrip(" .,;:")
                self._block.text(" ")
        self._block.text(words)

    def _flush(self, kind: MarkKind | None = None, level: int = 0, info: str = "") -> None:
        """End the current block and write it, then the images that waited for its end."""
        if self._table is not None:
            self._block.text(" ")
            return
        self._write(kind, level, info)
        if not self._outer:
            later, self._later = self._later, []
            for text, marks, its_kind in later:
                self._page.place_line(self._page.add(text, marks, its_kind), self._line)
            self._frame.hang(self._page)

    def _write(self, kind: MarkKind | None, level: int, info: str = "") -> None:
        """Write the current block onto the page."""
        self._broke = self._left_out = False
        text, marks = self._block.take()
        if not text or html_elements.is_link_farm(text, marks):
            return
        if kind is MarkKind.CAPTION:
            self._captions.add(text)
            self._frame.caption(text)
        if kind is MarkKind.HEADING:  # a heading that links to itself says nothing by it
            marks = [m for m in marks if m.kind is not MarkKind.LINK or m.end - m.start < len(text)]
        if self._outer:  # a note: it waits for the sentence round it to end
            self._later.append((text, marks, kind))
            return
        self._page.place_line(self._page.add(text, marks, kind, level, info), self._line)

    # --- elements ---------------------------------------------------------------------------------------------

    def _enter(self, element: Any) -> bool:
        """Begin an element; return False if nothing in it is to be read."""
        tag = element.tag
        if tag == "script" and (element.get("type") or "").startswith("math/tex"):
            self._math(element.text or "", "display" in (element.get("type") or ""))
            return False
        if is_picture(element) and self._is_inside_sentence(element):
            self._block.text(OMISSION)
            self._page.inline_pictures += 1
        if tag in html_elements.SILENT or is_hidden(element, self._hidden):
            return False
        if tag in html_elements.BLOCKS or tag in html_elements.NOTES:
            self._enter_block(element, tag)
        elif not self._enter_inline(element, tag):
            return False
        self._text(element.text)
        return True

    def _is_inside_sentence(self, element: Any) -> bool:
        """Return whether an element stands between words of one sentence, on their line, and not beside a link."""
        previous, parent = element.getprevious(), element.getparent()
        before = previous.tail if previous is not None else parent.text if parent is not None else ""
        if self._table is not None or not before or not _ON_THE_LINE.search(before) or parent.tag == "a":
            return False
        tail = self._block.tail
        return bool(tail) and not _SENTENCE_END.search(tail) and _GOES_ON.match(element.tail or "") is not None

    def _enter_block(self, element: Any, tag: str) -> None:
        """Begin a block element."""
        if tag in html_elements.NOTES:
            self._outer.append(self._block)
            self._block = Block()
            return
        self._flush()
        line = self._line_of(element)
        if line:
            self._line = line
        if tag == "figure":
            self._frame.enter()
        elif tag in ("ul", "ol"):
            self._numbers.append(0 if tag == "ol" else -1)
        elif tag == "table" and self._table is None and html_elements.holds_data(element):
            self._page.begin(MarkKind.TABLE)
            self._table, self._glossary = element, html_elements.is_glossary(element)
        elif self._table is not None:
            self._enter_cell(element, tag)
        elif tag == "li":
            self._page.begin(MarkKind.ITEM, max(len(self._numbers), 1), self._next_number())
            if element.text and _TASK.match(element.text):
                element.text = _TASK.sub("", element.text, count=1)
        elif tag == "blockquote":
            self._enter_quotation(element)
        elif tag == "x-example":
            self._page.begin(MarkKind.QUESTION)
        elif tag == "pre":
            self._pre += 1

    def _next_number(self) -> str:
        """Return the number of the item that begins, "" if its list is not numbered."""
        if not self._numbers or self._numbers[-1] < 0:
            return ""
        self._numbers[-1] += 1
        return str(self._numbers[-1])

    def _enter_cell(self, element: Any, tag: str) -> None:
        """Begin a table cell or row."""
        if tag == "tr":
            self._block.kept("\n")
        elif tag in ("td", "th"):
            if element.getprevious() is not None:
                self._block.text(" | ")
            elif self._glossary and tag == "td":
                self._block.open(MarkKind.TERM)

    def _enter_quotation(self, element: Any) -> None:
        """Open a block quote; a callout (`[!tip] Title`) is the author's own text and no quotation."""
        first = next(iter(element), None)
        callout = _CALLOUT.match(first.text or "") if first is not None and first.tag == "p" else None
        if first is None or callout is None:
            self._page.begin(MarkKind.QUOTATION)
            return
        self._callouts.append(element)
        first.text = (first.text or "")[callout.end() :]
        if callout[2].strip():
            if first.text or not len(first):
                self._block.text(callout[2])
                self._flush()
            else:
                first.text = callout[2]

    def _enter_inline(self, element: Any, tag: str) -> bool:
        """Begin an inline element; return False if its content was written already."""
        if tag in html_elements.EMPHASIS:
            self._block.open(MarkKind.EMPHASIS)
            if tag == "dfn":
                self._block.open(MarkKind.TERM)
        elif tag == "a":
            if html_elements.is_dead_link(element):
                return False
            if element.get("href") is not None:
                self._block.open(MarkKind.LINK)
        elif tag in ("code", "kbd", "samp", "tt") and not self._pre:
            self._code(element)
            return False
        elif tag == "br":
            self._line_break()
        elif tag == "img":
            self._image(element)
        elif tag in ("sup", "sub"):
            return self._script(element, tag)
        elif tag in ("del", "s", "strike"):
            self._left_out = True  # what its author struck out is not asserted any more
            return False
        elif tag in CITES and not html_elements.words_of(element):
            self._block.unspace()
        elif tag in ("x-math", "x-math-block"):
            self._math("".join(element.itertext()), tag == "x-math-block")
            return False
        elif tag == "math":
            self._mathml(element)
            return False
        elif element.get("data-type") == "title":  # a heading run into its paragraph
            self._flush()
        elif tag == "x-at":
            self._line = self._line_of(element) or self._line
        elif tag == "x-label":
            self._frame.label(element.get("id") or "")
        return True

    def _leave(self, element: Any) -> None:
        """End an element."""
        tag = element.tag
        if tag in html_elements.EMPHASIS:
            if tag == "dfn":
                self._block.close(MarkKind.TERM)
            self._block.close(MarkKind.EMPHASIS, info="strong" if tag in ("b", "strong") else "")
        elif tag == "a" and element.get("href") is not None:
            self._block.close(MarkKind.LINK, info=(element.get("href") or "")[:MAX_TARGET])
        elif tag in CITES:
            self._block.cite(cited_by(element))
        elif tag in html_elements.BLOCKS or tag in html_elements.NOTES:
            self._leave_block(element, tag)
        elif element.get("data-type") == "title":
            self._flush()

    def _leave_block(self, element: Any, tag: str) -> None:
        """End a block element."""
        if tag in html_elements.NOTES:
            self._write(None, 0)
            self._block = self._outer.pop()
            return
        heading = _HEADING.fullmatch(tag)
        if element is self._table:
            self._table = None
            self._flush()
            self._page.end()
        elif self._table is not None:
            if tag == "td" and self._glossary and element.getprevious() is None:
                self._block.close(MarkKind.TERM)
        elif heading:
            self._flush(MarkKind.HEADING, int(heading[1]))
        elif tag == "pre":
            self._pre -= 1
            self._flush(MarkKind.CODE, info=html_elements.code_language(element))
        elif tag == "dt":
            self._flush(MarkKind.TERM)
        elif tag in ("figcaption", "caption"):
            self._flush(MarkKind.CAPTION)
        else:
            self._flush()
        if tag == "figure":
            self._frame.leave(element, self._page)
        elif tag in ("ul", "ol"):
            self._numbers.pop()
        elif self._table is None and (
            tag in ("li", "x-example") or (tag == "blockquote" and element not in self._callouts)
        ):
            self._page.end()

    # --- things inside a block --------------------------------------------------------------------------------

    def _line_break(self) -> None:
        """Write a line break for one <br>; a second one ends the paragraph."""
        if self._pre:
            self._block.kept("\n")
        elif self._broke and self._table is None:
            self._flush()
        else:
            self._block.kept("\n")
            self._broke = True

    def _code(self, element: Any) -> None:
        """Write a code block."""
        words = html_elements.words_of(element)
        if words:
            self._block.open(MarkKind.CODE)
            self._block.text(words if "`" in words else f"`{words}`")
            self._block.close(MarkKind.CODE)

    def _math(self, tex: str, display: bool) -> None:
        """Write a formula, in the line or displayed."""
        words = " ".join(tex.split()).strip("$ ")
        if words:
            fence = "$$" if display else "$"
            self._block.open(MarkKind.MATH)
            self._block.text(f"{fence}{words}{fence}")
            self._block.close(MarkKind.MATH)

    def _mathml(self, element: Any) -> None:
        """Write the TeX of a formula where the page has it, else the formula's characters."""
        tex = next((e.text for e in element.iter("annotation") if "tex" in (e.get("encoding") or "")), None)
        tex = tex or element.get("alttext")
        if tex:
            self._math(tex, element.get("display") == "block")
        else:
            self._block.open(MarkKind.MATH)
            self._block.text(html_elements.words_of(element))
            self._block.close(MarkKind.MATH)

    def _image(self, element: Any) -> None:
        """Keep an image and its words until the end of the block, so that they don't cut its sentence."""
        if self._table is not None or is_furniture(element):
            return
        alt = " ".join((element.get("alt") or "").split())
        text, _ = fold_block(normal(alt), ())
        if len(alt) < 3 or FILE_NAME.fullmatch(alt) or IDENTIFIER.fullmatch(alt):
            text = ""
        self._frame.picture(element, text)
        if text and text not in self._captions:
            self._captions.add(text)
            self._later.append((text, [], MarkKind.CAPTION))

    def _script(self, element: Any, tag: str) -> bool:
        """Write raised and lowered words: references to notes are dropped, exponents get `^`, indexes `_`."""
        words = html_elements.words_of(element)
        linked = any((a.get("href") or "").startswith("#") for a in element.iter("a"))
        if not words or (linked and (not self._block.tail or _SENTENCE_END.search(self._block.tail))):
            return False
        if linked and len(words) <= 8:  # inside a sentence the mark stays, so that the sentence is whole
            self._block.text(f"[{words.strip('[]')}]")
            return False
        if self._pre or len(words) > 20 or words[0] == "[" or (tag == "sup" and _ORDINAL.fullmatch(words)):
            return True
        if not (tag == "sub" and words.isdigit()):
            self._block.text("^" if tag == "sup" else "_")
        return True
