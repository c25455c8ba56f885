"""Rules on claims and what cites them."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.claims.conflicts import UNDECIDED
from compiler.claims.plain_contradictions import Point
from compiler.lint.statements import Conflict, conflicts
from compiler.lint.wiki import Page, Wiki
from compiler.readers.formats import HEAD, RECORDED, kind_of
from compiler.sources.notes import facts_of, is_note
from vault.files.folder import sha256_hex
from vault.model.claim import ClaimState
from vault.model.wikilink import raw_link
from vault.text.formatting import truncate

Found = Iterator[tuple[str, int, str, str]]
_REMEDY = "run `retain compile`; if you edited the page, correct the sentence yourself"
_SETTLE = "correct the wrong one; if sources say both, set the `authority` of one, or add a source that settles it"
_SIDES = 5  # lines below the heading of a contradiction
_QUOTED = 100  # characters of a sentence or quote in a finding


def uncited(wiki: Wiki) -> Found:
    """Yield statements of articles, topics and answers that cite nothing."""
    said = [(page, page.sentences) for page in (*wiki.articles, *wiki.topics)]
    said += [(page, wiki.answer_pages[page.path].sentences) for page in wiki.answers]
    said += [(page, wiki.prose[page.path]) for page in wiki.sources if page.path in wiki.prose]
    for page, statements in said:
        for sentence in statements:
            if not sentence.cites:
                what = f"“{truncate(sentence.text, _QUOTED)}” cites nothing"
                yield page.path, sentence.line, what, "cite a claim, or mark it as your remark: `> [!human]`"


def superseded(wiki: Wiki) -> Found:
    """Yield citations of claims of older editions."""
    yield from _citing(wiki, ClaimState.SUPERSEDED, "is from an older edition")


def retracted(wiki: Wiki) -> Found:
    """Yield citations of claims that their sources do not make any more."""
    yield from _citing(wiki, ClaimState.RETRACTED, "is no longer in its source")


def _citing(wiki: Wiki, state: ClaimState, why: str) -> Found:
    for page in (*wiki.articles, *wiki.topics):
        for sentence in page.sentences:
            for cite in sentence.cites:
                known = wiki.claims.get(str(cite.claim))
                if known is not None and known[0].state is state:
                    what = f"the claim “{truncate(known[0].quote, _QUOTED)}” {why}"
                    yield page.path, sentence.line, what, _REMEDY


def contradictions(wiki: Wiki) -> Found:
    """Yield contradictions that nothing decides, with the words of both sides."""
    shown = set()
    for page, line, sides in _undecided(wiki):
        shown |= {frozenset(sides)}
        what = "sources contradict each other: " + " / ".join(f"“{truncate(side, _QUOTED)}”" for side in sides)
        yield page.path, line, what, "set the `authority` of one source, or add a source that settles it"
    for found in conflicts(wiki):
        if found.point is Point.WORDS and frozenset((found.first.words, found.second.words)) not in shown:
            yield (*_place(found), _both(found), _SETTLE)


def numbers(wiki: Wiki) -> Found:
    """Yield numbers for one thing that differ from page to page or on a card, with the words of both sides."""
    for found in conflicts(wiki):
        if found.point is Point.NUMBER:
            yield (*_place(found), _both(found), _SETTLE)


def _place(found: Conflict) -> tuple[str, int]:
    """Return the place of a conflict: that of the side that is not its source's own words; of two sources the first."""
    first, second = (found.first.path, found.first.line), (found.second.path, found.second.line)
    if found.first.verbatim and found.second.verbatim:
        return min(first, second)
    return second if found.first.verbatim else first


def _both(found: Conflict) -> str:
    """Return both sides of a conflict with their places."""
    sides = (found.first, found.second)
    return " / ".join(f"“{truncate(side.words, _QUOTED)}” ({side.path}:{side.line})" for side in sides)


def _undecided(wiki: Wiki) -> Iterator[tuple[Page, int, list[str]]]:
    """Yield (page, line, words of both sides) of the open contradictions that articles show."""
    for page in wiki.articles:
        said = {sentence.line: sentence.text for sentence in page.sentences}
        for number, line in enumerate(page.text.split("\n"), 1):
            if line.startswith("### ") and UNDECIDED in line:
                yield page, number, [words for at, words in sorted(said.items()) if number < at <= number + _SIDES][:2]


def not_compiled(wiki: Wiki) -> Found:
    """Yield files of sources that a compile lists and no page of a source or index names; no pictures and the like.

    What of them an index links to has no claims, and so no page.
    """
    known = {summary.properties.text("source") for summary in wiki.summaries.values()}
    digests = {summary.properties.text("source_sha256") for summary in wiki.summaries.values()}
    linked = frozenset[str]().union(*(page.targets for page in wiki.indexes))
    index = "\n".join(page.text for page in wiki.indexes)
    root, rules = wiki.vault.root, wiki.vault.notes
    for path in (file.path for file in wiki.source_files.files):
        title = path.rpartition("/")[2]
        if path in known or path.removesuffix(".md") in linked or raw_link(path, title, depth=1) in index:
            continue
        data = (root / path).read_bytes()
        if is_note(rules, path) and facts_of(data).is_left_out(rules):
            continue
        if kind_of(title, data[:HEAD]) not in RECORDED and sha256_hex(data) not in digests:
            yield path, 0, "it has not been compiled", "run `retain compile`"
