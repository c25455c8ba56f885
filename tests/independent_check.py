"""An independent check of a finished vault: it imports nothing of retain's and believes nothing it says.

For every claim block of every summary, the letters and digits of the quote must occur, in order and without a gap,
among the letters and digits of the raw file (a PDF's as pdftotext gives them, over a page's end if need be). Every
card and every cited sentence must lead to such a claim.

    python tests/independent_check.py VAULT
"""

from __future__ import annotations

import html
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

CLAIM = re.compile(r"> \[!quote\].*\n((?:> .*\n)+)>\n> .*\n\n\^c-([0-9a-z]{10})")
CITE = re.compile(r"\[\[(wiki/summaries/[^#|\]]+)#\^c-([0-9a-z]{10})\|\d+\]\]")


def letters(text: str) -> str:
    """Only the letters and digits of `text`; case, accents and compatibility forms folded (PDFs set accents apart)."""
    plain = unicodedata.normalize("NFKD", text.casefold()).replace("ı", "i")
    return "".join(c for c in plain if c.isalnum())


def raw_pages(path: Path) -> list[str]:
    """The letters and digits of a raw file, a PDF by pages; else as it stands, and without what stays unseen."""
    if path.suffix == ".pdf":
        done = [
            subprocess.run(["pdftotext", *how, str(path), "-"], capture_output=True, check=True)
            for how in ([], ["-raw"])
        ]
        return [letters(page) for d in done for page in d.stdout.decode("utf-8", "replace").split("\f")]
    text = decoded(path.read_bytes())
    seen = re.sub(r"(?s)<!--.*?-->|<(script|style)\b.*?</\1>", " ", text)
    seen = re.sub(r"<[^<>]*>", " ", seen)  # tags
    seen = re.sub(r"\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)", "] ", seen)  # link targets
    seen = re.sub(r":[a-z]+:`[^`]*`|\[\^[^\]]*\]", " ", seen)  # roles, footnote marks
    return [letters(html.unescape(t)) for t in (text, seen, re.sub(r"\\([A-Za-z]+)", r"\1", seen))]


def stands_in(wanted: str, pages: list[str]) -> bool:
    """Whether a page holds `wanted`, or its head, and that page or the next its tail (a break, a footnote between)."""
    if any(wanted in page for page in pages):
        return True
    for here, after in zip(pages, [*pages[1:], ""], strict=True):
        if wanted[:4] in here:
            head = max(k for k in range(4, len(wanted) + 1) if wanted[:k] in here)
            if any(len(wanted) - k >= 4 and (wanted[k:] in here or wanted[k:] in after) for k in range(head, 3, -1)):
                return True
    return False


def decoded(data: bytes) -> str:
    for encoding in ("utf-8-sig", "gb18030", "cp1251", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", "replace")


def unescaped(text: str) -> str:
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)


def main(vault: Path) -> int:
    good: set[tuple[str, str]] = set()
    bad = []
    for summary in sorted((vault / "wiki/summaries").glob("*.md")):
        text = summary.read_text(encoding="utf-8")
        named = re.search(r"^source: (?:\"((?:[^\"\\]|\\.)*)\"|(.*))$", text, re.MULTILINE)
        assert named is not None, f"{summary} names no source"
        raw = raw_pages(vault / (named[1] or named[2]).replace('\\"', '"'))
        for quote, claim in CLAIM.findall(text):
            wanted = letters(unescaped(re.sub(r"^> ", "", quote, flags=re.MULTILINE)))
            if wanted and stands_in(wanted, raw):
                good.add((f"wiki/summaries/{summary.stem}", claim))
            else:
                bad.append(f"{summary.name}: claim {claim}: not in {named[1] or named[2]}")
    places = [*(vault / "wiki/concepts").glob("*.md"), *(vault / "learning/flashcards").glob("*.md")]
    cites = [(p.name, c) for p in places for c in CITE.findall(p.read_text(encoding="utf-8"))]
    bad += [
        f"{name}: {target} has no verified claim {claim}"
        for name, (target, claim) in cites
        if (target, claim) not in good
    ]
    print(f"{len(good)} quotes found, {len(cites)} citations followed, {len(bad)} wrong", *bad[:20], sep="\n")
    return 1 if bad or not good else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
