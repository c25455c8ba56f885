"""The reader of Org documents. A place is "heading, line N" of the file.

orgparse, the library for this, tells headings and drawers and leaves lists, tables, blocks and emphasis as they are:
they are what is read here, and reading them line by line needs no more than this.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

from compiler.readers.decode import LONGEST_LINE, decode
from compiler.readers.latex.commands import formula
from compiler.readers.markup import Markup, math
from compiler.readers.page import Page
from compiler.readers.text.org_inline import inline, is_picture
from vault.errors import Unreadable
from vault.model.source import Problem
from vault.text.formatting import clean_line, normal

MAX_LINES = 200_000
MAX_LINE = 50_000  # characters; a longer line is taken as plain words
MAX_LISTS = 12
_HEADING = re.compile(r"(\*{1,30})[ \t]+(.*)")
_STATES = frozenset("TODO DONE NEXT WAITING HOLD CANCELLED CANCELED STARTED SOMEDAY MAYBE WAIT KILL PROJ IDEA".split())
_PRIORITY = re.compile(r"\[#[A-Z0-9]\][ \t]*")
_COOKIE = re.compile(r"[ \t]*\[\d*(?:/\d*|%)\]|[<\[]\d{4}-\d\d-\d\d[^<>\[\]]{0,40}[>\]]")
_TAGS = re.compile(r"[ \t]+:[\w@#%:]{1,300}:[ \t]*$")
_KEYWORD = re.compile(r"[ \t]*#\+([\w-]+):[ \t]*(.*)", re.IGNORECASE)
_BLOCK = re.compile(r"[ \t]*#\+begin_(\w+)[ \t]*([^\s]*)(.*)", re.IGNORECASE)
_DRAWER = re.compile(r"[ \t]*:[\w-]+:[ \t]*")
_PLANNING = re.compile(r"[ \t]*(?:SCHEDULED|DEADLINE|CLOSED|CLOCK):")
_ITEM = re.compile(r"([ \t]*)(?:[-+]|(?<=[ \t])\*|(\d+|[A-Za-z])[.)])(?:[ \t]+|$)(.*)")
_TERM = re.compile(r"(.{1,300}?)[ \t]+::(?:[ \t]+|$)(.*)")
_CHECKBOX = re.compile(r"(?:\[@\d+\][ \t]*)?\[[ xX-]\][ \t]+")
_FIXED = re.compile(r"[ \t]*:(?: |$)(.*)")
_NOTE = re.compile(r"\[fn:[\w-]{1,60}\][ \t]*")
_RULE = re.compile(r"[ \t]*(?:-{5,}|\|[-+|]*\|?)[ \t]*")
_ENVIRONMENT = re.compile(r"[ \t]*\\begin\{([A-Za-z*]{1,30})\}")
_PICTURE = re.compile(r"[ \t]*\[\[(?:file:)?([^\[\]]{1,2000})\]\][ \t]*")
_PROPERTIES = {"title": "title", "author": "author", "date": "date", "source": "source", "roam_refs": "source"}
_SKIPPED = {"comment", "export", "html", "latex", "ascii"}
_CODE = {"src", "example"}


def read(data: bytes, name: str, page: Page) -> tuple[dict[str, str], list[Problem]]:
    """Write an Org document onto `page`; return its title, author and date, and problems.

    Raises: Unreadable for one of more than 200,000 lines.
    """
    decoded, problems = decode(data, LONGEST_LINE)
    lines = normal(decoded).split("\n")
    if len(lines) > MAX_LINES:
        raise Unreadable(f"more than {MAX_LINES:,} lines", hint="split the document")
    document = _Document(lines)
    document.run()
    document.markup.write(page)
    return document.properties, problems


@dataclass(slots=True)
class _List:
    """An open list."""

    indent: int
    tag: str  # ul, ol or dl


class _Document:
    """One pass over the lines; `at` is the next line, counted from 0."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = 0
        self.markup = Markup()
        self.properties: dict[str, str] = {}
        self._ends = self._block_ends()
        self._lists: list[_List] = []
        self._paragraph: list[str] = []
        self._begun = 0
        self._caption = ""
        self._states = set(_STATES)
        self._quotes: list[str] = []

    def _block_ends(self) -> dict[int, int]:
        r"""Return the line of each #+begin_x, drawer or \begin{x} -> the line that ends it, if one does."""
        ends: dict[int, int] = {}
        last: dict[str, int] = {}
        for number in range(len(self.lines) - 1, -1, -1):
            line = self.lines[number][:400].strip().lower()
            if line.startswith("#+end_"):
                last[line[6:].split()[0] if line[6:] else ""] = number
            elif line == ":end:":
                last[":end:"] = number
            elif line.startswith("#+begin_"):
                name = line[8:].split()[0] if line[8:].split() else ""
                if name in last:
                    ends[number] = last[name]
            elif _DRAWER.fullmatch(line) and ":end:" in last:
                ends[number] = last[":end:"]
            if "\\end{" in line:
                last.update({f"\\{name}": number for name in re.findall(r"\\end\{([a-z*]{1,30})\}", line)})
            begun = _ENVIRONMENT.match(line)
            if begun and f"\\{begun[1]}" in last:
                ends[number] = last[f"\\{begun[1]}"]
        return ends

    def run(self) -> None:
        """Read the whole document."""
        while self.at < len(self.lines):
            self._line(self.lines[self.at])
        self._flush()
        self._end_lists(-1)

    def _line(self, line: str) -> None:
        """Read one line."""
        heading = _HEADING.fullmatch(line) if len(line) < MAX_LINE else None
        if not line.strip():
            self._flush()
            self.at += 1
            if self._lists and not "".join(self.lines[self.at : self.at + 1]).strip():
                self._end_lists(-1)  # two blank lines end all lists
        elif heading is not None:
            self._heading(len(heading[1]), heading[2])
        elif not self._structure(line):
            self._words(line)

    # --- blocks -----------------------------------------------------------------------------------------------

    def _structure(self, line: str) -> bool:
        """Read a keyword, block, drawer, table or formula; return False if the line is none."""
        stripped = line.lstrip()
        first = stripped[0]
        if first == "#" and (stripped == "#" or stripped.startswith(("# ", "#+"))):
            return self._keyword(line)
        if first == ":" and (_DRAWER.fullmatch(line) or _FIXED.fullmatch(line)):
            return self._drawer()
        if _PLANNING.match(line) and not self._paragraph:
            self.at += 1
            return True
        if first == "|":
            self._table()
            return True
        if first == "\\" and self.at in self._ends and _ENVIRONMENT.match(line):
            self._environment()
            return True
        picture = _PICTURE.fullmatch(line)
        if picture is not None and is_picture(picture[1]):
            self._flush()
            self.markup.open("figure", self.at + 1)
            self.markup.picture(picture[1])
            self._write_caption()
            self.markup.close("figure")
            self.at += 1
            return True
        if _RULE.fullmatch(line):
            self._flush()
            self.at += 1
            return True
        return False

    def _heading(self, level: int, words: str) -> None:
        """Write a heading."""
        self._flush()
        self._end_lists(-1)
        words = _TAGS.sub("", words)
        first, _, rest = words.partition(" ")
        if first in self._states:
            words = rest.lstrip()
        words = _PRIORITY.sub("", words, count=1)
        self.at += 1
        if words.split(" ", 1)[0] == "COMMENT":
            while self.at < len(self.lines):
                below = _HEADING.fullmatch(self.lines[self.at])
                if below is not None and len(below[1]) <= level:
                    break
                self.at += 1
            return
        self.markup.block(f"h{min(level, 6)}", inline(_COOKIE.sub("", words)), self.at)

    def _keyword(self, line: str) -> bool:
        """Read a #+KEYWORD: line; return False if it is none."""
        block, keyword = _BLOCK.fullmatch(line), _KEYWORD.fullmatch(line)
        if block is not None and self.at in self._ends:
            self._block(block[1].lower(), block[2])
            return True
        if line.lstrip().lower().startswith("#+end_") and self._quotes:
            self._flush()
            self._end_lists(-1)
            self.markup.close(self._quotes.pop())
        elif keyword is not None:
            self._flush()
            self._set_property(keyword[1].lower(), clean_line(keyword[2]))
        self.at += 1
        return True

    def _set_property(self, key: str, value: str) -> None:
        """Record what a #+KEYWORD: says of the document, or of what comes next."""
        if key in _PROPERTIES and value:
            name = _PROPERTIES[key]
            joint = " " if name == "title" else ", "
            self.properties[name] = joint.join(filter(None, (self.properties.get(name), value)))[:2_000]
        elif key == "caption":
            self._caption = value
        elif key in ("todo", "seq_todo", "typ_todo"):
            self._states.update(word.split("(")[0] for word in value.split()[:50])

    def _block(self, name: str, language: str) -> None:
        """Read a #+begin_ block."""
        self._flush()
        begin, end = self.at + 1, self._ends[self.at]
        if name in _CODE:
            text = re.sub(r"^,(?=\*)", "", "\n".join(self.lines[begin:end]), flags=re.MULTILINE)
            self.markup.code(text, language if name == "src" and not language.startswith(("-", ":")) else "", begin)
            self._write_caption()
            self.at = end + 1
        elif name in _SKIPPED:
            shown = next((n for n in range(begin, end) if n in self._ends and _ENVIRONMENT.match(self.lines[n])), None)
            if shown is not None and "latex" in (name, language.lower()):
                self.at = shown
                self._environment()
            self.at = end + 1
        else:
            quoted = "blockquote" if name in ("quote", "verse") else "div"
            if len(self._quotes) < MAX_LISTS:
                self._quotes.append(quoted)
                self.markup.open(quoted, begin)
            self.at = begin

    def _drawer(self) -> bool:
        """Skip a drawer; return False if the line begins none."""
        self._flush()
        if self.at in self._ends:
            self.at = self._ends[self.at] + 1
            return True
        begin = self.at
        fixed: list[str] = []
        while self.at < len(self.lines) and (found := _FIXED.fullmatch(self.lines[self.at])):
            fixed.append(found[1])
            self.at += 1
        self.markup.code("\n".join(fixed), "", begin + 1)
        self.at = max(self.at, begin + 1)
        return True

    def _table(self) -> None:
        """Read a table."""
        self._flush()
        begin = self.at
        rows: list[list[str]] = []
        head = False
        while self.at < len(self.lines) and self.lines[self.at].lstrip().startswith("|"):
            line = self.lines[self.at].strip()
            if line.startswith("|-"):
                head = head or len(rows) == 1
            else:
                rows.append([inline(cell.strip()) for cell in line.strip("|").split("|")[:200]])
            self.at += 1
        if rows:
            self.markup.table(rows, begin + 1, head)
        self._write_caption()

    def _environment(self) -> None:
        """Read a LaTeX environment."""
        end = self._ends[self.at]
        tex = "\n".join(self.lines[self.at : end + 1])
        self._flush()
        if len(tex) < MAX_LINE:
            self.markup.block("p", math(formula(tex), True), self.at + 1)
        self.at = end + 1

    def _write_caption(self) -> None:
        """Write the caption that #+CAPTION: announced."""
        if self._caption:
            self.markup.block("figcaption", inline(self._caption), self.at)
            self._caption = ""

    # --- paragraphs and lists ---------------------------------------------------------------------------------

    def _words(self, line: str) -> None:
        """Add a line to the current paragraph."""
        item = _ITEM.fullmatch(line) if len(line) < MAX_LINE else None
        if item is not None and (item[2] is None or item[2].isdecimal() or not self._paragraph):
            self._item(item)
        else:
            indent = len(line[: len(line) - len(line.lstrip())].expandtabs(8))
            if self._lists and self._lists[-1].indent >= indent:
                self._flush()
                self._end_lists(indent)
            if not self._paragraph:
                self._begun = self.at + 1
                line = _NOTE.sub("", line, count=1) if line.startswith("[fn:") else line
            self._paragraph.append(line.strip())
        self.at += 1

    def _item(self, item: re.Match[str]) -> None:
        """Begin a list item."""
        self._flush()
        indent = len(item[1].expandtabs(8))
        self._end_lists(indent + 1)
        words = _CHECKBOX.sub("", item[3], count=1)
        term = _TERM.fullmatch(words) if item[2] is None else None
        tag = "dl" if term else "ol" if item[2] else "ul"
        top = self._lists[-1] if self._lists else None
        if top is not None and top.indent == indent:
            self.markup.close("dd" if top.tag == "dl" else "li")
            if top.tag != tag:
                self.markup.close(top.tag)
                self._lists.pop()
                top = None
        if (top is None or top.indent < indent) and len(self._lists) < MAX_LISTS:
            self._lists.append(_List(indent, tag))
            self.markup.open(tag, self.at + 1)
        elif top is not None and top.indent < indent:
            self.markup.close("dd" if top.tag == "dl" else "li")
            tag = top.tag
        if term is not None:
            self.markup.block("dt", inline(term[1]), self.at + 1)
            words = term[2]
        self.markup.open("dd" if tag == "dl" else "li", self.at + 1)
        self._begun = self.at + 1
        if words.strip():
            self._paragraph.append(words.strip())

    def _end_lists(self, indent: int) -> None:
        """Close the lists whose items begin at `indent` or further right."""
        while self._lists and self._lists[-1].indent >= indent:
            done = self._lists.pop()
            self.markup.close("dd" if done.tag == "dl" else "li")
            self.markup.close(done.tag)

    def _flush(self) -> None:
        """Write the current paragraph."""
        if self._paragraph:
            words = "\n".join(self._paragraph)
            self.markup.block("p", inline(words) if len(words) < MAX_LINE else escape(words, quote=False), self._begun)
            self._paragraph = []
