"""The pictures of an HTML tree: which of them show something, and under which caption and label they are noted."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from compiler.readers.page import MAX_TARGET, Page

FILE_NAME = re.compile(r"[\w%@.-]+\.(?:png|jpe?g|gif|svg|webp|pdf)", re.IGNORECASE)
SMALLEST = 48  # pixels, as declared; a smaller picture is an icon
_BADGE = re.compile(r"badge|shields\.io|travis-ci|codecov|/actions/workflows/", re.IGNORECASE)
_FURNITURE = re.compile(
    r"(?<![a-z])(?:avatar|gravatar|icons?|emoji|sprite|spacer|pixel|tracking|tracker|favicon|smiley|1x1|blank|loader"
    r"|loading|placeholder)(?![a-z])",
    re.IGNORECASE,
)
_PIXELS = re.compile(r"\s*(\d{1,6})(?:\.\d+)?\s*(?:px)?\s*", re.IGNORECASE)
_STYLE = re.compile(r"(?<![\w-])(width|height)\s*:\s*(\d{1,6})(?:\.\d+)?px", re.IGNORECASE)


def is_furniture(element: Any) -> bool:
    """Whether an image belongs to the page, not to what it says: a badge, an icon, an avatar, a tracker."""
    source = address_of(element)
    if _BADGE.search(source) or _FURNITURE.search(" ".join((source.rsplit("/", 1)[-1], element.get("class") or ""))):
        return True
    declared = [element.get(side) or "" for side in ("width", "height")]
    sizes = [int(m[1]) for value in declared if (m := _PIXELS.fullmatch(value))]
    sizes += [int(m[2]) for m in _STYLE.finditer((element.get("style") or "")[:2_000])]
    return any(size < SMALLEST for size in sizes)


def address_of(element: Any) -> str:
    """Where an image lies; pages that load their images late say it elsewhere."""
    source = (element.get("src") or "").strip()
    if not source or source.startswith("data:"):
        late = next((v for k in ("data-src", "data-original", "data-lazy-src") if (v := element.get(k))), "")
        source = late.strip() or source
    return str(source)


@dataclass(slots=True)
class _PendingImage:
    target: str
    alt: str
    caption: str
    label: str


@dataclass(slots=True)
class PendingImages:
    """Keeps the images of a block, or of a whole figure, until they can be noted with caption and label."""

    _waiting: list[_PendingImage] = field(default_factory=list)
    _figures: list[tuple[Any, int]] = field(default_factory=list)  # open figures, and how many images came before
    _caption: str = ""

    def picture(self, element: Any, alt: str) -> None:
        """An image with the words that stand for it."""
        target = address_of(element)
        if 0 < len(target) <= MAX_TARGET:
            caption = " ".join((element.get("title") or "").split())
            self._waiting.append(_PendingImage(target, alt, caption, element.get("id") or ""))

    def label(self, name: str) -> None:
        """A label that stands right behind an image names it."""
        if self._waiting and not self._waiting[-1].label:
            self._waiting[-1].label = name

    def caption(self, words: str) -> None:
        """The words of a `figcaption`."""
        if self._figures and not self._caption:
            self._caption = words

    def enter(self, figure: Any) -> None:
        self._figures.append((figure, len(self._waiting)))

    def leave(self, figure: Any, page: Page) -> None:
        """Ends a figure: its images get its caption and its id."""
        if not self._figures or self._figures[-1][0] is not figure:
            return
        _, before = self._figures.pop()
        for hung in self._waiting[before:]:
            hung.caption = self._caption or hung.caption
            hung.label = hung.label or figure.get("id") or ""
        if not self._figures:
            self._caption = ""
        self.hang(page)

    def hang(self, page: Page) -> None:
        """Notes the images on the page, unless a figure round them is still open."""
        if self._figures:
            return
        for hung in self._waiting:
            page.picture(hung.target, hung.alt, hung.caption, hung.label)
        self._waiting.clear()
