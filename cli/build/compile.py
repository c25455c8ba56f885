"""The commands `compile` and `rebuild`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from cli import output
from cli.build.watch import QUIET_S, Watch, show_reasons
from cli.engines.choice import ASKING, backend_of, checked_by_rule, engine_of, paid_words
from cli.engines.found import is_model_here
from cli.environment import now
from cli.options import (
    FiniteRange,
    complete_files,
    dry_run_option,
    opened_to_write,
    progress_option,
    vault_json_options,
)
from cli.workspace import render_if_stale
from compiler.build.compile import Options, compile_vault, raw_path
from compiler.build.last_engine import last_engine
from compiler.build.snapshot import look
from compiler.model.changes import Blast
from compiler.model.report import Report
from vault.config.engine import of_user
from vault.inbox.listing import waiting
from vault.inbox.suggestions import offered
from vault.layout import GAPS
from vault.model.gaps import open_gap_counts
from vault.text.formatting import plural, short_line
from vault.vault import Vault

SHOWN = 20
_PREVIEWED = 12  # items of each noun in the preview of a dry run
_short = partial(short_line, width=90)
ENGINES = ("extractive", *ASKING, "agent", "journal")
_wait_option = click.option(
    "--wait",
    "wait_s",
    type=FiniteRange(0, 86_400),
    default=300,
    show_default=True,
    metavar="SECONDS",
    help="Seconds to wait for another compile to finish.",
)


@click.command("compile")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...", shell_complete=complete_files)
@click.option(
    "--engine",
    metavar="|".join(ENGINES),
    help="extractive (built in, offline), claude (a model through an API key or on a server), command (your own "
    "program, see "
    "`retain engine`), agent (a coding agent), or journal (stored answers only). Default: the engine in your "
    "settings, or else that of the last compile.",
)
@click.option("--budget", type=FiniteRange(0, min_open=True), metavar="USD", help="Spend at most this much.")
@click.option("--batch", is_flag=True, help="Use batch requests: half the price, but they take up to a day.")
@click.option("--renew", is_flag=True, help="Send requests again if they were made with an older prompt.")
@click.option("--explain", is_flag=True, help="Explain for each file why it was written.")
@click.option("--watch", is_flag=True, help="Keep running: compile whenever files in raw/ change, until Ctrl-C.")
@click.option(
    "--debounce",
    type=FiniteRange(0.05, 3600),
    metavar="SECONDS",
    help=f"With --watch, seconds without changes in raw/ before a compile (default: {QUIET_S:g}).",
)
@dry_run_option
@_wait_option
@progress_option
@vault_json_options
def compile_(
    sources: tuple[str, ...],
    engine: str | None,
    budget: float | None,
    batch: bool,
    renew: bool,
    explain: bool,
    watch: bool,
    debounce: float | None,
    dry_run: bool,
    wait_s: float,
    progress: str | None,
    vault_dir: str | None,
    as_json: bool,
) -> int:
    """Update the wiki, the cards and the gaps from raw/.

    Only changes are compiled. Without SOURCE, all of raw/ is checked. A model's answers are stored in the vault, so no
    request is sent or paid for twice.

    With --watch, one line (with --json, one object) is printed per compile, and a failed compile does not end the
    command. Needs the extra `watch`: `pip install '.[watch]'` in the checkout. A budget applies to each compile.

    \b
    Examples:
      retain compile
      retain compile --dry-run
      retain compile --explain
      retain compile --watch
      retain compile raw/papers/attention.pdf --json
      retain compile --engine claude --dry-run
      retain compile --engine claude --budget 2
      retain compile --engine command     `retain engine` lists the engines on this machine
    """
    if debounce is not None and not watch:
        raise click.UsageError("--debounce can be used only with --watch")
    if watch:
        if sources or dry_run or renew:
            raise click.UsageError(
                "--watch compiles every change in raw/ and cannot be combined with SOURCE, --dry-run or --renew"
            )

        def compile_one(vault: Vault) -> Report:
            part_bytes = of_user().part_bytes
            options = Options(engine_of(vault, engine), wait_s=wait_s, part_bytes=part_bytes)
            return _compiled(vault, options, progress, budget=budget, batch=batch)

        return Watch(vault_dir, compile_one, explain, as_json).run(debounce or QUIET_S)
    vault = opened_to_write(vault_dir, dry_run=dry_run)
    only = tuple(raw_path(vault, s, Path.cwd()) for s in sources)
    settings = of_user()
    chosen = bool(engine or settings.compile)
    engine = engine_of(vault, engine)
    options = Options(engine, only, dry_run, wait_s=wait_s, part_bytes=settings.part_bytes, renew=renew)
    done = _compiled(vault, options, progress, budget=budget, batch=batch)
    _show(vault, done, as_json, dry_run, asking=(engine, batch) if engine in ASKING else None)
    if explain and not as_json:
        show_reasons(done)
    if engine == "extractive" and not (chosen or as_json) and output.on_terminal() and is_model_here(settings):
        output.say(
            "A language model writes more complete pages than the built-in engine: `retain engine` lists the "
            "models on this machine."
        )
    return output.FINDINGS if done.failures else output.DONE


def _compiled(vault: Vault, options: Options, progress: str | None, *, budget: float | None, batch: bool) -> Report:
    """Compile, render the pages of the learner, and return the report; what a model cost is reported."""
    settings = of_user()
    with output.Progress(progress) as narrator:
        seen = look(vault.root, vault.notes)  # once for all: with nothing to do, looking is most of the work
        asking = backend_of(vault, options.engine, seen, narrator, budget=budget, batch=batch, renew=options.renew)
        with asking as backend:
            by = checked_by_rule(backend, settings) if backend is not None and not options.dry_run else None
            done = compile_vault(vault, options, now(), narrator, seen, by)
        cost = paid_words(backend)
    if cost:
        output.say(cost)
    if not options.dry_run:
        render_if_stale(vault, seen.stamps if done.nothing_new else None)
        _count_learners(vault, done)
    return done


@click.command()
@_wait_option
@progress_option
@vault_json_options
def rebuild(wait_s: float, progress: str | None, vault_dir: str | None, as_json: bool) -> int:
    """Rebuild all generated files from raw/, the ledgers and the review log, without the index or a model.

    The result is identical byte for byte; your edits are kept.

    \b
    Examples:
      retain rebuild
      retain rebuild --json
    """
    vault = opened_to_write(vault_dir)
    with output.Progress(progress) as narrator:
        done = compile_vault(
            vault, Options(last_engine(vault), fresh=True, command="rebuild", wait_s=wait_s), now(), narrator
        )
    render_if_stale(vault)
    _count_learners(vault, done)
    _show(vault, done, as_json, dry_run=False)
    return output.FINDINGS if done.failures else output.DONE


def _count_learners(vault: Vault, done: Report) -> None:
    """Add the gaps of the learner to the report; they are known once the pages are rendered."""
    if not done.nothing_new:
        done.gaps["learner"] = open_gap_counts((vault.read_bytes(GAPS) or b"").decode("utf-8", "replace"))["learner"]


def _estimate(done: Report, asking: tuple[str, bool] | None) -> dict[str, Any]:
    """Return the estimated cost of the open requests for (engine, batch); empty where nobody is asked."""
    if asking is None or not done.open:
        return {}

    from cli.engines.costs import estimate_json  # for models alone

    engine, batch = asking
    return estimate_json(done.open, engine, batch)


def _show_open(done: Report, estimate: dict[str, Any]) -> None:
    """Print the requests that a dry run found, with their estimated cost."""
    if not done.open:
        return
    counts = Counter(request.type for request in done.open)
    output.show("would send " + ", ".join(f"{n} {type_}" for type_, n in sorted(counts.items())))
    output.show_first([f"{request.type}: {request.title}" for request in done.open], SHOWN, indent="  ")
    if estimate:
        from cli.engines.costs import show_estimate

        show_estimate(estimate)


def _show(vault: Vault, done: Report, as_json: bool, dry_run: bool, asking: tuple[str, bool] | None = None) -> None:
    """Print the report of a compile; `asking` is (engine, batch), None if neither model nor program is asked."""
    inbox, problems = waiting(vault)
    output.found(problems)
    estimate = _estimate(done, asking)
    suggested = len(offered(vault).suggestions)
    if as_json:
        counts = {"inbox": inbox, "suggested": suggested}
        output.show_json({**done.as_json(), **counts, **({"estimate": estimate} if estimate else {})})
        return
    for noun, verbs in done.counts().items():
        output.show(f"{noun:9}" + ", ".join(f"{n} {verb}" for verb, n in verbs.items()))
    if done.agent["pages"]:
        output.show(f"agents   {plural(done.agent['pages'], 'page')}")
    output.show("gaps     " + ", ".join(f"{n} {kind}" for kind, n in done.gaps.items()))
    if done.unused and not done.nothing_new:
        sources, them = plural(len(done.unused), "source"), "it" if len(done.unused) == 1 else "them"
        output.show(f"unused   {sources} in no article or card: `retain log --coverage` lists {them} first")
    if inbox:
        output.show(f"inbox    {plural(inbox, 'item')} to decide on: `retain inbox`")
    if suggested and not dry_run:
        output.show(f"suggested {plural(suggested, 'card')} to keep or drop: `retain card suggest`")
    _show_open(done, estimate)
    if done.blast is not None and done.written:
        output.show("\n".join(_preview_lines(done.blast)))
    if dry_run:
        output.show("\n  ".join(["would write:", *done.written]) if done.written else "nothing would change")
    elif done.nothing_new:
        output.show("nothing changed, nothing written")
    if done.failures:
        output.say(f"unreadable ({len(done.failures)}):")
        output.found(done.failures)
    if done.notices:
        output.say(f"notices ({len(done.notices)}):")
        output.found(done.notices[:SHOWN])
        if len(done.notices) > SHOWN:
            output.say(f"  and {len(done.notices) - SHOWN} more (--json lists all)")


# --- preview of a dry run ---------------------------------------------------------------------------------------


def _preview_lines(blast: Blast) -> list[str]:
    """Return the preview of a dry run as lines: claims, passages, articles, cards and gaps that would change."""
    claims = [(c.what, f"“{_short(c.words)}”", [f"in {c.path}", *_before(c.was)]) for c in blast.claims]
    passages = [("new", f"“{_short(p.words or 'all of it')}”", [f"in {p.path}, {p.heading}"]) for p in blast.passages]
    articles = [
        (
            a.what,
            a.path,
            [
                *(f"- {_short(s)}" for s in a.gone),
                *(f"+ {_short(s)}" for s in a.new),
                *_claims_to_write(a.asked),
            ],
        )
        for a in blast.articles
    ]
    cards = [(c.what, _short(c.words), [c.path + (f": {c.reason}" if c.reason else "")]) for c in blast.cards]
    gaps = [(g.what, _short(g.words), [_short(g.reason)]) for g in blast.gaps]
    nouns = (("claims", claims), ("passages", passages), ("articles", articles), ("cards", cards), ("gaps", gaps))
    lines = [line for noun, items in nouns for line in _section(noun, items)]
    return [*lines, f"{blast.unchanged} files unchanged"]


def _section(noun: str, items: Sequence[tuple[str, str, Sequence[str]]]) -> Iterator[str]:
    """Yield the lines for one noun; `items` are (change, text, lines below it)."""
    if not items:
        return
    counts = Counter(what for what, _, _ in items)
    yield f"{noun}: " + ", ".join(f"{n} {what}" for what, n in counts.items())
    for what, words, below in items[:_PREVIEWED]:
        yield f"  {what} {words}"
        yield from (f"    {line}" for line in below[:_PREVIEWED])
        if len(below) > _PREVIEWED:
            yield f"    and {len(below) - _PREVIEWED} more"
    if len(items) > _PREVIEWED:
        yield f"  and {len(items) - _PREVIEWED} more (--json lists all)"


def _before(words: str) -> Iterable[str]:
    return [f"was “{_short(words)}”"] if words else []


def _claims_to_write(count: int) -> Iterable[str]:
    return [f"? {plural(count, 'claim')} not yet in an article"] if count else []
