"""Words of pages and cards as training text: Markdown without citations, links, escapes and control characters."""

from __future__ import annotations

import re

from vault.model.markdown import unescape
from vault.model.wikilink import citations, links
from vault.text.formatting import clean

_BLOCK = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n(?:.*\n)*? {0,3}(?P=fence)[ \t]*$", re.MULTILINE)
_WIKILINK = re.compile(r"!?\[\[[^\[\]\n]+\]\]")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|(?<!\\)%%.*?(?:%%|\Z)", re.DOTALL)
_PICTURE = re.compile(r"!\[\[[^\[\]\n]*\]\]|!\[[^\[\]\n]*\]\(|<img\b", re.IGNORECASE)
_BAR = re.compile(r"(?<!\\)\|")


def plain_card(markdown: str) -> str:
    """Return a question or answer as training text. Blocks of code, `code` and $math$ stay as they are."""
    parts, at = [], 0
    for block in _BLOCK.finditer(markdown):
        parts += [_prose(markdown[at : block.start()]), block[0]]
        at = block.end()
    return clean("".join([*parts, _prose(markdown[at:])])).strip()


def shows_picture(markdown: str) -> bool:
    """Return whether a part of a card embeds a picture or a sound, without which its words are not the whole."""
    return _PICTURE.search(markdown) is not None


def _prose(markdown: str) -> str:
    return unescape(named_links(_COMMENT.sub("", markdown)))


def named_links(text: str) -> str:
    """Return `text` with each wikilink replaced by its name, and without citations."""
    for citation in citations(text):
        text = text.replace(str(citation), "")
    return _WIKILINK.sub(_name, text)


def _name(found: re.Match[str]) -> str:
    link = next(links(found[0]), None)
    if link is None or link.embed:
        return ""
    return link.alias or link.target.rsplit("/", 1)[-1]


def table_cells(line: str) -> list[str]:
    """Return the cells of a row of a table in plain words, without citations."""
    inner = line.strip().removeprefix("|")
    cells = _BAR.split(inner)
    if cells and not cells[-1].strip():  # what follows the last bar
        cells.pop()
    return [clean(unescape(named_links(cell.replace("\\|", "|")))).strip() for cell in cells]


def table_row(cells: list[str]) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
