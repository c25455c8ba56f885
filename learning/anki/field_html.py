"""Markdown of a card as the HTML of an Anki field: math, code and pictures work, everything else is inert.

Anki runs what a field holds: HTML with scripts, `[sound:]`, `[latex]`, MathJax. So every character of text is escaped,
brackets and braces included; the only tags are those that this module writes. A picture or sound is one of the
package's own.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from learning.anki.media_import import SOUNDS
from vault.model.exhibit import LANGUAGES
from vault.model.markdown import escape
from vault.text.formatting import clean, clean_line

_LONGEST = 8_000  # beyond, Markdown is not parsed: some inputs cost its parser the square of their length
_MATH = re.compile(r"\$\$(?P<display>[^$`]+)\$\$|\$(?P<inline>(?![\s$])(?:[^$`\n]*[^\s$`\\])?)\$(?![\d$])")
_WIKILINK = re.compile(r"!?\[\[(?P<target>[^\[\]|\n]*)(?:\|(?P<alias>[^\[\]\n]*))?\]\]")
_TEX_START = re.compile(r"\\(?=[(\[]|begin\b|ref\b|eqref\b)")
# Macros that make a link, load something, style the page or change what later formulas mean; none needs them.
_TEX_ACTIVE = re.compile(
    r"\\(?:href|url|require|style|class|cssId|html|data|bbox|mmlToken|includegraphics|input|special|unicode|action"
    r"|toggle|texttip|mathtip|[gex]?def|let(?![A-Za-z])|(?:re)?new(?:command|environment)|Declare)"
)
_ANKI_TAG = re.compile(r"\[(?=/?(?:sound|latex|anki|\$))", re.IGNORECASE)
# One line that begins with a letter and in which nothing means anything to Markdown, Anki or TeX: most cards are such.
_PLAIN = re.compile(r"[^\W\d_](?:[^\W_]|[ .,;:?!'\"()/%+–—’“”-])*")
# What is not read as text: tags, code, formulas, and the marks of a cloze.
_NO_LETTERS = re.compile(r"<code\b.*?</code>|<[^>]*>|\\\(.*?\\\)|\\\[.*?\\\]|\{\{c[0-9,]+::", re.DOTALL)
_PARAGRAPH = re.compile(r"<p>((?:(?!<p>).)*)</p>", re.DOTALL)


NameOf = Callable[[str], str | None]  # what a card embeds -> the name that it has in the package


def field(markdown: str, name_of: NameOf | None = None) -> str:
    """Return the HTML of a field that shows `markdown`; files that `name_of` knows are shown or played, else named."""
    text = clean(markdown).strip()
    if _PLAIN.fullmatch(text):
        return html.escape(text)
    if len(text) > _LONGEST:
        return inert(text).replace("\n", "<br>")
    shown = str(_parser().render(text, {"name_of": name_of})).strip()
    alone = _PARAGRAPH.fullmatch(shown)
    return alone[1] if alone else shown


def directed(shown: str, *, rtl: bool = False) -> str:
    """Return the HTML of a field, from right to left if most of its letters are, or it is known (`rtl`) to be so."""
    kinds = Counter(
        map(unicodedata.bidirectional, "" if shown.isascii() else html.unescape(_NO_LETTERS.sub("", shown)))
    )
    is_rtl = rtl or kinds["R"] + kinds["AL"] > kinds["L"]
    return f'<div dir="rtl">{shown}</div>' if shown and is_rtl else shown


def field_of_words(words: str) -> str:
    """Return the HTML of a field that shows plain text, such as a quote; `$math$` and `` `code` `` work."""
    return field(escape(clean_line(words)))


def inert(text: str) -> str:
    """Return `text` as HTML that shows these very characters and does nothing, in Anki or anywhere."""
    shown = html.escape(_TEX_START.sub("\\\\\u2060", clean(text)), quote=True)
    return shown.replace("[", "&#91;").replace("]", "&#93;").replace("{", "&#123;").replace("}", "&#125;")


@cache
def _parser() -> MarkdownIt:
    """Return the Markdown parser."""
    parser = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer)
    parser.disable(["reference", "autolink"])
    parser.enable(["table", "strikethrough"])
    parser.inline.ruler.before("escape", "math", _math_rule)
    parser.inline.ruler.before("link", "wikilink", _wikilink_rule)
    return parser


def _math_rule(state: StateInline, silent: bool) -> bool:
    """Parse a formula between dollars."""
    found = _MATH.match(state.src, state.pos) if state.src[state.pos] == "$" else None
    if found is None:
        return False
    if not silent:
        display = found["display"] is not None
        token = state.push("math_display" if display else "math_inline", "", 0)
        token.content = found["display"] if display else found["inline"]
    state.pos = found.end()
    return True


def _wikilink_rule(state: StateInline, silent: bool) -> bool:
    """Parse a wikilink."""
    found = _WIKILINK.match(state.src, state.pos) if state.src[state.pos] in "![" else None
    if found is None:
        return False
    if not silent:
        name_of = state.env.get("name_of") if found[0][0] == "!" else None
        name = name_of(found["target"].strip()) if name_of is not None else None
        token = state.push("picture" if name else "text", "", 0)
        token.content = found["alias"] or found["target"].rsplit("/", 1)[-1]
        token.info = name or ""
    state.pos = found.end()
    return True


class _Renderer(RendererHTML):
    """Writes a few tags, of which cells of tables alone have an attribute (alignment), and all else as inert text."""

    def text(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return inert(tokens[idx].content)

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return inert(tokens[idx].content)  # what it shows, in words: a picture could tell a stranger who reads it

    def picture(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        if tokens[idx].info.rpartition(".")[2] in SOUNDS:
            return f"[sound:{tokens[idx].info}]"
        return f'<img src="{html.escape(tokens[idx].info, quote=True)}" alt="{inert(tokens[idx].content)}">'

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return ""

    def link_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return ""

    def softbreak(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return "<br>\n"

    def hardbreak(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return "<br>\n"

    def hr(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return "<hr>\n"

    def code_inline(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"<code>{inert(tokens[idx].content)}</code>"

    def code_block(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"<pre><code>{inert(tokens[idx].content.rstrip())}</code></pre>\n"

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        language = tokens[idx].info.strip().split(" ")[0].lower()
        named = f' class="language-{html.escape(language, quote=True)}"' if language in LANGUAGES else ""
        return f"<pre><code{named}>{inert(tokens[idx].content.rstrip())}</code></pre>\n"

    def math_inline(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return _tex(tokens[idx].content, "$", "\\(", "\\)")

    def math_display(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return _tex(tokens[idx].content, "$$", "\\[", "\\]")


def _tex(content: str, mark: str, opening: str, closing: str) -> str:
    """Return a formula between MathJax's delimiters; one that would do more than show something stays text."""
    if _TEX_ACTIVE.search(content) or closing in content:
        return inert(f"{mark}{content}{mark}")
    quiet = _ANKI_TAG.sub("[ ", content)
    while "{{" in quiet:
        quiet = quiet.replace("{{", "{ {")
    return opening + html.escape(quiet.strip(), quote=True) + closing
