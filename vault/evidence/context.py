"""The context of a quote: the lines around it in its source, as far as they can be read without a parser."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vault.evidence.evidence import Evidence
from vault.files.folder import FileKind, Folder
from vault.model.claim import Claim
from vault.text.formatting import fold, normal
from vault.vault import Vault

LARGEST = 4 << 20  # bytes of a source that is looked through for the sake of a few lines
WIDTH = 90  # characters that count as one line where a source has its paragraphs on one

_TEXT = ("md", "markdown", "txt", "text", "rst", "org", "adoc", "asciidoc", "asc")
_PAGE = ("html", "htm", "xhtml")
_FRONT = re.compile(r"\A---[ \t]*\n.*?^---[ \t]*$", re.DOTALL | re.MULTILINE)
_UNSEEN = re.compile(r"<(?P<name>!--|script\b|style\b|template\b)", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z!][^<>]*>")
_LINK_END = re.compile(r"\]\((?:<[^<>\n]*>|[^\s()]*)(?:[ \t]+\"[^\"\n]*\")?\)|\]\[[^\[\]\n]*\]")
_ENTITY = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,31}|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_MARKS = re.compile(r"^#{1,6} +|\*+|_{2,}|`+|\[\[(?:[^\[\]|]*\|)?|[\[\]]")
_LOOSE = re.compile(r" +([,.;:!?])")
_LINE = re.compile(r"\bline (\d+)")


@dataclass(frozen=True, slots=True)
class QuoteContext:
    """`before` and `after` are the source's own lines, "" where its text can't be read here; `line` is 1-based, or 0.

    All of it is plain words, still to be cleaned for a screen; `quote` is the claim's own.
    """

    before: str
    quote: str
    after: str
    locator: str
    line: int = 0

    @property
    def found(self) -> bool:
        """Return whether the quote was found in the source."""
        return self.line > 0


def quote_context(vault: Vault, evidence: Evidence, lines: int = 4) -> QuoteContext:
    """Return up to `lines` lines before and after the claim's quote in its source.

    Plain text, Markdown and HTML are looked through; of other kinds, of sources that are gone, changed or large, only
    the quote and its locator are given. Raises: Refused where the disk refuses, or the path is none of the vault's.
    """
    claim = evidence.claim
    if claim is None:
        return QuoteContext("", "", "", "")
    bare = QuoteContext("", claim.quote, "", evidence.place)
    text = _text(vault, evidence.source)
    return bare if text is None else _around(text, claim, lines) or bare


def _text(vault: Vault, path: str) -> str | None:
    """Return the source's words with markup blanked out, so that offsets stay; None for other kinds of files."""
    kind = path.rpartition(".")[2].lower()
    if not vault.is_source(path) or kind not in (*_TEXT, *_PAGE):
        return None
    folder = Folder(vault.root.parent if path.startswith("../") else vault.root)
    path = path.removeprefix("../")
    entry = folder.entry(path)
    if entry is None or entry.kind is not FileKind.FILE or entry.size > LARGEST:
        return None
    text = normal((folder.read(path) or b"").decode("utf-8", "replace"))
    if kind in _PAGE:
        return _ENTITY.sub(_blank, _TAG.sub(_blank, _without_hidden_html(text)))
    return _LINK_END.sub(_blank, _FRONT.sub(_blank, text))


def _without_hidden_html(page: str) -> str:
    """Return an HTML page without scripts, styles and comments."""
    folded, out, at = page.lower(), [], 0
    if len(folded) != len(page):  # letters that are two when they are small: offsets would not stay
        return page
    while opened := _UNSEEN.search(page, at):
        name = opened["name"].lower()
        end = folded.find("-->" if name == "!--" else f"</{name}", opened.end())
        end = len(page) if end < 0 else end
        out += [page[at : opened.start()], re.sub(r"[^\n]", " ", page[opened.start() : end])]
        at = end
    return "".join(out) + page[at:]


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _around(text: str, claim: Claim, lines: int) -> QuoteContext | None:
    """Return the context of the quote in the text; of several places the one nearest to the claim's locator."""
    words = _WORD.findall(normal(claim.quote))
    if not words:
        return None
    places = list(re.finditer(r"[\W_]*".join(map(re.escape, words)), text))
    if not places:
        return None
    named = _LINE.search(claim.locator)
    numbered = [(place, text.count("\n", 0, place.start()) + 1) for place in places[:100]]
    place, line = min(numbered, key=lambda each: abs(each[1] - int(named[1])) if named else 0)
    before = _last(text[max(0, place.start() - 8 * lines * WIDTH) : place.start()], lines)
    after = _first(text[place.end() : place.end() + 8 * lines * WIDTH], lines)
    after = after.lstrip(".,;:!?…。，；： ")  # what only ended the quoted sentence
    return QuoteContext(before, claim.quote, after, claim.locator or f"line {line}", line)


def _bare(line: str) -> str:
    """Return a line of Markdown without signs around its words; "" if it is nothing but tags."""
    if "<" in line and not any(map(str.isalnum, _TAG.sub("", line))):
        return ""
    return _LOOSE.sub(r"\1", _MARKS.sub("", line))


def _first(text: str, lines: int) -> str:
    """Return the first lines with words, at most `lines` of them at a width of WIDTH."""
    return "\n".join(_some([_bare(fold(line)) for line in text.split("\n")], lines)).strip()


def _last(text: str, lines: int) -> str:
    """Return the last lines with words, likewise."""
    backwards = [_bare(fold(line))[::-1] for line in reversed(text.split("\n"))]
    return "\n".join(line[::-1] for line in reversed(_some(backwards, lines))).strip()


def _some(lines: list[str], most: int) -> list[str]:
    """Return the first of the lines and those after it with words, cut to `most` lines."""
    kept: list[str] = []
    room = most * WIDTH
    for line in lines:
        if not any(c.isalnum() for c in line):
            continue
        if len(kept) == most or room <= 0:
            break
        kept.append(line if len(line) <= room else line[:room].rsplit(" ", 1)[0] + " …")
        room -= len(line)
    return kept
