"""Pictures by kitty's graphics protocol, with placeholder characters that stand for parts of a picture.

The picture is sent once. From then on it is made of ordinary characters: U+10EEEE with marks that say which row and
column of the picture the cell shows, in a colour that says which picture. So the framework moves, cuts and covers it
like any text, and nothing is written at a place of its own choosing. The protocol:
https://sw.kovidgoyal.net/kitty/graphics-protocol/#unicode-placeholders

No terminal is asked; only what it says of itself in the environment counts. What is sent are the bytes of a PNG that
Pillow made from a picture that a compile has judged, never those of the file; every sequence says that no answer
is wanted (q=2).
"""

from __future__ import annotations

from base64 import standard_b64encode
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256

from textual.color import Color
from textual.content import Content, Span
from textual.style import Style

from tui.text.images import Thumbnail, shows_pictures, size_in_cells

_TERMS = ("xterm-kitty", "xterm-ghostty")
_BETWEEN = ("TMUX", "STY", "SSH_CONNECTION")  # another program in between may not pass them on; a line may be slow
_CELL = "\U0010eeee"
_MARKS = tuple(
    chr(int(code, 16))
    for code in (
        "0305 030D 030E 0310 0312 033D 033E 033F 0346 034A 034B 034C 0350 0351 0352 0357 035B 0363 0364 0365 0366 0367 "
        "0368 0369 036A 036B 036C 036D 036E 036F 0483 0484 0485 0486 0487 0592 0593 0594 0595 0597 0598 0599 059C 059D "
        "059E 059F 05A0 05A1 05A8 05A9 05AB 05AC 05AF 05C4 0610 0611 0612 0613 0614 0615 0616 0617 0657 0658 0659 065A "
        "065B 065D 065E 06D6 06D7 06D8"
    ).split()
)
_CHUNK = 4096  # characters of base64 in one sequence, as the protocol allows


def has_graphics(environment: Mapping[str, str]) -> bool:
    """Return whether the terminal supports kitty graphics, with nothing between it and the app."""
    named = environment.get("TERM") in _TERMS or environment.get("TERM_PROGRAM") == "ghostty"
    return named and shows_pictures(environment) and not any(environment.get(name) for name in _BETWEEN)


def sent(number: int, png: bytes, columns: int, rows: int) -> Iterator[str]:
    """Yield the escape sequences that send a picture as `number`, to be shown in `columns` x `rows` cells."""
    data = standard_b64encode(png).decode("ascii")
    for at in range(0, len(data), _CHUNK):
        head = "" if at else f"a=t,f=100,i={number},"
        yield f"\x1b_G{head}q=2,m={int(at + _CHUNK < len(data))};{data[at : at + _CHUNK]}\x1b\\"
    yield f"\x1b_Ga=p,U=1,i={number},c={columns},r={rows},q=2\x1b\\"


def forgotten(number: int) -> str:
    """Return the escape sequence that deletes a picture in the terminal."""
    return f"\x1b_Ga=d,d=I,i={number},q=2\x1b\\"


def cells(number: int, columns: int, rows: int) -> list[Content]:
    """Return the placeholder characters in whose place the terminal shows the picture."""
    style = Style(foreground=Color(number >> 16, number >> 8 & 255, number & 255))
    lines = ("".join(_CELL + _MARKS[row] + _MARKS[column] for column in range(columns)) for row in range(rows))
    return [Content(line, [Span(0, len(line), style)]) for line in lines]


class Gallery:
    """The pictures that one screen has sent; `write` writes to the terminal unchanged."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._sent: dict[int, str] = {}

    def shown(self, picture: Thumbnail, width: int) -> list[Content]:
        """Return the placeholders of a picture at most `width` cells wide, and send it if it is new."""
        columns, rows = size_in_cells(picture, width)
        name = sha256(picture.png + bytes((columns, rows))).digest()
        number = int.from_bytes(name[:3], "big") | 0x10000  # 24 bits, as a colour has; not one of the few hundred first
        if number not in self._sent:
            self._sent[number] = "".join(sent(number, picture.png, columns, rows))
            self._write(self._sent[number])
        return cells(number, columns, rows)

    def send_again(self) -> None:
        """Send all pictures again, after another program had the terminal."""
        for words in list(self._sent.values()):
            self._write(words)

    def close(self) -> None:
        """Delete all pictures in the terminal."""
        for number in self._sent:
            self._write(forgotten(number))
        self._sent.clear()
