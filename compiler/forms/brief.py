"""An answer on one screen: its first sentences, at most three sources, and what is missing."""

from __future__ import annotations

import re
from datetime import date

from compiler.forms.material import Material, Statement
from compiler.forms.report import cited, document_lines, page
from compiler.sources.segments import passages as sentences
from vault.model.markdown import escape
from vault.text.formatting import truncate

MOST_WORDS = 110  # of the statements; with sources and what is missing, about 150
_SOURCES = 3
_MISSING = 30  # words of what is missing
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def brief(material: Material, today: date) -> bytes:
    """Return the page."""
    parts = [f"# {escape(material.question)}"]
    shown = _shown(material)
    parts += ["*Quoted from the sources*"] if material.is_quoted else []
    parts += [cited(statement, material) for statement in shown]
    numbers = {source: material.numbers[source] for statement in shown for source in statement.sources}
    if numbers:
        parts += ["**Sources**", "\n".join(document_lines(numbers))]
    if material.missing:
        parts.append(f"**Missing:** {escape(first_sentences(material.missing, _MISSING))}")
    return page(material, "brief", parts, today)


def _shown(material: Material) -> list[Statement]:
    """Return the first statements, from at most three documents, as far as there is room; a long one is cut short."""
    shown: list[Statement] = []
    room = MOST_WORDS
    for statement in material.statements:
        within = all(material.numbers[source] <= _SOURCES for source in statement.sources)
        text = first_sentences(statement.text, room)
        if not within or not text or (shown and text != statement.text and not material.is_quoted):
            break
        shown.append(Statement(text, statement.sources, statement.articles))
        room -= word_count(text)
        if room <= 0:
            break
    return shown


def first_sentences(text: str, words: int) -> str:
    """Return as many whole sentences of a text as have so many words; of a longer first one, its beginning."""
    if word_count(text) <= words:
        return text
    end = 0
    spans = sentences(text)
    for _, stop in spans:
        if word_count(text[:stop]) > words:
            break
        end = stop
    if end:
        return text[:end].strip()
    length = min(len(text), 6 * words)
    while length > 1 and word_count(text[:length]) > words:
        length = length * 9 // 10
    return truncate(text, length) if words >= _FEWEST else ""


_FEWEST = 20  # words; less of a sentence says nothing


def word_count(text: str) -> int:
    """Return the number of words; two characters of Chinese, Japanese or Korean count as one."""
    return len(_CJK.sub(" ", text).split()) + (len(_CJK.findall(text)) + 1) // 2
