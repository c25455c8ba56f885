"""The command group `concept`: list, show, actions, rename, merge, split, alias, freshness, undo."""

from __future__ import annotations

from copy import copy
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

import click

from cli import output
from cli.environment import now
from cli.options import combine, dry_run_option, finish_interrupted_runs, opened, progress_option, vault_json_options
from cli.shell import concept_names
from cli.workspace import render_if_stale
from compiler.concepts import edits
from compiler.concepts.decisions import Decision
from compiler.concepts.edits import Known, Shelf
from vault.log.ledger import day_of
from vault.model.article import FRESHNESS_DAYS
from vault.text.formatting import plural

if TYPE_CHECKING:
    from compiler.build.apply_decision import Effect, Make

_SHOWN = 30
TIERS = ("fast", "normal", "slow")
_FINISHES = "`retain compile --engine claude` (or `--engine agent`)"


_decision_options = combine(dry_run_option, progress_option, vault_json_options)


@click.group()
def concept() -> None:
    """Rename, merge, split, alias, list or show concepts, or set when they are due for a check.

    CONCEPT is an id, title, file or alias. Links, cards and gaps are updated at once; cards keep their ids and history,
    and pages that you edited keep their path. Concepts that you split are not merged again automatically, and `retain
    concept undo` undoes a decision.

    In a vault compiled by a model or agent, a decision may require new requests to the model: the command reports how
    many, and `retain compile --engine claude` (or `--engine agent`) sends them. No model is called before that.

    \b
    Examples:
      retain concept rename "forgetting curve" "Ebbinghaus curve"
      retain concept merge "testing effect" "retrieval practice"
      retain concept merge --never transformer "electrical transformer"
      retain concept split transformer --source raw/papers/grid.pdf --as "Transformer (electrical device)"
      retain concept alias "KV cache" "key-value cache"
      retain concept freshness "KV cache" fast
      retain concept undo
    """


@concept.command("list")
@vault_json_options
def list_(vault_dir: str | None, as_json: bool) -> None:
    """List concepts with an article: id, title, aliases.

    \b
    Examples:
      retain concept list
      retain concept list --json
    """
    shelf = _open_shelf(vault_dir)
    if as_json:
        output.show_json({"concepts": [_known_json(k) for k in shelf.concepts]})
        return
    for known in shelf.concepts:
        output.show(f"{known.id}  {known.title}" + (f"  ({', '.join(known.aliases)})" if known.aliases else ""))
    if not shelf.concepts:
        output.show("no concepts yet: run `retain add` and `retain compile`")


@concept.command("show")
@click.argument("which", metavar="CONCEPT", shell_complete=concept_names)
@vault_json_options
def show(which: str, vault_dir: str | None, as_json: bool) -> None:
    """Show a concept: names, page, sources and your decisions.

    \b
    Examples:
      retain concept show "spacing effect"
    """
    vault = opened(vault_dir)
    shelf, zone = Shelf.of(vault), vault.settings.zone
    known = shelf.find(which)
    decisions = [d for d in shelf.decisions if known.id in (d.id, d.into)]
    paths = [shelf.ids.present_key.get(s, s) for s in known.sources]
    if as_json:
        output.show_json(
            _known_json(known) | {"sources": paths, "deeds": [_decision_json(d, shelf) for d in decisions]}
        )
        return
    output.show(f"{known.id}  {known.title}  ({known.path})")
    output.show(f"aliases: {', '.join(known.aliases) or 'none'}")
    output.show(f"sources: {', '.join(paths)}")
    for decision in decisions:
        output.show(_decision_line(decision, shelf, zone))


@concept.command("actions")
@vault_json_options
def list_actions(vault_dir: str | None, as_json: bool) -> None:
    """List your decisions about concepts, newest first, with the ids for `undo`.

    \b
    Examples:
      retain concept actions
    """
    vault = opened(vault_dir)
    shelf, zone = Shelf.of(vault), vault.settings.zone
    newest = shelf.decisions[::-1]
    if as_json:
        output.show_json({"deeds": [_decision_json(d, shelf) for d in newest]})
        return
    for decision in newest:
        output.show(_decision_line(decision, shelf, zone))
    if not newest:
        output.show("no decisions about concepts")


_former_name = copy(list_actions)
_former_name.hidden = True
concept.add_command(_former_name, "deeds")


@concept.command("rename")
@click.argument("which", metavar="CONCEPT", shell_complete=concept_names)
@click.argument("new", metavar="NAME")
@_decision_options
def rename(which: str, new: str, **options: Any) -> int:
    """Rename a concept. The old name becomes an alias, and the page moves to a path with the new name.

    \b
    Examples:
      retain concept rename "forgetting curve" "Ebbinghaus curve"
      retain concept rename 7k2m9xd3fq "Transformer (architecture)" --dry-run
    """
    return _decide(lambda shelf: edits.rename(shelf, which, new), **options)


@concept.command("merge")
@click.argument("one", metavar="CONCEPT", shell_complete=concept_names)
@click.argument("other", metavar="CONCEPT", shell_complete=concept_names)
@click.option("--into", default="", metavar="CONCEPT", help="The concept to keep (default: the second).")
@click.option("--never", is_flag=True, help="Never merge these two, even if a rule or model would.")
@_decision_options
def merge(one: str, other: str, into: str, never: bool, **options: Any) -> int:
    """Merge two concepts. The second one keeps its id and title, and gets the claims, cards and names of the first.

    If that requires new requests to a model, `retain compile --engine claude` (or `agent`) sends them.

    \b
    Examples:
      retain concept merge "testing effect" "retrieval practice"
      retain concept merge "testing effect" "retrieval practice" --into "testing effect"
      retain concept merge --never "dot-product attention" "scaled dot-product attention"
    """
    if never:
        if into:
            raise click.UsageError("--never and --into are mutually exclusive")
        return _decide(lambda shelf: edits.never(shelf, one, other), **options)
    return _decide(lambda shelf: edits.merge(shelf, one, other, into=into), **options)


@concept.command("split")
@click.argument("which", metavar="CONCEPT", shell_complete=concept_names)
@click.option(
    "--source", "sources", multiple=True, metavar="SOURCE", help="Move the claims of this source; repeatable."
)
@click.option("--claim", "claims", multiple=True, metavar="CLAIM", help="Move this claim; repeatable.")
@click.option("--as", "name", required=True, metavar="NAME", help="The name of the new concept.")
@_decision_options
def split(which: str, sources: tuple[str, ...], claims: tuple[str, ...], name: str, **options: Any) -> int:
    """Split a concept: move the claims of some sources, or single claims, to a new concept.

    If that requires new requests to a model, `retain compile --engine claude` (or `agent`) sends them.

    \b
    Examples:
      retain concept split transformer --source raw/papers/grid.pdf --as "Transformer (electrical device)"
      retain concept split bank --claim 7f3a9c1e2k --claim 51e09ab2xy --as "Bank (river)"
    """
    return _decide(lambda shelf: edits.split(shelf, which, name, sources, claims), **options)


@concept.command("alias")
@click.argument("which", metavar="CONCEPT", shell_complete=concept_names)
@click.argument("name", metavar="NAME")
@click.option("--remove", is_flag=True, help="Remove the alias; no rule or model adds it again.")
@_decision_options
def alias(which: str, name: str, remove: bool, **options: Any) -> int:
    """Add an alias that sentences and links can use for the concept.

    \b
    Examples:
      retain concept alias "KV cache" "key-value cache"
      retain concept alias "KV cache" KVC --remove
    """
    make = edits.unalias if remove else edits.alias
    return _decide(lambda shelf: make(shelf, which, name), **options)


@concept.command("freshness")
@click.argument("which", metavar="NAME")
@click.argument("tier", type=click.Choice(TIERS))
@_decision_options
def freshness(which: str, tier: str, **options: Any) -> int:
    """Set how often the page of a concept or topic must be checked.

    fast: every 30 days; normal: every 90 days; slow: every 365 days.

    For a topic, this applies to its page and to its current articles. The confidence of an overdue page is lowered, and
    `retain lint` lists it.

    \b
    Examples:
      retain concept freshness "KV cache" fast
      retain concept freshness "Exam regulations" slow
    """
    return _decide(lambda shelf: edits.freshness(shelf, which, tier), **options)


@concept.command("undo")
@click.argument("decision", required=False, default="", metavar="[DECISION]")
@_decision_options
def undo(decision: str, **options: Any) -> int:
    """Undo a decision about concepts: the last one, or the one with this id. To undo an undo, give its id.

    \b
    Examples:
      retain concept undo
      retain concept actions
      retain concept undo 4m8x1v6tqc
    """
    return _decide(lambda shelf: edits.undo(shelf, decision), **options)


def _open_shelf(vault_dir: str | None) -> Shelf:
    return Shelf.of(opened(vault_dir))


def _decide(make: Make, *, dry_run: bool, vault_dir: str | None, as_json: bool, progress: str | None) -> int:
    """Make a decision about concepts, or try it with `dry_run`; print the effect and return the exit code."""
    from compiler.build.apply_decision import stale_links, take_effect, try_out

    vault = opened(vault_dir)
    with output.Progress(progress) as narrator:
        if dry_run:
            effect = try_out(vault, make, now(), narrator)
        else:
            finish_interrupted_runs(vault)
            effect = take_effect(vault, make, now(), narrator)
    if not dry_run:
        render_if_stale(vault)
    stale = [] if dry_run else list(stale_links(vault))
    failures = effect.report.failures if effect.report else []
    if as_json:
        rows = [{"id": d.code, "path": d.path, "line": d.line, "reason": d.message, "hint": d.hint} for d in stale]
        output.show_json(_effect_json(effect, dry_run) | {"stale_links": rows})
    else:
        _show(effect, dry_run)
        if stale:
            links = plural(len(stale), "link")
            output.say(f"{links} in your notes still use the old name (not changed):")
            output.found(stale)
    if failures:
        output.say(f"unreadable ({len(failures)}):")
        output.found(failures)
    if effect.waiting and not dry_run:
        output.say(f"the decision is saved; {effect.waiting} (more may follow). Run {_FINISHES}")
    return output.FINDINGS if failures or effect.without_effect else output.DONE


def _show(effect: Effect, dry_run: bool) -> None:
    """Print which files a decision changed or would change."""
    if dry_run:
        for path in effect.written:
            output.show(f"would write   {path}")
        for path in effect.removed:
            output.show(f"would remove  {path}")
        if not effect.written and not effect.removed:
            output.show("nothing would change")
        if effect.waiting:
            output.show(f"{effect.waiting}: {_FINISHES} would send them")
        return
    output.show(f"{effect.decision.decision_id}  {_sentence(effect.decision, effect.after)}")
    for known in effect.concepts[:_SHOWN]:
        names = f", also called {', '.join(known.aliases)}" if known.aliases else ""
        output.show(f"  {known.title} ({known.path}){names}")
    if effect.without_effect:
        output.say("not enough claims for an article of its own; `retain concept undo` undoes this")
    counts = [plural(len(paths), "file") for paths in (effect.written, effect.removed)]
    back = f"retain concept undo {effect.decision.decision_id}" if effect.decision.voids else "retain concept undo"
    output.show(f"  {counts[0]} written, {counts[1]} removed; `{back}` undoes this")


def _effect_json(effect: Effect, dry_run: bool) -> dict[str, Any]:
    return {
        "deed": _decision_json(effect.decision, effect.after) | ({"deed": None} if dry_run else {}),
        "concepts": [_known_json(k) for k in effect.concepts],
        "written": list(effect.written),
        "removed": list(effect.removed),
        "waiting": effect.waiting or None,
    }


def _known_json(known: Known) -> dict[str, Any]:
    names = {"id": known.id, "title": known.title, "aliases": list(known.aliases)}
    return names | {"path": known.path, "line": 0, "reason": "", "sources": list(known.sources)}


def _decision_json(decision: Decision, shelf: Shelf) -> dict[str, Any]:
    about = {"id": decision.id or None, "into": decision.into or None, "name": decision.name or None}
    voids = {
        "places": list(decision.places),
        "voids": decision.voids or None,
        "undone": decision.decision_id in shelf.undone,
    }
    return {
        "deed": decision.decision_id,
        "op": decision.op.value,
        **about,
        **voids,
        "at": decision.at,
        "words": _sentence(decision, shelf),
    }


def _decision_line(decision: Decision, shelf: Shelf, zone: tzinfo) -> str:
    undone = "  [undone]" if decision.decision_id in shelf.undone else ""
    return f"{decision.decision_id}  {day_of(decision.at, zone)}  {_sentence(decision, shelf)}{undone}"


def _sentence(decision: Decision, shelf: Shelf) -> str:
    """Return a decision as a sentence."""
    one, other = shelf.called_once(decision.id), shelf.called_once(decision.into)
    sentences = {
        "rename": f"{one} renamed to {decision.name}",
        "merge": f"{one} merged into {other}",
        "never": f"{one or ', '.join(decision.keys)} and {other or ', '.join(decision.other)} kept separate",
        "split": f"{decision.name} split from {one} ({plural(len(decision.places), 'place')})",
        "alias": f"alias {decision.name} added to {one}",
        "unalias": f"alias {decision.name} removed from {one}",
        "freshness": f"{one} due for a check after {FRESHNESS_DAYS.get(decision.name, 0)} days ({decision.name})",
        "undo": f"undone: {decision.voids}",
    }
    return sentences[decision.op.value]
