"""The texts that are searched, of cards and articles, and the line that lists show of each."""

from __future__ import annotations

import re
from typing import NamedTuple

from vault.ids import CardId
from vault.model.card import Deck
from vault.model.markdown import plain_words, unescape
from vault.text.formatting import clean_line, folded

SHOWN = 200  # characters of a question that a list has
_MOST = 200_000  # characters of one text that are searched
_TITLE = re.compile(r"^# +(.+?)[ \t]*$", re.MULTILINE)
_ALIASES = re.compile(r"^aliases:.*(?:\n(?:[ \t]|-).*)*", re.MULTILINE)
_TAGS = re.compile(r"^tags:.*(?:\n(?:[ \t]|-).*)*", re.MULTILINE)


class Text(NamedTuple):
    """The words of a card or an article, folded, and the line that lists show."""

    words: str
    shown: str


def of_deck(deck: Deck) -> dict[CardId, Text]:
    """Return the texts of the cards of a deck."""
    about = f"{unescape(deck.title)} \n{deck.path} {_values(_TAGS, _front(deck.text))}"
    found: dict[CardId, Text] = {}
    for card in deck.cards:
        if card.id is not None:
            kind = card.kind.value if card.kind else ""
            words = folded(f"{plain_words(card.question)}\n{plain_words(card.answer)}\n{kind} {card.id} {about}")
            found.setdefault(card.id, Text(words[:_MOST], shown_line(card.question)))
    return found


def of_article(path: str, text: str) -> Text:
    """Return the text of an article."""
    front = _front(text)
    body = text[len(front) :]
    title = _TITLE.search(body)
    name = clean_line(unescape(title[1])) if title else clean_line(path.rsplit("/", 1)[-1].removesuffix(".md"))
    about = f"{name}\n{_values(_ALIASES, front)} {_values(_TAGS, front)} {path}"
    return Text(folded(f"{about}\n{plain_words(body)}"[:_MOST]), name[:SHOWN])


def shown_line(question: str) -> str:
    """Return the beginning of a question on one line."""
    return clean_line(plain_words(question[: SHOWN * 2]))[:SHOWN]


def _front(text: str) -> str:
    """Return the front matter of a text."""
    end = text.find("\n---", 3) if text.startswith("---") else -1
    return text[: end + 4] if end > 0 else ""


def _values(key: re.Pattern[str], front: str) -> str:
    """Return the values of a key in the front matter, without parsing YAML: good enough to search."""
    found = key.search(front)
    return found[0].partition(":")[2] if found else ""
