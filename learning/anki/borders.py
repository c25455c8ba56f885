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
_SAME = "as import and export"

BORDERS = (
    Border(
        "a note's identity",
        ("notes.id", "notes.guid"),
        "the GUID, in the key of each card; two packages with one GUID make one card",
        "a GUID of vault and card, which never changes",
        "by the field CardId, as AnkiConnect tells no GUIDs",
    ),
    Border(
        "fields",
        ("notes.flds", "notes.sfld", "notes.csum"),
        "both sides of each card as its template shows them, as Markdown; edits to your own cards are listed",
        "question, answer, kind, concept, quote, source (a link if it is on the web), CardId; tables are tables",
        "to Anki; what was edited there stays, and what was edited on both sides waits in the inbox",
    ),
    Border(
        "note types and templates",
        ("notes.mid", "cards.ord"),
        "rendered; siblings stay siblings; a cloze is a card per number; scripts are counted, not imported; of image "
        "occlusion, the picture is kept; masks, text and cards are not, and are named note by note",
        "“retain”, “retain (and reversed)”, “retain cloze” and “retain (siblings)”; an imported note is one note "
        "again, with the cards that are still here; an imported cloze is a cloze while its cards agree on its text",
        "as export",
    ),
    Border(
        "text from right to left",
        (),
        "the sides that are so by the field's option, `dir` or the style sheet, in the ledger; marks of direction are "
        "left out",
        'those sides, and any that begin with letters from right to left, as `dir="rtl"`',
        "as export",
    ),
    Border(
        "tags",
        ("notes.tags",),
        "every tag, `marked` and `leech` too: of the file where notes share them, else of the card",
        "tags of the deck and of the card, and concept, kind and vault below `retain::`",
        "both ways: what was added or removed on either side",
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
        "a file per deck, named after it; cards in a filtered deck count to their home",
        "a deck per topic, concept or vault (`--decks`)",
        "new notes only; decks stay as they are in Anki",
    ),
    Border(
        "reviews",
        ("revlog.id", "revlog.cid", "revlog.ease", "revlog.time"),
        "every answer, once",
        _SCHEDULED,
        "both ways, each once; a review undone here stays in Anki's log",
    ),
    Border(
        "cramming, and days moved by Anki",
        ("revlog.type", "revlog.factor"),
        "counted, not imported",
        _NO,
        _NO,
    ),
    Border(
        "a card forgotten (reset)",
        (),
        "new here, too; earlier ratings count no more for its memory",
        _SCHEDULED,
        "from Anki",
    ),
    Border(
        "a due date set by hand",
        ("cards.due", "cards.odue"),
        "the day, unless an answer came later; a card without any answer stays new and is counted",
        "due dates " + _SCHEDULED,
        "from Anki; to Anki where reviews were sent",
    ),
    Border(
        "memory state",
        ("cards.data",),
        "computed from the reviews",
        "stability, difficulty and last review " + _SCHEDULED,
        "Anki computes it from the reviews that were sent, when it shows the card next",
    ),
    Border(
        "phase, interval, repetitions, lapses, steps",
        ("cards.type", "cards.ivl", "cards.reps", "cards.lapses", "cards.left", "revlog.ivl", "revlog.lastIvl"),
        "computed from the reviews",
        _SCHEDULED,
        "to Anki where reviews were sent",
    ),
    Border("ease factor", ("cards.factor",), _NO + ": FSRS has none", "250 %", _NO),
    Border(
        "suspended",
        ("cards.queue",),
        "yes, and resumed; what you decide here afterwards stays",
        _SCHEDULED,
        "from Anki; retracted, retired and deleted cards are suspended there and tagged `retain::retracted`",
    ),
    Border(
        "buried",
        (),
        "if it was today",
        _SCHEDULED,
        "from Anki",
    ),
    Border(
        "flag",
        ("cards.flags",),
        "a flag with its colour as the reason; gone when it is gone there",
        "red, " + _SCHEDULED,
        "from Anki",
    ),
    Border(
        "deck options and FSRS parameters",
        (),
        "FSRS parameters (of versions 4.5 to 6) and desired retention of a preset are offered; `--preset NAME` adopts "
        "them; other options no",
        "steps, limits, desired retention and FSRS parameters as a preset, " + _SCHEDULED,
        _NO,
    ),
    Border(
        "times of change, and marks of AnkiWeb",
        (
            *("notes.mod", "notes.usn", "notes.data", "notes.flags"),
            *("cards.id", "cards.nid", "cards.mod", "cards.usn", "revlog.usn"),
        ),
        "read to tell what is newer",
        "since when the words are as they are",
        _SAME,
    ),
)
