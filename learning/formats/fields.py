"""What each format of other programs keeps of a card, field by field, on the way in and out: `docs/formats-exchange.md`
is written from it.
"""

from __future__ import annotations

from dataclasses import dataclass

NO = "no"  # the format has no place for it, or it is not read


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a card: how it comes in by `retain import cards`, and goes out by `retain export`."""

    name: str
    comes_in: str = NO
    goes_out: str = NO


@dataclass(frozen=True, slots=True)
class Format:
    """A format: `name` as for `--format`, `export` the command that writes it, "" for none."""

    name: str
    program: str
    export: str
    fields: tuple[Field, ...]


_QUESTION, _CLOZE, _BOTH, _DECK = "question and answer", "cloze", "both ways", "deck"
_TAGS, _DUE, _MEMORY, _COUNTS = "tags", "due day", "stability and difficulty", "reviews and lapses, as numbers"
_REVIEWS, _SUSPENDED, _MEDIA, _QUOTES = (
    "every review",
    "suspended, flagged",
    "pictures and sounds",
    "quotes and sources",
)

FORMATS = (
    Format(
        "obsidian-sr",
        "Spaced Repetition, a plugin of Obsidian",
        "obsidian-sr",
        (
            Field(_QUESTION, "`::`, and `?` on a line of its own", "the same; blank lines are left out"),
            Field(_CLOZE, "`==words==`, numbered, with hints", "`==1;;words;;hint==`"),
            Field(_BOTH, "`:::` and `??`: siblings", "the same"),
            Field(_DECK, "the flashcard tag, else the note's name", "a note per concept, below `#flashcards`"),
            Field(_TAGS, "those of the note's properties", "the deck's first tag, in the flashcard tag"),
            Field(_DUE, "yes", "yes"),
            Field(
                _MEMORY,
                "of its FSRS as they are; else the interval is the stability, and the ease gives the difficulty",
                "with `--fsrs` as they are; else as interval and ease",
            ),
            Field(_COUNTS, "of its FSRS", "with `--fsrs`"),
            Field(_REVIEWS, "no: the plugin keeps none", NO),
            Field(_SUSPENDED, "no: the plugin knows none", "suspended cards are left out"),
            Field(_MEDIA, "copied to learning/media", "shown as words"),
            Field("notes with `sr-due`", "with `--notes`, as cards that ask what they say", NO),
        ),
    ),
    Format(
        "hashcards",
        "hashcards",
        "qa",
        (
            Field(_QUESTION, "`Q:` and `A:`", "the same"),
            Field(_CLOZE, "`C:`, a card for each pair of brackets", "a `C:` for each card; as `Q:` where it cannot be"),
            Field(_BOTH, "a card after its reverse: siblings", "two cards, one after the other"),
            Field(_DECK, "`name` in the front matter, else the file's name", "a file per concept, with `name`"),
            Field(_TAGS, "no: it has none", NO),
            Field(_DUE, "of `hashcards.db`", "with `--with-schedule`"),
            Field(_MEMORY, "of `hashcards.db`", "with `--with-schedule`"),
            Field(_COUNTS, "reviews, of `hashcards.db`", "reviews, with `--with-schedule`"),
            Field(_REVIEWS, "of `hashcards.db`", NO),
            Field(_SUSPENDED, "no: it knows none", NO),
            Field(_MEDIA, "copied to learning/media", "shown as words"),
        ),
    ),
    Format(
        "repeater",
        "repeater",
        "qa",
        (
            Field(_QUESTION, "`Q:` and `A:`, and `front::back` in a line", "`Q:` and `A:`"),
            Field(_CLOZE, "`C:`, a card for each pair of brackets", "a `C:` for each card; as `Q:` where it cannot be"),
            Field(_BOTH, "a card after its reverse: siblings", "two cards, one after the other"),
            Field(_DECK, "the file's name", "a file per concept"),
            Field(_TAGS, "no: it has none", NO),
            Field(_DUE, "of its `cards.db`, with `--database`", NO),
            Field(_MEMORY, "of its `cards.db`, with `--database`", NO),
            Field(_COUNTS, "reviews, of its `cards.db`", NO),
            Field(_REVIEWS, "no: it keeps none", NO),
            Field(_SUSPENDED, "no: it knows none", NO),
            Field(_MEDIA, "copied to learning/media", "shown as words"),
        ),
    ),
    Format(
        "csv",
        "spreadsheets, and Anki's notes as text",
        "csv",
        (
            Field(_QUESTION, "two columns", "`question` and `answer`"),
            Field(_CLOZE, "a front with Anki's marks (`{{c1::...}}`)", "a row for each card, as question and answer"),
            Field(_BOTH, NO, "a row for each way"),
            Field(_DECK, "a column, else the file's name", "`concept`"),
            Field(_TAGS, "a column, parted by blanks or commas", "`tags`"),
            Field(_DUE, "a column with dates (2026-12-24)", "`due`"),
            Field(_MEMORY, "two columns; else of interval and ease", "`stability` and `difficulty`"),
            Field(_COUNTS, "two columns", "`reps` and `lapses`"),
            Field(_REVIEWS, NO, NO),
            Field(_SUSPENDED, "suspended: a column", "`suspended`"),
            Field(_MEDIA, "copied to learning/media from beside the table", "as links"),
            Field(_QUOTES, NO, "`quotes` and `sources`"),
        ),
    ),
    Format(
        "jsonl",
        "another vault of retain, and your own programs",
        "jsonl",
        (
            Field(_QUESTION, "yes", "`question` and `answer`"),
            Field(_CLOZE, "yes", "`words`, `variant` and `note`, which siblings share"),
            Field(_BOTH, "yes", "`words`, `variant` and `note`"),
            Field(_DECK, "a deck of the user's own with that title", "`title`"),
            Field(_TAGS, "the card's", "those of deck and card"),
            Field(_DUE, "yes", "`memory.due_day`"),
            Field(_MEMORY, "yes", "`memory`, to four decimals"),
            Field(_COUNTS, "yes", "`memory`"),
            Field(_REVIEWS, "yes", "`reviews`: instant, rating, time on screen, interval"),
            Field(_SUSPENDED, "yes", "`memory`"),
            Field(_MEDIA, "as links: copy learning/media yourself", "as links"),
            Field(_QUOTES, NO, "`support`"),
        ),
    ),
    Format(
        "mochi",
        "Mochi (`.mochi`)",
        "",
        (
            Field(_QUESTION, "sides parted by `---`; templates filled with their fields"),
            Field(_CLOZE, "`{{words}}` and `{{1::words}}`; without numbers all are one card"),
            Field(_BOTH, "cards that are reviewed in reverse: siblings"),
            Field(_DECK, "yes, with those above it"),
            Field(_TAGS, "yes"),
            Field(_DUE, "yes"),
            Field(_MEMORY, "the interval is the stability"),
            Field(_COUNTS, "yes"),
            Field(_REVIEWS, "yes: remembered as Good, forgotten as Again"),
            Field(_SUSPENDED, "archived cards are suspended; those in the trash are left out"),
            Field(_MEDIA, "copied to learning/media"),
        ),
    ),
    Format(
        "mnemosyne",
        "Mnemosyne 2 (`.cards`) and 1 (XML)",
        "",
        (
            Field(_QUESTION, "yes, HTML as Markdown; pronunciation and notes as remarks"),
            Field(_CLOZE, "`[words]` and `[words:hint]`"),
            Field(_BOTH, "yes: siblings"),
            Field(_DECK, "the file's name"),
            Field(_TAGS, "tags and categories"),
            Field(_DUE, "yes, where the file has it: what is exported for sharing has none"),
            Field(_MEMORY, "the interval is the stability, and the easiness gives the difficulty"),
            Field(_COUNTS, "yes"),
            Field(_REVIEWS, "no: the files have none"),
            Field(_SUSPENDED, "no: the files have none"),
            Field(_MEDIA, "copied to learning/media"),
        ),
    ),
    Format(
        "remnote",
        "RemNote, as Markdown or text",
        "",
        (
            Field(_QUESTION, "`>>`, `<<`, `:>`, `;;`, and with the answer below `>>>`"),
            Field(_CLOZE, "`{{words}}`"),
            Field(_BOTH, "`<>` and `::`: siblings"),
            Field(_DECK, "the file's name"),
            Field(_TAGS, "`#tag` at the end of a line"),
            Field(_DUE, "no: the text has none"),
            Field(_MEMORY, "no: the text has none"),
            Field(_COUNTS, "no: the text has none"),
            Field(_REVIEWS, "no: the text has none"),
            Field(_SUSPENDED, "cards that are switched off (`>-`) are left out"),
            Field(_MEDIA, "copied to learning/media"),
        ),
    ),
)
