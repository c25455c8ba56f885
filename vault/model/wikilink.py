"""Wikilinks (full vault paths without `.md`, with an alias) and the citations made of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

from vault.ids import ALPHABET, ClaimId
from vault.model.markdown import escape
from vault.text.formatting import clean_line

_LINK = re.compile(
    r"(?P<embed>!?)\[\[(?P<target>[^\[\]|#^\n\\]*)(?:#(?P<anchor>[^\[\]|\n\\]*))?(?:\\?\|(?P<alias>[^\[\]\n]*))?\]\]"
)
_CITATION = re.compile(
    rf"\[\[(?P<path>wiki/summaries/[^\[\]|#^\n]+)#\^c-(?P<claim>[{ALPHABET}]{{10}})\|(?P<place>\d+)\]\]"
)
_UNLINKABLE = re.compile(
    r"[#^\[\]|<>`$\\\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|%%|[\U000e0000-\U000e007f]"
)
_ACTIVE = re.compile(r"[<>`$*^\\]|%%+|==+|~~+|::+|(?<!\w)#(?=\w)")
_LOOK_ALIKE = str.maketrans(
    {  # no backslash escapes inside a wikilink, and HTML, inline code and queries of plugins act there
        "<": "\u2039", ">": "\u203a", "`": "\u02cb", "$": "\uff04", "*": "\u2217", "^": "\u02c6", "\\": "\u2216",
        "%": "\uff05", "=": "\uff1d", "~": "\u223c", ":": "\u2236", "#": "\uff03",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wikilink:
    """A link. `target` is a vault path without `.md`; `anchor` a heading or "^block-id", "" for the whole note."""

    target: str
    anchor: str = ""
    alias: str = ""
    embed: bool = False

    def __str__(self) -> str:
        anchor = f"#{self.anchor}" if self.anchor else ""
        alias = f"|{self.alias}" if self.alias else ""
        return f"{'!' if self.embed else ''}[[{self.target}{anchor}{alias}]]"

    def in_table(self) -> str:
        """Return the link as a Markdown table needs it, its `|` escaped."""
        return str(self).replace("|", "\\|")


@dataclass(frozen=True, slots=True)
class Citation:
    """A link to one claim; `place` is the 1-based index of its source in the note's `sources`."""

    summary: str  # vault path without .md
    claim: ClaimId
    place: int

    def __str__(self) -> str:
        return f"[[{self.summary}#^c-{self.claim}|{self.place}]]"


def links(text: str) -> Iterator[Wikilink]:
    """Yield every wikilink of `text`, in order."""
    for m in _LINK.finditer(text):
        yield Wikilink(m["target"], m["anchor"] or "", m["alias"] or "", bool(m["embed"]))


def citations(text: str) -> tuple[Citation, ...]:
    """Return every citation of `text`, in order."""
    return tuple(Citation(m["path"], ClaimId(m["claim"]), int(m["place"])) for m in _CITATION.finditer(text))


def only_citations(text: str) -> bool:
    """Return whether `text` consists of citations and white space, with at least one citation."""
    return bool(_CITATION.search(text)) and not _CITATION.sub("", text).strip()


def alias(title: str) -> str:
    """Return `title` as the shown part of a wikilink: one line, nothing that ends the link or acts in it.

    What would be markup, HTML, code, math, a tag or a comment is shown by characters that look like it.
    """
    line = clean_line(re.sub(r"[\[\]|]", " ", title))
    return _ACTIVE.sub(lambda m: m[0].translate(_LOOK_ALIKE), line) or "untitled"


def note_link(path: str, title: str) -> str:
    """Return a link to the note at vault path `path` (with `.md`), shown as `title`."""
    return str(Wikilink(path.removesuffix(".md"), alias=alias(title)))


def raw_link(path: str, title: str, section: str = "", *, depth: int = 2) -> str:
    """Return a link to the file of a source: a wikilink, or a Markdown link where the name could end or act in one.

    Into a note it leads to the heading `section`, if one is given that a link can hold. What is beside the vault's
    folder (`../`) is linked as seen from a page `depth` folders deep, since the vault may have the same path.
    """
    if path.startswith("../"):
        return f"[{escape(clean_line(title)) or 'untitled'}](<{'../' * depth}{quote(path)}>)"
    if _UNLINKABLE.search(path):
        return f"[{escape(clean_line(title)) or 'untitled'}](<{quote(path)}>)"
    anchor = section if path.endswith(".md") and not _UNLINKABLE.search(section) else ""
    return str(Wikilink(path.removesuffix(".md"), anchor, alias(title)))
