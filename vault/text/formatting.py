"""Text from documents, models and decks, cleaned so that it is harmless to show, and cut or counted for messages."""

from __future__ import annotations

import re
import unicodedata

# C0 but tab and newline, DEL, C1, the marks that reorder or hide text on a screen, and halves of pairs (surrogates),
# which no file and no terminal can be given.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)
_INVISIBLE = re.compile("[\u00ad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\U000e0000-\U000e007f]")
_SPACE = re.compile(r"\s+")


def clean(text: str) -> str:
    """Return `text` with control and direction marks replaced by U+FFFD; newline and tab stay, CR LF becomes LF."""
    return _CONTROL.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def clean_line(text: str) -> str:
    """Return `text` clean and on one line, white space folded: for names, paths and messages on a terminal."""
    return _SPACE.sub(" ", clean(text)).strip()


def normal(text: str) -> str:
    """Return `text` normalized for source text: NFC, clean, without invisible characters (soft hyphens, BOM ...)."""
    if text.isascii() and text.isprintable():
        return text
    return clean(_INVISIBLE.sub("", unicodedata.normalize("NFC", text)))


def fold(text: str) -> str:
    """Return `text` with runs of white space as one space, ends trimmed; quotes are compared in this form."""
    return _SPACE.sub(" ", text).strip()


_TITLE = 100  # characters; longer ones are sentences


def folded(text: str) -> str:
    """Return `text` as it is searched: without capitals and accents, wide letters as narrow ones, blanks as one."""
    if not text.isascii():
        apart = unicodedata.normalize("NFKD", text)
        # Marks of Latin, Greek and Cyrillic are left out; those of Indic scripts and kana change the letter.
        bare = "".join(c for c in apart if not "\u0300" <= c <= "\u036f" and not "\ud800" <= c <= "\udfff")
        text = unicodedata.normalize("NFC", bare)
    return " ".join(text.replace("\0", " ").casefold().split())


def plural(count: int, noun: str, many: str = "", *, zero: str = "0") -> str:
    """Return `count` with its noun: `1 card`, `2 cards`, `1,024 cards`, `2 copies`.

    `many` is the plural where it is not `noun` and an s. `zero` replaces the number 0, as in `no cards`.
    """
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {many or noun + 's'}" if count else f"{zero} {many or noun + 's'}"


def truncate(text: str, width: int) -> str:
    """Return `text` if it has at most `width` characters, else its beginning and "…", together at most `width`.

    White space before the "…" is dropped.
    """
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def short_line(text: str, width: int) -> str:
    """Return `text` from a document, model or deck as one clean line of at most `width` characters."""
    return truncate(clean_line(text), width)


def short_title(title: str) -> str:
    """Return the title of an article, card or topic as one clean line of at most 100 characters."""
    return short_line(title, _TITLE)
