"""Bringing an Anki package home: what was reviewed there into the log, a stranger's notes into cards.

The same package twice changes nothing the second time, and packages may come in any order: an event has an id of its
own origin (`learning.anki_reviews`), a card one of its Anki note. First the cards are on disk, then their births, then
their reviews; whatever was cut off, the next import completes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from difflib import SequenceMatcher
from typing import Any

from learning.anki_made import Made, keep_made, read_made, told
from learning.anki_read import AnkiCard, AnkiNote, AnkiPackage
from learning.anki_reviews import VIA, AnkiReview, dated, imports, known_origins
from learning.desk import Desk, open_desk, read_desk
from vault import ledger
from vault.agent_run import refuse_beside_agents
from vault.clean import clean_line
from vault.errors import UsageError
from vault.guard import Scope
from vault.ids import ID, CardId
from vault.locks import lock
from vault.log_event import LogEvent, Review
from vault.review_log import append, read_log, unix_ms
from vault.store import Vault

BATCH = 20_000  # events between two waits for the disk
_NAMED = 12  # of a package's decks, where none has the name that was asked for
_PATIENCE_S = 5.0  # for a compile that ends, or an agent's start
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Reported:
    """Something that the human should know of: `path` is a vault path, or "" for what is in the package alone."""

    id: str
    reason: str
    path: str = ""
    line: int = 0


@dataclass(slots=True)
class ImportReport:
    """What an import did, or (`dry_run`) would do."""

    dry_run: bool = False
    notes: dict[str, int] = field(default_factory=lambda: {"ours": 0, "strange": 0})
    cards: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("created", "updated", "kept", "skipped"), 0))
    reviews: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("added", "known", "left_out"), 0))
    left_out: dict[str, int] = field(default_factory=dict)  # why reviews were, and how many
    marks: dict[str, int] = field(default_factory=lambda: {"suspended": 0, "resumed": 0})
    media: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("added", "kept", "left_out"), 0))
    note_types: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    reported: list[Reported] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def tell(self, id_: str, reason: str, path: str = "", line: int = 0) -> None:
        self.reported.append(Reported(id_, reason, path, line))


def import_package(
    vault: Vault,
    package: AnkiPackage,
    now: datetime,
    *,
    deck: str = "",
    history: bool = True,
    restore: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Takes `package` in. `deck` names the one deck (with those below it) to take; without `history` no review is
    added; `restore` brings back imported cards that were deleted here.

    A dry run writes nothing, and mints no ids of cards made by hand. Raises: UsageError where no deck has that name;
    LockHeld while another import or a compile runs; Refused while the work of an agent is not settled, as what came in
    would count as the agent's; Refused or WriteFailed, after which the rest can be imported again.
    """
    cards = _chosen(package, deck)
    report = ImportReport(dry_run)
    if dry_run:
        desk = replace(read_desk(vault), now=now)
        return _taken(desk, package, cards, report, history=history, restore=restore, progress=progress)
    with ExitStack() as held:
        held.enter_context(lock(vault.root, "import", purpose="importing", now=now))
        held.enter_context(lock(vault.root, "publish", purpose="importing", now=now, timeout_s=_PATIENCE_S))
        refuse_beside_agents(vault)
        desk = open_desk(vault, now)
        return _taken(desk, package, cards, report, history=history, restore=restore, progress=progress)


def _taken(
    desk: Desk,
    package: AnkiPackage,
    cards: Sequence[AnkiCard],
    report: ImportReport,
    *,
    history: bool,
    restore: bool,
    progress: Progress | None,
) -> ImportReport:
    """As `import_package`, of the chosen `cards`."""
    from learning.anki_marks import take_marks
    from learning.anki_strangers import take_strangers

    vault, now = desk.vault, desk.now
    notes = {note.id: note for note in package.notes}
    mine = own_cards(desk, package)
    report.notes["ours"] = len(mine)
    left_out = mine.keys() | _not_ours(desk, package, mine, report)
    strange = [c for c in cards if c.note not in left_out and c.note in notes]
    report.notes["strange"] = len({c.note for c in strange})
    if not report.dry_run and (learnt := told(read_made(vault), ((mine[i], i, notes[i].guid) for i in mine))):
        keep_made(vault, learnt)
    known = {c.id: mine[c.note] for c in cards if c.note in mine and c.ord == 0}
    _tell_edits(desk, {mine[i]: notes[i] for i in mine.keys() & {c.note for c in cards}}, report)
    known |= take_strangers(desk, package, strange, report, restore=restore)
    if history:
        events = read_log(vault.root).events
        take_marks(vault, events, package, known, now, report)
        _take_reviews(vault, events, package, known, now, report, progress)
    return report


def _chosen(package: AnkiPackage, deck: str) -> list[AnkiCard]:
    """The cards of the deck and of those below it; of all decks without one. Raises: UsageError."""
    wanted = deck.casefold()
    names = {i: name.casefold() for i, name in package.decks.items()}
    chosen = {i for i, name in names.items() if name == wanted or name.startswith(f"{wanted}::")}
    if deck and not chosen:
        raise UsageError(
            f"no deck in the package is called {clean_line(deck)[:100]!r}",
            where=clean_line(str(package.path)),
            hint=f"it has: {_nearest(deck, package.decks.values())}",
        )
    return [card for card in package.cards if not deck or card.deck in chosen]


def _nearest(wanted: str, decks: Iterable[str]) -> str:
    """The names of decks, those most like `wanted` first."""

    def unlike(name: str) -> tuple[float, str]:
        return -SequenceMatcher(None, wanted.casefold(), name.casefold()).ratio(), name

    names = sorted({clean_line(name)[:100] for name in decks}, key=unlike)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return (", ".join(names[:_NAMED]) or "none") + more


def own_cards(desk: Desk, package: AnkiPackage) -> dict[int, CardId]:
    """Anki's note -> our card, for every note that this vault gave out, whatever was edited in it since.

    Its GUID tells, or that a sync wrote down to have made it: tag and CardId alone could be anybody's.
    """
    from learning.anki import guid_of

    vault_id = desk.vault.settings.vault_id
    events, _ = desk.vault.ledger_events(ledger.IDS)
    births = {CardId(str(e["id"])) for e in events if e["type"] == "birth" and e.get("of") == "card" and "id" in e}
    every, made = births | desk.cards.keys(), read_made(desk.vault)
    found: dict[int, CardId] = {}
    unknown: list[AnkiNote] = []
    for note in package.notes:
        said = _said(note)
        if said in every and (note.guid == guid_of(vault_id, said) or _is_made(note, made.get(said))):
            found[note.id] = said
        else:
            unknown.append(note)
    if unknown:  # the field may be edited away: the GUID alone still tells
        by_guid = {one.guid: card for card, one in made.items() if one.guid and card in every}
        by_guid |= {guid_of(vault_id, card): card for card in every}
        found |= {note.id: by_guid[note.guid] for note in unknown if note.guid in by_guid}
    return found


def _said(note: AnkiNote) -> CardId:
    """The id in a note's field CardId, which is its last; "" where no field is one."""
    return next((CardId(v.strip()) for v in reversed(note.values) if ID.fullmatch(v.strip())), CardId(""))


def _is_made(note: AnkiNote, made: Made | None) -> bool:
    return made is not None and (note.id == made.number if not made.guid else note.guid == made.guid)


def _not_ours(desk: Desk, package: AnkiPackage, mine: Mapping[int, CardId], report: ImportReport) -> set[int]:
    """Notes that say they are this vault's, and of which nothing else says so: neither ours nor a stranger's.

    Those of another vault are a stranger's, and are named.
    """
    from learning.anki import VAULT_TAG, vault_tag

    tag = vault_tag(desk.vault.settings.vault_id)
    others = sum(n.id not in mine and any(t.startswith(VAULT_TAG) and t != tag for t in n.tags) for n in package.notes)
    if others:
        notes = "1 note is" if others == 1 else f"{others} notes are"
        report.tell("", f"{notes} of another vault, from which a sync took them to Anki: a stranger's here")
    odd = {n.id for n in package.notes if n.id not in mine and tag in n.tags and _said(n)}
    if odd:
        who = "1 note says it is" if len(odd) == 1 else f"{len(odd)} notes say they are"
        what = f"{who} of this vault, but with another GUID, and no sync here made any such: left out, with reviews"
        report.tell("", f"{what}; `retain sync anki` takes reviews from your own Anki")
    return odd


def _tell_edits(desk: Desk, mine: Mapping[CardId, AnkiNote], report: ImportReport) -> None:
    """Names the cards that read otherwise in Anki than the last export made them: no edit comes in unseen."""
    from learning.anki import STAMPS, notes_of, read_stamps
    from learning.anki_media import Media

    if not mine:
        return
    stamps = read_stamps(desk.vault.read_bytes(STAMPS))
    ours = {note.card: note for note in notes_of(desk, Media(desk.vault))}
    for card, theirs in mine.items():
        if card not in ours:
            report.tell(card, "no deck here has this card any more; its reviews are kept")
            continue
        if tuple(theirs.values[:2]) == ours[card].fields[:2] or not _edited(theirs.mod, stamps.get(card)):
            continue
        placed = desk.cards[card]
        what = "edited in Anki; the vault's words stay: edit the card here, or export it with --newer"
        report.tell(card, what, placed.deck.path, placed.card.line)


def _edited(mod: int, stamp: Any) -> bool:
    """Whether a note that reads otherwise was edited in Anki: without a stamp of its export, that is assumed."""
    return stamp is None or mod > stamp.mod


def _take_reviews(
    vault: Vault,
    events: Sequence[LogEvent],
    package: AnkiPackage,
    known: Mapping[int, CardId],
    now: datetime,
    report: ImportReport,
    progress: Progress | None,
) -> None:
    """Every answer of a known card that the log has not yet, each once; the others are counted by reason."""
    why: Counter[str] = Counter()
    rows = []
    origins, gone = known_origins(events), 0
    for row in package.reviews:
        if row.card not in known:
            if f"{VIA}:{row.id}" in origins:
                gone += 1  # its card was deleted here since; the review is not
            else:
                why["its card was not taken in"] += 1
            continue
        review = AnkiReview(known[row.card], row.id, row.ease, row.ms, row.kind, row.factor)
        if review.counts:
            rows.append(review)
        else:
            why["no answer: crammed, or set by hand"] += 1
    kept, odd = dated(rows, now)
    if odd:
        why["dated before 1970 or in the future"] += len(odd)
        report.reported += [Reported("", each.message) for each in odd[:20]]
    fresh = _fresh(events, origins, kept)
    new = imports(fresh, (), vault.settings.vault_id, vault.settings.zone)
    report.reviews = {"added": len(new), "known": gone + len(kept) - len(new), "left_out": sum(why.values())}
    report.left_out = dict(sorted(why.items()))
    guard = vault.guard(Scope.LOG)
    for start in range(0, 0 if report.dry_run else len(new), BATCH):
        append(guard, *new[start : start + BATCH])
        if progress is not None:
            progress(min(start + BATCH, len(new)), len(new))


def _fresh(events: Iterable[LogEvent], origins: Collection[str], rows: Iterable[AnkiReview]) -> list[AnkiReview]:
    """Those of which the log knows nothing: neither their origin, nor a review of that card at that very instant,
    which is one of our own that had gone to Anki. What was undone here stays undone."""
    made_here = {(e.card, unix_ms(e.at)) for e in events if isinstance(e, Review)}
    return [row for row in rows if row.origin not in origins and (row.card, row.id) not in made_here]
