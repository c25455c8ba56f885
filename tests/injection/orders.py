"""How a source gives orders to the models of these tests: words that every format carries, decoded by whoever obeys.

Imported by the programs that obey, too, which have nothing but Python's own library.
"""

from __future__ import annotations

import base64
import re

_ORDER = re.compile(r"ORDER ([a-z]+) ([A-Z2-7]+)")


def order(verb: str, words: str) -> str:
    """The order to do `verb` with these very words, whatever they hold."""
    return f"ORDER {verb} {base64.b32encode(words.encode('utf-8', 'surrogatepass')).decode().rstrip('=')}"


def orders_in(text: str) -> list[tuple[str, str, str]]:
    """(verb, words, the order as it stands) of every order in a text."""
    found = []
    for each in _ORDER.finditer(text):
        coded = each[2] + "=" * (-len(each[2]) % 8)
        found.append((each[1], base64.b32decode(coded).decode("utf-8", "surrogatepass"), each[0]))
    return found
