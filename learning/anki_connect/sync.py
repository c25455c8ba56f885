"""Sync of a vault with a running Anki: reviews come from there, notes go there.

A note is known by its field CardId, whichever way it came into Anki. What a human wrote into a note in Anki stays until
the vault says something new, and what a human deleted there stays away. Cards that came from Anki are notes there
already: they are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from learning.anki.export_package import (
    VAULT_TAG,
    AnkiNote,
    given_out,
    modified,
    notes_of,
    package,
    vault_tag,
)
from learning.anki.html_to_markdown import markdown
from learning.anki.import_package import Reported
from learning.anki.media import Media
from learning.anki.note_log import NoteRecord, read_notes, record
from learning.anki.note_shapes import cards_of_notes
from learning.anki.note_types import BASIC
from learning.anki.render import LARGEST
from learning.anki.tags import OURS, user_tags
from learning.anki_connect.client import AnkiConnect
from learning.anki_connect.home import Home, bring_home
from learning.anki_connect.push import RETRACTED, Progress, SyncResults, Tagged, ToDo, do, import_in_anki
from learning.anki_connect.remote import Found, found_notes
from learning.anki_connect.send_reviews import missing_reviews, send_reviews
from learning.cards.workspace import Desk, after
from learning.store.siblings import imported_cards
from vault.ids import CardId
from vault.inbox.anki_edits import decided_edits
from vault.inbox.listing import decisions
from vault.log import ledger
from vault.log.ledger import Event, note_event
from vault.log.review_log import unix_ms
from vault.model.markdown import escape
from vault.text.formatting import clean_line

_MOVED = "Anki imported it, but no note there has its CardId: correct that field in Anki, or delete the note"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done in Anki. `edited` differ because somebody edited them there: they stay. `other_type` are of a
    note type that does not suit their cards now: they stay, as Anki changes the type of no note. `conflicts` were
    edited there and here: they stay until the user decides in the inbox. `gone` are no longer
    there, and stay away. `retracted` are to be suspended, `revived` to be let go again, `twice` are cards that two
    notes show. No card is in a list twice."""

    create: tuple[AnkiNote, ...] = ()
    update: tuple[tuple[Found, AnkiNote], ...] = ()
    retag: tuple[tuple[Found, AnkiNote], ...] = ()
    unchanged: tuple[AnkiNote, ...] = ()
    edited: tuple[CardId, ...] = ()
    other_type: tuple[CardId, ...] = ()
    conflicts: tuple[tuple[Found, AnkiNote], ...] = ()
    gone: tuple[CardId, ...] = ()
    retracted: tuple[Found, ...] = ()
    revived: tuple[Found, ...] = ()
    twice: tuple[CardId, ...] = ()


@dataclass(frozen=True, slots=True)
class Synced:
    """What was done, or in a dry run would be. `failed` says of each note or picture why Anki would not take it,
    `left_out` which cards that came from Anki were left out. `sent` is how many reviews
    went to Anki."""

    plan: Plan
    home: Home
    media: int = 0
    failed: tuple[Reported, ...] = ()
    left_out: tuple[CardId, ...] = ()
    sent: int = 0

    @property
    def marks(self) -> Mapping[str, int]:
        """Return how many cards were suspended here, resumed, flagged and so on, as in Anki."""
        return self.home.marks

    @property
    def created(self) -> list[CardId]:
        """Return the cards of new notes."""
        return self._done(note.card for note in self.plan.create)

    @property
    def changed(self) -> list[CardId]:
        """Return the cards of changed notes."""
        return self._done(note.card for _, note in (*self.plan.update, *self.plan.retag))

    @property
    def suspended(self) -> list[CardId]:
        """Return the cards that were suspended."""
        return self._done(one.card for one in self.plan.retracted)

    @property
    def resumed(self) -> list[CardId]:
        """Return the cards that were resumed."""
        return self._done(one.card for one in self.plan.revived)

    def _done(self, cards: Iterable[CardId]) -> list[CardId]:
        """Return each card once, without those of which Anki refused something."""
        refused = {each.id for each in self.failed}
        return [card for card in dict.fromkeys(cards) if card not in refused]


def sync(
    desk: Desk,
    anki: AnkiConnect,
    *,
    dry_run: bool = False,
    newer: bool = False,
    imported: bool = False,
    progress: Progress | None = None,
) -> Synced:
    """Log every review of our cards in Anki and what was decided there, then send new and changed cards and the reviews
    that Anki lacks; can be repeated or interrupted.

    With `newer`, the vault's words also replace what was edited or deleted in Anki; with `imported`, cards that came
    from Anki go there as well; with `dry_run`, Anki is only read. `progress` hears (done, of) of the changes in Anki.
    Raises: AnkiNotReached, AnkiRefused; WriteFailed, Refused or LockHeld if the log cannot be written.
    """
    tag, several = vault_tag(desk.vault.settings.vault_id), cards_of_notes(desk)
    known = read_notes(desk.vault)
    found = found_notes(anki, _births(desk) | desk.cards.keys() | known.keys(), tag, several)
    active = [one for one in found if RETRACTED not in one.tags and not _is_gone(desk, one, several)]
    shown = {card for one in found for card in (one.card, *several.get(one.card, {}).values())}
    left_out = () if imported else tuple(card for card in imported_cards(desk.cards, desk.vault) if card not in shown)
    media = Media(desk.vault)
    notes = notes_of(desk, media, frozenset(left_out), known)
    home = bring_home(desk, anki, found, active, known, {note.card: note for note in notes}, dry_run=dry_run)
    if not dry_run and (home.new or any(home.marks.values())):
        desk = after(desk)
        notes = notes_of(desk, media, frozenset(left_out), known)
    gone = [one for one in found if RETRACTED not in one.tags and _is_gone(desk, one, several)]
    plan = _planned(desk, notes, found, known, gone, newer=newer)
    if dry_run:
        lacking = missing_reviews(desk, active, home.there)
        return Synced(plan, home, left_out=left_out, sent=sum(map(len, lacking.values())))
    results, there = SyncResults(), [*plan.create, *plan.unchanged, *(note for _, note in (*plan.update, *plan.retag))]
    try:
        # With `newer`, what is made is newer than whatever has its GUID there, as a note without its CardId.
        seconds = modified(plan.create, known, desk.now, fresh=newer)
        _do(desk, anki, plan, seconds, known, media, results, progress)
    except BaseException:  # what Anki took before it broke off is no edit of a human's either
        there = [note for note in there if note.card in results.written]
        raise
    finally:
        _record(desk, known, there, results)
        record(desk.vault, _conflict_events(desk, plan, known))
    if plan.create or plan.revived:
        found = found_notes(anki, desk.cards, tag, several)
        active = [one for one in found if RETRACTED not in one.tags]
    sent = send_reviews(desk, anki, active, missing_reviews(desk, active, home.there))
    failed = tuple(_placed(desk, each) for each in (*results.failed, *sent.failed))
    return Synced(plan, home, results.media, failed, left_out, sent.reviews)


def _births(desk: Desk) -> set[CardId]:
    """Return every card that this vault ever had."""
    events, _ = desk.vault.ledger_events(ledger.IDS)
    return {CardId(str(e["id"])) for e in events if e["type"] == "birth" and e.get("of") == "card" and "id" in e}


def _is_gone(desk: Desk, one: Found, several: Mapping[CardId, Mapping[int, CardId]]) -> bool:
    """Return whether the vault asks the cards of a note no more: they were retracted, retired or deleted."""
    cards = several.get(one.card, {0: one.card}).values()
    return all(card not in desk.cards or desk.state(card).retracted for card in cards)


def _placed(desk: Desk, failed: Reported) -> Reported:
    """Return `failed` with the place of its card."""
    if CardId(failed.id) not in desk.cards:
        return failed
    place = desk.place(CardId(failed.id))
    return replace(failed, path=place.path, line=place.line)


# --- what is to be done ---------------------------------------------------------------------------------------------


def _planned(
    desk: Desk,
    notes: Sequence[AnkiNote],
    found: Sequence[Found],
    known: Mapping[CardId, NoteRecord],
    left: Sequence[Found],
    *,
    newer: bool,
) -> Plan:
    """Return what makes Anki's notes equal to the vault's; with `newer`, also those edited or deleted there. `left` are
    those that the vault asks no more.
    """
    there: dict[CardId, list[Found]] = {}
    for one in found:
        there.setdefault(one.card, []).append(one)
    create, update, retag, edited, same, gone, revived = [], [], [], [], [], [], []
    other_type: list[CardId] = []
    conflicts, decided = [], decided_edits(decisions(desk.vault))
    for note in notes:
        old = known.get(note.card, NoteRecord())
        if note.card not in there:
            if old.synced and not newer:
                gone.append(note.card)
            else:
                create.append(note)
        for one in there.get(note.card, ()):
            if RETRACTED in one.tags:
                revived.append(one)
            if one.digest != note.shown:
                if not one.fields.keys() >= set(note.type.fields) or _asks_another(one, note):
                    other_type.append(note.card)
                elif _is_edited(one, note, old) and not newer:
                    edited.append(note.card)
                elif _is_conflict(one, note, old) and not newer and (note.card, one.digest) not in decided:
                    conflicts.append((one, note))
                else:
                    update.append((one, note))
            elif set(_tags(one, note, old)) != set(one.tags):
                retag.append((one, note))
            else:
                same.append(note)
    twice = [card for card, ones in there.items() if len(ones) > 1]
    return Plan(
        tuple(create),
        tuple(update),
        tuple(retag),
        tuple(same),
        tuple(dict.fromkeys(edited)),
        tuple(dict.fromkeys(other_type)),
        tuple(conflicts),
        tuple(gone),
        retracted=tuple(left),
        revived=tuple(revived),
        twice=tuple(twice),
    )


def _asks_another(one: Found, note: AnkiNote) -> bool:
    """Return whether the note's one card in Anki is of ours another than the one that its first fields ask now."""
    return one.is_single and bool(one.ours) and note.cards[0][1] not in one.ours.values()


def _is_edited(one: Found, note: AnkiNote, old: NoteRecord) -> bool:
    """Return whether a note that says something else in Anki was edited there.

    It was not if it says what was given out before: then what came later was never imported. Where the vault has said
    nothing new since the last sync, or none is known, the words there are the user's.
    """
    return one.digest not in old.given and (not old.synced or note.shown in old.synced)


def _is_conflict(one: Found, note: AnkiNote, old: NoteRecord) -> bool:
    """Return whether a note was edited in Anki since the last sync, and its card here."""
    return bool(old.synced) and one.digest not in old.given and note.shown not in old.synced


def _tags(one: Found, note: AnkiNote, old: NoteRecord) -> list[str]:
    """Return the tags that the note is to have: ours, each as Anki writes it, and those that the user added in Anki."""
    ours, theirs, given = user_tags(note.tags), user_tags(one.tags), user_tags(old.tags)
    stay = [tag for tag in one.tags if all(key in ours or key not in given for key in user_tags([tag]))]
    sent = [tag for tag in note.tags if tag.startswith(OURS) or not user_tags([tag]).keys() <= theirs.keys()]
    return list(dict.fromkeys([*sent, *(tag for tag in stay if not tag.startswith(OURS) or tag.startswith(VAULT_TAG))]))


# --- notes go there -------------------------------------------------------------------------------------------------


def _do(
    desk: Desk,
    anki: AnkiConnect,
    plan: Plan,
    seconds: Mapping[CardId, int],
    known: Mapping[CardId, NoteRecord],
    media: Media,
    results: SyncResults,
    progress: Progress | None,
) -> None:
    """Make the planned changes."""
    new = _sent(desk, anki, plan.create, seconds, media, results)
    none = NoteRecord()
    changed = (*plan.update, *plan.retag)
    tags = [Tagged(one, _tags(one, note, known.get(note.card, none))) for one, note in changed]
    tagged = {each.note.id for each in tags}
    tags += [Tagged(one, [t for t in one.tags if t != RETRACTED]) for one in plan.revived if one.id not in tagged]
    do(anki, ToDo(new, plan.update, tags, plan.retracted, plan.revived), media.files, results, progress)


def _sent(
    desk: Desk,
    anki: AnkiConnect,
    create: Sequence[AnkiNote],
    seconds: Mapping[CardId, int],
    media: Media,
    results: SyncResults,
) -> list[AnkiNote]:
    """Send new notes as a package; return those that must be created one by one, as Anki imported no package.

    A note that is not to be found though the package was taken in is there under its GUID, with another CardId:
    made once more, it would be there twice.
    """
    tag = vault_tag(desk.vault.settings.vault_id)
    new = [replace(note, tags=(*note.tags, tag)) for note in create]
    data = package(desk.vault.settings.vault_id, new, seconds, media.files)
    if not new or not import_in_anki(desk.vault, anki, data):
        return new
    came = {one.card for one in found_notes(anki, desk.cards, tag, cards_of_notes(desk))}
    results.failed += [Reported(note.card, _MOVED) for note in new if note.card not in came]
    return []


def _conflict_events(desk: Desk, plan: Plan, known: Mapping[CardId, NoteRecord]) -> Iterator[Event]:
    """Yield the events of new conflicts, and of those that are settled."""
    id_, second = desk.vault.settings.vault_id, unix_ms(desk.now) // 1000
    for one, note in plan.conflicts:
        at, before = known[note.card].conflict if note.card in known else (0, "")
        if before != one.digest:
            front, back, *_ = (markdown(each, _named) for each in (*one.fields.values(), ""))
            place = desk.place(note.cards[0][1]).path
            words: dict[str, str | bool] = {"path": place, "front": front[:LARGEST], "back": back[:LARGEST]}
            if note.type is not BASIC:  # its fields are not question and answer of one card
                words["several"] = True
            yield note_event(id_, "conflict", note.card, max(second, at + 1), fields=one.digest, **words)
    left = {note.card for _, note in plan.conflicts}
    for card, old in known.items():
        at, before = old.conflict
        if before and card not in left:
            yield note_event(id_, "conflict", card, max(second, at + 1), fields="")


def _named(name: str) -> str:
    """Return the words for a picture or sound in a field of Anki's."""
    return escape(f"[{clean_line(name)[:100]}]")


def _record(desk: Desk, known: Mapping[CardId, NoteRecord], there: Sequence[AnkiNote], results: SyncResults) -> None:
    """Record the notes that Anki created, and what the notes `there` say now."""
    id_, second = desk.vault.settings.vault_id, unix_ms(desk.now) // 1000
    numbers = results.created.items()
    created = [note_event(id_, "create", card, second, number=number, guid="") for card, number in numbers]
    there = [note for note in there if note.card not in results.refused]
    seconds = modified(there, known, desk.now)
    record(desk.vault, [*created, *given_out(id_, there, seconds, known, synced=True)])
