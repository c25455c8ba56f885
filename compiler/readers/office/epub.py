"""The reader of e-books (EPUB 2 and 3), chapters in reading order; a place is chapter, heading and paragraph."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from compiler.readers.decode import decode
from compiler.readers.html_elements import parse_html, remove_element, words_of
from compiler.readers.html_hidden import hidden_selectors
from compiler.readers.office.package import attribute, local
from compiler.readers.office.walker import CountedWalker
from compiler.readers.page import Page, label_of
from compiler.readers.tables import Budget
from compiler.readers.zip_archive import EMBEDDED, Archive, open_archive
from vault.errors import Unreadable
from vault.model.source import MarkKind, Problem
from vault.text.formatting import clean_line, normal

MAX_CHAPTERS = 2_000
MAX_CHAPTER = 12 * 1024**2  # bytes
MAX_TAGS = 400_000  # of all chapters: some thousand pages
MAX_STYLE = 1024**2
MAX_PROPERTY = 2_000
_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")
_ENCODING = re.compile(rb"""<\?xml[^>]{0,100}encoding=["']([\w.-]+)""")
_TAG = re.compile(r"<[^>]*>")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_FURNITURE = re.compile(
    r"\b(?:toc|landmarks|page-list|cover|titlepage|halftitlepage|copyright-page|loi|lot|loa|index|colophon|pagebreak)\b"
)
_BOILERPLATE = re.compile(r"\bpg-boilerplate\b")  # the licence that Project Gutenberg puts round its books
_NOTE_REFERENCE = re.compile(r"\bnoteref\b")


@dataclass(frozen=True, slots=True)
class _Chapter:
    """One file of the book in reading order; `title` is that of the table of contents, "" without one."""

    part: str
    title: str


def read(data: bytes, name: str, page: Page) -> tuple[dict[str, str], list[Problem]]:
    """Write the book's chapters onto `page`; return its properties and problems.

    Raises: Unreadable if it is no book that can be opened, or is locked.
    """
    archive = open_archive(data, "epub")
    package_part = _package_part(archive)
    package = _tree(archive, package_part)
    if package is None:
        raise Unreadable("the EPUB book is damaged", hint="download it again")
    manifest = _manifest(package, package_part)
    _refuse_locked(archive, {part for part, kind, _ in manifest.values() if "html" in kind})
    budget = Budget()
    walker = CountedWalker(page, budget, _hidden(archive, manifest))
    left = MAX_TAGS
    for number, chapter in enumerate(_chapters(archive, package, manifest, budget), 1):
        try:
            markup = _text(archive, chapter.part)
            left -= markup.count("<")
            if left < 0:
                budget.left_out(f"the book is too large: only the text before part {number:,} was read")
                break
            _write(chapter, number, parse_html(markup), archive, page, walker)
        except Unreadable as error:
            name = label_of(chapter.title) or f"part {number}"
            budget.problems.append(Problem("chapter-damaged", f"{name}: {error.what}"))
    if not page.length and budget.problems:
        raise Unreadable(budget.problems[0].message, hint="download it again")
    return _properties(package), budget.problems


def _package_part(archive: Archive) -> str:
    """Return the name of the book's package document. Raises: Unreadable if there is none."""
    container = _tree(archive, "META-INF/container.xml")
    roots = [e for e in container.iter() if local(e) == "rootfile"] if container is not None else []
    found = next((p for e in roots if (p := unquote(attribute(e, "full-path"))) in archive.parts), "")
    if not found:
        raise Unreadable("the EPUB does not list its chapters", hint="download it again")
    return found


def _tree(archive: Archive, part: str) -> Any:
    """Return the root of one of the book's XML files, None if it is damaged. Its entities are not resolved."""
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=True, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(archive.read(part), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def _manifest(package: Any, package_part: str) -> dict[str, tuple[str, str, str]]:
    """Return id -> (part, media type, properties) of every file of the book."""
    return {
        attribute(e, "id"): (
            _beside(package_part, attribute(e, "href")),
            attribute(e, "media-type"),
            attribute(e, "properties"),
        )
        for e in package.iter()
        if local(e) == "item"
    }


def _beside(part: str, href: str) -> str:
    """Return the part that an address in another part leads to, "" if it leads out of the book."""
    try:
        address = urlsplit(href)
    except ValueError:
        return ""
    if address.scheme or address.netloc or not address.path:
        return ""
    return posixpath.normpath(posixpath.join("/" + posixpath.dirname(part), unquote(address.path))).lstrip("/")


def _refuse_locked(archive: Archive, chapters: set[str]) -> None:
    """Raise Unreadable for a book with encrypted chapters; encrypted fonts don't matter."""
    part = "META-INF/encryption.xml"
    root = _tree(archive, part) if part in archive.parts else None
    locked = {unquote(attribute(e, "URI")).lstrip("/") for e in (root.iter() if root is not None else ())} & chapters
    if locked:
        raise Unreadable("its chapters are protected by digital rights management (DRM)", hint="get a copy without DRM")


def _hidden(archive: Archive, manifest: dict[str, tuple[str, str, str]]) -> set[str]:
    """Return the selectors that the book's style sheets hide."""
    out: set[str] = set()
    for part, kind, _ in list(manifest.values())[:MAX_CHAPTERS]:
        if kind == "text/css" and part in archive.parts and archive.parts[part].file_size <= MAX_STYLE:
            out |= hidden_selectors(archive.read(part, MAX_STYLE).decode("utf-8", "replace"))
    return out


def _chapters(
    archive: Archive, package: Any, manifest: dict[str, tuple[str, str, str]], budget: Budget
) -> list[_Chapter]:
    """Return the files in reading order, without the table of contents and files outside the main flow."""
    titles = _titles(archive, manifest)
    out: list[_Chapter] = []
    for reference in [e for e in package.iter() if local(e) == "itemref"]:
        part, kind, facts = manifest.get(attribute(reference, "idref"), ("", "", ""))
        if "html" not in kind or "nav" in facts.split() or attribute(reference, "linear") == "no":
            continue
        if part not in archive.parts:
            budget.problems.append(Problem("chapter-missing", "a chapter that the book lists is missing from the file"))
        elif len(out) == MAX_CHAPTERS:
            budget.left_out(f"only the first {MAX_CHAPTERS:,} chapters were read")
        elif all(part != chapter.part for chapter in out[-50:]):
            out.append(_Chapter(part, titles.get(part, "")))
    if not out:
        raise Unreadable("the EPUB book has no chapters", hint="download it again")
    return out


def _titles(archive: Archive, manifest: dict[str, tuple[str, str, str]]) -> dict[str, str]:
    """Return part -> title of its first entry in the table of contents."""
    out: dict[str, str] = {}
    for part, kind, facts in manifest.values():
        if part not in archive.parts or archive.parts[part].file_size > MAX_CHAPTER:
            continue
        if "nav" in facts.split() and (root := parse_html(_text(archive, part))) is not None:
            for link in root.iter("a"):
                out.setdefault(_beside(part, link.get("href") or ""), clean_line(words_of(link)))
        elif kind == "application/x-dtbncx+xml" and (root := _tree(archive, part)) is not None:
            for point in [e for e in root.iter() if local(e) == "navPoint"]:
                label = next((e for e in point.iter() if local(e) == "navLabel"), None)
                target = next((e for e in point.iter() if local(e) == "content"), None)
                if label is not None and target is not None:
                    words = clean_line(" ".join("".join(label.itertext()).split()))
                    out.setdefault(_beside(part, attribute(target, "src")), words)
    return out


def _text(archive: Archive, part: str) -> str:
    """Return a chapter's characters: UTF-8 or UTF-16 as the standard demands, else the encoding it declares."""
    data = archive.read(part, MAX_CHAPTER)
    declared = _ENCODING.match(data[:200].lstrip())
    if declared and not declared[1].lower().startswith(b"utf"):
        try:
            return normal(data.decode(declared[1].decode()))
        except (UnicodeDecodeError, LookupError):
            pass
    return normal(decode(data)[0]) if data.strip() else ""


def _write(chapter: _Chapter, number: int, root: Any, archive: Archive, page: Page, walker: CountedWalker) -> None:
    """Write one chapter, with the heading of the table of contents if it has none of its own."""
    body = next(root.iter("body"), root) if root is not None else None
    if body is None or _FURNITURE.search(_types(body)):
        return
    _prune(body)
    heading = next((e for e in body.iter(*_HEADINGS) if words_of(e)), None)
    name = chapter.title or (words_of(heading) if heading is not None else "")
    walker.begin_chapter(name or f"part {number}")
    if heading is None and chapter.title and words_of(body):
        page.place(page.add(normal(chapter.title), (), MarkKind.HEADING, 1), label_of(chapter.title) or "chapter")
    for image in body.iter("img", "image"):
        source = image.get("src") or attribute(image, "href")
        part = _beside(chapter.part, source)
        image.tag = "img"
        image.set("src", f"{EMBEDDED}{part}" if part in archive.parts else "")
    walker.walk(body)


def _types(element: Any) -> str:
    """Return what the book declares an element to be: `epub:type` and `role`."""
    return f"{element.get('epub:type') or ''} {(element.get('role') or '').removeprefix('doc-')}"


def _prune(body: Any) -> None:
    """Remove from a chapter what is not its text: page numbers, lists of contents, note marks, boilerplate."""
    for element in list(body.iterdescendants()):
        types = _types(element)
        if element.tag == "svg" and next(element.iter("image"), None) is not None:
            element.tag = "div"  # a picture in a frame that scales it
        elif (
            _FURNITURE.search(types)
            or _BOILERPLATE.search(element.get("class") or "")
            or (element.tag == "a" and _NOTE_REFERENCE.search(types))
        ):
            remove_element(element)


def _properties(package: Any) -> dict[str, str]:
    """Return title, author, published, url and license as the book states them."""
    found: dict[str, list[str]] = {}
    for element in package.iter():
        if "elements/1.1" in str(element.tag):
            value = clean_line(_TAG.sub("", "".join(element.itertext())))[:MAX_PROPERTY]
            found.setdefault(local(element), []).append(value)
    dates = [m.group() for value in found.get("date", []) if (m := _DATE.match(value))]
    urls = [v for key in ("source", "identifier") for v in found.get(key, []) if v.startswith(("https://", "http://"))]
    out = {
        "title": next((v for v in found.get("title", []) if v), ""),
        "author": ", ".join(v for v in found.get("creator", [])[:20] if v)[:MAX_PROPERTY],
        "published": min(dates, default=""),
        "url": next(iter(urls), ""),
        "license": next((v for v in found.get("rights", []) if v), ""),
    }
    return {key: value for key, value in out.items() if value}
