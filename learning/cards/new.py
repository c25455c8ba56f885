"""New cards made by hand: a question with its answer, the same both ways, or a text with cloze deletions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from learning.cards import actions
from learning.cards.edit import Words, checked_words
from learning.cards.lookup import find_subject
from learning.cards.workspace import Desk, open_desk
from learning.store.cards import read_cards
from learning.store.index import with_open_index
from learning.store.placed import concept_of
from learning.store.siblings import OWN_DECK
from vault.audit.agent_runs import refuse_beside_agents
from vault.errors import NotFound, Refused, UsageError
from vault.files.guard import Scope, sha256_hex
from vault.ids import ALPHABET, CardId, ClaimId, free_slug, mint
from vault.layout import CONCEPTS, FLASHCARDS, SUMMARIES
from vault.log import ledger
from vault.model.card import REVERSED, Card, CardKind, Deck, append_block, parse_deck, render_block, split_quote
from vault.model.cloze import numbers_in
from vault.model.frontmatter import Value, read_properties, render_note
from vault.model.markdown import escape
from vault.model.wikilink import Citation, note_link, raw_link
from vault.process.signals import unbroken
from vault.text.formatting import clean_line, truncate
from vault.text.urls import normalize_address
from vault.vault import Vault

DEFAULT_DECK = "My cards"
MAX_DECK_NAME = 100  # characters
_CLAIM = re.compile(rf"\^?(?:c-)?([{ALPHABET}]{{10}})")


@dataclass(frozen=True, slots=True)
class Draft:
    """A card as the user writes it. A cloze has its text in `words`, and no answer.

    `deck` is the name of a deck or concept, or of a deck to be made; `source` is a claim's id, the vault path of a
    file, an address, or any words.
    """

    words: Words
    is_reversed: bool = False
    kind: CardKind | None = None
    deck: str = ""
    tags: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True)
class Added:
    """The cards that were made of a draft, and their deck. `alike` is a card there that asks the same already."""

    cards: tuple[CardId, ...]
    path: str
    title: str
    is_new_deck: bool = False
    alike: CardId | None = None


def add_card(vault: Vault, draft: Draft, now: datetime, *, via: str) -> tuple[Added, Desk]:
    """Write the cards of a draft into its deck; return them, and the desk with them.

    Raises: Refused for words that no deck can hold; UsageError for a name that is ambiguous or a tag that is none;
    LockHeld or Refused while an agent works; WriteFailed.
    """
    refuse_beside_agents(vault)
    tags = tuple(map(actions.tag_of, draft.tags))
    words = checked_words(draft.words.question, draft.words.answer)
    if words.answer is None and draft.is_reversed:
        raise UsageError(
            "a cloze cannot be reversed", hint="use a separate cloze deletion for each direction: {{c1::}} {{c2::}}"
        )
    deck, is_new = _deck_of(vault, draft.deck)
    support, note = _source(vault, draft.source, deck)
    words = (
        replace(words, question=words.question + note)
        if words.answer is None
        else replace(words, answer=words.answer + note)
    )
    asked = split_quote(words.question)[0]  # without the note that names the source
    alike = next((card.id for card in deck.cards if card.id and split_quote(card.block_words[0])[0] == asked), None)
    events, _ = vault.ledger_events(ledger.IDS)
    taken = {str(event.get("id")) for event in events}
    cards = _with_ids(vault, _cards_of(words, draft), deck.path, taken, now)
    block = render_block(words.question, words.answer, support, cards)
    after = parse_deck(append_block(deck.text, deck.path, block, draft.kind), deck.path)
    _require_only_added(deck, after, cards)
    head = {"v": 1, "type": "birth", "of": "card"}
    births = [head | {"id": c.id, "at": ledger.instant(now), "key": f"human:{c.id}"} for c in cards]
    guard = vault.guard(Scope.LOG)
    with unbroken():  # the ledger and the deck
        guard.append(ledger.IDS, b"".join(map(ledger.encode, births)))
        guard.write(deck.path, after.text.encode(), expect=None if is_new else sha256_hex(deck.text.encode()))
    desk = open_desk(vault, now, queued=False)
    ids = tuple(CardId(str(card.id)) for card in cards)
    if tags:
        desk = actions.do(desk, actions.tagging(desk, ids, tags, via=via))
    return Added(ids, deck.path, after.title, is_new, alike), desk


def _cards_of(words: Words, draft: Draft) -> list[Card]:
    """Return the cards of the draft's block, without ids."""
    if words.answer is None:
        return [Card(draft.kind, "", "", variant=f"c{n}") for n in numbers_in(words.question)]
    basic = Card(draft.kind, "", "")
    return [basic, replace(basic, variant=REVERSED)] if draft.is_reversed else [basic]


def _with_ids(vault: Vault, cards: Sequence[Card], path: str, taken: set[str], now: datetime) -> list[Card]:
    """Return the cards with new ids."""
    found = []
    for card in cards:
        birth = f"{vault.settings.vault_id}\x1f{path}\x1f{card.variant}\x1f{ledger.instant(now)}"
        id_ = CardId(mint("card", birth, taken))
        taken.add(id_)
        found.append(replace(card, id=id_))
    return found


def _require_only_added(before: Deck, after: Deck, cards: Iterable[Card]) -> None:
    """Raise Refused unless `after` holds the cards of `before`, these, and nothing else."""
    new = {card.id for card in cards}
    others = [(c.id, c.kind, c.question, c.answer) for c in after.cards if c.id not in new]
    is_whole = new == {c.id for c in after.cards} - {c.id for c in before.cards}
    if not is_whole or others != [(c.id, c.kind, c.question, c.answer) for c in before.cards]:
        hint = f"look for an unclosed code fence in {before.path}, or shorten the card"
        raise Refused("with this card, the deck could no longer be read correctly", where=before.path, hint=hint)


# --- the deck -------------------------------------------------------------------------------------------------------


def _deck_of(vault: Vault, name: str) -> tuple[Deck, bool]:
    """Return the deck of that name, which may not be in the vault yet, and whether it is not."""
    name = clean_line(name) or DEFAULT_DECK
    if len(name) > MAX_DECK_NAME:
        raise UsageError("the name of the deck is too long", where=truncate(name, 60))
    if (path := _path_of(vault, name)) and (found := vault.deck(path)) is not None:
        return found, False
    try:
        subject = find_subject(vault, name)
    except NotFound:
        return _new_deck(vault, name), True
    path = f"{FLASHCARDS}/{subject.stem}.md"
    if (found := vault.deck(path)) is not None:
        return found, False
    link = note_link(subject.path, subject.title)
    front: dict[str, Value] = {"type": "flashcards", "concept": subject.concept, "article": link}
    return parse_deck(_deck_text(front, subject.title), path), True


def _path_of(vault: Vault, name: str) -> str:
    """Return the path of the one deck that has this title or path; "" if none has, or several have."""
    places = with_open_index(vault, lambda index: read_cards(vault, index).titles())
    found = [path for path, title in places if path == name or title.casefold() == name.casefold()]
    return found[0] if len(found) == 1 else ""


def _new_deck(vault: Vault, name: str) -> Deck:
    """Return a deck of the user's own, without cards."""
    taken = {concept_of(path).casefold() for folder in (FLASHCARDS, CONCEPTS) for path in vault.paths(folder, ".md")}
    stem = free_slug(name, mint("deck", name), taken)
    return parse_deck(_deck_text({"type": "flashcards", OWN_DECK: name}, name), f"{FLASHCARDS}/{stem}.md")


def _deck_text(front: dict[str, Value], title: str) -> str:
    return render_note(front, f"\n# {escape(title)}\n")


# --- the source -----------------------------------------------------------------------------------------------------


def _source(vault: Vault, source: str, deck: Deck) -> tuple[tuple[Citation, ...], str]:
    """Return the citation of the claim that `source` names, or what stands below the answer about it."""
    source = clean_line(source)
    if not source:
        return (), ""
    if named := _CLAIM.fullmatch(source):
        cite = _citation(vault, ClaimId(named[1]), deck)
        if cite is not None:
            return (cite,), ""
    return (), f"\n> Source: {_link(vault, source)}"


def _citation(vault: Vault, claim: ClaimId, deck: Deck) -> Citation | None:
    """Return the citation of a claim, numbered as in the article of the deck; None if there is no such claim."""
    mark = f"^c-{claim}".encode()
    for path in vault.paths(SUMMARIES, ".md"):
        if mark not in (vault.read_bytes(path) or b"").split():
            continue
        summary = path.removesuffix(".md")
        article = vault.read_text(f"{CONCEPTS}/{concept_of(deck.path)}.md") or ""
        places = [n for n, link in enumerate(read_properties(article).texts("sources"), 1) if f"[[{summary}|" in link]
        return Citation(summary, claim, places[0] if places else 1)
    return None


def _link(vault: Vault, source: str) -> str:
    """Return a source as Markdown: a link to a file of the vault, an address, or plain words."""
    note = vault.note_path(source)
    if note or source.startswith(("raw/", "wiki/", "insights/")):
        path = note or next((each for each in (source, f"{source}.md") if vault.has_file(each)), "")
        if not path:
            raise UsageError("no such file in the vault", where=source, hint="give its path relative to the vault")
        name = path.rsplit("/", 1)[-1]
        return note_link(path, name.removesuffix(".md")) if path.startswith("wiki/") else raw_link(path, name)
    try:
        return f"<{normalize_address(source)}>"
    except UsageError:
        return escape(source)
