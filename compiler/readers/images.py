"""Inspection of a picture's bytes: its format, its size, and whether showing it could run anything."""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import dataclass
from typing import Any

from vault.errors import Unreadable

MAX_BYTES = 10 * 1024 * 1024
MAX_SIDE = 20_000  # pixels
MAX_PIXELS = 100_000_000
MIN_SIDE = 24  # a smaller one is an icon
_KINDS = {"PNG": "png", "JPEG": "jpg", "GIF": "gif", "WEBP": "webp"}
_STARTS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"RIFF")
_SVG = "{http://www.w3.org/2000/svg}"
_XHTML = "{http://www.w3.org/1999/xhtml}"
_XLINK = "{http://www.w3.org/1999/xlink}"
_DRAWS = frozenset(
    "svg g defs symbol use path rect circle ellipse line polyline polygon text tspan textPath title desc metadata "
    "linearGradient radialGradient stop pattern clipPath mask marker style image filter feBlend feColorMatrix "
    "feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow "
    "feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge feMergeNode feMorphology feOffset fePointLight "
    "feSpecularLighting feSpotLight feTile feTurbulence switch view".split()
)
_BITMAP = re.compile(r"data:image/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=\s]*")
_LOCAL = re.compile(r"#[^\s\"'()<>]*")
_URL = re.compile(r"url\((?!\s*[\"']?\s*#)", re.IGNORECASE)
# Declarations of a document type could give elements attributes that nobody sees in them, or mean more text.
_DECLARES = re.compile(rb"<!(?:ENTITY|ATTLIST|ELEMENT|NOTATION)|<\?xml-stylesheet", re.IGNORECASE)
_CSS_ATTRIBUTES = set(
    "style fill stroke filter mask clip-path cursor marker marker-start marker-mid marker-end".split()
)
MAX_NESTED = 50  # uses inside one another
MAX_DRAWN = 200_000  # elements, counted as often as <use> repeats them
# CSS that loads, runs or hides what it does; a drawing needs none of it.
_ACTIVE_CSS = re.compile(r"@|\\|expression|binding|behavior|javascript|image-set|cross-fade|\bsrc\s*\(", re.IGNORECASE)
_SCRIPT = re.compile(r"\s*(?:javascript|vbscript|data|file|https?)\s*:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ImageInfo:
    """What a picture is. `kind` is the suffix of its copy; sides are in pixels, 0 for a drawing without a size."""

    kind: str
    width: int
    height: int


def inspect_image(data: bytes) -> ImageInfo:
    """Return format and size of a picture. Raises: Unreadable with the reason if it must not be copied."""
    if len(data) > MAX_BYTES:
        raise Unreadable(f"the picture is larger than {MAX_BYTES >> 20} MiB")
    seen = _inspect_bitmap(data) if data.startswith(_STARTS) else _inspect_svg(data)
    if seen.kind != "svg" or seen.width:
        small, large = sorted((seen.width, seen.height))
        if small < MIN_SIDE and seen.kind != "svg":
            raise Unreadable("the picture is too small: probably an icon")
        if large > MAX_SIDE or small * large > MAX_PIXELS:
            raise Unreadable(f"the picture has too many pixels: {seen.width} x {seen.height}")
    return seen


def _inspect_bitmap(data: bytes) -> ImageInfo:
    """Return format and size of a PNG, JPEG, GIF or WebP picture."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with Image.open(io.BytesIO(data), formats=tuple(_KINDS)) as image:
                seen = ImageInfo(_KINDS[image.format or ""], *image.size)
                image.verify()
    except Exception as error:
        raise Unreadable("the picture is damaged") from error
    return seen


def _inspect_svg(data: bytes) -> ImageInfo:
    """Return the size of an SVG that only draws; elements and attributes are checked against an allow-list."""
    from lxml import etree

    if b"<svg" not in data[:65_536]:
        raise Unreadable("not a PNG, JPEG, GIF, WebP or SVG picture")
    if b"\0" in data:  # UTF-16 and the like, in which the next search would find nothing
        raise Unreadable("the drawing is in an ambiguous encoding")
    if _DECLARES.search(data):
        raise Unreadable("the drawing uses external entities or styles")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Unreadable("the drawing is not well-formed") from error
    if (root.getroottree().docinfo.encoding or "utf-8").lower() not in ("utf-8", "us-ascii", "ascii", "iso-8859-1"):
        raise Unreadable("the drawing is in an ambiguous encoding")
    if root.tag != f"{_SVG}svg":
        raise Unreadable("not a PNG, JPEG, GIF, WebP or SVG picture")
    for element in root.iter():
        what = _active_part(element)
        if what:
            raise Unreadable(f"the drawing has active content: {what}")
    if _drawn(root) > MAX_DRAWN:
        raise Unreadable("the drawing references itself in a loop")
    return ImageInfo("svg", *(_pixels(root.get(side) or "") for side in ("width", "height")))


def _drawn(root: Any) -> int:
    """Return how many elements are drawn, counting all that each <use> repeats, up to just above the limit."""
    named: dict[str, Any] = {}
    for element in root.iter():
        named.setdefault(element.get("id") or "", element)  # the first counts, where two have one name
    counted: dict[str, int] = {"": 0}
    open_: set[str] = set()
    left = 2 * MAX_DRAWN  # elements to look at, over and over where groups nest

    def inside(element: Any) -> int:
        nonlocal left
        total = 0
        for each in element.iter():
            total += 1
            left -= 1
            if each.tag == f"{_SVG}use":
                total += repeated((each.get("href") or each.get(f"{_XLINK}href") or "").strip().removeprefix("#"))
            if total > MAX_DRAWN or left < 0:
                return MAX_DRAWN + 1
        return total

    def repeated(name: str) -> int:
        if name in open_ or len(open_) > MAX_NESTED:
            return MAX_DRAWN + 1
        if name not in counted:
            open_.add(name)
            counted[name] = inside(named[name]) if name in named else 0
            open_.discard(name)
        return counted[name]

    return inside(root)


def _active_part(element: Any) -> str:
    """Return what an element could do besides drawing ("a script"), "" if nothing."""
    tag = element.tag
    if not isinstance(tag, str):
        return "" if element.__class__.__name__ == "_Comment" else "an instruction or entity"
    if tag.startswith(_XHTML) or (tag.startswith(_SVG) and tag.removeprefix(_SVG) not in _DRAWS) or "}" not in tag:
        return f"an element <{tag.rpartition('}')[2][:40]}>"
    if tag == f"{_SVG}style" and _is_active_css("".join(element.itertext())):
        return "a style that loads or runs something"
    for name, value in element.attrib.items():
        if _is_active_attribute(name, value):
            return f"an attribute {name.rpartition('}')[2][:40]}"
    return ""


def _is_active_attribute(name: str, value: str) -> bool:
    """Return whether an attribute could run a script or load something."""
    if name in ("href", f"{_XLINK}href", "src"):
        return not (_LOCAL.fullmatch(value.strip()) or _BITMAP.fullmatch(value.strip()))
    if "}" in name and not name.startswith("{http://www.w3.org/"):
        return False  # an editor's notes to itself
    if name.lower().startswith("on") or name.endswith("}base"):
        return True
    if name in _CSS_ATTRIBUTES:
        return _is_active_css(value)
    return _URL.search(value) is not None or ("}" not in name and _SCRIPT.match(value) is not None)


def _is_active_css(css: str) -> bool:
    """Return whether a style could load something."""
    return _ACTIVE_CSS.search(css) is not None or _URL.search(css) is not None


def _pixels(length: str) -> int:
    """Return a length of an SVG in pixels, 0 if it has none."""
    found = re.match(r"\s*(\d{1,6})", length)
    return int(found[1]) if found and "%" not in length else 0
