"""Tables of cards, CSV or TSV: which column is what, and a card for each row.

A head names the columns, or `--columns` does, or the first two are front and back. Texts that Anki exports begin with
lines such as `#separator:tab`, which count.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date

from learning.foreign.cards import ForeignCard, Learnt, Reading, Schedule, bounded, days_before, schedule_of_ease
from learning.foreign.tree import Tree, unique_key
from learning.formats.csv import COLUMNS as OWN_COLUMNS
from learning.formats.csv import without_guard
from vault.errors import UsageError
from vault.ids import ID, CardId
from vault.model.cloze import numbers_in
from vault.text.formatting import clean_line, short_line

SKIP = "-"
PARTS = "front back tags deck due interval ease stability difficulty reps lapses suspended id".split()
_NAMES = {  # what heads call them
    "front": "front question term word prompt recto q foreign expression vorderseite frage begriff",
    "back": "back answer definition meaning translation verso a response rückseite antwort bedeutung",
    "tags": "tags tag labels categories category",
    "deck": "deck deckname topic subject concept",
    "due": "due duedate",
    "interval": "interval intervaldays",
    "ease": "ease easefactor factor",
    "stability": "stability",
    "difficulty": "difficulty",
    "reps": "reps reviews repetitions",
    "lapses": "lapses",
    "suspended": "suspended",
    "id": "id guid uuid cardid noteid",
}
_BY_NAME = {name: part for part, names in _NAMES.items() for name in names.split()}
_SEPARATORS = {"comma": ",", "tab": "\t", "semicolon": ";", "pipe": "|", "colon": ":", "space": " "}
_DIRECTIVE = re.compile(
    r"#(separator|html|tags|columns|notetype|deck|tags column|notetype column|deck column|guid column):(.*)"
)
_SAMPLE = 200  # rows that the separator is guessed from
_WIDTH = 40  # characters of an example


@dataclass(slots=True)
class _Head:
    """What the lines before the rows say."""

    separator: str = ""
    html: bool = False
    tags: tuple[str, ...] = ()
    deck: str = ""
    columns: dict[int, str] = field(default_factory=dict)
    names: str = ""
    lines: int = 0  # of the head


def read(tree: Tree, columns: Sequence[str] = ()) -> Reading:
    """Return the cards of the tables in `tree`; `columns` says what each column is, in their order.

    Raises: UsageError for columns that are none, or lack front or back.
    """
    reading = Reading(pictures=tree.picture)
    keys: dict[str, int] = {}
    for path, text in tree.texts(reading, (".csv", ".tsv", ".tab")):
        head = _directives(text)
        rest = "\n".join(text.replace("\r\n", "\n").split("\n")[head.lines :])
        reading.html = reading.html or head.html
        rows = list(_rows(rest, head.separator or separator_of(rest), path, head.lines, reading))
        if not rows:
            continue
        chosen, has_head = _columns(rows[0][1], columns, head)
        _preview(reading, chosen, rows, has_head)
        is_own = tuple(rows[0][1][: len(OWN_COLUMNS)]) == OWN_COLUMNS
        for line, cells in rows[has_head:]:
            values = {part: cells[n].strip() for n, part in chosen.items() if n < len(cells)}
            values = {part: without_guard(cell) for part, cell in values.items()} if is_own else values
            card = _card(values, path, line, head, reading)
            if card is not None:
                reading.cards.append(unique_key(card, keys))
    return reading


def separator_of(text: str) -> str:
    """Return the sign by which most rows have the same number of cells, two or more; a comma where none does."""
    best, most = ",", 0.0
    for sign in ("\t", ",", ";", "|"):
        counts = Counter(len(row) for row in _sample(text, sign))
        several = {count: rows for count, rows in counts.items() if count > 1}
        share = max(several.values(), default=0) / max(1, sum(counts.values()))
        if share > most:
            best, most = sign, share
    return best if most > 0.5 else ","


def looks_like(text: str) -> bool:
    """Return whether the text is a table: nearly all rows have the same number of cells, two or more."""
    head = _directives(text)
    if head.separator:
        return True
    sign = separator_of(text)
    counts = Counter(len(row) for row in _sample(text, sign) if row)
    if sign == "\t" and counts and min(counts) > 1:
        return True
    usual, rows = max(counts.items(), key=lambda each: (each[1], each[0]), default=(0, 0))
    return usual > 1 and rows >= 0.9 * sum(counts.values())


def _sample(text: str, sign: str) -> list[list[str]]:
    rows: list[list[str]] = []
    with suppress(csv.Error):
        for row in csv.reader(io.StringIO(text[:200_000]), delimiter=sign):
            rows += [row] if row else []
            if len(rows) >= _SAMPLE:
                break
    return rows


def _directives(text: str) -> _Head:
    """Return what lines like `#separator:tab` at the beginning say."""
    head = _Head()
    for line in text.split("\n"):
        found = _DIRECTIVE.fullmatch(line.strip())
        if found is None:
            break
        head.lines += 1
        name, value = found[1], found[2].strip()
        if name == "separator":
            head.separator = _SEPARATORS.get(value.casefold(), value[:1])
        elif name == "html":
            head.html = value.casefold() == "true"
        elif name == "tags":
            head.tags = tuple(value.split())
        elif name == "deck":
            head.deck = clean_line(value)
        elif name == "columns":
            head.names = value
        elif name.endswith("column") and value.isdigit():
            part = {"tags column": "tags", "deck column": "deck", "guid column": "id"}.get(name, SKIP)
            head.columns[int(value) - 1] = part
    return head


def _rows(text: str, separator: str, path: str, before: int, reading: Reading) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, cells) of each row that is not empty; `before` lines come before the text."""
    reader = csv.reader(io.StringIO(text), delimiter=separator)
    first = before + 1
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            reading.add_problem(path, before + reader.line_num, f"the row cannot be read: {error}")
            row = []
        if any(cell.strip() for cell in row):
            yield first, row
        first = before + reader.line_num + 1


def _columns(first: Sequence[str], given: Sequence[str], head: _Head) -> tuple[dict[int, str], bool]:
    """Return what each column is, and whether the first row is a head. Raises: UsageError."""
    named = {n: _BY_NAME.get(re.sub(r"[\s_.-]", "", cell.strip().casefold()), SKIP) for n, cell in enumerate(first)}
    is_head = {"front", "back"} <= set(named.values()) or sum(part != SKIP for part in named.values()) >= 3
    if given:
        return _given(given), is_head
    if is_head:
        chosen = {part: n for n, part in reversed(named.items()) if part != SKIP}  # of two alike the first
        found = {n: part for part, n in chosen.items()}
    else:
        free = [n for n in range(len(first)) if n not in head.columns]
        found = head.columns | dict(zip(free, ("front", "back"), strict=False))
    if not {"front"} <= set(found.values()):
        raise UsageError(
            f"none of the columns was recognized as the front of a card: {', '.join(map(clean_line, first))[:200]}",
            hint="specify what each column is: --columns front,back,tags (`-` skips one)",
        )
    return found, is_head


def _given(columns: Sequence[str]) -> dict[int, str]:
    """Return what `--columns` says. Raises: UsageError."""
    parts = [_BY_NAME.get(name.strip().casefold(), name.strip().casefold()) for name in columns]
    unknown = [name for name in parts if name not in (*PARTS, SKIP, "")]
    if unknown or "front" not in parts:
        what = f"{unknown[0]!r} is not a type of column" if unknown else "none of the columns is the front"
        raise UsageError(what, where="--columns", hint=f"each must be one of {', '.join(PARTS)}, or - to skip it")
    return {n: name for n, name in enumerate(parts) if name not in (SKIP, "")}


def _preview(
    reading: Reading, chosen: Mapping[int, str], rows: Sequence[tuple[int, list[str]]], has_head: bool
) -> None:
    """Note of each column what it was taken for, with an example."""
    first = rows[0][1]
    example = rows[1][1] if has_head and len(rows) > 1 else first
    for n in range(len(first)):
        name = first[n] if has_head else str(n + 1)
        cell = example[n] if n < len(example) else ""
        reading.columns.append((short_line(name, _WIDTH), chosen.get(n, SKIP), short_line(cell, _WIDTH)))


def _card(values: Mapping[str, str], path: str, line: int, head: _Head, reading: Reading) -> ForeignCard | None:
    """Return the card of a row; None, and a problem, for one that lacks a side."""
    front, back = values.get("front", ""), values.get("back", "")
    is_cloze = bool(numbers_in(front))
    if not front or not (back or is_cloze):
        reading.add_problem(
            path, line, f"the row has no {'back' if front else 'front'}", "complete it, then import again"
        )
        return None
    stem = path.rsplit("/", 1)[-1]
    tags = (*head.tags, *_tags(values.get("tags", "")))
    id_ = values.get("id", "")
    schedule = _schedule(values)
    if schedule is None and values.get("due"):
        reading.remarks.append(f"{path}:{line}: the schedule of this row cannot be read; the card is imported as new")
    name = "c1" if is_cloze else ""
    own = CardId(id_) if ID.fullmatch(id_) and not is_cloze else None
    suspended = values.get("suspended", "").casefold() in ("yes", "true", "1")
    learnt = {name: Learnt(schedule, suspended=suspended, id=own)} if schedule or own or suspended else {}
    question = f"{front}\n> {back}" if is_cloze and back else front
    deck = values.get("deck", "") or head.deck or stem.rpartition(".")[0] or stem
    key = id_ or f"{stem}\x1f{front}"
    return ForeignCard(key, question, None if is_cloze else back, path, line, deck, tags, learnt=learnt, base=path)


def _tags(text: str) -> Iterable[str]:
    return filter(None, (tag.strip().removeprefix("#") for tag in re.split(r"[,;\s]+", text)))


def _schedule(values: Mapping[str, str]) -> Schedule | None:
    """Return the schedule of a row; None where it has none that can be believed."""
    try:
        due = date.fromisoformat(values.get("due", "")[:10])
        interval = float(values.get("interval") or 0)
        counts = float(values.get("reps") or 1), float(values.get("lapses") or 0)
        if values.get("stability") and values.get("difficulty"):
            numbers = float(values["stability"]), float(values["difficulty"])
            return bounded(days_before(due, interval), due, *numbers, *counts)
        ease = float(values.get("ease") or 2.5)
        return schedule_of_ease(due, interval or 1.0, ease / 100 if ease > 10 else ease, *counts)
    except (ValueError, OverflowError):
        return None
