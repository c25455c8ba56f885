"""Rules on filed answers: they are evidence of nothing, and are out of date when what they rest on changes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import suppress

from compiler.lint.wiki import Wiki
from vault.errors import Damaged, Refused
from vault.ids import digest12
from vault.layout import ANSWERS
from vault.model.answer_page import AnswerPage
from vault.model.claim import ClaimState
from vault.model.wikilink import Wikilink, links
from vault.text.formatting import clean_line, fold, truncate

Found = Iterator[tuple[str, int, str, str]]
_QUOTED = 100  # characters of a quote in a finding


def circular(wiki: Wiki) -> Found:
    """Yield what rests on an answer: pages and cards that cite one or name it as a source, pages of sources of one."""
    for page in (*wiki.pages, *wiki.answers):
        remedy = "cite the claims in wiki/summaries/ that the answer cites"
        for source in (*page.properties.texts("sources"), page.properties.text("source")):
            if source.startswith(f"{ANSWERS}/") or any(map(_is_answer, links(source))):
                yield page.path, 1, f"an answer is used as a source: {clean_line(source)}", remedy
        for line, link in page.links:
            if _is_answer(link) and _is_citation(link):
                yield page.path, line, f"it cites an answer: {clean_line(str(link))}", remedy
    for path in wiki.vault.paths("learning/flashcards", ".md"):
        text = _text(wiki, path)
        for number, words in enumerate(text.split("\n"), 1):
            cites = [link for link in links(words) if _is_answer(link) and _is_citation(link)]
            if cites:
                yield path, number, f"the card cites an answer: {clean_line(str(cites[0]))}", "cite a claim"


def stale(wiki: Wiki) -> Found:
    """Yield answers of which a claim changed, was superseded or retracted."""
    for page in wiki.answers:
        answer = wiki.answer_pages[page.path]
        why = next(_outdated(answer, wiki), "")
        if why:
            yield page.path, 0, why, f"`retain ask {shlex.quote(answer.question)} --file-back`"


def _outdated(answer: AnswerPage, wiki: Wiki) -> Iterator[str]:
    """Yield what became of the claims that an answer was made of."""
    for id_, digest in answer.claims.items():
        known = wiki.claims.get(id_)
        if id_ in wiki.altered:
            continue  # a changed quote is no change of its source
        if known is None:
            yield f"the claim {clean_line(id_)} no longer exists"
            continue
        claim, words = known[0], f"“{truncate(known[0].quote, _QUOTED)}”"
        if claim.state is ClaimState.SUPERSEDED:
            yield f"the claim {words} is from an older edition"
        elif claim.state is ClaimState.RETRACTED:
            yield f"the claim {words} is no longer in its source"
        elif digest12(fold(claim.quote)) != digest:
            yield f"its source now says: {words}"


def _text(wiki: Wiki, path: str) -> str:
    with suppress(Damaged, Refused):  # `retain verify` names it
        return wiki.vault.read_text(path) or ""
    return ""


def _is_answer(link: Wikilink) -> bool:
    return link.target.startswith(f"{ANSWERS}/")


def _is_citation(link: Wikilink) -> bool:
    """Return whether a link stands as evidence: it leads to a claim or quote, or is shown as a number."""
    return link.anchor.startswith(("^c-", "^q-")) or link.alias.strip().isdecimal()
