"""Which rules read a segment: those of its language."""

from __future__ import annotations

from compiler.engines.extractive import english
from compiler.engines.port import ExtractReply, ExtractRequest


def extract(request: ExtractRequest) -> ExtractReply:
    """Claims and terms of one segment."""
    return english.extract(request)
