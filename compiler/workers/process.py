"""The reading process: parsers and embedded engine run here, in a sandbox and under limits; it writes no file.

Started as `python -I -m compiler.workers.process ENGINE [RAW]` with a working directory outside the vault; RAW is the
folder of documents that it may read. One JSON object a line comes in and one goes out; {"op": "load"} loads ahead what
reading needs, {"op": "source", ...} reads a document and extracts from it, {"op": "picture", ...} gives the bytes of a
picture that may be shown, and both may have the document's bytes with them;
{"op": "clip", ...} makes a clipping of a page from the web,
{"op": "ask", ...} puts composed requests to the engine.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import os
import sys
import tempfile  # noqa: TID251 - nothing is written with it
from pathlib import Path
from typing import Any

from compiler.claims.segments import requests_for
from compiler.model import requests
from compiler.readers import zip_archive
from compiler.readers.formats import HEAD, READERS, RECORDED, kind_of
from compiler.readers.images import inspect_image
from compiler.readers.read import read_source
from compiler.readers.web import clip
from compiler.sources.fingerprint import fingerprint
from compiler.workers.bytecode import leave_bytecode
from vault.errors import RetainError, TooCostly, Unreadable
from vault.model.source import SourceText
from vault.sandbox.child_main import Answer, serve

SECONDS = 120  # of a processor's time for one request; a book of 587 pages takes 20


class NotNow(Exception):
    """The document could not be read this time, through no fault of its bytes: the answer must not be kept."""


def engine_named(name: str) -> requests.Engine:
    """The engine that answers. Raises RetainError for a name that is none."""
    if name == "extractive":
        from compiler.engines.extractive import ExtractiveEngine

        return ExtractiveEngine()
    raise RetainError(f"there is no engine named {name!r}", hint="the only engine in this version is `extractive`")


def read(data: bytes, path: str) -> SourceText | str:
    """Return the text of the file at `path` with these bytes, or the kind of a file that is kept and not read.

    Raises: Unreadable for a fault of the document; TooCostly.
    """
    kind = kind_of(Path(path).name, data[:HEAD])
    if (kind in RECORDED and data) or (kind == "code" and not data.strip()):  # empty __init__.py are no fault
        return kind
    try:
        return read_source(data, Path(path).name)
    except MemoryError as error:
        raise TooCostly("reading it needs more memory than is allowed for a document") from error
    except RecursionError as error:
        raise Unreadable("it is nested too deeply to be read") from error


def _bytes(message: dict[str, Any]) -> bytes:
    """Return the bytes of the file that a message names or, for a note outside the folder, has in it.

    Raises: NotNow if they cannot be read, or are not those of the digest.
    """
    try:
        data = base64.b64decode(message["base64"]) if "base64" in message else Path(message["path"]).read_bytes()
    except OSError as error:
        raise NotNow(f"it cannot be read: {error.strerror}") from error
    if hashlib.sha256(data).hexdigest() != message["sha256"]:
        raise NotNow("the file changed while it was being read")
    return data


def picture(data: bytes, path: str, target: str) -> dict[str, Any]:
    """Return the picture that a raw file is, or with a `target` holds: kind and bytes.

    Raises: Unreadable for one that may not be shown or is not there; NotNow.
    """
    try:
        if target:
            data = _taken_out(data, Path(path).name, target)
        seen = inspect_image(data)
    except MemoryError as error:
        raise NotNow("reading it needs more memory than is allowed for a picture") from error
    return {"kind": seen.kind, "base64": base64.b64encode(data).decode()}


def _taken_out(data: bytes, name: str, target: str) -> bytes:
    """Return the bytes of a picture inside a document."""
    reader = READERS.get(kind_of(name, data[:HEAD]))
    module = importlib.import_module(f"compiler.readers.{reader.module}") if reader else zip_archive
    found: bytes = getattr(module, "picture", zip_archive.picture)(data, name, target)
    return found


def answer(message: dict[str, Any], engine: requests.Engine | None) -> dict[str, Any]:
    """Return the reply to one message; a fault of the document is {"unreadable": ...}."""
    if message["op"] in ("source", "picture"):
        try:
            data = _bytes(message)
            if message["op"] == "picture":
                return {"picture": picture(data, message["path"], message["target"])}
            source = read(data, message["path"])
            if isinstance(source, str):
                return {"recorded": source}
            wanted = engine is not None and not message.get("only_read")
            replies = engine.read(requests_for(source)) if engine is not None and wanted else []
            made = {"fingerprint": fingerprint(source).as_json()} if engine is not None else {}
        except NotNow as error:
            return {"not_now": str(error)}
        except TooCostly as error:
            return {"too_costly": error.what}
        except Unreadable as error:
            return {"unreadable": {"what": error.what, "hint": error.hint}}
        return {
            "source": source.as_json(),
            "replies": [r.as_brief_json() for r in replies],
            **made,
        }
    if message["op"] == "load":
        if engine is not None:
            engine.load()
        return {}
    if message["op"] == "clip":
        try:
            return clip.answer_clip(message)
        except Unreadable as error:
            return {"unreadable": {"what": error.what, "hint": error.hint}}
    if engine is None:
        raise RetainError("no engine was started")
    return {"reply": _reply(message["request"], engine)}


def _reply(message: dict[str, Any], engine: requests.Engine) -> dict[str, Any]:
    """Return the engine's reply to a request, as JSON."""
    reply: requests.Reply
    match requests.REQUESTS[message["type"]].from_json(message):
        case requests.ExtractRequest() as request:
            (reply,) = engine.read([request])
        case requests.ComposeRequest() as request:
            reply = engine.compose(request)
        case requests.CardsRequest() as request:
            reply = engine.cards(request)
    return reply.as_brief_json()


def main() -> None:
    """Answer messages until the input ends."""
    tempfile.tempdir = os.devnull  # a library that looks for a writable folder would find none and give up
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    raw = Path(sys.argv[2]) if len(sys.argv) > 2 else None

    def prepare() -> Answer:
        engine = engine_named(name) if name else None
        return lambda message: answer(message, engine)

    serve(prepare, before=leave_bytecode, readable=raw, seconds=SECONDS)


if __name__ == "__main__":
    main()
