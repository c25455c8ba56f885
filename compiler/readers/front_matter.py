"""Front matter of a document, YAML or TOML: the body below it, its author, publication date, address and licence."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from vault.model.frontmatter import read_properties
from vault.model.source import Problem
from vault.text.formatting import clean_line

MAX_PROPERTY = 2_000  # characters of one property's text
_FOREIGN_FRONT = re.compile(r"---[ \t]+\S.*\n(?:(?!---).*\n){0,200}?---[ \t]*(?:\n|\Z)")
_EMPTY_FRONT = re.compile(r"---[ \t]*\n---[ \t]*(?:\n|\Z)")
_TOML_FRONT = re.compile(r"\+\+\+[ \t]*\n((?:(?!\+\+\+).*\n){0,500}?)\+\+\+[ \t]*(?:\n|\Z)")
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_MARKDOWN_LINK = re.compile(r"\[([^\[\]]*)\]\(\s*<?([^()\s<>]*)>?\s*\)")
# The names that clippers, reference managers and site generators have for the same thing, the surest first.
_AUTHOR = ("author", "authors", "creators", "creator", "byline", "by", "first author", "editor", "editors")
_PUBLISHED = (
    "published", "date_published", "publication date", "published date", "publishdate", "pubdate", "date", "issued",
    "year",
)  # fmt: skip
_ADDRESS = ("url", "source", "source_url", "source url", "canonical_url", "link", "uri", "doi")
_LICENSE = ("license", "licence", "rights")
_MONTHS = {
    name: number
    for number, names in enumerate(
        "jan januar january janvier enero|feb februar february fevrier febrero|mar mär mrz märz march mars marzo"
        "|apr april avril abril|may mai mayo|jun juni june juin junio|jul juli july juillet julio"
        "|aug august août agosto|sep sept september septembre septiembre|oct okt oktober october octobre octubre"
        "|nov november novembre noviembre|dec dez dezember december décembre diciembre".split("|"),
        1,
    )
    for name in names.split()
}
_ISO = re.compile(r"((?:1[5-9]|20)\d\d)(?:[-/.](1[0-2]|0?[1-9])(?:[-/.]([12]\d|3[01]|0?[1-9])(?!\d))?)?")
_WORD_DATE = re.compile(
    r"(?:(\d{1,2})(?:st|nd|rd|th|\.)?\s+)?([^\W\d]{3,10})\.?,?\s+(?:(\d{1,2})(?:st|nd|rd|th)?,?\s+)?(\d{4})\b"
)
_GERMAN_DATE = re.compile(r"(0?[1-9]|[12]\d|3[01])\.(0?[1-9]|1[0-2])\.((?:1[5-9]|20)\d\d)")
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_DOI = re.compile(r"(?:doi:\s*)?(10\.\d{4,9}/\S+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Front:
    """The front matter of a document: `text[body:]` is what is below, from the raw file's line `first_line` on."""

    properties: dict[str, str]
    problems: list[Problem]
    body: int
    first_line: int


def read_front(text: str) -> Front:
    """Return the YAML or TOML front matter of a document; an invalid one is reported and ignored."""
    if toml := _TOML_FRONT.match(text):
        return _read_toml(toml)
    front = read_properties(text)
    problems = list(front.problems)
    body = front.body
    foreign = None if front.problems or body else _FOREIGN_FRONT.match(text)
    if foreign is not None:
        problems.append(Problem("front-matter-foreign", "the frontmatter is not YAML: left out", 1))
        body = foreign.end()
    elif _EMPTY_FRONT.match(text):
        problems.append(Problem("front-matter-empty", "the frontmatter is empty", 1))
    properties = {clean_line(key)[:200]: _words(value) for key, value in front.values.items()}
    return Front(properties, problems, body, text.count("\n", 0, body) + 1)


def _read_toml(found: re.Match[str]) -> Front:
    """Return TOML front matter, as Hugo and Zola write it."""
    body, first_line = found.end(), found[0].count("\n") + 1
    try:
        values = tomllib.loads(found[1])
    except (ValueError, RecursionError) as error:  # also of a number with too many digits
        problem = Problem("front-matter-invalid", f"the frontmatter is not valid TOML: {clean_line(str(error))}", 1)
        return Front({}, [problem], body, first_line)
    plain = {key: value if isinstance(value, str | list | dict) else str(value) for key, value in values.items()}
    properties = {clean_line(key)[:200]: _words(value) for key, value in plain.items()}
    return Front(properties, [], body, first_line)


def _words(value: object) -> str:
    """Return a front matter value as one string: items of a list separated by commas, a person by name."""
    if isinstance(value, str):
        return clean_line(value)[:MAX_PROPERTY]
    if isinstance(value, list):
        numbers = value[0] if len(value) == 1 and isinstance(value[0], list) else value  # CSL: [[2023, 10, 15]]
        parts = [_words(v) for v in numbers[:100]]
        joint = "-" if 0 < len(parts) <= 3 and all(p.isdecimal() for p in parts) else ", "
        return joint.join(filter(None, parts))[:MAX_PROPERTY]
    return _of_mapping({str(k).lower(): v for k, v in value.items()}) if isinstance(value, dict) else ""


def _of_mapping(value: Mapping[str, object]) -> str:
    """Return the name of a person, or the date, that a mapping describes; "" for any other mapping."""
    name = value.get("name") or value.get("literal")
    if isinstance(name, (str, dict)):
        return _words(name)
    given = next((value[k] for k in ("given", "first", "firstname", "first_name") if k in value), "")
    family = next((value[k] for k in ("family", "last", "lastname", "last_name") if k in value), "")
    if isinstance(given, str) and isinstance(family, str) and (given or family):
        return clean_line(f"{given} {family}")[:MAX_PROPERTY]
    return _words(value["date-parts"]) if isinstance(value.get("date-parts"), list) else ""


def canonical_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties with `author`, `published`, `url` and `license` under these names, however they are called.

    `published` is as much of an ISO date as is known ("2017", "2017-06-12"), `url` an http(s) address; one that is
    neither is left out.
    """
    out = {key: without_links(value) for key, value in properties.items() if value}
    named = {key.lower().replace("-", "_"): value for key, value in properties.items()}
    found = {
        "author": next((a for k in _AUTHOR if (a := without_links(named.get(k, "")))), ""),
        "published": next((d for k in _PUBLISHED if (d := iso_date_in(without_links(named.get(k, ""))))), ""),
        "url": next((u for k in _ADDRESS if (u := web_address_in(named.get(k, "")))), ""),
        "license": next((words for k in _LICENSE if (words := without_links(named.get(k, "")))), ""),
    }
    for key, value in found.items():
        if value:
            out[key] = value[:MAX_PROPERTY]
        else:
            out.pop(key, None)
    return out


def without_links(words: str) -> str:
    """Return `words` with each link replaced by the name it shows."""
    return clean_line(_MARKDOWN_LINK.sub(lambda m: m[1] or m[2], _WIKILINK.sub(lambda m: m[1], words)))


def iso_date_in(words: str) -> str:
    """Return the certain part of an ISO date in `words`: "2017-06-12", "2017-06", "2017" or ""."""
    words = words.strip(" <>[]\"'")[:100]
    if german := _GERMAN_DATE.match(words):
        return f"{german[3]}-{int(german[2]):02}-{int(german[1]):02}"
    if (iso := _ISO.match(words)) and not words[iso.end() : iso.end() + 1].isdecimal():
        return "-".join([iso[1], *(f"{int(part):02}" for part in iso.groups()[1:] if part)])
    if spelt := _WORD_DATE.search(words):
        month = _MONTHS.get(spelt[2].lower())
        number = int(spelt[1] or spelt[3] or 0)
        if month and _YEAR.fullmatch(spelt[4]):
            return f"{spelt[4]}-{month:02}" + (f"-{number:02}" if 1 <= number <= 31 else "")
    year = _YEAR.search(words)
    return year[0] if year else ""


def web_address_in(words: str) -> str:
    """Return the http(s) address that `words` are or link to, also of a DOI; "" if there is none."""
    link = _MARKDOWN_LINK.search(words)
    words = (link[2] if link else words).strip().strip("<>")
    if doi := _DOI.fullmatch(words):
        words = f"https://doi.org/{doi[1]}"
    try:
        parts = urlsplit(words)
        sound = parts.scheme.lower() in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return ""
    return words if sound and len(words) <= MAX_PROPERTY and not re.search(r"[\s\"<>\\^`{|}]", words) else ""
