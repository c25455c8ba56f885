"""The reader of source code: comments and docstrings as prose, the rest as code. A place is "function, line N".

Comments are found by code_lexing for Python, too: `ast` refuses files of other versions, and deep nesting can end the
process.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from compiler.readers.code.comments import is_licence, prose_of
from compiler.readers.code.lexing import Comment, comments_in, language_of_file
from compiler.readers.decode import decode
from compiler.readers.page import Page, label_of
from compiler.readers.text.markdown import read_markdown
from compiler.readers.text.rst import read_rst
from vault.errors import Unreadable
from vault.model.source import MarkKind, Problem
from vault.text.formatting import clean_line, normal

MAX_CODE_FILE = 2_000_000  # characters; more is data or the work of a program
MAX_LINE = 5_000  # characters; code with longer lines is minified, or holds data
MAX_PIECE = 6_000  # characters of code kept between two comments
MAX_CODE = 200_000  # characters of code kept of a file
_GENERATED = re.compile(
    r"@generated\b|\bDO NOT EDIT\b|\b[Cc]ode generated\b|\bautomatically generated (?:by|from|file)"
)
_CONTAINERS = frozenset("class interface struct enum trait impl module namespace object record protocol".split())
_NO_NAMES = set("if for while switch catch return else elif with new sizeof await and or not in do match when".split())
_MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([\w:]+\))?"
    r"|unsafe|extern|inline|virtual|override|const|sealed|partial|open|data|suspend|local|constexpr|friend|readonly"
    r"|declare)[ \t]+){0,6}"
)
_DECLARED = re.compile(
    rf"^(?P<indent>[ \t]*){_MODIFIERS}(?:"
    r"(?P<word>class|interface|struct|enum|trait|impl|module|namespace|object|record|protocol|def|defp|fn|func|function\*?"
    r"|fun|sub|proc|macro|type)[ \t]+(?:\([^()\n]{0,80}\)[ \t]*)?(?P<name>[^\W\d][\w.]{0,80}[!?]?)"
    r"|(?:const|let|var|val)[ \t]+(?P<value>[^\W\d]\w{0,80})[ \t]*(?::[^=\n]{1,80})?=[ \t]*"
    r"(?:async\b|function\b|\(|class\b)"
    r"|(?:[\w:<>,*&\[\]]{1,80}[ \t]+){0,4}[*&]{0,2}(?P<method>[^\W\d]\w{0,80})[ \t]*"
    r"\([^()\n;]{0,300}\)[^;=\n]{0,60}\{)",
    re.MULTILINE,
)
_DECORATION = re.compile(r"\s*(?:@|#\[|\[\[?\w|template\s*<|export\b|public\b|private\b|static\b|pub\b|async\b|$)")


@dataclass(frozen=True, slots=True)
class _Declaration:
    """A declaration in the code: a function, class, module ..."""

    start: int
    name: str
    indent: int
    container: bool  # a class or module, not a function


def read(data: bytes, name: str, page: Page) -> tuple[dict[str, str], list[Problem]]:
    """Write a file of source code onto `page`; its title is its file name.

    Raises: Unreadable for one that no human wrote line by line: too long, or minified.
    """
    decoded, problems = decode(data)
    text = normal(decoded)
    if len(text) > MAX_CODE_FILE:
        raise Unreadable(f"more than {MAX_CODE_FILE:,} characters of code: probably data or generated code")
    if max(map(len, text.split("\n"))) > MAX_LINE:
        raise Unreadable(f"code with lines of more than {MAX_LINE:,} characters: minified, or data")
    language = language_of_file(name, text)
    if language is None:
        raise Unreadable("code in this language cannot be read")
    comments = comments_in(text, language)
    declarations = _declarations(text, comments)
    if _GENERATED.search(text[:2_000]):
        problems.append(Problem("code-generated", "marked as generated: its comments were not read", 1))
        comments = []
    _Sheet(text, language.name, page, declarations).write(comments)
    return {"title": clean_line(name)[:200]}, problems


def _declarations(text: str, comments: list[Comment]) -> list[_Declaration]:
    """Return what the code declares, in order, without what is in comments."""
    out: list[_Declaration] = []
    covered = iter(comments)
    comment = next(covered, None)
    for found in _DECLARED.finditer(text):
        while comment is not None and comment.end <= found.start():
            comment = next(covered, None)
        name = found["name"] or found["value"] or found["method"]
        if (comment is None or comment.start > found.start()) and name not in _NO_NAMES:
            indent = len(found["indent"].expandtabs(8))
            out.append(_Declaration(found.start() + len(found["indent"]), name, indent, found["word"] in _CONTAINERS))
    return out


class _Sheet:
    """Writes code and prose in the order of the file."""

    def __init__(self, text: str, language: str, page: Page, declarations: list[_Declaration]) -> None:
        self.text, self.language, self.page = text, language, page
        self.declarations = declarations
        self._next = 0  # the first declaration after the place that is being written
        self._around: list[_Declaration] = []
        self._heading: _Declaration | None = None
        self._kept = 0
        self._section = ""  # the last heading in a comment that is about no declaration, as notebooks in scripts have
        self._line, self._line_at = 1, 0

    def write(self, comments: list[Comment]) -> None:
        """Write the whole file."""
        at = 0
        for number, comment in enumerate(comments):
            raw = self.text[comment.start : comment.end]
            if number == 0 and is_licence(raw):
                at = self._code(at, comment.start, comment.end)
                continue
            prose = prose_of(raw, comment.doc)
            if prose is not None:
                at = self._code(at, comment.start, comment.end)
                self._prose(prose, comment)
        self._code(at, len(self.text), len(self.text))
        self.page.label = None

    def _line_of(self, offset: int) -> int:
        """Return the 1-based line of an offset; offsets must be in order, or a little back."""
        if offset < self._line_at:
            return self._line - self.text.count("\n", offset, self._line_at)
        self._line += self.text.count("\n", self._line_at, offset)
        self._line_at = offset
        return self._line

    def _code(self, start: int, end: int, then: int) -> int:
        """Write the code of `text[start:end]` up to the limits; return `then`, where to continue."""
        piece = self.text[start:end].strip("\n")
        room = min(MAX_PIECE, MAX_CODE - self._kept)
        if piece.strip() and room > 0:
            self._kept += min(len(piece), room)
            first = start + len(self.text[start:end]) - len(self.text[start:end].lstrip("\n"))
            self._label(self._declared(first + (len(piece.split("\n", 1)[0]))))
            shown = piece if len(piece) <= room else piece[:room].rsplit("\n", 1)[0] + "\n…"
            self.page.code(shown, self.language, self._line_of(first))
        return then

    def _declared(self, offset: int) -> _Declaration | None:
        """Return the innermost declaration around `offset`, by indentation."""
        while self._next < len(self.declarations) and self.declarations[self._next].start < offset:
            found = self.declarations[self._next]
            while self._around and self._around[-1].indent >= found.indent:
                self._around.pop()
            self._around.append(found)
            self._next += 1
        return self._around[-1] if self._around else None

    def _named(self, declaration: _Declaration | None) -> str:
        """Return the name of a declaration with its class."""
        if declaration is None:
            return ""
        outer = next((d for d in reversed(self._around) if d.container and d.indent < declaration.indent), None)
        return f"{outer.name}.{declaration.name}" if outer is not None else declaration.name

    def _label(self, declaration: _Declaration | None) -> None:
        """Set the label of the places that follow."""
        name = self._named(declaration)
        self.page.label = lambda heading, line: f"{name}, line {line}" if name else f"line {line}"

    def _about(self, comment: Comment) -> _Declaration | None:
        """Return the declaration that a comment is about: before a docstring, or right below a comment."""
        around = self._declared(comment.start)
        if comment.doc:
            return around
        below = self.declarations[self._next] if self._next < len(self.declarations) else None
        if below is not None and below.start - comment.end < 600:
            between = self.text[comment.end : below.start].split("\n")
            if len(between) <= 6 and all(_DECORATION.match(line) for line in between[1:-1]) and not between[0].strip():
                return below
        indent = comment.start - self.text.rfind("\n", 0, comment.start) - 1
        while self._around and self._around[-1].indent >= indent:
            self._around.pop()
        return self._around[-1] if self._around else None

    def _prose(self, prose: str, comment: Comment) -> None:
        """Write a comment as prose, below the heading of its declaration."""
        about = self._about(comment)
        line = self._line_of(comment.start)
        self._label(about)
        if about is not None and about is not self._heading:
            words = self._named(about)
            start = self.page.add(words, (), MarkKind.HEADING, 2 if about.container else 3)
            self.page.place_line(start, self._line_of(about.start))
        self._heading = about
        name = self._named(about)
        seen = len(self.page.headings)

        def label(heading: str, n: int) -> str:
            own = heading if len(self.page.headings) > seen else self._section
            return ", ".join(filter(None, (name or own, f"line {line + n - 1}")))

        self.page.label = label
        before = self.page.depth
        self.page.depth = 4
        try:
            if comment.doc:
                read_rst(prose, self.page)
            else:
                read_markdown(prose, "comment.md", self.page)
        finally:
            self.page.depth = before
        if not name and len(self.page.headings) > seen:
            self._section = label_of(self.page.headings[-1].words)
