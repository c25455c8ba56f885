"""What readers and the embedded engine make of the example documents changes only with their version.

Caches and every vault's rebuild rest on it. When a test here fails, what comes out has changed: raise the version in
`compiler/readers/formats.py` or `compiler/model/engine_names.py`, then put the new digest here. Where only the
documents have changed, the new digest is enough.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import pytest

from compiler.claims.segments import requests_for
from compiler.engines.extractive import ExtractiveEngine
from compiler.model.engine_names import VERSIONS
from compiler.readers.formats import READERS, kind_of
from compiler.readers.read import read_source
from vault.model.source import SourceText

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
READ = {
    "asciidoc": "2 1f55747ed5f465d7",
    "chat": "2 2cdffbe823255b2e",
    "code": "2 2c71c6309536b7be",
    "csv": "2 afb8f861d4038c8c",
    "docx": "3 c9c81847ea801270",
    "epub": "4 cc8c1235a4beb57e",
    "html": "5 8a1c6565a2a45ced",
    "latex": "3 be954d645ad8005e",
    "markdown": "4 188cfaffbf05e878",
    "notebook": "3 3be2f4bebc376c43",
    "org": "3 97f673ff05b0cf1a",
    "pdf": "5 6fc36119e9ddd6c5",
    "pptx": "2 c68ee1eb54a3c27f",
    "text": "4 edd74e355362cad7",
    "xlsx": "2 d43885b69cdfa015",
}
EXTRACTED = ("extractive/5", "3b0ad484c8457731")


def sources() -> dict[str, list[SourceText]]:
    """The source texts of the example documents by the kind of document."""
    found: dict[str, list[SourceText]] = {}
    for path in sorted(p for folder in ("kinds", "sources") for p in (EXAMPLES / folder).rglob("*") if p.is_file()):
        data = path.read_bytes()
        kind = kind_of(path.name, data)
        if kind in READERS:
            found.setdefault(kind, []).append(read_source(data, path.name))
    return found


def digest(parts: list[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


@pytest.mark.parametrize("kind", READ)
def test_a_reader_makes_the_same_text_under_the_same_version(kind: str) -> None:
    texts = [f"{text.title}\n{text.text}\n{text.marks}" for text in sources()[kind]]
    assert f"{READERS[kind].version} {digest(texts)}" == READ[kind]


def test_the_engine_extracts_the_same_claims_under_the_same_version() -> None:
    engine = ExtractiveEngine()
    texts = [text for kind in sources().values() for text in kind][::4]
    replies = [
        msgspec.json.encode(engine.read([request])[0]).decode() for text in texts for request in requests_for(text)
    ]
    assert (VERSIONS["extractive"], digest(replies)) == EXTRACTED
