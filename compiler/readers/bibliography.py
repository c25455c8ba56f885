"""The works that a page cites by keys, and the bibliography inside it that says which they are."""

from __future__ import annotations

import re
from typing import Any

from vault.text.sanitize import clean_line

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
    """The works that an element of `CITES` names, a line each: entries where they are known, else their keys."""
    keys = element.get("key") or element.get("bibtex-key") or ""
    found = element.get(_WORKS) or "\n".join(k for key in keys.split(",") if (k := clean_line(key)))
    return str(found[:MAX_CITED])


def resolve_cites(root: Any) -> None:
    """Gives the elements that cite the entries of the page's own BibTeX."""
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
    """Key -> the entry as one line, "Authors. Title. Year. Address", of a BibTeX text; what is none is passed over."""
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
    out: dict[str, str] = {}
    at = 0
    while (m := _FIELD.search(body, at)) is not None:
        value, at = _value(body, m.end())
        name = m[1].lower()
        if name in _KEPT and name not in out:  # what TeX means by a value takes its time
            out[name] = _plain(value)
    return out


def _value(body: str, at: int) -> tuple[str, int]:
    """The value that begins at `at`, braced, quoted or bare, and where it ends."""
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
    """A value without TeX's braces; accents and the like as the letters they make."""
    if "\\" in value:
        from pylatexenc.latex2text import LatexNodes2Text

        value = LatexNodes2Text(strict_latex_spaces=False).latex_to_text(value[:2000])
    return clean_line(value.replace("{", "").replace("}", ""))[:1000]


def _line(fields: dict[str, str]) -> str:
    authors = [" ".join(reversed([p.strip() for p in name.split(",", 1)])) for name in fields["author"].split(" and ")]
    who = f"{authors[0]} et al" if len(authors) > 2 else " and ".join(authors)
    paper = _ARXIV.search(" ".join(fields.get(k, "") for k in ("volume", "journal", "eprint", "url")))
    eprint = fields.get("eprint", "") if fields.get("archiveprefix", "").lower() == "arxiv" else ""
    where = f"arXiv:{paper[1] if paper else eprint}" if paper or eprint else fields.get("doi") or fields.get("url", "")
    return clean_line(f"{who}. {fields['title'].rstrip('.')}. {fields.get('year', '')}. {where}")
