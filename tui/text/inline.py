"""The words of one paragraph of Markdown: emphasis, code, formulas, pictures and links, in time linear in its length.

A scanner of our own: what Obsidian adds (wikilinks, embeds, formulas, block ids) is half of what a vault holds, and no
document, however it is made, may keep the screen waiting.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from urllib.parse import unquote

from tui.styles import CODE, DIM, LINK, MATH
from vault.model import latex
from vault.text.sanitize import clean_line

_TOKEN = re.compile(
    r"(?P<ticks>`+)"
    r"|(?P<math>\$\$[^$\n]+\$\$|\$(?![\s$])[^$\n]*?[^\s$\\]\$(?!\d)|\$[^\s$\\]\$(?!\d))"
    r"|(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|!\[\[(?P<embed>[^\[\]|\n]+)(?:\|(?P<caption>[^\[\]\n]*))?\]\]"
    r"|\[\[(?P<note>[^\[\]|\n]+?)(?:\\?\|(?P<alias>[^\[\]\n]*))?\]\]"
    r"|(?P<bang>!?)\[(?P<words>[^\[\]\n]*)\]"
    r"\((?:<(?P<angled>[^<>\n]*)>|(?P<to>[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)?))(?:[ \t]+\"[^\"\n]*\")?\)"
    r"|<(?P<auto>https?://[^\s<>]+)>"
    r"|(?P<bare>(?<![\w/])https?://[^\s<>\[\]`*|\"]*[^\s<>\[\]`*|\".,;:!?')])"
    r"|(?P<entity>&(?:[A-Za-z][A-Za-z0-9]{1,31}|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});)"
    r"|(?P<run>\*+|_+|~{2,}|={2,})"
)
_CLAIM = re.compile(r"(?P<summary>wiki/summaries/[^#]+)#\^c-[0-9a-z]{10}")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_WEB = re.compile(r"https?://", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_STYLES = {"*": ("italic", "bold"), "_": ("italic", "bold"), "~": ("", "strike"), "=": ("", "bold italic")}


@dataclass(frozen=True, slots=True)
class Target:
    """Where a link leads; all of it is a stranger's words, checked only when it is followed.

    `kind` is note (`to` is a path below the vault, perhaps without `.md`, perhaps with `#heading`), claim (the same
    with `#^c-id`), web (an http or https address) or picture (a path).
    """

    kind: str
    to: str
    words: str


@dataclass(frozen=True, slots=True)
class Words:
    """Plain text, its styles as (start, end, style), and its links as (start, end, target)."""

    text: str
    styles: tuple[tuple[int, int, str], ...] = ()
    links: tuple[tuple[int, int, Target], ...] = ()


@dataclass(slots=True)
class _Piece:
    """Part of the words; a run of emphasis marks has `mark`, of which `left` are not yet paired."""

    text: str
    style: str = ""
    target: Target | None = None
    mark: str = ""
    left: int = 0
    opens: bool = False
    closes: bool = False


def words_of(markdown: str) -> Words:
    """The words of clean Markdown, marks taken for what they mean."""
    pieces = list(_pieces(markdown))
    pairs = _paired(pieces)
    out: list[str] = []
    begins, ends, at = [], [], 0
    for piece in pieces:
        text = piece.mark * piece.left if piece.mark else piece.text
        begins.append(at)
        at += len(text)
        ends.append(at)
        out.append(text)
    styles = [(ends[first], begins[last], style) for first, last, style in pairs if ends[first] < begins[last]]
    styles += [(begins[n], ends[n], p.style) for n, p in enumerate(pieces) if p.style and p.text]
    links = [(begins[n], ends[n], p.target) for n, p in enumerate(pieces) if p.target is not None and p.text]
    return Words("".join(out), tuple(styles), tuple(links))


def _pieces(markdown: str) -> Iterator[_Piece]:
    runs = _code_runs(markdown)
    at, cited = 0, False
    while found := _TOKEN.search(markdown, at):
        piece, end = _piece(found, markdown, runs)
        between = markdown[at : found.start()]
        raised = piece.target is not None and piece.target.kind == "claim" and piece.style == DIM
        if raised and not cited:  # the number of a source stands close at its sentence
            between = between.rstrip(" \t")
        if between:
            yield _Piece(between)
        yield piece
        at, cited = end, raised
    if markdown[at:]:
        yield _Piece(markdown[at:])


def _code_runs(markdown: str) -> Mapping[int, list[int]]:
    """Where runs of so many backticks begin: so that the end of a code span is found without looking twice."""
    runs: dict[int, list[int]] = {}
    if "`" in markdown:
        for found in re.finditer("`+", markdown):
            runs.setdefault(len(found[0]), []).append(found.start())
    return runs


def _piece(found: re.Match[str], markdown: str, runs: Mapping[int, list[int]]) -> tuple[_Piece, int]:
    """(what the token says, where it ends)."""
    end = found.end()
    if found["ticks"]:
        return _code(found, markdown, runs)
    if found["run"]:
        return _run(found, markdown), end
    if found["math"]:
        return _Piece(latex.formula(found["math"]), MATH), end
    if found["escape"]:
        return _Piece(found["escape"][1:]), end
    if found["entity"]:
        said = unescape(found["entity"])
        return _Piece(clean_line(said) or (" " if said.isspace() else found["entity"])), end
    if found["embed"]:
        return _picture(found["embed"], found["caption"] or ""), end
    if found["note"]:
        return _note(found["note"], found["alias"]), end
    if address := found["auto"] or found["bare"]:
        return _Piece(address, LINK, Target("web", address, address)), end
    return _link(found), end


def _code(found: re.Match[str], markdown: str, runs: Mapping[int, list[int]]) -> tuple[_Piece, int]:
    size, start = len(found["ticks"]), found.end()
    ends = runs.get(size, ())
    n = bisect_left(ends, start)
    if n == len(ends):
        return _Piece(found["ticks"]), start
    inside = markdown[start : ends[n]].replace("\n", " ")
    padded = len(inside) > 2 and inside[0] == inside[-1] == " " and inside.strip()
    return _Piece(inside[1:-1] if padded else inside, CODE), ends[n] + size


def _run(found: re.Match[str], markdown: str) -> _Piece:
    """A run of marks: it opens before words and closes after them; an underscore does neither inside a word."""
    start, end = found.span()
    before, after = markdown[start - 1 : start] if start else "", markdown[end : end + 1]
    mark = found["run"][0]
    opens, closes = bool(after.strip()), bool(before.strip())
    if mark == "_":
        inside = before.isalnum() and after.isalnum()
        opens, closes = opens and not (inside or before.isalnum()), closes and not (inside or after.isalnum())
    return _Piece("", mark=mark, left=len(found["run"]), opens=opens, closes=closes)


def _paired(pieces: list[_Piece]) -> list[tuple[int, int, str]]:
    """(opening piece, closing piece, style) of what is emphasized; each mark is looked at once."""
    open_: dict[str, list[int]] = {mark: [] for mark in _STYLES}
    pairs: list[tuple[int, int, str]] = []
    for n, piece in enumerate(pieces):
        if not piece.mark:
            continue
        stack = open_[piece.mark]
        while piece.closes and piece.left and stack:
            opening = pieces[stack[-1]]
            size = 2 if piece.left >= 2 and opening.left >= 2 else 1
            style = _STYLES[piece.mark][size - 1]
            if not style:
                break
            pairs.append((stack[-1], n, style))
            piece.left -= size
            opening.left -= size
            for other in open_.values():
                while other and other[-1] > stack[-1]:
                    other.pop()
            if not opening.left:
                stack.pop()
        if piece.opens and piece.left:
            stack.append(n)
    return pairs


def _picture(path: str, caption: str) -> _Piece:
    words = latex.picture(path, caption)
    return _Piece(words, DIM, Target("picture", path.strip(), words))


def _note(to: str, alias: str | None) -> _Piece:
    shown = (alias if alias is not None else to.rsplit("/", 1)[-1]).strip() or to
    if _CLAIM.fullmatch(to):
        place = shown.translate(_RAISED) if shown.isascii() and shown.isdigit() else shown
        return _Piece(place, DIM if place != shown else LINK, Target("claim", to, shown))
    return _Piece(shown, LINK, Target("note", to.strip(), shown))


def _link(found: re.Match[str]) -> _Piece:
    """`[words](address)`: a page of the web, a note, or words with an address that nothing follows."""
    to = found["angled"] if found["angled"] is not None else found["to"] or ""
    words = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", found["words"])
    if found["bang"]:
        if _WEB.match(to):
            shown = latex.picture(to, words)
            return _Piece(shown, DIM, Target("web", to, shown))
        return _picture(unquote(to), words)
    if _WEB.match(to):
        return _Piece(words or to, LINK, Target("web", to, words or to))
    if _SCHEME.match(to) or to.startswith(("/", "\\", "#")) or not to:
        return _Piece(f"{words} ({to})" if to else words)
    path = clean_line(unquote(to))
    return _Piece(words or path, LINK, Target("note", path, words or path))
