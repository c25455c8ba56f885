"""What a wiki states: the sentences of its pages, the answers of its cards and the quotes that they rest on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from compiler.claims.contradictions import forms_in, is_plain
from compiler.claims.plain_contradictions import Point, contradict
from compiler.lint.wiki import Page, Wiki
from vault.model.claim import Claim, ClaimState
from vault.model.markdown import plain_words
from vault.text.formatting import fold

MOST = 200  # statements on one subject that are compared
_CURRENT = (ClaimState.CURRENT, ClaimState.DISPUTED)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement: its words, its place, the pages of the sources behind it; `verbatim` if one has these very words."""

    words: str
    path: str
    line: int
    sources: frozenset[str]
    verbatim: bool


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two statements on a subject that cannot both hold."""

    subject: str
    point: Point
    first: Statement
    second: Statement


@lru_cache(maxsize=1)  # for the rule on numbers and the one on words
def conflicts(wiki: Wiki) -> list[Conflict]:
    """Return the statements that contradict each other, of other sources or where one is not its source's words."""
    found: dict[tuple[str, str], Conflict] = {}
    for subject, first, second in (*_on_one_subject(wiki), *_in_one_wording(wiki)):
        key = tuple(sorted((first.words, second.words)))
        if key in found:
            continue
        days = _day(wiki, first), _day(wiki, second)
        point = contradict(first.words, second.words, subject, days)
        if point is not None:
            found[key[0], key[1]] = Conflict(subject, point, first, second)
    return list(found.values())


def _day(wiki: Wiki, statement: Statement) -> str:
    """Return when the source of a statement was published; "" if it has several, or that is not known."""
    if len(statement.sources) != 1:
        return ""
    summary = wiki.summaries.get(next(iter(statement.sources)))
    return summary.properties.text("published") if summary is not None else ""


def _on_one_subject(wiki: Wiki) -> Iterator[tuple[str, Statement, Statement]]:
    """Yield the pairs of statements of an article, its deck and the claims that it cites."""
    answers: dict[str, list[Statement]] = defaultdict(list)
    for statement, article in _answers(wiki):
        answers[article].append(statement)
    for page in wiki.articles:
        own = [*_sentences(page, wiki), *answers[page.stem], *_claims(page, wiki)]
        said = list({s.words: s for s in reversed(own) if is_plain(s.words)}.values())[::-1][:MOST]
        pairs = combinations(said, 2)  # what one document says in two ways it has under conditions of its own
        yield from ((page.title, a, b) for a, b in pairs if a.sources.isdisjoint(b.sources))


def _in_one_wording(wiki: Wiki) -> Iterator[tuple[str, Statement, Statement]]:
    """Yield the pairs of statements anywhere that have the same words but for numbers and denials."""
    groups: dict[str, dict[str, Statement]] = defaultdict(dict)
    pages = [s for page in (*wiki.articles, *wiki.topics) for s in _sentences(page, wiki)]
    for statement in (*pages, *(s for s, _ in _answers(wiki))):
        if form := forms_in(statement.words).wording:
            groups[form].setdefault(statement.words, statement)
    for group in groups.values():
        pairs = combinations(list(group.values())[:MOST], 2)
        yield from (("", a, b) for a, b in pairs if not (a.verbatim and b.verbatim))


def _sentences(page: Page, wiki: Wiki) -> Iterator[Statement]:
    """Yield the sentences of a page."""
    for sentence in page.sentences:
        known = [wiki.claims[str(c.claim)] for c in sentence.cites if str(c.claim) in wiki.claims]
        yield _statement(sentence.text, page.path, sentence.line, known)


def _answers(wiki: Wiki) -> Iterator[tuple[Statement, str]]:
    """Yield the answers of all cards, each with the article of its deck."""
    for deck in wiki.decks:
        article = deck.properties.text("article").removeprefix("[[").split("|")[0].removesuffix("]]")
        for card in deck.cards:
            known = [wiki.claims[str(c.claim)] for c in card.support if str(c.claim) in wiki.claims]
            yield _statement(fold(plain_words(card.answer)), deck.path, card.line, known), article


def _claims(page: Page, wiki: Wiki) -> Iterator[Statement]:
    """Yield the quotes that a page rests on."""
    for id_ in sorted(page.cites):
        if id_ in wiki.claims and wiki.claims[id_][0].state in _CURRENT:
            claim, path, line = wiki.claims[id_]
            yield _statement(claim.words, path, line, [(claim, path, line)])


def _statement(words: str, path: str, line: int, known: list[tuple[Claim, str, int]]) -> Statement:
    """Return a statement that rests on these claims."""
    verbatim = any(fold(words) in (fold(claim.words), fold(claim.quote)) for claim, _, _ in known)
    return Statement(words, path, line, frozenset(source for _, source, _ in known), verbatim)
