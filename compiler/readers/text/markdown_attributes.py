"""Attribute lists in Markdown: kramdown's {: .class #id} and Pandoc's {#id .class}, which may mark words as a term."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from compiler.readers.page import OMISSION

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline

_PAIR = r"""(?:[.#][\w:-]+|[\w:-]+=(?:"[^"{}\n]*"|'[^'{}\n]*'|[^\s"'{}]+)|[\w-]+|-)"""
_KRAMDOWN = re.compile(rf"\{{:(?:\s*{_PAIR}(?:\s+{_PAIR}){{0,20}})?\s*\}}")
_PANDOC = re.compile(rf"\{{\s*(?=[.#\w])[^{{}}\n]*[.#=]{_PAIR}?[^{{}}\n]{{0,300}}\}}|\{{-\}}")
_TERM = re.compile(
    r"""(?:data-type=["']?(?:term|glossterm)|(?:^|[\s{:])\.(?:term|definition|defn?|dfn|keyterm|glossterm)\b)"""
)
_POINTER = re.compile(r"\[?link\]?", re.IGNORECASE)


def is_term(attributes: str) -> bool:
    """Return whether an attribute list says that its words are a term that is explained."""
    return _TERM.search(attributes) is not None


def _attribute_list(state: StateInline, silent: bool) -> bool:
    """Drop an attribute list; emphasis that it calls a term is marked as one."""
    if state.src[state.pos] != "{":
        return False
    found = _KRAMDOWN.match(state.src, state.pos, state.posMax)
    if found is None and state.pos and state.src[state.pos - 1] in "*_)]`":
        found = _PANDOC.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        token = state.push("html_inline", "", 0)
        token.meta["term"] = is_term(found.group())
    state.pos = found.end()
    return True


def _resolve(state: Any) -> None:
    """Apply the attribute lists to the emphasis before them, and leave gaps for links that only say "link"."""
    for token in state.tokens:
        children = token.children or []
        opened: list[Any] = []
        for at, child in enumerate(children):
            if child.nesting == 1:
                opened.append(child)
            elif child.nesting == -1 and opened:
                child.meta["opener"] = opened.pop()
            if child.meta.get("term") and at and children[at - 1].type in ("em_close", "strong_close"):
                children[at - 1].tag = "dfn"
                children[at - 1].meta["opener"].tag = "dfn"
            elif child.type == "link_close":
                _without_pointer(children, at)


def _without_pointer(children: list[Any], close: int) -> None:
    """Leave a gap for a link into the document whose only word is "link"."""
    opener = children[close].meta.get("opener")
    if opener is None or not str(opener.attrs.get("href", "")).startswith("#"):
        return
    begin = next((n for n in range(close - 1, -1, -1) if children[n] is opener), close)
    inside = children[begin + 1 : close]
    if inside and _POINTER.fullmatch("".join(c.content for c in inside)):
        inside[0].type, inside[0].tag, inside[0].content = "text", "", OMISSION
        for other in inside[1:]:
            other.type, other.content = "text", ""


def pattern_rule(
    openers: str, pattern: re.Pattern[str], write: Callable[[StateInline, re.Match[str]], None]
) -> Callable[[StateInline, bool], bool]:
    """Return the inline rule that writes what `pattern` matches at one of the characters `openers`."""

    def rule(state: StateInline, silent: bool) -> bool:
        found = pattern.match(state.src, state.pos, state.posMax) if state.src[state.pos] in openers else None
        if found is None:
            return False
        if not silent:
            write(state, found)
        state.pos = found.end()
        return True

    return rule


def push_link(state: StateInline, target: str, words: str) -> None:
    """Write a link with these words."""
    state.push("link_open", "a", 1).attrs = {"href": target}
    state.push("text", "", 0).content = words
    state.push("link_close", "a", -1)


def add_attributes(md: MarkdownIt) -> None:
    """Add attribute lists to a parser."""
    md.inline.ruler.before("link", "attribute_list", _attribute_list)
    md.core.ruler.after("inline", "attribute_lists", _resolve)
