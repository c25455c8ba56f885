"""The entries by which the wiki is searched: those of a source, a page or a deck, with the terms of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from compiler.index.entries import CODE, Entry
from compiler.language.detection import language_of
from compiler.language.search_terms import terms
from compiler.protocol.passages import Document, Passage
from vault.layout import ANSWERS, CONCEPTS, FLASHCARDS, SUMMARIES, TOPICS
from vault.model.card import parse_deck
from vault.model.claim import ClaimState
from vault.model.frontmatter import body_of, read_properties
from vault.model.markdown import plain_words, unescape
from vault.model.source import SourceText
from vault.model.summary import parse_summary, prose_of
from vault.model.wikilink import links
from vault.text.formatting import clean_line, fold

_HIDDEN = frozenset({ClaimState.RETRACTED, ClaimState.SUPERSEDED})
_CITED = re.compile(r"#\^c-([0-9a-z]{10})\|")
_TITLE = re.compile(r"^# +(.+?)[ \t]*$", re.MULTILINE)
_SEPARATORS = re.compile(r"[-_.]+")
LONG = 1_200  # characters of what is searched as one
_KINDS = {TOPICS: "topic", ANSWERS: "answer"}
Row = tuple[Entry, str, str]


def source_rows(path: str, source: SourceText) -> Iterator[Row]:
    """Yield the entries of a source: its passages, with the terms of their headings, of its title and of its file."""
    title = clean_line(source.title)
    name = terms(_SEPARATORS.sub(" ", PurePosixPath(path).stem), source.language)
    for passages in _together(Document("", path, source).passages):
        start, end = passages[0].blocks[0].start, passages[-1].blocks[-1].end
        headings = " › ".join(dict.fromkeys(heading for each in passages for heading in each.headings))
        place = clean_line(source.locate(start)) or " › ".join(passages[0].headings)
        text = source.text[start:end]
        form = CODE if _is_code(passages[0]) else ""
        entry = Entry(path, "passage", 0, "", place, title, text, source.language, form=form)
        heading = terms(f"{title} {headings}", source.language)
        heading += [term for term in name if term not in heading]
        yield entry, " ".join(heading), _terms(text, source.language)


def _together(passages: Sequence[Passage]) -> Iterator[list[Passage]]:
    """Yield the passages that are searched as one: neighbours, as an answer is often found by what stands beside it.

    Listings are searched apart from prose.
    """
    run: list[Passage] = []
    for passage in passages:
        begin = run[0].blocks[0].start if run else 0
        is_other = run and passage.headings != run[-1].headings and run[-1].blocks[-1].end - begin > LONG / 2
        if run and (is_other or _is_code(passage) != _is_code(run[-1]) or passage.blocks[-1].end - begin > LONG):
            yield run
            run = []
        run.append(passage)
    if run:
        yield run


def _is_code(passage: Passage) -> bool:
    """Return whether a passage is a listing, which is one by itself."""
    return passage.blocks[0].kind == "code"


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


def linked_pages(path: str, text: str) -> list[str]:
    """Return the paths of the pages to which an article or a topic links."""
    if not path.startswith((f"{CONCEPTS}/", f"{TOPICS}/")):
        return []
    return [f"{link.target}.md" for link in links(body_of(text))]
