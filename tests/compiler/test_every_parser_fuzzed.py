"""Every reader is given damaged documents: text or a named refusal comes out, in bounded time and memory.

`RETAIN_FUZZ=2000 pytest tests/compiler/test_every_parser_fuzzed.py` tries that many copies of each, from a seed that
is printed; the usual run tries a few dozen from a fixed one.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from compiler.readers.formats import HEAD, READERS, RECORDED, kind_of

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(p for folder in ("kinds", "sources") for p in (ROOT / "examples" / folder).rglob("*") if p.is_file())
CHILD = Path(__file__).with_name("fuzz_documents.py")


def one_of_each() -> dict[str, list[Path]]:
    """The example documents of each kind that is read, the smaller first."""
    found: dict[str, list[Path]] = {kind: [] for kind in READERS}
    for path in sorted(EXAMPLES, key=lambda p: (p.stat().st_size, p.name)):
        kind = kind_of(path.name, path.read_bytes()[:HEAD])
        if kind not in RECORDED:
            found[kind].append(path)
    return found


@pytest.mark.parametrize("kind", READERS)
def test_a_damaged_document_is_read_or_refused_by_name(kind: str) -> None:
    asked = int(os.environ.get("RETAIN_FUZZ", "0"))
    seed = random.SystemRandom().randrange(10**9) if asked else 1
    documents = one_of_each()[kind][:2]
    assert documents, f"no example document is of kind {kind}"
    for document in documents:
        command = [sys.executable, str(CHILD), str(document), str(seed), str(asked or 40)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=590, check=False)
        assert done.returncode == 0, f"{document.name}, seed {seed}: {done.stderr[-2000:]}"
        found = json.loads(done.stdout)
        assert found["faults"] == [], f"{document.name}, seed {seed}"
        assert found["read"] + found["refused"] == (asked or 40)
        assert found["peak_mib"] < 700, f"{document.name}, seed {seed}"
