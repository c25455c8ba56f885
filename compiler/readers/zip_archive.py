"""The zip archives that office documents and e-books are: opened under limits, read part by part, never unpacked."""

from __future__ import annotations

import re
import zipfile
import zlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any
from xml.parsers import expat

from compiler.readers.formats import HEAD, kind_of, magic_type
from vault.errors import Unreadable
from vault.text.formatting import clean_line

MAX_ENTRIES = 20_000
MAX_UNPACKED = 2 * 1024**3  # bytes of all parts together, as the archive states them
MAX_RATIO = 100  # unpacked to packed; beyond it only archives that stay small are opened
SMALL = 100 * 1024**2  # bytes unpacked
MAX_XML = 24 * 1024**2  # bytes of a part that becomes a tree in memory
MAX_TAGS = 1_200_000  # of such a part; a book of a thousand pages has about half as many
MAX_PICTURE = 10 * 1024**2
EMBEDDED = "embedded:"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_NAMED = {"docx": "Word document", "pptx": "PowerPoint presentation", "xlsx": "Excel workbook", "epub": "EPUB book"}
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_PLAIN_ENCODINGS = {"utf-8", "utf8", "utf-16", "utf-16le", "utf-16be", "us-ascii", "ascii", "iso-8859-1"}
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError, LookupError, OverflowError)
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/(\w+)")  # names of the standard's strict flavour
_SVG = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*(?:<!DOCTYPE svg[^>]*>\s*)?<svg\b", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Archive:
    """The parts of one document by name, each read only on request."""

    kind: str  # as in compiler.readers.formats
    zip: zipfile.ZipFile
    parts: dict[str, zipfile.ZipInfo]

    def read(self, name: str, limit: int = MAX_XML) -> bytes:
        """Return the bytes of one part.

        Raises: Unreadable if it is not there, damaged or larger than `limit`.
        """
        info = self.parts.get(name)
        if info is None:
            raise Unreadable(
                f"a required part of {_article(_NAMED[self.kind])} is missing", hint="check the file extension"
            )
        if info.file_size > limit:
            raise Unreadable(f"a part of it is larger than {limit // 1024**2} MiB", hint="split the document")
        try:
            with self.zip.open(info) as part:
                data = part.read(limit + 1)
        except _BROKEN as error:
            raise Unreadable(f"the {_NAMED[self.kind]} is damaged", hint="open it and save it again") from error
        if len(data) > limit:
            raise Unreadable(f"a part of it is larger than {limit // 1024**2} MiB", hint="split the document")
        is_strict = name.endswith((".xml", ".rels")) and b"purl.oclc.org/ooxml" in data
        return _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/\2", data) if is_strict else data

    def xml(self, name: str) -> Any:
        """Return the root element of one part, without loading what it refers to.

        Raises: Unreadable as `read` does, and if it is not plain XML.
        """
        return _xml_root(self.read(name), self.kind)


def open_archive(data: bytes, kind: str) -> Archive:
    """Return the parts of a document.

    Raises: Unreadable, naming what the bytes are, if that is no sound archive of this `kind`.
    """
    if data.startswith(_OLE):
        if _ENCRYPTED_PACKAGE in data:
            raise Unreadable("protected by a password", hint="save a copy without a password")
        raise Unreadable("an old Office file (.doc, .xls, .ppt)", hint=f"open it and save it as .{kind}")
    if not data.startswith(b"PK"):
        raise Unreadable(f"not a {_NAMED[kind]}", hint="check the file extension")
    try:
        archive = zipfile.ZipFile(BytesIO(data))
        infos = archive.infolist()
    except _BROKEN as error:
        raise Unreadable("the file is cut off or damaged", hint="copy or download it again") from error
    _check_sizes(infos, len(data))
    parts = {info.filename: info for info in infos if _is_plain(info.filename)}
    if any(info.flag_bits & 1 for info in infos):
        raise Unreadable("protected by a password", hint="save a copy without a password")
    if any(info.compress_type not in _METHODS for info in infos):
        raise Unreadable("compressed in a way that Office programs do not use", hint="open it and save it again")
    found = Archive(kind, archive, parts)
    inside = _kind_inside(found)
    if inside != kind:
        what = f"{_article(_NAMED[inside])}, despite its file extension" if inside else f"not a {_NAMED[kind]}"
        raise Unreadable(what, hint="give it the right file extension" if inside else "check the file extension")
    return found


def _check_sizes(infos: list[zipfile.ZipInfo], packed: int) -> None:
    """Raise Unreadable for too many parts, or a zip bomb."""
    total = sum(info.file_size for info in infos)
    if len(infos) > MAX_ENTRIES:
        raise Unreadable(f"it has more than {MAX_ENTRIES:,} parts")
    if total > MAX_UNPACKED or (total > SMALL and total > MAX_RATIO * packed):
        raise Unreadable("it unpacks to far more than its size: it may be malicious (a zip bomb)")


def _is_plain(name: str) -> bool:
    """Return whether a part's name could also be a file's below some folder."""
    path = PurePosixPath(name)
    return not (path.is_absolute() or ".." in path.parts or "\\" in name or "\x00" in name or name.endswith("/"))


def _article(name: str) -> str:
    return f"an {name}" if name[0] in "AEIOU" else f"a {name}"


def _kind_inside(archive: Archive) -> str:
    """Return which kind of document the parts make, "" if none that can be read."""
    if "META-INF/container.xml" in archive.parts:
        return "epub"
    folders = {"word": "docx", "ppt": "pptx", "xl": "xlsx"}
    if "[Content_Types].xml" not in archive.parts:
        return ""
    inside = [kind for folder, kind in folders.items() if any(n.startswith(f"{folder}/") for n in archive.parts)]
    return archive.kind if archive.kind in inside else next(iter(inside), "")


class _RootSeen(Exception):
    """Raised when the root element of the XML was parsed."""


def refuse_doctype(data: bytes, kind: str) -> None:
    """Check that a part declares no document type: office files have none, and entities could hide in it.

    Raises: Unreadable if there is one, or no XML at all.
    """
    declared: list[str] = []

    def on_declaration(version: str, encoding: str | None, standalone: int) -> None:
        if encoding and encoding.lower() not in _PLAIN_ENCODINGS:
            declared.append(encoding)

    def on_doctype(*_: Any) -> None:
        declared.append("doctype")

    def on_element(*_: Any) -> None:
        raise _RootSeen

    parser = expat.ParserCreate()
    parser.XmlDeclHandler = on_declaration
    parser.StartDoctypeDeclHandler = on_doctype
    parser.StartElementHandler = on_element
    try:
        for at in range(0, len(data), 65_536):
            parser.Parse(data[at : at + 65_536], False)
            if declared:
                break
    except _RootSeen:
        pass
    except (expat.ExpatError, ValueError, LookupError) as error:
        if not declared:
            raise Unreadable(f"the {_NAMED[kind]} is damaged", hint="open it and save it again") from error
    if declared:
        raise Unreadable("it contains a DOCTYPE or unusual encoding, which Office programs never write")


def _xml_root(data: bytes, kind: str) -> Any:
    """Return the root element of a part of an office document. Raises: Unreadable if it is not plain XML."""
    from lxml import etree

    refuse_doctype(data, kind)
    if data.count(b"<") > MAX_TAGS:
        raise Unreadable("a part of it is too large to be read at once", hint="split the document")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Unreadable(f"the {_NAMED[kind]} is damaged", hint="open it and save it again") from error
    return root


def picture(data: bytes, name: str, target: str) -> bytes:
    """Return the bytes of the picture `target` ("embedded:PART") in a zipped document.

    Raises: Unreadable if there is none, it is larger than MAX_PICTURE, or it is no picture.
    """
    kind = kind_of(name, data[:HEAD])
    part = target.removeprefix(EMBEDDED)
    shown = repr(clean_line(part)[:80])
    if kind not in _NAMED or not target.startswith(EMBEDDED):
        raise Unreadable(f"there is no picture {shown} in it")
    archive = open_archive(data, kind)
    if part not in archive.parts:
        raise Unreadable(f"there is no picture {shown} in it")
    found = archive.read(part, MAX_PICTURE)
    known = magic_type(found[:HEAD])
    if not (known and "picture" in known) and not _SVG.match(found[:HEAD]):
        raise Unreadable(f"{shown} in it is not a picture")
    return found
