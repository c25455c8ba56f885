"""Parser rules for the Markdown of science and static sites: Pandoc, Quarto, R Markdown, MathJax, Hugo, Jekyll."""

from __future__ import annotations

import html
import re
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from compiler.readers.latex.commands import formula
from compiler.readers.page import OMISSION
from compiler.readers.text.markdown_attributes import is_term, pattern_rule, push_link

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

MAX_FORMULA_LINES = 200
_KEY = r"@(?:\{[^{}\n]{1,200}\}|[A-Za-z0-9_][\w:.#$%&+?<>~/-]{0,200}[\w/]|[A-Za-z0-9_])"
_CITES = re.compile(rf"\[[^\[\]@\n]{{0,120}}-?{_KEY}[^\[\]]{{0,600}}\](?![(\[])")
_NAMING = re.compile(_KEY + r"(?:[ ]\[[^\[\]@\n]{1,60}\])?")
_KEYS = re.compile(_KEY)
_CROSS = re.compile(r"@(?:fig|tbl|sec|eq|lst|thm|lem|cor|prp|cnj|def|exm|exr|rem|alg)-", re.IGNORECASE)
_KEYED = re.compile(
    rf"\[(?:see |cf\. |vgl\. |siehe )?-?{_KEY}[^\[\]\n]{{0,200}}\](?![(\[])|(?<!\w)@(?:fig|tbl|sec|eq|lst)-\w"
)
_BOOKDOWN = re.compile(r"\\@ref\(([\w:.-]{1,100})\)")
_COMMAND = re.compile(  # of LaTeX, as authors of R Markdown and notebooks write them between their words
    r"\\(?:((?:eq|auto|[cC]|page|name|v)?ref|(?:foot|paren|text|auto|no)?[cC]ite(?:t|p|alt|alp|author|year)?\*?)"
    r"(?:\[[^\[\]\n]{0,100}\]){0,2}\{([^{}\n]{1,300})\}"
    r"|(?:label|index|vspace\*?|hspace\*?|bibliography|bibliographystyle|pagestyle|thispagestyle)\{[^{}\n]{0,300}\}"
    r"|(?:newpage|clearpage|cleardoublepage|pagebreak|noindent|(?:big|med|small)skip|hfill|vfill|centering"
    r"|tableofcontents|printbibliography)(?![A-Za-z]))"
)
_CHUNK = re.compile(r"(?:r|\{(?:r|python|julia|ojs|bash)\})\s+\S")
_TEX = (("\\\\(", "\\\\)"), ("\\\\[", "\\\\]"), ("\\(", "\\)"), ("\\[", "\\]"))
MAX_TEX = 5_000  # characters of one formula
_IS_FORMULA = re.compile(r"[\\^_=+<>|]|\A\s*\w{1,3}\s*\Z")
_SHORTCODE = re.compile(r"\{\{[<%].{0,500}?[%>]\}\}|\{%.{0,500}?%\}|\{\{[^{}]{1,300}\}\}", re.DOTALL)
MAX_NEAR = 1_000  # characters around a template's tag that say whether it stands in a sentence
_CONTROLS = frozenset(
    "if unless else elsif elif for case when assign capture raw comment highlight layout block extends import set "
    "liquid tablerow cycle increment decrement with macro filter autoescape spaceless load toc cite reference "
    "bibliography figure video audio youtube vimeo gist pagebreak include_relative hint tabs tab details".split()
)
_EXPRESSION = re.compile(r"\{[A-Za-z_$][\w.$?]{0,100}(?:\([^(){}\n]{0,100}\))?\}")
_SPAN = re.compile(r"\[([^\[\]\n]{1,300})\]\{([.#][^{}\n]{0,200}|[\w-]{1,40}=[^{}\n]{1,200})\}")
_BEGIN = re.compile(
    r"\\begin\{((?:equation|multline|gather|align|alignat|flalign|eqnarray|cases|split|aligned|[pbBvV]?matrix|array)\*?)\}"
)
_OPTION = re.compile(r"[ \t]*(?:#|//|--|%)\|[ \t]?(.*)")
_CAPTION = re.compile(r"""fig\.cap[ \t]*=[ \t]*(?:"([^"\n]{1,1000})"|'([^'\n]{1,1000})')""")


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
                value = " ".join(o.strip() for o in takewhile(lambda o: o.startswith(" "), options[number + 1 :]))
            caption = value.strip("\"'")
    return "\n".join(lines), caption


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
    push_link(state, f"#{target}", OMISSION)


def _mathjax(state: StateInline, silent: bool) -> bool:
    r"""Parse MathJax's \( \) and \[ \], the backslash doubled or not."""
    if state.src[state.pos] != "\\":
        return False
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


def _write_pointer(state: StateInline, found: re.Match[str]) -> None:
    """Write what a command of LaTeX that points elsewhere leaves in its sentence."""
    name, keys = (found[1] or "").lower(), found[2] or ""
    if name.endswith("ref"):
        _gap(state, keys)
    elif "cite" in name:
        names = name.startswith(("citet", "textcite", "citeauthor", "citealt"))
        state.pending = state.pending + OMISSION if names else state.pending.rstrip(" \n")
        state.push("html_inline", "", 0).content = f'<x-cite key="{html.escape(keys)}"></x-cite>'


def _brace(state: StateInline, silent: bool) -> bool:
    """Drop the tags of templates and site generators; one that stands for words, like an expression of MDX, leaves a
    gap."""
    if state.src[state.pos] != "{":
        return False
    found = _SHORTCODE.match(state.src, state.pos, state.posMax)
    gap = found is not None and _stands_for_words(state, found)
    if found is None and state.env.get("mdx"):
        found = _EXPRESSION.match(state.src, state.pos, state.posMax)
        gap = found is not None
    if found is None:
        return False
    if gap and not silent:
        state.pending += OMISSION
        state.env["left_out"] = state.env.get("left_out", 0) + 1
    state.pos = found.end()
    return True


def _stands_for_words(state: StateInline, tag: re.Match[str]) -> bool:
    """Return whether a template's tag stands for words of the sentence around it, and is not alone or a control."""
    words = tag.group().strip("{}%<> \t-~").split()
    name = words[0].lstrip("/") if words else ""
    if not name or name in _CONTROLS or name.startswith("end") or tag.group()[2:].lstrip("<% -")[:1] == "/":
        return False
    before, after = state.src[max(0, tag.start() - MAX_NEAR) : tag.start()], state.src[tag.end() :][:MAX_NEAR]
    if tag.group()[2] in "<%" and re.search(r"\{\{[<%]\s*/\s*" + re.escape(name), after):
        return False  # it opens a block of words
    head, tail = before.rstrip(" "), after.lstrip(" ")
    if (head[-1:] in "\n" and tail[:1] in "\n") or (head[-1:] in ".!?:\n" and not tail):
        return False  # a line of its own, or after the sentence's end
    return any(c.isalnum() for c in _SHORTCODE.sub("", before) + _SHORTCODE.sub("", after))


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
    """Apply the {.class} of a [span]; one may say that the words are a term."""
    for token in state.tokens:
        if token.type == "inline" and "]{" in token.content:
            token.content = _SPAN.sub(lambda m: f"<dfn>{m[1]}</dfn>" if is_term(m[2]) else m[1], token.content)


def _computed(state: Any) -> None:
    """Leave gaps for the words that R or Python computes within a sentence: `r mean(x)`."""
    if not state.env.get("chunks"):
        return
    for token in state.tokens:
        for child in token.children or []:
            if child.type == "code_inline" and _CHUNK.match(child.content):
                child.type, child.tag, child.content = "text", "", OMISSION
                state.env["left_out"] = state.env.get("left_out", 0) + 1


def cites_keys(text: str) -> bool:
    """Return whether a document cites by keys or refers to its parts as Pandoc does, so that @key is no name."""
    return _KEYED.search(text) is not None


def add_scholarly(md: MarkdownIt) -> None:
    """Add these rules to a parser; its environment says by "quarto" and "mdx" which document it reads."""
    bookdown = pattern_rule("\\", _BOOKDOWN, lambda state, found: _gap(state, found[1]))
    md.inline.ruler.before("escape", "bookdown", bookdown)
    md.inline.ruler.before("escape", "command", pattern_rule("\\", _COMMAND, _write_pointer))
    md.inline.ruler.before("escape", "tex", _mathjax)
    md.inline.ruler.before("link", "citation", _citation)
    md.inline.ruler.before("link", "brace", _brace)
    md.block.ruler.before("fence", "formula", _formula, {"alt": ["paragraph", "reference", "blockquote"]})
    md.core.ruler.before("inline", "spans", _attributes)
    md.core.ruler.after("inline", "computed", _computed)
