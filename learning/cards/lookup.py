"""The concept that a name means: its title, an alias, the name of its file or its id."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from vault.errors import NotFound, UsageError
from vault.layout import CONCEPTS, FLASHCARDS
from vault.model.card import parse_deck
from vault.model.frontmatter import read_properties
from vault.model.markdown import unescape
from vault.text.formatting import clean_line, fold, short_title
from vault.vault import Vault

NEAR = 3  # concepts that are named where a name fits none, or more than one
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Subject:
    """A concept. `concept` is its id, or the stem of its file if it has none; `path` that file in the vault."""

    concept: str
    title: str
    stem: str
    path: str
    aliases: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """Return every name of the concept, as it is compared."""
        return frozenset({_key(self.title), _key(self.stem)})

    @property
    def shown(self) -> str:
        """Return the concept's name for a message."""
        return f"{self.title} ({self.stem})"


def find_subject(vault: Vault, wanted: str) -> Subject:
    """Return the one concept with that name.

    An id or a title comes before an alias. Raises: NotFound, which names what may be meant; UsageError if more than
    one goes by it.
    """
    key = _key(wanted)
    like = list(_subjects(vault, max(_WORD.findall(key), key=len, default="")))
    for found in (
        [s for s in like if s.concept == wanted.strip()],
        [s for s in like if key in s.names],
        [s for s in like if key in map(_key, s.aliases)],
    ):
        if len(found) == 1:
            return found[0]
        if found:
            choices = " or ".join(s.shown for s in found[:NEAR])
            more = f" ({len(found)} in all)" if len(found) > NEAR else ""
            what = f"more than one concept has that name: {choices}{more}"
            raise UsageError(what, where=clean_line(wanted)[:60], hint="use one of the names in brackets")
    raise NotFound("there is no concept with that name", where=clean_line(wanted)[:60], hint=_near(vault, key))


def _near(vault: Vault, key: str) -> str:
    """Return a hint with similar names."""
    shown = {_key(s.title): s.shown for s in _subjects(vault, "")}
    alike = get_close_matches(key, shown, NEAR, 0.6) or [name for name in shown if key and key in name][:NEAR]
    meant = f"perhaps {' or '.join(shown[name] for name in alike)}; " if alike else ""
    return f"{meant}wiki/_concepts.md lists the concepts"


def _key(name: str) -> str:
    """Return a name as it is compared."""
    return fold(name).casefold()


def _subjects(vault: Vault, word: str) -> Iterator[Subject]:
    """Yield the concepts whose files contain a word: YAML is slow, so the others are not parsed."""
    articles = set()
    for path in vault.paths(CONCEPTS, ".md"):
        stem = _stem(path)
        articles.add(stem)
        front = _front(_text(vault, path))
        if word in stem or word in front.casefold():
            properties = read_properties(front)
            title = short_title(properties.text("title") or stem)
            yield Subject(properties.text("id") or stem, title, stem, path, properties.texts("aliases"))
    for path in vault.paths(FLASHCARDS, ".md"):
        stem = _stem(path)
        text = _text(vault, path) if stem not in articles else ""
        if text and (word in stem or word in text.casefold()):
            deck = parse_deck(text, path)
            yield Subject(deck.properties.text("concept") or stem, short_title(unescape(deck.title)), stem, path)


def _stem(path: str) -> str:
    """Return the stem of a path."""
    return path.rsplit("/", 1)[-1].removesuffix(".md")


def _text(vault: Vault, path: str) -> str:
    """Return the text of a file; "" if it cannot be read."""
    return (vault.read_bytes(path) or b"").decode("utf-8", "replace")


def _front(text: str) -> str:
    """Return the front matter of a note, its fences included."""
    end = text.find("\n---", 3)
    return text[: end + 5] if end >= 0 else ""
