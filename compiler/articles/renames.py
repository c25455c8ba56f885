"""Articles and decks whose concept was renamed or merged: which stay where they are, and where the others go."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from compiler.cards.decks import Kinds, is_edited
from compiler.concepts.rulings import Rulings, last
from vault.ids import CardId, ConceptId
from vault.layout import CONCEPTS, FLASHCARDS
from vault.log.ledger import Event, Ids
from vault.model.card import parse_deck
from vault.model.frontmatter import human_edited
from vault.model.gaps import GapKind

TextOf = Callable[[str], str | None]


def concepts_to_stay(
    ids: Ids, rulings: Rulings, text_of: TextOf, known: Kinds, agents: Iterable[str]
) -> frozenset[ConceptId]:
    """Return the concepts that keep their path under another name: their article or deck was edited.

    `agents` are the paths of pages that an agent wrote. Nothing is looked up for a concept whose name stays.
    """
    kept = set(agents)
    found = set()
    for id_, birth in ids.births.items():
        if birth.noun != "concept" or not birth.slug:
            continue
        name = rulings.names.get(ConceptId(id_)) or ids.first_name(id_)
        if name != birth.name and (f"{CONCEPTS}/{birth.slug}.md" in kept or _is_edited(birth.slug, text_of, known)):
            found.add(ConceptId(id_))
    return frozenset(found)


def _is_edited(slug: str, text_of: TextOf, known: Kinds) -> bool:
    """Return whether the user edited the article or deck of a slug."""
    article, path = text_of(f"{CONCEPTS}/{slug}.md"), f"{FLASHCARDS}/{slug}.md"
    if article is not None and human_edited(article):
        return True
    deck = text_of(path)
    return deck is not None and is_edited(deck, path, known)


def new_paths(ids: Ids, folder: str) -> dict[str, str]:
    """Return the former path in `folder` of each renamed or merged concept, with the path of what it is now."""
    found = ids.former_slugs("concept")
    found |= {ids.births[i].slug: i for i in ids.merged if i in ids.births and ids.births[i].noun == "concept"}
    out = {}
    for slug, id_ in found.items():
        heir = last(ids.merged, id_)
        if slug and heir in ids.births and ids.births[heir].slug != slug:
            out[f"{folder}/{slug}.md"] = f"{folder}/{ids.births[heir].slug}.md"
    return out


def with_former_pages(text_of: TextOf, ids: Ids) -> TextOf:
    """Return `text_of`, which for the page or deck of a renamed concept gives the text at its former path."""
    before: dict[str, list[str]] = {}
    for slug, id_ in ids.former_slugs("concept").items():
        for folder in (CONCEPTS, FLASHCARDS):
            before.setdefault(f"{folder}/{ids.births[id_].slug}.md", []).append(f"{folder}/{slug}.md")

    def text(path: str) -> str | None:
        found = text_of(path)
        others = (text_of(p) for p in sorted(before.get(path, ())))
        return found if found is not None else next((t for t in others if t is not None), None)

    return text


def edited_cards(text: str, path: str, known: Kinds) -> list[CardId]:
    """Return the cards of a deck that the user reworded or wrote: they stay, whatever becomes of the concept."""
    cards = parse_deck(text, path).cards
    return [c.id for c in cards if c.id is not None and (c.human_edited or c.id not in known)]


def decks_of_cards(events: Iterable[Event], ids: Ids) -> dict[CardId, set[str]]:
    """Return for each card the decks into which the machine ever put it: those of its concepts."""
    found: dict[CardId, set[str]] = {}
    for event in events:
        if event.get("of") == "card" and event.get("type") in ("birth", "change"):
            birth = ids.births.get(str(event.get("concept")))
            if birth is not None:
                found.setdefault(CardId(str(event.get("id"))), set()).add(f"{FLASHCARDS}/{birth.slug}.md")
    return found


def undone_cards(events: Iterable[Event], rulings: Rulings, ids: Ids) -> frozenset[CardId]:
    """Return the cards that came from a decision that was undone, and that no later build changed.

    `events` are those of the ids, in order.
    """
    born: dict[str, bool] = {}
    for event in events if rulings.undone else ():
        if event.get("of") != "card" or event.get("type") not in ("birth", "change"):
            continue
        id_, at, concept = str(event.get("id")), str(event.get("at")), str(event.get("concept"))
        new = rulings.was_undone(at, concept) or (concept in ids.births and rulings.was_undone(ids.births[concept].at))
        born[id_] = new and rulings.was_undone(at) and (event["type"] == "birth" or born.get(id_, False))
    return frozenset(CardId(id_) for id_, undone in born.items() if undone)


def before_undone(known: Event, rulings: Rulings, events: Iterable[Event]) -> Event:
    """Return the change event of a concept or topic as if the undone decisions had never been made."""
    at = str(known.get("at"))
    if not rulings.was_undone(at):
        return known
    of = [e for e in events if e.get("id") == known["id"] and e.get("type") == "change"]
    before = next((e for e in reversed(of) if not rulings.was_undone(str(e.get("at")))), {})
    # Who else was in a topic meanwhile cannot be distinguished from who came with the decision: it is as it was before.
    return before if known.get("of") == "topic" or rulings.was_undone(at, str(known["id"])) else known


def is_undone_gap(birth: Event, rulings: Rulings) -> bool:
    """Return whether a gap came from a decision that was undone since: that it is gone says nothing of sources."""
    kind, _, rest = str(birth.get("key")).partition(":")
    concept = rest.partition(":")[0] if kind == GapKind.EPISTEMIC else ""
    return rulings.was_undone(str(birth.get("at")), concept)
