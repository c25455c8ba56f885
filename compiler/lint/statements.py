"""What a wiki states: the sentences of its pages, the answers of its cards and the quotes that they rest on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from compiler.claims.conflicts import ASKED
from compiler.claims.contradictions import is_plain, wording
from compiler.claims.plain_contradictions import Point, contradict, contradict_in_one_wording, likeness
from compiler.lint.wiki import Page, Wiki
from vault.ids import digest12
from vault.model.claim import Claim, ClaimState
from vault.model.markdown import plain_words
from vault.text.formatting import fold

_FEWEST = 4  # words of statements that are compared for their wording
_LONGEST = 400  # characters
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
class Pair:
    """Two statements on a subject, "" where they have one wording and no subject in common."""

    subject: str
    first: Statement
    second: Statement


@dataclass(frozen=True, slots=True)
class Conflict(Pair):
    """Two statements that cannot both hold, and on what they differ."""

    point: Point


def key_of(first: Statement, second: Statement) -> str:
    """Return the key under which a model's verdict on two statements is stored, as a compile has it."""
    return digest12("\x1f".join(sorted((fold(first.words), fold(second.words)))))


@lru_cache(maxsize=1)  # for the rule on numbers and the one on words
def conflicts(wiki: Wiki) -> list[Conflict]:
    """Return the statements that contradict each other, of other sources or where one is not its source's words.

    What a model said of a pair stands above the rules.
    """
    found: dict[tuple[str, ...], Conflict] = {}
    judged = wiki.judged_pairs
    for pair in (*_on_one_subject(wiki), *_in_one_wording(wiki)):
        key = tuple(sorted((pair.first.words, pair.second.words)))
        if key in found:
            continue
        verdict = judged.get(key_of(pair.first, pair.second), "") if judged else ""
        point = _point(pair, wiki) if verdict in ("", "conflict") else None
        if point is None and verdict == "conflict":
            point = Point.WORDS
        if point is not None:
            found[key] = Conflict(pair.subject, pair.first, pair.second, point)
    return list(found.values())


def doubtful(wiki: Wiki) -> list[Pair]:
    """Return the pairs that may contradict each other and of which no model said whether they do."""
    out: list[Pair] = []
    asked: set[str] = set()
    by_subject: dict[str, list[tuple[float, Pair]]] = defaultdict(list)
    for pair in _on_one_subject(wiki):
        weight = likeness(pair.first.words, pair.second.words, pair.subject)
        if weight:
            by_subject[pair.subject].append((weight, pair))
    for weighed in by_subject.values():
        for _, pair in sorted(weighed, key=lambda each: -each[0])[:ASKED]:
            key = key_of(pair.first, pair.second)
            if key not in wiki.judged_pairs and key not in asked:
                asked.add(key)
                out.append(pair)
    return out


def _point(pair: Pair, wiki: Wiki) -> Point | None:
    """Return on what two statements contradict each other by rule; None if they may both hold."""
    if not pair.subject:
        return contradict_in_one_wording(pair.first.words, pair.second.words)
    days = _day(wiki, pair.first), _day(wiki, pair.second)
    return contradict(pair.first.words, pair.second.words, pair.subject, days)


def _day(wiki: Wiki, statement: Statement) -> str:
    """Return when the source of a statement was published; "" if it has several, or that is not known."""
    if len(statement.sources) != 1:
        return ""
    summary = wiki.summaries.get(next(iter(statement.sources)))
    return summary.properties.text("published") if summary is not None else ""


def _on_one_subject(wiki: Wiki) -> Iterator[Pair]:
    """Yield the pairs of statements of an article, its deck and the claims that it cites."""
    answers: dict[str, list[Statement]] = defaultdict(list)
    for statement, article in _answers(wiki):
        answers[article].append(statement)
    for page in wiki.articles:
        own = [*_sentences(page, wiki), *answers[page.stem], *_claims(page, wiki)]
        said = list({s.words: s for s in reversed(own) if is_plain(s.words)}.values())[::-1][:MOST]
        pairs = combinations(said, 2)  # what one document says in two ways it has under conditions of its own
        yield from (Pair(page.title, a, b) for a, b in pairs if a.sources.isdisjoint(b.sources))


def _in_one_wording(wiki: Wiki) -> Iterator[Pair]:
    """Yield the pairs of statements anywhere that have the same words but for numbers and denials."""
    groups: dict[tuple[str, ...], dict[str, Statement]] = defaultdict(dict)
    pages = [s for page in (*wiki.articles, *wiki.topics) for s in _sentences(page, wiki)]
    for statement in (*pages, *(s for s, _ in _answers(wiki))):
        if len(statement.words) <= _LONGEST and len(form := tuple(wording(statement.words))) >= _FEWEST:
            groups[form].setdefault(statement.words, statement)
    for group in groups.values():
        pairs = combinations(list(group.values())[:MOST], 2)
        yield from (Pair("", a, b) for a, b in pairs if not (a.verbatim and b.verbatim))


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
