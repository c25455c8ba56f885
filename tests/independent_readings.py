"""The letters and digits of a raw file of any kind, for the independent check; imports nothing of retain's either."""

from __future__ import annotations

import contextlib
import csv
import html
import io
import itertools
import json
import re
import subprocess
import unicodedata
import zipfile
from pathlib import Path

import openpyxl

Page = list[str]  # the letters of its lines


def letters(text: str) -> str:
    """Only the letters and digits of `text`; case, accents and compatibility forms folded (PDFs set accents apart)."""
    text = re.sub(r"[\u02b0-\u02ff]", "", text)  # accents that stand by themselves, which Python counts as letters
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold()).replace("ı", "i")
    return "".join(c for c in plain if c.isalnum())


def raw_readings(path: Path) -> list[list[Page]]:
    """The pages of a raw file, in several readings: a PDF's two orders; else as it stands and less what is unseen."""
    if path.suffix.lower() == ".pdf":
        ways: tuple[list[str], ...] = ([], ["-raw"])
        done = [subprocess.run(["pdftotext", *w, str(path), "-"], capture_output=True, check=True).stdout for w in ways]
        texts = [d.decode("utf-8", "replace") for d in done]
        texts += [re.sub(r"(?<=[a-z)][.!?])\d{1,3}(?=\s)", "", text) for text in texts]  # marks of footnotes
        return [[[letters(x) for x in page.split("\n")] for page in text.split("\f")] for text in texts]
    texts = unpacked(path)
    return [*(reading for text in texts for reading in readings_of(text)), *tables(path, texts)]


def readings_of(text: str) -> list[list[Page]]:
    """A text as it stands, less what is unseen, and less the commands of TeX."""
    seen = re.sub(r"(?s)<!--.*?-->|<(script|style)\b.*?</\1>", " ", text)
    seen = re.sub(r"<[^<>]*>", " ", seen)  # tags
    seen = re.sub(r"\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)", "] ", seen)  # link targets
    seen = re.sub(r":[a-z]+:`[^`]*`|\[\^[^\]]*\]", " ", seen)  # roles, footnote marks
    seen = re.sub(r"\bcite\w*:[\w:.,-]*\w", " ", seen)  # Org's citations
    for name, meaning in re.findall(r"\\newcommand\{?\\(\w+)\}?\{([^{}\\]*)\}", text):
        seen = re.sub(rf"\\{name}\b(?:\{{\}})?", meaning, seen)  # a TeX document's own words for words
    bare = re.sub(r"(?<!\\)%.*|\\(?:\w*cite\w*|label|\w*ref)\*?(?:\[[^\]]*\])*\{[^{}]*\}|\\[A-Za-z]+\*?", " ", seen)
    return [[[letters(html.unescape(t))]] for t in (text, seen, re.sub(r"\\([A-Za-z]+)", r"\1", seen), bare)]


def tables(path: Path, texts: list[str]) -> list[list[Page]]:
    """The rows of a file that is a table: a CSV file's by each of its possible delimiters, a workbook's by sheet."""
    found: list[list[list[str]]] = []
    if path.suffix.lower() in (".csv", ".tsv"):
        found = [list(csv.reader(io.StringIO(t, newline=""), delimiter=sign)) for t in texts for sign in ",;\t|"]
    elif path.suffix.lower() == ".xlsx":
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        found = [[[str(c) for c in row if c is not None] for row in sheet.values] for sheet in book.worksheets]
    return [[["|".join(pairs(rows))]] for rows in found]


def pairs(rows: list[list[str]]) -> list[str]:
    """The letters of every two cells of a row, one after the other: a term and what the row says of it."""
    return [f"{a}{b}" for row in rows for a, b in itertools.combinations(map(letters, row[:100]), 2)]


def unpacked(path: Path) -> list[str]:
    """The characters of a raw file: all parts of a zipped one without their tags, all strings of a JSON one.

    Old encodings do not tell themselves apart: the file in each that may be meant.
    """
    data = path.read_bytes()
    if data.startswith(b"PK"):
        with zipfile.ZipFile(path) as parts:
            found = (
                parts.read(n).decode("utf-8", "replace") for n in parts.namelist() if re.search(r"\.(?:xml|x?html)$", n)
            )
            return ["\n".join(re.sub(r"(?s)<[^<>]*>", "", part) for part in found)]
    if path.suffix in (".ipynb", ".json"):
        return ["\n".join(strings(json.loads(data)))]
    with contextlib.suppress(UnicodeDecodeError):
        return [data.decode("utf-8-sig")]
    return [data.decode(name, "replace") for name in ("utf-8", "gb18030", "big5", "cp1251", "mac-cyrillic", "cp1252")]


def strings(found: object) -> list[str]:
    if isinstance(found, list) and all(isinstance(x, str) for x in found):
        return ["".join(found)]
    below = list(found.values()) if isinstance(found, dict) else found if isinstance(found, list) else []
    return [found] if isinstance(found, str) else [s for x in below for s in strings(x)]
