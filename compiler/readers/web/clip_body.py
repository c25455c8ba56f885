"""The Markdown body of a clipping, rendered from source text so that it looks like the page.

It is written from the text and marks that a reader made, never from the page's own markup, so nothing of the page can
act: no HTML, no script, no comment, no query of a plugin. Links and pictures lead to web addresses alone.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

from vault.model.exhibit import LANGUAGES
from vault.model.markdown import escape
from vault.model.source import Mark, MarkKind, SourceText
from vault.text.formatting import fold

MAX_ADDRESS = 2_000  # characters
MAX_DEPTH = 12  # lists and quotations inside one another; deeper ones are shown at this depth
_INLINE = {MarkKind.LINK: 0, MarkKind.EMPHASIS: 1, MarkKind.TERM: 1}  # the outer ones first where they are equal
_RULE = re.compile(r"[ \t]*([-=_*])(?:[ \t]*\1){2,}[ \t]*|[ \t]*[-=]+[ \t]*")
_IN_TEX = r"(?:(?!\\[()\[\]])[^$`\n]){1,2000}"
_TEX = re.compile(rf"\\\(({_IN_TEX})\\\)|\\\[({_IN_TEX})\\\]")  # as MathJax finds it in a page
_CELL = re.compile(r" ?\| ?")
_WIKILINK = "wikilink"  # what the reader of Markdown puts as target of a link into a vault, which is no web's
_SAFE = "/:@!$&'*+,;=-._~%?#"

Addresses = Callable[[str], str]  # what a page names -> the web address it means, "" for none that may be shown


@dataclass(frozen=True, slots=True)
class _Block:
    """`text[start:end]` between blank lines, with the marks that apply to it."""

    start: int
    end: int
    own: Mark | None  # what the block is as a whole
    inside: tuple[Mark, ...]  # containers round it, outermost first
    inline: tuple[Mark, ...]


def web_address(base: str) -> Addresses:
    """Return a function from an address on a page at `base` to the absolute http address, "" for anything else."""

    def resolve(target: str) -> str:
        if target in ("", _WIKILINK) or target.startswith("#") or len(target) > MAX_ADDRESS:
            return ""
        try:
            whole = urljoin(base, target.strip())
            parts = urlsplit(whole)
            if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
                return ""
        except ValueError:
            return ""
        return quote(whole, safe=_SAFE)

    return resolve


def render_body(source: SourceText, address: str) -> str:
    """Return the Markdown of a document that came from a web address.

    A picture is a link on its caption, never embedded: opening the note would load it from its server. One
    without words is left out.
    """
    resolve = web_address(address)
    pictures = {fold(p.caption or p.alt): resolve(p.target) for p in reversed(source.pictures)}
    parts: list[str] = []
    last: _Block | None = None
    for block in _blocks(source):
        is_caption = block.own is not None and block.own.kind is MarkKind.CAPTION
        picture = pictures.get(fold(source.text[block.start : block.end]), "") if is_caption else ""
        tight = last is not None and _starts_item(block) and bool(_items(last))
        parts += ("\n" if tight else "\n\n", _block(source.text, block, resolve, picture))
        last = block
    return "".join(parts).strip("\n") + "\n"


def _blocks(source: SourceText) -> Iterator[_Block]:
    """Yield the paragraphs of the text with the marks that apply to them, in one pass."""
    marks = list(source.marks)
    open_: list[Mark] = []
    at = 0
    for found in re.finditer(r"[^\n]+(?:\n[^\n]+)*", source.text):
        start, end = found.span()
        while at < len(marks) and marks[at].start < end:
            open_.append(marks[at])
            at += 1
        open_ = [m for m in open_ if m.end > start]
        whole = [m for m in open_ if m.start <= start and m.end >= end]
        own = next((m for m in whole if (m.start, m.end) == (start, end) and _is_own(m, found[0])), None)
        inside = tuple(m for m in whole if m.kind in (MarkKind.ITEM, MarkKind.QUOTATION, MarkKind.TABLE))
        inline = [m for m in open_ if m.kind in _INLINE and m is not own]
        inline.sort(key=lambda m: (m.start, -m.end, _INLINE[m.kind]))  # the longer first
        yield _Block(start, end, own, inside[:MAX_DEPTH], tuple(inline))


def _is_own(mark: Mark, text: str) -> bool:
    """Return whether a mark over a whole block says what the block is, rather than how its words look."""
    if mark.kind is MarkKind.CODE:
        return not (len(text) > 2 and text[0] == text[-1] == "`" and "\n" not in text)
    return mark.kind in (MarkKind.HEADING, MarkKind.TITLE, MarkKind.CAPTION)


def _items(block: _Block) -> list[Mark]:
    """Return the list items around a block, outermost first."""
    return [m for m in block.inside if m.kind is MarkKind.ITEM]


def _starts_item(block: _Block) -> bool:
    """Return whether a list item begins with this block."""
    items = _items(block)
    return bool(items) and items[-1].start == block.start


def _block(text: str, block: _Block, resolve: Addresses, picture: str) -> str:
    """Return the lines of one block, behind the signs of its lists and quotations.

    `picture` is the address of the picture that the block is the caption of, else "".
    """
    first = rest = ""
    for mark in block.inside:
        if mark.kind is MarkKind.QUOTATION:
            first, rest = f"{first}> ", f"{rest}> "
        elif mark.kind is MarkKind.ITEM:
            sign = f"{mark.info}. " if mark.info.isdecimal() and len(mark.info) < 10 else "- "
            first += sign if mark.start == block.start else " " * len(sign)
            rest += " " * len(sign)
    lines = _lines(text, block, resolve, picture)
    return "\n".join((first if n == 0 else rest) + line for n, line in enumerate(lines))


def _lines(text: str, block: _Block, resolve: Addresses, picture: str) -> list[str]:
    """Return the Markdown lines of one block."""
    own, words = block.own, text[block.start : block.end]
    if own is not None and own.kind is MarkKind.CODE:
        return _fence(words, own.info)
    if any(m.kind is MarkKind.TABLE for m in block.inside) and "|" in words:
        return _table(text, block, resolve)
    shown = _inline(text, block.start, block.end, block.inline, resolve)
    if own is not None and own.kind is MarkKind.CAPTION:
        words = " ".join(shown.split("\n"))
        return [_emphasised(f"[{words}]({picture})" if picture and "](" not in words else words, "*", "", "")]
    if own is not None:
        level = own.level if own.kind is MarkKind.HEADING else 1
        return ["#" * min(max(level, 1), 6) + " " + " ".join(shown.split("\n"))]
    lines = [f"\\{line}" if _RULE.fullmatch(line) else line for line in shown.split("\n")]
    return [line + "  " for line in lines[:-1]] + lines[-1:]  # the author's own line breaks


def _fence(words: str, language: str) -> list[str]:
    """Return code as a fence; a word joiner keeps a template plugin from running what it would run."""
    longest = max((len(run) for run in re.findall(r"`+", words)), default=0)
    fence = "`" * max(3, longest + 1)
    name = language.lower() if language.lower() in LANGUAGES else ""
    return [fence + name, *words.replace("<%", "<\u2060%").split("\n"), fence]


def _table(text: str, block: _Block, resolve: Addresses) -> list[str]:
    """Return the Markdown lines of a table."""
    rows: list[list[str]] = []
    at = block.start
    for line in text[block.start : block.end].split("\n"):
        cells = []
        start = at
        for bar in [*_CELL.finditer(line), None]:
            end = at + (bar.start() if bar else len(line))
            cells.append(_inline(text, start, end, block.inline, resolve).strip() if end > start else "")
            start = at + (bar.end() if bar else 0)
        rows.append(cells)
        at += len(line) + 1
    width = len(rows[0])
    rows = [[*row[: width - 1], " \\| ".join(row[width - 1 :]), *[""] * (width - len(row))] for row in rows]
    shown = [f"| {' | '.join(row)} |" for row in rows]
    return [shown[0], "|" + " --- |" * width, *shown[1:]]


def _inline(text: str, start: int, end: int, marks: Sequence[Mark], resolve: Addresses, rank: int = -1) -> str:
    """Return `text[start:end]` with its links and emphasis; of marks that overlap the first counts.

    `marks` are in order; those of a `rank` no higher than this are passed over.
    """
    low, high = (bisect_left(marks, at, key=lambda m: m.start) for at in (start, end))
    out: list[str] = []
    at = start
    plain = start  # where the words begin that no mark has parted yet
    for index in range(low, high):
        mark = marks[index]
        if mark.start < at or mark.end > end or rank >= _INLINE[mark.kind]:
            continue
        words = _inline(text, mark.start, mark.end, marks, resolve, _INLINE[mark.kind])
        shown = _marked(mark, words, text[mark.start - 1 : mark.start], text[mark.end : mark.end + 1], resolve)
        if shown is None:
            continue
        out += (_plain(text[plain : mark.start], starts=plain == start), shown)
        plain = at = mark.end
    out.append(_plain(text[plain:end], starts=plain == start))
    return "".join(out)


def _marked(mark: Mark, words: str, before: str, after: str, resolve: Addresses) -> str | None:
    """Return the words of a mark with its signs around them; None where it changes nothing."""
    if mark.kind is MarkKind.LINK:
        address = resolve(mark.info)
        return f"[{words}]({address})" if address and "\n" not in words else None
    sign = "**" if mark.info == "strong" or mark.kind is MarkKind.TERM else "*"
    shown = _emphasised(words, sign, before, after)
    return shown if shown != words else None


def _emphasised(words: str, sign: str, before: str, after: str) -> str:
    """Return `words` between the signs, or alone where CommonMark would not take the signs for emphasis."""
    opens = not (_is_sign(words[:1]) and before and not before.isspace() and not _is_sign(before))
    closes = not (_is_sign(words[-1:]) and after and not after.isspace() and not _is_sign(after))
    clear = before != "*" and after != "*" and "\n" not in words and words.strip() == words != ""
    return f"{sign}{words}{sign}" if opens and closes and clear and "*" not in words else words


def _is_sign(character: str) -> bool:
    """Return whether a character is punctuation or a symbol."""
    return bool(character) and unicodedata.category(character)[0] in "PS"


def _plain(words: str, *, starts: bool) -> str:
    r"""Return plain words escaped; `starts` says that they begin a line. TeX between \( \) becomes dollar math."""
    words = _TEX.sub(lambda m: f"${m[1].strip()}$" if m[1] else f"$${m[2].strip()}$$", words)
    return escape(words) if starts else escape(f".{words}")[1:]
