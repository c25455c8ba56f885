"""Documents as a request shows them: titles, headings, and passages with their labels."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from compiler.protocol.citations import letters, pieces_of
from compiler.protocol.passages import Document, Passage
from compiler.protocol.requests import BlockView, DocumentView, PassageView
from vault.text.formatting import clean, clean_line

# How lines of requests and answers begin: what documents have like it is shown with a backslash before it.
_OWN = re.compile(
    r"\s*={2,}\s|=== ?|## |\[|\s*(?:WRITE|CARDS|OPEN|LEFT|QUESTION|BEFORE|ARTICLE|CONCEPT|IS|FROM|TERM)\s"
    r"|\s*(?:CLASH|SUM|CLUSTER|SAME)\s"
    r"|\s*OTHER PAGES\b|\s*Names found so far\b|\s*(?:so far|passages|the user rejected an earlier version"
    r"|card to keep|the article now[^:\n]{0,80}|s\d{1,3}):|\s*about \d+ words\b|\.\.\.\s*$"
)
_FENCE, _TICKS = re.compile(r"\s*```"), re.compile(r"`+")


def view(document: Document, number: int, passages: Iterable[Passage]) -> DocumentView:
    """Return some passages of a document as a request shows them under that number."""
    shown = tuple(
        PassageView(
            number=p.number,
            headings=p.headings,
            blocks=tuple(
                BlockView(key=b.key, text=document.words(b), kind=b.kind, info=b.info, level=b.level, picture=b.picture)
                for b in p.blocks
            ),
        )
        for p in passages
    )
    return DocumentView(
        number=number,
        source=document.id,
        title=clean_line(document.text.title),
        language=document.text.language,
        passages=shown,
    )


def lines_of(documents: Sequence[DocumentView], marked: Collection[str] = ()) -> Iterator[str]:
    """Yield the lines that show documents; labels in `marked` get a star."""
    for document in documents:
        yield f"=== DOCUMENT {document.number}: {document.title}"
        last: tuple[str, ...] = ()
        before = 0
        for passage in document.passages:
            if passage.headings and passage.headings != last:
                yield f"## {' > '.join(passage.headings)}"
            elif before and passage.number != before + 1:
                yield "..."
            last, before = passage.headings, passage.number
            label = f"{document.number}:{passage.number}"
            counts = [len(pieces_of(block)) for block in passage.blocks]
            signs = [f"{{{letter}}}" for letter in letters(sum(counts))] if sum(counts) > 1 else [""]
            blocks = []
            for block, count in zip(passage.blocks, counts, strict=True):
                blocks.append(_shown(block, signs[:count]))
                signs = signs[count:]
            yield f"[{label}{'*' if label in marked else ''}] " + "\n".join(blocks)


def _shown(block: BlockView, signs: Sequence[str]) -> str:
    """Return a block as it is shown, a sign before each of its pieces; no line of it looks like the request's own."""
    parts, at = [], 0
    for sign, (start, end) in zip(signs, pieces_of(block), strict=False):
        parts += [block.text[at:start], sign, block.text[start:end]]
        at = end
    text = "".join([*parts, block.text[at:]]).strip("\n")
    code = block.kind == "code"
    lines = clean(text).split("\n")
    text = "\n".join(f"\\{line}" if _OWN.match(line) or (not code and _FENCE.match(line)) else line for line in lines)
    if code:
        fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
        text = f"{fence}{clean_line(block.info)}\n{text}\n{fence}"
    elif block.kind == "table":
        text = f"(table)\n{text}"
    elif block.kind == "item":
        sign = f"{block.info}." if block.info.isdigit() else "-"
        text = f"{'  ' * max(block.level - 1, 0)}{sign} {text}"
    return f"{text} (picture: {block.picture})" if block.picture else text
