"""Edits of a card's question and answer: spliced into its deck, where every other byte stays.

What the card said before is recorded in `ledger/edits.jsonl`, so that the last edit can be undone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from learning.store.cards import read_cards
from learning.store.index import with_open_index
from vault.audit.agent_runs import at_work
from vault.errors import EditedMeanwhile, LockHeld, NotFound, Refused, RetainError
from vault.files.folder import Folder
from vault.files.guard import Scope, sha256_hex
from vault.ids import CardId
from vault.log import ledger
from vault.log.older_files import older_lines
from vault.model.card import (
    MAX_CARD,
    Card,
    Deck,
    answer_line,
    card_comment,
    leaves_fence_open,
    parse_deck,
    splice_words,
    unescaped,
)
from vault.model.cloze import numbers_in
from vault.text.formatting import clean_line
from vault.vault import Vault

_ANOTHER = "create a new card of the other kind with `retain card new`"
_SHOW = "`retain card show {}` shows its current text"


@dataclass(frozen=True, slots=True)
class Words:
    """Question and answer of a card, as Markdown; of a cloze its text, and None."""

    question: str
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Edited:
    """What an edit did to a card of the deck at `path`; `before` and `after` are the same where nothing changed."""

    card: CardId
    path: str
    before: Words
    after: Words

    @property
    def changed(self) -> bool:
        """Return whether the edit changed anything."""
        return self.before != self.after


def words_of(card: Card) -> Words:
    """Return the words of a card as its block has them."""
    return Words(*card.block_words)


def edit_card(
    vault: Vault, id_: str, question: str, answer: str | None, now: datetime, *, expect: Words | None = None
) -> Edited:
    """Give the card another question and answer; its id, history, schedule and support stay.

    `expect` is what the card said when the human began, as its deck has it: another hand may have been there since.
    Raises: NotFound; EditedMeanwhile; Refused for words that no deck can hold; LockHeld while an agent works.
    """
    if at_work(vault):
        hint = "`retain guard status` shows the run; edit the card when the run has ended"
        raise LockHeld("an agent is running; a change made now would be attributed to the agent", hint=hint)
    deck, card = found_card(vault, id_)
    if expect is not None and words_of(card) != expect:
        where = f"{deck.path}:{card.line}"
        raise EditedMeanwhile("the card was changed in the meantime", where=where, hint=_SHOW.format(card.id))
    after = edited_deck(deck, card, question, answer)
    edited = Edited(CardId(id_), deck.path, words_of(card), words_of(_of_block(after, card) or card))
    if edited.changed:
        guard = vault.guard(Scope.LOG)
        guard.write(deck.path, after.text.encode(), expect=sha256_hex(deck.text.encode()))
        with suppress(RetainError):  # the edit stands; only its way back is not at hand
            guard.append(ledger.EDITS, _line(vault, edited, now))
    return edited


def form_of(words: Words) -> str:
    """Return the words as a small form for an editor: `Q: ...` and `A: ...`, or `C: ...`, as in a deck."""
    blank = parse_deck("C: {{c1::?}}\n" if words.answer is None else "Q: ?\nA: ?\n", "form")
    return splice_words(blank.text, blank.cards[0], words.question, words.answer)


def words_in(form: str) -> Words:
    """Return what follows `Q:` and `A:`, or `C:`, in a form; text before them is ignored. Raises: Refused."""
    lines = form.removeprefix("\ufeff").splitlines()
    first = next((n for n, line in enumerate(lines) if line.startswith(("Q:", "C:"))), None)
    if first is None:
        hint = "write the question after `Q:` and the answer after `A:`, or text with {{c1::...}} after `C:`"
        raise Refused("no line begins with Q: or C:", hint=hint)
    lines = lines[first:]
    if lines[0].startswith("C:"):
        return Words(_part(lines))
    second = answer_line(lines)
    if second is None:
        raise Refused("no line begins with A:", hint="write the question after `Q:`, the answer after `A:`")
    return Words(_part(lines[:second]), _part(lines[second:]))


def _part(lines: list[str]) -> str:
    """Return the words of a part of a form, whose first line has its mark."""
    return unescaped([lines[0][2:].lstrip(), *lines[1:]])


def checked_words(question: str, answer: str | None) -> Words:
    """Return the words of a card that is not in a deck yet, as a deck holds them. Raises: Refused as `edit_card`."""
    id_ = "0" * 10
    block = (
        f"Q: ?\nA: ?\n{card_comment(id_)}\n"
        if answer is not None
        else f"C: {{{{c1::?}}}}\n{card_comment(id_, variant='c1')}\n"
    )
    blank = parse_deck(block, "the card")
    return words_of(edited_deck(blank, blank.cards[0], question, answer).cards[0])


def restore(vault: Vault, edited: Edited, now: datetime) -> Edited:
    """Undo that edit, if the card still says what the edit made of it.

    Raises: as `edit_card`.
    """
    return edit_card(vault, edited.card, edited.before.question, edited.before.answer, now, expect=edited.after)


def last_edit(vault: Vault, id_: str) -> Edited:
    """Return the latest edit of the card that was not undone. Raises: NotFound."""
    done: list[Edited] = []
    for edited in _edits(vault, id_):
        if done and (edited.before, edited.after) == (done[-1].after, done[-1].before):
            done.pop()
        else:
            done.append(edited)
    if not done:
        hint = "look for it in git, or write it again with `retain card edit`"
        raise NotFound(f"no edit of card {clean_line(id_)} is recorded in this vault", hint=hint)
    return done[-1]


def edited_deck(deck: Deck, card: Card, question: str, answer: str | None) -> Deck:
    """Return the deck with the words of the card's block replaced. Raises: Refused, naming what a deck cannot hold."""
    where = f"{deck.path}:{card.line}" if deck.path else ""
    if (answer is None) != card.is_cloze:
        raise Refused(
            "a cloze card (C:) cannot be changed into a question-and-answer card (Q:, A:), or the reverse",
            where=where,
            hint=_ANOTHER,
        )
    question = _checked("text" if answer is None else "question", question, where)
    answer = None if answer is None else _checked("answer", answer, where)
    if answer is None and not numbers_in(question):
        raise Refused("the text has no cloze deletion", where=where, hint="enclose the words to hide in {{c1::...}}")
    after = parse_deck(splice_words(deck.text, card, question, answer), deck.path)
    now = _of_block(after, card)
    if now is None or len(question) + len(answer or "") > MAX_CARD:
        raise Refused(
            "the card would be too large (over 64 KiB) or could not be read back", where=where, hint="shorten it"
        )
    if _others(after, now) != _others(deck, card) or _unchanged_parts(now) != _unchanged_parts(card):
        what = "this text contains deck markup, so it would not be read as part of this card"
        hint = "rewrite the quote: a quote that contains only links would be read as the card's source line"
        raise Refused(what, where=where, hint=hint)
    return after


def _checked(name: str, text: str, where: str) -> str:
    """Return a part of a card with the line breaks of a deck. Raises: Refused."""
    text = _plain(text)
    if not text:
        raise Refused(f"the {name} is empty", where=where, hint="to hide a card, use `retain card suspend`")
    if leaves_fence_open(text):
        raise Refused(f"the {name} leaves a code fence open", where=where, hint="end it with a line of ```")
    return text


def _plain(text: str) -> str:
    """Return `text` with the line breaks of a deck. Raises: Refused for what a text file cannot hold."""
    shown = "".join(c for c in text if c in "\n\r\t" or c.isprintable() or c.isspace() or ord(c) > 0x9F)
    return "\n".join(shown.encode(errors="replace").decode().splitlines()).strip()


def _unchanged_parts(card: Card) -> tuple[object, ...]:
    """Return the parts of a card that an edit leaves as they are."""
    return card.kind, card.support, card.stamp, card.note


def _others(deck: Deck, card: Card) -> list[tuple[object, ...]]:
    """Return the cards of the deck's other blocks and what is wrong with it, without line numbers."""
    cards = [(c.id, c.question, c.answer, *_unchanged_parts(c)) for c in deck.cards if c.start != card.start]
    return [*cards, *((d.code, d.message) for d in deck.diagnostics)]


def found_card(vault: Vault, id_: str) -> tuple[Deck, Card]:
    """Return the card as its deck has it now. Raises: NotFound."""

    with suppress(KeyError):
        path = with_open_index(vault, lambda index: read_cards(vault, index).place(CardId(id_)).path)
        deck = vault.deck(path)
        if deck is not None and (card := _of(deck, id_)) is not None:
            return deck, card
    for deck in vault.decks():
        if (card := _of(deck, id_)) is not None:
            return deck, card
    raise NotFound(f"no card has the id {clean_line(id_)}", hint="`retain due --json` lists the ids")


def _of(deck: Deck, id_: str) -> Card | None:
    """Return the card of the deck with that id; None if it has none."""
    return next((card for card in deck.cards if card.id == id_), None)


def _of_block(deck: Deck, card: Card) -> Card | None:
    """Return the first card of the block that begins where that of `card` does; None if there is none."""
    return next((each for each in deck.cards if each.start == card.start), None)


def _line(vault: Vault, edited: Edited, now: datetime) -> bytes:
    """Return the line that records the edit, dated after those that are recorded."""
    before, after = (_as_list(words) for words in (edited.before, edited.after))
    at = ledger.after(_events(vault), now)
    event = {"v": 1, "type": "edit", "card": edited.card, "path": edited.path, "before": before, "after": after}
    return ledger.encode(event | {"at": at})


def _as_list(words: Words) -> list[str]:
    """Return the words as the ledger has them: question and answer, or the text of a cloze alone."""
    return [words.question] if words.answer is None else [words.question, words.answer]


def _events(vault: Vault) -> list[ledger.Event]:
    """Return the recorded edits of all cards."""
    data = (
        vault.read_bytes(ledger.EDITS) or b"",
        older_lines(Folder(vault.root), ledger.EDITS, vault.settings.vault_id),
    )
    return ledger.decode(b"\n".join(data), ledger.EDITS)[0]


def _edits(vault: Vault, id_: str) -> Iterator[Edited]:
    """Yield the recorded edits of the card, the latest last."""
    for event in ledger.ordered(event for event in _events(vault) if event.get("card") == id_):
        with suppress(ValueError, KeyError, TypeError):  # of a newer version, or not ours
            before, after = (Words(*map(str, event[key])) for key in ("before", "after"))
            yield Edited(CardId(id_), str(event["path"]), before, after)
