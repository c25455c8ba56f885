"""Escaping of words for Markdown and back: nothing from a document may act as markup, tag, link, embed or HTML."""

from __future__ import annotations

import re

# Math and code keep their meaning, so they pass as they are. Both are inert: one line, no `$` or backtick inside.
# A code span that starts with `=` or `$=` would be a query to a plugin, and so would `<%` anywhere: they are escaped
# like any other text, `<%` between its two characters; both its backticks, as one alone would pair with a stranger.
# Math that holds what could be a tag, picture or link would be one to a reader without math; it is escaped, too.
_CODE = r"`(?!\$?=|[^`\n]*<%)[^`\n]+`"
_INERT = r"(?![^$`\n]*(?:<[A-Za-z][\w-]*(?:[\s/>$]|\Z)|<[/!?%]|!\[|\]\())"
_MATH = rf"\$\${_INERT}[^$`\n]+\$\$|\$(?![\s$]){_INERT}(?:[^$`\n]*[^\s$`\\])?\$(?![\d$])"
_TOKEN = re.compile(rf"(?P<verbatim>{_CODE}|{_MATH})|(?P<escape>\\[!-/:-@\[-`{{-~])")
_SPECIAL = re.compile(  # an underscore inside a word and a single = or % mean nothing to Markdown
    rf"(?P<verbatim>{_CODE}|{_MATH})|`(?P<query>[^`\n]+)`|[\\`*\[\]<>|$^&#~]|(?<![^\W_])_|_(?![^\W_])|=(?==)|(?<=<)%|%(?=%)"
    r"|(?<=[A-Za-z])(?<![Hh][Tt][Tt][Pp])(?<![Hh][Tt][Tt][Pp][Ss]):(?=//)"  # a bare address that is no page's: file://
)
_LINE_START = re.compile(r"(\s*)(?:([-+=:%])|(\d+)([.)])(?=\s|$)|([QA]):)")


def escape(text: str) -> str:
    """Return `text` so that Markdown shows its exact characters; `$math$` and `` `code` `` stay active."""
    return "\n".join(_escape_line(line) for line in text.split("\n"))


def _escape_line(line: str) -> str:
    """Return one line escaped."""
    start = _LINE_START.match(line)
    if start is None:
        return _SPECIAL.sub(_escaped, line)
    indent, mark, number, dot, tag = start.groups()
    head = f"\\{mark}" if mark else f"{number}\\{dot}" if number else f"{tag}\\:"
    return indent + head + _SPECIAL.sub(_escaped, line[start.end() :])


def _escaped(found: re.Match[str]) -> str:
    if found["query"]:
        return f"\\`{_SPECIAL.sub(_escaped, found['query'])}\\`"
    return found["verbatim"] or "\\" + found[0]


def unescape(markdown: str) -> str:
    """Return the text that `escape` was given; for the user's own Markdown, the text without backslash escapes."""
    return _TOKEN.sub(lambda m: m["verbatim"] or m["escape"][1:], markdown)


_CITATION = re.compile(r"\[\[wiki/summaries/[^\[\]|#\n]+#\^c-[0-9a-z]{10}\|\d+\]\]")
_LINK = re.compile(r"\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]+)\]\]")
_PLAIN = re.compile(r"\*\*|`|\\(?=[!-/:-@\[-`{-~])")


def plain_words(markdown: str) -> str:
    """Return Markdown as the words that are read: links by their names, no citations, no emphasis."""
    return _PLAIN.sub("", _LINK.sub(r"\1", _CITATION.sub("", markdown)))
