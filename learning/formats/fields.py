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


_QUESTION, _CLOZE, _BOTH, _DECK = "question and answer", "cloze", "reversed cards", "deck"
_TAGS, _DUE, _MEMORY, _COUNTS = "tags", "due date", "stability and difficulty", "numbers of reviews and lapses"
_REVIEWS, _SUSPENDED, _MEDIA, _QUOTES = (
    "every review",
    "suspended, flagged",
    "pictures and sounds",
    "quotes and sources",
)

FORMATS = (
    Format(
        "obsidian-sr",
        "Spaced Repetition, a plugin for Obsidian",
        "obsidian-sr",
        (
            Field(_QUESTION, "`::`, and `?` on a line of its own", "the same; blank lines are left out"),
            Field(_CLOZE, "`==words==`, numbered, with hints", "`==1;;words;;hint==`"),
            Field(_BOTH, "`:::` and `??`: siblings", "the same"),
            Field(
                _DECK,
                "the flashcard tag, otherwise the note's name",
                "one note per concept, tagged under `#flashcards`",
            ),
            Field(_TAGS, "the tags in the note's properties", "the deck's first tag, as part of the flashcard tag"),
            Field(_DUE, "yes", "yes"),
            Field(
                _MEMORY,
                "the FSRS values unchanged, if there are any; otherwise the interval is used as the stability, and the "
                "difficulty is computed from the ease",
                "unchanged with `--fsrs`, otherwise as interval and ease",
            ),
            Field(_COUNTS, "from the FSRS values", "with `--fsrs`"),
            Field(_REVIEWS, "no: the plugin does not store them", NO),
            Field(_SUSPENDED, "no: the plugin does not support them", "suspended cards are left out"),
            Field(_MEDIA, "copied to learning/media", "shown as text"),
            Field("notes with `sr-due`", "with `--notes`, as cards that ask what the note says", NO),
        ),
    ),
    Format(
        "hashcards",
        "hashcards",
        "qa",
        (
            Field(_QUESTION, "`Q:` and `A:`", "the same"),
            Field(_CLOZE, "`C:`, one card per pair of brackets", "one `C:` per card; as `Q:` if that is not possible"),
            Field(_BOTH, "a card that follows its reverse becomes its sibling", "two cards, one after the other"),
            Field(_DECK, "`name` in the front matter, otherwise the file's name", "one file per concept, with `name`"),
            Field(_TAGS, "no: it does not support them", NO),
            Field(_DUE, "from `hashcards.db`", "with `--with-schedule`"),
            Field(_MEMORY, "from `hashcards.db`", "with `--with-schedule`"),
            Field(_COUNTS, "number of reviews, from `hashcards.db`", "number of reviews, with `--with-schedule`"),
            Field(_REVIEWS, "from `hashcards.db`", NO),
            Field(_SUSPENDED, "no: it does not support them", NO),
            Field(_MEDIA, "copied to learning/media", "shown as text"),
        ),
    ),
    Format(
        "repeater",
        "repeater",
        "qa",
        (
            Field(_QUESTION, "`Q:` and `A:`, or `front::back` on one line", "`Q:` and `A:`"),
            Field(_CLOZE, "`C:`, one card per pair of brackets", "one `C:` per card; as `Q:` if that is not possible"),
            Field(_BOTH, "a card that follows its reverse becomes its sibling", "two cards, one after the other"),
            Field(_DECK, "the file's name", "one file per concept"),
            Field(_TAGS, "no: it does not support them", NO),
            Field(_DUE, "from its `cards.db`, with `--database`", NO),
            Field(_MEMORY, "from its `cards.db`, with `--database`", NO),
            Field(_COUNTS, "number of reviews, from its `cards.db`", NO),
            Field(_REVIEWS, "no: it does not store them", NO),
            Field(_SUSPENDED, "no: it does not support them", NO),
            Field(_MEDIA, "copied to learning/media", "shown as text"),
        ),
    ),
    Format(
        "csv",
        "spreadsheets, and Anki notes exported as text",
        "csv",
        (
            Field(_QUESTION, "two columns", "`question` and `answer`"),
            Field(
                _CLOZE, "a front with Anki's cloze markup (`{{c1::...}}`)", "one row per card, as question and answer"
            ),
            Field(_BOTH, NO, "one row for each direction"),
            Field(_DECK, "a column, otherwise the file's name", "`concept`"),
            Field(_TAGS, "a column, separated by spaces or commas", "`tags`"),
            Field(_DUE, "a column with dates (2026-12-24)", "`due`"),
            Field(_MEMORY, "two columns; otherwise from interval and ease", "`stability` and `difficulty`"),
            Field(_COUNTS, "two columns", "`reps` and `lapses`"),
            Field(_REVIEWS, NO, NO),
            Field(_SUSPENDED, "suspended cards, from a column", "`suspended`"),
            Field(_MEDIA, "copied to learning/media from the table's folder", "as links"),
            Field(_QUOTES, NO, "`quotes` and `sources`"),
        ),
    ),
    Format(
        "jsonl",
        "another retain vault, and your own programs",
        "jsonl",
        (
            Field(_QUESTION, "yes", "`question` and `answer`"),
            Field(_CLOZE, "yes", "`words`, `variant` and `note`, which siblings share"),
            Field(_BOTH, "yes", "`words`, `variant` and `note`"),
            Field(_DECK, "one of your own decks with that title", "`title`"),
            Field(_TAGS, "the card's tags", "the tags of the deck and the card"),
            Field(_DUE, "yes", "`memory.due_day`"),
            Field(_MEMORY, "yes", "`memory`, to four decimals"),
            Field(_COUNTS, "yes", "`memory`"),
            Field(_REVIEWS, "yes", "`reviews`: date and time, rating, time on screen, interval"),
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
            Field(_QUESTION, "sides separated by `---`; templates filled in with their fields"),
            Field(_CLOZE, "`{{words}}` and `{{1::words}}`; without numbers, they all form one card"),
            Field(_BOTH, "cards that are reviewed in reverse become siblings"),
            Field(_DECK, "yes, including its parents"),
            Field(_TAGS, "yes"),
            Field(_DUE, "yes"),
            Field(_MEMORY, "the interval is used as the stability"),
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
            Field(_DUE, "yes, if the file contains it; files exported for sharing do not"),
            Field(_MEMORY, "the interval is used as the stability, and the difficulty is computed from the easiness"),
            Field(_COUNTS, "yes"),
            Field(_REVIEWS, "no: the files do not contain them"),
            Field(_SUSPENDED, "no: the files do not contain them"),
            Field(_MEDIA, "copied to learning/media"),
        ),
    ),
    Format(
        "remnote",
        "RemNote, exported as Markdown or text",
        "",
        (
            Field(_QUESTION, "`>>`, `<<`, `:>`, `;;`, and `>>>` with the answer on the lines below"),
            Field(_CLOZE, "`{{words}}`"),
            Field(_BOTH, "`<>` and `::`: siblings"),
            Field(_DECK, "the file's name"),
            Field(_TAGS, "`#tag` at the end of a line"),
            Field(_DUE, "no: the text does not contain it"),
            Field(_MEMORY, "no: the text does not contain it"),
            Field(_COUNTS, "no: the text does not contain them"),
            Field(_REVIEWS, "no: the text does not contain them"),
            Field(_SUSPENDED, "disabled cards (`>-`) are left out"),
            Field(_MEDIA, "copied to learning/media"),
        ),
    ),
)
