"""An answer as slides in Marp's Markdown: one idea a slide, each with its source, and the list of the sources.

Words of documents are escaped more strictly than in a note, since Marp reads more: code, math, shortcodes of emoji,
directives in comments, and rules that begin a slide.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from datetime import date
from urllib.parse import quote

from compiler.forms.material import Material, Source, Statement
from compiler.forms.report import MISSING, properties
from compiler.sources.segments import passages as sentences
from vault.model.frontmatter import Value, render_note
from vault.text.formatting import clean_line, short_line, truncate

_ROOM = 330  # narrow characters of text on a slide
_WIDE = re.compile("[\u1100-\u115f\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60]")
_TITLE = 90  # characters
_A_SLIDE = 6  # sources
_SPECIAL = re.compile(r"[\\`*_\[\]<>#|$&~!^{}]|:(?=[\w+-]+:)|:(?=//)|^[-+=:%]|^\d+(?=[.)])")
_STYLE = "section { overflow-wrap: anywhere; } section.lead { text-align: center; } h2 { font-size: 1.1em; }"


def slides(material: Material, today: date, path: str) -> bytes:
    """Return the slides for the file at vault path `path`, from which their links lead to the sources."""
    head: dict[str, Value] = {"marp": True, "theme": "default", "paginate": True, "style": _STYLE}
    pages = [_title(material, today), *_statements(material, path)]
    if material.missing:
        pages += [f"## {MISSING}\n\n{each}" for each in _pieces(material.missing)]
    pages += _sources(material, path)
    body = "\n\n---\n\n".join(pages)
    return render_note({**head, **properties(material, "slides", today)}, f"\n{body}\n").encode()


def plain(text: str) -> str:
    """Return words on one line so that Marp shows exactly them."""
    return _SPECIAL.sub(_escaped, clean_line(text))


def _escaped(found: re.Match[str]) -> str:
    """Return a character behind a backslash; after a number, its dot is escaped instead.

    A colon that could begin the shortcode of an emoji gets an invisible blank, as those are read after escapes.
    """
    if found[0] == ":" and found.string[found.end() : found.end() + 1] != "/":
        return ":\u200b"
    return found[0] + "\\" if found[0][0].isdigit() else "\\" + found[0]


def _title(material: Material, today: date) -> str:
    """Return the first slide. The comment is a directive of Marp's."""
    made = "Quoted from the sources" if material.is_quoted else "Answered from the wiki"
    heading = plain(truncate(material.question, 2 * _TITLE))
    return f"<!-- _class: lead -->\n\n# {heading}\n\n{made}, {today.isoformat()}"


def _statements(material: Material, path: str) -> Iterator[str]:
    """Yield the slides of the statements: a heading, the words, and where they are from."""
    numbers = material.numbers
    for statement in material.statements:
        pieces = _pieces(statement.text)
        for number, piece in enumerate(pieces, 1):
            of = f" ({number}/{len(pieces)})" if len(pieces) > 1 else ""
            words = f"> {piece}" if material.is_quoted else piece
            sources = " · ".join(f"{_link(s, f'[{numbers[s]}]', path)} {_place(s)}" for s in statement.sources[:3])
            yield f"## {_heading(statement)}{of}\n\n{words}\n\n###### {sources}"


def _heading(statement: Statement) -> str:
    """Return what a statement is on: the article that says it, or the document."""
    named = statement.articles[0][1] if statement.articles else statement.sources[0].title
    return plain(short_line(named, _TITLE)) or "Answer"


def _place(source: Source) -> str:
    return plain(short_line(str(source), 110))


def _link(source: Source, words: str, path: str) -> str:
    """Return a Markdown link from the slides to the claim, or to the file where there is no claim."""
    target = f"{source.summary}#^c-{source.claim}" if source.claim else source.path
    file, mark, part = target.partition("#") if source.claim else (target, "", "")
    relative = posixpath.relpath(file, posixpath.dirname(path))
    return f"[{plain(words)}](<{quote(relative)}{mark}{quote(part, safe='^')}>)"


def _sources(material: Material, path: str) -> Iterator[str]:
    """Yield the slides that list the sources."""
    places: dict[str, str] = {}
    for source, number in material.numbers.items():
        places.setdefault(f"{number} {_place(source)}", f"- {_link(source, f'[{number}]', path)} {_place(source)}")
    lines = list(places.values())
    for at in range(0, len(lines), _A_SLIDE):
        more = " (continued)" if at else ""
        yield f"## Sources{more}\n\n" + "\n".join(lines[at : at + _A_SLIDE])


def _pieces(text: str) -> list[str]:
    """Return a text, escaped, in pieces that fit a slide: cut after sentences, then between words."""
    pieces: list[str] = []
    for part in _parts(clean_line(text)):
        if pieces and _width(pieces[-1]) + 1 + _width(part) <= _ROOM:
            pieces[-1] += f" {part}"
        else:
            pieces.append(part)
    return [plain(piece) for piece in pieces]


def _parts(text: str) -> Iterator[str]:
    """Yield the sentences of a text, longer ones in parts that fit."""
    for start, end in sentences(text) or [(0, len(text))]:
        rest = text[start:end].strip()
        while _width(rest) > _ROOM:
            length = next(n for n in range(1, len(rest) + 1) if _width(rest[:n]) > _ROOM) - 1
            cut = rest.rfind(" ", length // 2, length)
            cut = cut if cut > 0 else length
            yield rest[:cut].strip()
            rest = rest[cut:].strip()
        if rest:
            yield rest


def _width(text: str) -> int:
    """Return the width of a text in narrow characters."""
    return len(text) + len(_WIDE.findall(text))
