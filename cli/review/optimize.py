"""The command `optimize`: fit the FSRS parameters to the review history, and compare them with the current ones."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Any

import click

from cli import output
from cli.environment import now
from cli.options import dry_run_option, opened_to_write, progress_option, vault_json_options
from cli.workspace import render_saved
from learning.cards.workspace import open_desk
from learning.memory import fit_decision
from learning.memory.evaluation import Marks, plot
from learning.memory.fold import card_events, fold, scheduler_for
from learning.memory.scheduler import Scheduler
from learning.memory.state import CardEvent, rules_of
from learning.store.index import with_index
from vault.errors import NotFound, RetainError, UsageError
from vault.files.guard import Scope
from vault.index.facts import fact, set_fact
from vault.log.events import LogEvent, Params, Stamp, Undo
from vault.log.ledger import IDS
from vault.log.review_columns import ScannedLog, scan_log
from vault.log.review_log import append, log_files, mint_stamp
from vault.text.formatting import plural
from vault.vault import Vault

_TRIED = "reviews at the last fit"
_MOST_AFTER_REVIEW = 200_000  # reviews: beyond these a fit takes seconds, and nobody who quits shall wait for it


@click.command()
@dry_run_option
@click.option("--auto", is_flag=True, help="Only if reviews have doubled since the last fit, as for cron.")
@click.option("--reset", is_flag=True, help="Reset to the default parameters of FSRS-6.")
@click.option("--undo", is_flag=True, help="Undo the last change of parameters.")
@progress_option
@vault_json_options
def optimize(
    dry_run: bool, auto: bool, reset: bool, undo: bool, progress: str | None, vault_dir: str | None, as_json: bool
) -> int:
    """Optimize FSRS parameters on your review history; applied only if they predict later reviews better.

    The parameters are fitted to the first four fifths of your reviews and tested on the rest. If they are better, they
    are fitted to all reviews and written to the review log.

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


def _stamp(vault: Vault, log: ScannedLog) -> Stamp:
    return mint_stamp(now(), last=log.last, zone=vault.settings.zone, via="cli", entropy=secrets.token_bytes(10))


def _write(vault: Vault, event: LogEvent) -> None:
    append(vault.guard(Scope.LOG), event)


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
    found = fit_decision.compare_fit(log.reviews, rules, _card_events(vault))
    if narrator.jsonl:
        narrator({"event": "fit", "done": 1, "of": 1})
    if isinstance(found, fit_decision.TooFew):
        return _too_few(found, as_json)
    due = None
    event = fit_decision.params_event(_stamp(vault, log), found)
    if found.better:
        due = _due_before_and_after(vault, event)
        if not dry_run:
            _write(vault, event)
            render_saved(vault)
    else:
        _store_fit_size(vault, log)
    if as_json:
        output.show_json(_contest_json(found, kept=found.better and not dry_run, due=due))
    else:
        _show_contest(found, dry_run, due)
    return output.DONE


def _not_due(log: ScannedLog, tried: int, as_json: bool) -> int:
    wanted = fit_decision.next_fit_at(log, tried)
    if as_json:
        output.show_json({"reviews": len(log.reviews), "kept": False, "wanted": wanted})
    else:
        output.show(f"{len(log.reviews):,} reviews; next fit at {wanted:,}")
    return output.DONE


def _too_few(found: fit_decision.TooFew, as_json: bool) -> int:
    """Print how many reviews are missing for a fit."""
    missing = {"missing_reviews": found.missing, "missing_later_reviews": found.missing_trials}
    if as_json:
        output.show_json({"reviews": found.reviews, "kept": False, **missing})
        return output.DONE
    words = []
    if found.missing:
        words.append(f"{plural(found.missing, 'review')} more")
    if found.missing_trials:
        number = f"{found.missing_trials:,}" if words else f"{plural(found.missing_trials, 'review')} more"
        words.append(f"{number} a day or longer after the card's last one")
    output.show(f"too few reviews to fit ({found.reviews:,}): {' and '.join(words)} needed")
    return output.DONE


def _contest_json(found: fit_decision.FitComparison, *, kept: bool, due: tuple[int, int] | None) -> dict[str, Any]:
    marks = {"default": found.default, "current": found.current, "new": found.new}
    return {
        "reviews": found.reviews,
        "cards": found.cards,
        "trained_on": found.trained,
        "held_out": found.held_out,
        "better": found.better,
        "in_use": found.in_use,
        "kept": kept,
        "marks": {name: _marks_json(each) for name, each in marks.items()},
        "parameters": list(found.fitted),
        "due": None if due is None else {"before": due[0], "after": due[1]},
    }


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


def _show_contest(found: fit_decision.FitComparison, dry_run: bool, due: tuple[int, int] | None) -> None:
    """Print the comparison of default, current and new parameters."""
    output.show(
        f"{found.reviews:,} reviews of {found.cards:,} cards; fitted to the first {found.trained:,}, "
        f"tested on {found.held_out:,} later ones"
    )
    output.show(f"  {'':10}  log loss  RMSE in bins  predicted  recalled")
    for name, marks in (("default", found.default), ("current", found.current), ("new", found.new)):
        row = f"{marks.log_loss:8.4f}  {marks.rmse_bins:12.4f}  {marks.predicted:9.1%}  {marks.recalled:8.1%}"
        output.show(f"  {name:10}  {row}")
    output.show("  new parameters: predicted (|) and actual (●) recall\n  range   predicted recalled reviews")
    for line in plot(found.new.bins):
        output.show(line)
    output.show(_verdict(found, dry_run))
    if due is not None:
        output.show(f"due now: {due[0]:,} before, {due[1]:,} with the new parameters")


def _verdict(found: fit_decision.FitComparison, dry_run: bool) -> str:
    """Return a sentence on whether the new parameters are applied."""
    gain = found.current.log_loss - found.new.log_loss
    if found.better:
        done = "would be applied (--dry-run)" if dry_run else "applied; `retain optimize --undo` undoes this"
        return f"log loss lower by {gain:.4f}: {done}"
    if found.in_use:
        return "parameters unchanged"
    if gain > 0:
        return (
            "not applied: better than the current parameters, but not than the default; run `retain optimize --reset`"
        )
    seen = "" if found.current == found.default else "; those may have been fitted to the same reviews"
    return f"not applied: no better on later reviews than the current parameters (log loss {-gain:+.4f}){seen}"


def _due_before_and_after(vault: Vault, event: Params) -> tuple[int, int]:
    """Return how many cards are due with the current parameters, and with those of `event`."""
    desk = open_desk(vault, now())
    events = desk.past.whole().events

    def due(parameters: tuple[float, ...]) -> int:
        scheduler = Scheduler(replace(desk.scheduler.rules, parameters=parameters), desk.scheduler.retention_of)
        states = fold(events, scheduler, desk.changes)
        held = (states[card] for card in desk.cards if card in states)
        return sum(state.due is not None and state.due <= desk.now and not state.hidden(desk.now) for state in held)

    return due(desk.scheduler.rules.parameters), due(event.parameters)


def _reset_or_undo(vault: Vault, *, undo: bool, dry_run: bool, as_json: bool) -> int:
    """Reset the parameters, or undo their last change."""
    log = _read_log(vault)
    last = fit_decision.last_params(log.others)
    if undo and last is None:
        raise NotFound("no change of parameters to undo")
    stamp = _stamp(vault, log)
    event: LogEvent = Undo(stamp, last.id) if undo and last is not None else fit_decision.reset_event(stamp)
    if not dry_run:
        _write(vault, event)
        render_saved(vault)
    left = fit_decision.last_params(each for each in log.others if each is not last) if undo else event
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
        output.say("your reviews have doubled since the last fit: run `retain optimize`")
        return
    rules = scheduler_for(rules_of(vault.settings), log.others).rules
    found = fit_decision.compare_fit(log.reviews, rules, _card_events(vault))
    if not isinstance(found, fit_decision.FitComparison) or not found.better:
        _store_fit_size(vault, log)
        return
    _write(vault, fit_decision.params_event(_stamp(vault, log), found))
    render_saved(vault)
    loss = f"log loss {found.new.log_loss:.4f}, before {found.current.log_loss:.4f}"
    output.say(f"parameters optimized on {found.reviews:,} reviews ({loss}); `retain optimize --undo` undoes this")


def _reviews_at_last_fit(vault: Vault) -> int:
    """Return how many reviews there were at the last fit that gave nothing better; 0 if none is known."""
    return int(with_index(vault, lambda index: fact(index, _TRIED)) or 0)


def _store_fit_size(vault: Vault, log: ScannedLog) -> None:
    with_index(vault, lambda index: set_fact(index, _TRIED, str(len(log.reviews))))
