"""BLAKE3 of short texts: hashcards and repeater know a card by it. https://github.com/BLAKE3-team/BLAKE3-specs"""

from __future__ import annotations

import struct
from collections.abc import Sequence

_IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
_ORDER = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)  # of a block's words from round to round
_MIXES = (  # indices into the state: columns, then diagonals
    *((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)),
    *((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)),
)
_START, _END, _PARENT, _ROOT = 1, 2, 4, 8
_BLOCK, _CHUNK = 64, 1024
_MASK = 0xFFFFFFFF
_Words = tuple[int, ...]


def blake3_hex(data: bytes) -> str:
    """Return the digest of 32 bytes in hexadecimal."""
    chunks = [data[at : at + _CHUNK] for at in range(0, len(data), _CHUNK)] or [b""]
    if len(chunks) == 1:
        return struct.pack("<8I", *_chunk(chunks[0], 0, _ROOT)).hex()
    return struct.pack("<8I", *_tree([_chunk(chunk, n, 0) for n, chunk in enumerate(chunks)], _ROOT)).hex()


def _tree(values: Sequence[_Words], flags: int) -> _Words:
    """Return the value of a subtree over these chunks; its left side holds the largest power of two of them."""
    if len(values) == 1:
        return values[0]
    left = 1 << (len(values) - 1).bit_length() - 1
    return _compress(_IV, _tree(values[:left], 0) + _tree(values[left:], 0), 0, _BLOCK, _PARENT | flags)


def _chunk(data: bytes, number: int, flags: int) -> _Words:
    """Return the value of one chunk of at most 1,024 bytes."""
    blocks = [data[at : at + _BLOCK] for at in range(0, len(data), _BLOCK)] or [b""]
    value: _Words = _IV
    for n, block in enumerate(blocks):
        mark = (_START if n == 0 else 0) | (_END | flags if n == len(blocks) - 1 else 0)
        words = struct.unpack("<16I", block.ljust(_BLOCK, b"\0"))
        value = _compress(value, words, number, len(block), mark)
    return value


def _compress(value: _Words, words: _Words, counter: int, length: int, flags: int) -> _Words:
    """Return the first eight words of the compression function."""
    state = [*value, *_IV[:4], counter & _MASK, counter >> 32, length, flags]
    for _ in range(7):
        for n, (a, b, c, d) in enumerate(_MIXES):
            for word, first, second in ((words[2 * n], 16, 12), (words[2 * n + 1], 8, 7)):
                state[a] = (state[a] + state[b] + word) & _MASK
                state[d] = _rotated(state[d] ^ state[a], first)
                state[c] = (state[c] + state[d]) & _MASK
                state[b] = _rotated(state[b] ^ state[c], second)
        words = tuple(words[n] for n in _ORDER)
    return tuple(low ^ high for low, high in zip(state[:8], state[8:], strict=True))


def _rotated(word: int, bits: int) -> int:
    """Return a word of 32 bits rotated to the right."""
    return (word >> bits | word << 32 - bits) & _MASK
