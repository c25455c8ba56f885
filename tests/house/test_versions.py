"""A change to readers or engine must come with a new version: the caches and every vault's rebuild rest on it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from compiler.model.engine_names import VERSIONS
from compiler.readers.formats import VERSIONS as READERS

ROOT = Path(__file__).resolve().parents[2] / "compiler"
# What the code of each version hashes to. When this test fails, the code has changed: if what it makes of a document
# may differ, raise the version first; then put the new digest here.
PINNED = {
    VERSIONS["extractive"]: (("engines/extractive", "names.py", "words.py"), "9cc09b6a2a390d7b"),
    READERS: (("readers", "ingest.py", "kinds.py", "segment.py"), "cc68ee86228f9d18"),
}


def digest(places: tuple[str, ...]) -> str:
    files = sorted(
        f for place in places for f in ([ROOT / place] if place.endswith(".py") else (ROOT / place).glob("*.py"))
    )
    return hashlib.sha256(b"\0".join(f.read_bytes() for f in files)).hexdigest()[:16]


@pytest.mark.parametrize("version", PINNED)
def test_code_that_makes_something_of_documents_is_of_the_version_it_says(version: str) -> None:
    places, pinned = PINNED[version]
    assert digest(places) == pinned, f"{', '.join(places)} changed under the version {version!r}"
