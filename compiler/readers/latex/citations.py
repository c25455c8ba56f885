"""The works that a LaTeX document lists in its own bibliography, and the markup of citations of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from vault.text.sanitize import clean_line

MAX_WORKS = 2_000
MAX_WORK = 600  # characters of one entry
_LIST = re.compile(r"\\begin\{thebibliography\}")
_ITEM = re.compile(r"\\bibitem\s*(?:\[(?:[^\[\]{}]|\{[^{}]{0,200}\}){0,300}\])?\s*\{([^{}]{1,200})\}")
_NOISE = re.compile(r"\\(?:newblock|em|it|bf|emph|textit|textbf|textsc|href|url|path|natexlab)\b|[{}]|\\[,;!]?")


def works_in(text: str) -> dict[str, str]:
    """Return key -> entry on one line for each work in the document's own list of references."""
    begin = _LIST.search(text)
    if begin is None:
        return {}
    items = list(_ITEM.finditer(text, begin.end()))[:MAX_WORKS]
    ends = [*(m.start() for m in items[1:]), len(text)]
    return {
        m[1].strip(): clean_line(_NOISE.sub("", text[m.end() : min(end, m.end() + MAX_WORK)].split("\\end{")[0]))
        for m, end in zip(items, ends, strict=False)
    }


def citation_markup(keys: str, works: Mapping[str, str]) -> str:
    """Return the markup of a citation of these keys, with the entries of the works where they are known."""
    named = [key for part in keys.split(",") if (key := part.strip())][:50]
    entries = "\n".join(works.get(key, key) for key in named)
    return f'<x-cite key="{escape(",".join(named))}" x-works="{escape(entries)}"></x-cite>' if named else ""
