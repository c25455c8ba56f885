"""PDF pages and pictures that a model may see with the text of a passage, if the user wants that.

The text stays what counts: a quote has to stand there, whatever was shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compiler.model.requests import ExtractRequest, Request, rests
from compiler.sources.inventory import Tracked
from compiler.workers.pool import WorkerPool
from vault.errors import WorkerFailed
from vault.model.source import Segment, SourceText

MOST_PAGES = 8  # of one passage
MOST_PICTURES = 4
_MOST_BYTES = 64 << 20  # of all that is shown in one compile, as base64
_EACH_BYTES = 8 << 20
_PAGE_TOKENS, _PICTURE_TOKENS = 8_000, 5_000  # that one takes at most
_MEDIA = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}
_EMBEDDED = "embedded:"
Shown = tuple[list[dict[str, Any]], int]  # blocks of the Messages API, and the tokens that they take at most


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a passage is: its document, pages and pictures."""

    path: str
    sha256: str
    pages: tuple[int, int] | None
    pictures: tuple[str, ...]


@dataclass(slots=True)
class Attachments:
    """Extracts pages and pictures for requests, in the reading processes."""

    crew: WorkerPool
    root: Path
    _places: dict[str, _Place] = field(default_factory=dict)
    _sent: int = 0

    def learn(self, request: ExtractRequest, source: SourceText, segment: Segment, tracked: Tracked) -> None:
        """Remember where the passage of a request is."""
        pages = _pages(source, segment) if source.reader.startswith("pdf/") else None
        inside = [p.target for p in source.pictures if segment.start <= p.start <= segment.end]
        pictures = tuple(dict.fromkeys(t for t in inside if t.startswith(_EMBEDDED)))[:MOST_PICTURES]
        if pages or pictures:
            self._places[rests(request)] = _Place(str(self.root / tracked.path), tracked.sha256, pages, pictures)

    def shown(self, request: Request) -> Shown:
        """Return the blocks to show with a request and the tokens that they take at most; ([], 0) for none."""
        place = self._places.get(rests(request))
        if place is None:
            return [], 0
        blocks, tokens = list[dict[str, Any]](), 0
        if place.pages is not None:
            first, last = place.pages
            found = self._asked(place, {"op": "pages", "first": first, "last": last}).get("pages")
            if self._fits(found):
                blocks.append(_block("document", "application/pdf", str(found)))
                tokens += _PAGE_TOKENS * (last - first + 1)
        for target in place.pictures:
            picture = self._asked(place, {"op": "picture", "target": target}).get("picture", {})
            if picture.get("kind") in _MEDIA and self._fits(picture.get("base64")):
                blocks.append(_block("image", _MEDIA[picture["kind"]], str(picture["base64"])))
                tokens += _PICTURE_TOKENS
        return blocks, tokens

    def _asked(self, place: _Place, message: Mapping[str, Any]) -> dict[str, Any]:
        """Return a reading process's reply; {} if it failed, as the text is there all the same."""
        try:
            return self.crew.ask({**message, "path": place.path, "sha256": place.sha256})
        except WorkerFailed:
            return {}  # the text is there all the same

    def _fits(self, data: object) -> bool:
        """Return whether some base64 data may still be shown within the limits, and count it."""
        if not isinstance(data, str) or not 0 < len(data) <= _EACH_BYTES or self._sent + len(data) > _MOST_BYTES:
            return False
        self._sent += len(data)
        return True


def _block(type_: str, media: str, data: str) -> dict[str, Any]:
    """Return a content block of the Messages API."""
    return {"type": type_, "source": {"type": "base64", "media_type": media, "data": data}}


def _pages(source: SourceText, segment: Segment) -> tuple[int, int] | None:
    """Return the first and last page that hold the segment; None if the source has no page numbers."""
    inside = [p.start for p in source.places if segment.start <= p.start < segment.end]
    numbers = [_number(source.locate(at)) for at in (segment.start, *inside)]
    known: Sequence[int] = [n for n in numbers if n]
    return (min(known), min(max(known), min(known) + MOST_PAGES - 1)) if known else None


def _number(label: str) -> int:
    """Return the number in a page label such as "p. 12"; 0 if it has none."""
    digits = label.removeprefix("p. ")
    return int(digits) if digits.isdecimal() else 0
