"""The rows of the home screen as Content. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from textual.content import Content

from learning.pages.today import Figures, Overview
from learning.stats.catch_up import Offer
from tui.strings import home as strings
from tui.text import content
from tui.text.wrapping import folded
from tui.widgets import plot
from vault.model.gaps import Gap

_ROWS = 3  # of the bars for the days to come
_EACH = 3  # columns for one of those days where there is room, with one between two
_TOPICS = 8
_GAPS = 6  # named on a wide screen, as far as ...
_GAP_ROWS = 10  # ... so many rows hold them
_SCORE = 8  # columns of a topic's bar
_KNOWN = 10  # and of how many of its concepts are known


def dated(vault: str, day: str) -> str:
    return f"{vault} · {day}"


def dotted(*parts: Content) -> Content:
    """Join the parts that are not empty with dots."""
    return Content.styled("  ·  ", content.DIM).join([part for part in parts if part.plain])


class Step(NamedTuple):
    """A numbered step of a vault without cards: its name, the screen to which it leads, and what to do there."""

    name: str
    where: str
    about: str = ""


def steps(seen: Overview) -> tuple[Step, ...]:
    """Return the steps of a vault without cards, as `advice` lists them; none where there are cards."""
    if not seen.has_sources:
        add, compile_, review = (name for name, _ in strings.FILL)
        return Step(add, "work", "add"), Step(compile_, "work", "compile"), Step(review, "review")
    if seen.suggested:
        return (Step(strings.suggest(seen.suggested)[0][0], "suggest"),)
    return () if seen.cards else (Step(strings.COMPILE[0][0], "work", "compile"),)


def is_done(seen: Overview) -> bool:
    """Return whether there are cards, and none of them is left for today."""
    return bool(seen.cards) and not seen.due + seen.new


def advice(seen: Overview, tag: str, offer: Offer | None = None) -> Content:
    """Return what to do now."""
    if not seen.has_sources:
        return _steps(strings.EMPTY, strings.FILL, strings.FILL_NOTES, strings.FILL_SHELL)
    if seen.suggested:
        return _steps(strings.NO_CARDS, strings.suggest(seen.suggested), strings.SUGGEST_SHELL)
    if not seen.cards:
        return _steps(strings.NO_CARDS, strings.COMPILE, strings.COMPILE_SHELL)
    rows = _greeting(seen, offer) if seen.is_back else [_today(seen, tag), *_plan(seen, offer)]
    why = strings.sentence(seen.held_back)
    return Content("\n").join([*rows, *([content.line(why, content.DIM)] if why else [])])


def _today(seen: Overview, tag: str) -> Content:
    """Return how to begin, or that nothing is due."""
    done = strings.reviewed_today(seen.done) if seen.done else ""
    more = strings.waiting(seen.due_beyond, seen.new_beyond) if seen.waiting else ""
    if seen.paused_until is not None:
        head, notes = content.plain(strings.paused(seen.paused_until, seen.today), "bold"), [strings.PAUSE_ENDS, done]
    elif seen.due + seen.new:
        head = Content.assemble(strings.PRESS, content.plain("enter", "bold $text-accent"), strings.BEGINS)
        notes = [strings.only(tag) if tag else "", done, more]
    else:
        head = content.plain(strings.DONE if seen.done else strings.NOTHING_DUE, "bold")
        notes = [done, strings.next_due(seen.next_due) if seen.next_due and not more else more]
    shown = Content(" ").join([content.line(note, content.DIM) for note in notes if note])
    return Content("\n" if is_done(seen) else " ").join([part for part in (head, shown) if part.plain])


def _greeting(seen: Overview, offer: Offer | None) -> list[Content]:
    """Return when the user was here last, what waits, and the keys that decide how it is worked off."""
    last = [content.plain(strings.welcome(seen.last_visit, seen.away), "bold")] if seen.last_visit is not None else []
    waits = content.plain(strings.backlog_waiting(seen.backlog), "bold")
    if offer is None:
        begin = Content.assemble(strings.PRESS, content.plain("enter", "bold $text-accent"), strings.BEGINS)
        return [*last, Content.assemble(waits, begin)]
    return [
        *last,
        Content.assemble(waits, _proposal(offer, seen.today)),
        Content.assemble(strings.ALL_TODAY, _key("enter"), ")."),
    ]


def _proposal(offer: Offer, today: date) -> Content:
    return Content.assemble(strings.offer(offer.per_day, offer.until, today), "(", _key("c"), ").")


def _key(name: str) -> Content:
    return content.plain(name, "bold $text-accent")


def _plan(seen: Overview, offer: Offer | None) -> list[Content]:
    """Return the row on the plan that holds, or that is proposed."""
    if seen.plan is not None and seen.plan_ends is not None and not seen.plan.is_everything and seen.due_beyond:
        words = content.plain(strings.catching_up(seen.plan.per_day, seen.plan_ends, seen.today), content.DIM)
        return [Content.assemble(words, "(", _key("c"), " to change).")]
    return [_proposal(offer, seen.today)] if offer is not None else []


def _steps(head: str, steps: Sequence[tuple[str, str]], *notes: str) -> Content:
    rows = [content.plain(head, "bold"), Content("")]
    width = max(len(command) for command, _ in steps) + 3
    for number, (command, gives) in enumerate(steps, 1):
        name = content.plain(command.ljust(width), "$text-accent")
        rows.append(Content.assemble((f"  {number}  ", "bold $text-accent"), name, gives))
    rows += [Content(""), *(content.plain(note, content.DIM) for note in notes)]
    return Content("\n").join(rows)


def agenda(seen: Overview, wide: bool, width: int = 0) -> Content:
    """Return the number of gaps and the most important of each kind, or more of them where there is room."""
    if not seen.open_gaps:
        return content.plain(strings.NOTHING_MISSING, content.DIM)
    opens = Content.assemble(("g", "bold $text-accent"), content.plain(strings.OPENS_GAPS, content.DIM))
    head = dotted(content.plain(strings.open_gaps(seen.open_gaps), "bold"), opens)
    ranks = [[gap] for gaps in seen.gaps.values() for gap in gaps[:1]]
    ranks += [[gap] for gaps in seen.gaps.values() for gap in gaps[1:_GAPS]]
    pressing = [_gap(gap) for rank in ranks for gap in rank]
    return Content("\n").join([head, *(_in_full(pressing[:_GAPS], width) if wide else pressing[:1])])


def _in_full(gaps: Sequence[Content], width: int) -> list[Content]:
    """Return the rows of the gaps that fit in full into `width` columns; 0 does not fold."""
    rows: list[Content] = []
    for gap in gaps:
        first, *more = folded(gap, width)
        if len(rows) + 1 + len(more) > _GAP_ROWS:
            break
        rows += [first, *more]
    return rows


def _gap(gap: Gap) -> Content:
    return Content.assemble(
        content.line(gap.what), content.plain(": ", content.DIM), content.line(gap.missing, content.DIM)
    )


def _two_parts(words: tuple[str, str]) -> Content:
    return dotted(content.plain(words[0], "bold"), content.plain(words[1], content.DIM))


def streak(found: Figures) -> Content:
    return _two_parts(strings.streak(found.book.streak, found.book.longest, found.today in found.book.reviews))


def recalled(found: Figures, wanted: float) -> Content:
    return _two_parts(strings.recalled(found.book, wanted))


def coming(found: Figures, width: int, *, is_planned: bool = False) -> Content:
    """Return the number of reviews, a bar for each of the next days, and the names of these days."""
    counts = found.book.coming
    head = dotted(
        content.plain(strings.coming(sum(counts), len(counts)), "bold"),
        content.plain("" if is_planned else _how_much(found), content.DIM),
    )
    each = _EACH if len(counts) * (_EACH + 1) <= width else _EACH - 1
    counts = counts[: max(1, (width + 1) // (each + 1))]
    days = [strings.WEEKDAYS[date.fromordinal(found.today + n).weekday()] for n in range(len(counts))]
    days[0] = strings.TODAY
    return Content("\n").join([head, plot.bars(counts, _ROWS, each), plot.under(days, each)])


def _how_much(found: Figures) -> str:
    """Return the most reviews of a day; with a backlog, until when it lasts."""
    plan = found.backlog
    if plan is None:
        return strings.most(max(found.book.coming)) if any(found.book.coming) else ""
    return strings.backlog(plan.overdue, date.fromordinal(found.today + plan.days) if plan.days else None)


def since(found: Figures, wide: bool, width: int = 0) -> Content:
    """Return what is new since yesterday, on one line as far as it fits, or in rows with the names of the articles."""
    new = found.news
    counts = (len(new.articles), new.cards, new.changed, new.reworded, new.retracted, new.contested, new.settled)
    items = [strings.inbox(found.inbox)] if found.inbox else []
    items += [strings.suggested(found.suggested)] if found.suggested else []
    items += [strings.held(found.held)] if found.held else []
    items += [*strings.news(*counts), *([strings.ripe(found.ripe)] if found.ripe else [])]
    head = content.plain(strings.YESTERDAY, content.DIM)
    if not items:
        return dotted(head, content.plain(strings.NOTHING_NEW, content.DIM))
    if not wide:
        return _fitting(head, items, width)
    rows = [dotted(*(content.plain(one) for one in items[n : n + 2])) for n in range(0, len(items), 2)]
    names = content.line(", ".join(new.articles), content.DIM)
    return Content("\n").join([head, *rows, *([names] if new.articles else [])])


def _fitting(head: Content, items: Sequence[str], width: int) -> Content:
    """Return the items that fit into `width` columns after the head, and how many are left; 0 leaves none out."""
    for number in range(len(items), 0, -1):
        left = [content.plain(strings.others(len(items) - number), content.DIM)] if number < len(items) else []
        row = dotted(head, *(content.plain(one) for one in items[:number]), *left)
        if not width or row.cell_length <= width or number == 1:
            return row
    return head


def topics(found: Figures, width: int) -> Content:
    """Return a bar for each topic, the weakest started ones first."""
    groups = found.topics
    if groups is None:
        return content.plain(strings.NOT_YET, content.DIM)
    if not groups:
        return content.plain(strings.NO_TOPICS, content.DIM)
    begun = [group for group in groups if group.seen][:_TOPICS]
    if not begun:
        return content.plain(strings.nothing_reviewed(len(groups)), content.DIM)
    room = min(44, width - _SCORE - 8 - _KNOWN)
    rows = []
    for group in begun:
        name = content.fitted(group.name, room)
        known = content.plain(strings.known(group.known, group.concepts), content.DIM)
        score = content.plain(f"{group.score * 100:>4.0f}  ", "bold")
        rows.append(Content.assemble(name, "  ", plot.bar(group.score, _SCORE, "$secondary"), score, known))
    left = len(groups) - len(begun)
    return Content("\n").join([*rows, *([content.plain(strings.more(left), content.DIM)] if left else [])])


def year(found: Figures, width: int) -> Content:
    return plot.calendar(found.book.reviews, found.today, width)
