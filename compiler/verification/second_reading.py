"""A second reading of raw files, which shares no code with the readers, and the comparison of quotes with it.

Started as `python -I -m compiler.verification.second_reading RAW`, in a sandbox and under limits. Each line that comes
in is {"path": ..., "sha256": ..., "kind": ..., "quotes": [...]}, with the bytes of a note in place as "base64". It is
answered with {"differences": [...]}, one for each quote, "" where the file has its words in order and without a gap; or
with {"not_compared": REASON}.

Words are compared by their letters and digits, the marks inside numbers and the percent sign. Case, accents, ligatures,
white space, hyphens at line ends and markup don't count.
"""

from __future__ import annotations

import base64
import codecs
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import accumulate
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from compiler.verification.markup import (
    ASCIIDOC,
    DOTS,
    MARKDOWN,
    ORG,
    RST,
    TEX,
    UNNOTED,
    Rules,
    expanded,
    without,
    without_commands,
    without_markdown,
    without_spans,
)
from vault.errors import Unreadable
from vault.sandbox.child_main import serve

SECONDS = 120  # of a processor's time for one file
_SHOWN = 40  # characters of the place where the two readings part
# How far apart the two halves of a sentence may be that the end of a column or page cuts, in letters: notes stand
# below the first half, figures above the second.
_FOOT, _TOP = 800, 1400
_REACH = 4  # pages: two of figures may stand between the halves
_ENCODINGS = (
    "utf-8-sig", "gb18030", "big5", "cp1251", "cp1252", "cp1250", "iso8859_2", "koi8_r", "koi8_u", "mac_cyrillic",
    "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp932", "euc_jp", "cp949", "cp874", "mac_roman",
)  # fmt: skip
_DIGITS_MARK = re.compile(r"(?<=\d)[.,](?=\d)")
_NO_LETTER = re.compile(r"[^\w%\x00]|_")
_UNSEEN = {"script", "style", "template", "noscript", "s", "del", "strike"}
_FOOTNOTE_MARK = re.compile(r"(?<=[A-Za-z)][.!?,;:])\d{1,3}(?=\s)|(?<=[a-z][.!?][\"”’])\d{1,3}(?=\s)")
_EPUB_PART, _OFFICE_PART = re.compile(r"\.x?html?$"), re.compile(r"(?:word|ppt|xl)/.*\.xml$")
# What the parsers of the standard library raise for damaged, encrypted and hostile files: HTMLParser an AssertionError,
# zipfile a RuntimeError for a password (as which a RecursionError counts, too) and NotImplementedError.
_UNREADABLE = (
    AssertionError,
    EOFError,
    KeyError,
    RuntimeError,
    ValueError,
    ElementTree.ParseError,
    zipfile.BadZipFile,
    zlib.error,
)
_PLAIN = {"source", "text", "text/plain"}  # what is no Markdown in a notebook's cell of code
_Read = Callable[[bytes], Iterator[str]]


def folded(text: str) -> str:
    """Return what counts of a text when it is compared."""
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", DOTS.sub("", text)).casefold())
    return _NO_LETTER.sub("", _DIGITS_MARK.sub("\0", text)).replace("ı", "i")


def readings(data: bytes, kind: str) -> Iterator[str]:
    """Yield the words of a file of this kind, in one or more readings, each with form feeds between its pages.

    Raises: Unreadable if the file can't be read a second time.
    """
    read = _READERS.get(kind)
    if read is None:
        raise Unreadable("there is no second parser for this type of file")
    try:
        yield from read(data)
    except _UNREADABLE as error:
        raise Unreadable("the second parser cannot read it") from error


def _decoded(data: bytes) -> Iterator[str]:
    """Yield the characters of a text file, in its encoding or in each of those that it may be in."""
    names: tuple[str, ...] = ("utf-8-sig",)
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        names = ("utf-32",)
    elif data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        names = ("utf-16",)
    elif b"\0" in data[:4096]:
        names = ("utf-16-le", "utf-16-be")
    else:
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            names = _ENCODINGS
    yield from (data.decode(name, "replace") for name in names)


def _latex(data: bytes) -> Iterator[str]:
    for text in _decoded(data):
        bare = expanded(without(text, TEX))
        noted = re.sub(r"\\footnote\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}", "", bare)
        yield from (without_commands(each) for each in (bare, noted))


@dataclass(frozen=True, slots=True)
class _Page:
    """The folded text of a page, and where its lines end."""

    text: str
    ends: tuple[int, ...]

    @classmethod
    def of(cls, page: str) -> _Page:
        lines = [folded(line) for line in page.split("\n")]
        return cls("".join(lines), tuple(accumulate(map(len, lines), initial=0)))


class _Html(HTMLParser):
    """Collects the words of a page outside of scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.unseen = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.unseen += tag in _UNSEEN

    def handle_endtag(self, tag: str) -> None:
        self.unseen -= tag in _UNSEEN and self.unseen > 0

    def handle_data(self, data: str) -> None:
        if not self.unseen:
            self.words.append(data)


def _html(data: bytes) -> Iterator[str]:
    for text in _decoded(data):
        for each in (text, without_spans(text, r"(?i:<sup\b)", "(?i:</sup>)", "")):  # with and without marks of notes
            page = _Html()
            page.feed(each)
            page.close()
            yield "".join(page.words)


def _parts(data: bytes, names: re.Pattern[str]) -> Iterator[bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        yield from (parts.read(name) for name in sorted(parts.namelist()) if names.search(name))


def _epub(data: bytes) -> Iterator[str]:
    return (text for part in _parts(data, _EPUB_PART) for text in _html(part))


def _root(part: bytes) -> ElementTree.Element:
    return ElementTree.fromstring(part)  # noqa: S314 - expat bounds what entities grow to, the sandbox the rest


def _office(data: bytes) -> Iterator[str]:
    """Yield the text of each part: of its elements `t`, which hold the words in all three formats."""
    for part in _parts(data, _OFFICE_PART):
        yield "".join(e.text or "" for e in _root(part).iter() if e.tag.endswith("}t"))


def _json(data: bytes) -> Iterator[str]:
    """Yield the strings of a JSON file as pages, lists of strings joined, less Markdown but in a notebook's code."""

    def strings(found: object, in_code: bool = False, plain: bool = False) -> Iterator[tuple[str, bool]]:
        if isinstance(found, list) and all(isinstance(x, str) for x in found):
            yield "".join(found).replace("\f", " "), plain
        elif isinstance(found, str):
            yield found.replace("\f", " "), plain
        elif isinstance(found, list):
            for below in found:
                yield from strings(below, in_code)
        elif isinstance(found, dict):
            in_code = in_code or found.get("cell_type") == "code"
            for key, below in found.items():
                yield from strings(below, in_code, in_code and key in _PLAIN)

    pages = list(strings(json.loads(data)))
    for rules in (MARKDOWN, UNNOTED):
        yield "\f".join(text if plain else without_markdown(text, rules) for text, plain in pages)


def _pdf(data: bytes) -> Iterator[str]:
    """Yield what pdftotext reads, in the order of the page and in that of the file, with and without marks of notes."""
    program = shutil.which("pdftotext")
    if program is None:
        raise Unreadable("pdftotext is not installed")
    for order in ([], ["-raw"]):
        command = [program, "-q", "-enc", "UTF-8", *order, "-", "-"]
        done = subprocess.run(command, input=data, capture_output=True, check=False)
        if done.returncode:
            raise Unreadable("pdftotext cannot read it")
        text = done.stdout.decode("utf-8", "replace")
        yield from (text, _FOOTNOTE_MARK.sub("", text))


def _markdown(data: bytes) -> Iterator[str]:
    return (without_markdown(text, rules) for text in _decoded(data) for rules in (MARKDOWN, UNNOTED))


def _by(*ways: Rules) -> _Read:
    return lambda data: (without(text, rules) for text in _decoded(data) for rules in ways)


_READERS: dict[str, _Read] = {
    "markdown": _markdown,
    "text": _by(RST),
    **dict.fromkeys(("code", "csv"), _by(())),
    "org": _by(ORG),
    "asciidoc": _by(ASCIIDOC),
    "latex": _latex,
    "html": _html,
    "epub": _epub,
    **dict.fromkeys(("docx", "pptx", "xlsx"), _office),
    **dict.fromkeys(("notebook", "chat"), _json),
    "pdf": _pdf,
}


class Comparison:
    """The readings of one file, each made when the ones before it lack a quote.

    In a `paged` file, words may go on in the next column or on the next page.
    """

    def __init__(self, texts: Iterable[str], *, paged: bool = False) -> None:
        self._coming, self._paged = iter(texts), paged
        self._readings: list[list[_Page]] = []

    def difference(self, quote: str) -> str:
        """Return where the file goes on otherwise than a quote; "" if it has the quote's words."""
        wanted, longest, at = folded(quote), 0, 0
        while pages := self._reading(at):
            if any(wanted in page.text for page in pages):
                return ""
            both = [(page, after) for n, page in enumerate(pages) for after in pages[n : n + _REACH]]
            if self._paged and any(_goes_on(wanted, page, after) for page, after in both):
                return ""
            longest = max(longest, *(_common(wanted, page.text) for page in pages))
            at += 1
        return (
            f"the text after “{_tail(quote, longest)}” is different in the file"
            if longest > 2
            else "the beginning is different"
        )

    def _reading(self, at: int) -> list[_Page]:
        """Return the pages of a reading; none after the last reading."""
        if at == len(self._readings) and (text := next(self._coming, None)) is not None:
            self._readings.append([_Page.of(page) for page in text.split("\f")])
        return self._readings[at] if at < len(self._readings) else []


def _goes_on(wanted: str, page: _Page, after: _Page) -> bool:
    """Return whether words end a line and go on in a later one: of the next column, or at the top of the next page."""
    half = len(wanted) // 2
    if wanted[:half] not in page.text and wanted[half:] not in after.text:
        return False
    same = page is after
    for end in page.ends:
        if not same and len(page.text) - end > _FOOT:
            continue
        begins = [b for b in after.ends if (end < b <= end + _FOOT + _TOP if same else b <= _TOP)]
        for size in range(1, min(end, len(wanted) - 1) + 1):
            halves = page.text.startswith(wanted[:size], end - size)
            if halves and any(after.text.startswith(wanted[size:], begin) for begin in begins):
                return True
    return False


def _common(wanted: str, page: str) -> int:
    """Return how many characters of the beginning of `wanted` a page has."""
    low, high = 0, len(wanted)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if wanted[:middle] in page else (low, middle - 1)
    return low


def _tail(quote: str, size: int) -> str:
    """Return the end of the part of a quote that holds its first `size` letters."""
    end = next((at for at in range(len(quote)) if len(folded(quote[:at])) >= size), len(quote))
    return quote[:end][-_SHOWN:]


def answer(message: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to one message."""
    try:
        data = base64.b64decode(message["base64"]) if "base64" in message else Path(message["path"]).read_bytes()
        if hashlib.sha256(data).hexdigest() != message["sha256"]:
            raise Unreadable("the file changed while it was being read")
        kind = message["kind"]
        file = Comparison(readings(data, kind), paged=kind == "pdf")
        return {"differences": [file.difference(quote) for quote in message["quotes"]]}
    except OSError as error:
        return {"not_compared": f"it cannot be read: {error.strerror}"}
    except Unreadable as error:
        return {"not_compared": error.what}


def main() -> None:
    """Answer messages until the input ends."""
    serve(lambda: answer, readable=Path(sys.argv[1]), seconds=SECONDS, programs=True)


if __name__ == "__main__":
    main()
