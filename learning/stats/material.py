"""The cards, reviews and topics of a vault, as figures are computed from them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from learning.cards.workspace import Desk
from learning.memory.predictions import columns_of_cards
from learning.stats.mastery import Studied
from learning.stats.stats import CardNews, Material
from learning.store.placed import concept_of
from learning.store.topics import topics
from vault.ids import CardId
from vault.log import ledger
from vault.log.review_columns import ReviewColumns
from vault.text.formatting import clean_line, short_title

_NEWS = {"birth": "added", "change": "reworded"}


def studied(desk: Desk) -> tuple[Studied, ...]:
    """Return the cards of a desk, in its order."""
    tags = {card: found for cards, found in desk.cards.tags() if found for card in cards}
    own = desk.past.states.tagged()
    out = []
    for card, place in desk.cards.places().items():
        mine = dict.fromkeys(clean_line(tag.removeprefix("#")) for tag in (*tags.get(card, ()), *own.get(card, ())))
        out.append(Studied(card, concept_of(place.path), short_title(place.title), place.kind, tuple(mine)))
    return tuple(out)


def material_of(desk: Desk) -> Material:
    """Return all that figures are computed from. Raises: SchemaTooNew, Refused or Damaged, as the log is read."""
    return with_reviews(without_reviews(desk), desk)


def with_reviews(material: Material, desk: Desk) -> Material:
    """Return `material` with the reviews of the log. Raises as `material_of`."""
    return replace(material, columns=desk.past.reviews())


def without_reviews(desk: Desk) -> Material:
    """Return what figures need that is in no review. Raises as `card_news`."""
    return Material(
        studied(desk),
        ReviewColumns(),
        desk.past.states.with_all(),
        topics(desk.vault),
        card_news(desk),
        desk.vault.settings.leech_threshold,
        desk.changes,
    )


def card_news(desk: Desk) -> tuple[CardNews, ...]:
    """Return the ledger's events on the desk's cards: additions, changes of text and retractions."""
    reported = [CardNews(change.card, change.type, change.at) for change in desk.changes]
    other = {(news.card, news.at) for news in reported}
    data = desk.vault.read_bytes(ledger.IDS) or b""
    lines = b"\n".join(line for line in data.split(b"\n") if b'"card"' in line)
    for event in ledger.decode(lines, ledger.IDS)[0]:
        card, at = CardId(str(event.get("id"))), ledger.parse_instant(event["at"])
        if event.get("of") == "card" and event["type"] in _NEWS and (card, at) not in other:
            reported.append(CardNews(card, _NEWS[event["type"]], at))
    return tuple(reported)


def narrowed(material: Material, stems: Collection[str] | None = None, tag: str = "") -> Material:
    """Return the part that belongs to the concepts `stems`, if given, and has the tag, if given."""
    key = tag.removeprefix("#").casefold()
    cards = [
        card
        for card in material.cards
        if (stems is None or card.concept in stems) and (not key or key in map(str.casefold, card.tags))
    ]
    ids = {card.card for card in cards}
    news = [one for one in material.news if one.card in ids]
    return replace(material, cards=cards, columns=columns_of_cards(material.columns, ids), news=news, narrowed=True)
