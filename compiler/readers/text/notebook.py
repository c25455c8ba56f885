"""The reader of Jupyter notebooks. A place is "heading, cell 7"; all cells are counted from 1, in their order."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from compiler.readers.decode import as_list, as_mapping, decode
from compiler.readers.page import Page
from compiler.readers.text.markdown import MAX_MARKDOWN, read_markdown
from compiler.readers.text.plain_text import read_text
from vault.errors import Unreadable
from vault.model.source import Problem
from vault.text.formatting import clean_line, normal

MAX_CELLS = 20_000
MAX_CODE = 20_000  # characters kept of one code cell
MAX_OUTPUT = 1_000  # characters kept of one output
MAX_OUTPUTS = 10  # of one cell
MAX_PICTURE = 10 * 1024 * 1024  # bytes
PICTURES = {
    "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/svg+xml": "svg", "image/webp": "webp",
}  # fmt: skip
_OLD_KEYS = {
    "png": "image/png", "jpeg": "image/jpeg", "svg": "image/svg+xml", "latex": "text/latex", "text": "text/plain",
}  # fmt: skip
_ATTACHMENT = re.compile(r"(?<=\]\()attachment:([^\s()]+)|(?<=src=[\"'])attachment:([^\"'<>]+)")
_TARGET = re.compile(r"embedded:cell-(\d{1,6})-(output|attachment)-(\d{1,4})\.\w{1,4}")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_OBJECT = re.compile(r"<[\w.]+(?: [^\n]*)? at 0x[0-9a-f]+>|<[Ff]igure size [^\n]*>|\s*")
_MAGIC = re.compile(r"%%(\w+)")


def read(data: bytes, name: str, page: Page) -> tuple[dict[str, str], list[Problem]]:
    """Write a notebook's cells onto `page`; return its title and authors, and problems.

    Raises: Unreadable for what is no notebook of format 2 to 4, or has more than 20,000 cells.
    """
    notebook, problems = _parsed(data)
    cells = _cells(notebook)
    if len(cells) > MAX_CELLS:
        raise Unreadable(f"more than {MAX_CELLS:,} cells", hint="split the notebook")
    metadata = as_mapping(notebook.get("metadata"))
    language = _language(metadata)
    try:
        for number, cell in enumerate(cells, 1):
            name = f"cell {number}"
            page.label = lambda heading, line, name=name: ", ".join(filter(None, (heading, name)))
            _write_cell(cell, number, language, page)
    finally:
        page.label = None
    return _properties(metadata), problems


def _parsed(data: bytes) -> tuple[dict[str, Any], list[Problem]]:
    """Return the notebook's JSON and problems."""
    text, problems = decode(data)
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", "nested too deeply")
        raise Unreadable(f"not a notebook: its JSON cannot be read ({reason})", hint="open and save it again") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("nbformat", 4), int):
        raise Unreadable("not a notebook: it is some other kind of JSON file")
    if "cells" not in notebook and "worksheets" not in notebook:
        raise Unreadable("not a notebook: it has no cells")
    return notebook, problems


def _cells(notebook: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the cells in order; formats 2 and 3 have them in worksheets."""
    sheets = [notebook, *(s for s in as_list(notebook.get("worksheets")) if isinstance(s, dict))]
    return [as_mapping(cell) for sheet in sheets for cell in as_list(sheet.get("cells"))]


def _text(value: object) -> str:
    """Return a multi-line string of the format, which is one string or a list of lines."""
    if isinstance(value, list):
        value = "".join(part for part in value if isinstance(part, str))
    return normal(value) if isinstance(value, str) else ""


def _language(metadata: Mapping[str, Any]) -> str:
    """Return the programming language of the notebook."""
    kernel, info = as_mapping(metadata.get("kernelspec")), as_mapping(metadata.get("language_info"))
    stated = info.get("name") or kernel.get("language") or metadata.get("language")
    return clean_line(stated).lower()[:30] if isinstance(stated, str) else "python"


def _properties(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return the title and authors that the notebook's metadata name."""
    title = metadata.get("title")
    people = (a.get("name") if isinstance(a, dict) else a for a in as_list(metadata.get("authors")))
    found = {
        "title": clean_line(title)[:300] if isinstance(title, str) else "",
        "author": ", ".join(clean_line(p)[:200] for p in people if isinstance(p, str)),
    }
    return {key: value for key, value in found.items() if value}


def _write_cell(cell: Mapping[str, Any], number: int, language: str, page: Page) -> None:
    """Write one cell onto the page."""
    kind = cell.get("cell_type")
    source = _text(cell.get("source", cell.get("input")))
    if kind == "heading":  # formats 2 and 3
        level = cell.get("level")
        source = "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 1) + " " + clean_line(source)
        kind = "markdown"
    if kind == "markdown":
        _write_markdown(source, cell, number, page)
    elif kind == "code":
        own = cell.get("language")
        _write_code(source, own if isinstance(own, str) and own else language, page)
        for index, output in enumerate(as_list(cell.get("outputs"))[:MAX_OUTPUTS]):
            _write_output(as_mapping(output), f"embedded:cell-{number}-output-{index}", page)


def _write_markdown(source: str, cell: Mapping[str, Any], number: int, page: Page) -> None:
    """Write a Markdown cell; its attachments are named by their places in the cell."""
    attached = list(as_mapping(cell.get("attachments")).items())
    places = {name: i for i, (name, _) in enumerate(attached)}

    def target(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        index = places.get(name, places.get(unquote(name)))
        form = _picture_form(as_mapping(attached[index][1])) if index is not None else None
        return f"embedded:cell-{number}-attachment-{index}.{PICTURES[form]}" if form else found[0]

    if len(source) <= MAX_MARKDOWN:
        read_markdown(_ATTACHMENT.sub(target, source), "cell.md", page)
    else:
        read_text(source, page, 1)


def _write_code(source: str, language: str, page: Page) -> None:
    """Write a code cell's source."""
    magic = _MAGIC.match(source)
    spoken = {"bash": "bash", "sh": "bash", "html": "html", "latex": "latex", "r": "r", "sql": "sql"}
    page.code(source[:MAX_CODE], spoken.get(magic[1].lower(), language) if magic else language)


def _write_output(output: Mapping[str, Any], target: str, page: Page) -> None:
    """Write briefly what a cell printed or showed; errors and names of objects are left out."""
    kind = output.get("output_type")
    if kind == "stream":
        if output.get("name", output.get("stream")) != "stderr":
            _write_printed(_text(output.get("text")), page)
    elif kind in ("display_data", "execute_result", "pyout"):
        shown = _shown(output)
        form = _picture_form(shown)
        if form is not None:
            page.picture(f"{target}.{PICTURES[form]}")
        elif "text/markdown" in shown:
            read_markdown(_text(shown["text/markdown"])[:MAX_CODE], "output.md", page)
        elif "text/latex" in shown:
            tex = _text(shown["text/latex"])[:MAX_OUTPUT].strip()
            read_markdown(tex if tex.startswith("$") else f"$${tex}$$", "output.md", page)
        else:
            _write_printed(_text(shown.get("text/plain")), page)


def _shown(output: Mapping[str, Any]) -> dict[str, Any]:
    """Return an output by MIME type; formats 2 and 3 have short names for them."""
    if isinstance(output.get("data"), dict):
        return as_mapping(output["data"])
    return {_OLD_KEYS[key]: output[key] for key in _OLD_KEYS if key in output}


def _picture_form(shown: Mapping[str, Any]) -> str | None:
    """Return the MIME type of the output's picture, None if it has none."""
    return next((mime for mime in PICTURES if mime in shown), None)


def _write_printed(words: str, page: Page) -> None:
    """Write the text that a cell printed."""
    words = _ANSI.sub("", words.replace("\ufffd[", "\x1b["))[: MAX_OUTPUT + 1]
    if not _OBJECT.fullmatch(words):
        page.code(words[:MAX_OUTPUT] + ("…" if len(words) > MAX_OUTPUT else ""))


def picture(data: bytes, name: str, target: str) -> bytes:
    """Return the bytes of a picture in a notebook, by the target that its source text gives it.

    Raises: Unreadable if there is no such picture, it is damaged, or larger than 10 MiB.
    """
    found = _TARGET.fullmatch(target)
    if found is None:
        raise Unreadable("there is no picture with that name in the notebook")
    cells = _cells(_parsed(data)[0])
    number, index = int(found[1]), int(found[3])
    cell = cells[number - 1] if 1 <= number <= len(cells) else {}
    if found[2] == "output":
        candidates = [_shown(as_mapping(o)) for o in as_list(cell.get("outputs"))]
    else:
        candidates = [as_mapping(a) for a in as_mapping(cell.get("attachments")).values()]
    shown = candidates[index] if index < len(candidates) else {}
    form = _picture_form(shown)
    if form is None:
        raise Unreadable(f"there is no such picture in cell {number}")
    return _decoded_picture(shown[form], form)


def _decoded_picture(value: object, form: str) -> bytes:
    """Return the bytes of a picture in base64."""
    parts = value if isinstance(value, list) else [value]
    text = "".join(part for part in parts if isinstance(part, str))
    if len(text) > MAX_PICTURE * 3 // 2:
        raise Unreadable(f"the picture is larger than {MAX_PICTURE // 1024 // 1024} MiB")
    if form == "image/svg+xml" and text.lstrip().startswith("<"):
        decoded = text.encode("utf-8", "replace")
    else:
        try:
            decoded = base64.b64decode("".join(text.split()), validate=True)
        except (binascii.Error, ValueError):
            raise Unreadable("the picture's base64 cannot be read") from None
    if not decoded or len(decoded) > MAX_PICTURE:
        raise Unreadable(f"the picture is empty, or larger than {MAX_PICTURE // 1024 // 1024} MiB")
    return decoded
