"""The command group `card`: add, show, edit, delete and list cards, and what a user does to some of them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import click

from cli import output
from cli.options import vault_json_options
from cli.review import card_edit
from cli.review.card_ids import ids_of
from cli.review.card_new import delete, new
from cli.review.review import event_json
from cli.review.shift import advance, postpone
from cli.review.suggest import suggest
from cli.shell import card_ids
from cli.workspace import opened_desk, render_saved
from learning.cards import actions
from learning.cards.actions import Action
from learning.cards.info import card_info, rating_rows
from learning.cards.workspace import Desk
from learning.memory.labels import card_heading, status
from learning.schedule.date_text import study_day
from learning.store.placed import Placed
from vault.errors import UsageError
from vault.ids import CardId
from vault.log.card_history import PastCard, Version, flags_of, history, history_json, past_card
from vault.log.ledger import IDS
from vault.model import latex
from vault.model.markdown import unescape
from vault.text.formatting import clean_line, plural, truncate

_SHOWN = 20
_QUESTION = 100  # characters of a question in a list
_NAME = 12  # columns of a fact's name


@click.group()
def card() -> None:
    """Add, show, edit, delete, list, suggest, suspend, resume, bury, flag, tag, reschedule, postpone or advance cards.

    The commands accept several ids, or `-` to read ids from stdin.

    \b
    Examples:
      retain card new --cloze "The {{c1::mitochondrion}} makes {{c2::ATP}}."
      retain card show k7q2m9xd3f
      retain card edit k7q2m9xd3f
      retain card suggest --keep p3s8v1ya0t
      retain card flag k7q2m9xd3f --reason "too long"
      retain card tag k7q2m9xd3f p3s8v1ya0t --add exam
      retain card reschedule k7q2m9xd3f --to +7d
      retain card postpone --count 20 --dry-run
    """


@card.command("show")
@click.argument("id_", metavar="CARD", shell_complete=card_ids)
@vault_json_options
def show(id_: str, vault_dir: str | None, as_json: bool) -> int:
    """Show a card: its text, memory state, all ratings and earlier versions.

    \b
    Examples:
      retain card show k7q2m9xd3f
      retain card show k7q2m9xd3f --json
    """
    desk = opened_desk(vault_dir, read_only=True)
    data = desk.vault.read_bytes(IDS) or b""
    past = past_card(data, id_) if id_ not in desk.cards else None
    shown = _retired(past) if past is not None else _active(desk.card(id_), data)
    if as_json:
        output.show_json(_card_json(desk, shown))
        return output.DONE
    _print_card(desk, shown)
    if past is None and shown.support:
        output.say(f"`retain trace {shown.id}` shows its source")
    return output.DONE


@dataclass(frozen=True, slots=True)
class _Shown:
    """What `card show` prints of a card, besides its memory state.

    `question` and `answer` are Markdown for a card in a deck, else plain text; `past` is set for a card in no deck.
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
    card, support = placed.card, [c.claim for c in placed.card.support]
    place = (placed.deck.path, card.line, card.human_edited)
    return _Shown(
        placed.id, placed.title, placed.kind, card.question, card.answer, support, history(data, placed.id), *place
    )


def _retired(past: PastCard) -> _Shown:
    words = (past.last.question, past.last.answer)
    return _Shown(CardId(past.id), past.concept, past.kind, *words, past.cites, past.versions, past=past)


def _card_json(desk: Desk, shown: _Shown) -> dict[str, object]:
    """Return a card and its memory state as a JSON object."""
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
        **card_info(desk, shown.id).as_json(),
        "tags": list(desk.state(shown.id).tags),
        "history": history_json(shown.versions),
    }
    return found | ({"retired": shown.past.retired()} if shown.past else {})


def _print_card(desk: Desk, shown: _Shown) -> None:
    """Print a card and its memory state as text."""
    info, zone = card_info(desk, shown.id), desk.vault.settings.zone
    place = "not in any deck" if shown.past else f"{shown.path}:{shown.line}"
    output.show(f"{card_heading(clean_line(shown.title), clean_line(shown.kind))}  ({place})")
    output.show(f"Q: {latex.text(shown.question)}\nA: {latex.text(shown.answer)}")
    for name, value in info.rows():
        output.show(f"{name.lower():<{_NAME}}{value}")
    if shown.past:
        output.show(shown.past.fate(zone))
    if info.state.tags:
        output.show(f"{'tags':<{_NAME}}{clean_line(', '.join(info.state.tags))}")
    output.show_first([f"  {row}" for row in rating_rows(info, desk)], _SHOWN)
    for version, following in itertools.pairwise(shown.versions):
        changed = f"{following.at.astimezone(zone):%Y-%m-%d %H:%M}"
        output.show(f"until {changed} ({following.how or 'changed'}): {clean_line(version.question)}")
        output.show(f"  {clean_line(version.answer)}")


@card.command("edit")
@click.argument("id_", metavar="CARD", shell_complete=card_ids)
@click.option("--question", help="The new question.")
@click.option("--answer", help="The new answer.")
@click.option(
    "--from",
    "source",
    metavar="FILE",
    help="Read the question and answer from a file with Q: and A:, or from stdin (-).",
)
@click.option("--restore", "back", is_flag=True, help="Undo the last edit.")
@vault_json_options
def edit(
    id_: str,
    question: str | None,
    answer: str | None,
    source: str | None,
    back: bool,
    vault_dir: str | None,
    as_json: bool,
) -> int:
    """Edit the text of a card. The card keeps its history and schedule, and compiling never overwrites your text.

    Without --question, --answer or --from, your editor ($VISUAL or $EDITOR) opens. --restore undoes an edit; `retain
    undo` undoes reviews, flags and other actions.

    \b
    Examples:
      retain card edit k7q2m9xd3f
      retain card edit k7q2m9xd3f --answer "They keep the softmax moderate."
      retain card edit k7q2m9xd3f --from -
      retain card edit k7q2m9xd3f --restore
    """
    if sum(part is not None for part in (answer if question is None else question, source, back or None)) > 1:
        raise UsageError("conflicting options", hint="give --question and --answer, or --from, or --restore")
    desk = opened_desk(vault_dir)
    placed = desk.card(id_)
    edited = card_edit.edited(desk.vault, placed.card, question, answer, source, back=back)
    if edited is None:
        return output.FINDINGS
    if edited.changed:
        render_saved(desk.vault)
    card_edit.report_edit(edited, as_json=as_json)
    return output.DONE


@card.command("list")
@click.option("--all", "everything", is_flag=True, help="Every card, with its question.")
@click.option("--flagged", is_flag=True, help="Only flagged cards, with the reason.")
@click.option("--suspended", is_flag=True, help="Only suspended cards.")
@click.option("--leech", is_flag=True, help="Only leeches: cards that were forgotten repeatedly.")
@click.option("--tag", default="", help="Only cards with this tag.")
@vault_json_options
def list_(
    everything: bool,
    flagged: bool,
    suspended: bool,
    leech: bool,
    tag: str,
    vault_dir: str | None,
    as_json: bool,
) -> int:
    """List flagged, suspended or tagged cards, and leeches.

    \b
    Examples:
      retain card list --all
      retain card list --flagged
      retain card list --leech
      retain card list --tag exam --json
    """
    desk = opened_desk(vault_dir, read_only=True)
    flags = flags_of(desk.vault.root)
    key = tag.removeprefix("#").casefold()
    rows = []
    for id_, placed in desk.cards.items():
        state = desk.state(id_)
        tags = [each.casefold() for each in state.tags]
        if not (everything or state.flagged or state.suspended or state.leech or tags):
            continue
        if (flagged and not state.flagged) or (suspended and not state.suspended) or (key and key not in tags):
            continue
        if leech and not state.leech:
            continue
        place, question = desk.place(id_), clean_line(placed.card.question)
        shown = {"status": status(state, desk.now), "reason": clean_line(flags.get(id_, "")), "tags": state.tags}
        memory = {"leech": state.leech, "lapses": state.lapses}
        rows.append(
            {
                "id": id_,
                "concept": place.title,
                "path": place.path,
                "line": place.line,
                "question": question,
                **shown,
                **memory,
            }
        )
    if as_json:
        output.show_json({"cards": rows})
        return output.DONE
    lines = []
    for row in rows:
        state = desk.state(CardId(str(row["id"])))
        forgotten = f"leech, forgotten {plural(state.lapses, 'time')}" if state.leech else ""
        question = truncate(str(row["question"]), _QUESTION) if everything else ""
        marks = [question, str(row["status"]), forgotten, str(row["reason"]), " ".join(state.tags)]
        lines.append(f"{row['id']}  {row['concept']}: {'; '.join(filter(None, marks))}")
    output.show_first(lines, len(lines) if everything else _SHOWN)
    if not rows:
        output.show("no matching cards" if everything else "no matching cards; --all lists every card")
    return output.DONE


for command in (suggest, new, delete, postpone, advance):
    card.add_command(command)


def _perform(action: Action, desk: Desk, word: str, *, as_json: bool) -> int:
    """Save an action on cards and print the result."""
    if action.events:
        render_saved(actions.do(desk, action).vault)
    if as_json:
        events = [event_json(event) for event in action.events]
        output.show_json({"event": events[-1] if events else None, "events": events, "asked": action.asked})
    elif not action.events:
        output.show("no changes needed")
    else:
        whom = action.events[0].card if action.asked == 1 else plural(len(action.events), "card")
        rest = action.asked - len(action.events)
        left = f" ({rest} unchanged)" if rest else ""
        output.show(f"{whom}: {word}{left}; `retain undo` undoes this")
    return output.DONE


def _add_mark_command(word: str, help_: str) -> None:
    options = '--reason "too long"' if word == "flag" else "p3s8v1ya0t"
    example = f"retain card {word} k7q2m9xd3f {options}"
    several = f"retain card list --tag exam --json | jq -r '.cards[].id' | retain card {word} -"

    @card.command(word, help=f"{help_}\n\n\b\nExamples:\n  {example}\n  {several}")
    @click.argument("ids", metavar="CARD...", nargs=-1, required=True, shell_complete=card_ids)
    @click.option("--reason", default="", hidden=word != "flag", help="The reason, such as wrong, unclear or too long.")
    @vault_json_options
    def command(ids: Sequence[str], reason: str, vault_dir: str | None, as_json: bool) -> int:
        desk, cards = opened_desk(vault_dir), ids_of(ids)
        if word == "flag":
            return _perform(actions.flagging(desk, cards, reason, via="cli"), desk, word, as_json=as_json)
        made = {"suspend": actions.suspending, "resume": actions.resuming, "bury": actions.burying}[word]
        return _perform(made(desk, cards, via="cli"), desk, word, as_json=as_json)


_add_mark_command("suspend", "Suspend cards until you unsuspend them.")
_add_mark_command("resume", "Unsuspend cards.")
_add_mark_command("bury", "Bury cards until tomorrow.")
_add_mark_command("flag", "Flag cards that have a problem.")


@card.command("tag")
@click.argument("ids", metavar="CARD...", nargs=-1, required=True, shell_complete=card_ids)
@click.option("--add", multiple=True, metavar="TAG", help="Add this tag; repeatable.")
@click.option("--remove", multiple=True, metavar="TAG", help="Remove this tag; repeatable.")
@vault_json_options
def tag(ids: Sequence[str], add: Sequence[str], remove: Sequence[str], vault_dir: str | None, as_json: bool) -> int:
    """Add tags to cards, or remove them. Tags of their deck are not affected.

    \b
    Examples:
      retain card tag k7q2m9xd3f p3s8v1ya0t --add exam
      retain card tag k7q2m9xd3f --add later --remove exam
    """
    if not (add or remove):
        raise UsageError("no tag given", hint="give --add TAG or --remove TAG")
    desk = opened_desk(vault_dir)
    return _perform(actions.tagging(desk, ids_of(ids), add, remove, via="cli"), desk, "tag", as_json=as_json)


@card.command("reschedule")
@click.argument("ids", metavar="CARD...", nargs=-1, required=True, shell_complete=card_ids)
@click.option("--to", "to", required=True, metavar="DAY", help="The day: today, +7d, or a date like 2026-12-01.")
@click.option("--over", default=1, type=click.IntRange(1, 3_653), help="Spread the cards over this many days.")
@vault_json_options
def reschedule(ids: Sequence[str], to: str, over: int, vault_dir: str | None, as_json: bool) -> int:
    """Make cards due on a day of your choice, until their next rating. Their memory state does not change.

    New cards cannot be rescheduled; they keep their order.

    \b
    Examples:
      retain card reschedule k7q2m9xd3f --to today
      retain card reschedule k7q2m9xd3f p3s8v1ya0t --to 2026-12-01 --over 7
    """
    desk = opened_desk(vault_dir)
    today = date.fromordinal(desk.scheduler.calendar.day(desk.now))
    day = study_day(to, today)
    action = actions.spreading(desk, ids_of(ids), day, over, via="cli")
    until = day + timedelta(days=over - 1)
    word = f"due {day}" if over == 1 else f"due {day} to {until}"
    return _perform(action, desk, word, as_json=as_json)
