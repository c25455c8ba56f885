"""The files that a new vault is made from, and the example sources."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def read(name: str) -> str:
    """Return the text of the template `name`, such as "concept.md", "gitattributes" or "AGENTS.md".

    AGENTS.md is inside the package in a wheel, and beside it in a checkout.
    """
    here = files(__name__)
    found = here / name
    if name == "AGENTS.md" and not found.is_file():
        found = here / ".." / name
    return found.read_text(encoding="utf-8")


def example() -> Path:
    """Return the folder of the example sources: inside the package in a wheel, `examples/sources` in a checkout."""
    here = Path(__file__).parent
    inside = here / "example"
    return inside if inside.is_dir() else here.parent / "examples" / "sources"
