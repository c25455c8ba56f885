"""The reader of AsciiDoc. A place is "heading, line N" of the file.

Asciidoctor, which defines the language, is a Ruby program, and the ports of it for Python follow file inclusions or
need Ruby: a line-by-line reading is enough for the words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from compiler.readers.asciidoc.inline import Inline
from compiler.readers.asciidoc.lines import COMMENT, Preprocessor, fence_of
from compiler.readers.asciidoc.tables import rows_of
from compiler.readers.decode import LONGEST_LINE, decode
from compiler.readers.markup import Markup, math
from compiler.readers.page import Page
from vault.errors import Unreadable
from vault.model.source import Problem
from vault.text.formatting import clean_line, normal

MAX_LINES = 200_000
MAX_LISTS = 12
MAX_BLOCKS = 40  # delimited blocks inside one another
_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
_UNDERLINE = re.compile(r"([=~^+-])\1{2,}")
_STYLE = re.compile(r"\[(?:|[\w{,.#\"'%].*|\[(?:|[A-Za-z_:][\w:.-]*(?:,[ ]*.+)?)\])\]")
_TITLE = re.compile(r"\.(?![\s.])(.{1,400})")
_DELIMITER = re.compile(r"(?:-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|--|`{3,}[\w+#-]*)")
_TABLE = re.compile(r"([|,:!])={3,}")
_MACRO = re.compile(r"(image|video|audio|toc|stem|include)::(\S*?)\[(.*)\]")
_BREAK = re.compile(r"'{3,}|<{3,}|-{3}|\*{3}|- - -|\* \* \*")
_ITEM = re.compile(r"[ \t]*(?P<mark>\*{1,6}|-|\.{1,6}|\d{1,3}\.|[A-Za-z]\.|<(?:\d{1,3}|\.)>)[ \t]+(?P<words>\S.*)")
_TERM = re.compile(r"[ \t]*(?P<term>\S.{0,300}?)(?P<mark>:{2,4}|;;)(?:[ \t]+(?P<words>\S.*))?")
_CHECKBOX = re.compile(r"\[[ xX*]\][ \t]+")
_ADMONITION = re.compile(r"(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+(?=\S)")
_CALLOUT = re.compile(
    r"[ \t]*(?:(?://|#|--|;;|<!--)[ \t]*)?(?:<(?:\d{1,3}|\.)>[ \t]*)+(?:-->)?[ \t]*$|[ \t]*<!--\d{1,3}-->[ \t]*$", re.M
)
_AUTHOR = re.compile(r"[^\W\d_][\w.'’-]*(?:[ ][\w.'’-]+){0,3}(?:[ ]<[^<>\n]+>)?(?:;[ ].+)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_PGP = "-----BEGIN PGP"


def read(data: bytes, name: str, page: Page) -> tuple[dict[str, str], list[Problem]]:
    """Write an AsciiDoc document onto `page`; return its title, author and date, and problems.

    Raises: Unreadable for one of more than 200,000 lines, and for a key or signature, which share its suffix.
    """
    decoded, problems = decode(data, LONGEST_LINE)
    text = normal(decoded)
    if text.lstrip().startswith(_PGP):
        raise Unreadable("an OpenPGP key or signature, not a document")
    lines = text.split("\n")
    if len(lines) > MAX_LINES:
        raise Unreadable(f"more than {MAX_LINES:,} lines", hint="split the document")
    document = _Document(lines)
    document.run()
    document.markup.write(page)
    page.inline_pictures += document.inline.pictures
    return document.properties, problems + document.all_problems()


@dataclass(slots=True)
class _Style:
    """What the lines above a block say of it: its style, the other words in brackets, its title."""

    name: str = ""
    words: list[str] = field(default_factory=list)
    line: str = ""  # all that is in brackets
    title: str = ""


@dataclass(slots=True)
class _List:
    """An open list."""

    mark: str
    tag: str  # ul, ol or dl
    depth: int  # the delimited blocks around it


class _Document:
    """One pass over the lines; `at` is the next line, counted from 0."""

    def __init__(self, lines: list[str]) -> None:
        self.markup = Markup()
        self.properties: dict[str, str] = {}
        self.inline = Inline({})
        self._source = Preprocessor(lines, self.inline.attributes)
        self.lines = self._source.lines
        self.at = 0
        self._next = self._closing_lines()
        self._blocks: list[tuple[str, str]] = []  # (delimiter, tag) of the open delimited blocks
        self._lists: list[_List] = []
        self._style = _Style()
        self._attached = False  # a + line joins the next block to the list item

    def all_problems(self) -> list[Problem]:
        """Return what could not be read: included files, conditions, attributes without a value."""
        out = list(self._source.problems)
        if self.inline.unknown:
            names = ", ".join(list(self.inline.unknown)[:10])
            out.append(Problem("attribute-unknown", f"attributes without a value were replaced by […]: {names}"))
        return out

    def _closing_lines(self) -> dict[int, int]:
        """Return the line of each delimiter -> the next line that is the same."""
        ends: dict[int, int] = {}
        last: dict[str, int] = {}
        for number in range(len(self.lines) - 1, -1, -1):
            line = self.lines[number].rstrip()
            if line and (_DELIMITER.fullmatch(line) or _TABLE.fullmatch(line)):
                key = fence_of(line)
                if key in last:
                    ends[number] = last[key]
                last[key] = number
        return ends

    def run(self) -> None:
        """Read the whole document."""
        self._header()
        while self.at < len(self.lines):
            self._step(self.lines[self.at])
        self._end_lists(0)
        while self._blocks:
            self._close_block()

    def _line(self, at: int) -> str:
        """Return a line, "" after the last."""
        return self.lines[at] if 0 <= at < len(self.lines) else ""

    def _header(self) -> None:
        """Read the document's header: its title, authors, revision."""
        begin = next((n for n, line in enumerate(self.lines) if line.strip()), len(self.lines))
        if not self._line(begin).startswith(("= ", "# ")):
            return
        self.at = begin
        self._heading(1, self.lines[begin][2:].strip())
        for line in self.lines[self.at : self.at + 3]:
            if not line.strip() or not (_AUTHOR.fullmatch(line.strip()) or _DATE.search(line) or line.startswith("v")):
                break
            if _DATE.search(line):
                self.properties["date"] = _DATE.search(line)[0]  # type: ignore[index]
            elif "author" not in self.properties and not line.startswith("v"):
                self.properties["author"] = clean_line(re.sub(r"\s*<[^<>]*>", "", line).replace(";", ","))[:500]
            self.at += 1
        for key, name in (("author", "author"), ("authors", "author"), ("revdate", "date")):
            if self.inline.attributes.get(key):
                self.properties.setdefault(name, clean_line(self.inline.attributes[key])[:500])

    # --- blocks -----------------------------------------------------------------------------------------------

    def _step(self, line: str) -> None:
        """Read what begins at this line."""
        stripped = line.rstrip()
        if not stripped or stripped == COMMENT:
            self.at += 1
        elif stripped == "+" and self._lists:
            self._attached = True
            self.at += 1
        elif _STYLE.fullmatch(stripped):
            self._read_style(stripped)
            self.at += 1
        elif (title := _TITLE.fullmatch(stripped)) is not None:
            self._style.title = title[1]
            self.at += 1
        elif not (
            self._delimited(stripped) or self._headed(stripped) or self._macro(stripped) or self._listed(stripped)
        ):
            self._paragraph(line)

    def _read_style(self, line: str) -> None:
        """Note a line in brackets for the block below it."""
        if line.startswith("[["):
            return
        words = [
            word.strip().strip("\"'") for word in re.split(r",(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", line[1:-1][:2_000])
        ]
        name = re.split(r"[.#%]", words[0])[0].lower() if words else ""
        self._style = _Style("" if "=" in name else name or self._style.name, words, line, self._style.title)

    def _take_style(self) -> _Style:
        """Return the style of the block that begins, and forget it; lists that the block is no part of end."""
        style, self._style = self._style, _Style()
        if not self._attached:
            self._end_lists(len(self._blocks))
        self._attached = False
        return style

    def _headed(self, line: str) -> bool:
        """Read a heading; return False if there is none."""
        found = _HEADING.fullmatch(line)
        below = self._line(self.at + 1).rstrip()
        if found is not None:
            self._heading(len(found[1]), found[2].rstrip("= #") or found[2])
            return True
        under = _UNDERLINE.fullmatch(below)
        if under and abs(len(below) - len(line)) <= 2 and re.search(r"[^\W\d_]", line) and not _ITEM.fullmatch(line):
            self._heading("=-~^+".index(under[1]) + 1, line)
            self.at += 1
            return True
        return False

    def _heading(self, level: int, words: str) -> None:
        """Write a heading."""
        self._attached = False
        style = self._take_style()
        self.at += 1
        if style.name == "index":
            return
        tag = f"h{min(level, 6)}"
        self.markup.block(tag, self.inline.markup(words), self.at)

    def _delimited(self, line: str) -> bool:
        """Read a delimited block or a table; return False if none begins or ends here."""
        opened = next((n for n in range(len(self._blocks) - 1, -1, -1) if self._blocks[n][0] == line), -1)
        if opened >= 0:
            while len(self._blocks) > opened:
                self._close_block()
            self.at += 1
            return True
        if self.at not in self._next:
            return False
        if _TABLE.fullmatch(line):
            self._table(line[0])
        elif line[0] in "-.`+" and line != "--":
            self._code(line)
        else:
            self._open_block(line)
        return True

    def _open_block(self, line: str) -> None:
        """Open an example, a sidebar, a quotation or an open block."""
        style = self._take_style()
        if line == "--" and style.name in ("source", "listing", "literal"):
            self._write_code(style, self.at + 1, self._next[self.at])
            return
        self.at += 1
        if style.name == "comment":
            self.at = self._next[self.at - 1] + 1
            return
        quoted = line[0] == "_" or style.name in ("quote", "verse")
        if len(self._blocks) >= MAX_BLOCKS:
            return
        self.markup.open("blockquote" if quoted else "div", self.at)
        self._blocks.append((line, "blockquote" if quoted else "div"))
        if style.title:
            self.markup.block("p", self.inline.markup(style.title), self.at)

    def _close_block(self) -> None:
        """Close the innermost delimited block."""
        self._end_lists(len(self._blocks))
        self.markup.close(self._blocks.pop()[1])

    def _code(self, line: str) -> None:
        """Read a listing, literal or passthrough block; one of these may be a formula."""
        style = self._take_style()
        if line[0] == "`" and len(line.strip("`")) > 0:
            style.words = ["source", line.strip("`")]
        if style.name in ("stem", "latexmath"):
            self._formula(self.at + 1, self._next[self.at])
        elif line[0] == "+":
            self.at = self._next[self.at] + 1  # markup of another language
        else:
            self._write_code(style, self.at + 1, self._next[self.at])

    def _write_code(self, style: _Style, begin: int, end: int) -> None:
        """Write lines as code, with the block's title as its caption."""
        language = style.words[1] if len(style.words) > 1 and "=" not in style.words[1] else ""
        text = "\n".join(self.lines[begin:end])
        if "attributes" in style.line:
            text = self.inline.plain(text)
        self.markup.code(_CALLOUT.sub("", text), language, begin + 1)
        self._caption(style)
        self.at = end + 1

    def _caption(self, style: _Style) -> None:
        """Write a block's title below it."""
        if style.title:
            self.markup.block("figcaption", self.inline.markup(style.title), self.at)

    def _formula(self, begin: int, end: int) -> None:
        """Write lines as a displayed formula."""
        tex = "\n".join(self.lines[begin:end]).strip().removeprefix("\\[").removesuffix("\\]")
        if tex.strip():
            self.markup.block("p", math(tex, True), begin + 1)
        self.at = end + 1

    def _table(self, sign: str) -> None:
        """Read a table."""
        style = self._take_style()
        begin, end = self.at + 1, self._next[self.at]
        rows, head = rows_of(self.lines[begin:end], sign, style.line)
        if rows:
            self.markup.table([[self.inline.markup(cell) for cell in row] for row in rows], begin + 1, head)
        self._caption(style)
        self.at = end + 1

    def _macro(self, line: str) -> bool:
        """Read a block macro or a rule; return False if there is none."""
        if _BREAK.fullmatch(line):
            self._take_style()
            self.at += 1
            return True
        found = _MACRO.fullmatch(line)
        if found is None:
            return False
        style = self._take_style()
        self.at += 1
        if found[1] == "image":
            alt = found[3].split(",")[0].strip().strip("\"'")
            self.markup.open("figure", self.at)
            same = alt == style.title.strip()
            self.markup.picture(self.inline.plain(found[2]), "" if same or "=" in alt else alt)
            self._caption(style)
            self.markup.close("figure")
        return True

    # --- paragraphs and lists ---------------------------------------------------------------------------------

    def _listed(self, line: str) -> bool:
        """Begin a list item; return False if none begins here."""
        item = _ITEM.fullmatch(line)
        term = _TERM.fullmatch(line) if item is None else None
        if item is None and (term is None or "://" in term["term"]):
            return False
        title, self._style = self._style.title, _Style()
        self._attached = False
        found = item if item is not None else term
        assert found is not None
        mark = found["mark"]
        kind = "1." if mark[:1].isdigit() else "a." if mark[:1].isalpha() else "<>" if mark[0] == "<" else mark
        tag = "dl" if term is not None else "ul" if mark[0] in "*-" else "ol"
        if title and not self._lists:
            self.markup.block("p", self.inline.markup(title), self.at + 1)
        self._enter_list(kind, tag)
        if term is not None:
            self.markup.block("dt", self.inline.markup(term["term"]), self.at + 1)
        self.markup.open("dd" if tag == "dl" else "li", self.at + 1)
        begin = self.at
        self.at += 1
        words = [_CHECKBOX.sub("", found["words"] or "", count=1)] if found["words"] else []
        self._attached = term is not None and not words  # its definition may follow after a blank line
        if words or not self._breaks(self._line(self.at)):
            self._write_paragraph(words + self._following(), begin)
            self._attached = False
        return True

    def _enter_list(self, mark: str, tag: str) -> None:
        """Open the list to which an item with this mark belongs, or end the lists inside it."""
        depth = len(self._blocks)
        same = [n for n, opened in enumerate(self._lists, 1) if (opened.mark, opened.depth) == (mark, depth)]
        if same:
            while len(self._lists) > same[-1]:
                self._end_list()
            self.markup.close("dd" if tag == "dl" else "li")
        elif len(self._lists) < MAX_LISTS:
            self._lists.append(_List(mark, tag, depth))
            self.markup.open(tag, self.at + 1)
        else:
            self.markup.close("dd" if self._lists[-1].tag == "dl" else "li")
            self._lists[-1].mark = mark

    def _end_list(self) -> None:
        """Close the innermost list and its last item."""
        done = self._lists.pop()
        self.markup.close("dd" if done.tag == "dl" else "li")
        self.markup.close(done.tag)

    def _end_lists(self, depth: int) -> None:
        """Close the lists that are inside this many delimited blocks or more."""
        while self._lists and self._lists[-1].depth >= depth:
            self._end_list()

    def _breaks(self, line: str) -> bool:
        """Return whether a line ends the paragraph before it."""
        line = line.rstrip()
        if not line or line == "+" or _STYLE.fullmatch(line):
            return True
        if _DELIMITER.fullmatch(line) or _TABLE.fullmatch(line):
            return self.at in self._next or any(line == opened for opened, _ in self._blocks)
        return bool(self._lists) and (_ITEM.fullmatch(line) is not None or _TERM.fullmatch(line) is not None)

    def _following(self) -> list[str]:
        """Return the lines up to the paragraph's end, consumed."""
        words: list[str] = []
        while self.at < len(self.lines) and not self._breaks(self.lines[self.at]):
            if self.lines[self.at] != COMMENT:
                words.append(self.lines[self.at].strip())
            self.at += 1
        return words

    def _paragraph(self, line: str) -> None:
        """Read a paragraph; an indented one is literal."""
        style = self._take_style()
        begin = self.at
        literal = line[0] in " \t" and not self._lists
        self.at += 1
        words = [line.strip(), *self._following()]
        if literal or style.name in ("source", "listing", "literal"):
            self._write_code(style, begin, self.at)
            self.at -= 1
        elif style.name in ("stem", "latexmath"):
            self._formula(begin, self.at)
            self.at -= 1
        elif style.name in ("quote", "verse"):
            self.markup.open("blockquote", begin + 1)
            self._write_paragraph(words, begin)
            self.markup.close("blockquote")
        elif style.name != "comment":
            if style.title:
                self.markup.block("p", self.inline.markup(style.title), begin + 1)
            self._write_paragraph(words, begin)

    def _write_paragraph(self, words: list[str], begin: int) -> None:
        """Write the lines of a paragraph, without the label of an admonition."""
        if words:
            words[0] = _ADMONITION.sub("", words[0], count=1)
        self.markup.block("p", self.inline.markup("\n".join(words)), begin + 1)
