"""The reader of Markdown: its HTML goes through the same walk as a web page."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from compiler.readers.decode import LONGEST_LINE, decode
from compiler.readers.front_matter import read_front
from compiler.readers.markup import link, walk
from compiler.readers.page import Page
from compiler.readers.text.export_noise import without_export_noise
from compiler.readers.text.markdown_attributes import add_attributes
from compiler.readers.text.markdown_dialects import VOID, add_dialects
from compiler.readers.text.markdown_lines import words_only
from compiler.readers.text.mdx import without_jsx
from compiler.readers.text.plain_text import read_text
from compiler.readers.text.scholarly_markdown import add_scholarly, chunk_parts, cites_keys
from vault.model.source import Problem
from vault.text.formatting import normal

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# A formula in the Markdown of the publisher Leanpub: {$$}x{/$$}
_LEANPUB = re.compile(r"\{\$\$\}(?!\s)([^$\n]{1,600}?)(?<!\s)\{/\$\$\}")
MAX_MARKDOWN = 4 * 1024 * 1024  # characters; the parser needs seconds for each million, so more is read as plain text
MAX_MARKDOWN_LINES = 100_000
MAX_BLOCK = 50_000  # characters of one paragraph; a longer one is taken as plain words
MAX_INLINE_WORK = 300_000_000  # sum of squares of the openers in each block: the parser's worst case is quadratic
_SPECIAL = re.compile(r"[\[\]!*_`<]")
_SELF_CLOSED = re.compile(r"<([A-Za-z][\w.-]*)((?:\s[^<>]*)?)/>")
_SWALLOWING = re.compile(r"</?(?:title|textarea|style|xmp|noembed|noframes|script|plaintext|template|select)\b", re.I)
_RAW = re.compile(r"<(?:pre|code|script|style|textarea)\b", re.IGNORECASE)
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]{1,300})\]\(([^\s()<>\"]{1,500})\)")
_FENCE_LANGUAGE = re.compile(r"\s*\{?\s*[.=]?([A-Za-z][\w+#-]*)")
_FURNITURE_FENCES = {"toc", "eval_rst", "tableofcontents", "dataview", "dataviewjs", "query", "tasks", "button"}


@cache
def _parser(mdx: bool) -> MarkdownIt:
    """Return the parser of Markdown, or of MDX."""
    from markdown_it import MarkdownIt

    md = MarkdownIt("commonmark", {"html": True, "maxNesting": 60})
    add_dialects(md)
    add_scholarly(md)
    add_attributes(md)
    if mdx:
        md.disable("code")  # in a component what is indented is no code
    md.core.ruler.before("inline", "bound", _limit_inline_parsing)
    rules: dict[str, Any] = {
        "fence": _fence,
        "code_block": _code_block,
        "math_inline": lambda tokens, index: _math(tokens[index], "x-math"),
        "math_inline_double": lambda tokens, index: _math(tokens[index], "x-math-block"),
        "math_block": _math_block,
        "math_block_label": _math_block,
        "footnote_reference_open": lambda *a: "<div>",
        "footnote_reference_close": lambda *a: "</div>",
        "html_block": _html_block,
        "html_inline": _html_inline,
        "image": _image,
    }
    renderer: Any = md.renderer
    for name, rule in rules.items():
        renderer.rules[name] = lambda tokens, index, options, env, rule=rule: rule(tokens, index)
    return md


def _limit_inline_parsing(state: Any) -> None:
    """Replace blocks whose inline parsing could take very long by plain words."""
    work = 0
    for token in state.tokens:
        if token.type == "inline":
            cost = sum(1 for _ in _SPECIAL.finditer(token.content)) ** 2
            if work + cost > MAX_INLINE_WORK or len(token.content) > MAX_BLOCK:
                token.type = "text"
            else:
                work += cost


def _at(token: Token) -> str:
    """Return the attribute that says on which lines a token is."""
    return f' data-line="{token.map[0] + 1}"' if token.map else ""


def _fence(tokens: Sequence[Token], index: int) -> str:
    """Return the markup of a fenced code block."""
    token = tokens[index]
    language = fence_language(token.info)
    if language in _FURNITURE_FENCES:
        return ""
    if language in ("math", "latex-math"):
        return _math_block(tokens, index)
    code, caption = chunk_parts(token.info, token.content)
    below = f"<figcaption>{html.escape(caption)}</figcaption>\n" if caption else ""
    return f'<pre{_at(token)} data-language="{html.escape(language)}">\n{html.escape(code)}</pre>\n{below}'


def fence_language(info: str) -> str:
    """Return the language of a fence: r in "r", "{r label, echo=FALSE}" and "{.r .input}"; "" without one."""
    found = _FENCE_LANGUAGE.match(info)
    return found[1].lower() if found else ""


def _code_block(tokens: Sequence[Token], index: int) -> str:
    """Return the markup of an indented code block."""
    return f"<pre{_at(tokens[index])}>\n{html.escape(tokens[index].content)}</pre>\n"


def _math(token: Token, tag: str) -> str:
    """Return the markup of a formula."""
    return f"<{tag}>{html.escape(token.content)}</{tag}>"


def _math_block(tokens: Sequence[Token], index: int) -> str:
    """Return the markup of a displayed formula."""
    return f"<p{_at(tokens[index])}>{_math(tokens[index], 'x-math-block')}</p>\n"


def _image(tokens: Sequence[Token], index: int) -> str:
    """Return the markup of an image."""
    token = tokens[index]
    source, title = (html.escape(str(token.attrs.get(key, ""))) for key in ("src", "title"))
    return f'<img src="{source}" title="{title}" alt="{html.escape(_words(token.children or []))}">'


def _words(tokens: Sequence[Token]) -> str:
    """Return the words of inline tokens; formulas keep their dollars."""
    out: list[str] = []
    for token in tokens:
        if token.type.startswith("math_inline"):
            out.append(f"${token.content}$")
        elif token.type in ("text", "code_inline"):
            out.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            out.append("\n")
        out.append(_words(token.children or []))
    return "".join(out)


def _html_block(tokens: Sequence[Token], index: int) -> str:
    """Return the markup of an HTML block."""
    token = tokens[index]
    content = token.content
    if "](" in content and not _RAW.search(content):  # authors write Markdown's links there, too
        content = _LINK.sub(lambda m: link(html.unescape(m[2]), m[1]), content)
    return f"<x-at{_at(token)}></x-at>{_closed(content)}"


def _html_inline(tokens: Sequence[Token], index: int) -> str:
    """Return a tag inside a paragraph; one that would swallow the rest of the document becomes plain words."""
    content = tokens[index].content
    return html.escape(content) if _SWALLOWING.match(content) else _closed(content)


def _closed(markup: str) -> str:
    """Return the markup with `<Tag/>` closed unless it is void, since an HTML parser takes it for an open tag."""
    return _SELF_CLOSED.sub(lambda m: m.group() if m[1].lower() in VOID else f"<{m[1]}{m[2]}></{m[1]}>", markup)


def read(data: bytes, name: str, page: Page) -> tuple[dict[str, str], list[Problem]]:
    """Write a Markdown document onto `page`; return its front matter and problems."""
    decoded, problems = decode(data, LONGEST_LINE)
    text = normal(decoded)
    front = read_front(text)
    problems += front.problems
    body, stated = without_export_noise(text[front.body :])
    if len(body) > MAX_MARKDOWN or body.count("\n") > MAX_MARKDOWN_LINES:
        message = f"more than {MAX_MARKDOWN:,} characters or {MAX_MARKDOWN_LINES:,} lines: read as plain text"
        problems.append(Problem("markdown-too-long", message, front.first_line))
        read_text(body, page, front.first_line)
    else:
        left_out = read_markdown(body, name, page, front.first_line)
        if left_out:
            message = f"text inserted by a template or computation was replaced by […]: {left_out}"
            problems.append(Problem("computed-words", message, front.first_line))
    return stated | front.properties, problems


def read_markdown(text: str, name: str, page: Page, first_line: int = 1) -> int:
    """Write the blocks of a Markdown body onto `page`; return how many words that a template inserts are left out.

    `first_line` is the body's first line in the raw file.
    """
    mdx = name.lower().endswith(".mdx")
    text = words_only(without_jsx(text) if mdx else _LEANPUB.sub(r"$\1$", text))
    md = _parser(mdx)
    chunks = name.lower().endswith((".rmd", ".qmd"))
    env: dict[str, Any] = {"mdx": mdx, "quarto": chunks or cites_keys(text), "chunks": chunks}
    tokens = md.parse(text, env)
    for token in tokens:
        if token.map and token.nesting >= 0 and token.type not in ("inline", "html_block"):
            token.attrSet("data-line", str(token.map[0] + 1))
    rendered = md.renderer.render(tokens, md.options, env)
    walk(rendered, page, lambda line: line + first_line - 1)
    return int(env.get("left_out", 0))
