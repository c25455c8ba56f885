"""What of a collection in Anki comes in, what goes out and what does not: the table in docs/anki.md."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Border:
    """What happens to one thing that Anki has: at `import anki`, at `export anki`, and at `sync anki`.

    `columns` are Anki's own, as `table.column`.
    """

    what: str
    columns: tuple[str, ...]
    imported: str
    exported: str
    synced: str


_NO = "no"
_SCHEDULED = "with `--with-schedule`"
_SAME = "the same as for import and export"

BORDERS = (
    Border(
        "a note's identity",
        ("notes.id", "notes.guid"),
        "the GUID, stored in the key of each card; notes with the same GUID in two packages become one card",
        "a GUID derived from the vault and the card; it never changes",
        "by the CardId field, because AnkiConnect does not report GUIDs",
    ),
    Border(
        "fields",
        ("notes.flds", "notes.sfld", "notes.csum"),
        "both sides of each card as its template shows them, as Markdown; edits to your own cards are listed",
        "question, answer, kind, concept, quote, source (a link if it is on the web), CardId; tables stay tables",
        "sent to Anki; notes edited only in Anki are left alone; cards edited on both sides are listed in the inbox",
    ),
    Border(
        "note types and templates",
        ("notes.mid", "cards.ord"),
        "rendered; siblings stay siblings; a cloze note becomes one card per number; scripts are counted, not "
        "imported; for image occlusion, the picture is kept; masks, texts and cards are not, and are listed per note",
        "“retain”, “retain (and reversed)”, “retain cloze” and “retain (siblings)”; an imported note becomes one note "
        "again, with the cards that still exist; an imported cloze stays a cloze if all its cards have the same text",
        "the same as for export",
    ),
    Border(
        "right-to-left text",
        (),
        "the direction of each side, from the field's option, `dir` or the style sheet; direction marks are left out",
        'the same sides, and any side that begins with right-to-left letters, as `dir="rtl"`',
        "the same as for export",
    ),
    Border(
        "tags",
        ("notes.tags",),
        "every tag, including `marked` and `leech`: for the file if all its notes share it, otherwise for the card",
        "the tags of the deck and the card, plus concept, kind and vault under `retain::`",
        "in both directions: what was added or removed on either side",
    ),
    Border(
        "pictures and sounds",
        (),
        "into `learning/media/`, up to 100 MiB each",
        "up to 10 MiB each",
        "to Anki",
    ),
    Border(
        "deck",
        ("cards.did", "cards.odid"),
        "one file per deck, named after it; cards in a filtered deck are placed in their home deck",
        "one deck per topic, concept or vault (`--decks`)",
        "new notes only; decks stay as they are in Anki",
    ),
    Border(
        "reviews",
        ("revlog.id", "revlog.cid", "revlog.ease", "revlog.time"),
        "every answer, once",
        _SCHEDULED,
        "in both directions, each review only once; a review undone here stays in Anki's log",
    ),
    Border(
        "cramming, and reviews rescheduled by Anki",
        ("revlog.type", "revlog.factor"),
        "counted, not imported",
        _NO,
        _NO,
    ),
    Border(
        "a card that was reset",
        (),
        "new here, too; earlier ratings no longer affect its memory state",
        _SCHEDULED,
        "from Anki",
    ),
    Border(
        "a due date set by hand",
        ("cards.due", "cards.odue"),
        "imported, unless the card was answered later; a card that was never answered stays new and is counted",
        "due dates " + _SCHEDULED,
        "from Anki; also to Anki, for cards whose reviews were sent",
    ),
    Border(
        "memory state",
        ("cards.data",),
        "computed from the reviews",
        "stability, difficulty and last review " + _SCHEDULED,
        "Anki computes it from the reviews that were sent, the next time it shows the card",
    ),
    Border(
        "phase, interval, repetitions, lapses, steps",
        ("cards.type", "cards.ivl", "cards.reps", "cards.lapses", "cards.left", "revlog.ivl", "revlog.lastIvl"),
        "computed from the reviews",
        _SCHEDULED,
        "to Anki, for cards whose reviews were sent",
    ),
    Border("ease factor", ("cards.factor",), _NO + ": FSRS has none", "250 %", _NO),
    Border(
        "suspended",
        ("cards.queue",),
        "yes, both suspending and unsuspending; changes that you make here afterwards are kept",
        _SCHEDULED,
        "from Anki; retracted, retired and deleted cards are suspended there and tagged `retain::retracted`",
    ),
    Border(
        "buried",
        (),
        "if it was buried today",
        _SCHEDULED,
        "from Anki",
    ),
    Border(
        "flag",
        ("cards.flags",),
        "a flag, with its colour as the reason; removed here when it is removed in Anki",
        "red, " + _SCHEDULED,
        "from Anki",
    ),
    Border(
        "deck options and FSRS parameters",
        (),
        "FSRS parameters (versions 4.5 to 6) and the desired retention of a preset are offered; `--preset NAME` adopts "
        "them; other options are not imported",
        "steps, limits, desired retention and FSRS parameters as a preset, " + _SCHEDULED,
        _NO,
    ),
    Border(
        "modification times, and AnkiWeb's sync markers",
        (
            *("notes.mod", "notes.usn", "notes.data", "notes.flags"),
            *("cards.id", "cards.nid", "cards.mod", "cards.usn", "revlog.usn"),
        ),
        "used to determine which version is newer",
        "the time when the current text was first exported",
        _SAME,
    ),
)
