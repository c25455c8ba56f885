"""Mochi's exports (`.mochi`): a zip with `data.json` in Transit or `data.edn`, and the attachments.

Front and back are parted by a line `---`; `{{words}}` and `{{1::words}}` are clozes. A card of a template has fields,
which fill the template's text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Any

from learning.foreign.cards import ForeignCard, Learnt, PastReview, Reading, Schedule, schedule_of_ease
from learning.foreign.packages import Zip
from learning.foreign.transit import read_edn, read_transit
from learning.foreign.tree import MAX_TEXT, unique_key
from vault.errors import Unreadable
from vault.log.events import Rating
from vault.model.card import REVERSED
from vault.text.formatting import clean_line

ENTRIES = ("data.json", "data.edn")
_RULE = re.compile(r"^[ \t]*---[ \t]*$", re.MULTILINE)
_DELETION = re.compile(r"\{\{(?:(?P<number>\d{1,3})::)?(?P<words>[^{}]+?)\}\}")
_FIELD = re.compile(r"<<\s*(?P<name>[^<>]+?)\s*>>")
_TAG = re.compile(r"(?:^|(?<=\s))#([\w/-]+)")
_GROWTH = 2.0  # of the interval when a card is remembered: what Mochi begins with


def read(package: Zip, zone: tzinfo) -> Reading:
    """Return the cards of an export. Raises: Unreadable."""
    reading = Reading(pictures=lambda name, base: package.picture(name))
    data = _data(package)
    decks = {str(deck.get("id", "")): deck for deck in _dicts(data, "decks")}
    templates = {str(each.get("id", "")): each for each in _dicts(data, "templates")}
    keys: dict[str, int] = {}
    for number, (card, deck) in enumerate(_every(data), 1):
        found = _card(card, _deck_name(deck, decks), templates, number, package.shown, zone, reading)
        if found is not None:
            reading.cards.append(unique_key(found, keys))
    return reading


def _data(package: Zip) -> Mapping[str, Any]:
    """Return what the package holds."""
    name = next(name for name in ENTRIES if name in package.names)
    try:
        text = package.read(name, MAX_TEXT).decode()
        data = read_transit(json.loads(text)) if name == "data.json" else read_edn(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(
            f"{name} cannot be read: {error}"[:200], where=package.shown, hint="export it again"
        ) from error
    if not isinstance(data, dict):
        raise Unreadable(f"{name} contains no decks", where=package.shown)
    return data


def _dicts(data: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = data.get(key)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _every(data: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any] | str]]:
    """Yield (card, its deck or the deck's id), of decks and beside them."""
    for deck in _dicts(data, "decks"):
        for card in _dicts(deck, "cards"):
            yield card, deck
    for card in _dicts(data, "cards"):
        yield card, str(card.get("deck-id", ""))


def _deck_name(deck: Mapping[str, Any] | str, decks: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the deck's name, those above it first."""
    names: list[str] = []
    found = decks.get(deck) if isinstance(deck, str) else deck
    while found is not None and len(names) < 20:
        names.append(clean_line(str(found.get("name", "")))[:60] or "Mochi")
        found = decks.get(str(found.get("parent-id", "")))
    return "::".join(reversed(names)) or "Mochi"


def _card(
    card: Mapping[str, Any],
    deck: str,
    templates: Mapping[str, Mapping[str, Any]],
    number: int,
    shown: str,
    zone: tzinfo,
    reading: Reading,
) -> ForeignCard | None:
    """Return a card; None for one in the trash, and, with a problem, for one that asks nothing."""
    if card.get("trashed?"):
        return None
    content = _content(card, templates)
    key = str(card.get("id", "")) or content
    sides = [side.strip() for side in _RULE.split(content)]
    question, answer = sides[0], "\n\n".join(filter(None, sides[1:]))
    learnt, where = _learnt(card, zone), f"{shown}, card {clean_line(key)[:40]}"
    tags = tuple(dict.fromkeys([*map(str, card.get("tags") or ()), *_TAG.findall(content)]))
    text = _cloze(content)
    if text is not None and not (question and answer and "{{" not in question):
        known = {f"c{n}": learnt for n in (1,)} if learnt else {}
        return ForeignCard(key, text, None, shown, number, deck, tags, learnt=known)
    if not question or not answer:
        reading.add_problem(
            shown, number, f"{where} has no {'back' if question else 'front'}: it is a note, not a card"
        )
        return None
    both = bool(card.get("review-reverse?"))
    return (
        ForeignCard(key, question, answer, shown, number, deck, tags, both, learnt={"": learnt} if learnt else {})
        if not both or not learnt
        else ForeignCard(
            key,
            question,
            answer,
            shown,
            number,
            deck,
            tags,
            both,
            learnt={"": learnt, REVERSED: Learnt(learnt.schedule)},
        )
    )


def _content(card: Mapping[str, Any], templates: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the Markdown of a card, that of its template filled with its fields."""
    template = templates.get(str(card.get("template-id", "")))
    fields = card.get("fields")
    if template is None or not isinstance(fields, dict):
        return str(card.get("content") or card.get("name") or "").replace("\r\n", "\n")
    values = {
        str(name): str(value.get("value", "") if isinstance(value, dict) else value) for name, value in fields.items()
    }
    of_template = template.get("fields")
    for name, each in of_template.items() if isinstance(of_template, dict) else ():
        if isinstance(each, dict):
            values.setdefault(str(each.get("name", "")), values.get(str(name), ""))
    values = {name.casefold(): value for name, value in values.items()}
    return _FIELD.sub(lambda m: values.get(m["name"].casefold(), ""), str(template.get("content", "")))


def _cloze(content: str) -> str | None:
    """Return the text with Anki's marks; None where it hides nothing. Deletions without a number go together."""
    if not _DELETION.search(content):
        return None
    return _DELETION.sub(lambda m: f"{{{{c{int(m['number'] or 1) or 1}::{m['words']}}}}}", _RULE.sub("", content))


def _learnt(card: Mapping[str, Any], zone: tzinfo) -> Learnt | None:
    """Return what Mochi knows of a card; None for a new one."""
    reviews: list[PastReview] = []
    schedule: Schedule | None = None
    lapses = 0
    for each in _dicts(card, "reviews"):
        at, due = each.get("date"), each.get("due")
        if not isinstance(at, datetime) or at.tzinfo is None:
            continue
        remembered, days = each.get("remembered?") is True, each.get("interval", 0)
        lapses += not remembered
        interval = int(days) if isinstance(days, int | float) and 0 <= days < 36_500 else 0
        rating = Rating.GOOD if remembered else Rating.AGAIN
        reviews.append(PastReview(at, rating, f"{card.get('id', '')}:{at.isoformat()}", interval_days=interval))
        if isinstance(due, datetime) and due.tzinfo is not None:
            day = due.astimezone(zone).date()
            schedule = schedule_of_ease(day, max(interval, 1), _GROWTH, len(reviews), lapses)
    suspended = bool(card.get("archived?"))
    return Learnt(schedule, tuple(reviews), suspended) if reviews or suspended else None
