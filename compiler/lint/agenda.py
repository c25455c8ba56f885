"""Findings that ask for something to read are gaps of the agenda, `learning/gaps.md`, as long as they are found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from compiler.cards.gaps import CONTESTED, LACKS_DEFINITION
from compiler.cards.noted_gaps import key_of, note_events
from compiler.lint.statements import conflicts
from compiler.lint.wiki import Page, Wiki
from vault.diagnostic import Diagnostic
from vault.files.folder import sha256_hex
from vault.files.guard import Scope
from vault.ids import GapId
from vault.layout import GAPS
from vault.locks import lock
from vault.log import ledger
from vault.log.ledger import Event
from vault.model.article import FRESHNESS_DAYS
from vault.model.gaps import Gap, GapKind, GapStatus, parse_agenda, render_agenda
from vault.model.wikilink import note_link
from vault.text.formatting import truncate
from vault.vault import Vault

_QUOTED = 80  # characters of each side of a contradiction
_RULES = ("stale", "thin", "no-definition")
Wanted = dict[str, tuple[str, str, str]]  # key -> (subject, what is missing, what would fill it)


def note_gaps(wiki: Wiki, found: Sequence[Diagnostic], at: datetime) -> int:
    """Open the gaps of all findings `found` that ask for something to read, and close those whose finding is gone.

    Return how many are new or gone. Nothing is written where there are none. Raises: LockHeld, Refused, WriteFailed.
    """
    vault = wiki.vault
    wanted = _wanted(wiki, found)
    with lock(vault.root, "publish", purpose="recording gaps", timeout_s=60):
        events = vault.ledger_events(ledger.IDS)[0]
        ids = ledger.fold(events)
        births = {str(e["id"]): e for e in events if e.get("of") == "gap" and e.get("type") == "birth"}
        open_ = {key for (noun, key), id_ in ids.keys.items() if noun == "gap" and ids.alive(id_)}
        wanted = {key: words for key, words in wanted.items() if _undecided(key) not in open_}
        instant = ledger.after(events, at)
        new = note_events(wanted, births, ids, instant)
        if not new:
            return 0
        guard = vault.guard(Scope.PUBLISHER)
        guard.append(ledger.IDS, b"".join(map(ledger.encode, new)))
        _show(vault, new, births, {page.properties.text("id"): page for page in wiki.articles})
    return len(new)


def _undecided(key: str) -> str:
    """Return the key under which a build has the contradiction that a check noted; "" for other gaps."""
    return key.removesuffix("disputed") + "contested" if key.endswith(":disputed") else ""


def _wanted(wiki: Wiki, found: Sequence[Diagnostic]) -> Wanted:
    """Return the gaps that findings make, by their keys."""
    wanted: Wanted = {}
    for each in found:
        page = wiki.page_at.get(each.path)
        concept = page.properties.text("id") if page in wiki.articles and page is not None else ""
        if page is not None and concept and each.code in _RULES:
            key, words = _gap_of(each.code, page)
            wanted[key_of(concept, key)] = (page.title, *words)
    titled = {page.title: page for page in wiki.articles}
    for conflict in conflicts(wiki):
        page = titled.get(conflict.subject)
        if page is not None and conflict.first.verbatim and conflict.second.verbatim:
            sides = " / ".join(f"“{truncate(s.words, _QUOTED)}”" for s in (conflict.first, conflict.second))
            key = key_of(page.properties.text("id"), "disputed")
            wanted[key] = (page.title, f"which is right? Its sources contradict each other: {sides}", CONTESTED[1])
    return wanted


def _gap_of(code: str, page: Page) -> tuple[str, tuple[str, str]]:
    """Return the last part of the key of a gap, and what is missing and would fill it."""
    if code == "stale":
        days = FRESHNESS_DAYS.get(page.properties.text("freshness"), 0)
        return "stale", (
            f"is it still true? Its page is more than {days} days old",
            "a newer source about it",
        )
    if code == "thin":
        return "thin", (
            "what else is there to know? Other pages link to it, but it has at most one statement",
            "a source about it",
        )
    return "definitional", LACKS_DEFINITION


def _show(vault: Vault, new: Sequence[Event], births: Mapping[str, Event], articles: Mapping[str, Page]) -> None:
    """Write the agenda with the new gaps last among those of their kind, and without those that are gone."""
    guard = vault.guard(Scope.PUBLISHER)
    old = guard.read(GAPS)
    gaps = parse_agenda((old or b"").decode("utf-8", "replace"))
    closed = {str(e["id"]) for e in new if e["type"] == "retire"}
    shown = [
        replace(gap, status=GapStatus.FILLED, mentions=()) if gap.id in closed and gap.open else gap for gap in gaps
    ]
    opened = [births.get(str(e["id"]), e) for e in new if e["type"] != "retire"]
    known = {gap.id for gap in gaps if gap.open}
    added = [gap for gap in _gaps(opened, articles) if gap.id not in known]
    data = render_agenda([*(g for g in shown if g.id not in {a.id for a in added}), *added]).encode()
    guard.write(GAPS, data, expect=None if old is None else sha256_hex(old))


def _gaps(births: Sequence[Event], articles: Mapping[str, Page]) -> Iterator[Gap]:
    """Yield the gaps of births, by subject."""
    for birth in sorted(births, key=lambda e: (str(e["name"]).casefold(), str(e["key"]))):
        page = articles.get(str(birth["key"]).split(":")[1])
        links = (note_link(page.path, page.title),) if page is not None else ()
        what, missing, fill = (str(birth[part]) for part in ("name", "missing", "fill"))
        yield Gap(GapId(str(birth["id"])), GapKind.EPISTEMIC, what, missing, fill, links)
