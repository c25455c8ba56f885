"""The command `lint`: what is wrong with the wiki, its cards and the links into it; what can be fixed, and its undo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from itertools import groupby
from typing import TYPE_CHECKING

import click

from cli import output
from cli.engines.choice import ASKING, backend_of, paid_words
from cli.environment import is_sandboxed, now
from cli.options import FiniteRange, opened, opened_to_write, progress_option, vault_json_options
from cli.wiki_check import wiki_to_check
from cli.workspace import render_if_stale
from vault.diagnostic import Diagnostic
from vault.text.formatting import plural
from vault.vault import Vault

if TYPE_CHECKING:
    from compiler.lint.fix import Fixed
    from compiler.lint.wiki import Wiki

ENGINES = (*ASKING, "agent")
SHOWN = 20  # findings of one rule that a terminal is given


@click.command()
@click.option("--rule", "codes", multiple=True, metavar="CODE", help="Only this rule (repeatable); see docs/lint.md.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), help="Only files that changed on this day or later.")
@click.option("--fix", "fixes", is_flag=True, help="Rewrite generated pages, indexes and decks that nobody edited.")
@click.option("--report", is_flag=True, help="Save the findings as output/reports/lint-DATE.md and as gaps.")
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    help="Use this model for what the rules cannot decide; each question is asked only once.",
)
@click.option("--budget", type=FiniteRange(0), metavar="USD", help="Spend at most this much (--engine claude).")
@click.option("--undo", is_flag=True, help="Restore the files that the last --fix wrote.")
@progress_option
@vault_json_options
def lint(
    codes: tuple[str, ...],
    since: datetime | None,
    fixes: bool,
    report: bool,
    engine: str | None,
    budget: float | None,
    undo: bool,
    progress: str | None,
    vault_dir: str | None,
    as_json: bool,
) -> int:
    """Check the wiki for problems: links, pages, claims, cards and logs.

    Each finding shows its rule, place, reason and remedy. Exits with code 1 if there are findings. Without --fix or
    --report, nothing is changed.

    --fix rewrites generated pages, indexes and decks that differ from the last compile. Files that you edited are not
    changed. It lists the files it wrote, and `retain lint --undo` restores them unless a page or deck has changed
    since; the report and the gaps are kept, and the next compile rewrites the pages. The remaining findings are saved
    as with --report: all of them in output/reports/lint-DATE.md; stale and very short pages, missing definitions and
    contradictions in learning/gaps.md.

    Rules work offline and report nothing in doubtful cases. With --engine, a model or your coding agent decides which
    statements contradict each other and which names mean the same concept. Answers are stored, so each is requested
    only once.

    \b
    Examples:
      retain lint
      retain lint --rule broken-link --rule orphan
      retain lint --since 2026-11-21 --json
      retain lint --fix
      retain lint --undo
      retain lint --engine claude
    """
    if undo:
        if codes or since or fixes or report or engine:
            raise click.UsageError("--undo cannot be combined with other options")
        return _undo(vault_dir, as_json)
    if report and (codes or since):
        raise click.UsageError("--report saves all findings; leave out --rule and --since")
    _check_codes(codes)
    vault = opened_to_write(vault_dir) if fixes or report or engine else opened(vault_dir)
    with output.Progress(progress) as narrator:
        fixed, before = _fix(vault, narrator) if fixes else (None, [])
        if engine is not None:
            _judge(vault, engine, budget, narrator)
    wiki = wiki_to_check(vault, now())
    every = _findings(wiki, codes if not (fixes or report) else ())
    saved = _save(vault, wiki, every, fixed) if fixes or report else ""
    found = [each for each in every if not codes or each.code in codes]
    if since is not None:
        found = [each for each in found if changed_since(vault, each.path, since.date())]
    gone = _no_longer_found(before, every)
    if as_json:
        output.show_json({"findings": [each.as_json() for each in found], **_done_json(fixed, gone, saved)})
    else:
        _show_done(fixed, gone)
        _show(found)
        if saved:
            output.show(f"saved as {saved}")
    return output.FINDINGS if found else output.DONE


def _check_codes(codes: Sequence[str]) -> None:
    """Raise UsageError for a rule that there is not."""
    from compiler.lint.rules import RULES

    known = [rule.code for rule in RULES]
    if unknown := set(codes) - {*known}:
        raise click.UsageError(f"no such rule: {', '.join(sorted(unknown))}; known rules: {', '.join(known)}")


def _findings(wiki: Wiki, codes: Sequence[str] = ()) -> list[Diagnostic]:
    """Return what is wrong by the rules with these codes, or by all."""
    from compiler.lint.rules import lint as check

    return check(wiki, codes)


def _no_longer_found(before: Sequence[Diagnostic], every: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return the findings from before a fix that are found no more."""
    from compiler.lint.rules import no_longer_found

    return no_longer_found(before, every)


def changed_since(vault: Vault, path: str, day: date) -> bool:
    """Return whether a file changed on that day or later; one that is gone counts."""
    try:
        changed = (vault.root / path).stat().st_mtime
    except OSError:
        return True
    return datetime.fromtimestamp(changed, vault.settings.zone).date() >= day


# --- fixing and saving ------------------------------------------------------------------------------------------------


def _fix(vault: Vault, narrator: output.Progress) -> tuple[Fixed, list[Diagnostic]]:
    """Fix what can be fixed; return what was done and what was wrong before."""
    from compiler.lint.fix import fix

    before = _findings(wiki_to_check(vault, now()))
    fixed = fix(vault, now(), narrator)
    render_if_stale(vault)
    return fixed, before


def _judge(vault: Vault, engine: str, budget: float | None, narrator: output.Progress) -> None:
    """Have a model or an agent judge what the rules leave in doubt. Raises as `judge` does."""
    from compiler.build.snapshot import look
    from compiler.lint.judge import judge
    from compiler.orders.board import OrderDesk

    seen = look(vault.root, vault.notes)
    with backend_of(vault, engine, seen, narrator, budget=budget, batch=False, renew=True) as backend:
        judge(wiki_to_check(vault, now()), OrderDesk(vault, sandboxed=is_sandboxed()), engine, now(), backend, narrator)
    if cost := paid_words(backend):
        output.say(cost)


def _save(vault: Vault, wiki: Wiki, found: Sequence[Diagnostic], fixed: Fixed | None) -> str:
    """Save findings as a report and as gaps, and name the check in the wiki's log; return the path of the report."""
    from compiler.lint.agenda import note_gaps
    from compiler.lint.report import save_report
    from compiler.lint.rules import RULES
    from vault.files.guard import Scope
    from vault.log.entries import record_event

    note_gaps(wiki, found, now())
    about = {rule.code: rule.about for rule in RULES}
    path, is_new = save_report(vault, found, about, wiki.today)
    written = [*fixed.written, *fixed.removed] if fixed is not None else []
    if is_new or written:
        title = ", ".join(filter(None, [plural(len(written), "file") + " fixed" if written else "", path]))
        record_event(vault.guard(Scope.LOG), "lint", title, now())
    return path


def _undo(vault_dir: str | None, as_json: bool) -> int:
    """Take the last fix back."""
    from compiler.lint.fix import undo

    vault = opened_to_write(vault_dir)
    undone = undo(vault, now())
    render_if_stale(vault)
    if as_json:
        output.show_json({"fix": undone.id, "written": list(undone.written), "removed": list(undone.removed)})
        return output.DONE
    count = plural(len(undone.written) + len(undone.removed), "file")
    output.show(
        f"the last fix was undone: {count} restored; the next `retain compile` rewrites them. The report and "
        "the gaps are kept"
    )
    for path in (*undone.written, *undone.removed):
        output.show(f"  {path}")
    return output.DONE


def _done_json(fixed: Fixed | None, gone: Sequence[Diagnostic], saved: str) -> Mapping[str, object]:
    """Return what was fixed and saved, where anything was to be, as JSON."""
    if not saved:
        return {}
    done = {"written": list(fixed.written), "removed": list(fixed.removed)} if fixed is not None else None
    return {"fixed": [each.as_json() for each in gone], "fix": done, "report": saved}


def _show_done(fixed: Fixed | None, gone: Sequence[Diagnostic]) -> None:
    """Print what a fix did."""
    if fixed is None:
        return
    if not fixed.id:
        output.show("nothing to rewrite: all generated pages match the last compile")
        return
    for path in fixed.written:
        output.show(f"rewritten      {path}")
    for path in fixed.removed:
        output.show(f"removed        {path}")
    output.show(f"{plural(len(gone), 'finding')} fixed; `retain lint --undo` undoes this")
    output.show_first([f"{each.code}: {each.path}: {each.message}" for each in gone], SHOWN, indent="  ")


def _show(found: list[Diagnostic]) -> None:
    """Print findings by rule."""
    for code, each in groupby(sorted(found, key=lambda d: (d.code, d)), key=lambda d: d.code):
        lines = [str(one) for one in each]
        output.show(f"{code} ({len(lines)})")
        output.show_first(lines, SHOWN, indent="  ")
    output.show(plural(len(found), "finding", zero="no"))
