"""Ids, digests and slugs. An id is created once, recorded in the ledger, and never derived again."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import NewType

SourceId = NewType("SourceId", str)
ClaimId = NewType("ClaimId", str)
ConceptId = NewType("ConceptId", str)
CardId = NewType("CardId", str)
GapId = NewType("GapId", str)

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32, lower case: no i, l, o, u
ID = re.compile(rf"[{ALPHABET}]{{10}}")
DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)", re.IGNORECASE)


_PAIRS = [one + other for one in ALPHABET for other in ALPHABET]


def _base32(number: int, length: int) -> str:
    """Return the last `length` base-32 digits of `number`; `length` is even."""
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(5 * length - 10, -1, -10)])


def mint(noun: str, birth: str, taken: object = ()) -> str:
    """Return a new id of ten base-32 characters for what `birth` describes, not in the container `taken`.

    The same `birth` gives the same id on every machine, so that two clones that compile the same source agree.
    """
    for salt in range(1000):
        seed = f"{noun}\x1f{birth}\x1f{salt}" if salt else f"{noun}\x1f{birth}"
        digest = hashlib.blake2b(seed.encode(), digest_size=8).digest()
        new = _base32(int.from_bytes(digest, "big") >> 14, 10)
        if new not in taken:  # type: ignore[operator]
            return new
    raise AssertionError("could not find an unused id")


def ulid(at_ms: int, randomness: bytes) -> str:
    """Return a 26-character sortable id: 48 bits of Unix milliseconds, then 80 random bits (ten bytes)."""
    return (_base32(at_ms, 10) + _base32(int.from_bytes(randomness[:10], "big"), 16)).upper()


def digest12(text: str) -> str:
    """Return twelve hex digits of SHA-256, to detect changes; not an id."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def vault_digest(vault_id: str) -> str:
    """Return ten hex digits that identify a vault to Anki."""
    return hashlib.sha256(vault_id.encode()).hexdigest()[:10]


def slug(title: str) -> str:
    """Return a file name for `title`: letters, marks and digits of any script, hyphens, lower case, NFC.

    At most 60 characters and 180 bytes. Never empty, never a device name, never starting with a dot or hyphen.
    """
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", title).casefold())
    plain = "".join(c if unicodedata.category(c)[0] in "LM" or unicodedata.category(c) == "Nd" else "-" for c in text)
    out = re.sub("-+", "-", plain).strip("-")[:60]
    while len(out.encode()) > 180:
        out = out[:-1]
    out = out.strip("-")
    while out and unicodedata.category(out[0])[0] == "M":  # a mark needs a letter before it
        out = out[1:].strip("-")
    if not out:
        return "untitled"
    return f"{out}-x" if DEVICE.fullmatch(out) else out


def free_slug(title: str, id_: str, taken: set[str]) -> str:
    """Return `slug(title)`, with characters of the id appended if another file has it; `taken` is casefolded."""
    plain = slug(title)
    if plain.casefold() not in taken:
        return plain
    for length in (4, 10):
        tail = "-" + id_[:length]
        stem = plain[: 60 - len(tail)]
        while len((stem + tail).encode()) > 180:
            stem = stem[:-1]
        candidate = stem.rstrip("-") + tail
        if candidate.casefold() not in taken:
            return candidate
    raise AssertionError(f"the file name {plain!r} is already used twice")
