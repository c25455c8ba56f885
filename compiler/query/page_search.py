"""Search of articles and cards by their words, for agents: it reads the files and writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compiler.gates.gates import content_words
from compiler.query.retrieve import weights
from vault.errors import Damaged, Refused
from vault.layout import CONCEPTS, TOPICS
from vault.model.frontmatter import body_of, read_properties
from vault.model.markdown import unescape
from vault.text.formatting import clean_line, fold
from vault.vault import Vault

Thing = tuple[str, str, dict[str, Any]]  # its name, which counts twice; its text; facts about it
_SHOWN = 300  # characters of a card's side, or of an article's beginning


def found_in(vault: Vault, words: str, limit: int) -> dict[str, Any]:
    """Return the articles and cards that hold the words: first those with all of them, then those with rare ones."""
    wanted = set(content_words(words))
    articles, cards = _ranked(_articles(vault), wanted, limit), _ranked(_cards(vault), wanted, limit)
    return {"articles": articles, "cards": cards}


def _ranked(things: Iterator[Thing], wanted: set[str], limit: int) -> list[dict[str, Any]]:
    """Return the things with wanted words, the best first."""
    held = [
        (wanted & set(content_words(name)), wanted & set(content_words(text)), facts) for name, text, facts in things
    ]
    weight = weights(wanted, [named | said for named, said, _ in held])
    scored = [(sum(sorted(weight[w] for w in (*named, *(named | said)))), facts) for named, said, facts in held]
    found = sorted((s for s in scored if s[0]), key=lambda s: (-s[0], str(s[1]["path"]), int(s[1]["line"])))
    return [facts for _, facts in found[:limit]]


def _articles(vault: Vault) -> Iterator[Thing]:
    """Yield the articles with their words."""
    for folder in (CONCEPTS, TOPICS):
        for path in vault.paths(folder, ".md"):
            try:
                text = vault.read_text(path) or ""
            except (Damaged, Refused):
                continue  # `retain verify` names it
            title, body = clean_line(read_properties(text).text("title")), body_of(text)
            lead = fold(unescape(body.partition("\n\n")[2]))[:_SHOWN]
            yield title, body, {"title": title, "path": path, "line": 1, "begins": lead}


def _cards(vault: Vault) -> Iterator[Thing]:
    """Yield the cards with their words."""
    for deck in vault.decks():
        for card in deck.cards:
            question, answer = fold(unescape(card.question)), fold(unescape(card.answer))
            facts = {"id": card.id, "question": question[:_SHOWN], "answer": answer[:_SHOWN]}
            yield question, answer, {**facts, "path": deck.path, "line": card.line}
