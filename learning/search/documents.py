"""The texts that are searched: the cards of each deck and each article, with one line to show of each."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass

from learning.search.segment import folded
from vault.errors import Damaged, Refused
from vault.layout import CONCEPTS, FLASHCARDS, TOPICS
from vault.model.card import Deck
from vault.model.markdown import unescape
from vault.text.formatting import clean_line
from vault.vault import Vault

FOLDERS = (FLASHCARDS, CONCEPTS, TOPICS)
SHOWN = 200  # characters of a question that a list has
_MOST = 200_000  # characters of one text that are searched
_CITATION = re.compile(r"\[\[wiki/summaries/[^\[\]|#\n]+#\^c-[0-9a-z]{10}\|\d+\]\]")
_LINK = re.compile(r"\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]+)\]\]")
_PLAIN = re.compile(r"\*\*|`|\\(?=[!-/:-@\[-`{-~])")
_TITLE = re.compile(r"^# +(.+?)[ \t]*$", re.MULTILINE)
_ALIASES = re.compile(r"^aliases:.*(?:\n(?:[ \t]|-).*)*", re.MULTILINE)
_TAGS = re.compile(r"^tags:.*(?:\n(?:[ \t]|-).*)*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Found:
    """A file as it is searched: one text and one shown line a card, or one of each for an article.

    `ids` are the ten characters of each card, "" for an article.
    """

    ids: str
    texts: tuple[str, ...]
    shown: tuple[str, ...]


NOTHING = Found("", (), ())


def read(vault: Vault, path: str) -> Found:
    """Return the file at `path` as it is now; empty where it is gone or cannot be read."""
    if path.startswith(f"{FLASHCARDS}/"):
        deck = vault.deck(path)
        return NOTHING if deck is None else of_deck(deck)
    with suppress(Damaged, Refused):
        text = vault.read_text(path)
        return NOTHING if text is None else of_article(path, text)
    return NOTHING


def of_deck(deck: Deck) -> Found:
    """Return the texts of a deck."""
    cards = [card for card in deck.cards if card.id is not None]
    front = _front(deck.text)
    about = f"{unescape(deck.title)} \n{deck.path} {_values(_TAGS, front)}"
    texts = [
        folded(
            f"{plain(card.question)}\n{plain(card.answer)}\n{card.kind.value if card.kind else ''} {card.id} {about}"
        )
        for card in cards
    ]
    shown = [shown_line(card.question) for card in cards]
    return Found("".join(str(card.id) for card in cards), tuple(text[:_MOST] for text in texts), tuple(shown))


def of_article(path: str, text: str) -> Found:
    """Return the text of an article."""
    front = _front(text)
    body = text[len(front) :]
    title = _TITLE.search(body)
    name = clean_line(unescape(title[1])) if title else clean_line(path.rsplit("/", 1)[-1].removesuffix(".md"))
    about = f"{name}\n{_values(_ALIASES, front)} {_values(_TAGS, front)} {path}"
    return Found("", (folded(f"{about}\n{plain(body)}"[:_MOST]),), (name[:SHOWN],))


def plain(markdown: str) -> str:
    """Return Markdown as the words that are read: links by their names, no citations, no emphasis."""
    return _PLAIN.sub("", _LINK.sub(r"\1", _CITATION.sub("", markdown)))


def shown_line(question: str) -> str:
    """Return the beginning of a question on one line."""
    return clean_line(plain(question[: SHOWN * 2]))[:SHOWN]


def _front(text: str) -> str:
    """Return the front matter of a text."""
    end = text.find("\n---", 3) if text.startswith("---") else -1
    return text[: end + 4] if end > 0 else ""


def _values(key: re.Pattern[str], front: str) -> str:
    """Return the values of a key in the front matter, without parsing YAML: good enough to search."""
    found = key.search(front)
    return found[0].partition(":")[2] if found else ""
