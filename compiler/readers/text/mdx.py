"""Conversion of MDX (Markdown with components and JavaScript) to plain Markdown."""

from __future__ import annotations

import re

from compiler.readers.text.markdown_lines import outside_code

MAX_TAG = 20_000  # characters of one JSX tag with its attributes
_JSX_TAG = re.compile(r"`[^`\n]+`|</?[A-Z][\w.]*(?=[\s/>{])|<>|</>")
_ESM = re.compile(
    r"import\s+(?:[\w*{$][^'\"\n]*(?:['\"].*)?|['\"].*)|export\s+(?:const|default|function|async|class|let|var|\{|\*).*"
)
MAX_ESM = 400  # lines of one import or export
_OPENING, _CLOSING = frozenset("{(["), frozenset("})]")
_JSX_COMMENT = re.compile(r"\{/\*.*?\*/\}", re.DOTALL)


def without_jsx(text: str) -> str:
    """Return MDX as Markdown: imports, exports, comments and component tags removed; line numbers stay."""
    return "\n".join(outside_code(text.split("\n"), _prose_without_jsx))


def _prose_without_jsx(lines: list[str]) -> list[str]:
    """Return lines outside code without component tags and comments."""
    text = _JSX_COMMENT.sub(lambda m: "\n" * m.group().count("\n"), "\n".join(lines))
    text = "\n".join(_without_modules(text.split("\n")))
    out: list[str] = []
    at = 0
    budget = 4 * len(text) + 100_000  # tags that never end would be searched to the end of the text each
    for tag in _JSX_TAG.finditer(text):
        if tag.start() < at or tag.group()[0] == "`":
            continue
        end = _tag_end(text, tag.end(), budget) if tag.group()[-1] != ">" else tag.end()
        budget -= end - tag.end() if end > tag.end() else MAX_TAG
        out += (text[at : tag.start()], "\n" * text.count("\n", tag.start(), end))
        at = end
    return ("".join(out) + text[at:]).split("\n")


def _tag_end(text: str, at: int, budget: int) -> int:
    """Return the offset after the `>` that ends a JSX tag, past braces and strings in its attributes."""
    depth, quote = 0, ""
    for i in range(at, min(len(text), at + min(MAX_TAG, budget))):
        c = text[i]
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'`" and text[i - 1] in "={([,: \n":
            quote = c
        elif c == "{":
            depth += 1
        elif c == "}":
            depth -= 1
        elif c == ">" and depth <= 0:
            return i + 1
    return at


def _without_modules(lines: list[str]) -> list[str]:
    """Return the lines without imports and exports, however many lines they take."""
    out: list[str] = []
    at = 0
    while at < len(lines):
        end = at
        if _ESM.fullmatch(lines[at]) and (at == 0 or not out[-1].strip()):
            end = _module_end(lines, at)
        out += [""] * (end - at) or lines[at : at + 1]
        at = max(end, at + 1)
    return out


def _module_end(lines: list[str], at: int) -> int:
    """Return the line after an import or export that begins at `at`; `at` if its braces are never closed."""
    depth = 0
    for number in range(at, min(at + MAX_ESM, len(lines))):
        depth += sum((c in _OPENING) - (c in _CLOSING) for c in lines[number])
        if depth <= 0:
            return number + 1
    return at
