"""The command `add`: copy files and folders into raw/, and fetch web pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from cli import output
from cli.build.copying import Outcome, check_amount, copy_files
from cli.build.current import record_current
from cli.build.raw_paths import Places
from cli.environment import now
from cli.maintenance.init import KINDS
from cli.options import complete_files, opened, progress_option, vault_json_options
from cli.web.clip import clip
from cli.web.fetch import MIB, Limits, fetch
from compiler.sources.freshness import objective_of, sources_at
from compiler.sources.missing_pictures import HINT, missing_pictures
from learning.agenda.gap_decisions import find, read_agenda
from vault.audit.watcher import confirm
from vault.errors import Refused, RetainError
from vault.files.guard import Guard, Scope
from vault.log import ledger
from vault.log.ledger import DECISIONS, Event, day_of, encode, instant
from vault.log.provenance import (
    Origin,
    added_event,
    arrivals_in,
    current_event,
    fills_event,
    fills_in,
    origin_event,
    origins_in,
)
from vault.model.gaps import Gap
from vault.text.urls import is_address, normalize_address
from vault.vault import Vault

if TYPE_CHECKING:
    from cli.web.clip import Clip

DEFAULT_MIB = 50
MAX_NAMESAKES = 1_000


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", shell_complete=complete_files)
@click.option("--as", "kind", type=click.Choice(KINDS), help="The folder in raw/ (default: by file type).")
@click.option(
    "--authority",
    type=click.IntRange(0, 3),
    help="Source authority: 0 unreliable, 1 ordinary, 2 expert, 3 authoritative.",
)
@click.option("--fills", "gap_ids", multiple=True, metavar="GAP", help="The gap that the source fills; repeatable.")
@click.option(
    "--max-size",
    type=click.IntRange(1, 200),
    default=DEFAULT_MIB,
    show_default=True,
    metavar="MIB",
    help="The maximum size of a document fetched from the web.",
)
@click.option("--current", is_flag=True, help="Copy nothing; confirm that these SOURCES in raw/ are still valid.")
@click.option("--yes", is_flag=True, help="Copy more than 2,000 files or 500 MB without asking.")
@progress_option
@vault_json_options
def add(
    sources: tuple[str, ...],
    kind: str | None,
    authority: int | None,
    gap_ids: tuple[str, ...],
    max_size: int,
    current: bool,
    yes: bool,
    progress: str | None,
    vault_dir: str | None,
    as_json: bool,
) -> int:
    """Copy files or folders into raw/, or fetch a page or document from the web.

    Files keep their names. A web page is saved as Markdown with its address and date; other documents are saved
    unchanged. Only the page itself is fetched, and nothing but the request is sent. If you stop the command, it removes
    the copies made so far; pages already fetched are kept.

    \b
    Examples:
      retain add paper.pdf notes.md
      retain add ~/clippings --as articles
      retain add https://example.org/on-memory
      retain add --fills febc2 https://example.org/paper.pdf
      retain add -- -strange-name.md
      retain add --current raw/policies/leave.md
    """
    vault = opened(vault_dir)
    if current:
        if kind or gap_ids or authority is not None:
            raise click.UsageError("--current copies nothing and cannot be combined with other options")
        return record_current(vault, sources, now(), as_json=as_json)
    files = [s for s in sources if not is_address(s)]
    addresses = list(dict.fromkeys(normalize_address(s) for s in sources if is_address(s)))
    gaps = _gaps(vault, gap_ids)
    with output.Counter() as counter:
        places = Places(vault, kind, count=counter)
        places.find(files)
    guard = vault.guard(Scope.ADD)
    guard.sweep()
    check_amount([source for source, path in places.found if not guard.exists(path)], vault.root, sure=yes)
    outcome = Outcome(skipped=places.skipped, began=instant(now()), in_place=places.in_place)
    narrator = output.Progress(progress)
    try:
        copy_files(guard, places.found, narrator, outcome)
        for done, address in enumerate(addresses):
            step = {"event": "fetch", "of": len(addresses), "path": address}
            if narrator.jsonl:
                narrator({**step, "done": done})
            try:
                _fetch(vault, address, kind, max_size, outcome)
            except RetainError as error:
                outcome.refuse(address, error)
            if narrator.jsonl and done + 1 == len(addresses):
                narrator({**step, "done": done + 1})
    except KeyboardInterrupt:
        narrator.done()
        _show(outcome, gaps, as_json)  # what is there by now is there
        raise
    finally:
        narrator.done()
        _record(vault, outcome, authority, gaps)
        _confirm_in_audit(vault, outcome)
    missing = [{"path": path, "reason": what, "hint": HINT} for path, what in missing_pictures(vault, outcome.added)]
    _show(outcome, gaps, as_json, missing)
    return output.FINDINGS if outcome.refused else output.DONE


def _gaps(vault: Vault, ids: Iterable[str]) -> list[Gap]:
    """Return the gaps with these ids, each once. Called first, so that a wrong id is reported before any download."""
    agenda = read_agenda(vault) if ids else []
    return list({gap.id: gap for gap in (find(agenda, i) for i in ids)}.values())


def _fetch(vault: Vault, address: str, kind: str | None, max_size: int, outcome: Outcome) -> None:
    """Fetch one document and store it in raw/, unless the same document was fetched from that address before."""
    with output.Download(address) as narrator:
        fetched = fetch(address, Limits(size_bytes=max_size * MIB), narrator)
    day = now().astimezone(vault.settings.zone).date().isoformat()
    one = clip(fetched, day)
    _store(vault, address, one, f"raw/{kind or one.folder}", day, outcome)


def _store(vault: Vault, asked: str, one: Clip, folder: str, day: str, outcome: Outcome) -> None:
    """Write a fetched document to raw/ under a free name, or report that it is unchanged; `asked` is its address."""
    guard, zone = vault.guard(Scope.ADD), vault.settings.zone
    before = _earlier_fetches(vault, guard, {asked, one.address})
    same = next((origin for origin in before if origin.digest == one.digest), None)
    path = same.path if same else _free_path(guard, f"{folder}/{one.stem}", one, day if before else "")
    if same is not None:
        outcome.there.append(path)
        output.say(f"  {asked}: unchanged since {day_of(same.at, zone)} ({path})")
    else:
        new = guard.write(path, one.data, expect=None)  # the very same bytes are not written again
        (outcome.added if new else outcome.there).append(path)
        outcome.origins.append(Origin(path, one.address, asked, one.digest, instant(now())))
        if before:
            output.say(
                f"  {asked}: changed since {day_of(before[0].at, zone)}; the earlier copy {before[0].path} was kept"
            )
    for note in one.notes:
        output.say(f"  {path}: {note}")
    row = {"path": path, "address": one.address, "title": one.title, "bytes": len(one.data)}
    outcome.fetched.append(row | {"earlier": [origin.path for origin in before if origin is not same]})


def _earlier_fetches(vault: Vault, guard: Guard, addresses: set[str]) -> list[Origin]:
    """Return earlier fetches from these addresses whose files exist, newest first."""
    events = ledger.ordered(vault.ledger_events(ledger.DECISIONS)[0])
    found = [o for o in origins_in(events) if {o.address, o.asked} & addresses and o.path.startswith("raw/")]
    return [origin for origin in reversed(found) if guard.exists(origin.path)]


def _free_path(guard: Guard, stem: str, one: Clip, day: str) -> str:
    """Return an unused path, or one that holds the same bytes; with `day` in the name if an older version exists."""
    stem = f"{stem}-{day}" if day else stem
    for number in range(1, MAX_NAMESAKES):
        path = f"{stem}-{number}{one.suffix}" if number > 1 else stem + one.suffix
        if not guard.exists(path) or guard.read(path) == one.data:
            return path
    raise Refused(
        "there are too many files with that name", where=stem + one.suffix, hint="move some of them to another folder"
    )


def _record(vault: Vault, outcome: Outcome, authority: int | None, gaps: list[Gap]) -> None:
    """Append origin, authority and gaps of the sources to the ledger, and that those that are as before still hold."""
    at = instant(now())
    paths = [*outcome.added, *outcome.there]
    events: list[Event] = [origin_event(origin) for origin in outcome.origins]
    fetched = {origin.path for origin in outcome.origins}
    copied = [path for path in outcome.added if path not in fetched]
    events += [added_event(copied, outcome.began)] if copied else []
    events += (added_event([path], at) for path, at in _unrecorded(vault, outcome.there))
    late = [path for path in outcome.there if objective_of(vault, path)]  # added again, and unchanged
    events += (current_event(id_, own, at) for path in late for id_, own in sources_at(vault, path).items())
    if authority is not None:
        events += ({"v": 1, "type": "authority", "path": p, "authority": authority, "at": at} for p in paths)
    known = fills_in(vault.ledger_events(DECISIONS)[0]) if gaps else {}
    events += (fills_event(g.id, path, at) for g in gaps for path in paths if path not in known.get(g.id, ()))
    if events:
        vault.guard(Scope.LOG).append(DECISIONS, b"".join(map(encode, events)))


def _unrecorded(vault: Vault, paths: Sequence[str]) -> list[tuple[str, str]]:
    """Return which of these files the ledger does not know, and when each came: an earlier `add` was killed."""
    known = arrivals_in(vault.ledger_events(DECISIONS)[0]) if paths else {}
    new = [(path, vault.root / path) for path in paths if path not in known]
    return [(path, instant(datetime.fromtimestamp(file.stat().st_ctime, UTC))) for path, file in new if file.exists()]


def _confirm_in_audit(vault: Vault, outcome: Outcome) -> None:
    """Record in the file audit that the user added these files."""
    try:
        confirm(vault, [*outcome.added, *outcome.there], now())
    except RetainError as error:
        output.say(f"  the files were added, but `retain guard audit` will report them as new: {error}")


def _show(outcome: Outcome, gaps: list[Gap], as_json: bool, missing: Sequence[dict[str, str]] = ()) -> None:
    """Print what was added, as text or JSON; `missing` are documents whose pictures are not there, and which."""
    if as_json:
        fills = [gap.id for gap in gaps]
        row = {"added": outcome.added, "unchanged": outcome.there, "refused": outcome.refused}
        output.show_json(
            row
            | {"skipped": outcome.skipped, "fetched": outcome.fetched, "fills": fills, "missing": missing}
            | {"in_place": outcome.in_place}
        )
        return
    for path in outcome.added:
        output.show(path)
    for each in missing:
        output.say(f"  {each['path']}: {each['reason']}")
    if missing:
        output.say(f"  {HINT}")
    for gap in gaps if outcome.added or outcome.there else []:
        output.say(f"  for the gap {gap.id}, {gap.what}: {gap.missing}")
    if outcome.in_place:
        first = outcome.in_place[0] + (f" and {len(outcome.in_place) - 1} more" if len(outcome.in_place) > 1 else "")
        output.say(f"  already used as a source where it is, so not copied: {first}")
    there = f", {len(outcome.there)} unchanged" if outcome.there else ""
    after = "; next: `retain compile`" if outcome.added or outcome.there or outcome.in_place else ""
    output.say(f"{len(outcome.added)} added{there}{after}")
