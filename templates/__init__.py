"""The files that a new vault is made from, and the example sources."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

_ELSEWHERE = {"AGENTS.md": "AGENTS.md", "format.md": "docs/format.md"}  # where they are in a checkout


def read(name: str) -> str:
    """Return the text of the template called `name`, such as "concept.md", "gitattributes" or "AGENTS.md".

    AGENTS.md and format.md are inside the package in a wheel only.
    """
    here = files(__name__)
    template = here / name
    if name in _ELSEWHERE and not template.is_file():
        template = here / ".." / _ELSEWHERE[name]
    return template.read_text(encoding="utf-8")


def example() -> Path:
    """Return the folder of the example sources: inside the package in a wheel, `examples/sources` in a checkout."""
    here = Path(__file__).parent
    inside = here / "example"
    return inside if inside.is_dir() else here.parent / "examples" / "sources"
