"""Anki's templates: front and back of one card of a note, as HTML. Nothing is run, nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from vault.model.cloze import with_deletions

_TAG = re.compile(r"\{\{([^{}]{0,300}?)\}\}")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_RULE = re.compile(r"<hr\s+id\s*=\s*[\"']?answer\b[^<>]*>", re.IGNORECASE)
_SCRIPT = re.compile(r"<script\b", re.IGNORECASE)
_EMPTY = re.compile(r"(?:\s|&nbsp;|</?(?:br|div|p)\s*/?>)*", re.IGNORECASE)
_BLOCK = re.compile(r"<(?:div|p|br|li|ul|ol|table|pre)\b", re.IGNORECASE)
_KANJI = re.compile(r" ?([^ >\[\]]{1,100})\[(?!sound:)([^\[\]]{1,100})\]")  # bounded: strangers write what it reads
_DEEPEST_SECTION = 50
MAX_TEMPLATE = 1024**2  # characters of one template
MAX_SIDE = 512 * 1024  # characters that it may make of one side, as HTML; a card as text holds at most 64 KiB
_MAX_WORK = 16 * 1024**2  # characters that may be read to make one side
_SILENT = frozenset(("tts", "hint", "type"))  # filters that show nothing on the front


class TooLarge(Exception):
    """Raised for a template that makes more of a note than a card could hold, or is too long itself."""


@dataclass(slots=True)
class Sheet:
    """What a template may use: the fields of one note and a few facts. `not_understood` collects what the card has to
    do without, as nouns.

    `work` counts the characters that were read for the side being made; `rtl` are the
    fields that are written from right to left.
    """

    values: Mapping[str, str]
    ord: int = 0
    not_understood: set[str] = field(default_factory=set)
    work: int = 0
    rtl: frozenset[str] = frozenset()

    def read(self, name: str) -> str:
        """Return the value of that name, "" without one. Raises: TooLarge after too many."""
        value = self.values.get(name, "")
        self.count(len(value))
        return value

    def count(self, characters: int) -> None:
        """Count characters. Raises: TooLarge."""
        self.work += characters
        if self.work > _MAX_WORK:
            raise TooLarge("rendering the card takes too long")


def sides(front: str, back: str, sheet: Sheet) -> tuple[str, str]:
    """Return (front, back) of the card as HTML; the back without what is on the front.

    A template that is not understood shows the first field, and the others behind it. Raises: TooLarge.
    """
    if max(len(front), len(back)) > MAX_TEMPLATE:
        raise TooLarge(f"it has more than {MAX_TEMPLATE:,} characters")
    front, back = _COMMENT.sub("", front), _COMMENT.sub("", back)
    if _SCRIPT.search(front) or _SCRIPT.search(back):
        sheet.not_understood.add("the script of its template and what the script shows")
    try:
        shown = _filled(back, sheet, is_back=True)
        answer = _RULE.split(shown, maxsplit=1)[-1]  # what stands above that rule is the front once more
        return _filled(front, sheet, is_back=False), shown if is_empty(answer) else answer
    except ValueError:
        sheet.not_understood.add(
            "its template, which cannot be read: the first field is the question, the others are the answer"
        )
        first, *rest = [*sheet.values.values(), ""]
        return first, "<br>".join(value for value in rest if not is_empty(value))


def is_empty(value: str) -> bool:
    """Return whether a field counts as empty, as Anki sees it."""
    return _EMPTY.fullmatch(value[:4000]) is not None and len(value) <= 4000


def _filled(template: str, sheet: Sheet, *, is_back: bool) -> str:
    """Return the filled template. Raises: ValueError where sections are not closed as they were opened; TooLarge."""
    out: list[str] = []
    made, sheet.work = 0, 0
    open_: list[tuple[str, bool]] = []
    for n, piece in enumerate(_TAG.split(template)):
        showing = all(shown for _, shown in open_)
        if n % 2 == 0:
            out += [piece] if showing else []
            made += len(piece) if showing else 0
            continue
        name = piece.strip()
        if len(open_) > _DEEPEST_SECTION:
            raise ValueError("the sections of its template are nested too deeply")
        if name[:1] in ("#", "^"):
            there = not is_empty(_asked(name[1:].strip(), sheet))
            open_.append((name[1:].strip(), there == (name[0] == "#")))
        elif name[:1] == "/":
            if not open_ or open_.pop()[0] != name[1:].strip():
                raise ValueError("sections in its template overlap")
        elif name[:1] == "=":
            raise ValueError("its template uses delimiters other than {{ }}")
        elif showing:
            out.append(_shown(name, sheet, is_back=is_back))
            made += len(out[-1])
        if made > MAX_SIDE:
            raise TooLarge(f"one side of the card would be longer than {MAX_SIDE:,} characters")
    if open_:
        raise ValueError("a section of its template is not closed")
    return "".join(out)


def _asked(name: str, sheet: Sheet) -> str:
    """Return the value that decides whether a section is shown."""
    if re.fullmatch(r"c\d{1,3}", name):
        return "x" if int(name[1:]) == sheet.ord + 1 else ""
    return sheet.read(name)


def _shown(name: str, sheet: Sheet, *, is_back: bool) -> str:
    """Return the value of a field with its filters applied."""
    *filters, own = [part.strip() for part in name.split(":")]
    if own == "FrontSide":
        return ""  # the reader has just seen it
    if own not in sheet.values:
        if own:
            sheet.not_understood.add("a field that its template uses but its note type does not have")
        return ""
    value = sheet.read(own)
    for each in reversed(filters):
        sheet.count(len(value))
        value = _filtered(value, each.split(" ")[0], sheet, is_back=is_back)
    return f'<span dir="rtl">{value}</span>' if value and own in sheet.rtl else value


def _filtered(value: str, name: str, sheet: Sheet, *, is_back: bool) -> str:
    """Return a value after one filter."""
    if name == "cloze":
        return cloze(value, sheet.ord + 1, is_back=is_back)
    if name == "cloze-only":
        return ", ".join(hidden(value, sheet.ord + 1)) if is_back else ""
    if name in _SILENT:
        return value if is_back and name != "tts" else ""
    if name == "text":
        return re.sub(r"<[^<>]*>", "", value)
    if name in ("kanji", "kana", "furigana"):
        shape = {"kanji": r"\1", "kana": r"\2", "furigana": r"\1(\2)"}[name]
        return _KANJI.sub(shape, value)
    if name not in ("nc", "edit"):
        sheet.not_understood.add("a filter of its template that only Anki has")
    return value


def cloze(text: str, number: int, *, is_back: bool) -> str:
    """Return `text` for the card of that number: its gaps hidden, or filled and bold on the back; others always filled.

    Nothing if there is no gap of that number.
    """
    shown, found = with_deletions(text, number, _gap_filled if is_back else _gap_hidden)
    return shown if found else ""


def hidden(text: str, number: int) -> list[str]:
    """Return the texts in the gaps of that number."""
    return with_deletions(text, number, _gap_filled)[1]


def _gap_hidden(_: str, hint: str) -> str:
    return f"<b>[{hint or '...'}]</b>"


def _gap_filled(words: str, _: str) -> str:
    return words if _BLOCK.search(words) else f"<b>{words}</b>"
