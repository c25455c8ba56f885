"""Rules on support: what `retain verify` has against sentences and cards, as far as the wiki alone shows it."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.lint.wiki import Wiki
from vault.model.claim import ClaimState
from vault.text.formatting import truncate

Found = Iterator[tuple[str, int, str, str]]
_QUOTED = 100  # characters of a sentence in a finding


def sentences(wiki: Wiki) -> Found:
    """Yield sentences that their claims do not bear out. What cites nothing, or what is gone, other rules find."""
    current = {id_ for id_, (claim, _, _) in wiki.claims.items() if claim.state is not ClaimState.RETRACTED}
    there = {
        (page.path, sentence.line, sentence.text[:60]): sentence
        for page in (*wiki.articles, *wiki.topics)
        for sentence in page.sentences
        if sentence.cites and all(str(cite.claim) in current for cite in sentence.cites)
    }
    for found in wiki.unsupported.uncited:
        sentence = there.get((found["path"], found["line"], found["id"]))
        if sentence is not None:
            what = f"“{truncate(sentence.text, _QUOTED)}”: {found['reason']}"
            remedy = "change the sentence or what it cites, or mark it as your remark: `> [!human]`"
            yield found["path"], found["line"], what, remedy


def cards(wiki: Wiki) -> Found:
    """Yield cards whose support is missing or does not bear out their answer."""
    damaged = {(d.path, d.line) for deck in wiki.decks for d in deck.diagnostics}
    for found in wiki.unsupported.unsupported:
        if (found["path"], found["line"]) not in damaged and "its id is in" not in found["reason"]:
            remedy = "`retain card edit`, or delete it; `retain compile` writes cards that you did not edit again"
            yield found["path"], found["line"], found["reason"], remedy
