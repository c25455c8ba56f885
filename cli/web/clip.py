"""Turn a fetched document into a file for raw/: a web page becomes a Markdown note, other documents are unchanged."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from cli.web.fetch import Fetched
from compiler.readers.formats import HEAD, READERS, foreign_body, kind_of, magic_type
from compiler.workers import pool
from vault.errors import FetchFailed, RetainError, WorkerFailed
from vault.files.folder import sha256_hex
from vault.ids import digest12, slug
from vault.model.frontmatter import Value, render_note
from vault.text.formatting import clean_line
from vault.text.urls import name_from_address

FEW_CHARACTERS = 400  # of text in a page: likely a notice, and the article is made by a script
_TEXTS = frozenset({"text", "csv", "latex", "org", "asciidoc", "code", "notebook", "chat"})
_PAGES = frozenset({"html", "markdown"})
_SUFFIX_OF = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "application/pdf": ".pdf",
    "application/epub+zip": ".epub",
    "application/x-ipynb+json": ".ipynb",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "text/x-tex": ".tex",
    "application/x-tex": ".tex",
    "text/x-python": ".py",
    "text/org": ".org",
    "text/asciidoc": ".adoc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
}
_SAYS_LITTLE = frozenset({"", "text/plain", "application/octet-stream", "binary/octet-stream", "application/json"})
_FOLDER_OF = {"pdf": "papers", "csv": "datasets", "xlsx": "datasets", "code": "repos", "notebook": "repos"}


@dataclass(frozen=True, slots=True)
class Clip:
    """A file to write: `folder` is in raw/, `digest` changes with the content of the document."""

    address: str
    folder: str  # of raw/
    stem: str
    suffix: str
    data: bytes
    digest: str
    title: str = ""
    notes: tuple[str, ...] = ()


def clip(fetched: Fetched, day: str) -> Clip:
    """Return the file for a document fetched on `day` (ISO). Raises FetchFailed if no reader can read it."""
    offered = clean_line(fetched.file_name) or name_from_address(fetched.address)
    suffix = _suffix(fetched, offered)
    kind = kind_of(f"document{suffix}", fetched.data[:HEAD])
    if kind not in READERS:
        what = magic_type(fetched.data[:HEAD]) or clean_line(fetched.media_type)[:80] or "unknown file type"
        hint = "to keep it anyway, download it and add the file"
        raise FetchFailed(f"not a readable document: {what}", where=fetched.address, hint=hint)
    if (body := foreign_body(kind, fetched.data[:HEAD])) is not None:
        asked = clean_line(fetched.media_type)[:80] or f"a {suffix} file"
        hint = "open the address in a browser: it may ask you to log in; download the document and add the file"
        raise FetchFailed(f"the server announced {asked} but sent {body}", where=fetched.address, hint=hint)
    if kind in _PAGES:
        return _page_note(fetched, ".html" if kind == "html" else suffix, offered, day)
    folder = _FOLDER_OF.get(kind, "articles")
    stem = slug(offered.removesuffix(PurePosixPath(offered).suffix) or offered)
    data = _as_utf8(fetched) if kind in _TEXTS else fetched.data
    return Clip(fetched.address, folder, stem, suffix, data, sha256_hex(data)[:12], offered)


def _as_utf8(fetched: Fetched) -> bytes:
    """Return a text as UTF-8, decoded as its server says; bytes that are UTF-8 are returned unchanged."""
    try:
        fetched.data.decode()
        return fetched.data
    except UnicodeDecodeError:
        pass
    try:
        return fetched.data.decode(fetched.charset or "utf-8").encode()
    except (UnicodeError, LookupError):
        return fetched.data  # the reader detects the encoding or reports it


def _suffix(fetched: Fetched, offered: str) -> str:
    """Return the suffix for a document: by its media type, else by its name; ".txt" for plain text."""
    named = PurePosixPath(offered.lower()).suffix
    known = named if named and kind_of(f"x{named}", b"") in READERS else ""
    head = fetched.data[:HEAD]
    if head.lstrip().startswith(b"%PDF-"):
        return ".pdf"
    if fetched.media_type in _SUFFIX_OF:
        given = _SUFFIX_OF[fetched.media_type]
        return known if known and kind_of(f"x{known}", b"") == kind_of(f"x{given}", b"") else given
    if b"%PDF-" in head[:1024]:  # with something before its header, as readers allow
        return ".pdf"
    if known or named == ".json":
        return known or named
    if fetched.media_type in _SAYS_LITTLE and kind_of("x.txt", head) == "html":
        return ".html"
    return ".txt" if fetched.media_type.startswith("text/") else named or ".bin"


def _page_note(fetched: Fetched, suffix: str, offered: str, day: str) -> Clip:
    """Return a Markdown note with the text of the page, its address and the day."""
    stem = clean_line(PurePosixPath(offered).stem) or "page"
    page = _extract_page(fetched, f"{stem[:80].replace('/', ' ')}{suffix}")
    title, markdown = str(page["title"]), str(page["markdown"])
    properties: dict[str, Value] = {"title": title, "source": fetched.address}
    properties |= {key: str(page[key]) for key in ("author", "published") if page[key]}
    properties["created"] = day
    properties |= {key: str(page[key]) for key in ("description",) if page[key]}
    few = int(page["characters"]) < FEW_CHARACTERS
    note = (
        f"only {page['characters']} characters of text found; if a browser shows more, save the page there "
        "and add the file"
    )
    return Clip(
        address=fetched.address,
        folder="articles",
        stem=slug(title),
        suffix=".md",
        data=render_note(properties, f"\n{markdown}").encode(),
        digest=digest12(f"{title}\n{markdown}"),
        title=title,
        notes=(note,) if few else (),
    )


def _extract_page(fetched: Fetched, name: str) -> dict[str, Any]:
    """Return what the sandboxed reading process extracts from the page; nothing is parsed in this process."""
    message = {"op": "clip", "name": name, "charset": fetched.charset, "address": fetched.address}
    worker = pool.start_worker("", None)
    try:
        reply = worker.ask(message | {"data": base64.b64encode(fetched.data).decode()})
    except WorkerFailed as error:
        hint = "save the page in a browser and add the file"
        raise FetchFailed(error.what, where=fetched.address, hint=hint) from error
    finally:
        worker.close()
    if "unreadable" in reply:
        what = clean_line(str(reply["unreadable"].get("what")))
        hint = "if a browser shows more, save the page there and add the file"
        raise FetchFailed(f"no article found: {what}", where=fetched.address, hint=hint)
    page = reply.get("clip")
    if not isinstance(page, dict):
        raise RetainError("the document reader returned nothing", where=fetched.address)
    return page
