"""Citations of an HTML page: the works cited by key, and the BibTeX in the page that describes them."""

from __future__ import annotations

import re
from typing import Any

from vault.text.formatting import clean_line

CITES = ("d-cite", "dt-cite", "x-cite")  # elements that cite, mostly without a word of their own
MAX_BIBTEX = 2_000_000  # characters
MAX_ENTRIES = 5_000
MAX_CITED = 4_000  # characters of the works cited at one place
MAX_KEYS = 40
_WORKS = "x-works"  # the attribute that carries the entries once they are found
_ENTRY = re.compile(r"@(\w+)\s*\{\s*([^\s,{}]+)\s*,")
_FIELD = re.compile(r"(?<!\w)(\w{1,40})\s{0,40}=\s*(?=[{\"\w])")
_KEPT = frozenset("title author year volume journal eprint archiveprefix url doi".split())
_ARXIV = re.compile(r"\b(?:abs/|arXiv:)\s*(\d{4}\.\d{4,5}|[a-z-]+/\d{7})", re.IGNORECASE)


def cited_by(element: Any) -> str:
    """Return the works that an element of `CITES` cites, one a line: entries where they are known, else the keys."""
    keys = element.get("key") or element.get("bibtex-key") or ""
    found = element.get(_WORKS) or "\n".join(k for key in keys.split(",") if (k := clean_line(key)))
    return str(found[:MAX_CITED])


def resolve_cites(root: Any) -> None:
    """Set on every citing element of the tree the matching entries of the page's own BibTeX."""
    entries: dict[str, str] = {}
    for script in root.iter("script", "d-bibliography"):
        if script.tag == "d-bibliography" or "bibliography" in (script.get("type") or ""):
            entries |= bibtex(script.text or "")
    if not entries:
        return
    for element in root.iter(*CITES):
        keys = [key.strip() for key in (element.get("key") or "").split(",")]
        element.set(_WORKS, "\n".join(entries.get(key, key) for key in keys[:MAX_KEYS] if key)[:MAX_CITED])


def bibtex(text: str) -> dict[str, str]:
    """Return key -> entry on one line ("Authors. Title. Year. Address") of a BibTeX text, without invalid entries."""
    text = text[:MAX_BIBTEX]
    starts = list(_ENTRY.finditer(text))[:MAX_ENTRIES]
    ends = [*(m.start() for m in starts[1:]), len(text)]
    found = {}
    for start, end in zip(starts, ends, strict=False):
        fields = _fields(text[start.end() : end])
        if fields.get("title") and fields.get("author"):
            found[start[2]] = _line(fields)
    return found


def _fields(body: str) -> dict[str, str]:
    """Return the fields of one BibTeX entry by lower-case name, as plain text."""
    out: dict[str, str] = {}
    at = 0
    while (m := _FIELD.search(body, at)) is not None:
        value, at = _value(body, m.end())
        name = m[1].lower()
        if name in _KEPT and name not in out:  # what TeX means by a value takes its time
            out[name] = _plain(value)
    return out


def _value(body: str, at: int) -> tuple[str, int]:
    """Return the braced, quoted or bare value that begins at `at`, and the offset where it ends."""
    if body[at] not in '{"':
        bare = re.compile(r"[^,}\n]*").match(body, at)
        assert bare is not None
        return bare[0], bare.end()
    depth = 0
    for n in range(at, len(body)):
        depth += (body[n] == "{") - (body[n] == "}")
        if (depth == 0 and body[at] == "{") or (body[n] == '"' == body[at] and depth == 0 and n > at):
            return body[at + 1 : n], n + 1
    return "", len(body)


def _plain(value: str) -> str:
    """Return a BibTeX value as plain text: no braces, accents as letters."""
    if "\\" in value:
        from pylatexenc.latex2text import LatexNodes2Text

        value = LatexNodes2Text(strict_latex_spaces=False).latex_to_text(value[:2000])
    return clean_line(value.replace("{", "").replace("}", ""))[:1000]


def _line(fields: dict[str, str]) -> str:
    """Return the entry "Authors. Title. Year. Address" made of these fields."""
    authors = [" ".join(reversed([p.strip() for p in name.split(",", 1)])) for name in fields["author"].split(" and ")]
    who = f"{authors[0]} et al" if len(authors) > 2 else " and ".join(authors)
    paper = _ARXIV.search(" ".join(fields.get(k, "") for k in ("volume", "journal", "eprint", "url")))
    eprint = fields.get("eprint", "") if fields.get("archiveprefix", "").lower() == "arxiv" else ""
    where = f"arXiv:{paper[1] if paper else eprint}" if paper or eprint else fields.get("doi") or fields.get("url", "")
    return clean_line(f"{who}. {fields['title'].rstrip('.')}. {fields.get('year', '')}. {where}")
