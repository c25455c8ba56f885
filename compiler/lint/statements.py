"""What a wiki states: the sentences of its pages, the answers of its cards and the quotes that they rest on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from compiler.claims.conflicts import ASKED
from compiler.claims.contradictions import is_plain, wording
from compiler.claims.plain_contradictions import Point, contradict, contradict_in_one_wording, likeness
from compiler.claims.source_conflicts import conflict, subject_key
from compiler.language.mentions import places
from compiler.lint.wiki import Page, Wiki
from compiler.sources.editions import are_comparable
from vault.ids import digest12
from vault.model.claim import Claim, ClaimState
from vault.model.markdown import plain_words
from vault.text.formatting import fold

_FEWEST = 4  # words of statements that are compared for their wording
_LONGEST = 400  # characters
_COMMON = 40  # statements on one subject that have a word, from which on it says little
_SHARED = 0.15  # of the words of two statements
_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\d_]{3,}")
_DENIAL = re.compile(r"\b(?:cannot|can|not|no|never|do|does|did)\b|n['’]t\b", re.IGNORECASE)
_DIGITS = re.compile(r"[\d.]+")
_OPENING = re.compile(r"\W?(?:(?:The|An?|Each|Every|Der|Die|Das|Eine?)\s+)?([^\W\d_]{1,4})")
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
    for each in _between_sources(wiki):
        key = tuple(sorted((each.first.words, each.second.words)))
        if key not in found and judged.get(key_of(each.first, each.second), "conflict") == "conflict":
            found[key] = each
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
    if pair.first.verbatim and pair.second.verbatim and _is_decided(wiki, pair.first, pair.second):
        return None
    return contradict(pair.first.words, pair.second.words, pair.subject, days)


def _between_sources(wiki: Wiki) -> Iterator[Conflict]:
    """Yield the claims of two sources that give one thing another quantity, or of which one denies the other.

    Their thing needs no article. Two editions of a document, by their names or dates, are none.
    """
    by_subject: dict[str, list[Statement]] = defaultdict(list)
    for claim in _claims(wiki):
        by_subject[_opening(claim.words)].append(claim)
    for opening, alike in by_subject.items():
        if not opening or len({claim.path for claim in alike}) == 1:
            continue
        said = [claim for claim in alike if subject_key(claim.words)]
        for a, b in combinations(said[:MOST], 2):
            if wiki.origins[a.path] == wiki.origins[b.path] or not _nearly_the_same_words(a.words, b.words):
                continue
            point = conflict(a.words, b.words)
            days = _day(wiki, a), _day(wiki, b)
            if point and not (are_comparable(*days) or _are_editions(wiki, a, b) or _is_decided(wiki, a, b)):
                yield Conflict("", a, b, point)


def _opening(words: str) -> str:
    """Return how the first word after an article begins, in lower case: of two forms of a word the same."""
    found = _OPENING.match(words)
    return found[1].casefold() if found else ""


def _nearly_the_same_words(first: str, second: str) -> bool:
    """Return whether most words of two texts begin alike, which is quick to tell."""
    ours, theirs = _beginnings(first), _beginnings(second)
    return 2 * len(ours & theirs) >= max(len(ours), len(theirs))


def _is_decided(wiki: Wiki, first: Statement, second: Statement) -> bool:
    """Return whether the sources of two statements have other authority, so that one of them counts."""
    ranks = [{wiki.summaries[s].properties.text("authority") for s in each.sources} for each in (first, second)]
    return ranks[0] != ranks[1]


def _are_editions(wiki: Wiki, first: Statement, second: Statement) -> bool:
    """Return whether the files of two sources have one name but for a number: manual-v1, manual-v2."""
    names = [wiki.summaries[each.path].properties.text("source").casefold() for each in (first, second)]
    bare = [_DIGITS.sub("", name) for name in names]
    return bare[0] == bare[1] and names[0] != names[1]


def _day(wiki: Wiki, statement: Statement) -> str:
    """Return when the source of a statement was published; "" if it has several, or that is not known."""
    if len(statement.sources) != 1:
        return ""
    summary = wiki.summaries.get(next(iter(statement.sources)))
    return summary.properties.text("published") if summary is not None else ""


def _on_one_subject(wiki: Wiki) -> Iterator[Pair]:
    """Yield the pairs of statements on an article's subject: its own, its deck's and the claims that name it.

    Two of one document, or of a copy, are no pair: what it says in two ways it has under conditions of its own.
    """
    answers: dict[str, list[Statement]] = defaultdict(list)
    for statement, article in _answers(wiki):
        answers[article].append(statement)
    claims, origins = [(found.words.casefold(), found) for found in _claims(wiki)], wiki.origins
    for page in wiki.articles:
        names = {name.casefold() for name in (page.title, *page.properties.texts("aliases")) if name}
        own = [*_sentences(page, wiki), *answers[page.stem]]
        own += [
            found for lowered, found in claims if any(next(places(lowered, n), None) for n in names if n in lowered)
        ]
        said = list({s.words: s for s in reversed(own) if is_plain(s.words)}.values())[::-1][:MOST]
        for a, b in _with_words_in_common(said, page.title):
            if {origins[s] for s in a.sources}.isdisjoint(origins[s] for s in b.sources):
                yield Pair(page.title, a, b)


def _with_words_in_common(said: Sequence[Statement], subject: str) -> Iterator[tuple[Statement, Statement]]:
    """Yield the pairs of statements that share words beside the subject: others cannot be alike enough."""
    common = _beginnings(subject)
    words = [_beginnings(statement.words) - common for statement in said]
    having: dict[str, list[int]] = defaultdict(list)
    for n, each in enumerate(words):
        for beginning in each:
            having[beginning].append(n)
    pairs = {pair for members in having.values() if len(members) <= _COMMON for pair in combinations(members, 2)}
    for a, b in sorted(pairs):
        if len(words[a] & words[b]) >= _SHARED * len(words[a] | words[b]):
            yield said[a], said[b]


@lru_cache(maxsize=1 << 13)
def _beginnings(words: str) -> frozenset[str]:
    """Return the beginnings of all words, which the forms of one word have in common; of CJK the characters."""
    return frozenset(word[:4] for word in _WORDS.findall(words.casefold()))


def _in_one_wording(wiki: Wiki) -> Iterator[Pair]:
    """Yield the pairs of statements anywhere that have the same words but for numbers and denials."""
    pages = [s for page in (*wiki.articles, *wiki.topics) for s in _sentences(page, wiki)]
    alike: dict[frozenset[str], dict[str, Statement]] = defaultdict(dict)
    for statement in (*pages, *(s for s, _ in _answers(wiki))):
        if len(statement.words) <= _LONGEST:
            alike[_beginnings(_DENIAL.sub(" ", statement.words))].setdefault(statement.words, statement)
    for group in alike.values():
        if len(group) > 1 and not all(statement.verbatim for statement in group.values()):
            forms = {s.words: wording(s.words) for s in list(group.values())[:MOST]}
            for a, b in combinations([group[words] for words in forms], 2):
                same = forms[a.words] == forms[b.words] and len(forms[a.words]) >= _FEWEST
                if same and not (a.verbatim and b.verbatim):
                    yield Pair("", a, b)


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


def _claims(wiki: Wiki) -> Iterator[Statement]:
    """Yield the claims of all sources that count."""
    for id_, (claim, path, line) in wiki.claims.items():
        if claim.state in _CURRENT and id_ not in wiki.altered:
            yield Statement(claim.words, path, line, frozenset((path,)), verbatim=True)


def _statement(words: str, path: str, line: int, known: list[tuple[Claim, str, int]]) -> Statement:
    """Return a statement that rests on these claims."""
    verbatim = any(fold(words) in (fold(claim.words), fold(claim.quote)) for claim, _, _ in known)
    return Statement(words, path, line, frozenset(source for _, source, _ in known), verbatim)
