"""An independent check of a finished vault: it imports nothing of retain's and believes nothing it says.

For every claim block of every summary, the letters and digits of the quote must occur, in order and without a gap,
among the letters and digits of the raw file; a PDF's, as pdftotext gives them, may go on at the top of the next page.
So must code and formulas shown with it; of a picture the copy must be there, with the bytes that its name promises.
Every citation must lead to such a claim, and every paragraph of an article end in one. Its argument is the vault.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path

from independent_readings import Page, letters, raw_readings  # the file beside this one

CLAIM = re.compile(r"> \[!quote\].*\n((?:> .*\n)+)((?:>\n(?:> .*\n)+)*?)>\n> .*\n\n\^c-([0-9a-z]{10})")
CODE = re.compile(r"(?ms)^(`{3,})[\w+#.-]+$(.*?)^\1$|^\$\$([^$\n]+)\$\$$")  # formulas, too
PICTURE = re.compile(r"(?m)^!\[\[(wiki/assets/[^|\]\n]*?([0-9a-f]{12})\.[a-z]+)(?:\|[^\]\n]*)?\]\]$")
CITE = re.compile(r"\[\[(wiki/summaries/[^#|\]]+)#\^c-([0-9a-z]{10})\|\d+\]\]")
OFFICE = re.compile(r"\.(?:doc|ppt)[xm]$", re.IGNORECASE)
FOOT, TOP = 800, 1400  # letters that notes may take below a cut sentence, and figures above its other half


def stands_in(wanted: str, readings: list[list[Page]]) -> bool:
    """Whether a page holds `wanted`, or it ends a line near the page's foot and goes on in one near the next's top."""
    size, half = len(wanted), len(wanted) // 2
    for pages in readings:
        whole = ["".join(lines) for lines in pages]
        if any(wanted in page for page in whole):
            return True
        for page, after, here, there in zip(pages, pages[1:], whole, whole[1:], strict=False):
            if wanted[:half] in here[-FOOT - size :] or wanted[half:] in there[: TOP + size]:
                feet = ["".join(page[:k]) for k in range(len(page) + 1) if len("".join(page[k:])) <= FOOT]
                tops = ["".join(after[k:]) for k in range(len(after)) if len("".join(after[:k])) <= TOP]
                if any(wanted in foot[-size:] + top[:size] for foot in feet for top in tops):
                    return True
    return False


def uncited(text: str) -> list[str]:
    """The paragraphs of an article, its quotes and tables too, that do not end in a citation; a human's are marked."""
    body = re.sub(r"(?m)^> \[!human\].*\n(?:>.*\n?)*", "", text.split("\n---\n", 1)[-1])
    body = PICTURE.sub("", CODE.sub("", body))
    body = re.sub(r"(?m)^#{1,6} .*$|^- \[\[[^\[\]]*\]\]$", "", body)
    return [p for p in re.split(r"\n\s*\n", body) if p.strip() and not re.search(r"\|\d+\]\]\s*\|?\s*\Z", p)]


def shown(vault: Path, text: str, readings: list[list[Page]]) -> bool:
    """Whether code and formulas stand in the raw file, and pictures are what their names say."""
    code = [letters("".join(found[1:])) for found in CODE.findall(text)]
    copies = [(vault / path, digest) for path, digest in PICTURE.findall(text)]
    whole = all(p.is_file() and hashlib.sha256(p.read_bytes()).hexdigest().startswith(d) for p, d in copies)
    return whole and all(stands_in(each, readings) for each in code)


def main(vault: Path) -> int:
    good, bad = set(), []
    for summary in sorted(vault.glob("wiki/summaries/*.md")):
        text = summary.read_text(encoding="utf-8")
        named = re.findall(r"(?m)^source: (.*)$", text)[0]
        source = json.loads(named) if named.startswith('"') else named
        raw = raw_readings(vault / source)
        for quote, with_it, claim in CLAIM.findall(text):
            wanted = letters(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", re.sub(r"(?m)^> ", "", quote)))
            if OFFICE.search(source):  # formulas there are no TeX: its commands are the reader's
                wanted = letters(re.sub(r"\$[^$]+\$", lambda m: re.sub(r"\\[A-Za-z]+", "", m[0]), quote))
            if wanted and stands_in(wanted, raw) and shown(vault, re.sub(r"(?m)^> ?", "", with_it), raw):
                good.add((f"wiki/summaries/{summary.stem}", claim))
            else:
                bad.append(f"{summary.name}: claim {claim}: not in {source}")
    articles = [*vault.glob("wiki/concepts/*.md"), *vault.glob("wiki/topics/*.md")]
    bad += [f"{a.name}: not cited: {p[:60]}" for a in articles for p in uncited(a.read_text(encoding="utf-8"))]
    places = [*articles, *vault.glob("learning/flashcards/*.md")]
    cites = [(p.name, c) for p in places for c in CITE.findall(p.read_text(encoding="utf-8"))]
    bad += [f"{n}: {target} has no verified claim {c}" for n, (target, c) in cites if (target, c) not in good]
    print(f"{len(good)} quotes found, {len(cites)} citations followed, {len(bad)} wrong", *bad[:20], sep="\n")
    return 1 if bad or not good else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
