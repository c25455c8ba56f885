"""Parser rules for the Markdown of Obsidian, Dive into Deep Learning, MDX and kramdown."""

from __future__ import annotations

import html
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from compiler.readers.page import OMISSION
from compiler.readers.text.markdown_attributes import pattern_rule, push_link

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

_ROLE = re.compile(r":([a-zA-Z][\w:-]*):`([^`\n]*)`")
_MYST_ROLE = re.compile(r"\{([a-zA-Z][\w:-]*)\}`([^`\n]*)`")
_SILENT_ROLES = {
    "label", "eqlabel", "cite", "citep", "width", "height", "begin_tab", "end_tab", "bibliography", "cite:p", "cite:ps",
    "footcite", "index",
}  # fmt: skip
_POINTING_ROLES = {"numref", "eqref", "ref", "citet", "cite:t", "eq", "doc", "footnote"}
_DIRECTIVE = re.compile(r":(?:begin_tab|end_tab|tab|maxdepth|numbered|hidden|bibliography)[\w-]*:(?:`[^`\n]*`|.*)\s*")
_ONLY_LINK = re.compile(r"\s*\[[^\[\]]*\]\([^()]*\)\s*")
_RAW_HTML = re.compile(r"\s*<(?:!|\?|(?:script|pre|style|textarea)\b)", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)[^<>]*>")
_BLOCK_TAG = re.compile(r"\s*<(?!(?:span|a|em|strong|b|i|sup|sub|small|code|abbr|cite|mark|img|q)\b)", re.IGNORECASE)
_HOLDS_MARKDOWN = re.compile(r"<\w[^<>]*\smarkdown=[\"']?(?:1|block|span)\b")
_ATX = re.compile(r"#{1,6}[ \t]+\S")
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n|]*)(?:\|([^\[\]\n]*))?\]\]")
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|bmp|avif)\s*$", re.IGNORECASE)
_WIDTH = re.compile(r"\s*\d+(?:x\d+)?\s*")
_NOTE_MARK = re.compile(r"\[\^[^\s\[\]]{1,100}\]|\^\[([^\[\]\n]{1,1000})\]")
_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
_HIGHLIGHT = re.compile(r"==(?=\S)([^=\n]{1,300}?)(?<=\S)==(?!=)")
_BLOCK_ID = re.compile(r"[ \t]\^[A-Za-z0-9-]+$")
_ATTRIBUTES = re.compile(r"\{(?:[:#.][^{}\n]{0,200}|-)\}$")
_HEADING_ANCHOR = re.compile(r"\[\[[\w-]+\]\][ \t]*$")
_SLIDES = re.compile(r"[\[(](\*\*|~~)(.+?)\1[\])]", re.DOTALL)
_SLIDES_USED = re.compile(r"^:(?:eq)?label:`|^```\{\.python \.input", re.MULTILINE)
_ONLY_TAGS = re.compile(r"(?:#[^\W\d][\w/-]*[ \t]*)+")

VOID = {"br", "hr", "img", "input", "wbr", "meta", "link", "col", "area", "base", "embed", "param", "source", "track"}


def _role(state: StateInline, silent: bool) -> bool:
    """Parse `:numref:`fig_x`` and {ref}`x`: labels and citations are dropped, references leave a gap."""
    opener = state.src[state.pos]
    pattern = _ROLE if opener == ":" else _MYST_ROLE
    if opener not in ":{":
        return False
    found = pattern.match(state.src, state.pos, state.posMax)
    if found is None or (opener == ":" and state.pos and state.src[state.pos - 1].isalnum()):
        return False
    if not silent:
        name, content = found[1].lower(), found[2]
        if name in _SILENT_ROLES:
            state.pending = state.pending.rstrip(" \n")
            if not state.pending and state.tokens and state.tokens[-1].type == "softbreak":
                state.tokens.pop()
            if name in ("label", "eqlabel"):
                state.push("html_inline", "", 0).content = f'<x-label id="{html.escape(content)}"></x-label>'
            elif "cite" in name:
                state.push("html_inline", "", 0).content = f'<x-cite key="{html.escape(content)}"></x-cite>'
        elif name in _POINTING_ROLES:
            push_link(state, f"#{content}", OMISSION)
            if "cite" in name:
                state.push("html_inline", "", 0).content = f'<x-cite key="{html.escape(content)}"></x-cite>'
        elif name == "math":
            state.push("math_inline", "math", 0).content = content
        else:
            state.push("code_inline", "code", 0).content = content
    state.pos = found.end()
    return True


def _write_wikilink(state: StateInline, found: re.Match[str]) -> None:
    """Write [[Note|shown]] as its alias or name, ![[picture.png|words]] as a picture; other embeds are dropped."""
    if not found[1]:
        shown = found[3] or found[2].replace("#", " > ").lstrip("> ").split("/")[-1]
        push_link(state, "wikilink", shown.removesuffix(".md"))
    elif _PICTURE.search(found[2]):
        words = "" if _WIDTH.fullmatch(found[3] or "") else html.escape(found[3] or "")
        state.push("html_inline", "", 0).content = f'<img src="{html.escape(found[2].strip())}" alt="{words}">'


def _write_note_mark(state: StateInline, found: re.Match[str]) -> None:
    """Write footnotes: [^1] is dropped, ^[a note on the spot] waits for the sentence's end."""
    if found[1]:
        state.push("html_inline", "", 0).content = f"<x-note>{html.escape(found[1])}</x-note>"


def _write_highlight(state: StateInline, found: re.Match[str]) -> None:
    """Write ==marked== words as emphasized."""
    state.push("mark_open", "mark", 1)
    state.push("text", "", 0).content = found[1]
    state.push("mark_close", "mark", -1)


def _block_comment(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Drop a %% comment %% over several lines, blank ones too."""
    at = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith("%%", at) or "%%" in state.src[at + 2 : state.eMarks[start]].rstrip()[:-2]:
        return False
    for line in range(start + 1, end):
        if state.src[state.bMarks[line] : state.eMarks[line]].rstrip().endswith("%%"):
            if not silent:
                state.line = line + 1
            return True
    return False


def _directive(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Drop a line that is a directive of a book (`:begin_tab:`, `:end_tab:`), and a tab that only holds a link."""
    at = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith(":", at) or not _DIRECTIVE.fullmatch(state.src, at, state.eMarks[start]):
        return False
    if not silent:
        state.line = start + 1
        tab = [state.src[state.bMarks[n] : state.eMarks[n]] for n in range(start + 1, min(start + 4, end))]
        if len(tab) > 1 and _ONLY_LINK.fullmatch(tab[0]) and ":end_tab:" in tab[1]:
            state.line = start + 3
    return True


def _html_block_end(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """End an HTML block where its tags are closed, since people write Markdown straight after `</div>`."""
    from markdown_it.rules_block.html_block import html_block

    if not html_block(state, start, end, silent):
        return False
    if silent or not state.tokens or state.tokens[-1].type != "html_block":
        return True
    token = state.tokens[-1]
    lines = token.content.splitlines(keepends=True)
    if _RAW_HTML.match(lines[0]):
        return True
    depth = 0
    for count, (line, following) in enumerate(pairwise(lines), 1):
        for tag in _TAG.finditer(line):
            if tag[2].lower() not in VOID and not tag.group().endswith("/>"):
                depth += -1 if tag[1] else 1
        is_closed = depth <= 0 and not _BLOCK_TAG.match(following)
        if _HOLDS_MARKDOWN.search(line) or is_closed or _ATX.match(following):
            state.line = start + count
            token.content = "".join(lines[:count])
            token.map = [start, state.line]
            break
    return True


def _tidy(state: Any) -> None:
    """Remove anchors, attribute lists, block ids and lines of nothing but tags before inline parsing."""
    heading = False
    slides = _SLIDES_USED.search(state.src) is not None
    for token in state.tokens:
        if token.type == "inline":
            content = token.content
            if slides:  # [**on a slide too**] and (~~on a slide only~~) are no emphasis of the text
                content = _SLIDES.sub(lambda m: m[2] if m[1] == "**" else "", content)
            if heading:
                content = _HEADING_ANCHOR.sub("", content)
            elif _ONLY_TAGS.fullmatch(content):
                content = ""
            token.content = _BLOCK_ID.sub("", _ATTRIBUTES.sub("", content.rstrip()).rstrip())
        heading = token.type == "heading_open"


def add_dialects(md: MarkdownIt) -> None:
    """Add these dialects, footnotes, definition lists, tables and dollar math to a CommonMark parser."""
    from mdit_py_plugins.deflist import deflist_plugin
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from mdit_py_plugins.footnote import footnote_plugin

    md.enable(["table", "strikethrough"])
    md.use(dollarmath_plugin, allow_space=True, allow_digits=False, double_inline=True, allow_labels=True)
    md.use(footnote_plugin, inline=False, move_to_end=False)
    md.inline.ruler.disable("footnote_ref")  # it looks to the end of the paragraph for every `[^`
    md.use(deflist_plugin)
    md.inline.ruler.before("backticks", "role", _role)
    md.inline.ruler.before("link", "note_mark", pattern_rule("[^", _NOTE_MARK, _write_note_mark))
    md.inline.ruler.before("link", "wikilink", pattern_rule("![", _WIKILINK, _write_wikilink))
    md.inline.ruler.before("link", "comment", pattern_rule("%", _COMMENT, lambda state, found: None))
    md.inline.ruler.before("link", "highlight", pattern_rule("=", _HIGHLIGHT, _write_highlight))
    md.block.ruler.at("html_block", _html_block_end, {"alt": ["paragraph", "reference", "blockquote"]})
    md.block.ruler.before("fence", "comment", _block_comment, {"alt": ["paragraph"]})
    md.block.ruler.before("fence", "directive", _directive, {"alt": ["paragraph"]})
    md.core.ruler.before("inline", "tidy", _tidy)
