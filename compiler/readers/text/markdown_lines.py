"""Markdown before it is parsed: the lines of slides, divs, directives and templates that are no words of the text.

Whatever is removed leaves its line empty, so that line numbers stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_FENCE = re.compile(r"^[ \t]*(`{3,}(?![^`]*`)|~{3,})[ \t]*(.*)$")
_HIGHLIGHT = re.compile(
    r"^[ \t]*\{%-?[ \t]*(end)?highlight(?:[ \t]+([\w+#-]{1,30}))?[^%\n]{0,100}%\}[ \t]*$", re.MULTILINE
)
_DIV = re.compile(r"[ \t]*(:{3,})[ \t]*(\{[^{}\n]*\}|[\w.-]+)?(?:[ \t]+[^:\n]{1,200})?[ \t]*:*[ \t]*")
_CHUNK_HEAD = re.compile(r"^([ \t]*`{3,})([ \t]*\{.*`.*\}[ \t]*)$")
_COMMENT = re.compile(r"`[^`\n]+`|<!--")
_OPTION = re.compile(r"[ \t]*:[\w-]{1,40}:(?:[ \t].*)?")
_DIRECTIVE = re.compile(r"\{([\w:+-]{1,40})\}[ \t]*(.*)")
_WORDS_INSIDE = {
    "note", "tip", "hint", "important", "warning", "caution", "attention", "danger", "error", "seealso", "admonition",
    "margin", "sidebar", "topic", "dropdown", "card", "grid", "grid-item", "grid-item-card", "tab-set", "tab-item",
    "epigraph", "pull-quote", "highlights", "versionadded", "versionchanged", "deprecated", "div", "container",
    "proof", "definition", "theorem", "lemma", "remark", "example", "corollary", "proposition", "observation", "aside",
}  # fmt: skip
_NO_WORDS = {
    "toctree", "tableofcontents", "contents", "bibliography", "index", "raw", "include", "literalinclude", "figure",
    "image", "video", "iframe", "embed", "only", "todo", "todolist", "glue", "auto", "autoclass", "automodule",
}  # fmt: skip
_HIDDEN = re.compile(
    r"\.content-visible\b(?!.*\bhtml\b).*\bwhen-format=|\.content-hidden\b.*\bwhen-format=.?html|\.hidden\b"
)
_TEMPLATE = re.compile(r"\{\{.{0,300}?\}\}|\{%.{0,300}?%\}")
_TARGET = re.compile(r"\]\((?=[^()\n]*\{[{%])(?:\{[{%].{0,300}?[%}]\}|[^(){}\n]){1,400}\)")
_REFERENCE = re.compile(r"^( {0,3}\[[^\[\]\n]{1,200}\]:)[ \t]*(.*)$")
_PROPERTY = re.compile(
    r"(?:class|name|template|layout|count|background-image|background-size|background-position|exclude|continued)"
    r"[ \t]*:.*"
)
_NOTES = re.compile(r"\?{3,}[ \t]*")
_SEPARATOR = re.compile(r"-{2,3}[ \t]*")
_CONTENT = re.compile(r"(?<![\w.)\]`])\.[a-z][\w-]{0,40}(?:\.[a-z][\w-]{0,40}){0,3}\[")
_ATTRIBUTES = re.compile(r"[ \t]*\{:[^{}\n]{0,400}\}[ \t]*")
Change = Callable[[list[str]], list[str]]


def words_only(text: str) -> str:
    """Return Markdown without the lines and signs of site generators, slides, divs and directives."""
    if "highlight" in text and "{%" in text:
        text = _HIGHLIGHT.sub(lambda m: "```" if m[1] else f"```{m[2] or ''}", text)
    lines = [_CHUNK_HEAD.sub(lambda m: m[1] + m[2].replace("`", "'"), line) for line in text.split("\n")]
    if "<!--" in text:
        lines = outside_code(lines, _without_comments)
    if any(line.lstrip().startswith(("```{", "~~~{", "``` {", ":::")) for line in lines):
        lines = _without_divs(lines)
    if _is_slides(lines):
        lines = _without_classes(outside_code(lines, _without_slides))
    if "{{" in text or "{%" in text:
        lines = outside_code(lines, _without_templates)
    if "{:" in text:
        lines = outside_code(lines, lambda part: ["" if _ATTRIBUTES.fullmatch(line) else line for line in part])
    return "\n".join(lines)


def _without_comments(lines: list[str]) -> list[str]:
    """Return the lines without HTML comments, also those that end in more than two dashes."""
    text = "\n".join(lines)
    out: list[str] = []
    at = 0
    for sign in _COMMENT.finditer(text):
        if sign.start() < at or sign[0][0] == "`":
            continue
        end = text.find("-->", sign.end()) + 3
        if end < 3:
            break
        out += (text[at : sign.start()], "\n" * text.count("\n", sign.start(), end))
        at = end
    return ("".join(out) + text[at:]).split("\n")


def outside_code(lines: list[str], change: Change, masked: bool = False) -> list[str]:
    """Return the lines with those outside fences changed, run by run; `change` must keep their number.

    With `masked`, characters of no meaning stand for those of the code.
    """
    out: list[str] = []
    part: list[str] = []
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            out.append("x" * len(line) if masked else line)
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark:
            out += change(part)
            part = []
            fence = mark[1]
            out.append("x" * len(line) if masked else line)
        else:
            part.append(line)
    return out + change(part)


def _without_divs(lines: list[str]) -> list[str]:
    """Return the lines without the ::: of divs and without the fences of directives that hold words.

    Divs for another format than a page, and directives that hold none of the text, are removed whole.
    """
    out: list[str] = []
    fence = ""  # of the code that is open
    opened: list[tuple[str, bool]] = []  # (the sign that closes it, whether it is removed whole)
    options = False  # the lines that follow may be those of a directive
    for line in lines:
        div, mark = _DIV.fullmatch(line), _FENCE.match(line)
        hidden = any(whole for _, whole in opened)
        if fence:
            out.append("" if hidden else line)
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
            continue
        if options and _OPTION.fullmatch(line):
            out.append("")
            continue
        options = False
        if div is not None:
            options = _divided(div, opened)
            out.append("")
        elif mark and opened and opened[-1][0][0] == mark[1][0] and mark[1] == opened[-1][0] and not mark[2].strip():
            opened.pop()
            out.append("")
        elif mark and (directive := _DIRECTIVE.fullmatch(mark[2].strip())) and _holds(directive[1]) is not None:
            opened.append((mark[1], _holds(directive[1]) is False))
            options = True
            out.append("")
        else:
            fence = mark[1] if mark else ""
            out.append("" if hidden else line)
    return out


def _divided(div: re.Match[str], opened: list[tuple[str, bool]]) -> bool:
    """Open or close a div; return whether it is a directive, which may have options."""
    if div[2] is None:
        if opened and opened[-1][0][0] == ":":
            opened.pop()
        return False
    directive = _DIRECTIVE.fullmatch(div[2])
    whole = _HIDDEN.search(div[2]) is not None or (directive is not None and _holds(directive[1]) is False)
    opened.append((div[1], whole))
    return directive is not None


def _holds(directive: str) -> bool | None:
    """Return whether a directive holds words of the text; None if it holds code or is not known."""
    name = directive.lower().rpartition(":")[2]
    return True if name in _WORDS_INSIDE else False if name in _NO_WORDS else None


def _is_slides(lines: list[str]) -> bool:
    """Return whether the lines are those of remark's slides: parted by ---, with properties, notes or .class[...]."""
    bars = [n for n, line in enumerate(lines) if line.rstrip() == "---"]
    if len(bars) < 2:
        return False
    after = {n + 1 for n in bars} | {0}
    signs = sum(_NOTES.fullmatch(line) is not None or line.rstrip() == "--" for line in lines)
    signs += sum(line.startswith(".") and _CONTENT.match(line) is not None for line in lines)
    signs += sum(n in after and _PROPERTY.fullmatch(line) is not None for n, line in enumerate(lines))
    return signs >= 2 or any(n in after and line.startswith(("class:", "layout:")) for n, line in enumerate(lines))


def _without_slides(lines: list[str]) -> list[str]:
    """Return the lines without separators, properties, the sign of notes and the brackets of content classes."""
    out: list[str] = []
    begins = True
    for line in lines:
        if _SEPARATOR.fullmatch(line) or _NOTES.fullmatch(line):
            begins = True
            out.append("")
        elif begins and _PROPERTY.fullmatch(line):
            out.append("")
        else:
            begins = begins and not line.strip()
            out.append(line)
    return out


def _without_classes(lines: list[str]) -> list[str]:
    """Return the lines with the words of `.class[words]`; a footnote after other words becomes a note on the spot."""
    text = "\n".join(lines)
    masked = "\n".join(outside_code(lines, lambda part: part, masked=True))
    out: list[str] = []
    opened: list[str] = []  # of the open brackets: the class, "" for a plain one
    at = 0
    for sign in re.finditer(rf"{_CONTENT.pattern}|`[^`\n]*`|\\.|[\[\]]", masked):
        words = sign.group()
        if words[0] in "`\\" or (words == "]" and not opened):
            continue
        closes = words == "]"
        name = opened.pop() if closes else words[:-1]
        if not closes:
            opened.append(name)
        if name:
            inside = text[: sign.start()].rpartition("\n")[2].strip(" -*") and name == ".footnote"
            out += (text[at : sign.start()], "^[" if inside and not closes else "")
            if inside and not closes:
                opened[-1] = "note"
            if closes and name == "note":
                out.append("]")
            at = sign.end()
    return ("".join(out) + text[at:]).split("\n")


def _without_templates(lines: list[str]) -> list[str]:
    """Return the lines with the tags of templates taken out of the addresses of links and pictures."""
    out: list[str] = []
    for line in lines:
        if "{{" in line or "{%" in line:
            line = _TARGET.sub(lambda m: _TEMPLATE.sub("", m[0]).replace(" ", ""), line)
            line = _REFERENCE.sub(lambda m: f"{m[1]} {_TEMPLATE.sub('', m[2]).strip() or '#'}", line)
        out.append(line)
    return out
