"""`retain card`: one card or many: what they say, what is remembered of them, and what the human does to them."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

import click

from cli import output
from cli.options import json_option, vault_option
from cli.study.review import desk_of, event_json, show_in_page
from vault.errors import UsageError

if TYPE_CHECKING:
    from learning.cards.actions import Action
    from learning.cards.workspace import Desk
    from learning.store.placed import Placed
    from vault.ids import CardId
    from vault.log.card_history import PastCard, Version

_SHOWN = 20
_MOST_IDS = 1_000_000  # read from a pipe


@click.group()
def card() -> None:
    """Cards: show, edit, list, suspend, resume, bury, flag, tag, reschedule.

    What is done to cards takes several ids, and `-` for ids on stdin.

    \b
    Examples:
      retain card show k7q2m9xd3f
      retain card edit k7q2m9xd3f
      retain card flag k7q2m9xd3f --reason "too long"
      retain card tag k7q2m9xd3f p3s8v1ya0t --add exam
      retain card reschedule k7q2m9xd3f --to +7d
    """


@card.command("show")
@click.argument("id_", metavar="CARD")
@vault_option
@json_option
def show(id_: str, vault_dir: str | None, as_json: bool) -> int:
    """The card, what it rests on, what is remembered of it, and what it said before."""
    from vault.log.card_history import past_card
    from vault.log.ledger import IDS

    desk = desk_of(vault_dir, looking=True)
    data = desk.vault.read_bytes(IDS) or b""
    past = past_card(data, id_) if id_ not in desk.cards else None
    shown = _retired(past) if past is not None else _active(desk.card(id_), data)
    if as_json:
        output.show_json(_card_json(desk, shown))
        return output.DONE
    _print_card(desk, shown)
    if past is None:
        output.say(f"`retain trace {shown.id}` shows the words it rests on")
    return output.DONE


@dataclass(frozen=True, slots=True)
class _Shown:
    """What `card show` prints of a card, besides what is remembered of it.

    `question` and `answer` are Markdown in a deck, else plain text; `past` is there for a card that is in no deck.
    """

    id: CardId
    title: str
    kind: str
    question: str
    answer: str
    support: Sequence[str]
    versions: Sequence[Version]
    path: str | None = None
    line: int | None = None
    edited: bool = False
    past: PastCard | None = None


def _active(placed: Placed, data: bytes) -> _Shown:
    from vault.log.card_history import history

    card, support = placed.card, [c.claim for c in placed.card.support]
    place = (placed.deck.path, card.line, card.human_edited)
    return _Shown(
        placed.id, placed.title, placed.kind, card.question, card.answer, support, history(data, placed.id), *place
    )


def _retired(past: PastCard) -> _Shown:
    from vault.ids import CardId

    words = (past.last.question, past.last.answer)
    return _Shown(CardId(past.id), past.concept, past.kind, *words, past.cites, past.versions, past=past)


def _card_json(desk: Desk, shown: _Shown) -> dict[str, object]:
    from learning.memory.labels import status
    from vault.log.card_history import history_json
    from vault.log.ledger import instant
    from vault.model.markdown import unescape

    state = desk.state(shown.id)
    words = (shown.question, shown.answer)
    question, answer = words if shown.past else map(unescape, words)
    found: dict[str, object] = {
        "id": shown.id,
        "path": shown.path,
        "line": shown.line,
        "concept": shown.title,
        "kind": shown.kind,
        "question": question,
        "answer": answer,
        "edited": shown.edited,
        "support": list(shown.support),
        "status": status(state, desk.now),
        "due": instant(state.due) if state.due and not shown.past else None,
        "interval_days": state.interval_days,
        "stability": round(state.stability, 4),
        "difficulty": round(state.difficulty, 4),
        "reps": state.reps,
        "lapses": state.lapses,
        "tags": list(state.tags),
        "history": history_json(shown.versions),
    }
    return found | ({"retired": shown.past.retired()} if shown.past else {})


def _print_card(desk: Desk, shown: _Shown) -> None:
    from learning.memory.labels import card_heading, status
    from vault.log.ledger import instant
    from vault.model import latex
    from vault.text.sanitize import clean_line

    state = desk.state(shown.id)
    place = "in no deck" if shown.past else f"{shown.path}:{shown.line}"
    output.show(f"{card_heading(clean_line(shown.title), clean_line(shown.kind))}  ({place})")
    output.show(f"Q: {latex.text(shown.question)}\nA: {latex.text(shown.answer)}")
    seen = f"{output.number(state.reps, 'review')}, {output.number(state.lapses, 'lapse')}"
    if state.due and not shown.past:
        seen = f"due {instant(state.due)}, {seen}"
    output.show(f"{status(state, desk.now)}: {seen if state.reps or state.due else 'never reviewed'}")
    if shown.past:
        output.show(shown.past.fate)
    if state.tags:
        output.show(f"tags: {clean_line(', '.join(state.tags))}")
    for version, following in itertools.pairwise(shown.versions):
        output.show(f"until {instant(following.at)} ({following.how or 'changed'}): {clean_line(version.question)}")
        output.show(f"  {clean_line(version.answer)}")


@card.command("edit")
@click.argument("id_", metavar="CARD")
@click.option("--question", help="What the card asks from now on.")
@click.option("--answer", help="What it answers.")
@click.option("--from", "source", metavar="FILE", help="Read both from a file with Q: and A:, or from stdin (-).")
@click.option("--restore", "back", is_flag=True, help="Take the last edit back.")
@vault_option
@json_option
def edit(
    id_: str,
    question: str | None,
    answer: str | None,
    source: str | None,
    back: bool,
    vault_dir: str | None,
    as_json: bool,
) -> int:
    """Change what a card says. Its history and its schedule stay, and no compile writes over your words.

    Without --question, --answer or --from, $VISUAL or $EDITOR opens on the card. `retain undo` is for reviews and
    marks; an edit is taken back by --restore.

    \b
    Examples:
      retain card edit k7q2m9xd3f
      retain card edit k7q2m9xd3f --answer "They keep the softmax moderate."
      retain card edit k7q2m9xd3f --from -
      retain card edit k7q2m9xd3f --restore
    """
    from cli.study import card_editing

    if sum(part is not None for part in (answer if question is None else question, source, back or None)) > 1:
        raise UsageError("those options say different things", hint="--question and --answer, or --from, or --restore")
    desk = desk_of(vault_dir)
    placed = desk.card(id_)
    edited = card_editing.edited(desk.vault, placed.card, question, answer, source, back=back)
    if edited is None:
        return output.FINDINGS
    if edited.changed:
        show_in_page(desk)
    card_editing.told(edited, as_json=as_json)
    return output.DONE


@card.command("list")
@click.option("--flagged", is_flag=True, help="Only cards that you flagged, with the reason.")
@click.option("--suspended", is_flag=True, help="Only suspended cards.")
@click.option("--tag", default="", help="Only cards with this tag of their own.")
@vault_option
@json_option
def list_(flagged: bool, suspended: bool, tag: str, vault_dir: str | None, as_json: bool) -> int:
    """Cards that you marked: all of them, or those of one mark.

    \b
    Examples:
      retain card list --flagged
      retain card list --tag exam --json
    """
    from learning.memory.labels import status
    from vault.evidence.flags import flags_of
    from vault.ids import CardId
    from vault.text.sanitize import clean_line

    desk = desk_of(vault_dir, looking=True)
    flags = flags_of(desk.vault)
    key = tag.removeprefix("#").casefold()
    rows = []
    for id_, state in desk.states.items():
        tags = [each.casefold() for each in state.tags]
        marked = (state.flagged, state.suspended, bool(tags))
        asked = (flagged, suspended, bool(key))
        fits = all(has for has, wanted in zip(marked, asked, strict=True) if wanted) and (not key or key in tags)
        if id_ in desk.cards and fits and any(marked):
            place = desk.place(id_)
            mine = {"status": status(state, desk.now), "reason": clean_line(flags.get(id_, "")), "tags": state.tags}
            rows.append({"id": id_, "concept": place.title, "path": place.path, "line": place.line, **mine})
    if as_json:
        output.show_json({"cards": rows})
        return output.DONE
    for row in rows[:_SHOWN]:
        said = "; ".join(
            filter(None, [str(row["status"]), str(row["reason"]), " ".join(desk.states[CardId(str(row["id"]))].tags)])
        )
        output.show(f"{row['id']}  {row['concept']}: {said}")
    if len(rows) > _SHOWN:
        output.show(f"and {len(rows) - _SHOWN} more (--json lists all)")
    if not rows:
        output.show("no card is marked so")
    return output.DONE


def _ids(given: Sequence[str]) -> list[str]:
    """The cards that were named, those on stdin in the place of `-`."""
    out: list[str] = []
    for id_ in given:
        out += sys.stdin.read(_MOST_IDS * 11).split() if id_ == "-" else [id_]
    if not out:
        raise UsageError("no card is named", hint="`retain due --json` lists the ids")
    return out


def _do(deed: Action, desk: Desk, word: str, *, as_json: bool) -> int:
    """Puts the deed on disk and says what it came to."""
    from learning.cards import actions

    if deed.events:
        show_in_page(actions.do(desk, deed))
    if as_json:
        events = [event_json(event) for event in deed.events]
        output.show_json({"event": events[-1] if events else None, "events": events, "asked": deed.asked})
    elif not deed.events:
        output.show(f"nothing to change: {'it is' if deed.asked == 1 else 'they are'} so already")
    else:
        whom = deed.events[0].card if deed.asked == 1 else output.number(len(deed.events), "card")
        rest = deed.asked - len(deed.events)
        left = f" ({rest} left as they were)" if rest > 1 else " (1 left as it was)" if rest else ""
        output.show(f"{whom}: {word}{left}; `retain undo` takes it back")
    return output.DONE


def _marked(word: str, help_: str) -> None:
    @card.command(word, help=help_)
    @click.argument("ids", metavar="CARD...", nargs=-1, required=True)
    @click.option("--reason", default="", hidden=word != "flag", help="What is wrong: wrong, unclear, too long, ...")
    @vault_option
    @json_option
    def command(ids: Sequence[str], reason: str, vault_dir: str | None, as_json: bool) -> int:
        from learning.cards import actions

        desk, cards = desk_of(vault_dir), _ids(ids)
        if word == "flag":
            return _do(actions.flagging(desk, cards, reason, via="cli"), desk, word, as_json=as_json)
        made = {"suspend": actions.suspending, "resume": actions.resuming, "bury": actions.burying}[word]
        return _do(made(desk, cards, via="cli"), desk, word, as_json=as_json)


_marked("suspend", "Keep cards out of every queue until they are resumed.")
_marked("resume", "Let suspended cards come back.")
_marked("bury", "Keep cards out of the queue until tomorrow.")
_marked("flag", "Say that something is wrong with cards.")


@card.command("tag")
@click.argument("ids", metavar="CARD...", nargs=-1, required=True)
@click.option("--add", multiple=True, metavar="TAG", help="A tag that the cards get.")
@click.option("--remove", multiple=True, metavar="TAG", help="A tag that they lose.")
@vault_option
@json_option
def tag(ids: Sequence[str], add: Sequence[str], remove: Sequence[str], vault_dir: str | None, as_json: bool) -> int:
    """Give cards tags of their own, beside those of their deck, or take some away.

    \b
    Examples:
      retain card tag k7q2m9xd3f p3s8v1ya0t --add exam
      retain card tag k7q2m9xd3f --add later --remove exam
    """
    from learning.cards import actions

    if not (add or remove):
        raise UsageError("no tag is named", hint="--add TAG, --remove TAG")
    desk = desk_of(vault_dir)
    return _do(actions.tagging(desk, _ids(ids), add, remove, via="cli"), desk, "tag", as_json=as_json)


@card.command("reschedule")
@click.argument("ids", metavar="CARD...", nargs=-1, required=True)
@click.option("--to", "to", required=True, metavar="DAY", help="today, +7d, or a date as 2026-12-01.")
@click.option("--over", default=1, type=click.IntRange(1, 3_653), help="Spread the cards over so many days from then.")
@vault_option
@json_option
def reschedule(ids: Sequence[str], to: str, over: int, vault_dir: str | None, as_json: bool) -> int:
    """Have cards due on a day that you choose, until you rate them next. What is remembered of them stays.

    New cards have no day: they come in their turn.

    \b
    Examples:
      retain card reschedule k7q2m9xd3f --to today
      retain card reschedule k7q2m9xd3f p3s8v1ya0t --to 2026-12-01 --over 7
    """
    from learning.cards import actions

    desk = desk_of(vault_dir)
    today = date.fromordinal(desk.scheduler.calendar.day(desk.now))
    day = _day(to, today)
    deed = actions.spreading(desk, _ids(ids), day, over, via="cli")
    until = day + timedelta(days=over - 1)
    word = f"due {day}" if over == 1 else f"due {day} to {until}"
    return _do(deed, desk, word, as_json=as_json)


def _day(text: str, today: date) -> date:
    """The study day that `text` names. Raises: UsageError."""
    word = text.strip().casefold()
    try:
        if word == "today":
            return today
        if word.startswith("+") and word.endswith("d"):
            return today + timedelta(days=int(word[1:-1]))
        return date.fromisoformat(word)
    except (ValueError, OverflowError) as error:
        raise UsageError("not a day", where=text, hint="today, +7d, or a date as 2026-12-01") from error
