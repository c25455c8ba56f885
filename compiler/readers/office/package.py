"""Common parts of Word, PowerPoint and Excel files: properties, relationships, words of charts and diagrams."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any

from compiler.readers.zip_archive import Archive
from vault.errors import Unreadable
from vault.text.formatting import clean_line

MAX_PROPERTY = 2_000  # characters
MAX_DIAGRAM_TEXTS = 500
_CORE = {"title": "title", "creator": "author", "created": "published"}
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_EMPTY_TITLE = re.compile(
    r"(?:power ?point[ -]?pr[äáae]sentat[ioné]+|pr[ée]sentation powerpoint|presentation\d*|slide \d+|folie \d+|untitled"
    r"|(?:microsoft (?:word|powerpoint|excel) - .*)|document\d*|dokument\d*|book\d*|title|titel)",
    re.IGNORECASE,
)
_GUESSED = re.compile(
    r"automatically generated|AI-generated|automatisch generiert|KI-generiert|see the source image|自动生成|AI 生成",
    re.IGNORECASE,
)
_NOBODY = {
    "microsoft office user", "user", "admin", "administrator", "python-docx", "openpyxl", "steve canny", "unknown",
}  # fmt: skip


def local(element: Any) -> str:
    """Return the element's name without its namespace, since strict and usual files differ only in that."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Any, name: str) -> str:
    """Return the value of the attribute of this local name, "" without one, or without an element."""
    if element is None:
        return ""
    return next((str(v) for k, v in element.attrib.items() if k.rpartition("}")[2] == name), "")


def child(element: Any, *names: str) -> Any:
    """Return the first child, grandchild ... along these local names; None if one is missing, or without an element."""
    for name in names:
        element = next((e for e in element if local(e) == name), None) if element is not None else None
    return element


def is_inside(element: Any, name: str) -> bool:
    """Return whether an element of this local name is around this one."""
    return any(local(up) == name for up in element.iterancestors())


def relationships(archive: Archive, part: str) -> dict[str, tuple[str, str]]:
    """Return the relationships of a part, id -> (kind, target), where target is a part or an outside address."""
    folder, _, name = part.rpartition("/")
    rels = f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels"
    if rels not in archive.parts:
        return {}
    out: dict[str, tuple[str, str]] = {}
    for element in archive.xml(rels):
        target, kind = attribute(element, "Target"), attribute(element, "Type").rpartition("/")[2]
        if attribute(element, "TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/" + folder, target)).lstrip("/")
        out[attribute(element, "Id")] = (kind, target)
    return out


def main_part(archive: Archive, usual: str) -> str:
    """Return the name of the part that holds the document itself."""
    for kind, target in relationships(archive, "").values():
        if kind == "officeDocument" and target in archive.parts:
            return target
    return usual


def properties(archive: Archive) -> dict[str, str]:
    """Return title, author and published (ISO date) as the document states them, without programs' defaults."""
    part = next((t for k, t in relationships(archive, "").values() if k == "core-properties"), "docProps/core.xml")
    if part not in archive.parts:
        return {}
    try:
        root = archive.xml(part)
    except Unreadable:
        return {}
    out: dict[str, str] = {}
    for element in root:
        key = _CORE.get(local(element), "")
        value = clean_line(element.text or "")[:MAX_PROPERTY]
        if key == "published":
            value = _DATE.match(value).group() if _DATE.match(value) else ""  # type: ignore[union-attr]
        if key and value and not (key == "title" and _EMPTY_TITLE.fullmatch(value)):
            out[key] = value
    if out.get("author", "").casefold() in _NOBODY:
        out.pop("author")
    if "author" not in out:
        out.pop("published", None)  # the day a template or a library was made, not the document
    return out


def described(element: Any) -> str:
    """Return the description that an author gave a drawing, "" for one that a program guessed."""
    words = clean_line(attribute(element, "descr") or attribute(element, "alt"))
    return "" if _GUESSED.search(words) else words


def chart_words(root: Any) -> str:
    """Return the title of a chart, "" if it has none."""
    title = next((e for e in root.iter() if local(e) == "title"), None)
    if title is None:
        return ""
    return " ".join("".join(e.text or "" for e in title.iter() if local(e) in ("t", "v")).split())


def diagram_texts(root: Any) -> Iterator[str]:
    """Yield the words in the boxes of a SmartArt drawing, in its own order."""
    found = 0
    for point in root.iter():
        if local(point) != "pt" or attribute(point, "type") not in ("", "node"):
            continue
        words = " ".join("".join(e.text or "" for e in point.iter() if local(e) == "t").split())
        if words and found < MAX_DIAGRAM_TEXTS:
            found += 1
            yield words


def packed(parts: Mapping[str, bytes]) -> BytesIO:
    """Return a new archive of checked parts, for a library that opens archives itself."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, data in parts.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    out.seek(0)
    return out


def replace_element(element: Any, others: list[Any]) -> None:
    """Replace an element by `others`."""
    parent = element.getparent()
    if parent is None:
        return
    for other in reversed(others):
        element.addnext(other)
    parent.remove(element)


def resolve_alternatives(root: Any) -> None:
    """Replace each pair of alternatives by the first, if it can be read here or is the only one, else by the other."""
    readable = ("txbxContent", "blip", "chart", "relIds", "oMath", "t")
    for element in [e for e in root.iter() if local(e) == "AlternateContent"]:
        choice, fallback = child(element, "Choice"), child(element, "Fallback")
        is_richer = choice is not None and any(local(e) in readable for e in choice.iter())
        chosen = choice if is_richer or fallback is None else fallback
        replace_element(element, list(chosen) if chosen is not None else [])
