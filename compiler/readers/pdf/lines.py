"""The lines of PDF pages with fonts and positions; the only module that calls PDFium."""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from enum import Flag, auto
from itertools import groupby
from typing import Any

from vault.errors import Unreadable

MAX_PAGES = 5_000
MAX_CHARS = 20_000_000
SMALLEST = 2.0  # points; smaller print is not there to be read

_BOLD = re.compile(r"bold|black|heavy|demi|medi(?:um)?$|semib|cmbx|cmb\d|sfbx|bx\d", re.IGNORECASE)
_ITALIC = re.compile(r"ital|obli|slant|kursiv|cmti|cmsl|cmbxti|sfti|sfsl|-it$|-bi$|,it", re.IGNORECASE)
_MONO = re.compile(
    r"mono|courier|typewriter|cmtt|sftt|cmsltt|consol|menlo|inconsol|letter ?gothic|txtt|beramono|-tt|code", re.I
)
_MATH = re.compile(
    r"^(?:cm(?:mi|sy|ex|mib|bsy)\d*|ms[ab]m\d*|eu[frs][bm]\d*|rsfs\d*|[tpr]?x(?:mi|sy|ex|syc)|esint\d*|wasy\d*|stmary\d*"
    r"|dsrom\d*|bbm\w*|mt(?:mi|sy|ex|gu)\w*|lmmath\w*|\w*math\w*|symbol\w*|mathematicalpi\w*|newtxmi\w*|rtxmi|rpxmi"
    r"|txmia?|pxmia?|txsy\w*|pxsy\w*|fdsymbol\w*|mnsymbol\w*|lm(?:mi|sy|ex)\w*|advp[0-9a-f]{6}|advps?mp\d*|advmt\w*)",
    re.IGNORECASE,
)
_COMPUTER_MODERN = re.compile(r"^(?:cm|lmr|lmroman|sf)", re.IGNORECASE)
_CONTROL = re.compile("[\x00-\x01\x03-\x1f\x7f-\x9f]")
_NO_SYMBOL = re.compile(
    "[\xa1-\xab\xad-\xaf\xb4\xb6\xb8\xba-\xd6\xd8-\xf6\xf8-\xff]"
)  # in a font of symbols: a wrong map
_ACCENTS = {
    "\u00a8": "\u0308", "\u00b4": "\u0301", "`": "\u0300", "\u02c6": "\u0302", "\u02dc": "\u0303", "\u00af": "\u0304",
    "\u02c7": "\u030c", "\u02d8": "\u0306", "\u02d9": "\u0307", "\u02da": "\u030a", "\u02dd": "\u030b",
    "\u00b8": "\u0327",
}  # fmt: skip
_BULLETS = frozenset("•◦‣▪■●○∙⋄⁃∗–")
_DOTLESS = {"\u0131": "i", "\u0237": "j"}
_SUBSET = re.compile(r"^[A-Z]{6}\+")
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_LIGATURE = re.compile("[ﬀ-ﬆ]")


class Style(Flag):
    """How a font sets words apart."""

    PLAIN = 0
    BOLD = auto()
    ITALIC = auto()
    MONO = auto()
    MATH = auto()


@dataclass(frozen=True, slots=True)
class Font:
    """A font of the document, with its styles."""

    name: str
    style: Style


@dataclass(slots=True)
class Run:
    """Characters of one font on one line; `x0`, `x1` and the baseline `y` in points from the page's lower left."""

    text: str
    font: Font
    size: float
    x0: float
    x1: float
    y: float


class Line:
    """Runs on one baseline; `hyphen` says that PDFium took its last character for a hyphen at the line's end."""

    __slots__ = ("_text", "hyphen", "main", "page", "runs")

    def __init__(self, page: int, first: Run) -> None:
        self.page = page
        self.runs = [first]
        self.main = first  # the longest run: it sets the line's size and baseline
        self.hyphen = False
        self._text = ""

    def add(self, run: Run, space: bool) -> None:
        """Add a run at the right end, after a space if there is one between."""
        if space:
            self.runs[-1].text += " "
        self.runs.append(run)
        self._text = ""
        if len(run.text) > len(self.main.text):
            self.main = run

    def rewrite(self, change: Callable[[Run], str]) -> None:
        """Replace the text of each run."""
        for run in self.runs:
            run.text = change(run)
        self._text = ""

    @property
    def x0(self) -> float:
        return self.runs[0].x0

    @property
    def x1(self) -> float:
        return max([run.x1 for run in self.runs])

    @property
    def text(self) -> str:
        if not self._text:
            self._text = "".join([run.text for run in self.runs])
        return self._text

    @property
    def size(self) -> float:
        return self.main.size

    @property
    def y(self) -> float:
        return self.main.y

    def share(self, style: Style) -> float:
        """Return the share of the line's characters in a font of this style."""
        total = sum(len(run.text.strip()) for run in self.runs)
        return sum(len(run.text.strip()) for run in self.runs if style in run.font.style) / max(total, 1)


@dataclass(frozen=True, slots=True)
class Heading:
    """An entry of the document's own outline."""

    page: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Document:
    """The lines of all pages, with what the file says of itself."""

    pages: list[list[Line]]
    outline: list[Heading]
    metadata: dict[str, str]


def read_pages(data: bytes) -> Document:
    """Return the lines of every page in the order in which they are in the file.

    Raises: Unreadable if it is no PDF, wants a password, or has no text.
    """
    import pypdfium2 as pdfium

    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if "password" in str(error).lower():
            raise Unreadable("the PDF is protected by a password", hint="save a copy without a password") from error
        raise Unreadable("not a PDF that can be opened", hint="check that the file is not damaged") from error
    try:
        return _read(document, pdfium)
    finally:
        document.close()


def _read(document: Any, pdfium: Any) -> Document:
    """Return the lines of an open document."""
    count = len(document)
    if count > MAX_PAGES:
        raise Unreadable(f"more than {MAX_PAGES:,} pages", hint="split the document")
    pages: list[list[Line]] = []
    total = 0
    reader = _PageReader()
    for number in range(count):
        try:
            page = document[number]
        except pdfium.PdfiumError:  # one broken page does not lose the others
            pages.append([])
            continue
        lines, size = reader.lines(page, number + 1)
        total += size
        if total > MAX_CHARS:
            raise Unreadable(f"more than {MAX_CHARS:,} characters of text", hint="split the document")
        pages.append(lines)
        page.close()
    return Document(pages, _outline(document), document.get_metadata_dict())


def _outline(document: Any) -> list[Heading]:
    """Return the entries of the document's outline."""
    import pypdfium2 as pdfium

    out: list[Heading] = []
    try:
        for entry in document.get_toc(max_depth=6):
            target = entry.get_dest()
            index = target.get_index() if target is not None else None
            title = entry.get_title().strip()
            if index is not None and title and len(out) < 20_000:
                out.append(Heading(index + 1, entry.level + 1, title))
    except pdfium.PdfiumError:
        return []
    return out


class _PageReader:
    """Reads pages through PDFium's C functions, typed for speed: a book has a million characters."""

    def __init__(self) -> None:
        import pypdfium2.raw as raw

        self._raw = raw
        pointer, integer = ctypes.c_void_p, ctypes.c_int
        self._object_at = _plain_pointers(raw.FPDFText_GetTextObject, pointer, pointer, integer)
        self._origin = _plain_pointers(raw.FPDFText_GetCharOrigin, integer, pointer, integer, pointer, pointer)
        self._box = _plain_pointers(raw.FPDFText_GetLooseCharBox, integer, pointer, integer, pointer)
        number = ctypes.c_double
        self._index_at = _plain_pointers(
            raw.FPDFText_GetCharIndexAtPos, integer, pointer, number, number, number, number
        )
        self._font_of = _plain_pointers(raw.FPDFTextObj_GetFont, pointer, pointer)
        self._size_of = _plain_pointers(raw.FPDFTextObj_GetFontSize, integer, pointer, pointer)
        self._matrix_of = _plain_pointers(raw.FPDFPageObj_GetMatrix, integer, pointer, pointer)
        self._mode_of = _plain_pointers(raw.FPDFTextObj_GetTextRenderMode, integer, pointer)

    def lines(self, page: Any, number: int) -> tuple[list[Line], int]:
        """Return (lines, number of characters) of one page."""
        text_page = page.get_textpage()
        try:
            handle = ctypes.cast(text_page.raw, ctypes.c_void_p).value or 0
            chars = _characters(self._raw, text_page.raw)
            self._compose(handle, chars)
            return _joined(self._runs(handle, chars), number), len(chars)
        finally:
            text_page.close()

    def _compose(self, handle: int, chars: list[str]) -> None:
        """Join accents that are drawn over letters with them, as TeX's older fonts write them apart."""
        for i, accent in enumerate(chars):
            if accent not in _ACCENTS:
                continue
            j = self._under(handle, i)
            letter = _DOTLESS.get(chars[j], chars[j]) if 0 <= j < len(chars) and j != i else ""
            joined = unicodedata.normalize("NFC", letter + _ACCENTS[accent])
            if letter.isalpha() and len(joined) == 1:
                chars[i], chars[j] = "", joined

    def _under(self, handle: int, accent: int) -> int:
        """Return the index of the character below an accent; negative if there is none."""
        box = self._raw.FS_RECTF()
        self._box(handle, accent, ctypes.byref(box))
        x, y = (box.left + box.right) / 2, box.bottom + 0.35 * (box.top - box.bottom)
        return int(self._index_at(handle, x, y, 0.5, 1.0))

    def _runs(self, handle: int, chars: list[str]) -> list[Run | str]:
        """Return the page's runs; between them the spaces and line ends that PDFium computed."""
        out: list[tuple[Run | str, bool]] = []
        fonts: dict[int, Font] = {}
        objects = [self._object_at(handle, i) for i in range(len(chars))]
        at = 0
        for thing, group in groupby(objects):
            end = at + sum(1 for _ in group)
            text = "".join(chars[at:end])
            if not thing:
                out.append((text, False))
            elif (run := self._run(handle, thing, at, end, text, fonts)) is not None:
                out.append((run, self._mode_of(thing) == 3))
            elif text and not text.strip():
                out.append((text, False))  # a blank in a font of its own parts two words all the same
            at = end
        hidden = sum(len(item.text) for item, unseen in out if unseen and isinstance(item, Run))
        shown = sum(len(item.text) for item, unseen in out if not unseen and isinstance(item, Run))
        # A scan's text layer is invisible as a whole; a few invisible words on a visible page are hidden text.
        return [item for item, unseen in out if not unseen or hidden > shown]

    def _run(self, handle: int, thing: int, start: int, end: int, text: str, fonts: dict[int, Font]) -> Run | None:
        """Return the run of these characters, None if it is blank, turned or tiny."""
        size, matrix = ctypes.c_float(), self._raw.FS_MATRIX()
        self._size_of(thing, ctypes.byref(size))
        self._matrix_of(thing, ctypes.byref(matrix))
        scale = math.hypot(matrix.c, matrix.d) or 1.0
        turned = abs(matrix.b) > 0.2 * abs(matrix.a) + 1e-6
        if not text.strip() or turned or size.value * scale < SMALLEST:
            return None
        x, y = ctypes.c_double(), ctypes.c_double()
        self._origin(handle, start, ctypes.byref(x), ctypes.byref(y))
        box = self._raw.FS_RECTF()
        self._box(handle, end - 1, ctypes.byref(box))
        key = self._font_of(thing)
        if key not in fonts:
            fonts[key] = self._font(key)
        points = size.value * scale
        if box.top - box.bottom < 0.8 * points:  # inside a figure that is itself drawn smaller
            points = 0.85 * (box.top - box.bottom)
        if Style.MATH in fonts[key].style:
            text = _NO_SYMBOL.sub("\ufffd", _CONTROL.sub("", text))  # without pieces of tall brackets
            if not text.strip():
                return None
        return Run(text, fonts[key], round(points, 1), x.value, box.right, y.value)

    def _font(self, key: int) -> Font:
        """Return the font of this key, with its styles."""
        raw = self._raw
        font = ctypes.cast(key, raw.FPDF_FONT)
        buffer = ctypes.create_string_buffer(256)
        raw.FPDFFont_GetBaseFontName(font, buffer, 256)
        name = _SUBSET.sub("", buffer.value.decode("utf-8", "replace"))
        angle = ctypes.c_int()
        raw.FPDFFont_GetItalicAngle(font, angle)
        flags = raw.FPDFFont_GetFlags(font)
        if _MATH.match(name):
            return Font(name, Style.MATH)
        style = Style.PLAIN
        if _BOLD.search(name) or raw.FPDFFont_GetWeight(font) >= 600:
            style |= Style.BOLD
        if _ITALIC.search(name) or flags & 0x40 or angle.value:
            style |= Style.ITALIC
        if _MONO.search(name) or (flags & 0x1 and flags != 0xFFFFFFFF and flags > 0):
            style |= Style.MONO
        return Font(name, style)


def _plain_pointers(function: Any, result: Any, *arguments: Any) -> Callable[..., Any]:
    """Return the same C function with plain pointers, which returns a number instead of building an object."""
    return ctypes.PYFUNCTYPE(result, *arguments)(ctypes.cast(function, ctypes.c_void_p).value or 0)


def _characters(raw: Any, text_page: Any) -> list[str]:
    """Return the page's characters by PDFium's indices; surrogate halves are joined, the second one is empty."""
    count = raw.FPDFText_CountChars(text_page)
    if count <= 0:
        return []
    buffer = (ctypes.c_ushort * (count + 1))()
    if raw.FPDFText_GetText(text_page, 0, count, buffer) == count + 1:
        text = bytes(buffer)[: 2 * count].decode("utf-16-le", "replace")
        if len(text) == count:
            return [_LIGATURES.get(c, c) for c in text] if _LIGATURE.search(text) else list(text)
    return _each_character(raw, text_page, count)


def _each_character(raw: Any, text_page: Any, count: int) -> list[str]:
    """Return the same by asking for each, for pages with characters beyond 16 bits or without Unicode value."""
    codes = [raw.FPDFText_GetUnicode(text_page, i) for i in range(count)]
    out: list[str] = []
    i = 0
    while i < count:
        code = codes[i]
        if 0xD800 <= code < 0xDC00 and i + 1 < count and 0xDC00 <= codes[i + 1] < 0xE000:
            out += (chr(0x10000 + ((code - 0xD800) << 10) + codes[i + 1] - 0xDC00), "")
            i += 2
            continue
        c = "\ufffd" if 0xD800 <= code < 0xE000 or code > 0x10FFFF else chr(code)
        out.append(_LIGATURES.get(c, c))
        i += 1
    return out


def _joined(items: list[Run | str], page: int) -> list[Line]:
    """Return runs that follow each other on one baseline as lines; PDFium's own line ends split formulas."""
    out: list[Line] = []
    gap = ""
    for item in items:
        if isinstance(item, str):
            gap += item
            continue
        hyphen = item.text.endswith(("\x02", "\ufffe"))
        if hyphen:
            item.text = item.text[:-1] + "-"
        line = out[-1] if out else None
        if line is not None and _follows(line, item):
            last = line.runs[-1]
            distance = item.x0 - last.x1
            wide = (0.15 if item.font.style != last.font.style else 0.22) * min(item.size, last.size)
            line.add(item, bool(gap and distance > 0.08 * item.size) or distance > wide)
        else:
            line = Line(page, item)
            out.append(line)
        line.hyphen = hyphen
        gap = ""
    return [line for line in out if line.text.strip()]


def _follows(line: Line, run: Run) -> bool:
    """Return whether a run continues a line on the same baseline."""
    last, main = line.runs[-1], line.main
    size = max(main.size, run.size)
    up, distance = abs(run.y - main.y), run.x0 - last.x1
    if up <= 0.3 * size and 0 <= distance <= 5 * size and line.text.strip() in _BULLETS:
        return True
    if run.size < 0.8 * main.size and up <= 0.8 * size:  # raised or lowered, and what is raised on it
        return -0.5 * size <= distance <= 0.6 * size
    return up <= 0.45 * size and -0.75 * size <= distance <= 1.8 * size


def is_raised(run: Run, line: Line) -> bool:
    """Return whether a run is raised above its line."""
    return run.size < 0.85 * line.size and run.y > line.y + 0.12 * line.size


def begins_raised(line: Line) -> bool:
    """Return whether a line begins with a raised mark, as a note does."""
    return len(line.runs) > 1 and is_raised(line.runs[0], line)


def is_computer_modern(name: str) -> bool:
    """Return whether a font is one of TeX's Computer Modern family."""
    return _COMPUTER_MODERN.match(name) is not None
