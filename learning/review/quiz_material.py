"""The material of a quiz on a topic: its articles in plain words, and the questions of their cards."""

from __future__ import annotations

import re
from contextlib import suppress

from learning.store.topics import topic_named, topics
from vault.errors import NotFound, RetainError
from vault.layout import CONCEPTS, FLASHCARDS
from vault.log.grading import Reading
from vault.model import latex
from vault.model.article import sentences
from vault.model.markdown import unescape
from vault.text.formatting import clean_line
from vault.vault import Vault

MOST = 12  # articles of one quiz: a topic may list hundreds
_TITLE = re.compile(r"^# +(.+?)[ \t]*$", re.MULTILINE)


def readings(vault: Vault, wanted: str) -> tuple[str, tuple[Reading, ...]]:
    """Return the name of the topic or concept that `wanted` means, and its articles.

    Raises: NotFound, which names near ones; Damaged, Refused.
    """
    concept = _concept_named(vault, wanted)
    if concept is not None:
        reading = _reading(vault, concept)
        if reading is not None:
            return reading.title, (reading,)
    name, members = topic_named(wanted, topics(vault))
    found = [reading for stem in members[:MOST] if (reading := _reading(vault, stem)) is not None]
    if not found:
        raise NotFound(
            "none of the articles in this topic can be read", where=name, hint="`retain compile` writes them"
        )
    return name, tuple(found)


def _concept_named(vault: Vault, wanted: str) -> str | None:
    """Return the stem of the concept whose article has this name; None if there is none."""
    key = clean_line(wanted).casefold()
    stems = [path.rsplit("/", 1)[-1].removesuffix(".md") for path in vault.paths(CONCEPTS, ".md")]
    slug = re.sub(r"[\W_]+", "-", key).strip("-")
    found = next((stem for stem in stems if stem.casefold() in (key, slug)), None)
    if found is not None:
        return found
    return next((stem for stem in stems if _title(_text(vault, stem)).casefold() == key), None)


def _text(vault: Vault, stem: str) -> str:
    """Return the article's text; "" for one that cannot be read."""
    with suppress(RetainError):
        return vault.read_text(f"{CONCEPTS}/{stem}.md") or ""
    return ""


def _title(text: str) -> str:
    """Return the title of an article."""
    found = _TITLE.search(text)
    return clean_line(unescape(found[1])) if found else ""


def _reading(vault: Vault, stem: str) -> Reading | None:
    """Return the article of a concept for a quiz; None without a text."""
    path = f"{CONCEPTS}/{stem}.md"
    text = vault.read_text(path)
    said = " ".join(latex.words(each.text) for each in sentences(text or ""))
    if text is None or not said:
        return None
    deck = vault.deck(f"{FLASHCARDS}/{stem}.md")
    asked = tuple(clean_line(latex.text(card.question)) for card in deck.cards) if deck is not None else ()
    return Reading(path, _title(text) or stem, said, asked)
