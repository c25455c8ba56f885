"""Rules on claims and what cites them."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.claims.conflicts import UNDECIDED
from compiler.lint.wiki import Wiki
from compiler.readers.formats import HEAD, RECORDED, kind_of
from compiler.sources.inventory import is_hidden
from vault.model.claim import ClaimState
from vault.text.formatting import truncate

Found = Iterator[tuple[str, int, str, str]]
_REMEDY = "`retain compile`; if you edited the page, change the sentence"
_BOTH_SIDES = 5  # lines below the heading of a contradiction
_QUOTED = 100  # characters of a sentence or quote in a finding


def uncited(wiki: Wiki) -> Found:
    """Yield statements of articles and topics that cite nothing."""
    for page in (*wiki.articles, *wiki.topics):
        for sentence in page.sentences:
            if not sentence.cites:
                what = f"“{truncate(sentence.text, _QUOTED)}” cites nothing"
                yield page.path, sentence.line, what, "cite a claim, or make it a remark of yours: `> [!human]`"


def superseded(wiki: Wiki) -> Found:
    """Yield citations of claims of older editions."""
    yield from _citing(wiki, ClaimState.SUPERSEDED, "is of an older edition")


def retracted(wiki: Wiki) -> Found:
    """Yield citations of claims that their sources do not make any more."""
    yield from _citing(wiki, ClaimState.RETRACTED, "is not in its source any more")


def _citing(wiki: Wiki, state: ClaimState, why: str) -> Found:
    for page in (*wiki.articles, *wiki.topics):
        for sentence in page.sentences:
            for cite in sentence.cites:
                known = wiki.claims.get(str(cite.claim))
                if known is not None and known[0].state is state:
                    what = f"the claim “{truncate(known[0].quote, _QUOTED)}” {why}"
                    yield page.path, sentence.line, what, _REMEDY


def undecided(wiki: Wiki) -> Found:
    """Yield contradictions that nothing decides, with the words of both sides, as the articles show them."""
    for page in wiki.articles:
        lines = page.text.split("\n")
        said = {sentence.line: sentence.text for sentence in page.sentences}
        for number, line in enumerate(lines, 1):
            if not (line.startswith("### ") and UNDECIDED in line):
                continue
            sides = [words for at, words in sorted(said.items()) if number < at <= number + _BOTH_SIDES][:2]
            what = "sources contradict each other: " + " / ".join(f"“{truncate(side, _QUOTED)}”" for side in sides)
            yield page.path, number, what, "`retain insight` shows it, or set `authority` of a source"


def not_compiled(wiki: Wiki) -> Found:
    """Yield files of raw/ that no page of a source names, but for pictures and the like."""
    known = {summary.properties.text("source") for summary in wiki.summaries.values()}
    index = "\n".join(page.text for page in wiki.indexes)
    root = wiki.vault.root
    for path in sorted((root / "raw").rglob("*")):
        name = path.relative_to(root).as_posix()
        if not path.is_file() or is_hidden(path.name) or name in known:
            continue
        with path.open("rb") as file:
            kind = kind_of(path.name, file.read(HEAD))
        if kind not in RECORDED and name.removesuffix(".md") not in index:
            yield name, 0, "it is not compiled", "`retain compile`"
