"""Rules on support: what `retain verify` has against sentences and cards, as far as the wiki alone shows it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from compiler.gates.gates import statement_refused
from compiler.lint.wiki import Wiki
from vault.model.answer_page import HERE
from vault.model.claim import ClaimState
from vault.model.wikilink import Citation
from vault.text.formatting import truncate

Found = Iterator[tuple[str, int, str, str]]
_QUOTED = 100  # characters of a sentence in a finding
_AROUND = 30  # characters before the first difference of two quotes


def sentences(wiki: Wiki) -> Found:
    """Yield sentences and quotes that their claims do not bear out, and claims whose quote was changed.

    What cites nothing, what is gone, and what cites a changed quote, others find.
    """
    yield from _altered(wiki)
    yield from _retitled(wiki)
    cited = dict(_cited(wiki))
    for found in wiki.unsupported.uncited:
        text = cited.get((found["path"], found["line"], found["id"]))
        if text is not None:
            remedy = "change the sentence or what it cites, or mark it as your remark: `> [!human]`"
            if found["path"] in wiki.answer_pages:
                question = wiki.answer_pages[found["path"]].question
                remedy = f"to replace it, run `retain ask {shlex.quote(question)} --file-back`, unless you edited it"
            yield found["path"], found["line"], f"“{truncate(text, _QUOTED)}”: {found['reason']}", remedy


def _altered(wiki: Wiki) -> Found:
    """Yield the claims whose quote is not what it was when it was found in its source."""
    remedy = "delete the page, and run `retain compile` to write it again; if the source has changed, compile first"
    for id_, (path, line, recorded) in wiki.altered.items():
        now = wiki.claims[id_][0].quote
        start = next((n for n, (a, b) in enumerate(zip(now, recorded, strict=False)) if a != b), 0)
        shown = (
            f"“{'…' if start > _AROUND else ''}{truncate(words[max(0, start - _AROUND) :], _QUOTED)}”"
            for words in (now, recorded)
        )
        yield path, line, "its quote was changed: it is now {}, and was {} in the source".format(*shown), remedy


def _retitled(wiki: Wiki) -> Found:
    """Yield the claims of pages that the user edited whose title says what their quote does not."""
    for path in wiki.prose:
        for located in wiki.summaries[path].claims:
            claim = located.claim
            if str(claim.id) not in wiki.altered and (why := statement_refused(claim.statement, claim.quote)):
                what = f"the title “{truncate(claim.statement, _QUOTED)}”: {why}"
                yield path, located.line, what, "write what the quote says, or delete the title"


def _cited(wiki: Wiki) -> Iterator[tuple[tuple[str, int, str], str]]:
    """Yield the texts that cite claims which are there, each after (path, line, its beginning) as a check names it."""
    current = {id_ for id_, (claim, _, _) in wiki.claims.items() if claim.state is not ClaimState.RETRACTED}
    current -= wiki.altered.keys()

    def all_there(cites: Iterable[Citation]) -> bool:
        return all(cite.summary == HERE or str(cite.claim) in current for cite in cites)

    said = [(page.path, page.sentences) for page in (*wiki.articles, *wiki.topics)]
    said += [(path, page.sentences) for path, page in wiki.answer_pages.items()]
    said += wiki.prose.items()
    for path, statements in said:
        for each in statements:
            if each.cites and all_there(each.cites):
                yield (path, each.line, each.text[:60]), each.text
    for path, page in wiki.answer_pages.items():
        for quote in page.quotes:
            if all_there(quote.cites):
                yield (path, quote.line, quote.words[:60]), quote.words


def cards(wiki: Wiki) -> Found:
    """Yield cards whose support is missing or does not bear out their answer."""
    damaged = {(d.path, d.line) for deck in wiki.decks for d in deck.diagnostics}
    damaged |= {
        (deck.path, card.line)
        for deck in wiki.decks
        if wiki.altered
        for card in deck.cards
        if any(str(cite.claim) in wiki.altered for cite in card.support)
    }
    for found in wiki.unsupported.unsupported:
        if (found["path"], found["line"]) not in damaged and "its id is in" not in found["reason"]:
            remedy = (
                "edit the card (`retain card edit`) or delete it; `retain compile` rewrites cards that you did not edit"
            )
            yield found["path"], found["line"], found["reason"], remedy
