"""Parser rules for the Markdown of science and static sites: Pandoc, Quarto, R Markdown, MathJax, Hugo, Jekyll."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from compiler.readers.latex.commands import formula
from compiler.readers.markup import OMISSION

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

QUARTO = (".rmd", ".qmd")
MAX_FORMULA_LINES = 200
_KEY = r"@(?:\{[^{}\n]{1,200}\}|[A-Za-z0-9_][\w:.#$%&+?<>~/-]{0,200}[\w/]|[A-Za-z0-9_])"
_CITES = re.compile(rf"\[[^\[\]@\n]{{0,120}}-?{_KEY}[^\[\]]{{0,600}}\](?![(\[])")
_NAMING = re.compile(_KEY + r"(?:[ ]\[[^\[\]@\n]{1,60}\])?")
_KEYS = re.compile(_KEY)
_CROSS = re.compile(r"@(?:fig|tbl|sec|eq|lst|thm|lem|cor|prp|cnj|def|exm|exr|rem|alg)-", re.IGNORECASE)
_BOOKDOWN = re.compile(r"\\@ref\(([\w:.-]{1,100})\)")
_TEX = (("\\\\(", "\\\\)"), ("\\\\[", "\\\\]"), ("\\(", "\\)"), ("\\[", "\\]"))
MAX_TEX = 5_000  # characters of one formula
_IS_FORMULA = re.compile(r"[\\^_=+<>|]|\A\s*\w{1,3}\s*\Z")
_SHORTCODE = re.compile(r"\{\{[<%].{0,500}?[%>]\}\}|\{%.{0,500}?%\}", re.DOTALL)
_EXPRESSION = re.compile(r"\{[A-Za-z_$][\w.$?]{0,100}(?:\([^(){}\n]{0,100}\))?\}")
_SPAN = re.compile(r"\[([^\[\]\n]{1,300})\]\{[.#][^{}\n]{0,200}\}")
_DIV = re.compile(r"[ \t]*:{3,}[ \t]*(?:\{[^{}\n]*\}|[\w.-]+)?[ \t]*:*[ \t]*")
_BEGIN = re.compile(
    r"\\begin\{((?:equation|multline|gather|align|alignat|flalign|eqnarray|cases|split|aligned|[pbBvV]?matrix|array)\*?)\}"
)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})")
_HIGHLIGHT = re.compile(
    r"^[ \t]*\{%-?[ \t]*(end)?highlight(?:[ \t]+([\w+#-]{1,30}))?[^%\n]{0,100}%\}[ \t]*$", re.MULTILINE
)
_OPTION = re.compile(r"[ \t]*(?:#|//|--|%)\|[ \t]?(.*)")
_CAPTION = re.compile(r"""fig\.cap[ \t]*=[ \t]*(?:"([^"\n]{1,1000})"|'([^'\n]{1,1000})')""")


def plain_divs(text: str, name: str) -> str:
    """Return `text` without the ::: lines of Quarto's divs, Jekyll's highlight blocks as fences; line numbers stay."""
    if "highlight" in text and "{%" in text:
        text = _HIGHLIGHT.sub(lambda m: "```" if m[1] else f"```{m[2] or ''}", text)
    if not name.lower().endswith(QUARTO):
        return text
    out: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not line.strip().strip(mark[1][0]):
            fence = ""
        out.append("" if not fence and _DIV.fullmatch(line) else line)
    return "\n".join(out)


def chunk_parts(info: str, content: str) -> tuple[str, str]:
    """Return (code, caption of its figure) of an R or Quarto chunk, its options removed."""
    head = _CAPTION.search(info)
    caption = (head[1] or head[2]) if head else ""
    lines = content.split("\n")
    options: list[str] = []
    while lines and (found := _OPTION.fullmatch(lines[0])):
        options.append(found[1])
        lines.pop(0)
    for number, option in enumerate(options):
        key, _, value = option.partition(":")
        if key.strip() in ("fig-cap", "tbl-cap", "lst-cap"):
            value = value.strip()
            if value in ("", ">", "|", ">-", "|-"):
                value = " ".join(o.strip() for o in _indented(options[number + 1 :]))
            caption = value.strip("\"'")
    return "\n".join(lines), caption


def _indented(options: list[str]) -> list[str]:
    end = next((n for n, option in enumerate(options) if not option.startswith(" ")), len(options))
    return options[:end]


def _citation(state: StateInline, silent: bool) -> bool:
    """Parse citations: [@key, p. 3] is dropped, @key inside a sentence leaves a gap."""
    opener = state.src[state.pos]
    if opener == "[":
        found = _CITES.match(state.src, state.pos, state.posMax)
    elif opener == "@" and state.env.get("quarto") and not state.src[max(state.pos - 1, 0)].isalnum():
        found = _NAMING.match(state.src, state.pos, state.posMax)
    else:
        return False
    if found is None:
        return False
    if not silent:
        keys = [key.lstrip("@").strip("{}") for key in _KEYS.findall(found[0])]
        if _CROSS.search(found[0]):
            _gap(state, keys[0])
        else:
            if opener == "[":
                state.pending = state.pending.rstrip(" \n")
            else:
                state.pending += OMISSION
            state.push("html_inline", "", 0).content = f'<x-cite key="{html.escape(",".join(keys))}"></x-cite>'
    state.pos = found.end()
    return True


def _gap(state: StateInline, target: str) -> None:
    """Write the gap of a reference to a part of the document, as a link there."""
    state.push("link_open", "a", 1).attrs = {"href": f"#{target}"}
    state.push("text", "", 0).content = OMISSION
    state.push("link_close", "a", -1)


def _backslash(state: StateInline, silent: bool) -> bool:
    r"""Parse MathJax's \( \) and \[ \], the backslash doubled or not, and bookdown's references."""
    if state.src[state.pos] != "\\":
        return False
    if (reference := _BOOKDOWN.match(state.src, state.pos, state.posMax)) is not None:
        if not silent:
            _gap(state, reference[1])
        state.pos = reference.end()
        return True
    opener, closer = next(((a, b) for a, b in _TEX if state.src.startswith(a, state.pos)), ("", ""))
    begin = state.pos + len(opener)
    end = state.src.find(closer, begin, min(state.posMax, begin + MAX_TEX)) if opener else -1
    tex = state.src[begin:end]
    if end < 0 or not tex.strip() or (len(opener) == 2 and ("](" in tex or not _IS_FORMULA.search(tex))):
        return False
    if not silent:
        state.push("math_inline_double" if opener[-1] == "[" else "math_inline", "math", 0).content = tex
    state.pos = end + len(closer)
    return True


def _brace(state: StateInline, silent: bool) -> bool:
    """Drop shortcodes of site generators; expressions of MDX or R leave a gap."""
    if state.src[state.pos] != "{":
        return False
    found = _SHORTCODE.match(state.src, state.pos, state.posMax)
    if found is None and state.env.get("mdx"):
        found = _EXPRESSION.match(state.src, state.pos, state.posMax)
        if found is not None and not silent:
            state.pending += OMISSION
    if found is None:
        return False
    state.pos = found.end()
    return True


def _formula(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a math environment of LaTeX without dollars around it, as notebooks have it."""
    at = state.bMarks[start] + state.tShift[start]
    begun = _BEGIN.match(state.src, at, state.eMarks[start])
    if begun is None:
        return False
    closing = f"\\end{{{begun[1]}}}"
    for line in range(start, min(end, start + MAX_FORMULA_LINES)):
        if closing in state.src[state.bMarks[line] : state.eMarks[line]]:
            if not silent:
                state.line = line + 1
                token = state.push("math_block", "math", 0)
                tex = formula(state.src[at : state.eMarks[line]])
                token.content, token.map, token.block = tex, [start, state.line], True
            return True
    return False


def _attributes(state: Any) -> None:
    """Apply the {.class} of a [span]."""
    for token in state.tokens:
        if token.type == "inline" and "]{" in token.content:
            token.content = _SPAN.sub(r"\1", token.content)


def add_scholarly(md: MarkdownIt) -> None:
    """Add these rules to a parser; its environment says by "quarto" and "mdx" which document it reads."""
    md.inline.ruler.before("escape", "tex", _backslash)
    md.inline.ruler.before("link", "citation", _citation)
    md.inline.ruler.before("link", "brace", _brace)
    md.block.ruler.before("fence", "formula", _formula, {"alt": ["paragraph", "reference", "blockquote"]})
    md.core.ruler.before("inline", "spans", _attributes)
