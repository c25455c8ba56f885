"""Notes of Obsidian's plugin Spaced Repetition: cards in the text, each with its schedule in a comment.

The cards are those that the plugin finds (version 1.15, `src/parser.ts`): `front::back` and `front:::back` in a line,
`?` and `??` alone on one between the lines of a card, `==deletion==`. The plugin's own settings are followed where
the folder has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from learning.foreign.cards import ForeignCard, Learnt, Reading
from learning.foreign.highlights import cloze_of
from learning.foreign.sr_schedule import note_schedule, schedules_in, split_comments
from learning.foreign.sr_settings import SrSettings
from learning.foreign.tree import Tree, unique_key
from vault.model.card import REVERSED
from vault.model.frontmatter import body_of, read_properties
from vault.text.formatting import plural

FORMAT = "obsidian-sr"
_TAG = re.compile(r"(?:^|(?<=\s))#([^\s#]*[^\s#\d][^\s#]*)")
_TAGS_FIRST = re.compile(r"\s*((?:#[^\s#]+\s+)+)(?=\S)")
_BLOCK_ID = re.compile(r" \^([A-Za-z0-9-]+)$")
_SCHEDULED = "<!--SR:!"
_CALLOUT = "> [!sr|card-metadata]"
_MOST_NOTE = 4_000  # characters of a note that becomes the answer of a card


@dataclass(slots=True)
class _Block:
    """The text of one question; `kind` is one of "::", ":::", "?", "??" and "cloze". `line` is 1-based."""

    kind: str
    text: str
    line: int


def read(tree: Tree, zone: tzinfo, *, notes: bool = False, separators: Sequence[str] = ()) -> Reading:
    """Return the cards of the notes in `tree`; in a folder of those with a flashcard tag or a schedule of a card.

    With `notes`, a note that the plugin schedules as a whole is a card, too. `separators` are the plugin's four, where
    its settings are not in the folder. Raises: UsageError for another number of them.
    """
    reading = Reading(pictures=tree.picture)
    settings = SrSettings.of(tree).with_separators(separators)
    left_out, scheduled, unclaimed, keys = 0, 0, 0, dict[str, int]()
    for path, text in tree.texts(reading, (".md",)):
        cards = list(_cards(path, text, settings, reading, zone, whole=tree.is_file or _SCHEDULED in text))
        if (schedule := note_schedule(read_properties(text))) is not None:
            scheduled += 1
            cards += _note(path, text, settings, Learnt(schedule), reading) if notes else ()
        blocks = _blocks(_blank_front(text), settings) if _SCHEDULED in text else ()
        unclaimed += text.count(_SCHEDULED) - sum(_SCHEDULED in block.text for block in blocks)
        if not cards and not _is_tagged(text, settings) and _has_cards(text, settings):
            left_out += 1
        reading.cards += [unique_key(card, keys) for card in cards]
    if scheduled and not notes:
        what = plural(scheduled, "note is", "notes are")
        reading.remarks.append(f"{what} scheduled as a whole (sr-due), not as cards; --notes imports them as cards")
    if unclaimed > 0:
        what = f"{plural(unclaimed, 'schedule')} without a matching card: the plugin probably used other separators"
        reading.remarks.append(f"{what}; specify them with --separators, or import the folder that contains .obsidian")
    if left_out:
        tags = " or ".join(settings.tags)
        what = plural(left_out, "note that seems to contain", "notes that seem to contain")
        reading.remarks.append(
            f"skipped {what} cards, because the tag {tags} is missing (the plugin skips them, too); to import such a "
            "file, give its path"
        )
    return reading


def looks_like(text: str) -> bool:
    """Return whether the text is a note of the plugin: it has a schedule, or its tag and a card."""
    return _SCHEDULED in text or (_is_tagged(text, SrSettings()) and _has_cards(text, SrSettings()))


def _has_cards(text: str, settings: SrSettings) -> bool:
    return next(_blocks(_blank_front(text), settings), None) is not None


def _is_tagged(text: str, settings: SrSettings) -> bool:
    """Return whether the note has a flashcard tag, in its properties or its text."""
    front = (f"#{tag.removeprefix('#')}" for tag in read_properties(text).texts("tags"))
    return any(_deck(tag, settings) is not None for tag in (*front, *(f"#{m[1]}" for m in _TAG.finditer(text))))


def _deck(tag: str, settings: SrSettings) -> str | None:
    """Return the name of the deck that a flashcard tag gives, "" for the tag alone; None for another tag."""
    for own in settings.tags:
        if tag.casefold() == own.casefold():
            return ""
        if tag.casefold().startswith(f"{own.casefold()}/"):
            return tag[len(own) + 1 :].strip("/").replace("/", "::")
    return None


def _blank_front(text: str) -> str:
    """Return the note with its properties as empty lines, so that lines keep their numbers."""
    text = text.replace("\r\n", "\n")
    body = body_of(text)
    return "\n" * text.count("\n", 0, len(text) - len(body)) + body


def _cards(
    path: str, text: str, settings: SrSettings, reading: Reading, zone: tzinfo, *, whole: bool
) -> Iterator[ForeignCard]:
    """Yield the cards of a note."""
    given = [f"#{tag.removeprefix('#')}" for tag in read_properties(text).texts("tags")]
    decks = [deck for tag in given if (deck := _deck(tag, settings)) is not None]
    tags, stem = _other_tags(text, settings), _stem(path)
    is_wanted = whole or settings.folders_are_decks
    body = _blank_front(text)
    places = _deck_lines(body, settings)
    for block in _blocks(body, settings):
        before = [deck for line, deck in places if line < block.line]
        deck = before[-1] if before else decks[0] if decks else None
        own, block = _own_deck(block, settings)
        deck = own if own is not None else deck
        if settings.folders_are_decks:
            deck = path.rpartition("/")[0].replace("/", "::")
        if deck is None and not is_wanted:
            continue
        card = _card(block, path, settings, reading, zone)
        if card is not None:
            yield replace(card, deck=deck or stem, tags=tags, base=path)


def _stem(path: str) -> str:
    return path.rsplit("/", 1)[-1].removesuffix(".md")


def _other_tags(text: str, settings: SrSettings) -> tuple[str, ...]:
    """Return the tags among a note's properties that are not the plugin's own."""
    given = [f"#{tag.removeprefix('#')}" for tag in read_properties(text).texts("tags")]
    return tuple(tag[1:] for tag in given if _deck(tag, settings) is None and tag not in settings.review_tags)


def _note(path: str, text: str, settings: SrSettings, learnt: Learnt, reading: Reading) -> Iterator[ForeignCard]:
    """Yield the card of a note that the plugin schedules as a whole: what does it say?"""
    tags, stem = _other_tags(text, settings), _stem(path)
    lines = split_comments(_blank_front(text))[0].split("\n")
    words = "\n".join(line for line in lines if not _only_tags(line)).strip()
    if not words:
        reading.add_problem(path, 1, "the note has a schedule (sr-due) but no text")
    elif len(words) > _MOST_NOTE:
        what = f"the note has a schedule (sr-due) and {len(words):,} characters, too many for a card's answer"
        reading.add_problem(path, 1, what, "write a card about the part that you want to remember")
    else:
        yield ForeignCard(f"note:{stem}", stem, words, path, 1, "Notes", tags, learnt={"": learnt}, base=path)


def _only_tags(line: str) -> bool:
    return bool(line.strip()) and not _TAG.sub("", line).strip()


def _deck_lines(body: str, settings: SrSettings) -> list[tuple[int, str]]:
    """Return (line, deck) of each line with a flashcard tag that is no card's own: it counts for the cards after it."""
    found = []
    for number, line in enumerate(body.split("\n"), 1):
        if settings.separators_in(line):
            continue
        decks = [deck for m in _TAG.finditer(line) if (deck := _deck(f"#{m[1]}", settings)) is not None]
        if decks:
            found.append((number, decks[0]))
    return found


def _own_deck(block: _Block, settings: SrSettings) -> tuple[str | None, _Block]:
    """Return the deck that a tag in front of a card names, and the card without its tags; None without such a tag."""
    found = _TAGS_FIRST.match(block.text)
    if found is None:
        return None, block
    decks = [deck for tag in found[1].split() if (deck := _deck(tag, settings)) is not None]
    return (decks[0], replace(block, text=block.text[found.end() :])) if decks else (None, block)


def _card(block: _Block, path: str, settings: SrSettings, reading: Reading, zone: tzinfo) -> ForeignCard | None:
    """Return the card of a block; None, and a problem, for one without a front or a back."""
    text, comments = split_comments(block.text)
    text = text.rstrip()
    named = _BLOCK_ID.search(text)
    text = text[: named.start()].rstrip() if named else text
    schedules, faults = schedules_in(comments, zone)
    for fault in faults:
        reading.remarks.append(
            f"{path}:{block.line}: the schedule {fault!r} cannot be read; the card is imported as new"
        )
    if block.kind == "cloze":
        question, answer, problem = *cloze_of(text.strip(), settings.clozes), ""
        names: Sequence[str] = ()
        if question is None:
            problem = answer or ""
        else:
            answer, names = None, [f"c{n}" for n in range(1, len(schedules) + 1)]
    else:
        question, answer = _sides(block.kind, text, settings)
        problem = "" if question and answer else "one side of the card is empty"
        names = ("", REVERSED) if block.kind in (":::", "??") else ("",)
    if question is None or problem:
        reading.add_problem(path, block.line, problem, "complete it in Obsidian, then import again")
        return None
    learnt = {name: Learnt(each) for name, each in zip(names, schedules, strict=False) if each is not None}
    key = f"^{named[1]}" if named else f"{path.rsplit('/', 1)[-1]}\x1f{question}"
    reversed_ = block.kind in (":::", "??")
    return ForeignCard(key, question, answer, path, block.line, is_reversed=reversed_, learnt=learnt)


def _sides(kind: str, text: str, settings: SrSettings) -> tuple[str, str]:
    """Return front and back."""
    separator = settings.separators[kind]
    if kind in ("::", ":::"):
        front, _, back = text.partition(separator)
        return front.strip(), back.strip()
    lines = text.split("\n")
    at = next(n for n, line in enumerate(lines) if line.strip() == separator)
    return "\n".join(lines[:at]).strip("\n"), "\n".join(lines[at + 1 :]).strip("\n")


def _blocks(body: str, settings: SrSettings) -> Iterator[_Block]:
    """Yield the blocks of a note without properties, as the plugin's `parse` does."""
    lines = body.split("\n")
    held: list[str] = []
    kind, first, at = "", 1, 0
    while at < len(lines):
        line, at = lines[at], at + 1
        if line.startswith("<!--") and not line.startswith("<!--SR:"):
            while at < len(lines) and "-->" not in line:
                line, at = lines[at], at + 1
            continue
        is_marker = settings.end_marker != "" and line.strip() == settings.end_marker
        if is_marker or (not line.strip() and not (settings.end_marker and kind)):
            if kind:
                yield _Block(kind, "\n".join(held).rstrip(), first)
            kind, held, first = "", [], at + 1
            continue
        held.append(line.rstrip())
        inline = settings.inline_kind(line)
        if inline:
            last = _schedule_lines(lines, at)
            yield _Block(inline, "\n".join([line, *lines[at:last]]), at)
            kind, held, at, first = "", [], last, last + 1
        elif line.strip() in (settings.separators["?"], settings.separators["??"]):
            if len("\n".join(held)) > 1:
                kind = "?" if line.strip() == settings.separators["?"] else "??"
        elif line.startswith(("```", "~~~")):
            mark = re.match(r"`+|~+", line)
            assert mark is not None
            while at < len(lines) and not lines[at].startswith(mark[0]):
                held.append(lines[at])
                at += 1
            held.append(mark[0])
            at += 1
        elif not kind and settings.has_cloze(line):
            kind = "cloze"
    if kind and held:
        yield _Block(kind, "\n".join(held).rstrip(), first)


def _schedule_lines(lines: Sequence[str], at: int) -> int:
    """Return the end of the lines from `at` that hold the schedule of a card in one line."""
    if at < len(lines) and lines[at].startswith("<!--SR:"):
        return at + 1
    if at < len(lines) and lines[at].startswith(_CALLOUT):
        return next((n + 1 for n in range(at, len(lines)) if "<!--SR:" in lines[n]), len(lines))
    return at
