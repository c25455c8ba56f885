"""Rules on what the ledger and the files say of each other, and on sources that are not as they were compiled."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress

from compiler.lint.wiki import Page, Wiki
from compiler.pages.summaries import MAX_SUMMARY
from vault.errors import Damaged, Refused
from vault.layout import CONCEPTS, FLASHCARDS, SUMMARIES, TOPICS
from vault.log.ledger import EDITS, IDS, deleted_cards
from vault.text.formatting import clean_line, truncate

Found = Iterator[tuple[str, int, str, str]]
_AGAIN = "run `retain compile`; if it was lost in a merge, restore it from git"
_FOLDERS = {"concept": CONCEPTS, "topic": TOPICS, "source": SUMMARIES}
_QUOTED = 60  # characters of a quote or question in a finding


def without_file(wiki: Wiki) -> Found:
    """Yield what the ledger has as current and no file holds: pages, claims and cards."""
    ids, gone = wiki.ids, set()
    there = {page.path for page in wiki.pages} | set(wiki.unreadable)
    for id_, birth in ids.births.items():
        folder = _FOLDERS.get(birth.noun)
        if folder is None or not birth.slug or not ids.alive(id_) or id_ not in ids.changed:
            continue
        path = f"{folder}/{birth.slug}.md"
        if path not in there and (birth.noun != "source" or _has_claims(wiki, id_)):
            gone.add(id_)
            yield path, 0, f"this {birth.noun} is recorded as current in ledger/, but its page no longer exists", _AGAIN
    yield from _lost_claims(wiki, gone)
    yield from _lost_cards(wiki)


def _has_claims(wiki: Wiki, source: str) -> bool:
    """Return whether the ledger has current claims of a source: a picture has none, and no page."""
    return source in wiki.claims_of_ledger


def _lost_claims(wiki: Wiki, gone: set[str]) -> Found:
    """Yield claims of pages that are there, but for pages so long that only cited claims are in them."""
    for source, claims in wiki.claims_of_ledger.items():
        birth = wiki.ids.births.get(source)
        path = f"{SUMMARIES}/{birth.slug}.md" if birth is not None else ""
        page = wiki.page_at.get(path)
        if page is None or source in gone or len(page.text) > MAX_SUMMARY // 5:
            continue
        for id_ in sorted(claims - wiki.claims.keys()):
            quote = truncate(wiki.ids.quotes.get(id_, ""), _QUOTED)
            what = f"the claim {id_} is recorded in ledger/ but is missing from this page: “{quote}”"
            yield path, 0, what, _AGAIN


def _lost_cards(wiki: Wiki) -> Found:
    """Yield cards that no deck has and that nobody deleted with retain."""
    held = {str(card.id) for deck in wiki.decks for card in deck.cards if card.id}
    held |= deleted_cards(each for log in (EDITS, IDS) for each in wiki.vault.ledger_events(log)[0])
    for id_, birth in wiki.ids.births.items():
        if birth.noun == "card" and wiki.ids.alive(id_) and id_ not in held:
            remedy = "if you deleted it, run `retain compile` to record that; if not, restore the deck from git"
            yield FLASHCARDS, 0, f"the card {id_} is recorded in ledger/ but is not in any deck", remedy


def without_record(wiki: Wiki) -> Found:
    """Yield pages, claims and cards with an id that the ledger does not know, or that another one has too."""
    births = wiki.ids.births
    seen: dict[str, str] = {}
    for page in sorted(wiki.pages, key=lambda page: not _has_own_name(wiki, page)):
        id_ = page.properties.text("id")
        if not id_ or page.properties.text("written_by") == "agent":
            continue
        if id_ in seen:
            yield page.path, 0, f"{seen[id_]} has the same id, {clean_line(id_)}", "delete the copy"
        elif id_ not in births:
            yield page.path, 0, f"its id {clean_line(id_)} is not recorded in ledger/", _unknown(page)
        seen.setdefault(id_, page.path)
    yield from _claims(wiki)
    yield from _recorded_twice(wiki)
    cards: dict[str, str] = {}
    for deck in wiki.decks_originals_first:
        for card in deck.cards:
            id_ = str(card.id or "")
            if id_ in cards:
                yield deck.path, card.line, f"the card {id_} is also in {cards[id_]}", "delete one of the two"
            elif id_ and id_ not in births:
                remedy = "delete its comment `%% card ... %%`; the card will get a new id"
                yield deck.path, card.line, f"the card {id_} is not recorded in ledger/", remedy
            if id_:
                cards.setdefault(id_, deck.path)


def _has_own_name(wiki: Wiki, page: Page) -> bool:
    """Return whether a page has the file name that the ledger has for it, so that it is no copy of the page."""
    birth = wiki.ids.births.get(page.properties.text("id"))
    return birth is not None and page.path == f"{_FOLDERS.get(birth.noun)}/{birth.slug}.md"


def _claims(wiki: Wiki) -> Found:
    """Yield claims with an id that the ledger does not know, or that a claim before them has."""
    seen: dict[str, tuple[str, int]] = {}
    pages: set[str] = set()  # copies of pages are named as such
    for path, summary in wiki.summaries.items():
        page = summary.properties.text("id")
        for located in summary.claims if page not in pages or not page else ():
            id_ = str(located.claim.id)
            if id_ in seen:
                first = ":".join(map(str, seen[id_]))
                yield path, located.line, f"the claim {id_} is also at {first}", "delete the copy"
            elif id_ not in wiki.ids.births:
                what = f"the claim {id_} is not recorded in ledger/"
                yield path, located.line, what, "run `retain compile` to remove it"
            seen.setdefault(id_, (path, located.line))
        pages.add(page)


def _recorded_twice(wiki: Wiki) -> Found:
    """Yield the ids that the ledger has given to two things, as a copied line or a bad merge does."""
    first: dict[str, tuple[object, ...]] = {}
    for event in wiki.id_events:
        if event.get("type") != "birth":
            continue
        id_, what = str(event.get("id")), (event.get("of"), event.get("key"))
        if first.setdefault(id_, what) != what:
            remedy = f"restore {IDS} from git, or delete the line that does not belong there"
            yield (
                IDS,
                0,
                f"the id {clean_line(id_)} is recorded for two things: {_named(*first[id_])}, {_named(*what)}",
                remedy,
            )


def _named(noun: object, key: object) -> str:
    return f"{clean_line(str(noun))} {truncate(clean_line(str(key)), _QUOTED)}"


def _unknown(page: Page) -> str:
    return f"restore {IDS} from git; a page of your own needs no `id`"


def changed_source(wiki: Wiki) -> Found:
    """Yield sources whose file is gone or is not what was compiled."""
    for path, summary in wiki.summaries.items():
        if summary.properties.problems:  # reported as unreadable
            continue
        raw = summary.properties.text("source")
        digest = _digest(wiki, raw)
        if not digest:
            yield (
                path,
                0,
                f"its source {clean_line(raw) or '(none given)'} no longer exists",
                "run `retain compile` to retract it",
            )
        elif digest != summary.properties.text("source_sha256"):
            yield path, 0, f"its source {clean_line(raw)} has changed since it was compiled", "run `retain compile`"


def _digest(wiki: Wiki, raw: str) -> str:
    """Return the SHA-256 of a source's file; "" if it is not there or cannot be read."""
    if not wiki.vault.is_source(raw):
        return ""
    with suppress(OSError, Refused, Damaged):
        data = wiki.vault.read_bytes(raw)
        return hashlib.sha256(data).hexdigest() if data is not None else ""
    return ""
