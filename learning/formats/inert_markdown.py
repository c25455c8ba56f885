"""Markdown of a card for other programs: text, emphasis, math and code stay; what could act there is escaped.

Other readers run what stands in Markdown: HTML, pictures and links that tell a stranger who reads, queries of plugins,
templates. A human's card may hold any of it, pasted from anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vault.model.exhibit import LANGUAGES
from vault.text.formatting import clean

JOINER = "\u2060"  # of no width: parts what would mean something together, where a backslash would be seen
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*([^`\n]*)")
_CODE = r"(?<!`)(?P<ticks>`+)(?!`)(?P<code>[^\n]*?[^`\n])(?P=ticks)(?!`)"
_MATH = r"(?P<math>\$\$[^$`]+\$\$|\$(?![\s$])(?:[^$`\n]*[^\s$`\\])?\$(?![\d$]))"
_WIKILINK = r"!?\[\[(?P<target>[^\[\]|\n]*)(?:\|(?P<alias>[^\[\]\n]*))?\]\]"
_SIGN = r"(?P<sign>[<`]|!(?=\[)|(?<=\])[(:\[]|\[(?=\^)|%(?=%))"
_ADDRESS = r"(?P<address>[A-Za-z][A-Za-z+.-]*:)(?=//)"
_ACTS = re.compile(rf"(?P<kept>\\[^\n])|{_CODE}|{_MATH}|{_WIKILINK}|{_ADDRESS}|{_SIGN}")
_WEB = ("http:", "https:")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a card's text, whole lines without the last line end. `code` is a fenced block, with its fences."""

    text: str
    code: bool = False


def pieces(markdown: str) -> Iterator[Piece]:
    """Yield `markdown` as prose in which nothing acts and blocks of code, which stay; each fence is closed.

    Only a fence in the first column counts: elsewhere readers differ on where it ends, and so its lines are prose.
    """
    prose: list[str] = []
    lines = iter(clean(markdown).strip().split("\n"))
    for line in lines:
        opened = _FENCE.fullmatch(line)
        if opened is None:
            prose.append(line)
            continue
        if prose:
            yield Piece(inert_prose("\n".join(prose)))
            prose = []
        yield Piece(_block(opened[1], opened[2], lines), code=True)
    if prose:
        yield Piece(inert_prose("\n".join(prose)))


def _block(fence: str, info: str, lines: Iterator[str]) -> str:
    """Return a fenced block of code; of its language only a name that is known for highlighting."""
    closing = re.compile(rf" {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*")
    inside = []
    for line in lines:
        if closing.fullmatch(line):
            break
        inside.append(_quiet(line))
    language = info.split(" ")[0].strip().lower()
    return "\n".join([fence + (language if language in LANGUAGES else ""), *inside, fence])


def inert_prose(text: str) -> str:
    """Return `text` with HTML, pictures, links, embeds and plugin syntax shown as the characters they are."""
    return _ACTS.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    """Return what a match is replaced by."""
    if found["kept"]:
        return found["kept"]
    if found["ticks"]:
        query = found["code"].lstrip().startswith(("=", "$="))
        return found["ticks"] + (JOINER if query else "") + _quiet(found["code"]) + found["ticks"]
    if found["math"]:  # also where a reader knows no math, nothing of it may be a tag or a link
        return found["math"].replace("<", r"\lt ").replace("](", "] (").replace("![", "! [").replace("%%", "% %")
    if found["address"]:
        return found["address"] if found["address"].lower() in _WEB else found["address"][:-1] + r"\:"
    if found["sign"]:
        return "\\" + found["sign"]
    words = found["alias"] or (found["target"] or "").rsplit("/", 1)[-1]
    return inert_prose(words)


def _quiet(code: str) -> str:
    """Return code without what a template of Obsidian would run."""
    return code.replace("<%", f"<{JOINER}%")
