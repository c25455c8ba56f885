"""The kinds of documents by name and first bytes, and which reader reads each. Imports little: every command may use
it."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

HEAD = 4096  # bytes that are enough to tell a document's kind


@dataclass(frozen=True, slots=True)
class Reader:
    """The module of a reader, below `compiler.readers`, and its version; documents are read again after a version
    change."""

    version: int
    module: str


READERS: dict[str, Reader] = {
    "markdown": Reader(4, "text.markdown"),
    "text": Reader(4, "text.plain_text"),
    "html": Reader(5, "text.html"),
    "pdf": Reader(5, "pdf.pdf"),
    "notebook": Reader(3, "text.notebook"),
    "docx": Reader(3, "office.docx"),
    "pptx": Reader(2, "office.pptx"),
    "xlsx": Reader(2, "office.xlsx"),
    "csv": Reader(2, "text.csv_table"),
    "epub": Reader(4, "office.epub"),
    "latex": Reader(3, "latex.latex"),
    "org": Reader(3, "text.org"),
    "asciidoc": Reader(2, "asciidoc.asciidoc"),
    "code": Reader(2, "code.code"),
    "chat": Reader(2, "text.chat"),
}
VERSIONS = " ".join(f"{kind}/{reader.version}" for kind, reader in READERS.items())
RECORDED = frozenset({"image", "unsupported"})  # kept in raw/ and named, not read

_SUFFIXES: dict[str, str] = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd"), "markdown"),
    **dict.fromkeys((".txt", ".text", ".rst", ".rest"), "text"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    ".pdf": "pdf",
    ".ipynb": "notebook",
    **dict.fromkeys((".docx", ".docm", ".dotx", ".doc"), "docx"),  # the old kinds, too: reading says what to do
    **dict.fromkeys((".pptx", ".pptm", ".ppsx", ".ppt"), "pptx"),
    **dict.fromkeys((".xlsx", ".xlsm", ".xltx", ".xls"), "xlsx"),
    **dict.fromkeys((".csv", ".tsv"), "csv"),
    ".epub": "epub",
    **dict.fromkeys((".tex", ".ltx"), "latex"),
    ".org": "org",
    **dict.fromkeys((".adoc", ".asciidoc", ".asc"), "asciidoc"),
    **dict.fromkeys(
        ".py .pyi .js .mjs .cjs .ts .jsx .tsx .java .c .h .cc .cpp .cxx .hpp .cs .go .rs .rb .r .jl .sh .bash .swift "
        ".kt .scala .hs .lua .php .pl .sql .m .ex .exs .clj .ml .zig".split(),
        "code",
    ),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".ico", ".heic"), "image"),
    **dict.fromkeys((".avif", ".svg"), "image"),
}  # fmt: skip
_MAGIC: tuple[tuple[bytes, int, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", 0, "a PNG picture"),
    (b"\xff\xd8\xff", 0, "a JPEG picture"),
    (b"GIF87a", 0, "a GIF picture"),
    (b"GIF89a", 0, "a GIF picture"),
    (b"WEBP", 8, "a WebP picture"),
    (b"BM", 0, "a BMP picture"),
    (b"II*\x00", 0, "a TIFF picture"),
    (b"MM\x00*", 0, "a TIFF picture"),
    (b"ftypheic", 4, "a HEIC picture"),
    (b"ftypavif", 4, "an AVIF picture"),
    (b"PK\x03\x04", 0, "a zip archive or Office file"),
    (b"\xd0\xcf\x11\xe0", 0, "an old Office file (.doc, .xls, .ppt)"),
    (b"\x1f\x8b", 0, "a gzip archive"),
    (b"{\\rtf", 0, "a rich text (RTF) file"),
    (b"%!PS", 0, "a PostScript file"),
    (b"\x7fELF", 0, "a program"),
    (b"SQLite format 3\x00", 0, "a database"),
)
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<!--.{0,500}?-->\s*)?<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL
)
_ZIPPED = frozenset({"docx", "pptx", "xlsx", "epub"})
# The keys with which Claude and ChatGPT begin their exports: of one conversation, or a list of them.
_CHAT = re.compile(
    rb"""\A(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{\s*(?:
    "uuid"\s*:\s*"[0-9a-fA-F-]{36}"\s*,\s*"name"\s*:\s*(?:null|"(?:[^"\\]|\\.)*")\s*,\s*"(?:summary|model|created_at|updated_at)"
    |"title"\s*:\s*(?:null|"(?:[^"\\]|\\.)*")\s*,\s*"(?:create_time|mapping)"\s*:
    )|"chat_messages"\s*:\s*\[
    |"mapping"\s*:\s*\{\s*"[^"]{1,80}"\s*:\s*\{\s*"(?:id|message|parent|children)"\s*:""",
    re.VERBOSE,
)


def kind_of(name: str, head: bytes) -> str:
    """Return the kind of a document by its name and first bytes: a key of READERS, or one of RECORDED.

    A name that promises text keeps its kind whatever the bytes are, so that reading it says what is wrong; bytes that
    are a PDF or a web page are read as that under any other name.
    """
    suffix = PurePosixPath(name.lower()).suffix
    kind = _SUFFIXES.get(suffix)
    if b"%PDF-" in head[:1024] and kind in (None, "pdf", "text", "markdown"):
        return "pdf"
    if kind is not None:
        return "html" if kind == "text" and _HTML_START.match(head) else kind
    if suffix == ".json":
        return "chat" if _CHAT.search(head) else "unsupported"
    known = magic_type(head)
    if known is not None:
        return "image" if "picture" in known else "unsupported"
    return "text" if not suffix and is_prose(head) else "unsupported"


def content_mismatch(kind: str, head: bytes) -> str | None:
    """Return what the bytes are if they contradict the kind that the file name says; None if they may be that kind."""
    what = magic_type(head)
    office = kind in _ZIPPED and head.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0"))  # its reader says more
    if what is None or is_prose(head) or kind == "pdf" or office:
        return None
    return what


def foreign_body(kind: str, head: bytes) -> str | None:
    """Return what fetched bytes are if no document of this kind can begin so; None if one may.

    Servers send a page to log in, or an error, under the name and type of the document that was asked for.
    """
    if kind == "pdf":
        is_right = b"%PDF-" in head[:1024]
    elif kind in _ZIPPED:
        is_right = head.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0"))
    elif kind in ("html", "markdown"):
        is_right = True  # these are read at once, which says more
    else:
        has_zeros = b"\0" in head and not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        is_right = not has_zeros and (kind in ("text", "code") or not _HTML_START.match(head))
    if is_right:
        return None
    return "a web page" if _HTML_START.match(head) else magic_type(head) or "something else"


def magic_type(head: bytes) -> str | None:
    """Return what a file is by its first bytes ("a PNG picture"), None if they are unknown."""
    return next((what for start, at, what in _MAGIC if len(head) > at + 3 and head.startswith(start, at)), None)


def is_prose(head: bytes) -> bool:
    """Return whether the bytes are UTF-8 text that consists mostly of words."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head[:HEAD])
    except UnicodeDecodeError:
        return False
    return bool(text.strip()) and sum(c.isalpha() or c.isspace() for c in text) >= 0.75 * len(text)
