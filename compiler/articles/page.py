"""A page of a build before it is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """A page that may be as it is already: `inputs` stands for all that its text follows from but the file there.

    `text` makes the text, with what the user wrote in the file's properties. b"" for `inputs` is of a page that is made
    each time.
    """

    inputs: bytes
    text: Callable[[], str]

    @classmethod
    def of(cls, text: str) -> Page:
        """Return a page whose text is known."""
        return cls(b"", lambda: text)
