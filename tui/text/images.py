"""Pictures as coloured half blocks in the terminal, or in the desktop's viewer. Only checked pictures are decoded.

No terminal is asked what it can do: its answer would mix with keys that are pressed meanwhile. What a terminal shows
of itself in the environment is enough for colours, and they are enough for half blocks, over ssh and inside tmux too.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from io import BytesIO
from threading import Thread
from typing import Any

from textual.color import Color
from textual.content import Content, Span
from textual.style import Style

from vault.errors import NotFound, Refused, RetainError
from vault.model.exhibit import ASSETS, embedded_assets, is_copy
from vault.text.formatting import clean_line
from vault.vault import Vault

LARGEST = 20 << 20  # bytes of a file that is decoded
MAX_PIXELS = 40_000_000
MOST = 24  # pictures of one page that are shown; the others are named
MOST_COLUMNS, MOST_ROWS = 72, 20
_FINE = MOST_COLUMNS * 10, MOST_ROWS * 20  # pixels: a cell is about as many
_COLOURS = 48  # of one picture: fewer bytes for each row, and the eye hardly sees it
_KINDS = {b"\x89PNG\r\n\x1a\n": "PNG", b"\xff\xd8\xff": "JPEG", b"GIF87a": "GIF", b"GIF89a": "GIF"}


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A small copy of a picture: `rows` of RGB pixels, two rows to a line of cells.

    `png` is a finer copy, for a terminal that shows pictures of itself; b"" where none was asked for.
    """

    rows: tuple[tuple[tuple[int, int, int], ...], ...]
    png: bytes = b""


def shows_pictures(environment: Mapping[str, str]) -> bool:
    """Return whether the terminal has enough colours for pictures, and the user has not switched colours off."""
    return environment.get("COLORTERM", "") in ("truecolor", "24bit") and not environment.get("NO_COLOR")


def kind_of(data: bytes) -> str:
    """Return PNG, JPEG, GIF or WEBP by the first bytes; "" for anything else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WEBP"
    return next((kind for first, kind in _KINDS.items() if data.startswith(first)), "")


def page_pictures(vault: Vault, markdown: str, *, fine: bool = False) -> dict[str, Thumbnail]:
    """Return the thumbnails of a page's pictures by vault path. Slow: run it in a worker."""
    found: dict[str, Thumbnail] = {}
    for path in sorted(embedded_assets(markdown))[:MOST]:
        try:
            data = vault.read_bytes(path)
        except RetainError:
            continue
        if data is not None and is_copy(path, data) and (small := thumbnail(data, fine=fine)) is not None:
            found[path] = small
    return found


def thumbnail(data: bytes, *, fine: bool = False) -> Thumbnail | None:
    """Return a small copy of a picture, with a PNG if `fine`; None if it is invalid or too large."""
    kind = kind_of(data)
    if not kind or len(data) > LARGEST:
        return None
    from PIL import Image

    try:
        with Image.open(BytesIO(data), formats=(kind,)) as image:
            if image.width * image.height > MAX_PIXELS:
                return None
            image.draft("RGB", _FINE if fine else (MOST_COLUMNS * 4, MOST_ROWS * 8))
            png = _png(Image, image) if fine else b""
            small = _pixels(Image, image)
            return small if small is None else replace(small, png=png)
    except Exception:  # noqa: BLE001 (a decoder may raise anything on bytes that were made to break it)
        return None


def _png(library: Any, image: Any) -> bytes:
    """Return the picture on white as PNG bytes, no larger than its cells on a usual screen."""
    copy = image.convert("RGBA")
    copy.thumbnail(_FINE)
    ground = library.new("RGBA", copy.size, "white")
    ground.alpha_composite(copy)
    out = BytesIO()
    ground.convert("RGB").save(out, "PNG", optimize=True)
    return out.getvalue()


def _pixels(library: Any, image: Any) -> Thumbnail | None:
    """Return the picture on white in few colours, two pixels to a cell."""
    if not image.width or not image.height:
        return None
    image.thumbnail((MOST_COLUMNS * 4, MOST_ROWS * 8))
    scale = min(MOST_COLUMNS / image.width, 2 * MOST_ROWS / image.height, 1.0)
    size = max(1, round(image.width * scale)), max(2, round(image.height * scale / 2) * 2)
    small = image.convert("RGBA").resize(size)
    ground = library.new("RGBA", size, "white")
    ground.alpha_composite(small)
    flat = ground.convert("RGB").quantize(_COLOURS).convert("RGB")
    values = flat.tobytes()
    pixels = [(values[n], values[n + 1], values[n + 2]) for n in range(0, len(values), 3)]
    width = flat.width
    return Thumbnail(tuple(tuple(pixels[n : n + width]) for n in range(0, len(pixels), width)))


def size_in_cells(small: Thumbnail, width: int) -> tuple[int, int]:
    """Return (columns, rows) of a picture at most `width` cells wide."""
    across, down = len(small.rows[0]), len(small.rows)
    columns = min(width or MOST_COLUMNS, across)
    return columns, max(1, round(down / 2 * columns / across))


def cells(small: Thumbnail, width: int) -> list[Content]:
    """Return the picture as rows of half blocks, at most `width` cells wide."""
    across, down = len(small.rows[0]), len(small.rows)
    columns, rows = size_in_cells(small, width)
    out = []
    for row in range(rows):
        upper, lower = (small.rows[min(down - 1, (2 * row + n) * down // (2 * rows))] for n in (0, 1))
        pairs = [(upper[c * across // columns], lower[c * across // columns]) for c in range(columns)]
        out.append(Content("▀" * columns, _spans(pairs)))
    return out


def _spans(pairs: list[tuple[tuple[int, int, int], tuple[int, int, int]]]) -> list[Span]:
    spans, start = [], 0
    for n in range(1, len(pairs) + 1):
        if n == len(pairs) or pairs[n] != pairs[start]:
            upper, lower = pairs[start]
            spans.append(Span(start, n, Style(foreground=Color(*upper), background=Color(*lower))))
            start = n
    return spans


# --- outside ----------------------------------------------------------------------------------------------------------


def checked_picture(vault: Vault, path: str) -> str:
    """Return `path` if it is a picture in wiki/assets/, or of a source, that another program may open.

    Raises: NotFound, or Refused where it is elsewhere, or is no picture by its bytes.
    """
    if not (path.startswith(f"{ASSETS}/") or vault.is_source(path)):
        what = "only pictures in wiki/assets/ or from sources can be opened from the app"
        raise Refused(what, where=clean_line(path)[:80])
    data = vault.read_bytes(path)
    if data is None:
        raise NotFound("picture not found", where=path)
    if not kind_of(data):
        what = "the file is not a PNG, JPEG, GIF or WebP picture"
        raise Refused(what, where=path, hint="only these can be opened from the app")
    return path


def open_in_viewer(vault: Vault, path: str, environment: Mapping[str, str]) -> None:
    """Open a picture in the desktop's viewer, without waiting for it.

    Raises: as `checked_picture`; Refused where there is no such program.
    """
    whole = str(vault.root / checked_picture(vault, path))
    opener = shutil.which("open" if sys.platform == "darwin" else "xdg-open", path=environment.get("PATH"))
    if opener is None:
        raise Refused("no picture viewer was found", where=path, hint="open the file in another program")
    nothing = subprocess.DEVNULL
    process = subprocess.Popen(
        [opener, whole], env=dict(environment), stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True
    )
    Thread(target=process.wait, daemon=True).start()  # so that it leaves nothing behind when it ends
