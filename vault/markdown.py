"""Words into Markdown and back: nothing from a document may act as markup, tag, link, embed or HTML in Obsidian."""

from __future__ import annotations

import re

# Math and code keep their meaning, so they pass as they are. Both are inert: one line, no `$` or backtick inside.
# A code span that starts with `=` or `$=` would be a query to a plugin; it is escaped like any other text.
_CODE = r"`(?!\$?=)[^`\n]+`"
_MATH = r"\$\$[^$`\n]+\$\$|\$(?![\s$])(?:[^$`\n]*[^\s$`\\])?\$(?![\d$])"
_VERBATIM = re.compile(rf"{_CODE}|{_MATH}")
_TOKEN = re.compile(rf"(?P<verbatim>{_CODE}|{_MATH})|(?P<escape>\\[!-/:-@\[-`{{-~])")
_ALWAYS = set("\\`*[]<>|$^&#~")
_LINE_START = re.compile(r"(\s*)(?:([-+=:%])|(\d+)([.)])(?=\s|$)|([QA]):)")


def escape(text: str) -> str:
    """`text` so that Markdown shows its very characters; `$math$` and `` `code` `` stay alive."""
    return "\n".join(_escape_line(line) for line in text.split("\n"))


def _escape_line(line: str) -> str:
    out: list[str] = []
    at = 0
    start = _LINE_START.match(line)
    if start is not None:
        at = start.end()
        indent, mark, number, dot, tag = start.groups()
        out.append(indent + (f"\\{mark}" if mark else f"{number}\\{dot}" if number else f"{tag}\\:"))
    while at < len(line):
        span = _VERBATIM.match(line, at) if line[at] in "`$" else None
        if span is not None:
            out.append(span.group())
            at = span.end()
        else:
            out.append(_escape_char(line, at))
            at += 1
    return "".join(out)


def _escape_char(line: str, at: int) -> str:
    c = line[at]
    if c in _ALWAYS:
        return "\\" + c
    before, after = line[at - 1 : at], line[at + 1 : at + 2]
    if c == "_":
        return c if before.isalnum() and after.isalnum() else "\\_"
    if c in "=%" and after == c:
        return "\\" + c
    return c


def unescape(markdown: str) -> str:
    """The text that `escape` was given; for human-made Markdown, the text with its backslash escapes undone."""
    return _TOKEN.sub(lambda m: m["verbatim"] or m["escape"][1:], markdown)
