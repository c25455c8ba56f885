"""The LaTeX reader. A place is "section, line N" of the .tex file; formulas stay LaTeX."""

from __future__ import annotations

import re

from compiler.readers.decode import decode
from compiler.readers.latex.scanner import Scanner
from compiler.readers.markup import Markup
from compiler.readers.page import Page
from vault.errors import Unreadable
from vault.model.source import Problem
from vault.text.formatting import normal

MAX_LATEX = 8_000_000  # characters; more is no text, but data in figures
_DECLARED = re.compile(rb"^[^%\n]{0,200}\\(?:usepackage|inputencoding)\s*\[?\{?([\w-]{2,20})\s*[\]}]", re.MULTILINE)
_ENCODINGS = {
    "latin1": "cp1252", "ansinew": "cp1252", "cp1252": "cp1252", "latin9": "iso8859_15", "latin2": "iso8859_2",
    "cp1250": "cp1250", "cp1251": "cp1251", "koi8-r": "koi8_r", "koi8-u": "koi8_u", "cp866": "cp866",
    "applemac": "mac_roman", "latin5": "iso8859_9", "cp1257": "cp1257",
}  # fmt: skip


def read(data: bytes, name: str, page: Page) -> tuple[dict[str, str], list[Problem]]:
    """Write a LaTeX document, or a part of one, onto `page`; return its title, author and date, and problems.

    Raises: Unreadable for a file that is too long to be text.
    """
    decoded, problems = _decoded(data)
    text = normal(decoded)
    if len(text) > MAX_LATEX:
        raise Unreadable(f"more than {MAX_LATEX:,} characters of LaTeX", hint="split the document")
    markup = Markup()
    scanner = Scanner(text, markup)
    scanner.run()
    markup.write(page)
    if scanner.unknown:
        listed = ", ".join(f"{macro} ({count})" for macro, count in scanner.unknown.most_common(10))
        message = f"these macros are not defined, so they were replaced by […]: {listed}"
        problems.append(Problem("latex-macros", message))
    return scanner.properties, problems + scanner.problems


def _decoded(data: bytes) -> tuple[str, list[Problem]]:
    """Decode as UTF-8 if the bytes are that, else in the encoding that inputenc declares, else by a guess."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        stated = (m[1].decode("ascii", "replace").lower() for m in _DECLARED.finditer(data[:20_000]))
        encoding = next((_ENCODINGS[s] for s in stated if s in _ENCODINGS), "")
        if encoding and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
            return data.decode(encoding, "replace"), []
    return decode(data)
