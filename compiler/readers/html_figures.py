"""The pictures of an HTML tree: which of them are content, and the caption and label of each."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from compiler.readers.page import MAX_TARGET, Page

FILE_NAME = re.compile(r"[\w%@.-]+\.(?:png|jpe?g|gif|svg|webp|pdf)", re.IGNORECASE)
IDENTIFIER = re.compile(r"[^\W_]+(?:[-_:]+[^\W_]+)+")  # "fig-eye-2": a name for software
SMALLEST = 48  # pixels, as declared; a smaller picture is an icon
_BADGE = re.compile(r"badge|shields\.io|travis-ci|codecov|/actions/workflows/", re.IGNORECASE)
_FURNITURE = re.compile(
    r"(?<![a-z])(?:avatar|gravatar|icons?|emoji|sprite|spacer|pixel|tracking|tracker|favicon|smiley|1x1|blank|loader"
    r"|loading|placeholder)(?![a-z])",
    re.IGNORECASE,
)
_ICON = re.compile(r"(?:^|[\s-])(?:fa[bsr]?|bi|mdi|octicon|glyphicon|icons?|material-icons)(?:[\s-]|$)")
_PIXELS = re.compile(r"\s*(\d{1,6})(?:\.\d+)?\s*(?:px)?\s*", re.IGNORECASE)
_STYLE = re.compile(r"(?<![\w-])(width|height)\s*:\s*(\d{1,6})(?:\.\d+)?px", re.IGNORECASE)


def is_furniture(element: Any) -> bool:
    """Return whether an image is not content but a badge, an icon, an avatar or a tracker."""
    source = address_of(element)
    if _BADGE.search(source) or _FURNITURE.search(" ".join((source.rsplit("/", 1)[-1], element.get("class") or ""))):
        return True
    declared = [element.get(side) or "" for side in ("width", "height")]
    sizes = [int(m[1]) for value in declared if (m := _PIXELS.fullmatch(value))]
    sizes += [int(m[2]) for m in _STYLE.finditer((element.get("style") or "")[:2_000])]
    return any(size < SMALLEST for size in sizes)


def is_picture(element: Any) -> bool:
    """Return whether an element shows a picture: an image, a drawing, or an icon that its class names."""
    if element.tag in ("i", "span") and not len(element) and not (element.text or "").strip():
        return _ICON.search(element.get("class") or "") is not None
    return element.tag in ("img", "svg")


def address_of(element: Any) -> str:
    """Return the address of an image, also where the page loads its images late."""
    source = (element.get("src") or "").strip()
    if not source or source.startswith("data:"):
        late = next((v for k in ("data-src", "data-original", "data-lazy-src") if (v := element.get(k))), "")
        source = late.strip() or source
    return str(source)


@dataclass(slots=True)
class _PendingImage:
    """An image that is not yet written to the page."""

    target: str
    alt: str
    caption: str
    label: str


@dataclass(slots=True)
class PendingImages:
    """The images of a block or figure, collected until caption and label are known and they are written to the page."""

    _waiting: list[_PendingImage] = field(default_factory=list)
    _figures: list[int] = field(default_factory=list)  # for each open figure, how many images came before
    _caption: str = ""

    def picture(self, element: Any, alt: str) -> None:
        """Add an image with its alternative text."""
        target = address_of(element)
        if 0 < len(target) <= MAX_TARGET:
            caption = " ".join((element.get("title") or "").split())
            self._waiting.append(_PendingImage(target, alt, caption, element.get("id") or ""))

    def label(self, name: str) -> None:
        """Set the label of the last image, if it has none."""
        if self._waiting and not self._waiting[-1].label:
            self._waiting[-1].label = name

    def caption(self, words: str) -> None:
        """Set the caption of the open figure to the words of its `figcaption`."""
        if self._figures and not self._caption:
            self._caption = words

    def enter(self) -> None:
        """Open a figure: images added from now on are its own."""
        self._figures.append(len(self._waiting))

    def leave(self, figure: Any, page: Page) -> None:
        """Close the innermost figure and give its images its caption and id."""
        for hung in self._waiting[self._figures.pop() :]:
            hung.caption = self._caption or hung.caption
            hung.label = hung.label or figure.get("id") or ""
        if not self._figures:
            self._caption = ""
        self.hang(page)

    def hang(self, page: Page) -> None:
        """Write the images to the page, unless a figure around them is still open."""
        if self._figures:
            return
        for hung in self._waiting:
            page.picture(hung.target, hung.alt, hung.caption, hung.label)
        self._waiting.clear()
