"""Limits that several stages of a compile share."""

from __future__ import annotations

MOST_CLAIMS = 120  # of one concept that an engine is told of: more make no better page
