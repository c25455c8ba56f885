"""The reader of reStructuredText: headings, lists, code, tables and the words of directives that hold words.

docutils is not used: it follows file inclusions, and raises a page of warnings on every extension of Sphinx.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from html import escape
from types import MappingProxyType

from compiler.readers.markup import Markup, link, math
from compiler.readers.page import OMISSION, Page
from vault.errors import Unreadable
from vault.model.source import Problem

MAX_LINES = 200_000
MAX_LINE = 50_000  # characters; inline markup is not looked for in a longer paragraph
MAX_LISTS = 12
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*")
_DIRECTIVE = re.compile(r"\s*\.\.\s+(?:\|[^|\n]{1,100}\|\s+)?([\w:.+-]{1,60})::(?:\s+(.*))?")
_FOOTNOTE = re.compile(r"\s*\.\.\s+\[(?P<label>[^\]\n]{1,80})\](?:\s+(?P<words>.*))?")
_NUMBERED_NOTE = re.compile(r"\d+|#[\w-]*|\*")
_SUBSTITUTION = re.compile(r"^[ \t]*\.\.[ \t]+\|([^|\n]{1,100})\|[ \t]+replace::[ \t]+(\S.{0,500})$", re.MULTILINE)
_LEADS_ON = re.compile(
    r"(?:^|[.!?]|(?:^|[(\s])(?:in|by|of|from|see|to|with|and|as|than|at|like|on|per|siehe|nach|von|in))$", re.I
)
_EXPLICIT = re.compile(r"\s*\.\.(?:\s.*)?")
_ITEM = re.compile(r"(\s*)(?:([*+•-])|\(?(\d{1,4}|#|[a-zA-Z])[.)])\s+(\S.*)")
_FIELD = re.compile(r"\s*:([\w .*-]{1,60}):(?:\s+(.*)|)")
_SIMPLE_TABLE = re.compile(r"\s*=+(?:\s+=+)+\s*")
_GRID_TABLE = re.compile(r"\s*\+[-=+]{3,}\+?\s*")
_CODE = {"code-block", "code", "sourcecode", "parsed-literal", "ipython", "prompt", "doctest", "testcode"}
_PROSE = {
    "note", "warning", "tip", "important", "hint", "caution", "danger", "attention", "error", "admonition", "seealso",
    "topic", "sidebar", "glossary", "container", "compound", "epigraph", "highlights", "list-table", "table",
    "versionadded", "versionchanged", "deprecated", "abstract", "definition", "theorem", "proof", "rst-class",
    "tab-item", "tab-set", "dropdown", "grid", "card", "function", "class", "method", "attribute", "data", "exception",
    "option", "describe", "py:function", "py:class", "py:method", "c:function", "cpp:class", "js:function", "envvar",
    "confval",
}  # fmt: skip
_SILENT = {  # what they hold is no text, or text for another format
    "index", "raw", "only", "toctree", "contents", "meta", "sectionauthor", "codeauthor", "module", "currentmodule",
    "default-role", "role", "replace", "unicode", "date", "class", "include", "literalinclude", "bibliography", "todo",
    "tabularcolumns", "header", "footer", "target-notes", "csv-table", "highlight", "rubric", "centered", "graphviz",
    "plot", "testsetup", "testcleanup", "testoutput", "productionlist", "comment", "ifconfig", "mermaid", "uml",
    "autoclass", "autofunction", "automodule", "autosummary", "parsed-literal", "sectnum", "todolist", "youtube",
}  # fmt: skip
MAX_TERM = 12  # words; a longer first line of an indented text is no term
MAX_PROBLEMS = 20
_TITLED = {"admonition", "topic", "sidebar", "rubric", "centered"}
_RUNNING = {"note", "warning", "tip", "important", "hint", "seealso", "caution", "danger", "attention", "error"}
_INLINE = re.compile(
    r"``(?P<code>[^`\n](?:[^`]|`(?!`)){0,600}?)``"
    r"|:(?P<role>[\w:+.-]{1,40}):`(?P<content>[^`]{1,600})`"
    r"|`(?P<shown>[^`<>]{1,600}?)\s*<(?P<target>[^<>`\s]{1,2000})>`__?|`(?P<named>[^`]{1,600})`__?|`(?P<plain>[^`]{1,600})`"
    r"|(?P<foot>\s?\[(?:\d{1,4}|#[\w-]*|\*|[A-Z][\w.-]{0,60})\]_)|\|(?P<sub>\w[\w ]{0,60})\|_{0,2}"
    r"|(?<![\w*])\*\*(?P<strong>(?!\s)[^*]{1,600}?(?<!\s))\*\*(?!\w)|(?<![\w*])\*(?P<em>(?!\s)[^*\n]{1,600}?(?<!\s))\*(?![\w*])"
    r"|\\(?P<escaped>.)|(?<![\w/:.])(?P<word>[A-Za-z][\w-]{0,60}[A-Za-z0-9])__?(?![\w/.])",
    re.DOTALL,
)
_EXPLAINED = re.compile(r"(.+?)\s*<[^<>]*>", re.DOTALL)


def read_rst(text: str, page: Page) -> tuple[dict[str, str], list[Problem]]:
    """Write a reStructuredText document onto `page`; return the properties in its field list, and problems.

    Raises: Unreadable for one of more than 200,000 lines.
    """
    lines = text.expandtabs(8).split("\n")
    if len(lines) > MAX_LINES:
        raise Unreadable(f"more than {MAX_LINES:,} lines", hint="split the document")
    document = _Document(lines, {name: value.strip() for name, value in _SUBSTITUTION.findall(text)})
    document.run()
    document.markup.write(page)
    return document.properties, document.problems()


def inline(words: str, known: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return `words` as escaped markup; `known` has the words that substitutions stand for."""
    if len(words) > MAX_LINE:
        return escape(words, quote=False)
    out: list[str] = []
    at = 0
    for found in _INLINE.finditer(words):
        sub = found["sub"]
        made = _render_match(found) if sub is None else inline(known[sub]) if sub in known else OMISSION
        out += (escape(words[at : found.start()], quote=False), made)
        at = found.end()
    return "".join(out) + escape(words[at:], quote=False)


def _render_match(found: re.Match[str]) -> str:
    """Return the markup of one match of the inline pattern."""
    if found["role"] is not None:
        return _role(found["role"].lower().rpartition(":")[2], found["content"])
    if found["shown"] is not None:
        return link(found["target"], escape(found["shown"], quote=False))
    for group, before, after in (("code", "<code>", "</code>"), ("strong", "<em>", "</em>"), ("em", "<em>", "</em>")):
        if found[group] is not None:
            return before + escape(found[group], quote=False) + after
    if found["foot"] is not None:
        return _noted(found)
    words = found["named"] or found["plain"] or found["word"] or ""
    escaped = found["escaped"]
    return escape(words if escaped is None else escaped.strip(), quote=False)


def _noted(found: re.Match[str]) -> str:
    """Return what the mark of a footnote or citation leaves: a gap where the sentence names the work by it."""
    label = found["foot"].strip().strip("_[]")
    before = found.string[max(0, found.start() - 40) : found.start()].rstrip()
    if _NUMBERED_NOTE.fullmatch(label) or not _LEADS_ON.search(before):
        return ""
    return (" " if found["foot"][0].isspace() else "") + OMISSION


def _role(name: str, content: str) -> str:
    """Return the markup of an interpreted text role."""
    if name == "math":
        return math(content)
    explained = _EXPLAINED.fullmatch(content)
    words = explained[1] if explained else content.lstrip("~!").rpartition(".")[2] if content[:1] == "~" else content
    if name in ("cite", "footcite", "label", "index"):
        return ""
    tag = {"term": "em", "dfn": "em", "abbr": "span", "sup": "sup", "sub": "sub"}.get(name)
    if tag is None and explained is None and name not in ("doc", "ref", "any", "guilabel", "menuselection", "download"):
        tag = "code"
    if name in ("numref", "eq", "ref", "doc", "footcite:t", "cite:t", "t") and explained is None:
        return OMISSION
    return f"<{tag}>{escape(words, quote=False)}</{tag}>" if tag else escape(words, quote=False)


class _Document:
    """One pass over the lines; `at` is the next line, counted from 0."""

    def __init__(self, lines: list[str], known: Mapping[str, str]) -> None:
        self.lines = lines
        self._known = known
        self._left_out: Counter[str] = Counter()
        self._files: list[Problem] = []
        self.at = 0
        self.markup = Markup()
        self.properties: dict[str, str] = {}
        self._levels: list[str] = []
        self._lists: list[tuple[int, str]] = []  # (indentation of the bullet, tag)
        self._language = ""

    def run(self) -> None:
        """Read the whole document."""
        while self.at < len(self.lines):
            if not self.lines[self.at].strip():
                self.at += 1
            elif not (self._heading() or self._explicit_markup() or self._table()):
                self._paragraph()
        self._end_lists(-1)

    def problems(self) -> list[Problem]:
        """Return the files that are named and not read, and the directives whose words are left out."""
        if not self._left_out:
            return self._files
        names = ", ".join(f"{name} ({count})" for name, count in self._left_out.most_common(10))
        return [*self._files, Problem("rst-directives", f"the text of unknown directives was left out: {names}")]

    def _inline(self, words: str) -> str:
        """Return `words` as escaped markup."""
        return inline(words, self._known)

    def _indent(self, at: int) -> int:
        """Return the indentation of a line."""
        line = self.lines[at]
        return len(line) - len(line.lstrip())

    def _line(self, at: int) -> str:
        """Return a line, "" after the last."""
        return self.lines[at] if 0 <= at < len(self.lines) else ""

    def _below(self, at: int, indent: int) -> int:
        """Return the end of the lines from `at` that are indented further than `indent`, without blank ones
        at the end."""
        end = at
        for number in range(at, len(self.lines)):
            if self.lines[number].strip():
                if self._indent(number) <= indent:
                    break
                end = number + 1
        return end

    def _heading(self) -> bool:
        """Read a heading; return False if there is none."""
        first, second, third = (self._line(self.at + i) for i in range(3))
        over = _ADORNMENT.fullmatch(first)
        if over and second.strip() and third.rstrip() == first.rstrip() and len(second.strip()) <= len(first.rstrip()):
            self._write_heading(second.strip(), over[1] * 2, self.at + 2)
            self.at += 3
            return True
        under = _ADORNMENT.fullmatch(second)
        if under and first[:1].strip() and len(second.rstrip()) >= min(len(first.rstrip()), 4) and not over:
            self._write_heading(first.strip(), under[1], self.at + 1)
            self.at += 2
            return True
        if over:  # a rule between two paragraphs
            self.at += 1
        return over is not None

    def _write_heading(self, words: str, style: str, line: int) -> None:
        """Write a heading at the level of its adornment."""
        self._end_lists(-1)
        if style not in self._levels:
            self._levels.append(style)
        self.markup.block(f"h{min(self._levels.index(style) + 1, 6)}", self._inline(words), line)

    # --- explicit markup --------------------------------------------------------------------------------------

    def _explicit_markup(self) -> bool:
        """Read explicit markup (`.. `); return False if there is none."""
        line = self.lines[self.at]
        if line.lstrip().startswith(".."):
            directive, footnote = _DIRECTIVE.fullmatch(line), _FOOTNOTE.fullmatch(line)
            if directive is not None:
                self._directive(directive[1].lower(), (directive[2] or "").strip())
                return True
            if footnote is not None:
                self._note(footnote)
                return True
            if _EXPLICIT.fullmatch(line):
                self.at = max(self._below(self.at + 1, self._indent(self.at)), self.at + 1)
                return True
        field = _FIELD.fullmatch(line)
        if field is not None:
            end = max(self._below(self.at + 1, self._indent(self.at)), self.at + 1)
            key = field[1].lower()
            if key in ("author", "authors", "date", "title") and self.at < 40:
                self.properties[key] = (field[2] or "")[:500]
            self.at = end
            return True
        if line.lstrip().startswith(">>> "):
            begin = self.at
            while self._line(self.at).strip():
                self.at += 1
            self.markup.code("\n".join(self.lines[begin : self.at]), "python", begin + 1)
            return True
        return False

    def _note(self, found: re.Match[str]) -> None:
        """Read a footnote as a paragraph of its own; an entry of a bibliography is skipped."""
        begin, indent = self.at, self._indent(self.at)
        end = max(self._below(begin + 1, indent), begin + 1)
        if not _NUMBERED_NOTE.fullmatch(found["label"]):
            self.at = end
            return
        inner = next((self._indent(n) for n in range(begin + 1, end) if self.lines[n].strip()), indent + 3)
        self.lines[begin] = " " * inner + (found["words"] or "")
        self._end_lists(indent)

    def _directive(self, name: str, argument: str) -> None:
        """Read the directive of this name."""
        begin, indent = self.at, self._indent(self.at)
        end = max(self._below(begin + 1, indent), begin + 1)
        if name in ("image", "figure") and not argument:
            argument, begin = self._argument_below(begin, end)
        body, options = self._options(begin + 1, end)
        short = name.rpartition(":")[2]
        if name in _TITLED and argument:
            self.markup.block("p", self._inline(argument), begin + 1)
        elif name == "highlight":
            self._language = argument
        if name in _CODE:
            language = "python" if name in ("ipython", "doctest", "testcode") else argument.split(" ")[0]
            self.markup.code(self._dedented(body, end), language or self._language, body + 1)
        elif short == "math":
            tex = " ".join(filter(None, (argument, self._dedented(body, end))))
            self.markup.block("p", math(tex, True), begin + 1)
        elif name in ("image", "figure"):
            self._figure(name, argument, options.get("alt", ""), body, end)
        elif name in _PROSE or short in _PROSE:
            if argument and name in _RUNNING and not options:
                edge = next((self._indent(n) for n in range(body, min(body + 1, end)) if self._line(n).strip()), indent)
                self.lines[begin] = " " * edge + argument
                body = begin
            self.at = body
            return
        elif name == "include" and argument and len(self._files) < MAX_PROBLEMS:
            message = f"{argument[:200]} is a separate file that was not read: add it as well"
            self._files.append(Problem("rst-include", message, begin + 1, argument[:200]))
        elif short not in _SILENT and any(line.strip() for line in self.lines[body:end]):
            self._left_out[name] += 1
        self.at = end

    def _argument_below(self, begin: int, end: int) -> tuple[str, int]:
        """Return (the argument that a directive has on the line below it, that line), "" without one."""
        line = self._line(begin + 1).strip()
        if begin + 1 < end and line and not _FIELD.fullmatch(line):
            return line, begin + 1
        return "", begin

    def _options(self, at: int, end: int) -> tuple[int, dict[str, str]]:
        """Return (first line of the body, the options before it)."""
        found: dict[str, str] = {}
        while at < end and (field := _FIELD.fullmatch(self.lines[at])):
            found[field[1].lower()] = field[2] or ""
            at += 1
        return at, found

    def _dedented(self, begin: int, end: int) -> str:
        """Return lines without their common indentation."""
        body = self.lines[begin:end]
        edge = min((len(line) - len(line.lstrip()) for line in body if line.strip()), default=0)
        return "\n".join(line[edge:] for line in body).strip("\n")

    def _figure(self, name: str, target: str, alt: str, body: int, end: int) -> None:
        """Write a picture with its caption."""
        self.markup.open("figure", body)
        self.markup.picture(target, alt)
        caption: list[str] = []
        for line in self.lines[body:end] if name == "figure" else ():
            if line.strip():
                caption.append(line.strip())
            elif caption:
                break
        self.markup.block("figcaption", self._inline(" ".join(caption)), body + 1)
        self.markup.close("figure")

    # --- tables -----------------------------------------------------------------------------------------------

    def _table(self) -> bool:
        """Read a grid table; return False if there is none."""
        line = self.lines[self.at]
        if _SIMPLE_TABLE.fullmatch(line):
            return self._simple_table()
        if not _GRID_TABLE.fullmatch(line):
            return False
        begin, cells, rows, head = self.at, list[list[str]](), list[list[str]](), False
        while (line := self._line(self.at).strip())[:1] in ("+", "|") and line:
            if line[0] == "+":
                rows += [[self._inline(" ".join(filter(None, c))) for c in zip(*cells, strict=True)]] if cells else []
                head = head or ("=" in line and len(rows) == 1)
                cells = []
            else:
                row = [c.strip() for c in line.strip("|").split("|")[:200]]
                if not cells or len(row) == len(cells[0]):
                    cells.append(row)
            self.at += 1
        self.markup.table(rows, begin + 1, head)
        return True

    def _simple_table(self) -> bool:
        """Read a simple table; return False if there is none."""
        begin = self.at
        columns = [m.span() for m in re.finditer(r"=+", self.lines[begin])][:200]
        rules: list[int] = [begin]
        for number in range(begin + 1, min(begin + 2_000, len(self.lines))):
            if _SIMPLE_TABLE.fullmatch(self.lines[number]):
                rules.append(number)
                if len(rules) == 3 or not self._line(number + 1).strip():
                    break
        if len(rules) < 2:
            self.at += 1
            return True
        rows: list[list[str]] = []
        for line in self.lines[begin + 1 : rules[-1]]:
            if line.strip() and not _SIMPLE_TABLE.fullmatch(line):
                ends = [start for start, _ in columns[1:]] + [len(line)]
                row = [line[start:stop].strip() for (start, _), stop in zip(columns, ends, strict=True)]
                if row[0] or not rows:
                    rows.append(row)
                else:
                    rows[-1] = [f"{a} {b}".strip() for a, b in zip(rows[-1], row, strict=True)]
        self.markup.table([[self._inline(c) for c in row] for row in rows], begin + 1, len(rules) > 2)
        self.at = rules[-1] + 1
        return True

    # --- paragraphs and lists ---------------------------------------------------------------------------------

    def _paragraph(self) -> None:
        """Read a paragraph or definition."""
        begin, indent = self.at, self._indent(self.at)
        item = _ITEM.fullmatch(self.lines[begin]) if len(self.lines[begin]) < MAX_LINE else None
        if item is not None and (item[3] is None or item[3] == "#" or item[3].isdigit() or len(item[3]) == 1):
            self._item(item, indent)
            return
        self._end_lists(indent)
        following = self._line(begin + 1)
        if following.strip() and self._indent(begin + 1) > indent and not self.lines[begin].rstrip().endswith("::"):
            self._definition(begin, indent)
            return
        words: list[str] = []
        while (line := self._line(self.at)).strip() and self._indent(self.at) >= indent:
            if words and (_DIRECTIVE.match(line) or (_ITEM.fullmatch(line) and self._indent(self.at) > indent)):
                break
            words.append(line.strip().removeprefix("| "))
            self.at += 1
        joint = "\n" if self.lines[begin].lstrip().startswith("| ") else " "
        self._write_paragraph(joint.join(words), begin, indent)

    def _write_paragraph(self, words: str, begin: int, indent: int) -> None:
        """Write a paragraph; one that ends with :: announces the code below it."""
        literal = words.endswith("::")
        if literal:
            words = words[:-1] if not words[:-2].endswith(" ") and len(words) > 2 else words[:-2].rstrip()
        self.markup.block("p", self._inline(words), begin + 1)
        if literal:
            end = self._below(self.at, indent)
            if end > self.at:
                self.markup.code(self._dedented(self.at, end), self._language, self.at + 1)
                self.at = end

    def _definition(self, begin: int, indent: int) -> None:
        """Write a term with its definition indented below it."""
        term = self.lines[begin].strip().split(" : ")[0]
        if len(term.split()) > MAX_TERM or term[-1] in ".,;:!?":
            end = self._below(begin + 1, indent)
            blank = next((n for n in range(begin, end) if not self.lines[n].strip()), end)
            self.markup.block("p", self._inline(" ".join(line.strip() for line in self.lines[begin:blank])), begin + 1)
            self.at = blank
            return
        self.markup.block("dt", self._inline(term), begin + 1)
        self.at = begin + 1

    def _item(self, item: re.Match[str], indent: int) -> None:
        """Begin a list item."""
        self._end_lists(indent + 1)
        tag = "ul" if item[2] else "ol"
        if self._lists and self._lists[-1][0] == indent:
            self.markup.close("li")
            if self._lists[-1][1] != tag:
                self.markup.close(self._lists.pop()[1])
        if (not self._lists or self._lists[-1][0] < indent) and len(self._lists) < MAX_LISTS:
            self._lists.append((indent, tag))
            self.markup.open(tag, self.at + 1)
        self.markup.open("li", self.at + 1)
        begin = self.at
        words = [item[4].strip()]
        self.at += 1
        while (line := self._line(self.at)).strip() and self._indent(self.at) > indent and not _ITEM.fullmatch(line):
            words.append(line.strip())
            self.at += 1
        self._write_paragraph(" ".join(words), begin, indent)

    def _end_lists(self, indent: int) -> None:
        """Close the lists whose items begin at `indent` or further right."""
        while self._lists and self._lists[-1][0] >= indent:
            self.markup.close("li")
            self.markup.close(self._lists.pop()[1])
