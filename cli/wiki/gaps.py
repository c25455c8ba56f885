"""The command group `gaps`: list, plan, resolve, ignore, reopen."""

from __future__ import annotations

import click

from cli import output
from cli.environment import now
from cli.options import opened, vault_json_options
from cli.shell import gap_ids
from cli.workspace import mend
from learning.agenda.gap_decisions import Decision, Plan, decide, find_all, read_agenda, read_plan
from learning.agenda.gap_rules import cause_of
from learning.cards.workspace import open_desk
from learning.store.freshness import look
from vault.errors import RetainError
from vault.layout import GAPS, READING_LIST
from vault.model.gaps import SHOWN, Entry, Gap, entries
from vault.model.markdown import unescape
from vault.model.reading_list import Wanted
from vault.model.wikilink import links
from vault.text.formatting import plural
from vault.vault import Vault

PLANNED = 10


@click.group(invoke_without_command=True)
@vault_json_options
@click.pass_context
def gaps(context: click.Context, vault_dir: str | None, as_json: bool) -> None:
    """List, plan, resolve, ignore or reopen gaps: what the wiki lacks, and what you keep forgetting.

    \b
    Examples:
      retain gaps
      retain gaps list --kind structural --all
      retain gaps list --kind learner   forgotten cards, the likely cause, and what helps
      retain gaps plan              list what to read next, with search queries
      retain gaps plan febc2        mark a gap as planned
      retain gaps ignore febc2 9qk4m
    """
    if context.invoked_subcommand is None:
        context.invoke(list_, vault_dir=vault_dir, as_json=as_json)


@gaps.command("list")
@click.option("--kind", type=click.Choice(["structural", "epistemic", "learner"]), help="Only gaps of this kind.")
@click.option("--all", "everything", is_flag=True, help="Include resolved and ignored gaps, without a limit.")
@click.option("--limit", default=SHOWN, show_default=True, help="Maximum number of entries.")
@vault_json_options
def list_(kind: str | None, everything: bool, limit: int, vault_dir: str | None, as_json: bool) -> None:
    """List open gaps: first what you keep forgetting, then what is needed by the most articles.

    \b
    Examples:
      retain gaps list --kind learner
      retain gaps list --all --json
    """
    vault = opened(vault_dir)
    _update_learner_gaps(vault)
    found = [g for g in read_agenda(vault) if (everything or g.open) and kind in (None, g.kind)]
    if as_json:
        output.show_json({"gaps": [_as_json(g) for g in found]})
        return
    listed = entries(found)
    for entry in listed if everything else listed[:limit]:
        _show_entry(entry)
    if not everything and len(listed) > limit:
        output.show(f"and {len(listed) - limit} more (--all)")
    for gap in found:
        if not gap.open:
            output.show(f"{gap.id}  {gap.what}: {gap.missing} [{gap.status}]{_added(gap)}")
    if not found:
        output.show("no open gaps")


def _show_entry(entry: Entry) -> None:
    """Print an entry of the agenda: what is missing and, below it, where it is needed and what to read or search."""
    gap = entry.gaps[0]
    if len(entry.gaps) > 1:
        output.show(f"{len(entry.gaps)} subjects: {gap.missing}")
        for each in entry.gaps:
            output.show(f"  {each.id}  {each.what}")
        return
    state = "" if gap.status == "open" else f" [{gap.status}]"
    output.show(f"{gap.id}  {gap.what}: {gap.missing}{state}{_added(gap)}")
    if gap.mentions and gap.kind != "learner":
        output.show(f"            in      {', '.join(map(_link_text, gap.mentions))}")
    if gap.read:
        output.show(f"            read    {unescape(gap.read)}")
    if gap.search:
        output.show(f"            search  {gap.search}")
    elif gap.kind == "learner":
        output.show(f"            do      {gap.fill}")


def _added(gap: Gap) -> str:
    return f" (added: {', '.join(map(_link_text, gap.added))})" if gap.added else ""


def _update_learner_gaps(vault: Vault) -> None:
    """Update the learner's part of the agenda if the review log or decks have changed."""
    seen = look(vault.root)
    if seen.is_current(vault):
        return

    try:
        mend(open_desk(vault, now()), seen)
    except RetainError as problem:  # the stored agenda can be shown anyway
        output.say(f"  {problem}")


def _as_json(gap: Gap) -> dict[str, object]:
    cause = {"cause": cause_of(gap)} if gap.kind == "learner" else {}
    return {
        "id": gap.id,
        "path": GAPS,
        "line": gap.line,
        "reason": gap.missing,
        "kind": gap.kind.value,
        "status": gap.status.value,
        "what": gap.what,
        "fill": gap.fill,
        "mentions": list(gap.mentions),
        "added": list(gap.added),
        "read": gap.read,
        "search": gap.search,
        **cause,
    }


def _link_text(link: str) -> str:
    """Return the text that a link shows."""
    found = next(links(link), None)
    return (found.alias or found.target) if found else unescape(link[1:].partition("](")[0])


@gaps.command("plan")
@click.argument("ids", nargs=-1, metavar="[GAP]...", shell_complete=gap_ids)
@click.option("--limit", default=PLANNED, show_default=True, type=click.IntRange(1), help="Maximum number of subjects.")
@vault_json_options
def plan(ids: tuple[str, ...], limit: int, vault_dir: str | None, as_json: bool) -> None:
    """List what to read next or, with GAP, mark gaps as planned. Planned gaps remain open.

    Subjects are ordered by the number of articles that mention them, each with search queries and works that your
    sources cite. The full list is in learning/reading-list.md.

    \b
    Examples:
      retain gaps plan
      retain gaps plan --limit 30
      retain gaps plan febc2
      retain add --fills febc2 https://example.org/paper.pdf
    """
    if ids:
        _decide("plan", ids, vault_dir, as_json)
        return

    found = read_plan(opened(vault_dir))
    shown = found.subjects[:limit]
    if as_json:
        output.show_json({"subjects": [_subject_json(n, w, found) for n, w in enumerate(shown, 1)], "of": found.of})
        return
    for number, wanted in enumerate(shown, 1):
        _show_subject(number, wanted, found)
    if not shown:
        output.show("run `retain compile` to create the reading list" if found.gaps else "no open gaps")
    elif found.of > len(shown):
        output.show(f"and {found.of - len(shown)} more (--limit)")


def _show_subject(number: int, wanted: Wanted, found: Plan) -> None:
    """Print one subject of the reading list with its gaps, search queries and cited works."""
    output.show(f"{number:>2}. {wanted.what} (mentioned in {plural(wanted.waiting, 'article', zero='no')})")
    for lack in wanted.lacks:
        gap = found.gaps[lack.gap]
        state = " [planned]" if gap.status == "planned" else ""
        output.show(f"    {lack.gap}  {lack.missing}{state}{_added(gap)}")
    for words in wanted.queries:
        output.show(f"    search  {words}")
    for work in wanted.works:
        output.show(f"    cited   {' '.join(filter(None, (work.words, work.address)))}")
    if wanted.mentions:
        output.show(f"    in      {', '.join(map(_link_text, wanted.mentions))}")


def _subject_json(number: int, wanted: Wanted, found: Plan) -> dict[str, object]:
    return {
        "rank": number,
        "path": READING_LIST,
        "line": wanted.line,
        "what": wanted.what,
        "article": wanted.link,
        "waiting": wanted.waiting,
        "gaps": [_as_json(found.gaps[lack.gap]) for lack in wanted.lacks],
        "queries": list(wanted.queries),
        "works": [{"words": w.words, "address": w.address, "sources": list(w.sources)} for w in wanted.works],
        "mentions": list(wanted.mentions),
    }


def _decide(word: str, ids: tuple[str, ...], vault_dir: str | None, as_json: bool) -> None:
    """Record a decision about gaps and print it; no gap is changed if an id is wrong."""
    vault = opened(vault_dir)
    chosen = find_all(vault, ids, Decision(word))  # all or none: a wrong id must not leave half of them decided
    done = [decide(vault, gap.id, Decision(word), now()) for gap in chosen]
    if as_json:
        output.show_json({"gaps": [_as_json(g) for g in done]})
    else:
        for gap in done:
            output.show(f"{gap.id}  {gap.status}: {gap.what}")


def _add_decision_command(word: str, help_: str) -> None:
    @gaps.command(word, help=f"{help_}\n\n\b\nExamples:\n  retain gaps {word} febc2 9qk4m")
    @click.argument("ids", nargs=-1, required=True, metavar="GAP...", shell_complete=gap_ids)
    @vault_json_options
    def command(ids: tuple[str, ...], vault_dir: str | None, as_json: bool) -> None:
        _decide(word, ids, vault_dir, as_json)


_add_decision_command("resolve", "Mark gaps as resolved.")
_add_decision_command("ignore", "Ignore gaps until you reopen them.")
_add_decision_command("reopen", "Reopen gaps that were resolved, ignored or planned.")
