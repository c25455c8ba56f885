"""The text of a file's bytes: encoding by byte order mark, as UTF-8, or guessed and reported as a guess."""

from __future__ import annotations

import codecs
import re
import unicodedata
from typing import Any, AnyStr

from compiler.language.detection import language_of
from vault.errors import Unreadable
from vault.model.source import Problem

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BREAKS = str.maketrans({"\x0b": " ", "\x0c": " ", "\x85": " ", "\u2028": " ", "\u2029": " "})
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_BAD_RUN = re.compile("[\udc80-\udcff]+")
_WESTERN = {"en", "de", "fr", "es", "it", "pt", "nl", "sv", "da"}
_SIGNS = frozenset("°§€£©®«»¿¡\xa0")
_CENTRAL = ("cp1250", "iso8859_2")
_SIGN_IN_WORD = re.compile(r"(?<=\w)[^\w\s\x00-\x7f’–-]|[\x80-\x9f]|\ufffd|(?<=[a-zà-ÿ])[À-ÖØ-Þ]")
_OLD = [
    "cp1250", "iso8859_2", "cp1251", "koi8_r", "koi8_u", "mac_cyrillic", "cp1253", "cp1254", "cp1255", "cp1256",
    "cp1257", "cp1252", "gb18030", "big5", "cp932", "euc_jp", "cp949", "cp874", "mac_roman",
]  # fmt: skip
MAX_BAD_SHARE = 0.5  # of all that is not ASCII: with more, the document is not UTF-8 with a few slips
MAX_REPORTED = 20
SAMPLE = 200_000
SHORT = 200  # bytes; too few for statistics or for detecting the language
LONGEST_LINE = 10_000_000  # characters; room for a picture within a line of Markdown
_MOST_BYTES = 4  # of one character


def decode(data: bytes, max_line: int | None = None) -> tuple[str, list[Problem]]:
    """Return the characters of a text file, and the problems met while decoding it.

    Raises: Unreadable if no encoding makes plausible text of it, or a line of it has more than `max_line` characters.
    """
    if max_line is not None and _has_longer_line(data, b"\n", _MOST_BYTES * max_line):
        raise _too_long(max_line)  # before anything is made of so many bytes
    text, problems = _decoded(data)
    if max_line is not None and _has_longer_line(text, "\n", max_line):
        raise _too_long(max_line)
    if len(_CONTROLS.findall(text[:SAMPLE])) > 0.05 * min(len(text), SAMPLE):
        raise Unreadable("not a text file: it contains many control characters", hint="check the file extension")
    return text, problems


def _has_longer_line(text: AnyStr, line_break: AnyStr, most: int) -> bool:
    """Return whether a line of `text` is longer than `most`, in a time that grows as the text does."""
    start = 0
    while len(text) - start > most:
        start = text.rfind(line_break, start, start + most + 1) + 1
        if start == 0:
            return True
    return False


def _too_long(most: int) -> Unreadable:
    """Return the error for a file with a line of more than `most` characters."""
    what = f"one of its lines is longer than {most:,} characters"
    return Unreadable(what, hint="add line breaks, or remove the file if it is data")


def _decoded(data: bytes) -> tuple[str, list[Problem]]:
    """Return the text by its byte order mark, as UTF-8, as UTF-8 with a few bad bytes, or in a guessed encoding."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _decode_reporting(data[len(bom) :] if encoding == "utf-8" else data, encoding)
    if b"\x00" in data[:4096]:
        return _decode_utf16(data)
    try:
        return data.decode("utf-8").translate(_BREAKS), []
    except UnicodeDecodeError:
        pass
    mostly = _decode_mostly_utf8(data)
    return mostly if mostly is not None else _decode_guessed(data)


def _decode_reporting(data: bytes, encoding: str) -> tuple[str, list[Problem]]:
    """Return the text in this encoding, bad bytes as U+FFFD and reported."""
    try:
        return data.decode(encoding).translate(_BREAKS), []
    except UnicodeDecodeError:
        if encoding == "utf-8" and (mostly := _decode_mostly_utf8(data)) is not None:
            return mostly
        text = data.decode(encoding, "replace")
    if text.count("\ufffd") > 0.01 * len(text) + 2:
        raise Unreadable(f"declared as {encoding.upper()}, but it is not", hint="save it as UTF-8")
    line = text.count("\n", 0, text.index("\ufffd")) + 1
    return text.translate(_BREAKS), [Problem("bad-bytes", f"invalid {encoding.upper()} here: replaced by U+FFFD", line)]


def _decode_utf16(data: bytes) -> tuple[str, list[Problem]]:
    """Decode UTF-16 without a byte order mark. Raises: Unreadable for other data with zero bytes."""
    head = data[:4096]
    even, odd = head[0::2].count(0), head[1::2].count(0)
    half = max(len(head) // 2, 1)
    for encoding, zeros, others in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if zeros > 0.3 * half and others < 0.05 * half and len(data) % 2 == 0:
            try:
                return data.decode(encoding).translate(_BREAKS), []
            except UnicodeDecodeError:
                break
    raise Unreadable("not a text file: it contains NUL bytes", hint="check the file extension")


def _decode_mostly_utf8(data: bytes) -> tuple[str, list[Problem]] | None:
    """Decode UTF-8 with a few bad bytes, which are read as Windows-1252 where that gives letters; None for more."""
    escaped = data.decode("utf-8", "surrogateescape")
    bad = sum(map(len, _BAD_RUN.findall(escaped)))
    if bad > MAX_BAD_SHARE * (len(escaped) - len(escaped.encode("ascii", "ignore"))):
        return None
    problems: list[Problem] = []
    line = at = 0

    def repaired(run: re.Match[str]) -> str:
        nonlocal line, at
        words = _repair_bytes(run)
        if len(problems) < MAX_REPORTED:
            line += escaped.count("\n", at, run.start())
            at = run.start()
            if not problems or problems[-1].line != line + 1:
                shown = "replaced by U+FFFD" if words == "\ufffd" else "read as Windows-1252"
                problems.append(Problem("bad-bytes", f"bytes that are not UTF-8: {shown}", line + 1))
        return words

    return _BAD_RUN.sub(repaired, escaped).translate(_BREAKS), problems


def _repair_bytes(run: re.Match[str]) -> str:
    """Return a run of bad bytes as Windows-1252 if that is one letter or mark beside plain letters, else U+FFFD."""
    try:
        words = run.group().encode("utf-8", "surrogateescape").decode("cp1252")
    except UnicodeDecodeError:
        return "\ufffd"
    beside = run.string[max(run.start() - 1, 0) : run.start()] + run.string[run.end() : run.end() + 1]
    return words if len(words) == 1 and unicodedata.category(words)[0] in "LP" and beside.isascii() else "\ufffd"


def _decode_guessed(data: bytes) -> tuple[str, list[Problem]]:
    """Return the text in the likeliest of the old encodings, and a problem that names the guess."""
    encoding = _as_western(data) or _likeliest_encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        raise Unreadable(f"mostly {encoding}, but with invalid bytes", hint="save it as UTF-8") from None
    if len(data) > SHORT and not language_of(text):
        raise Unreadable(
            f"unknown encoding: when decoded as {encoding}, the text is not in a known language",
            hint="save it as UTF-8",
        )
    return text.translate(_BREAKS), [Problem("encoding-guessed", f"not UTF-8: read as {encoding}", 0)]


def _as_western(data: bytes) -> str:
    """Return the text as cp1252 if that makes words of a western language with mostly ASCII words, else ""."""
    text = data[:SAMPLE].decode("cp1252", "replace")
    return "cp1252" if _unusual_share(text) <= 0.1 and language_of(text) in _WESTERN else ""


def _unusual_share(text: str) -> float:
    """Return the share of characters that are neither letters nor quotes among all that are not ASCII."""
    high = [c for c in text if c > "\x7f"]
    return sum(unicodedata.category(c)[0] not in "LP" and c not in _SIGNS for c in high) / max(len(high), 1)


def _likeliest_encoding(data: bytes) -> str:
    """Return the encoding that charset-normalizer finds likeliest. Raises: Unreadable if it finds none."""
    from charset_normalizer import from_bytes

    sample = data[:SAMPLE]
    best = from_bytes(sample, cp_isolation=_OLD).best()
    unsure = best is None or not best.encoding or best.percent_chaos > 10
    vague = unsure or (best is not None and best.percent_coherence < 25)
    if vague and len(data) <= SHORT and not _unusual_share(sample.decode("cp1252", "replace")):
        return "cp1252"  # too short for statistics
    if best is None or unsure:
        raise Unreadable("unknown encoding", hint="save it as UTF-8")
    if best.encoding in _CENTRAL:  # the same letters in other places: the wrong one puts signs inside words
        return min(_CENTRAL, key=lambda name: len(_SIGN_IN_WORD.findall(sample.decode(name, "replace"))))
    return str(best.encoding)


def as_mapping(value: object) -> dict[str, Any]:
    """Return a JSON value if it is an object, else {}."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return a JSON value if it is an array, else []."""
    return value if isinstance(value, list) else []
