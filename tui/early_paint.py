"""A card's front, painted before the framework has loaded, where the framework will paint it.

The words are those of a `FirstCard`, which holds nothing but what can be printed; only this file adds escapes.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in vault.kept_answer: this runs before any library is loaded
if TYPE_CHECKING:
    from collections.abc import Mapping

    from learning.first_card import FirstCard

KINDS = ("definitional", "mechanistic", "relational", "applied")  # as vault.card has them
COLUMN = 88  # cells, as `.column` in theme.tcss
MARGIN = 3
_TOP = 3  # rows above the head of a card: bar, progress, one that is empty
_FOOT = 6  # rows below the card that are the rating bar's and the key bar's
LEAST = (40, 12)  # of a terminal that is painted early


def painted(first: FirstCard, width: int, height: int, environment: Mapping[str, str]) -> str:
    """The escapes that show the card on a cleared alternate screen of that size; "" where that would not look right."""
    if width < LEAST[0] or height < LEAST[1]:
        return ""
    colours = _Colours(first.dress, first.kind, environment)
    column = min(width, COLUMN)
    left = (width - column) // 2 + MARGIN
    rows = folded(first.question, column - 2 * MARGIN - 2)[: height - _TOP - 2 - _FOOT]
    out = ["\x1b[?1049h\x1b[?25l", colours.ground, "\x1b[2J", _at(1, 2), colours.accent, "\x1b[1mretain\x1b[22m"]
    out += [colours.text, _at(_TOP + 1, left + 1)]
    if first.kind:
        out += ["\x1b[1m", colours.kind, first.kind.capitalize(), "\x1b[22m", colours.text, "  ·  "]
    out.append(folded(first.head, column - 2 * MARGIN - len(first.kind) - 5)[0])
    for n, row in enumerate(rows):
        out += [_at(_TOP + 3 + n, left + 1), colours.kind, "▌", colours.text, f"\x1b[1m {row}\x1b[22m"]
    return "".join([*out, "\x1b[0m"])


def dress(variables: Mapping[str, str]) -> str:
    """The colours of a theme (names to `#rrggbb`) in which a card is painted; "" where the terminal has its own."""
    names = ("background", "foreground", "text-primary", *(f"kind-{kind}" for kind in KINDS))
    found = [variables.get(name, "") for name in names]
    return " ".join(found) if all(len(colour) == 7 and colour[0] == "#" for colour in found) else ""


def _at(row: int, column: int) -> str:
    """Moves the cursor; both count from 1."""
    return f"\x1b[{row};{column}H"


def folded(text: str, width: int) -> list[str]:
    """`text` in rows of at most `width` cells, folded between words."""
    rows: list[str] = []
    for line in text.split("\n"):
        row, used = "", 0
        for word in line.split(" "):
            cells = _cells(word)
            if row and used + 1 + cells > width:
                rows.append(row)
                row, used = "", 0
            if row:
                row, used = f"{row} {word}", used + 1 + cells
            else:
                row, used = word, cells
            while used > width:
                head = _head(row, width)
                rows.append(head)
                row = row[len(head) :]
                used = _cells(row)
        rows.append(row)
    return rows


def _head(text: str, width: int) -> str:
    """As much of the beginning of `text` as fits; one character at least."""
    used = 0
    for n, character in enumerate(text):
        used += _cells(character)
        if used > width and n:
            return text[:n]
    return text


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


class _Colours:
    """Escapes for the colours of `dress`, as far as the terminal has them.

    Those are #rrggbb for the ground, text, the name of the program, and the four kinds of card in their order.
    """

    def __init__(self, dress: str, kind: str, environment: Mapping[str, str]) -> None:
        found = dress.split() if not environment.get("NO_COLOR") else []
        if environment.get("COLORTERM", "") in ("truecolor", "24bit"):
            paint = _exact
        elif environment.get("TERM", "").endswith("256color"):
            paint = _near
        else:
            found = []
        ground, text, accent, *kinds = found if len(found) == len(KINDS) + 3 else [""] * (len(KINDS) + 3)
        self.ground = paint(48, ground) + paint(38, text) if ground else ""
        self.text = paint(38, text) if text else ""
        self.accent = paint(38, accent) if accent else ""
        self.kind = paint(38, kinds[KINDS.index(kind)]) if text and kind in KINDS else self.text


def _exact(what: int, colour: str) -> str:
    red, green, blue = _rgb(colour)
    return f"\x1b[{what};2;{red};{green};{blue}m"


def _near(what: int, colour: str) -> str:
    """The nearest of the 216 colours and the greys that a terminal of 256 colours has."""
    rgb = _rgb(colour)
    cube = [0 if part < 48 else 1 if part < 115 else (part - 35) // 40 for part in rgb]
    grey = round((sum(rgb) / 3 - 8) / 10)
    if max(rgb) - min(rgb) < 12 and 0 <= grey < 24:
        return f"\x1b[{what};5;{232 + grey}m"
    return f"\x1b[{what};5;{16 + 36 * cube[0] + 6 * cube[1] + cube[2]}m"


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
