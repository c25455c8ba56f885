"""The border where text from documents, models and decks becomes harmless to show."""

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
    """`text` with every control and direction mark replaced by U+FFFD; newline and tab stay, CR LF becomes LF."""
    return _CONTROL.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def clean_line(text: str) -> str:
    """`text` on one line, clean, white space folded: for names, paths and error messages on a terminal."""
    return _SPACE.sub(" ", clean(text)).strip()


def normal(text: str) -> str:
    """`text` as source text wants it: NFC, clean, no invisible characters (soft hyphens, tags, BOM ...)."""
    if text.isascii() and text.isprintable():
        return text
    return clean(_INVISIBLE.sub("", unicodedata.normalize("NFC", text)))


def fold(text: str) -> str:
    """`text` with runs of white space as one space, ends trimmed: quotes are compared in this form."""
    return _SPACE.sub(" ", text).strip()
