"""The entry point of all readers: from a file's bytes and name to its source text."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from compiler.language.detection import language_of
from compiler.readers.formats import HEAD, READERS, content_mismatch, kind_of
from compiler.readers.front_matter import canonical_properties
from compiler.readers.page import Heading, Page
from compiler.sources.segments import segments
from vault.errors import Unreadable
from vault.layout import INFERRED_TYPES
from vault.model.source import Mark, MarkKind, Problem, SourceText
from vault.text.formatting import clean_line

MAX_FILE = 200 * 1024 * 1024  # bytes
_PART = (
    r"(?:chapter|part|lecture|lesson|unit|module|section|slide|kapitel|teil|vorlesung|lektion|einheit|abschnitt|folie)"
)
_NUMBER = re.compile(  # of a chapter, before its name
    rf"\A(?:{_PART}\s+\d+(?:\.\d+)*|\d{{1,2}}(?:\.\d+)+\.?|0\d\.)(?:\s*[:.)–—-]\s*|\s+)(?=.*[^\W\d_]{{2}})",
    re.IGNORECASE,
)
_NO_TITLE = re.compile(
    rf"(?:{_PART}|page|seite|untitled|document\d*|notebook)?\s*(?:[\d.]*|(?-i:X{{0,3}}(?:IX|IV|V?I{{0,3}})\.?))\W*"
    r"|(?:table of )?contents|inhalt(?:sverzeichnis)?|目录",
    re.IGNORECASE,
)
_SINGLE = re.compile(r"\A(\d{1,2})\.\s+(?=\S)")
_NOTE_MARK = re.compile(r"(?<=\w)\[(?:\d{1,2}|[*†‡])\]$")
_FIRST, _SECOND = re.compile(r"(?:1|I)\.?\s+\S"), re.compile(r"(?:2|II)\.?\s+\S")
_TASKS = re.compile(
    r"(?:(?:chapter |section |multiple[- ]choice )?(?:review|self[- ]check|study|discussion|practice|comprehension)"
    r" (?:questions?|problems?|exercises?)|exercises?(?: and (?:problems|questions))?|homework|free response|quiz"
    r"|(?:check|test) your(?:self| (?:understanding|knowledge|skills))|critical thinking(?: (?:questions?|exercises?))?"
    r"|(?:art|visual) connections?(?: questions?)?|learning (?:objectives?|outcomes?|goals?)|questions for (?:review"
    r"|discussion)|übungen|übungsaufgaben?|kontrollfragen|wiederholungsfragen|verständnisfragen|lernziele|selbsttest"
    r"|练习题?|习题|思考题|复习题|学习目标|课后(?:习题|练习))",
    re.IGNORECASE,
)
_WORKS = re.compile(
    r"references(?: cited| and notes)?|bibliography|works cited|literature(?: cited)?|endnotes"
    r"|literatur(?:verzeichnis|hinweise|angaben)?|quellen(?:verzeichnis|angaben)?|referenzen|einzelnachweise"
    r"|参考(?:文献|资料|书目)",
    re.IGNORECASE,
)
_WORK = re.compile(r"\b(?:1[5-9]|20)\d\d[a-z]?\b|https?://|\bdoi\b", re.IGNORECASE)
_SITE = re.compile(r"\s+[-|–—·:]\s+\S")


def read_source(data: bytes, name: str) -> SourceText:
    """Return the source text of a document, from its bytes and file name alone.

    Raises: Unreadable, with one clear line, if there is no text to be had.
    """
    if len(data) > MAX_FILE:
        raise Unreadable(f"larger than {MAX_FILE // 1024 // 1024} MiB", hint="split the document")
    if not data:
        raise Unreadable("the file is empty")
    if not data.strip():
        raise Unreadable("the file contains only white space")
    kind = kind_of(name, data[:HEAD])
    what = content_mismatch(kind, data[:HEAD])
    if what is not None:
        raise Unreadable(f"{what}, despite its file extension", hint="give it the right file extension")
    reader = READERS.get(kind)
    if reader is None:
        raise Unreadable("this type of file is not supported")
    page = Page()
    module = importlib.import_module(f"compiler.readers.{reader.module}")
    properties, problems = module.read(data, name, page)
    if properties.get("inferred") == "true" and properties.get("type") in INFERRED_TYPES:
        raise Unreadable(
            "an answer written by retain, which does not count as evidence", hint="add the documents that it cites"
        )
    if page.inline_pictures:
        message = f"pictures within sentences were replaced by […]: {page.inline_pictures}"
        problems.append(Problem("pictures-inline", message))
    return _source(f"{kind}/{reader.version}", page, canonical_properties(properties), name, problems)


def _title_of(words: str, headings: Sequence[Heading] = ()) -> str:
    """Return a title without the number of its chapter; "" if it is nothing else.

    "1." is the number of a chapter if the headings below go on with "1.1".
    """
    words = _NOTE_MARK.sub("", _NUMBER.sub("", clean_line(words), count=1)).removesuffix(":").rstrip()
    if (number := _SINGLE.match(words)) and any(h.words.startswith(f"{number[1]}.1") for h in headings):
        words = words[number.end() :]
    return "" if _NO_TITLE.fullmatch(words) else words


def _top_heading(headings: Sequence[Heading]) -> Heading | None:
    """Return the heading that may be the document's title: the first of level 1, the only one of the highest level, or
    the first; no "1 Introduction" where "2 Methods" follows."""
    highest = [h for h in headings if h.level == min(h.level for h in headings)]
    top = highest[0] if len(highest) == 1 or (highest and highest[0].level == 1) else next(iter(headings), None)
    if top is None or not _title_of(top.words):
        return None
    first = _FIRST.match(top.words) is not None
    return None if first and any(h.level == top.level and _SECOND.match(h.words) for h in headings) else top


def _mark_unasserted(page: Page) -> None:
    """Mark the sections that ask or set tasks, announce what is to be learned, or list other works."""
    for at, heading in enumerate(page.headings):
        words = _SINGLE.sub("", _NUMBER.sub("", heading.words, count=1), count=1).strip(" :.?!")
        if not at or not (_TASKS.fullmatch(words) or _WORKS.fullmatch(words)):
            continue
        below = (h.start for h in page.headings[at + 1 :] if h.level <= heading.level)
        start, end = heading.end + 2, next(below, page.length + 2) - 2
        if end > start and (_TASKS.fullmatch(words) or _lists_works(page.text(start, end))):
            page.mark(MarkKind.QUESTION, start, end)


def _lists_works(text: str) -> bool:
    """Return whether most paragraphs name a year or an address, as those of a list of other works do."""
    paragraphs = text.split("\n\n")
    return 2 * sum(_WORK.search(paragraph) is not None for paragraph in paragraphs) > len(paragraphs)


def _source(reader: str, page: Page, properties: dict[str, str], name: str, problems: list[Problem]) -> SourceText:
    """Return the finished source text; its title is the document's own, else its first heading, else the file name."""
    title = _title_of(properties.get("title", "")) or (_title_of(page.title.words) if page.title else "")
    top = _top_heading(page.headings)
    _mark_unasserted(page)
    if top is not None and _SITE.match(title, len(top.words)) and title.casefold().startswith(top.words.casefold()):
        title = ""  # "Heading - Site": the heading is the title
    named = {"", top.words.casefold(), _title_of(top.words).casefold()} if top is not None else set()
    if page.title is None and top is not None and title.casefold() in named:
        title = title or _title_of(top.words, page.headings)
        page.mark(MarkKind.TITLE, top.start, top.end)
    text, marks, places = page.finish()
    if not text.strip():
        raise Unreadable("no text, only white space or markup")
    return SourceText(
        reader=reader,
        text=text,
        title=title or clean_line(PurePosixPath(name).stem) or "untitled",
        language=language_of(_prose(text, marks)),
        segments=segments(text, marks),
        marks=marks,
        places=places,
        properties=properties,
        problems=tuple(problems),
        pictures=tuple(page.pictures),
    )


def _prose(text: str, marks: tuple[Mark, ...]) -> str:
    """Return the text without code blocks where it is mostly code, for the detection of its language."""
    blocks = [m for m in marks if m.kind is MarkKind.CODE and text[m.start - 2 : m.start] in ("", "\n\n")]
    if sum(m.end - m.start for m in blocks) * 3 < len(text):
        return text
    ends = [0, *(m.end for m in blocks)]
    return "".join(text[at : m.start] for at, m in zip(ends, blocks, strict=False)) + text[ends[-1] :]
