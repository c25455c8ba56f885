"""The things that a question compares: articles, found by their titles and aliases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compiler.index.entries import Entry, entries_of
from compiler.language.search_terms import terms
from compiler.query.retrieve import Known, known_claims
from vault.errors import Damaged, Refused
from vault.index.database import Database
from vault.model.frontmatter import read_properties
from vault.text.formatting import clean_line, fold
from vault.vault import Vault

# Where the things begin and end in a question that compares, and what stands between them.
_SPANS = [
    re.compile(form, re.IGNORECASE)
    for form in (
        r"\bdifferences?\s+(?:is\s+there\s+|are\s+there\s+)?between\s+(?P<things>.+)",
        r"\b(?:how|where)\s+(?:do|does|is|are)\s+(?P<things>.+?\s(?:differ(?:ent)?\s+from|compared?\s+(?:to|with))\s.+)",
        r"\b(?:how|where)\s+do\s+(?P<things>.+?\sand\s.+?)\s+(?:differ|compare)\b",
        r"\bcompar(?:e|ing|ison\s+(?:of|between))\s+(?P<things>.+)",
        r"\bunterschiede?\s+(?:gibt\s+es\s+)?zwischen\s+(?P<things>.+)",
        r"\bvergleich(?:e|en|\s+von)?\s+(?P<things>.+)",
        r"比较(?P<things>.+)",
        r"(?P<things>.+?)(?:有什么|的|之间的)(?:区别|不同|差异)",
        r"(?P<things>.+?\s(?:vs\.?|versus)\s.+)",
    )
]
_BETWEEN = re.compile(
    r"\s*[,;]\s*(?:and\s+|or\s+|und\s+|oder\s+)?|\s+(?:and|or|vs\.?|versus|with|to|differ(?:s|ent)?\s+from|und|oder|mit"
    r"|compared?\s+(?:to|with))\s+|[、，和与跟]",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:the|a|an|der|die|das|dem|den)\s+", re.IGNORECASE)
_MOST = 8  # things in one table


@dataclass(frozen=True, slots=True)
class Named:
    """An article, and its title and aliases as terms."""

    entry: Entry
    names: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Thing:
    """An article that is compared, with the claims that it cites."""

    path: str
    title: str
    language: str
    claims: tuple[Known, ...]


def named_articles(vault: Vault, database: Database) -> list[Named]:
    """Return all articles with their names, which are read from their files."""
    return [
        Named(entry, tuple(dict.fromkeys(name for each in _names(vault, entry) if (name := _as_terms(each)))))
        for entry in entries_of(database, "article")
    ]


def _names(vault: Vault, entry: Entry) -> list[str]:
    """Return the title and the aliases of an article."""
    try:
        text = vault.read_text(entry.path) or ""
    except (Damaged, Refused):
        text = ""  # `retain verify` names it
    return [entry.title, *map(clean_line, read_properties(text).texts("aliases"))]


def _as_terms(text: str) -> tuple[str, ...]:
    return tuple(terms(text))


def things_asked(question: str) -> list[str]:
    """Return the names that a question compares, in its own words; none where it does not say what."""
    for span in _SPANS:
        if (found := span.search(question)) is not None:
            words = re.sub(r"[?!.。？！\s]+$", "", found["things"])
            return [part for each in _BETWEEN.split(words) if (part := _ARTICLE.sub("", fold(each)))]
    return []


def find_things(articles: Sequence[Named], question: str, names: Sequence[str]) -> tuple[list[Named], list[str]]:
    """Return the articles to compare, and the names for which there is none.

    Without `names`, the things are those that the question names: in what it compares, else anywhere.
    """
    wanted = list(names) or _joined(articles, things_asked(question))
    if not wanted:
        return [article for article, _ in occurring(articles, _as_terms(question))][:_MOST], []
    found, missing = dict[str, Named](), []
    for name in wanted[:_MOST]:
        inside = occurring(articles, _as_terms(name))
        if inside:
            best = max(inside, key=lambda each: each[1])[0]
            found.setdefault(best.entry.path, best)
        else:
            missing.append(name)
    return list(found.values()), missing


def _joined(articles: Sequence[Named], parts: Sequence[str]) -> list[str]:
    """Return the names, with neighbours as one where an article is called so: "Sleep" and "memory"."""
    known = {name for article in articles for name in article.names}
    joined: list[str] = []
    for part in parts:
        together = f"{joined[-1]} and {part}" if joined else ""
        if together and _as_terms(together) in known:
            joined[-1] = together
        else:
            joined.append(part)
    return joined


def occurring(articles: Sequence[Named], words: tuple[str, ...]) -> list[tuple[Named, int]]:
    """Return the articles whose name is in these terms, in their order, each with the length of its name.

    Of names that overlap, the longest counts.
    """
    at = sorted(
        (-len(name), start, number)
        for number, article in enumerate(articles)
        for name in article.names
        for start in _places(name, words)
    )
    taken = set[int]()
    found: dict[int, tuple[int, int]] = {}
    for minus, start, number in at:
        span = set(range(start, start - minus))
        if not span & taken and number not in found:
            found[number] = (start, -minus)
            taken |= span
    return [(articles[number], length) for number, (_, length) in sorted(found.items(), key=lambda each: each[1][0])]


def _places(name: tuple[str, ...], words: tuple[str, ...]) -> Iterator[int]:
    """Yield where a name begins in these terms."""
    return (start for start in range(len(words) - len(name) + 1) if words[start : start + len(name)] == name)


def is_in(name: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Return whether a name is in these terms."""
    return next(_places(name, words), None) is not None


def with_claims(vault: Vault, database: Database, articles: Sequence[Named]) -> list[Thing]:
    """Return articles as things with the claims that they cite, in the order in which they cite them."""
    cited = {ref for article in articles for ref in article.entry.cites.split()}
    entries = [entry for entry in entries_of(database, "claim") if entry.ref in cited]
    claims = {str(known.claim.id): known for known in known_claims(vault, entries)}
    return [
        Thing(
            article.entry.path,
            article.entry.title,
            article.entry.language,
            tuple(claims[ref] for ref in article.entry.cites.split() if ref in claims),
        )
        for article in articles
    ]
