"""Brings the entries by which the wiki is searched up to date: those of changed files alone.

Sources are found as the last compile read them; articles, topics, summaries and cards as they are in their files now.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from compiler.index.entries import Entry, forget_entries, put_entries
from compiler.index.steps import READING, Steps, decoded
from compiler.language.detection import language_of
from compiler.language.search_terms import terms
from compiler.protocol.passages import Document, Passage
from vault.errors import Damaged, Refused
from vault.index import stamps
from vault.index.database import Database
from vault.index.files import changes, remember
from vault.layout import ANSWERS, CONCEPTS, FLASHCARDS, SUMMARIES, TOPICS
from vault.model.card import parse_deck
from vault.model.claim import ClaimState
from vault.model.frontmatter import body_of, read_properties
from vault.model.markdown import plain_words, unescape
from vault.model.source import SourceText
from vault.model.summary import parse_summary, prose_of
from vault.text.formatting import clean_line, fold
from vault.vault import Vault

PAGES = (CONCEPTS, TOPICS, SUMMARIES, ANSWERS, FLASHCARDS)
_KINDS = {TOPICS: "topic", ANSWERS: "answer"}
_HIDDEN = frozenset({ClaimState.RETRACTED, ClaimState.SUPERSEDED})
_CITED = re.compile(r"#\^c-([0-9a-z]{10})\|")
_TITLE = re.compile(r"^# +(.+?)[ \t]*$", re.MULTILINE)
LONG = 1_200  # characters of what is searched as one
Row = tuple[Entry, str, str]
Progress = Callable[[dict[str, Any]], None]


def source_rows(path: str, source: SourceText) -> Iterator[Row]:
    """Yield the entries of a source: its passages, with the terms of their headings and of the source's title."""
    title = clean_line(source.title)
    for passages in _together(Document("", path, source).passages):
        start, end = passages[0].blocks[0].start, passages[-1].blocks[-1].end
        headings = " › ".join(dict.fromkeys(heading for each in passages for heading in each.headings))
        place = clean_line(source.locate(start)) or " › ".join(passages[0].headings)
        text = source.text[start:end]
        entry = Entry(path, "passage", 0, "", place, title, text, source.language)
        yield entry, _terms(f"{title} {headings}", source.language), _terms(text, source.language)


def _together(passages: Sequence[Passage]) -> Iterator[list[Passage]]:
    """Yield the passages that are searched as one: neighbours, as an answer is often found by what stands beside it."""
    run: list[Passage] = []
    for passage in passages:
        begin = run[0].blocks[0].start if run else 0
        is_other = run and passage.headings != run[-1].headings and run[-1].blocks[-1].end - begin > LONG / 2
        if run and (is_other or passage.blocks[-1].end - begin > LONG):
            yield run
            run = []
        run.append(passage)
    if run:
        yield run


def page_rows(path: str, text: str) -> Iterator[Row]:
    """Yield the entries of a page or deck."""
    if path.startswith(f"{FLASHCARDS}/"):
        yield from _card_rows(path, text)
    elif path.startswith(f"{SUMMARIES}/"):
        yield from _summary_rows(path, text)
    else:
        yield _article_row(path, text)


def _article_row(path: str, text: str) -> Row:
    properties, body = read_properties(text), body_of(text)
    heading = _TITLE.search(body)
    title = properties.text("title") or (unescape(heading[1]) if heading else path.rpartition("/")[2][:-3])
    title = clean_line(title)
    names = " ".join([title, *properties.texts("aliases")])
    words = plain_words(body[heading.end() :] if heading else body)
    kind = _KINDS.get(path.rpartition("/")[0], "article")
    language = language_of(words[:2_000])
    cites = " ".join(dict.fromkeys(_CITED.findall(text)))
    entry = Entry(path, kind, 1, "", "", title, words.strip(), language, cites)
    return entry, _terms(names, language), _terms(words, language)


def _summary_rows(path: str, text: str) -> Iterator[Row]:
    """Yield the entries of a summary and of its claims, without retracted and superseded ones."""
    summary = parse_summary(text, path)
    title, source = (clean_line(summary.properties.text(key)) for key in ("title", "source"))
    language = summary.properties.text("language")
    words = plain_words(body_of(prose_of(text))).strip()
    id_ = summary.properties.text("id")
    about = Entry(path, "summary", 1, id_, "", title, words, language, source)
    yield about, _terms(title, language), _terms(words, language)
    for located in summary.claims:
        claim = located.claim
        if claim.state in _HIDDEN:
            continue
        said = claim.words if fold(claim.words) == fold(claim.quote) else f"{claim.words}\n{claim.quote}"
        entry = Entry(path, "claim", located.line, claim.id, claim.locator, title, said, language, source)
        yield entry, _terms(title, language), _terms(said, language)


def _card_rows(path: str, text: str) -> Iterator[Row]:
    deck = parse_deck(text, path)
    title = clean_line(unescape(deck.title))
    for card in deck.cards:
        question, answer = plain_words(card.question), plain_words(card.answer)
        language = language_of(f"{question} {answer}")
        entry = Entry(path, "card", card.line, card.id or "", "", clean_line(question), answer, language)
        yield entry, _terms(f"{title} {question}", language), _terms(answer, language)


def _terms(text: str, language: str) -> str:
    return " ".join(terms(text, language))


# --- what is to be read again ---------------------------------------------------------------------------------------


def bring_up_to_date(vault: Vault, steps: Steps, progress: Progress = lambda event: None) -> None:
    """Read what has changed since the index was last brought up to date. Raises: IndexDamaged, OSError."""
    database = steps.database
    sources = database.rows(
        "SELECT source.path, reading FROM source LEFT JOIN searched ON searched.path = source.path"
        " WHERE searched.input IS NOT reading ORDER BY source.path"
    )
    listings = {folder: stamps.listing(vault.root, folder).files(".md") for folder in PAGES}
    which = {folder: changes(database, f"search {folder}", listings[folder]) for folder in PAGES}
    total, done = len(sources) + sum(len(each.changed) for each in which.values()), 0
    gone = [f"{folder}/{name}" for folder, each in which.items() for name in each.gone]
    forget_entries(database, [*gone, *_forgotten_sources(database)])
    for path, key in sources:
        progress({"event": "indexing", "done": done, "of": total})
        _read_source(steps, path, bytes(key))
        done += 1
    for folder, each in which.items():
        with database.transaction():
            for name in each.changed:
                progress({"event": "indexing", "done": done, "of": total})
                _read_page(vault, database, f"{folder}/{name}")
                done += 1
            remember(database, f"search {folder}", listings[folder], each)
    progress({"event": "indexing", "done": total, "of": total})


def _forgotten_sources(database: Database) -> list[str]:
    """Return the sources with entries that the last compile did not find."""
    rows = database.rows(
        "SELECT path FROM searched WHERE path >= 'raw/' AND path < 'raw0' AND path NOT IN (SELECT path FROM source)"
    )
    return [path for (path,) in rows]


def _read_source(steps: Steps, path: str, key: bytes) -> None:
    """Take the passages of a source in; none where it could not be read, or is a copy of another file."""
    read = decoded(steps.get_large(READING, key))
    rows, language = [], ""
    with suppress(KeyError, TypeError, ValueError):
        source = SourceText.from_json(read["source"])
        rows, language = list(source_rows(path, source)), source.language
    put_entries(steps.database, path, key, language, rows)


def _read_page(vault: Vault, database: Database, path: str) -> None:
    """Take a page in; `retain verify` names one that cannot be read."""
    text = None
    with suppress(Damaged, Refused):
        text = vault.read_text(path)
    rows = list(page_rows(path, text)) if text is not None else []
    put_entries(database, path, b"", rows[0][0].language if rows else "", rows)
