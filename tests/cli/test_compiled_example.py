"""The vault that a model compiled (`examples/compiled`) comes out of its own journal again, byte for byte, offline."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.commands import Run

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "compiled"


def generated(root: Path) -> dict[str, bytes]:
    files = (p for folder in ("wiki", "learning") for p in (root / folder).rglob("*") if p.is_file())
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in files}


def test_a_rebuild_makes_every_page_and_card_again(tmp_path: Path, run: Run) -> None:
    vault = tmp_path / "compiled"
    shutil.copytree(EXAMPLE, vault, ignore=shutil.ignore_patterns(".retain"))
    before = generated(vault)
    assert sum(p.startswith("wiki/concepts/") for p in before) > 100
    for folder in ("wiki", "learning/flashcards"):
        shutil.rmtree(vault / folder)
    assert run("rebuild", cwd=vault).code == 0
    after = generated(vault)
    assert {p for p in before.keys() | after.keys() if before.get(p) != after.get(p)} == set()
    checked = run("verify", cwd=vault)
    assert checked.code == 0 and "no problems" in checked.stderr + checked.stdout
