"""Searches of the sources and of the wiki, by words: the best entries of each kind.

A word of the query that is in no text is left out, and named: it never empties a result. Entries are ranked by BM25,
with the words of titles and headings counting more. A passage ranks higher if its neighbours and its whole document
fit the query, too; a page of the wiki, if other pages link to it. Where the user's settings name what else ranks
entries (`compiler.search.likeness`), the lists are joined by reciprocal ranks.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from compiler.index.entries import (
    CODE,
    Entry,
    Match,
    beginning_with,
    counts,
    is_somewhere,
    languages,
    links_to,
    matching,
    matching_sources,
    paths_of,
    read_entry,
    size,
)
from compiler.index.steps import Steps
from compiler.language.search_terms import alternatives, places, query_words, terms
from compiler.readers.formats import VERSIONS
from compiler.search.index import Progress, bring_up_to_date
from vault.errors import Refused
from vault.index.database import Database, IndexDamaged, IndexUnwritable, has_full_text
from vault.text.formatting import fold, folded
from vault.vault import Vault

KINDS = ("passage", "article", "topic", "answer", "claim", "summary", "card")
RANKED_BESIDE = frozenset({"passage", "article", "topic", "answer"})  # besides words, by what the user chose
TITLE, WORDS = 2.0, 1.0  # weights of the columns in BM25
SNIPPET = 200  # characters
_CANDIDATES = 3  # times as many passages as are wanted, of which listings are put behind prose
# Letters that words have in common, letters at the end of a lone word that may differ, words that are tried.
_PREFIX, _CUT, _LONGER = 4, 2, 20
_LOOKED_AT = 200  # entries of a kind that are compared
_NEIGHBOUR, _DOCUMENT = 0.15, 0.3  # what the score of each neighbour and of the document add to that of a passage
# Each list adds its weight / (_RANK + rank) to the score of an entry; that by words weighs less where another leads.
_RANK, WORDS_BESIDE = 5, 0.1
_LINK = 0.05  # what links to a page add to its score
_LISTS = {kind: "summaries" if kind == "summary" else f"{kind}s" for kind in KINDS}
_PHRASE = re.compile(r'(-?)"([^"]+)"')
_WITHOUT = re.compile(r"(?<!\S)-([^\W\d]\S*)")  # "-1" is a number
T = TypeVar("T")
Likeness = Callable[[Database, str], "Sequence[Ranking]"]  # what ranks entries for a query besides words


@dataclass(frozen=True, slots=True)
class Word:
    """A word or phrase of a query: `terms` are its spellings as terms, `weight` is higher the rarer it is."""

    text: str
    terms: tuple[tuple[str, ...], ...]
    weight: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """Entries of a kind that fit a query, by their numbers, the best first; `weight` is that of the list."""

    kind: str
    numbers: Sequence[int]
    weight: float


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that was found, and how well it fits: the higher, the better."""

    entry: Entry
    score: float


@dataclass(frozen=True, slots=True)
class Results:
    """What a query found: hits by kind, the best first; its words; and those that no text has."""

    hits: dict[str, list[Hit]]
    words: tuple[Word, ...]
    unknown: tuple[str, ...]

    def __bool__(self) -> bool:
        return any(self.hits.values())


def with_index(
    vault: Vault,
    use: Callable[[Database], T],
    progress: Progress = lambda event: None,
    fill: Callable[[Steps], None] = lambda steps: None,
) -> T:
    """Return what `use` returns for the index of the wiki, brought up to date; for a new one where that is damaged, for
    a copy in memory where it cannot be written.

    `fill` may put sources into the index first: the same one, as one in memory is gone when it is closed.
    Raises: Refused where SQLite has no full-text search; what `fill` raises.
    """
    if not has_full_text():
        raise Refused("this Python's SQLite has no full-text search", hint="install a Python whose SQLite has FTS5")

    def once(*, keeps: bool = True) -> T:
        steps = Steps.of(vault, VERSIONS, keeps=keeps)
        try:
            fill(steps)
            bring_up_to_date(vault, steps, progress)
            return use(steps.database)
        finally:
            steps.close()

    try:
        return once()
    except IndexDamaged as error:
        return once(keeps=not isinstance(error, IndexUnwritable))


def search(
    database: Database,
    query: str,
    kinds: Sequence[str] = KINDS,
    limit: int = 10,
    likeness: Likeness | None = None,
    *,
    is_prose: bool = False,
) -> Results:
    """Return the best entries of each kind for a query.

    A quoted phrase stands together; a word or phrase with a minus sign must not be there. In prose, as a question is,
    quotes and dashes have no such meaning. With `likeness`, entries are ranked by that, too, unless the query asks for
    exact words alone. Raises: IndexDamaged.
    """
    asked = _Operators((), (), query) if is_prose else _operators(query)
    excluded = asked.excluded
    words, unknown = _known(database, query_words(asked.words), asked.phrases)
    hits: dict[str, list[Hit]] = {kind: [] for kind in kinds}
    wants_more = likeness is not None and asked.words.strip() and not excluded and not RANKED_BESIDE.isdisjoint(kinds)
    lists = likeness(database, query) if likeness is not None and wants_more else ()
    found: dict[str, list[Match]] = {kind: [] for kind in kinds}
    if words:
        match = " OR ".join(map(_fts, _selective(words)))
        if without := _known(database, (), excluded)[0]:
            match = f"({match}) NOT ({' OR '.join(map(_fts, without))})"
        found = matching(database, match, kinds, _LOOKED_AT, title=TITLE, words=WORDS)
    for kind in kinds:
        if found[kind] and kind == "passage":
            found[kind] = _in_documents(database, match, found[kind])
        elif kind in ("article", "topic"):
            found[kind] = _by_links(database, found[kind])
        ranked = _joined(database, found[kind], [each for each in lists if each.kind == kind])
        best = list(islice(_distinct(database, ranked), _CANDIDATES * limit if kind == "passage" else limit))
        hits[kind] = _prose_first(best, words)[:limit]
    return Results(hits, words, unknown)


class _Operators(NamedTuple):
    """The parts of a query with operators: its quoted phrases, what must not be there, and its other words."""

    phrases: Sequence[str]
    excluded: Sequence[str]
    words: str


def _operators(query: str) -> _Operators:
    """Return the parts of a query."""
    quoted, rest = _PHRASE.findall(query), _PHRASE.sub(" ", query)
    phrases = [words for minus, words in quoted if not minus]
    excluded = [*(words for minus, words in quoted if minus), *_WITHOUT.findall(rest)]
    return _Operators(phrases, excluded, _WITHOUT.sub(" ", rest))


def _prose_first(hits: Sequence[Hit], words: Sequence[Word]) -> list[Hit]:
    """Return hits with each listing behind the prose that has all the words of the query that the listing has."""
    if not any(hit.entry.form == CODE for hit in hits):
        return list(hits)
    has = [words_in(hit.entry.text, hit.entry.language, words) for hit in hits]
    prose = [(n, each) for n, each in enumerate(has) if hits[n].entry.form != CODE]

    def place(n: int) -> tuple[int, int]:
        if hits[n].entry.form != CODE:
            return n, 0
        return max((at for at, each in prose if at > n and each >= has[n]), default=n), 1

    return [hits[n] for n in sorted(range(len(hits)), key=place)]


def words_in(text: str, language: str, words: Sequence[Word]) -> frozenset[int]:
    """Return the numbers of the words of a query that a text has."""
    has = set(terms(text, language))
    return frozenset(n for n, word in enumerate(words) if any(has.issuperset(spelling) for spelling in word.terms))


def _in_documents(database: Database, match: str, found: Sequence[Match]) -> list[Match]:
    """Return passages ranked by what they, their neighbours and their documents have of the query."""
    scores = {(each.path, each.number): each.score for each in found}
    near = {
        (path, n): score + _NEIGHBOUR * (scores.get((path, n - 1), 0.0) + scores.get((path, n + 1), 0.0))
        for (path, n), score in scores.items()
    }
    sources = matching_sources(database, match, _LOOKED_AT)
    share = _DOCUMENT * max(near.values(), default=0.0) / max([*sources.values(), 1e-9])
    return _sorted(Match(n, path, score + share * sources.get(path, 0.0)) for (path, n), score in near.items())


def _joined(database: Database, by_words: Sequence[Match], lists: Sequence[Ranking]) -> list[Match]:
    """Return entries ranked by all lists in which they are, by reciprocal rank fusion (Cormack et al. 2009)."""
    if not any(each.numbers for each in lists):
        return list(by_words)
    scores: dict[int, float] = defaultdict(float)
    words = Ranking("", [match.number for match in by_words], WORDS_BESIDE)
    for each in (words, *lists):
        for rank, number in enumerate(each.numbers, 1):
            scores[number] += each.weight / (_RANK + rank)
    paths = paths_of(database, scores)
    return _sorted(Match(number, path, scores[number]) for number, path in paths.items())


def _by_links(database: Database, found: Sequence[Match]) -> list[Match]:
    """Return pages ranked by what they have of the query, and by how many other pages link to them."""
    links = links_to(database, {each.path for each in found})
    raised = (each.score * (1 + _LINK * math.log1p(links.get(each.path, 0))) for each in found)
    return _sorted(Match(each.number, each.path, score) for each, score in zip(found, raised, strict=True))


def _sorted(found: Iterable[Match]) -> list[Match]:
    return sorted(found, key=lambda each: (-each.score, each.number))


def _known(
    database: Database, parts: Sequence[str], phrases: Sequence[str]
) -> tuple[tuple[Word, ...], tuple[str, ...]]:
    """Return the words and phrases that are in some text, and those that are in none.

    A run of Chinese, Japanese or Korean that is in none is searched by its pairs of characters.
    """
    known_languages, everything = languages(database), size(database)
    spellings = {part: [each for each in alternatives(part, known_languages) if each] for part in (*phrases, *parts)}
    in_texts = counts(database, {term for each in spellings.values() for spelling in each for term in spelling})
    words, unknown = list[Word](), list[str]()

    def add(part: str, there: tuple[tuple[str, ...], ...]) -> None:
        count = max(min(in_texts[term] for term in spelling) for spelling in there)
        words.append(Word(part, there, math.log(1 + (everything - count + 0.5) / (count + 0.5))))

    for part, each in spellings.items():
        there = tuple(spelling for spelling in each if _is_there(database, spelling, in_texts))
        if not there and each and part not in phrases and len(each[0]) == 1:
            longer = _beginning_alike(database, part, 0 if len(spellings) > 1 else _CUT)
            there, in_texts = tuple((term,) for term in longer), in_texts | longer
        pairs = [term for term in each[0] if term in in_texts] if each and part not in phrases else []
        if there:
            add(part, there)
        elif pairs:
            for pair in dict.fromkeys(pairs):
                add(pair, ((pair,),))
        elif each:
            unknown.append(part)
    return tuple(words), tuple(unknown)


def _is_there(database: Database, spelling: tuple[str, ...], in_texts: Mapping[str, int]) -> bool:
    """Return whether some text has these terms, together and in this order."""
    return all(term in in_texts for term in spelling) and (
        len(spelling) == 1 or is_somewhere(database, _quoted(spelling))
    )


def _beginning_alike(database: Database, word: str, cut: int) -> dict[str, int]:
    """Return the terms, with their counts, that begin like a word that is nowhere: one that is unfinished, say.

    Terms are stems: `cut` letters at the end of the word need not be in them.
    """
    for length in range(len(word), max(_PREFIX, len(word) - cut) - 1, -1):
        if found := counts(database, beginning_with(database, word[:length], _LONGER)):
            return found
    return {}


def _selective(words: Sequence[Word]) -> list[Word]:
    """Return the words to look for: those that most texts have only where there are no others."""
    return [word for word in words if word.weight > math.log(2)] or list(words)


def _fts(word: Word) -> str:
    """Return a word as a full-text query."""
    return " OR ".join(map(_quoted, word.terms))


def _quoted(spelling: Sequence[str]) -> str:
    """Return terms as a phrase of a full-text query."""
    return '"' + " ".join(term.replace('"', '""') for term in spelling) + '"'


def _distinct(database: Database, found: Iterable[Match]) -> Iterator[Hit]:
    """Yield the hits without passages that repeat others, as those of copies do."""
    seen = set[str]()
    for each in found:
        entry = read_entry(database, each.number)
        text = folded(entry.text)
        if entry.kind != "passage" or text not in seen:
            yield Hit(entry, each.score)
        seen.add(text)


def snippet(hit: Hit, words: Sequence[Word], length: int = SNIPPET) -> tuple[str, list[tuple[int, int]]]:
    """Return the part of a text in which most of the query stands, and (start, end) of the query's words in it."""
    wanted = frozenset(term for word in words for spelling in word.terms for term in spelling)
    text, language = fold(hit.entry.text), hit.entry.language
    at = places(text, language, wanted)
    start, most = 0, 0
    for n, (first, _) in enumerate(at):
        inside = sum(end <= first + length for _, end in at[n:])
        if inside > most:
            start, most = first, inside
    start = max(0, min(start - length // 4, len(text) - length))
    start = text.find(" ", start) + 1 if start else 0
    end = len(text) if len(text) <= start + length else max(text.rfind(" ", start, start + length), start + length // 2)
    before, after = "… " if start else "", " …" if end < len(text) else ""
    marks = [(a - start + len(before), b - start + len(before)) for a, b in at if start <= a and b <= end]
    return f"{before}{text[start:end].strip()}{after}", marks


def results_as_json(results: Results) -> dict[str, Any]:
    """Return what was found as JSON: a list for each kind, and the words that are nowhere."""
    lists = {_LISTS[kind]: [_hit_as_json(hit, results.words) for hit in hits] for kind, hits in results.hits.items()}
    return {"words": [word.text for word in results.words], "unknown": list(results.unknown), **lists}


def _hit_as_json(hit: Hit, words: Sequence[Word]) -> dict[str, Any]:
    entry, (text, marks) = hit.entry, snippet(hit, words)
    found: dict[str, Any] = {"id": entry.ref} if entry.ref else {}
    found |= {"title": entry.title, "path": entry.path, "line": entry.line or None, "place": entry.place or None}
    found |= {"source": entry.cites} if entry.kind == "claim" else {}
    return found | {"snippet": text, "marks": marks, "score": round(hit.score, 3)}
