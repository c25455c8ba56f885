"""The home screen as plain text: today's cards, retention, gaps and next commands."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from cli import output
from learning.cards.workspace import open_desk
from learning.pages.today import Figures, Overview, figures_of, overview_of
from tui.strings import home as strings
from vault.text.formatting import plural
from vault.vault import Vault

_GAPS = 3  # of each kind, by name
_COMPILE = (
    ("retain engine", "optional: choose a model, which writes more complete pages"),
    ("retain compile", "create articles and flashcards"),
)
_FILL = (
    ("retain add FILE...", "copy documents into raw/"),
    *_COMPILE,
    ("retain review --plain", "start reviewing"),
)
_NEXT = (
    ("retain review --plain", "review due cards"),
    ("retain gaps", "list gaps"),
    ("retain stats", "show retention"),
    ("retain -h", "list all commands"),
)


def show_home(vault: Vault, now: datetime, tag: str = "") -> None:
    """Print home. Raises SchemaTooNew, Refused or Damaged if the log cannot be read."""
    desk = open_desk(vault, now, tag=tag)
    seen = overview_of(desk)
    output.found(d for d in seen.diagnostics if d not in vault.notices)
    found = figures_of(desk) if seen.cards else None
    for line in lines(vault.settings.name, seen, found):
        output.show(line)


def lines(name: str, seen: Overview, found: Figures | None) -> Iterator[str]:
    """Yield the lines of home."""
    yield f"{name}, {seen.date}"
    if not seen.has_sources:
        yield from _steps(strings.EMPTY, _FILL)
        return
    if not seen.cards:
        yield from _steps(strings.NO_CARDS, _COMPILE)
        return
    yield from _today(seen)
    if found is not None:
        yield from _figures(seen, found)
    yield from _agenda(seen)
    yield from _steps("What to do:", _NEXT)


def _steps(head: str, steps: tuple[tuple[str, str], ...]) -> Iterator[str]:
    yield head
    for command, gives in steps:
        yield f"  {command}: {gives}"


def _today(seen: Overview) -> Iterator[str]:
    if seen.is_back and seen.last_visit is not None:
        yield strings.welcome(seen.last_visit, seen.away)
        yield f"{strings.backlog_waiting(seen.backlog)}`retain catch-up` spreads them over several days."
    if seen.paused_until is not None:
        yield f"{strings.paused(seen.paused_until, seen.today)} `retain pause --end` ends the pause."
    elif seen.due + seen.new:
        yield f"Today: {seen.due:,} due, {seen.new:,} new, about {plural(seen.minutes, 'minute')}."
    else:
        yield strings.DONE if seen.done else strings.NOTHING_DUE
        if seen.next_due:
            yield strings.next_due(seen.next_due)
    if seen.done:
        yield strings.reviewed_today(seen.done)
    if seen.waiting:
        yield strings.waiting(seen.due_beyond, seen.new_beyond)
    if seen.plan is not None and seen.plan_ends is not None and not seen.plan.is_everything and seen.due_beyond:
        yield f"{strings.catching_up(seen.plan.per_day, seen.plan_ends, seen.today)}(`retain catch-up` changes it)."
    if seen.held_back:
        yield strings.sentence(seen.held_back)


def _figures(seen: Overview, found: Figures) -> Iterator[str]:
    """Yield streak, retention, forecast and news."""
    book, new = found.book, found.news
    yield f"Streak: {_joined(strings.streak(book.streak, book.longest, found.today in book.reviews))}."
    yield f"Recalled: {_joined(strings.recalled(book, seen.desired))}."
    yield f"Coming: {strings.coming(sum(book.coming), len(book.coming)).removesuffix('.')}."
    counts = (len(new.articles), new.cards, new.changed, new.reworded, new.retracted, new.contested, new.settled)
    since = [*([strings.held(found.held)] if found.held else []), *strings.news(*counts)]
    since += [strings.ripe(found.ripe)] if found.ripe else []
    yield f"Since yesterday: {', '.join(since)}." if since else f"Since yesterday: {strings.NOTHING_NEW}"


def _joined(parts: tuple[str, str]) -> str:
    return ", ".join(part for part in parts if part)


def _agenda(seen: Overview) -> Iterator[str]:
    if not seen.open_gaps:
        yield strings.NOTHING_MISSING
        return
    yield f"Gaps: {seen.open_gaps:,} open."
    for kind, gaps in seen.gaps.items():
        for gap in gaps[:_GAPS]:
            yield f"  {kind}: {gap.what}: {gap.missing}"
