"""The requests that ask the embedded engine for the claims of a source, one for each of its segments."""

from __future__ import annotations

from compiler.model.requests import ExtractRequest, Span
from vault.model.source import Segment, SourceText


def requests_for(source: SourceText) -> list[ExtractRequest]:
    """Return one extraction request for each segment, its marks counted from the segment's own start."""
    return [_request(source, segment) for segment in source.segments]


def _request(source: SourceText, segment: Segment) -> ExtractRequest:
    """Return the extraction request for one segment."""
    marks = tuple(
        Span(
            kind=m.kind.value,
            start=max(m.start, segment.start) - segment.start,
            end=min(m.end, segment.end) - segment.start,
        )
        for m in source.marks
        if m.start < segment.end and m.end > segment.start
    )
    return ExtractRequest(
        title=source.title,
        language=source.language,
        headings=segment.headings,
        text=source.text[segment.start : segment.end],
        marks=marks,
    )
