"""The letters and digits of a raw file of any kind, for the independent check; imports nothing of retain's either."""

from __future__ import annotations

import contextlib
import html
import json
import re
import subprocess
import unicodedata
import zipfile
from pathlib import Path

Page = list[str]  # the letters of its lines


def letters(text: str) -> str:
    """Only the letters and digits of `text`; case, accents and compatibility forms folded (PDFs set accents apart)."""
    plain = unicodedata.normalize("NFKD", text.casefold()).replace("ı", "i")
    return "".join(c for c in plain if c.isalnum())


def raw_readings(path: Path) -> list[list[Page]]:
    """The pages of a raw file, in several readings: a PDF's two orders; else as it stands and less what is unseen."""
    if path.suffix.lower() == ".pdf":
        ways: tuple[list[str], ...] = ([], ["-raw"])
        done = [subprocess.run(["pdftotext", *w, str(path), "-"], capture_output=True, check=True).stdout for w in ways]
        return [[[letters(x) for x in p.split("\n")] for p in d.decode("utf-8", "replace").split("\f")] for d in done]
    text = unpacked(path)
    seen = re.sub(r"(?s)<!--.*?-->|<(script|style)\b.*?</\1>", " ", text)
    seen = re.sub(r"<[^<>]*>", " ", seen)  # tags
    seen = re.sub(r"\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)", "] ", seen)  # link targets
    seen = re.sub(r":[a-z]+:`[^`]*`|\[\^[^\]]*\]", " ", seen)  # roles, footnote marks
    for name, meaning in re.findall(r"\\newcommand\{?\\(\w+)\}?\{([^{}\\]*)\}", text):
        seen = re.sub(rf"\\{name}\b(?:\{{\}})?", meaning, seen)  # a TeX document's own words for words
    bare = re.sub(r"(?<!\\)%.*|\\(?:cite|label|ref)\w*\{[^{}]*\}|\\[A-Za-z]+\*?", " ", seen)
    return [[[letters(html.unescape(t))]] for t in (text, seen, re.sub(r"\\([A-Za-z]+)", r"\1", seen), bare)]


def unpacked(path: Path) -> str:
    """The characters of a raw file: all parts of a zipped one without their tags, all strings of a JSON one."""
    data = path.read_bytes()
    if data.startswith(b"PK"):
        with zipfile.ZipFile(path) as parts:
            found = (decoded(parts.read(n)) for n in parts.namelist() if re.search(r"\.(?:xml|x?html)$", n))
            return "\n".join(re.sub(r"(?s)<[^<>]*>", "", part) for part in found)
    if path.suffix in (".ipynb", ".json"):
        return "\n".join(strings(json.loads(data)))
    return decoded(data)


def strings(found: object) -> list[str]:
    if isinstance(found, list) and all(isinstance(x, str) for x in found):
        return ["".join(found)]
    below = list(found.values()) if isinstance(found, dict) else found if isinstance(found, list) else []
    return [found] if isinstance(found, str) else [s for x in below for s in strings(x)]


def decoded(data: bytes) -> str:
    for encoding in ("utf-8-sig", "gb18030", "cp1251", "cp1252"):
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode(encoding)
    return data.decode("utf-8", "replace")
