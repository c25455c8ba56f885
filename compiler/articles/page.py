"""A page of a build before it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from compiler.index.steps import digest_of
from vault.config.settings import SCHEMA_VERSION
from vault.text.formatting import clean_line


def inputs_of(parts: Mapping[str, object]) -> bytes:
    """Return a digest of each thing that a page follows from, with the name that `retain compile --explain` shows.

    The schema is one of them: pages of an older one are rewritten.
    """
    named = {**parts, "schema": SCHEMA_VERSION}
    lines = (f"{clean_line(name)} {digest_of(repr(part)).hex()}" for name, part in named.items())
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def differing(old: bytes, new: bytes) -> list[str]:
    """Return the names of those inputs of a page that are not the same."""
    texts = (each.decode("utf-8", "replace").split("\n") for each in (old, new))
    before, after = (dict(line.rsplit(" ", 1) for line in lines if line) for lines in texts)
    return [name for name in {**before, **after} if before.get(name) != after.get(name)]


@dataclass(frozen=True, slots=True)
class Page:
    """A page that may be as it is already: `inputs` stand for all that its text follows from but the file there
    (`inputs_of`).

    `text` makes the text, with what the user wrote in the file's properties. b"" for `inputs` is of a page that is made
    each time.
    """

    inputs: bytes
    text: Callable[[], str]

    @classmethod
    def of(cls, text: str) -> Page:
        """Return a page whose text is known."""
        return cls(b"", lambda: text)
