"""The cards, reviews and topics of a vault, as figures are computed from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime
from functools import partial

from learning.cards.workspace import Desk
from learning.history.due import due_instants
from learning.stats.mastery import Studied
from learning.stats.news import lines_of_days
from learning.stats.stats import WEEK, CardNews, Material
from learning.store.cards import path_of
from learning.store.placed import concept_of
from learning.store.topics import topics
from vault.ids import CardId
from vault.log import ledger
from vault.text.formatting import clean_line, short_title

_NEWS = {"birth": "added", "change": "reworded"}


def studied(desk: Desk) -> tuple[Studied, ...]:
    """Return the cards of a desk, in its order."""
    own = desk.past.states.tagged()
    out = []
    for name, title, tags, cards in desk.cards.decks():
        concept, title, tags = concept_of(path_of(name)), short_title(title), _plain(tags)
        out += [
            Studied(card, concept, title, kind, _plain((*tags, *own[card])) if card in own else tags)
            for card, kind in cards
        ]
    return tuple(out)


def _plain(tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags as they are shown, each once."""
    return tuple(dict.fromkeys(clean_line(tag.removeprefix("#")) for tag in tags))


def material_of(desk: Desk) -> Material:
    """Return all that figures are computed from. Raises as `card_news`."""
    states, calendar = desk.past.states.facts(), desk.scheduler.calendar
    since = calendar.start(calendar.day(desk.now) - WEEK + 1)
    return Material(
        studied(desk),
        desk.past.reviews,
        states,
        topics(desk.vault),
        partial(due_instants, desk.cards),
        desk.past.day_sums,
        card_news(desk, since),
        desk.vault.settings.leech_threshold,
        desk.changes,
        desk.past.decisions.paused_days(),
    )


def card_news(desk: Desk, since: datetime | None = None) -> tuple[CardNews, ...]:
    """Return the ledger's events on the desk's cards: additions, changes of text and retractions.

    With `since`, only those of the days from then until now.
    """
    reported = [CardNews(change.card, change.type, change.at) for change in desk.changes]
    other = {(news.card, news.at) for news in reported}
    data = desk.vault.read_bytes(ledger.IDS) or b""
    if since is not None:
        data = lines_of_days(data, since, desk.now)
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

    def due(end: datetime) -> Iterable[tuple[CardId, datetime]]:
        return ((card, at) for card, at in material.due(end) if card in ids)

    return replace(material, cards=cards, news=news, due=due, sums=None, narrowed=True)
