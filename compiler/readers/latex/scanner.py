"""LaTeX -> markup: one pass with a stack of groups, tolerant of whatever it does not know.

pylatexenc's parser is not used for this: it recurses (a few hundred braces end it) and needs eight seconds a megabyte.
Its table of signs is; see latex_names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from html import escape

from compiler.readers.latex import commands as names
from compiler.readers.latex.environments import CODE_LANGUAGE, MAX_VERBATIM, Environments
from compiler.readers.latex.input import Macro
from compiler.readers.latex.state import Group
from compiler.readers.markup import Markup, link
from compiler.readers.page import OMISSION
from vault.model.source import Problem
from vault.text.formatting import clean_line

MAX_INLINE = 5_000  # characters of one formula in a line
MAX_DISPLAY = 50_000
MAX_PROBLEMS = 20
_TOKEN = re.compile(
    r"\\(?:[A-Za-z@]+\*?|.|\Z)|[{}&~%]|\$\$?|\n[ \t]*(?=\n)\s*|``|''|---?|\"(?=[\w`'=|~-])"
    r"|([!?@|])\1\^?[a-z]?(?=\{)",  # a sign that some class has made a command
    re.DOTALL,
)
_ENDS_NAME = re.compile(r"\{\}|[ \t]*(?:\n(?![ \t]*\n)[ \t]*)?")
_COMMENT = re.compile(r"[^\n]*\n?[ \t]*")
_INLINE_MATH = re.compile(r"(?:[^$\\\n]|\\.|\n(?![ \t]*\n)){0,5000}\$", re.DOTALL)
_GERMAN = re.compile(r"\{n?german\}|\[[^\[\]\n]{0,200}german[^\[\]\n]{0,200}\]\s{0,9}\{babel\}")
_OWN = re.compile(r"[a-z]{1,8}(section|subsection|chapter|label|ref|cite|citep|citet|footnote|emph|index)")
_LEADS_ON = re.compile(r"(?:^|[(\s])(?:in|by|of|from|see|to|with|and|as|than|cf\.|following|per|at|like|on)\s*$", re.I)
_EXAMPLES = frozenset({"ea", "eal", "ex", "z"})
_NAME = re.compile(r"\\?([A-Za-z@]+)")
MAX_WORKS = 2_000
MAX_WORK = 600  # characters of one entry
_LIST = re.compile(r"\\begin\{thebibliography\}")
_ITEM = re.compile(r"\\bibitem\s*(?:\[(?:[^\[\]{}]|\{[^{}]{0,200}\}){0,300}\])?\s*\{([^{}]{1,200})\}")
_NOISE = re.compile(r"\\(?:newblock|em|it|bf|emph|textit|textbf|textsc|href|url|path|natexlab)\b|[{}]|\\[,;!]?")


class Scanner(Environments):
    """Reads one LaTeX document onto its markup."""

    def __init__(self, text: str, markup: Markup) -> None:
        super().__init__(text, markup)
        self._works = works_in(text)
        self._has_examples = ("\\z" in text and "\\ea" in text) or "\\begin{exe}" in text
        self.unknown: Counter[str] = Counter()  # commands that left a gap
        self._german = _GERMAN.search(text[:20_000]) is not None

    def run(self) -> None:
        """Read the document to its end and close what is still open."""
        while not self.done:
            step = self.input.next(_TOKEN)
            if step is None:
                break
            words, sign = step
            if words:
                self.words(words)
            if sign:
                self.input.at_token()
                self._token(sign)
        while len(self.groups) > 1:
            self.close_group()
        self.flush()

    # --- tokens -----------------------------------------------------------------------------------------------

    def _token(self, sign: str) -> None:
        """Handle one token: a command, brace, comment, dollar, cell border, quote or dash."""
        if sign[0] == "\\":
            self._command(sign[1:])
        elif sign == "{":
            self.push_group(Group())
        elif sign == "}":
            if self.too_deep:
                self.too_deep -= 1
            elif len(self.groups) > 1 and not self.groups[-1].environment:
                self.close_group()
        elif sign == "%":
            self.input.skip(_COMMENT)
            if self.input.peek() == "\n":
                self.flush()
        elif sign[0] == "$":
            self._dollars(sign)
        elif sign[0] == "\n":
            self.words(" ") if self.capturing else self.flush()
        elif sign == "&":
            self._next_cell("</td><td>")
        elif sign == '"':
            self._shorthand()
        elif sign[0] in "!?@|":
            words = self.input.argument() or ""
            if self.capturing:
                self.words(words)
            elif not self.muted:
                self._leave_out(sign[:2])
        else:
            self.words({"~": " ", "``": "“", "''": "”", "--": "–", "---": "—"}[sign])

    def _dollars(self, sign: str) -> None:
        """Write the formula between dollars."""
        display = sign == "$$"
        tex = self.input.until("$$", MAX_DISPLAY) if display else self.input.skip(_INLINE_MATH)[:-1]
        if tex and tex.strip():
            self.math(tex, display)
        elif not display:
            self.words("$")

    def _shorthand(self) -> None:
        """Write what babel's German shorthands stand for: umlauts "a, quotes "` and "'."""
        following = self.input.peek()
        if not self._german or following not in "aouAOUs`'=|~-":
            self.words('"')
            return
        self.input.skip(re.compile("."))
        umlaut = names.accented(following, '"') if following in "aouAOU" else ""
        self.words(umlaut or {"s": "ß", "`": "„", "'": "“", "=": "-", "~": "-"}.get(following, ""))

    # --- commands ---------------------------------------------------------------------------------------------

    def _command(self, command: str) -> None:
        """Handle the command of this name, with its arguments."""
        starred = len(command) > 1 and command.endswith("*")
        name = command.removesuffix("*") if starred else command
        if name in self.input.macros:
            if self.input.expand(name):
                return
        elif name in names.ACCENTS and (len(name) > 1 or not name.isalpha() or self.input.peek() in "{ \\"):
            self._accent(name)
        elif name in names.SECTIONS:
            self.input.optional()
            self.as_block(f"h{names.SECTIONS[name]}")
        elif name in _HANDLERS:
            _HANDLERS[name](self)
        elif name in names.INLINE or name in names.TERMS:
            self.marked(names.INLINE.get(name, "em"))
        elif name in names.SWITCHES and len(self.groups) > 1:
            self._switch(names.SWITCHES[name])
        elif name in names.NOTES:
            self.input.optional()
            self.marked("x-note")
        elif name in names.SILENT_CITES or name in names.NAMING_CITES or name in names.REFERENCES:
            self._reference(name)
        elif name in names.FILES:
            self._file()
        elif name in names.DROPPED:
            self.drop(names.DROPPED[name])
        elif (sign := names.sign(name)) is not None:
            if name.isalpha():
                self.input.skip(_ENDS_NAME)
            self.words(sign)
        elif (own := _OWN.fullmatch(name)) is not None:  # authors wrap these in commands of their own
            self._command(own[1])
        elif names.REFERRING.fullmatch(name) and self.input.arguments() == 1:
            self._reference("ref")
        elif name in _EXAMPLES and self._has_examples:
            self._example(name)
        elif not names.is_layout(name) and not self.muted and not self.capturing:
            self._unknown(name)

    def _unknown(self, name: str) -> None:
        """Leave a gap for a command of which nothing says what it prints; a single argument keeps its words."""
        count = 0 if self.input.skip(re.compile(r"\{\s*\}")) else self.input.arguments()
        if count == 1 or not name.isalpha():
            return
        before = self.tail()
        self.drop(2 if count == 2 else 0)
        blank = self.input.skip(re.compile(r"[ \t]+")) if count == 0 else ""
        begins = not before.rstrip(" ") or before.endswith("\n")
        if begins and (count == 0 or self.input.peek() in ("", "\n", "\\", "%", "{", "[")):
            return  # at a line's beginning it lays out the page
        self._leave_out(f"\\{name}")
        self.raw(" " if blank else "")

    def _leave_out(self, command: str) -> None:
        """Leave a gap for a command, and count it."""
        self.raw(OMISSION)
        self.unknown[command] += 1

    def _example(self, name: str) -> None:
        r"""Read numbered examples of linguists: \ea ... \ex ... \z; what they say is not asserted."""
        if name == "z":
            self.close_environment("ea")
            return
        self.flush()
        if name in ("ea", "eal"):
            group = Group(environment="ea")
            if self.push_group(group):
                self._around(group, "x-example")
        self.input.optional()

    def _accent(self, name: str) -> None:
        """Write the next letter with the accent of this command."""
        braced = self.input.argument()
        if braced is None and name.isalpha():
            self.input.skip(re.compile(r"[ \t]*"))
        letter = braced if braced is not None else self.input.skip(re.compile(r"\\[ij](?![A-Za-z])|[A-Za-zıȷ]"))
        self.words(names.accented(letter.strip()[:3], name) if letter.strip() else "")

    def _switch(self, tag: str) -> None:
        """Open an inline tag that lasts to the end of the group."""
        self.groups[-1].tags.append(tag)
        if self.writing:
            self.raw(f"<{tag}>")

    def _reference(self, name: str) -> None:
        """Write a reference as […] where its sentence needs it; drop a citation at the end of a clause."""
        while self.input.optional() is not None:
            pass
        keys = clean_line(self.input.argument() or "")
        before = self.tail()
        if name in names.REFERENCES:
            self.raw(link(f"#{keys}", OMISSION))
        elif name in names.SILENT_CITES and before.strip() and not _LEADS_ON.search(before):
            self.unspace()
            self.raw(citation_markup(keys, self._works))
        else:
            self.raw(OMISSION + citation_markup(keys, self._works))

    def label(self) -> None:
        """Write the label as an anchor."""
        name = clean_line(self.input.argument() or "")
        if self.writing and not self.capturing:
            self.raw(f'<x-label id="{escape(name)}"></x-label>')

    def _file(self) -> None:
        """Report a file that the document includes, which is not read here."""
        line = self.input.line
        path = clean_line(self.input.argument() or "")[:200]
        if path and not self.muted and len(self.problems) < MAX_PROBLEMS:
            message = f"{path} is a separate file that was not read: add it as well"
            self.problems.append(Problem("latex-input", message, line, path))

    # --- commands with a meaning of their own; see _HANDLERS --------------------------------------------------

    def caption(self) -> None:
        """Write the argument as a caption."""
        self.drop(0)
        self.as_block("figcaption")

    def picture(self) -> None:
        r"""Write the picture that \includegraphics names."""
        self.drop(0)
        path = clean_line(self.input.argument() or "")
        if path and not self.muted and not self.capturing:
            self.flush()
            self.markup.picture(path)

    def href(self) -> None:
        """Write a link around the next argument."""
        target = clean_line(self.input.argument() or "")
        self.marked(link(target, "")[1:].removesuffix("></a>"))

    def url(self) -> None:
        """Write an address as a link to itself."""
        target = clean_line(self.input.argument() or "")
        self.raw(link(target, escape(target)))

    def verb(self) -> None:
        """Write the words between two equal characters as code."""
        mark = self.input.skip(re.compile(r"[^\sA-Za-z]"))
        if mark == "{":
            mark = "}"
        words = self.input.until(mark, 1_000) if mark else None
        if words:
            self.raw(f"<code>{escape(words)}</code>")

    def inline_code(self) -> None:
        """Write the argument, or the words between two equal characters, as code."""
        self.drop(0)
        words = self.input.argument()
        if words is None:
            self.verb()
        elif words:
            self.raw(f"<code>{escape(words)}</code>")

    def mintinline(self) -> None:
        """Write inline code after an argument that names its language."""
        self.drop(1)
        self.inline_code()

    def language(self) -> None:
        r"""Record the programming language that \lstset names."""
        stated = CODE_LANGUAGE.search(self.input.argument() or "")
        self.code_language = stated[1] if stated else self.code_language

    def enquote(self) -> None:
        """Write the argument between quotation marks."""
        words = self.input.argument()
        if words is not None:
            self.input.push(f"“{words}”")

    def new_command(self) -> None:
        r"""Define the macro of \newcommand{\x}[2][default]{body} or a related command."""
        found = _NAME.fullmatch(clean_line(self.input.argument() or self.input.skip(re.compile(r"\s*\\[A-Za-z@]+"))))
        count, default = self.input.optional() or "", self.input.optional()
        body = self.input.argument()
        if found and body is not None and len(body) <= MAX_INLINE:
            arguments = int(count) if count.strip().isdecimal() and len(count.strip()) == 1 else 0
            self._define(found[1], Macro(body, arguments, default))

    def _define(self, name: str, macro: Macro) -> None:
        """Define a macro, unless the reader handles that command itself."""
        if name not in _FIXED and f"\\{name}" not in macro.body:
            self.input.macros[name] = macro

    def define(self) -> None:
        r"""Define the macro of \def\x#1#2{body} with plain parameters."""
        name = self.input.skip(re.compile(r"\s*\\[A-Za-z@]+"))
        parameters = self.input.skip(re.compile(r"(?:#[1-9])*"))
        body = self.input.argument() if name else None
        if body is not None and len(body) <= MAX_INLINE:
            self._define(name.strip()[1:], Macro(body, len(parameters) // 2))

    def operator(self) -> None:
        r"""Define the macro of \DeclareMathOperator."""
        found, body = _NAME.fullmatch(clean_line(self.input.argument() or "")), self.input.argument()
        if found and body is not None:
            self._define(found[1], Macro(f"\\operatorname{{{body[:200]}}}"))


_HANDLERS: dict[str, Callable[[Scanner], object]] = {
    "begin": Scanner.begin,
    "end": Scanner.end,
    "item": Scanner.item,
    "label": Scanner.label,
    "x@item": Scanner.open_item,
    "bibitem": Scanner.bibitem,
    **dict.fromkeys(("\\", "tabularnewline"), Scanner.new_line),
    **dict.fromkeys(("caption", "captionof"), Scanner.caption),
    "includegraphics": Scanner.picture,
    "href": Scanner.href,
    **dict.fromkeys(("url", "nolinkurl"), Scanner.url),
    "verb": Scanner.verb,
    "lstinline": Scanner.inline_code,
    "mintinline": Scanner.mintinline,
    "[": lambda scanner: scanner.math(scanner.input.until("\\]", MAX_DISPLAY) or "", True),
    "(": lambda scanner: scanner.math(scanner.input.until("\\)", MAX_INLINE) or "", False),
    "ensuremath": lambda scanner: scanner.math(scanner.input.argument() or "", False),
    "iffalse": lambda scanner: scanner.input.until("\\fi", MAX_VERBATIM),
    "title": lambda scanner: scanner.captured("title"),
    "author": lambda scanner: scanner.captured("author"),
    "date": lambda scanner: scanner.captured("date"),
    "lstset": Scanner.language,
    "enquote": Scanner.enquote,
    **dict.fromkeys(("newcommand", "renewcommand", "providecommand", "DeclareRobustCommand"), Scanner.new_command),
    "def": Scanner.define,
    "DeclareMathOperator": Scanner.operator,
    "newtheorem": Scanner.new_theorem,
    "newenvironment": lambda scanner: scanner.drop(3),
    "renewenvironment": lambda scanner: scanner.drop(3),
}
_FIXED = frozenset({*_HANDLERS, *names.SECTIONS, *names.DROPPED, *names.FILES, *names.SILENT_CITES})


def works_in(text: str) -> dict[str, str]:
    """Return key -> entry on one line for each work in the document's own list of references."""
    begin = _LIST.search(text)
    if begin is None:
        return {}
    items = list(_ITEM.finditer(text, begin.end()))[:MAX_WORKS]
    ends = [*(m.start() for m in items[1:]), len(text)]
    return {
        m[1].strip(): clean_line(_NOISE.sub("", text[m.end() : min(end, m.end() + MAX_WORK)].split("\\end{")[0]))
        for m, end in zip(items, ends, strict=False)
    }


def citation_markup(keys: str, works: Mapping[str, str]) -> str:
    """Return the markup of a citation of these keys, with the entries of the works where they are known."""
    named = [key for part in keys.split(",") if (key := part.strip())][:50]
    entries = "\n".join(works.get(key, key) for key in named)
    return f'<x-cite key="{escape(",".join(named))}" x-works="{escape(entries)}"></x-cite>' if named else ""
