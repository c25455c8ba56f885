"""Inline markup of Org documents: emphasis, links, formulas, footnotes, entities."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from html.entities import html5

from compiler.readers.latex.commands import sign
from compiler.readers.markup import link, math
from compiler.readers.page import OMISSION

MAX_SPAN = 600  # characters between two signs of emphasis
MAX_NESTED = 4
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp)$", re.IGNORECASE)
_INLINE = re.compile(
    r"\[\[(?P<target>[^\[\]\n]{1,2000})\](?:\[(?P<label>(?:[^\[\]]|\[[^\[\]\n]{0,200}\]){1,2000})\])?\]"
    r"|\[fn:[\w-]*:(?P<note>[^\[\]]{1,2000})\]|(?P<fn>\[fn:[\w-]{1,60}\])"
    r"|(?P<cite>\[cite(?:/[\w/-]{1,30})?:[^\[\]]{1,500}\])"
    r"|(?<![\w@])(?:cite[a-z]{0,8}|autocite|parencite|textcite):(?P<keys>&?[\w:,&;.-]{1,200}[\w])"
    rf"|\$\$(?P<shown>[^$]{{1,5000}})\$\$|(?<![\w$\\])\$(?P<tex>(?![\s$])[^$\n]{{0,{MAX_SPAN}}}(?<!\s))\$(?![\w$])"
    r"|\\\((?P<round>.{1,2000}?)\\\)|\\\[(?P<square>.{1,5000}?)\\\]"
    r"|(?<![\w@])(?:eq|auto|c|name|page)?ref:(?P<part>[\w:.-]{1,200}\w)|(?<![\w@])label:[\w:.-]{1,200}\w"
    r"|@@[\w-]{1,20}:[^@]{0,500}@@|\{\{\{[^{}]{0,500}\}\}\}|(?P<radio><<<?[^<>\n]{1,200}>>>?)"
    r"|<(?P<address>https?://[^<>\s]{1,2000})>|<\d{4}-\d\d-\d\d[^<>\n]{0,40}>|\\(?P<entity>[A-Za-z]{1,20})(?:\{\})?"
    rf"|(?:(?<=[\s(\"'{{\-–—])|^)(?P<mark>[*/_=~+])(?P<inner>(?!\s)(?:(?!(?P=mark)).){{0,{MAX_SPAN}}}?(?<!\s))"
    r"(?P=mark)(?=$|[\s\-.,:!?;'\")}\[\\–—…])",
    re.DOTALL,
)


def inline(words: str, depth: int = 0) -> str:
    """Return `words` as escaped markup."""
    out: list[str] = []
    at = 0
    for found in _INLINE.finditer(words):
        out += (escape(words[at : found.start()], quote=False), _render_match(found, depth))
        at = found.end()
        if found["fn"] or found["cite"] or found["keys"]:  # what points elsewhere leaves no gap
            out[-2] = out[-2].rstrip()
    out.append(escape(words[at:], quote=False))
    return "".join(out)


def is_picture(target: str) -> bool:
    """Return whether a link leads to a picture."""
    return _PICTURE.search(target) is not None


def _render_match(found: re.Match[str], depth: int) -> str:
    """Return the markup of one match of the inline pattern."""
    name = found.lastgroup or ""
    if name == "label" or found["target"] is not None:
        return _link(found["target"], found["label"], depth)
    if name in ("mark", "inner"):
        return _emphasised(found["mark"], found["inner"], depth)
    made = _MADE.get(name)
    return made(found[name]) if made is not None else ""


def _link(target: str, label: str | None, depth: int) -> str:
    """Return the markup of a link."""
    target = target.removeprefix("file:")
    if label is None and is_picture(target):
        return f'<img src="{escape(target)}" alt="">'
    if label and depth < MAX_NESTED:
        return link(target, inline(label, depth + 1))
    return link(target, escape(label or target.lstrip("*#"), quote=False))


def _emphasised(mark: str, words: str, depth: int) -> str:
    """Return the markup of emphasized words."""
    if not words:
        return escape(mark * 2)
    if mark in "=~":
        return f"<code>{escape(words, quote=False)}</code>"
    inner = inline(words, depth + 1) if depth < MAX_NESTED else escape(words, quote=False)
    tag = {"+": "del", "_": "span"}.get(mark, "em")
    return f"<{tag}>{inner}</{tag}>"


def _cited(words: str) -> str:
    """Return the markup of a citation."""
    keys = ",".join(re.findall(r"[@&]([\w:./-]*\w)", words)) or words
    return f'<x-cite key="{escape(keys)}"></x-cite>'


def _entity(name: str) -> str:
    r"""Return the character of an entity such as \alpha."""
    words = html5.get(f"{name};") or sign(name)
    return escape(words if words is not None else f"\\{name}", quote=False)


def _radio(words: str) -> str:
    """Return the words of a target without its brackets."""
    return escape(words.strip("<>"), quote=False) if words.startswith("<<<") else ""


_MADE: dict[str, Callable[[str], str]] = {
    "note": lambda words: f"<x-note>{inline(words, MAX_NESTED)}</x-note>",
    "shown": lambda tex: math(tex, True),
    "square": lambda tex: math(tex, True),
    "tex": math,
    "round": math,
    "radio": _radio,
    "address": lambda target: link(target, escape(target)),
    "entity": _entity,
    "cite": _cited,
    "keys": _cited,
    "part": lambda name: link(f"#{name}", OMISSION),
}
