"""The names of the styles in which words are set, whatever the theme makes of them."""

from __future__ import annotations

CODE = "$text-accent"
MATH = "$text-secondary"
DIM = "$quiet"  # a colour of the theme; $text-muted means nothing inside a Content
LINK = "$text-primary underline"
