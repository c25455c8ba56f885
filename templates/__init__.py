"""Files a vault is made from; data only, read with importlib.resources."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def read(name: str) -> str:
    """The text of the template called `name`, such as "concept.md", "gitattributes" or "AGENTS.md".

    AGENTS.md lies inside the package in a wheel, and beside it in a checkout.
    """
    here = files(__name__)
    found = here / name
    if name == "AGENTS.md" and not found.is_file():
        found = here / ".." / name
    return found.read_text(encoding="utf-8")


def example() -> Path:
    """The folder of the example's sources: inside the package in a wheel, `examples/sources` in a checkout."""
    here = Path(__file__).parent
    inside = here / "example"
    return inside if inside.is_dir() else here.parent / "examples" / "sources"
