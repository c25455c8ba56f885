"""Which pictures belong to a card on the table: those in its words, then those that its sources show with them."""

from __future__ import annotations

from collections.abc import Iterable

from vault.evidence.evidence import Evidence
from vault.model.card import Card
from vault.model.exhibit import ExhibitKind, embedded_assets


def pictures_of(card: Card, evidence: Iterable[Evidence], *, revealed: bool) -> list[str]:
    """Their paths below the vault, each once; before the answer is shown only those of the question."""
    if not revealed:
        return _in(card.question)
    shown = [
        exhibit.content
        for each in evidence
        if each.claim is not None
        for exhibit in each.claim.exhibits
        if exhibit.kind is ExhibitKind.PICTURE and exhibit.copied
    ]
    return list(dict.fromkeys([*_in(card.question), *_in(card.answer), *shown]))


def _in(words: str) -> list[str]:
    """In the order in which they stand; most cards have none, which costs nothing."""
    return sorted(embedded_assets(words), key=words.find) if "![[" in words else []
