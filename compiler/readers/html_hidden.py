"""Detection of the parts of an HTML page that a reader would never see, so that they don't become source text."""

from __future__ import annotations

import re
from typing import Any

from compiler.readers.html_elements import SILENT

_DECLARATION = re.compile(r"([\w-]+)\s*:\s*([^;!]+)")
_ZERO = re.compile(r"[+-]?0*\.?0*(?:px|pt|em|rem|ex|%|vw|vh|in|cm|mm)?")
_TINY = re.compile(r"0*(?:0?\.\d+|1)(?:px|pt)")
_FAR = re.compile(r"-\d{4,}(?:px|pt)?|-\d{2,}(?:em|rem|vw|%)")
_WHITE = {"white", "#fff", "#ffff", "#ffffff", "#ffffffff", "rgb(255,255,255)", "rgba(255,255,255,1)", "transparent"}
_HIDING_CLASSES = {
    "sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only", "d-none", "is-hidden",
    "u-hidden", "hide", "element-invisible", "noprint-hidden",
}  # fmt: skip
_SCRIPT_TYPES = {"module", "text/javascript", "application/javascript", "text/babel", "text/jsx"}
FEWEST_WORDS = 100  # of a page whose hidden words are read
_DISPLAY = re.compile(r"(?:display|visibility|opacity)\s*:[^;]*", re.IGNORECASE)
_SHOWN_AGAIN = re.compile(r":(?:block|flex|inline|grid|table|contents)")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_SIMPLE_SELECTOR = re.compile(r"[.#][\w-]+")
_CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_AT_BLOCK = re.compile(r"@[^{};]+\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")


def invisible_style(style: str) -> bool:
    """Return whether these CSS declarations hide the text: not displayed, no size, moved away, white on white."""
    rules = {name.lower(): value.strip().lower() for name, value in _DECLARATION.findall(style)}
    if rules.get("display") == "none" or rules.get("visibility") in {"hidden", "collapse"}:
        return True
    size = rules.get("font-size", "")
    if size and (_ZERO.fullmatch(size) or _TINY.fullmatch(size)):
        return True
    if _is_zero(rules.get("opacity", "")) or rules.get("clip", "").replace(" ", "").startswith("rect(0"):
        return True
    clipped = rules.get("overflow", "").startswith(("hidden", "clip"))
    if clipped and any(_is_zero(rules.get(side, "")) for side in ("width", "height", "max-width", "max-height")):
        return True
    moved = any(_FAR.fullmatch(rules.get(side, "")) for side in ("left", "top", "right", "text-indent", "margin-left"))
    return moved or _same_colour(rules)


def _is_zero(value: str) -> bool:
    return bool(value) and _ZERO.fullmatch(value) is not None


def _same_colour(rules: dict[str, str]) -> bool:
    """Return whether text has the colour of its background, which is taken to be white if it is not declared."""
    colour = rules.get("color", "").replace(" ", "")
    ground = rules.get("background-color", rules.get("background", "")).replace(" ", "")
    if not colour:
        return False
    if colour == "transparent":
        return "clip" not in "".join(rules)  # gradient text clips its background to the letters
    return colour == ground or (colour in _WHITE and (not ground or ground in _WHITE))


def hidden_selectors(css: str) -> set[str]:
    """Return the classes (".x") and ids ("#x") that a style sheet hides on every medium."""
    plain = _AT_BLOCK.sub("", _CSS_COMMENT.sub("", css[:500_000]))
    out: set[str] = set()
    for selectors, style in _RULE.findall(plain):
        if invisible_style(style) and not _same_colour(dict(_DECLARATION.findall(style))):
            out |= {s for part in selectors.split(",") if _SIMPLE_SELECTOR.fullmatch(s := part.strip())}
    return out


def is_hidden(element: Any, selectors: set[str]) -> bool:
    """Return whether an element hides itself and its content, by attribute, style or class."""
    get = element.attrib.get
    if get("hidden") is not None or (get("aria-hidden") or "").strip().lower() == "true":
        return True
    style = get("style")
    if style and invisible_style(style):
        return True
    names = (get("class") or "").split()
    if names:
        if _HIDING_CLASSES.intersection(names) or ("hidden" in names and not any(map(_SHOWN_AGAIN.search, names))):
            return True
        if selectors and any(f".{name}" in selectors for name in names):
            return True
    return bool(selectors) and f"#{get('id')}" in selectors


def reveal(body: Any, selectors: set[str]) -> bool:
    """Make visible what scripts show, in a page that holds next to nothing without them; return whether it was so.

    That are the outermost hidden elements with a large share of its words; what is hidden in them stays hidden.
    """
    scripts = body.getroottree().iter("script")
    if not any((s.get("type") or "module").lower() in _SCRIPT_TYPES for s in scripts):
        return False
    words: dict[Any, int] = {}
    hidden: list[Any] = []
    stack = [(body, None)]
    while stack:
        element, within = stack.pop()
        if not isinstance(element.tag, str) or element.tag in SILENT:
            continue
        if within is None and is_hidden(element, selectors):
            within = element
            hidden.append(element)
        own = len((element.text or "").split()) + sum(len((child.tail or "").split()) for child in element)
        words[within] = words.get(within, 0) + own
        stack += [(child, within) for child in element]
    total = sum(words.values())
    if total < FEWEST_WORDS or words.get(None, 0) * 10 > total:
        return False
    shown = [e for e in hidden if words.get(e, 0) * 5 > total and not _HIDING_CLASSES.intersection(_names(e))]
    for element in shown:
        for name in ("hidden", "aria-hidden"):
            element.attrib.pop(name, None)
        element.set("style", _DISPLAY.sub("", element.get("style") or ""))
        element.set("class", " ".join(n for n in _names(element) if f".{n}" not in selectors and n != "hidden"))
        if f"#{element.get('id')}" in selectors:
            element.attrib.pop("id")
    return bool(shown)


def _names(element: Any) -> list[str]:
    return (element.get("class") or "").split()
