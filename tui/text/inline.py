"""Inline Markdown as Content: emphasis, code, links, and Obsidian's wikilinks, embeds, formulas and highlights."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from textual.content import Content, Span
from textual.style import Style

from tui.theme import CODE, DIM, LINK, MATH
from vault.model import latex
from vault.text.formatting import clean_line

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

MOST_LEVELS = (
    16  # of quotes and lists inside each other (a list is two); what is nested deeper is shown as it is written
)
MOST_COLUMNS = 40  # of a table; a wider one is shown as it is written
_RULES = "autolink backticks balance_pairs emphasis entity escape image link newline strikethrough".split()
_BLOCKS = "blockquote fence heading hr list table".split()
_WIKILINK = re.compile(r"!?\[\[(?P<to>[^\[\]|\n]+?)(?:\\?\|(?P<alias>[^\[\]\n]*))?\]\]")
_MATH = re.compile(r"\$\$[^$\n]+\$\$|\$(?![\s$])[^$\n]*?[^\s$\\]\$(?!\d)")
_ADDRESS = re.compile(r"://[^\s<>\[\]`*|\"]*[^\s<>\[\]`*|\".,;:!?')]")
_ADDRESS_START = re.compile(r"(?<![\w/])https?$", re.IGNORECASE)
_CLAIM = re.compile(r"wiki/summaries/[^#]+#\^c-[0-9a-z]{10}")
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_WEB = re.compile(r"https?://", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_STYLES = {"em": "italic", "strong": "bold", "s": "strike", "mark": "bold italic"}


@dataclass(frozen=True, slots=True)
class Target:
    """The destination of a link, in words from the document: checked only when the link is followed.

    `kind` is note (`to` is a path in the vault, perhaps without `.md`, perhaps with `#heading`), claim (the same
    with `#^c-id`), web (an http or https address) or picture (a path).
    """

    kind: str
    to: str
    words: str


@cache
def parser() -> MarkdownIt:
    """Return the parser: CommonMark without HTML, indented code and references, with tables and Obsidian's marks.

    `parse` gives block tokens whose inline text is not parsed yet.
    """
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import blockquote, list_block, table

    def shallow_quote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        return state.level < MOST_LEVELS and blockquote(state, start, end, silent)

    def shallow_list(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        return state.level < MOST_LEVELS and list_block(state, start, end, silent)

    def narrow_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        columns = state.src.count("|", state.bMarks[start], state.eMarks[start])
        return 0 < columns <= MOST_COLUMNS + 1 and table(state, start, end, silent)

    markdown = MarkdownIt("zero").enable([*_BLOCKS, *_RULES])
    markdown.core.ruler.enableOnly(["normalize", "block"])
    markdown.block.ruler.at("blockquote", shallow_quote, {"alt": ["paragraph", "blockquote", "list"]})
    markdown.block.ruler.at("list", shallow_list, {"alt": ["paragraph", "blockquote"]})
    markdown.block.ruler.at("table", narrow_table, {"alt": ["paragraph"]})
    markdown.inline.ruler.before("link", "wikilink", _wikilink)
    markdown.inline.ruler.before("link", "formula", _formula)
    markdown.inline.ruler.before("link", "highlight", _highlight)
    markdown.inline.ruler.before("link", "address", _address)
    markdown.normalizeLink = lambda url: url  # type: ignore[method-assign]  # shown as written
    markdown.validateLink = lambda url: True  # type: ignore[method-assign]  # `_close_link` decides what is a link
    return markdown


def _wikilink(state: StateInline, silent: bool) -> bool:
    """Parse `[[note|alias]]` and `![[file|caption]]`."""
    if state.src[state.pos] not in "![":
        return False
    match = _WIKILINK.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        token = state.push("embed" if match[0][0] == "!" else "wikilink", "", 0)
        token.content, token.meta = match["to"], {"alias": match["alias"]}
    state.pos = match.end()
    return True


def _formula(state: StateInline, silent: bool) -> bool:
    """Parse `$formula$` and `$$formula$$`."""
    if state.src[state.pos] != "$":
        return False
    match = _MATH.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        state.push("formula", "", 0).content = match[0]
    state.pos = match.end()
    return True


def _highlight(state: StateInline, silent: bool) -> bool:
    """Parse `==words==`, which may hold other marks."""
    start, end = state.pos + 2, state.posMax
    if not state.src.startswith("==", state.pos):
        return False
    close = state.src.find("==", start, end)
    if close <= start or state.src[start].isspace() or state.src[close - 1].isspace():
        return False
    if not silent:
        state.push("mark_open", "mark", 1)
        state.pos, state.posMax = start, close
        state.md.inline.tokenize(state)
        state.posMax = end
        state.push("mark_close", "mark", -1)
    state.pos = close + 2
    return True


def _address(state: StateInline, silent: bool) -> bool:
    """Parse an http address that stands in the text without marks; the parser has passed its scheme already."""
    if silent or state.src[state.pos] != ":" or state.linkLevel:
        return False
    scheme = _ADDRESS_START.search(state.pending[-7:])
    match = _ADDRESS.match(state.src, state.pos, state.posMax) if scheme else None
    if scheme is None or match is None:
        return False
    state.pending = state.pending[: -len(scheme[0])]
    state.push("address", "", 0).content = scheme[0] + match[0]
    state.pos = match.end()
    return True


def inline_content(markdown: str, style: str, links: list[Target]) -> Content:
    """Return the Content of one paragraph or cell over one style; the destinations of its links go to `links`."""
    tokens: list[Token] = []
    parser().inline.parse(markdown, parser(), {}, tokens)
    writer = _Writer(links)
    for token in tokens:
        writer.add(token)
    text = "".join(writer.parts)
    return Content(text, [Span(0, len(text), style), *writer.spans] if style else writer.spans)


class _Writer:
    """Collects the text, spans and links of inline tokens in their order."""

    def __init__(self, links: list[Target]) -> None:
        self.parts: list[str] = []
        self.spans: list[Span] = []
        self._links = links
        self._length = 0
        self._open: list[tuple[int, int]] = []  # (offset, number of parts) at each mark that is not closed yet
        self._address = ""
        self._after_citation = False  # but for white space
        self._after_text = False

    def add(self, token: Token) -> None:
        if token.type == "text":
            self._text(token.content)
            self._after_text = True
            self._after_citation = self._after_citation and not token.content.strip()
            return
        citation = False
        match token.type:
            case "text_special":
                self._text(_literal(token))
            case "softbreak" | "hardbreak":
                self._text("\n")
            case "code_inline":
                self._text(token.content, CODE)
            case "formula":
                self._text(latex.formula(token.content), MATH)
            case "wikilink":
                citation = self._wikilink(token.content, token.meta["alias"])
            case "embed":
                self._picture(token.content, token.meta["alias"] or "")
            case "image":
                self._image(str(token.attrs["src"]), token.content)
            case "address":
                self._link(token.content, LINK, "web", token.content)
            case "link_open":
                self._open.append((self._length, len(self.parts)))
                self._address = str(token.attrs.get("href", ""))
            case "link_close":
                self._close_link(*self._open.pop(), token.info == "auto")
            case _ if token.nesting == 1:
                self._open.append((self._length, len(self.parts)))
            case _:
                self._style(self._open.pop()[0], _STYLES[token.tag])
        self._after_citation, self._after_text = citation, False

    def _text(self, text: str, style: str = "") -> None:
        start = self._length
        self.parts.append(text)
        self._length += len(text)
        if style:
            self._style(start, style)

    def _style(self, start: int, style: str | Style) -> None:
        if start < self._length:
            self.spans.append(Span(start, self._length, style))

    def _link(self, shown: str, style: str, kind: str, to: str, words: str = "") -> None:
        start = self._length
        self._text(shown, style)
        self._target(start, Target(kind, to, words or shown))

    def _target(self, start: int, target: Target) -> None:
        if start < self._length:
            self._style(start, Style.from_meta({"target": len(self._links)}))
            self._links.append(target)

    def _wikilink(self, to: str, alias: str | None) -> bool:
        """Add a link to a note; return whether it is a citation: a raised number close to the sentence before it."""
        shown = (alias if alias is not None else to.rsplit("/", 1)[-1]).strip() or to
        if _CLAIM.fullmatch(to) is None:
            self._link(shown, LINK, "note", to.strip())
            return False
        citation = shown.isascii() and shown.isdigit()
        if citation and self._after_text and not self._after_citation:
            last = self.parts[-1]
            self.parts[-1] = last.rstrip(" \t")
            self._length -= len(last) - len(self.parts[-1])
        self._link(shown.translate(_SUPERSCRIPT) if citation else shown, DIM if citation else LINK, "claim", to, shown)
        return citation

    def _picture(self, path: str, caption: str) -> None:
        self._link(latex.picture(path, caption), DIM, "picture", path.strip())

    def _image(self, address: str, caption: str) -> None:
        if _WEB.match(address):
            self._link(latex.picture(address, caption), DIM, "web", address)
        else:
            self._picture(unquote(address), caption)

    def _close_link(self, start: int, part: int, automatic: bool) -> None:
        """End `[words](address)`: a web page, a note, or words with an address that cannot be followed."""
        to, self._address = self._address, ""
        if _WEB.match(to):
            kind = "web"
        elif automatic or _SCHEME.match(to) or to.startswith(("/", "\\", "#")) or not to:
            self._text(f" ({to})" if to and not automatic else "")
            return
        else:
            kind, to = "note", clean_line(unquote(to))
        if start == self._length:
            self._text(to)
        self._style(start, LINK)
        self._target(start, Target(kind, to, clean_line("".join(self.parts[part:]))))


def _literal(token: Token) -> str:
    """Return the character of an escape or entity; an entity for a control character stays as it is written."""
    if token.info != "entity":
        return token.content
    return clean_line(token.content) or (" " if token.content.isspace() else token.markup)
