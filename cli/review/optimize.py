"""The command `optimize`: fit the FSRS parameters to the review history, and compare them with the current ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import click

from cli import output
from cli.environment import now
from cli.options import dry_run_option, opened_to_write, progress_option, vault_json_options
from cli.workspace import render_saved
from learning.cards.workspace import Desk, open_desk
from learning.memory import fit_decision
from learning.memory.evaluation import Marks, plot
from learning.memory.fold import card_events, fold_log, scheduler_for
from learning.memory.model import Model
from learning.memory.scheduler import Scheduler
from learning.memory.state import CardEvent, MemoryState, rules_of
from learning.schedule.queue import Item
from learning.schedule.refit_load import HORIZON, RefitLoad, spread_refit
from learning.schedule.workload import worth_first
from learning.store.index import with_index
from vault.errors import NotFound, RetainError, UsageError
from vault.files.guard import Scope
from vault.ids import CardId
from vault.index.facts import fact, set_fact
from vault.log.events import LogEvent, Params, Reschedule, Stamp, Undo
from vault.log.ledger import IDS
from vault.log.review_columns import ScannedLog, scan_log
from vault.log.review_log import LogWriter, append, is_written_with, log_files
from vault.text.formatting import plural
from vault.vault import Vault

_TRIED = "reviews at the last optimization"
_MOST_AFTER_REVIEW = 200_000  # reviews: beyond these a fit takes seconds, and nobody who quits shall wait for it


@click.command()
@dry_run_option
@click.option(
    "--auto",
    is_flag=True,
    help="Optimize only if the number of reviews has doubled since the last time; useful in cron jobs.",
)
@click.option("--reset", is_flag=True, help="Reset to the default parameters of FSRS-6.")
@click.option("--undo", is_flag=True, help="Undo the last change of parameters.")
@progress_option
@vault_json_options
def optimize(
    dry_run: bool, auto: bool, reset: bool, undo: bool, progress: str | None, vault_dir: str | None, as_json: bool
) -> int:
    """Optimize FSRS parameters using your review history; apply them only if they predict recall clearly better.

    The parameters are trained on the first half of your reviews and tested on the tenth that follows, then trained on
    both and tested on the next tenth, and so on. If they are better by a clear margin, they are fitted to all reviews
    and saved in the review log. Cards that become due sooner are spread out so that no day has many more reviews than
    before.

    \b
    Examples:
      retain optimize --dry-run
      retain optimize
      retain optimize --undo
    """
    if reset + undo + auto > 1:
        raise UsageError("--auto, --reset and --undo are mutually exclusive")
    vault = opened_to_write(vault_dir)
    if reset or undo:
        return _reset_or_undo(vault, undo=undo, dry_run=dry_run, as_json=as_json)
    return _fit(vault, dry_run=dry_run, auto=auto, as_json=as_json, progress=progress)


def _read_log(vault: Vault) -> ScannedLog:
    log = scan_log(log_files(vault.root))
    output.found(log.diagnostics)
    return log


def _card_events(vault: Vault) -> tuple[CardEvent, ...]:
    """Return the events of cards in the ledger."""
    return card_events(vault.read_bytes(IDS) or b"")


def _stamps(vault: Vault, log: ScannedLog) -> Iterator[Stamp]:
    """Yield the stamps of one action."""
    writer = LogWriter(vault.guard(Scope.LOG), (), zone=vault.settings.zone, via="cli", last=log.last)
    return writer.stamps(now())


def _write(vault: Vault, *events: LogEvent) -> None:
    append(vault.guard(Scope.LOG), *events)


def _fit(vault: Vault, *, dry_run: bool, auto: bool, as_json: bool, progress: str | None) -> int:
    """Fit parameters, save them if they predict better, and print the comparison."""
    log = _read_log(vault)
    if auto and not fit_decision.due_for_fit(log, _reviews_at_last_fit(vault)):
        return _not_due(log, _reviews_at_last_fit(vault), as_json)
    rules = scheduler_for(rules_of(vault.settings), log.others).rules
    narrator = output.Progress(progress)
    if narrator.jsonl:
        narrator({"event": "fit", "done": 0, "of": 1})
    elif not narrator.none:
        output.say(f"fitting {plural(len(log.reviews), 'review')}")
    found = fit_decision.compare_fit(fit_decision.fittable(log, rules.calendar), rules, _card_events(vault))
    if narrator.jsonl:
        narrator({"event": "fit", "done": 1, "of": 1})
    if isinstance(found, fit_decision.TooFew):
        return _too_few(found, as_json)
    load = None
    if found.better:
        events, load = _events_of(vault, log, found)
        if not dry_run:
            _write(vault, *events)
            render_saved(vault)
    else:
        _store_fit_size(vault, log)
    if as_json:
        output.show_json(_contest_json(found, kept=found.better and not dry_run, load=load))
    else:
        _show_contest(found, dry_run, load)
    return output.DONE


def _not_due(log: ScannedLog, tried: int, as_json: bool) -> int:
    wanted = fit_decision.next_fit_at(log, tried)
    if as_json:
        output.show_json({"reviews": len(log.reviews), "kept": False, "wanted": wanted})
    else:
        output.show(f"{len(log.reviews):,} reviews; next optimization at {wanted:,}")
    return output.DONE


def _too_few(found: fit_decision.TooFew, as_json: bool) -> int:
    """Print how many reviews are missing for a fit."""
    missing = {"missing_reviews": found.missing, "missing_later_reviews": found.missing_trials}
    if as_json:
        output.show_json({"reviews": found.reviews, "kept": False, **missing})
        return output.DONE
    words = []
    if found.missing:
        words.append(plural(found.missing, "review"))
    if found.missing_trials:
        words.append(f"{plural(found.missing_trials, 'review')} at least a day after the card's previous review")
    output.show(f"not enough reviews yet ({found.reviews:,}); still needed: {' and '.join(words)}")
    return output.DONE


def _contest_json(found: fit_decision.FitComparison, *, kept: bool, load: RefitLoad | None) -> dict[str, Any]:
    marks = {"default": found.default, "current": found.current, "new": found.new}
    return {
        "reviews": found.reviews,
        "cards": found.cards,
        "trained_on": found.trained,
        "held_out": found.held_out,
        "gain": round(found.gain, 5),
        "gain_needed": round(found.needed, 5),
        "better": found.better,
        "in_use": found.in_use,
        "kept": kept,
        "marks": {name: _marks_json(each) for name, each in marks.items()},
        "parameters": list(found.fitted),
        "due": None if load is None else _load_json(load),
    }


def _load_json(load: RefitLoad) -> dict[str, Any]:
    heaviest = {"heaviest_before": max(load.before), "heaviest_after": max(load.after)}
    return {"before": load.before[0], "after": load.after[0], "moved": len(load.moved), **heaviest}


def _marks_json(marks: Marks) -> dict[str, Any]:
    return {
        "log_loss": round(marks.log_loss, 5),
        "rmse_bins": round(marks.rmse_bins, 5),
        "foretold": round(marks.predicted, 5),
        "recalled": round(marks.recalled, 5),
        "calibration": [
            {
                "low": each.low,
                "high": each.high,
                "reviews": each.trials,
                "foretold": round(each.predicted, 5),
                "recalled": round(each.recalled, 5),
            }
            for each in marks.bins
        ],
    }


def _show_contest(found: fit_decision.FitComparison, dry_run: bool, load: RefitLoad | None) -> None:
    """Print the comparison of default, current and new parameters."""
    output.show(
        f"{found.reviews:,} reviews of {found.cards:,} cards; trained on at least the first {found.trained:,}, "
        f"tested on the {found.held_out:,} that follow"
    )
    output.show(f"  {'':10}  log loss  RMSE in bins  predicted  recalled")
    for name, marks in (("default", found.default), ("current", found.current), ("new", found.new)):
        row = f"{marks.log_loss:8.4f}  {marks.rmse_bins:12.4f}  {marks.predicted:9.1%}  {marks.recalled:8.1%}"
        output.show(f"  {name:10}  {row}")
    output.show("  new parameters: predicted (|) and actual (●) recall\n  range   predicted recalled reviews")
    for line in plot(found.new.bins):
        output.show(line)
    output.show(_verdict(found, dry_run))
    if load is not None:
        output.show(f"due today: {load.before[0]:,} before, {load.after[0]:,} after")
        heaviest = f"busiest of the next {HORIZON} days: {max(load.before):,} before, {max(load.after):,} after"
        output.show(f"{heaviest}{_moved_text(load)}")


def _moved_text(load: RefitLoad) -> str:
    """Return how many cards wait, as the end of a sentence."""
    return f"; {plural(len(load.moved), 'card')} moved to later days to limit this" if load.moved else ""


def _verdict(found: fit_decision.FitComparison, dry_run: bool) -> str:
    """Return a sentence on whether the new parameters are applied."""
    gain = found.gain
    if found.better:
        done = "would be applied (--dry-run)" if dry_run else "applied; `retain optimize --undo` undoes this"
        return f"prediction error (log loss) lower by {gain:.4f}: {done}"
    if found.in_use:
        return "parameters unchanged"
    if gain >= found.needed:
        return (
            "not applied: better than the current parameters but not better than the defaults; "
            "run `retain optimize --reset`"
        )
    if gain > 0:
        return (
            f"not applied: prediction error (log loss) is lower by only {gain:.4f}; "
            f"at least {found.needed:.4f} is needed to make rescheduling worthwhile"
        )
    seen = (
        "" if found.current == found.default else "; the current parameters may have been trained on the same reviews"
    )
    return f"not applied: no better than the current parameters on later reviews (prediction error {-gain:+.4f}){seen}"


def _events_of(vault: Vault, log: ScannedLog, found: fit_decision.FitComparison) -> tuple[list[LogEvent], RefitLoad]:
    """Return the events that take the new parameters into use, and the load of the coming days with them."""
    stamps = _stamps(vault, log)
    event = fit_decision.params_event(next(stamps), found)
    load = _load_after(open_desk(vault, now(), queued=False), log, event)
    days = {card: date.fromordinal(day) for card, day in sorted(load.moved.items())}
    moves = [Reschedule(stamp, card, day) for (card, day), stamp in zip(days.items(), stamps, strict=False)]
    return [event, *moves], load


def _load_after(desk: Desk, log: ScannedLog, event: Params) -> RefitLoad:
    """Return the load of the coming days with the parameters of `event`, what must wait for that included."""
    scheduler = Scheduler(replace(desk.scheduler.rules, parameters=event.parameters), desk.scheduler.retention_of)
    cards = set(desk.cards)
    old = desk.past.with_all_states().states
    new = fold_log(log, scheduler, desk.changes)
    before, after = (_due_days({card: s for card, s in states.items() if card in cards}, desk) for states in (old, new))
    today = desk.scheduler.calendar.day(desk.now)
    items = [Item(card, "") for card, day in after.items() if before.get(card) != day]
    ranked = worth_first(items, new, today, Model(event.parameters))
    return spread_refit(before, after, today, {item.card: number for number, item in enumerate(ranked)})


def _due_days(states: Mapping[CardId, MemoryState], desk: Desk) -> dict[CardId, int]:
    """Return the study day on which each card is due that is not hidden."""
    day = desk.scheduler.calendar.day
    return {c: day(s.due) for c, s in states.items() if s.due is not None and not (s.suspended or s.retracted)}


def _reset_or_undo(vault: Vault, *, undo: bool, dry_run: bool, as_json: bool) -> int:
    """Reset the parameters, or undo their last change."""
    log = _read_log(vault)
    last = fit_decision.last_params(log.others)
    if undo and last is None:
        raise NotFound("no parameter change to undo")
    stamps = _stamps(vault, log)
    events: list[LogEvent] = [fit_decision.reset_event(next(stamps))]
    if undo and last is not None:
        written = [
            event for event in log.others if is_written_with(event, last)
        ]  # with the days that cards were put on
        events = [Undo(stamp, event.id) for stamp, event in zip(stamps, written, strict=False)]
    if not dry_run:
        _write(vault, *events)
        render_saved(vault)
    left = fit_decision.last_params(each for each in log.others if each is not last) if undo else events[0]
    words = getattr(left, "reason", "") or "default"
    if as_json:
        output.show_json({"kept": not dry_run, "undone": last.id if undo and last else None, "now": words})
    else:
        output.show(f"parameters{' (dry run)' if dry_run else ''}: {words}")
    return output.DONE


# --- after a review -------------------------------------------------------------------------------------------------


def optimize_after_review(vault: Vault) -> None:
    """Fit the scheduler if the reviews have doubled, and report it in one line; called when a review is over and saved.

    An error here is only reported: the reviews are on disk.
    """
    if not vault.settings.auto_optimize:
        return
    try:
        _fit_after_review(vault, _read_log(vault))
    except RetainError as error:
        output.say(f"parameters not optimized: {error}")


def _fit_after_review(vault: Vault, log: ScannedLog) -> None:
    """Fit parameters if the reviews have doubled, and report the result."""
    if not fit_decision.due_for_fit(log, _reviews_at_last_fit(vault)):
        return
    if len(log.reviews) > _MOST_AFTER_REVIEW:
        output.say("your number of reviews has doubled since the last optimization: run `retain optimize`")
        return
    rules = scheduler_for(rules_of(vault.settings), log.others).rules
    found = fit_decision.compare_fit(fit_decision.fittable(log, rules.calendar), rules, _card_events(vault))
    if not isinstance(found, fit_decision.FitComparison) or not found.better:
        _store_fit_size(vault, log)
        return
    events, load = _events_of(vault, log, found)
    _write(vault, *events)
    render_saved(vault)
    loss = f"prediction error (log loss) {found.new.log_loss:.4f}, previously {found.current.log_loss:.4f}"
    done = f"parameters optimized on {found.reviews:,} reviews ({loss}{_moved_text(load)})"
    output.say(f"{done}; `retain optimize --undo` undoes this")


def _reviews_at_last_fit(vault: Vault) -> int:
    """Return how many reviews there were at the last fit that gave nothing better; 0 if none is known."""
    return int(with_index(vault, lambda index: fact(index, _TRIED)) or 0)


def _store_fit_size(vault: Vault, log: ScannedLog) -> None:
    with_index(vault, lambda index: set_fact(index, _TRIED, str(len(log.reviews))))
