"""Pictures: only those that a compile has judged are decoded, none too large, and none acts when it is opened."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Callable
from datetime import datetime
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from textual.style import Style

from tui.text.images import (
    MOST_COLUMNS,
    MOST_ROWS,
    cells,
    checked_picture,
    kind_of,
    open_in_viewer,
    page_pictures,
    shows_pictures,
    thumbnail,
)
from vault.errors import RetainError
from vault.vault import Vault


def png(width: int, height: int, colour: str = "red") -> bytes:
    out = BytesIO()
    Image.new("RGB", (width, height), colour).save(out, "PNG")
    return out.getvalue()


def bomb() -> bytes:
    """A PNG of a few bytes that says it has 60,000 by 60,000 pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )


def asset(vault: Vault, data: bytes) -> str:
    """The path of a picture that lies among the assets as a compile lays it there."""
    path = f"wiki/assets/plot-{hashlib.sha256(data).hexdigest()[:12]}.png"
    (vault.root / "wiki/assets").mkdir(parents=True, exist_ok=True)
    (vault.root / path).write_bytes(data)
    return path


def test_a_picture_is_shown_in_half_blocks_that_keep_its_shape() -> None:
    small = thumbnail(png(200, 100))
    assert small is not None
    rows = cells(small, 40)
    assert [row.cell_length for row in rows] == [40] * 10
    [span] = rows[0].spans
    assert isinstance(span.style, Style) and span.style.foreground is not None
    assert span.style.foreground.rgb == (255, 0, 0)


@given(st.integers(1, 400), st.integers(1, 400), st.integers(1, 90))
def test_no_picture_takes_more_than_its_room(width: int, height: int, room: int) -> None:
    small = thumbnail(png(width, height))
    assert small is not None
    rows = cells(small, room)
    assert 0 < len(rows) <= MOST_ROWS
    assert all(0 < row.cell_length <= min(room, MOST_COLUMNS) for row in rows)


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n\x1a\n", png(9, 9)[:40], bomb(), b"<svg/>", b"RIFF____WEBP"])
def test_what_cannot_be_decoded_is_named_only(data: bytes) -> None:
    assert thumbnail(data) is None


@given(st.binary(max_size=200))
def test_no_bytes_break_it(data: bytes) -> None:
    thumbnail(b"\x89PNG\r\n\x1a\n" + data)
    thumbnail(b"GIF89a" + data)


def test_only_what_a_compile_laid_among_the_assets_is_decoded(vault: Vault) -> None:
    judged = asset(vault, png(8, 8))
    (vault.root / "wiki/assets/mine.png").write_bytes(png(8, 8))
    swapped = asset(vault, png(9, 9))
    (vault.root / swapped).write_bytes(png(10, 10))
    paths = (judged, "wiki/assets/mine.png", f"{swapped}|S", "wiki/assets/../../x.png", "wiki/assets/gone.png")
    page = "\n".join(f"![[{path}]]" for path in paths)
    assert set(page_pictures(vault, page)) == {judged}


def test_pictures_are_shown_where_the_terminal_has_the_colours_and_the_human_wants_them() -> None:
    assert shows_pictures({"COLORTERM": "truecolor"})
    assert not shows_pictures({"COLORTERM": "truecolor", "NO_COLOR": "1"})
    assert not shows_pictures({"TERM": "xterm-256color"})


def test_a_picture_is_known_by_its_bytes() -> None:
    assert [kind_of(data) for data in (png(1, 1), b"\xff\xd8\xff\xe0", b"GIF89a", b"RIFF0000WEBP", b"#!/bin/sh")] == [
        "PNG",
        "JPEG",
        "GIF",
        "WEBP",
        "",
    ]


@pytest.mark.parametrize(
    "path",
    [
        "wiki/assets/run.png",
        "/etc/passwd",
        "wiki/assets/../../x.png",
        "insights/a.png",
        "raw/gone.png",
        "wiki/a.md",
        "-x",
    ],
)
def test_nothing_but_a_picture_of_the_vault_is_handed_to_another_program(vault: Vault, path: str) -> None:
    (vault.root / "wiki/assets").mkdir(parents=True)
    (vault.root / "wiki/assets/run.png").write_text("#!/bin/sh\n", encoding="utf-8")
    (vault.root / "insights").mkdir()
    (vault.root / "insights/a.png").write_bytes(png(1, 1))
    with pytest.raises(RetainError):
        checked_picture(vault, path)


def test_a_link_to_a_picture_elsewhere_is_not_handed_on(vault: Vault, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.png"
    outside.write_bytes(png(1, 1))
    (vault.root / "raw/link.png").symlink_to(outside)
    with pytest.raises(RetainError):
        checked_picture(vault, "raw/link.png")


def test_a_picture_is_handed_over_by_its_path_and_through_no_shell(vault: Vault, tmp_path: Path) -> None:
    name = "raw/a b;touch x $(touch y).png"
    (vault.root / name).write_bytes(png(1, 1))
    asked = tmp_path / "asked"
    import os

    os.mkfifo(asked)
    for opener in ("xdg-open", "open"):
        (tmp_path / opener).write_text(f'#!/bin/sh\nprintf "%s" "$*" > "{asked}"\n', encoding="utf-8")
        (tmp_path / opener).chmod(0o755)
    open_in_viewer(vault, name, {"PATH": str(tmp_path)})
    assert asked.read_text(encoding="utf-8") == str(vault.root / name)  # waits until it is written


def test_where_nothing_opens_pictures_it_is_said(vault: Vault, tmp_path: Path, clock: Callable[[], datetime]) -> None:
    path = asset(vault, png(1, 1))
    with pytest.raises(RetainError, match="no picture viewer was found"):
        open_in_viewer(vault, path, {"PATH": str(tmp_path / "empty")})
