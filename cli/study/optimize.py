"""`retain optimize`: the scheduler fitted to whoever reviews here, and what came of it in figures."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from cli import output
from cli.environment import now
from cli.options import json_option, opened, progress_option, settle_left_over, vault_option
from vault.cache.cache import keep_cache, read_cache
from vault.errors import NotFound, RetainError, UsageError

if TYPE_CHECKING:
    from learning.memory.evaluation import Marks
    from learning.memory.fit_decision import FitComparison, TooFew
    from learning.memory.state import CardEvent
    from vault.log.events import LogEvent, Params, Stamp
    from vault.log.review_columns import ScannedLog
    from vault.vault import Vault

_TRIED, _KIND = "tuning", "tuning 2"
_MOST_AFTER_REVIEW = 200_000  # reviews: beyond these a fit takes seconds, and nobody who quits shall wait for it


@click.command()
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--auto", is_flag=True, help="Only if reviews have doubled since the last fit; for cron and the like.")
@click.option("--reset", is_flag=True, help="Go back to FSRS-6's own parameters.")
@click.option("--undo", is_flag=True, help="Take back the last change of parameters.")
@progress_option
@vault_option
@json_option
def optimize(
    dry_run: bool, auto: bool, reset: bool, undo: bool, progress: str | None, vault_dir: str | None, as_json: bool
) -> int:
    """Fit the scheduler to your own reviews; kept only if it foretells later ones better.

    The parameters are fitted to the first four fifths of your reviews and tried on the rest. When they win, they are
    fitted to all and written to the review log.

    \b
    Examples:
      retain optimize --dry-run
      retain optimize
      retain optimize --undo
    """
    if reset + undo + auto > 1:
        raise UsageError("--auto, --reset and --undo do not go together", hint="give one of them")
    vault = opened(vault_dir)
    settle_left_over(vault)
    if reset or undo:
        return _changed(vault, undo=undo, dry_run=dry_run, as_json=as_json)
    return _fitted(vault, dry_run=dry_run, auto=auto, as_json=as_json, progress=progress)


def _log_of(vault: Vault) -> ScannedLog:
    from vault.log.review_columns import scan_log
    from vault.log.review_log import log_files

    log = scan_log(log_files(vault.root))
    output.found(log.diagnostics)
    return log


def _changes(vault: Vault) -> tuple[CardEvent, ...]:
    """What the ledger says became of the cards."""
    from learning.memory.fold import card_events
    from vault.log.ledger import IDS

    return card_events(vault.read_bytes(IDS) or b"")


def _stamp(vault: Vault, log: ScannedLog) -> Stamp:
    from vault.log.review_log import mint_stamp

    return mint_stamp(now(), last=log.last, zone=vault.settings.zone, via="cli", entropy=secrets.token_bytes(10))


def _write(vault: Vault, event: LogEvent) -> None:
    from vault.files.guard import Scope
    from vault.log.review_log import append

    append(vault.guard(Scope.LOG), event)


def _fitted(vault: Vault, *, dry_run: bool, auto: bool, as_json: bool, progress: str | None) -> int:
    from learning.memory.fit_decision import TooFew, compare_fit, due_for_fit, params_event
    from learning.memory.fold import scheduler_for
    from learning.memory.state import rules_of

    log = _log_of(vault)
    if auto and not due_for_fit(log, _tried(vault)):
        return _not_due(log, _tried(vault), as_json)
    rules = scheduler_for(rules_of(vault.settings), log.others).rules
    narrator = output.Progress(progress)
    if narrator.jsonl:
        narrator({"event": "fit", "done": 0, "of": 1})
    elif not narrator.none:
        output.say(f"fitting to {len(log.reviews):,} reviews")
    found = compare_fit(log.reviews, rules, _changes(vault))
    if narrator.jsonl:
        narrator({"event": "fit", "done": 1, "of": 1})
    if isinstance(found, TooFew):
        return _too_few(found, as_json)
    due = None
    event = params_event(_stamp(vault, log), found)
    if found.better:
        due = _due_before_and_after(vault, event)
        if not dry_run:
            _write(vault, event)
            _render(vault)
    else:
        _remember_tried(vault, log)
    if as_json:
        output.show_json(_contest_json(found, kept=found.better and not dry_run, due=due))
    else:
        _show_contest(found, dry_run, due)
    return output.DONE


def _not_due(log: ScannedLog, tried: int, as_json: bool) -> int:
    from learning.memory.fit_decision import next_fit_at

    wanted = next_fit_at(log, tried)
    if as_json:
        output.show_json({"reviews": len(log.reviews), "kept": False, "wanted": wanted})
    else:
        output.show(f"{len(log.reviews):,} reviews; the next fit is due at {wanted:,}")
    return output.DONE


def _too_few(found: TooFew, as_json: bool) -> int:
    missing = {"missing_reviews": found.missing, "missing_later_reviews": found.missing_trials}
    if as_json:
        output.show_json({"reviews": found.reviews, "kept": False, **missing})
        return output.DONE
    words = []
    if found.missing:
        words.append(f"{output.number(found.missing, 'review')} more")
    if found.missing_trials:
        number = f"{found.missing_trials:,}" if words else f"{output.number(found.missing_trials, 'review')} more"
        words.append(f"{number} a day or longer after the card's last one")
    output.show(f"too few reviews to fit to ({found.reviews:,}): it takes {' and '.join(words)}")
    return output.DONE


def _contest_json(found: FitComparison, *, kept: bool, due: tuple[int, int] | None) -> dict[str, Any]:
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
        "foretold": round(marks.foretold, 5),
        "recalled": round(marks.recalled, 5),
        "calibration": [
            {
                "low": each.low,
                "high": each.high,
                "reviews": each.trials,
                "foretold": round(each.foretold, 5),
                "recalled": round(each.recalled, 5),
            }
            for each in marks.bins
        ],
    }


def _show_contest(found: FitComparison, dry_run: bool, due: tuple[int, int] | None) -> None:
    from learning.memory.evaluation import plot

    output.show(
        f"{found.reviews:,} reviews of {found.cards:,} cards; fitted to the first {found.trained:,}, "
        f"tried on {found.held_out:,} later ones"
    )
    output.show(f"  {'':10}  log loss  RMSE in bins  foretold  recalled")
    for name, marks in (("FSRS-6's", found.default), ("current", found.current), ("new", found.new)):
        told = f"{marks.log_loss:8.4f}  {marks.rmse_bins:12.4f}  {marks.foretold:8.1%}  {marks.recalled:8.1%}"
        output.show(f"  {name:10}  {told}")
    output.show(
        "  the new ones: recall foretold (|) and as it came (●), by chance\n  range    foretold recalled reviews"
    )
    for line in plot(found.new.bins):
        output.show(line)
    output.show(_verdict(found, dry_run))
    if due is not None:
        output.show(f"due now: {due[0]:,} before, {due[1]:,} with the new parameters")


def _verdict(found: FitComparison, dry_run: bool) -> str:
    gain = found.current.log_loss - found.new.log_loss
    if found.better:
        done = "would be kept (--dry-run)" if dry_run else "kept; `retain optimize --undo` takes that back"
        return f"better by {gain:.4f} of log loss than the current ones: {done}"
    if found.in_use:
        return "already in use: these reviews give the very parameters that hold, so nothing is written"
    if gain > 0:
        return "not kept: better than the current ones, but not than FSRS-6's own; `retain optimize --reset` is best"
    seen = "" if found.current == found.default else "; those may have been fitted to these very reviews"
    return f"not kept: on later reviews they are no better than the current ones (log loss {-gain:+.4f}){seen}"


def _due_before_and_after(vault: Vault, event: Params) -> tuple[int, int]:
    """How many cards are due with the parameters as they are, and with those of `event`."""
    from learning.cards.workspace import open_desk
    from learning.memory.fold import fold
    from learning.memory.scheduler import Scheduler

    desk = open_desk(vault, now())
    events = desk.past.whole().events

    def due(parameters: tuple[float, ...]) -> int:
        scheduler = Scheduler(replace(desk.scheduler.rules, parameters=parameters), desk.scheduler.retention_of)
        states = fold(events, scheduler, desk.changes)
        held = (states[card] for card in desk.cards if card in states)
        return sum(state.due is not None and state.due <= desk.now and not state.hidden(desk.now) for state in held)

    return due(desk.scheduler.rules.parameters), due(event.parameters)


def _changed(vault: Vault, *, undo: bool, dry_run: bool, as_json: bool) -> int:
    """`--reset` or `--undo`."""
    from learning.memory.fit_decision import last_params, reset_event
    from vault.log.events import Undo

    log = _log_of(vault)
    last = last_params(log.others)
    if undo and last is None:
        raise NotFound("the review log holds no change of parameters to take back")
    stamp = _stamp(vault, log)
    event: LogEvent = Undo(stamp, last.id) if undo and last is not None else reset_event(stamp)
    if not dry_run:
        _write(vault, event)
        _render(vault)
    left = last_params(each for each in log.others if each is not last) if undo else event
    words = getattr(left, "reason", "") or "FSRS-6's own"
    if as_json:
        output.show_json({"kept": not dry_run, "undone": last.id if undo and last else None, "now": words})
    else:
        output.show(f"parameters {'would be' if dry_run else 'are'} now: {words}")
    return output.DONE


def _render(vault: Vault) -> None:
    """The pages show due dates, which have just moved; where they cannot be written, the next command does it."""
    from cli.review_pages import render_if_stale

    try:
        render_if_stale(vault)
    except RetainError as error:
        output.say(f"  saved in the review log; only its page could not be written: {error}")


# --- after a review -------------------------------------------------------------------------------------------------


def optimize_after_review(vault: Vault) -> None:
    """Fit the scheduler if the reviews have doubled, and report it in one line; called when a review is over and saved.

    An error here is only reported: the reviews are on disk.
    """
    if not vault.settings.auto_optimize:
        return
    try:
        _fit_after_review(vault, _log_of(vault))
    except RetainError as error:
        output.say(f"the scheduler was not fitted to your reviews: {error}")


def _fit_after_review(vault: Vault, log: ScannedLog) -> None:
    from learning.memory.fit_decision import FitComparison, compare_fit, due_for_fit, params_event
    from learning.memory.fold import scheduler_for
    from learning.memory.state import rules_of

    if not due_for_fit(log, _tried(vault)):
        return
    if len(log.reviews) > _MOST_AFTER_REVIEW:
        output.say("your reviews have doubled since the scheduler was last fitted: `retain optimize` does it")
        return
    rules = scheduler_for(rules_of(vault.settings), log.others).rules
    found = compare_fit(log.reviews, rules, _changes(vault))
    if not isinstance(found, FitComparison) or not found.better:
        _remember_tried(vault, log)
        return
    _write(vault, params_event(_stamp(vault, log), found))
    _render(vault)
    loss = f"log loss {found.new.log_loss:.4f}, before {found.current.log_loss:.4f}"
    output.say(
        f"the scheduler is fitted to your {found.reviews:,} reviews ({loss}); `retain optimize --undo` undoes it"
    )


def _tried(vault: Vault) -> int:
    """Return how many reviews there were at the last fit that gave nothing better; 0 if none is known."""
    parts = read_cache(vault.root, _TRIED, _KIND) or []
    return int(parts[0]) if len(parts) == 1 and parts[0].isdigit() and len(parts[0]) < 16 else 0


def _remember_tried(vault: Vault, log: ScannedLog) -> None:
    keep_cache(vault, _TRIED, _KIND, [str(len(log.reviews)).encode()])
